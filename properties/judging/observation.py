"""A variant of which every call is observed: what the oracles and the laws do beside is not blamed on it."""

import copy
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from properties.judging.guard import call_observed, observe_calls
from properties.laws.learning import LEARNERS
from robust_core import Transition
from robust_core.problem import Variant


def observed_variant(variant: Variant) -> Variant:
    """The same variant, of which every call is `observe_calls`: of the function, or of the learners that it makes."""
    make = observe_calls(variant.make)
    if variant.kind in LEARNERS:
        return replace(variant, make=lambda problem: _Observed(make(problem)))
    return replace(variant, make=lambda *args: _observed_result(make(*args)))


def call_learner(function: Callable[..., Any], learner: Any, *args: Any) -> Any:
    """Call function(learner, *args), which does nothing but drive the learner, as one observed call.

    The function gets the learner itself: observing every single update of a long run would take most of its time.
    """
    return call_observed(function, learner._learner if isinstance(learner, _Observed) else learner, *args)


def _observed_result(result: Any) -> Any:
    """What a function returned; a generator is at work while it is read."""
    return _observed_items(result) if isinstance(result, Iterator) else result


def _observed_items(items: Iterator[Any]) -> Iterator[Any]:
    end = object()
    while (item := call_observed(next, items, end)) is not end:
        yield item


class _Observed:
    """A learner of which every call is observed."""

    def __init__(self, learner: Any) -> None:
        self._learner = learner

    def update(self, transition: Transition) -> None:
        """As the learner's own, which is looked up at every call: a learner may change it."""
        call_observed(self._learner.update, transition)

    def estimate(self) -> Any:
        """As the learner's own."""
        return call_observed(self._learner.estimate)

    @property
    def update_many(self) -> Any:
        """As the learner's own, if it has one."""
        return observe_calls(self._learner.update_many)

    def __deepcopy__(self, memo: dict[int, Any]) -> "_Observed":
        return _Observed(call_observed(copy.deepcopy, self._learner, memo))
