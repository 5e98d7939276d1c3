"""Long and wide runs: they reach what they are for, and their counterexamples can be saved and judged again."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from properties.cases import law_schema
from properties.judging.counterexample import LARGEST_FILE, Counterexample
from properties.judging.search import judge_case, search
from properties.judging.verification import applicable
from properties.laws import horizon
from properties.laws.catalogue import LAWS
from properties.process.loading import load
from properties.variants.mutants.plain import PlainQ
from robust_core import MDP, Contamination, Variant, bellman, sigma
from robust_core.validate import Floats

Q = Variant("plain Q", "control", PlainQ, (Contamination,), ("sample form",))


def test_long_runs_reach_beyond_16_bits_and_wide_ones_beyond_a_block() -> None:
    for case in horizon.long_runs(Q):
        assert len(case.path) > 2**16
        assert sum(step[:2] == (0, 0) for step in case.path) > 2**16
    assert {case.step_size.clock for case in horizon.long_runs(Q)} == {"visits", "steps"}
    wide = horizon.many_states(Q)
    assert wide.mdp.n_states > 1024
    V = wide.initial.min(axis=1)
    assert np.argsort(-V)[: len(horizon.EDGES)].tolist() == list(horizon.EDGES), "each is the worst in its turn"
    assert horizon.many_actions(Q).mdp.n_actions > 256


_QUICK = ("SHORT_VISITS", "SHORT_VISITS_IN_THE_MEAN", "SOME_ACTIONS", "LINEAR_STATES")
MUTANTS = [
    pytest.param(
        variant, id=key.split(":")[1], marks=() if key.split(":")[1] in _QUICK else pytest.mark.robust_core_slow
    )
    for key, variant in load("properties.variants.mutants.horizon").items()
]


@pytest.mark.parametrize("variant", MUTANTS)
def test_what_needs_a_horizon_is_violated(variant: Variant) -> None:
    laws = [law for law in applicable(variant) if law.name.endswith("horizon")]
    assert any(search(law, variant, examples=10, master_seed=0, shrink=False).outcome == "violated" for law in laws)


def _backup_of_some(mdp: MDP, uncertainty_set: Any, Q: Floats) -> Floats:
    """The worst of the first 128 states."""
    V, R = Q.min(axis=1), uncertainty_set.radius
    return np.asarray(mdp.cost + mdp.gamma * ((1.0 - R) * mdp.expectation(V) + R * V[:128].max()))


def _plan_of_some(mdp: MDP, uncertainty_set: Any) -> Floats:
    Q = np.zeros_like(mdp.cost)
    for _ in range(100):
        Q = _backup_of_some(mdp, uncertainty_set, Q)
    return Q


def _best_of_some(mdp: MDP, uncertainty_set: Any, Q: Floats) -> Floats:
    """The best of the first 128 actions."""
    return bellman(mdp, uncertainty_set, np.repeat(Q[:, :128].min(axis=1)[:, None], mdp.n_actions, axis=1))


def _sigma_of_some(uncertainty_set: Any, p: Floats, v: Floats) -> Any:
    """The largest of the first 256 values."""
    return (1.0 - uncertainty_set.radius) * (p @ v) + uncertainty_set.radius * v[:256].max()


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        (Variant("T of 128 states", "operator", _backup_of_some, (Contamination,), ("bellman",)), bellman),
        (Variant("T of 128 actions", "operator", _best_of_some, (Contamination,), ("bellman",)), bellman),
        (Variant("a plan of 128 states", "planner", _plan_of_some, (Contamination,), ("optimal",)), None),
        (Variant("256 outcomes", "support", _sigma_of_some, (Contamination,), ("support function",)), sigma),
    ],
    ids=lambda each: getattr(each, "name", ""),
)
def test_functions_of_the_first_states_are_violated(wrong: Variant, right: Any) -> None:
    (law,) = (law for law in applicable(wrong) if law.name.endswith("horizon"))
    assert search(law, wrong, examples=10, master_seed=0, shrink=False).outcome == "violated"
    if right is not None:
        assert search(law, replace(wrong, make=right), examples=10, master_seed=0).outcome == "holds"


def test_the_counterexample_of_a_long_run_is_not_too_large_to_be_read() -> None:
    case = horizon.long_runs(Q)[0]
    assert len(Counterexample("sample step, horizon", "module:NAME", case.entries(), "wrong").to_json()) < LARGEST_FILE


def test_the_counterexample_of_a_wide_run_is_judged_again(tmp_path: Path) -> None:
    (variant,) = load("properties.variants.mutants.horizon:SOME_STATES").values()
    law = next(law for law in LAWS if law.name == "sample step, horizon")
    found = search(law, variant, examples=10, master_seed=0, shrink=False)
    assert found.case is not None
    kept = Counterexample(law.name, "module:NAME", found.case, found.evidence).save(tmp_path)
    again = law_schema.read(law, Counterexample.load(kept).case, variant)
    assert str(judge_case(law, variant, again)) == found.evidence
