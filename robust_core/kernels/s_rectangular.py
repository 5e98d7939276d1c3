"""States of s-rectangular balls, compiled: value, policy, rows of nature, and certified bounds.

A state is the root u of Σ_a xi_a(u) = kappa (`robust_core.sets.s_rectangular`), found by Newton's method: xi_a is
convex, so from any point a tangent meets kappa at or to the right of the root, and the steps fall towards it. Points
where the sum is at most kappa bound the root from the left; where a step leaves the bracket, it is halved.

All forms of one state work on one layout: `p`, `w` and `state` hold, for each action, the outcomes that matter by
rising w. Those of L1 are the row and the best state outside it, of Kullback-Leibler the row, of L2 and L∞ all states.

Bounds (`certify`). Everything is scaled to |c| + gamma|v| <= 1; sums of n products of weights that add up to 1 and such
values err by at most (n+4) u, u = 2^-53, and so do their quotients by the sums of the weights, up to a factor 2.

- Lower: the rows q_a of nature have distances of at most D_a = the computed ones plus (12n+16) EPS. Kullback-Leibler is
  Σ p φ(x), x = q/p, φ(x) = x log x − x + 1 >= 0. A relative error d <= 2(n+4) EPS of x moves φ by x|log x| d + x d² at
  most; rounding of a term is below 4 EPS x|log x|, or 4 EPS p if x < ½, where x|log x| may be too small. All distances
  are convex and 0 at p, so p_a + t(q_a − p_a) with t = min(1, kappa/ΣD_a) are in the set, and no policy costs less than
  the least of their values.
- Upper, norms: for every policy and y_a >= w_a, Σ pi_a q_a·w_a <= Σ pi_a p_a·y_a + kappa max_a pi_a N(y_a), N(y) the
  support function of the unit ball of differences of distributions: ½ span for L1, ‖y−c‖₂ for L2, ‖y−c‖₁ for L∞, any c.
- Upper, Kullback-Leibler: (kappa + Σ L_a(b_a))/Σ b_a for every b_a >= 0, L_a(b) = log Σ p_a e^{b w_a};
  it is a bound on the policy b_a/Σ b.
- Upper, always: Σ pi_a top_a, and for Kullback-Leibler Σ pi_a (p_a·w_a + span(w_a) √(kappa/2)) (Hoeffding).
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from robust_core.kernels.chains import Chain
from robust_core.kernels.jit import compiled
from robust_core.mdp import MDP
from robust_core.validate import EPS, Floats, Ints

L1, L2, L_INFINITY, KULLBACK_LEIBLER = 0, 1, 2, 3
UNIT = 2.0**-53
STEPS, ROW_STEPS = 300, 400
CLOSE = 2.0**-52
"""Two values of a state of scale 1 that are as good as equal."""
TRIES = 6
"""Of rows for a lower bound, each for a value four times as far below as the last."""


@compiled
def _sort(p: Floats, w: Floats, cost: Floats, state: Ints, a: int, n: int) -> None:
    """The outcomes of row a by rising w, in place (Shell's sort: insertion for short rows)."""
    gap = 1
    while 3 * gap < n // 4:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            x, y, c, s = w[a, i], p[a, i], cost[a, i], state[a, i]
            k = i - gap
            while k >= 0 and w[a, k] > x:
                w[a, k + gap], p[a, k + gap] = w[a, k], p[a, k]
                cost[a, k + gap], state[a, k + gap] = cost[a, k], state[a, k]
                k -= gap
            w[a, k + gap], p[a, k + gap], cost[a, k + gap], state[a, k + gap] = x, y, c, s
        gap //= 3


@compiled
def _gather(
    s: int, offsets: Ints, successors: Ints, probabilities: Floats, costs: Floats, outside: Floats, v: Floats, gamma:
    float, best: Ints, full: bool, p: Floats, w: Floats, cost: Floats, state: Ints, lengths: Ints, mu: Floats,
) -> None:  # fmt: skip
    """The outcomes of state s that matter, how many each action has, and their means.

    `best`: states of highest v, for L1; `full`: all states. Rows are passed by number: a view of an array costs more
    than a short row.
    """
    for a in range(mu.size):
        first, last, elsewhere = offsets[s * mu.size + a], offsets[s * mu.size + a + 1], outside[s * mu.size + a]
        mass, n = 0.0, last - first
        for k in range(first, last):
            mass += probabilities[k]
        share = 1.0 / mass if mass != 1.0 else 1.0
        if full:
            n = v.size
            for j in range(n):
                p[a, j], cost[a, j], w[a, j], state[a, j] = 0.0, elsewhere, elsewhere + gamma * v[j], j
            for k in range(first, last):
                j = successors[k]
                p[a, j], cost[a, j], w[a, j] = probabilities[k] * share, costs[k], costs[k] + gamma * v[j]
        else:
            for i in range(n):
                j = successors[first + i]
                p[a, i], cost[a, i] = probabilities[first + i] * share, costs[first + i]
                w[a, i], state[a, i] = costs[first + i] + gamma * v[j], j
            for k in range(best.size):
                j, inside = best[k], False
                for i in range(first, last):
                    if successors[i] == j:
                        inside = True
                        break
                if not inside:
                    p[a, n], cost[a, n], w[a, n], state[a, n] = 0.0, elsewhere, elsewhere + gamma * v[j], j
                    n += 1
                    break
        _sort(p, w, cost, state, a, n)
        top, mean = w[a, n - 1], 0.0
        for i in range(n):
            mean += p[a, i] * (w[a, i] - top)
        lengths[a], mu[a] = n, top + mean


@compiled
def _least_l1(p: Floats, w: Floats, a: int, n: int, missing: float) -> tuple[float, float, float]:
    """(xi, slope, level): mass leaves the lowest values for the top; the level is the last value that gives."""
    top, xi, slope, level = w[a, n - 1], 0.0, 0.0, w[a, 0]
    for i in range(n):
        rate = 0.5 * (top - w[a, i])
        if rate <= 0.0:
            break
        if p[a, i] > 0.0:
            slope, level = 1.0 / rate, w[a, i]
            gain = 2.0 * p[a, i] * rate
            if gain >= missing:
                return xi + missing * slope, slope, level
            xi += 2.0 * p[a, i]
            missing -= gain
    return xi, slope, level


@compiled
def _fill(p: Floats, w: Floats, n: int, r: float, q: Floats) -> tuple[float, float, float]:
    """(value, slope, eta) of the box (p−r)⁺ <= q <= min(p+r, 1), filled from the highest value on."""
    left = 1.0
    for i in range(n):
        q[i] = max(p[i] - r, 0.0)
        left -= q[i]
    eta, k = w[n - 1], n - 1
    while left > 0.0 and k >= 0:
        room = min(p[k] + r, 1.0) - q[k]
        added = min(left, room)
        q[k] += added
        left -= added
        if added > 0.0:
            eta = w[k]
        k -= 1
    value = slope = 0.0
    for i in range(n):
        value += q[i] * (w[i] - eta)
        if w[i] > eta:
            slope += w[i] - eta if p[i] + r < 1.0 else 0.0
        elif p[i] > r:
            slope += eta - w[i]
    return eta + value, slope, eta


@compiled
def _least_l_infinity(p: Floats, w: Floats, n: int, u: float, q: Floats) -> tuple[float, float, float]:
    """(r, slope of xi, eta): Newton's method from the left on the concave value of the filled box."""
    r, value, slope, eta = 0.0, 0.0, 0.0, w[n - 1]
    for _ in range(ROW_STEPS):
        value, slope, eta = _fill(p, w, n, r, q)
        if value >= u or slope <= 0.0:
            break
        following = r + (u - value) / slope
        if following <= r:
            break
        r = min(following, 1.0)
        if r == 1.0:
            value, slope, eta = _fill(p, w, n, r, q)
            break
    return r, (1.0 / slope if slope > 0.0 else np.inf), eta


@compiled
def _least_l2(p: Floats, w: Floats, n: int, u: float, q: Floats) -> tuple[float, float, float, float, float]:
    """(xi, slope, theta, mean, delta); q is the row. States are dropped from the lowest value on, as q is negative."""
    out = squares = 0.0
    dropped = np.zeros(n, dtype=np.bool_)
    top = w[n - 1]
    while True:
        count, mean = 0, 0.0
        for i in range(n):
            if not dropped[i]:
                count += 1
                mean += w[i] - top
        mean = top + mean / count
        delta, square, base = out / count, 0.0, 0.0
        for i in range(n):
            if not dropped[i]:
                square += (w[i] - mean) * (w[i] - mean)
                base += (p[i] + delta) * (w[i] - top)
        distance = squares + count * delta * delta
        theta = (u - (top + base)) / square if square > 0.0 else 0.0
        again = False
        for i in range(n):
            if not dropped[i]:
                q[i] = p[i] + delta + theta * (w[i] - mean)
                if q[i] < 0.0:
                    dropped[i], again = True, True
                    out += p[i]
                    squares += p[i] * p[i]
            if dropped[i]:
                q[i] = 0.0
        if square == 0.0:
            return math.sqrt(distance), np.inf, np.inf, mean, delta
        if not again:
            xi = math.sqrt(distance + theta * theta * square)
            return xi, (theta / xi if xi > 0.0 else 1.0 / math.sqrt(square)), theta, mean, delta


@compiled
def _tilt(p: Floats, w: Floats, n: int, centre: float, b: float, q: Floats) -> tuple[float, float, float]:
    """(mean − centre, variance, log Σ p e^{b(w−centre)}) of the row p e^{bw}, which is written to q without its sum."""
    total = change = mean = 0.0
    for i in range(n):
        x = b * (w[i] - centre)
        if abs(x) < 1.0:
            e = math.expm1(x)
            change += p[i] * e
            q[i] = p[i] * (1.0 + e)
        else:
            q[i] = p[i] * math.exp(x)
            change += q[i] - p[i]
        total += q[i]
        mean += q[i] * (w[i] - centre)
    mean /= total
    variance = 0.0
    for i in range(n):
        variance += q[i] * (w[i] - centre - mean) * (w[i] - centre - mean)
    return mean, variance / total, math.log1p(change) if change > -0.5 else math.log(total)


@compiled
def _least_kl(p: Floats, w: Floats, n: int, u: float, mu: float, q: Floats) -> tuple[float, float]:
    """(xi, b): the row p e^{bw} has the mean u; q is that row without its sum."""
    top = w[n - 1]
    if u >= top:
        best = 0.0
        for i in range(n):
            q[i] = p[i] if w[i] == top else 0.0
            best += q[i]
        return max(-math.log(best), 0.0), np.inf
    span = top - w[0]
    small = u - mu <= 0.25 * (top - mu)
    b = (u - mu) / max(_tilt(p, w, n, mu, 0.0, q)[1], 1e-300)
    b = min(b, 64.0 / (top - u))
    low, high, log_mean, centre = 0.0, np.inf, 0.0, mu if small else top
    for _ in range(ROW_STEPS):
        centre = mu if b * (top - mu) <= 1.0 else top
        mean, variance, log_mean = _tilt(p, w, n, centre, b, q)
        off = mean - (u - centre)
        if abs(off) <= 0.5 * UNIT * span:
            break
        low, high = (b, high) if off < 0.0 else (low, b)
        following = b - off / variance if variance > 0.0 else np.inf
        if not (low < following < high):
            if high == np.inf:
                following = 2.0 * b
            elif high > 4.0 * low:  # next to masses of 1e-300 a step may lead from 100 to 1e300
                following = math.sqrt(low) * math.sqrt(high) if low > 0.0 else high / 16.0
            else:
                following = 0.5 * (low + high)
        if abs(following - b) <= 0.5 * EPS * b:
            break
        b = following
    return max(b * (u - centre) - log_mean, 0.0), b


@compiled
def _needed(
    form: int, p: Floats, w: Floats, n: Ints, mu: Floats, u: float, xi: Floats, slope: Floats, q: Floats
) -> tuple[float, float]:
    """Σ xi_a(u) and its slope; those of each action are written."""
    total = steep = 0.0
    for a in range(mu.size):
        xi[a] = slope[a] = 0.0
        if u > mu[a]:
            if form == L1:
                xi[a], slope[a], _ = _least_l1(p, w, a, n[a], u - mu[a])
            elif form == L2:
                xi[a], slope[a], _, _, _ = _least_l2(p[a], w[a], n[a], u, q[a])
            elif form == L_INFINITY:
                xi[a], slope[a], _ = _least_l_infinity(p[a], w[a], n[a], u, q[a])
            else:
                xi[a], slope[a] = _least_kl(p[a], w[a], n[a], u, mu[a], q[a])
            total += xi[a]
            steep += slope[a]
    return total, steep


@compiled
def _root(
    form: int, p: Floats, w: Floats, n: Ints, mu: Floats, budget: float, xi: Floats, slope: Floats, q: Floats
) -> tuple[float, float, bool]:
    """The value of a state, a point where Σ xi >= kappa next to it, or the value if it is the cap, and whether `xi` and

    `slope` are those of that point.
    """
    low, cap = mu[0], w[0, n[0] - 1]
    for a in range(1, mu.size):
        low, cap = min(low, mu[a]), min(cap, w[a, n[a] - 1])
    if budget <= 0.0 or low >= cap:
        return min(low, cap), min(low, cap), False
    bound = cap  # on the root: an action alone costs at least its distance at the best rate (L1), or Hoeffding's
    for a in range(mu.size):
        top = w[a, n[a] - 1]
        if form == L1:
            bound = min(bound, mu[a] + 0.5 * budget * (top - w[a, 0]) + CLOSE)
        elif form == KULLBACK_LEIBLER:
            bound = min(bound, mu[a] + (top - w[a, 0]) * math.sqrt(0.5 * budget) + CLOSE)
    x, high = bound, cap
    total, steep = _needed(form, p, w, n, mu, x, xi, slope, q)
    if total <= budget and bound < cap:
        x = cap
        total, steep = _needed(form, p, w, n, mu, x, xi, slope, q)
    if total <= budget:
        return cap, cap, True
    for _ in range(STEPS):
        following = x - (total - budget) / steep if steep > 0.0 else np.inf
        if total <= budget:
            low = max(low, x)
            if following - x <= CLOSE:
                return x, min(max(following, x), high), False
        else:
            high = min(high, x)
            if form == L1 and total - budget <= CLOSE:  # rates are at most 1, so the root is as near
                return max(min(x, following), low), x, True
            if x - following <= CLOSE:
                below = x - 4.0 * CLOSE
                if below <= low or _needed(form, p, w, n, mu, below, xi, slope, q)[0] <= budget:
                    return max(min(x, following), low), x, False
                x = below
                total, steep = _needed(form, p, w, n, mu, x, xi, slope, q)
                high, following = x, np.inf
        if not (low < following < high):
            following = low + 0.5 * (high - low)
            if high - low <= CLOSE:
                return low, high, False
        x = following
        total, steep = _needed(form, p, w, n, mu, x, xi, slope, q)
    return low, high, False


@compiled
def _policy(slope: Floats, mu: Floats, p: Floats, w: Floats, n: Ints, capped: bool, pi: Floats) -> float:
    """Probabilities in proportion to the slopes; one action where the cap, or no budget, decides. Returns the price of

    the budget, one over the sum of the slopes.
    """
    A, best = mu.size, 0
    total, infinite = 0.0, False
    for a in range(A):
        pi[a] = 0.0
        total += slope[a]
        infinite = infinite or slope[a] == np.inf
    if capped:
        for a in range(1, A):
            if w[a, n[a] - 1] < w[best, n[best] - 1]:
                best = a
        pi[best] = 1.0
        return 0.0
    if infinite:
        for a in range(A):
            if slope[a] == np.inf:
                best = a
        pi[best] = 1.0
        return 0.0
    if total <= 0.0:
        for a in range(1, A):
            if mu[a] < mu[best]:
                best = a
        pi[best] = 1.0
        return np.inf
    for a in range(A):
        pi[a] = slope[a] / total
    return 1.0 / total


@compiled
def _rows_of(
    form: int, p: Floats, w: Floats, n: Ints, mu: Floats, u: float, xi: Floats, slope: Floats, q: Floats
) -> None:
    """The rows of nature for the value u: the nearest ones that reach it. Their budgets and slopes are written."""
    _needed(form, p, w, n, mu, u, xi, slope, q)
    for a in range(mu.size):
        m, total = n[a], 0.0
        if u <= mu[a] or form == L1:
            for i in range(m):
                q[a, i] = p[a, i]
        if u <= mu[a]:
            continue
        if form == L1:
            left = 0.5 * xi[a]
            for i in range(m - 1):
                moved = min(left, p[a, i])
                q[a, i] -= moved
                q[a, m - 1] += moved
                left -= moved
                if left <= 0.0:
                    break
        elif form == KULLBACK_LEIBLER:
            for i in range(m):
                total += q[a, i]
            for i in range(m):
                q[a, i] /= total


@compiled
def _distance(form: int, p: Floats, q: Floats, n: int) -> float:
    """An upper bound on the distance of q, over its sum, from p."""
    mass = total = size = 0.0
    for i in range(n):
        mass += q[i]
    for i in range(n):
        x = q[i] / mass
        if form == KULLBACK_LEIBLER:
            if p[i] > 0.0:
                log = math.log(x / p[i]) if x > 0.0 else 0.0
                e = x / p[i] - 1.0
                term = p[i] * ((1.0 + e) * math.log1p(e) - e) if abs(e) < 0.5 else x * log - x + p[i]
                total += max(term, 0.0)
                size += x * abs(log) + (p[i] if e < -0.5 else 0.0)
        elif form == L1:
            total += abs(x - p[i])
        elif form == L2:
            total += (x - p[i]) * (x - p[i])
        else:
            total = max(total, abs(x - p[i]))
    if form == KULLBACK_LEIBLER:
        return total + 16.0 * (n + 1) * EPS * size + (4.0 * (n + 4) * EPS) ** 2
    return (math.sqrt(total) if form == L2 else total) + (12.0 * n + 16.0) * EPS


@compiled
def _lower(
    form: int, p: Floats, w: Floats, n: Ints, mu: Floats, budget: float, u: float, xi: Floats, slope: Floats, q: Floats
) -> float:
    """A value that nature reaches in every action: the best of the rows for u and for a little less.

    Where values are equal but for rounding, distances jump within a rounding of u.
    """
    best, step = -np.inf, 0.0
    for _ in range(TRIES):
        _rows_of(form, p, w, n, mu, u - step, xi, slope, q)
        total = 0.0
        for a in range(mu.size):
            if u - step > mu[a]:
                total += _distance(form, p[a], q[a], n[a])
        share = 1.0 if total <= budget else budget / total * (1.0 - 4.0 * EPS)
        least = np.inf
        for a in range(mu.size):
            value = mass = 0.0
            for i in range(n[a]):
                value += q[a, i] * w[a, i]
                mass += q[a, i]
            least = min(least, mu[a] + share * (value / mass - mu[a]))
        best = max(best, least)
        if share == 1.0 or best >= u - step - 4.0 * CLOSE:
            break
        step = max(4.0 * step, 2.0 * CLOSE)
    return best


@compiled
def _price(form: int, p: Floats, w: Floats, n: int, u: float, q: Floats) -> tuple[float, float]:
    """(p·y, N(y)) of values y >= w."""
    mean = norm = 0.0
    if form == L2:
        _, _, theta, centre, delta = _least_l2(p, w, n, u, q)
        if theta > 0.0:  # there q − p = theta (y − centre)
            centre -= delta / theta
        for i in range(n):
            y = max(w[i], centre - p[i] / theta) if theta > 0.0 else w[i]
            mean += p[i] * y
            norm += (y - centre) * (y - centre)
        return mean, math.sqrt(norm)
    r, _, eta = _least_l_infinity(p, w, n, u, q)
    for i in range(n):
        y = max(w[i], eta) if p[i] < r else w[i]
        mean += p[i] * y
        norm += abs(y - eta)
    return mean, norm


@compiled
def _upper(
    form: int, p: Floats, w: Floats, n: Ints, mu: Floats, budget: float, u: float, pi: Floats, slope: Floats, q: Floats
) -> float:
    """A value that the policy keeps: a dual bound, or the largest values that its actions can reach."""
    cap = reach = 0.0
    for a in range(mu.size):
        top = w[a, n[a] - 1]
        cap += pi[a] * top
        reach += pi[a] * (mu[a] + (top - w[a, 0]) * math.sqrt(0.5 * budget))  # Hoeffding, for Kullback-Leibler
    total = value = worst = 0.0
    if form == KULLBACK_LEIBLER:
        for a in range(mu.size):
            if 0.0 < slope[a] < np.inf:
                centre = mu[a] if slope[a] * (w[a, n[a] - 1] - mu[a]) <= 1.0 else w[a, n[a] - 1]
                _, _, log_mean = _tilt(p[a], w[a], n[a], centre, slope[a], q[a])
                value += log_mean + slope[a] * centre
                total += slope[a]
        if total > 0.0 and budget / total < 4.0:
            reach = (budget + value) / total
        return min(reach, cap)
    for a in range(mu.size):
        if pi[a] > 0.0:
            if form == L1:
                _, _, level = _least_l1(p, w, a, n[a], u - mu[a])
                mean, norm = 0.0, 0.5 * (w[a, n[a] - 1] - level)
                for i in range(n[a]):
                    mean += p[a, i] * max(w[a, i], level)
            else:
                mean, norm = _price(form, p[a], w[a], n[a], u, q[a])
            value += pi[a] * mean
            worst = max(worst, pi[a] * norm)
    return min(value + budget * worst, cap)


@compiled
def _states(
    form: int, within: bool, certified: bool, A: int, offsets: Ints, successors: Ints, probabilities: Floats, costs:
    Floats, outside: Floats, gamma: float, v: Floats, best: Ints, budgets: Floats, width: int, value: Floats, policy:
    Floats, lower: Floats, upper: Floats, prices: Floats, ends: Ints, places: Ints, shares: Floats, constants: Floats,
) -> None:  # fmt: skip
    """Every state: value and policy, with `certified` its bounds, else the chain of policy and rows of nature."""
    full = form in (L2, L_INFINITY) and not within
    p, w, cost, q = np.empty((A, width)), np.empty((A, width)), np.empty((A, width)), np.empty((A, width))
    state = np.empty((A, width), dtype=np.int64)
    n, mu, xi, slope = np.empty(A, dtype=np.int64), np.empty(A), np.empty(A), np.empty(A)
    filled = 0
    for s in range(budgets.size):
        _gather(
            s, offsets, successors, probabilities, costs, outside, v, gamma, best, full, p, w, cost, state, n, mu
        )  # fmt: skip
        u, right, known = _root(form, p, w, n, mu, budgets[s], xi, slope, q)
        if not known:
            _needed(form, p, w, n, mu, right, xi, slope, q)
        capped = u == right and budgets[s] > 0.0
        if capped:
            for a in range(A):
                capped = capped and u <= w[a, n[a] - 1]
            reached = False
            for a in range(A):
                reached = reached or u == w[a, n[a] - 1]
            capped = capped and reached
        prices[s] = _policy(slope, mu, p, w, n, capped, policy[s])
        value[s] = u
        if certified:
            units = 0
            for a in range(A):
                units = max(units, n[a])
            margin = (16.0 * units + 8.0 * A + 64.0) * UNIT
            upper[s] = _upper(form, p, w, n, mu, budgets[s], right, policy[s], slope, q) + margin
            lower[s] = _lower(form, p, w, n, mu, budgets[s], u, xi, slope, q) - margin
            continue
        _rows_of(form, p, w, n, mu, u, xi, slope, q)
        constant = 0.0
        for a in range(A):
            if policy[s, a] > 0.0:
                for i in range(n[a]):
                    if q[a, i] > 0.0:
                        share = policy[s, a] * q[a, i]
                        constant += share * cost[a, i]
                        places[filled], shares[filled] = state[a, i], share
                        filled += 1
        constants[s], ends[s] = constant, filled


@compiled
def _members(
    form: int, within: bool, A: int, offsets: Ints, successors: Ints, probabilities: Floats, costs: Floats, outside:
    Floats, gamma: float, v: Floats, best: Ints, values: Floats, width: int, rows: Floats,
) -> None:  # fmt: skip
    """The rows of nature of every pair for given values of the states, not divided by their sums."""
    full = form in (L2, L_INFINITY) and not within
    p, w, cost, q = np.empty((A, width)), np.empty((A, width)), np.empty((A, width)), np.empty((A, width))
    state = np.empty((A, width), dtype=np.int64)
    n, mu, xi, slope = np.empty(A, dtype=np.int64), np.empty(A), np.empty(A), np.empty(A)
    for s in range(values.size):
        _gather(
            s, offsets, successors, probabilities, costs, outside, v, gamma, best, full, p, w, cost, state, n, mu
        )  # fmt: skip
        _rows_of(form, p, w, n, mu, values[s], xi, slope, q)
        for a in range(A):
            for i in range(n[a]):
                rows[s, a, state[a, i]] = q[a, i]


@dataclass(frozen=True)
class Outcomes:
    """A model for s-rectangular balls: sparse rows, a cost for each outcome, and one for the states outside a row.

    `costs[k]` belongs to `probabilities[k]`; `outside[s*A+a]` is the cost of every successor without nominal mass. In
    an MDP both are c(s,a).
    """

    offsets: Ints
    successors: Ints
    probabilities: Floats
    costs: Floats
    outside: Floats
    gamma: float
    n_states: int
    n_actions: int

    @classmethod
    def of(cls, mdp: MDP) -> "Outcomes":
        """The outcomes of a model, whose costs do not depend on the successor."""
        rows, flat = mdp.rows, mdp.cost.reshape(-1)
        each = np.repeat(flat, np.diff(rows.offsets))
        return cls(
            rows.offsets, rows.successors, rows.probabilities, each, flat, mdp.gamma, mdp.n_states, mdp.n_actions
        )

    @cached_property
    def longest(self) -> int:
        """The number of outcomes of the longest row."""
        return int(np.diff(self.offsets).max())

    @cached_property
    def size(self) -> float:
        """The largest cost in size."""
        return max(float(np.abs(self.costs).max()), float(np.abs(self.outside).max()))

    @cached_property
    def _scaled(self) -> dict[int, tuple[Floats, Floats]]:
        return {}

    def scaled_costs(self, exponent: int) -> tuple[Floats, Floats]:
        """The costs over a power of two; kept, because backups of one plan use few."""
        if exponent not in self._scaled:
            self._scaled[exponent] = np.ldexp(self.costs, -exponent), np.ldexp(self.outside, -exponent)
        return self._scaled[exponent]


@dataclass(frozen=True)
class States:
    """What a backup gives: values (S,), a policy (S, A), and the chain, or certified bounds on the values.

    `prices` (S,) is what a unit of budget is worth to nature: 0 where the cap decides, infinite without a budget.
    """

    values: Floats
    policy: Floats
    chain: Chain | None
    lower: Floats
    upper: Floats
    prices: Floats


def solve(
    form: int, within: bool, outcomes: Outcomes, budgets: Floats, v: Floats, *, certified: bool = False
) -> States:
    """All states for the values v; `certified`: bounds on the exact backup in place of the chain."""
    S, A = outcomes.n_states, outcomes.n_actions
    scale = _Scale.of(form, within, outcomes, v)
    full = form in (L2, L_INFINITY) and not within
    entries = 0 if certified else (S * A * S if full else len(outcomes.probabilities) + S * A)
    value, lower, upper, prices = np.empty(S), np.zeros(S), np.zeros(S), np.empty(S)
    policy, constants = np.empty((S, A)), np.empty(S)
    ends, places, shares = np.empty(S, dtype=np.int64), np.empty(entries, dtype=np.int64), np.empty(entries)
    _states(
        form, within, certified, A, outcomes.offsets, outcomes.successors, outcomes.probabilities, scale.costs,
        scale.outside, outcomes.gamma, scale.v, scale.best, budgets, scale.width, value, policy, lower, upper, prices,
        ends, places, shares, constants,
    )  # fmt: skip
    chain = None if certified else Chain(ends, places, shares, np.ldexp(constants, scale.exponent))
    back = [np.ldexp(x, scale.exponent) for x in (value, lower, upper, prices)]
    return States(back[0], policy, chain, *back[1:])


def members(form: int, within: bool, outcomes: Outcomes, v: Floats, values: Floats) -> Floats:
    """Rows of nature (S, A, S) for the values v: those next to the nominal ones that reach the given values of states.

    A row is not divided by its sum; one whose mean is above the value of its state is the nominal row.
    """
    scale = _Scale.of(form, within, outcomes, v)
    rows = np.zeros((outcomes.n_states, outcomes.n_actions, outcomes.n_states))
    _members(
        form, within, outcomes.n_actions, outcomes.offsets, outcomes.successors, outcomes.probabilities, scale.costs,
        scale.outside, outcomes.gamma, scale.v, scale.best, np.ldexp(values, -scale.exponent), scale.width, rows,
    )  # fmt: skip
    return rows


@dataclass(frozen=True)
class _Scale:
    """Costs and values over a power of two, |c| + gamma |v| <= 1, the states of highest value, and the longest row."""

    exponent: int
    v: Floats
    costs: Floats
    outside: Floats
    best: Ints
    width: int

    @classmethod
    def of(cls, form: int, within: bool, outcomes: Outcomes, v: Floats) -> "_Scale":
        size = outcomes.size + outcomes.gamma * float(np.abs(v).max())
        exponent = math.frexp(size)[1] if size > 0.0 else 0
        scaled = np.ldexp(v, -exponent)
        count = min(outcomes.longest + 1, outcomes.n_states) if form == L1 and not within else 0
        best = np.argsort(-scaled, kind="stable")[:count] if count else np.empty(0, dtype=np.int64)
        full = form in (L2, L_INFINITY) and not within
        width = outcomes.n_states if full else outcomes.longest + 1
        return cls(exponent, scaled, *outcomes.scaled_costs(exponent), best, width)
