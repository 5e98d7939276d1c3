"""The cases of learners: a problem and the path that is walked in it. Each kind of learner adds what it is told beside.

The order of the choices is part of the generator: the same seed gives the same cases.
"""

import copy
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np

from properties.cases import transition_costs
from properties.cases.case import LawCase, Path
from properties.cases.choices import MAX_STEPS, Choices
from properties.kinds import kind_of
from robust_core import StepSize, constant
from robust_core.ends import Ends, default_ends
from robust_core.mdp import MDP
from robust_core.problem import Variant
from robust_core.sets import UncertaintySet
from robust_core.validate import Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class Run(LawCase):
    """For a learner: its problem, and the path it walks.

    With `tables`, the estimate is a tuple of so many tables, and the first axis of `initial` numbers them. With a
    `swing`, steps cost c(s,a,s') (`transition_costs`).
    """

    mdp: MDP
    uncertainty_set: UncertaintySet
    step_size: StepSize
    initial: Floats
    path: Path
    tables: int | None = None
    swing: float | None = None

    @property
    def largest_cost(self) -> float:
        """The largest cost of a step, in size, or more."""
        return float(np.abs(self.mdp.cost).max()) + abs(self.swing or 0.0)

    def adapt(self, learner: Any) -> Any:
        """The learner as one that takes the steps of the path one by one."""
        return learner


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """How a run is generated: the most and the least steps of its path, and how often the whole is walked.

    With `ends` some steps end an episode, unless the variant is for problems without ends; in a `deterministic` problem
    a pair always ends one or never does. Without `projected` there is no ball of projection.
    """

    steps: int = MAX_STEPS
    least: int = 0
    ends: bool = True
    deterministic: bool = False
    projected: bool = True
    repeats: tuple[int, ...] = (1,)


USUAL = RunOptions()


def run(choices: Choices, variant: Variant, **options: Any) -> Run:
    """A case of the variant's kind of learner; the options are those of `RunOptions`."""
    case = kind_of(variant.kind).generate(choices, variant, RunOptions(**options))
    assert isinstance(case, Run)
    return case


@dataclass(frozen=True)
class Beginning:
    """What the case of every learner begins with."""

    options: RunOptions
    length: int
    times: int
    scale: float
    mdp: MDP
    uncertainty_set: UncertaintySet
    ends: bool
    swing: float | None = None

    @classmethod
    def choose(cls, choices: Choices, variant: Variant, options: RunOptions) -> "Beginning":
        """The length of the path, the scale of the numbers, a model and a set."""
        length, times = choices.length(options.steps - options.least, options.repeats)
        scale = choices.scale(variant)
        mdp = choices.mdp(variant, scale=scale, deterministic=options.deterministic)
        uncertainty_set = choices.set_of(variant, mdp)
        ends = options.ends and ends_of(variant, type(uncertainty_set)) != "none"
        swing = choices.swing(variant, scale) if transition_costs.are_paid_by(variant) else None
        return cls(options, length + options.least, times, scale, mdp, uncertainty_set, ends, swing)

    def policy(self, choices: Choices) -> Floats:
        """A policy to evaluate."""
        return choices.policy(self.mdp, deterministic=self.options.deterministic)

    def table(self, choices: Choices, variant: Variant) -> Floats:
        """The first estimate of a tabular learner, or the first of several: zeros, or values."""
        shape = self.mdp.cost.shape if estimates(variant) == "Q" else self.mdp.cost.shape[:1]
        shape = (*table_axes(variant), *shape)
        return np.zeros(shape) if choices.blank() else self.scale * choices.start(variant, self.mdp.gamma, shape)

    def path(self, choices: Choices, policy: Floats | None) -> Path:
        """The path, the whole walked once or more often; without a policy any action is taken."""
        deterministic = self.options.deterministic
        path = choices.path(self.mdp, steps=self.length, policy=policy, ends=self.ends, deterministic=deterministic)
        return [transition_costs.at_cost(step, self.mdp, self.swing) for step in path] * self.times


def policy_of(case: Run) -> Floats | None:
    """The policy that is evaluated; None for control."""
    return getattr(case, "policy", None)


def estimates(variant: Variant) -> str:
    """What a tabular learner's table holds: 'Q' for control; else options['estimates'], by default 'V' or, where a
    learner evaluates a policy only if it says so, 'Q'.
    """
    if variant.kind == "control":
        return "Q"
    return str(variant.options.get("estimates", "V" if "evaluation" in variant.kind else "Q"))


Place = int | tuple[int, int]


def place_of(variant: Variant, s: int, a: int) -> Place:
    """Where a visit of (s,a) writes in a table."""
    return (s, a) if estimates(variant) == "Q" else s


def table_count(variant: Variant) -> int | None:
    """How many tables the estimate of a learner is a tuple of; None if it is not a tuple."""
    count: int | None = variant.options.get("tables", kind_of(variant.kind).parts)
    return count


def table_axes(variant: Variant) -> tuple[int, ...]:
    """The axes of `initial` before those of one table."""
    count = table_count(variant)
    return () if count is None else (count,)


def schedule(choices: Choices, variant: Variant, *, visits: bool = True) -> StepSize:
    """A step size; options['schedule'] = 'steps' leaves out those that count visits, 'own' all but one constant."""
    wanted = variant.options.get("schedule")
    return constant(0.5) if wanted == "own" else choices.step_size(visits=visits and wanted != "steps")


def ends_of(variant: Variant, uncertainty_set: type[UncertaintySet]) -> Ends:
    """What the end of an episode means to a variant: options['ends'], or the default of the set; of a kind without
    episodes, nothing.
    """
    if not kind_of(variant.kind).episodes:
        return "none"
    stated: Ends | None = variant.options.get("ends")
    return default_ends(uncertainty_set) if stated is None else stated


RNG_SEEDS = 64
_rng_seed: ContextVar[int] = ContextVar("seed of the rng of learners", default=0)


@contextmanager
def rng_seed(seed: int) -> Iterator[None]:
    """Every learner that is built inside has an rng of this seed."""
    token = _rng_seed.set(seed)
    try:
        yield
    finally:
        _rng_seed.reset(token)


def rng_of(case: LawCase) -> AbstractContextManager[None]:
    """Every learner that is built inside has an rng of one seed, which the case as a whole decides.

    A randomised learner is so tried with many seeds, a judge compares learners that have the same draws, and a case
    that is judged again is judged alike.
    """
    return rng_seed(_seed_of(case) if isinstance(case, Run) else 0)


def _seed_of(case: Run) -> int:
    told = (case.mdp.cost.shape, case.mdp.cost.tolist(), np.asarray(case.initial).tolist(), len(case.path))
    return zlib.crc32(repr(told).encode()) % RNG_SEEDS


def new_rng() -> np.random.Generator:
    """A fresh rng for a learner."""
    return np.random.default_rng(_rng_seed.get())


@dataclass(frozen=True)
class Moment:
    """The state of a bit generator and the number of its children: `copy.deepcopy` takes three times as long."""

    source: np.random.BitGenerator
    state: Any
    children: int

    @classmethod
    def of(cls, rng: np.random.Generator) -> "Moment":
        """The present moment of a generator."""
        # Coins refuse to show theirs, for what draws from it is not seen.
        source: Any = np.random.Generator.bit_generator.__get__(rng)
        return cls(source, source.state, getattr(source.seed_seq, "n_children_spawned", 0))

    def bit_generator(self) -> np.random.BitGenerator:
        """A bit generator at this moment, which shares nothing with the other.

        >>> rng = np.random.default_rng(0)
        >>> other = np.random.Generator(Moment.of(rng).bit_generator())
        >>> rng.random() == other.random(), rng.spawn(1)[0].random() == other.spawn(1)[0].random()
        (True, True)
        """
        seeds: Any = self.source.seed_seq
        if type(seeds) is np.random.SeedSequence:
            told: dict[str, Any] = {"spawn_key": seeds.spawn_key, "pool_size": seeds.pool_size}
            seeds = np.random.SeedSequence(seeds.entropy, n_children_spawned=self.children, **told)
            made = type(self.source)(seeds)
        else:  # made from a key, so it has no children
            made = copy.deepcopy(self.source)
        made.state = self.state
        return made


LEARNER = "a factory `make(problem)` of learners with `update(transition)` and `estimate()`"
TABULAR_PROMISES = {
    "unbiased": "the expected update is (1−alpha)·estimate + alpha·(robust Bellman backup)",
    "mean update": "the mean of the next estimate, given the past, is the step options['expected'], in every entry"
    " (a name or a function of the past; default: the robust backup of the visited entry)",
    "asynchronous": "an update changes the visited entry only",
    "sample form": "given the transition, the visited entry moves to"
    " (1−alpha)x + alpha(c + gamma R max V + gamma(1−R)v'), v' the value of the next state",
    "sample form, next action": "the same with v' = Q(s',a'), the entry of the next action",
    "fixed point": "started at the solution of a deterministic problem, with or without ends, it stays there",
    "fixed point in the mean": "started at the solution of any problem without ends, the mean of the first estimate"
    " that can change (the first, or with options['delay'] = n the n-th) is the solution",
    "non-expansive": "two estimates on one path never move apart in the sup norm",
    "monotone": "a larger start or cost gives a larger estimate at all times",
    "monotone in R": "a larger radius gives a larger estimate at all times",
    "shift": "costs + k(1−gamma) and start + k give estimates + k",
    "scale": "costs and start times 2 give estimates times 2 (K times 2 and varrho half, where they apply)",
    "symmetric": "names of states and actions do not matter, nor do actions never taken and states never visited",
    "bounded": "estimates stay in the box [min c, max c]/(1−gamma) if they start there (with ends of episodes the box"
    " reaches to min c and max c)",
}
TABULAR_LEARNING = ("mean update", "unbiased", "sample form", "sample form, next action")
