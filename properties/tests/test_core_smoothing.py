"""The smooth maxima and the smoothed operator: within derived bounds of sixty digits, safe from overflow.

Rounding of the smooth maxima, with u = 2^-53, n states and x_i = varrho (V_i − max V) <= 0, to first order:
two operations make x_i, off by 2u|x_i|, and numpy's exp is within one unit in the last place (2u), so a weight
w_i = exp(x_i) is off by w_i (2|x_i| + 2) u, where w|x| <= 1/e. The sum of n weights is at least 1 and off by
(n·2/e + 2 + n)u <= (2n+2)u of itself, its logarithm (at most log n) by as much and by 2u log n.
- LSE = max V + log(sum)/varrho is off by ((2n+2) + 4 log n) u/varrho + 2u(|max V| + log n/varrho).
- mellow-max has the correction m = |mm − max V|. Above a mean of ½, log1p(mean of expm1(x)) is used: expm1 is off by
  6u of itself (its argument by 2u, and |x| e^x <= 1 − e^x), the mean by (n+6)u of itself, log1p by twice that and 2u.
  Below, |log mean| > log 2 and the bound of LSE, divided by log 2, is relative too. So (4n+20)u·m + 2u(|max V| + m).
- a softmax weight is off by (2/e + 2)u from itself, (2n+2)u from the sum, u from the division: (2n+6)u.
"""

import math
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.planning import rational
from properties.profiles import examples
from properties.strategies import mdps, policies, radii, values
from robust_core import models
from robust_core.mdp import MDP
from robust_core.operators import bellman_policy, smoothed_bellman_policy
from robust_core.policy import uniform
from robust_core.sets import Contamination
from robust_core.smoothing import LogSumExp, Mellowmax, Smoothing
from robust_core.validate import EPS, Floats

U = EPS / 2

VARRHOS = (1e-300, 1e-18, 1e-6, 0.1, 1.0, 7.0, 1e3, 1e6, 1e18, 1e300)
Kind = type[LogSumExp] | type[Mellowmax]
SMOOTHINGS: tuple[Kind, ...] = (LogSumExp, Mellowmax)


def exact_smooth_max(kind: Kind, varrho: float, V: Floats) -> Decimal:
    """LSE or mellow-max of the given floats to sixty digits or more."""
    with localcontext() as context:
        context.prec, context.Emin, context.Emax = 700, -(10**9), 10**9
        v, rate = [Decimal(float(x)) for x in V], Decimal(varrho)
        exponents = [rate * (x - max(v)) for x in v]
        total = sum((x.exp() for x in exponents if x > -5000), Decimal(0))
        return max(v) + (total / (len(v) if kind is Mellowmax else 1)).ln() / rate


def value_bound(kind: Kind, varrho: float, V: Floats, truth: Decimal) -> Decimal:
    """The module's docstring; below the normal range the mean of the gaps and the result lose half of the smallest
    float each, which no division by varrho magnifies.
    """
    n, top = len(V), Decimal(float(np.abs(V.max())))
    log_n, rate, u = Decimal(math.log(n)), Decimal(varrho), Decimal(U)
    if kind is LogSumExp:
        own = ((2 * n + 3) + 4 * log_n) * u / rate + 3 * u * (top + log_n / rate)
    else:
        correction = abs(truth - Decimal(float(V.max())))
        own = (4 * n + 24) * u * correction + 3 * u * (top + correction)
    return own + Decimal("5e-324")


def smooth_error(kind: Kind, varrho: float, V: Floats, value: float) -> tuple[Decimal, Decimal]:
    """(error, allowed error), both in decimals."""
    truth = exact_smooth_max(kind, varrho, V)
    with localcontext() as context:
        context.prec = 60
        return abs(Decimal(value) - truth), value_bound(kind, varrho, V, truth)


@pytest.mark.parametrize("kind", SMOOTHINGS)
@pytest.mark.parametrize("varrho", VARRHOS)
@given(v=values(4, value_range=(-1000.0, 1000.0)), scale=st.sampled_from((1.0, 1 / 3, 1e-3, 1e6)))
@examples(10)
def test_smooth_maxima_are_right_for_every_varrho(kind: Kind, varrho: float, v: Floats, scale: float) -> None:
    V = v * scale
    error, allowed = smooth_error(kind, varrho, V, kind(varrho).value(V))
    assert error <= allowed, (error, allowed)
    low = 0.0 if kind is LogSumExp else -math.log(4) / varrho
    # The difference and the bounds are rounded too: a sum, a quotient, and a logarithm within two units.
    slack = float(allowed) + 5 * U * math.log(4) / varrho
    assert low - slack <= kind(varrho).value(V) - V.max() <= low + math.log(4) / varrho + slack


@pytest.mark.parametrize("varrho", [5e-324, 1e-310])
@given(v=values(4, value_range=(-1000.0, 1000.0)), scale=st.sampled_from((1.0, 1e-3, 1e50, 2e304)))
@examples(20)
def test_mellowmax_loses_nothing_to_underflow(varrho: float, v: Floats, scale: float) -> None:
    """Exponents below the normal range, or below every float."""
    V = v * scale
    error, allowed = smooth_error(Mellowmax, varrho, V, Mellowmax(varrho).value(V))
    assert error <= allowed, (error, allowed)


def naive_mellowmax(varrho: float, V: Floats) -> float:
    """log of a mean near 1: no digit is left for small varrho."""
    return float(V.max() + np.log(np.exp(varrho * (V - V.max())).mean()) / varrho)


def without_shift(varrho: float, V: Floats) -> float:
    """exp of what it is given: overflows."""
    with np.errstate(over="ignore", divide="ignore"):
        return float(np.log(np.exp(varrho * V).sum()) / varrho)


def slightly_wrong_exponential(varrho: float, V: Floats) -> float:
    """exp with a relative error of 1e-12."""
    return float(V.max() + np.log(np.exp(varrho * (V - V.max())).sum() * (1 + 1e-12)) / varrho)


@pytest.mark.parametrize(
    ("wrong", "kind", "varrho", "V"),
    [
        (naive_mellowmax, Mellowmax, 1e-12, [0.0, 1.0]),
        (without_shift, LogSumExp, 1.0, [1000.0, 0.0]),
        (without_shift, LogSumExp, 1.0, [-1000.0, -2000.0]),
        (slightly_wrong_exponential, LogSumExp, 1.0, [1.0, 0.5, 0.25]),
    ],
)
def test_wrong_smooth_maxima_are_noticed(
    wrong: Callable[[float, Floats], float], kind: Kind, varrho: float, V: list[float]
) -> None:
    floats = np.array(V)
    got = wrong(varrho, floats)
    error, allowed = (Decimal(1), Decimal(0)) if not math.isfinite(got) else smooth_error(kind, varrho, floats, got)
    assert error > allowed
    error, allowed = smooth_error(kind, varrho, floats, kind(varrho).value(floats))
    assert error <= allowed


def complex_step_gradient(varrho: float, V: Floats) -> Floats:
    """Im LSE(V + ih e_i)/h for an h so small that h² vanishes: no subtraction, no truncation error."""
    h = 1e-200
    gradient = np.empty_like(V)
    for i in range(len(V)):
        z = varrho * (V - V.max()) + 0j
        z[i] += 1j * h
        gradient[i] = np.log(np.exp(z).sum()).imag / h
    return gradient


@given(v=values(5, value_range=(-20.0, 20.0)), varrho=st.sampled_from((1e-6, 0.3, 1.0, 10.0, 1e4)))
@examples(100)
def test_gradients_are_the_derivatives(v: Floats, varrho: float) -> None:
    """Both sides round alike: twice the bound of a softmax weight, (2n+6)u, doubled for the complex functions."""
    allowed = 4 * (2 * len(v) + 6) * U
    for kind in SMOOTHINGS:
        assert np.abs(kind(varrho).gradient(v) - complex_step_gradient(varrho, v)).max() <= allowed
        assert abs(kind(varrho).gradient(v).sum() - 1.0) <= allowed
    gradient_without_varrho = np.exp(v - v.max()) / np.exp(v - v.max()).sum()
    if varrho != 1.0 and np.ptp(v) > 1.0:
        assert np.abs(gradient_without_varrho - complex_step_gradient(varrho, v)).max() > allowed


@pytest.mark.parametrize("varrho", [1e-6, 1.0, 1e6, 1e300])
@pytest.mark.parametrize("scale", [1.0, 1e6, 1e300])
def test_varrho_V_of_any_size(varrho: float, scale: float) -> None:
    V = np.array([-1.0, 0.5, 1.0, 1.0]) * scale
    for kind in SMOOTHINGS:
        error, allowed = smooth_error(kind, varrho, V, kind(varrho).value(V))
        assert error <= allowed
        gradient = kind(varrho).gradient(V)
        assert np.isfinite(gradient).all()
        assert (gradient >= 0).all()
    if varrho * scale > 1e4:
        assert LogSumExp(varrho).gradient(V).tolist() == [0.0, 0.0, 0.5, 0.5]


def test_the_span_may_exceed_the_largest_float() -> None:
    """V − max V overflows; the weight is 0 unless varrho is so small that it is not."""
    V = np.array([-1.7e308, 1.7e308])
    assert LogSumExp(1.0).value(V) == 1.7e308
    assert LogSumExp(1.0).gradient(V).tolist() == [0.0, 1.0]
    for kind in SMOOTHINGS:
        value = kind(2e-308).value(V)
        error, allowed = smooth_error(kind, 2e-308, V, value)
        assert error <= allowed


def test_smooth_overflow_is_an_error() -> None:
    with pytest.raises(OverflowError, match="smooth maximum"):
        LogSumExp(5e-324).value([0.0, 0.0])
    with pytest.raises(OverflowError, match="smooth maximum"):
        LogSumExp(1e-308).value([1.7e308] * 4)
    assert Mellowmax(5e-324).value([0.0, 0.0]) == 0.0
    assert Mellowmax(5e-324).value([0.0, 1.0]) == 0.5, "the mean: its exponents are below every float"
    assert Mellowmax(1e-300).value([1.7e308] * 4) == 1.7e308


def test_one_state_is_its_own_smooth_maximum() -> None:
    for kind in SMOOTHINGS:
        for varrho in VARRHOS:
            assert kind(varrho).value([-3.5]) == -3.5
            assert kind(varrho).gradient([-3.5]).tolist() == [1.0]


# ---- the smoothed operator


def smoothed_bound(mdp: MDP, kind: Kind, varrho: float, V: Floats) -> float:
    """Rounding of one smoothed backup.

    p·V is off by (n+1)u M and, for the exact sum of p, by (3n+2)u M; the smooth maximum by its own bound; six
    operations on terms that add up to at most D = |c| + gamma (M + log n/varrho), and the mean over actions.
    """
    n, A, M = len(V), mdp.n_actions, float(np.abs(V).max())
    smooth = float(value_bound(kind, varrho, V, exact_smooth_max(kind, varrho, V)))
    D = float(np.abs(mdp.cost).max()) + mdp.gamma * (M + math.log(n) / varrho)
    return mdp.gamma * ((4 * n + 4) * U * M + smooth) + (2 * A + 8) * U * D


def exact_smoothed(mdp: MDP, R: float, kind: Kind, varrho: float, pi: Floats, V: Floats) -> list[Decimal]:
    """T̂_pi V from its definition (pi as given, rows of P over their sums)."""
    worst = exact_smooth_max(kind, varrho, V)
    with localcontext() as context:
        context.prec = 80

        def decimal(x: Fraction) -> Decimal:
            return Decimal(x.numerator) / Decimal(x.denominator)

        nominal = Contamination(0.0)
        expected = [[decimal(rational.sigma(nominal, p.tolist(), V.tolist())) for p in rows] for rows in mdp.P]
        gamma, radius = Decimal(mdp.gamma), Decimal(R)
        return [
            sum(
                (
                    Decimal(float(pi[s, a]))
                    * (Decimal(float(mdp.cost[s, a])) + gamma * (1 - radius) * expected[s][a] + gamma * radius * worst)
                    for a in range(mdp.n_actions)
                ),
                Decimal(0),
            )
            for s in range(mdp.n_states)
        ]


def smoothed_error(mdp: MDP, R: float, smoothing: Smoothing, pi: Floats, V: Floats, got: Floats) -> float:
    wanted = exact_smoothed(mdp, R, type(smoothing), smoothing.varrho, pi, V)
    with localcontext() as context:
        context.prec = 80
        return float(max(abs(Decimal(float(x)) - w) for x, w in zip(got, wanted, strict=True)))


smoothings = st.builds(
    lambda kind, varrho: kind(varrho), st.sampled_from(SMOOTHINGS), st.sampled_from((0.1, 1.0, 30.0, 1e6))
)


@given(mdps(cost_range=(-4.0, 4.0), storage="either"), radii(), smoothings, st.data())
@examples(50)
def test_smoothed_T_pi(mdp: MDP, R: float, smoothing: Smoothing, data: st.DataObject) -> None:
    pi, V = data.draw(policies(mdp)), data.draw(values(mdp.n_states))
    got = smoothed_bellman_policy(mdp, R, smoothing, pi, V)
    bound = smoothed_bound(mdp, type(smoothing), smoothing.varrho, V)
    assert smoothed_error(mdp, R, smoothing, pi, V, got) <= bound
    other = data.draw(values(mdp.n_states))
    other_bound = smoothed_bound(mdp, type(smoothing), smoothing.varrho, other)
    distance = np.abs(got - smoothed_bellman_policy(mdp, R, smoothing, pi, other)).max()
    assert distance <= mdp.gamma * np.abs(V - other).max() * (1 + 4 * U) + bound + other_bound
    if R == 0.0:
        plain = bellman_policy(mdp, Contamination(0.0), pi, V)
        assert np.abs(got - plain).max() <= 2 * bound


def test_wrong_smoothed_operators_are_noticed() -> None:
    mdp, R, smoothing = models.two_states(), 0.25, LogSumExp(2.0)
    pi, V = uniform(2, 2), np.array([1.0, 1.5])
    bound = smoothed_bound(mdp, LogSumExp, 2.0, V)
    right = smoothed_bellman_policy(mdp, R, smoothing, pi, V)
    hard = bellman_policy(mdp, Contamination(R), pi, V)
    mellow = smoothed_bellman_policy(mdp, R, Mellowmax(2.0), pi, V)
    undiscounted = right + (1 - mdp.gamma) * R * smoothing.value(V)
    assert smoothed_error(mdp, R, smoothing, pi, V, right) <= bound
    for wrong in (hard, mellow, undiscounted, right + 1e-12):
        assert smoothed_error(mdp, R, smoothing, pi, V, wrong) > bound
