"""The constants of Theorem 3: printed, amended, the sharpest known, and the smallest that an instance forces.

*Sharpest known* varies one constant of the proved form (`q_learning.sharp_theorem3_T`) until the arithmetic of the
proof fails somewhere on a grid of parameters. *Forced* is by instances whose error or law is known in closed form:

- One state, one action, cost 1, Q_0 = 0: ‖Q_T − Q*‖ = (1−alpha(1−gamma))^T/(1−gamma). With alpha and T as printed it is
  at most epsilon only if c_0 c_1 >= log(1/(epsilon(1−gamma)))/(E·rate·step·(1−gamma)), without c_0, c_1 in the latter.
- Visits of a state of two that swap with probability p → 0: t_mix = log 2/(2p)·(1+o(1)), and the share of time in it is
  below x = ¼ with probability exp(−tp(1 − 2√(x(1−x)))(1+o(1))) (Donsker and Varadhan), so the constant of the visit
  counts is at least 1/(log 2·(1−√3/2)) = 10.76…; a search over chains of up to five states found no larger one.
  (Independent pairs give 2/(1−log 2) = 6.5, by Cramér.)
"""

import math
from itertools import product
from typing import Any

from oracles.bounds import q_learning
from properties.claims import evidence
from properties.claims.paper.noise import C_HAT

GAMMAS = (0.0, 0.25, 0.5, 0.75, 0.9, 0.99, 0.9999)
SHARES = (0.5, 0.375, 0.25, 2.0**-5, 2.0**-10, 2.0**-20)
"""epsilon times 1−gamma."""
PAIRS = (2, 100)
MIXING = (1, 100)
RADII = (0.0, 0.5, 1.0)
DELTAS = (0.9, 2.0**-20)


def _holds(visits: float, noise: float) -> bool:
    """Whether the bound is at most epsilon on the whole grid, with these constants in T."""
    cases = product(GAMMAS, SHARES, PAIRS, MIXING, RADII, DELTAS)
    return all(_bound(visits, noise, *case) <= 1.0 for case in cases)


def _bound(
    visits: float, noise: float, gamma: float, share: float, n_pairs: int, t_mix: int, radius: float, delta: float
) -> float:
    """(start + noise)/epsilon at the least T, mu_min = 1/n_pairs."""
    epsilon, mu_min = share / (1 - gamma), 1.0 / n_pairs
    common: dict[str, Any] = {
        "epsilon": epsilon, "gamma": gamma, "delta": delta, "n_pairs": n_pairs, "t_mix": t_mix, "radius": radius
    }  # fmt: skip
    T = math.ceil(q_learning.sharp_theorem3_T(**common, mu_min=mu_min, visits=visits, noise=noise))
    alpha = min(1.0, q_learning.sharp_theorem3_alpha(**common, T=T))
    frame = q_learning.frame_length(t_mix, mu_min, n_pairs, T, delta)
    rho = q_learning.rho(gamma, alpha, q_learning.FRAME_SHARE * mu_min * frame)
    log_start = (T // frame) * math.log1p(-rho) if rho < 1.0 else -math.inf if frame <= T else 0.0
    span = q_learning.V_span_bound(gamma, radius, 1.0)
    left = q_learning.noise_bound(
        gamma=gamma, radius=radius, alpha=alpha, V_span=span, n_pairs=n_pairs, T=T, delta=delta
    )
    return (math.exp(log_start) + left) / share


def smallest(which: str) -> float:
    """The smallest constant of the grid 1.02^k with which the arithmetic holds, the other as proved."""
    if not _holds(q_learning.SHARP_VISITS, q_learning.SHARP_NOISE):
        raise ArithmeticError("the proved constants of Theorem 3 fail on the grid")
    proved = {"visits": q_learning.SHARP_VISITS, "noise": q_learning.SHARP_NOISE}
    power = 0
    while _holds(**proved | {which: proved[which] * 1.02 ** (power - 1)}):
        power -= 1
    return proved[which] * 1.02**power


def forced_product() -> float:
    """The largest lower bound on c_0 c_1 over gamma and epsilon, by one state with cost 1."""

    def needed(gamma: float, epsilon: float) -> float:
        E = math.log(1 / (epsilon * (1 - gamma) ** 2))
        rate = 1 / ((1 - gamma) ** 5 * epsilon**2) + 1 / (1 - gamma)
        step = min(1.0, epsilon**2 * (1 - gamma) ** 4 / gamma**2)
        return math.log(1 / (epsilon * (1 - gamma))) / (E * rate * step * (1 - gamma))

    return max(needed(gamma, epsilon) for gamma, epsilon in product((0.5, 0.9, 0.99), (1e-2, 1e-6, 1e-12, 1e-100)))


FORCED_VISITS = 1 / (math.log(2) * (1 - math.sqrt(3) / 2))
"""The constant of the visit counts that two slow states force."""


def rows() -> list[tuple[str, str, str, str, str]]:
    """(constant, printed, amended, sharpest known, forced)."""
    found = evidence.committed_evidence()
    c_hat = found["k2-bound"].tightest or math.nan
    forced = f"c_0 c_1 ≥ {forced_product():.2f}"
    return [
        ("accuracy", "3 ε", "ε", "ε", "–"),
        ("probability", "1 − 6 δ", "1 − 2 δ", "1 − 2 δ", "–"),
        (
            "c_0, term with t_mix",
            "exists",
            "38",
            f"{smallest('visits'):.0f} on the grid, {q_learning.SHARP_VISITS:.0f} proved",
            forced,
        ),
        (
            "c_0, term with ε",
            "exists",
            "38",
            f"{smallest('noise'):.1f} on the grid, {q_learning.SHARP_NOISE:g} proved",
            forced,
        ),
        ("c_1", "exists", "1", "1", "–"),
        (
            "visit counts",
            "443",
            "443",
            f"{math.ceil(100.0 * q_learning.visit_constant(0.5)) / 100.0} proved, for all times and without T in the"
            " logarithm",
            f"{math.floor(10.0 * FORCED_VISITS) / 10.0}",
        ),
        (
            "visit counts, a quarter of the mean",
            "–",
            "–",
            f"{q_learning.visit_constant(q_learning.FRAME_SHARE):.0f} proved",
            "–",
        ),
        ("ĉ of the k_2 lemma", "exists", f"√6/5 = {C_HAT:.2f}", f"{C_HAT:.2f}", f"{C_HAT * c_hat:.2f}"),
        ("powers of the horizon at R > 0", "1/(1−γ)⁵", "1/(1−γ)⁵", "(1−R)²/((1−γ)³(1−γ(1−R))²)", "–"),
    ]
