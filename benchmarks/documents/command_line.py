"""The reference of the command line, written from the parsers themselves.

`python -m benchmarks.documents.command_line` writes `docs/command-line.md` again; a test compares the two.
"""

import argparse
from pathlib import Path

from benchmarks.cli.conventions import EXIT_CODES
from benchmarks.cli.main import parser, subparsers

DOCUMENT = Path(__file__).parents[2] / "docs" / "command-line.md"

OPENING = """# Command line

<!-- Written by `python -m benchmarks.documents.command_line`; do not edit. -->

{description}
`robust-core COMMAND --help` says the same in a terminal, `robust-core --version` shows the version.

## What all commands share

Results go to the standard output, progress and warnings to the standard error. Progress is shown on a terminal only,
and so are colours; with `NO_COLOR` set or `TERM=dumb` neither is. Ctrl-C stops cleanly: what is printed is complete,
and the last line says how to go on.

| exit code | meaning |
|---|---|
"""

COMPLETION = """## Completion

For one session of bash: `eval "$(robust-core completion bash)"`. To keep it, write the script to where your shell looks
for completions, for example `robust-core completion fish > ~/.config/fish/completions/robust-core.fish`.
"""


def markdown() -> str:
    """The whole reference."""
    root = parser()
    parts = [OPENING.format(description=root.description)]
    parts += [f"| {code} | {meaning} |\n" for code, meaning in EXIT_CODES.items()]
    parts += [_section(name, command) for name, command in subparsers(root).items()]
    return "".join([*parts, "\n", COMPLETION])


def _section(name: str, command: argparse.ArgumentParser) -> str:
    lines = ["", f"## `robust-core {name}`", "", command.description or "", ""]
    rows = [_row(action) for action in command._actions if not isinstance(action, argparse._HelpAction)]
    if rows:
        lines += ["| argument | meaning |", "|---|---|", *rows, ""]
    return "\n".join([*lines, "```sh", example(command), "```", ""])


def example(command: argparse.ArgumentParser) -> str:
    """The command that the end of a help shows."""
    first, _, _ = (command.epilog or "").partition("\n")
    return first.removeprefix("example: ")


def _row(action: argparse.Action) -> str:
    choices = " or ".join(map(str, action.choices or ()))
    value = str(action.metavar or choices or action.dest.upper())
    if action.option_strings:
        shown = ", ".join(action.option_strings) + ("" if action.nargs == 0 else f" {value}")
    else:
        repeated = f"{value} …" if action.nargs in ("*", "+") else value
        shown = f"[{repeated}]" if action.nargs in ("*", "?") else repeated
    cells = (cell.replace("|", "\\|") for cell in (f"`{shown}`", action.help or ""))
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    DOCUMENT.write_text(markdown(), encoding="utf-8")
    print(DOCUMENT)
