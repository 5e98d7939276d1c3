"""A state of an s-rectangular ball as a convex program: cvxpy proposes, weak duality in fractions decides.

    maximise u  subject to  q_a·w_a >= u  (pi_a),  Σ_a D(q_a, p_a) <= kappa  (lam),  q_a >= 0  (nu_a),  Σ_j q_a = 1.

- Below: the proposed rows, pulled to p until their distances add up to at most kappa, are in the set, and no policy
  costs less than the least of their values.
- Above: for the proposed policy and any y_a >= w_a, here w_a + nu_a/pi_a, a norm gives Σ pi_a p_a·y_a + kappa max_a
  pi_a N(y_a); Kullback-Leibler gives lam kappa + Σ lam log Σ p_a e^{pi_a w_a/lam} for any lam > 0.

The solver's output is never trusted: a wrong proposal makes the enclosure wide, not wrong.
"""

import warnings
from fractions import Fraction
from typing import Any

import numpy as np

from oracles.arithmetic.digits import Digits, array, precision
from oracles.arithmetic.exact import Vector, distribution
from oracles.sets.rationals import enclose_root
from oracles.sets.s_rectangular import DIGITS, MARGIN, ZERO, Ends, Rows, allowed, dot, reach
from robust_core.sets import (
    SRectangular,
    SRectangularKullbackLeibler,
    SRectangularL1,
    SRectangularL2,
    SRectangularLInfinity,
)


def value(kind: SRectangular, rows: Rows, w: Rows) -> Ends:
    """Bounds on the value of a state, from one solve."""
    q, pi, nu, lam = _solve(kind, rows, w)
    return attained(kind, rows, w, q), dual_bound(kind, rows, w, pi, nu, lam)


def _solve(kind: SRectangular, rows: Rows, w: Rows) -> tuple[Any, Any, Any, float]:
    import cvxpy as cp

    p, values = np.array(rows, dtype=np.float64), np.array(w, dtype=np.float64)
    size = float(np.abs(values).max()) or 1.0
    q, u = cp.Variable(p.shape), cp.Variable()
    masks = np.array([[j in allowed(kind, row) for j in range(len(row))] for row in rows])
    if isinstance(kind, SRectangularL1):
        distances = [cp.norm1(q[a] - p[a]) for a in range(len(p))]
    elif isinstance(kind, SRectangularL2):
        distances = [cp.norm2(q[a] - p[a]) for a in range(len(p))]
    elif isinstance(kind, SRectangularLInfinity):
        distances = [cp.norm_inf(q[a] - p[a]) for a in range(len(p))]
    else:  # where p is 0 so is q, and 0·log 0/1 = 0
        distances = [cp.sum(cp.rel_entr(q[a], np.where(masks[a], p[a], 1.0))) for a in range(len(p))]
    worse, signs = cp.sum(cp.multiply(q, values / size), axis=1) >= u, q >= 0
    budget = sum(distances) <= float(kind.radius)
    constraints = [worse, signs, budget, cp.sum(q, axis=1) == 1, q <= np.where(masks, 2.0, 0.0)]
    problem = cp.Problem(cp.Maximize(u), constraints)
    linear = isinstance(kind, (SRectangularL1, SRectangularLInfinity))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a solution may be inaccurate: it is a proposal
        try:
            problem.solve(solver="HIGHS" if linear else "CLARABEL")
        except cp.error.SolverError as error:
            raise ArithmeticError(f"the solver failed: {error}") from None
    if q.value is None or worse.dual_value is None:
        raise ArithmeticError(f"the solver ended with status {problem.status!r}")
    return q.value, worse.dual_value, np.maximum(signs.dual_value, 0.0) * size, float(budget.dual_value) * size


def _distance(kind: SRectangular, p: Vector, q: Vector) -> Fraction:
    """An upper bound on D(q, p)."""
    if isinstance(kind, SRectangularL1):
        return sum((abs(x - y) for x, y in zip(p, q, strict=True)), ZERO)
    if isinstance(kind, SRectangularLInfinity):
        return max(abs(x - y) for x, y in zip(p, q, strict=True))
    if isinstance(kind, SRectangularL2):
        return enclose_root(ZERO, sum(((x - y) ** 2 for x, y in zip(p, q, strict=True)), ZERO))[1]
    with precision(DIGITS):
        pairs = [(x, y) for x, y in zip(p, q, strict=True) if y > 0]
        mass = array(y for _, y in pairs)
        total = (mass * np.log(mass / array(x for x, _ in pairs))).sum()
        return max(total.fraction(), ZERO) + Fraction(MARGIN)


def attained(kind: SRectangular, rows: Rows, w: Rows, q: Any) -> Fraction:
    """The value of rows that are certainly in the set, near q."""
    members = []
    for p, given in zip(rows, np.asarray(q), strict=True):
        states = set(allowed(kind, p))
        cut = [max(float(x), 0.0) if j in states else 0.0 for j, x in enumerate(given)]
        members.append(distribution(cut).fractions() if sum(cut) > 0.5 else p)
    spent = sum((_distance(kind, p, x) for p, x in zip(rows, members, strict=True)), ZERO)
    budget = Fraction(float(kind.radius))
    share = Fraction(1) if spent <= budget else budget / spent
    return min(dot(p, y) + share * (dot(x, y) - dot(p, y)) for p, x, y in zip(rows, members, w, strict=True))


def dual_bound(kind: SRectangular, rows: Rows, w: Rows, pi: Any, nu: Any, lam: float) -> Fraction:
    """A bound on the value from a policy, multipliers of q >= 0 and the price of the budget."""
    weights = [max(float(x), 0.0) for x in np.ravel(pi)]
    cap = min(reach(kind, p, y) for p, y in zip(rows, w, strict=True))
    if sum(weights) <= 0.0:
        return cap
    policy, budget = distribution(weights).fractions(), Fraction(float(kind.radius))
    if isinstance(kind, SRectangularKullbackLeibler):
        return min(cap, _kept_kl(rows, w, policy, budget, lam))
    value, worst = ZERO, ZERO
    for x, p, y, extra in zip(policy, rows, w, nu, strict=True):
        if x > 0:
            raised = {j: y[j] + Fraction(float(extra[j])) / x for j in allowed(kind, p)}
            value += x * sum((p[j] * raised[j] for j in raised), ZERO)
            worst = max(worst, x * _dual_norm(kind, list(raised.values())))
    return min(cap, value + budget * worst)


def _dual_norm(kind: SRectangular, y: list[Fraction]) -> Fraction:
    """N(y) or more: the largest d·y of differences d of distributions in the unit ball."""
    if isinstance(kind, SRectangularL1):
        return (max(y) - min(y)) / 2
    if isinstance(kind, SRectangularLInfinity):
        middle = sorted(y)[len(y) // 2]
        return sum((abs(x - middle) for x in y), ZERO)
    centre = sum(y, ZERO) / len(y)
    return enclose_root(ZERO, sum(((x - centre) ** 2 for x in y), ZERO))[1]


def _kept_kl(rows: Rows, w: Rows, policy: Vector, budget: Fraction, lam: float) -> Fraction:
    if not lam > 0.0:
        return max(max(y) for y in w)
    with precision(DIGITS):
        price, total = Digits(lam), Digits(lam) * Digits(budget)
        for x, p, y in zip(policy, rows, w, strict=True):
            states = [j for j in range(len(p)) if p[j] > 0]
            top = max(y[j] for j in states)
            e = array(p[j] for j in states) * np.exp(array(x * (y[j] - top) for j in states) / price)
            total = total + Digits(x * top) + price * np.log(np.array([e.sum()]))[0]
        return total.fraction() + Fraction(MARGIN) * (1 + Fraction(lam) + max(abs(v) for row in w for v in row))
