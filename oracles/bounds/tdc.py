"""Constants of the finite-time analysis of robust TDC (Appendix D), as printed and as corrected.

`PrintedConstants` follows the paper to the letter; where the list of constants at the end of Appendix D and the
lemma in the text differ, `source` chooses. `CorrectedConstants` replaces exactly those that are wrong, each with
its derivation. Both hold for ‖φ_s‖ <= 1, |c| <= c_max, ‖θ‖ <= K, ‖omega‖ <= K and step sizes alpha <= beta.

Units decide much: multiply cost, K and θ by s and varrho by 1/s, and every quantity must be multiplied by
s^`DEGREE`. Where a printed constant does not, it cannot be right.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from robust_core import validate

Source = Literal["list", "lemma"]

DEGREE: Mapping[str, int] = MappingProxyType(
    {
        "C_delta": 1, "L_delta": 0, "Lp_delta": -1, "L_J": 0, "C_1": 2, "C_G": 1, "C_H": 1, "K_z": 1, "z_step": 1,
        "m_f": 2, "mp_f": 2, "m_g": 2, "mp_g": 2, "C_h": 1, "L_h": 0, "m_h": 2, "mp_h": 2, "C_Gstar": 1,
        "L_Gstar": 0, "C_zeta": 2, "m_zeta": 2, "mp_zeta": 2, "G_omega": 0, "C_z": 2, "m_z": 2, "mp_z": 2,
    }
)  # fmt: skip
"""The power of the scale with which every constant must grow."""


@dataclass(frozen=True)
class PrintedConstants:
    """Every constant of Appendix D as the paper prints it (L'_δ is `Lp_delta`, C_{G*} is `C_Gstar`, …).

    >>> PrintedConstants(1.0, gamma=0.5, radius=0.0, n_states=2, varrho=1.0, K=1.0, lam=0.5).C_delta
    2.5
    """

    c_max: float
    gamma: float
    radius: float
    n_states: int
    varrho: float
    K: float
    lam: float
    source: Source = "list"
    ratio: float = 1.0
    """alpha/beta, where a constant contains it."""

    def __post_init__(self) -> None:
        validate.non_negative("c_max", self.c_max)
        validate.discount("gamma", self.gamma)
        validate.unit_interval("radius", self.radius)
        validate.count("n_states", self.n_states, least=1)
        validate.positive("varrho", self.varrho)
        validate.positive("K", self.K)
        if not 0 < validate.real("lam", self.lam) <= 1:
            raise ValueError(f"lam must lie in (0, 1] (C has trace at most 1 when ‖φ‖ <= 1), got {self.lam}")
        if self.source not in ("list", "lemma"):
            raise ValueError(f"source must be 'list' or 'lemma', got {self.source!r}")
        if not 0 < validate.real("ratio", self.ratio) <= 1:
            raise ValueError(f"ratio = alpha/beta must lie in (0, 1], got {self.ratio}")

    @property
    def C_delta(self) -> float:
        """|δ| <= C_δ: Lemma `lemma:delta` counts gamma·R·K twice, the list once (which is enough)."""
        gap = math.log(self.n_states) / self.varrho
        twice = self.K if self.source == "lemma" else 0.0
        return self.c_max + self.gamma * self.radius * (twice + gap) + (1 + self.gamma) * self.K

    @property
    def L_delta(self) -> float:
        """δ is (1+gamma)-Lipschitz."""
        return 1 + self.gamma

    @property
    def Lp_delta(self) -> float:
        """L'_δ = 2 gamma R varrho bounds ∇²δ (eq:nndelta); half of it is enough, see `hessian_delta_bound`."""
        return 2 * self.gamma * self.radius * self.varrho

    @property
    def omega_slope(self) -> float:
        """omega(θ) is L_δ/λ-Lipschitz."""
        return self.L_delta / self.lam

    @property
    def L_J(self) -> float:
        """∇J is L_J-Lipschitz on ‖θ‖ <= K (`lemma:Jlsmooth`)."""
        return 2 * (self.L_delta**2 + self.C_delta * self.Lp_delta) / self.lam

    @property
    def C_1(self) -> float:
        """Claimed: 3‖δφ − φφᵀomega(θ)‖² + 3‖omega(θ_t) − omega(θ_{t+1})‖²/beta² <= C_1 (eq:1)."""
        second = self.C_delta + (1 + 2 * self.radius * self.varrho * self.K) * self.C_delta / self.lam
        return 3 * (self.C_delta * (1 + 1 / self.lam)) ** 2 + 3 * second**2

    @property
    def C_G(self) -> float:
        """‖G‖ <= C_G: eq:Gbound prints C_δ + gamma K, the list adds 2 gamma varrho R K² (not needed)."""
        extra = 2 * self.gamma * self.varrho * self.radius * self.K**2 if self.source == "list" else 0.0
        return self.C_delta + self.gamma * self.K + extra

    @property
    def C_H(self) -> float:
        """‖H‖ <= C_H (eq:Hbound)."""
        return self.C_delta + self.K

    @property
    def K_z(self) -> float:
        """‖z‖ <= K_z."""
        return self.K + self.C_delta / self.lam

    @property
    def z_step(self) -> float:
        """The factor of beta in eq:zupdatebound, ‖z_{t+1} − z_t‖ <= beta·z_step when alpha <= beta."""
        return self.C_H + self.C_delta * self.C_G / self.lam

    @property
    def G_omega(self) -> float:
        """eq:G2lip: G is (gamma + 2 gamma R varrho K)-Lipschitz in omega (gamma is enough)."""
        return self.gamma + 2 * self.gamma * self.radius * self.varrho * self.K

    @property
    def m_f(self) -> float:
        """E[f] <= m_f beta + m'_f tau beta."""
        return 8 * self.K_z**2

    @property
    def mp_f(self) -> float:
        """m'_f."""
        return 8 * self.K_z * self.z_step

    @property
    def m_g(self) -> float:
        """E[g] <= m_g beta + m'_g tau beta."""
        return 4 * self.K_z * (1 + 1 / self.lam) * self.C_delta

    @property
    def mp_g(self) -> float:
        """m'_g."""
        inverse = 1 + 1 / self.lam
        return 4 * self.K_z * self.L_delta * self.C_G * inverse + self.C_delta * inverse * self.z_step

    @property
    def C_Gstar(self) -> float:
        """‖G(θ, omega(θ))‖ <= C_{G*}."""
        return self.C_delta + self.C_delta / self.lam * self.G_omega

    @property
    def L_Gstar(self) -> float:
        """G(θ, omega(θ)) is L_{G*}-Lipschitz."""
        return self.L_delta + (self.L_delta * self.G_omega + self.C_delta * self.Lp_delta) / self.lam

    @property
    def C_h(self) -> float:
        """‖∇omega(θ)(G + ∇J/2)‖ <= C_h (`lemma:h`)."""
        g, R = self.gamma, self.radius
        inner = 2 * self.varrho * self.K * g * R * self.C_delta / self.lam
        return self.L_delta / self.lam * (
            self.C_delta + g * (1 - R) + inner + 2 * self.L_delta * self.C_delta / self.lam
        )  # fmt: skip

    @property
    def L_h(self) -> float:
        """The Lipschitz constant of the vector in h."""
        outer = self.L_delta / self.lam * (self.L_Gstar + self.L_J / 2)
        return self.Lp_delta / self.L_delta * self.C_h + outer

    @property
    def m_h(self) -> float:
        """E[h] <= m_h beta + m'_h tau beta."""
        return 2 * self.K_z * self.C_h

    @property
    def mp_h(self) -> float:
        """m'_h."""
        return self.C_h * self.z_step + self.K_z * self.L_h * self.C_G

    @property
    def C_zeta(self) -> float:
        """|ζ| <= C_ζ, ζ = ⟨∇J, ∇J/2 + G(θ, omega(θ))⟩."""
        slope = self.C_delta * self.L_delta / self.lam
        return slope * (slope / 2 + self.C_Gstar)

    @property
    def m_zeta(self) -> float:
        """m_ζ = 2C_ζ."""
        return 2 * self.C_zeta

    @property
    def mp_zeta(self) -> float:
        """m'_ζ."""
        slope = self.C_delta * self.L_delta / self.lam
        return self.C_G * (self.L_J * slope + slope * self.L_Gstar + self.L_J * self.C_Gstar)

    @property
    def C_z(self) -> float:
        """The factor of the transient in the tracking error (the paper also writes c_z)."""
        noise = 4 * self.K_z * self.C_delta * (1 + 1 / self.lam)
        return 16 * self.K_z + noise + 4 * self.K_z * self.C_h * self.ratio

    @property
    def m_z(self) -> float:
        """m_z = 2m_f + 2m_g + 2(alpha/beta)m_h."""
        return 2 * (self.m_f + self.m_g + self.ratio * self.m_h)

    @property
    def mp_z(self) -> float:
        """m'_z = 2m'_f + 2m'_g + 2(alpha/beta)m'_h."""
        return 2 * (self.mp_f + self.mp_g + self.ratio * self.mp_h)

    @property
    def early(self) -> dict[str, float]:
        """The bounds of the noise lemmas on E[f], E[g], E[h], E[ζ] before tau."""
        return {
            "f": 4 * self.K_z**2,
            "g": 2 * self.K_z * (1 + 1 / self.lam) * self.C_delta,
            "h": self.K_z * self.C_h,
            "zeta": self.C_zeta,
        }


class CorrectedConstants(PrintedConstants):
    """The constants of Appendix D with the wrong ones replaced, and the two loose ones (C_G, G_omega) taken tight.

    Every one below is derived where it stands; the others are inherited because the printed form is valid.
    """

    @property
    def C_G(self) -> float:
        """‖G‖ <= |δ| + gamma‖(1−R)φ' + R g‖·|φᵀomega| <= C_δ + gamma K: g is an average of features."""
        return self.C_delta + self.gamma * self.K

    @property
    def G_omega(self) -> float:
        """G(θ,omega) − G(θ,omega') = −gamma((1−R)φ' + R g)φᵀ(omega − omega'): gamma-Lipschitz."""
        return self.gamma

    @property
    def z_step(self) -> float:
        """‖z_{t+1} − z_t‖ <= beta‖H‖ + ‖omega(θ_{t+1}) − omega(θ_t)‖ <= beta C_H + alpha L_δ C_G/λ.

        The paper writes C_δ for the Lipschitz constant L_δ (and drops beta in the first line). C_δC_G has the
        unit cost², L_δC_G the unit cost.
        """
        return self.C_H + self.ratio * self.L_delta * self.C_G / self.lam

    @property
    def C_1(self) -> float:
        """3(C_δ + C_δ/λ)² + 3(alpha/beta)²(L_δC_G/λ)².

        The second part bounds 3‖omega(θ_t) − omega(θ_{t+1})‖²/beta², and omega is L_δ/λ-Lipschitz along a step of
        at most alpha·C_G. The printed second part is a bound on ‖G(θ,omega(θ))‖² without the factor L_δ/λ.
        """
        second = self.ratio * self.L_delta * self.C_G / self.lam
        return 3 * (self.C_delta * (1 + 1 / self.lam)) ** 2 + 3 * second**2

    @property
    def C_h(self) -> float:
        """‖∇omega‖·(‖G(θ,omega(θ))‖ + ‖∇J‖/2) <= L_δ/λ·(C_{G*} + L_δC_δ/λ).

        The printed form has gamma(1−R) without the factor ‖omega(θ)‖ <= C_δ/λ, so it is not homogeneous.
        """
        return self.L_delta / self.lam * (self.C_Gstar + self.L_delta * self.C_delta / self.lam)

    @property
    def C_zeta(self) -> float:
        """‖∇J‖(‖∇J‖/2 + C_{G*}) with ‖∇J‖ = 2‖M omega‖ <= 2L_δC_δ/λ; the printed form lost the factor 2."""
        slope = 2 * self.C_delta * self.L_delta / self.lam
        return slope * (slope / 2 + self.C_Gstar)

    @property
    def mp_zeta(self) -> float:
        """C_G times the Lipschitz constant of ζ: L_J(‖∇J‖/2 + C_{G*}) + ‖∇J‖(L_J/2 + L_{G*}), ‖∇J‖ as in C_ζ."""
        slope = 2 * self.C_delta * self.L_delta / self.lam
        return self.C_G * (self.L_J * slope + slope * self.L_Gstar + self.L_J * self.C_Gstar)

    @property
    def C_z(self) -> float:
        """8K_z² + 4K_zC_δ(1+1/λ) + 2K_zC_h·alpha/beta: twice the bounds of the three lemmas before tau_beta.

        A_t starts from E[f] <= 4K_z², so its transient is 2·4K_z²; the paper loses the square (16K_z).
        """
        noise = 4 * self.K_z * self.C_delta * (1 + 1 / self.lam)
        return 8 * self.K_z**2 + noise + 2 * self.K_z * self.C_h * self.ratio


@dataclass(frozen=True)
class BesselConstants(CorrectedConstants):
    """Every constant of Appendix D by Bessel's inequality: 1/√λ where the paper has 1/λ, and none in L_J and ‖∇J‖.

    theta lies in the ball of radius K, omega in that of radius `K_omega` (K if it is not given). With X among δ, its
    increments and its slope, ‖C⁻¹E[Xφ]‖ <= sup|X|/√λ, and ‖E[Xφ]ᵀC⁻¹E[Yφ]‖ <= sup|X| sup|Y|. Oscillations replace
    twice the maximum where the lemmas compare a law with the stationary one. Steps with alpha/beta = `ratio`.

    >>> sizes = dict(c_max=1.0, gamma=0.5, radius=0.0, n_states=2, varrho=1.0, K=1.0, lam=0.25)
    >>> PrintedConstants(**sizes).K_z, BesselConstants(**sizes).K_z, BesselConstants(**sizes, K_omega=5.0).K_z
    (11.0, 6.0, 10.0)
    """

    K_omega: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.K_omega is not None:
            validate.positive("K_omega", self.K_omega)

    @property
    def _root(self) -> float:
        return math.sqrt(self.lam)

    @property
    def _tracked(self) -> float:
        """The radius of omega."""
        return self.K if self.K_omega is None else self.K_omega

    @property
    def Lp_delta(self) -> float:
        """‖∇²δ‖ <= gamma R varrho: half the printed one (`hessian_delta_bound`)."""
        return hessian_delta_bound(self.gamma, self.radius, self.varrho)

    @property
    def slope(self) -> float:
        """½‖∇J‖ = ‖Mω‖ <= L_δC_δ."""
        return self.L_delta * self.C_delta

    @property
    def omega_slope(self) -> float:
        """L_δ/√λ."""
        return self.L_delta / self._root

    @property
    def L_J(self) -> float:
        """2(L_δ² + L'_δC_δ)."""
        return 2 * (self.L_delta**2 + self.Lp_delta * self.C_delta)

    @property
    def C_G(self) -> float:
        """C_δ + gamma K_omega."""
        return self.C_delta + self.gamma * self._tracked

    @property
    def C_H(self) -> float:
        """C_δ + K_omega."""
        return self.C_delta + self._tracked

    @property
    def K_z(self) -> float:
        """K_omega + C_δ/√λ."""
        return self._tracked + self.C_delta / self._root

    @property
    def z_step(self) -> float:
        """C_H + (alpha/beta)L_δC_G/√λ."""
        return self.C_H + self.ratio * self.L_delta * self.C_G / self._root

    @property
    def C_1(self) -> float:
        """3C_δ²(1+1/√λ)² + 3(alpha/beta)²L_δ²C_G²/λ."""
        second = self.ratio * self.L_delta * self.C_G / self._root
        return 3 * (self.C_delta * (1 + 1 / self._root)) ** 2 + 3 * second**2

    @property
    def C_Gstar(self) -> float:
        """C_δ(1 + gamma/√λ)."""
        return self.C_delta * (1 + self.gamma / self._root)

    @property
    def L_Gstar(self) -> float:
        """L_δ + (gamma L_δ + L'_δC_δ)/√λ."""
        return self.L_delta + (self.gamma * self.L_delta + self.Lp_delta * self.C_delta) / self._root

    @property
    def C_h(self) -> float:
        """L_δ/√λ·(C_{G*} + L_δC_δ)."""
        return self.L_delta / self._root * (self.C_Gstar + self.slope)

    @property
    def L_h(self) -> float:
        """L'_δ/√λ·(C_{G*} + L_δC_δ) + L_δ/√λ·(L_{G*} + ½L_J)."""
        return (self.Lp_delta * (self.C_Gstar + self.slope) + self.L_delta * (self.L_Gstar + self.L_J / 2)) / self._root

    @property
    def m_f(self) -> float:
        """2K_z²: |f| <= K_z², because C and φφᵀ lie between 0 and I."""
        return 2 * self.K_z**2

    @property
    def mp_f(self) -> float:
        """2K_z·z_step: f is 2K_z-Lipschitz."""
        return 2 * self.K_z * self.z_step

    @property
    def m_g(self) -> float:
        """2K_zC_δ(1+1/√λ)."""
        return 2 * self.early["g"]

    @property
    def mp_g(self) -> float:
        """(1+1/√λ)(K_zL_δC_G·alpha/beta + C_δ·z_step)."""
        moved = self.K_z * self.L_delta * self.C_G * self.ratio + self.C_delta * self.z_step
        return (1 + 1 / self._root) * moved

    @property
    def mp_h(self) -> float:
        """C_h·z_step + K_zL_hC_G·alpha/beta."""
        return self.C_h * self.z_step + self.K_z * self.L_h * self.C_G * self.ratio

    @property
    def C_zeta(self) -> float:
        """2L_δC_δ(L_δC_δ + C_{G*})."""
        return 2 * self.slope * (self.slope + self.C_Gstar)

    @property
    def mp_zeta(self) -> float:
        """C_G(L_J(L_δC_δ + C_{G*}) + 2L_δC_δ(½L_J + L_{G*}))."""
        return self.C_G * (
            self.L_J * (self.slope + self.C_Gstar) + 2 * self.slope * (self.L_J / 2 + self.L_Gstar)
        )  # fmt: skip

    @property
    def early(self) -> dict[str, float]:
        """K_z², K_zC_δ(1+1/√λ), K_zC_h and C_ζ."""
        return {
            "f": self.K_z**2,
            "g": self.K_z * (1 + 1 / self._root) * self.C_delta,
            "h": self.K_z * self.C_h,
            "zeta": self.C_zeta,
        }

    @property
    def C_z(self) -> float:
        """Twice the bounds before tau_beta: 2(K_z² + K_zC_δ(1+1/√λ) + (alpha/beta)K_zC_h)."""
        return 2 * (self.early["f"] + self.early["g"] + self.ratio * self.early["h"])


def hessian_delta_bound(gamma: float, radius: float, varrho: float) -> float:
    """‖∇²δ‖ = gamma R varrho ‖Cov_softmax(φ)‖ <= gamma R varrho when ‖φ‖ <= 1: half the printed L'_δ."""
    return gamma * radius * varrho


@dataclass(frozen=True)
class BesselBounds:
    """Bounds on J and its derivatives without 1/λ, for ‖φ‖ <= 1 and |δ| <= C_δ at the points in question.

    For X, Y in L²(mu), E[Xφ]ᵀC⁻¹E[Yφ] is the inner product of the projections of X and Y on the features, so it is
    at most ‖X‖‖Y‖ (Bessel). With X, Y among δ, xᵀ∇δ (<= 1+gamma), xᵀ∇²δx (<= gamma R varrho) this gives the
    properties below; ‖omega‖ = ‖C^{-1/2}(C^{-1/2}E[δφ])‖ <= √J/√λ.
    """

    constants: PrintedConstants

    @property
    def J(self) -> float:
        """J <= C_δ²."""
        return self.constants.C_delta**2

    @property
    def omega(self) -> float:
        """‖omega(θ)‖ <= C_δ/√λ."""
        return self.constants.C_delta / math.sqrt(self.constants.lam)

    @property
    def omega_lipschitz(self) -> float:
        """omega is (1+gamma)/√λ-Lipschitz."""
        return self.constants.L_delta / math.sqrt(self.constants.lam)

    def gradient(self, J: float) -> float:
        """‖∇J‖ <= 2(1+gamma)√J."""
        return 2 * self.constants.L_delta * math.sqrt(J)

    @property
    def hessian(self) -> float:
        """‖∇²J‖ <= 2((1+gamma)² + gamma R varrho C_δ)."""
        c = self.constants
        return 2 * (c.L_delta**2 + hessian_delta_bound(c.gamma, c.radius, c.varrho) * c.C_delta)
