"""The command line `robust-core`: parses, calls the command, and turns errors into exit codes."""

import argparse
import codecs
import importlib
import json
import os
import shlex
import sys
import textwrap
from pathlib import Path

from benchmarks.cli.conventions import (
    HOLDS,
    IN_SHORT,
    INTERRUPTED,
    STARTS_AGAIN,
    UNREAD,
    USAGE,
    WORDS,
    CommandParser,
    Commands,
    ProgramParser,
    hyphenate,
)
from robust_core.entry.suite import require_own

# Each module adds its commands; heavy libraries are imported when a command runs, so that --help is quick.
COMMANDS = (
    "verify",
    "new",
    "claims",
    "mutants",
    "panels",
    "bench",
    "rank",
    "report",
    "documents",
    "study",
    "batch",
    "speed",
    "search",
    "net",
    "certify",
    "differ",
    "instances",
)
SHELLS = ("bash", "zsh", "fish")
ESCAPED = "robust-core-escaped"


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    _open_streams()
    given = sys.argv[1:] if arguments is None else arguments
    resume = STARTS_AGAIN
    try:
        options = parser().parse_args(given)
        resume = options.resume
        require_own("oracles", "properties", "benchmarks")
        code = int(options.run(options))
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has seen enough (`| head`); Python would complain again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return UNREAD
    except (ValueError, OSError, ImportError) as error:
        from robust_core.text import in_words

        print(f"robust-core: {in_words(error) if isinstance(error, OSError) else error}", file=sys.stderr)
        return USAGE
    except MemoryError:
        print("robust-core: there is not enough memory for this; there is no verdict", file=sys.stderr)
        return USAGE
    except KeyboardInterrupt:
        print(_interruption(shlex.join(given), resume), file=sys.stderr)
        return INTERRUPTED
    except Exception:
        # Python's own exit code for this, 1, would say that a law is violated.
        import traceback

        traceback.print_exc()
        print("robust-core: internal error; there is no verdict", file=sys.stderr)
        return USAGE
    return code


def _open_streams() -> None:
    """Let standard streams that were closed (`>&-`) lead nowhere, and let those that are open take every character.

    Python has None for closed ones; the next file that is opened would take their place. What an encoding lacks is
    written as JSON escapes it, so that records stay records.
    """
    codecs.register_error(ESCAPED, _escape)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)
            if nowhere != number:
                os.dup2(nowhere, number)
                os.close(nowhere)
            os.set_inheritable(number, True)
            setattr(sys, name, os.fdopen(number, "w" if number else "r", encoding="utf-8", closefd=False))
        elif number and hasattr(stream := getattr(sys, name), "reconfigure"):
            stream.reconfigure(errors=ESCAPED)


def _escape(error: UnicodeError) -> tuple[str, int]:
    """The replacement of what cannot be encoded, and where to go on."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


def _interruption(command: str, resume: str) -> str:
    return f"\nrobust-core: interrupted; the output above is complete. To continue:\n  robust-core {command}\n{resume}"


def parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    root = ProgramParser(
        prog="robust-core",
        description="Checks robust reinforcement-learning algorithms against their theorems.",
        epilog="example: robust-core verify my_variant.py\n\n" + _exit_codes(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    root.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    root.set_defaults(resume=STARTS_AGAIN)
    commands: Commands = root.add_subparsers(required=True, metavar="COMMAND", parser_class=CommandParser)
    for name in COMMANDS:
        importlib.import_module(f"benchmarks.cli.{name}").add_parser(commands)
    _add_completion(commands)
    return root


def _exit_codes() -> str:
    """The exit codes in short, in lines that fit a terminal of 80 columns."""
    codes = ", ".join(f"{code} {meaning}" for code, meaning in IN_SHORT.items())
    return textwrap.fill(f"exit codes: {codes}", width=78, subsequent_indent=" " * 12, break_on_hyphens=False)


class _Version(argparse.Action):
    """Looks the version up only when it is asked for: that import takes longer than all the others."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        import robust_core

        print(f"robust-core {robust_core.__version__}")
        parser.exit()


def _add_completion(commands: Commands) -> None:
    completion = commands.add_parser(
        "completion",
        help="print a script that completes commands and options in a shell",
        description="Prints a completion script for a shell.",
        epilog='example: eval "$(robust-core completion bash)"',
    )
    completion.add_argument("shell", choices=SHELLS, help="the shell that is to run the script")
    completion.set_defaults(run=_complete)


def _complete(options: argparse.Namespace) -> int:
    import shtab

    root = parser()
    for command in subparsers(root).values():
        for action in command._actions:
            if action.type is Path or action.metavar == "TARGET":
                action.complete = shtab.FILE  # type: ignore[attr-defined]
            if (words := getattr(action, WORDS, None)) is not None:
                action.choices = tuple(words())
            elif action.choices is not None:
                # Shells split a word at its blanks.
                action.choices = tuple(map(hyphenate, map(str, action.choices)))
    print(shtab.complete(root, shell=options.shell))
    return HOLDS


def subparsers(root: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The commands of a parser by name; one that has actions of its own is listed by them (`baseline accept`)."""
    found: dict[str, argparse.ArgumentParser] = {}
    for commands in root._actions:
        if isinstance(commands, argparse._SubParsersAction):
            for name, command in commands.choices.items():
                actions = {f"{name} {action}": leaf for action, leaf in subparsers(command).items()}
                found |= actions or {name: command}
    return found
