"""Verification of variants in workers, as a stream of typed events.

The module of a variant is executed in a worker and nowhere else: one for each file, module or entry point, and a new
one after a fault. The worker first describes its variants. The parent gives each law a limited time. When the worker
hangs or dies, or a message is not the expected one, the law at work gets a verdict that says so, and a new worker goes
on with the next law: only a record of the law and the variant at work is believed.

Several workers can be at work at a time, each heard by a thread of its own. Variants of one file, module or entry point
still follow each other in one worker, for they may share state; those of the suite itself do not, so each goes to the
next worker that is free. Events are given in the order in which the variants were named.
"""

import threading
import weakref
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from properties.cases.scope import ANY, Scope
from properties.judging.causes import Causes
from properties.judging.deviation import Deviation
from properties.judging.verdict import Outcome, Record, UntestedPromise
from properties.process import child
from properties.process.child import GARBLED, Child, Fault
from properties.process.confirmation import Refused, confirm
from properties.process.lanes import run_lanes
from properties.process.loading import is_of_the_suite, missing_file, place_of
from robust_core import json as strict_json
from robust_core.text import one_line

Size = Literal["quick", "full"]
EXAMPLES = 200
CANARY = "canary"
"""The name in the place of a law in a record on the suite itself."""
PROCESSES = "processes"
"""The name in the place of a law in a record on processes that outlive the work, or still write when it is done."""
LOADING = "loading"
"""The name in the place of a law in a record on a module that wrote to the pipe when it was loaded."""
SERVE = "properties.process.serving:serve"
OF_THE_SUITE = ""
"""The key of the group of all variants of the suite itself."""
MOST_SIGNS: dict[Size, int] = {"quick": 600, "full": 18_000}
"""Signs of life of one cell, which are at least a second apart: ten times the seconds that all cells of a variant have,
for these are of the processor, on which others may be."""


@dataclass(frozen=True)
class PlannedCell:
    """A cell of a statistical law: its name in records and its weight in the error budget."""

    name: str
    weight: float


@dataclass(frozen=True)
class Description:
    """A variant as its worker describes it; `target` is how it is loaded alone.

    `cells` are those of the size of the run, or of the quick one if there are no statistics in it. `limits` say which
    problems the options of the variant leave out (those of `scope` as data), `advice` what it could promise beside.
    """

    target: str
    name: str
    kind: str
    sets: tuple[str, ...]
    promises: tuple[str, ...]
    limits: tuple[str, ...]
    laws: tuple[str, ...]
    cells: tuple[PlannedCell, ...]
    untested: tuple[UntestedPromise, ...]
    advice: tuple[str, ...] = ()
    scope: Scope = ANY


# Orders


@dataclass(frozen=True)
class Describe:
    """Load the targets and describe their variants; `expected` is a file of expected failures."""

    targets: tuple[str, ...]
    size: Size | None = None
    expected: str | None = None


@dataclass(frozen=True)
class JudgeCanary:
    """Judge a wrong algorithm of a kind."""

    kind: str


@dataclass(frozen=True)
class Verify:
    """Judge a variant by the laws and cells of these names; `weight` is that of all cells of the run.

    An exact law begins no case after `budget` seconds; `models` are the user's.
    """

    target: str
    laws: tuple[str, ...]
    failed: dict[str, str]
    examples: int
    seed: int
    keep: str | None
    size: Size | None
    weight: float | None
    budget: float | None = None
    models: tuple[dict[str, Any], ...] = ()


# Answers


@dataclass(frozen=True)
class Described:
    """The variants of the targets."""

    variants: tuple[Description, ...]


WITNESS = Record(
    "a canary", "a law", "violated", "wrong", 1, 0.0, 0, versions={}, deviation=Deviation("Q", 0.25, 0.5, 1e-15)
)
"""A record as a worker would send it: what changes the messages of a worker changes this one."""


@dataclass(frozen=True)
class CanaryJudged:
    """The reason not to trust this worker, if there is one, and a record that must arrive as it was sent."""

    reason: str
    witness: Record = WITNESS

    @property
    def doubt(self) -> str:
        """Why the worker is not trusted; empty if it is."""
        changed = "its messages say what was not decided: the suite was changed from inside"
        return self.reason or ("" if self.witness == WITNESS else changed)


@dataclass(frozen=True)
class Begun:
    """A law has begun."""

    law: str


@dataclass(frozen=True)
class Alive:
    """A statistical law is still at work."""


@dataclass(frozen=True)
class Decided:
    """The record of the law that has begun, with its counterexample as JSON if that is not in a file."""

    record: Record
    counterexample: str | None = None


@dataclass(frozen=True)
class Failed:
    """The suite in the worker failed."""

    reason: str


# Events


@dataclass(frozen=True)
class VariantBegun:
    """The verification of a variant begins; it is number `place` of `total`."""

    variant: Description
    place: int
    total: int


@dataclass(frozen=True)
class LawBegun:
    """A law of a variant begins; it is number `place` of `total`."""

    variant: Description
    law: str
    place: int
    total: int


@dataclass(frozen=True)
class Judged:
    """A verdict."""

    record: Record


@dataclass(frozen=True)
class VariantEnded:
    """The last record of a variant was given."""

    variant: Description


Event = VariantBegun | LawBegun | Judged | VariantEnded


@dataclass(frozen=True)
class Effort:
    """How a variant is judged; `keep` is the folder for counterexamples, without one the records hold their data.

    With `laws`, only laws and cells of these names are tried, or whose names begin with one and a slash; with
    `fail_fast` the run ends with the first violation or error. An exact law begins no case after `budget` seconds, and
    is tried on `models` (`MDP.to_dict`) too.
    """

    examples: int = EXAMPLES
    seed: int = 0
    keep: Path | None = None
    law_seconds: float = child.SECONDS
    laws: tuple[str, ...] = ()
    fail_fast: bool = False
    budget: float | None = None
    models: tuple[dict[str, Any], ...] = ()

    def selects(self, law: str) -> bool:
        """Whether a law or cell is to be tried.

        >>> Effort(laws=("converges",)).selects("converges/rate/two states/T=256")
        True
        """
        return not self.laws or any(law == name or law.startswith(f"{name}/") for name in self.laws)


@dataclass
class _Group:
    """The targets that share a worker, and the worker while there is one."""

    place: str
    targets: list[str] = field(default_factory=list)
    worker: Child | None = None
    unfinished: int = 0
    believed: set[str] = field(default_factory=set)
    """The kinds whose canary the worker has judged."""
    given_up: str = ""
    """Why no other worker is started; empty as long as one is."""

    def kill(self) -> None:
        if self.worker is not None:
            self.worker.kill()
            self.worker = None

    def end(self) -> str:
        """Let the worker exit: the misbehaviour of what outlives it or still writes, empty if nothing does."""
        worker, self.worker = self.worker, None
        left = () if worker is None else worker.end()
        if worker is not None and worker.unread:
            return GARBLED.misbehaviour()
        if not left:
            return ""
        number = f"{len(left)} process{'es' * (len(left) > 1)}"
        names = one_line(", ".join(sorted(set(left))))
        return f"misbehaviour: left {number} running, which the suite has ended: {names}"


@dataclass(frozen=True)
class _Task:
    """Variants that follow each other in one worker; that may be any worker for a variant of the suite."""

    variants: tuple[Description, ...]
    of_the_suite: bool


class Session:
    """The variants of some targets with the workers that have loaded them; all workers end with the `with` block.

    Whatever is wrong with a target is a `ValueError` of one line; of a target that is `optional`, `complain` hears the
    line, and the target is left out. With a `size` the statistical laws follow the exact ones; all cells share one
    error budget. `seconds` is the time for loading, and `waiting` hears the place that is loaded if it takes long.
    `serve` is the worker's side, and `ready` a worker of it that was started before.
    """

    def __init__(
        self,
        targets: Iterable[str],
        *,
        serve: str = SERVE,
        size: Size | None = None,
        expected: Path | None = None,
        optional: Collection[str] = (),
        complain: Callable[[str], None] = lambda reason: None,
        seconds: float = child.SECONDS,
        waiting: Callable[[str], None] = lambda place: None,
        ready: Child | None = None,
    ) -> None:
        self._ready = ready
        self.size, self.targets, self._serve = size, tuple(targets), serve
        self.variants: dict[str, Description] = {}
        self._expected, self._seconds, self._waiting = expected, seconds, waiting
        self._groups: dict[str, _Group] = {}
        self._group_of: dict[str, _Group] = {}
        self._copies: list[_Group] = []
        self._lock = threading.Lock()
        self._children: weakref.WeakSet[Child] = weakref.WeakSet()
        self._garbled: set[str] = set()
        for target in self.targets:
            place = place_of(target)
            group = OF_THE_SUITE if is_of_the_suite(place) else place
            self._groups.setdefault(group, _Group(place)).targets.append(target)
        try:
            self._describe(optional, complain)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End every worker at once."""
        for group in (*self._groups.values(), *self._copies):
            group.kill()

    def end(self) -> str:
        """Let every worker exit: the first reason to doubt what it said, empty if there is none.

        It does not find the canaries any more that it has found before, or something outlives it or still writes.
        """
        return next((reason for _, reason in self._endings()), "")

    def require_good_end(self) -> None:
        """Let every worker exit; a reason to doubt what one said is a `ValueError`."""
        for group, reason in self._endings():
            raise ValueError(f"{group.place}: {reason}")

    def _endings(self) -> list[tuple[_Group, str]]:
        found = [(group, each) for group in self._groups.values() for each in (self._doubt_again(group), group.end())]
        return [(group, reason) for group, reason in found if reason]

    def _doubt_again(self, group: _Group) -> str:
        """Why a worker is not trusted after its work; empty if it is, or if nothing trusted it before."""
        for kind in sorted(group.believed) if group.worker is not None else ():
            if reason := _reason(self._canary(group, kind)):
                group.kill()
                return reason
        return ""

    def _start_child(self, serve: str) -> Child:
        started, self._ready = self._ready or Child(serve), None
        with self._lock:
            self._children.add(started)
        return started

    def _interrupt(self) -> None:
        """Let every thread that waits for a worker go on."""
        with self._lock:
            for started in self._children:
                started.interrupt()

    def _describe(self, optional: Collection[str], complain: Callable[[str], None]) -> None:
        """Fill `variants`, in the order in which they were named."""
        described: dict[str, Description] = {}
        for group in self._groups.values():
            answer = self._start(group)
            if isinstance(answer, Refused):
                if not set(group.targets) <= set(optional):
                    raise ValueError(answer.reason)
                complain(answer.reason)
                continue
            described |= {variant.target: variant for variant in answer.variants}
            self._group_of |= {variant.target: group for variant in answer.variants}
            group.unfinished = len(answer.variants)
        for target in self.targets:
            self.variants |= {key: one for key, one in described.items() if f"{key}:".startswith(f"{target}:")}

    def _start(self, group: _Group) -> Described | Refused:
        """Load the targets of the group in a new worker.

        If something else is in the pipe, that is a finding about the module, which is described as far as it is known;
        where there are no records for it, the module is refused.
        """
        group.kill()
        group.believed.clear()
        for target in group.targets:
            if (reason := missing_file(target)) is not None:
                return Refused(reason)
        group.worker = self._start_child(self._serve)
        expected = None if self._expected is None else str(self._expected)
        group.worker.send(Describe(tuple(group.targets), self.size, expected))
        answer = group.worker.hear(
            Described, Refused, seconds=self._seconds, waiting=lambda: self._waiting(group.place)
        )
        if answer == GARBLED and self._serve == SERVE:
            group.kill()
            self._garbled.add(group.targets[0])
            answer = Described((Description(group.targets[0], group.place, "", (), (), (), (), (), ()),))
        if isinstance(answer, Fault):
            again = "; if it was killed from outside, run the same command again" * (answer.kind == "killed")
            answer = Refused(f"{group.place}: {answer.fate} while loading{again}")
        assert isinstance(answer, Described | Refused)
        if isinstance(answer, Refused):
            group.kill()
        return answer

    def verify(self, effort: Effort, workers: int = 1) -> Iterator[Event]:
        """Verify all variants, with so many workers at a time; the records do not depend on their number."""
        tasks = self._tasks()
        lanes = [self._lane(tasks, effort) for _ in range(min(workers, len(tasks)))] if workers > 1 else []
        running: AbstractContextManager[Callable[[str], Iterator[LawBegun | Judged]]] = run_lanes(
            lanes, self.variants, self._interrupt
        )
        with running as events_of:
            for place, variant in enumerate(self.variants.values(), start=1):
                yield VariantBegun(variant, place, len(self.variants))
                for event in events_of(variant.target) if lanes else self._events(variant, effort):
                    yield event
                    if effort.fail_fast and isinstance(event, Judged) and is_failure(event.record):
                        yield VariantEnded(variant)
                        return
                yield VariantEnded(variant)

    def _tasks(self) -> deque[_Task]:
        """The work in the order in which it is begun."""
        suite = self._groups.get(OF_THE_SUITE)
        tasks: dict[str, list[Description]] = {}
        for variant in self.variants.values():
            group = self._group_of[variant.target]
            tasks.setdefault(variant.target if group is suite else group.targets[0], []).append(variant)
        return deque(_Task(tuple(variants), self._group_of[variants[0].target] is suite) for variants in tasks.values())

    def _lane(self, tasks: deque[_Task], effort: Effort) -> Iterator[tuple[str, "LawBegun | Judged | None"]]:
        """The events of the tasks that one thread has taken, each with its target; None ends those of a variant."""
        copy: _Group | None = None
        task = _take(tasks)
        while task is not None:
            if task.of_the_suite:
                copy = copy or self._copy_of_the_suite()
                self._group_of |= dict.fromkeys((variant.target for variant in task.variants), copy)
            following = None
            for variant in task.variants:
                target = variant.target
                yield from ((target, event) for event in self._judge_all(variant, effort))
                if variant is task.variants[-1]:
                    following = _take(tasks)
                    if task.of_the_suite:
                        assert copy is not None
                        copy.unfinished = 2 if following is not None and following.of_the_suite else 1
                yield from ((target, event) for event in self.finish(variant, effort))
                yield target, None
            task = following

    def _copy_of_the_suite(self) -> _Group:
        """A group of the suite's variants for one thread: the first has a worker, others start theirs."""
        first = self._groups[OF_THE_SUITE]
        with self._lock:
            group = first if not self._copies else _Group(first.place, first.targets)
            self._copies.append(group)
        return group

    def _events(self, variant: Description, effort: Effort) -> Iterator[LawBegun | Judged]:
        yield from self._judge_all(variant, effort)
        yield from self.finish(variant, effort)

    def _judge_all(self, variant: Description, effort: Effort) -> Iterator[LawBegun | Judged]:
        for promise in variant.untested:
            yield _judged(variant, promise.name, "untested", promise.evidence, effort)
        yield from self._verify(variant, effort)

    def _verify(self, variant: Description, effort: Effort) -> Iterator[LawBegun | Judged]:
        laws = self.laws_of(variant, effort)
        causes, done = Causes(), 0
        while done < len(laws):
            for event in self.judge(variant, laws[done:], causes, effort):
                if isinstance(event, LawBegun):
                    yield replace(event, place=done + 1, total=len(laws))
                else:
                    yield event
                    done += 1

    def laws_of(self, variant: Description, effort: Effort) -> list[str]:
        """The laws and cells by which a variant is judged."""
        laws = [*variant.laws, *(cell.name for cell in variant.cells if self.size is not None)]
        return [law for law in laws if effort.selects(law)]

    def judge(
        self, variant: Description, laws: Sequence[str], causes: Causes, effort: Effort
    ) -> Iterator[LawBegun | Judged]:
        """The records of the laws, up to the first at which the worker fails; the next call starts another."""
        group = self._group_of[variant.target]
        reason = self._load_again(group, variant)
        answer: Any = None
        if not reason and variant.kind not in group.believed:
            answer = self._canary(group, variant.kind)
            reason = _doubt(answer)
            if isinstance(answer, Fault) and answer.kind == "hung":
                group.given_up = f"{answer.fate} before any law, so no other law is tried"
        if reason:
            group.kill()
            for law in laws:
                yield _judged(variant, law, "error", f"cannot be judged: {reason}", effort)
            return
        if not isinstance(answer, Fault):
            self._send_order(group, variant, laws, causes, effort)
        for law in laws:
            if not isinstance(answer, Fault):
                answer = _hear(group, Begun, Failed, seconds=effort.law_seconds)
            if answer == Begun(law):
                yield LawBegun(variant, law, 1, len(laws))
                answer = self._decision(group, variant, law, effort)
            believed = isinstance(answer, Decided) and _is_of(answer.record, variant, law, effort)
            record = answer.record if believed else _failure(answer, variant, law, effort)
            text = answer.counterexample if believed else None
            if record.outcome == "violated" and (text is not None or record.counterexample is not None):
                again = _command(variant, effort)
                record, text = confirm(record, text, again=again, seconds=effort.law_seconds, start=self._start_child)
            if record.statistics is None:
                causes.note(law, record)
            if isinstance(answer, Fault) and answer.stopped:
                group.given_up = f"{answer.fate} at {law!r}, so no other law is tried"
            if not believed:
                group.kill()  # now: whoever hears the record may not come back
            yield Judged(_with_counterexample(record, text))
            if not believed:
                return

    def _decision(self, group: _Group, variant: Description, law: str, effort: Effort) -> Any:
        """The answer to a law that has begun; a statistical one sends signs of life, but not forever."""
        signs = MOST_SIGNS[self.size] if self.size is not None and law not in variant.laws else 0
        for _ in range(signs):
            if (answer := _hear(group, Alive, Decided, Failed, seconds=effort.law_seconds)) != Alive():
                return answer
        return _hear(group, Decided, Failed, seconds=effort.law_seconds)

    def finish(self, variant: Description, effort: Effort) -> Iterator[Judged]:
        """After the laws: a record if the worker cannot be trusted, or if processes outlive its last variant.

        A module that wrote to the pipe when it was loaded has no laws, and this is its only record.
        """
        group = self._group_of[variant.target]
        group.unfinished -= 1
        if variant.target in self._garbled:
            yield _judged(variant, LOADING, "violated", GARBLED.misbehaviour(), effort)
        if group.worker is not None and variant.kind in group.believed:
            answer = self._canary(group, variant.kind)
            if answer != CanaryJudged(""):
                group.kill()
                reason = answer.doubt if isinstance(answer, CanaryJudged) else ""
                failure: object = Failed(f"cannot be judged: {reason}") if reason else answer
                yield Judged(_failure(failure, variant, CANARY, effort))
        if group.worker is None or group.unfinished:
            return
        if evidence := group.end():
            yield _judged(variant, PROCESSES, "violated", evidence, effort)

    def worker(self, variant: Description, *, canary: bool = True) -> Child:
        """The worker that has loaded a variant; a new one if the last has ended, a `ValueError` if it cannot be had.

        With `canary`, it has judged a wrong algorithm; one that has loaded nothing but the suite need not.
        """
        group = self._group_of[variant.target]
        reason = self._load_again(group, variant)
        suite = group is self._groups.get(OF_THE_SUITE)
        if not reason and canary and not suite and variant.kind not in group.believed:
            reason = _reason(self._canary(group, variant.kind))
        if reason:
            group.kill()
            raise ValueError(f"{variant.target}: {reason}")
        assert group.worker is not None
        return group.worker

    def kill_worker(self, variant: Description) -> None:
        """End the worker that has loaded a variant."""
        self._group_of[variant.target].kill()

    def _load_again(self, group: _Group, variant: Description) -> str:
        """Start a worker if there is none; the reason why it cannot judge the variant, if there is one."""
        if group.worker is not None or group.given_up:
            return group.given_up
        answer = self._start(group)
        if isinstance(answer, Refused):
            return f"{answer.reason}, though it was loaded before"
        return "" if variant in answer.variants else "its module is another one when it is loaded again"

    def _canary(self, group: _Group, kind: str) -> "CanaryJudged | Failed | Fault":
        """The answer of the worker to a wrong algorithm of a kind."""
        assert group.worker is not None
        group.worker.send(JudgeCanary(kind))
        answer: CanaryJudged | Failed | Fault = _hear(group, CanaryJudged, Failed, seconds=self._seconds)
        if answer == CanaryJudged(""):
            group.believed.add(kind)
        return answer

    def _send_order(
        self, group: _Group, variant: Description, laws: Sequence[str], causes: Causes, effort: Effort
    ) -> None:
        assert group.worker is not None
        keep = None if effort.keep is None else str(effort.keep.absolute())
        weight = sum(cell.weight for each in self.variants.values() for cell in each.cells)
        group.worker.send(
            Verify(
                variant.target,
                tuple(laws),
                causes.failed,
                effort.examples,
                effort.seed,
                keep,
                self.size,
                weight,
                effort.budget,
                effort.models,
            )
        )


def _take(tasks: deque[_Task]) -> _Task | None:
    try:
        return tasks.popleft()
    except IndexError:
        return None


def is_failure(record: Record) -> bool:
    """Whether a record is a violation that was not expected, or an error."""
    return record.outcome in ("violated", "error") and record.expected is None


def _doubt(answer: object) -> str:
    """Why the answer to a wrong algorithm is a reason not to judge; empty if it is none."""
    if isinstance(answer, CanaryJudged):
        return answer.doubt
    return answer.reason.removeprefix("cannot be judged: ") if isinstance(answer, Failed) else ""


def _reason(answer: "CanaryJudged | Failed | Fault") -> str:
    """The same in full, also where the worker hung or ended over it."""
    reason = answer.fate if isinstance(answer, Fault) else _doubt(answer)
    return reason and f"cannot be judged: {reason}"


def _hear(group: _Group, *kinds: type, seconds: float) -> Any:
    assert group.worker is not None
    return group.worker.hear(*kinds, seconds=seconds)


def _command(variant: Description, effort: Effort) -> str:
    """The command that tries the same cases in the same order."""
    return f"robust-core verify {one_line(variant.target)} --seed {effort.seed} --examples {effort.examples}"


def _is_of(record: Record, variant: Description, law: str, effort: Effort) -> bool:
    """Whether a record is that of the law at work."""
    expected = variant.name, variant.target, law, effort.seed
    return (record.variant, record.target, record.law, record.seed) == expected


def _failure(answer: object, variant: Description, law: str, effort: Effort) -> Record:
    """The record of a law at which the worker failed: the suite in it, or the variant by what it did."""
    if isinstance(answer, Failed):
        return Record(variant.name, law, "error", answer.reason, 0, 0.0, effort.seed, target=variant.target)
    fault = answer if isinstance(answer, Fault) else GARBLED
    if fault.kind == "killed":
        evidence = f"cannot be judged: {fault.fate}"
        return Record(variant.name, law, "error", evidence, 0, 0.0, effort.seed, target=variant.target)
    seconds = effort.law_seconds if fault.kind == "hung" else 0.0
    evidence = fault.misbehaviour()
    return Record(variant.name, law, "violated", evidence, 0, seconds, effort.seed, target=variant.target)


def _with_counterexample(record: Record, text: str | None) -> Record:
    """The record with the data of its counterexample, or with its file as seen from the current folder."""
    if text is not None:
        return replace(record, counterexample=strict_json.loads(text, infinite=True))
    file, here = record.counterexample, Path.cwd()
    if not isinstance(file, str) or not Path(file).is_relative_to(here):
        return record
    return replace(record, counterexample=str(Path(file).relative_to(here)))


def _judged(variant: Description, law: str, outcome: Outcome, evidence: str, effort: Effort) -> Judged:
    return Judged(Record(variant.name, law, outcome, evidence, 0, 0.0, effort.seed, target=variant.target))


def verify_isolated(
    *targets: str, size: Size | None = None, expected: Path | None = None, effort: Effort = Effort(), workers: int = 1
) -> Iterator[Event]:
    """Verify the variants of the targets in workers; see `Session`."""
    with Session(targets, size=size, expected=expected) as session:
        yield from session.verify(effort, workers)


def records(events: Iterable[Event]) -> Iterator[Record]:
    """The records among the events."""
    return (event.record for event in events if isinstance(event, Judged))
