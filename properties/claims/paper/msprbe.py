"""Claims of Section 5 about the objective J: its moments, projection, quadratic form, gradient and (non-)convexity.

Identities are decided in rationals: LSE(V) enters both sides as one number, and the identities hold for any number
in its place, so the float nearest to it is as good. The gradient is compared with the oracle's complex step, which
uses no formula for a derivative.

Non-convexity. With m = E[phi], ½∇²J = M C⁻¹Mᵀ + gamma R varrho (mᵀomega) Cov_softmax(phi). Lowering every cost by k
leaves M and the covariance alone and lowers mᵀomega by k·mᵀC⁻¹m. So if gamma R m != 0 and the features are not all
equal, J is non-convex for all low enough costs; otherwise the second term vanishes and J is convex, whatever the cost.
"""

from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st

from oracles.arithmetic.ball import Ball
from oracles.linear.msprbe import MSPRBE
from properties.cases.case import Case
from properties.claims.claim import Claim, Statement
from properties.claims.paper import linear_cases, one_sample
from properties.claims.paper.extensions import BOUNDED_VALUES, MAX_NOT_SMOOTH, NONLINEAR, TDC_MEMORY
from properties.claims.paper.linear import Linear, differs, dot, learner, lower, number, project, upper
from properties.claims.rationals import Matrix, Rationals, definite, fraction_array, inverse
from properties.claims.sides import equal, first
from properties.judging.verdict import Finding
from robust_core.mdp import MDP
from robust_core.smoothing import LogSumExp
from robust_core.trajectory import Transition
from robust_core.validate import Floats


def _points(**options: Any) -> st.SearchStrategy[Case]:
    return linear_cases.in_the_ball("theta", **options)


def _printed_C(model: Rationals) -> Matrix:
    """E[phiᵀphi], a number, as a matrix: times the identity."""
    square = ((model.Phi**2).sum(axis=1) * model.mu).sum()
    return fraction_array(np.eye(model.Phi.shape[1])) * square


def _second_moment(model: Rationals) -> Matrix:
    """E[phi phiᵀ], state by state."""
    return sum(mu * np.outer(phi, phi) for mu, phi in zip(model.mu, model.Phi, strict=True))


def _C_matrix(
    mdp: MDP, policy: Floats, features: Floats, radius: float, varrho: float, *, form: Any = _second_moment, **_: Any
) -> Finding | None:
    model = Rationals(mdp, policy, features)
    found = equal("C against ΦᵀDΦ", form(model), model.C)
    if found is not None:
        return found
    oracle = MSPRBE(mdp, policy, features, radius=radius, varrho=varrho)
    N = features.shape[1]
    eye = fraction_array(np.eye(N))
    error = np.abs(model.C - fraction_array(oracle.C.value)).max()
    facts = {
        "C is positive definite": definite(model.C, strictly=True),
        "C − floor·I is positive semi-definite": definite(model.C - Fraction(oracle.floor) * eye, strictly=False),
        "C − (λ + error)·I is not positive definite": not definite(
            model.C - Fraction(float(oracle.lam.upper)) * eye, strictly=True
        ),
        "trace C <= 1, so λ <= 1/N": np.trace(model.C) <= 1,
        "the oracle's C is within its bound": error <= Fraction(oracle.C.error_bound),
    }
    return next((Finding(fact, False, True) for fact, true in facts.items() if not true), None)


C_MATRIX = Claim(
    "C-matrix",
    "Section 5, Assumption 4",
    "E",
    "C = E[φ φᵀ] is non-singular, λ is its smallest eigenvalue",
    "features independent on the states that the policy visits",
    printed=Statement(
        "C = E_μ[φᵀφ], the matrix ΦᵀDΦ of J (φ a column, V = φᵀθ; the number read as a multiple of the identity)",
        _points,
        lambda **case: _C_matrix(**case, form=_printed_C),
        exact=True,
    ),
    amended=Statement(
        "C = E_μ[φ φᵀ] = ΦᵀDΦ, positive definite, 0 < λ ≤ 1/N; the oracle's C and λ are within their bounds",
        _points,
        _C_matrix,
        exact=True,
    ),
    amendment="correction",
    note="Assumption 4 has the right form; the definition above it has the transpose on the wrong factor. They agree "
    "for one feature. λ ≤ 1/N because the trace is E‖φ‖² ≤ 1, so every 1/λ in Appendix D is at least N.",
)


def _smooth(model: Rationals, theta: Floats, varrho: float) -> tuple[Matrix, Fraction]:
    """V = Φθ exactly, and the float nearest to LSE(V)."""
    V = model.Phi @ fraction_array(theta)
    return V, Fraction(LogSumExp(varrho).value([float(v) for v in V]))


def _expected_moment(model: Rationals, V: Matrix, smooth: Fraction, radius: float) -> Matrix:
    """E_mu[delta phi], transition by transition."""
    gamma, R = Fraction(model.mdp.gamma), Fraction(radius)
    total = 0 * model.Phi[0]
    for s, a, s_next in np.ndindex(model.P.shape):
        delta = Fraction(float(model.mdp.cost[s, a])) + gamma * (1 - R) * V[s_next] + gamma * R * smooth - V[s]
        total = total + model.mu[s] * model.pi[s, a] * model.P[s, a, s_next] * delta * model.Phi[s]
    return total


def _moment(
    mdp: MDP, policy: Floats, features: Floats, radius: float, varrho: float, K: float, theta: Floats,
    *, stationary: bool = True,
) -> Finding | None:  # fmt: skip
    del K
    model = Rationals(mdp, policy, features)
    V, smooth = _smooth(model, theta, varrho)
    D = model.mu if stationary else np.full_like(model.mu, Fraction(1, len(model.mu)))
    wanted = (model.Phi.T * D) @ (model.operator(V, smooth, radius) - V)
    return equal("E[delta phi] against ΦᵀD(T̂V − V)", _expected_moment(model, V, smooth, radius), wanted)


MOMENT = Claim(
    "moment",
    "Section 5",
    "E",
    "E_μ[δ φ] = ΦᵀD(T̂V − V)",
    "S ~ μ_π, A ~ π, S' ~ p",
    printed=Statement("E_μ[δ(θ) φ] = ΦᵀD(T̂_π V_θ − V_θ)", _points, _moment, exact=True),
    broken=Statement("the same with D = I/S", _points, lambda **case: _moment(**case, stationary=False)),
)


def _proj(
    mdp: MDP, policy: Floats, features: Floats, radius: float, varrho: float, K: float, theta: Floats,
    *, weighted: bool = True,
) -> Finding | None:  # fmt: skip
    """`weighted`: C is ΦᵀDΦ, not ΦᵀΦ."""
    del K
    model = Rationals(mdp, policy, features)
    D, Pi = np.diag(model.mu) + Fraction(0), model.projection()
    C = model.C if weighted else model.Phi.T @ model.Phi
    claimed = D.T @ model.Phi @ inverse(C) @ model.Phi.T @ D
    V = model.Phi @ fraction_array(theta)
    oracle = MSPRBE(mdp, policy, features, radius=radius, varrho=varrho).projection
    return first(
        [
            equal("ΠᵀDΠ against DᵀΦ(ΦᵀDΦ)⁻¹ΦᵀD", Pi.T @ D @ Pi, claimed),
            equal("ΠΠ against Π", Pi @ Pi, Pi),
            equal("ΠV against V in the span", Pi @ V, V),
            differs("the oracle's Π", Ball(oracle.value, np.full_like(oracle.value, oracle.error_bound)), _ball(Pi)),
        ]
    )


def _ball(values: Matrix) -> Ball:
    """Fractions rounded to floats."""
    mid = values.astype(np.float64)
    return Ball(mid, np.spacing(np.abs(mid)))


PROJ = Claim(
    "proj",
    "Section 5",
    "E",
    "ΠᵀDΠ = DᵀΦ(ΦᵀDΦ)⁻¹ΦᵀD",
    "Π the projection on the span of the features in ‖·‖_μ; ΦᵀDΦ non-singular",
    printed=Statement("ΠᵀDΠ = DᵀΦ(ΦᵀDΦ)⁻¹ΦᵀD, Π from Gram-Schmidt in rationals", _points, _proj, exact=True),
    broken=Statement("the same with ΦᵀΦ for ΦᵀDΦ", _points, lambda **case: _proj(**case, weighted=False)),
    note="D is diagonal, so Dᵀ = D; Π = ΦC⁻¹ΦᵀD.",
)


def _J_form(
    mdp: MDP, policy: Floats, features: Floats, radius: float, varrho: float, K: float, theta: Floats,
    *, C: Any = None,
) -> Finding | None:  # fmt: skip
    """`C`: what stands for C (None: the matrix)."""
    del K
    model = Rationals(mdp, policy, features)
    V, smooth = _smooth(model, theta, varrho)
    error = model.projection() @ model.operator(V, smooth, radius) - V
    b = _expected_moment(model, V, smooth, radius)
    matrix = model.C if C is None else C(model)
    return equal(
        "‖ΠT̂V − V‖² against E[delta phi]ᵀC⁻¹E[delta phi]", (error**2 * model.mu).sum(), b @ inverse(matrix) @ b
    )


J_FORM = Claim(
    "J-form",
    "Section 5 (eq:sMSPRBE)",
    "E",
    "J = ‖ΠT̂V − V‖²_μ = E[δ φ]ᵀC⁻¹E[δ φ]",
    "C the matrix E[φ φᵀ] (claim C-matrix), non-singular",
    printed=Statement("‖ΠT̂_π V_θ − V_θ‖²_μ = E[δ φ]ᵀC⁻¹E[δ φ]", _points, _J_form, exact=True),
    broken=Statement(
        "the same with the number C = E[φᵀφ] of the text", _points, lambda **case: _J_form(**case, C=_printed_C)
    ),
)


def _J_grad(
    mdp: MDP, policy: Floats, features: Floats, radius: float, varrho: float, K: float, theta: Floats,
    *, transposed: bool = False,
) -> Finding | None:  # fmt: skip
    """Both displays against a complex step; `transposed`: the first one with the transpose that is printed."""
    del K
    problem, point = Linear(mdp, policy, features, radius, varrho), Ball.exact(theta)
    omega, M = problem.omega(point), problem.M(point)
    truth = problem.oracle.complex_gradient(theta)
    half = Ball(-truth.value / 2, np.full_like(truth.value, truth.error_bound / 2))
    second = problem.moment(point) - problem.outer_mean(problem.jump(point), problem.phi) @ omega
    return first(
        [
            differs("−½∇J, first display", -((M.T if transposed else M) @ omega), half),
            differs("−½∇J, second display", second, half),
        ]
    )


J_GRAD = Claim(
    "J-grad",
    "Section 5",
    "E",
    "two displayed forms of −½∇J",
    "C the matrix E[φ φᵀ]",
    printed=Statement(
        "−½∇J = −E[(∇δ)φᵀ]ᵀC⁻¹E[δ φ] (the text has a product of two columns, (∇δ)φ, then the "
        "transpose) = E[δ φ] − γ E[((1−R)φ' + R∇LSE)φᵀ]ω(θ)",
        _points,
        lambda **case: _J_grad(**case, transposed=True),
    ),
    amended=Statement(
        "−½∇J = −E[(∇δ)φᵀ]C⁻¹E[δ φ] = E[δ φ] − γ E[((1−R)φ' + R∇LSE)φᵀ]ω(θ)",
        _points,
        _J_grad,
    ),
    amendment="correction",
    note="Only the first display is wrong, and only for two or more features. (∇δ)φ can be read as an outer product or "
    "as an inner product: the outer product ∇δ φᵀ must not be transposed, and the inner product is a number. "
    "φ(∇δ)ᵀ under the transpose would be right. The second display, which the algorithm uses, holds (∇LSE in θ: "
    "Φᵀsoftmax).",
)


def _curvature(problem: Linear, theta: Floats) -> tuple[Ball, Floats, Ball]:
    """½xᵀ∇²Jx, the direction x of largest variance of the features under softmax, and that variance."""
    hessian = problem.oracle.hessian_ball(theta)
    weights = np.exp(problem.varrho * (problem.features @ theta - (problem.features @ theta).max()))
    weights /= weights.sum()
    centred = problem.features - weights @ problem.features
    covariance = (weights[:, None] * centred).T @ centred
    x = np.linalg.eigh(covariance)[1][:, -1]
    quadratic = number(0.5) * dot(Ball.exact(x), hessian @ Ball.exact(x))
    return quadratic, x, number(float(x @ covariance @ x))


def _is_quadratic(problem: Linear) -> bool:
    """Whether gamma R E[phi] = 0 exactly or all features are equal: then J is a convex quadratic."""
    model = Rationals(problem.mdp, problem.policy, problem.features)
    mean = (model.Phi.T * model.mu).sum(axis=1)
    weight = problem.mdp.gamma * problem.radius
    return weight == 0.0 or not any(mean) or bool((problem.features == problem.features[0]).all())


def _never_convex(mdp: MDP, policy: Floats, features: Floats, radius: float, varrho: float, **_: Any) -> Finding | None:
    problem = Linear(mdp, policy, features, radius, varrho)
    if (features == features[0]).all() or not _is_quadratic(problem):
        return None
    return Finding("J with gamma R > 0 and E[phi] = 0", "a convex quadratic in theta", "not convex")


def _small(mdp: MDP, policy: Floats, features: Floats, **_: Any) -> float:
    """Closeness of E[phi] to 0 (for features that differ)."""
    mean = Linear(mdp, policy, features, 0.0, 1.0).oracle.mu @ features
    return 0.0 if (features == features[0]).all() else 1.0 - float(np.abs(mean).max())


def _convex_or_not(
    mdp: MDP, policy: Floats, features: Floats, radius: float, varrho: float, K: float, theta: Floats,
    *, direction: float = -1.0,
) -> Finding | None:  # fmt: skip
    """Convex at theta if gamma R E[phi] = 0 or all features are equal; else lower costs make J non-convex at 0."""
    del K
    problem = Linear(mdp, policy, features, radius, varrho)
    if _is_quadratic(problem):
        hessian = problem.oracle.hessian_ball(theta)
        x = np.linalg.eigh((hessian.mid + hessian.mid.T) / 2)[1][:, 0]
        least = dot(Ball.exact(x), hessian @ Ball.exact(x))
        return Finding("xᵀ∇²Jx", float(least.mid), "not negative") if upper(least) < 0.0 else None
    origin = np.zeros_like(theta)
    quadratic, x, variance = _curvature(problem, origin)
    mean = problem.mean(problem.phi)
    gain = mdp.gamma * radius * varrho * float((variance * dot(mean, problem.apply_inverse(mean))).mid)
    k = 2 * abs(float(quadratic.mid)) / gain + 1.0
    lowered = Linear(MDP(mdp.P, mdp.cost + direction * k, mdp.gamma), policy, features, radius, varrho)
    result = dot(Ball.exact(x), lowered.oracle.hessian_ball(origin) @ Ball.exact(x))
    return (
        Finding(f"xᵀ∇²Jx at costs {direction * k:+.3g}", float(result.mid), "negative") if lower(result) > 0.0 else None
    )


def _two_states() -> st.SearchStrategy[Case]:
    return _points(
        min_states=2, max_states=2, max_actions=1, max_features=1, gammas=linear_cases.GAMMAS[2:], radii=(1.0, 0.5),
        rows=((0.5, 0.5), (0.75, 0.25), (0.25, 0.75)), vectors=((1.0,), (-1.0,), (0.5,)),
    )  # fmt: skip


J_NONCONVEX = Claim(
    "J-nonconvex",
    "Section 5.2",
    "E",
    "unlike in the vanilla problem, J is non-convex",
    "R > 0",
    printed=Statement("J is not convex (for every problem with γ R > 0)", _two_states, _never_convex, _small),
    amended=Statement(
        "if γ R E[φ] ≠ 0 and the features differ, J is non-convex once all costs are low enough (by an explicit "
        "k); otherwise J is a convex quadratic, whatever the costs",
        _points,
        _convex_or_not,
    ),
    amendment="hypothesis",
    broken=Statement(
        "non-convex once all costs are high enough", _points, lambda **case: _convex_or_not(**case, direction=1.0)
    ),
    note="If E[φ] = 0, J is an exact square, because γ R·LSE enters b only through E[φ]. If E[φ] ≠ 0, the sign of "
    "E[φ]ᵀω decides: high costs make J locally convex, low costs make it concave in the directions on which "
    "softmax depends. Costs in [0, 1] are enough: φ = (¾, −1), c = (0, 1), p(1|0) = ¼, p(1|1) = 1/16, γ = 15/16, "
    "R = 1, ϱ = 16 has J''(0) = −1.117.",
)


@st.composite
def _paths(draw: st.DrawFn) -> Case:
    case = draw(linear_cases.in_the_ball("theta", radii=(0.0,)))
    S, A = case["mdp"].n_states, case["mdp"].n_actions
    steps = st.tuples(st.integers(0, A - 1), st.integers(0, S - 1))
    case["path"] = np.array([(0, 0), *draw(st.lists(steps, min_size=1, max_size=6))])
    case["alpha"], case["beta"] = draw(st.sampled_from(((0.5, 0.5), (1.0, 1.0), (0.125, 0.5), (1.0, 0.0))))
    return case


def _vanilla(
    mdp: MDP, policy: Floats, features: Floats, radius: float, varrho: float, K: float, theta: Floats,
    path: np.ndarray, alpha: float, beta: float,
) -> Finding | None:  # fmt: skip
    """The learner's path against vanilla TDC in balls; both round alike, so twice the radius is allowed."""
    del policy
    robust = learner(mdp, features, radius, varrho, K, theta, alpha, beta)
    point, omega = Ball.exact(theta), Ball.exact(np.zeros_like(theta))
    gamma, s = number(mdp.gamma), int(path[0, 1])
    for t, (a, s_next) in enumerate(path[1:].tolist()):
        robust.update(Transition(s, a, float(mdp.cost[s, a]), s_next, 0, False))
        phi, phi_next = Ball.exact(features[s]), Ball.exact(features[s_next])
        delta = number(mdp.cost[s, a]) + gamma * dot(phi_next, point) - dot(phi, point)
        tracked = dot(phi, omega)
        point, omega = (
            project(point + number(alpha) * (delta * phi - gamma * tracked * phi_next), K)[0],
            project(omega + number(beta) * (delta - tracked) * phi, K)[0],
        )
        for name, got, wanted in zip(("theta", "omega"), robust.estimate(), (point, omega), strict=True):
            found = differs(f"{name} after {t + 1} steps", Ball.exact(got), Ball(wanted.mid, 2 * wanted.rad))
            if found is not None:
                return found
        s = s_next
    return None


TDC_VANILLA = Claim(
    "tdc-vanilla",
    "Section 5.1",
    "P",
    "R = 0 reduces Algorithm 2 to vanilla TDC",
    "the same projection",
    printed=Statement("at R = 0 the path of Algorithm 2 is that of (projected) vanilla TDC", _paths, _vanilla),
    broken=Statement("the same at R = 2^-10", _paths, lambda radius, **case: _vanilla(radius=2.0**-10, **case)),
)

CLAIMS = (
    MAX_NOT_SMOOTH,
    C_MATRIX,
    MOMENT,
    PROJ,
    J_FORM,
    J_GRAD,
    J_NONCONVEX,
    TDC_VANILLA,
    TDC_MEMORY,
    NONLINEAR,
    BOUNDED_VALUES,
    *one_sample.CLAIMS,
)
