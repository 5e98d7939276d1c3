"""States of s-rectangular sets on generated rows, half of them nasty: oracles and core agree within certified bounds.

200 states per set in every run, 10,000 with the profile of the oracles (`tox -e oracles`).
"""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import settings

from oracles.arithmetic.exact import Vector, distribution
from oracles.sets import s_rectangular, s_rectangular_program
from properties.laws.rounding import backup_bound
from properties.profiles import QUICK_EXAMPLES
from properties.tests import nasty_rows
from robust_core import MDP, SRectangular, bellman_values, solve_states
from robust_core import s_rectangular as core
from robust_core.kernels import s_rectangular as kernel
from robust_core.sets import S_RECTANGULAR
from robust_core.streams import key, numpy_generator
from robust_core.validate import Floats

STATES = 200 if settings().max_examples <= QUICK_EXAMPLES else 10_000
PROGRAM_SHARE = 20
"""One state in so many is also enclosed by a convex program."""
WIDEST = 1e-10
"""Of an enclosure, relative to max|w|."""


def state_of(kind: type[SRectangular], number: int) -> tuple[MDP, Floats, SRectangular]:
    """A model whose first state is looked at, values, and a set for it."""
    rng = numpy_generator(key("states of sets", kind.kind, number))
    S, A = int(rng.integers(1, 7)), int(rng.integers(1, 4))
    P = np.array([[nasty_rows.row(rng, S) for _ in range(A)] for _ in range(S)])
    V = nasty_rows.values(rng, S)
    cost = rng.choice([0.0, 1.0, -2.0, 0.1, 1 / 3], (S, A)) if rng.integers(2) else rng.normal(size=(S, A))
    if rng.integers(2):
        cost = cost * (float(np.abs(V).max()) or 1.0) * 2.0 ** -int(rng.integers(0, 6))
    mdp = MDP(P, cost, float(rng.choice([0.0, 0.5, 0.9, 0.99])))
    chosen = nasty_rows.choose(rng, kind, P[0, 0], V)
    assert isinstance(chosen, SRectangular)
    return mdp, V, chosen


def first_state(mdp: MDP, V: Floats) -> tuple[list[Vector], list[Vector]]:
    """The rows of the first state and w_a = c + gamma V, in fractions."""
    rows = [distribution(row).fractions() for row in mdp.P[0].tolist()]
    gamma, values = Fraction(mdp.gamma), [Fraction(x) for x in V.tolist()]
    return rows, [tuple(Fraction(c) + gamma * x for x in values) for c in mdp.cost[0].tolist()]


def random_policy(number: int, A: int) -> Vector:
    """One in three takes one action; the others are spread, some with a small probability."""
    rng = numpy_generator(key("policies of states", number))
    spread = rng.dirichlet(np.full(A, (0.2, 2.0)[number % 2]))
    weights: Floats = np.eye(A)[rng.integers(A)] if number % 3 == 0 else spread
    return distribution(weights.tolist()).fractions()


def objections(kind: type[SRectangular], number: int) -> Iterator[str]:
    """Where two oracles, or the core and an oracle, differ by more than certified."""
    mdp, V, chosen = state_of(kind, number)
    rows, w = first_state(mdp, V)
    lower, upper = s_rectangular.value(chosen, rows, w)
    case = f"state {number}: {chosen!r}, {mdp.P[0].tolist()}, {mdp.cost[0].tolist()}, {V.tolist()}, {mdp.gamma}"
    size = max(abs(x) for row in w for x in row)
    if number % PROGRAM_SHARE == 0:
        try:
            low, high = s_rectangular_program.value(chosen, rows, w)
        except ArithmeticError:  # no opinion: of tiny and huge numbers solvers know little
            low, high = lower, upper
        if low > upper or high < lower:
            yield f"{case}: the program says {float(low)!r} to {float(high)!r}, not {float(lower)!r}"
    allowed = Fraction(backup_bound(mdp, V))
    plain = chosen.state_update(mdp.P[0], mdp.cost[0][:, None] + mdp.gamma * V, float(chosen.radius)).value
    for form, got in (("plain", plain), ("compiled", bellman_values(mdp, chosen, V)[0])):
        if not lower - allowed <= Fraction(float(got)) <= upper + allowed:
            yield f"{case}: the {form} value is {got!r}, outside [{float(lower)!r}, {float(upper)!r}]"
    bounds = core.compiled_backup(kernel.Outcomes.of(mdp), chosen)(V, True)
    policy = distribution(bounds.policy[0].tolist()).fractions()
    least, most = s_rectangular.policy_value(chosen, rows, w, policy)
    if not Fraction(float(bounds.lower[0])) <= upper:
        yield f"{case}: the lower bound {bounds.lower[0]!r} is above the value {float(upper)!r}"
    if not max(lower, least) <= Fraction(float(bounds.upper[0])):
        yield f"{case}: the upper bound {bounds.upper[0]!r} is below the value of its policy, {float(least)!r}"
    if not (least <= most and lower <= most):
        yield f"{case}: the policy has {float(least)!r} to {float(most)!r}, below the value {float(lower)!r}"
    other = random_policy(number, mdp.n_actions)
    ends = s_rectangular.policy_value(chosen, rows, w, other)
    if not (lower <= ends[1] and ends[0] <= ends[1]):
        yield f"{case}: the policy {other} has {float(ends[0])!r} to {float(ends[1])!r}, the value is {float(lower)!r}"
    got = chosen.policy_value(
        mdp.P[0], mdp.cost[0][:, None] + mdp.gamma * V, float(chosen.radius), np.array(other, float)
    )
    if not ends[0] - allowed <= Fraction(got) <= ends[1] + allowed:
        yield f"{case}: T_pi of {[float(x) for x in other]} is {got!r}, not {float(ends[0])!r} to {float(ends[1])!r}"
    widths = [float((high - low) / size) for low, high in ((lower, upper), (least, most), ends) if size > 0]
    if max(widths, default=0.0) > WIDEST:
        yield f"{case}: wide enclosures of value, policy and policy {[float(x) for x in other]}: {widths}"


@pytest.mark.parametrize("kind", S_RECTANGULAR, ids=lambda kind: kind.kind)
def test_oracles_and_core_agree_on_every_state(kind: type[SRectangular]) -> None:
    found = [said for number in range(STATES) for said in objections(kind, number)]
    assert not found, f"{len(found)} objections in {STATES} states, the first: {found[0]}"


@pytest.mark.parametrize("kind", S_RECTANGULAR, ids=lambda kind: kind.kind)
def test_an_oracle_of_another_budget_is_found_out(kind: type[SRectangular]) -> None:
    """Half the budget, as for averages over two actions: the comparison sees it within a few states."""
    seen = 0
    for number in range(20):
        mdp, V, chosen = state_of(kind, number)
        lower, upper = s_rectangular.value(chosen.with_radius(float(chosen.radius) / 2.0), *first_state(mdp, V))
        got, allowed = Fraction(float(solve_states(mdp, chosen, V).values[0])), Fraction(backup_bound(mdp, V))
        seen += not lower - allowed <= got <= upper + allowed
    assert seen >= 3
