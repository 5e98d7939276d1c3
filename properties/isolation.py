"""Verification in a process of its own: a variant that hangs, dies or eats memory cannot take the suite down.

The child runs the laws in order and sends plain JSON; the parent waits a limited time for each law. When the child
is killed or dies, the law it was at gets a verdict that says so, and a new child goes on with the next.
"""

import json
import multiprocessing
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from properties.expectations import read
from properties.loading import load
from properties.verdict import Record
from properties.verification import EXAMPLES, applicable, verify

LAW_SECONDS = 120.0
EXTRA_MEMORY = 4 << 30


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


def verify_isolated(
    target: str,
    *,
    examples: int = EXAMPLES,
    seed: int = 0,
    keep: Path | None = None,
    expected: Path | None = None,
    law_seconds: float = LAW_SECONDS,
) -> Iterator[Record | str]:
    """Records as they come, each preceded by the name of the law that has begun."""
    (variant,) = load(target).values()
    laws = applicable(variant)
    if expected is not None:
        read(expected, [law.name for law in laws])  # a bad file is refused before any work
    done = 0
    failed: dict[str, str] = {}
    while done < len(laws):
        order = Order(target, done, failed, examples, seed, _text(keep), _text(expected))
        child, connection = _started(order)
        try:
            while done < len(laws):
                message = _message(connection, law_seconds)
                if "law" in message:
                    yield message["law"]
                    continue
                if "record" in message:
                    record = Record(**message["record"])
                else:
                    record = _casualty(variant.name, laws[done].name, message["fault"], child, seed, law_seconds)
                if record.outcome != "holds":
                    failed[record.law] = record.blocked_by or record.law
                yield record
                done += 1
                if "fault" in message:
                    break
        finally:
            child.kill()
            child.join()
            connection.close()


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)


def _started(order: Order) -> tuple[Any, Connection]:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    child = context.Process(target=_serve, args=(theirs, json.dumps(asdict(order))), daemon=True)
    child.start()
    theirs.close()
    return child, ours


def _message(connection: Connection, seconds: float) -> dict[str, Any]:
    try:
        if not connection.poll(seconds):
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
    """The child: verify and report; standard output belongs to the parent alone."""
    from hypothesis.configuration import set_hypothesis_home_dir

    order = Order(**json.loads(text))
    # Hypothesis keeps notes on the interpreter in the working folder; the user's folder is not the place for them.
    set_hypothesis_home_dir(Path(tempfile.gettempdir()) / "robust-core-hypothesis")
    _limit_memory()
    (variant,) = load(order.target).values()

    def send(message: dict[str, Any]) -> None:
        connection.send_bytes(json.dumps(message).encode())

    laws = applicable(variant)
    records = verify(
        variant,
        name=order.target,
        examples=order.examples,
        seed=order.seed,
        laws=laws[order.skip :],
        failed=order.failed,
        expected=None if order.expected is None else read(Path(order.expected), [law.name for law in laws]),
        keep=None if order.keep is None else Path(order.keep),
        progress=lambda law: send({"law": law.name}),
    )
    for record in records:
        send({"record": asdict(record)})


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
