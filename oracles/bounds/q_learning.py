"""Constants and bounds of robust Q-learning (Section 4, Appendix B), as printed, as corrected, and explicit.

`printed` functions follow the paper to the letter, unknown universal constants (c_0, c_1, ĉ) being arguments.
The explicit theorem at the end has no unknown constant; its proof stands in the docstrings.
"""

import math
from dataclasses import dataclass

from robust_core import validate

VISIT_CONSTANT = 443
"""The constant of the visit-count lemma (Lemma 5 of Li et al. 2020), as the paper quotes it."""


def t_frame(t_mix: float, mu_min: float, n_pairs: int, T: float, delta: float) -> float:
    """t_frame = 443 t_mix/mu_min · log(4SAT/delta) (first lemma of Appendix B).

    The lemma counts visits of state-action pairs, so t_mix and mu_min must be those of the state-action chain;
    the paper's definition of t_mix in Section 4 is that of the state chain, which can be smaller by one.

    >>> round(t_frame(1, 0.25, 4, 100, 0.5))
    14302
    """
    _probability("delta", delta)
    _mu_min(mu_min)
    return VISIT_CONSTANT * t_mix / mu_min * math.log(4 * n_pairs * T / delta)


def visit_constant(share: float) -> float:
    """2/(1−√share)²: after this many t_mix/mu_min·log(SA/(√share·delta)) steps K_t >= share·mu·t for ever.

    Proof: docs/theorems.md, T6; claim visit-constant.

    >>> visit_constant(0.25), round(visit_constant(0.5), 2)
    (8.0, 23.31)
    """
    if not 0 < share < 1:
        raise ValueError(f"share must lie in (0, 1), got {share}")
    return 2 / (1 - math.sqrt(share)) ** 2


FRAME_SHARE = 0.25
"""The share of mu·L that a frame of the explicit Theorem 3 asks for: its constant 8 is small and √share is rational."""


def frame_length(t_mix: float, mu_min: float, n_pairs: int, T: float, delta: float) -> int:
    """⌈8 t_mix/mu_min·log(SAT/delta)⌉: all frames up to T have mu_min·L/4 visits of every pair, except with delta.

    By T6 a frame fails with probability at most 2SA·exp(−L mu_min/(8 t_mix)) <= 2 delta/T, and there are at most T/L
    <= T/2 of them.

    >>> frame_length(1, 0.25, 4, 100, 0.5)
    214
    """
    log_term = math.log(n_pairs * T / _probability("delta", delta))
    return max(2, math.ceil(visit_constant(FRAME_SHARE) * max(t_mix, 1) / _mu_min(mu_min) * log_term))


def t_th(gamma: float, epsilon: float, alpha: float, mu_min: float, frame: float) -> float:
    """t_th = max{2 log(1/((1−gamma)² epsilon))/(alpha mu_min), t_frame} (Theorem 6)."""
    _positive_step(alpha)
    validate.positive("epsilon", epsilon)
    return max(2 * math.log(1 / ((1 - gamma) ** 2 * epsilon)) / (alpha * _mu_min(mu_min)), frame)


def mu_frame(mu_min: float, frame: float) -> float:
    """mu_frame = ½ mu_min t_frame (Theorem 6): visits that every pair gets in a frame."""
    return 0.5 * mu_min * frame


def rho(gamma: float, alpha: float, visits: float) -> float:
    """rho = (1−gamma)(1−(1−alpha)^mu_frame) (Theorem 6): the contraction of one frame.

    >>> rho(0.5, 0.5, 2)
    0.375
    >>> rho(0.5, 2.0**-60, 2.0**60) > 0.25
    True
    """
    step = validate.unit_interval("alpha", alpha)
    # 1 − alpha loses a small alpha: below this the logarithm is the more exact way.
    forgotten = -math.expm1(visits * math.log1p(-step)) if step < 2.0**-20 else 1 - (1 - step) ** visits
    return (1 - validate.discount("gamma", gamma)) * forgotten


def k1_bound(t: float, frame: float, alpha: float, mu_min: float, psi_0: float) -> float:
    """The k_1 lemma: (1−alpha)^(t·mu_min/2)·‖psi_0‖ from t_frame on, ‖psi_0‖ before."""
    return psi_0 * (1 - alpha) ** (t * mu_min / 2) if t >= frame else psi_0


def k2_bound_printed(
    gamma: float, alpha: float, n_pairs: int, T: float, delta: float, V_norm: float, *, c_hat: float
) -> float:
    """The k_2 lemma as printed: 5 gamma ĉ √(alpha log(SAT/delta)) ‖V*‖, for 0 < alpha log(SAT/delta) < 1."""
    log_term = math.log(n_pairs * T / _probability("delta", delta))
    if not 0 < alpha * log_term < 1:
        raise ValueError(f"the lemma needs 0 < alpha·log(SAT/delta) < 1, got {alpha * log_term}")
    return 5 * gamma * c_hat * math.sqrt(alpha * log_term) * V_norm


def theorem6_printed(
    t: float,
    *,
    gamma: float,
    alpha: float,
    epsilon: float,
    delta: float,
    n_pairs: int,
    T: float,
    t_mix: float,
    mu_min: float,
    psi_0: float,
    c_hat: float,
) -> float:
    """eq:thm5 as printed: (1−rho)^k ‖psi_0‖/(1−gamma) + 5ĉ gamma/(1−gamma) √(alpha log(SAT/delta)) + epsilon.

    Not homogeneous: multiply cost, Q_0 and epsilon by s, and the left side and the other two terms are
    multiplied by s, but the noise term stays. It lost the factor ‖V*‖ of its own k_2 lemma; see
    `theorem6_corrected`.
    """
    frame = t_frame(t_mix, mu_min, n_pairs, T, delta)
    start = t_th(gamma, epsilon, alpha, mu_min, frame)
    k = max(0, math.floor((t - start) / frame)) if frame > 0 else 0
    transient = (1 - rho(gamma, alpha, mu_frame(mu_min, frame))) ** k * psi_0 / (1 - gamma)
    noise = 5 * c_hat * gamma / (1 - gamma) * math.sqrt(alpha * math.log(n_pairs * T / delta))
    return transient + noise + epsilon


def theorem6_corrected(
    t: float,
    *,
    gamma: float,
    alpha: float,
    epsilon: float,
    delta: float,
    n_pairs: int,
    T: float,
    t_mix: float,
    mu_min: float,
    psi_0: float,
    V_norm: float,
    c_hat: float,
) -> float:
    """eq:thm5 with the factor ‖V*‖ of the k_2 lemma restored, and t_th free of units.

    The noise enters psi_t as k_2 and is amplified by at most 1/(1−gamma) (see `pathwise_bound`), so its term is
    5ĉ gamma/(1−gamma)·√(…)·‖V*‖. In t_th the argument 1/((1−gamma)²epsilon) of the logarithm has the unit
    1/cost: it stands for ‖psi_0‖/((1−gamma)epsilon) with ‖psi_0‖ <= 1/(1−gamma) (costs in [0,1]).
    """
    frame = t_frame(t_mix, mu_min, n_pairs, T, delta)
    ratio = max(psi_0 / ((1 - gamma) * validate.positive("epsilon", epsilon)), 1.0)
    start = max(2 * math.log(ratio) / (_positive_step(alpha) * mu_min), frame)
    k = max(0, math.floor((t - start) / frame)) if frame > 0 else 0
    transient = (1 - rho(gamma, alpha, mu_frame(mu_min, frame))) ** k * psi_0 / (1 - gamma)
    noise = 5 * c_hat * gamma / (1 - gamma) * math.sqrt(alpha * math.log(n_pairs * T / delta)) * V_norm
    return transient + noise + epsilon


def theorem3_T(
    *, epsilon: float, gamma: float, delta: float, n_pairs: int, mu_min: float, t_mix: float, c_0: float
) -> float:
    """The T >= 1 from which on the condition of Theorem 3 holds for every larger T. The condition is

    T >= c_0 (1/(mu_min(1−gamma)⁵epsilon²) + t_mix/(mu_min(1−gamma))) log(TSA/delta) log(1/(epsilon(1−gamma)²)).

    >>> T = theorem3_T(epsilon=0.5, gamma=0.5, delta=0.5, n_pairs=4, mu_min=0.25, t_mix=1, c_0=1)
    >>> round(T)
    12444
    """
    factor = _theorem3_factor(epsilon, gamma, mu_min, t_mix, c_0)
    return _last_crossing(factor, n_pairs / _probability("delta", delta))


def _theorem3_factor(epsilon: float, gamma: float, mu_min: float, t_mix: float, c_0: float) -> float:
    if not 0 < epsilon < 1 / (1 - gamma):
        raise ValueError(f"epsilon must lie in (0, 1/(1−gamma)) = (0, {1 / (1 - gamma)}), got {epsilon}")
    _mu_min(mu_min)
    rate = 1 / (mu_min * (1 - gamma) ** 5 * epsilon**2) + t_mix / (mu_min * (1 - gamma))
    return c_0 * rate * math.log(1 / (epsilon * (1 - gamma) ** 2))


def theorem3_alpha(
    *, epsilon: float, gamma: float, delta: float, n_pairs: int, T: float, t_mix: float, c_1: float
) -> float:
    """alpha = c_1/log(TSA/delta) · min(1/t_mix, epsilon²(1−gamma)⁴/gamma²) (Theorem 3); 1/0 counts as ∞."""
    slow = 1 / t_mix if t_mix > 0 else math.inf
    fine = epsilon**2 * (1 - gamma) ** 4 / gamma**2 if gamma > 0 else math.inf
    return c_1 / math.log(T * n_pairs / _probability("delta", delta)) * min(slow, fine)


SHARP_VISITS, SHARP_NOISE = 38.0, 8.6
"""Constants of `sharp_theorem3_T`: of the term with t_mix and of the term with epsilon."""


def sharp_theorem3_T(
    *,
    epsilon: float,
    gamma: float,
    delta: float,
    n_pairs: int,
    mu_min: float,
    t_mix: float,
    radius: float,
    visits: float = SHARP_VISITS,
    noise: float = SHARP_NOISE,
) -> float:
    """The T from which on robust Q-learning with `sharp_theorem3_alpha` is within epsilon, except with 2 delta:

    T >= (38 t_mix/(mu_min(1−gamma)) + 8.6(1−R)²/(mu_min(1−gamma)³(1−b)²epsilon²)) log(TSA/delta) log(1/(epsilon
    (1−gamma)²)), b = gamma(1−R). Hypotheses: costs in [0,1], Q_0 in [0, 1/(1−gamma)], t_mix >= 1 and mu_min of the
    chain of pairs, epsilon <= 1/(2(1−gamma)).

    Proof: `properties.claims.paper.rates`. As R grows the second term loses (1−gamma)² against the printed one.

    >>> sizes = dict(epsilon=0.5, gamma=0.5, delta=0.5, n_pairs=4, mu_min=0.25, t_mix=1)
    >>> sharp_theorem3_T(**sizes, radius=0.5) < sharp_theorem3_T(**sizes, radius=0.0) < theorem3_T(**sizes, c_0=38)
    True
    """
    if not 0 < epsilon <= 0.5 / (1 - validate.discount("gamma", gamma)):
        raise ValueError(f"epsilon must lie in (0, 1/(2(1−gamma))] = (0, {0.5 / (1 - gamma)}], got {epsilon}")
    _mu_min(mu_min)
    R = validate.unit_interval("radius", radius)
    fine = ((1 - R) / ((1 - gamma * (1 - R)) * epsilon)) ** 2 / (mu_min * (1 - gamma) ** 3)
    rate = visits * max(t_mix, 1) / (mu_min * (1 - gamma)) + noise * fine
    return _last_crossing(rate * math.log(1 / (epsilon * (1 - gamma) ** 2)), n_pairs / _probability("delta", delta))


def sharp_theorem3_alpha(
    *, epsilon: float, gamma: float, delta: float, n_pairs: int, T: float, t_mix: float, radius: float
) -> float:
    """alpha = min(1/t_mix, epsilon²(1−gamma)²(1−b)²/b²)/log(TSA/delta), b = gamma(1−R); 1/0 counts as ∞."""
    b = gamma * (1 - validate.unit_interval("radius", radius))
    fine = (epsilon * (1 - gamma) * (1 - b) / b) ** 2 if b > 0 else math.inf
    return min(1 / max(t_mix, 1), fine) / math.log(T * n_pairs / _probability("delta", delta))


def smoothing_gap(gamma: float, radius: float, n_states: int, varrho: float) -> float:
    """Theorem 4: ‖V_1 − V_2‖ <= gamma R log S/((1−gamma) varrho), for LSE and for mellow-max.

    LSE lies in [max, max + log S/varrho], mellow-max in [max − log S/varrho, max].

    >>> smoothing_gap(0.5, 0.25, 1, 3.0)
    0.0
    """
    validate.discount("gamma", gamma)
    gap = math.log(n_states) / validate.positive("varrho", varrho)
    return gamma * validate.unit_interval("radius", radius) * gap / (1 - gamma)


def pathwise_bound(
    t: int, *, frame: int, visits: float, alpha: float, gamma: float, psi_0: float, noise: float
) -> float:
    """‖psi_t‖ <= (1−rho)^⌊t/L⌋ ‖psi_0‖ + N_t/(1−gamma), rho = (1−gamma)(1−(1−alpha)^m): on every path.

    Hypotheses: each frame of L = `frame` steps visits every pair at least m = `visits` times, alpha in [0,1]
    constant, N_t = `noise` >= ‖k_{2,i}‖ for all i <= t.

    Proof. k_2 obeys k_{2,t} = (1−alpha)k_{2,t−1} + alpha·(noise) at the visited pair, like psi. So D = psi − k_2
    starts at psi_0 and at the visited pair D_t = (1−alpha)D_{t−1} + alpha·e_t with |e_t| <= gamma‖psi_{t−1}‖
    <= gamma(‖D_{t−1}‖ + N); elsewhere it does not move. Claim: ‖D_t‖ <= a_f + gamma N/(1−gamma) for t >= fL,
    a_f = (1−rho)^f ‖psi_0‖. True for f = 0, t = 0; and if it holds from some time on for f, a pair with j visits
    since has |D| <= (1−alpha)^j (a_f + gamma N/(1−gamma)) + (1−(1−alpha)^j) gamma (a_f + gamma N/(1−gamma) + N)
    = gamma N/(1−gamma) + a_f (1 − (1−gamma)(1−(1−alpha)^j)), which is the claim for f (j >= 0), and for f+1 once
    j >= m. Add ‖k_{2,t}‖ <= N. (A restart of psi itself at each frame would pay for k_2 twice.)

    >>> pathwise_bound(4, frame=2, visits=1, alpha=1.0, gamma=0.5, psi_0=8.0, noise=0.0)
    2.0
    """
    validate.count("frame", frame, least=1)
    contraction = 1 - rho(gamma, alpha, visits)
    return float(contraction ** (validate.count("t", t) // frame) * psi_0 + noise / (1 - gamma))


def noise_bound(
    *, gamma: float, radius: float, alpha: float, V_span: float, n_pairs: int, T: float, delta: float
) -> float:
    """With probability >= 1−delta, |k_{2,t}| <= gamma(1−R) span(V*) √(alpha log(2SAT/delta)/(2(2−alpha))), t <= T.

    Proof. The successors at the visits of one pair are independent draws from its row (whatever the visiting
    times, which depend on the past only), so with K visits k_2 = gamma(1−R) Σ_{i<=K} alpha(1−alpha)^{K−i} X_i with
    independent centred X_i in an interval of length span(V*); the max-term of the paper's k_2 vanishes because
    (P_i − P)1 = 0. The squared weights sum to at most alpha²/(1−(1−alpha)²) = alpha/(2−alpha). Hoeffding's
    inequality, two-sided, and a union over the pairs and K = 1 … T.

    >>> noise_bound(gamma=0.5, radius=1.0, alpha=0.1, V_span=1.0, n_pairs=4, T=10, delta=0.1)
    0.0
    """
    log_term = math.log(2 * n_pairs * T / _probability("delta", delta))
    root = math.sqrt(validate.unit_interval("alpha", alpha) * log_term / (2 * (2 - alpha)))
    return gamma * (1 - radius) * V_span * root


def V_span_bound(gamma: float, radius: float, cost_span: float) -> float:
    """span(V*) <= span(cost)/(1 − gamma(1−R)) under contamination.

    V* is the ordinary optimal value at the discount gamma(1−R) plus a constant.
    """
    return cost_span / (1 - gamma * (1 - radius))


@dataclass(frozen=True)
class Frames:
    """`length` steps visit every pair at least `visits` times, in each of `count` frames, except with `delta`."""

    length: int
    visits: float
    count: int
    delta: float


def elementary_frames(*, tau: int, mu_min: float, n_pairs: int, count: int, delta: float) -> Frames:
    """A visit-count lemma with a short proof, instead of the constant 443.

    `tau` is a time with d(tau) <= mu_min/2 for the state-action chain (`mixing.t_mix` with that threshold).

    Proof. Whatever the past, tau steps later the chain is in x with probability at least mu(x) − mu_min/2 >=
    mu(x)/2. Within a frame take the times of one residue class modulo tau, without the first: n = ⌊L/tau⌋ − 1
    of them, each a success with conditional probability >= mu_min/2, so by the multiplicative Chernoff bound
    (the supermartingale form) there are fewer than n·mu_min/4 successes with probability at most
    exp(−n·mu_min/16). Sum over tau classes: m = tau·n·mu_min/4 visits; the union over classes, pairs and frames
    costs tau·SA·count·exp(−n·mu_min/16) <= delta.

    >>> elementary_frames(tau=1, mu_min=0.5, n_pairs=2, count=10, delta=0.1).length
    171
    """
    validate.count("tau", tau, least=1)
    _mu_min(mu_min)
    n = math.ceil(16 / mu_min * math.log(tau * n_pairs * count / _probability("delta", delta)))
    return Frames((n + 1) * tau, tau * n * mu_min / 4, count, delta)


@dataclass(frozen=True)
class ExplicitTheorem3:
    """After T steps with step size alpha, ‖Q_T − Q*‖ <= epsilon with probability at least 1 − delta."""

    T: int
    alpha: float
    frames: Frames
    epsilon: float
    delta: float


def explicit_theorem3(
    *,
    epsilon: float,
    delta: float,
    gamma: float,
    radius: float,
    n_pairs: int,
    mu_min: float,
    tau: int,
    cost_span: float = 1.0,
    psi_0: float | None = None,
) -> ExplicitTheorem3:
    """Theorem 3 without unknown constants: a T and an alpha that suffice for ‖Q_T − Q*‖ <= epsilon.

    Half of delta pays for the visits (`elementary_frames`), half for the noise (`noise_bound`, with
    span(V*) <= span(cost)/(1−gamma(1−R))). alpha is such that N/(1−gamma) <= epsilon/2, the number of frames
    such that (1−rho)^count ‖psi_0‖ <= epsilon/2; then `pathwise_bound` gives epsilon. As T stands in the
    logarithm, it is raised until it is consistent. `psi_0` defaults to span(cost)/(1−gamma), the bound for Q_0
    in the box [min cost, max cost]/(1−gamma) (Q_0 in [0, 1/(1−gamma)] for costs in [0,1]).

    >>> plan = explicit_theorem3(
    ...     epsilon=0.5, delta=0.1, gamma=0.5, radius=0.2, n_pairs=4, mu_min=0.25, tau=3)
    >>> 0 < plan.alpha < 1 and plan.T == plan.frames.length * plan.frames.count
    True
    """
    validate.positive("epsilon", epsilon)
    start = cost_span / (1 - gamma) if psi_0 is None else psi_0
    noise_scale = gamma * (1 - radius) * V_span_bound(gamma, radius, cost_span)
    T, previous = 1, 0
    while previous < T:
        previous = T
        log_term = math.log(4 * n_pairs * T / _probability("delta", delta))
        allowed = epsilon * (1 - gamma) / 2
        # 2 − alpha >= 1, so this alpha keeps the noise bound below `allowed`.
        alpha = min(1.0, 2 * (allowed / noise_scale) ** 2 / log_term) if noise_scale > 0 else 1.0
        plan = _plan(tau, mu_min, n_pairs, alpha, gamma, max(2 * start / epsilon, 1.0), delta / 2)
        T = max(T, plan.length * plan.count)
    return ExplicitTheorem3(plan.length * plan.count, alpha, plan, epsilon, delta)


def _plan(tau: int, mu_min: float, n_pairs: int, alpha: float, gamma: float, shrink: float, delta: float) -> Frames:
    """Frames that shrink the start by `shrink`; their number stands in their own length, so it is raised."""
    count, previous = 1, 0
    while count > previous:
        previous = count
        frames = elementary_frames(tau=tau, mu_min=mu_min, n_pairs=n_pairs, count=count, delta=delta)
        contraction = 1 - rho(gamma, alpha, frames.visits)
        needed = 1 if contraction <= 0 else math.ceil(math.log(shrink) / -math.log(contraction))
        count = max(count, needed, 1)
    return frames


def _last_crossing(factor: float, k: float) -> float:
    """The least T >= 1 from which on T >= factor·log(kT): beyond T = factor the gap only grows."""
    T = max(1.0, factor)
    while factor * math.log(k * T) > T:
        T *= 2
    lower = max(1.0, factor * math.log(k * T))
    while lower < T:
        T, lower = lower, max(1.0, factor * math.log(k * lower))
    return max(T, lower)


def _probability(name: str, value: float) -> float:
    number = validate.real(name, value)
    if not 0 < number < 1:
        raise ValueError(f"{name} must lie in (0, 1), got {number}")
    return number


def _mu_min(value: float) -> float:
    number = validate.real("mu_min", value)
    if not 0 < number <= 1:
        raise ValueError(f"mu_min must lie in (0, 1], got {number}")
    return number


def _positive_step(alpha: float) -> float:
    number = validate.real("alpha", alpha)
    if not 0 < number <= 1:
        raise ValueError(f"alpha must lie in (0, 1], got {number}")
    return number
