"""Samplers of trajectories."""

from dataclasses import dataclass

from properties.cases.case import LawCase
from properties.cases.choices import Choices
from properties.kinds import Canary, Example, KindOfVariant
from robust_core.mdp import MDP
from robust_core.problem import Variant
from robust_core.validate import Floats

MAX_STEPS = 24


@dataclass(frozen=True, kw_only=True, eq=False)
class SamplerCase(LawCase):
    """A model, a policy, the first state and the number of steps."""

    mdp: MDP
    policy: Floats
    start: int
    steps: int


def sampler_case(choices: Choices, variant: Variant) -> SamplerCase:
    """A model, a policy, a start and a number of steps."""
    steps, times = choices.length(MAX_STEPS, (1,))
    mdp = choices.mdp(variant, sparse=True)
    start = choices.index(mdp.n_states)
    return SamplerCase(mdp=mdp, policy=choices.policy(mdp), start=start, steps=steps * times)


KIND = KindOfVariant(
    case=SamplerCase,
    generate=sampler_case,
    promises={"trajectory": "the sampler returns one path of the chain"},
    canary=Canary("sampler:UNIFORM_NEXT", ("possible path", "frequencies")),
    example=Example(
        called="a function `(mdp, policy, start, steps, rng) -> list of transitions`",
        right="p=mdp.P[s, a]",
        wrong="p=mdp.P[s, 0]",
    ),
)
