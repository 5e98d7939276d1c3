"""The sampler of the core: one trajectory of a behaviour policy."""

import numpy as np

from robust_core import MDP, Transition, Variant, Walk
from robust_core.validate import Floats


def sample(mdp: MDP, policy: Floats, start: int, steps: int, rng: np.random.Generator) -> list[Transition]:
    """`steps` transitions; the walk's own stream is keyed by the rng."""
    return list(Walk(mdp, policy, seed=rng.bytes(16), start=start).steps(steps))


VARIANT = Variant("walk", "sampler", sample, (), ("trajectory", "samples the model"))
