"""Mean updates by sampling: right learners whose draws cannot be enumerated hold, wrong ones are violated."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest

from properties.judging.search import search
from properties.laws.catalogue import LAWS as CATALOGUE
from properties.laws.mean_update import LAWS
from properties.variants.gallery.q_learning import VARIANT as Q_LEARNING
from properties.variants.gallery.replay import VARIANT as REPLAY
from properties.variants.mutants.plain import PlainQ
from robust_core import Problem, Transition, Variant

LAW = next(law for law in LAWS if law.name == "mean update")
Noise = Callable[[np.random.Generator], float]
SLOW = pytest.mark.robust_core_slow
NOISES: dict[str, Noise] = {
    "rng.normal": lambda rng: float(rng.normal()),
    "the value of a uniform number": lambda rng: float(rng.random()) - 0.5,
    "is a seed": lambda rng: float(np.random.default_rng(int(rng.integers(2**63))).random()) - 0.5,
    "bit_generator": lambda rng: float(np.random.Generator(rng.bit_generator).random()) - 0.5,
}


def _learner(noise: Noise, *, bias: float = 0.0, radius: float = 1.0, learns: bool = True) -> Variant:
    class Noisy(PlainQ):
        """Q-learning with noise of mean 0 on the cost."""

        def __init__(self, problem: Problem) -> None:
            super().__init__(problem)
            self.rng: Any = problem.rng
            self.R *= radius

        def target(self, step: Transition) -> float:
            return super().target(step) + 0.25 * noise(self.rng) + bias

        def update(self, step: Transition) -> None:
            if learns:
                super().update(step)
            else:
                noise(self.rng)

    return Variant("noisy Q", "control", Noisy, Q_LEARNING.sets, ("mean update",))


@pytest.mark.parametrize("call", [pytest.param(name, marks=() if "seed" in name else SLOW) for name in NOISES])
def test_a_right_learner_holds_and_the_evidence_names_the_call_and_the_effect(call: str) -> None:
    found = search(LAW, _learner(NOISES[call]), examples=5, master_seed=0, sampled=True)
    assert found.outcome == "holds", found.evidence
    for words in (call, "bias of 0.2", "probability 0.001", "false alarm"):
        assert words in found.evidence


@pytest.mark.parametrize("seed", [pytest.param(seed, marks=() if seed == 0 else SLOW) for seed in range(5)])
@pytest.mark.parametrize(
    "wrong",
    [{"learns": False}, {"radius": 0.0}, {"radius": 0.5}, {"bias": 0.5}],
    ids=["never learns", "vanilla", "half the radius", "biased"],
)
def test_a_wrong_learner_is_violated(wrong: dict[str, Any], seed: int) -> None:
    found = search(LAW, _learner(NOISES["is a seed"], **wrong), examples=5, master_seed=seed, sampled=True)
    assert found.outcome == "violated", found.evidence
    assert "is a seed" in found.evidence


@pytest.mark.parametrize("seed", [pytest.param(seed, marks=() if seed == 0 else SLOW) for seed in range(5)])
@pytest.mark.parametrize(("kept", "outcome"), [(True, "violated"), (False, "holds")], ids=["kept", "fresh"])
def test_noise_that_is_kept_for_an_episode_is_violated(kept: bool, outcome: str, seed: int) -> None:
    class Moody(PlainQ):
        """Q-learning whose noise has mean 0 and, if it is kept, is drawn once for every episode."""

        def __init__(self, problem: Problem) -> None:
            super().__init__(problem)
            self.rng = cast(Any, problem.rng)
            self.mood = self.draw()

        def draw(self) -> float:
            return float(self.rng.normal())

        def target(self, step: Transition) -> float:
            return super().target(step) + self.mood

        def update(self, step: Transition) -> None:
            super().update(step)
            if step.terminal or not kept:
                self.mood = self.draw()

    variant = Variant("moody Q", "control", Moody, Q_LEARNING.sets, ("mean update",))
    found = search(LAW, variant, examples=5, master_seed=seed, sampled=True)
    assert found.outcome == outcome, found.evidence


def test_draws_without_a_bound_are_undecided_and_not_wrong() -> None:
    heavy = _learner(lambda rng: float(np.random.default_rng(int(rng.integers(2**63))).standard_cauchy()))
    assert search(LAW, heavy, examples=5, master_seed=0, sampled=True).outcome == "undecided"


def test_without_statistics_the_law_is_undecided_and_the_evidence_says_what_was_not_run() -> None:
    found = search(LAW, _learner(NOISES["rng.normal"]), examples=5, master_seed=0)
    assert found.outcome == "undecided"
    for words in ("not run: sampling", "rng.normal"):
        assert words in found.evidence


def test_a_learner_that_misbehaves_while_it_is_sampled_is_violated() -> None:
    def fails(rng: np.random.Generator) -> float:
        if float(rng.normal()) > 2.0:
            raise RuntimeError("out of luck")
        return 0.0

    found = search(LAW, _learner(fails), examples=3, master_seed=0, sampled=True)
    assert (found.outcome, "out of luck" in found.evidence) == ("violated", True)


def test_late_runs_have_sizes_that_the_options_leave() -> None:
    late: Any = next(law for law in CATALOGUE if law.name == "mean update, late")
    allowed = {"states": (3,), "actions": (2,)}
    (case,) = late.twin.keywords["cases"](replace(REPLAY, options={**REPLAY.options, **allowed}))
    assert case.mdp.cost.shape == (3, 2)
