"""The optimal robust average cost under contamination and total variation, by two methods that share nothing.

For both sets sigma(v) = R max v + z(v), where z is monotone and z(v + k) = z(v) + (1−R)k (`docs/theorems.md`): under
contamination z(v) = (1−R)p·v, in total variation (1−R) times the mean of v over the upper 1−R of p. Let W solve
W = min_a (c + z(W)), a contraction with modulus 1−R. Then

    R max W + W(s) = min_a (c(s,a) + sigma(W)),        for every s,

the optimality equation of the average cost with gain R max W and bias W. So for R > 0 the gain exists, is the same from
every start, and no assumption on the chains is needed; gamma of the model is not used. `solve` finds W in rationals by
strategy iteration (Hoffman and Karp); `enclose` bounds the gain by relative value iteration with the other side's
inequality: for every v, min(Tv − v) <= gain <= max(Tv − v), and span(Tv − v) shrinks by 1−R.

With a radius R(s,a) > 0 for each pair the gain is the number g at which W = min_a (c − g + z(W)) has the maximum 0.
`solve_by_pair` takes the least gain of all deterministic policies. That of a policy is max_s C(s)/N(s), the expected
cost and time until nature's first jump to a state of largest W, under her best rows (Newton's method in g).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np

from oracles.arithmetic import exact
from oracles.arithmetic.certified import Certified
from oracles.arithmetic.exact import Rational, Vector
from oracles.planning import rational
from robust_core.mdp import MDP
from robust_core.sets import Contamination, TotalVariation
from robust_core.validate import EPS, Floats

Ball = Contamination | TotalVariation
LONGEST = 1_000_000
"""Sweeps of relative value iteration before it gives up."""


@dataclass(frozen=True)
class AverageCost:
    """The gain, the bias W (up to a constant) and an optimal action of every state, exactly."""

    gain: Fraction
    bias: Vector
    policy: tuple[int, ...]


def solve(mdp: MDP, uncertainty_set: Ball) -> AverageCost:
    """The optimal robust average cost in rationals; refuses R = 0, where it may depend on the start.

    >>> mdp = MDP([[[0.5, 0.5]], [[0.0, 1.0]]], [[1.0], [0.0]], 0.0)
    >>> solve(mdp, Contamination(0.5)).gain
    Fraction(2, 3)
    """
    _require_radius(uncertainty_set)
    cost, policy = exact.costs(mdp), [0] * mdp.n_states
    while True:
        W = _evaluate(mdp, uncertainty_set, policy)
        Q = [
            [cost[s][a] + _z(uncertainty_set, mdp, s, a, W) for a in range(mdp.n_actions)] for s in range(mdp.n_states)
        ]
        # An action is left only for a better one: ties would make the iteration turn in circles.
        better = [min(range(mdp.n_actions), key=Q[s].__getitem__) for s in range(mdp.n_states)]
        improved = [b if Q[s][b] < Q[s][policy[s]] else policy[s] for s, b in enumerate(better)]
        if improved == policy:
            return AverageCost(Fraction(uncertainty_set.radius) * max(W), W, tuple(policy))
        policy = improved


def solve_by_pair(mdp: MDP, uncertainty_set: Ball) -> AverageCost:
    """The same with a radius for each pair, all above 0, by enumeration of the A^S policies; the bias has maximum 0.

    >>> mdp = MDP([[[0.5, 0.5]], [[0.0, 1.0]]], [[1.0], [0.0]], 0.0)
    >>> solve_by_pair(mdp, Contamination([[0.5], [0.25]])).gain
    Fraction(1, 2)
    """
    _require_radius(uncertainty_set)
    policies = product(range(mdp.n_actions), repeat=mdp.n_states)
    found = [AverageCost(*_gain(mdp, uncertainty_set, policy), policy) for policy in policies]
    # Policies of equal gain differ in their bias: one that is nowhere larger solves the optimality equation.
    return min(found, key=lambda one: (one.gain, sum(one.bias)))


def until_jump(mdp: MDP, uncertainty_set: Ball) -> tuple[Vector, tuple[int, ...]]:
    """(W, policy) of W = min_a (c + z(W)) with a radius for each pair, by the same enumeration."""
    _require_radius(uncertainty_set)
    policies = product(range(mdp.n_actions), repeat=mdp.n_states)
    found = ((_fixed_point(mdp, uncertainty_set, policy, Fraction(0))[0], policy) for policy in policies)
    return min(found, key=lambda one: sum(one[0]))


def _gain(mdp: MDP, uncertainty_set: Ball, policy: Sequence[int]) -> tuple[Fraction, Vector]:
    """(g, W) of a policy with max W = 0: max W is convex and falls with g, so g rises to its zero."""
    cost = exact.costs(mdp)
    g = min(cost[s][a] for s, a in enumerate(policy))
    while True:
        W, better = _fixed_point(mdp, uncertainty_set, policy, g)
        if better == g:
            return g, W
        g = better


def _fixed_point(mdp: MDP, uncertainty_set: Ball, policy: Sequence[int], g: Fraction) -> tuple[Vector, Fraction]:
    """(W of a policy at g, the zero in g of max W if nature keeps her rows)."""
    cost = exact.costs(mdp)
    chosen = [cost[s][a] for s, a in enumerate(policy)]
    W: Vector = tuple(Fraction(0) for _ in policy)
    while True:
        rows = [_row(uncertainty_set.at(s, a), mdp, s, a, W) for s, a in enumerate(policy)]
        total, time = (_until_jump(rows, each) for each in (chosen, [Fraction(1)] * len(rows)))
        after = tuple(c - g * n for c, n in zip(total, time, strict=True))
        if after == W:
            return W, max(c / n for c, n in zip(total, time, strict=True))
        W = after


def _until_jump(rows: Sequence[Vector], cost: Sequence[Fraction]) -> Vector:
    """x = cost + rows·x, for rows of mass 1−R < 1: the sum of a cost until nature's first jump."""
    return exact.discounted_values([Rational.of(row) for row in rows], cost, Fraction(1)).fractions()


def _require_radius(uncertainty_set: Ball) -> None:
    if not isinstance(uncertainty_set, (Contamination, TotalVariation)):
        raise TypeError(f"uncertainty_set must be Contamination or TotalVariation, got {uncertainty_set!r}")
    least = float(np.min(uncertainty_set.radius))
    if least == 0.0:
        raise ValueError("radius must be above 0: without it the average cost may depend on the start, got 0.0")


def _row(uncertainty_set: Ball, mdp: MDP, s: int, a: int, W: Vector) -> Vector:
    """The worst row less R at a state of largest W: non-negative, of mass 1−R; z(W) is its product with W."""
    row = list(rational.worst_distribution(uncertainty_set, mdp.P[s, a].tolist(), W))
    top = max(range(len(W)), key=lambda k: (W[k], -k))
    row[top] -= Fraction(uncertainty_set.radius)
    return tuple(row)


def _z(uncertainty_set: Ball, mdp: MDP, s: int, a: int, W: Vector) -> Fraction:
    return sum((q * w for q, w in zip(_row(uncertainty_set, mdp, s, a, W), W, strict=True)), Fraction(0))


def _evaluate(mdp: MDP, uncertainty_set: Ball, policy: Sequence[int]) -> Vector:
    """W of a fixed policy: nature changes her rows until none is better (Howard's iteration, for the maximum)."""
    R, cost = Fraction(uncertainty_set.radius), exact.costs(mdp)
    chosen = [cost[s][a] for s, a in enumerate(policy)]
    W: Vector = tuple(Fraction(0) for _ in policy)
    while True:
        rows = [_row(uncertainty_set, mdp, s, a, W) for s, a in enumerate(policy)]
        if R == 1:
            return tuple(chosen)
        scaled = [Rational.of(tuple(q / (1 - R) for q in row)) for row in rows]
        after = exact.discounted_values(scaled, chosen, 1 - R).fractions()
        if after == W:
            return W
        W = after


def enclose(mdp: MDP, uncertainty_set: Ball, *, width: float) -> Certified:
    """The gain by relative value iteration, to a half width of at most `width` plus rounding.

    >>> mdp = MDP([[[0.5, 0.5]], [[0.0, 1.0]]], [[1.0], [0.0]], 0.0)
    >>> bool(abs(enclose(mdp, Contamination(0.5), width=1e-9).value - 2 / 3) < 2e-9)
    True
    """
    _require_radius(uncertainty_set)
    v = np.zeros(mdp.n_states)
    size = float(np.abs(mdp.cost).max()) + 1.0
    for _ in range(LONGEST):
        image = (mdp.cost + _sigma(uncertainty_set, mdp.P, v)).min(axis=1)
        step = image - v
        low, high = float(step.min()), float(step.max())
        # A row of n floats stands for the row over its sum; products, sums and the sort of TV cost less than this.
        rounding = (24 * mdp.n_states + 64) * EPS * (size + float(np.abs(v).max()) + float(np.abs(image).max()))
        if high - low <= 2 * width or high - low <= 2 * rounding:
            return Certified(np.array((low + high) / 2), (high - low) / 2 + rounding, "relative value iteration")
        v = image - image.min()
    raise ArithmeticError(f"relative value iteration did not reach the width {width} in {LONGEST} sweeps")


def _sigma(uncertainty_set: Ball, P: Floats, v: Floats) -> Floats:
    """sigma(v) of every row, in floats: the mass R is taken from the lowest values (TV) or from all alike."""
    R = np.asarray(uncertainty_set.radius)
    if isinstance(uncertainty_set, Contamination):
        return (1.0 - R) * (P @ v) + R * v.max()
    order = np.argsort(v, kind="stable")
    below = np.cumsum(P[..., order], axis=-1)
    left = np.diff(np.maximum(below - R[..., None], 0.0), axis=-1, prepend=0.0)
    return np.asarray(left @ v[order] + np.minimum(R, below[..., -1]) * v.max())
