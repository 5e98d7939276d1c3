"""s-rectangular sets: plain and compiled states, certified bounds, planning and its safeguard, against the oracles."""

from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

from oracles.arithmetic.exact import Vector, distribution
from oracles.planning import s_rectangular as planning
from oracles.sets import s_rectangular, s_rectangular_program
from properties.judging.search import search
from properties.judging.verification import applicable
from properties.variants import s_rectangular as right
from properties.variants.mutants import s_rectangular as mutants
from robust_core import (
    MDP,
    Contamination,
    SRectangular,
    Variant,
    bellman,
    bellman_values,
    iteration,
    plan_states,
)
from robust_core import plan as rectangular_plan
from robust_core.sets import S_RECTANGULAR, SRectangularKullbackLeibler, SRectangularL1, UncertaintySet
from robust_core.validate import EPS, Floats

kinds = pytest.mark.parametrize("kind", S_RECTANGULAR, ids=lambda kind: kind.kind)


def state(mdp: MDP, V: Floats, s: int) -> tuple[list[Vector], list[Vector]]:
    """The rows of a state and w_a = c + gamma V, in fractions."""
    rows = [distribution(row).fractions() for row in mdp.P[s].tolist()]
    gamma, values = Fraction(mdp.gamma), [Fraction(x) for x in V.tolist()]
    return rows, [tuple(Fraction(c) + gamma * x for x in values) for c in mdp.cost[s].tolist()]


@kinds
def test_two_oracles_that_share_no_algorithm_agree(kind: type[SRectangular]) -> None:
    """The program's proposal, certified by weak duality, and least budgets meet; the program's bounds are narrow."""
    rng = np.random.default_rng(3)
    make_set: Any = kind
    for budget in (0.05, 0.4, 1.5):
        mdp = MDP(rng.dirichlet(np.ones(4), (4, 3)), rng.normal(size=(4, 3)), 0.9)
        rows, w = state(mdp, rng.normal(size=4), 0)
        lower, upper = s_rectangular.value(make_set(budget), rows, w)
        low, high = s_rectangular_program.value(make_set(budget), rows, w)
        assert low <= upper
        assert lower <= high
        assert high - low <= Fraction(1, 10**6)


@kinds
def test_plans_enclose_the_optimum_and_policies_keep_the_bound(kind: type[SRectangular]) -> None:
    rng, make_set = np.random.default_rng(4), kind
    for budget, gamma in ((0.3, 0.9), ([0.0, 0.2, 2.0], 0.99)):
        mdp = MDP(rng.dirichlet(np.ones(3), (3, 3)), rng.normal(size=(3, 3)), gamma)
        chosen: Any = make_set(budget)  # type: ignore[call-arg]
        plan = plan_states(mdp, chosen, accuracy=1e-7)
        V, W = planning.solve(mdp, chosen), planning.evaluate(mdp, chosen, plan.policy)
        assert plan.width <= 2e-7 * (1.0 + 1e-3)
        assert (plan.lower <= V.value + V.error_bound).all()
        assert (V.value - V.error_bound <= plan.upper).all()
        assert (W.value - W.error_bound <= plan.upper).all()
        # T_q v = Tv for the rows q of nature, so the bounds hold for their nominal optimum too, up to rounding.
        nominal = rectangular_plan(MDP(plan.worst_kernel(), mdp.cost, gamma), Contamination(0.0), accuracy=1e-8)
        rounding = 64.0 * EPS * mdp.n_states * abs(plan.values).max() / (1.0 - gamma)
        assert (plan.lower - rounding <= nominal.upper).all()
        assert (nominal.lower <= plan.upper + rounding).all()


def test_the_safeguard_ends_where_sweeps_lead_astray(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sweeps that end at a wrong point every time: plain backups finish, within the bounds of the proof."""
    rng = np.random.default_rng(5)
    mdp = MDP(np.roll(np.eye(6), 1, axis=1)[:, None, :].repeat(2, axis=1), rng.random((6, 2)), 0.9)
    goal, calls = 1e-6, [0]

    def astray(point: Any, gamma: float, most: int) -> tuple[Floats, int]:
        calls[0] += 1
        return rng.normal(size=6) * 10.0 ** rng.integers(-3, 4), 1

    plain, V = 0, np.zeros(6)
    while True:  # N of the proof
        image, plain = bellman_values(mdp, SRectangularL1(0.2), V), plain + 1
        if 9.0 * float(np.ptp(image - V)) / 2.0 <= goal:
            break
        V = image
    monkeypatch.setattr(iteration, "_swept", astray)
    plan = plan_states(mdp, SRectangularL1(0.2), accuracy=goal)
    assert plan.width <= 2.0 * goal * (1.0 + 1e-3)
    assert plan.falls <= np.log2(plain + 1) + 1
    assert calls[0] <= iteration.PATIENCE * (plan.falls + 1 + np.log(1e3 / goal) / -np.log(iteration.ACCEPTED))
    assert plan.backups <= 4 * plain + 2 + calls[0] + 1


def test_randomised_policies_are_needed() -> None:
    """Two actions that are alike: nature pays for both, so half the budget is all that it has for the one taken."""
    mdp = MDP([[[1.0, 0.0], [1.0, 0.0]], [[0.0, 1.0]] * 2], [[0.0, 0.0], [1.0, 1.0]], 0.5)
    random, first = [[0.5, 0.5], [1.0, 0.0]], [[1.0, 0.0], [1.0, 0.0]]
    values = [planning.evaluate(mdp, SRectangularL1(1.0), policy).value[0] for policy in (random, first)]
    assert values[0] < values[1] - 0.1


@kinds
def test_right_variants_hold_on_every_law(kind: type[SRectangular]) -> None:
    for variant in (right.OPERATOR, right.VALUES, right.POLICY):
        only = replace(variant, sets=(kind,))
        for law in applicable(only):
            if "large" not in law.name:
                found = search(law, only, examples=3, master_seed=1)
                assert found.outcome == "holds", (law.name, found.evidence)


MUTANTS = {name: variant for name, variant in vars(mutants).items() if isinstance(variant, Variant)}


def kill(name: str, seed: int, examples: int) -> str | None:
    """The law that a mutant dies of."""
    variant = MUTANTS[name]
    laws = (law for law in applicable(variant) if "large" not in law.name)
    return next(
        (law.name for law in laws if search(law, variant, examples=examples, master_seed=seed).outcome == "violated"),
        None,
    )


@pytest.mark.parametrize("name", ["PER_ACTION", "EQUAL_PARTS"])
def test_a_wrong_form_dies(name: str) -> None:
    assert kill(name, 0, 60)


@pytest.mark.robust_core_slow
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("name", MUTANTS)
def test_every_wrong_form_dies(name: str, seed: int) -> None:
    assert kill(name, seed, 100)


_loose: Any = SRectangularL1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (partial(SRectangularL1, -0.5), r"radius \(the budget of a state.*must not be negative, got -0.5"),
        (partial(_loose, [0.5, -1.0]), r"radius\[1\] \(the budget of state 1\) must not be negative, got -1.0"),
        (partial(_loose, [[0.5, 0.5]]), r"a budget for each pair is an \(s,a\)-rectangular set; got shape \(1, 2\)"),
        (partial(SRectangularKullbackLeibler, float("inf")), "must be finite"),
        (partial(_loose, 0.5, 1), "within_support must be True or False, got 1"),
        (
            partial(bellman_values, MDP([[[1.0]]], [[0.0]], 0.5), _loose([0.5, 0.5]), [0.0]),
            r"must be one number or have",
        ),
        (partial(bellman, MDP([[[1.0]]], [[0.0]], 0.5), SRectangularL1(0.5), [[0.0]]), "use bellman_values"),
        (partial(SRectangularL1(0.5).at, 0, 0), "no set of one row"),
    ],
)
def test_a_bad_argument_is_named_with_its_rule(make: partial[object], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        make()


@kinds
def test_a_set_is_its_data(kind: type[SRectangular]) -> None:
    made: Any = kind([0.25, 0.5])  # type: ignore[call-arg]
    assert UncertaintySet.from_dict(made.to_dict()) == made
    assert made.in_state(1).radius == 0.5
    assert made.select([1, 1, 0], [0]).radius.tolist() == [0.5, 0.5, 0.25]
