"""s-rectangular balls: in each state nature has one budget kappa for the rows of all actions together.

    U_s = {(q_a) : Σ_a D(q_a, p_a) <= kappa},        TV(s) = min_pi max_{q in U_s} Σ_a pi_a q_a·w_a,

with w_a = c(s,a) + gamma V. Optimal policies are randomised in general: while nature pays for one action, the agent
takes another. Let xi_a(u) be the least budget D(q, p_a) of a row with q·w_a >= u: convex, increasing, 0 up to p_a·w_a,
infinite above the largest value top_a that the row can reach. Then

    TV(s) = max {u : Σ_a xi_a(u) <= kappa} <= min_a top_a.

Proof. Nature can reach u in every action if and only if Σ xi_a(u) <= kappa, and then no policy costs less than u. Let u
be the largest such value. If it is top_a of some action, the agent takes that action. Otherwise Σ xi_a(u) = kappa; with
slopes g_a of xi_a at u, G = Σ g_a and pi_a = g_a/G, for every q in U_s, x_a = q_a·w_a,

    Σ pi_a x_a <= u + (Σ xi_a(x_a) − Σ xi_a(u))/G <= u,

because g_a (x_a − u) <= xi_a(x_a) − xi_a(u) (convexity). If all xi_a vanish at u (kappa = 0), u = min_a p_a·w_a.

**A given policy.** max over U_s of Σ pi_a q_a·w_a = min over prices l >= 0 of l kappa + Σ_a pi_a h_a(l/pi_a), h_a(x) =
max over rows q of q·w_a − x D(q, p_a), which is weak duality in the budget, and strong, because D is convex. The
distances of the best rows fall as l rises, so bisection on their sum finds the price.

So a state is one equation in u. Here it is solved by bisection, in the compiled form by Newton's method
(`robust_core.kernels.s_rectangular`). Conventions differ in the literature: here budgets are added over the actions;
a budget for each action is the (s,a)-rectangular set.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from robust_core import validate
from robust_core.mdp import MDP
from robust_core.sets.base import LEVELS, Pick, Threshold, UncertaintySet
from robust_core.sets.kullback_leibler import KullbackLeibler
from robust_core.sets.l1 import L1
from robust_core.sets.l2 import L2
from robust_core.sets.l_infinity import LInfinity
from robust_core.validate import Floats

OCTAVES = 60.0
"""Prices of a budget from 2^-60 to 2^60 are tried for values of size 1: beyond, bounds change by less than rounding."""
HALVINGS = 200
"""Of an interval of floats: more than enough to reach two neighbours from any two ends of one sign."""


class StateUpdate(NamedTuple):
    """One state: its value, an optimal policy (A,), and rows (A, S) of nature that no policy improves on."""

    value: float
    policy: Floats
    rows: Floats


class SRectangular(UncertaintySet):
    """A ball Σ_a D(q_a, p_a) <= kappa in each state; `radius` is the budget kappa, a number or one for each state (S,).

    A subclass is a frozen dataclass with the rectangular `ball` of D and `least_budget`.
    """

    radii: ClassVar[tuple[float | Threshold, ...]] = LEVELS
    by_state: ClassVar[bool] = True
    ball: ClassVar[Any]
    radius: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", _budget(self.radius))
        if hasattr(self, "within_support"):
            object.__setattr__(self, "within_support", validate.boolean("within_support", self.within_support))

    def least_budget(self, p: Floats, w: Floats, u: float) -> tuple[float, float]:
        """(xi(u), its slope from the left) for min w on the row < u <= the largest value it can reach; Σp = 1."""
        raise self._without("least budget")

    def at_price(self, p: Floats, w: Floats, price: float) -> tuple[float, float]:
        """(max over rows q of q·w − price D(q, p), the distance of such a row) for a price > 0; Σp = 1."""
        raise self._without("best row at a price of distance")

    def reach(self, p: Floats, w: Floats) -> float:
        """The largest value that a row can reach."""
        return float(w.max() if self._leaves() else w[p > 0.0].max())

    def state_update(self, rows: Floats, w: Floats, budget: float) -> StateUpdate:
        """Value, policy and rows of one state from its rows (A, S), the values w (A, S) and its budget."""
        p = rows / rows.sum(axis=1, keepdims=True)
        exponent = int(np.frexp(np.abs(w).max())[1])
        scaled = np.ldexp(w, -exponent)
        value, policy = self._solve(p, scaled, budget)
        budgets = [
            self.least_budget(row, x, value)[0] if value > row @ x else 0.0 for row, x in zip(p, scaled, strict=True)
        ]
        balls = [self._ball(min(xi, budget)) for xi in budgets]
        worst = np.array([ball.row_worst_case(row, x) for ball, row, x in zip(balls, p, scaled, strict=True)])
        return StateUpdate(math.ldexp(value, exponent), policy, worst)

    def _solve(self, p: Floats, w: Floats, budget: float) -> tuple[float, Floats]:
        """The value and the policy of a state."""
        means, tops = (p * w).sum(axis=1), np.array([self.reach(*pair) for pair in zip(p, w, strict=True)])
        cap = float(tops.min())

        def needed(u: float) -> tuple[float, Floats]:
            found = [
                self.least_budget(row, x, u) if u > mean else (0.0, 0.0)
                for row, x, mean in zip(p, w, means, strict=True)
            ]
            return sum(xi for xi, _ in found), np.array([slope for _, slope in found])

        low, high = min(float(means.min()), cap), cap
        if budget == 0.0 or low == high:
            return low, _only(int(means.argmin()), len(p))
        if needed(cap)[0] <= budget:
            return cap, _only(int(tops.argmin()), len(p))
        for _ in range(HALVINGS):
            middle = low + (high - low) / 2.0
            if middle in (low, high):
                break
            low, high = (middle, high) if needed(middle)[0] <= budget else (low, middle)
        slopes = needed(high)[1]
        if not (np.isfinite(slopes).all() and slopes.sum() > 0.0):
            return low, _only(int(means.argmin()), len(p))
        return low, slopes / slopes.sum()

    def policy_value(self, rows: Floats, w: Floats, budget: float, policy: Floats) -> float:
        """max over the set of Σ pi_a q_a·w_a of one state."""
        used = policy > 0.0
        p, pi = (rows / rows.sum(axis=1, keepdims=True))[used], policy[used]
        exponent = int(np.frexp(np.abs(w).max())[1])
        scaled = np.ldexp(w[used], -exponent)
        top = float(pi @ [self.reach(*pair) for pair in zip(p, scaled, strict=True)])

        def spent(logarithm: float) -> tuple[float, float]:
            """The bound at a price, and the distances of its rows."""
            price = 2.0**logarithm
            found = [self.at_price(row, x, price / weight) for row, x, weight in zip(p, scaled, pi, strict=True)]
            bound = price * budget + float(pi @ [value for value, _ in found])
            return bound, sum(distance for _, distance in found)

        if budget == 0.0:
            return math.ldexp(float(pi @ (p * scaled).sum(axis=1)), exponent)
        low, high = -OCTAVES, OCTAVES
        best = min(top, spent(low)[0], spent(high)[0])
        for _ in range(HALVINGS):
            middle = low + (high - low) / 2.0
            if middle in (low, high):
                break
            bound, distance = spent(middle)
            best = min(best, bound)
            low, high = (low, middle) if distance <= budget else (middle, high)
        return math.ldexp(best, exponent)

    def _leaves(self) -> bool:
        """Whether mass may leave the support of a row."""
        return not getattr(self, "within_support", True)

    def _ball(self, radius: float) -> UncertaintySet:
        within = {"within_support": self.within_support} if hasattr(self, "within_support") else {}
        made: UncertaintySet = self.ball(radius, **within)
        return made

    # Parameters.

    def budgets(self, n_states: int) -> Floats:
        """The budget of each state."""
        return np.array(np.broadcast_to(self.radius, n_states), dtype=np.float64)

    def in_state(self, s: int) -> Self:
        """The set of one state."""
        return self.with_radius(float(np.asarray(self.radius)[s])) if np.ndim(self.radius) else self

    def at(self, s: int, a: int) -> Self:
        """Refused: there is no set of one row."""
        raise TypeError(
            f"{type(self).__name__} has one budget for the rows of a state, and no set of one row: in_state(s)"
        )

    def require_fit(self, n_states: int, pairs: tuple[int, ...]) -> None:
        """Raise unless the budget is one number or one for each state."""
        shape = np.shape(self.radius)
        if shape not in ((), (n_states,)):
            raise ValueError(
                f"radius of {type(self).__name__}, the budget of a state for all its actions together, must be one "
                f"number or have shape {(n_states,)}, one for each state, got shape {shape}"
            )

    def select(self, states: Sequence[int], actions: Sequence[int]) -> Self:
        """The set for the model whose states and actions are these of the old ones."""
        return replace(self, radius=np.asarray(self.radius)[list(states)]) if np.ndim(self.radius) else self  # type: ignore[type-var]

    @classmethod
    def choose(cls, pick: Pick, radius: float, p: Floats, v: Floats) -> "SRectangular":
        """The budget and, where the set has it, whether q stays in the support."""
        make: Any = cls
        return make(radius, pick((False, True))) if "within_support" in cls.__dataclass_fields__ else make(radius)  # type: ignore[attr-defined]

    def row_support(self, rows: Floats, v: Floats) -> Floats:
        """Refused."""
        raise self._rowless()

    def row_worst_case(self, rows: Floats, v: Floats) -> Floats:
        """Refused."""
        raise self._rowless()

    def kernel_support(self, mdp: MDP, v: Floats) -> Floats:
        """Refused."""
        raise self._rowless()

    def _rowless(self) -> TypeError:
        return TypeError(
            f"{type(self).__name__} is s-rectangular: a row has no support function of its own, because the actions of "
            "a state share one budget; use bellman_values or solve_states"
        )


def _budget(value: Any) -> Any:
    """A finite number of at least 0, or a vector (S,) of them."""
    if validate.axes("radius", value) == 0:
        return validate.radius("radius (the budget of a state for all its actions together)", value)
    if np.ndim(value) != 1:
        raise ValueError(
            "radius (the budget of a state for all its actions together) must be one number or one for each state, of "
            f"shape (S,); a budget for each pair is an (s,a)-rectangular set; got shape {np.shape(value)}"
        )
    validate.refuse_truths("radius", value)
    result = validate.array("radius", value, shape=(None,))
    if (result < 0.0).any():
        s = int((result < 0.0).argmax())
        raise ValueError(f"radius[{s}] (the budget of state {s}) must not be negative, got {result[s]}")
    return validate.read_only(result)


def _only(action: int, n: int) -> Floats:
    policy = np.zeros(n)
    policy[action] = 1.0
    return policy


@dataclass(frozen=True)
class SRectangularL1(SRectangular):
    """s-rectangular L1 ball: {(q_a) : Σ_a ‖q_a − p_a‖₁ <= kappa} in each state; distances are added, not averaged.

    ‖·‖₁ is twice the total variation. `within_support`: each q_a stays in the support of p_a.
    """

    kind: ClassVar[str] = "s_rectangular_l1"
    ball: ClassVar[Any] = L1
    radius: float
    within_support: bool = False

    def least_budget(self, p: Floats, w: Floats, u: float) -> tuple[float, float]:
        """Mass leaves the lowest values for the top: a state i gives 2 p_i of distance at the rate (top − w_i)/2."""
        top, xi = self.reach(p, w), 0.0
        missing, slope = u - float(p @ w), 0.0
        for i in np.argsort(w, kind="stable"):
            rate = (top - w[i]) / 2.0
            if missing <= 0.0 or rate <= 0.0:
                break
            if p[i] > 0.0:
                part = min(missing / rate, 2.0 * p[i])
                xi, slope, missing = xi + part, 1.0 / rate, missing - part * rate
        return xi, slope

    def at_price(self, p: Floats, w: Floats, price: float) -> tuple[float, float]:
        """A unit of mass that leaves a value below top − 2 price gains more than its distance 2 costs."""
        level = self.reach(p, w) - 2.0 * price
        return float(p @ np.maximum(w, level)) if level > w.min() else float(p @ w), 2.0 * float(p[w < level].sum())


@dataclass(frozen=True)
class SRectangularL2(SRectangular):
    """s-rectangular L2 ball: {(q_a) : Σ_a ‖q_a − p_a‖₂ <= kappa} in each state; distances are added, not their squares.

    `within_support`: each q_a stays in the support of p_a.
    """

    kind: ClassVar[str] = "s_rectangular_l2"
    splits: ClassVar[bool] = False
    ball: ClassVar[Any] = L2
    radius: float
    within_support: bool = False

    def least_budget(self, p: Floats, w: Floats, u: float) -> tuple[float, float]:
        """q = p + delta + theta (w − mean) on the states that keep mass, theta such that q·w = u; negative ones go.

        Taking out a state below the mean lowers q·w at the same theta, so the true theta is larger, and a state that
        has reached zero on the way to it stays there (see `l2`).
        """
        active = np.ones(p.shape, dtype=bool) if self._leaves() else p > 0.0
        top = self.reach(p, w)
        while True:
            n, out = int(active.sum()), p[~active]
            delta = float(out.sum()) / n
            mean = float(w[active].mean())
            dev = np.where(active, w - mean, 0.0)
            square = float((dev**2).sum())
            base = float(((p + delta) * np.where(active, w - top, 0.0)).sum()) + top
            distance = float((out**2).sum()) + n * delta**2
            if square == 0.0:
                return math.sqrt(distance), math.inf
            theta = (u - base) / square
            negative = active & (p + delta + theta * dev < 0.0)
            if not negative.any():
                xi = math.sqrt(distance + theta**2 * square)
                return xi, theta / xi if xi > 0.0 else 1.0 / math.sqrt(square)
            active &= ~negative

    def at_price(self, p: Floats, w: Floats, price: float) -> tuple[float, float]:
        """Along the path q = p + delta + theta (w − mean), on which theta/xi rises, to where it is 1/price."""
        active = np.ones(p.shape, dtype=bool) if self._leaves() else p > 0.0
        top = self.reach(p, w)
        while True:
            n, out = int(active.sum()), p[~active]
            delta, mean = float(out.sum()) / n, float(w[active].mean())
            dev = np.where(active, w - mean, 0.0)
            square, distance = float((dev**2).sum()), float((out**2).sum()) + n * delta**2
            base = float(((p + delta) * np.where(active, w - top, 0.0)).sum()) + top
            below = active & (dev < 0.0)
            if square == 0.0 or not below.any():
                return base - price * math.sqrt(distance), math.sqrt(distance)
            ends = np.full(p.shape, np.inf)
            ends[below] = (p[below] + delta) / -dev[below]
            end, room = float(ends.min()), price**2 - square
            theta = math.sqrt(distance / room) if room > 0.0 else np.inf
            if theta <= end:
                xi = math.sqrt(distance + theta**2 * square)
                return base + theta * square - price * xi, xi
            active &= ends > end


@dataclass(frozen=True)
class SRectangularLInfinity(SRectangular):
    """s-rectangular L∞ ball: {(q_a) : Σ_a max_j |q_a(j) − p_a(j)| <= kappa} in each state.

    `within_support`: each q_a stays in the support of p_a.
    """

    kind: ClassVar[str] = "s_rectangular_l_infinity"
    splits: ClassVar[bool] = False
    ball: ClassVar[Any] = LInfinity
    radius: float
    within_support: bool = False

    def least_budget(self, p: Floats, w: Floats, u: float) -> tuple[float, float]:
        """The least r at which the box (p−r)⁺ <= q <= min(p+r, 1), filled from the highest value on, reaches u.

        The value is concave in r, so its tangents reach u no later: Newton's method from r = 0.
        """
        r = 0.0
        while True:
            value, slope = self._filled(p, w, r)
            following = min(r + (u - value) / slope, 1.0) if slope > 0.0 else r
            if value >= u or following <= r:
                return r, 1.0 / slope if slope > 0.0 else math.inf
            r = following

    def at_price(self, p: Floats, w: Floats, price: float) -> tuple[float, float]:
        """The value of the filled box is concave and piecewise linear in r: where tangents of both sides cross."""
        low, high = 0.0, 1.0
        (value, slope), (above, flat) = self._filled(p, w, low), self._filled(p, w, high)
        best = max((value - price * low, -low), (above - price * high, -high))
        while slope > price > flat:
            r = (above - value + slope * low - flat * high) / (slope - flat)
            if not low < r < high:
                break
            here, rate = self._filled(p, w, r)
            best = max(best, (here - price * r, -r))
            if rate > price:
                low, value, slope = r, here, rate
            else:
                high, above, flat = r, here, rate
        return best[0], -best[1]

    def _filled(self, p: Floats, w: Floats, r: float) -> tuple[float, float]:
        """The value of the filled box and its slope in r."""
        lower = np.maximum(p - r, 0.0)
        upper = np.where((p > 0.0) | self._leaves(), np.minimum(p + r, 1.0), 0.0)
        q, left, eta = lower.copy(), 1.0 - float(lower.sum()), float(w.max())
        for i in np.argsort(-w, kind="stable"):
            if left > 0.0 and upper[i] > lower[i]:
                q[i] += min(left, upper[i] - lower[i])
                left, eta = left - (upper[i] - lower[i]), float(w[i])
        value = eta + float((q * (w - eta)).sum())
        raised = np.where((upper > 0.0) & (upper < 1.0), np.maximum(w - eta, 0.0), 0.0).sum()
        return value, float(raised + np.where(lower > 0.0, np.maximum(eta - w, 0.0), 0.0).sum())


@dataclass(frozen=True)
class SRectangularKullbackLeibler(SRectangular):
    """s-rectangular Kullback-Leibler ball: {(q_a) : Σ_a KL(q_a‖p_a) <= kappa} in each state, in nats, q first."""

    kind: ClassVar[str] = "s_rectangular_kullback_leibler"
    ball: ClassVar[Any] = KullbackLeibler
    radius: float

    def least_budget(self, p: Floats, w: Floats, u: float) -> tuple[float, float]:
        """xi = b u − log Σ p e^{bw} at the b where the tilted row p e^{bw} has mean u; b is the slope."""
        top = self.reach(p, w)
        d, aim = np.where(p > 0.0, w - top, 0.0), u - top
        if aim >= 0.0:
            return max(-math.log(p[(d == 0.0) & (p > 0.0)].sum()), 0.0), math.inf
        low, high = 0.0, 1.0
        while _tilted(p, d, high)[0] < aim and high < 2.0**1000:
            low, high = high, 2.0 * high
        for _ in range(HALVINGS):
            middle = (low + high) / 2.0
            if middle in (low, high):
                break
            low, high = (middle, high) if _tilted(p, d, middle)[0] < aim else (low, middle)
        return max(high * aim - _tilted(p, d, high)[1], 0.0), high

    def at_price(self, p: Floats, w: Floats, price: float) -> tuple[float, float]:
        """price log Σ p e^{w/price}, at the tilted row."""
        top = self.reach(p, w)
        mean, log_mean = _tilted(p, np.where(p > 0.0, w - top, 0.0), 1.0 / price)
        return top + price * log_mean, max(mean / price - log_mean, 0.0)


def _tilted(p: Floats, d: Floats, b: float) -> tuple[float, float]:
    """The mean of d <= 0 under p e^{bd}, and log Σ p e^{bd}."""
    e = p * np.exp(b * d)
    change = float((p * np.expm1(b * d)).sum())
    return float(e @ d / e.sum()), math.log1p(change) if change > -0.5 else math.log(e.sum())
