"""Adapters for public libraries: their algorithms as variants, each with the glue that it needs and nothing else.

The libraries are not robust, so their algorithms are judged at R = 0. They have rewards and variants have costs: the
adapter changes the sign. Tolerances of the libraries are absolute, so costs are scaled to at most 1.
`robust-core study field` runs them; a library that is not installed is left out.
"""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Library:
    """A public library: its name on PyPI, and the module of this package that adapts it.

    A slow one is tried on at most `most` problems per law.
    """

    distribution: str
    module: str
    most: int = 10**6


LIBRARIES = (
    Library("pymdptoolbox", "benchmarks.field.toolbox"),
    Library("mdpsolver", "benchmarks.field.solver"),
    Library("mdptoolbox-hiive", "benchmarks.field.hiive"),
    Library("mdplib", "benchmarks.field.mdp_library"),
    Library("quantecon", "benchmarks.field.discrete_dp"),
    Library("rlax", "benchmarks.field.temporal_differences", most=6),
    Library("mushroom-rl", "benchmarks.field.mushroom"),
)
ACCURACY = 1e-6
"""The accuracy that each algorithm is asked for and judged to, times max|c|/(1−gamma)."""


@contextmanager
def random_states_kept() -> Iterator[None]:
    """For imports that draw from the global random states, as those of jax and torch do."""
    states = random.getstate(), np.random.get_state()  # noqa: NPY002
    yield
    random.setstate(states[0])
    np.random.set_state(states[1])  # noqa: NPY002
