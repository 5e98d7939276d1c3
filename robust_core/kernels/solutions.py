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
  D = Σ p φ(q/p), φ(x) = x log x − x + 1; an error d of x moves a term by p x|log x| d and d² at most.
- Reverse Kullback-Leibler: mean − g expm1(−r + Σ p log((eta−w)/g)), any eta >= top, g = eta − mean; the same below the
  least radius. D = Σ p (x − 1 − log x) + q(outside), x = q/p; an error d of x moves a term by p|x−1| d and d².

Sums and quotients of these err by less than (24n + 64) u times values of at most 1, the distance of eta times a
logarithm included, since p·(w−mean)/g is what its rounding is relative to.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from robust_core.kernels import kullback_leibler, reverse_kullback_leibler
from robust_core.kernels.jit import compiled, reassociated
from robust_core.mdp import MDP, SparseRows
from robust_core.sets.base import WorstRows
from robust_core.validate import EPS, Floats, Ints

WITHIN, TOP, FULL = 0, 1, 2
MASS, DENSITY, BALL, INTERVAL, CHI_SQUARE, EUCLIDEAN, TILTED, BURG = range(8)
UNIT = 2.0**-53
LEAST_RADIUS = 1e-18
SHORT, LANES = 16, 64
"""The longest row for which all levels are tried, in so many rows side by side."""
MOST_STRETCH = 64.0
"""The largest factor of a density for which that is exact enough."""
NO_BOUNDS: Floats = np.empty((0, 0))


@compiled
def _sort(p: Floats, w: Floats, at: Ints, n: int) -> None:
    """The entries of a row by rising value (Shell's sort: insertion for short rows)."""
    gap = 1
    while 3 * gap < n // 4:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            x, y, s = w[i], p[i], at[i]
            k = i - gap
            while k >= 0 and w[k] > x:
                w[k + gap], p[k + gap], at[k + gap] = w[k], p[k], at[k]
                k -= gap
            w[k + gap], p[k + gap], at[k + gap] = x, y, s
        gap //= 3


@compiled
def _gather(
    row: int, reach: int, offsets: Ints, successors: Ints, probabilities: Floats, dense: bool, v: Floats, order: Ints,
    spread: Floats, p: Floats, w: Floats, at: Ints,
) -> int:  # fmt: skip
    """The entries of a row by rising value, over their sum; how many there are. `spread` is zeros, and stays so."""
    first, last, best, n = offsets[row], offsets[row + 1], order[order.size - 1], 0
    if dense or reach == FULL:
        if not dense:
            for k in range(first, last):
                spread[successors[k]] = probabilities[k]
        for k in range(order.size):
            j = order[k]
            x = probabilities[first + j] if dense else spread[j]
            if x > 0.0 or reach == FULL or (reach == TOP and j == best):
                p[n], w[n], at[n] = x, v[j], j
                n += 1
        if not dense:
            for k in range(first, last):
                spread[successors[k]] = 0.0
    else:
        found = False
        for k in range(first, last):
            j = np.int64(successors[k])
            found = found or j == best
            p[n], w[n], at[n] = probabilities[k], v[j], j
            n += 1
        if reach == TOP and not found:
            p[n], w[n], at[n] = 0.0, v[best], best
            n += 1
        _sort(p, w, at, n)
    mass = 0.0
    for i in range(n):
        mass += p[i]
    for i in range(n):
        p[i] /= mass
    return n


@compiled
def _box(form: int, p: Floats, w: Floats, n: int, r: float, lo: Floats, hi: Floats, q: Floats) -> tuple[float, float]:
    """(value, dual bound) of a box, filled from the highest value on; q is the fill."""
    for i in range(n):
        if form == MASS:
            lo[i], hi[i] = 0.0, p[i]
        elif form == DENSITY:
            lo[i], hi[i] = 0.0, min(p[i] / (1.0 - r), 1.0)
        elif form == BALL:
            lo[i], hi[i] = max(p[i] - r, 0.0), min(p[i] + r, 1.0)
    if form == MASS:
        hi[n - 1] = min(p[n - 1] + r, 1.0)
    left, eta = 1.0, w[n - 1]
    for i in range(n):
        q[i] = lo[i]
        left -= lo[i]
    k = n - 1
    while left > 0.0 and k >= 0:
        added = min(left, hi[k] - lo[k])
        if added > 0.0:
            q[k] += added
            left -= added
            eta = w[k]
        k -= 1
    value = bound = 0.0
    for i in range(n):
        x = w[i] - eta
        value += q[i] * x
        bound += (hi[i] if x > 0.0 else lo[i]) * x
    return eta + value, eta + bound


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
        less = total = 0.0
        for i in range(n):
            e = math.expm1(b * d[i])
            less += p[i] * e
            q[i] = p[i] * (1.0 + e) if e > -0.5 else p[i] * math.exp(b * d[i])
            total += q[i]
        bound = (r + (math.log1p(less) if less > -0.5 else math.log(total))) / b
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
def _solve(
    form: int, reach: int, offsets: Ints, successors: Ints, probabilities: Floats, dense: bool, width: int, v: Floats,
    order: Ints, radii: Floats, low: Floats, high: Floats, kept: Floats, pairs: Ints, ends: Ints, places: Ints, shares:
    Floats, lower: Floats, upper: Floats,
) -> None:  # fmt: skip
    """The rows `pairs`: bounds on sigma, and, if there is room for them, the worst rows."""
    p, w, lo, hi, q = np.empty(width), np.empty(width), np.empty(width), np.empty(width), np.empty(width)
    at, spread = np.empty(width, dtype=np.int64), np.zeros(0 if dense or reach != FULL else v.size)
    filled, written = 0, places.size > 0
    for k in range(pairs.size):
        row = pairs[k]
        n = _gather(row, reach, offsets, successors, probabilities, dense, v, order, spread, p, w, at)
        r = radii[row]
        if form == INTERVAL:
            for i in range(n):
                lo[i], hi[i] = low[row % low.shape[0], at[i]], high[row % low.shape[0], at[i]]
        if form <= INTERVAL:
            below, above = _box(form, p, w, n, r, lo, hi, q)
        elif form == CHI_SQUARE:
            below, above = _chi_square(p, w, n, r, q)
        elif form == EUCLIDEAN:
            below, above = _euclidean(p, w, n, r, lo, q)
        elif form == TILTED:
            below, above, kept[row] = _tilted(p, w, n, r, kept[row], lo, q)
        else:
            below, above = _burg(p, w, n, r, lo, q)
        margin = (24.0 * n + 64.0) * UNIT
        lower[k], upper[k] = below - margin, above + margin
        if written:
            for i in range(n):
                if q[i] > 0.0:
                    places[filled], shares[filled] = at[i], q[i]
                    filled += 1
            ends[k] = filled


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
    form: int, offsets: Ints, successors: Ints, probabilities: Floats, width: int, v: Floats, top: float, radii: Floats,
    sigma: Floats,
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


@compiled
def products(
    offsets: Ints, successors: Ints, probabilities: Floats, y: Floats, top: float, radii: Floats, sigma: Floats
) -> None:
    """top + (1−R) Σ p (y − top) of sparse rows."""
    for row in range(radii.size):
        total = 0.0
        for k in range(offsets[row], offsets[row + 1]):
            total += probabilities[k] * (y[successors[k]] - top)
        sigma[row] = top + (1.0 - radii[row]) * total


@dataclass(frozen=True)
class Solver:
    """The rows of a model under a set of one form: sigma, worst rows, certified bounds."""

    mdp: MDP
    form: int
    reach: int
    radius: float | Floats = 0.0
    low: Floats = field(default_factory=lambda: NO_BOUNDS)
    high: Floats = field(default_factory=lambda: NO_BOUNDS)
    kept: Floats = field(default_factory=lambda: np.empty(0))
    """The multiplier of each row at the last call, for Kullback-Leibler balls."""

    @classmethod
    def of(cls, mdp: MDP, form: int, reach: int, radius: float | Floats) -> "Solver":
        """The solver of a ball."""
        return cls(mdp, form, reach, radius, kept=np.zeros(mdp.cost.size if form == TILTED else 0))

    @property
    def radii(self) -> Floats:
        """The radius of each row."""
        return np.array(np.broadcast_to(self.radius, self.mdp.cost.shape), dtype=np.float64).reshape(-1)

    @property
    def _arrays(self) -> tuple[Ints, Ints, Floats, bool, int]:
        kernel, S = self.mdp.kernel, self.mdp.n_states
        if isinstance(kernel, SparseRows):
            longest = int(np.diff(kernel.offsets).max())
            width = S if self.reach == FULL else longest + 1
            return kernel.offsets, kernel.successors, kernel.probabilities, False, width
        offsets, none = np.arange(self.mdp.cost.size + 1) * S, np.empty(0, dtype=np.int64)
        for constant in (offsets, none):  # read-only like those of sparse rows: one type of array
            constant.setflags(write=False)
        return offsets, none, kernel.reshape(-1), True, S

    @property
    def short(self) -> bool:
        """Whether sigma is found by trying all levels of a row."""
        kernel = self.mdp.kernel
        if not isinstance(kernel, SparseRows) or int(np.diff(kernel.offsets).max()) > SHORT:
            return False
        if self.form == DENSITY:
            return self._stretch <= MOST_STRETCH
        return (self.form, self.reach) in (
            (MASS, TOP),
            (BALL, WITHIN),
        )  # (MASS, WITHIN): each row has its own best state

    def support(self, v: Floats) -> Floats | None:
        """About sigma of all rows, or None: the set's own form is the fastest."""
        if self.form == TILTED:
            found = kullback_leibler.refine(self.mdp, self.radius, v, self.kept, steps=kullback_leibler.STEPS)
            return found.reshape(-1)
        if not self.short:
            return None
        offsets, successors, probabilities, _, width = self._arrays
        sigma, top = np.empty(self.mdp.cost.size), float(v.max())
        _levels(self.form, offsets, successors, probabilities, width - 1, v, top, self.radii, sigma)
        return sigma

    def rows(self, v: Floats, pairs: Ints) -> WorstRows:
        """Rows of nature at v of the given pairs s·A + a."""
        offsets, _, _, dense, width = self._arrays
        most = len(pairs) * width if dense or self.reach == FULL else int((np.diff(offsets)[pairs] + 1).sum())
        found = WorstRows.empty(len(pairs), most)
        self._solved(v, pairs, found)
        return found

    def bounds(self, v: Floats) -> tuple[Floats, Floats]:
        """lower <= sigma <= upper for all pairs.

        Where all levels are tried, the dual at each errs by (8n+32) u of max|v| at most, and so does their least; it is
        sigma (duality of linear programs), up to the defect (3n+4) u of the sum of a row.
        """
        if self.short and (found := self.support(v)) is not None:
            margin = (24.0 * SHORT + 64.0) * UNIT * float(np.abs(v).max()) * self._stretch + 2.0**-1022
            return found - margin, found + margin
        return self._solved(v, np.arange(self.mdp.cost.size), WorstRows.empty(0, 0))

    @property
    def _stretch(self) -> float:
        """The largest sum of the upper bounds: a level is multiplied by it."""
        return 1.0 / (1.0 - float(np.max(self.radius))) if self.form == DENSITY else 1.0 + SHORT

    def _solved(self, v: Floats, pairs: Ints, found: WorstRows) -> tuple[Floats, Floats]:
        exponent = int(np.frexp(np.abs(v).max())[1]) if v.any() else -1074
        scaled = np.ldexp(v, -exponent)
        lower, upper = np.empty(len(pairs)), np.empty(len(pairs))
        offsets, successors, probabilities, dense, width = self._arrays
        _solve(
            self.form, self.reach, offsets, successors, probabilities, dense, width, scaled,
            np.argsort(scaled, kind="stable"), self.radii, self.low, self.high, self.kept, pairs, found.ends,
            found.places, found.shares, lower, upper,
        )  # fmt: skip
        tiny = 2.0**-1000  # gradual underflow
        return np.ldexp(lower, exponent) - tiny, np.ldexp(upper, exponent) + tiny
