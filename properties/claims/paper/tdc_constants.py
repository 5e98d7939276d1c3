"""Claims of Appendix D about single points: bounds and Lipschitz constants of delta, omega, G, f, g, h and ∇J.

All are evaluated in balls at lambda's certified lower bound, where the constants are largest: a finding is certain.

Why 1/√λ is enough where the paper has 1/λ (`SHARPER`). For X in L²(mu), ‖C⁻¹E[Xphi]‖ = ‖C^{-1/2}(C^{-1/2}E[Xphi])‖
<= ‖X‖/√λ, since C^{-1/2}E[Xphi] has the norm of the projection of X on the features (Bessel). With X = delta, its
increments and its slope this gives ‖omega‖ <= C_delta/√λ, Lip(omega) = ‖∇omega‖ <= L_delta/√λ, and for ∇J, whose
both factors are such moments, no λ at all: ‖∇²J‖ <= 2(L_delta² + gamma R varrho C_delta).
"""

import math
from collections.abc import Iterable
from typing import Any

from oracles.arithmetic.ball import Ball
from oracles.bounds.tdc import BesselBounds
from properties.cases.case import Case
from properties.claims.claim import Claim
from properties.claims.paper import tdc_delta, tdc_drift, tdc_recursion, tdc_sums
from properties.claims.paper.linear import (
    Side,
    above,
    dot,
    inequality,
    largest,
    norm,
    operator_norm,
    problem_of,
    row_norms,
)
from properties.claims.paper.tdc_delta import FAR, distance, in_ball, point, where_inside

# J and omega.


def _omega_increment(power: float, lost: float = 0.0) -> Any:
    """Against (L_delta − lost)/λ^power."""

    def sides(**case: Any) -> Iterable[Side]:
        problem = problem_of(case)
        c = problem.constants(case["K"])
        gap = problem.omega(point(case)) - problem.omega(point(case, "other"))
        yield "‖ω(θ) − ω(θ')‖", norm(gap), above((c.L_delta - lost) / c.lam**power * distance(case))

    return sides


OMEGA_LIP = Claim(
    "omega-lip",
    "Appendix D (lemma:Jlsmooth, eq:zupdatebound)",
    "E",
    "ω(θ) is L_δ/λ-Lipschitz",
    "‖φ‖ ≤ 1; any θ",
    printed=inequality("‖ω(θ) − ω(θ')‖ ≤ L_δ/λ·‖θ − θ'‖", in_ball("theta", "other"), _omega_increment(1.0)),
    broken=inequality("ω is γ/λ-Lipschitz", in_ball("theta", "other"), _omega_increment(1.0, lost=1.0)),
    note="L_δ/√λ is enough (Bessel).",
)


def _J_lipschitz(bessel: bool = False) -> Any:
    """The four inequalities of the proof and the lemma; `bessel`: its sharper form."""

    def sides(**case: Any) -> Iterable[Side]:
        problem, c = problem_of(case), problem_of(case).constants(case["K"])
        here, there, far = point(case), point(case, "other"), distance(case)
        M, N = problem.M(here), problem.M(there)
        omega = problem.omega(here)
        if not bessel:
            yield "‖E[∇delta phiᵀ]‖", operator_norm(M), above(c.L_delta)
            yield "‖E[∇delta phiᵀ] − E[∇delta' phiᵀ]‖", operator_norm(M - N), above(c.Lp_delta * far)
            yield "‖C⁻¹E[delta phi]‖", norm(omega), above(c.C_delta / c.lam)
            yield "‖omega − omega'‖", norm(omega - problem.omega(there)), above(c.L_delta / c.lam * far)
        L_J = BesselBounds(c).hessian if bessel else 2 * (c.L_delta**2 + c.C_delta * c.Lp_delta) / c.lam
        yield "‖∇J(theta) − ∇J(theta')‖", norm(problem.gradient(here) - problem.gradient(there)), above(L_J * far)

    return sides


J_LIP = Claim(
    "J-lip",
    "Appendix D (lemma:Jlsmooth)",
    "E",
    "∇J is L_J-Lipschitz, and the four inequalities of the proof",
    "‖φ‖ ≤ 1, |c| ≤ c_max",
    printed=inequality(
        "for any θ, θ': ‖E[∇δ φᵀ]‖ ≤ L_δ, its increments ≤ L'_δ‖θ − θ'‖, ‖ω‖ ≤ "
        "C_δ/λ, its increments ≤ L_δ/λ·‖θ − θ'‖, ‖∇J − ∇J'‖ ≤ L_J‖θ − θ'‖",
        in_ball("theta", "other", reach=FAR),
        _J_lipschitz(),
    ),
    amended=inequality(
        "the same for ‖θ‖, ‖θ'‖ ≤ K, L_J = 2(L_δ² + C_δ L'_δ)/λ",
        in_ball("theta", "other"),
        where_inside(_J_lipschitz(), "theta", "other"),
    ),
    amendment="hypothesis",
    note="C_δ bounds δ only on the ball; beyond it ‖ω‖ grows with θ and so does the Hessian along "
    "ties of the features. On the ball 2(L_δ² + γ R ϱ C_δ) is enough: no 1/λ, no factor 2 in "
    "L'_δ.",
)


# G, H and the functions of the noise lemmas.


def _size(which: str, bounds: Any) -> Any:
    """‖G‖ or ‖H‖ at points of the ball against each of the bounds."""

    def sides(**case: Any) -> Iterable[Side]:
        problem = problem_of(case)
        left = largest(row_norms(getattr(problem, which)(point(case), point(case, "omega"))))
        for name, bound in bounds(lambda source: problem.constants(case["K"], source=source), case["K"]):
            yield f"‖{which}‖ against {name}", left, above(bound)

    return sides


def _both_C_G(c: Any, K: float) -> Any:
    sharpest = c("list").C_delta + c("list").gamma * K
    return (("eq:Gbound", c("lemma").C_G), ("the list", c("list").C_G), ("C_delta of the list + gamma K", sharpest))


G_BOUND = Claim(
    "G-bound",
    "Appendix D (eq:Gbound) and its list of constants",
    "P",
    "‖G_t‖ ≤ C_G, with both printed values",
    "‖θ_t‖, ‖ω_t‖ ≤ K",
    printed=inequality(
        "‖G_t‖ ≤ C_δ + γ K (eq:Gbound), and ≤ C_δ + γ K + 2 γ ϱ R K² (the list)",
        in_ball("theta", "omega"),
        _size("G", _both_C_G),
    ),
    broken=inequality(
        "‖G_t‖ ≤ C_δ + γ K with c_max forgotten",
        in_ball("theta", "omega"),
        _size("G", lambda c, K: [("(1 + 2 gamma)K", (1 + 2 * c("list").gamma) * K)]),
    ),
    note="C_δ + γ K with C_δ of the list is enough: Φᵀsoftmax is an average of features. The extra term of "
    "the list, 2 γ ϱ R K², is not needed and dominates for large ϱ K.",
)
H_BOUND = Claim(
    "H-bound",
    "Appendix D (eq:Hbound)",
    "P",
    "‖H_t‖ ≤ C_H = C_δ + K",
    "‖θ_t‖, ‖ω_t‖ ≤ K",
    printed=inequality(
        "‖H_t‖ ≤ C_δ + K",
        in_ball("theta", "omega"),
        _size("H", lambda c, K: [("C_H", c("list").C_H)]),
    ),
    broken=inequality(
        "‖H_t‖ ≤ C_δ", in_ball("theta", "omega"), _size("H", lambda c, K: [("C_delta", c("list").C_delta)])
    ),
)


def _z(case: Case, name: str, K_z: float) -> Ball:
    """A point of the ball of radius K_z (cases have it scaled to K)."""
    return Ball.exact(case[name] / case["K"] * K_z)


def _g_lipschitz(factor: float = 1.0) -> Any:
    def sides(**case: Any) -> Iterable[Side]:
        problem = problem_of(case)
        c = problem.constants(case["K"])
        inverse = 1 + 1 / c.lam
        z, z_other = _z(case, "z", c.K_z), _z(case, "z_other", c.K_z)

        def vector(name: str) -> Ball:
            theta = point(case, name)
            tracked = problem.phi @ problem.omega(theta)
            return (problem.delta(theta) - tracked)[:, None] * problem.phi

        gap = vector("theta") @ z - vector("other") @ z_other
        bound = factor * inverse * (
            c.K_z * c.L_delta * distance(case) + c.C_delta * math.hypot(*(z.mid - z_other.mid))
        )  # fmt: skip
        yield "|g(θ,z) − g(θ',z')|", largest(gap), above(bound)

    return sides


G_LIP = Claim(
    "g-lip",
    "Appendix D (eq:glip)",
    "E",
    "g is Lipschitz in (θ, z)",
    "‖θ‖ ≤ K, ‖z‖ ≤ K_z",
    printed=inequality(
        "|g(θ,z) − g(θ',z')| ≤ K_z L_δ(1+1/λ)‖θ − θ'‖ + C_δ(1+1/λ)‖z − z'‖",
        in_ball("theta", "other", "z", "z_other"),
        _g_lipschitz(),
    ),
    broken=inequality(
        "the same with a quarter of the right side", in_ball("theta", "other", "z", "z_other"), _g_lipschitz(0.25)
    ),
    note="K_z and 1+1/λ can be lowered to K + C_δ/√λ and 1+1/√λ. The display writes a signed difference for its "
    "absolute value.",
)


def _f_lipschitz(factor: float) -> Any:
    def sides(**case: Any) -> Iterable[Side]:
        problem = problem_of(case)
        K_z = problem.constants(case["K"]).K_z
        z, w = _z(case, "z", K_z), _z(case, "z_other", K_z)

        def f(x: Ball) -> Ball:
            along = problem.phi @ x
            return dot(x, problem.C @ x) - along * along

        yield "|f(z) − f(z')|", largest(f(z) - f(w)), above(factor * K_z * math.hypot(*(z.mid - w.mid)))

    return sides


F_LIP = Claim(
    "f-lip",
    "Appendix D (eq:flip)",
    "E",
    "f is 4K_z-Lipschitz",
    "‖φ‖ ≤ 1, ‖z‖, ‖z'‖ ≤ K_z",
    printed=inequality("|f(z) − f(z')| ≤ 4K_z‖z − z'‖", in_ball("z", "z_other"), _f_lipschitz(4.0)),
    broken=inequality("f is K_z-Lipschitz", in_ball("z", "z_other"), _f_lipschitz(1.0)),
    note="C and φ φᵀ lie between 0 and I, so ‖C − φ φᵀ‖ ≤ 1. The constant 2K_z is therefore enough, and it is sharp.",
)


def _G_omega(smooth: bool) -> Any:
    """`smooth`: with the term 2 gamma R varrho K of the paper."""

    def sides(**case: Any) -> Iterable[Side]:
        problem, theta = problem_of(case), point(case)
        gap = problem.G(theta, point(case, "omega")) - problem.G(theta, point(case, "other"))
        factor = problem.constants(case["K"]).G_omega if smooth else case["mdp"].gamma
        yield "‖G(θ,ω) − G(θ,ω')‖", largest(row_norms(gap)), above(factor * distance(case, "omega"))

    return sides


def _G_omega_half(**case: Any) -> Iterable[Side]:
    return [(what, left, bound / 2) for what, left, bound in _G_omega(smooth=False)(**case)]


G_OMEGA_LIP = Claim(
    "G-omega-lip",
    "Appendix D (eq:G2lip)",
    "E",
    "G is (γ + 2 γ R ϱ K)-Lipschitz in ω",
    "‖φ‖ ≤ 1; any θ (the text asks for ‖θ‖ ≤ R, meaning K)",
    printed=inequality(
        "‖G(θ,ω) − G(θ,ω')‖ ≤ (γ + 2 γ R ϱ K)‖ω − ω'‖",
        in_ball("theta", "omega", "other"),
        _G_omega(smooth=True),
    ),
    broken=inequality("G is γ/2-Lipschitz in ω", in_ball("theta", "omega", "other"), _G_omega_half),
    note="γ is enough, and sharp: the term 2 γ R ϱ K is not needed.",
)

SHARES = (0.25, 4.0)
"""Radii of omega, as shares of that of theta."""


def _separate_radii(**case: Any) -> Iterable[Side]:
    """‖G‖, ‖H‖ and ‖z‖ for ‖theta‖ <= K and ‖omega‖ <= K_omega, by Bessel."""
    problem, theta = problem_of(case), point(case)
    for share in SHARES:
        c = problem.constants(case["K"], bessel=True, K_omega=share * case["K"])
        omega = Ball.exact(share * case["omega"])
        yield "‖G‖ against C_δ + γK_ω", largest(row_norms(problem.G(theta, omega))), above(c.C_G)
        yield "‖H‖ against C_δ + K_ω", largest(row_norms(problem.H(theta, omega))), above(c.C_H)
        yield "‖z‖ against K_ω + C_δ/√λ", norm(omega - problem.omega(theta)), above(c.K_z)


CLAIMS: tuple[Claim, ...] = (
    *tdc_delta.CLAIMS, J_LIP, OMEGA_LIP, G_BOUND, H_BOUND, G_LIP, F_LIP, G_OMEGA_LIP, *tdc_recursion.CLAIMS,
    *tdc_drift.CLAIMS, *tdc_sums.DRIFT_CLAIMS,
)  # fmt: skip

SHARPER = {
    "J-lip": inequality(
        "‖∇J − ∇J'‖ ≤ 2(L_δ² + γ R ϱ C_δ)‖θ − θ'‖ on the ball",
        in_ball("theta", "other"),
        _J_lipschitz(bessel=True),
    ),
    "G-bound": inequality(
        "for ‖ω‖ ≤ K_ω, another radius than that of θ: ‖G‖ ≤ C_δ + γK_ω, ‖H‖ ≤ C_δ + K_ω, ‖z‖ ≤ K_ω + C_δ/√λ",
        in_ball("theta", "omega"),
        _separate_radii,
    ),
    "omega-lip": inequality("ω is L_δ/√λ-Lipschitz", in_ball("theta", "other"), _omega_increment(0.5)),
    "f-lip": inequality("f is 2K_z-Lipschitz", in_ball("z", "z_other"), _f_lipschitz(2.0)),
    "G-omega-lip": inequality("G is γ-Lipschitz in ω", in_ball("theta", "omega", "other"), _G_omega(smooth=False)),
}
"""Statements that say more than the paper, by the claim they sharpen."""
