"""The finite-time bound of robust TDC (eq:trackingbound, eq:tdcbound), with an explicit remainder R_2.

Every function takes the constants as an object, printed or corrected (`bounds_tdc`), so the same formula gives
both forms. With the corrected constants the bound is a theorem under the paper's assumptions plus two that it
leaves out: the projection of θ is never active (an active one changes the first-order term of the descent
inequality), and omega(θ_t) stays inside the ball of radius K or the projection of omega is never active
(otherwise the projected recursion of z need not contract).

**By Bessel's inequality** (`BesselConstants`) the same holds with 1/√λ for 1/λ and a radius for each of θ and omega.
The recursion E‖z'‖² <= qE‖z‖² + 2beta E[f+g] + 2E⟨z, omega(θ)−omega(θ')⟩ + beta²C_1 has C_1 by Bessel (claim `eq-1`).
The inner product is alpha·h plus ⟨z, y⟩, y = ½alpha ∇omega∇J + alpha ∇omega(G(θ,omega(θ)) − G(θ,omega)) + R_2, and ⟨z,
y⟩ <= (λbeta/8)‖z‖² + (6/(λbeta))Σ‖y_i‖² over the three terms of y. They are at most ½alpha L‖∇J‖, alpha L G_omega‖z‖
and ‖R_2‖, where L is a bound on ‖∇omega‖: L_δ/λ as printed, L_δ/√λ by Bessel. The means of f, g and h have the
constants of the lemmas, by Bessel too. Summation and the descent inequality use nothing else. The λ that is left in q,
u and λbeta is the rate at which omega is tracked: it is not a bound on C⁻¹ and does not become a root.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from oracles.bounds.tdc import PrintedConstants
from robust_core import validate
from robust_core.validate import EPS


def tau(m: float, rho: float, step: float, *, least: int = 1) -> int:
    """tau = min{k >= least : m rho^k <= step}.

    The paper allows k = 0 (`least=0`), which happens when m <= step; but Assumption 5 says nothing about t = 0,
    where the law of s_0 given s_0 is a point mass, so the lemmas need k >= 1.

    >>> tau(1.0, 0.5, 0.25), tau(0.1, 0.5, 0.25, least=0)
    (2, 0)
    """
    validate.positive("m", m)
    validate.positive("step", step)
    if not 0 < validate.real("rho", rho) < 1:
        raise ValueError(f"rho must lie in (0, 1), got {rho}")
    k = max(least, math.ceil((math.log(m) - math.log(step)) / -math.log(rho)))
    # The logarithms round; the definition decides.
    while k > least and _is_at_most(m, rho, k - 1, step):
        k -= 1
    while not _is_at_most(m, rho, k, step):
        k += 1
    return k


def _is_at_most(m: float, rho: float, k: int, step: float) -> bool:
    """m rho^k <= step, in rationals where rounding could decide."""
    product = m * rho**k
    if abs(product - step) > 8.0 * EPS * step:
        return product <= step
    return Fraction(m) * Fraction(rho) ** k <= Fraction(step)


def u(lam: float, beta: float) -> float:
    """u = 2λ − 3beta."""
    return 2 * lam - 3 * beta


def q(lam: float, beta: float) -> float:
    """q = 1 + 3beta² − 2beta λ = 1 − u·beta; a contraction if and only if 0 < beta < 2λ/3 (then 0 < q < 1)."""
    return 1 + 3 * beta**2 - 2 * beta * lam


@dataclass(frozen=True)
class Steps:
    """Constant step sizes, the horizon, and the pair (m, rho) of Assumption 5."""

    alpha: float
    beta: float
    T: int
    m: float
    rho: float

    def __post_init__(self) -> None:
        validate.positive("alpha", self.alpha)
        validate.positive("beta", self.beta)
        validate.count("T", self.T, least=1)

    @property
    def tau_alpha(self) -> int:
        """tau_alpha, at least 1."""
        return tau(self.m, self.rho, self.alpha)

    @property
    def tau_beta(self) -> int:
        """tau_beta, at least 1."""
        return tau(self.m, self.rho, self.beta)


def remainder(c: PrintedConstants, alpha: float) -> float:
    """‖R_2‖ <= gamma R varrho alpha² C_G²/(2√λ), for a step of θ that is not projected.

    R_2 is the second-order term of omega along a step of length at most alpha·C_G. It is C⁻¹E[Xφ] with
    |X| <= ½ gamma R varrho (alpha C_G)² (the variance of numbers in [−1, 1]), hence at most √E[X²]/√λ (Bessel).
    """
    return c.gamma * c.radius * c.varrho * (alpha * c.C_G) ** 2 / (2 * math.sqrt(c.lam))


def _forget(c: PrintedConstants, beta: float) -> float:
    """1 − e^{−u beta}."""
    return -math.expm1(-u(c.lam, beta) * beta)


def _condition(c: PrintedConstants, alpha: float, beta: float) -> float:
    """The quantity that must be at most ½ below eq:tracking1."""
    inner = c.lam * beta / 8 + 6 * alpha**2 / (c.lam * beta) * (c.omega_slope * c.G_omega) ** 2
    return 2 / _forget(c, beta) * inner


def _feedback(c: PrintedConstants, alpha: float, beta: float) -> float:
    """The factor of the average of ‖∇J‖² in eq:trackingbound."""
    return 2 / _forget(c, beta) * 3 * alpha**2 / (c.lam * beta) * c.omega_slope**2


def K_1(c: PrintedConstants, alpha: float, beta: float) -> float:
    """K_1 = 2(gamma + 2 gamma R K varrho)√(2/(1−e^{−u beta}) · 3alpha²/(λ beta) · L²), L the slope of omega."""
    return 2 * c.G_omega * math.sqrt(_feedback(c, alpha, beta))


@dataclass(frozen=True)
class Admissible:
    """The conditions on (alpha, beta) under which the bound is proved; `largest_alpha` closes the region."""

    beta_small: bool
    alpha_below_beta: bool
    tracking: bool
    K_1: bool
    largest_alpha: float

    def __bool__(self) -> bool:
        return self.beta_small and self.alpha_below_beta and self.tracking and self.K_1


def largest_alpha(c: PrintedConstants, beta: float) -> float:
    """The largest alpha that is admissible with beta; 0 if there is none.

    beta < 2λ/3 makes q < 1. With E = 1 − e^{−u beta} and L the slope of omega, the condition 2/E·(λbeta/8 +
    6alpha²L²g²/(λbeta)) <= ½ is alpha² <= (E/4 − λbeta/8)·λbeta/(6L²g²), and K_1 <= ½ is alpha² <= E·λbeta/(96 g²L²);
    g is `G_omega`. alpha <= beta is used in every Markovian-noise lemma.
    """
    validate.positive("beta", beta)
    if u(c.lam, beta) <= 0:
        return 0.0
    forget = _forget(c, beta)
    room = forget / 4 - c.lam * beta / 8
    if room <= 0:
        return 0.0
    scale = (c.omega_slope * c.G_omega) ** 2
    if scale == 0:
        return beta
    return min(beta, math.sqrt(room * c.lam * beta / (6 * scale)), math.sqrt(forget * c.lam * beta / (96 * scale)))


def admissible(c: PrintedConstants, alpha: float, beta: float) -> Admissible:
    """Which of the conditions of the proof (alpha, beta) meets.

    >>> c = PrintedConstants(1.0, gamma=0.5, radius=0.1, n_states=2, varrho=1.0, K=1.0, lam=0.5)
    >>> bool(admissible(c, 1e-4, 0.1)), bool(admissible(c, 0.1, 0.1))
    (True, False)
    """
    validate.positive("alpha", alpha)
    validate.positive("beta", beta)
    if u(c.lam, beta) <= 0:
        return Admissible(False, alpha <= beta, False, False, 0.0)
    return Admissible(
        True,
        alpha <= beta,
        _condition(c, alpha, beta) <= 0.5,
        K_1(c, alpha, beta) <= 0.5,
        largest_alpha(c, beta),
    )


def _require_admissible(c: PrintedConstants, steps: Steps) -> None:
    verdict = admissible(c, steps.alpha, steps.beta)
    if not verdict:
        raise ValueError(f"(alpha, beta) = ({steps.alpha}, {steps.beta}) is outside the region of the proof: {verdict}")
    if steps.alpha > c.ratio * steps.beta:
        raise ValueError(f"the constants assume alpha/beta <= {c.ratio}, got {steps.alpha / steps.beta}")


def Q_T(c: PrintedConstants, steps: Steps, z_0: float) -> float:
    """Q_T of eq:tracking1; the display after eq:tdcbound has 4K² for 4K_z²."""
    forget, speed = _forget(c, steps.beta), u(c.lam, steps.beta)
    return (
        z_0**2 / (steps.T * forget)
        + steps.beta * c.C_1 / speed
        + 4 * c.K_z**2 * steps.tau_beta / steps.T
        + c.C_z / (speed * forget * steps.T)
        + (c.m_z + c.mp_z * steps.tau_beta) * steps.beta / speed
    )


def tracking_bound(c: PrintedConstants, steps: Steps, z_0: float, gradient_average: float) -> float:
    """eq:trackingbound: the average of E‖z_t‖² over t < T, given that of E‖∇J(θ_t)‖²."""
    _require_admissible(c, steps)
    return 2 * Q_T(c, steps, z_0) + _feedback(c, steps.alpha, steps.beta) * gradient_average + _curvature(c, steps)


def _curvature(c: PrintedConstants, steps: Steps) -> float:
    """6/(λ beta)·4/(1 − e^{−u beta})·‖R_2‖²."""
    return 24 / (c.lam * steps.beta * _forget(c, steps.beta)) * remainder(c, steps.alpha) ** 2


def tdc_bound(c: PrintedConstants, steps: Steps, z_0: float, J_drop: float) -> float:
    """eq:tdcbound: the average of E‖∇J(θ_t)‖² over t < T (which is E‖∇J(θ_W)‖²).

    `J_drop` is J(θ_0) − J(θ_T) or an upper bound on it, for instance J(θ_0); `z_0` is ‖omega_0 − omega(θ_0)‖.

    >>> from oracles.bounds.tdc import CorrectedConstants
    >>> c = CorrectedConstants(1.0, gamma=0.5, radius=0.1, n_states=2, varrho=1.0, K=1.0, lam=0.5)
    >>> far, near = (tdc_bound(c, Steps(1e-6, 1e-3, T, 1.0, 0.5), 1.0, 1.0) for T in (10**6, 10**9))
    >>> near < far
    True
    """
    _require_admissible(c, steps)
    alpha, T = steps.alpha, steps.T
    noise = 16 * (2 * Q_T(c, steps, z_0) + _curvature(c, steps)) * c.G_omega**2
    markov = 8 * steps.tau_alpha * c.C_zeta / T + 8 * alpha * (c.m_zeta + c.mp_zeta * steps.tau_alpha)
    return noise + 8 * J_drop / (alpha * T) + markov + 4 * c.L_J * alpha * c.C_G**2
