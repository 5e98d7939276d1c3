"""Checks a certificate of a robust MDP. One file, the standard library only: `python checker.py CERTIFICATE`.

A certificate is JSON. It has a model (kernel p, cost c, discount gamma), an uncertainty set around every row of the
kernel, and claims, for the optimal robust value V*(s) = min over a of c(s,a) + gamma max over q in U(s,a) of q·V*:

    lower(s) <= V*(s) <= V^pi(s) <= upper(s)  and  upper(s) − lower(s) <= width   for every state s,

where V^pi is the worst-case value of its policy pi. A number of the file is the double it denotes, taken as the exact
fraction, and a text such as "1/3" is that fraction; a row of a kernel stands for the row over its exact sum. All is
computed in fractions; only logarithms and exponentials are rounded, by `decimal`, to the safe side.

*Lower bound.* The certificate has a kernel `worst`. The checker verifies that each of its rows q is a member of U(s,a)
and that lower(s) <= c(s,a) + gamma q·lower for every pair. Then lower <= T lower, T the robust Bellman operator, since
max over U(s,a) is at least q. T is monotone, so lower <= T^n lower for all n, and T is a contraction by gamma < 1 with
fixed point V*, so lower <= V*.

*Upper bound.* For every pair (s, pi(s)) the certificate has multipliers. By weak duality they give a number b with
q·upper <= b for every q in U(s, pi(s)); the inequality is proved in the docstring of each set below, for any values of
the multipliers, so wrong ones cannot mislead. The checker verifies that c + gamma b <= upper(s). Then T_pi upper <=
upper, so in the same way V^pi <= upper; and V* <= V^pi because T <= T_pi.

For the s-rectangular sets, U(s) has a row for each action, policies are random and V*(s) is the min over pi of the max
over q in U(s) of Σ pi_a (c(s,a) + gamma q_a·V*). The proofs are the same: the rows of `worst` in a state are a member
of U(s) together, no policy does better than the least of their values, and the multipliers of a state give a bound on
Σ pi_a q_a·upper.

The work is linear in the number of entries of the file, but for sorting and searching the values of upper, for sorting
the rows of s-rectangular L∞ balls, for the vectors of interval and restart, which are read once for each pair, and for
the metric of Wasserstein sets, of which one row is read for every entry of the kernel.
"""

import bisect
import decimal
import json
import re
import sys
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

FORMAT = "robust-core/certificate/1"
FIELDS = {"format", "gamma", "cost", "kernel", "set", "lower", "upper", "width", "policy", "worst", "duals"}
LARGEST_FILE = 1 << 29
DIGITS = decimal.Context(prec=60, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
Row = dict[int, Fraction]


class Rejected(Exception):
    """The certificate proves nothing; the message says which state, action and inequality."""


def require(holds: bool, message: str) -> None:
    """Reject the certificate unless a condition holds."""
    if not holds:
        raise Rejected(message)


def number(value: Any, name: str) -> Fraction:
    """The double that a JSON number denotes, or the fraction of a text such as "1/3"."""
    if type(value) is str and re.fullmatch(r"-?[0-9]{1,4000}/[0-9]{1,4000}", value):
        return Fraction(value)
    require(type(value) in (int, float), f"{name} must be a number, got {value!s:.40}")
    require(-(2**1000) <= value <= 2**1000, f"{name} must be at most 2^1000 in size, got {value!s:.40}")
    return Fraction(float(value))


def index(value: Any, size: int, name: str) -> int:
    """A whole number from 0 to size − 1."""
    require(type(value) is int and 0 <= value < size, f"{name} must be 0 … {size - 1}, got {value!s:.40}")
    return int(value)


def array(value: Any, size: int, name: str) -> list[Any]:
    """A list of a given length."""
    require(type(value) is list and len(value) == size, f"{name} must be a list of {size} entries")
    return list(value)


def numbers(value: Any, size: int, name: str) -> list[Fraction]:
    """A list of numbers of a given length."""
    return [number(x, f"{name}[{i}]") for i, x in enumerate(array(value, size, name))]


def record(value: Any, fields: set[str], name: str) -> dict[str, Any]:
    """An object with exactly these fields."""
    require(type(value) is dict and value.keys() == fields, f"{name} must have exactly the fields {sorted(fields)}")
    return dict(value)


def kernel(value: Any, n_states: int, n_actions: int, name: str) -> list[Row]:
    """The rows of a kernel, row s·A + a for the pair (s, a), each divided by its sum."""
    data = record(value, {"offsets", "successors", "probabilities"}, name)
    entries, n_rows, rows = len(data["successors"]), n_states * n_actions, []
    ends = [index(x, entries + 1, f"{name}.offsets") for x in array(data["offsets"], n_rows + 1, f"{name}.offsets")]
    require(ends[0] == 0 and ends[-1] == entries and ends == sorted(ends), f"{name}.offsets must rise to {entries}")
    states = [index(x, n_states, f"{name}.successors") for x in array(data["successors"], entries, name)]
    weights = numbers(data["probabilities"], entries, f"{name}.probabilities")
    for row in range(n_rows):
        place = f"{name} row (s={row // n_actions}, a={row % n_actions})"
        part = range(ends[row], ends[row + 1])
        found = {states[i]: weights[i] for i in part}
        total = sum(found.values(), Fraction(0))
        require(len(found) == len(part), f"{place} names a successor twice")
        require(len(part) > 0 and all(x >= 0 for x in found.values()), f"{place} must have entries, none negative")
        require(abs(total - 1) <= Fraction(1, 10**6), f"{place} sums to {float(total):.9g}, not 1")
        rows.append({s: x / total for s, x in found.items() if x > 0})
    return rows


class Values:
    """upper, with what the bounds of many rows share: its maximum and sums of (upper(s) − t)⁺ over all states."""

    def __init__(self, values: list[Fraction]) -> None:
        self.at, self.maximum, self.order, self.sums = values, max(values), sorted(values), [Fraction(0)]
        self.squares = [Fraction(0)]
        for value in reversed(self.order):
            self.sums.append(self.sums[-1] + value)
            self.squares.append(self.squares[-1] + value * value)

    def excess(self, t: Fraction) -> Fraction:
        """Σ (upper(s) − t)⁺ over all states."""
        count = len(self.order) - bisect.bisect_right(self.order, t)
        return self.sums[count] - count * t

    def excess_squares(self, t: Fraction) -> Fraction:
        """Σ ((upper(s) − t)⁺)² over all states."""
        count = len(self.order) - bisect.bisect_right(self.order, t)
        return self.squares[count] - 2 * t * self.sums[count] + count * t * t


class Set:
    """An uncertainty set: is q a member of the set around p, and which b bounds q·u for all members?

    A field of the set is one value, or a table with one value for each pair.
    """

    fields: tuple[str, ...] = ("radius",)
    most: Fraction | None = None
    duals: int = 1
    by_state = False

    def __init__(self, data: dict[str, Any], n_states: int, n_actions: int) -> None:
        self.data, self.n_states, self.n_actions = data, n_states, n_actions
        for name in self.fields:
            if name == "radius" and type(data[name]) is list:
                for row in array(data[name], n_states, "set.radius"):
                    require(self.by_state or bool(array(row, n_actions, "set.radius")), "set.radius is empty")
            elif name == "within_support":
                require(type(data[name]) is bool, "set.within_support must be true or false")

    def radius(self, s: int, a: int = 0) -> Fraction:
        """The radius at a pair, or in a state."""
        given = self.data["radius"]
        if type(given) is list:
            given = given[s] if self.by_state else given[s][a]
        r = number(given, "set.radius")
        require(r >= 0 and (self.most is None or r <= self.most), f"set.radius is out of range: {float(r)!r}")
        return r

    def vector(self, name: str, s: int, a: int) -> list[Fraction]:
        """A field with one number per state, common to all pairs or of each pair."""
        given = self.data[name]
        by_pair = type(given) is list and given and type(given[0]) is list
        chosen = array(array(given, self.n_states, name)[s], self.n_actions, name)[a] if by_pair else given
        return numbers(chosen, self.n_states, f"set.{name}")

    def members(self, worst: Any, p: list[Row]) -> list[Row]:
        """The rows of the worst kernel of a certificate; p are those of the nominal one."""
        return kernel(worst, self.n_states, self.n_actions, "worst")

    def policy(self, given: Any) -> dict[int, Fraction]:
        """The probabilities of the actions in a state: here of one action, given by its number."""
        return {index(given, self.n_actions, "policy"): Fraction(1)}

    def admit(self, s: int, p: list[Row], q: list[Row]) -> None:
        """Reject rows of the actions of a state that are not in their sets."""
        for a in range(self.n_actions):
            objection = self.objection(s, a, p[a], q[a])
            require(objection is None, f"state {s}, action {a}: worst is not in the set: {objection}")

    def worth(self, s: int, policy: dict[int, Fraction], p: list[Row], u: Values, y: list[Fraction]) -> Fraction:
        """A number that no Σ policy(a) q(a)·u, q members, exceeds, whatever the multipliers y."""
        return sum((x * self.bound(s, a, p[a], u, y) for a, x in policy.items()), Fraction(0))

    def objection(self, s: int, a: int, p: Row, q: Row) -> str | None:
        """Why q is no member, or None. q is a distribution already."""
        raise NotImplementedError

    def bound(self, s: int, a: int, p: Row, u: Values, y: list[Fraction]) -> Fraction:
        """A number that no q·u, q a member, exceeds, whatever the multipliers y."""
        raise NotImplementedError

    def outside(self, p: Row, q: Row) -> str | None:
        """That q leaves the support of p where it must not."""
        new = q.keys() - p.keys() if self.data.get("within_support", True) else ()
        return f"q({min(new)}) > 0 outside the support of p" if new else None

    def top(self, p: Row, u: Values) -> Fraction:
        """The largest value of a state that q may reach."""
        return max(u.at[i] for i in p) if self.data.get("within_support", True) else u.maximum


def mean(p: Row, values: Callable[[int], Fraction]) -> Fraction:
    """Σ p(i) values(i)."""
    return sum((x * values(i) for i, x in p.items()), Fraction(0))


def over(left: Fraction, right: Fraction, what: str) -> str | None:
    """That left <= right fails."""
    return None if left <= right else f"{what}: {float(left)!r} > {float(right)!r}, by {float(left - right):.2g}"


class Contamination(Set):
    """q = (1−R)p + Rx. So q·u <= (1−R) p·u + R max u; and q is a member if q >= (1−R)p."""

    most, duals = Fraction(1), 0

    def reach(self, s: int, a: int, u: Values) -> Fraction:
        """The largest value where x may have mass."""
        return u.maximum

    def objection(self, s: int, a: int, p: Row, q: Row) -> str | None:
        """q >= (1−R)p fails in a state."""
        keep = 1 - self.radius(s, a)
        found = (over(keep * x, q.get(i, Fraction(0)), f"(1−R)p({i}) <= q({i}) fails") for i, x in p.items())
        return next(filter(None, found), None)

    def bound(self, s: int, a: int, p: Row, u: Values, y: list[Fraction]) -> Fraction:
        """(1−R) p·u + R max u."""
        R = self.radius(s, a)
        return (1 - R) * mean(p, u.at.__getitem__) + R * self.reach(s, a, u)


class Restart(Contamination):
    """q = (1−R)p + Rx, x on the restart states: the maximum is over these, and q = (1−R)p elsewhere."""

    fields = ("radius", "states")

    def reach(self, s: int, a: int, u: Values) -> Fraction:
        """The largest value of a restart state."""
        return max(x for x, allowed in zip(u.at, self.vector("states", s, a), strict=True) if allowed > 0)

    def objection(self, s: int, a: int, p: Row, q: Row) -> str | None:
        """q >= (1−R)p fails, or q has more than that in a state that is none of restart."""
        keep, allowed = 1 - self.radius(s, a), self.vector("states", s, a)
        found = (over(x, keep * p.get(i, Fraction(0)), f"q({i}) <= (1−R)p({i}) fails") for i, x in q.items()
                 if not allowed[i] > 0)  # fmt: skip
        return super().objection(s, a, p, q) or next(filter(None, found), None)


class TotalVariation(Set):
    """½Σ|q−p| <= R. For t <= max u put w = max(u, t): q·u <= q·w = p·w + (q−p)·w <= p·w + R (max u − t).

    The last step: (q−p)·w <= ½Σ|q−p| (max w − min w), as Σ(q−p) = 0, and min w >= t.
    """

    most: Fraction | None = Fraction(1)
    factor = 1

    def objection(self, s: int, a: int, p: Row, q: Row) -> str | None:
        """q is too far from p, or outside its support."""
        size = sum((abs(q.get(i, Fraction(0)) - p.get(i, Fraction(0))) for i in p.keys() | q.keys()), Fraction(0))
        name = "½Σ|q−p| <= R fails" if self.factor == 1 else "Σ|q−p| <= r fails"
        return self.leaves(p, q) or over(size * self.factor / 2, self.radius(s, a), name)

    def leaves(self, p: Row, q: Row) -> str | None:
        """Whether q is where it must not be: here it may be anywhere."""
        return None

    def limit(self, p: Row, u: Values) -> Fraction:
        """The largest value that q may reach."""
        return u.maximum

    def bound(self, s: int, a: int, p: Row, u: Values, y: list[Fraction]) -> Fraction:
        """p·max(u, t) + R (max u − t)."""
        top = self.limit(p, u)
        t = min(y[0], top)
        return mean(p, lambda i: max(u.at[i], t)) + self.radius(s, a) / self.factor * (top - t)


class L1(TotalVariation):
    """Σ|q−p| <= r: total variation r/2. Within the support of p, max u is over the support only."""

    fields, most, factor = ("radius", "within_support"), None, 2

    def leaves(self, p: Row, q: Row) -> str | None:
        """q leaves the support of p and must not."""
        return self.outside(p, q)

    def limit(self, p: Row, u: Values) -> Fraction:
        """The largest value that q may reach."""
        return self.top(p, u)


class LInfinity(Set):
    """|q−p| <= r in every state. q·u = t + Σ q (u−t) <= t + Σ (p+r)(u−t)⁺ − Σ (p−r)⁺(t−u)⁺, for any t.

    The sums are over all states, or over the support of p if q stays there.
    """

    fields = ("radius", "within_support")

    def objection(self, s: int, a: int, p: Row, q: Row) -> str | None:
        """q is too far from p in a state."""
        r, zero = self.radius(s, a), Fraction(0)
        found = (over(abs(q.get(i, zero) - p.get(i, zero)), r, f"|q({i})−p({i})| <= r fails") for i in p.keys() | q)
        return self.outside(p, q) or next(filter(None, found), None)

    def bound(self, s: int, a: int, p: Row, u: Values, y: list[Fraction]) -> Fraction:
        """t + Σ (p+r)(u−t)⁺ − Σ (p−r)⁺(t−u)⁺."""
        r, t, zero = self.radius(s, a), y[0], Fraction(0)
        gain = mean(p, lambda i: max(u.at[i] - t, zero))
        inside = sum((max(u.at[i] - t, zero) for i in p), zero)
        loss = sum((max(x - r, zero) * max(t - u.at[i], zero) for i, x in p.items()), zero)
        return t + gain + r * (inside if self.data["within_support"] else u.excess(t)) - loss


class Interval(Set):
    """low <= q <= high. q·u = t + Σ q (u−t) <= t + Σ high (u−t)⁺ − Σ low (t−u)⁺, for any t."""

    fields = ("low", "high")

    def objection(self, s: int, a: int, p: Row, q: Row) -> str | None:
        """q is outside the bounds in a state."""
        for i, (low, high) in enumerate(zip(self.vector("low", s, a), self.vector("high", s, a), strict=True)):
            x = q.get(i, Fraction(0))
            if found := over(low, x, f"low({i}) <= q({i}) fails") or over(x, high, f"q({i}) <= high({i}) fails"):
                return found
        return None

    def bound(self, s: int, a: int, p: Row, u: Values, y: list[Fraction]) -> Fraction:
        """t + Σ high (u−t)⁺ − Σ low (t−u)⁺."""
        t, sides = y[0], zip(u.at, self.vector("low", s, a), self.vector("high", s, a), strict=True)
        return t + sum(((high if x > t else low) * (x - t) for x, low, high in sides), Fraction(0))


class BoundedDensity(Set):
    """(1−R)q <= p, R < 1. q·u = t + Σ q (u−t) <= t + Σ p (u−t)⁺/(1−R), for any t."""

    most = 1 - Fraction(1, 2**60)

    def objection(self, s: int, a: int, p: Row, q: Row) -> str | None:
        """q is too large in a state."""
        keep = 1 - self.radius(s, a)
        found = (over(keep * x, p.get(i, Fraction(0)), f"(1−R)q({i}) <= p({i}) fails") for i, x in q.items())
        return next(filter(None, found), None)

    def bound(self, s: int, a: int, p: Row, u: Values, y: list[Fraction]) -> Fraction:
        """t + Σ p (u−t)⁺/(1−R)."""
        return y[0] + mean(p, lambda i: max(u.at[i] - y[0], Fraction(0))) / (1 - self.radius(s, a))


class ChiSquare(Set):
    """Σ(q−p)²/p <= r, q in the support of p. With w = (u−t)⁺, m = p·w and d = Σ p (w−m)², for any t and l > 0:

    q·u <= t + q·w = t + m + (q−p)·(w−m) <= t + m + √(r d) <= t + m + (l r + d/l)/2,
    by q >= 0 and Σq = 1, by Cauchy and Schwarz with weights p, and as (√(l r) − √(d/l))² >= 0.
    """

    duals = 2

    def objection(self, s: int, a: int, p: Row, q: Row) -> str | None:
        """q is too far from p, or outside its support."""
        size = mean(p, lambda i: (q.get(i, Fraction(0)) / p[i] - 1) ** 2)
        return self.outside(p, q) or over(size, self.radius(s, a), "Σ(q−p)²/p <= r fails")

    def bound(self, s: int, a: int, p: Row, u: Values, y: list[Fraction]) -> Fraction:
        """t + m + (l r + d/l)/2; max u on the support of p for l = 0."""
        t, scale = y
        if scale == 0:
            return self.top(p, u)
        require(scale > 0, f"the multiplier {float(scale)!r} at (s={s}, a={a}) must not be negative")
        m = mean(p, lambda i: max(u.at[i] - t, Fraction(0)))
        d = mean(p, lambda i: (max(u.at[i] - t, Fraction(0)) - m) ** 2)
        return t + m + (scale * self.radius(s, a) + d / scale) / 2


def digits(value: Fraction, up: bool) -> Decimal:
    """A decimal of sixty digits that is not less, or not more."""
    context = DIGITS.copy()
    context.rounding = decimal.ROUND_CEILING if up else decimal.ROUND_FLOOR
    return context.divide(Decimal(value.numerator), Decimal(value.denominator))


def log(value: Fraction, up: bool) -> Fraction:
    """A number that is not less, or not more, than the logarithm; `decimal` rounds it correctly to nearest."""
    x = digits(value, up)
    if x == 1:  # the number next to 0 would have a denominator that fills the memory
        return Fraction(0)
    found = x.ln(DIGITS)
    return Fraction(found.next_plus(DIGITS) if up else found.next_minus(DIGITS))


def exp(value: Fraction, up: bool) -> Fraction:
    """A number that is not less, or not more, than the exponential of a number above −10000."""
    found = digits(value, up).exp(DIGITS)
    return Fraction(found.next_plus(DIGITS) if up else found.next_minus(DIGITS))


class KullbackLeibler(Set):
    """Σ q log(q/p) <= r, q in the support of p. For b > 0, q·u <= top + (r + log Σ p e^{b(u−top)})/b (Gibbs):

    with z = Σ p e^{b(u−top)} and g = p e^{b(u−top)}/z, 0 <= KL(q‖g) = KL(q‖p) − b(q·u − top) + log z.
    Logarithms and exponentials are rounded up.
    """

    def objection(self, s: int, a: int, p: Row, q: Row) -> str | None:
        """The divergence, rounded up, exceeds r; or q is outside the support of p."""
        if found := self.outside(p, q):
            return found
        size = mean(q, lambda i: log(q[i] / p[i], up=True))
        return over(size, self.radius(s, a), "Σ q log(q/p) <= r fails")

    def bound(self, s: int, a: int, p: Row, u: Values, y: list[Fraction]) -> Fraction:
        """top + (r + log Σ p e^{b(u−top)})/b; top for b = 0."""
        b, top = y[0], self.top(p, u)
        if b == 0:
            return top
        require(b > 0, f"the multiplier {float(b)!r} at (s={s}, a={a}) must not be negative")
        z = mean(p, lambda i: exp(b * max(u.at[i] - top, -1000 / b), up=True))
        return top + (self.radius(s, a) + log(z, up=True)) / b


class L2(Set):
    """Σ(q−p)² <= r². For any t and l > 0, by Σq = 1 and then state by state over q >= 0, with x = u − t:

    q·u <= q·u − t (Σq − 1) + l (r² − Σ(q−p)²)/2 <= t + l r²/2 + Σ max {q x − l (q−p)²/2 : q >= 0}.
    The maximum is p x + x²/(2l) if l p + x >= 0, at q = p + x/l, and −l p²/2 at q = 0 otherwise; the sum is over all
    states, or over the support of p if q stays there.
    """

    fields, duals = ("radius", "within_support"), 2

    def objection(self, s: int, a: int, p: Row, q: Row) -> str | None:
        """q is too far from p, or outside its support."""
        size = sum(((q.get(i, Fraction(0)) - p.get(i, Fraction(0))) ** 2 for i in p.keys() | q), Fraction(0))
        return self.outside(p, q) or over(size, self.radius(s, a) ** 2, "Σ(q−p)² <= r² fails")

    def bound(self, s: int, a: int, p: Row, u: Values, y: list[Fraction]) -> Fraction:
        """t + l r²/2 + Σ max {q x − l (q−p)²/2 : q >= 0}; the largest value within reach for l = 0."""
        t, scale = y
        if scale == 0:
            return self.top(p, u)
        require(scale > 0, f"the multiplier {float(scale)!r} at (s={s}, a={a}) must not be negative")
        result = t + scale * self.radius(s, a) ** 2 / 2
        for i, x in ((i, u.at[i] - t) for i in p):
            result += p[i] * x + x * x / (2 * scale) if scale * p[i] + x >= 0 else -scale * p[i] ** 2 / 2
        if not self.data["within_support"]:
            inside = sum((max(u.at[i] - t, Fraction(0)) ** 2 for i in p), Fraction(0))
            result += (u.excess_squares(t) - inside) / (2 * scale)
        return result


class ReverseKullbackLeibler(Set):
    """Σ p log(p/q) <= r. For g >= 0 put e = top + g, top the largest value within reach. Then q·u <= e − G,

    G = exp(Σ p log(e−u) − r), and G = 0 if e = u in the support of p: e − q·u >= Σ p [q(e−u)/p] over the support of p,
    which is at least Π [q(e−u)/p]^p = exp(Σ p log(e−u) − Σ p log(p/q)), by the inequality of the means.
    """

    fields = ("radius", "within_support")

    def objection(self, s: int, a: int, p: Row, q: Row) -> str | None:
        """The divergence, rounded up, exceeds r; or q is outside the support of p."""
        empty = p.keys() - q.keys()
        if found := self.outside(p, q) or (f"q({min(empty)}) = 0 < p({min(empty)})" if empty else None):
            return found
        size = mean(p, lambda i: log(p[i] / q[i], up=True))
        return over(size, self.radius(s, a), "Σ p log(p/q) <= r fails")

    def bound(self, s: int, a: int, p: Row, u: Values, y: list[Fraction]) -> Fraction:
        """e − G, G rounded down."""
        require(y[0] >= 0, f"the multiplier {float(y[0])!r} at (s={s}, a={a}) must not be negative")
        e = self.top(p, u) + y[0]
        if any(e == u.at[i] for i in p):
            return e
        exponent = mean(p, lambda i: log(e - u.at[i], up=False)) - self.radius(s, a)
        return e - exp(exponent, up=False) if exponent > -10_000 else e


class Transport(Set):
    """Mass moves from p to q along a plan: worst has, for every pair, entries (source, target, share).

    The mass p(i) is divided among the targets of i in proportion to their shares, and stays if it has none; so any
    shares that are not negative make a plan from p, and q is its other end.
    """

    fields = ("radius", "metric")

    def metric(self, s: int, a: int, i: int) -> list[Fraction]:
        """The distances from a state, common to all pairs or of each pair; each row is read once."""
        rows, known = array(self.data["metric"], self.n_states, "set.metric"), self.__dict__.setdefault("distances", {})
        by_pair = type(rows[0]) is list and rows[0] != [] and type(rows[0][0]) is list
        place = (s, a, i) if by_pair else (0, 0, i)
        if place not in known:
            chosen = (
                array(array(rows[s], self.n_actions, "set.metric")[a], self.n_states, "metric") if by_pair else rows
            )
            known[place] = numbers(chosen[i], self.n_states, "set.metric")
            require(min(known[place]) >= 0, "set.metric must not be negative")
        found: list[Fraction] = known[place]
        return found

    def members(self, worst: Any, p: list[Row]) -> list[Row]:
        """The other ends of the plans, which are kept in `plans`."""
        data = record(worst, {"offsets", "sources", "targets", "shares"}, "worst")
        entries, self.plans, rows = len(data["sources"]), list[dict[tuple[int, int], Fraction]](), []
        ends = [index(x, entries + 1, "worst.offsets") for x in array(data["offsets"], len(p) + 1, "worst.offsets")]
        require(ends[0] == 0 and ends[-1] == entries and ends == sorted(ends), f"worst.offsets must rise to {entries}")
        sources, targets = ([index(x, self.n_states, f"worst.{name}") for x in array(data[name], entries, name)]
                            for name in ("sources", "targets"))  # fmt: skip
        shares = numbers(data["shares"], entries, "worst.shares")
        require(all(x > 0 for x in shares), "worst.shares must be positive")
        for row, nominal in enumerate(p):
            part, whole, q = range(ends[row], ends[row + 1]), dict[int, Fraction](), Row()
            require(len({(sources[k], targets[k]) for k in part}) == len(part), f"worst row {row} repeats a move")
            for k in part:
                whole[sources[k]] = whole.get(sources[k], Fraction(0)) + shares[k]
            plan = {(i, i): x for i, x in nominal.items() if i not in whole}
            plan |= {(sources[k], targets[k]): nominal.get(sources[k], Fraction(0)) * shares[k] / whole[sources[k]]
                     for k in part}  # fmt: skip
            for (_, j), x in plan.items():
                q[j] = q.get(j, Fraction(0)) + x
            self.plans.append(plan)
            rows.append(q)
        return rows


class Wasserstein(Transport):
    """Σ plan(i,j) d(i,j) <= r for a plan from p to q. For l >= 0, q·u = Σ plan(i,j) u(j), which is at most

    l r + Σ plan(i,j) (u(j) − l d(i,j)) <= l r + Σ p(i) max over j of u(j) − l d(i,j). No axiom of a metric is used.
    """

    def objection(self, s: int, a: int, p: Row, q: Row) -> str | None:
        """The plan costs more than r."""
        plan = self.plans[s * self.n_actions + a]
        distances = {i: self.metric(s, a, i) for i in {i for i, _ in plan}}
        cost = sum((x * distances[i][j] for (i, j), x in plan.items()), Fraction(0))
        return over(cost, self.radius(s, a), "Σ plan·d <= r fails")

    def bound(self, s: int, a: int, p: Row, u: Values, y: list[Fraction]) -> Fraction:
        """l r + Σ p(i) max over j of u(j) − l d(i,j)."""
        require(y[0] >= 0, f"the multiplier {float(y[0])!r} at (s={s}, a={a}) must not be negative")
        best = mean(p, lambda i: max(x - y[0] * d for x, d in zip(u.at, self.metric(s, a, i), strict=True)))
        return y[0] * self.radius(s, a) + best


class LocalAdversary(Transport):
    """Every move of the plan has d(i,j) <= r. So q·u = Σ plan(i,j) u(j) <= Σ p(i) max {u(j) : d(i,j) <= r}."""

    duals = 0

    def objection(self, s: int, a: int, p: Row, q: Row) -> str | None:
        """A move is too long."""
        moves = (key for key, x in self.plans[s * self.n_actions + a].items() if x > 0)
        found = (over(self.metric(s, a, i)[j], self.radius(s, a), f"d({i},{j}) <= r fails") for i, j in moves)
        return next(filter(None, found), None)

    def bound(self, s: int, a: int, p: Row, u: Values, y: list[Fraction]) -> Fraction:
        """Σ p(i) max {u(j) : d(i,j) <= r}; a state from which no move is allowed makes the set empty."""
        r = self.radius(s, a)
        within = {i: [x for x, d in zip(u.at, self.metric(s, a, i), strict=True) if d <= r] for i in p}
        require(all(within.values()), f"no state is within r of a successor of (s={s}, a={a})")
        return mean(p, lambda i: max(within[i]))


class SRectangular(Set):
    """Σ_a D(q_a, p_a) <= k: in a state the rows of all actions share one budget k, a number or one for each state.

    For every policy pi and price l >= 0, Σ pi_a q_a·u <= l k + Σ_a (pi_a q_a·u − l D(q_a, p_a)); `rest` bounds a term.
    The multipliers are `each` for every action, those of one kind together, and the price.
    """

    fields: tuple[str, ...] = ("radius", "within_support")
    by_state, each = True, 0

    def __init__(self, data: dict[str, Any], n_states: int, n_actions: int) -> None:
        super().__init__(data, n_states, n_actions)
        self.duals = self.each * n_actions + 1

    def policy(self, given: Any) -> dict[int, Fraction]:
        """The probabilities of the actions, divided by their sum."""
        weights = numbers(given, self.n_actions, "policy")
        total = sum(weights, Fraction(0))
        require(min(weights) >= 0 and abs(total - 1) <= Fraction(1, 10**6), "policy must be a distribution")
        return {a: x / total for a, x in enumerate(weights) if x > 0}

    def admit(self, s: int, p: list[Row], q: list[Row]) -> None:
        """Reject rows whose distances add up to more than the budget."""
        total = Fraction(0)
        for a in range(self.n_actions):
            objection = self.outside(p[a], q[a])
            require(objection is None, f"state {s}, action {a}: worst is not in the set: {objection}")
            total += self.distance(p[a], q[a])
        objection = over(total, self.radius(s), "Σ over the actions of D(q, p) <= k fails")
        require(objection is None, f"state {s}: worst is not in the set: {objection}")

    def worth(self, s: int, policy: dict[int, Fraction], p: list[Row], u: Values, y: list[Fraction]) -> Fraction:
        """l k + Σ_a rest."""
        require(y[-1] >= 0, f"the price {float(y[-1])!r} in state {s} must not be negative")
        k, price = self.radius(s), y[-1]
        terms = (self.rest(x, k, price, p[a], u, y[a : -1 : self.n_actions]) for a, x in policy.items())
        return price * k + sum(terms, Fraction(0))

    def distance(self, p: Row, q: Row) -> Fraction:
        """D(q, p), or a little more."""
        raise NotImplementedError

    def rest(self, x: Fraction, k: Fraction, price: Fraction, p: Row, u: Values, y: list[Fraction]) -> Fraction:
        """A number that no x q·u − price D(q, p), D(q, p) <= k, exceeds, whatever y."""
        raise NotImplementedError


def differences(p: Row, q: Row) -> list[Fraction]:
    """|q−p| in the states where one of them has mass."""
    return [abs(q.get(i, Fraction(0)) - p.get(i, Fraction(0))) for i in p.keys() | q]


def root(value: Fraction) -> Fraction:
    """A number that is not less than the root; `decimal` rounds it correctly to nearest."""
    return Fraction(digits(value, up=True).sqrt(DIGITS).next_plus(DIGITS)) if value else Fraction(0)


class SRectangularL1(SRectangular):
    """D = Σ|q−p|. For t <= top put w = max(u, t): q·u <= p·w + (q−p)·w <= p·w + ½D(q, p)(top − t), as Σ(q−p) = 0.

    With top the largest value within reach and t = top − 2 price/x the last term is D(q, p) price/x.
    """

    def distance(self, p: Row, q: Row) -> Fraction:
        """Σ|q−p|."""
        return sum(differences(p, q), Fraction(0))

    def rest(self, x: Fraction, k: Fraction, price: Fraction, p: Row, u: Values, y: list[Fraction]) -> Fraction:
        """x p·max(u, t)."""
        t = self.top(p, u) - 2 * price / x
        return x * mean(p, lambda i: max(u.at[i], t))


class SRectangularLInfinity(SRectangular):
    """D = max|q−p| = r <= 1. For any t, q·u <= t + Σ (p+r)(u−t)⁺ − Σ (p−r)⁺(t−u)⁺ (see LInfinity).

    So x q·u − price r is at most a concave function of r with kinks at masses of p; `rest` is its maximum on [0, 1].
    """

    each = 1

    def distance(self, p: Row, q: Row) -> Fraction:
        """max|q−p|."""
        return max(differences(p, q))

    def rest(self, x: Fraction, k: Fraction, price: Fraction, p: Row, u: Values, y: list[Fraction]) -> Fraction:
        """The value at r = 0, which is x p·u, and on along the pieces while they rise."""
        t, zero = y[0], Fraction(0)
        inside = sum((max(u.at[i] - t, zero) for i in p), zero)
        below = sorted((m, t - u.at[i]) for i, m in p.items() if u.at[i] < t)
        rise = (inside if self.data["within_support"] else u.excess(t)) + sum((gap for _, gap in below), zero)
        value, slope, r = x * mean(p, u.at.__getitem__), x * rise - price, zero
        for m, gap in below:
            if slope <= 0:
                break
            value, slope, r = value + slope * (m - r), slope - x * gap, m
        return value + max(slope, zero) * (1 - r)


class SRectangularL2(SRectangular):
    """D = √Σ(q−p)². For any t and z put y = max(u, t − z p), and n² = Σ(y−t)² over the states within reach. Then

    q·u <= q·y = p·y + (q−p)·(y−t) <= p·y + n D(q, p), as Σ(q−p) = 0, by Cauchy and Schwarz. Roots are rounded up.
    """

    each = 2

    def distance(self, p: Row, q: Row) -> Fraction:
        """√Σ(q−p)², rounded up."""
        return root(sum((x * x for x in differences(p, q)), Fraction(0)))

    def rest(self, x: Fraction, k: Fraction, price: Fraction, p: Row, u: Values, y: list[Fraction]) -> Fraction:
        """x p·y + k (x n − price)⁺."""
        t, zero = y[0], Fraction(0)
        raised = {i: max(u.at[i], t - y[1] * m) for i, m in p.items()}
        squares = sum(((z - t) ** 2 for z in raised.values()), zero)
        if not self.data["within_support"]:
            squares += u.excess_squares(t) - sum((max(u.at[i] - t, zero) ** 2 for i in p), zero)
        return x * mean(p, raised.__getitem__) + k * max(x * root(squares) - price, zero)


class SRectangularKullbackLeibler(SRectangular):
    """D = Σ q log(q/p), q in the support of p. By Gibbs, as for KullbackLeibler with b = x/l, l the price:

    x q·u − l D(q, p) <= x top + l log Σ p e^{x(u−top)/l}. Logarithms and exponentials are rounded up.
    """

    fields = ("radius",)

    def distance(self, p: Row, q: Row) -> Fraction:
        """The divergence, rounded up."""
        return mean(q, lambda i: log(q[i] / p[i], up=True))

    def rest(self, x: Fraction, k: Fraction, price: Fraction, p: Row, u: Values, y: list[Fraction]) -> Fraction:
        """x top + l log Σ p e^{x(u−top)/l}; x top for l = 0."""
        top = self.top(p, u)
        if price == 0:
            return x * top
        z = mean(p, lambda i: exp(max(x * (u.at[i] - top) / price, Fraction(-1000)), up=True))
        return x * top + price * log(z, up=True)


SETS: dict[str, type[Set]] = {
    "contamination": Contamination, "restart": Restart, "total_variation": TotalVariation, "l1": L1,
    "l_infinity": LInfinity, "interval": Interval, "bounded_density": BoundedDensity, "chi_square": ChiSquare,
    "kullback_leibler": KullbackLeibler, "l2": L2, "reverse_kullback_leibler": ReverseKullbackLeibler,
    "wasserstein": Wasserstein, "local_adversary": LocalAdversary, "s_rectangular_l1": SRectangularL1,
    "s_rectangular_l_infinity": SRectangularLInfinity, "s_rectangular_l2": SRectangularL2,
    "s_rectangular_kullback_leibler": SRectangularKullbackLeibler,
}  # fmt: skip


def check(certificate: Any) -> str:
    """What a certificate proves, in one line; `Rejected` if it does not."""
    data = record(certificate, FIELDS, "the certificate")
    require(data["format"] == FORMAT, f"format must be {FORMAT!r}")
    S = len(data["cost"]) if type(data["cost"]) is list else 0
    require(S > 0 and type(data["cost"][0]) is list and data["cost"][0] != [], "cost must be a table (states, actions)")
    A = len(data["cost"][0])
    cost = [numbers(row, A, f"cost[{s}]") for s, row in enumerate(data["cost"])]
    gamma, width = number(data["gamma"], "gamma"), number(data["width"], "width")
    require(0 <= gamma < 1, f"gamma must be in [0, 1), got {float(gamma)!r}")
    kind = data["set"].get("kind") if type(data["set"]) is dict else None
    require(type(kind) is str and kind in SETS, f"set.kind must be one of {sorted(SETS)}, got {kind!s:.40}")
    family = SETS[str(kind)]
    uncertainty = family(record(data["set"], {"kind", *family.fields}, f"the set {kind}"), S, A)
    p = kernel(data["kernel"], S, A, "kernel")
    worst = uncertainty.members(data["worst"], p)
    lower, upper = numbers(data["lower"], S, "lower"), Values(numbers(data["upper"], S, "upper"))
    policy = [uncertainty.policy(given) for given in array(data["policy"], S, "policy")]
    duals = [numbers(y, uncertainty.duals, f"duals[{s}]") for s, y in enumerate(array(data["duals"], S, "duals"))]
    for s in range(S):
        rows = slice(s * A, (s + 1) * A)
        objection = over(upper.at[s] - lower[s], width, "upper − lower <= width fails")
        require(objection is None, f"state {s}: {objection}")
        uncertainty.admit(s, p[rows], worst[rows])
        for a, q in enumerate(worst[rows]):
            value = cost[s][a] + gamma * mean(q, lower.__getitem__)
            objection = over(lower[s], value, "lower <= cost + gamma q·lower fails")
            require(objection is None, f"state {s}, action {a}: {objection}")
        value = mean(policy[s], cost[s].__getitem__) + gamma * uncertainty.worth(s, policy[s], p[rows], upper, duals[s])
        objection = over(value, upper.at[s], "cost + gamma (bound on q·upper) <= upper fails")
        require(objection is None, f"state {s}, action {' '.join(map(str, policy[s]))}: {objection}")
    return f"accepted: lower <= V* <= upper in {S} states, {kind}, gamma {float(gamma)!r}, width {float(width):.3g}"


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON in which no key is repeated."""
    require(len(dict(pairs)) == len(pairs), f"a key is repeated among {sorted(name for name, _ in pairs)!s:.80}")
    return dict(pairs)


def verdict(text: bytes | str) -> tuple[bool, str]:
    """Whether a certificate is accepted, and what it proves or why it does not, in one line."""
    try:
        require(len(text) <= LARGEST_FILE, f"a certificate must have at most {LARGEST_FILE} bytes")
        return True, check(json.loads(text, object_pairs_hook=unique))
    except Rejected as reason:
        return False, f"rejected: {reason}"
    except (ValueError, TypeError, KeyError, IndexError, ArithmeticError, RecursionError) as error:
        return False, f"rejected: malformed: {type(error).__name__}: {error!s:.200}"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python checker.py CERTIFICATE")
    with open(sys.argv[1], "rb") as file:
        accepted, line = verdict(file.read(LARGEST_FILE + 1))
    sys.stdout.write(line + "\n")
    sys.exit(0 if accepted else 1)
