"""The laws on large instances: which they are, that they survive being saved, and what a long one is reduced to."""

from itertools import islice, product
from typing import Any

import numpy as np
import pytest

from properties.cases import law_schema, runs
from properties.cases.large import Fixed
from properties.judging.search import judge_case, search
from properties.laws.catalogue import LAWS
from properties.laws.large import LONG, WIDE
from properties.laws.large_learning import LARGEST, MANY_PAIRS, TABLES
from properties.laws.law import Law
from properties.laws.support import RARE_BEST
from properties.process.loading import gallery_variants, load
from properties.variants.mutants.plain import PlainTDC
from robust_core import L1, Contamination, LogSumExp, Mellowmax, Variant


def _asked(law: Law, variant: Variant) -> list[Any]:
    """Every problem of a law on large instances."""
    return list(islice(law.cases_of(variant), 60))


Q_LEARNING = gallery_variants()["properties.variants.gallery.q_learning:VARIANT"]


def test_every_law_tries_each_of_its_problems_once() -> None:
    law = next(law for law in LAWS if law.name == "asynchronous update, large")
    forms = (*WIDE, *LONG, *TABLES, LARGEST, MANY_PAIRS)
    verdict = search(law, Q_LEARNING, examples=2 * len(forms), master_seed=7)
    assert (verdict.outcome, verdict.cases) == ("holds", len(forms))


def test_problems_are_always_the_same_and_large() -> None:
    first, again = (runs.run(Fixed(WIDE[1]), Q_LEARNING) for _ in range(2))
    assert first.mdp == again.mdp
    assert first.path == again.path
    assert (first.mdp.n_states, first.mdp.n_actions) == (40, 9)
    assert np.count_nonzero(first.mdp.P[0, 0]) > 8
    assert first.mdp.gamma > 0.0
    assert first.uncertainty_set == Contamination(0.75)
    assert not np.array_equal(first.mdp.P, first.mdp.P.astype(np.float32)), "float32 would lose digits"


def test_a_long_run_visits_a_pair_more_than_a_thousand_times() -> None:
    path = runs.run(Fixed(LONG[0]), Q_LEARNING, ends=True).path
    assert sum(step[:2] == (0, 0) for step in path) > 1000


@pytest.mark.robust_core_slow
@pytest.mark.parametrize(
    ("name", "law", "states"),
    [("SIXTEEN_STATES", "sample step, large", 17), ("EIGHT_SUCCESSORS", "bellman backup, large", 9)],
)
def test_what_a_large_problem_shows_needs_no_state_more_than_the_slip(name: str, law: str, states: int) -> None:
    (variant,) = load(f"properties.variants.mutants.beyond:{name}").values()
    found = next(x for x in LAWS if x.name == law)
    verdict = search(found, variant, examples=10, master_seed=0)
    assert verdict.case is not None
    assert verdict.case["mdp"].n_states == states
    assert verdict.case["mdp"].n_actions <= 2
    assert judge_case(found, variant, law_schema.read(found, verdict.case, variant)) is not None
    assert len(verdict.case.get("path", [])) <= 1


def test_functions_are_asked_in_every_storage_and_for_every_set() -> None:
    law = next(law for law in LAWS if law.name == "bellman backup, large")
    variant = gallery_variants()["properties.variants.gallery.bellman:VARIANT"]
    cases = [case for case in _asked(law, variant) if case.mdp.n_states > len(RARE_BEST[1])]
    asked = {(case.mdp.n_states, case.mdp.is_sparse, type(case.uncertainty_set)) for case in cases}
    assert asked == set(product((7, 17, 40, 70), (False, True), variant.sets))
    tops = {int(case.Q.min(axis=1).argmax()) / (case.mdp.n_states - 1) for case in cases}
    assert {0.0, 1.0} < tops, "the worst state is the first, the last and another"
    for case in cases:
        V = np.sort(case.Q.min(axis=1))
        assert V[-1] > V[-2], "one state is the worst alone"


SIGMA = Variant("of L1", "support", abs, (L1,), ("support function",))
BACKUP = Variant("of L1", "operator", abs, (L1,), ("bellman",))


@pytest.mark.parametrize(("name", "variant"), [("support value, large", SIGMA), ("bellman backup, large", BACKUP)])
def test_best_states_without_mass_are_met_at_large_radii(name: str, variant: Variant) -> None:
    law = next(law for law in LAWS if law.name == name)
    sets = {case.uncertainty_set for case in _asked(law, variant)}
    assert {L1(radius, within) for radius, within in product((100.0, 1000.0), (False, True))} <= sets


OPTIMA = ("optimum, large", "optimum, hard")


def test_a_planner_meets_long_horizons() -> None:
    variant = gallery_variants()["properties.variants.gallery.value_iteration:VARIANT"]
    large, hard = (_asked(next(law for law in LAWS if law.name == name), variant) for name in OPTIMA)
    assert {case.mdp.gamma for case in large} == {0.99}
    assert max(case.mdp.gamma for case in hard) == 1.0 - 2.0**-10


def test_smooth_maxima_are_asked_with_and_without_a_ball() -> None:
    law = next(law for law in LAWS if law.name == "TDC step, large")
    variant = Variant("TDC", "linear evaluation", PlainTDC, (Contamination,), ("TDC",))
    cases = _asked(law, variant)
    asked = {(len(c.features), type(c.smoothing), c.projection is not None) for c in cases if len(c.initial) == 9}
    assert asked == set(product((18, 70), (LogSumExp, Mellowmax), (False, True)))
    assert max(len(case.path) for case in cases) == 1100
