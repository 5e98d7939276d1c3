"""Mean updates: every draw is enumerated exactly, right learners hold, wrong ones and empty promises do not."""

import bisect
import copy
import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np
import pytest

from properties.judging.search import judge_case, search
from properties.laws import linear_mean
from properties.laws.catalogue import LAWS as CATALOGUE
from properties.laws.coins import Coins, NotEnumerable, Tape, leaves
from properties.laws.law import Law
from properties.laws.mean_update import AT_SOLUTION, LAWS, MOVES
from properties.laws.view import View
from properties.variants.gallery import adaptive_tdc, double_q_learning, replay
from properties.variants.gallery.q_learning import VARIANT as Q_LEARNING
from properties.variants.mutants import (
    average_cost_learner,
    hidden_state,
    linear_control,
    off_policy_evaluation,
    simulator,
)
from properties.variants.mutants.hidden_state import RIGHT, gross
from properties.variants.mutants.plain import PlainQ
from robust_core import Problem, Transition, Variant

BY_NAME = {law.name: law for law in (*LAWS, *linear_mean.LAWS)}
LAW = BY_NAME["mean update"]
FIXED = [law for law in CATALOGUE if law.promise in ("fixed point", "fixed point in the mean")]
LATE = (
    hidden_state.AVERAGE_BURNED,
    hidden_state.AVERAGE_WINDOW,
    hidden_state.TRACE_FEW_CLEARED,
    hidden_state.TRACE_FORGOTTEN,
    hidden_state.TRACE_BOUNDED,
    hidden_state.MOMENTUM_RESTARTED,
)
CDF = np.array([0.25, 0.75, 1.0])
THIRDS = {0: Fraction(1, 3), 1: Fraction(1, 3), 2: Fraction(1, 3)}
BY_CDF = {0: Fraction(1, 4), 1: Fraction(1, 2), 2: Fraction(1, 4)}
FAIR = {True: Fraction(1, 2), False: Fraction(1, 2)}
QUARTER = {True: Fraction(1, 4), False: Fraction(3, 4)}
Draw = Callable[[np.random.Generator], Any]


def _law(draw: Draw) -> dict[Any, Fraction]:
    """The law of a draw, by enumeration on copies of one rng."""
    tape = Tape()
    rng = Coins(tape, seed=0)
    law: dict[Any, Fraction] = {}
    for weight, value in leaves(tape, lambda: draw(copy.deepcopy(rng))):
        law[value] = law.get(value, Fraction(0)) + weight
    return law


LAWS_OF_DRAWS: dict[str, tuple[Draw, dict[Any, Fraction]]] = {
    "u < p": (lambda rng: rng.random() < 0.25, QUARTER),
    "1 − u < p": (lambda rng: 1 - rng.random() < 0.25, QUARTER),
    "|u − 1/2| < 1/8": (lambda rng: abs(rng.random() - 0.5) < 0.125, QUARTER),
    "uniform(lo, hi) > x": (lambda rng: rng.uniform(-1.0, 3.0) > 2.0, QUARTER),
    "int(n u)": (lambda rng: int(3 * rng.random()), THIRDS),
    "math.floor": (lambda rng: math.floor(3 * rng.random()), THIRDS),
    "np.floor": (lambda rng: int(np.floor(3 * rng.random())), THIRDS),
    "astype": (lambda rng: (3 * rng.random(1)).astype(int).item(), THIRDS),
    "bisect": (lambda rng: bisect.bisect(CDF.tolist(), rng.random()), BY_CDF),
    "searchsorted": (lambda rng: int(np.searchsorted(CDF, rng.random())), BY_CDF),
    "argmax": (lambda rng: int((rng.random() < CDF).argmax()), BY_CDF),
    "sum": (lambda rng: int(np.sum(rng.random() >= CDF)), BY_CDF),
    "array of u": (lambda rng: int((rng.random(2) < 0.5).sum()), BY_CDF),
    "integers": (lambda rng: int(rng.integers(1, 4)) - 1, THIRDS),
    "integers, size": (lambda rng: int(rng.integers(2, size=2).sum()), BY_CDF),
    "choice": (lambda rng: int(rng.choice(3, p=[0.25, 0.5, 0.25])), BY_CDF),
    "choice without replacement": (lambda rng: 3 - int(rng.choice(3, size=2, replace=False).sum()), THIRDS),
    "permutation": (lambda rng: rng.permutation(3)[0].item(), THIRDS),
    "binomial": (lambda rng: int(rng.binomial(2, 0.5)), BY_CDF),
    "geometric": (lambda rng: rng.geometric(0.5) == 1, FAIR),
    "spawn": (lambda rng: rng.spawn(1)[0].random() < 0.5, FAIR),
}


@pytest.mark.parametrize("name", LAWS_OF_DRAWS)
def test_the_law_of_a_draw_is_exact(name: str) -> None:
    draw, law = LAWS_OF_DRAWS[name]
    assert {value.item() if isinstance(value, np.generic) else value: p for value, p in _law(draw).items()} == law


REFUSED: dict[str, Draw] = {
    "the value of a uniform number": lambda rng: float(rng.random()),
    "log of a uniform number": lambda rng: np.log(rng.random()),
    "two uniform numbers": lambda rng: rng.random() < rng.random(),
    "rng.normal": lambda rng: rng.normal(),
    "a seed, not a coin": lambda rng: np.random.default_rng(rng.integers(2**63)).random(),
    "rng.bit_generator": lambda rng: np.random.Generator(rng.bit_generator).random(),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_cannot_be_enumerated_is_refused_with_the_call(reason: str) -> None:
    with pytest.raises(NotEnumerable, match=reason):
        _law(REFUSED[reason])


def test_a_tree_of_draws_has_a_limit() -> None:
    tape = Tape()
    rng = Coins(tape, seed=0)
    with pytest.raises(NotEnumerable, match="more than 100 leaves"):
        list(leaves(tape, lambda: rng.random(7) < 0.5, limit=100))


def test_outside_of_an_enumeration_coins_are_the_seeded_generator() -> None:
    coins, plain = Coins(Tape(), seed=3), np.random.Generator(np.random.PCG64(3))
    assert isinstance(coins, np.random.Generator)
    assert coins.random() == plain.random()
    assert coins.normal() == plain.normal()
    assert copy.deepcopy(coins).integers(9) == plain.integers(9)


@pytest.mark.parametrize("variant", RIGHT, ids=lambda variant: variant.name)
def test_right_learners_with_a_hidden_state_hold(variant: Variant) -> None:
    for law in (law for law in BY_NAME.values() if law.applies_to(variant)):
        assert search(law, variant, examples=12, master_seed=1).outcome == "holds", law.name


@pytest.mark.parametrize("right", RIGHT, ids=lambda variant: variant.name)
def test_gross_errors_are_violated(right: Variant) -> None:
    """No learning, no nature, half the radius, a shorter horizon."""
    law = _mean_law(right)
    cases = list(islice(law.cases_of(right), 20))
    for wrong in gross(right):
        assert any(judge_case(law, wrong, case) is not None for case in cases), wrong.name


def _mean_law(variant: Variant) -> Law:
    return BY_NAME["mean update, linear" if variant.kind == "linear evaluation" else "mean update"]


@pytest.mark.robust_core_slow
def test_every_mutant_is_caught_whatever_the_cases() -> None:
    """Most cases are of little use (no steps, gamma or R or alpha 0), so a law has many of them."""
    cases: dict[object, list[Any]] = {}
    for mutant in (value for value in vars(hidden_state).values() if isinstance(value, Variant)):
        if mutant is hidden_state.REPLAY_SMALL or mutant in LATE:
            continue  # faults that begin after eight steps or later: the last tests
        key = mutant.kind, tuple(sorted(mutant.options.items()))
        law = _mean_law(mutant)
        if key not in cases:
            cases[key] = list(islice(law.cases_of(mutant), 240))
        for part in range(0, len(cases[key]), 60):
            tried = cases[key][part : part + 60]
            assert any(judge_case(law, mutant, case) is not None for case in tried), mutant.name


@pytest.mark.parametrize("variant", [*RIGHT[:9], adaptive_tdc.ADAM], ids=lambda variant: variant.name)
def test_fixed_points_hold_pathwise_and_in_the_mean(variant: Variant) -> None:
    both = replace(variant, promises=("fixed point", "fixed point in the mean"))
    for law in (law for law in FIXED if law.applies_to(both)):
        assert search(law, both, examples=12, master_seed=1).outcome == "holds", law.name


@pytest.mark.robust_core_slow
def test_gross_errors_move_away_from_the_solution() -> None:
    """In the mean, what a step writes is seen, and what is never written is not."""
    law = BY_NAME["fixed point in the mean"]
    for right in RIGHT[:9]:
        cases = list(islice(law.cases_of(right), 40))
        for wrong in gross(right):
            seen = any(judge_case(law, wrong, case) is not None for case in cases)
            assert seen == (not wrong.name.endswith("never learns")), wrong.name


def _half_radius(view: View) -> Any:
    table, values = view.estimate, view.values(view.estimate)
    shortfall = view.gamma * view.radius / 2 * (max(values) - view.mean(lambda step: values[step.s_next]))
    table[view.place] += view.alpha() * (view.T(table) - shortfall - table[view.place])
    return table


def _stay(view: View) -> Any:
    return view.estimate


@pytest.mark.parametrize(("promise", "law"), [(_half_radius, AT_SOLUTION), (_stay, MOVES)])
def test_a_promise_about_another_problem_or_about_nothing_is_violated(promise: Any, law: str) -> None:
    variant = replace(Q_LEARNING, promises=("mean update",), options={"expected": promise})
    assert search(BY_NAME[law], variant, examples=25, master_seed=0).outcome == "violated"


class _Noisy:
    """Q-learning whose target has a normal error of mean 0."""

    def __init__(self, problem: Problem) -> None:
        self.learner, self.rng = Q_LEARNING.make(problem), problem.rng

    def update(self, transition: Transition) -> None:
        assert self.rng is not None
        self.learner.update(transition._replace(cost=transition.cost + self.rng.normal()))

    def estimate(self) -> Any:
        return self.learner.estimate()


def test_draws_that_cannot_be_enumerated_leave_the_law_undecided_without_sampling() -> None:
    noisy = Variant("noisy Q", "control", _Noisy, Q_LEARNING.sets, ("mean update",))
    verdict = search(LAW, noisy, examples=5, master_seed=0)
    assert verdict.outcome == "undecided"
    assert "rng.normal" in verdict.evidence


class _Rewards(PlainQ):
    """The same algorithm as it is written for rewards."""

    def target(self, step: Transition) -> float:
        V = self.Q.max(axis=1)
        following = 0.0 if step.terminal else V[step.s_next]
        return float(step.cost + self.gamma * (self.R * V.min() + (1.0 - self.R) * following))


def test_a_learner_of_rewards_is_judged_as_one_of_costs() -> None:
    promises = ("mean update", "unbiased", "sample form", "fixed point", "bounded", "monotone", "asynchronous")
    rewards = Variant("R", "control", _Rewards, Q_LEARNING.sets, promises, {"convention": "rewards"})
    for law in (law for law in CATALOGUE if law.applies_to(rewards) and not law.large):
        assert search(law, rewards, examples=8, master_seed=0).outcome == "holds", law.name
    wrong = replace(rewards, make=PlainQ)
    assert search(LAW, wrong, examples=25, master_seed=0).outcome == "violated"
    assert search(LAW, replace(rewards, options={}), examples=25, master_seed=0).outcome == "violated"
    with pytest.raises(ValueError, match="only learners of tables"):
        replace(adaptive_tdc.ADAM, options={"convention": "rewards"})


class _NatureEnds(PlainQ):
    def target(self, step: Transition) -> float:
        V = self.Q.min(axis=1)
        following = 0.0 if step.terminal else V[step.s_next]
        return float(step.cost + self.gamma * (self.R * max(V.max(), 0.0) + (1.0 - self.R) * following))


def test_the_meaning_of_an_end_is_that_of_the_variant() -> None:
    """Where nature may end an episode too, 0 is among the values of which she takes the largest."""
    told = Variant("Q", "control", _NatureEnds, Q_LEARNING.sets, ("mean update",), {"ends": "nature ends"})
    assert search(LAW, told, examples=25, master_seed=0).outcome == "holds"
    assert search(LAW, replace(told, options={}), examples=25, master_seed=0).outcome == "violated"


class _Ahead(hidden_state._Double):
    """Double Q-learning that tosses all its coins at the start."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.coins = self.rng.random(16).tolist()

    def toss(self) -> int:
        return int(self.coins.pop() < 0.5)


def test_coins_that_were_tossed_ahead_are_undecided_and_not_wrong() -> None:
    ahead = replace(double_q_learning.BOTH, make=_Ahead, promises=("mean update",))
    verdict = search(LAW, ahead, examples=25, master_seed=0)
    assert verdict.outcome == "undecided"
    assert "before the step" in verdict.evidence


def test_the_named_step_is_the_one_of_algorithm_1() -> None:
    variant = replace(Q_LEARNING, promises=("mean update",))
    assert search(LAW, variant, examples=25, master_seed=0).outcome == "holds"


def test_a_memory_that_is_too_short_is_caught_after_a_long_history() -> None:
    law = next(law for law in CATALOGUE if law.name == "mean update, large")
    assert search(law, hidden_state.REPLAY_SMALL, examples=8, master_seed=1).outcome == "violated"


@pytest.mark.parametrize("variant", LATE, ids=lambda variant: variant.name)
def test_what_is_forgotten_or_restarted_late_is_caught(variant: Variant) -> None:
    law = next(law for law in CATALOGUE if law.name == "mean update, late")
    assert search(law, variant, examples=8, master_seed=1, shrink=False).outcome == "violated"


@pytest.mark.parametrize(
    ("sampled", "outcome", "words"), [(True, "holds", "by sampling"), (False, "undecided", "not run")]
)
def test_a_late_mean_over_many_draws_is_sampled_or_said_to_be_undecided(
    sampled: bool, outcome: str, words: str
) -> None:
    law = next(law for law in CATALOGUE if law.name == "mean update, late")
    found = search(law, replay.VARIANT, examples=8, master_seed=1, shrink=False, sampled=sampled)
    assert (found.outcome, words in found.evidence) == (outcome, True)


def test_a_tree_of_draws_that_takes_too_long_is_not_walked_to_its_end() -> None:
    tape = Tape(seconds=0.0)
    rng = Coins(tape, seed=0)
    with pytest.raises(NotEnumerable, match="takes more than 0 s"):
        list(leaves(tape, lambda: rng.integers(2**10)))
    assert len(list(leaves(Tape(seconds=0.0), lambda: 1))) == 1, "without draws nothing is refused"


@pytest.mark.parametrize(
    ("variant", "law"),
    [
        (average_cost_learner.TENTH_GAIN, "relative update, late"),
        (average_cost_learner.RECENTRED, "relative update, late"),
        (linear_control.REFRESHED, "semi-gradient, late"),
        (off_policy_evaluation.RESTARTS, "mean update, linear, late"),
        (off_policy_evaluation.END_RATIO, "mean update, linear"),
        (simulator.FOURTH_REUSE, "mean iteration"),
    ],
    ids=lambda x: getattr(x, "name", x),
)
def test_what_is_wrong_seldom_or_at_ends_is_caught(variant: Variant, law: str) -> None:
    found = next(each for each in CATALOGUE if each.name == law)
    assert search(found, variant, examples=50, master_seed=1, shrink=False).outcome == "violated"
