"""Counterexamples become as small as they can: fewer states, actions and steps than any hand-made search would keep."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from properties.law import Case
from properties.laws import LAWS
from properties.loading import load
from properties.reductions import smaller
from properties.search import explore, search
from properties.verdict import Finding
from robust_core import MDP

SEEDS = (0, 1)
# (mutant, law, states, actions, steps): by hand, the smallest model on which the slip shows.
SMALLEST = [
    ("control:MEAN_FOR_MAX", "unbiased step", 2, 1, 0),
    ("control:LAST_STATE_FORGOTTEN", "sample step", 2, 1, 1),
    ("bookkeeping:WHOLE_ROW", "asynchronous update", 1, 2, 1),
    ("control:NEXT_ACTION", "fixed point", 1, 2, 1),
    ("operator:L1_RADIUS", "bellman backup", 2, 1, 0),
]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("name", "law", "states", "actions", "steps"), SMALLEST)
def test_the_smallest_model_is_found(name: str, law: str, states: int, actions: int, steps: int, seed: int) -> None:
    (variant,) = load(f"properties.mutants.{name}").values()
    case = search(next(x for x in LAWS if x.name == law), variant, examples=200, master_seed=seed).case
    assert case is not None
    assert (case["mdp"].n_states, case["mdp"].n_actions, len(case.get("path", []))) == (states, actions, steps)


def three_states() -> Case:
    """A path that goes from state 0 to state 2 and on, past state 1, which nothing needs."""
    P = np.zeros((3, 2, 3))
    P[:, :, 2] = 0.5
    P[:, :, 1] = 0.5
    mdp = MDP(P, np.array([[0.0, 1.0], [0.0, 0.0], [2.0, 0.0]]), 0.5)
    path = [(0, 1, 1.0, 2, 0, False), (2, 0, 2.0, 2, 0, False)]
    return {"mdp": mdp, "initial": np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), "path": path}


def test_reductions_are_cases_of_the_same_sort() -> None:
    shapes = set()
    for less in smaller(three_states()):
        mdp, path = less["mdp"], less["path"]
        assert less["initial"].shape == (mdp.n_states, mdp.n_actions)
        assert np.allclose(mdp.P.sum(axis=2), 1.0)
        for s, a, cost, s_next, _, _ in path:
            assert mdp.P[s, a, s_next] > 0.0
            assert cost == mdp.cost[s, a]
        assert all(first[3:5] == second[:2] for first, second in pairwise(path))
        shapes.add((mdp.n_states, mdp.n_actions, len(path)))
    assert {(2, 2, 2), (3, 2, 1), (3, 2, 2)} <= shapes


def test_a_wrong_number_does_not_shrink_to_a_fault_of_conduct() -> None:
    from hypothesis import strategies as st

    def judge(case: Case) -> Finding | None:
        if case["mdp"].n_states < 3:
            return Finding("conduct: raised ValueError: too small", "an exception", "a result")
        return Finding("Q", 1.0, 0.0)

    verdict = explore(st.builds(three_states), judge, examples=5, master_seed=0, smaller=smaller)
    assert verdict.evidence.startswith("Q: got 1.0")
    assert verdict.case is not None
    assert verdict.case["mdp"].n_states == 3
    assert verdict.case["path"] == []


def test_without_shrinking_a_case_is_reported_as_it_was_found() -> None:
    (variant,) = load("properties.mutants.control:MEAN_FOR_MAX").values()
    law = next(x for x in LAWS if x.name == "sample step")
    shrunk, found = (search(law, variant, examples=200, master_seed=0, shrink=shrink) for shrink in (True, False))
    assert found.outcome == shrunk.outcome == "violated"
    assert found.cases < shrunk.cases
    assert replace(found, case=None).evidence != shrunk.evidence
