"""Running a learner on a case: helpers that all laws of learners share."""

import copy
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from properties.cases.case import Path
from properties.cases.runs import Run, new_rng
from properties.judging.observation import advance_learner
from properties.judging.verdict import Finding
from properties.kinds import learner_kinds
from properties.laws.coins import Coins, Tape, leaves
from robust_core import StepSize
from robust_core.problem import Kind, Problem, Variant

TABULAR: tuple[Kind, ...] = ("control", "evaluation")
LEARNERS = learner_kinds()

# One path in sixteen is walked so often that a bug of the hundredth step shows.
LONG = (*(1,) * 15, 24)
ROUND = (16, 25, 32, 50, 64, 100, 128, 200, 256, 300, 500, 512, 1000, 1024)
"""Numbers of steps at which people renew, reset or switch something."""
_FIELDS = {field.name for field in fields(Problem)} - {"n_states", "n_actions", "gamma", "rng"}


def problem(case: Run, rng: np.random.Generator | None = None) -> Problem:
    """The case as the learner sees it: everything but the kernel, with this rng or a fresh one."""
    told = copy.copy(_without_rng(case))
    object.__setattr__(told, "rng", new_rng() if rng is None else rng)
    return told


@lru_cache(maxsize=4)
def _without_rng(case: Run) -> Problem:
    """The checks of a problem take longer than most learners: a law makes many learners of one case."""
    told = {name: value for name, value in case.entries().items() if name in _FIELDS}
    if case.tables is not None:
        told["initial"] = tuple(case.initial)
    return Problem.of(case.mdp, **told)


def follows_schedule(variant: Variant) -> bool:
    """Whether the step sizes are those of the problem, and not the learner's own."""
    return variant.options.get("schedule") != "own"


def late_places(steps: int) -> set[int]:
    """After how many steps of a long run a mean is taken: round numbers, the step before each, and the last twelve,
    which meet every phase of a period of up to twelve steps.
    """
    near = {number - off for number in ROUND for off in (0, 1)}
    return {number for number in near.union(range(steps - 12, steps)) if 0 <= number < steps}


def ill_formed(initial: Any, table: Any, when: str = "") -> Finding | None:
    """The finding that an estimate has not the shape of the first one, or entries that are not finite."""
    if np.shape(table) == initial.shape and np.isfinite(table).all():
        return None
    return Finding(f"the estimate{when}", np.asarray(table).tolist(), f"finite numbers in the shape {initial.shape}")


def new_learner(variant: Variant, case: Run) -> Any:
    """A learner at the start of the case."""
    return case.adapt(variant.make(problem(case)))


def learner_with_coins(variant: Variant, case: Run, tape: Tape) -> Any:
    """The same learner; while the tape is walked its draws are forks, before that they are those of `new_learner`."""
    coins = Coins(tape, new_rng().bit_generator)
    return case.adapt(variant.make(problem(case, coins)))


def advance(learner: Any, path: Path) -> Any:
    """The learner after the path."""
    advance_learner(learner, path)
    return learner


def arrays(estimate: Any) -> tuple[np.ndarray, ...]:
    """An estimate as arrays: (table,) or (theta, omega)."""
    return tuple(np.asarray(part) for part in estimate) if isinstance(estimate, tuple) else (np.asarray(estimate),)


def table(learner: Any) -> np.ndarray:
    """A tabular learner's estimate."""
    return np.array(learner.estimate())


def same(left: Iterable[np.ndarray], right: Iterable[np.ndarray]) -> bool:
    """Whether two estimates are equal bit for bit (NaN is equal to itself)."""
    pairs = zip(left, right, strict=True)
    return all(x.shape == y.shape and np.array_equal(x, y, equal_nan=x.dtype.kind == "f") for x, y in pairs)


def branches(learner: Any, step: Sequence[Any], tape: Tape) -> Iterator[tuple[Fraction, np.ndarray]]:
    """Every table after one more step, over the draws of the learner, which itself is left as it is."""
    return leaves(tape, lambda: table(advance(copy.deepcopy(learner), [step])))


def step_size_at(schedule: StepSize, n: int) -> float:
    """alpha = scale/(1 + rate·n)^power, independent of the implementation in the core."""
    if schedule.clock == "constant":
        return schedule.scale
    try:
        return schedule.scale / (1.0 + schedule.rate * n) ** schedule.power
    except OverflowError:  # the power is too large for a float, so alpha is smaller than any
        return 0.0
