"""The cases of learners: a problem and the path that is walked in it. Each kind of learner adds what it is told beside.

The order of the choices is part of the generator: the same seed gives the same cases.
"""

from dataclasses import dataclass

import numpy as np

from properties.cases.case import LawCase, Path
from properties.cases.choices import MAX_STEPS, Choices
from properties.kinds import kind_of
from robust_core import StepSize
from robust_core.mdp import MDP
from robust_core.problem import Variant
from robust_core.sets import UncertaintySet
from robust_core.validate import Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class Run(LawCase):
    """For a learner: its problem, and the path it walks."""

    mdp: MDP
    uncertainty_set: UncertaintySet
    step_size: StepSize
    initial: Floats
    path: Path


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """How a run is generated: the most steps of its path, and how often the whole is walked.

    With `ends` some steps end an episode; without `projected` there is no ball of projection.
    """

    steps: int = MAX_STEPS
    ends: bool = False
    deterministic: bool = False
    projected: bool = True
    repeats: tuple[int, ...] = (1,)


USUAL = RunOptions()


def run(
    choices: Choices,
    variant: Variant,
    *,
    steps: int = MAX_STEPS,
    ends: bool = False,
    deterministic: bool = False,
    projected: bool = True,
    repeats: tuple[int, ...] = (1,),
) -> Run:
    """A case of the variant's kind of learner; the arguments are those of `RunOptions`."""
    options = RunOptions(steps=steps, ends=ends, deterministic=deterministic, projected=projected, repeats=repeats)
    case = kind_of(variant.kind).generate(choices, variant, options)
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

    @classmethod
    def choose(cls, choices: Choices, variant: Variant, options: RunOptions) -> "Beginning":
        """The length of the path, the scale of the numbers, a model and a set."""
        length, times = choices.length(options.steps, options.repeats)
        scale = choices.scale()
        mdp = choices.mdp(scale=scale, deterministic=options.deterministic)
        return cls(options, length, times, scale, mdp, choices.set_of(variant, mdp))

    def policy(self, choices: Choices) -> Floats:
        """A policy to evaluate."""
        return choices.policy(self.mdp, deterministic=self.options.deterministic)

    def table(self, choices: Choices, variant: Variant) -> Floats:
        """The first estimate of a tabular learner: zeros, or values."""
        shape = self.mdp.cost.shape if estimates(variant) == "Q" else self.mdp.cost.shape[:1]
        return np.zeros(shape) if choices.blank() else self.scale * choices.values(shape)

    def path(self, choices: Choices, policy: Floats | None) -> Path:
        """The path, the whole walked once or more often; without a policy any action is taken."""
        return choices.path(self.mdp, steps=self.length, policy=policy, ends=self.options.ends) * self.times


def policy_of(case: Run) -> Floats | None:
    """The policy that is evaluated; None for control."""
    return getattr(case, "policy", None)


def estimates(variant: Variant) -> str:
    """What a tabular learner's table holds: 'Q' for control; for evaluation options['estimates'], by default 'V'."""
    return "Q" if variant.kind == "control" else str(variant.options.get("estimates", "V"))


LEARNER = "a factory `make(problem)` of learners with `update(transition)` and `estimate()`"
TABULAR_PROMISES = {
    "unbiased": "the mean over next states (and actions) of an update is (1−alpha)·estimate + alpha·(robust backup)",
    "asynchronous": "an update changes the visited entry only",
    "sample form": "given the transition, the visited entry moves to"
    " (1−alpha)x + alpha(c + gamma R max V + gamma(1−R)v'), v' the value of the next state",
    "sample form, next action": "the same with v' = Q(s',a'), the entry of the next action",
    "fixed point": "started at the solution of a deterministic problem it stays there",
    "non-expansive": "two estimates on one path never move apart in the sup norm",
    "monotone": "a larger start or cost gives a larger estimate at all times",
    "monotone in R": "a larger radius gives a larger estimate at all times",
    "shift": "costs + k(1−gamma) and start + k give estimates + k",
    "scale": "costs and start times 2 give estimates times 2 (K times 2 and varrho half, where they apply)",
    "symmetric": "names of states and actions do not matter, nor do actions never taken and states never visited",
    "bounded": "estimates stay in the box [min c, max c]/(1−gamma) if they start there",
}
