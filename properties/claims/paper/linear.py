"""What Appendix D speaks of, in ball arithmetic: delta, its derivatives, G, H, omega(theta), one step of Algorithm 2.

Expectations under the stationary distribution are sums over all (s, a, s') of mu(s) pi(a|s) p(s'|s,a): no formula of
the paper is used to take them. From the oracle come the stationary distribution and a certified lower bound on lambda.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import Any, TypeVar

import numpy as np
from hypothesis import strategies as st

from oracles.arithmetic.ball import TINY, UNIT, Ball, solve, up
from oracles.bounds.tdc import BesselConstants, CorrectedConstants, PrintedConstants, Source
from oracles.chains.chain import row_defect
from oracles.linear.msprbe import MSPRBE
from properties.cases.case import Case
from properties.claims.claim import Statement
from properties.claims.sides import at_place, first
from properties.judging.verdict import Finding
from robust_core.learners.linear import LinearLearner
from robust_core.learners.schedules import constant
from robust_core.mdp import MDP
from robust_core.problem import Problem
from robust_core.sets import Contamination
from robust_core.smoothing import LogSumExp
from robust_core.validate import Floats

CONSTANT_ROUNDINGS = 128
"""A constant of Appendix D is at most this many products and sums of positive numbers, each rounded once."""


def above(bound: float) -> float:
    """A printed constant, raised by all that its evaluation in floats may have lost."""
    return bound * (1.0 + CONSTANT_ROUNDINGS * UNIT) + TINY


def number(value: float) -> Ball:
    """An exact number."""
    return Ball.exact(value)


def norm(x: Ball) -> Ball:
    """‖x‖ of a vector (or the Frobenius norm of a matrix): |‖x‖ − ‖mid‖| <= ‖rad‖."""
    size = math.hypot(*x.mid.ravel())
    return Ball(np.asarray(size), up(math.hypot(*x.rad.ravel()) + (x.mid.size + 4) * UNIT * size + TINY, x.mid.size))


def operator_norm(matrix: Ball) -> Ball:
    """A lower bound on the operator norm, as the image of the (approximate) first singular vector."""
    vector = np.linalg.svd(matrix.mid)[2][0]
    return norm(matrix @ Ball.exact(vector)) / norm(Ball.exact(vector))


def dot(x: Ball, y: Ball) -> Ball:
    """⟨x, y⟩ of two vectors."""
    return (x * y).sum()


def lower(x: Ball) -> float:
    """The least value in a scalar ball."""
    return float(x.mid - up(x.rad))


def upper(x: Ball) -> float:
    """The largest value in a scalar ball."""
    return float(x.mid + up(x.rad))


def exceeds(what: str, left: Ball, bound: float | Ball) -> Finding | None:
    """A finding if the left side is certainly above the bound.

    >>> exceeds("x", number(1.0), 1.0) is None, exceeds("x", number(2.0), 1.0) is None
    (True, False)
    """
    top = upper(bound) if isinstance(bound, Ball) else bound
    if lower(left) <= top:
        return None
    return Finding(what, float(left.mid), f"at most {top!r}", float(left.rad))


def differs(what: str, left: Ball, right: Ball) -> Finding | None:
    """A finding if the two sides certainly differ somewhere."""
    if left.mid.shape != right.mid.shape:
        return Finding(f"shape of {what}", left.mid.shape, right.mid.shape)
    gap = (left - right).mid
    allowed = up(left.rad + right.rad + UNIT * np.abs(gap))
    wrong = np.abs(gap) > allowed
    if not wrong.any():
        return None
    place = tuple(int(i) for i in np.argwhere(wrong)[0])
    sides = float(left.mid[place]), float(right.mid[place])
    return Finding(at_place(what, place), *sides, float(allowed[place]))


def ratio(left: Ball, bound: float) -> float:
    """Left over right; 0 where the right side is not above the rounding of the left."""
    return float(left.mid) / bound if bound > float(left.rad) else 0.0


def smooth_maximum(V: Ball, varrho: float) -> tuple[Ball, Ball]:
    """LSE(V) and softmax(varrho V)."""
    shift, rho = number(float(V.mid.max())), number(varrho)
    weights = ((V - shift) * rho).exp()
    total = weights.sum()
    return shift + total.log() / rho, weights / total


@dataclass(frozen=True, eq=False)
class Linear:
    """A problem of Section 5; `n` transitions (s, a, s') in all, numbered in that order."""

    mdp: MDP
    policy: Floats
    features: Floats
    radius: float
    varrho: float

    @cached_property
    def oracle(self) -> MSPRBE:
        """The oracle of the same problem."""
        return MSPRBE(self.mdp, self.policy, self.features, radius=self.radius, varrho=self.varrho)

    def constants(
        self, K: float, *, corrected: bool = False, bessel: bool = False, source: Source = "list", **options: Any
    ) -> Any:
        """The constants of Appendix D at the certified lower bound of lambda, where they are largest."""
        kind = BesselConstants if bessel else CorrectedConstants if corrected else PrintedConstants
        return kind(
            float(np.abs(self.mdp.cost).max()), self.mdp.gamma, self.radius, self.mdp.n_states, self.varrho, K,
            min(self.oracle.floor, 1.0), source, **options,
        )  # fmt: skip

    @cached_property
    def _places(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        S, A = self.mdp.n_states, self.mdp.n_actions
        s, a, s_next = np.indices((S, A, S)).reshape(3, -1)
        return s, a, s_next

    def index(self, s: int, a: int, s_next: int) -> int:
        """The number of a transition."""
        return (s * self.mdp.n_actions + a) * self.mdp.n_states + s_next

    @cached_property
    def phi(self) -> Ball:
        """phi_s of every transition."""
        return Ball.exact(self.features[self._places[0]])

    @cached_property
    def phi_next(self) -> Ball:
        """phi_{s'} of every transition."""
        return Ball.exact(self.features[self._places[2]])

    @cached_property
    def weights(self) -> Ball:
        """mu(s) pi(a|s) p(s'|s,a)."""
        s, a, s_next = self._places
        S, A = self.mdp.n_states, self.mdp.n_actions
        mu = Ball.relative(self.oracle.mu[s], self.oracle.mu_log_error)
        pi = Ball.relative(self.policy[s, a], row_defect(A))
        return mu * pi * Ball.relative(self.mdp.P[s, a, s_next], row_defect(S))

    def mean(self, x: Ball) -> Ball:
        """E_mu[x] of one row for every transition."""
        return self.weights @ x

    def outer_mean(self, x: Ball, y: Ball) -> Ball:
        """E_mu[x yᵀ]."""
        return (self.weights[:, None] * x).T @ y

    @cached_property
    def C(self) -> Ball:
        """E_mu[phi phiᵀ]."""
        return self.outer_mean(self.phi, self.phi)

    @cached_property
    def lam(self) -> Ball:
        """lambda."""
        certified = self.oracle.lam
        return Ball(certified.value, np.asarray(certified.error_bound))

    @cached_property
    def _kept(self) -> list[tuple[Any, ...]]:
        """The last points that were asked for, with what was found there."""
        return []

    def _at(self, theta: Ball, name: str, make: Callable[[], Any]) -> Any:
        for point, known, value in self._kept:
            if point is theta and known == name:
                return value
        self._kept.append((theta, name, make()))
        return self._kept[-1][2]

    def _smooth(self, theta: Ball) -> tuple[Ball, Ball, Ball]:
        """Phi theta, LSE and g = Phiᵀ softmax."""

        def make() -> tuple[Ball, Ball, Ball]:
            Phi = Ball.exact(self.features)
            V = Phi @ theta
            smooth, softmax = smooth_maximum(V, self.varrho)
            return V, smooth, Phi.T @ softmax

        result: tuple[Ball, Ball, Ball] = self._at(theta, "smooth", make)
        return result

    @cached_property
    def _discounts(self) -> tuple[Ball, Ball]:
        gamma, R = number(self.mdp.gamma), number(self.radius)
        return gamma * (number(1.0) - R), gamma * R

    def delta(self, theta: Ball) -> Ball:
        """delta_{s,a,s'}(theta) of every transition."""
        s, a, s_next = self._places
        nominal, worst = self._discounts
        V, smooth, _ = self._smooth(theta)
        return Ball.exact(self.mdp.cost[s, a]) + nominal * V[s_next] + worst * smooth - V[s]  # type: ignore[index]

    def jump(self, theta: Ball) -> Ball:
        """gamma((1−R) phi_{s'} + R Phiᵀ softmax) of every transition."""
        nominal, worst = self._discounts
        return nominal * self.phi_next + worst * self._smooth(theta)[2][None, :]

    def slope(self, theta: Ball) -> Ball:
        """∇delta of every transition."""
        return self.jump(theta) - self.phi

    def moment(self, theta: Ball) -> Ball:
        """E_mu[delta phi]."""
        return self.mean(self.delta(theta)[:, None] * self.phi)

    def M(self, theta: Ball) -> Ball:
        """E_mu[∇delta phiᵀ]."""
        result: Ball = self._at(theta, "M", lambda: self.outer_mean(self.slope(theta), self.phi))
        return result

    def apply_inverse(self, right: Ball) -> Ball:
        """C⁻¹ applied to a vector or to columns."""
        return solve(self.C, right, self.oracle.floor)

    def omega(self, theta: Ball) -> Ball:
        """omega(theta) = C⁻¹E[delta phi]."""
        result: Ball = self._at(theta, "omega", lambda: self.apply_inverse(self.moment(theta)))
        return result

    def jacobian(self, theta: Ball) -> Ball:
        """∇omega(theta): E[phi ∇deltaᵀ] with C⁻¹ before it."""
        return self.apply_inverse(self.M(theta).T)

    def gradient(self, theta: Ball) -> Ball:
        """∇J = 2M omega (claim J-grad)."""
        return number(2.0) * (self.M(theta) @ self.omega(theta))

    def J(self, theta: Ball) -> Ball:
        """J = E[delta phi]ᵀ C⁻¹ E[delta phi]."""
        b = self.moment(theta)
        return dot(b, self.apply_inverse(b))

    def G(self, theta: Ball, omega: Ball) -> Ball:
        """G(theta, omega) of every transition."""
        tracked = self.phi @ omega
        return self.delta(theta)[:, None] * self.phi - self.jump(theta) * tracked[:, None]

    def H(self, theta: Ball, omega: Ball) -> Ball:
        """H(theta, omega) of every transition."""
        return (self.delta(theta) - self.phi @ omega)[:, None] * self.phi


def project(x: Ball, K: float) -> tuple[Ball, bool | None]:
    """Π_K(x), and whether it was active (None: the ball of x does not tell).

    Π_K is non-expansive in the Euclidean norm, so the radius of every entry is at most the norm of all radii.

    >>> project(Ball.exact([3.0, 4.0]), 1.0)[1], project(Ball.exact([3.0, 4.0]), 6.0)[1]
    (True, False)
    """
    size = norm(x)
    if upper(size) <= K:
        return x, False
    scale = min(1.0, K / float(size.mid))
    mid = x.mid * scale
    spread = up(math.hypot(*x.rad.ravel()) + float(size.rad) + 8 * UNIT * K, x.mid.size)
    return Ball(mid, np.full_like(mid, spread)), True if lower(size) > K else None


Made = TypeVar("Made")


def remember_last(make: Callable[[Case], Made]) -> Callable[[Case], Made]:
    """`make` with its last answer kept: the lines of one claim ask for the same case one after the other."""
    kept: list[Any] = []

    @wraps(make)
    def made(case: Case) -> Made:
        values = tuple(case.values())
        if not kept or len(kept[0]) != len(values) or any(x is not y for x, y in zip(kept[0], values, strict=True)):
            kept[:] = [values, make(case)]
        result: Made = kept[1]
        return result

    return made


@remember_last
def problem_of(case: Case) -> Linear:
    """The problem of a case."""
    return Linear(case["mdp"], case["policy"], case["features"], case["radius"], case["varrho"])


def row_norms(x: Ball) -> Ball:
    """‖x_i‖ of every row."""
    mid = np.sqrt((x.mid**2).sum(axis=1))
    rad = up(np.sqrt((x.rad**2).sum(axis=1)) + (x.mid.shape[1] + 4) * UNIT * mid + TINY, x.mid.shape[1])
    return Ball(mid, rad)


def largest(x: Ball) -> Ball:
    """The entry of a vector that is largest in absolute value."""
    place = int(np.abs(x.mid).argmax())
    return Ball(np.abs(x.mid[place]), x.rad[place])


Side = tuple[str, Ball, float]
"""What is bounded, its value, its bound (already rounded up)."""
Sides = Callable[..., Iterable[Side]]


def inequality(text: str, cases: Callable[[], st.SearchStrategy[Case]], sides: Sides) -> Statement:
    """The statement that every left side is at most its right side; tightness is the largest ratio."""
    both = remember_last(lambda case: list(sides(**case)))
    return Statement(
        text,
        cases,
        lambda **case: first(exceeds(*side) for side in both(case)),
        lambda **case: max((ratio(left, bound) for _, left, bound in both(case)), default=0.0),
    )


def learner(
    mdp: MDP, features: Floats, radius: float, varrho: float, K: float, theta: Floats, alpha: float, beta: float
) -> LinearLearner:
    """Algorithm 2 as it is implemented, at (theta, 0)."""
    return LinearLearner(
        "TDC",
        Problem.of(
            mdp,
            Contamination(radius),
            step_size=constant(alpha),
            initial=theta,
            features=features,
            smoothing=LogSumExp(varrho),
            second_step_size=constant(beta),
            projection=K,
        ),
    )
