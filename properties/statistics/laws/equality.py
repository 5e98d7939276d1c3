"""Fast equals reference in distribution, where the streams differ (other kernels, other machines).

Where the streams are the same, the exact laws demand the same bits; this law needs no common stream. Two
independent runs, one through `update_many`, one through the loop over `update`; the difference of a projection is
symmetric if the two have the same law. The null is that symmetry, nothing about means.
"""

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from properties.statistics import design, intervals
from properties.statistics.intervals import Interval
from properties.statistics.law import Cell, Size, StatisticalLaw, once
from properties.statistics.laws import tabular
from properties.statistics.laws.finite_time import deviation
from properties.statistics.laws.tabular import Setting, advance, made, settings_for
from robust_core import Q_LEARNING, Contamination, TabularLearner, constant
from robust_core.trajectory import Recording
from robust_core.validate import Floats
from robust_core.variant import Problem, Variant

STEPS = 256
ALPHA = 0.125
EFFECT = {"quick": 1.0, "full": 0.25}
"""The shift that is seen, in standard deviations of the difference."""


def _sampler(variant: Variant, setting: Setting, direction: Floats) -> Callable[[bytes], Floats]:
    problem = setting.problem(constant(ALPHA))
    # The difference of two independent runs, in units of its deviation by the scalar recursion.
    scale = np.sqrt(2.0) * deviation(setting, ALPHA) * np.linalg.norm(direction)

    def projection(seed: bytes, *, fast: bool) -> float:
        learner = made(variant, problem, seed)
        advance(learner, setting.record(seed, STEPS), fast=fast)
        return float((direction * (np.asarray(learner.estimate()) - setting.truth)).sum())

    return lambda seed: np.array([(projection(seed + b"f", fast=True) - projection(seed + b"r", fast=False)) / scale])


def _shift(rows: Floats) -> Mapping[str, Interval]:
    return {"median shift": intervals.median(rows)}


def cells(variant: Variant, size: Size) -> list[Cell]:
    """The sum of all entries, and at full size a contrast of the actions (of the states, for a V)."""
    setting, effect = settings_for(variant)["two states"], EFFECT[size]
    shape = setting.truth.shape
    directions = {"sum": np.ones(shape), "contrast": np.broadcast_to([1.0, -1.0], shape)}
    chosen = ("sum",) if size == "quick" else tuple(directions)
    return [
        Cell(
            f"fast path/two states/{word}/effect={effect:g}/{variant.name}",
            lambda alpha: design.paired(effect, alpha=alpha, two_sided=True),
            once(partial(_sampler, variant, setting, directions[word])),
            np.ravel,
            (*setting.content, word),
            measure=_shift,
        )
        for word in chosen
    ]


class _OtherFast(TabularLearner):
    """The fast path forgets the contamination."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(Q_LEARNING, problem)

    def update_many(self, recording: Recording) -> None:
        discounts = self.discounts
        self.discounts = (0.0, discounts[1])
        super().update_many(recording)
        self.discounts = discounts


_kind = partial(Variant, kind="control", sets=(Contamination,), claims=tabular.CLAIMS)
LAW = StatisticalLaw(
    "fast path equals reference in law",
    ("control", "evaluation"),
    "fast path",
    "the estimate after update_many and after the loop over update have the same law, with independent streams",
    "the difference of projections of two independent runs is symmetric about 0",
    cells,
    tabular.RIGHT,
    (_kind(name="Q-learning with another fast path", make=_OtherFast),),
)
