"""A variant of which every call is observed: what the oracles and the laws do beside is not blamed on it.

It gets copies of what a law compares with, and hands over plain numbers (`boundary`). A learner that cannot be copied,
or whose copy would share state (`closures`), is replayed from its history instead.
"""

import contextlib
import copy
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from properties.cases.case import Path
from properties.cases.runs import Moment
from properties.cases.scope import Scope
from properties.judging.boundary import Steps, plain, plain_step
from properties.judging.closures import shared_state
from properties.judging.convention import in_costs
from properties.judging.guard import call_observed, lend, note_answer
from properties.kinds import kind_of
from properties.laws.coins import Coins
from robust_core import Recording, Transition
from robust_core.mdp import MDP
from robust_core.problem import Problem, Variant
from robust_core.sets import UncertaintySet
from robust_core.text import error_text


class CopyWarning(UserWarning):
    """A learner cannot be copied, so a copy of it is made by replaying its history."""


def observed_variant(variant: Variant) -> Variant:
    """The same variant, of which every call is observed: of the function, or of the learners that it makes.

    A call with a problem that the options of the variant leave out raises `OutOfScope` instead.
    """
    make, scope = in_costs(variant), Scope.of(variant)
    if kind_of(variant.kind).learner:
        return replace(variant, make=lambda problem: _Observed(make, problem, scope))

    def lent(args: tuple[Any, ...]) -> list[Any]:
        _require_inside(scope, variant.kind, args)
        return _lent(args)

    if variant.kind == "sampler":
        return replace(variant, make=lambda *args: _steps(call_observed(make, *lent(args)), args[0]))
    if variant.kind == "simulator":
        return replace(variant, make=lambda *args: call_observed(make, *lent(args)))
    shape = kind_of(variant.kind).shape

    def answer(*args: Any) -> Any:
        given = lent(args)
        result = call_observed(lambda: plain(make(*given)))
        note_answer(result, None if shape is None else shape(*args))
        return result

    return replace(variant, make=answer)


def _require_inside(scope: Scope, kind: str, args: tuple[Any, ...]) -> None:
    """Raise `OutOfScope` unless the arguments of a function are those of a problem that is inside."""
    for value in args:
        if isinstance(value, MDP):
            scope.require_model(value)
        elif isinstance(value, Problem):
            scope.require_problem(value)
        elif isinstance(value, UncertaintySet):
            scope.require_set(value)
    if kind == "support":
        scope.require_outcomes(np.shape(args[1])[-1])


def _lent(args: tuple[Any, ...]) -> list[Any]:
    """The arguments of a function as the variant gets them."""
    return [lend(value, _name(value, number)) for number, value in enumerate(args, start=1)]


def _name(value: Any, number: int) -> str:
    if isinstance(value, MDP):
        return "mdp"
    return "uncertainty_set" if isinstance(value, UncertaintySet) else f"argument {number}"


def _steps(result: Any, mdp: MDP) -> Any:
    """The transitions of a sampler; a generator is at work while it is read."""
    items = _observed_items(result) if isinstance(result, Iterator) else call_observed(lambda: map(plain_step, result))
    steps: list[Any] = []
    note_answer(Steps(steps, mdp.n_states, mdp.n_actions), None)
    for step in items:
        steps.append(step)
        yield step


def _observed_items(items: Iterator[Any]) -> Iterator[Any]:
    end = object()
    while (item := call_observed(next, items, end)) is not end:
        yield plain_step(item)


def call_learner(function: Callable[..., Any], learner: Any, *args: Any) -> Any:
    """Call function(learner, *args), which does nothing but drive the learner, as one observed call.

    The function gets the learner itself: observing every single update of a long run would take most of its time.
    """
    if not isinstance(learner, _Observed):
        return call_observed(function, learner, *args)
    for value in args:
        if isinstance(value, Recording):
            learner.scope.require_costs(value.cost)
    learner.history.append((function, args))
    return call_observed(function, learner.inner, *args)


def advance_learner(learner: Any, path: Path) -> None:
    """Tell a learner the steps of a path, as one observed call."""
    if isinstance(learner, _Observed) and learner.scope.costs is None:
        call_learner(_advance, learner, path)
    else:  # whether a cost is in its range is seen just before its step
        call_observed(_advance, learner, path)


def _advance(learner: Any, path: Path) -> None:
    for step in path:
        learner.update(Transition(*step))


def _warn_of_replay(reason: str) -> None:
    warnings.warn(f"its history was replayed: {reason}", CopyWarning, stacklevel=3)


def _update(learner: Any, transition: Transition) -> None:
    learner.update(transition)


def _update_many(learner: Any, recording: Any) -> None:
    learner.update_many(recording)


def _copy_of(rng: np.random.Generator | None, at: Moment | None = None) -> np.random.Generator | None:
    """A copy of the rng of a problem as it is now, or was at a moment; the laws give learners these two classes."""
    if rng is None:
        return None
    source = (at or Moment.of(rng)).bit_generator()
    return Coins(rng.tape, source) if isinstance(rng, Coins) else np.random.Generator(source)


class _Observed:
    """A learner of which every call is observed, with all that it was told."""

    def __init__(self, make: Callable[[Problem], Any], problem: Problem, scope: Scope) -> None:
        scope.require_problem(problem)
        self._make, self._problem, self.scope = make, problem, scope
        self._start = None if problem.rng is None else Moment.of(problem.rng)
        self._holds_rng = False
        self.history: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []
        self.inner = call_observed(make, lend(problem, "problem"))
        self._shared: str | None = None

    def update(self, transition: Transition) -> None:
        """As the learner's own, which is looked up at every call: a learner may change it."""
        self._require_costs(transition)
        self.history.append((_update, (transition,)))
        call_observed(self.inner.update, transition)

    def _require_costs(self, told: Any) -> None:
        """Raise `OutOfScope` unless a transition, or every one of a batch, has a cost in its range."""
        if self.scope.costs is not None:
            steps = [told] if isinstance(told, Transition) else told
            self.scope.require_costs([step.cost for step in steps])

    def estimate(self) -> Any:
        """As the learner's own, in plain numbers."""
        result = call_observed(lambda: plain(self.inner.estimate()))
        initial = self._problem.initial
        note_answer(result, np.shape(initial[0] if isinstance(initial, tuple) else initial))
        return result

    @property
    def update_many(self) -> Callable[[Any], None]:
        """As the learner's own, if it has one."""
        update_many = self.inner.update_many

        def feed(recording: Any) -> None:
            if self.scope.costs is not None:
                self.scope.require_costs(recording.cost)
            self.history.append((_update_many, (recording,)))
            call_observed(update_many, lend(recording, "recording"))

        return feed

    def __deepcopy__(self, memo: dict[int, Any]) -> "_Observed":
        if self._shared is None:
            self._shared = shared_state(self.inner)
        other = object.__new__(_Observed)
        other.__dict__.update(self.__dict__, history=list(self.history))
        if self._shared:
            _warn_of_replay(f"copy.deepcopy shares {self._shared!r}, which a function of it has closed over")
            other.inner = self._replayed()
            return other
        rng = self._problem.rng
        if self._holds_rng:
            memo[id(rng)] = _copy_of(rng)
        try:
            other.inner = call_observed(copy.deepcopy, self.inner, memo)
            self._holds_rng = other._holds_rng = id(rng) in memo
        except (MemoryError, OSError):
            raise
        except Exception as error:
            _warn_of_replay(f"copy.deepcopy raised {error_text(error)}")
            other.inner = self._replayed()
        return other

    def _replayed(self) -> Any:
        """A second learner that was told the same in the same order, from the same state of the rng."""
        rng = _copy_of(self._problem.rng, self._start)
        problem = replace(self._problem, rng=rng)
        # The draws of the past are not enumerated again.
        with rng.tape.pause() if isinstance(rng, Coins) else contextlib.nullcontext():
            learner = call_observed(self._make, lend(problem, "problem"))
            for function, args in self.history:
                call_observed(function, learner, *args)
        return learner
