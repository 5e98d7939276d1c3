"""One state of an s-rectangular ball: values and values of policies as certified brackets in fractions.

`value`: TV = max {u : Σ_a xi_a(u) <= kappa}, with xi_a(u) the least distance of a row with q·w_a >= u. It is enclosed
from the definition: u is reached if upper bounds on the distances add up to at most kappa, and not reached if lower
bounds exceed it. For L1 and L∞ distances are rationals and Newton's method on the piecewise linear sum is finite; for
L2 they are roots of rationals (the path of projections of `oracles.sets.l2`, at a given mean); for Kullback-Leibler a
multiplier b gives the lower bound b u − log Σ p e^{bw}, and a tilted row with mean u or more the upper one, in many
digits.

`policy_value`: max over the set of Σ pi_a q_a·w_a, from members (below) and multipliers (above).

The algorithms of `robust_core` are not used. `s_rectangular_program` is the second opinion.
"""

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from oracles.arithmetic.digits import Digits, array, precision
from oracles.arithmetic.exact import Vector
from oracles.sets.rationals import enclose_root
from oracles.sets.registration import SetOracle, oracle_of, register
from robust_core.sets import (
    L1,
    L2,
    KullbackLeibler,
    LInfinity,
    SRectangular,
    SRectangularKullbackLeibler,
    SRectangularL1,
    SRectangularL2,
    SRectangularLInfinity,
)

Rows: TypeAlias = Sequence[Vector]
Ends: TypeAlias = tuple[Fraction, Fraction]
ZERO = Fraction(0)
DIGITS = 60
MARGIN = Decimal(10) ** -30
"""Of a number in so many digits, relative to the scale 1 of what it is computed from: 30 digits are left to cancel."""
GRID = 1 << 200
"""Values are multiples of 1/GRID of the scale, so that fractions stay small."""
SMALL_TILT = 1e4
"""From here on the rows p e^{d/lam}, |d| <= 1, are p (1 + d/lam) up to 1e-8: enough for a proposal."""
MOST_PRICE = 2.0**45
"""Of the budget of a Kullback-Leibler ball, and one over the least, at the scale 1: any price gives a bound, and beyond
these it is lower by less than 2^-45, while the margin for rounding grows."""
START = Fraction(1, 1 << 80)
"""The theta of a row of an L2 ball that hardly leaves p, for values of size 1."""
NEAR = Fraction(1, 1 << 54)
"""The half width with which an enclosure is tried first, as a share of max|w|."""
HALVINGS = 60
"""Of an enclosure that is wide because the proposal was poor."""


def allowed(kind: SRectangular, p: Vector) -> list[int]:
    """The states to which mass may go."""
    within = getattr(kind, "within_support", True)
    return [j for j, x in enumerate(p) if x > 0 or not within]


def reach(kind: SRectangular, p: Vector, w: Vector) -> Fraction:
    """The largest value of a row."""
    return max(w[j] for j in allowed(kind, p))


def dot(p: Vector, w: Vector) -> Fraction:
    """p·w."""
    return sum((x * y for x, y in zip(p, w, strict=True)), ZERO)


# Least distances.


def segments_l1(kind: SRectangular, p: Vector, w: Vector) -> list[Ends]:
    """(length, slope) of the value as a function of the distance: concave and piecewise linear."""
    top = reach(kind, p, w)
    return [(2 * x, (top - y) / 2) for y, x in sorted(zip(w, p, strict=True)) if x > 0 and y < top]


def fill(kind: SRectangular, p: Vector, w: Vector, r: Fraction) -> Ends:
    """The largest value over {|q−p| <= r} and a supergradient in r, from the level where the filling stops."""
    states = sorted(allowed(kind, p), key=lambda j: -w[j])
    lower = {j: max(p[j] - r, ZERO) for j in states}
    left, level = 1 - sum(lower.values(), ZERO), w[states[0]]
    value = sum((lower[j] * w[j] for j in states), ZERO)
    for j in states:
        if left <= 0:
            break
        added, level = min(left, min(p[j] + r, Fraction(1)) - lower[j]), w[j]
        value, left = value + added * w[j], left - added
    rising = sum((w[j] - level for j in states if w[j] > level and p[j] + r < 1), ZERO)
    return value, rising + sum((level - w[j] for j in states if w[j] < level and p[j] > r), ZERO)


def segments_l_infinity(kind: SRectangular, p: Vector, w: Vector) -> list[Ends]:
    """The same for L∞: the pieces are found by crossing tangents, exactly."""

    def pieces(r0: Fraction, r1: Fraction, ends: tuple[Ends, Ends]) -> list[Ends]:
        (z0, g0), (z1, g1) = ends
        chord = (z1 - z0) / (r1 - r0)
        if chord in (g0, g1):
            return [(r1 - r0, chord)]
        middle = (z1 - z0 + g0 * r0 - g1 * r1) / (g0 - g1)
        here = fill(kind, p, w, middle)
        return pieces(r0, middle, (ends[0], here)) + pieces(middle, r1, (here, ends[1]))

    found = pieces(ZERO, Fraction(1), (fill(kind, p, w, ZERO), fill(kind, p, w, Fraction(1))))
    return [(length, slope) for length, slope in found if slope > 0]


def segments(kind: SRectangular, p: Vector, w: Vector) -> list[Ends]:
    """(length, slope) of the value as a function of the distance, for the polyhedral balls."""
    return segments_l1(kind, p, w) if isinstance(kind, SRectangularL1) else segments_l_infinity(kind, p, w)


def _piecewise(parts: list[Ends], missing: Fraction) -> Ends:
    """(the distance that raises the value by `missing`, its slope from the left)."""
    xi, rate = ZERO, ZERO
    for length, slope in parts:
        if missing <= 0:
            break
        part = min(length, missing / slope)
        xi, rate, missing = xi + part, 1 / slope, missing - part * slope
    return xi, rate


def square_l2(kind: SRectangular, p: Vector, w: Vector, u: Fraction) -> Ends:
    """(the square of the least L2 distance of a row of mean u, theta): the path of projections of p + theta w."""
    active = allowed(kind, p)
    while True:
        count = len(active)
        out = [x for j, x in enumerate(p) if j not in active]
        delta, centre = sum(out, ZERO) / count, sum((w[j] for j in active), ZERO) / count
        spread = sum(((w[j] - centre) ** 2 for j in active), ZERO)
        fixed = sum((x * x for x in out), ZERO) + count * delta**2
        if spread == 0:
            return fixed, ZERO
        theta = (u - sum(((p[j] + delta) * w[j] for j in active), ZERO)) / spread
        steps = {j: (p[j] + delta) / (centre - w[j]) for j in active if w[j] < centre}
        first = min(steps.values())
        if theta <= first:
            return fixed + theta**2 * spread, theta
        active = [j for j in active if steps.get(j) != first]


def _mean(p: Any, w: Any, b: Any) -> tuple[Any, Any]:
    """The mean of the tilted row p e^{bw} and log Σ p e^{bw}, for w <= 0 with maximum 0; floats or digits."""
    e = p * np.exp(b * w)
    return (e * w).sum() / e.sum(), np.log(np.array([e.sum()]))[0]


def _float_tilt(p: np.ndarray, d: np.ndarray, aim: float) -> float:
    """About the b at which the tilted row has the mean `aim` < 0: Newton's method for log(−mean) in a bracket.

    The mean falls to 0 like an exponential, so steps for the mean itself would be of length 1 for most of the way.
    """
    low, high = 0.0, math.inf
    b = min(1.0, 1.0 / -aim)
    for _ in range(200):
        e = p * np.exp(b * d)
        total = float(e.sum())
        mean = float(e @ d) / total
        low, high = (b, high) if mean < aim else (low, b)
        variance = float(e @ (d - mean) ** 2) / total
        falls = variance > 0.0 and mean < 0.0
        following = b - math.log(mean / aim) * mean / variance if falls else math.inf
        if not low < following < high:
            far = high > 4.0 * low > 0.0
            following = 4.0 * b if high == math.inf else math.sqrt(low) * math.sqrt(high) if far else 0.5 * (low + high)
        if abs(following - b) <= 2.0**-50 * b:
            return following
        b = following
    return b


def least_kl(p: Vector, w: Vector, u: Fraction) -> tuple[Fraction, Fraction, float]:
    """Bounds on the least divergence of a row of mean u, and about its slope b."""
    states = [j for j, x in enumerate(p) if x > 0]
    top = max(w[j] for j in states)
    span = top - min(w[j] for j in states)
    if span == 0:
        return ZERO, ZERO, math.inf
    with precision(DIGITS):
        mass, d = array(p[j] for j in states), array((w[j] - top) / span for j in states)
        if u >= top:
            exact = -np.log(np.array([mass[d == Digits(0)].sum()]))[0].fraction()
            return exact - Fraction(MARGIN), exact + Fraction(MARGIN), math.inf
        aim = Digits((u - top) / span)
        b = Digits(_float_tilt(mass.astype(np.float64), d.astype(np.float64), float(aim)))
        for _ in range(3):  # Newton: from 16 digits to more than 50
            e = mass * np.exp(b * d)
            mean = (e * d).sum() / e.sum()
            variance = (e * (d - mean) * (d - mean)).sum() / e.sum()
            b = b + (aim - mean) / variance if variance > 0 else b
        lower = b * aim - _mean(mass, d, b)[1]
        above = b * (1 + Digits(Decimal(10) ** -28))
        mean, log_mean = _mean(mass, d, above)
        upper = above * mean - log_mean if mean >= aim else Digits(Decimal("Infinity"))
        if not upper.finite:
            raise ArithmeticError(f"no row of mean {float(u)} was found")
        scale = Fraction(MARGIN) * (1 + abs(Fraction(b.value)))
        return max(lower.fraction() - scale, ZERO), upper.fraction() + scale, float(b) / float(span)


def least(kind: SRectangular, p: Vector, w: Vector, u: Fraction) -> Ends:
    """Bounds on the least distance of a row with q·w >= u, for u that the row can reach."""
    if u <= dot(p, w):
        return ZERO, ZERO
    if isinstance(kind, SRectangularL2):
        return enclose_root(ZERO, square_l2(kind, p, w, u)[0])
    if isinstance(kind, SRectangularKullbackLeibler):
        return least_kl(p, w, u)[:2]
    exact = _piecewise(segments(kind, p, w), u - dot(p, w))[0]
    return exact, exact


# Values of a state.


def _scaled(w: Rows) -> tuple[Rows, Fraction]:
    """The values over a power of two of their size, so that floats can propose: squares of 1e±200 leave their range."""
    size = max((abs(x) for row in w for x in row), default=ZERO)
    if size == 0:
        return w, Fraction(1)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    unit = Fraction(2) ** exponent
    return [tuple(x / unit for x in row) for row in w], unit


def value(kind: SRectangular, rows: Rows, w: Rows) -> Ends:
    """Bounds on the value of a state; equal for L1 and L∞."""
    scaled, unit = _scaled(w)
    lower, upper = _value(kind, rows, scaled)
    return lower * unit, upper * unit


def _value(kind: SRectangular, rows: Rows, w: Rows) -> Ends:
    budget = Fraction(float(kind.radius))
    means, cap = (
        [dot(*pair) for pair in zip(rows, w, strict=True)],
        min(reach(kind, *pair) for pair in zip(rows, w, strict=True)),
    )
    if budget == 0 or min(means) == cap:
        return min(means), min(means)
    if isinstance(kind, (SRectangularL1, SRectangularLInfinity)):
        exact = _newton([segments(kind, *pair) for pair in zip(rows, w, strict=True)], means, cap, budget)
        return exact, exact
    if sum(least(kind, *pair, cap)[1] for pair in zip(rows, w, strict=True)) <= budget:
        return cap, cap
    return _around(kind, rows, w, min(means), cap, budget)


def _newton(parts: list[list[Ends]], means: list[Fraction], cap: Fraction, budget: Fraction) -> Fraction:
    """The root of a piecewise linear convex function from the right, which takes finitely many steps."""
    u = cap
    while True:
        found = [_piecewise(part, u - mean) for part, mean in zip(parts, means, strict=True)]
        excess = sum((xi for xi, _ in found), ZERO) - budget
        if excess <= 0:
            return u
        u -= excess / sum((slope for _, slope in found), ZERO)


def _around(kind: SRectangular, rows: Rows, w: Rows, low: Fraction, high: Fraction, budget: Fraction) -> Ends:
    """Bounds next to a proposal in floats: one that nature reaches, and one that it does not."""
    size = max(abs(x) for row in w for x in row)
    guess = Fraction(propose(kind, rows, w))
    step = NEAR * size
    lower = upper = None
    while lower is None or upper is None:
        below, above = _rounded(guess - step, size), _rounded(guess + step, size)
        if lower is None and (below <= low or _sums(kind, rows, w, below)[1] <= budget):
            lower = max(below, low)
        if upper is None and (above >= high or _sums(kind, rows, w, above)[0] > budget):
            upper = min(above, high)
        step *= 8
    for _ in range(HALVINGS):
        middle = _rounded((lower + upper) / 2, size)
        if upper - lower <= 16 * NEAR * size or not lower < middle < upper:
            break
        sums = _sums(kind, rows, w, middle)
        if sums[0] <= budget < sums[1]:
            break
        lower, upper = (middle, upper) if sums[1] <= budget else (lower, middle)
    return lower, upper


def _rounded(u: Fraction, size: Fraction) -> Fraction:
    return Fraction(round(u / size * GRID), GRID) * size


def _sums(kind: SRectangular, rows: Rows, w: Rows, u: Fraction) -> Ends:
    found = [least(kind, *pair, u) for pair in zip(rows, w, strict=True)]
    return sum((x for x, _ in found), ZERO), sum((x for _, x in found), ZERO)


def _float_least(kind: SRectangular, p: Any, w: Any, u: float) -> tuple[float, float]:
    """About the least distance and its slope, in floats, for L2 and Kullback-Leibler."""
    states = p > 0.0 if getattr(kind, "within_support", True) else np.ones(p.shape, dtype=bool)
    p, w = p[states], w[states]
    if isinstance(kind, SRectangularL2):
        fixed, out, active = 0.0, 0.0, np.ones(p.shape, dtype=bool)
        while True:
            n, delta = active.sum(), out / active.sum()
            dev = w[active] - w[active].mean()
            spread = float(dev @ dev)
            if spread == 0.0:
                return math.sqrt(fixed + n * delta**2), math.inf
            theta = (u - float((p[active] + delta) @ w[active])) / spread
            q = p[active] + delta + theta * dev
            if q.min() >= 0.0:
                xi = math.sqrt(fixed + n * delta**2 + theta**2 * spread)
                return xi, theta / xi if xi > 0.0 else 0.0
            gone = np.flatnonzero(active)[q < 0.0]
            fixed, out = fixed + float((p[gone] ** 2).sum()), out + float(p[gone].sum())
            active[gone] = False
    d, aim = w - w.max(), u - float(w.max())
    if aim >= 0.0:
        return -math.log(p[d == 0.0].sum()), math.inf
    b = _float_tilt(p, d, aim)
    return b * aim - _log_mean(p, d, b), b


def _log_mean(p: Any, d: Any, b: float) -> float:
    """log Σ p e^{bd} in floats, for d <= 0."""
    change = float((p * np.expm1(b * d)).sum())
    return math.log1p(change) if change > -0.5 else math.log(float((p * np.exp(b * d)).sum()))


def propose(kind: SRectangular, rows: Rows, w: Rows) -> float:
    """About the value of a state of L2 or Kullback-Leibler: a root in floats."""
    p, values = np.array(rows, dtype=np.float64), np.array(w, dtype=np.float64)
    means, budget = (p * values).sum(axis=1), float(kind.radius)
    low = float(means.min())
    high = float(min(reach(kind, *pair) for pair in zip(rows, w, strict=True)))
    u = 0.5 * (low + high)
    for _ in range(100):
        found = [_float_least(kind, row, x, u) for row, x, mean in zip(p, values, means, strict=True) if u > mean]
        excess, slope = sum(xi for xi, _ in found) - budget, sum(g for _, g in found)
        low, high = (u, high) if excess <= 0.0 else (low, u)
        following = u - excess / slope if 0.0 < slope < math.inf else math.inf
        if not low < following < high:
            following = 0.5 * (low + high)
        if following in (low, high) or abs(following - u) <= 2.0**-52 * max(abs(u), abs(high)):
            break
        u = following
    return u


# Values of policies.


def policy_value(kind: SRectangular, rows: Rows, w: Rows, pi: Vector) -> Ends:
    """Bounds on max Σ pi_a q_a·w_a over the set; equal for L1 and L∞."""
    scaled, unit = _scaled(w)
    lower, upper = _policy_value(kind, rows, scaled, pi)
    return lower * unit, upper * unit


def _policy_value(kind: SRectangular, rows: Rows, w: Rows, pi: Vector) -> Ends:
    budget = Fraction(float(kind.radius))
    nominal = sum((x * dot(*pair) for x, *pair in zip(pi, rows, w, strict=True)), ZERO)
    if budget == 0:
        return nominal, nominal
    if isinstance(kind, (SRectangularL1, SRectangularLInfinity)):
        spent = _greedy(kind, rows, w, pi, budget)
        parts = [dot(row_at(kind, p, y, r), y) for p, y, r in zip(rows, w, spent, strict=True)]
        exact = sum((x * part for x, part in zip(pi, parts, strict=True)), ZERO)
        return exact, exact
    form = _policy_l2 if isinstance(kind, SRectangularL2) else _policy_kl
    return form(kind, rows, w, pi, budget)


def _greedy(kind: SRectangular, rows: Rows, w: Rows, pi: Vector, budget: Fraction) -> list[Fraction]:
    """The distances of the rows of a polyhedral ball against a policy: the steepest pieces first."""
    pieces = [
        (x * slope, length, a)
        for a, (x, *pair) in enumerate(zip(pi, rows, w, strict=True))
        if x > 0
        for length, slope in segments(kind, *pair)
    ]
    spent = [ZERO] * len(rows)
    for _, length, a in sorted(pieces, reverse=True):
        part = min(budget, length)
        spent[a], budget = spent[a] + part, budget - part
    return spent


def _multiplier(needed: Any, budget: float) -> tuple[float, float]:
    """Neighbours lam' < lam with needed(lam) <= budget < needed(lam'), by bisection of the logarithm; needed falls."""
    low, high = -700.0, 700.0
    for _ in range(70):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if needed(math.exp(middle)) <= budget else (middle, high)
    return math.exp(low), math.exp(high)


def _scale_kl(used: Any) -> tuple[list[Fraction], Fraction]:
    """The largest values on the rows, and the widest span."""
    ends = [([v for v, m in zip(y, p, strict=True) if m > 0]) for _, p, y in used]
    return [max(values) for values in ends], max(max(values) - min(values) for values in ends)


def _price_kl(used: Any, tops: list[Fraction], size: Fraction, budget: Fraction) -> float:
    """About the price lam at which the rows p e^{pi (w−top)/(size lam)} have the total divergence kappa."""
    floats = [
        (
            np.array([float(m) for m in p if m > 0]),
            np.array([float(x * (v - top) / size) for v, m in zip(y, p, strict=True) if m > 0]),
        )
        for (x, p, y), top in zip(used, tops, strict=True)
    ]

    def needed(lam: float) -> float:
        total = 0.0
        for p, d in floats:
            if lam > SMALL_TILT:  # half the variance of d, over lam²: the rest is below rounding
                total += float(p @ (d - p @ d) ** 2) / 2.0 / lam / lam
            else:
                total += float(_mean(p, d, 1.0 / lam)[0]) / lam - _log_mean(p, d, 1.0 / lam)
        return total

    return min(max(_multiplier(needed, float(budget))[1], 1.0 / MOST_PRICE), MOST_PRICE)


def _policy_kl(kind: SRectangular, rows: Rows, w: Rows, pi: Vector, budget: Fraction) -> Ends:
    """Rows p e^{pi w/lam} of total divergence kappa; above, lam kappa + Σ lam log Σ p e^{pi w/lam} for any lam."""
    used = [(x, p, y) for x, p, y in zip(pi, rows, w, strict=True) if x > 0]
    tops, size = _scale_kl(used)
    constant = sum((x * top for (x, _, _), top in zip(used, tops, strict=True)), ZERO)
    if size == 0 or sum(least_kl(p, y, top)[1] for (_, p, y), top in zip(used, tops, strict=True)) <= budget:
        return constant, constant
    lam = _price_kl(used, tops, size, budget)
    with precision(DIGITS):
        b = Digits(1) / Digits(lam)
        upper = Digits(budget) / b
        attained, spent, nominal = Digits(0), Digits(0), Digits(0)
        for (x, p, y), top in zip(used, tops, strict=True):
            mass = array(m for m in p if m > 0)
            d = array(x * (v - top) / size for v, m in zip(y, p, strict=True) if m > 0)
            mean, log_mean = _mean(mass, d, b)
            upper = upper + log_mean / b
            attained, spent = attained + mean, spent + b * mean - log_mean
            nominal = nominal + (mass * d).sum()
        margin = Fraction(MARGIN) * (1 + abs(Fraction(b.value)) + 1 / Fraction(b.value))
        share = min(Fraction(1), budget / (spent.fraction() + margin))
        lower = nominal.fraction() + share * (attained - nominal).fraction()
    hoeffding = nominal.fraction() + enclose_root(ZERO, budget / 2)[1]  # Σ pi (q−p)·w <= span √(kappa/2)
    bound = min(upper.fraction() + margin, hoeffding + Fraction(MARGIN), ZERO)
    least_value = max(lower - margin, nominal.fraction() - Fraction(MARGIN))
    return constant + size * least_value, constant + size * bound


def _policy_l2(kind: SRectangular, rows: Rows, w: Rows, pi: Vector, budget: Fraction) -> Ends:
    """Members whose distances have the same price lam; above, Σ pi p·y + kappa max pi ‖y−c‖ for y >= w.

    A row is at the price lam where theta/xi, which rises along its path, is pi/lam.
    """
    used = [(x, p, y) for x, p, y in zip(pi, rows, w, strict=True) if x > 0]
    mixed, prices = _members_l2(kind, used, budget)
    spent = sum((_norm(q, p)[1] for q, (_, p, _) in zip(mixed, used, strict=True)), ZERO)
    share = min(Fraction(1), budget / spent) if spent else ZERO
    lower = sum(
        (x * (dot(p, y) + share * (dot(q, y) - dot(p, y))) for q, (x, p, y) in zip(mixed, used, strict=True)), ZERO
    )
    bounds = [_kept_l2(kind, used, thetas, budget) for thetas in prices]
    top = sum((x * reach(kind, p, y) for x, p, y in used), ZERO)
    return lower, min(*bounds, top)


def _members_l2(kind: SRectangular, used: Any, budget: Fraction) -> tuple[list[Vector], list[list[float]]]:
    """Rows of about the total distance kappa, and about their thetas: at the two next prices, and by distance."""
    paths = [_path_l2(kind, p, y) for _, p, y in used]

    def thetas(lam: float) -> list[float]:
        return [_theta_at(path, float(x) / lam) for path, (x, _, _) in zip(paths, used, strict=True)]

    def needed(lam: float) -> float:
        return sum(_distance_at(path, theta) for path, theta in zip(paths, thetas(lam), strict=True))

    prices = [thetas(lam) for lam in reversed(_multiplier(needed, float(budget)))]
    # Where a path is nearly straight, the price hardly says where on it a row is; its distance does.
    near, far = ([_distance_at(path, x) for path, x in zip(paths, each, strict=True)] for each in prices)
    gap = sum(far) - sum(near)
    t = max(min((float(budget) - sum(near)) / gap, 1.0), 0.0) if gap > 0.0 else 0.0
    distances = [(1.0 - t) * x + t * y for x, y in zip(near, far, strict=True)]
    chosen = [_theta_for(path, xi) for path, xi in zip(paths, distances, strict=True)]
    rows = [_row_l2(kind, p, y, Fraction(theta)) for (_, p, y), theta in zip(used, chosen, strict=True)]
    return rows, [*prices, chosen]


def _kept_l2(kind: SRectangular, used: Any, thetas: list[float], budget: Fraction) -> Fraction:
    value, worst = ZERO, ZERO
    for (x, p, y), theta in zip(used, thetas, strict=True):
        states = allowed(kind, p)
        if theta == math.inf:
            centre = reach(kind, p, y)
            raised = dict.fromkeys(states, centre)
        else:  # at the start of the path states without mass below the centre are raised to it already
            step = max(Fraction(theta), START)
            centre = _shift(kind, p, y, step) / step
            raised = {j: max(y[j], centre - p[j] / step) for j in states}
        value += x * sum((p[j] * raised[j] for j in states), ZERO)
        worst = max(worst, x * enclose_root(ZERO, sum(((raised[j] - centre) ** 2 for j in states), ZERO))[1])
    return value + budget * worst


def _shift(kind: SRectangular, p: Vector, w: Vector, theta: Fraction) -> Fraction:
    """tau with Σ (p + theta w − tau)⁺ = 1 over the allowed states."""
    values = sorted((p[j] + theta * w[j] for j in allowed(kind, p)), reverse=True)
    total = ZERO
    for count, x in enumerate(values, start=1):
        total += x
        tau = (total - 1) / count
        if count == len(values) or tau >= values[count]:
            return tau
    raise AssertionError(values)


def _row_l2(kind: SRectangular, p: Vector, w: Vector, theta: Fraction) -> Vector:
    """The projection of p + theta w on the distributions on the allowed states."""
    tau, states = _shift(kind, p, w, theta), set(allowed(kind, p))
    return tuple(
        max(x + theta * y - tau, ZERO) if j in states else ZERO for j, (x, y) in enumerate(zip(p, w, strict=True))
    )


def _norm(q: Vector, p: Vector) -> Ends:
    return enclose_root(ZERO, sum(((x - y) ** 2 for x, y in zip(q, p, strict=True)), ZERO))


def _path_l2(kind: SRectangular, p: Vector, w: Vector) -> list[tuple[float, float, float]]:
    """(theta at the end, fixed part of the squared distance, spread) of the pieces of the path, in floats."""
    active = allowed(kind, p)
    found: list[tuple[float, float, float]] = []
    while True:
        count = len(active)
        out = [x for j, x in enumerate(p) if j not in active]
        delta, centre = sum(out, ZERO) / count, sum((w[j] for j in active), ZERO) / count
        spread = sum(((w[j] - centre) ** 2 for j in active), ZERO)
        fixed = sum((x * x for x in out), ZERO) + count * delta**2
        if spread == 0:
            return [*found, (math.inf, float(fixed), 0.0)]
        steps = {j: (p[j] + delta) / (centre - w[j]) for j in active if w[j] < centre}
        first = min(steps.values())
        found.append((float(first), float(fixed), float(spread)))
        active = [j for j in active if steps.get(j) != first]


def _theta_at(path: list[tuple[float, float, float]], slope: float) -> float:
    """The theta from which on theta/xi exceeds the slope; on the last piece the row stays, and so does its distance."""
    start = 0.0
    for end, fixed, spread in path:
        if spread == 0.0:
            return max(start, slope * math.sqrt(fixed))
        if end / math.sqrt(fixed + end * end * spread or 1.0) > slope:
            room = 1.0 - slope * slope * spread
            return min(max(slope * math.sqrt(fixed / room) if room > 0.0 else end, start), end)
        start = end
    return start


def _theta_for(path: list[tuple[float, float, float]], xi: float) -> float:
    """The theta at a distance."""
    theta = 0.0
    for end, fixed, spread in path:
        if spread == 0.0 or xi * xi <= fixed + end * end * spread:
            return math.sqrt(max(xi * xi - fixed, 0.0) / spread) if spread else theta
        theta = end
    return theta


def _distance_at(path: list[tuple[float, float, float]], theta: float) -> float:
    for end, fixed, spread in path:
        if theta <= end:
            return math.sqrt(fixed + (theta * theta * spread if spread else 0.0))
    return 0.0


# Rows and policies in floats, for planning: nothing about them is believed.


def _float_row(kind: SRectangular, p: Vector, w: Vector, u: float) -> tuple[Any, float]:
    """About the nearest row of mean u, and the slope of its distance."""
    target = min(Fraction(u), reach(kind, p, w))
    q = np.array(p, dtype=np.float64)
    if target <= dot(p, w):
        return q, 0.0
    if isinstance(kind, SRectangularKullbackLeibler):
        y, support = np.array(w, dtype=np.float64), q > 0.0
        d = np.where(support, y - y[support].max(), 0.0)
        aim = u - float(y[support].max())
        if aim >= 0.0:
            q = np.where(support & (d == 0.0), q, 0.0)
            return q / q.sum(), math.inf
        b = _float_tilt(q[support], d[support], aim)
        q = q * np.exp(b * d)
        return q / q.sum(), b
    if isinstance(kind, SRectangularL2):
        square, theta = square_l2(kind, p, w, target)
        if theta == 0:
            return q, math.inf
        return np.array(_row_l2(kind, p, w, theta), dtype=np.float64), float(theta) / math.sqrt(float(square))
    xi, slope = _piecewise(segments(kind, p, w), target - dot(p, w))
    return np.array(row_at(kind, p, w, xi), dtype=np.float64), float(slope)


def row_at(kind: SRectangular, p: Vector, w: Vector, r: Fraction) -> Vector:
    """A row of largest value within the distance r, for L1 and L∞."""
    states = sorted(allowed(kind, p), key=lambda j: -w[j])
    if isinstance(kind, SRectangularL1):
        q, left = list(p), r / 2
        for j in sorted(range(len(p)), key=lambda j: w[j]):
            moved = min(left, q[j])
            q[j], left = q[j] - moved, left - moved
        q[states[0]] += 1 - sum(q, ZERO)
        return tuple(q)
    q = [max(x - r, ZERO) for x in p]
    left = 1 - sum(q, ZERO)
    for j in states:
        added = min(left, min(p[j] + r, Fraction(1)) - q[j])
        q[j], left = q[j] + added, left - added
    return tuple(q)


def saddle(kind: SRectangular, rows: Rows, w: Rows) -> tuple[float, Any, Any]:
    """About the value of a state, an optimal policy and rows of nature."""
    w, unit = _scaled(w)
    exact = isinstance(kind, (SRectangularL1, SRectangularLInfinity))
    u = float(_value(kind, rows, w)[0]) if exact or float(kind.radius) == 0.0 else propose(kind, rows, w)
    found = [_float_row(kind, *pair, u) for pair in zip(rows, w, strict=True)]
    slopes = np.array([slope for _, slope in found])
    tops = [reach(kind, *pair) for pair in zip(rows, w, strict=True)]
    pi = np.zeros(len(tops))
    if not np.isfinite(slopes).all() or u >= float(min(tops)):
        pi[tops.index(min(tops))] = 1.0
    elif slopes.sum() <= 0.0:
        pi[int(np.argmin([float(dot(*pair)) for pair in zip(rows, w, strict=True)]))] = 1.0
    else:
        pi = slopes / slopes.sum()
    return float(Fraction(u) * unit), pi, np.array([q for q, _ in found])


def policy_rows(kind: SRectangular, rows: Rows, w: Rows, pi: Vector) -> Any:
    """About the rows of nature against a policy."""
    w = _scaled(w)[0]
    q, budget = np.array(rows, dtype=np.float64), Fraction(float(kind.radius))
    places = [a for a, x in enumerate(pi) if x > 0]
    used = [(pi[a], rows[a], w[a]) for a in places]
    if budget == 0:
        return q
    if isinstance(kind, SRectangularKullbackLeibler):
        tops, size = _scale_kl(used)
        lam = _price_kl(used, tops, size, budget) if size else 1.0
        for a, (x, _, y), top in zip(places, used, tops, strict=True):
            d = np.array([min(float(x * (v - top) / (size or 1)), 0.0) for v in y])
            q[a] *= np.exp(d / lam)
    elif isinstance(kind, SRectangularL2):
        q[places] = np.array(_members_l2(kind, used, budget)[0], dtype=np.float64)
    else:
        spent = _greedy(kind, rows, w, pi, budget)
        q = np.array([row_at(kind, *each) for each in zip(rows, w, spent, strict=True)], dtype=np.float64)
    return q / q.sum(axis=1, keepdims=True)


def threshold(kind: SRectangular, p: Any, v: Any) -> float | None:
    """The budget at which one row reaches its largest value, for generators: that of the ball of one row."""
    within = {"within_support": kind.within_support} if hasattr(kind, "within_support") else {}
    found = oracle_of(BALLS[type(kind)]).threshold
    return found(BALLS[type(kind)](0.0, **within), p, v) if found is not None else None


BALLS: dict[type, Any] = {
    SRectangularL1: L1,
    SRectangularL2: L2,
    SRectangularLInfinity: LInfinity,
    SRectangularKullbackLeibler: KullbackLeibler,
}
"""The ball of one row."""
for _kind in BALLS:
    register(_kind, SetOracle(threshold=threshold))
