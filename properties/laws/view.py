"""What the promise of a mean update is a function of: the past, and exact means over the next transition.

A variant that promises `mean update` says what E[estimate_{t+1} | past] is, by the name of a step or by a function of a
`View`. The function never sees the learner. All numbers are rationals; tables are arrays of them.
"""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from oracles.arithmetic import exact
from oracles.planning import ends as ending
from properties.cases.runs import Run, ends_of, estimates, policy_of
from properties.cases.transition_costs import cost_of
from properties.laws.learning import step_size_at
from robust_core import Transition
from robust_core.problem import Variant
from robust_core.sets import Contamination

ZERO = Fraction(0)
Table = np.ndarray[Any, np.dtype[np.object_]]
_rationals = np.frompyfunc(Fraction, 1, 1)


def to_rationals(values: Any) -> Table:
    """An array of numbers as an array of rationals."""
    return np.asarray(_rationals(np.asarray(values)), dtype=object)


class View:
    """The past of a learner of tables, and the pair (s, a) that is visited next.

    `estimates` are those so far, the start first: each a table, or a tuple of tables. `transitions` are the steps so
    far. For a table of V the action of the next step is drawn by the policy, and `a` is None. The next step ends the
    episode with a known probability; then no value follows. `width` is that of the enclosures of all backups so far:
    that of a set whose support function is no rational is known to a bracket only.
    """

    def __init__(
        self,
        variant: Variant,
        case: Run,
        *,
        past: Sequence[Any],
        steps: Sequence[Sequence[Any]],
        s: int,
        a: int,
        ends: float,
    ) -> None:
        self._mdp, self._set, self._policy = case.mdp, case.uncertainty_set, policy_of(case)
        self._schedule, self._ends, self._swing = case.step_size, Fraction(ends), case.swing
        self._states = estimates(variant) == "V"
        self._nature_ends = ends_of(variant, type(case.uncertainty_set)) == "nature ends"
        self._action = a
        self.s, self.a = s, None if self._states else a
        self.gamma = Fraction(case.mdp.gamma)
        self.estimates = tuple(past)
        self.width = ZERO
        self.transitions = tuple(Transition(*step)._replace(cost=Fraction(step[2])) for step in steps)  # type: ignore[arg-type]

    @property
    def estimate(self) -> Any:
        """A fresh copy of the last estimate."""
        last = self.estimates[-1]
        return tuple(table.copy() for table in last) if isinstance(last, tuple) else last.copy()

    @property
    def t(self) -> int:
        """The number of steps so far."""
        return len(self.transitions)

    @property
    def place(self) -> int | tuple[int, int]:
        """Where a table holds the entry that is visited next: (s, a), or s for a table of V."""
        return self.place_of(self.s, self._action)

    def place_of(self, s: int, a: int) -> int | tuple[int, int]:
        """Where a table holds the entry of a visit."""
        return s if self._states else (s, a)

    @property
    def radius(self) -> Fraction:
        """The radius of the uncertainty set."""
        return Fraction(self._set.radius)  # type: ignore[attr-defined]

    @property
    def b(self) -> Fraction:
        """gamma(1−R), the discount of the nominal part under contamination."""
        return self.gamma * (1 - self.radius)

    def visits(self, place: int | tuple[int, int] | None = None) -> int:
        """How often an entry was visited so far; by default the one that is visited next."""
        place = self.place if place is None else place
        return sum(self.place_of(step.s, step.a) == place for step in self.transitions)

    def alpha(self, n: int | None = None) -> Fraction:
        """The step size at count n; by default that of the next visit, by the clock of the schedule."""
        if n is None:
            n = self.visits() if self._schedule.clock == "visits" else self.t
        return Fraction(step_size_at(self._schedule, n))

    def values(self, table: Any) -> list[Fraction]:
        """V(s) of a table: its entries, their minimum, or their mean under the policy that is evaluated."""
        rows = np.asarray(table, dtype=object)
        if rows.ndim == 1:
            return list(rows)
        if self._policy is None:
            return [min(row) for row in rows]
        return [
            sum((w * x for w, x in zip(weights, row, strict=True)), ZERO)
            for weights, row in zip(self._weights, rows, strict=True)
        ]

    @property
    def _weights(self) -> list[tuple[Fraction, ...]]:
        assert self._policy is not None
        return [exact.distribution(row).fractions() for row in self._policy.tolist()]

    def T(
        self, table: Any, s: int | None = None, a: int | None = None, *, top: Sequence[Fraction] | None = None
    ) -> Fraction:
        """The robust backup of a table (or of values V[s]) at (s, a), by default at the visit that comes next.

        TQ(s,a), or for a table of V the mean of it under the policy. `top` are the values whose maximum is taken, by
        default those of the table; only contamination has such a maximum.
        """
        V = self.values(table)
        s = self.s if s is None else s
        if not self._states:
            return self._backup(V, s, self._action if a is None else a, top)
        weights = enumerate(self._weights[s])
        return sum((w * self._backup(V, s, action, top) for action, w in weights if w), ZERO)

    def _backup(self, V: list[Fraction], s: int, a: int, top: Sequence[Fraction] | None) -> Fraction:
        cost, row = Fraction(float(self._mdp.cost[s, a])), self._mdp.P[s, a].tolist()
        around = self._set.at(s, a)
        if top is None:
            chances = [float(self._ends)] * len(V)
            found = ending.sigma(around, row, chances, V, nature_ends=self._nature_ends)
            self.width += self.gamma * (found.upper - found.lower)
            return cost + self.gamma * (found.lower + found.upper) / 2
        if not isinstance(around, Contamination):
            raise ValueError(f"top: only the backup of contamination takes a maximum of its own, got {around}")
        nominal = sum((w * v for w, v in zip(exact.distribution(row).fractions(), V, strict=True)), ZERO)
        R, highest = Fraction(float(around.radius)), max([*top, ZERO] if self._nature_ends else top)
        return cost + self.gamma * (R * highest + (1 - R) * (1 - self._ends) * nominal)

    def outcomes(self) -> Iterator[tuple[Fraction, Transition]]:
        """Every next transition with its probability."""
        for probability, step in self.float_outcomes():
            yield probability, step._replace(cost=Fraction(step.cost))  # type: ignore[arg-type]

    def float_outcomes(self) -> Iterator[tuple[Fraction, Transition]]:
        """The same with costs as a learner is told them."""
        actions = [(Fraction(1), self._action)]
        if self._states:
            actions = [(w, action) for action, w in enumerate(self._weights[self.s]) if w]
        for weight, a in actions:
            row = exact.distribution(self._mdp.P[self.s, a].tolist()).fractions()
            for s_next, p in enumerate(row):
                cost = cost_of(self._mdp, self._swing, self.s, a, s_next)
                for share, a_next in self._next_actions(s_next) if p else ():
                    for chance, terminal in ((1 - self._ends, False), (self._ends, True)):
                        if chance:
                            step = Transition(self.s, a, cost, s_next, a_next, terminal)
                            yield weight * p * share * chance, step

    def _next_actions(self, s: int) -> list[tuple[Fraction, int]]:
        if self._policy is None:
            return [(Fraction(1), 0)]
        return [(w, action) for action, w in enumerate(self._weights[s]) if w]

    def mean(self, function: Callable[[Transition], Any]) -> Any:
        """Σ p(x) f(x) over the next transitions x; f gives numbers or arrays of them."""
        total: Any = ZERO
        for probability, step in self.outcomes():
            total = total + probability * function(step)
        return total


def robust_backup(view: View) -> Any:
    """The visited entry moves to (1−alpha)x + alpha T; the others stay."""
    table, alpha = view.estimate, view.alpha()
    table[view.place] += alpha * (view.T(view.estimate) - table[view.place])
    return table


STEPS: dict[str, Callable[[View], Any]] = {"robust backup": robust_backup}
"""The named steps of learners of tables."""


def promised_step(variant: Variant) -> Callable[[View], Any]:
    """The function that a variant promises its mean update to be."""
    step = variant.options.get("expected", "robust backup")
    return STEPS[step] if isinstance(step, str) else step
