"""The Wasserstein ball of order 1: definition, the dual in rationals, and the transport plan as a linear program.

For every multiplier lam >= 0, sigma(v) <= lam r + Σ_i p_i max_j (v_j − lam d_ij), and the least of these bounds is
sigma (linear programming duality). The bound is convex and piecewise linear in lam, with breaks at quotients of
differences of values and of distances.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from oracles.arithmetic.exact import Vector
from oracles.sets.members import mean, normalise
from oracles.sets.registration import Cut, SetOracle, register
from oracles.sets.transport import least_cost, plan_constraints
from robust_core.sets import Wasserstein
from robust_core.validate import EPS, Floats

BESIDE = 1e-9
"""How far beside the best multiplier, relatively, the two plans are taken between which a member lies."""


def _distances(uncertainty_set: Wasserstein) -> list[list[Fraction]]:
    return [list(map(Fraction, row)) for row in uncertainty_set.metric.tolist()]


def contains(uncertainty_set: Wasserstein, p: Vector, q: Vector) -> bool:
    """The least cost of carrying p to q is at most r."""
    if sum(q) != 1 or min(q) < 0:
        return False
    return least_cost(p, q, _distances(uncertainty_set)) <= Fraction(uncertainty_set.radius)


def enclose(uncertainty_set: Wasserstein, p: Vector, v: Vector) -> tuple[Fraction, Fraction]:
    """Exactly: the bound at the least break where its slope to the right, r − Σ p_i d_i, is not negative.

    A state that another, as near or nearer, equals or exceeds in value is never the best target and makes no break.
    """
    d, r = _distances(uncertainty_set), Fraction(uncertainty_set.radius)
    targets: dict[int, list[tuple[Fraction, Fraction]]] = {}
    for i in (i for i, mass in enumerate(p) if mass > 0):
        targets[i] = []
        for near, value in sorted(zip(d[i], v, strict=True), key=lambda pair: (pair[0], -pair[1])):
            if not targets[i] or value > targets[i][-1][1]:
                targets[i].append((near, value))
    breaks = {
        (high - low) / (far - near)
        for ends in targets.values()
        for k, (far, high) in enumerate(ends)
        for near, low in ends[:k]
    }
    candidates = sorted(breaks | {Fraction(0)})

    def bound(lam: Fraction) -> tuple[Fraction, Fraction]:
        """The bound and its slope to the right: among equals the nearest state."""
        value, slope = lam * r, r
        for i, ends in targets.items():
            score, near = max((high - lam * far, -far) for far, high in ends)
            value += p[i] * score
            slope += p[i] * near
        return value, slope

    low, high = 0, len(candidates) - 1
    while low < high:
        middle = (low + high) // 2
        if bound(candidates[middle])[1] >= 0:
            high = middle
        else:
            low = middle + 1
    value = bound(candidates[low])[0]
    return value, value


def _multipliers(metric: Floats, y: Floats) -> Floats:
    """All breaks of the bound, and 0."""
    rise = y[:, None] - y[None, :]
    far = metric[:, :, None] - metric[:, None, :]
    usable = (far > 0.0) & (rise[None] > 0.0)
    with np.errstate(all="ignore"):
        found = np.broadcast_to(rise[None], far.shape)[usable] / far[usable]
    return np.unique(np.concatenate(([0.0], found[np.isfinite(found)])))


def _bounds(uncertainty_set: Wasserstein, p: Floats, y: Floats, lam: Floats) -> Floats:
    """The bound at each multiplier."""
    scores = (y[None, None, :] - lam[:, None, None] * uncertainty_set.metric[None]).max(axis=2)
    return lam * uncertainty_set.radius + scores @ p


def _targets(metric: Floats, v: Floats, lam: float) -> Any:
    """Where each state sends its mass at a multiplier; among equals the nearest state."""
    scores = v[None, :] - lam * metric
    return np.where(scores == scores.max(axis=1, keepdims=True), metric, np.inf).argmin(axis=1)


def propose(uncertainty_set: Wasserstein, p: Floats, v: Floats) -> Floats:
    """A mixture of the plans beside the best multiplier that costs at most r, pulled to p if both cost more."""
    metric, r = uncertainty_set.metric, float(uncertainty_set.radius) * (1.0 - (8 * len(p) + 32) * EPS)
    lam = _multipliers(metric, v)
    best = float(lam[_bounds(uncertainty_set, p, v, lam).argmin()])
    cheap, dear = (_targets(metric, v, best * (1.0 + side)) for side in (BESIDE, -BESIDE))
    states = np.arange(len(p))
    cost, more = (float(p @ metric[states, target]) for target in (cheap, dear))
    q = np.zeros_like(p)
    share = min(1.0, r / cost) if cost > 0.0 else 1.0
    extra = min(1.0, (r - cost) / (more - cost)) if share == 1.0 and more > cost and r > cost else 0.0
    np.add.at(q, cheap, (1.0 - extra) * share * p)
    np.add.at(q, dear, extra * p)
    return q + (1.0 - share) * p


def threshold(uncertainty_set: Wasserstein, p: Floats, v: Floats) -> float:
    """The cost of carrying all mass to the nearest state of highest v."""
    return float(p @ uncertainty_set.metric[:, v == v.max()].min(axis=1))


def constraints(q: Any, p: Any) -> tuple[list[Any], Callable[[Wasserstein, Floats], None]]:
    """A plan from p to q of cost at most r, for cvxpy."""
    import cvxpy as cp

    plan, marginals = plan_constraints(q, p)
    cost, radius = cp.Parameter(plan.shape[1], nonneg=True), cp.Parameter(nonneg=True)

    def write(uncertainty_set: Wasserstein, rows: Floats) -> None:
        # The solver's tolerances are absolute: distances are counted in units of the largest.
        unit = uncertainty_set.metric.max() or 1.0
        cost.value, radius.value = (uncertainty_set.metric / unit).reshape(-1), min(uncertainty_set.radius / unit, 2.0)

    return [*marginals, plan @ cost <= radius], write


def price(uncertainty_set: Wasserstein, p: Floats, y: Floats) -> tuple[Floats, Floats]:
    """sigma_K(y): the least bound over the breaks."""
    weights = normalise(p)
    least = [
        _bounds(uncertainty_set, row, values, _multipliers(uncertainty_set.metric, values)).min()
        for row, values in zip(weights, y, strict=True)
    ]
    return y, np.minimum(np.array(least), y.max(axis=1))


def attained(uncertainty_set: Wasserstein, p: Floats, q: Floats, v: Floats) -> Floats:
    """A member that needs no proposal of the solver: a mixture of two plans, whose cost is known."""
    rows = [propose(uncertainty_set, row, values) for row, values in zip(normalise(p), v, strict=True)]
    return mean(np.array(rows), v)


register(
    Wasserstein,
    SetOracle(
        contains=contains,
        enclose=enclose,
        propose=propose,
        threshold=threshold,
        program=Cut(constraints, price, attained),
    ),
)
