"""The tabular update itself: single steps against the equation in rationals, and the step sizes."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from properties.profiles import examples
from properties.tests.tabular_runs import RULES, make
from robust_core.learners.schedules import StepSize, constant, per_visit, polynomial
from robust_core.learners.tabular import EXPECTED_SARSA, Q_LEARNING, SARSA, TD0, Rule
from robust_core.mdp import MDP
from robust_core.trajectory import Transition
from robust_core.validate import Floats


def exact_step(rule: Rule, table: Floats, pi: Floats, transition: Transition, *, gamma: float, R: float, alpha: float):  # type: ignore[no-untyped-def]
    """eq:Qupdate from the table in the module's docstring, in rationals, written once more."""
    s, a, cost, s_next, a_next, terminal = transition
    if rule is TD0:
        V = [Fraction(x) for x in table.tolist()]
        entry = V[s]
    else:
        Q = [[Fraction(x) for x in row] for row in table.tolist()]
        weights = [[Fraction(x) for x in row] for row in pi.tolist()]
        if rule is Q_LEARNING:
            V = [min(row) for row in Q]
        else:
            V = [
                sum((w * x for w, x in zip(ws, xs, strict=True)), Fraction(0))
                for ws, xs in zip(weights, Q, strict=True)
            ]
        entry = Q[s][a]
    following = Q[s_next][a_next] if rule is SARSA else V[s_next]
    target = Fraction(cost) + Fraction(gamma) * (
        Fraction(R) * max(V) + (1 - Fraction(R)) * (0 if terminal else following)
    )
    return (1 - Fraction(alpha)) * entry + Fraction(alpha) * target


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
@given(st.data())
@examples(60)
def test_one_step_is_the_equation(rule: Rule, data: st.DataObject) -> None:
    """Coarse numbers (sixteenths, halves, a policy in quarters): no operation rounds, equality is exact."""
    S, A = 3, 2
    table = np.array(data.draw(st.lists(st.integers(-64, 64), min_size=S * A, max_size=S * A))).reshape(S, A) / 16
    table = table[:, 0] if rule is TD0 else table
    share = np.array(data.draw(st.lists(st.integers(0, 4), min_size=S, max_size=S))) / 4
    pi = np.stack((share, 1 - share), axis=1)
    gamma, R, alpha = (data.draw(st.sampled_from((0.0, 0.25, 0.5, 0.875))) for _ in range(3))
    R = data.draw(st.sampled_from((R, 1.0)))
    mdp = MDP(np.full((S, A, S), [0.25, 0.25, 0.5]), np.zeros((S, A)), gamma)
    learner = make(rule, mdp, R, constant(alpha), initial=table, policy=pi)
    state_index, action = st.integers(0, S - 1), st.integers(0, A - 1)
    s, a, s_next, a_next = (data.draw(x) for x in (state_index, action, state_index, action))
    cost = data.draw(st.integers(-32, 32)) / 16
    step = Transition(s, a, cost, s_next, a_next, data.draw(st.booleans()))
    learner.update(step)
    place = s if rule is TD0 else (s, a)
    assert Fraction(float(learner.table[place])) == exact_step(rule, table, pi, step, gamma=gamma, R=R, alpha=alpha), (
        step,
        gamma,
        R,
        alpha,
    )
    others = np.ones(table.shape, dtype=bool)
    others[place] = False
    assert learner.table[others].tobytes() == table[others].tobytes()


def test_the_rules_differ() -> None:
    """One step on which the three rules for Q give three results: the check above tells them apart."""
    table, pi = np.array([[0.0, 2.0], [1.0, 4.0]]), np.full((2, 2), 0.5)
    step = Transition(0, 0, 1.0, 1, 1, False)
    values = {
        exact_step(rule, table, pi, step, gamma=0.5, R=0.5, alpha=0.5) for rule in (Q_LEARNING, EXPECTED_SARSA, SARSA)
    }
    assert len(values) == 3


@given(
    st.sampled_from((0.0, 0.25, 0.9, 1.0)),
    st.sampled_from((0.0, 0.1, 1.0, 1e6, 1e308)),
    st.sampled_from((0.0, 0.5, 0.501, 1.0, 2.0, 1e300)),
    st.integers(0, 10**12),
)
@examples(150)
def test_step_sizes_are_the_formula(scale: float, rate: float, power: float, n: int) -> None:
    """scale/(1 + rate n)^power: two roundings in the base, magnified by the power, one ulp in pow, one for scale."""
    from robust_core.kernels.tabular import step_size as compiled

    for make_size in (polynomial, per_visit):
        alpha = make_size(scale, rate=rate, power=power).at(n)
        assert alpha == compiled(scale, rate, power, n)
        base = 1 + Fraction(rate) * n
        assert 0.0 <= alpha <= scale
        if power == int(power) <= 2:
            wanted = Fraction(scale) / base ** int(power)
            # A result below the normal range may lose the smallest float; an infinite base gives 0.
            allowed = wanted * Fraction((3 * power + 4) * 2.0**-53) + Fraction(2.0**-1022)
            assert abs(Fraction(alpha) - wanted) <= allowed
            off_by_one = Fraction(scale) / (1 + Fraction(rate) * (n + 1)) ** int(power)
            if n < 10**6 and 0.1 <= rate <= 1e6 and power and scale:
                assert abs(off_by_one - wanted) > allowed
    assert constant(scale).at(n) == scale
    assert StepSize(scale, rate, power).at(n) == scale
