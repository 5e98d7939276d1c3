"""Learners get copies and hand over plain numbers: a learner that changes the former or lies in the latter is found."""

import copy
import ctypes
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from properties.judging.boundary import difference, private_copy
from properties.judging.guard import watch
from properties.judging.observation import observed_variant
from properties.judging.search import judge_case, search
from properties.judging.verdict import Finding
from properties.judging.verification import applicable, verify
from properties.laws.law import Law
from properties.variants.gallery.bellman import VARIANT as OPERATOR
from properties.variants.gallery.q_learning import VARIANT as LEARNER
from robust_core import Q_LEARNING, Contamination, Problem, TabularLearner, Transition, Variant, constant
from robust_core.models import two_states


def learner(cls: Callable[[Problem], Any]) -> Variant:
    return replace(LEARNER, make=cls, promises=("unbiased", "asynchronous", "sample form"))


class Right(TabularLearner):
    """Correct."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(Q_LEARNING, problem)
        self.problem = problem


class SmallerRadius(Right):
    """Makes the set smaller for itself, and for a judge that looks at the same set."""

    def __init__(self, problem: Problem) -> None:
        object.__setattr__(problem.uncertainty_set, "radius", 0.375)
        super().__init__(problem)


class LaterSchedule(Right):
    """Changes the schedule when it learns."""

    def update(self, transition: Transition) -> None:
        object.__setattr__(self.problem.step_size, "scale", 0.0)
        super().update(transition)


class OtherSet(Right):
    """Replaces the whole set."""

    def estimate(self) -> Any:
        object.__setattr__(self.problem, "uncertainty_set", Contamination(0.0625))
        return super().estimate()


class PastTheFlags(Right):
    """Writes into an array that it may only read."""

    def update(self, transition: Transition) -> None:
        initial = self.problem.initial
        ctypes.memset(initial.ctypes.data, 1, initial.nbytes)
        super().update(transition)


@pytest.mark.parametrize(
    ("cls", "part"),
    [
        (SmallerRadius, "problem.uncertainty_set.radius"),
        (LaterSchedule, "problem.step_size.scale"),
        (OtherSet, "problem.uncertainty_set.radius"),
        (PastTheFlags, "problem.initial"),
    ],
)
def test_a_learner_that_changes_what_it_was_told_is_found(cls: type[Right], part: str) -> None:
    records = list(verify(learner(cls), examples=10, shrink=False))
    found = [record.evidence for record in records if record.outcome == "violated"]
    assert found
    assert found[0] == f"misbehaviour: changed {part}, which it was given"


def test_a_learner_that_was_changed_leaves_the_case_as_it_was() -> None:
    law = next(law for law in applicable(LEARNER) if law.name == "sample step")
    verdict = search(law, learner(SmallerRadius), examples=20, master_seed=0)
    assert verdict.case is not None
    again = judge_case(law, learner(SmallerRadius), _case(law, verdict.case))
    assert str(again) == verdict.evidence.partition("; also ")[0]


def _case(law: Law, entries: dict[str, Any]) -> Any:
    from properties.cases import law_schema

    return law_schema.read(law, entries)


def test_a_function_that_changes_its_arguments_is_found_and_they_are_put_back() -> None:
    def halves(mdp: Any, uncertainty_set: Any, Q: Any) -> Any:
        Q *= 0.5
        return 2.0 * Q

    def tampers(mdp: Any, uncertainty_set: Any, Q: Any) -> Any:
        object.__setattr__(mdp, "gamma", 0.0)
        return OPERATOR.make(mdp, uncertainty_set, Q)

    mdp, Q = two_states(gamma=0.5), np.ones((2, 2))
    for make, name in ((halves, "argument 3"), (tampers, "mdp.gamma")):
        variant = observed_variant(replace(OPERATOR, make=make))
        finding = watch(partial(_call, variant, mdp, Contamination(0.5), Q))
        assert str(finding) == f"misbehaviour: changed {name}, which it was given"
        assert (Q == 1.0).all()
        assert mdp.gamma == 0.5


def _call(variant: Variant, *args: Any) -> None:
    variant.make(*args)


def test_a_copy_is_as_read_only_as_its_original_and_a_cache_is_no_change() -> None:
    mdp = two_states(gamma=0.5)
    assert len(mdp.rows.offsets) == 5, "a cache is filled"
    mine = private_copy(mdp)
    assert not mine.cost.flags.writeable
    assert mine.hash == mdp.hash
    assert difference(mdp, mine) is None


class Sly(np.ndarray):
    """Equal to everything."""

    __hash__ = None

    def __eq__(self, other: object) -> Any:
        return np.ones(self.shape, dtype=bool)

    def __sub__(self, other: object) -> Any:
        return np.zeros(self.shape)

    __rsub__ = __sub__

    def __array_ufunc__(self, *_: Any, **__: Any) -> Any:
        return np.zeros(self.shape)

    def __array_function__(self, *_: Any) -> Any:
        return True


class SlyFloat(float):
    """The same as a number."""

    def __sub__(self, other: object) -> float:
        return 0.0

    __rsub__ = __sub__

    def __le__(self, other: object) -> bool:
        return True

    def __abs__(self) -> float:
        return 0.0


class Changing:
    """Another array whenever it is asked."""

    def __init__(self, table: np.ndarray) -> None:
        self.table, self.asked = table, 0

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        self.asked += 1
        return self.table + (self.asked > 1)


def objects(table: np.ndarray) -> np.ndarray:
    sly = np.empty(table.shape, dtype=object)
    for place, x in np.ndenumerate(table):
        sly[place] = SlyFloat(x + 1.0)
    return sly


FORMS: dict[str, tuple[Callable[[np.ndarray], Any], str]] = {
    "subclass": (lambda table: (table + 1.0).view(Sly), "estimate"),
    "objects": (objects, "type of the estimate: got object"),
    "generator": (iter, "misbehaviour: returned "),
    "text": (lambda table: np.full(table.shape, "1.0"), "misbehaviour: returned an array of <U3, not real numbers"),
    "complex": (lambda table: table + 0.0j, "misbehaviour: returned an array of complex128, not real numbers"),
    "rows of different lengths": (lambda table: [[1.0], []], "misbehaviour: returned list"),
}


@pytest.mark.parametrize("form", FORMS)
def test_an_answer_that_lies_about_itself_is_found(form: str) -> None:
    convert, words = FORMS[form]

    class Lies(Right):
        def estimate(self) -> Any:
            return convert(super().estimate())

    record = next(iter(verify(learner(Lies), examples=5, shrink=False)))
    assert (record.outcome, words in record.evidence) == ("violated", True), record.evidence


def test_an_array_that_changes_when_it_is_read_is_read_once() -> None:
    class Changes(Right):
        def estimate(self) -> Any:
            return Changing(super().estimate())

    laws = applicable(LEARNER)[:2]
    assert {record.outcome for record in verify(learner(Changes), examples=5, laws=laws)} == {"holds"}


LAW = Law("mine", ("control",), None, "a law of the tests", applicable(LEARNER)[0].cases, lambda variant, case: None)


def test_an_exception_of_a_law_is_an_error_of_the_suite() -> None:
    def judge(variant: Variant, case: Any) -> Finding | None:
        int(float(variant.make(_problem(case)).estimate().sum()) * 1e300 * 1e300)
        return None

    law = replace(LAW, judge=_as_of_the_suite(judge))
    verdict = search(law, learner(Right), examples=10, master_seed=0)
    assert verdict.outcome == "error", verdict
    assert verdict.evidence.startswith("cannot be judged: OverflowError: ")


class TooLarge(Right):
    """A table that grows beyond all bounds."""

    def estimate(self) -> Any:
        return super().estimate() + 1e200


class WrongShape(Right):
    """One number less."""

    def estimate(self) -> Any:
        return super().estimate()[:0]


@pytest.mark.parametrize(
    ("cls", "words"), [(TooLarge, "returned numbers beyond 1e+100"), (WrongShape, "returned an array of shape (0, ")]
)
def test_an_answer_at_which_a_law_fails_is_the_variants(cls: type[Right], words: str) -> None:
    def judge(variant: Variant, case: Any) -> Finding | None:
        int(float(variant.make(_problem(case)).estimate()[0, 0]) * 1e300)
        return None

    verdict = search(replace(LAW, judge=_as_of_the_suite(judge)), learner(cls), examples=10, master_seed=0)
    assert (verdict.outcome, f"misbehaviour: {words}" in verdict.evidence) == ("violated", True), verdict


def _problem(case: Any) -> Problem:
    from properties.laws.learning import problem

    return problem(case)


def _as_of_the_suite(judge: Callable[..., Any]) -> Callable[..., Any]:
    """The same function in a module of laws: modules of tests hold variants."""
    from types import FunctionType

    namespace = {**judge.__globals__, "__name__": "properties.laws.mine"}
    return FunctionType(judge.__code__, namespace, judge.__name__, judge.__defaults__, judge.__closure__)


class Locked(Right):
    """Cannot be copied, draws from its rng, and is fed both ways."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.lock = threading.Lock()
        assert problem.rng is not None
        self.drawn = float(problem.rng.random())


COPYING = ("misbehaviour", "unbiased step", "ending")
"""Laws that copy a learner."""


def test_a_learner_that_cannot_be_copied_is_replayed_and_the_evidence_says_so() -> None:
    laws = [law for law in applicable(learner(Locked)) if law.name in COPYING]
    records = list(verify(learner(Locked), examples=5, laws=laws))
    assert {record.outcome for record in records} == {"holds"}, records
    notes = [record.evidence for record in records if "CopyWarning" in record.evidence]
    assert notes
    assert "CopyWarning: its history was replayed: copy.deepcopy raised TypeError: " in notes[0]


def test_a_replayed_copy_is_in_the_same_state() -> None:
    problem = Problem.of(
        two_states(gamma=0.5), Contamination(0.5), step_size=constant(0.5), rng=np.random.default_rng(3)
    )
    first = observed_variant(learner(Locked)).make(problem)
    first.update(Transition(0, 1, 1.0, 1, 0, False))
    with pytest.warns(UserWarning, match="its history was replayed"):
        second = copy.deepcopy(first)
    assert second.inner is not first.inner
    assert second.inner.drawn == first.inner.drawn
    assert np.array_equal(first.estimate(), second.estimate())
    second.update(Transition(1, 0, 1.0, 0, 0, False))
    assert not np.array_equal(first.estimate(), second.estimate())


def test_a_wrong_learner_that_cannot_be_copied_is_still_found() -> None:
    class Wrong(Locked):
        def update(self, transition: Transition) -> None:
            super().update(transition._replace(cost=1.01 * transition.cost))

    laws = [law for law in applicable(learner(Wrong)) if law.name == "unbiased step"]
    (record,) = verify(learner(Wrong), examples=30, laws=laws, shrink=False)
    assert record.outcome == "violated"
