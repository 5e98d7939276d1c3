"""Counterexamples become as small as they can: fewer states, actions and steps than any hand-made search would keep."""

import hashlib
import time
from dataclasses import replace
from itertools import islice, pairwise
from typing import Any, NoReturn

import numpy as np
import pytest

from properties.cases import law_schema, reductions
from properties.cases.case import Case
from properties.cases.reductions import reduce, smaller
from properties.judging.blame import CannotBeJudged
from properties.judging.counterexample import Counterexample
from properties.judging.search import explore_and_reduce, judge_case, search
from properties.judging.verdict import Finding
from properties.judging.verification import applicable
from properties.laws.catalogue import LAWS
from properties.laws.law import Law
from properties.process.loading import load
from robust_core import MDP, Contamination, Variant

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
    (variant,) = load(f"properties.variants.mutants.{name}").values()
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
        # Sums of halves, quarters, … are exact.
        assert (mdp.P.sum(axis=2) == 1.0).all()
        for s, a, cost, s_next, _, _ in path:
            assert mdp.P[s, a, s_next] > 0.0
            assert cost == mdp.cost[s, a]
        assert all(first[3:5] == second[:2] for first, second in pairwise(path))
        shapes.add((mdp.n_states, mdp.n_actions, len(path)))
    assert {(2, 2, 2), (3, 2, 1), (3, 2, 2)} <= shapes


def many_states(n: int) -> Case:
    """A dense model with probabilities and values of many digits, and a path of one step."""
    rng = np.random.default_rng(n)
    P = rng.dirichlet(np.ones(n), (n, 3))
    mdp = MDP(P / P.sum(axis=2, keepdims=True), 1e9 * rng.normal(size=(n, 3)), 1.0 - 2.0**-14)
    path = [(n - 1, 2, float(mdp.cost[n - 1, 2]), 0, 1, False)]
    return {"mdp": mdp, "initial": 1e9 * rng.normal(size=(n, 3)), "path": path}


def test_what_is_not_needed_goes_in_parts_and_what_is_left_is_plain() -> None:
    """Of seventy states any seventeen will do: their number is found by halves, not one by one from the beginning."""
    asked = []

    def fails(case: Case) -> bool:
        asked.append(case)
        return bool(case["mdp"].n_states >= 17 and len(case["path"]) == 1 and case["initial"].max() > 0.0)

    left = reduce(many_states(70), fails)
    mdp = left["mdp"]
    assert (mdp.n_states, mdp.n_actions, mdp.gamma) == (17, 1, 0.0)
    assert sorted(set(mdp.P.ravel())) == [0.0, 1.0]
    assert not mdp.cost.any()
    assert sorted(left["initial"].ravel()) == [0.0] * 16 + [1.0]
    assert len(asked) < 10 * 70


@pytest.mark.parametrize("answer", [True, False])
def test_reducing_ends(answer: bool) -> None:
    case = many_states(12)
    left = reduce(case, lambda less: answer)
    assert (left is case) == (not answer)
    assert not answer or (left["mdp"].n_states, left["mdp"].n_actions, left["path"]) == (1, 1, [])


@pytest.mark.parametrize("threshold", [1, 3, 6])
def test_reducing_ends_whatever_fails(threshold: int) -> None:
    """Answers without rhyme or reason, but the same for the same case."""

    def fails(case: Case) -> bool:
        text = Counterexample("law", "variant", case, "").to_json()
        return hashlib.blake2b(text.encode()).digest()[0] % 7 < threshold

    assert reduce(many_states(8), fails)["mdp"].n_states >= 1


def test_a_large_case_and_a_slow_one_have_less_time(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def fails(case: Case) -> bool:
        asked.append(case)
        return False

    monkeypatch.setattr(reductions, "MOST_WORK", 50)
    reduce(many_states(70), fails)
    assert 0 < len(asked) <= 50 / reductions.work(many_states(35))
    monkeypatch.setattr(reductions, "MOST_SECONDS", -1.0)
    case = many_states(70)
    assert reduce(case, lambda less: True) is case


def test_a_variant_that_fails_late_in_every_call_has_its_verdict_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was ended before, and its fault was lost: only the processor's time was counted."""
    calls: list[None] = []

    def late(uncertainty_set: Any, p: Any, v: Any) -> NoReturn:
        calls.append(None)
        time.sleep(0.01)
        raise KeyError("lost")

    monkeypatch.setattr(reductions, "MOST_SECONDS", 0.1)
    variant = Variant("late", "support", late, (Contamination,), ("support function",))
    law = next(x for x in LAWS if x.name == "support value")
    verdict = search(law, variant, examples=30, master_seed=0)
    assert verdict.evidence.startswith("misbehaviour: raised KeyError: 'lost'")
    assert len(calls) < 30


RARE = 1e-3
"""Of the rows that are drawn, what is rarer is made impossible: so there are supports of two, three, four and five."""


@pytest.mark.parametrize("units", reductions.SHARES)
def test_rows_in_shares_are_distributions_on_the_same_states(units: int) -> None:
    rows = np.random.default_rng(units).dirichlet(np.full(5, 0.2), 50)
    rows[rows < RARE] = 0.0
    rows /= rows.sum(axis=1, keepdims=True)
    plain = reductions._in_shares(rows, units)
    fits = (rows > 0.0).sum(axis=1) <= units
    assert (plain[fits].sum(axis=1) == 1.0).all()
    assert ((plain > 0.0) == (rows > 0.0)).all()
    assert (np.remainder(plain[fits] * units, 1.0) == 0.0).all()
    assert np.array_equal(reductions._in_shares(plain, units), plain)


def test_the_same_seed_gives_the_same_small_case_and_it_is_readable() -> None:
    """Seventeen states that each stay where they are, one step, and values of one digit."""
    (variant,) = load("properties.variants.mutants.beyond:SIXTEEN_STATES").values()
    law = next(x for x in LAWS if x.name == "sample step, large")
    first, again = (search(law, variant, examples=10, master_seed=0).case for _ in range(2))
    assert first is not None
    assert again is not None
    mdp = first["mdp"]
    assert (mdp.n_states, mdp.n_actions, len(first["path"])) == (17, 1, 1)
    assert set(mdp.P.ravel()) == {0.0, 1.0}
    assert {*mdp.cost.ravel(), *first["initial"].ravel()} <= {-1.0, 0.0, 1.0}
    assert mdp.gamma in reductions.GAMMAS
    texts = [Counterexample(law.name, "it", case, "").to_json() for case in (first, again)]
    assert texts[0] == texts[1]


def test_a_wrong_number_does_not_shrink_to_misbehaviour() -> None:
    def judge(case: Case) -> Finding | None:
        if case["mdp"].n_states < 3:
            return Finding("misbehaviour: raised ValueError: too small", "an exception", "a result")
        return Finding("Q", 1.0, 0.0)

    verdict = explore_and_reduce([three_states()] * 5, judge)
    assert verdict.evidence.startswith("Q: got 1.0")
    assert verdict.case is not None
    assert verdict.case["mdp"].n_states == 3
    assert verdict.case["path"] == []


def test_without_shrinking_a_case_is_reported_as_it_was_found() -> None:
    (variant,) = load("properties.variants.mutants.control:MEAN_FOR_MAX").values()
    law = next(x for x in LAWS if x.name == "sample step")
    shrunk, found = (search(law, variant, examples=200, master_seed=0, shrink=shrink) for shrink in (True, False))
    assert found.outcome == shrunk.outcome == "violated"
    assert found.cases < shrunk.cases
    assert replace(found, case=None).evidence != shrunk.evidence


RIGHT = ("bellman", "q_learning", "sarsa", "support", "td", "tdc", "value_iteration", "walk")


def _reduced_at_random(law: Law, variant: Variant) -> None:
    """Some cases of the law, half of whose reductions are accepted; each of them is judged."""
    rng = np.random.default_rng(0)

    def fails(case: Case) -> bool:
        try:
            finding = judge_case(law, variant, law_schema.read(law, case, variant))
        except CannotBeJudged:
            return False
        assert finding is None, f"{law.name}: {finding}"
        return bool(rng.random() < 0.5)

    for case in islice(law.cases_of(variant), 3):
        reduce(case.entries(), fails)


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_variant_is_right_on_what_cases_are_reduced_to(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No reduction leads out of what the law speaks of."""
    monkeypatch.setattr(reductions, "MOST_WORK", 25)
    variant = next(iter(load(f"properties.variants.gallery.{name}").values()))
    for law in applicable(variant):
        if law.reducible and not law.large:
            _reduced_at_random(law, variant)
