"""The lemma on E[h] (lemma:h) with the printed constants: a proof for every λ, every number of features, τ_β >= 1.

The printed proof bounds a drift by C_δ C_G/λ where L_δ C_G/λ belongs, which is too small for small costs. The lemma is
true all the same. Write v = ∇ω(θ)(G(θ,ω(θ)) + ½∇J(θ)), so h = −⟨z,v⟩ and E_μ v = 0, and let u = t − τ, τ = τ_β >= 1.
With Bessel's inequality (module tdc_constants), for ‖φ‖ <= 1 and points of the balls,

    ‖∇ω‖ <= A = L_δ/√λ,   ‖G(θ,ω(θ))‖ <= B = C_δ(1+γ/√λ),   ‖z‖ <= K_z' = K + C_δ/√λ,   ‖v‖ <= 2AB,
    v is L_h'-Lipschitz in θ, L_h' = (γRϱ/√λ)(B + L_δC_δ) + A(L_δ + (γL_δ + γRϱC_δ)/√λ + L_δ² + γRϱC_δ),
    ‖z_t − z_u‖ <= τβZ, Z = C_H + L_δC_G/√λ, C_G = C_δ + γK,   ‖θ_t − θ_u‖ <= τβC_G          (α <= β).

Split h at (θ_t, z_t) into h at (θ_u, z_u), the part −⟨z_t − z_u, v(θ_u, O_t)⟩ and the part −⟨z_t, v(θ_t,O_t) −
v(θ_u,O_t)⟩. Given the past up to u the law of O_t is within mρ^τ <= β of the stationary one. So the mean of the first
is at most 2K_z'AB·β (the oscillation of ⟨z, ∇ωG⟩); that of the second at most τβZ·(E_μ‖v‖ + β max‖v‖); the third at
most K_z'L_h'·τβC_G. If ‖E_μ G‖ = eB, then E_μ‖v‖ <= AB√(1−e²) (the standard deviation of a vector of length at most B)
and max‖v‖ <= AB(1+e), and √(1−e²) + β(1+e) <= β + √(1+β²) for every e:

    E[h] <= 2K_z'AB·β + τβ((β + √(1+β²))AB·Z + K_z'L_h'C_G).                                                 (1)

Always E[h] <= 2K_z'AB, which is at most m_hβ + m_h'τβ if β >= β_0 = 2K_z'AB/(m_h + m_h'). Below β_0 the right side of
(1) is at most (m_h + m_h'τ)β if, since 2K_z'AB <= m_h = 2K_zC_h,

    (β_0 + √(1+β_0²))AB·Z + K_z'L_h'C_G <= m_h' = C_h(C_H + C_δC_G/λ) + K_zL_hC_G.                     (2)

With C_δ = x, K = kx, γRϱC_δ = w this is, after multiplication by λ³/x², an inequality between polynomials with
non-negative coefficients in √λ, γ, R, 1−R, k, w, x and 1/x. Right minus left grows with w (the coefficients of w are
C_G(kλ+1)(2λ+8L_δ) on the right and at most half of it on the left), and w >= γ²R² log S >= γ²R² log 2 if there are two
states. In x it is a/x + bx + c with a, b >= 0, at least 2√(ab) + c. What is left, √λ, γ, R in [0,1] and k in [0,
1/(1+γ)], is divided into cells on which the right side is bounded at the lower and the left side at the upper corner
(`margins`); after seven divisions (2) is shown on every cell (`failing_cells`).

With one state ∇ω = γ−1, v does not depend on θ, and AB·Z <= (1−γ)(1+γ/√λ)((1+k) + (1−γ)(1+γk))x² <= 2(1+k)x²/√λ, while
C_hC_H >= 3(1+k)x²/λ and 2K_z'AB <= m_h/3, so β_0 <= 1/3 and (2) holds because 2(β_0 + √(1+β_0²)) <= 2.78 <= 3.
"""

import numpy as np

from robust_core.validate import Floats

LOG2 = 0.6931
"""Below log 2."""
ROUNDING = 1e-12
"""More than the relative rounding of the operations below."""
ALL_CELLS = np.array([[[0.0, 1.0]] * 4])
MOST_CELLS = 2_000_000
"""More are not divided further."""


def _corners(cells: Floats) -> tuple[list[Floats], list[Floats]]:
    """(√λ, γ, R, k) at the lower and at the upper ends; cells have k(1+γ) as their last side."""
    low, high = [cells[:, i, 0] for i in range(4)], [cells[:, i, 1] for i in range(4)]
    low[3], high[3] = low[3] / (1 + high[1]), high[3] / (1 + low[1])
    return low, high


def margins(cells: Floats, *, drift: float = 1.0) -> Floats:
    """A lower bound on (right − left)/right of (2) times λ³/x² on every cell; `drift` multiplies AB·Z."""
    (r, g, R, k), (r_, g_, R_, k_) = _corners(cells)
    L, L_ = 1 + g, 1 + g_
    w = LOG2 * (g * R) ** 2
    # The right side from below.
    speed, noise = 1 + g * k, r**2 + 2 * L
    printed = L * r**2 * (1 + k) * noise + L * speed * r**2 * g * (1 - R_)
    printed += 2 * L * r**2 * np.sqrt((1 + k) * g * (1 - R_) * speed * noise)
    printed += speed * (k * r**2 + 1) * (L**2 * (r**2 + L + g) + w * (2 * r**2 + 8 * L))
    # The left side from above.
    speed_, product = 1 + g_ * k_, L_ * (r_ + g_) * r_**3
    tracked = 2 * (k_ * r_ + 1) * product / (2 * (k * r**2 + 1) * L * noise + printed)
    left = drift * (tracked + np.sqrt(1 + tracked**2)) * product * (r_ * (1 + k_) + L_ * speed_)
    curved = w * ((1 + L_) * r_ + g_ + L_ * (1 + r_))
    left += speed_ * (k_ * r_ + 1) * r_**3 * (L_**2 * (r_ + g_ + L_ * r_) + curved)
    return (printed - left) / printed - ROUNDING


def failing_cells(*, depth: int, drift: float = 1.0) -> Floats:
    """The cells on which (2) is not shown after `depth` divisions of the unit cube, (n, 4, 2); none is a proof."""
    cells = ALL_CELLS
    for _ in range(depth):
        cells = _halves(cells)
        cells = cells[margins(cells, drift=drift) < 0.0]
        if not len(cells) or len(cells) > MOST_CELLS:
            break
    return cells


def _halves(cells: Floats) -> Floats:
    """Every cell divided into sixteen."""
    for side in range(4):
        middle = cells[:, side].mean(axis=1)
        lower, upper = cells.copy(), cells.copy()
        lower[:, side, 1], upper[:, side, 0] = middle, middle
        cells = np.concatenate([lower, upper])
    return cells
