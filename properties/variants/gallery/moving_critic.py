"""Robust actor-critic with a moving critic: the actor mixes greedy actions into its policy, the critic evaluates it.

At a visit of (s, a) the critic makes a step of robust expected SARSA for the policy of that time; then the actor moves
pi(.|s) by the share `SHARE` towards the greedy action of the critic at s. The actor starts greedy, so Q* is a fixed
point of both. The policy is a function of the tables so far, so the mean of the critic's step is known exactly; a
randomised actor with step sizes of its own would need another law.
"""

from fractions import Fraction
from typing import Any

import numpy as np

from properties.laws.view import View
from robust_core import Contamination, Problem, Transition, Variant
from robust_core.validate import Floats

SHARE = 0.25


class ActorCritic:
    """Two tables: the critic Q and the policy of the actor."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.Q, self.t = problem, problem.initial.copy(), 0
        self.radius = float(getattr(problem.uncertainty_set, "radius"))  # noqa: B009 (any set with a radius)
        self.policy = np.eye(problem.n_actions)[self.Q.argmin(axis=1)]
        self.visits = np.zeros(self.Q.shape, dtype=int)

    def update(self, transition: Transition) -> None:
        """A step of the critic, then one of the actor."""
        s, a, cost, s_next, _, terminal = transition
        values = (self.policy * self.Q).sum(axis=1)
        following = 0.0 if terminal else float(values[s_next])
        target = cost + self.problem.gamma * ((1.0 - self.radius) * following + self.radius * float(values.max()))
        schedule = self.problem.step_size
        alpha = schedule.at(int(self.visits[s, a]) if schedule.clock == "visits" else self.t)
        self.Q[s, a] += alpha * (target - self.Q[s, a])
        self.visits[s, a] += 1
        self.t += 1
        self.policy[s] *= 1.0 - SHARE
        self.policy[s, self.Q[s].argmin()] += SHARE

    def estimate(self) -> Floats:
        """A copy of the critic."""
        copied: Floats = self.Q.copy()
        return copied


def expected(view: View) -> Any:
    """The critic moves to the robust backup of the values of the policy, which the tables so far determine."""
    one, share = Fraction(1), Fraction(SHARE)
    policy = [_greedy(row, one) for row in view.estimates[0]]
    for step, table in zip(view.transitions, view.estimates[1:], strict=True):
        greedy = _greedy(table[step.s], share)
        policy[step.s] = [(1 - share) * old + new for old, new in zip(policy[step.s], greedy, strict=True)]
    table, pairs = view.estimate, zip(policy, view.estimate, strict=True)
    values = [sum((p * x for p, x in zip(weights, row, strict=True)), Fraction(0)) for weights, row in pairs]
    table[view.place] += view.alpha() * (view.T(values) - table[view.place])
    return table


def _greedy(row: Any, weight: Fraction) -> list[Fraction]:
    best = list(row).index(min(row))
    return [weight if action == best else Fraction(0) for action in range(len(row))]


VARIANT = Variant(
    "robust actor-critic, moving critic",
    "control",
    ActorCritic,
    (Contamination,),
    ("mean update", "fixed point", "fixed point in the mean", "asynchronous", "bounded", "converges"),
    options={"expected": expected},
)
