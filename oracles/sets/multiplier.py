"""A certified enclosure of sigma from two formulas: the definition of a set and a dual bound with one multiplier.

Let the set be {q : distance(p, q) <= radius}, the distance convex in q and 0 at q = p alone, and let bound(p, v, s) be
at least sigma(v) for *every* s > 0. Then

- any s gives an upper bound; s is found by minimising, and nothing about the minimiser is believed;
- any q gives a lower bound: by convexity distance(p, p + t(q−p)) <= t distance(p, q), so p + t(q−p) is a member for
  t = min(1, radius/distance), whose value is computed. q is the gradient of the bound in v, which is the maximiser if
  the bound is that of the set: for other s its value is smaller, never wrong. Where the bound has a kink at its least
  value (polyhedral sets), the maximiser lies between the gradients on both sides: it is the last member on the way.

If the two are not of one set, the bounds cross or stay apart. Both formulas are evaluated in so many digits that their
rounding is below `MARGIN`: they are written for arrays (`np.sqrt`, `np.log`, sums, products) and need no care about
cancellation or overflow.
"""

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from oracles.arithmetic.digits import Digits, Objects, array, precision
from oracles.arithmetic.exact import Vector
from robust_core.sets import UncertaintySet
from robust_core.validate import Floats

DIGITS = 72
"""Of a computation with an ordinary radius."""
MARGIN = Decimal(10) ** -22
"""Of a bound, relative to the span of v, and of a distance, relative to the radius; 50 digits are left to cancel."""
STEP = Decimal(10) ** -12
"""Of differences: the error of a derivative is of the order of its square."""
KEPT = Decimal(10) ** -30
"""The share of a mass that is kept where the slope shows none: of 1e-300 no difference in so many digits does, and
a distance may be infinite without it."""
NOTHING = Fraction(1, 10**1000)
"""A mass that is far below `MARGIN`."""
LOWEST, HIGHEST = -62.0, 10.0
"""log s, and log(s·radius) for radii below 1: below, exp(1/s) is beyond all numbers; above, p is as good."""
GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
NARROW, FLOAT_NARROW = 0.25, 1e-5
"""The bracket of log s from which Newton's steps start, and how near floats come to its middle."""
STEPS, PUSHES, HALVINGS = 40, 20, 60
EDGE, APART, SHORT = Decimal(10) ** -8, Decimal(10) ** -14, Decimal(10) ** -24
"""At a kink: the distance from it in s at which gradients are taken, what equal values are moved apart by, of the span
of v, and the step of differences, which is far below both: they are exact where the bound is linear."""
SMOOTH = Decimal(10) ** -13
"""The width of an enclosure from which a kink is looked for, of the span of v."""
TINY_RADIUS, FLOAT_LOWEST, FLOAT_STEP = 1e-7, -11.0, 1e-5
"""Of proposals in floats: below, p is near enough; log s, so that steps of its size are above the rounding of v."""


class NoDistance(ValueError):
    """The distance of p from itself is not 0."""


@dataclass(frozen=True)
class Multiplier:
    """`bound(ball, p, v, s)` and `distance(ball, p, q)` as above; `ball` has the fields of the set.

    The distance of p + t(q−p) is at most t^power times that of q: 1 for every convex one, 2 for squares of norms.
    `within_support`: q stays in the support of p, so values of other states do not enter.
    """

    bound: Callable[[Any, Objects, Objects, Digits], Any]
    distance: Callable[[Any, Objects, Objects], Any]
    power: int = 1
    within_support: bool = False

    def enclose(self, uncertainty_set: UncertaintySet, p: Vector, v: Vector) -> tuple[Fraction, Fraction]:
        """lower <= sigma(v) <= upper."""
        return _enclose(self, uncertainty_set, p, v)

    def propose(self, uncertainty_set: UncertaintySet, p: Floats, v: Floats) -> Floats:
        """A distribution of about the largest mean, in floats: the gradient of the bound; p for a tiny radius."""
        size, radius = float(np.ptp(v)), float(uncertainty_set.radius)  # type: ignore[attr-defined]
        if size == 0.0 or radius < TINY_RADIUS:
            return p
        least = float(v.min())
        form = _floating(self, uncertainty_set, p, (v - least) / size)
        low, high = _sections(lambda t: form(t, 0.0), FLOAT_LOWEST, HIGHEST, FLOAT_NARROW)
        t, h = (low + high) / 2.0, FLOAT_STEP * min(1.0, math.exp(low))
        shifts = h * np.eye(len(v))
        slopes = np.array([form(t, shift) - form(t, -shift) for shift in shifts]) / (2.0 * h)
        q = np.clip(np.nan_to_num(slopes, nan=0.0, posinf=0.0, neginf=0.0), 0.0, 1.0)
        q[int(v.argmax())] += max(1.0 - float(q.sum()), 0.0)
        return np.asarray(q / q.sum())


def _enclose(form: Multiplier, uncertainty_set: UncertaintySet, p: Vector, v: Vector) -> tuple[Fraction, Fraction]:
    if form.within_support:
        least = min(x for x, mass in zip(v, p, strict=True) if mass)
        v = tuple(x if mass else least for x, mass in zip(v, p, strict=True))
    top, least = max(v), min(v)
    span = top - least
    radius = float(uncertainty_set.radius)  # type: ignore[attr-defined]
    if radius == 0.0 or min(x for x, mass in zip(v, p, strict=True) if mass) == top:
        mean = sum((mass * x for mass, x in zip(p, v, strict=True)), Fraction(0))
        return mean, mean
    # A member at the distance r differs from p in the digits from about r (or √r) on, and s is about 1/√r or 1/r.
    with precision(DIGITS + math.ceil(1.2 * max(0.0, -math.log10(radius)))):
        found = _Row(form, uncertainty_set, array(p), array((x - least) / span for x in v))
        if found.contains(found.alone()):
            return top, top
        upper, lower = found.least(), found.attained()
        ends = lower.fraction() - Fraction(MARGIN), min(upper.fraction() + Fraction(MARGIN), Fraction(1))
        return least + span * ends[0], least + span * ends[1]


class _Row:
    """One row in many digits."""

    def __init__(self, form: Multiplier, uncertainty_set: UncertaintySet, p: Objects, v: Objects) -> None:
        values = {f.name: getattr(uncertainty_set, f.name) for f in fields(uncertainty_set)}  # type: ignore[arg-type]
        self.ball: Any = copy.copy(uncertainty_set)
        for name, value in values.items():
            object.__setattr__(self.ball, name, _digits(value))
        self.form, self.p, self.v = form, p, v
        fixed = (getattr(self.ball, name) for name in values)
        self.by_state = [x for x in fixed if isinstance(x, np.ndarray) and x.shape == v.shape]
        self.floating = _floating(form, uncertainty_set, p.astype(np.float64), v.astype(np.float64))
        self.best: tuple[Digits, Digits] = (Digits(1), Digits(Decimal("Infinity")))
        itself = self._distance(p)
        if not isinstance(itself, Digits) or not abs(itself) <= self.ball.radius * Digits(MARGIN):  # type: ignore[attr-defined]
            given = [float(x) for x in p]
            raise NoDistance(f"distance(p, p) of {type(self.ball).__name__} must be 0, got {itself} for p = {given}")

    def bound(self, s: Digits, v: Objects | None = None) -> Digits:
        value = self.form.bound(self.ball, self.p, self.v if v is None else v, s)
        found = value if isinstance(value, Digits) else Digits(value)
        return found if found.finite else Digits(Decimal("Infinity"))

    def at(self, s: Digits) -> Digits:
        """The bound at s; the best one is kept."""
        value = self.bound(s)
        if value < self.best[1]:
            self.best = s, value
        return value

    def least(self) -> Digits:
        """The least bound: sections of log s in floats, or in digits where floats fail, then Newton's steps."""
        ends = LOWEST, HIGHEST + max(0.0, -math.log(float(self.ball.radius)))
        low, high = self._around(_sections(lambda t: self.floating(t, 0.0), *ends, FLOAT_NARROW))
        if not self._slope(low) < 0 < self._slope(high):
            low, high = self._around(_sections(lambda t: self.at(Digits(t).exp()), *ends, NARROW))
        return self._newton(low, high)

    def _around(self, bracket: tuple[float, float]) -> tuple[Digits, Digits]:
        """A little more than the bracket of log s, as one of s."""
        return Digits(bracket[0] - NARROW).exp(), Digits(bracket[1] + NARROW).exp()

    def _slope(self, s: Digits) -> Digits:
        h = Digits(STEP)
        return self.at(s * (1 + h)) - self.at(s * (1 - h))

    def _newton(self, low: Digits, high: Digits) -> Digits:
        """The least bound for s in the bracket, by the sign of the slope and Newton's steps.

        A minimum at the end of the bracket (s = 0) is approached by halving, until the slope promises nothing more.
        """
        h = Digits(STEP)
        s = (low * high).sqrt()
        for _ in range(STEPS):
            left, here, right = (self.at(s * (1 + shift)) for shift in (-h, 0, h))
            slope, bend = (right - left) / (2 * h), (right - 2 * here + left) / (h * h)
            if abs(slope) < Digits(MARGIN):
                break
            low, high = (low, s) if slope > 0 else (s, high)
            following = s * (1 - slope / bend) if bend > 0 else high
            if not low < following < high:
                following = (low * high).sqrt()
            moved, s = abs(following - s), following
            if moved < h * s:
                self.at(s)
                break
        return self.best[1]

    def attained(self) -> Digits:
        """The largest value of a member: p, the gradient of the bound in v or the best state, pulled to p."""
        slopes, top = self._gradient(self.best[0], self.v, STEP), int((self.v == self.v.max()).argmax())
        # The bound shifts with v, so the masses sum to 1; where several states are highest their slopes are one-sided.
        filled = slopes.copy()
        filled[top] += max(Digits(1) - slopes.sum(), Digits(0))
        # Most distances are least if highest states share their mass as in p; one-sided slopes do not say that.
        lower = slopes * (self.v != self.v.max())
        shared = lower + self.alone() * max(Digits(1) - lower.sum(), Digits(0))
        found = [self.p, *(self._pulled(q / q.sum()) for q in (slopes, filled, shared, self.alone()) if q.sum() > 0)]
        value = max((q * self.v).sum() for q in found)
        if self.best[1] - value > Digits(SMOOTH):
            value = max(value, (self._at_a_kink() * self.v).sum())
        return value

    def _at_a_kink(self) -> Objects:
        """The last member on the way from the gradient above the best s to that below it."""
        apart = self.v + array(range(len(self.v))) * (Digits(APART) / len(self.v))
        s = [self.best[0] * (1 + side * Digits(EDGE)) for side in (1, -1)]
        near, far = (self._gradient(each, apart, SHORT) for each in s)
        near, far = self._pulled(near / near.sum()), far / far.sum()
        low, high = Digits(0), Digits(1)
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if self.contains(near + (far - near) * middle) else (low, middle)
        return near + (far - near) * low

    def alone(self) -> Objects:
        """p on the states of the highest value; one of them, if they have no mass."""
        highest = self.v == self.v.max()
        mass = self.p * highest
        return mass / mass.sum() if mass.sum() > 0 else _unit(int(highest.argmax()), len(self.v))

    def _distance(self, q: Objects) -> Any:
        """The distance; a state without mass on both sides takes part with the same tiny mass, for 0/0 and 0 log 0."""
        neither = (self.p == 0) & (q == 0)
        tiny = array([NOTHING])
        return self.form.distance(self.ball, np.where(neither, tiny, self.p), np.where(neither, tiny, q))

    def contains(self, q: Objects) -> bool:
        """Whether q is in the set for certain."""
        distance = self._distance(q)
        return isinstance(distance, Digits) and distance.finite and distance <= self.ball.radius * (1 - Digits(MARGIN))

    def _gradient(self, s: Digits, v: Objects, step: Decimal) -> Objects:
        h = Digits(step) * min(s, Digits(1))
        q, known = np.empty(len(self.v), dtype=object), dict[tuple[Digits, ...], Digits]()
        for state in range(len(self.v)):
            # The slope is proposed, not believed: it is taken once for states that look the same.
            key = self.p[state], v[state], *(field[state] for field in self.by_state)
            if key not in known:
                shift = _unit(state, len(self.v)) * h
                slope = (self.bound(s, v + shift) - self.bound(s, v - shift)) / (2 * h)
                known[key] = slope if slope.finite else Digits(0)
            q[state] = max(known[key], self.p[state] * Digits(KEPT))
        return q

    def _pushed(self, q: Objects) -> Objects:
        """A member q, and further on from p while it remains one: it shows a bound that is too small."""
        if self._distance(q) > self.ball.radius * (1 - 2.0**-20):
            return q
        near, far = Digits(1), Digits(2)
        for _ in range(PUSHES):
            middle = (near + far) / 2
            further = self.p + (q - self.p) * middle
            near, far = (middle, far) if further.min() >= 0 and self.contains(further) else (near, middle)
        return self.p + (q - self.p) * near

    def _pulled(self, q: Objects) -> Objects:
        if self.contains(q):
            return self._pushed(q)
        distance = self._distance(q)
        if not isinstance(distance, Digits) or not distance.finite:
            return self.p
        share = self.ball.radius * (1 - Digits(MARGIN)) / distance
        return self.p + (q - self.p) * (share.sqrt() if self.form.power == 2 else share)


def _floating(form: Multiplier, uncertainty_set: UncertaintySet, p: Floats, v: Floats) -> Callable[[float, Any], float]:
    """The bound in floats for log s and a shift of v; infinite where floats fail."""

    def at(t: float, shift: Any) -> float:
        with np.errstate(all="ignore"):
            value = float(form.bound(uncertainty_set, p, v + shift, np.exp(t)))  # type: ignore[arg-type]
        return value if math.isfinite(value) else math.inf

    return at


def _sections(value: Callable[[float], Any], low: float, high: float, narrow: float) -> tuple[float, float]:
    """A bracket of the minimum of a function with one, by golden sections."""
    x, y = high - (high - low) * GOLDEN, low + (high - low) * GOLDEN
    at_x, at_y = value(x), value(y)
    while high - low > narrow:
        # Infinite on both sides: s is too small for numbers.
        if at_x <= at_y and math.isfinite(at_x):
            high, y, at_y = y, x, at_x
            x = high - (high - low) * GOLDEN
            at_x = value(x)
        else:
            low, x, at_x = x, y, at_y
            y = low + (high - low) * GOLDEN
            at_y = value(y)
    return low, high


def _unit(state: int, n: int) -> Objects:
    return array(int(i == state) for i in range(n))


def _digits(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return array(value.reshape(-1)).reshape(value.shape)
    return Digits(value) if isinstance(value, float) else value
