"""Seeds of users' variants on a cluster: a unit of work carries the source of the code that it measures.

A worker of the cluster writes the files to a temporary folder and measures the seeds in a child process, as a local
comparison does, so the values have the same bits. Time is not measured there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.regression.isolated import SERVE, CannotMeasure, Side
from benchmarks.regression.measures import Model, Part
from benchmarks.runner import schedule
from benchmarks.runner.store import Store
from benchmarks.runner.units import Unit
from properties.cases.scope import Scope
from properties.process.session import Session
from robust_core.json import from_data, to_data

STRETCH = 16
"""Seeds of one unit."""


@dataclass(frozen=True)
class Answer:
    """The values of a unit, or why there are none."""

    part: Part | None
    reason: str = ""
    misbehaved: bool = False


def measure(
    files: Mapping[str, str],
    target: str,
    problem: str,
    model: Any,
    scope: Any,
    seed_set: str,
    start: int,
    stop: int,
    canary: Any,
) -> Any:
    """The values of the seeds start … stop−1 of the variant `target` (file.py:NAME) in the given source files.

    `model`, if there is one, and `scope` are data, and `canary` is that of the reading that the canary must have.
    """
    with TemporaryDirectory(prefix="robust-core-") as folder:
        for name, text in files.items():
            if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
                raise ValueError(f"files must have names inside one folder, got {name!r:.200}")
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        with Session([f"{folder}/{target}"], serve=SERVE) as session:
            (variant,) = session.variants.values()
            side = Side(session, variant, seed_set, "", canary=from_data(Part, canary, "canary"))
            side.scope = from_data(Scope, scope, "scope")
            users = None if model is None else from_data(Model, model, "model")
            side.begin(problem, users, start, stop, clock=False)
            try:
                return to_data(Answer(side.finish(lambda number: None)))
            except CannotMeasure as error:
                return to_data(Answer(None, str(error).removeprefix(": "), error.misbehaved))


def _units(side: Side, problem: str, model: Model | None, start: int, stop: int) -> list[Unit]:
    files, target = side.sources(problem)
    data = None if model is None else to_data(model)
    return [
        Unit(
            "benchmarks.regression.remote:measure",
            {
                "files": files, "target": target, "problem": problem, "model": data,
                "scope": to_data(side.scope),
                "seed_set": side.seed_set, "start": first, "stop": min(first + STRETCH, stop),
                "canary": to_data(side.canary),
            },
        )
        for first in range(start, stop, STRETCH)
    ]  # fmt: skip


def measure_piece(
    sides: Sequence[Side],
    problem: str,
    model: Model | None,
    start: int,
    stop: int,
    *,
    store: Store,
    cluster: str,
) -> list[Part]:
    """The values of a piece on all sides, computed on the cluster whose scheduler is at that address."""
    wanted = [_units(side, problem, model, start, stop) for side in sides]
    values = schedule.run([unit for units in wanted for unit in units], store=store, cluster=cluster)
    found = []
    for side, units in zip(sides, wanted, strict=True):
        answers = [from_data(Answer, values[unit.key], "the store") for unit in units]
        for answer in answers:
            if answer.part is None:
                raise CannotMeasure(f"{side.label}: {answer.reason}", misbehaved=answer.misbehaved)
        found.append(_join([answer.part for answer in answers if answer.part is not None]))
    return found


def _join(parts: Sequence[Part]) -> Part:
    names = parts[0].samples
    return Part(
        samples={name: tuple(value for part in parts for value in part.samples[name]) for name in names},
        impossible={name: sum(part.impossible.get(name, 0) for part in parts) for name in parts[0].impossible},
    )
