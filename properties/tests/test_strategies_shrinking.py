"""Shrinking: planted defects, and whether the search ends at the smallest problem that shows them."""

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st

from properties.profiles import QUICK_EXAMPLES
from properties.strategies import mdps, minimal, radii, values
from robust_core.mdp import MDP

Problem = tuple[MDP, np.ndarray, float]


@st.composite
def planted_problems(draw: st.DrawFn, models: st.SearchStrategy[MDP]) -> Problem:
    mdp = draw(models)
    return mdp, draw(values(mdp.n_states)), draw(radii())


def complexity(problem: Problem) -> tuple[int, int, int]:
    """States, actions, and entries that are not as in the trivial problem (loops, no cost, no value)."""
    mdp, V, _ = problem
    loops = np.broadcast_to(np.eye(mdp.n_states)[:, None, :], mdp.P.shape)
    changed = np.count_nonzero((mdp.P > 0.0) & (loops == 0.0)) + np.count_nonzero(mdp.cost) + np.count_nonzero(V)
    return mdp.n_states, mdp.n_actions, int(changed)


def moves(mdp: MDP) -> np.ndarray:
    """Which states lead to which others under some action."""
    return (mdp.P > 0.0).any(axis=1) & ~np.eye(mdp.n_states, dtype=bool)


def dirac_with_other_cost(problem: Problem) -> bool:
    mdp = problem[0]
    return any(
        mdp.P[s, a, t] == 1.0 and (mdp.cost[t] != mdp.cost[s, a]).any()
        for s, a, t in np.argwhere(mdp.P == 1.0)
        if s != t
    )


def worst_state_is_unreachable(problem: Problem) -> bool:
    mdp, V, radius = problem
    worst = V.max() == V
    return bool(mdp.n_states > 1 and radius > 0.0 and worst.sum() == 1 and not moves(mdp)[:, worst].any())


def lost_gamma(problem: Problem) -> bool:
    mdp, V, _ = problem
    future = mdp.expectation(V)
    return bool(((mdp.cost + mdp.gamma * future).min(axis=1) != (mdp.cost + future).min(axis=1)).any())


def total_variation_support(p: np.ndarray, V: np.ndarray, radius: float) -> float:
    """Move mass `radius` from the smallest values to the largest."""
    left = radius
    q = p.copy()
    for s in np.argsort(V)[:-1]:
        taken = min(q[s], left)
        q[s] -= taken
        left -= taken
    q[np.argmax(V)] += 1.0 - q.sum()
    return float(q @ V)


def radius_read_as_l1(problem: Problem) -> bool:
    mdp, V, radius = problem
    return any(
        total_variation_support(p, V, radius) != total_variation_support(p, V, radius / 2.0)
        for p in mdp.P.reshape(-1, mdp.n_states)
    )


def two_steps_away(problem: Problem) -> bool:
    step = moves(problem[0])
    return bool(((step @ step) & ~step & ~np.eye(len(step), dtype=bool)).any())


def random_row_and_two_costs(problem: Problem) -> bool:
    mdp = problem[0]
    return bool((np.count_nonzero(mdp.P, axis=2) >= 3).any() and np.count_nonzero(mdp.cost) >= 2)


def two_cycle(problem: Problem) -> bool:
    sure = problem[0].P.min(axis=1) == 1.0
    return bool((sure & sure.T & ~np.eye(len(sure), dtype=bool)).any())


PLANTS: dict[Callable[[Problem], bool], tuple[int, int, int]] = {
    dirac_with_other_cost: (2, 1, 2),
    worst_state_is_unreachable: (2, 1, 1),
    lost_gamma: (1, 1, 1),
    radius_read_as_l1: (2, 1, 1),
    two_steps_away: (3, 1, 2),
    random_row_and_two_costs: (3, 1, 4),
    two_cycle: (2, 1, 2),
}


def shrunk(
    defect: Callable[[Problem], bool], models: st.SearchStrategy[MDP], runs: int
) -> Counter[tuple[int, int, int]]:
    """The complexities at which `runs` differently seeded searches end."""
    problems = planted_problems(models)
    return Counter(complexity(minimal(problems, defect, seed=seed)) for seed in range(runs))


@pytest.mark.parametrize(
    "defect",
    [
        pytest.param(defect, marks=[pytest.mark.robust_core_slow] * (defect is random_row_and_two_costs))
        for defect in PLANTS
    ],
    ids=lambda defect: defect.__name__,
)
def test_planted_defect_shrinks_to_the_true_minimum(defect: Callable[[Problem], bool]) -> None:
    # The quick profile cannot afford more than one seed and small models.
    quick = settings().max_examples <= QUICK_EXAMPLES
    runs, models = (1, mdps(max_states=3, max_actions=2)) if quick else (16, mdps())
    ends = shrunk(defect, models, runs)
    assert ends == {PLANTS[defect]: runs}


@st.composite
def nested_models(draw: st.DrawFn) -> MDP:
    """The obvious way: sizes, then every row and cost in turn."""
    S, A = draw(st.integers(1, 4)), draw(st.integers(1, 2))
    weights = st.lists(st.integers(0, 8), min_size=S, max_size=S).map(lambda w: [w[0] + (not any(w)), *w[1:]])
    rows = draw(st.lists(weights, min_size=S * A, max_size=S * A))
    cost = draw(st.lists(st.sampled_from([0.0, 1.0, 0.5]), min_size=S * A, max_size=S * A))
    P = np.array([[w / sum(row) for w in row] for row in rows]).reshape(S, A, S)
    return MDP(P, np.reshape(cost, (S, A)), 0.5)


def test_a_strategy_that_shrinks_badly_is_noticed() -> None:
    ends = shrunk(random_row_and_two_costs, nested_models(), 2)
    assert any(end > PLANTS[random_row_and_two_costs] for end in ends), ends
