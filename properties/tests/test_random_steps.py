"""Learners with random step sizes: right in the mean they hold, a hundredth off they do not, however they draw."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from properties.judging.search import search
from properties.laws.catalogue import LAWS
from properties.laws.law import Law
from properties.statistics.judging import judge as judge_cell
from properties.statistics.laws import unbiased
from properties.statistics.suite import Planned
from properties.variants.mutants.plain import PlainQ
from robust_core import Contamination, Problem, Transition, Variant

SLOW = pytest.mark.robust_core_slow
SEEDS = [0, *(pytest.param(seed, marks=SLOW) for seed in range(1, 5))]
BY_NAME = {law.name: law for law in LAWS}
Draw = Callable[[np.random.Generator, float], float]
ENUMERABLE: dict[str, Draw] = {
    "1 with probability alpha": lambda rng, alpha: float(rng.random() < alpha),
    "0 or 2 alpha": lambda rng, alpha: 2.0 * alpha * int(rng.integers(2)),
    "alpha/2 or 3 alpha/2": lambda rng, alpha: alpha * float(rng.choice([0.5, 1.5])),
}
REFUSED: dict[str, Draw] = {
    "uniform on [0, 2 alpha]": lambda rng, alpha: 2.0 * alpha * float(rng.random()),
    "exponential": lambda rng, alpha: alpha * float(rng.exponential()),
}


class _Random(PlainQ):
    def __init__(self, problem: Problem, *, draw: Draw, factor: float) -> None:
        super().__init__(problem)
        self.rng, self.draw, self.factor = problem.rng, draw, factor

    def alpha(self, step: Transition) -> float:
        assert self.rng is not None
        return self.draw(self.rng, self.factor * super().alpha(step))


def _variant(draw: Draw, *promises: str, factor: float = 1.0) -> Variant:
    return Variant("random", "control", partial(_Random, draw=draw, factor=factor), (Contamination,), promises)


def _laws(variant: Variant) -> list[Law]:
    return [law for law in LAWS if law.applies_to(variant) and not law.large]


PROMISES = ("unbiased", "mean update", "asynchronous", "fixed point", "fixed point in the mean", "symmetric", "scale")


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", ENUMERABLE)
def test_a_random_step_size_that_is_right_in_the_mean_holds(name: str, seed: int) -> None:
    always = ("bounded", "non-expansive", "monotone", "shift") if name.startswith("1 with") else ()
    variant = _variant(ENUMERABLE[name], *PROMISES, *always)
    for law in _laws(variant):
        found = search(law, variant, examples=15, master_seed=seed)
        assert found.outcome == "holds", f"{law.name}: {found.evidence}"


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", ENUMERABLE)
def test_one_that_is_a_hundredth_too_small_is_violated(name: str, seed: int) -> None:
    """In every case with a step to take: one in three is enough, so 25 miss it with probability below 1e-4."""
    variant = _variant(ENUMERABLE[name], "unbiased", factor=0.99)
    assert search(BY_NAME["unbiased step"], variant, examples=25, master_seed=seed, shrink=False).outcome == "violated"


@pytest.mark.parametrize("seed", SEEDS)
def test_step_length_is_judged_in_the_mean(seed: int) -> None:
    variant = _variant(ENUMERABLE["1 with probability alpha"], "bounded", "asynchronous", factor=2.0)
    assert search(BY_NAME["step length"], variant, examples=60, master_seed=seed, shrink=False).outcome == "violated"


@SLOW
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", REFUSED)
def test_draws_that_cannot_be_enumerated_are_judged_by_sampling(name: str, seed: int) -> None:
    law = BY_NAME["unbiased step"]
    right = search(law, _variant(REFUSED[name], "unbiased"), examples=3, master_seed=seed, sampled=True)
    assert right.outcome in ("holds", "undecided"), right.evidence
    never = _variant(REFUSED[name], "unbiased", factor=0.0)
    assert search(law, never, examples=3, master_seed=seed, sampled=True).outcome == "violated"


@pytest.mark.parametrize(
    ("name", "factor", "outcomes"),
    [
        ("0 or 2 alpha", 1.0, {"holds"}),
        ("0 or 2 alpha", 0.9, {"violated"}),
        ("exponential", 1.0, {"holds", "untested"}),
    ],
)
def test_the_statistical_law_takes_the_mean_over_the_draws(name: str, factor: float, outcomes: set[str]) -> None:
    variant = _variant((ENUMERABLE | REFUSED)[name], "unbiased", factor=factor)
    cells = unbiased.cells(variant, "quick")
    found = {judge_cell(Planned(unbiased.LAW, cell, 1e-6), seed_set="test").outcome for cell in cells}
    assert found & outcomes, found
    assert found <= outcomes | {"holds"}


class _Ahead(PlainQ):
    """Makes a generator of its own, which it does not use."""

    factor = 1.0

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        assert problem.rng is not None
        self.own = np.random.default_rng(int(problem.rng.integers(2**62)))

    def alpha(self, step: Transition) -> float:
        return self.factor * super().alpha(step)


class _AheadWrong(_Ahead):
    factor = 0.99


class _AheadCoins(_Ahead):
    def alpha(self, step: Transition) -> float:
        return 2.0 * int(self.own.integers(2)) * super().alpha(step)


@pytest.mark.parametrize(
    ("make", "outcome"), [(_Ahead, "holds"), (_AheadWrong, "violated"), (_AheadCoins, "undecided")]
)
@pytest.mark.parametrize("seed", SEEDS)
def test_draws_before_the_step_leave_the_law_undecided_only_if_they_matter(make: Any, outcome: str, seed: int) -> None:
    variant = Variant("ahead", "control", make, (Contamination,), ("unbiased",))
    assert search(BY_NAME["unbiased step"], variant, examples=25, master_seed=seed, shrink=False).outcome == outcome
