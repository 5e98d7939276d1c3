"""Measurements of users' variants in workers: old and new code each have a process of their own.

The values of a stretch of seeds are kept in the store under the code that was measured: the digest of every source
file outside the suite and the libraries that the worker has loaded when it has measured one replicate. So a comparison
that was stopped goes on where it was.

After every piece a worker also measures the canary of the kind, a wrong algorithm of the suite, on one seed. If that
reading is another one than in a process without code of the user's, numpy or the suite was changed from inside, and no
number of the worker counts.
"""

import hashlib
import os
import sys
import sysconfig
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

from benchmarks.regression.measures import Model, Part
from benchmarks.runner import identity
from benchmarks.runner.store import Store
from properties.cases.scope import ANY, OutOfScope, Scope
from properties.kinds import kind_of
from properties.process.child import Fault
from properties.process.serving import Worker, follow_orders
from properties.process.session import Describe, Description, Failed, Session
from robust_core.json import LARGEST_FILE, from_data, text_of, to_data
from robust_core.streams import key

SERVE = "benchmarks.regression.isolated:serve"
CANARY = "canary"
REPLICATE_SECONDS = 60.0
"""Processor time of one replicate."""
SILENT_SECONDS = 1.25 * REPLICATE_SECONDS
"""How long a worker may be silent; within a piece it sends a sign of life after every replicate."""


@dataclass(frozen=True)
class Identify:
    """The order to measure one replicate and to say which code that was."""

    target: str
    problem: str
    model: Model | None
    scope: Scope


@dataclass(frozen=True)
class MeasurePiece:
    """The order to measure the seeds start … stop−1, or so many turns of the clock."""

    target: str
    problem: str
    model: Model | None
    scope: Scope
    seed_set: str
    start: int
    stop: int
    clock: bool = False


@dataclass(frozen=True)
class Identified:
    """The digest of the code, and its files."""

    digest: str
    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class Progressed:
    """A replicate is finished."""


@dataclass(frozen=True)
class Measured:
    """The values of a piece, and the reading of the canary after it."""

    part: Part
    canary: Part | None = None


@dataclass(frozen=True)
class Refused:
    """The variant did something else than to answer, or cannot be measured on this problem."""

    reason: str
    misbehaved: bool


class MeasuringWorker(Worker):
    """Measures variants as ordered."""

    ORDERS: ClassVar[tuple[type, ...]] = (Describe, Identify, MeasurePiece)

    def __init__(self, send: Callable[[object], None]) -> None:
        super().__init__(send)
        self.clocks: dict[tuple[str, str, str], Callable[[int], tuple[float | None, ...]]] = {}

    def follow(self, order: object) -> None:
        """Do as ordered, and send the answer."""
        from benchmarks.regression import functions, variants
        from properties.judging.blame import misbehaviour

        if not isinstance(order, Identify | MeasurePiece):
            super().follow(order)
            return
        variant = self.variants[order.target]
        variant = replace(variant, options={**variant.options, **order.scope.options})
        try:
            if isinstance(order, Identify):
                _watch(variants.measure, variant, order.problem, order.model, "identity", 0, 1)
                self.send(Identified(code_digest(), tuple(map(str, code_files()))))
            elif order.clock:
                contest = order.target, order.problem, order.seed_set
                if contest not in self.clocks:
                    self.clocks[contest] = variants.clock(variant, order.problem, order.model, order.seed_set)
                values = self.clocks[contest](order.stop - order.start)
                self.send(Measured(Part(samples={variants.RATIO: values})))
            else:
                self.send(Measured(self._measure(variant, order), read_canary(variant.kind)))
        except functions.Unsuitable as error:
            self.send(Refused(str(error), misbehaved=False))
        except OutOfScope as error:
            reason = f"problem {order.problem!r}: the options of {variant.name} leave it out ({error})"
            self.send(Refused(reason, misbehaved=False))
        except functions.Misbehaved as error:
            self.send(Refused(f"misbehaviour: {error}", misbehaved=True))
        except BaseException as error:  # SystemExit too would end the worker without a word
            self.send(Refused(misbehaviour(error), misbehaved=True))

    def _measure(self, variant: Any, order: MeasurePiece) -> Part:
        from benchmarks.regression import variants

        return variants.measure(
            variant,
            order.problem,
            order.model,
            order.seed_set,
            order.start,
            order.stop,
            lambda: self.send(Progressed()),
        )


def _watch(measure: Callable[..., object], *given: object) -> None:
    """Measure one replicate, and raise the misbehaviour in it that other replicates would show too."""
    from benchmarks.regression.functions import Misbehaved
    from properties.judging.guard import TooSlow, call_observed, watch

    try:
        finding = watch(lambda: call_observed(measure, *given) and None, seconds=REPLICATE_SECONDS)
    except TooSlow as error:
        raise Misbehaved(f"one seed took {error}") from None
    if finding is not None:
        raise Misbehaved(str(finding).removeprefix("misbehaviour: "))


def read_canary(kind: str) -> Part:
    """The values of the canary of a kind on one seed, in this process."""
    from benchmarks.regression import variants
    from properties.process.loading import load

    ((_, mutant),) = load(_canary(kind)).items()
    return variants.measure(mutant, variants.default_problems(kind)[0], None, CANARY, 0, 1)


def _canary(kind: str) -> str:
    return f"properties.variants.mutants.{kind_of(kind).canary.mutant}"


def clean_canary(kind: str, store: Store) -> Part:
    """The same, kept in the store: for the parent, which runs no code of the user's."""
    target = _canary(kind)
    unit = key(CANARY, target, identity.of(target.partition(":")[0]), identity.of("benchmarks.regression.variants"))
    if (kept := store.get(unit)) is not None:
        return from_data(Part, kept, "the store")
    found = read_canary(kind)
    store.put(unit, to_data(found))
    return found


def serve(pipe: int) -> None:
    """Measure as the parent orders."""
    # Before a module of the user's, which could change what is imported after it, the clock for one.
    from benchmarks.regression import variants  # noqa: F401

    follow_orders(pipe, MeasuringWorker)


def code_files() -> list[Path]:
    """Every loaded source file that is neither the suite's nor of an installed library."""
    installed = [Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    suite = Path(__file__).resolve().parents[2]
    own = [suite / name for name in identity.PACKAGES]
    files = set()
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and file.endswith(".py") and Path(file).is_file():
            path = Path(file).resolve()
            # An environment may see the libraries of another one.
            library = {"site-packages", "dist-packages"} & set(path.parts)
            if not library and not any(path.is_relative_to(folder) for folder in (*installed, *own)):
                files.add(path)
    return sorted(files)


def code_digest() -> str:
    """The hash of their content alone: the same code under another name is the same code."""
    digest = hashlib.blake2b(digest_size=16)
    for content in sorted(path.read_bytes() for path in code_files()):
        digest.update(hashlib.blake2b(content).digest())
    return digest.hexdigest()


class WorkerKilled(OSError):
    """A worker was killed from outside."""


class CannotMeasure(ValueError):
    """A side has no values, and why; `misbehaved` if it is its own doing."""

    def __init__(self, reason: str, *, misbehaved: bool) -> None:
        super().__init__(reason)
        self.misbehaved = misbehaved


@dataclass
class Side:
    """A variant in its worker, with the seeds that it is measured on."""

    session: Session
    variant: Description
    seed_set: str
    label: str
    digests: dict[str, str] = field(default_factory=dict)
    files: dict[str, tuple[str, ...]] = field(default_factory=dict)
    occasion: str = field(default_factory=lambda: os.urandom(8).hex())
    scope: Scope = ANY
    """The problems of all sides of a comparison."""
    canary: Part | None = None
    """What the canary must read; None: it is not looked at."""

    def ask(self, problem: str, model: Model | None) -> None:
        """Ask which code is measured."""
        worker = self.session.worker(self.variant, canary=False)
        worker.send(Identify(self.variant.target, problem, model, self.scope))

    def identify(self, problem: str) -> None:
        """Hear which code is measured."""
        answer = self._hear(Identified)
        self.digests[problem], self.files[problem] = answer.digest, answer.files

    def sources(self, problem: str) -> tuple[dict[str, str], str]:
        """The source files that the code has used, by their place in the folder of its file, and its target there."""
        place, _, name = self.variant.target.rpartition(":")
        path = Path(place).resolve()
        if path.suffix != ".py":
            raise ValueError(f"{self.label}: a cluster measures variants in files only: name yours by its path")
        found = {}
        for file in self.files[problem]:
            if not Path(file).is_relative_to(path.parent):
                raise ValueError(f"{self.label}: {file} must be in the folder of {path.name} to be sent to a cluster")
            found[Path(file).relative_to(path.parent).as_posix()] = text_of(Path(file), largest=LARGEST_FILE)
        return found, f"{path.name}:{name}"

    def unit(self, problem: str, start: int, stop: int, *, clock: bool) -> bytes:
        """The key of a piece in the store: code, problem, seeds; not the name of the variant."""
        place, _, name = self.variant.target.rpartition(":")
        # One file may hold several variants. The digest leaves libraries out, so what is not a file is not kept.
        name = name if place.endswith(".py") else f"{self.variant.target} {self.occasion}"
        what = "clock" if clock else "values"
        return key(
            "variant", what, self.digests[problem], name, problem, repr(self.scope), self.seed_set, start, stop,
            identity.of("benchmarks.regression.variants"),
        )  # fmt: skip

    def begin(self, problem: str, model: Model | None, start: int, stop: int, *, clock: bool) -> None:
        """Send the order for a piece."""
        worker = self.session.worker(self.variant, canary=False)
        worker.send(MeasurePiece(self.variant.target, problem, model, self.scope, self.seed_set, start, stop, clock))

    def finish(self, progressed: Callable[[int], None]) -> Part:
        """The values of the piece that was begun; `progressed` hears how many of its seeds are finished."""
        found: Measured = self._hear(Measured, progressed)
        # With times there is no reading: a canary would heat the caches of one side.
        if self.canary is not None and found.canary not in (self.canary, None):
            raise CannotMeasure(
                f"{self.label}: a wrong algorithm of the suite reads otherwise in its process than elsewhere: numpy or "
                "the suite was changed from inside, so none of its numbers counts",
                misbehaved=False,
            )
        return found.part

    def _hear(self, kind: type, progressed: Callable[[int], None] = lambda number: None) -> Any:
        worker = self.session.worker(self.variant, canary=False)
        finished = 0
        while isinstance(answer := worker.hear(kind, Progressed, Refused, Failed, seconds=SILENT_SECONDS), Progressed):
            finished += 1
            progressed(finished)
        if isinstance(answer, kind):
            return answer
        self.session.kill_worker(self.variant)
        if isinstance(answer, Refused):
            raise CannotMeasure(f"{self.label}: {answer.reason}", misbehaved=answer.misbehaved)
        if isinstance(answer, Failed):
            raise ValueError(f"{self.label}: {answer.reason}")
        assert isinstance(answer, Fault)
        if answer.kind == "killed":
            raise WorkerKilled(
                f"{self.label}: its worker was killed ({answer.fate}); nothing is decided. Finished pieces are in the "
                "store: run the same command again, with more memory if the system ended it"
            )
        raise CannotMeasure(f"{self.label}: {answer.misbehaviour()}", misbehaved=True)


def identify(sides: Sequence[Side], problem: str, model: Model | None) -> None:
    """Find out which code is measured, on all sides at the same time."""
    for side in sides:
        side.ask(problem, model)
    for side in sides:
        side.identify(problem)


def measure_piece(
    sides: Sequence[Side],
    problem: str,
    model: Model | None,
    start: int,
    stop: int,
    *,
    store: Store,
    clock: bool = False,
    progressed: Callable[[int], None] = lambda number: None,
) -> list[Part]:
    """The values of a piece on all sides: at the same time, but one after the other where time is measured."""
    found: dict[int, Part] = {}
    missing = []
    for place, side in enumerate(sides):
        value = store.get(side.unit(problem, start, stop, clock=clock))
        if value is None:
            missing.append(place)
        else:
            found[place] = from_data(Part, value, "the store")

    def take(place: int) -> None:
        found[place] = sides[place].finish(progressed)
        store.put(sides[place].unit(problem, start, stop, clock=clock), to_data(found[place]), repeatable=not clock)

    order: Callable[[int], None] = lambda place: sides[place].begin(problem, model, start, stop, clock=clock)  # noqa: E731
    if clock:
        # Pieces have one size, so this counts the turns: no side is always the first.
        first = start // (stop - start) % max(len(missing), 1)
        for place in (*missing[first:], *missing[:first]):
            order(place)
            take(place)
    else:
        for place in missing:
            order(place)
        for place in missing:
            take(place)
    return [found[place] for place in range(len(sides))]
