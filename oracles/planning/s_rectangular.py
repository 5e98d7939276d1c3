"""Backups, optimal values and values of policies for s-rectangular sets, enclosed.

T acts on values V (S,), is monotone, and T(V+k) = TV + gamma k. So one backup whose entries are enclosed in fractions
encloses V* (MacQueen; see `enclosed`), for any V. It comes from Newton's steps in floats with about the saddle points
of the states; where they do not help, a plain backup is made. Their only part is to make the enclosure narrow.
"""

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from oracles.arithmetic import exact
from oracles.arithmetic.certified import Certified
from oracles.arithmetic.exact import Vector
from oracles.planning.truth import WIDEST, TooWide
from oracles.sets import s_rectangular
from robust_core import validate
from robust_core.mdp import MDP
from robust_core.sets import SRectangular
from robust_core.validate import EPS, Floats

ROUNDS, FAILURES, PATIENCE, REFINEMENTS = 400, 4, 25, 4
"""Of Newton's steps; in a row that do not narrow the change before they end, if it is narrow enough to judge by, and
before plain backups are made from the best point if not, twice as many each time: on long chains the change is wider
for many steps before it collapses."""
Saddle = Callable[[int, list[Vector], list[Vector]], tuple[float, Floats, Floats]]
Enclose = Callable[[int, list[Vector], list[Vector]], tuple[Fraction, Fraction]]


class _Game:
    """The states of a model in fractions."""

    def __init__(self, mdp: MDP, uncertainty_set: SRectangular) -> None:
        uncertainty_set.require_fit(mdp.n_states, mdp.cost.shape)
        self.mdp, self.gamma = mdp, Fraction(mdp.gamma)
        budgets = np.broadcast_to(uncertainty_set.radius, mdp.n_states).tolist()
        self.sets = [uncertainty_set.with_radius(float(x)) for x in budgets]
        self.costs = exact.costs(mdp)
        self._rows: dict[int, list[Vector]] = {}

    def rows(self, s: int) -> list[Vector]:
        """The rows of a state."""
        if s not in self._rows:
            self._rows[s] = [exact.distribution(row).fractions() for row in self.mdp.P[s].tolist()]
        return self._rows[s]

    def values(self, s: int, V: list[Fraction]) -> list[Vector]:
        """w_a = c(s,a) + gamma V of each action."""
        return [tuple(cost + self.gamma * x for x in V) for cost in self.costs[s]]

    def enclose(self, V: Floats, at: Enclose, states: Iterable[int] | None = None) -> tuple[Any, Any]:
        """Bounds on the backup of every state, or of some."""
        given, chosen = [Fraction(x) for x in V.tolist()], range(self.mdp.n_states) if states is None else states
        found = [at(s, self.rows(s), self.values(s, given)) for s in chosen]
        lower, upper = (np.array(side, dtype=object) for side in zip(*found, strict=True))
        return lower, upper

    def optimal(self, s: int, rows: list[Vector], w: list[Vector]) -> tuple[Fraction, Fraction]:
        """Bounds on the value of a state."""
        return s_rectangular.value(self.sets[s], rows, w)

    def saddle(self, s: int, rows: list[Vector], w: list[Vector]) -> tuple[float, Floats, Floats]:
        """About the value, the policy and the rows of a state."""
        return s_rectangular.saddle(self.sets[s], rows, w)


def backup(mdp: MDP, uncertainty_set: SRectangular, V: ArrayLike, *, states: Iterable[int] | None = None) -> Certified:
    """TV, enclosed; of some states, in their order.

    >>> from robust_core.sets import SRectangularL1
    >>> mdp = MDP([[[1.0, 0.0], [1.0, 0.0]], [[0.0, 1.0]] * 2], [[0.0, 0.0], [1.0, 1.0]], 0.5)
    >>> backup(mdp, SRectangularL1(1.0), [0.0, 2.0]).value
    array([0.25, 2.  ])
    """
    game = _Game(mdp, uncertainty_set)
    values = validate.array("V", V, shape=(mdp.n_states,))
    return _middle(*game.enclose(values, game.optimal, states), "least budgets, enclosed")


def solve(mdp: MDP, uncertainty_set: SRectangular) -> Certified:
    """V*, enclosed.

    >>> from robust_core.sets import SRectangularL1
    >>> solve(MDP([[[1.0]]], [[1.0]], 0.5), SRectangularL1(0.5)).value
    array([2.])
    """
    game = _Game(mdp, uncertainty_set)
    return _enclosed(game, game.saddle, game.optimal)


def evaluate(mdp: MDP, uncertainty_set: SRectangular, policy: ArrayLike) -> Certified:
    """The robust value of a randomised policy, enclosed: T_pi V(s) = max over the set of Σ pi_a q_a·(c + gamma V).

    >>> from robust_core.sets import SRectangularL1
    >>> evaluate(MDP([[[1.0]]], [[1.0]], 0.5), SRectangularL1(0.5), [[1.0]]).value
    array([2.])
    """
    game = _Game(mdp, uncertainty_set)
    pi = validate.policy(policy, mdp.n_states, mdp.n_actions)
    weights = [exact.distribution(row).fractions() for row in pi.tolist()]

    def enclose(s: int, rows: list[Vector], w: list[Vector]) -> tuple[Fraction, Fraction]:
        return s_rectangular.policy_value(game.sets[s], rows, w, weights[s])

    def saddle(s: int, rows: list[Vector], w: list[Vector]) -> tuple[float, Floats, Floats]:
        found = float(sum(enclose(s, rows, w)) / 2)
        return found, pi[s], s_rectangular.policy_rows(game.sets[s], rows, w, weights[s])

    return _enclosed(game, saddle, enclose)


def _enclosed(game: _Game, saddle: Saddle, at: Enclose) -> Certified:
    mdp = game.mdp
    size = (float(np.abs(mdp.cost).max()) or 1.0) / (1.0 - mdp.gamma)
    V, inverse = _iterate(game, saddle)
    narrowest: tuple[float, Any, Any] | None = None
    factor = game.gamma / (1 - game.gamma)
    for _ in range(REFINEMENTS):
        before = np.array([Fraction(x) for x in V.tolist()], dtype=object)
        low, high = game.enclose(V, at)
        shifts = factor * (low - before).min(), factor * (high - before).max()
        width = float((high - low).max() + shifts[1] - shifts[0])
        if narrowest is None or width < narrowest[0]:
            narrowest = width, low + shifts[0], high + shifts[1]
        if width <= WIDEST * 2.0**-14 * size:
            break
        V = V + inverse @ ((low + high) / 2 - before).astype(np.float64)
    assert narrowest is not None
    if narrowest[0] > WIDEST * size:
        raise TooWide(f"enclosure too wide: that of the solution is {narrowest[0]:.2g}")
    return _middle(narrowest[1], narrowest[2], "one backup of enclosures (MacQueen)")


def _iterate(game: _Game, saddle: Saddle) -> tuple[Floats, Floats]:
    """About V*, and the inverse of I − gamma·chain there."""
    mdp, S = game.mdp, game.mdp.n_states
    V, narrowest, failures = np.zeros(S), np.inf, 0
    plain, left = 1, 0
    best: tuple[Floats, Floats] = V, np.eye(S)
    for _ in range(ROUNDS):
        given = [Fraction(x) for x in V.tolist()]
        found = [saddle(s, game.rows(s), game.values(s, given)) for s in range(S)]
        image: Floats = np.array([value for value, _, _ in found])
        chain = np.array([pi @ q for _, pi, q in found])
        change = image - V
        width = float(np.ptp(change))
        inverse = np.asarray(np.linalg.inv(np.eye(S) - mdp.gamma * chain), dtype=np.float64)
        if width < narrowest:
            best = image + mdp.gamma / (1.0 - mdp.gamma) * (change.max() + change.min()) / 2.0, inverse
            narrowest, failures = width, 0
        else:
            failures += 1
        if width <= 8 * (S + mdp.n_actions) * EPS * float(np.abs(image).max()):
            break
        if failures >= FAILURES and narrowest * mdp.gamma <= WIDEST * 2.0**-14 * float(np.abs(mdp.cost).max()):
            break
        if failures == PATIENCE:
            plain, left, failures = 2 * plain, plain, 0
            V = best[0]
        elif left:
            left -= 1
            V = image + mdp.gamma / (1.0 - mdp.gamma) * (change.max() + change.min()) / 2.0
        else:
            V = V + inverse @ change
    return best


def _middle(lower: Any, upper: Any, method: str) -> Certified:
    middle = np.array([exact.nearest_float(x) for x in (lower + upper) / 2])
    centre = np.array([Fraction(x) for x in middle.tolist()], dtype=object)
    return Certified(middle, exact.round_up(max((upper - centre).max(), (centre - lower).max())), method)
