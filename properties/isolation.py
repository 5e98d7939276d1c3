"""Verification in a process of its own: a variant that hangs, dies or eats memory cannot take the suite down.

The child runs the laws in order and sends plain JSON; the parent gives each law a limited time, which runs only while
the child is at work or asleep, not while it waits for a processor or is stopped. When the child is killed or dies, the
law it was at gets a verdict that says so, and a new child goes on with the next.
"""

import json
import multiprocessing
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from properties.blame import CannotBeJudged
from properties.causes import Causes
from properties.expectations import Expectation, read
from properties.guard import divert_output
from properties.idleness import LOOKS, Idleness
from properties.loading import load
from properties.statistics.law import SIZES, Size
from properties.statistics.suite import Planned, allotted
from properties.verdict import Record
from properties.verification import EXAMPLES, applicable, verify
from robust_core.variant import Variant

LAW_SECONDS = 120.0
EXTRA_MEMORY = 4 << 30
SIGN_OF_LIFE = 1.0
"""Seconds between messages from a statistical law at work, which may take longer than LAW_SECONDS in all."""


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
    law_seconds: float = LAW_SECONDS,
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
        child, connection = _started(order)
        try:
            while done < len(names):
                message = _message(child, connection, law_seconds)
                if "alive" in message:
                    continue
                if "law" in message:
                    yield Begun(message["law"], done + 1, len(names))
                    continue
                if "record" in message:
                    record = Record(**message["record"])
                elif "error" in message:
                    record = Record(variant.name, names[done], "error", message["error"], 0, 0.0, seed)
                else:
                    record = _casualty(variant.name, names[done], message["fault"], child, seed, law_seconds)
                if record.statistics is None:
                    causes.note(record.law, record)
                yield record
                done += 1
                if "record" not in message:
                    break
        finally:
            child.kill()
            child.join()
            connection.close()


def expectations(path: Path, variant: Variant) -> dict[str, Expectation]:
    """The expected failures of a variant; cells of either size are known, those that do not run are not judged."""
    cells = [cell.name for size in SIZES for cell in allotted(variant, size)]
    return read(path, [law.name for law in applicable(variant)], cells=cells, variant=variant.name)


def _cells(variant: Variant, size: Size | None, weight: float | None) -> list[Planned]:
    return [] if size is None else allotted(variant, size, total=weight)


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)


def _started(order: Order) -> tuple[Any, Connection]:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    child = context.Process(target=_serve, args=(theirs, json.dumps(asdict(order))), daemon=True)
    # Ctrl-C on a terminal reaches the child too, and a held one is inherited: it is held from its first import on.
    resource_tracker.ensure_running()  # started with the child, it would let Ctrl-C through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        child.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    theirs.close()
    return child, ours


def _message(child: Any, connection: Connection, seconds: float) -> dict[str, Any]:
    pause = seconds / LOOKS
    clock = Idleness(child.pid, pause)
    try:
        while not connection.poll(pause):
            if clock.look() + clock.worked() >= seconds * (1.0 - 0.5 / LOOKS):
                return {"fault": "hung"}
        received: dict[str, Any] = json.loads(connection.recv_bytes())
        return received
    except (EOFError, ConnectionError):
        return {"fault": "died"}


def _casualty(variant: str, law: str, fault: str, child: Any, seed: int, law_seconds: float) -> Record:
    if fault == "hung":
        evidence, seconds = f"conduct: no answer within {law_seconds:g} s: it hangs or is far too slow", law_seconds
    else:
        child.join(timeout=5.0)
        evidence, seconds = f"conduct: its process ended with exit code {child.exitcode}", 0.0
    return Record(variant, law, "violated", evidence, 0, seconds, seed)


def _serve(connection: Connection, text: str) -> None:
    """The child: verify and report; standard output belongs to the parent alone.

    What the variant raises is a verdict; an exception that gets here is the suite's, and blames nobody.
    """

    def send(message: dict[str, Any]) -> None:
        connection.send_bytes(json.dumps(message).encode())

    try:
        _work(Order(**json.loads(text)), send)
    except ConnectionError:
        pass  # the parent has gone
    except Exception as error:
        send({"error": str(CannotBeJudged.because(error))})


def _work(order: Order, send: Callable[[dict[str, Any]], None]) -> None:
    from hypothesis.configuration import set_hypothesis_home_dir

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C on a terminal reaches both; the parent ends the child
    divert_output()
    # Hypothesis keeps notes on the interpreter in the working folder; the user's folder is not the place for them.
    set_hypothesis_home_dir(Path(tempfile.gettempdir()) / "robust-core-hypothesis")
    _limit_memory()
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
        tick=_at_most_every(SIGN_OF_LIFE, lambda: send({"alive": True})),
    )
    for record in records:
        send({"record": asdict(record)})


def _at_most_every(seconds: float, act: Callable[[], None]) -> Callable[[], None]:
    last = time.monotonic()

    def tick() -> None:
        nonlocal last
        if time.monotonic() - last >= seconds:
            last = time.monotonic()
            act()

    return tick


def _limit_memory() -> None:
    """Let the child grow by a few gigabytes, so that a leak ends in its own MemoryError."""
    try:
        import resource
    except ImportError:
        return
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() if _has_statm() else 0
    if used:
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (used + EXTRA_MEMORY, hard))


def _has_statm() -> bool:
    return Path("/proc/self/statm").exists()
