"""The game between agent and nature by enumeration, in exact rationals: Theorem 1 checked, not assumed.

Nothing here is a Bellman equation. Costs are summed along chains (stationary play) or step by step (short
time-varying play), for every combination of choices; then come the minima and maxima. Nature chooses among
the vertices of the sets; `saddle_violations` closes the gaps that enumeration leaves (rows that are no
vertices, randomised or history-dependent play on either side) with inequalities that are linear in each row.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import product

import numpy as np
from numpy.typing import NDArray

from oracles.arithmetic import exact
from oracles.arithmetic.exact import Matrix, Rational, Vector
from oracles.sets.vertices import contains, vertices
from robust_core import validate
from robust_core.mdp import MDP
from robust_core.sets import UncertaintySet

LIMIT = 200_000
"""The most combinations enumerated: seconds. Beyond it a problem is refused, with its count."""

Actions = tuple[int, ...]
Choices = tuple[int, ...]  # the index of nature's vertex, for each row that matters


@dataclass(frozen=True)
class GameValue:
    """Both orders of play, state by state.

    `policy` attains `min_max` in all states at once; `kernel[s][a]` attains `max_min` in all states at once.
    Either is None if no single choice does: Theorem 1 says that this never happens.
    """

    min_max: Vector
    max_min: Vector
    policy: Actions | None
    kernel: tuple[Matrix, ...] | None


class _Board:
    """What each side can choose: actions, and the vertices of the set around each row."""

    def __init__(self, mdp: MDP, uncertainty_set: UncertaintySet) -> None:
        self.n_states, self.n_actions = mdp.n_states, mdp.n_actions
        self.states = range(mdp.n_states)
        self.cost = exact.costs(mdp)
        self.gamma = Fraction(mdp.gamma)
        self.centre = tuple(tuple(row.fractions() for row in rows) for rows in exact.kernel(mdp))
        self.vertices = tuple(tuple(vertices(uncertainty_set, row) for row in rows) for rows in self.centre)
        self.pairs = tuple(product(self.states, range(mdp.n_actions)))

    def policies(self) -> Iterator[Actions]:
        return product(range(self.n_actions), repeat=self.n_states)

    def choices(self, pairs: Sequence[tuple[int, int]]) -> Iterator[Choices]:
        """Every combination of vertices for the rows of the given pairs."""
        return product(*(range(len(self.vertices[s][a])) for s, a in pairs))

    def count(self, pairs: Sequence[tuple[int, int]]) -> int:
        return math.prod(len(self.vertices[s][a]) for s, a in pairs)

    def kernels(self) -> Iterator[tuple[Matrix, ...]]:
        """Every kernel whose rows are vertices."""
        for choice in self.choices(self.pairs):
            yield self.kernel(choice)

    def kernel(self, choice: Choices) -> tuple[Matrix, ...]:
        flat = [self.vertices[s][a][k] for (s, a), k in zip(self.pairs, choice, strict=True)]
        return tuple(tuple(flat[s * self.n_actions : (s + 1) * self.n_actions]) for s in self.states)

    def values(self, policy: Actions) -> NDArray[np.object_]:
        """V[choices…][state] of a policy against every choice of vertices for the rows it uses."""
        pairs = list(enumerate(policy))
        cost = [self.cost[s][a] for s, a in pairs]
        rows = [[Rational.of(q) for q in self.vertices[s][a]] for s, a in pairs]
        shape = tuple(len(row) for row in rows)
        table = np.empty((*shape, self.n_states), dtype=object)
        for choice in np.ndindex(*shape):
            chain = [row[k] for row, k in zip(rows, choice, strict=True)]
            table[choice] = exact.discounted_values(chain, cost, self.gamma).fractions()
        return table


def _bounded(what: str, count: int) -> None:
    if count > LIMIT:
        raise ValueError(f"{what} means {count} combinations, more than the limit of {LIMIT}: use a smaller model")


def stationary_game(mdp: MDP, uncertainty_set: UncertaintySet) -> GameValue:
    """Deterministic stationary policies against stationary kernels of vertices, in both orders (Theorem 1).

    >>> mdp = MDP([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]], [[1.0, 0.0], [2.0, 2.0]], 0.5)
    >>> from robust_core.sets import Contamination
    >>> game = stationary_game(mdp, Contamination(0.5))
    >>> game.min_max == game.max_min, game.policy
    (True, (1, 1))
    """
    board = _Board(mdp, uncertainty_set)
    policies = list(board.policies())
    _bounded("every policy against every kernel", len(policies) * board.count(board.pairs))
    tables = [board.values(policy) for policy in policies]
    worst = [table.reshape(-1, board.n_states).max(axis=0) for table in tables]
    min_max = tuple(min(value[s] for value in worst) for s in board.states)
    policy = next((pi for pi, value in zip(policies, worst, strict=True) if tuple(value) == min_max), None)
    best = _best_replies(board, policies, tables)
    flat = best.reshape(-1, board.n_states)
    max_min = tuple(flat.max(axis=0).tolist())
    where = next((k for k, value in enumerate(flat) if tuple(value) == max_min), None)
    kernel = None if where is None else board.kernel(tuple(map(int, np.unravel_index(where, best.shape[:-1]))))
    return GameValue(min_max, max_min, policy, kernel)


def _best_replies(
    board: _Board, policies: Sequence[Actions], tables: Sequence[NDArray[np.object_]]
) -> NDArray[np.object_]:
    """min over policies of their values against every kernel: an axis per pair (s, a), the last the state."""

    def spread(policy: Actions, table: NDArray[np.object_]) -> NDArray[np.object_]:
        shape = [table.shape[s] if policy[s] == a else 1 for s, a in board.pairs]
        return table.reshape(*shape, board.n_states)

    return reduce(np.minimum, map(spread, policies, tables))


def randomised_policies(n_states: int, n_actions: int, steps: int) -> Iterator[Matrix]:
    """All stationary policies whose probabilities are multiples of 1/steps.

    >>> len(list(randomised_policies(2, 2, 4)))
    25
    """
    validate.count("steps", steps, least=1)
    counts = product(range(steps + 1), repeat=n_actions)
    mixtures = [tuple(Fraction(k, steps) for k in count) for count in counts if sum(count) == steps]
    return product(mixtures, repeat=n_states)


def worst_value(mdp: MDP, uncertainty_set: UncertaintySet, policy: Sequence[Sequence[Fraction]]) -> Vector:
    """max over stationary kernels of vertices of the value of a randomised policy, state by state (eq:value).

    >>> mdp = MDP([[[1.0, 0.0]], [[0.0, 1.0]]], [[0.0], [1.0]], 0.5)
    >>> from robust_core.sets import TotalVariation
    >>> worst_value(mdp, TotalVariation(0.5), ((Fraction(1),), (Fraction(1),)))
    (Fraction(2, 3), Fraction(2, 1))
    """
    board = _Board(mdp, uncertainty_set)
    _bounded("every kernel", board.count(board.pairs))
    weights = [Rational.of(row) for row in policy]
    cost = [weights[s].dot(Rational.of(board.cost[s])) for s in board.states]
    values = []
    for kernel in board.kernels():
        chain = [exact.mixture(weights[s], [Rational.of(q) for q in kernel[s]]) for s in board.states]
        values.append(exact.discounted_values(chain, cost, board.gamma).fractions())
    return tuple(max(value[s] for value in values) for s in board.states)


def finite_game(
    mdp: MDP, uncertainty_set: UncertaintySet, terminal: Sequence[Fraction], *, horizon: int
) -> tuple[Vector, Vector]:
    """(min max, max min) of the cost of `horizon` steps plus gamma^horizon terminal(S_horizon).

    Both sides choose afresh at every step: Markov policies (pi_0, pi_1, …) against Markov kernels
    (P_0, P_1, …), all combinations, each kernel sequence fixed before the policy sequence and conversely.

    >>> mdp = MDP([[[1.0]]], [[1.0]], 0.5)
    >>> from robust_core.sets import Contamination
    >>> finite_game(mdp, Contamination(0.5), [Fraction(2)], horizon=2)
    ((Fraction(2, 1),), (Fraction(2, 1),))
    """
    validate.count("horizon", horizon, least=1)
    board = _Board(mdp, uncertainty_set)
    if len(terminal) != board.n_states:
        raise ValueError(f"terminal must have {board.n_states} entries, one per state, got {len(terminal)}")
    policies, kernels = list(board.policies()), board.count(board.pairs)
    _bounded(f"play of {horizon} steps", (len(policies) * kernels) ** horizon)
    table, denominator = _finite_table(board, policies, Rational.of(terminal), horizon)

    def vector(numerators: NDArray[np.object_]) -> Vector:
        return Rational(tuple(numerators), denominator).fractions()

    return vector(table.max(axis=1).min(axis=0)), vector(table.min(axis=0).max(axis=0))


def _finite_table(
    board: _Board, policies: Sequence[Actions], terminal: Rational, horizon: int
) -> tuple[NDArray[np.object_], int]:
    """value[policies, kernels, state] of all sequences, the first step varying slowest, and its denominator."""
    flat = Rational.of(x for kernel in board.kernels() for rows in kernel for row in rows for x in row)
    costs = Rational.of(c for row in board.cost for c in row)
    n, m = board.n_states, board.n_actions
    kernels = np.array(flat.numerators, dtype=object).reshape(-1, n, m, n)
    cost = np.array(costs.numerators, dtype=object).reshape(n, m)
    states = np.arange(n)
    value = np.array(terminal.numerators, dtype=object)[None, None, :]
    denominator = terminal.denominator
    for _ in range(horizon):
        future = board.gamma.denominator * flat.denominator * denominator  # of gamma · row · value
        steps = [
            cost[states, policy] * future
            + (board.gamma.numerator * costs.denominator) * (value @ kernel[states, policy].T)
            for policy in map(list, policies)
            for kernel in kernels
        ]
        table = np.array(steps, dtype=object).reshape(len(policies), len(kernels), *value.shape)
        value = table.transpose(0, 2, 1, 3, 4).reshape(len(policies) * value.shape[0], len(kernels) * value.shape[1], n)
        denominator = costs.denominator * future
    return value, denominator


def endless_bounds(mdp: MDP) -> tuple[Fraction, Fraction]:
    """What any play for ever can cost at least and at most: min c/(1−gamma) and max c/(1−gamma).

    As the terminal values of `finite_game` they enclose the game over all time-varying play, to within
    gamma^horizon times their distance.

    >>> endless_bounds(MDP([[[1.0], [1.0]]], [[1.0, 3.0]], 0.5))
    (Fraction(2, 1), Fraction(6, 1))
    """
    scale = 1 / (1 - Fraction(mdp.gamma))
    entries = [c for row in exact.costs(mdp) for c in row]
    return min(entries) * scale, max(entries) * scale


def saddle_violations(
    mdp: MDP, uncertainty_set: UncertaintySet, V: Sequence[Fraction], policy: Actions, kernel: Sequence[Matrix]
) -> list[str]:
    """What keeps (policy, kernel) from being a saddle point with value V; an empty list is a proof.

    Two families of inequalities, checked exactly:

    - for all (s, a):             c(s,a) + gamma kernel(s,a)·V >= V(s). Summed along any play it says that no
      policy, however randomised and whatever it remembers, costs less than V against this kernel;
    - for all s, all vertices q:  c(s,policy(s)) + gamma q·V <= V(s). It is linear in q, so it holds in the
      whole set, and says that no sequence of kernels, whatever nature remembers, costs this policy more.

    With the kernel inside the set, min max <= V <= max min over all play, stationary or not: Theorem 1.

    >>> mdp = MDP([[[1.0]]], [[1.0]], 0.5)
    >>> from robust_core.sets import Contamination
    >>> saddle_violations(mdp, Contamination(0.5), [Fraction(3)], (0,), [((Fraction(1),),)])
    ['s=0 a=0: the kernel costs 5/2, less than V = 3']
    """
    board = _Board(mdp, uncertainty_set)
    found = []
    for s, a in board.pairs:
        if not contains(uncertainty_set, board.centre[s][a], tuple(kernel[s][a])):
            found.append(f"s={s} a={a}: the kernel's row is outside the set")
        against = board.cost[s][a] + board.gamma * _dot(kernel[s][a], V)
        if against < V[s]:
            found.append(f"s={s} a={a}: the kernel costs {against}, less than V = {V[s]}")
    for s, a in enumerate(policy):
        for q in board.vertices[s][a]:
            suffered = board.cost[s][a] + board.gamma * _dot(q, V)
            if suffered > V[s]:
                found.append(f"s={s}: the policy's action {a} costs {suffered}, more than V = {V[s]}")
    return found


def _dot(q: Sequence[Fraction], V: Sequence[Fraction]) -> Fraction:
    return sum((x * y for x, y in zip(q, V, strict=True)), Fraction(0))
