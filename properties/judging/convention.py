"""Learners of rewards: told rewards, the larger the better, and judged as learners of costs, which are their negatives.

Values change their sign with the costs, minima become maxima, and the robust value of a reward is its worst case. A
change of sign is exact in floats, so every law of tables says the same in both conventions.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from robust_core import Recording, Transition
from robust_core.problem import Problem, Variant


def in_costs(variant: Variant) -> Callable[..., Any]:
    """The factory of the variant; of one with options['convention'] = 'rewards', the same as a learner of costs."""
    make = variant.make
    if variant.options.get("convention") != "rewards":
        return make
    return lambda problem: _InCosts(make(_negative_problem(problem)))


def _negative(estimate: Any) -> Any:
    """An estimate of the other sign; 0 keeps the sign it has in sums."""
    return tuple(map(_negative, estimate)) if isinstance(estimate, tuple) else 0.0 - np.asarray(estimate)


def _negative_problem(problem: Problem) -> Problem:
    return replace(problem, initial=_negative(problem.initial))


class _InCosts:
    """A learner of rewards behind the contract of a learner of costs."""

    def __init__(self, learner: Any) -> None:
        self.learner = learner

    def update(self, transition: Transition) -> None:
        """As the learner's own."""
        self.learner.update(transition._replace(cost=0.0 - transition.cost))

    def estimate(self) -> Any:
        """As the learner's own, with the other sign."""
        return _negative(self.learner.estimate())

    @property
    def update_many(self) -> Any:
        """As the learner's own, if it has one."""
        many = self.learner.update_many

        def update_many(recording: Recording) -> None:
            many(replace(recording, cost=0.0 - recording.cost))

        return update_many
