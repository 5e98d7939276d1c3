"""Sweeps of a Markov chain: of a fixed policy and fixed rows of nature."""

from dataclasses import dataclass

import numpy as np

from robust_core.kernels.jit import compiled, row_dot
from robust_core.validate import EPS, Floats, Ints

SMALL, FINER = 256, 1e-4
"""States up to which a chain is swept until its change is so much finer still: that takes less time than a backup."""


@compiled
def sweep(
    ends: Ints, places: Ints, shares: Floats, constants: Floats, gamma: float, v: Floats, image: Floats, most: int,
    goal: float,
) -> int:  # fmt: skip
    """Sweeps of a fixed policy and kernel with a shift by the middle of the change, until its span is the goal."""
    factor = gamma / (1.0 - gamma)
    for number in range(most):
        low, high, start = np.inf, -np.inf, 0
        for s in range(v.size):
            total = 0.0
            for k in range(start, ends[s]):
                total += shares[k] * v[places[k]]
            start = ends[s]
            image[s] = constants[s] + gamma * total
            change = image[s] - v[s]
            low, high = min(low, change), max(high, change)
        shift = factor * 0.5 * (low + high)
        for s in range(v.size):
            v[s] = image[s] + shift
        if high - low <= goal:
            return number + 1
    return most


@compiled
def sweep_matrix(
    kernel: Floats, costs: Floats, gamma: float, v: Floats, image: Floats, most: int, goal: float
) -> tuple[int, float]:
    """`sweep` of a chain that is stored as a matrix, and the span of the last change."""
    factor, span = gamma / (1.0 - gamma), np.inf
    for number in range(most):
        low, high = np.inf, -np.inf
        for s in range(v.size):
            image[s] = costs[s] + gamma * row_dot(kernel, s, v)
            change = image[s] - v[s]
            low, high = min(low, change), max(high, change)
        shift, span = factor * 0.5 * (low + high), high - low
        for s in range(v.size):
            v[s] = image[s] + shift
        if span <= goal:
            return number + 1, span
    return most, span


@dataclass(frozen=True)
class Chain:
    """The Markov chain of a policy and rows of nature: for state s the entries from ends[s−1] to ends[s]."""

    ends: Ints
    places: Ints
    shares: Floats
    constants: Floats

    def sweep(self, gamma: float, v: Floats, most: int, goal: float) -> int:
        """Sweeps v in place until the span of a change is at most the goal; how many there were."""
        image = np.empty_like(v)
        return int(sweep(self.ends, self.places, self.shares, self.constants, gamma, v, image, most, goal))


@dataclass(frozen=True)
class Matrix:
    """A chain as a matrix with its costs."""

    kernel: Floats
    costs: Floats

    def sweep(self, gamma: float, v: Floats, most: int, goal: float) -> int:
        """Sweeps v in place until the span of a change is at most the goal, of a small chain far below.

        An elimination takes about as long as n/3 sweeps. A small chain that needs more is solved by one, so it takes at
        most about twice the time of the better way.
        """
        n = len(v)
        if n <= SMALL:
            least = max(FINER * goal, 8.0 * EPS * float(np.abs(v).max()))
            made, span = sweep_matrix(self.kernel, self.costs, gamma, v, np.empty(n), n // 3 + 1, least)
            if not span <= least:
                v[:] = np.linalg.solve(np.eye(n) - gamma * self.kernel, self.costs)
            return int(made)
        for number in range(most):
            image = self.costs + gamma * (self.kernel @ v)
            change = image - v
            low, high = float(change.min()), float(change.max())
            v[:] = image + gamma / (1.0 - gamma) * 0.5 * (low + high)
            if high - low <= goal:
                return number + 1
        return most
