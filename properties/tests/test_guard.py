"""The guard against misbehaviour looks at the calls of the variant only: what an oracle imports is not blamed on it."""

import contextlib
import copy
import importlib
import os
import random
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from oracles.planning import rational
from properties.judging import guard
from properties.judging.guard import TooSlow, call_observed, watch
from properties.judging.observation import observed_variant
from properties.judging.verdict import Finding, Record
from properties.judging.verification import applicable, verify
from properties.variants.gallery.bellman import VARIANT as OPERATOR
from properties.variants.gallery.q_learning import VARIANT as LEARNER
from properties.variants.gallery.walk import VARIANT as SAMPLER
from robust_core import Q_LEARNING, Contamination, Problem, TabularLearner, Transition, constant
from robust_core.models import two_states

LAW = "bellman backup"
INNOCENT = """
import os, random
import numpy as np
np.random.seed(1)
np.random.normal()
random.seed(1)
print("a warm welcome")
os.write(1, b"from C too")
"""
DREW, PRINTED = "misbehaviour: drew from global random state", "misbehaviour: printed to standard output"


@pytest.fixture
def innocent_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Imported by the oracle when it is first needed, as an installed library may be: here again in every case."""
    (tmp_path / "innocent_library.py").write_text(INNOCENT)
    monkeypatch.syspath_prepend(tmp_path)
    backup = rational.backup

    def importing(*args: Any) -> Any:
        sys.modules.pop("innocent_library", None)
        importlib.import_module("innocent_library")
        return backup(*args)

    monkeypatch.setattr(rational, "backup", importing)


def judge(make: Callable[..., Any]) -> Record:
    variant = replace(OPERATOR, make=make)
    laws = [law for law in applicable(variant) if law.name == LAW]
    (record,) = verify(variant, examples=5, laws=laws)
    return record


@pytest.mark.usefixtures("innocent_library")
def test_a_library_that_the_oracle_imports_is_not_blamed_on_the_variant() -> None:
    record = judge(OPERATOR.make)
    assert record.outcome == "holds", record.evidence


ACTS: dict[str, tuple[Callable[[], object], str]] = {
    "random": (random.random, DREW),
    "gauss": (lambda: random.gauss(0.0, 1.0), DREW),
    "seed": (lambda: random.seed(2), DREW),
    "numpy": (np.random.rand, DREW),
    "numpy, one of two": (np.random.normal, DREW),
    "numpy, seed": (lambda: np.random.seed(2), DREW),  # noqa: NPY002
    "print": (lambda: print("working"), PRINTED),  # noqa: T201
}


@pytest.mark.usefixtures("innocent_library")
@pytest.mark.parametrize("name", ACTS)
def test_a_variant_that_does_the_same_is_violated(name: str) -> None:
    act, words = ACTS[name]

    def make(*args: Any) -> Any:
        act()
        return OPERATOR.make(*args)

    record = judge(make)
    assert (record.outcome, record.evidence.startswith(words)) == ("violated", True), record.evidence


@pytest.mark.usefixtures("innocent_library")
def test_once_is_enough() -> None:
    """A variant that seeds when it is first called is not excused as an import."""
    calls: list[None] = []

    def make(*args: Any) -> Any:
        calls.append(None)
        if len(calls) == 1:
            random.seed(0)
        return OPERATOR.make(*args)

    record = judge(make)
    assert (record.outcome, DREW.removeprefix("misbehaviour: ") in record.evidence) == ("violated", True), (
        record.evidence
    )


PROBLEM = Problem(
    n_states=1,
    n_actions=1,
    gamma=0.5,
    uncertainty_set=Contamination(0.5),
    step_size=constant(0.5),
    initial=np.zeros((1, 1)),
)


class Draws(TabularLearner):
    """Draws from global random state in one of its methods."""

    def __init__(self, problem: Problem, where: str) -> None:
        super().__init__(Q_LEARNING, problem)
        self.where = where
        self.draw("make")

    def draw(self, where: str) -> None:
        if where == self.where:
            random.random()

    def update(self, transition: Transition) -> None:
        self.draw("update")
        super().update(transition)

    def estimate(self) -> Any:
        self.draw("estimate")
        return super().estimate()

    def update_many(self, recording: Any) -> None:
        self.draw("update_many")

    def __deepcopy__(self, memo: object) -> "Draws":
        self.draw("copy")
        return self


CALLS: dict[str, Callable[[Any], object]] = {
    "make": lambda learner: None,
    "update": lambda learner: learner.update(Transition(0, 0, 0.0, 0, 0, False)),
    "estimate": lambda learner: learner.estimate(),
    "update_many": lambda learner: learner.update_many(None),
    "copy": copy.deepcopy,
}


@pytest.mark.parametrize("where", CALLS)
def test_every_call_of_a_learner_is_observed(where: str) -> None:
    assert DREW in str(misbehaviour_in(where, drawing=where))
    assert misbehaviour_in(where, drawing="nowhere") is None


def misbehaviour_in(where: str, *, drawing: str) -> Finding | None:
    variant = observed_variant(replace(LEARNER, make=lambda problem: Draws(problem, drawing)))

    def work() -> None:
        CALLS[where](variant.make(PROBLEM))

    return watch(work)


def test_a_generator_is_observed_while_it_is_read() -> None:
    def sample(*_: Any) -> Iterator[int]:
        yield 0
        random.random()
        yield 1

    variant = observed_variant(replace(SAMPLER, make=sample))
    items: list[int] = []
    assert DREW in str(watch(lambda: items.extend(variant.make(two_states(gamma=0.5)))))
    assert items == [0, 1]


def test_a_learner_without_a_fast_path_has_none_when_it_is_observed() -> None:
    variant = observed_variant(replace(LEARNER, make=lambda problem: object()))
    assert not hasattr(variant.make(PROBLEM), "update_many")


def test_a_call_within_a_call_is_the_same_call() -> None:
    def outer() -> None:
        call_observed(random.random)

    assert DREW in str(watch(lambda: call_observed(outer)))


@pytest.mark.parametrize(("allowed", "size"), [(resource.RLIM_INFINITY, guard.LARGEST_OUTPUT), (8192, 8192), (0, 0)])
def test_a_limit_on_files_that_the_caller_has_set_is_respected(
    allowed: int, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file that takes what is printed past Python would be too large for `ulimit -f`."""
    monkeypatch.setattr(resource, "getrlimit", lambda which: (allowed, allowed))
    monkeypatch.setattr(guard, "STDOUT", os.open(os.devnull, os.O_WRONLY))
    monkeypatch.setattr(guard, "_diverted", [])
    guard.divert_output()
    assert os.fstat(guard.STDOUT).st_size == size
    for handle in (guard.STDOUT, *guard._diverted):
        os.close(handle)


def test_an_interruption_that_is_swallowed_is_a_finding_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "IDLE_FACTOR", 1000.0)

    def swallows() -> None:
        began = time.process_time()
        with contextlib.suppress(BaseException):
            while time.process_time() < began + 60.0:
                pass

    with pytest.raises(TooSlow, match=r"over 0\.05 s of the processor"):
        watch(lambda: call_observed(swallows), seconds=0.05)


@pytest.mark.parametrize(
    ("timer", "number", "clock"),
    [(signal.ITIMER_REAL, signal.SIGALRM, time.monotonic), (signal.ITIMER_PROF, signal.SIGPROF, time.process_time)],
)
def test_a_timer_of_the_caller_goes_on_after_a_case(timer: int, number: int, clock: Callable[[], float]) -> None:
    """A plugin of pytest, or a profiler, may use the same timer as the limit on a case."""
    came: list[int] = []
    previous = signal.signal(number, lambda *_: came.append(1))

    def outlasts_it() -> None:
        began = clock()
        while clock() < began + 0.02:
            pass

    try:
        signal.setitimer(timer, 1000.0, 7.0)
        assert watch(lambda: None) is None
        first, interval = signal.setitimer(timer, 0.01)
        assert first > 0.0
        assert interval == 7.0
        assert watch(outlasts_it) is None
        began = clock()
        while not came:
            assert clock() < began + 60.0
        assert len(came) == 1
    finally:
        signal.setitimer(timer, 0.0)
        signal.signal(number, previous)
