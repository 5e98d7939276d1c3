"""Claims of Appendix D about the drift: E[h] = 0, the constants of h and of G(theta, omega(theta)), and their units.

The drift identities behind them hold for the implementation too: averaged over (s, a, s') under the stationary
distribution, one step of Algorithm 2 from (theta, omega) moves theta by alpha(E[delta phi] − E[gamma(...)phiᵀ]omega),
which at omega(theta) is −alpha/2·∇J(theta), and omega by −beta C(omega − omega(theta)).
"""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from oracles.arithmetic.ball import UNIT, Ball, up
from oracles.bounds.tdc import DEGREE, CorrectedConstants, PrintedConstants
from properties.cases.case import Case
from properties.claims.claim import Claim, Statement
from properties.claims.paper import linear_cases
from properties.claims.paper.linear import (
    Linear,
    Side,
    above,
    differs,
    inequality,
    largest,
    learner,
    number,
    problem_of,
    row_norms,
)
from properties.claims.sides import first
from properties.judging.verdict import Finding
from robust_core.trajectory import Transition


def _cases(*names: str, **options: Any) -> Any:
    return lambda: linear_cases.in_the_ball(*names, **options)


def noise(problem: Linear, theta: Ball) -> Ball:
    """G(theta, omega(theta)) + ½∇J(theta) of every transition."""
    return problem.G(theta, problem.omega(theta)) + (number(0.5) * problem.gradient(theta))[None, :]


def h_vectors(problem: Linear, theta: Ball) -> Ball:
    """−∇omega(theta)(G + ½∇J) of every transition: h is its product with z."""
    return -(noise(problem, theta) @ problem.jacobian(theta).T)


def _h_zero(*, sign: float = 1.0, **case: Any) -> Finding | None:
    """`sign` multiplies ½∇J."""
    problem, theta = problem_of(case), Ball.exact(case["theta"])
    G = problem.mean(problem.G(theta, problem.omega(theta)))
    z = Ball.exact(case["z"])
    total = G + number(sign * 0.5) * problem.gradient(theta)
    h = -((problem.jacobian(theta) @ total) * z).sum()
    return first(
        [
            differs("E[h(theta, z, Ô)]", h, number(0.0)),
            differs("E[G(theta, omega(theta))] + ½∇J", total, Ball.exact(np.zeros_like(case["theta"]))),
        ]
    )


H_ZERO = Claim(
    "h-zero",
    "Appendix D (lemma:h)",
    "E",
    "E_Ô[h(θ, z, Ô)] = 0",
    "Ŝ ~ μ, Â ~ π, Ŝ' ~ p",
    printed=Statement("Σ μ(s)π(a|s)p(s'|s,a) h(θ, z, (s,a,s')) = 0", _cases("theta", "z"), _h_zero),
    broken=Statement("the same with −½∇J in h", _cases("theta", "z"), lambda **case: _h_zero(**case, sign=-1.0)),
    note="Because E[G(θ, ω(θ))] = −½∇J. The text's Ô ~ μ × P leaves the policy out.",
)


def drift(**case: Any) -> Finding | None:
    """The mean of the implementation's steps of size 1, unprojected, from (theta, omega)."""
    problem, theta, omega = problem_of(case), Ball.exact(case["theta"]), Ball.exact(case["omega"])
    mdp, features = case["mdp"], case["features"]
    after: list[list[np.ndarray]] = [[], []]
    for s, a, s_next in np.ndindex(mdp.P.shape):
        robust = learner(mdp, features, case["radius"], case["varrho"], np.inf, case["theta"], 1.0, 1.0)
        robust.omega = case["omega"].copy()
        robust.update(Transition(s, a, float(mdp.cost[s, a]), s_next, 0, False))
        for moved, now, old in zip(after, robust.estimate(), (case["theta"], case["omega"]), strict=True):
            moved.append(now - old)
    # The implementation rounds as the balls do, then adds the old value and here takes it off again.
    exact = problem.G(theta, omega), problem.H(theta, omega)
    steps = [
        Ball(np.array(moved), up(2 * ball.rad + 4 * UNIT * (np.abs(ball.mid) + np.abs(old)), 4))
        for moved, ball, old in zip(after, exact, (case["theta"], case["omega"]), strict=True)
    ]
    wanted_theta = problem.moment(theta) - problem.outer_mean(problem.jump(theta), problem.phi) @ omega
    wanted_omega = -(problem.C @ (omega - problem.omega(theta)))
    return first(
        [
            differs("E[theta' − theta]", problem.mean(steps[0]), wanted_theta),
            differs("E[omega' − omega]", problem.mean(steps[1]), wanted_omega),
        ]
    )


# G(theta, omega(theta)) and h.


def _star(power: float, *, smooth: bool, lost: bool = False) -> Any:
    """C_{G*} and L_{G*} with λ^power; `smooth`: with the terms 2 gamma R varrho K; `lost`: without omega(theta)."""

    def sides(**case: Any) -> Iterable[Side]:
        problem = problem_of(case)
        c = problem.constants(case["K"])
        root = c.lam**power
        G_omega, curvature = (c.G_omega, c.Lp_delta) if smooth else (c.gamma, c.Lp_delta / 2)
        C_star = c.C_delta * (1.0 if lost else 1 + G_omega / root)
        L_star = c.L_delta + (c.L_delta * G_omega + c.C_delta * curvature) / root
        here, there = Ball.exact(case["theta"]), Ball.exact(case["other"])
        G = problem.G(here, problem.omega(here))
        gap = G - problem.G(there, problem.omega(there))
        far = math.hypot(*(case["theta"] - case["other"]))
        yield "‖G(θ, ω(θ))‖", largest(row_norms(G)), above(C_star)
        yield "‖G(theta, omega(theta)) − G(theta', omega(theta'))‖", largest(row_norms(gap)), above(L_star * far)

    return sides


G_STAR = Claim(
    "G-star",
    "Appendix D (before the ζ lemma)",
    "E",
    "‖G(θ, ω(θ))‖ ≤ C_{G*}, and it is L_{G*}-Lipschitz",
    "‖θ‖ ≤ K",
    printed=inequality(
        "‖G(θ, ω(θ))‖ ≤ C_δ + C_δ/λ·(γ + 2 ϱ K γ R); Lipschitz with L_δ + L_δ/λ·(γ + 2 γ R ϱ K) + C_δ L'_δ/λ",
        _cases("theta", "other"),
        _star(1.0, smooth=True),
    ),
    broken=inequality("‖G(θ, ω(θ))‖ ≤ C_δ", _cases("theta", "other"), _star(1.0, smooth=True, lost=True)),
    note="C_δ(1 + γ/√λ) and L_δ + (γ L_δ + γ R ϱ C_δ)/√λ are enough.",
)


def _h_constants(bessel: bool, *, lost: bool = False) -> Any:
    """C_h and L_h as printed or with 1/√λ; `lost`: without the factor L_delta/λ of ∇omega."""

    def sides(**case: Any) -> Iterable[Side]:
        problem = problem_of(case)
        c = problem.constants(case["K"])
        C_h, L_h = _bessel_h(c) if bessel else (c.C_h, c.L_h)
        if lost:
            C_h *= c.lam**2 / c.L_delta
        here, there = (h_vectors(problem, Ball.exact(case[name])) for name in ("theta", "other"))
        far = math.hypot(*(case["theta"] - case["other"]))
        yield "‖∇omega(G + ½∇J)‖", largest(row_norms(here)), above(C_h)
        yield "its increment", largest(row_norms(here - there)), above(L_h * far)

    return sides


def _bessel_h(c: PrintedConstants) -> tuple[float, float]:
    root, curvature = math.sqrt(c.lam), c.Lp_delta / 2
    inner = c.C_delta * (1 + c.gamma / root + c.L_delta)
    L_star = c.L_delta + (c.gamma * c.L_delta + curvature * c.C_delta) / root
    outer = L_star + c.L_delta**2 + curvature * c.C_delta
    return c.L_delta / root * inner, (curvature * inner + c.L_delta * outer) / root


H_CONST = Claim(
    "h-const",
    "Appendix D (lemma:h)",
    "E",
    "C_h bounds the vector of h and L_h its increments",
    "‖θ‖ ≤ K",
    printed=inequality(
        "‖∇ω(θ)(G + ½∇J)‖ ≤ C_h, and it is L_h-Lipschitz", _cases("theta", "other"), _h_constants(False)
    ),
    broken=inequality("C_h without its factor L_δ/λ²", _cases("theta", "other"), _h_constants(False, lost=True)),
    note="C_h has γ(1−R) in place of γ(1−R)C_δ/λ (wrong units, claim homogeneity). It also has 2L_δ C_δ/λ, although "
    "½‖∇J‖ ≤ L_δ C_δ/λ; this surplus covers the missing part. L_δ/√λ·C_δ(1 + γ/√λ + L_δ) is enough.",
)


# Units.


@st.composite
def _numbers(draw: st.DrawFn) -> Case:
    return {
        "c_max": draw(st.sampled_from((1.0, 0.0, 0.25))),
        "gamma": draw(st.sampled_from(linear_cases.GAMMAS)),
        "radius": draw(st.sampled_from(linear_cases.RADII)),
        "n_states": draw(st.integers(1, 5)),
        "varrho": draw(st.sampled_from(linear_cases.VARRHOS)),
        "K": draw(st.sampled_from(linear_cases.SCALES)),
        "lam": draw(st.sampled_from((0.5, 1.0, 0.25, 0.3))),
        "scale": draw(st.sampled_from((2.0, 0.5, 1024.0, 2.0**-10))),
    }


def find_misscaled(kind: type[PrintedConstants], **case: Any) -> dict[str, tuple[float, float]]:
    """The constants that do not scale with their unit: value after scaling, and what it should be.

    The scale is a power of two, so every product, quotient, sum and power of a right formula scales bit for bit.

    >>> numbers = dict(c_max=1.0, gamma=0.5, radius=0.0, n_states=2, varrho=1.0, K=1.0, lam=0.5, scale=2.0)
    >>> sorted(find_misscaled(PrintedConstants, **numbers)), find_misscaled(CorrectedConstants, **numbers)
    (['C_h', 'C_z', 'm_h', 'm_z', 'mp_f', 'mp_g', 'mp_h', 'mp_z', 'z_step'], {})
    """
    scale = case.pop("scale")
    scaled = case | {"c_max": case["c_max"] * scale, "K": case["K"] * scale, "varrho": case["varrho"] / scale}
    found = {}
    for source in ("list", "lemma"):
        here, there = kind(**case, source=source), kind(**scaled, source=source)
        for name, degree in DEGREE.items():
            got, wanted = getattr(there, name), getattr(here, name) * scale**degree
            if got != wanted:
                found[name] = (got, wanted)
    return found


def _homogeneous(kind: type[PrintedConstants]) -> Any:
    def judge(**case: Any) -> Finding | None:
        wrong = find_misscaled(kind, **case)
        if not wrong:
            return None
        name = next(iter(wrong))
        return Finding(f"{', '.join(wrong)} after scaling by {case['scale']}; {name}", *wrong[name])

    return judge


HOMOGENEITY = Claim(
    "homogeneity",
    "Appendix D, list of constants",
    "E",
    "every constant scales with its unit when cost, K and θ are scaled by s and ϱ by 1/s",
    printed=Statement(
        "every printed constant is homogeneous of the degree of what it bounds",
        _numbers,
        _homogeneous(PrintedConstants),
        exact=True,
    ),
    amended=Statement(
        "every corrected constant is homogeneous of the degree of what it bounds",
        _numbers,
        _homogeneous(CorrectedConstants),
        exact=True,
    ),
    amendment="correction",
    note="Not homogeneous: C_δ C_G/λ in eq:zupdatebound (hence m'_f, m'_g, m'_h, m'_z), γ(1−R) in C_h (hence L_h, "
    "m_h, m'_h) and 16K_z in C_z. A bound with mixed units cannot hold at every scale, unless another term is larger "
    "than necessary, as in C_h.",
)


@st.composite
def _scaled_paths(draw: st.DrawFn) -> Case:
    case = draw(linear_cases.in_the_ball("theta"))
    S, A = case["mdp"].n_states, case["mdp"].n_actions
    steps = st.tuples(st.integers(0, S - 1), st.integers(0, A - 1), st.integers(0, S - 1))
    case["path"] = np.array(draw(st.lists(steps, min_size=1, max_size=6)))
    case["scale"] = draw(st.sampled_from((2.0, 2.0**-10, 2.0**20)))
    return case


def _scaled(*, unit: float = -1.0, **case: Any) -> Finding | None:
    """The path of the scaled problem is the scaled path, bit for bit; varrho is scaled by scale**unit."""
    s, mdp = case["scale"], case["mdp"]
    K, theta, varrho = case["K"], case["theta"], case["varrho"]
    here = learner(mdp, case["features"], case["radius"], varrho, K, theta, 0.5, 0.25)
    there = learner(mdp, case["features"], case["radius"], varrho * s**unit, s * K, s * theta, 0.5, 0.25)
    for t, (state, a, s_next) in enumerate(case["path"].tolist()):
        cost = float(mdp.cost[state, a])
        here.update(Transition(state, a, cost, s_next, 0, False))
        there.update(Transition(state, a, s * cost, s_next, 0, False))
        for name, left, right in zip(("theta", "omega"), there.estimate(), here.estimate(), strict=True):
            if (left != s * right).any():
                return Finding(f"{name} after {t + 1} steps at scale {s}", left.tolist(), (s * right).tolist())
    return None


CLAIMS = (H_ZERO, H_CONST, G_STAR, HOMOGENEITY)

SHARPER = {
    "h-zero": Statement(
        "one step of the implementation has mean drift E[δ φ] − E[γ((1−R)φ' + R g)φᵀ]ω in θ "
        "(−½∇J at ω(θ)) and −C(ω − ω(θ)) in ω",
        _cases("theta", "omega", max_states=2),
        drift,
    ),
    "G-star": inequality(
        "C_{G*} = C_δ(1 + γ/√λ), L_{G*} = L_δ + (γ L_δ + γ R ϱ C_δ)/√λ",
        _cases("theta", "other"),
        _star(0.5, smooth=False),
    ),
    "homogeneity": Statement(
        "cost, K, θ scaled by s = 2^k and ϱ by 1/s: the implementation's path is scaled by s, bit for bit",
        _scaled_paths,
        _scaled,
    ),
    "h-const": inequality("C_h and L_h with 1/√λ", _cases("theta", "other"), _h_constants(True)),
}
"""Statements that say more than the paper, by the claim they sharpen."""
