"""The laws of samplers that count: what they count adds up, and a right sampler passes with any generator."""

from dataclasses import replace

import numpy as np
import pytest

from properties.judging.search import judge_case
from properties.laws import sampler
from properties.laws.law import Law
from properties.variants.mutants.sampler import _Plain
from robust_core import Variant

RIGHT = Variant("plain sampler", "sampler", _Plain(), (), ("trajectory",))


@pytest.mark.parametrize("actions", sampler.UNEVEN_POLICIES)
def test_the_uneven_model_has_rare_successors_and_a_policy_for_every_state(actions: int) -> None:
    case = sampler._uneven_model(actions)
    P, policy = case.mdp.P, case.policy
    np.testing.assert_array_equal(P.sum(axis=2), 1.0)
    np.testing.assert_array_equal(policy.sum(axis=1), 1.0)
    assert set(np.unique((P > 0.0).sum(axis=2))) == {1, 2, 4, 6}
    assert P[P > 0.0].min() == 1 / 64
    assert len({tuple(row) for row in policy}) == min(actions, sampler.UNEVEN_STATES)
    assert case.mdp.is_sparse == (actions == 3)


@pytest.mark.parametrize("law", [sampler.FRESH, sampler.UNEVEN, sampler.FRACTION], ids=lambda law: law.name)
@pytest.mark.parametrize("seed", range(4))
def test_a_right_sampler_passes_with_other_generators(law: Law, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampler, "RNG_SEED", 1000 + seed)
    cases = {
        sampler.FRESH.name: replace(sampler._skewed_model(), steps=300),
        sampler.UNEVEN.name: sampler._uneven_model(3),
        sampler.FRACTION.name: sampler._fraction_model(3),
    }
    case = cases[law.name]
    assert judge_case(law, RIGHT, case) is None


def test_what_never_happens_counts_against_a_sampler_that_does_it() -> None:
    assert sampler._divergence(0.5, 0.0) == np.inf
    assert sampler._divergence(0.0, 0.0) == 0.0
    assert not sampler._unlikely(np.zeros(0, dtype=bool), 0.5, 1)
