"""Claims of Theorem 4: LSE and mellow-max as smooth maxima, the smoothed operator, its fixed point.

Derivatives are taken by differences of 60-digit decimals, with no formula for a derivative; everything else in
balls, so that a finding is certain. The implementation is compared with the balls at twice their radius: it does
the same operations, so its own rounding is within one radius.

Theorem 4 is exact up to the choice of the problem. Insert V = W + k into V = T̂_pi V: with W the value at discount
gamma(1−R), V_1 = W + gamma R/(1−gamma)·LSE(W) and V_2 = W + gamma R/(1−gamma)·max W, so V_1 − V_2 is the same
constant gamma R/(1−gamma)·(LSE(W) − max W) >= 0 in every state.
"""

import math
from decimal import Context, Decimal, localcontext

import numpy as np
from hypothesis import strategies as st

from oracles.arithmetic.ball import UNIT, Ball, up
from oracles.chains.chain import row_defect
from oracles.planning import closed_form, rational
from properties.cases.case import Case
from properties.claims.claim import Claim, Statement
from properties.claims.paper import linear_cases
from properties.claims.paper.linear import above, differs, exceeds, number, ratio, smooth_maximum
from properties.claims.paper.model import policy_backup
from properties.claims.sides import first, fractions
from properties.judging.verdict import Finding
from properties.strategies import values
from robust_core.mdp import MDP
from robust_core.operators import smoothed_bellman_policy
from robust_core.sets import Contamination
from robust_core.smoothing import LogSumExp, Mellowmax, Smoothing
from robust_core.validate import Floats

DIGITS = 60
STEP = Decimal(10) ** -15
"""Step of the differences, in units of 1/varrho."""


def exact_lse(V: list[Decimal], varrho: Decimal) -> Decimal:
    """LSE in the current decimal context."""
    top = max(V)
    return top + sum(((v - top) * varrho).exp() for v in V).ln() / varrho  # type: ignore[union-attr]


def directional(V: Floats, x: Floats, varrho: float, order: int) -> Ball:
    """The first or second derivative of h ↦ LSE(V + h x) at 0, by central differences with a proven error.

    With step h = STEP/varrho the truncation is at most h²/6·|f'''| or h²/12·|f''''|, |f^(k)| <= varrho^(k−1) c_k X^k
    with X = max|x|, c_3 = 2, c_4 = 8 (central moments and cumulants of numbers in [−X, X]). Rounding: 20 units of the
    last digit of the largest number met, over h^order.
    """
    if order not in (1, 2):
        raise ValueError(f"order must be 1 or 2, got {order}")
    with localcontext(Context(prec=DIGITS)):
        rho, h = Decimal(varrho), STEP / Decimal(varrho)
        base, along = [Decimal(v) for v in V.tolist()], [Decimal(v) for v in x.tolist()]
        left, middle, right = (
            exact_lse([v + k * h * d for v, d in zip(base, along, strict=True)], rho) for k in (-1, 0, 1)
        )
        X = max(map(abs, along))
        size = max(map(abs, base)) + X * h + Decimal(len(base)) / rho
        if order == 1:
            value, truncation = (right - left) / (2 * h), h**2 * rho**2 * X**3 / 3
        else:
            value, truncation = (right - 2 * middle + left) / h**2, h**2 * rho**3 * X**4
        error = truncation + 20 * Decimal(10) ** (1 - DIGITS) * size / h**order
        return Ball(np.asarray(float(value)), up(float(error) + UNIT * abs(float(value)) + 5e-324))


@st.composite
def _vectors(draw: st.DrawFn) -> Case:
    n = draw(st.integers(1, 4))
    return {
        "V": draw(values(n)),
        "other": draw(values(n)),
        "varrho": draw(st.sampled_from(linear_cases.VARRHOS)),
    }


def _value(V: Floats, smoothing: Smoothing) -> tuple[Ball, Ball]:
    """The smooth maximum and its gradient, in balls."""
    value, softmax = smooth_maximum(Ball.exact(V), smoothing.varrho)
    if isinstance(smoothing, Mellowmax):
        value = value - number(float(len(V))).log() / number(smoothing.varrho)
    return value, softmax


def _twice(ball: Ball) -> Ball:
    return Ball(ball.mid, 2 * ball.rad)


def _gradient(
    V: Floats, other: Floats, varrho: float, *, kind: type = LogSumExp, claimed: float = 1.0
) -> Finding | None:
    """`claimed` multiplies varrho in the softmax: 1 in the paper."""
    smoothing: Smoothing = kind(varrho)
    value, softmax = _value(V, smoothing)
    _, wanted = smooth_maximum(Ball.exact(V), varrho * claimed)
    shift, _ = _value(other, smoothing)
    distance = float(np.abs(V - other).max())
    derivatives = [directional(V, row, varrho, 1) for row in np.eye(len(V))]
    derivative = Ball(np.array([d.mid for d in derivatives]), np.array([d.rad for d in derivatives]))
    return first(
        [
            differs("∂LSE/∂V against softmax(varrho V)", derivative, wanted),
            differs("‖softmax‖₁", softmax.sum(), number(1.0)),
            exceeds("|LSE(V) − LSE(V')| against ‖V − V'‖", _size(value - shift), above(distance)),
            differs("the implementation's value", _twice(value), number(smoothing.value(V))),
            differs("the implementation's gradient", _twice(softmax), Ball.exact(smoothing.gradient(V))),
        ]
    )


def _size(x: Ball) -> Ball:
    return Ball(np.abs(x.mid), x.rad)


def _lipschitz_ratio(V: Floats, other: Floats, varrho: float) -> float:
    smoothing = LogSumExp(varrho)
    return ratio(_size(_value(V, smoothing)[0] - _value(other, smoothing)[0]), float(np.abs(V - other).max()))


LSE_GRAD = Claim(
    "lse-grad",
    "Appendix C (proof of Theorem 4)",
    "E",
    "the gradient of LSE is softmax(ϱ V), of 1-norm 1; LSE is 1-Lipschitz in the sup norm",
    "ϱ > 0",
    printed=Statement(
        "∂LSE/∂V_i = e^{ϱ V_i}/Σ_j e^{ϱ V_j}, ‖∇LSE‖₁ = 1, |LSE(V) − LSE(V')| ≤ ‖V − V'‖∞",
        _vectors,
        _gradient,
        _lipschitz_ratio,
    ),
    broken=Statement("the gradient is softmax(2 ϱ V)", _vectors, lambda **case: _gradient(**case, claimed=2.0)),
    note="The derivative is a difference of 60-digit decimals. The Lipschitz constant 1 is attained by shifts.",
)


def _gap(V: Floats, other: Floats, varrho: float, *, states: float = 1.0) -> Finding | None:
    """0 <= LSE − max <= log(S)/varrho; `states` multiplies S."""
    del other
    gap = _value(V, LogSumExp(varrho))[0] - number(float(V.max()))
    return first(
        [
            exceeds("max V − LSE(V)", -gap, 0.0),
            exceeds("LSE(V) − max V", gap, above(max(0.0, math.log(len(V) * states)) / varrho)),
        ]
    )


LSE_GAP = Claim(
    "lse-gap",
    "Appendix C (proof of Theorem 4)",
    "E",
    "0 ≤ LSE(V) − max V ≤ log S/ϱ",
    "ϱ > 0",
    printed=Statement(
        "0 ≤ LSE(V) − max V ≤ log S/ϱ",
        _vectors,
        _gap,
        lambda V, other, varrho: ratio(
            _value(V, LogSumExp(varrho))[0] - number(float(V.max())), math.log(len(V)) / varrho
        ),
    ),
    broken=Statement("LSE(V) − max V ≤ log(S/2)/ϱ", _vectors, lambda **case: _gap(**case, states=0.5)),
    note="Both bounds are sharp. Equal values attain log S/ϱ. Values that are far apart approach 0, which is not "
    "attained for S > 1.",
)


@st.composite
def _operators(draw: st.DrawFn) -> Case:
    case = draw(linear_cases.problems())
    n = case["mdp"].n_states
    del case["features"]
    return case | {"V": draw(values(n)), "other": draw(values(n))}


def _smoothed(mdp: MDP, policy: Floats, radius: float, smoothing: Smoothing, V: Ball) -> Ball:
    """T̂_pi V in balls."""
    S, A = mdp.n_states, mdp.n_actions
    value, _ = smooth_maximum(V, smoothing.varrho)
    if isinstance(smoothing, Mellowmax):
        value = value - number(float(S)).log() / number(smoothing.varrho)
    gamma, R = number(mdp.gamma), number(radius)
    expected = Ball.relative(mdp.P.reshape(S * A, S), row_defect(S)) @ V
    backup = Ball.exact(mdp.cost.reshape(S * A)) + gamma * (number(1.0) - R) * expected + gamma * R * value
    weighted = Ball.relative(policy.reshape(S * A), row_defect(A)) * backup
    chosen = np.repeat(np.eye(S), A, axis=1)
    return Ball.exact(chosen) @ weighted


def _images(
    mdp: MDP, policy: Floats, radius: float, varrho: float, V: Floats, other: Floats, kind: type = LogSumExp
) -> tuple[Ball, float]:
    """‖T̂V − T̂V'‖ and ‖V − V'‖, the sup norms."""
    gap = _smoothed(mdp, policy, radius, kind(varrho), Ball.exact(V)) - _smoothed(
        mdp, policy, radius, kind(varrho), Ball.exact(other)
    )
    place = int(np.abs(gap.mid).argmax())
    return _size(gap[place]), float(np.abs(V - other).max())


def _contracts(
    mdp: MDP, policy: Floats, radius: float, varrho: float, V: Floats, other: Floats,
    *, kind: type = LogSumExp, rate: float = 1.0,
) -> Finding | None:  # fmt: skip
    """`rate` multiplies gamma."""
    after, before = _images(mdp, policy, radius, varrho, V, other, kind)
    fixed = closed_form.smoothed_fixed_point(mdp, radius, policy, varrho, mellowmax=kind is Mellowmax)
    point = Ball(fixed.value, np.full_like(fixed.value, fixed.error_bound))
    image = _smoothed(mdp, policy, radius, kind(varrho), Ball.exact(V))
    return first(
        [
            exceeds("‖T̂V − T̂V'‖ against gamma‖V − V'‖", after, above(mdp.gamma * rate * before)),
            differs("T̂V_1 against V_1", _smoothed(mdp, policy, radius, kind(varrho), point), point),
            differs(
                "the implementation's T̂V",
                _twice(image),
                Ball.exact(smoothed_bellman_policy(mdp, radius, kind(varrho), policy, V)),
            ),
        ]
    )


def _contraction_ratio(mdp: MDP, **case: object) -> float:
    after, before = _images(mdp, **case)  # type: ignore[arg-type]
    return ratio(after, mdp.gamma * before)


SMOOTH_CONTRACTION = Claim(
    "smooth-contraction",
    "Theorem 4 (1), Appendix C",
    "E",
    "the smoothed operator is a γ-contraction in the sup norm, so it has a (unique) fixed point",
    "γ < 1, ϱ > 0",
    printed=Statement(
        "‖T̂_π V − T̂_π V'‖∞ ≤ γ‖V − V'‖∞; T̂_π V_1 = V_1 for V_1 = W + γ R/(1−γ)·LSE(W)",
        _operators,
        _contracts,
        _contraction_ratio,
    ),
    broken=Statement("contraction at rate γ/2", _operators, lambda **case: _contracts(**case, rate=0.5)),
    note="γ is attained by shifts. V_1 comes from a linear solve at discount γ(1−R), not from iteration.",
)


def _excess(mdp: MDP, policy: Floats, radius: float, varrho: float, V: Floats) -> Ball:
    """T̂V − TV, the second term in rationals."""
    robust = np.array([float(x) for x in policy_backup(mdp, Contamination(radius), policy, fractions(V))])
    image = _smoothed(mdp, policy, radius, LogSumExp(varrho), Ball.exact(V))
    return image - Ball(robust, UNIT * np.abs(robust))


def _limit_bound(mdp: MDP, radius: float, varrho: float, *, share: float = 1.0) -> float:
    return above(mdp.gamma * radius * share * math.log(mdp.n_states) / varrho)


def _limit(
    mdp: MDP, policy: Floats, radius: float, varrho: float, V: Floats, other: Floats, *, share: float = 1.0
) -> Finding | None:
    """`share` multiplies the bound."""
    del other
    excess, bound = _excess(mdp, policy, radius, varrho, V), _limit_bound(mdp, radius, varrho, share=share)
    states = range(mdp.n_states)
    below = (exceeds(f"TV − T̂V in state {s}", -excess[s], 0.0) for s in states)
    return first([*below, *(exceeds(f"T̂V − TV in state {s}", excess[s], bound) for s in states)])


def _limit_ratio(mdp: MDP, policy: Floats, radius: float, varrho: float, V: Floats, other: Floats) -> float:
    del other
    excess = _excess(mdp, policy, radius, varrho, V)
    return ratio(_size(excess[int(np.abs(excess.mid).argmax())]), _limit_bound(mdp, radius, varrho))


SMOOTH_LIMIT = Claim(
    "smooth-limit",
    "Section 5, before Theorem 4",
    "E",
    "the smoothed operator tends to the robust one as ϱ → ∞",
    "ϱ > 0; any policy, any V",
    printed=Statement("0 ≤ T̂_π V − T_π V ≤ γ R log S/ϱ in every state", _operators, _limit, _limit_ratio),
    broken=Statement("the same with half the bound", _operators, lambda **case: _limit(**case, share=0.5)),
    note="The convergence is uniform: the bound does not depend on V. It is attained where all entries of V are equal.",
)


def _fixed_points(mdp: MDP, policy: Floats, radius: float, varrho: float, *, mellowmax: bool = False) -> Ball:
    """V_1 − V_2."""
    smooth = closed_form.smoothed_fixed_point(mdp, radius, policy, varrho, mellowmax=mellowmax)
    robust = rational.evaluate(mdp, Contamination(radius), policy).V
    V_2 = np.array([float(v) for v in robust])
    rad = np.full_like(V_2, smooth.error_bound)
    return Ball(smooth.value, rad) - Ball(V_2, UNIT * np.abs(V_2))


def _thm4_bound(mdp: MDP, radius: float, varrho: float) -> float:
    return above(mdp.gamma * radius * math.log(mdp.n_states) / ((1.0 - mdp.gamma) * varrho))


def _thm4(
    mdp: MDP, policy: Floats, radius: float, varrho: float, V: Floats, other: Floats,
    *, horizon: bool = True, mellowmax: bool = False,
) -> Finding | None:  # fmt: skip
    del V, other
    gap = _fixed_points(mdp, policy, radius, varrho, mellowmax=mellowmax)
    bound = _thm4_bound(mdp, radius, varrho) * (1.0 if horizon else 1.0 - mdp.gamma)
    return exceeds("‖V_1 − V_2‖", _size(gap[int(np.abs(gap.mid).argmax())]), bound)


def _thm4_exact(mdp: MDP, policy: Floats, radius: float, varrho: float, V: Floats, other: Floats) -> Finding | None:
    """V_1 − V_2 = gamma R/(1−gamma)·(LSE(W) − max W) in every state."""
    del V, other
    gap = _fixed_points(mdp, policy, radius, varrho)
    W = closed_form.evaluate(MDP(mdp.P, mdp.cost, mdp.gamma * (1.0 - radius)), 0.0, policy).V
    # LSE − max moves by at most twice the error of W.
    excess = smooth_maximum(Ball.exact(W.value), varrho)[0] - number(float(W.value.max()))
    excess = Ball(excess.mid, up(excess.rad + 2 * W.error_bound))
    constant = number(mdp.gamma) * number(radius) / (number(1.0) - number(mdp.gamma)) * excess
    return differs("V_1 − V_2", gap, Ball(np.full_like(gap.mid, constant.mid), np.full_like(gap.mid, constant.rad)))


def _thm4_ratio(mdp: MDP, policy: Floats, radius: float, varrho: float, **_: Floats) -> float:
    gap = _fixed_points(mdp, policy, radius, varrho)
    return ratio(_size(gap[int(np.abs(gap.mid).argmax())]), _thm4_bound(mdp, radius, varrho))


THM4 = Claim(
    "thm4",
    "Theorem 4 (thm:lim)",
    "E",
    "the fixed points of the smoothed and of the robust operator are within γ R log S/((1−γ) ϱ)",
    "γ < 1, ϱ > 0",
    printed=Statement(
        "‖V_1 − V_2‖∞ ≤ γ R log S/((1−γ) ϱ), V_1 = T̂_π V_1, V_2 = T_π V_2",
        _operators,
        _thm4,
        _thm4_ratio,
    ),
    broken=Statement("‖V_1 − V_2‖∞ ≤ γ R log S/ϱ", _operators, lambda **case: _thm4(**case, horizon=False)),
    note="The bound is attained when all values W at discount γ(1−R) are equal. V_1 − V_2 is the same constant γ "
    "R/(1−γ)·(LSE(W) − max W) ≥ 0 in every state, so greedy choices do not change. The proof exchanges the names (it "
    "has T_π V_1 = V_1 and T̂_π V_2 = V_2); the bound is symmetric, so nothing depends on it.",
)


def _mellow(
    mdp: MDP, policy: Floats, radius: float, varrho: float, V: Floats, other: Floats, *, below: bool = True
) -> Finding | None:
    """`below`: mellow-max lies under the maximum (LSE lies above it)."""
    gap = number(float(V.max())) - _value(V, Mellowmax(varrho))[0]
    fixed = _fixed_points(mdp, policy, radius, varrho, mellowmax=True)
    signed = [gap, -gap] if below else [-gap, gap]
    case = {"mdp": mdp, "policy": policy, "radius": radius, "varrho": varrho, "V": V, "other": other}
    return first(
        [
            exceeds("mm(V) − max V" if below else "max V − mm(V)", -signed[0], 0.0),
            exceeds("|mm(V) − max V|", _size(gap), above(math.log(len(V)) / varrho)),
            _gradient(V, other, varrho, kind=Mellowmax),
            _contracts(**case, kind=Mellowmax),  # type: ignore[arg-type]
            _thm4(**case, mellowmax=True),  # type: ignore[arg-type]
            *(exceeds(f"V_1({s}) − V_2({s})", fixed[s], 0.0) for s in range(mdp.n_states)),
        ]
    )


MELLOWMAX = Claim(
    "mellowmax",
    "Section 5",
    "E",
    "LSE can be replaced by mellow-max: the same gradient, contraction and Theorem 4, with a gap of the other sign",
    "γ < 1, ϱ > 0",
    printed=Statement(
        "∇mm = softmax(ϱ V), 0 ≤ max V − mm(V) ≤ log S/ϱ, T̂ with mm is a γ-contraction and its fixed "
        "point V_1 satisfies V_2 − γ R log S/((1−γ)ϱ) ≤ V_1 ≤ V_2",
        _operators,
        _mellow,
        lambda V, other, varrho, **_: ratio(
            number(float(V.max())) - _value(V, Mellowmax(varrho))[0], math.log(len(V)) / varrho
        ),
    ),
    broken=Statement("max V ≤ mm(V), as for LSE", _operators, lambda **case: _mellow(**case, below=False)),
    note="mm = LSE − log S/ϱ, so gap and fixed point lie on the other side. Mellow-max is exact for equal values and "
    "off by up to log S/ϱ for values that are far apart; LSE is the reverse. With mellow-max, C_δ does not need "
    "the term γ R log S/ϱ, because |mm(V)| ≤ max|V|.",
)

CLAIMS = (LSE_GRAD, LSE_GAP, SMOOTH_CONTRACTION, SMOOTH_LIMIT, THM4, MELLOWMAX)

SHARPER = {
    "thm4": Statement("V_1 − V_2 = γ R/(1−γ)·(LSE(W) − max W) in every state", _operators, _thm4_exact),
}
"""Statements that say more than the paper, by the claim they sharpen."""
