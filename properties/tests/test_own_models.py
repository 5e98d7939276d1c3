"""Models of the user's among the cases of laws, and the time of a law."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from properties.judging.search import cases_on_models, explore_and_reduce, search
from properties.judging.verdict import Finding
from properties.laws.catalogue import LAWS
from properties.variants.examples.control import VARIANT as CONTROL
from properties.variants.examples.operator import VARIANT as OPERATOR
from properties.variants.examples.simulator import VARIANT as SIMULATOR
from robust_core import MDP, models

MODEL = models.garnet(7, 2, 3, gamma=0.9)
BY_NAME = {law.name: law for law in LAWS}


def _wrong_for_seven_states(mdp: MDP, uncertainty_set: Any, Q: np.ndarray) -> Any:
    right = OPERATOR.make(mdp, uncertainty_set, Q)
    return right + 1e-3 if mdp.n_states == 7 else right


def test_a_defect_on_the_users_model_is_found_and_its_case_replays() -> None:
    law, wrong = BY_NAME["bellman backup"], replace(OPERATOR, make=_wrong_for_seven_states)
    assert search(law, wrong, examples=20, master_seed=0).outcome == "holds"
    found = search(law, wrong, examples=20, master_seed=0, models=[MODEL])
    assert found.outcome == "violated"
    assert "on a model of yours" in found.evidence
    assert found.case is not None
    assert found.case["mdp"].n_states == 7


def test_right_variants_hold_on_the_users_model_and_the_evidence_counts_the_cases() -> None:
    found = search(BY_NAME["bellman backup"], OPERATOR, examples=5, master_seed=0, models=[MODEL])
    assert (found.outcome, "8 cases on your models" in found.evidence) == ("holds", True)


def test_hypotheses_and_kinds_keep_models_out() -> None:
    deterministic = next(law for law in LAWS if law.name == "fixed point" and "control" in law.kinds)
    assert not list(cases_on_models(deterministic, CONTROL, [MODEL]))
    own = next(law for law in LAWS if law.name == "mean iteration")
    assert not list(cases_on_models(own, SIMULATOR, [MODEL]))
    assert len(list(cases_on_models(BY_NAME["unbiased step"], CONTROL, [MODEL]))) == 8


@pytest.mark.parametrize(("finding", "outcome"), [(None, "holds"), (Finding("wrong", 1.0, 2.0), "violated")])
def test_a_law_without_time_counts_its_cases_and_keeps_a_violation(finding: Finding | None, outcome: str) -> None:
    first: list[dict[str, Any]] = [{"mdp": MODEL}] * 5
    found = explore_and_reduce(first, lambda case: finding, seconds=0.0, reduced=False)
    assert found.outcome == outcome
    if finding is None:
        assert found.evidence == "no violation in 1 cases, where the time for the law was over"
