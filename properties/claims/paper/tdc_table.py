"""The constants of robust TDC side by side: as printed, as corrected, and by Bessel's inequality."""

from typing import Any

from oracles.bounds.tdc import BesselConstants, CorrectedConstants, PrintedConstants
from oracles.bounds.tdc_rate import Steps, largest_alpha, tdc_bound, tracking_bound
from properties.claims.paper.tdc_attained import one_state_path

KINDS = (PrintedConstants, CorrectedConstants, BesselConstants)
EXAMPLE: dict[str, Any] = {
    "c_max": 1.0,
    "gamma": 0.9,
    "radius": 0.2,
    "n_states": 16,
    "varrho": 10.0,
    "K": 1.0,
    "lam": 0.01,
}
WORDS = "c_max = 1, γ = 0.9, R = 0.2, S = 16, ϱ = 10, K = K_ω = 1, λ = 0.01, α = β"
FORMULAS = {
    "L_J": ("2(L_δ² + C_δL'_δ)/λ", "2(L_δ² + γRϱC_δ)"),
    "K_z": ("K + C_δ/λ", "K_ω + C_δ/√λ"),
    "z_step": ("C_H + C_δC_G/λ", "C_H + (α/β)L_δC_G/√λ"),
    "C_G": ("C_δ + γK + 2γϱRK²", "C_δ + γK_ω"),
    "C_H": ("C_δ + K", "C_δ + K_ω"),
    "C_1": ("3C_δ²(1+1/λ)² + …", "3C_δ²(1+1/√λ)² + 3(α/β)²L_δ²C_G²/λ"),
    "C_Gstar": ("C_δ + C_δ/λ·(γ + 2γRϱK)", "C_δ(1 + γ/√λ)"),
    "L_Gstar": ("L_δ + (L_δ(γ + 2γRϱK) + C_δL'_δ)/λ", "L_δ + (γL_δ + γRϱC_δ)/√λ"),
    "C_h": ("L_δ/λ·(C_δ + γ(1−R) + …)", "L_δ/√λ·(C_{G*} + L_δC_δ)"),
    "L_h": ("L'_δ/L_δ·C_h + L_δ/λ·(L_{G*} + ½L_J)", "(γRϱ(C_{G*} + L_δC_δ) + L_δ(L_{G*} + ½L_J))/√λ"),
    "C_zeta": ("C_δL_δ/λ·(C_δL_δ/(2λ) + C_{G*})", "2L_δC_δ(L_δC_δ + C_{G*})"),
    "m_z": ("2(m_f + m_g + (α/β)m_h)", "the same sum"),
    "mp_z": ("2(m'_f + m'_g + (α/β)m'_h)", "the same sum"),
    "C_z": ("16K_z + 4K_zC_δ(1+1/λ) + 4K_zC_h·α/β", "2(K_z² + K_zC_δ(1+1/√λ) + K_zC_h·α/β)"),
}
NAMES = {"C_Gstar": "C_{G*}", "L_Gstar": "L_{G*}", "C_zeta": "C_ζ", "mp_z": "m'_z", "z_step": "‖z_{t+1} − z_t‖/β"}


def rows() -> list[tuple[str, ...]]:
    """(constant, printed, by Bessel, and the three values at the example)."""
    kinds = [kind(**EXAMPLE) for kind in KINDS]
    return [
        (NAMES.get(name, name), printed, sharper, *(f"{getattr(kind, name):.3g}" for kind in kinds))
        for name, (printed, sharper) in FORMULAS.items()
    ]


ONE_STATE: dict[str, Any] = {
    "c_max": 2.0**-10,
    "gamma": 0.0,
    "radius": 0.0,
    "n_states": 1,
    "varrho": 1.0,
    "K": 2.0**12,
    "lam": 1.0,
    "ratio": 2.0**-48,
}
BOUND_WORDS = (
    "The bounds with the three families of constants, and the value that an instance attains, which every bound must "
    "reach. One state: γ = 0, φ = 1, c = 2⁻¹⁰, K = K_ω = 4096, β = 2⁻⁵⁶, α = 2⁻¹⁰⁴; T = 16/β for the tracking error "
    "and 32/α for the gradient. The example is that of the table above with β = λ/6, half the largest α that is "
    "admissible with the printed constants, T = 10²⁰, m = 1, ρ = ½, z_0 = K_z and J(θ_0) = C_δ² of each family."
)


def bounds() -> list[tuple[str, ...]]:
    """(bound, printed, corrected, by Bessel, attained by an instance)."""
    beta = 2.0**-56
    alpha, K, cost = beta * ONE_STATE["ratio"], ONE_STATE["K"], ONE_STATE["c_max"]
    one = [kind(**ONE_STATE) for kind in KINDS]
    tracked, moved = (Steps(alpha, beta, T, 2.0**-20, 0.5) for T in (int(16 / beta), int(32 / alpha)))
    start = K - cost / 2
    tracking = [tracking_bound(c, tracked, K, 0.0) for c in one], K**2 * one_state_path(beta, tracked.T)
    gradient = [tdc_bound(c, moved, 0.0, start**2) for c in one], 4 * start**2 * one_state_path(alpha, moved.T)
    step = EXAMPLE["lam"] / 6
    example = [kind(**EXAMPLE) for kind in KINDS]
    steps = Steps(largest_alpha(example[0], step) / 2, step, 10**20, 1.0, 0.5)
    largest = [largest_alpha(c, step) for c in example]
    far = [tdc_bound(c, steps, c.K_z, c.C_delta**2) for c in example]
    near = [tracking_bound(c, steps, c.K_z, 0.0) for c in example]
    lines = [
        ("eq:trackingbound, one state", *tracking),
        ("eq:tdcbound, one state", *gradient),
        ("eq:trackingbound, the example, ∇J = 0", near, None),
        ("eq:tdcbound, the example", far, None),
        ("largest α at β = λ/6, the example (larger is better)", largest, None),
    ]
    return [
        (name, *(f"{x:.3g}" for x in found), "" if least is None else f"{least:.3g}") for name, found, least in lines
    ]
