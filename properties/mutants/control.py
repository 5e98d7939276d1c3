"""Wrong robust Q-learning updates."""

from typing import Any

import numpy as np

from robust_core import Q_LEARNING, Contamination, Problem, TabularLearner, Transition, Variant


class _LostGamma(TabularLearner):
    """The contamination term is not discounted, as the paper prints it in eq:exp=0."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(Q_LEARNING, problem)
        self.discounts = (problem.uncertainty_set.radius, self.discounts[1])  # type: ignore[attr-defined]


class _WholeRow(TabularLearner):
    """The update is written to every action of the visited state."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(Q_LEARNING, problem)

    def update(self, transition: Transition) -> None:
        super().update(transition)
        self.table[transition.s] = self.table[transition.s, transition.a]


class _MeanForMaximum(TabularLearner):
    """Nature is replaced by a uniform jump."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(Q_LEARNING, problem)

    def state_values(self) -> np.ndarray:
        V: Any = self.table.min(axis=1).view(_Averaged)
        return V


class _Averaged(np.ndarray):
    def max(self, *args: Any, **kwargs: Any) -> Any:
        return self.mean(*args, **kwargs)


_CLAIMS = ("unbiased", "asynchronous")
LOST_GAMMA = Variant("Q-learning with a lost gamma", "control", _LostGamma, (Contamination,), _CLAIMS)
WHOLE_ROW = Variant("Q-learning that writes the whole row", "control", _WholeRow, (Contamination,), _CLAIMS)
MEAN_FOR_MAXIMUM = Variant("Q-learning against the mean", "control", _MeanForMaximum, (Contamination,), _CLAIMS)
