"""docs/command-line.md: the reference of the command line, written from the parsers themselves."""

import argparse

from benchmarks.cli.conventions import EXIT_CODES
from benchmarks.cli.main import parser, subparsers
from benchmarks.documents.markdown import table

OPENING = """# Command line

<!-- Written by `robust-core documents command-line`; do not edit. -->

{description}
`robust-core COMMAND --help` says the same in a terminal, `robust-core --version` shows the version.

## What all commands share

Results go to the standard output, progress and warnings to the standard error. Progress is shown on a terminal only,
and so are colours; with `NO_COLOR` set or `TERM=dumb` neither is. Ctrl-C stops cleanly: what is printed is complete,
and the last line says how to continue.
"""

COMPLETION = """## Completion

For one session of bash: `eval "$(robust-core completion bash)"`. To keep it, write the script to where your shell looks
for completions, for example `robust-core completion fish > ~/.config/fish/completions/robust-core.fish`.
"""


def document() -> str:
    """The whole document."""
    root = parser()
    codes = table(["exit code", "meaning"], EXIT_CODES.items())
    parts = [OPENING.format(description=root.description), f"{codes}\n"]
    parts += [_section(name, command) for name, command in subparsers(root).items()]
    return "\n".join([*parts, COMPLETION])


def _section(name: str, command: argparse.ArgumentParser) -> str:
    lines = [f"## `robust-core {name}`", "", command.description or "", ""]
    rows = [_row(action) for action in command._actions if not isinstance(action, argparse._HelpAction)]
    if rows:
        lines += [table(["argument", "meaning"], rows), ""]
    return "\n".join([*lines, "```sh", example(command), "```", ""])


def example(command: argparse.ArgumentParser) -> str:
    """The command that the end of a help shows."""
    first, _, _ = (command.epilog or "").partition("\n")
    return first.removeprefix("example: ")


def _row(action: argparse.Action) -> list[str]:
    choices = " or ".join(map(str, action.choices or ()))
    value = str(action.metavar or choices or action.dest.upper())
    if action.option_strings:
        shown = ", ".join(action.option_strings) + ("" if action.nargs == 0 else f" {value}")
    else:
        repeated = f"{value} …" if action.nargs in ("*", "+") else value
        shown = f"[{repeated}]" if action.nargs in ("*", "?") else repeated
    return [f"`{shown}`", action.help or ""]
