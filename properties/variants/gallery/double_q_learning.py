"""Robust double Q-learning: two tables, a coin decides which learns; the other one values its greedy action.

The estimate is their mean. Its mean update is no Bellman backup of that estimate (the two tables differ), and an
argmin that flips makes it neither monotone nor a non-expansion, so it promises none of these. It converges all the
same: the distance of the tables contracts (both sigma(A's values) and sigma(B's) are non-expansive in the sup norm),
and with it gone each table is a Q-learner (van Hasselt's proof; the maximum over states changes nothing in it). That
takes step sizes that count the visits of each table: with the visits of both counted together it is far slower.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from properties.laws.view import View
from robust_core import Contamination, Problem, Transition, Variant
from robust_core.validate import Floats


class DoubleQLearner:
    """van Hasselt's double estimator (2010) with the contamination term of eq:Qupdate."""

    def __init__(self, problem: Problem) -> None:
        if problem.rng is None:
            raise ValueError("double Q-learning draws coins: the problem needs an rng")
        self.problem, self.rng = problem, problem.rng
        self.tables: list[list[list[float]]] = [problem.initial.tolist(), problem.initial.tolist()]
        self.radius = float(getattr(problem.uncertainty_set, "radius"))  # noqa: B009 (any set with a radius)
        self.visits: dict[tuple[int, int, int], int] = {}
        self.t = 0

    def update(self, transition: Transition) -> None:
        """Toss the coin, learn from the other table."""
        s, a, cost, s_next, _, terminal = transition
        coin = int(self.rng.random() < 0.5)
        learning, other = self.tables[coin], self.tables[1 - coin]
        values = [row[mine.index(min(mine))] for mine, row in zip(learning, other, strict=True)]
        following = 0.0 if terminal else values[s_next]
        gamma, R = self.problem.gamma, self.radius
        target = cost + gamma * (R * max(values) + (1.0 - R) * following)
        alpha = self._step_size(coin, s, a)
        learning[s][a] = (1.0 - alpha) * learning[s][a] + alpha * target

    def _step_size(self, table: int, s: int, a: int) -> float:
        n = self.visits.get((table, s, a), 0)
        self.visits[table, s, a] = n + 1
        self.t += 1
        schedule = self.problem.step_size
        return schedule.at(n if schedule.clock == "visits" else self.t - 1)

    def estimate(self) -> Floats:
        """The mean of the two tables."""
        return np.mean(self.tables, axis=0)


VARIANT = Variant(
    "robust double Q-learning",
    "control",
    DoubleQLearner,
    (Contamination,),
    ("asynchronous", "scale", "bounded", "converges"),
)


class BothTables(DoubleQLearner):
    """The same, which starts from two tables and returns both."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(replace(problem, initial=problem.initial[0]))
        self.tables = [table.tolist() for table in problem.initial]

    def estimate(self) -> Any:
        """Both tables."""
        return tuple(np.array(table) for table in self.tables)


def expected(view: View) -> Any:
    """Each table moves by alpha/2 towards the backup of the other one's values of its own greedy actions."""
    before, after = view.estimate, view.estimate
    for mine, other, new in zip(before, reversed(before), after, strict=True):
        values = [row[list(own).index(min(own))] for own, row in zip(mine, other, strict=True)]
        new[view.place] += view.alpha() / 2 * (view.T(values) - mine[view.place])
    return after


BOTH = Variant(
    "robust double Q-learning, both tables",
    "control",
    BothTables,
    (Contamination,),
    ("mean update", "fixed point", "fixed point in the mean", "asynchronous", "scale", "bounded"),
    options={"expected": expected, "tables": 2, "schedule": "steps"},
)
