"""Units of work: pure functions named by text, with arguments that are plain data, computed once and kept.

A unit can be computed in this process, in another one or on another machine, and its value is the same. `run` takes
what the store has, computes the rest and puts every value into the store as it comes: a run that is killed loses the
units under way and nothing else.
"""

import importlib
import inspect
import itertools
import json
import math
import re
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.runner.identity import PACKAGES, fingerprint, processor
from benchmarks.runner.pool import Pool
from benchmarks.runner.store import Store
from robust_core.streams import key

_NAME = re.compile(rf"(?:{'|'.join(PACKAGES)})(?:\.[a-z_][a-z0-9_]*)+:[a-z][a-z0-9_]*")
_MODULE = re.compile(rf"(?:{'|'.join(PACKAGES)})\.")
Results = Generator[tuple[int, Any], None, None]
"""(place, value) of units as they finish."""
RECORD = b'\n{"key": "'
"""How a record of a store begins."""
AHEAD = 2
"""Units per worker that are handed out at a time: enough to keep it busy, few enough to stop soon."""
FEWEST, LEAST_PART = 3, 0.05
"""How many units must be done, and which part of all, before their time says something about that of the rest."""
LONG = 120.0
"""Seconds from which on the time left is given in minutes."""
FIRST = ("metric", "variant", "problem", "panel", "interpretation", "target", "module")
"""Arguments that tell a reader most, in this order; a line of progress may be cut at its end."""
UNSAID = ("code", "stop")
"""Arguments that a line of progress leaves out: a hash, and the end of a stretch whose start is shown."""


@dataclass(frozen=True)
class Unit:
    """A function "package.module:name" of the four packages and its keyword arguments (plain JSON data).

    `repeatable` is false for measurements of time: their value is not a function of the arguments, so the store
    keeps the first, and they are taken one at a time, in this process, when nothing else runs.

    >>> unit = Unit("benchmarks.cli.timespan:seconds", {"text": "2min"})
    >>> compute(unit)
    120.0
    """

    function: str
    arguments: Mapping[str, Any] = field(hash=False)
    repeatable: bool = True

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.function):
            raise ValueError(f"function must look like package.module:name in {PACKAGES}, got {self.function!r}")
        # A copy: nobody can change it any more, and what is computed is what is hashed.
        object.__setattr__(self, "arguments", json.loads(self._text()))

    def _text(self) -> str:
        return json.dumps(dict(self.arguments), sort_keys=True, allow_nan=False)

    @property
    def key(self) -> bytes:
        """The hash of what the value depends on: function, arguments, the code it can reach, and the processor."""
        code = fingerprint(self.function.partition(":")[0])
        return key("unit", self.function, self._text(), code, processor())

    def __str__(self) -> str:
        return f"{self.function.rpartition('.')[2]}({', '.join(f'{k}={v!r}' for k, v in self.arguments.items())})"


def compute(unit: Unit) -> Any:
    """The value of a unit, as plain data that has been through JSON: the same whether fresh, sent or kept."""
    module, _, name = unit.function.partition(":")
    function = getattr(importlib.import_module(module), name, None)
    if not callable(function) or not inspect.isfunction(inspect.unwrap(function)):
        raise ValueError(f"{unit.function} is not a function")
    if function.__module__.partition(".")[0] not in PACKAGES:
        raise ValueError(f"{unit.function} is a function of {function.__module__}: only {PACKAGES} are allowed")
    try:
        return json.loads(json.dumps(function(**unit.arguments)))
    except Exception as error:
        error.add_note(f"while computing {unit}")
        raise


@contextmanager
def opened(path: Path) -> Iterator[Store]:
    """The store of a file; one that holds something else is refused and stays as it is."""
    with closing(Store(path)) as store:
        with path.open("rb") as file:
            begin = file.read(len(RECORD))
        # A kill may have cut the only record short.
        if not RECORD.startswith(begin) and next(store.names(b""), None) is None:
            raise ValueError(
                f"{path}: holds something else than results, and nothing is added to it: name another file"
            )
        yield store


def run(
    units: Sequence[Unit],
    *,
    store: Store,
    workers: int = 1,
    cluster: str | None = None,
    show: Callable[[str], None] = lambda text: None,
    budget_seconds: float = math.inf,
) -> dict[bytes, Any]:
    """The values by key. What the store has is not computed; no unit is begun after the budget, so some may lack.

    `cluster` is the address of a scheduler that computes the repeatable units instead of `workers` processes.
    """
    progress = _Progress(show, budget_seconds, labels(units))
    keys = {unit.key: unit for unit in units}
    store.refresh()
    missing = [unit for name, unit in keys.items() if store.get(name) is None]
    progress.expect(len(keys) - len(missing), len(missing))
    repeatable = [unit for unit in missing if unit.repeatable]
    parts = (
        (repeatable, _on_cluster(repeatable, cluster) if cluster else _local(repeatable, workers, progress)),
        (alone := [unit for unit in missing if not unit.repeatable], _one_by_one(alone, progress)),
    )
    for wanted, results in parts:
        with closing(results):  # whatever happens here, no process outlasts it
            for place, value in results:
                store.put(wanted[place].key, value, repeatable=wanted[place].repeatable)
                progress.finished(wanted[place])
                if progress.over:
                    break
    return {name: store.get(name) for name in keys if store.get(name) is not None}


def progress_line(done: int, total: int, seconds: float, name: str) -> str:
    """A line of progress: the count, the part of the whole and, once there is enough to tell, the time left.

    >>> progress_line(1, 40, 3.0, "walked"), progress_line(10, 40, 30.0, "walked")
    ('[1/40, 2 %] walked', '[10/40, 25 %, about 90 s left] walked')
    """
    left = ""
    if done >= max(FEWEST, LEAST_PART * total):
        remaining = seconds / done * (total - done)
        left = f", about {remaining:.0f} s left" if remaining < LONG else f", about {remaining / 60.0:.0f} min left"
    return f"[{done}/{total}, {100 * done // total} %{left}] {name}"


def labels(units: Sequence[Unit]) -> Callable[[Unit], str]:
    """How the units of a run are called in a line of progress: by what they do not all share.

    >>> parameters = [{"text": text, "seed_set": "pinned"} for text in ("1s", "2s")]
    >>> wanted = [Unit("benchmarks.cli.timespan:seconds", given) for given in parameters]
    >>> [labels(wanted)(unit) for unit in wanted], labels(wanted[:1])(wanted[0])
    (['1s', '2s'], 'pinned / 1s')
    """
    values: dict[str, dict[str, Any]] = {}
    for unit in units:
        for argument, value in unit.arguments.items():
            values.setdefault(argument, {})[json.dumps(value)] = value
    told = sorted(
        (argument for argument in values if argument not in UNSAID),
        key=lambda argument: FIRST.index(argument) if argument in FIRST else len(FIRST),
    )
    # Of a single unit, and of units that differ in their functions alone, all is told that is not empty.
    chosen = [argument for argument in told if len(values[argument]) > 1] or told
    shared = {argument: _package(list(values[argument].values())) for argument in chosen}

    def label(unit: Unit) -> str:
        words = [
            value.removeprefix(shared[argument]) if isinstance(value, str) else f"{argument}={value!r}"
            for argument in chosen
            if (value := unit.arguments.get(argument, "")) != ""
        ]
        return " / ".join(words) or unit.function.rpartition(".")[2]

    return label


def _package(values: list[Any]) -> str:
    """The package that names of modules share, with its dot; "" if they are no such names, or one alone."""
    if len(values) < 2 or not all(isinstance(value, str) and _MODULE.match(value) for value in values):
        return ""
    parts = zip(*(value.split(".")[:-1] for value in values), strict=False)
    return "".join(f"{same[0]}." for same in itertools.takewhile(lambda part: len(set(part)) == 1, parts))


class _Progress:
    """How far a run is, how long it will take, and whether its time is over."""

    def __init__(self, show: Callable[[str], None], budget_seconds: float, name: Callable[[Unit], str]) -> None:
        self.show, self.started, self.budget, self.name = show, time.monotonic(), budget_seconds, name
        self.done = self.total = 0
        self.under_way: list[Unit] = []

    @property
    def over(self) -> bool:
        """Whether no further unit may begin."""
        return time.monotonic() - self.started >= self.budget

    def expect(self, kept: int, missing: int) -> None:
        """Say what there is to do."""
        self.total = missing
        self.show(f"{kept} units in the store, {missing} to compute")

    def begun(self, unit: Unit) -> None:
        """Say what is at work, if nothing that began before still is."""
        self.under_way.append(unit)
        if len(self.under_way) == 1:
            self._say(unit)

    def finished(self, unit: Unit) -> None:
        """Count a unit, and say what is at work; of units that others begin, which one is done."""
        self.done += 1
        here = unit in self.under_way
        if here:
            self.under_way.remove(unit)
        if self.under_way:
            self._say(self.under_way[0])
        elif not here or self.done == self.total:
            self._say(unit)

    def _say(self, unit: Unit) -> None:
        """The time left is that of the units so far."""
        self.show(progress_line(self.done, self.total, time.monotonic() - self.started, self.name(unit)))


def _on_cluster(units: Sequence[Unit], address: str) -> Results:
    if units:
        yield from importlib.import_module("benchmarks.runner.cluster").computed(units, address)


def _local(units: Sequence[Unit], workers: int, progress: _Progress) -> Results:
    return _one_by_one(units, progress) if workers == 1 or len(units) < 2 else _in_pool(units, workers, progress)


def _one_by_one(units: Sequence[Unit], progress: _Progress) -> Results:
    for place, unit in enumerate(units):
        if progress.over:
            return
        progress.begun(unit)
        yield place, compute(unit)


def _in_pool(units: Sequence[Unit], workers: int, progress: _Progress) -> Results:
    waiting = iter(enumerate(units))
    under_way: dict[Future[Any], int] = {}
    try:
        with Pool(workers) as pool:
            while True:
                while (
                    len(under_way) < AHEAD * workers and not progress.over and (item := next(waiting, None)) is not None
                ):
                    under_way[pool.submit(compute, item[1])] = item[0]
                    progress.begun(item[1])
                if not under_way:
                    return
                done, _ = wait(under_way, return_when=FIRST_COMPLETED)
                for future in done:
                    yield under_way.pop(future), future.result()
    except BrokenProcessPool:
        raise OSError("a worker process died; what was computed is in the store, run again to go on") from None
