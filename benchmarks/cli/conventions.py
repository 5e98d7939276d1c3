"""What all commands share: exit codes, common options, the form of help, Ctrl-C, and when a terminal may be steered."""

import argparse
import contextlib
import math
import os
import re
import shutil
import signal
import sys
import textwrap
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, TypeAlias

from robust_core.text import suggestion

if TYPE_CHECKING:
    from benchmarks.runner.store import Store

HOLDS, VIOLATED, USAGE, UNDECIDED, INTERRUPTED, UNREAD, TERMINATED = 0, 1, 2, 3, 130, 141, 143

EXIT_CODES = {
    HOLDS: "holds: nothing is violated (an undecided law is a warning)",
    VIOLATED: "violated: a law is violated, a measure is worse, a limit is missed, or a mutant is not caught",
    USAGE: "usage or internal error: a wrong argument, an unreadable file, a law that could not be judged",
    UNDECIDED: "undecided (`history`: a change point), under `--strict` only; or no law tests a promise, unless "
    "`--allow-untested` is given",
    INTERRUPTED: "interrupted by Ctrl-C; the message says how to continue",
    UNREAD: "output pipe closed (SIGPIPE), as when it is piped into `head`; the rest of the work is not done",
    TERMINATED: "terminated (SIGTERM); commands that store finished results continue from them",
}
IN_SHORT = {
    HOLDS: "holds",
    VIOLATED: "violated",
    USAGE: "usage or internal error",
    UNDECIDED: "undecided under --strict, or untested",
    INTERRUPTED: "interrupted",
    UNREAD: "output pipe closed",
    TERMINATED: "terminated",
}
"""The exit codes as the help of the program lists them."""

# What Ctrl-C leaves behind; a command whose finished parts are stored sets `resume=KEPT`.
STARTS_AGAIN = "(this starts from the beginning, with the same problems)"
KEPT = "(this continues where the command stopped: finished results are stored)"

STYLES = {
    "holds": "32", "expected": "32", "violated": "31", "refuted": "31", "error": "31", "corrected": "33",
    "conditional": "33", "undecided": "33", "untested": "33", "blocked": "2", "elsewhere": "2",
}  # fmt: skip


MARGIN = 5
"""Columns that a line of progress leaves: what stands around its text, and the cursor."""


class HelpFormatter(argparse.HelpFormatter):
    """Fills texts to the width of the terminal; examples, to be copied, and words with hyphens stay in one piece."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        return textwrap.wrap(" ".join(text.split()), width, break_on_hyphens=False)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        lines = [text] if text.startswith("example:") else self._split_lines(text, width - len(indent))
        return "\n".join(indent + line for line in lines)


class ProgramParser(argparse.ArgumentParser):
    """A parser that suggests the word that an unknown one of its choices looks like."""

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            words = list(map(str, action.choices))
            message = f"{value!r} is unknown; there are {', '.join(words)}{suggestion(value, words)}"
            raise argparse.ArgumentError(action, message)


class CommandParser(ProgramParser):
    """The parser of one command: what it does not know it refuses itself, with its own usage and not the program's."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"formatter_class": HelpFormatter, **options})

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse; nothing is left to the parser above."""
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            words = [name for action in self._actions for name in action.option_strings]
            self.error(f"unrecognized arguments: {' '.join(unknown)}{suggestion(unknown[0], words)}")
        return found, unknown


Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
"""Where a module of the command line adds its commands."""
WORDS = "words"


def complete_with(action: argparse.Action, words: Callable[[], Iterable[str]]) -> None:
    """Let shells complete an argument with these words, which are asked for when a completion script is written."""
    setattr(action, WORDS, words)


def hyphenate(text: str) -> str:
    """Words as one, which shells complete in one piece.

    >>> hyphenate("not decidable as stated")
    'not-decidable-as-stated'
    """
    return text.replace(" ", "-")


def integer(text: str) -> int:
    """An integer."""
    return _at_least(None, text, "an integer")


def positive(text: str) -> int:
    """A positive integer."""
    return _at_least(1, text, "a positive integer")


def count(text: str) -> int:
    """An integer that is not negative."""
    return _at_least(0, text, "an integer that is not negative")


def _at_least(least: int | None, text: str, rule: str) -> int:
    with contextlib.suppress(ValueError):
        if least is None or int(text) >= least:
            return int(text)
    raise argparse.ArgumentTypeError(f"must be {rule}, got {text}")


UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0}


def seconds(text: str) -> float:
    """A span of time: 90s, 30min, 2h.

    >>> seconds("30min")
    1800.0
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(s|min|h)", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"must look like 90s, 30min or 2h, got {text!r}")
    return float(match[1]) * UNITS[match[2]]


def factor(text: str) -> float:
    """A factor by which something is raised: a finite number of at least 1.

    >>> factor("2")
    2.0
    """
    with contextlib.suppress(ValueError):
        if 1.0 <= (number := float(text)) < math.inf:
            return number
    raise argparse.ArgumentTypeError(f"must be a finite number of at least 1, got {text}")


def require_writable(option: str, path: Path) -> None:
    """Refuse a file that could not be written, before the work whose result it is to hold."""
    if path.is_dir():
        raise ValueError(f"{option} {path}: a folder, not a file")
    if not path.parent.is_dir():
        raise ValueError(f"{option} {path}: the folder {path.parent} does not exist")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ValueError(f"{option} {path}: not writable")


def require_clone(path: Path, *, otherwise: str = "") -> None:
    """Refuse to replace a file of the packages that nobody could commit: one of an installed copy."""
    if not (path.parents[2] / ".git").exists():
        raise ValueError(
            f"{path} is not in a git repository, so a new version of it cannot be committed: run this in a clone that "
            f"is installed with `pip install -e .`{otherwise}"
        )


def add_json(parser: argparse.ArgumentParser, what: str = "one record per line instead of a table") -> None:
    """`--json`: JSON lines instead of a table. Every line that a command prints then is a JSON object."""
    parser.add_argument("--json", action="store_true", help=f"print JSON lines: {what}")


def dumps(value: object, *, indent: int | None = None) -> str:
    """A record or a JSON value as one line of JSON, or with an indent; the module is loaded when it is needed."""
    from robust_core import json

    return json.dumps(value, indent=indent)


def output_of(options: argparse.Namespace, committed: Path) -> Path:
    """The file that `--output` names, or the committed one; refused before the work if it could not be written."""
    output: Path = options.output or committed
    require_writable("--output", output)
    return output


def write_record(path: Path, record: object) -> None:
    """Write a record or a JSON value as a file that diffs well."""
    path.write_text(f"{dumps(record, indent=1)}\n", encoding="utf-8")


def add_quiet(parser: argparse._ActionsContainer, what: str = "print only what does not hold") -> None:
    """`--quiet`: nothing about what is in order."""
    parser.add_argument("--quiet", action="store_true", help=what)


def add_strict(parser: argparse.ArgumentParser, what: str = "anything is undecided") -> None:
    """`--strict`: an open verdict is a failure."""
    parser.add_argument("--strict", action="store_true", help=f"exit with 3 if {what}")


def add_seed(parser: argparse.ArgumentParser, what: str = "which problems are generated") -> None:
    """`--seed`: the same seed gives the same result."""
    parser.add_argument("--seed", type=integer, default=0, metavar="N", help=f"{what} (default 0)")


def add_workers(parser: argparse.ArgumentParser) -> None:
    """`--workers`: how many processes."""
    parser.add_argument(
        "-j",
        "--workers",
        type=positive,
        default=os.cpu_count() or 1,
        metavar="N",
        help="number of processes (default: one per core)",
    )


def add_budget(parser: argparse.ArgumentParser, *, default: float = math.inf, shown: str = "") -> None:
    """`--budget`: how long; what is not begun by then stays pending. `shown` is the default in words."""
    shown = shown or ("none" if default == math.inf else f"{default / 60:g}min")
    what = f"stop after this time: 90s, 30min, 2h (default {shown})"
    parser.add_argument("--budget", type=seconds, default=default, metavar="TIME", help=what)


def add_running(
    parser: argparse.ArgumentParser,
    store: Path,
    *,
    budget: bool = True,
    default: str = "",
    workers: bool = True,
    cluster: bool = True,
) -> None:
    """The options of all that runs units of work: where their results are kept, on what, how long (in words)."""
    parser.add_argument(
        "--store",
        type=Path,
        default=store,
        metavar="FILE",
        help=f"file in which finished results are stored (default {store})",
    )
    if workers:
        add_workers(parser)
    if cluster:
        what = "address of a Dask scheduler whose workers compute, e.g. tcp://127.0.0.1:8786"
        parser.add_argument("--cluster", metavar="ADDRESS", help=what)
    if budget:
        add_budget(parser, shown=default)
    parser.set_defaults(resume=KEPT)


def takes_escapes(stream: TextIO) -> bool:
    """Whether escape sequences may be written: to a terminal that takes them, unless NO_COLOR is set."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def paint(word: str, stream: TextIO, *, width: int = 0) -> str:
    """An outcome or a status, padded, in its colour where the stream takes colours.

    >>> import io
    >>> paint("holds", io.StringIO(), width=8)
    'holds   '
    """
    style = STYLES.get(word) if takes_escapes(stream) else None
    return f"{word:<{width}}" if style is None else f"\033[{style}m{word}\033[0m" + " " * (width - len(word))


def table_width() -> int:
    """Columns of the terminal, 80 where there is none; the variable COLUMNS overrides both."""
    return shutil.get_terminal_size().columns


def fold(line: str, indent: int = 4) -> str:
    """The line in pieces that fit a terminal; where the output is not a terminal it stays one line, for other programs.

    >>> fold("one line in a pipe or in a file")
    'one line in a pipe or in a file'
    """
    if not sys.stdout.isatty():
        return line
    begin = line[: len(line) - len(line.lstrip())]
    return textwrap.fill(
        line.strip(), table_width(), initial_indent=begin, subsequent_indent=" " * indent, break_on_hyphens=False
    )


def show_table(names: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Aligned columns on a terminal, Markdown elsewhere.

    On a terminal that is too narrow, the first cell of a row has a line of its own, and the others are folded below it.
    """
    from benchmarks.documents import markdown

    rows = list(rows)
    if not sys.stdout.isatty():
        return markdown.table(names, rows)
    cells = [[str(cell) for cell in row] for row in (names, *rows)]
    widths = [max(len(row[place]) for row in cells) for place in range(len(names))]
    if sum(widths) + 2 * (len(widths) - 1) <= table_width():
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in cells]
        return "\n".join(line.rstrip() for line in lines)
    named = [[f"{name} {cell}" for name, cell in zip(names[1:], row[1:], strict=True)] for row in cells[1:]]
    pairs = zip(cells[1:], named, strict=True)
    return "\n".join(f"{fold(row[0])}\n{fold('    ' + ', '.join(rest))}" for row, rest in pairs)


def progress(text: str) -> None:
    """What is at work, on a terminal only, where the next line overwrites it; an empty text takes it away.

    It is cut to the width of the terminal: what does not fit would not be overwritten but scroll.
    """
    if takes_escapes(sys.stderr):
        text = text[: max(shutil.get_terminal_size().columns - MARGIN, 0)]
        sys.stderr.write(f"\r\033[K{f'  {text} …' if text else ''}")
        sys.stderr.flush()


def report_loading(place: str) -> None:
    """Show which variant is loaded: that may take long."""
    progress(f"loading {place}")


@contextlib.contextmanager
def open_work(options: argparse.Namespace) -> "Iterator[Store]":
    """The store of a command that `add_running` describes, while a request to end is heard."""
    from benchmarks.runner.store import open_store

    with open_store(options.store) as store, raise_on_termination():
        try:
            yield store
        finally:
            progress("")


@contextlib.contextmanager
def stopped_between() -> Iterator[Callable[[], None]]:
    """Ctrl-C is remembered until the function that is given is called, between two steps; a second one stops at once.

    Raised in the middle of a step it could be lost: an exception in a callback of the garbage collector, say, is
    printed and forgotten.
    """
    pressed = False

    def remember(*_: Any) -> None:
        nonlocal pressed
        if pressed:
            raise KeyboardInterrupt
        pressed = True

    def check() -> None:
        if pressed:
            raise KeyboardInterrupt

    with on_interrupt(remember):
        yield check
        check()


@contextlib.contextmanager
def on_interrupt(handler: Callable[..., None]) -> Iterator[None]:
    """Handle Ctrl-C so; where it is ignored, as under nohup, or not ours to handle, nothing changes."""
    before = signal.getsignal(signal.SIGINT)
    if before in (signal.SIG_IGN, None) or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def raise_on_termination() -> Iterator[None]:
    """A request to end (SIGTERM) ends the program by an exception: pools then end their workers and give back what
    they hold.

    Inside it is like Ctrl-C, which is never taken for the fault of a variant that is at work, as SystemExit would be.
    """
    mine = threading.current_thread() is threading.main_thread()
    if not mine or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, _end)
    try:
        yield
    except _Terminated:
        raise SystemExit(TERMINATED) from None
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


class _Terminated(KeyboardInterrupt):
    """Somebody asked the program to end."""


def _end(*_: Any) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # asked again, it is already at it
    raise _Terminated
