"""Options that narrow the problems are honoured by every law, and said."""

from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from properties.judging.verification import applicable, possible_promises, untested_promises, verify
from properties.kinds import kind_of, module_name
from properties.process.serving import limits
from properties.variants.gallery.value_iteration import VARIANT as PLANNER
from robust_core import MDP, Problem, Transition
from robust_core.problem import ACCURATE, KINDS, Variant
from robust_core.sets import UncertaintySet

NARROW = {"gammas": (0.9,), "states": (2, 3), "actions": (2,), "costs": (0.25, 1.0), "radii": (0.25,)}


def example(kind: str) -> Variant:
    found: Variant = import_module(f"properties.variants.examples.{module_name(kind)}").VARIANT
    return found


def check_model(mdp: MDP, *, costs: bool = True) -> None:
    assert mdp.gamma in NARROW["gammas"], f"gamma {mdp.gamma}"
    assert mdp.n_states in NARROW["states"], f"{mdp.n_states} states"
    assert mdp.n_actions in NARROW["actions"], f"{mdp.n_actions} actions"
    assert not costs or ((mdp.cost >= 0.25 - 1e-12) & (mdp.cost <= 1.0 + 1e-12)).all(), f"costs {mdp.cost}"


class Strict:
    """A learner that raises at a cost that its variant is not for."""

    def __init__(self, inner: Any, *, costs: bool) -> None:
        self.inner, self.costs = inner, costs

    def update(self, told: Any) -> None:
        for step in [told] if isinstance(told, Transition) else told:
            assert not self.costs or 0.25 - 1e-12 <= step.cost <= 1.0 + 1e-12, f"cost {step.cost}"
        self.inner.update(told)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("inner", "costs", "update_many"):
            raise AttributeError(name)
        return getattr(self.inner, name)


def strict(variant: Variant, *, costs: bool = True) -> Variant:
    """The variant, which raises at every problem that it is not for; it can be for any costs."""

    def make(*args: Any) -> Any:
        for value in args:
            if isinstance(value, MDP):
                check_model(value, costs=costs)
            if isinstance(value, Problem):
                assert value.gamma in NARROW["gammas"], f"gamma {value.gamma}"
                assert (value.n_states in (2, 3), value.n_actions) == (True, 2), "sizes"
                assert getattr(value.uncertainty_set, "radius", 0.25) == 0.25, "radius"
            if isinstance(value, UncertaintySet):
                assert getattr(value, "radius", 0.25) == 0.25, "radius"
        if variant.kind == "support":
            assert np.shape(args[1])[-1] in NARROW["states"], "outcomes"
        result = variant.make(*args)
        return Strict(result, costs=costs) if kind_of(variant.kind).learner else result

    narrow = {name: value for name, value in NARROW.items() if costs or name != "costs"}
    return replace(variant, make=make, sets=variant.sets[:1], options={**variant.options, **narrow})


# Three kinds by default, the others with the tests that take long.
QUICK = ("control", "linear evaluation", "planner")
each_kind = pytest.mark.parametrize(
    "kind", [kind if kind in QUICK else pytest.param(kind, marks=pytest.mark.robust_core_slow) for kind in KINDS]
)


@each_kind
def test_no_law_asks_for_a_problem_that_the_options_leave_out(kind: str) -> None:
    records = list(verify(strict(example(kind)), examples=6, shrink=False))
    assert [(each.law, each.evidence) for each in records if each.outcome not in ("holds", "untested")] == []
    assert any(each.outcome == "holds" for each in records)


@each_kind
def test_a_wrong_variant_is_caught_inside_the_options(kind: str) -> None:
    module, _, name = kind_of(kind).canary.mutant.partition(":")
    wrong: Variant = getattr(import_module(f"properties.variants.mutants.{module}"), name)
    records = verify(
        replace(wrong, sets=wrong.sets[:1], options={**wrong.options, **NARROW}), examples=40, shrink=False
    )
    assert any(each.outcome == "violated" for each in records)


def test_the_options_are_said() -> None:
    said = limits(replace(PLANNER, options={**NARROW, "absolute accuracy": 1e-3}))
    assert said == (
        "tried for radius 0.25 only",
        "tried for gamma = 0.9 only",
        "tried with 2 or 3 states only",
        "tried with 2 actions only",
        "tried with costs from 0.25 to 1 only",
        "judged to an absolute accuracy of 0.001",
    )


def test_only_promises_that_can_be_tested_inside_the_options_are_proposed() -> None:
    """The problems of the statistical laws have gamma = 0.5 and at most four states."""
    silent = replace(example("control"), promises=("asynchronous",))
    assert {"converges", "unbiased"} <= set(possible_promises(silent))
    narrow = set(possible_promises(replace(silent, options={"gammas": (0.9,)})))
    assert ("converges" in narrow, "unbiased" in narrow) == (False, True)
    promised = replace(silent, promises=("converges",), options={"gammas": (0.9,)})
    assert [each.evidence for each in untested_promises(promised)] == [
        "untested: no law tests this promise for kind 'control' with Contamination, tried for gamma = 0.9 only"
    ]


def test_an_absolute_accuracy_is_that_of_the_values_whatever_the_costs() -> None:
    def off(error: float) -> Variant:
        stated = {**PLANNER.options, "absolute accuracy": 1e-3}
        return replace(PLANNER, make=lambda mdp, chosen: PLANNER.make(mdp, chosen) + error, options=stated)

    def violated(variant: Variant) -> list[str]:
        laws = [law for law in applicable(variant) if law.name == "optimum"]
        records = verify(variant, examples=30, shrink=False, laws=laws)
        return [each.law for each in records if each.outcome == "violated"]

    assert violated(off(0.9e-3)) == []
    assert violated(off(1.2e-3))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gammas": 0.9}, r"must be a tuple of at least one discount, e.g. \(0.9,\), got 0.9"),
        ({"gammas": (1.0,)}, r"a discount must lie in \[0, 1\), got 1.0"),
        ({"states": (0,)}, "a size must be at least 1, got 0"),
        ({"actions": (17,)}, "a size must be at most 16, got 17"),
        ({"costs": (1.0, 0.0)}, r"must be \(lowest, highest\) with lowest < highest"),
        ({"costs": (0.0, float("inf"))}, "an end of the range must be finite"),
        ({"absolute accuracy": -1.0}, "must not be negative"),
        ({"gamma": (0.9,)}, "no such option"),
    ],
)
def test_a_value_out_of_range_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        replace(PLANNER, options=options)


@pytest.mark.parametrize("name", ["accuracy", "absolute accuracy"])
@pytest.mark.parametrize("kind", ["control", "operator"])
def test_only_answers_with_an_accuracy_may_state_one(kind: str, name: str) -> None:
    with pytest.raises(ValueError, match=f"is for kind {', '.join(ACCURATE)}"):
        replace(example(kind), options={name: 1.0})
