"""The laws on problems of size: which they are, that they survive being saved, and what a long one shrinks to."""

import numpy as np
import pytest

from properties.laws import LAWS
from properties.laws.learning import read_run
from properties.laws.sized import LONG, WIDE, SizedTape
from properties.loading import built_in, load
from properties.search import judged, search

Q_LEARNING = built_in()["properties.gallery.q_learning:VARIANT"]


def test_every_sized_law_tries_each_of_its_problems_once() -> None:
    law = next(law for law in LAWS if law.name == "asynchronous update, sized")
    verdict = search(law, Q_LEARNING, examples=10, master_seed=7)
    assert (verdict.outcome, verdict.cases) == ("holds", len(WIDE + LONG))


def test_problems_are_always_the_same_and_large() -> None:
    first, again = (read_run(SizedTape(WIDE[1]), Q_LEARNING) for _ in range(2))
    assert first["mdp"] == again["mdp"]
    assert first["path"] == again["path"]
    assert (first["mdp"].n_states, first["mdp"].n_actions) == (40, 9)
    assert np.count_nonzero(first["mdp"].P[0, 0]) > 8
    assert first["mdp"].gamma > 0.0
    assert first["uncertainty_set"].radius > 0.0
    assert not np.array_equal(first["mdp"].P, first["mdp"].P.astype(np.float32)), "float32 would lose digits"


def test_a_long_run_visits_a_pair_more_than_a_thousand_times() -> None:
    path = read_run(SizedTape(LONG[0]), Q_LEARNING, ends=True)["path"]
    assert sum(step[:2] == (0, 0) for step in path) > 1000


@pytest.mark.parametrize(
    ("name", "law", "states"),
    [("SIXTEEN_STATES", "sample step, sized", 17), ("EIGHT_SUCCESSORS", "bellman backup, sized", 9)],
)
def test_what_a_large_problem_shows_needs_no_state_more_than_the_slip(name: str, law: str, states: int) -> None:
    (variant,) = load(f"properties.mutants.beyond:{name}").values()
    found = next(x for x in LAWS if x.name == law)
    verdict = search(found, variant, examples=10, master_seed=0)
    assert verdict.case is not None
    assert verdict.case["mdp"].n_states == states
    assert verdict.case["mdp"].n_actions <= 2
    assert judged(found, variant, verdict.case) is not None
    assert len(verdict.case.get("path", [])) <= 1
