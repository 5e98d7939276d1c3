"""Verification in a process of its own: a variant that hangs, dies or eats memory cannot take the suite down.

The child (`properties.process.child`) runs the laws in order; the parent gives each law a limited time. When the child
is killed or dies, the law it was at gets a verdict that says so, and a new child goes on with the next. The same
happens when a message is not the expected one: only a record of the law and the variant at work is believed.
"""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import get_args

from properties.judging.blame import CannotBeJudged
from properties.judging.causes import Causes
from properties.judging.expectations import Expectation, read
from properties.judging.verdict import Outcome, Record
from properties.judging.verification import EXAMPLES, applicable, verify
from properties.process import child
from properties.process.child import Child, Message
from properties.process.loading import load
from properties.statistics.law import SIZES, Size
from properties.statistics.records import CellResult
from properties.statistics.suite import Planned, allotted
from robust_core.json import from_data, to_data
from robust_core.problem import Variant

SIGN_OF_LIFE = 1.0
"""Seconds between messages from a statistical law at work, which may take longer than `child.SECONDS` in all."""
ALIVE: Message = {"alive": True}


class Begun(str):
    """The name of a law that has begun, with its place from 1 and how many laws there are."""

    place: int
    total: int

    def __new__(cls, law: str, place: int, total: int) -> "Begun":
        """A string cannot be changed, so it is made with what it carries."""
        begun = super().__new__(cls, law)
        begun.place, begun.total = place, total
        return begun


@dataclass(frozen=True)
class Order:
    """What a child is asked to do."""

    target: str
    skip: int
    failed: dict[str, str]
    examples: int
    seed: int
    keep: str | None
    expected: str | None
    size: Size | None
    weight: float | None


def verify_isolated(
    target: str,
    *,
    examples: int = EXAMPLES,
    seed: int = 0,
    keep: Path | None = None,
    expected: Path | None = None,
    law_seconds: float = child.SECONDS,
    size: Size | None = None,
    weight: float | None = None,
) -> Iterator[Record | Begun]:
    """Records as they come, each preceded by the law that has begun.

    With a `size` the statistical laws follow the exact ones; `weight` is that of all cells of the run, which share
    one error budget (default: the variant is alone).
    """
    (variant,) = load(target).values()
    names = [law.name for law in applicable(variant)]
    names += [cell.name for cell in _cells(variant, size, weight)]
    if expected is not None:
        expectations(expected, variant)  # a bad file is refused before any work
    done, causes = 0, Causes()
    while done < len(names):
        order = Order(target, done, causes.failed, examples, seed, _text(keep), _text(expected), size, weight)
        with Child(_serve, json.dumps(asdict(order))) as worker:
            begun = False
            while done < len(names):
                message = worker.message(law_seconds)
                if begun and message == ALIVE:
                    continue
                if not begun and message == {"law": names[done]}:
                    begun = True
                    yield Begun(names[done], done + 1, len(names))
                    continue
                record = _expected(message, variant.name, names[done], seed) if begun else None
                failed = record is None
                if record is None:
                    record = _failed(message, variant.name, names[done], seed, law_seconds)
                if record.statistics is None:
                    causes.note(record.law, record)
                yield record
                done, begun = done + 1, False
                if failed:
                    break


def _expected(message: Message, variant: str, law: str, seed: int) -> Record | None:
    """The record in a message, if it is a record of the law at work."""
    try:
        plain = dict(message["record"])
        plain["statistics"] = from_data(CellResult, plain["statistics"]) if plain["statistics"] is not None else None
        record = Record(**plain)
    except (KeyError, TypeError, ValueError):
        return None
    matches = (record.variant, record.law, record.seed) == (variant, law, seed)
    readable = record.outcome in get_args(Outcome) and isinstance(record.evidence, str)
    return record if matches and readable else None


def _failed(message: Message, variant: str, law: str, seed: int, law_seconds: float) -> Record:
    """The record of a law at which the child failed: the suite in it, or the variant by what it did."""
    if "error" in message:
        return Record(variant, law, "error", str(message["error"]), 0, 0.0, seed)
    fault = message if "fault" in message else child.GARBLED
    seconds = law_seconds if fault["fault"] == "hung" else 0.0
    return Record(variant, law, "violated", child.misconduct(fault), 0, seconds, seed)


def expectations(path: Path, variant: Variant) -> dict[str, Expectation]:
    """The expected failures of a variant; cells of either size are known, those that do not run are not judged."""
    cells = [cell.name for size in SIZES for cell in allotted(variant, size)]
    return read(path, [law.name for law in applicable(variant)], cells=cells, variant=variant.name)


def _cells(variant: Variant, size: Size | None, weight: float | None) -> list[Planned]:
    return [] if size is None else allotted(variant, size, total=weight)


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)


def _serve(connection: Connection, text: str) -> None:
    """The child: verify and report; standard output belongs to the parent alone.

    What the variant raises is a verdict; an exception that gets here is the suite's, and blames nobody.
    """
    send = child.sender(connection)
    try:
        _work(Order(**json.loads(text)), send)
    except ConnectionError:
        pass  # the parent has gone
    except Exception as error:
        send({"error": str(CannotBeJudged.because(error))})


def _work(order: Order, send: Callable[[Message], None]) -> None:
    child.settle()
    child.keep_notes_elsewhere()
    (variant,) = load(order.target).values()
    from properties.statistics.judging import VARIANT_SECONDS

    laws, cells = applicable(variant), _cells(variant, order.size, order.weight)
    records = verify(
        variant,
        name=order.target,
        examples=order.examples,
        seed=order.seed,
        laws=laws[order.skip :],
        failed=order.failed,
        expected=None if order.expected is None else expectations(Path(order.expected), variant),
        keep=None if order.keep is None else Path(order.keep),
        progress=lambda law: send({"law": law}),
        cells=cells[max(order.skip - len(laws), 0) :],
        cell_seconds=float("inf") if order.size is None else VARIANT_SECONDS[order.size],
        tick=_at_most_every(SIGN_OF_LIFE, lambda: send(ALIVE)),
    )
    for record in records:
        send({"record": asdict(record) | {"statistics": to_data(record.statistics)}})


def _at_most_every(seconds: float, act: Callable[[], None]) -> Callable[[], None]:
    last = time.monotonic()

    def tick() -> None:
        nonlocal last
        if time.monotonic() - last >= seconds:
            last = time.monotonic()
            act()

    return tick
