"""Findings that a person can act on: several of one law, and the factor of a step that is off."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from properties.judging.search import search
from properties.laws.catalogue import LAWS
from properties.laws.linear_cause import ALPHA, BETA, CORRECTION, DELTA, PROJECTION
from properties.variants.examples.operator import VARIANT as OPERATOR
from properties.variants.gallery.gtd2 import VARIANT as GTD2
from properties.variants.gallery.tdc import LOG_SUM_EXP
from properties.variants.mutants import linear
from robust_core import MDP

BY_NAME = {law.name: law for law in LAWS}
BACKUP, STEP = BY_NAME["bellman backup"], BY_NAME["TDC step"]


def _operator(wrong: Any) -> str:
    found = search(BACKUP, replace(OPERATOR, make=wrong), examples=60, master_seed=0)
    assert found.outcome == "violated"
    return found.evidence


def test_a_printed_line_does_not_hide_a_wrong_value() -> None:
    def wrong(mdp: MDP, uncertainty_set: Any, Q: np.ndarray) -> Any:
        print("here")  # noqa: T201
        return OPERATOR.make(mdp, uncertainty_set, Q) + 1.0

    evidence = _operator(wrong)
    assert "printed to standard output" in evidence
    assert "; also TQ(s=0, a=0)" in evidence


def test_a_crash_does_not_hide_a_wrong_value_and_names_the_line() -> None:
    def wrong(mdp: MDP, uncertainty_set: Any, Q: np.ndarray) -> Any:
        if mdp.n_states < 3:
            raise RuntimeError("too small")
        return OPERATOR.make(mdp, uncertainty_set, Q) + 1.0

    evidence = _operator(wrong)
    assert "raised RuntimeError: too small (test_findings.py, line" in evidence
    assert "; also TQ(s=" in evidence


def test_two_crashes_are_both_told() -> None:
    def wrong(mdp: MDP, uncertainty_set: Any, Q: np.ndarray) -> Any:
        raise KeyError("few") if mdp.n_states < 3 else ValueError("many")

    evidence = _operator(wrong)
    assert "KeyError" in evidence
    assert "ValueError: many" in evidence


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("CORRECTION_SIGN", CORRECTION),
        ("NO_CORRECTION", CORRECTION),
        ("NOMINAL_CORRECTION", CORRECTION),
        ("LOST_GAMMA", DELTA),
        ("NO_BASELINE", DELTA),
        ("HARD_MAXIMUM", DELTA),
        ("UNPROJECTED", PROJECTION),
        ("UNPROJECTED_OMEGA", PROJECTION),
    ],
)
def test_the_factor_of_a_wrong_step_is_named(name: str, cause: str) -> None:
    found = search(STEP, getattr(linear, name), examples=80, master_seed=0)
    assert found.outcome == "violated"
    assert f"; {cause} is off" in found.evidence, found.evidence


class _Scaled:
    """TDC with other step sizes than it is told."""

    def __init__(self, alpha: float, beta: float) -> None:
        self.factors = alpha, beta

    def __call__(self, problem: Any) -> Any:
        scaled = [
            replace(size, scale=factor * size.scale)
            for factor, size in zip(self.factors, (problem.step_size, problem.second_step_size), strict=True)
        ]
        return LOG_SUM_EXP.make(replace(problem, step_size=scaled[0], second_step_size=scaled[1]))


@pytest.mark.robust_core_slow
@pytest.mark.parametrize(("factors", "cause"), [((0.5, 1.0), ALPHA), ((1.0, 0.5), BETA)])
def test_a_wrong_step_size_is_named(factors: tuple[float, float], cause: str) -> None:
    found = search(STEP, replace(LOG_SUM_EXP, make=_Scaled(*factors)), examples=80, master_seed=0)
    assert f"; {cause} is off" in found.evidence, found.evidence


@pytest.mark.robust_core_slow
def test_another_algorithm_has_no_single_factor() -> None:
    found = search(STEP, replace(GTD2, promises=("TDC",)), examples=80, master_seed=0)
    assert found.outcome == "violated"
    assert f"; {PROJECTION} is off" not in found.evidence
