"""Running a learner on a case: what all laws of learners share."""

import copy
from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from properties.cases.tape import FEATURES, MAX_FEATURES, MAX_STEPS, PROJECTIONS, SCALES, VALUES, Tape, smoothing
from properties.judging.guard import call_observed
from properties.laws.law import Case
from robust_core import StepSize, Transition
from robust_core.mdp import MDP
from robust_core.problem import Kind, Problem, Variant

TABULAR: tuple[Kind, ...] = ("control", "evaluation")
LEARNERS: tuple[Kind, ...] = (*TABULAR, "linear evaluation")

# One path in sixteen is walked so often that a slip of the hundredth step shows.
LONG = (*(1,) * 15, 24)
# One stream for all: a law asks what a learner does with a fixed rng, never how the draws are distributed.
RNG_SEED = 0
_FIELDS = {field.name for field in fields(Problem)} - {"n_states", "n_actions", "gamma", "rng"}

Path = Sequence[Sequence[Any]]


def estimates(variant: Variant) -> str:
    """What a tabular learner's table holds: 'Q' for control; for evaluation options['estimates'], by default 'V'."""
    return "Q" if variant.kind == "control" else str(variant.options.get("estimates", "V"))


def read_run(
    tape: Tape,
    variant: Variant,
    *,
    steps: int = MAX_STEPS,
    ends: bool = False,
    whole: bool = False,
    repeats: tuple[int, ...] = (1,),
) -> Case:
    """A problem for the variant and a path of at most `steps` steps in it, the whole walked once or more often."""
    n, times = tape.length(steps, repeats)
    scale, drawn = tape.pick(SCALES), tape.mdp(whole=whole)
    mdp = MDP(drawn.P, scale * drawn.cost, drawn.gamma)
    case: Case = {"mdp": mdp, "uncertainty_set": tape.uncertainty_set(variant)}
    linear = variant.kind == "linear evaluation"
    case["step_size"] = tape.step_size(visits=not linear)
    policy = None if variant.kind == "control" else tape.policy(mdp, whole=whole)
    if policy is not None:
        case["policy"] = policy
    shape = (mdp.n_states, mdp.n_actions) if estimates(variant) == "Q" else (mdp.n_states,)
    blank, drawn_start = tape.blank(), tape.array(shape, VALUES)
    case["initial"] = np.zeros(shape) if blank else scale * drawn_start
    if linear:
        case |= _linear_part(tape, variant, mdp.n_states)
    case["path"] = tape.path(mdp, steps=n, policy=policy, ends=ends) * times
    return case


def _linear_part(tape: Tape, variant: Variant, n_states: int) -> Case:
    N = tape.size("features")
    K = tape.pick(PROJECTIONS)
    # No projection is no entry: a saved case has finite numbers only.
    return ({"projection": K} if np.isfinite(K) else {}) | {
        "features": tape.array((n_states, max(N, MAX_FEATURES)), FEATURES)[:, :N],
        "initial": inside(tape.array((max(N, MAX_FEATURES),), VALUES)[:N], K),
        "smoothing": smoothing(tape, variant),
        "second_step_size": tape.step_size(visits=False),
    }


def inside(theta: np.ndarray, K: float) -> np.ndarray:
    """theta halved until it is well inside the ball of radius K: a projection must leave its bits alone."""
    while np.linalg.norm(theta) > 0.75 * K:
        theta = theta / 2.0
    return theta


def problem(case: Case) -> Problem:
    """The case as the learner sees it: everything but the kernel, with a fresh rng."""
    mdp = case["mdp"]
    told = {name: value for name, value in case.items() if name in _FIELDS}
    return Problem.of(mdp, rng=np.random.default_rng(RNG_SEED), **told)


def made(variant: Variant, case: Case) -> Any:
    """A learner at the start of the case."""
    return variant.make(problem(case))


def advance(learner: Any, path: Path) -> Any:
    """The learner after the path."""
    call_observed(_advance, learner, path)
    return learner


def _advance(learner: Any, path: Path) -> None:
    for step in path:
        learner.update(Transition(*step))


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


def branch(learner: Any, step: Sequence[Any]) -> np.ndarray:
    """The table after one more step, the learner itself left as it is."""
    return table(advance(copy.deepcopy(learner), [step]))


def step_size_at(schedule: StepSize, n: int) -> float:
    """alpha = scale/(1 + rate·n)^power, written out again."""
    return (
        schedule.scale if schedule.clock == "constant" else schedule.scale / (1.0 + schedule.rate * n) ** schedule.power
    )
