"""A planner of a library behind an adapter of a few lines: the library has its own conventions, the variant has ours.

Replace `solve` by the call of your library. Here it maximises rewards over a kernel with axes (a, s, s'), as many do.

To verify it: robust-core verify wrap_a_library.py
"""

import numpy as np

from robust_core import Contamination, Variant


def solve(kernel, rewards, discount, radius, sweeps=100_000):
    """Robust value iteration for rewards: what a library could offer."""
    values = np.zeros(rewards.shape[0])
    for _ in range(sweeps):
        worst = radius * values.min() + (1 - radius) * np.einsum("ast,t->sa", kernel, values)
        before, values = values, (rewards + discount * worst).max(axis=1)
        if np.abs(values - before).max() <= 1e-15 * np.abs(values).max():
            break
    return rewards + discount * (radius * values.min() + (1 - radius) * np.einsum("ast,t->sa", kernel, values))


def plan(mdp, uncertainty_set):
    """Costs become rewards, and the axes of the kernel are turned."""
    return -solve(np.moveaxis(mdp.P, 1, 0), -mdp.cost, mdp.gamma, uncertainty_set.radius)


MINE = Variant("a planner of a library", "planner", plan, (Contamination,), ("optimal",))
