"""What all commands share: the exit codes, the common options, and when a terminal may be steered."""

import argparse
import os
from pathlib import Path
from typing import TextIO

HOLDS, VIOLATED, USAGE, UNDECIDED, INTERRUPTED = 0, 1, 2, 3, 130

EXIT_CODES = {
    HOLDS: "holds: nothing is violated (what is undecided is a warning)",
    VIOLATED: "violated: a law, a status or a limit is broken, or a mutant is alive",
    USAGE: "usage or internal error: a wrong argument, an unreadable file, a law that could not be judged",
    UNDECIDED: "undecided, under `--strict` only",
    INTERRUPTED: "interrupted by Ctrl-C; the message says how to go on",
}

# What Ctrl-C leaves behind; a command whose finished parts are stored sets `resume=KEPT`.
STARTS_AGAIN = "(starts again, with the same problems)"
KEPT = "(goes on where this stopped: finished parts are kept)"

STYLES = {
    "holds": "32", "expected": "32", "violated": "31", "refuted": "31", "error": "31", "corrected": "33",
    "conditional": "33", "undecided": "33", "blocked": "2", "elsewhere": "2",
}  # fmt: skip


def positive(text: str) -> int:
    """A whole number of at least 1."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {number}")
    return number


def add_json(parser: argparse.ArgumentParser) -> None:
    """`--json`: records instead of a table."""
    parser.add_argument("--json", action="store_true", help="one JSON record per line instead of a table")


def add_quiet(parser: argparse.ArgumentParser) -> None:
    """`--quiet`: nothing about what is in order."""
    parser.add_argument("--quiet", action="store_true", help="only what does not hold")


def add_seed(parser: argparse.ArgumentParser, what: str = "which problems are generated") -> None:
    """`--seed`: the same seed gives the same result."""
    parser.add_argument("--seed", type=int, default=0, metavar="N", help=f"{what} (default 0)")


def add_store(parser: argparse.ArgumentParser, default: Path) -> None:
    """`--store`: where finished parts are kept."""
    parser.add_argument(
        "--store", type=Path, default=default, metavar="FILE", help=f"where finished parts are kept (default {default})"
    )


def steers(stream: TextIO) -> bool:
    """Whether escape sequences may be written: to a terminal that takes them, unless NO_COLOR is set."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def painted(word: str, stream: TextIO, *, width: int = 0) -> str:
    """An outcome or a status, padded, in its colour where the stream takes colours.

    >>> import io
    >>> painted("holds", io.StringIO(), width=8)
    'holds   '
    """
    style = STYLES.get(word) if steers(stream) else None
    return f"{word:<{width}}" if style is None else f"\033[{style}m{word}\033[0m" + " " * (width - len(word))
