"""Sentences about extensions and about what robust TDC needs: variance reduction, smooth function classes, memory.

**variance-reduction.** With the target T_{s'}Q = c + gamma(R max V + (1−R)V(s')) of one sample, variance reduction uses
T_{s'}Q − T_{s'}Q' + (the mean of T_{s_i}Q' over n further samples) for a reference table Q'. The terms with R max V do
not depend on samples, so mean and variance are those of (1−R)gamma times the ordinary ones.

**nonlinear.** One parameter: V_theta(s) is a quadratic in theta, phi = V', and J = m²/C with m = E[delta phi] and
C = E[phi²]. Then −½J' = −(m/C)m' + ½(m/C)²C', with m' = E[delta' phi] + E[delta phi'] and C' = 2E[phi phi'], where
phi' = V''. The smooth maximum enters by its value and its derivative only, so both are drawn as numbers.
"""

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from hypothesis import strategies as st

from oracles.arithmetic import exact
from oracles.planning import rational
from properties.cases.case import Case
from properties.claims.claim import Claim, Statement
from properties.claims.paper.linear import learner
from properties.claims.paper.linear_cases import VECTORS, in_the_ball, one_step, problems
from properties.claims.rationals import Rationals, fraction_array
from properties.claims.sides import at_most, dot, equal, first, fractions
from properties.judging.verdict import Finding
from properties.strategies import mdps, q_tables, radii
from robust_core.mdp import MDP
from robust_core.sets import Contamination
from robust_core.trajectory import Transition
from robust_core.validate import Floats

# variance-reduction.


@st.composite
def _two_tables(draw: st.DrawFn) -> Case:
    mdp = draw(mdps(max_states=3, max_actions=2))
    return {
        "mdp": mdp,
        "radius": draw(radii()),
        "Q": draw(q_tables(mdp)),
        "reference": draw(q_tables(mdp)),
        "samples": draw(st.integers(1, 2)),
    }


def _variance(p: tuple[Fraction, ...], v: tuple[Fraction, ...]) -> Fraction:
    return dot(p, tuple(x * x for x in v)) - dot(p, v) ** 2


def _reduced(
    mdp: MDP, radius: float, Q: Floats, reference: Floats, samples: int, *, shared: bool = False
) -> Finding | None:
    """Mean and variance of the target, over all samples; `shared`: the first further sample is s' itself."""
    gamma, R = Fraction(mdp.gamma), Fraction(radius)
    V, W = fractions(Q.min(axis=1)), fractions(reference.min(axis=1))
    scale = gamma * (1 - R)
    for (s, row), a in product(enumerate(exact.kernel(mdp)), range(mdp.n_actions)):
        p = row[a].fractions()
        base = Fraction(float(mdp.cost[s, a])) + gamma * R * max(V)
        mean = square = Fraction(0)
        for drawn in product(range(len(p)), repeat=samples + (not shared)):
            weight = Fraction(1)
            for k in drawn:
                weight *= p[k]
            further = drawn if shared else drawn[1:]
            target = base + scale * (V[drawn[0]] - W[drawn[0]] + sum((W[k] for k in further), Fraction(0)) / samples)
            mean, square = mean + weight * target, square + weight * target**2
        gap = tuple(x - y for x, y in zip(V, W, strict=True))
        wanted = scale**2 * (_variance(p, gap) + _variance(p, W) / samples)
        found = first(
            [
                equal(f"mean target at {(s, a)}", mean, rational.backup(mdp, Contamination(radius), Q)[s][a]),
                equal(f"variance of the target at {(s, a)}", square - mean**2, wanted),
            ]
        )
        if found is not None:
            return found
    return None


VARIANCE_REDUCTION = Claim(
    "variance-reduction",
    "Section 4, after Theorem 3",
    "E",
    "variance reduction can be combined with robust Q-learning",
    "contamination; a reference table V̄ and n further samples of the pair",
    printed=Statement(
        "the target T_{s'}Q − T_{s'}Q̄ + (1/n)Σ T_{s_i}Q̄ has mean TQ and variance γ²(1−R)²(Var_p[V − V̄] + Var_p[V̄]/n)",
        _two_tables,
        _reduced,
        exact=True,
    ),
    broken=Statement(
        "the same if s' is one of the n samples", _two_tables, lambda **case: _reduced(**case, shared=True)
    ),
    note="The variance is that of the ordinary method times (1−R)², so its analysis applies. That the power of 1/(1−γ) "
    "improves is a theorem about the ordinary method and is not checked here.",
)


# max-not-smooth.


def _kinks(features: Floats, theta: Floats, *, anywhere: bool = False, differ: bool = False) -> Finding | None:
    """Whether max_s phi_s·theta has a kink at 0 (`anywhere`: at theta too), or, if `differ`, where features differ."""
    Phi, point = fraction_array(features), fraction_array(theta)
    values = Phi @ point
    best = [s for s in range(len(Phi)) if values[s] == values.max()]
    is_constant = all((row == Phi[0]).all() for row in Phi)
    if differ and is_constant:
        return None
    smooth = all((Phi[s] == Phi[best[0]]).all() for s in best)
    return first(
        [
            equal("max V_theta is differentiable at 0", is_constant, False),
            equal("max V_theta is differentiable at theta", smooth, False) if anywhere else None,
        ]
    )


@st.composite
def _points(draw: st.DrawFn) -> Case:
    S, N = draw(st.integers(1, 3)), draw(st.integers(1, 2))
    rows = [draw(st.sampled_from(VECTORS[N])) for _ in range(S)]
    return {"features": np.array(rows), "theta": np.array(draw(st.sampled_from(VECTORS[N])))}


MAX_NOT_SMOOTH = Claim(
    "max-not-smooth",
    "Section 5, before the smoothed operator",
    "E",
    "max_s V_θ(s) is not smooth in θ",
    "linear V_θ",
    printed=Statement("it is not differentiable at θ = 0, for any features", _points, _kinks, exact=True),
    amended=Statement(
        "the same if two states have different features",
        _points,
        lambda **case: _kinks(**case, differ=True),
        exact=True,
    ),
    amendment="hypothesis",
    broken=Statement(
        "it is differentiable nowhere", _points, lambda **case: _kinks(**case, differ=True, anywhere=True)
    ),
    note="It is a maximum of linear functions: differentiable at θ if and only if all states of largest value have the "
    "same features. If all features are equal it is linear.",
)


# nonlinear.


@st.composite
def _quadratics(draw: st.DrawFn) -> Case:
    case = draw(problems(max_features=1))
    S = case["mdp"].n_states
    numbers = st.sampled_from((0.0, 1.0, -1.0, 0.5, 0.25))
    return {
        "mdp": case["mdp"],
        "policy": case["policy"],
        "radius": case["radius"],
        "slopes": case["features"][:, 0],
        "curvatures": np.array([draw(numbers) for _ in range(S)]),
        "theta": draw(numbers),
        "maximum": draw(numbers),
        "derivative": draw(numbers),
    }


def _nonlinear(
    mdp: MDP,
    policy: Floats,
    radius: float,
    slopes: Floats,
    curvatures: Floats,
    theta: float,
    maximum: float,
    derivative: float,
    *,
    factor: int,
) -> Finding | None:
    """The mean step with `factor` times the term of curvature against −½J'; V = slopes·theta + curvatures·theta²."""
    gamma, R, x = Fraction(mdp.gamma), Fraction(radius), Fraction(theta)
    linear, square = fraction_array(slopes), fraction_array(curvatures)
    phi, bend = linear + 2 * square * x, 2 * square
    model = Rationals(mdp, policy, slopes[:, None])
    weights = (model.mu[:, None, None] * model.pi[:, :, None]) * model.P
    C = (model.mu * phi**2).sum()
    if C == 0:
        return None
    V = linear * x + square * x**2
    cost = fraction_array(mdp.cost)[:, :, None]
    delta = cost + gamma * (1 - R) * V[None, None, :] + gamma * R * Fraction(maximum) - V[:, None, None]
    ahead = gamma * ((1 - R) * phi[None, None, :] + R * Fraction(derivative))
    here = phi[:, None, None]
    moment = (weights * delta * here).sum()
    omega = moment / C
    slope = (weights * ((ahead - here) * here + delta * bend[:, None, None])).sum()
    C_slope = 2 * (model.mu * phi * bend).sum()
    truth = -omega * slope + omega**2 * C_slope / 2
    step = (weights * (delta * here - ahead * here * omega)).sum()
    correction = (weights * (delta - here * omega) * bend[:, None, None] * omega).sum()
    return equal("mean step at omega(theta) against −½∇J", step - factor * correction, truth)


NONLINEAR = Claim(
    "nonlinear",
    "Section 5",
    "E",
    "the approach can be extended to non-linear (smooth) function approximation",
    "one parameter, V_θ quadratic in θ, φ = ∇V_θ; any value and derivative of the smooth maximum",
    printed=Statement(
        "the mean step of Algorithm 2 with ∇V_θ(s) for φ_s, at ω(θ), is −½∇J(θ)",
        _quadratics,
        lambda **case: _nonlinear(**case, factor=0),
        exact=True,
    ),
    amended=Statement(
        "it is −½∇J(θ) after the term E[(δ − φᵀω)∇²V_θ ω] is subtracted",
        _quadratics,
        lambda **case: _nonlinear(**case, factor=1),
        exact=True,
    ),
    amendment="correction",
    broken=Statement("the same with twice the term", _quadratics, lambda **case: _nonlinear(**case, factor=2)),
    note="The features move with θ, which adds a term with the Hessian of V_θ, as in the work on non-linear gradient "
    "TD that the sentence cites. For linear V_θ the term is 0.",
)


# tdc-memory.


def _after(case: Case, features: Floats) -> tuple[Floats, Floats]:
    made = learner(
        case["mdp"], features, case["radius"], case["varrho"], case["K"], case["theta"], case["alpha"], case["beta"]
    )
    made.omega = case["omega"].copy()
    s, a, s_next = case["s"], case["a"], case["s_next"]
    made.update(Transition(s, a, float(case["mdp"].cost[s, a]), s_next, 0, False))
    return made.theta, made.omega


def _reads_two_rows(*, vanilla: bool = False, next_too: bool = True, **case: Any) -> Finding | None:
    """Whether a step stays the same when the features of states other than s (and s') are halved."""
    case = case | ({"radius": 0.0} if vanilla else {})
    others = [s for s in range(case["mdp"].n_states) if s != case["s"] and not (next_too and s == case["s_next"])]
    changed = case["features"].copy()
    changed[others] /= 2.0
    before, after = _after(case, case["features"]), _after(case, changed)
    return equal("theta and omega after features of other states changed", np.array(after), np.array(before))


def _steps() -> st.SearchStrategy[Case]:
    return one_step(min_states=2)


TDC_MEMORY = Claim(
    "tdc-memory",
    "Abstract, Sections 1, 5.1 and 7",
    "E",
    "robust TDC is online and incremental and needs no more memory than vanilla TDC",
    "vanilla TDC needs θ, ω and the features of the two states of a transition",
    printed=Statement(
        "a step of Algorithm 2 depends on the features of s_t and s_{t+1} only", _steps, _reads_two_rows, exact=True
    ),
    amended=Statement("the same if R = 0", _steps, lambda **case: _reads_two_rows(**case, vanilla=True), exact=True),
    amendment="hypothesis",
    broken=Statement(
        "a step of vanilla TDC depends on the features of s_t only",
        _steps,
        lambda **case: _reads_two_rows(**case, vanilla=True, next_too=False),
    ),
    note="For R > 0 the smooth maximum runs over all states in every step: S·N numbers must be stored or computed, and "
    "a step takes S·N operations instead of N. In a continuous state space the sum has no meaning. θ and ω have the "
    "same size as in vanilla TDC.",
)


# bounded-values.


def _comparable(
    mdp: MDP, policy: Floats, features: Floats, theta: Floats, *, factor: bool = True, **_: Any
) -> Finding | None:
    """max V² against ‖theta‖², and ‖theta‖² against max V² times (`factor`) trace/determinant of C."""
    model = Rationals(mdp, policy, features)
    point = fraction_array(theta)
    size, largest = (point**2).sum(), max(x**2 for x in model.Phi @ point)
    C = model.C
    inverse = 1 / C[0, 0] if len(C) == 1 else (C[0, 0] + C[1, 1]) / (C[0, 0] * C[1, 1] - C[0, 1] ** 2)
    return first(
        [
            at_most("max V_theta²", largest, size),
            at_most("‖theta‖²", size, largest * (inverse if factor else 1)),
        ]
    )


BOUNDED_VALUES = Claim(
    "bounded-values",
    "Appendix D, on the projection",
    "E",
    "for linear functions the assumption that V_θ is bounded is equivalent to bounded θ",
    "Assumptions 2 and 4: ‖φ‖ ≤ 1 and C non-singular",
    printed=Statement(
        "max V_θ² ≤ ‖θ‖² ≤ max V_θ²·trace C/det C for two features, and ≤ max V_θ²/C for one",
        lambda: in_the_ball("theta"),
        _comparable,
        exact=True,
    ),
    broken=Statement("‖θ‖² ≤ max V_θ²", lambda: in_the_ball("theta"), lambda **case: _comparable(**case, factor=False)),
    note="Without Assumption 4 only the first inequality holds: θ can move in the null space of the features.",
)
