"""The laws themselves: well formed, replayable, and sharp enough to see an error of 1e-11."""

import json
from itertools import islice

import numpy as np
import pytest

from properties.cases import law_schema
from properties.cases.codec import decode, encode
from properties.cases.runs import Run
from properties.cases.sources import Designed
from properties.judging.blame import NotTested
from properties.judging.search import judge_case, search
from properties.judging.verification import applicable
from properties.kinds import kind_of
from properties.laws.catalogue import LAWS
from properties.laws.law import PROMISES, Law
from properties.laws.rounding import box_size, operations_bound, path_bound
from properties.process.loading import gallery_variants
from properties.variants.gallery import PATHWISE
from properties.variants.mutants import control, operator, planner
from properties.variants.mutants.plain import PlainQ, PlainTDC
from robust_core import Contamination, TotalVariation, Transition, Variant, bellman, sigma
from robust_core.models import two_states
from robust_core.validate import EPS

GALLERY = gallery_variants()
SLIGHT = 1.0 + 1e-11
PATHWISE_CLAIMS = ("unbiased", "sample form", *PATHWISE)


def test_names_are_distinct_and_promises_are_tested() -> None:
    assert len({law.name for law in LAWS}) == len(LAWS)
    assert {law.promise for law in LAWS} - {None} == set(PROMISES)


def test_a_law_comes_after_the_laws_it_waits_for() -> None:
    place = {law.name: number for number, law in enumerate(LAWS)}
    for law in LAWS:
        assert all(place[earlier] < place[law.name] for earlier in law.after), law.name


def test_an_unknown_promise_is_refused() -> None:
    with pytest.raises(ValueError, match="promise must be one of"):
        Law("x", ("control",), "magic", "", Designed(list), lambda variant, case: None)


def test_what_is_checked_follows_from_kind_and_claims() -> None:
    silent = Variant("silent", "control", PlainQ, (Contamination,), ())
    always = ["start", "run purity", "schedule", "ending", "batch", "run purity, large", "batch, large"]
    assert [law.name for law in applicable(silent)] == always
    one = Variant("one", "control", PlainQ, (Contamination,), ("bounded",))
    assert [law.name for law in applicable(one)] == [*always[:4], "box", *always[4:]]


@pytest.mark.robust_core_slow
@pytest.mark.parametrize("key", GALLERY)
def test_cases_survive_json_and_are_judged_alike(key: str) -> None:
    for law in applicable(GALLERY[key]):
        _replayed(law, GALLERY[key])


def _replayed(law: Law, variant: Variant) -> None:
    for case in islice(law.cases_of(variant), 3):
        text = json.dumps({name: encode(value) for name, value in case.entries().items()}, allow_nan=False)
        again = {name: decode(value) for name, value in json.loads(text).items()}
        read = law_schema.read(law, again, variant)
        try:
            assert judge_case(law, variant, case) is None
        except NotTested:  # draws that cannot be enumerated
            with pytest.raises(NotTested):
                judge_case(law, variant, read)
        else:
            assert judge_case(law, variant, read) is None


def test_the_first_choice_everywhere_is_the_trivial_case() -> None:
    case = kind_of("control").trivial_case(GALLERY["properties.variants.gallery.q_learning:VARIANT"])
    assert isinstance(case, Run)
    assert (case.mdp.n_states, case.mdp.n_actions, case.mdp.gamma) == (1, 1, 0.0)
    assert case.path == []


@pytest.mark.parametrize(
    ("mutant", "name"), [(planner.UNIT_COSTS, "optimum"), (operator.UNIT_VALUES, "bellman backup")]
)
def test_every_search_begins_with_the_trivial_case(mutant: Variant, name: str) -> None:
    """What is wrong where everything is zero is found whatever the seed, by the first case."""
    law = next(law for law in LAWS if law.name == name)
    verdict = search(law, mutant, examples=1, master_seed=0, shrink=False)
    assert verdict.outcome == "violated"
    assert verdict.cases == 2  # the case, and once more to see whether it repeats
    assert verdict.case is not None
    assert not verdict.case["mdp"].cost.any()


class _SlightQ(PlainQ):
    def target(self, step: Transition) -> float:
        return super().target(step) * SLIGHT


class _SlightTDC(PlainTDC):
    def direction(self, step: Transition) -> np.ndarray:
        return super().direction(step) * SLIGHT


_SETS = (Contamination, TotalVariation)
SLIGHTLY_WRONG = {
    "sample step": Variant("Q", "control", _SlightQ, (Contamination,), PATHWISE_CLAIMS),
    "unbiased step": Variant("Q", "control", _SlightQ, (Contamination,), PATHWISE_CLAIMS),
    "fixed point": Variant("Q", "control", _SlightQ, (Contamination,), PATHWISE_CLAIMS),
    "box": Variant("Q", "control", _SlightQ, (Contamination,), PATHWISE_CLAIMS),
    "TDC step": Variant("TDC", "linear evaluation", _SlightTDC, (Contamination,), ("TDC",)),
    "TDC drift": Variant("TDC", "linear evaluation", _SlightTDC, (Contamination,), ("TDC",)),
    "bellman backup": Variant("T", "operator", lambda m, u, Q: bellman(m, u, Q) * SLIGHT, _SETS, ("bellman",)),
    "bellman order": Variant("T", "operator", lambda m, u, Q: bellman(m, u, Q) * SLIGHT, _SETS, ("bellman",)),
    "support value": Variant("s", "support", lambda u, p, v: sigma(u, p, v) * SLIGHT, _SETS, ("support function",)),
    "support axioms": Variant("s", "support", lambda u, p, v: sigma(u, p, v) * SLIGHT, _SETS, ("support function",)),
}


@pytest.mark.parametrize("name", SLIGHTLY_WRONG)
def test_tolerances_are_sharp(name: str) -> None:
    """A relative error of 1e-11, far below what a plot or a loose tolerance would show, is seen."""
    law = next(law for law in LAWS if law.name == name)
    assert search(law, SLIGHTLY_WRONG[name], examples=100, master_seed=0, shrink=False).outcome == "violated"


def test_bounds_are_small_and_grow_with_what_they_bound() -> None:
    """n roundings are n units and less than one more; so is each step of a path."""
    unit = EPS / 2
    for n in (10, 20):
        assert n * unit < operations_bound(n, 1.0) < (n + 1) * unit
    mdp = two_states()
    # A step has 4 S + 4 A + 32 roundings of at most twice the cost and the estimate, which is at most cost/(1 − gamma).
    n, size = 4 * 2 + 4 * 2 + 32, 2.0 * (1.0 + 1.0 / (1.0 - mdp.gamma))
    for steps in (1, 100):
        assert (steps + 1) * n * unit * size < path_bound(mdp, steps, 1.0, 1.0) < (steps + 1) * (n + 1) * unit * size
    assert box_size(0.5, 1.0, 0.0) >= 2.0


def test_a_learner_that_is_wrong_for_some_rngs_is_caught() -> None:
    """The seed of the rng follows from the case: it differs between cases and is the same when one is judged again."""
    law = next(law for law in LAWS if law.name == "fixed point")
    verdicts = [search(law, control.LUCKY_SEEDS, examples=60, master_seed=seed, shrink=False) for seed in range(3)]
    assert [verdict.outcome for verdict in verdicts] == ["violated"] * 3
    assert all("does not always" not in verdict.evidence for verdict in verdicts)
