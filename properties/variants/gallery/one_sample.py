"""Robust Q-learning from one sample for every set around p that is a mixture of the sets around the next states.

The target is c + gamma·sigma of the set around the Dirac at the sampled next state. Its mean over s' ~ p is Σ p(s')
sigma_{U(δ_s')}(V), which is sigma_{U(p)}(V) for every V if and only if U(p) = Σ p(s') U(δ_s'), a Minkowski sum: both
sides are support functions of closed convex sets, and these determine the sets. Contamination, restarts and local
adversaries are such sets; then the operator learned is the robust one, a contraction with the same modulus, and
Algorithm 1 with its convergence holds as it stands. `properties.tests.test_one_sample` has the sets that are not,
with the value that the same learner finds for them.
"""

from typing import Any

import numpy as np

from properties.variants.gallery import PATHWISE
from robust_core import Contamination, LocalAdversary, Problem, Restart, Transition, Variant
from robust_core.validate import Floats


class OneSampleLearner:
    """Q-learning with sigma around the Dirac at the sampled next state in place of V(s')."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.Q: Floats = problem.initial.copy()
        self.visits = np.zeros(self.Q.shape, dtype=np.int64)
        self.t = 0

    def update(self, step: Transition) -> None:
        """One transition."""
        schedule, place = self.problem.step_size, (step.s, step.a)
        alpha = schedule.at(int(self.visits[place]) if schedule.clock == "visits" else self.t)
        target = step.cost + self.problem.gamma * self.following(step)
        self.Q[place] = (1.0 - alpha) * self.Q[place] + alpha * target
        self.visits[place] += 1
        self.t += 1

    def following(self, step: Transition) -> float:
        """sigma of the state values around the Dirac at the next state.

        At an end, whose value is 0, contamination and restarts move the mass R to a state; a local adversary leaves
        it there.
        """
        uncertainty_set, V = self.problem.uncertainty_set, self.Q.min(axis=1)
        of_row: Any = uncertainty_set.at(step.s, step.a)
        if step.terminal:
            restarts = V[of_row.states > 0.0] if isinstance(of_row, Restart) else V
            return 0.0 if isinstance(of_row, LocalAdversary) else of_row.radius * float(restarts.max())
        dirac = np.zeros(V.size)
        dirac[step.s_next] = 1.0
        return float(of_row.row_support(dirac, V))

    def estimate(self) -> Floats:
        """A copy of the table."""
        return self.Q.copy()


VARIANT = Variant(
    "one-sample robust Q-learning",
    "control",
    OneSampleLearner,
    (Contamination, Restart, LocalAdversary),
    ("unbiased", *PATHWISE, "converges"),
)
