"""Worst rows of every set and certified bounds on sigma, compiled, for planning.

A row is gathered by rising value: the states of its support (`WITHIN`), these and the best state of all (`TOP`), or
all states (`FULL`). Values are scaled to max|v| <= 1. A margin is a multiple of u = 2^-53, n the length of the row.

**Boxes** lo <= q <= hi, Σq = 1 (total variation and L1: hi = p, and p + R at the best state). The fill from the highest
value on ends at eta. Upper: eta + Σ hi (w−eta)⁺ − Σ lo (eta−w)⁺, for any eta, since Σ (q−lo)(w−eta) and so on. Lower:
the fill, whose bounds err by (n+4) u of p and of r, and whose sum errs by (n+4) u; clipped to the exact box and
repaired inside it, it moves by at most (8n+24) u in the 1-norm, and a sum of n products errs by (n+2) u. Together below
(24n + 64) u for either.

**Balls** of a convex distance D with D(p) = 0: the row q, at a distance of at most D as computed plus its rounding, is
pulled to p: p + t(q−p) is a member for t = min(1, r/D), for chi-square t = √(r/D). Upper: the dual at the multiplier
found, which is a bound at any multiplier.

- Chi-square: with y = max(w, eta), q·w <= p·y + √(r Var_p y) (Cauchy-Schwarz). Squares that underflow add at most
  √(r n 2^-1074). D: an error d <= (4n+16) EPS of q/p moves Σ p (q/p − 1)² by at most 2d(D + √D) + d².
- L2: with y >= w, q·w <= p·y + r ‖y − c‖ for any c.
- Kullback-Leibler: top + (r + log Σ p e^{b(w−top)})/b; below the least radius p·w + span √(r/2) (Pinsker).
  D = Σ p φ(q/p), φ(x) = x log x − x + 1; an error d of x moves a term by p x|log x| d and d² at most. Where that
  is exact enough, D = b Σ q (w−top) − log Σ p e^{b(w−top)} =: f − l: log(q/p) differs from b(w−top) − l by the
  rounding of q, its sum and b(w−top), so D by (2n + 32) u + (2n + 8) u (|f| + |l|) at most.
- Reverse Kullback-Leibler: mean − g expm1(−r + Σ p log((eta−w)/g)), any eta >= top, g = eta − mean; the same below the
  least radius. D = Σ p (x − 1 − log x) + q(outside), x = q/p; an error d of x moves a term by p|x−1| d and d².

Sums and quotients of these err by less than (24n + 64) u times values of at most 1, the distance of eta times a
logarithm included, since p·(w−mean)/g is what its rounding is relative to.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from robust_core.kernels import kullback_leibler, reverse_kullback_leibler
from robust_core.kernels.exponential import exp, expm1
from robust_core.kernels.jit import compiled, reassociated
from robust_core.kernels.rows import UNIT
from robust_core.mdp import MDP, SparseRows
from robust_core.sets.base import UncertaintySet, WorstRows
from robust_core.validate import EPS, Floats, Ints

WITHIN, TOP, FULL = 0, 1, 2
MASS, DENSITY, BALL, INTERVAL, CHI_SQUARE, EUCLIDEAN, TILTED, BURG = range(8)
LEAST_RADIUS = 1e-18
SHORT, LANES = 16, 64
"""The longest row for which all levels are tried, in so many rows side by side."""
MOST_STRETCH = 64.0
"""The largest factor of a density for which that is exact enough."""
BLOCK = 1 << 15
"""Entries of rows that are gathered at a time: they stay in the cache."""
KEPT_STEPS = 1
"""Passes over a row of a Kullback-Leibler ball in iteration, from the multiplier of the last backup."""


@compiled
def _sort(w: Floats, n: int, rank: Ints, place: Ints) -> None:
    """The rank of each entry by rising value: short rows by comparing all pairs, others by Shell's sort."""
    if n <= SHORT + 1:
        for i in range(n):
            count = 0
            for j in range(i):
                after = 1 if w[j] <= w[i] else 0
                count += after
                rank[j] += 1 - after
            rank[i] = count
        return
    for i in range(n):
        place[i] = i
    gap = 1
    while 3 * gap < n // 4:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            s, k = place[i], i - gap
            while k >= 0 and w[place[k]] > w[s]:
                place[k + gap] = place[k]
                k -= gap
            place[k + gap] = s
        gap //= 3
    for i in range(n):
        rank[place[i]] = i


@compiled
def _gathered(
    pairs: Ints, reach: int, offsets: Ints, successors: Ints, probabilities: Floats, least: Floats, dense: bool,
    v: Floats, order: Ints, p: Floats, w: Floats, at: Ints, low: Floats, lengths: Ints,
) -> None:  # fmt: skip
    """The entries of some rows by rising value, over their sum. The last of `order` is the best state.

    With lower bounds `least` the probabilities are upper bounds, and both stay as they are.
    """
    everywhere, best = dense or reach == FULL, order[order.size - 1]
    spread = np.zeros(v.size if everywhere and not dense else 0)
    room = 0 if everywhere else w.shape[1]
    rank, place, values = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64), np.empty(room)
    for m in range(pairs.size):
        first, last, n = offsets[pairs[m]], offsets[pairs[m] + 1], 0
        if everywhere:
            for k in range(first, last if not dense else first):
                spread[successors[k]] = probabilities[k]
            for k in range(order.size):
                j = order[k]
                x = probabilities[first + j] if dense else spread[j]
                if x > 0.0 or reach == FULL or (reach == TOP and j == best):
                    p[m, n], w[m, n], at[m, n] = x, v[j], j
                    if least.size:
                        low[m, n] = least[first + j]
                    n += 1
            for k in range(first, last if not dense else first):
                spread[successors[k]] = 0.0
        else:
            n, found = last - first, False
            for k in range(n):
                j = successors[first + k]
                values[k] = v[j]
                found |= j == best
            if reach == TOP and not found:
                values[n] = v[best]
                n += 1
            _sort(values, n, rank, place)
            for k in range(last - first):
                to = rank[k]
                p[m, to], w[m, to], at[m, to] = probabilities[first + k], values[k], successors[first + k]
                if least.size:
                    low[m, to] = least[first + k]
            if n > last - first:
                to = rank[n - 1]
                p[m, to], w[m, to], at[m, to] = 0.0, values[n - 1], best
        lengths[m] = n
        if not least.size:
            mass = _sum(p[m], n)
            for i in range(n):
                p[m, i] /= mass


@reassociated
def _product(x: Floats, y: Floats, centre: float, n: int) -> float:
    """Σ x (y − centre)."""
    total = 0.0
    for i in range(n):
        total += x[i] * (y[i] - centre)
    return total


@reassociated
def _dual(lo: Floats, hi: Floats, w: Floats, eta: float, n: int) -> float:
    """Σ hi (w−eta)⁺ − Σ lo (eta−w)⁺."""
    total = 0.0
    for i in range(n):
        x = w[i] - eta
        total += (hi[i] if x > 0.0 else lo[i]) * x
    return total


@reassociated
def _sum(x: Floats, n: int) -> float:
    total = 0.0
    for i in range(n):
        total += x[i]
    return total


@compiled
def _boxes(
    form: int, p: Floats, w: Floats, lengths: Ints, radii: Floats, kept: Floats, lo: Floats, hi: Floats, q: Floats,
    lower: Floats, upper: Floats,
) -> None:  # fmt: skip
    """Value and dual bound of boxes, filled from the highest value on; q is the fill."""
    for m in range(lengths.size):
        n, r = lengths[m], radii[m]
        if form == INTERVAL:
            for i in range(n):
                hi[m, i] = p[m, i]
        elif form == BALL:
            for i in range(n):
                lo[m, i], hi[m, i] = max(p[m, i] - r, 0.0), min(p[m, i] + r, 1.0)
        elif form == DENSITY:
            for i in range(n):
                lo[m, i], hi[m, i] = 0.0, min(p[m, i] / (1.0 - r), 1.0)
        else:
            for i in range(n):
                lo[m, i], hi[m, i] = 0.0, p[m, i]
            hi[m, n - 1] = min(p[m, n - 1] + r, 1.0)
        for i in range(n):
            q[m, i] = lo[m, i]
        left, eta, k = 1.0 - _sum(lo[m], n), w[m, n - 1], n - 1
        while left > 0.0 and k >= 0:
            added = min(left, hi[m, k] - lo[m, k])
            if added > 0.0:
                q[m, k] += added
                left -= added
                eta = w[m, k]
            k -= 1
        lower[m] = eta + _product(q[m], w[m], eta, n)
        upper[m] = eta + _dual(lo[m], hi[m], w[m], eta, n)


@compiled
def _pulled(p: Floats, w: Floats, n: int, q: Floats, share: float) -> float:
    """Σ of p + share (q − p) times w, from above; q is divided by its sum."""
    total = value = mean = 0.0
    top = w[n - 1]
    for i in range(n):
        total += q[i]
    for i in range(n):
        q[i] /= total
        value += q[i] * (w[i] - top)
        mean += p[i] * (w[i] - top)
    return top + mean + share * (value - mean)


@compiled
def _chi_square(p: Floats, w: Floats, n: int, r: float, q: Floats) -> tuple[float, float]:
    """(value of a member, dual bound); q is the worst row."""
    top = w[n - 1]
    first = kept = 0
    mean = s = root = 0.0
    mass = 1.0
    while True:
        m = moment = gone = 0.0
        for i in range(n):
            if i < first:
                gone += p[i]
            else:
                m += p[i]
                moment += p[i] * (w[i] - top)
        k = r * m - gone if first > 0 else r
        if first > 0 and not k > 0.0:
            break
        kept, mass, mean, root = first, m, moment / m, math.sqrt(k)
        s = 0.0
        for i in range(first, n):
            s += p[i] * (w[i] - top - mean) * (w[i] - top - mean)
        s = math.sqrt(s / m)
        while first < n - 1 and w[first] < top and root * (w[first] - top - mean) < -s:
            first += 1
        if first == kept or not s > 0.0:
            break
    scale = root / s if s > 0.0 else 0.0
    distance = 0.0
    for i in range(n):
        q[i] = p[i] / mass * max(1.0 + scale * (w[i] - top - mean), 0.0) if i >= kept else 0.0
    _pulled(p, w, n, q, 1.0)
    for i in range(n):
        x = q[i] / p[i] - 1.0
        distance += p[i] * x * x
    d = (4.0 * n + 16.0) * EPS
    distance += 4.0 * d * (distance + math.sqrt(distance)) + 4.0 * d * d
    share = 1.0 if distance <= r else math.sqrt(r / distance) * (1.0 - 4.0 * EPS)
    eta = mean - s / root if root > 0.0 else -np.inf
    level = average = square = 0.0
    for i in range(n):
        average += p[i] * max(w[i] - top, eta)
    for i in range(n):
        level = max(w[i] - top, eta) - average
        square += p[i] * level * level
    bound = average + math.sqrt(r * square) + math.sqrt(r * n) * 2.0**-537
    return _pulled(p, w, n, q, share), top + min(bound, 0.0)


@compiled
def _euclidean(p: Floats, w: Floats, n: int, r: float, gone: Floats, q: Floats) -> tuple[float, float]:
    """(value of a member, dual bound); q is the worst row."""
    top, theta, mean, delta = w[n - 1], 0.0, 0.0, 0.0
    for i in range(n):
        gone[i], q[i] = 0.0, p[i]
    for _ in range(n + 1):
        count = out = squares = m = norm = 0.0
        for i in range(n):
            out += gone[i] * p[i]
            squares += gone[i] * p[i] * p[i]
            count += 1.0 - gone[i]
            m += (1.0 - gone[i]) * (w[i] - top)
        m /= count
        for i in range(n):
            norm += (1.0 - gone[i]) * (w[i] - top - m) * (w[i] - top - m)
        norm = math.sqrt(norm)
        far = math.sqrt(squares + out * out / count)
        if r < far:
            break
        left = math.sqrt((r - far) * (r + far)) if far > 0.0 else r
        mean, delta, theta = m, out / count, left / norm if norm > 0.0 else np.inf
        again = False
        for i in range(n):
            q[i] = 0.0
            if gone[i] == 0.0:
                q[i] = p[i] + delta + (theta * (w[i] - top - mean) if norm > 0.0 else 0.0)
                if q[i] < 0.0:
                    gone[i], q[i], again = 1.0, 0.0, True
        if not again or norm == 0.0:
            break
    _pulled(p, w, n, q, 1.0)
    distance = 0.0
    for i in range(n):
        distance += (q[i] - p[i]) * (q[i] - p[i])
    distance = math.sqrt(distance) + (12.0 * n + 16.0) * EPS
    share = 1.0 if distance <= r else r / distance * (1.0 - 4.0 * EPS)
    bound = 0.0
    if theta < np.inf:
        centre = mean - delta / theta if theta > 0.0 else mean
        average = norm = 0.0
        for i in range(n):
            y = max(w[i] - top, centre - p[i] / theta) if theta > 0.0 else w[i] - top
            average += p[i] * y
            norm += (y - centre) * (y - centre)
        bound = average + r * math.sqrt(norm)
    return _pulled(p, w, n, q, share), top + min(bound, 0.0)


@reassociated
def _exponentials(p: Floats, d: Floats, n: int, b: float, q: Floats) -> tuple[float, float, float]:
    """q = p e^{bd} for bd >= −700; Σ p (e^{bd} − 1), Σ q and Σ q d."""
    less = total = moment = 0.0
    for i in range(n):
        less += p[i] * expm1(b * d[i])
        x = p[i] * exp(b * d[i])
        q[i] = x
        total += x
        moment += x * d[i]
    return less, total, moment


@compiled
def _tilted(p: Floats, w: Floats, n: int, r: float, start: float, d: Floats, q: Floats) -> tuple[float, float, float]:
    """(value of a member, dual bound, multiplier); q is the worst row. A `start` of 0 is none."""
    top, span = w[n - 1], w[n - 1] - w[0]
    best = rest = b = 0.0
    for i in range(n):
        d[i] = (w[i] - top) / span if span > 0.0 else 0.0
        q[i] = p[i]
        if d[i] < 0.0:
            rest += p[i]
        else:
            best += p[i]
    if span <= 0.0:
        return top, top, 0.0
    reach, bound = 0.0, 0.0
    for i in range(n):
        reach += p[i] * d[i]
    reach += math.sqrt(0.5 * r)
    threshold = -math.log1p(-rest) if rest < 0.5 else -math.log(best)
    if r >= threshold:
        for i in range(n):
            q[i] = p[i] if d[i] == 0.0 else 0.0
    elif r < LEAST_RADIUS:
        bound = reach
    else:
        b = start
        _, b = kullback_leibler._row(p[:n], d[:n], r, best, rest, start, kullback_leibler.STEPS)
        less = total = moment = 0.0
        if b <= 700.0:
            less, total, moment = _exponentials(p, d, n, b, q)
        else:
            for i in range(n):
                q[i] = p[i] * math.exp(b * d[i])
                less += p[i] * math.expm1(b * d[i])
                total += q[i]
        log_mean = math.log1p(less) if less > -0.5 else math.log(total)
        bound = (r + log_mean) / b
        moment *= b / total
        error = (4.0 * n + 64.0 + (4.0 * n + 16.0) * (abs(moment) + abs(log_mean))) * UNIT
        if b <= 700.0 and error <= 1e-9 * r:
            distance = max(moment - log_mean, 0.0) + error
            share = 1.0 if distance <= r else r / distance * (1.0 - 4.0 * EPS)
            return _pulled(p, w, n, q, share), top + span * min(bound, reach, 0.0), b
    _pulled(p, w, n, q, 1.0)
    distance = size = 0.0
    for i in range(n):
        if q[i] > 2.0**52 * p[i]:  # q/p may overflow
            log = math.log(q[i]) - math.log(p[i])
            distance += q[i] * (log - 1.0) + p[i]
            size += q[i] * log
            continue
        x = q[i] / p[i]
        log = math.log(x) if x > 0.0 else 0.0
        term = (x * math.log1p(x - 1.0) - (x - 1.0)) if abs(x - 1.0) < 0.5 else x * log - x + 1.0
        distance += p[i] * max(term, 0.0)
        size += p[i] * (x * abs(log) + (1.0 if x < 0.5 else 0.0))
    distance += 16.0 * (n + 1) * EPS * size + (4.0 * (n + 4) * EPS) ** 2
    share = 1.0 if distance <= r else r / distance * (1.0 - 4.0 * EPS)
    return _pulled(p, w, n, q, share), top + span * min(bound, reach, 0.0), b


@compiled
def _burg(p: Floats, w: Floats, n: int, r: float, d: Floats, q: Floats) -> tuple[float, float]:
    """(value of a member, dual bound); q is the worst row."""
    top, span = w[n - 1], w[n - 1] - w[0]
    pole = mean = 0.0
    for i in range(n):
        d[i] = (w[i] - top) / span if span > 0.0 else 0.0
        q[i] = p[i]
        pole += p[i] if d[i] == 0.0 else 0.0
        mean += p[i] * d[i]
    if span <= 0.0:
        return top, top
    bound = mean + math.sqrt(0.5 * r)
    if r >= LEAST_RADIUS:
        for i in range(n):  # states without mass take no part in sums
            d[i] = d[i] if p[i] > 0.0 else -1.0
        _, s = reverse_kullback_leibler._row(p[:n], d[:n], r, pole)
        # The row stops where its value is exact, at a residual of 1e-6 r; the member needs the root itself.
        logs, excess, squares = reverse_kullback_leibler._pass(p[:n], d[:n], s, mean)
        slope = (excess * excess - squares) / ((1.0 + excess) * (s - mean))
        newton = s - (logs + math.log1p(excess) - r) / slope if slope < 0.0 else s
        s = newton if 0.5 * s < newton < 2.0 * s else s
        g, exponent, total = s - mean, -r, 0.0
        for i in range(n):
            if p[i] > 0.0:
                less = (mean - d[i]) / g
                exponent += p[i] * (math.log1p(less) if less > -0.5 else math.log((s - d[i]) / g))
        for i in range(n):
            q[i] = math.exp(exponent) * p[i] * g / (s - d[i]) if p[i] > 0.0 else 0.0
            total += q[i]
        q[n - 1] += max(1.0 - total, 0.0)
        bound = min(bound, mean - g * math.expm1(exponent))
    _pulled(p, w, n, q, 1.0)
    distance = size = 0.0
    for i in range(n):
        if q[i] > 2.0**52 * p[i] > 0.0:  # q/p may overflow
            distance += q[i] - p[i] * (1.0 + math.log(q[i]) - math.log(p[i]))
            size += q[i]
        elif p[i] > 0.0:
            e = q[i] / p[i] - 1.0
            term = e - (math.log1p(e) if abs(e) < 0.5 else math.log(q[i] / p[i]))
            distance += p[i] * max(term, 0.0)
            size += p[i] * (abs(e) + (1.0 if e < -0.5 else 0.0))
        else:
            distance += q[i]
            size += q[i]
    distance += 16.0 * (n + 1) * EPS * size + (4.0 * (n + 4) * EPS) ** 2
    share = 1.0 if distance <= r else r / distance * (1.0 - 4.0 * EPS)
    return _pulled(p, w, n, q, share), top + span * min(bound, 0.0)


@compiled
def _chi_squares(
    form: int, p: Floats, w: Floats, lengths: Ints, radii: Floats, kept: Floats, lo: Floats, hi: Floats, q: Floats,
    lower: Floats, upper: Floats,
) -> None:  # fmt: skip
    for m in range(lengths.size):
        lower[m], upper[m] = _chi_square(p[m], w[m], lengths[m], radii[m], q[m])


@compiled
def _euclideans(
    form: int, p: Floats, w: Floats, lengths: Ints, radii: Floats, kept: Floats, lo: Floats, hi: Floats, q: Floats,
    lower: Floats, upper: Floats,
) -> None:  # fmt: skip
    for m in range(lengths.size):
        lower[m], upper[m] = _euclidean(p[m], w[m], lengths[m], radii[m], lo[m], q[m])


@compiled
def _tilts(
    form: int, p: Floats, w: Floats, lengths: Ints, radii: Floats, kept: Floats, lo: Floats, hi: Floats, q: Floats,
    lower: Floats, upper: Floats,
) -> None:  # fmt: skip
    for m in range(lengths.size):
        lower[m], upper[m], kept[m] = _tilted(p[m], w[m], lengths[m], radii[m], kept[m], lo[m], q[m])


@compiled
def _burgs(
    form: int, p: Floats, w: Floats, lengths: Ints, radii: Floats, kept: Floats, lo: Floats, hi: Floats, q: Floats,
    lower: Floats, upper: Floats,
) -> None:  # fmt: skip
    for m in range(lengths.size):
        lower[m], upper[m] = _burg(p[m], w[m], lengths[m], radii[m], lo[m], q[m])


BLOCKS = {CHI_SQUARE: _chi_squares, EUCLIDEAN: _euclideans, TILTED: _tilts, BURG: _burgs}
"""What solves some gathered rows; boxes have `_boxes`. A set compiles its own alone."""


@compiled
def _packed(
    q: Floats, at: Ints, lengths: Ints, begin: int, filled: int, ends: Ints, places: Ints, shares: Floats
) -> int:
    """The entries with mass, one row after the other; how many there are."""
    for m in range(lengths.size):
        for i in range(lengths[m]):
            places[filled], shares[filled] = at[m, i], q[m, i]
            filled += q[m, i] > 0.0
        ends[begin + m] = filled
    return filled


@reassociated
def _tried(W: Floats, lo: Floats, hi: Floats, j: int, f: Floats, best: Floats) -> None:
    """best = min(best, the dual at the level W[j]) in every lane."""
    for i in range(W.shape[0]):
        for lane in range(LANES):
            x = W[i, lane] - W[j, lane]
            f[lane] += (hi[i, lane] if x > 0.0 else lo[i, lane]) * x
    for lane in range(LANES):
        best[lane] = f[lane] if f[lane] < best[lane] else best[lane]


@compiled
def _levels(
    form: int, offsets: Ints, successors: Ints, probabilities: Floats, least: Floats, width: int, v: Floats, top: float,
    radii: Floats, sigma: Floats,
) -> None:  # fmt: skip
    """sigma of short sparse rows of a box: the dual is convex and piecewise linear, so it is least at a value."""
    W, lo, hi = np.zeros((width, LANES)), np.zeros((width, LANES)), np.zeros((width, LANES))
    f, best, room = np.zeros(LANES), np.zeros(LANES), np.zeros(LANES)
    for begin in range(0, radii.size, LANES):
        size = min(LANES, radii.size - begin)
        for lane in range(size):
            first, last, r = offsets[begin + lane], offsets[begin + lane + 1], radii[begin + lane]
            for i in range(width):
                x = probabilities[first + i] if first + i < last else 0.0
                W[i, lane] = v[successors[first + i]] if first + i < last else W[0, lane]
                if form == MASS:
                    hi[i, lane] = x
                elif form == INTERVAL:
                    lo[i, lane], hi[i, lane] = least[first + i] if first + i < last else 0.0, x
                elif form == DENSITY:
                    hi[i, lane] = x / (1.0 - r)
                else:
                    lo[i, lane], hi[i, lane] = max(x - r, 0.0), min(x + r, 1.0) if x > 0.0 else 0.0
            room[lane], best[lane] = r if form == MASS else 0.0, np.inf
        for j in range(width):
            for lane in range(LANES):
                f[lane] = W[j, lane] + room[lane] * (top - W[j, lane])
            _tried(W, lo, hi, j, f, best)
        for lane in range(size):
            sigma[begin + lane] = min(best[lane], top)


@dataclass(frozen=True)
class Bounds:
    """Rows of upper and lower bounds: of all states, or of the successors of each row."""

    offsets: Ints
    successors: Ints
    low: Floats
    high: Floats
    dense: bool


@dataclass(frozen=True)
class Solver:
    """The rows of a model under a set of one form: sigma, worst rows, certified bounds."""

    mdp: MDP
    uncertainty_set: UncertaintySet
    form: int
    reach: int
    radius: float | Floats = 0.0
    box: Bounds | None = None
    """Of an interval set."""

    @cached_property
    def kept(self) -> Floats:
        """The multiplier of each row at the last call, for Kullback-Leibler balls."""
        return np.zeros(self.mdp.cost.size)

    @cached_property
    def radii(self) -> Floats:
        """The radius of each row."""
        return np.array(np.broadcast_to(self.radius, self.mdp.cost.shape), dtype=np.float64).reshape(-1)

    @cached_property
    def _arrays(self) -> tuple[Ints, Ints, Floats, Floats, bool]:
        """Offsets, successors, probabilities or upper bounds, lower bounds, and whether rows are dense."""
        kernel, none = self.mdp.kernel, np.empty(0)
        if self.box is not None:
            return self.box.offsets, self.box.successors, self.box.high, self.box.low, self.box.dense
        if isinstance(kernel, SparseRows):
            return kernel.offsets, kernel.successors, kernel.probabilities, none, False
        offsets, nowhere = np.arange(self.mdp.cost.size + 1) * self.mdp.n_states, np.empty(0, dtype=np.int64)
        for constant in (offsets, nowhere):  # read-only like those of sparse rows: one type of array
            constant.setflags(write=False)
        return offsets, nowhere, kernel.reshape(-1), none, True

    @cached_property
    def _lengths(self) -> Ints:
        """How much room each row needs."""
        offsets, *_, dense = self._arrays
        if dense or self.reach == FULL:
            return np.full(len(offsets) - 1, self.mdp.n_states)
        return np.diff(offsets) + 1

    @cached_property
    def _width(self) -> int:
        """Room for the longest row."""
        return int(self._lengths.max())

    @cached_property
    def short(self) -> bool:
        """Whether sigma is found by trying all levels of a row."""
        if self._arrays[-1] or self.reach == FULL or self._width > SHORT + 1:
            return False
        if self.form == DENSITY:
            return self._stretch <= MOST_STRETCH
        return (self.form, self.reach) in (
            (MASS, TOP),
            (BALL, WITHIN),
            (INTERVAL, WITHIN),
        )  # (MASS, WITHIN): each row has its own best state

    def support(self, v: Floats) -> Floats:
        """About sigma of all rows."""
        if self.form == TILTED:
            steps = KEPT_STEPS if self.kept.any() else kullback_leibler.STEPS
            return kullback_leibler.refine(self.mdp, self.radius, v, self.kept, steps=steps).reshape(-1)
        offsets, successors, probabilities, least, dense = self._arrays
        if self.short:
            sigma, top = np.empty(len(offsets) - 1), float(v.max())
            radii = self.radii[: len(sigma)]
            _levels(self.form, offsets, successors, probabilities, least, self._width - 1, v, top, radii, sigma)
            return sigma if len(sigma) == self.mdp.cost.size else np.repeat(sigma, self.mdp.cost.size)
        if self.form == INTERVAL and not dense:
            return self._solved(v, np.arange(self.mdp.cost.size), None)[0]
        return self.uncertainty_set.kernel_support(self.mdp, v).reshape(-1)

    def rows(self, v: Floats, pairs: Ints) -> WorstRows:
        """Rows of nature at v of the given pairs s·A + a."""
        entries = int(self._lengths[pairs % len(self._lengths)].sum())
        found = WorstRows.empty(len(pairs), entries, self._arrays[1].dtype)
        found.sigma[:] = self._solved(v, pairs, found)[1]
        return found

    def bounds(self, v: Floats) -> tuple[Floats, Floats]:
        """lower <= sigma <= upper for all pairs.

        sigma of a box as found errs by (24n+64) u of max|v| times the largest sum of its upper bounds. All levels of a
        short row: the dual at each errs by (8n+32) u, so does their least, and it is sigma (duality of linear
        programs), up to the defect (3n+4) u of the sum of a row. A fill: it is exact for bounds that are moved by
        (n+4) u of themselves and mass that is moved by (n+4) u, its products and their sum, in any order, err by
        (n+2) u of twice max|v|, and sigma moves by twice max|v| times what moves.
        """
        fills = self.form != INTERVAL or self._arrays[-1]
        if self.form <= INTERVAL and self._stretch <= MOST_STRETCH and (self.short or fills):
            found = self.support(v)
            margin = (24.0 * self._width + 64.0) * UNIT * float(np.abs(v).max()) * self._stretch + 2.0**-1022
            return found - margin, found + margin
        return self._solved(v, np.arange(self.mdp.cost.size), None)

    @cached_property
    def _stretch(self) -> float:
        """The largest sum of the upper bounds of a short row, or of a density: a level is multiplied by it."""
        if self.form == DENSITY:
            return 1.0 / (1.0 - float(np.max(self.radius)))
        return 1.0 + SHORT if self._width <= SHORT + 1 else 1.0

    def _solved(self, v: Floats, pairs: Ints, found: WorstRows | None) -> tuple[Floats, Floats]:
        """Bounds on sigma of some pairs; and their worst rows, if there is room for them."""
        exponent = int(np.frexp(np.abs(v).max())[1]) if v.any() else -1074
        scaled = np.ldexp(v, -exponent)
        offsets, successors, probabilities, least, dense = self._arrays
        everywhere, width = dense or self.reach == FULL, self._width
        order = np.argsort(scaled, kind="stable") if everywhere else np.array([scaled.argmax()])
        lower, upper, chosen = np.empty(len(pairs)), np.empty(len(pairs)), pairs % len(self._lengths)
        size, filled, solve = min(max(BLOCK // width, 1), len(pairs)), 0, BLOCKS.get(self.form, _boxes)
        p, w, lo, hi, q = (np.empty((size, width)) for _ in range(5))
        at, lengths = np.empty((size, width), dtype=np.int64), np.empty(size, dtype=np.int64)
        given = p.view()
        given.setflags(write=False)  # like the rows of a model: the kernels of a row are compiled once for both
        for begin in range(0, len(pairs), size):
            part = slice(begin, min(begin + size, len(pairs)))
            n = lengths[: part.stop - begin]
            _gathered(
                chosen[part], self.reach, offsets, successors, probabilities, least, dense, scaled, order, p, w, at, lo,
                n,
            )  # fmt: skip
            kept = self.kept[pairs[part]] if self.form == TILTED else lower[part]
            solve(self.form, given, w, n, self.radii[pairs[part]], kept, lo, hi, q, lower[part], upper[part])
            if self.form == TILTED:
                self.kept[pairs[part]] = kept
            if found is not None:
                filled = _packed(q, at, n, begin, filled, found.ends, found.places, found.shares)
            margin = (24.0 * n + 64.0) * UNIT
            lower[part] -= margin
            upper[part] += margin
        tiny = 2.0**-1000  # gradual underflow
        return np.ldexp(lower, exponent) - tiny, np.ldexp(upper, exponent) + tiny
