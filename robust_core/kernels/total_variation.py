"""Total-variation support functions of all rows of a kernel, with one sort of v for all of them.

sigma(v) = p·v + Σ_i t_i (max v − v_i), where t takes the mass R from the states of lowest v (the plain form is in
`robust_core.sets.total_variation`). The walk up from the lowest state ends soon after the mass is taken, so for small R
a row costs little more than the product p·v.
"""

import numpy as np

from robust_core.kernels.jit import compiled, row_dot
from robust_core.mdp import MDP, SparseRows
from robust_core.validate import Floats, Ints

# Below this length, finding the next lowest successor again and again beats sorting the row.
_SHORT_ROW = 32
# So many states are visited between two looks whether the mass is taken: looking costs more, as where a row ends
# cannot be foreseen, and what comes after the end is nothing taken.
_BLOCK = 8


@compiled
def _dense(rows: Floats, v: Floats, order: Ints, gain: Floats, radius: float, sigma: Floats) -> None:
    for row in range(rows.shape[0]):
        # The product is taken here, not for all rows before, so that the walk finds the row in the cache.
        total, left = row_dot(rows, row, v), radius
        done = 0
        while left > 0.0 and done < order.size:
            for k in range(done, min(done + _BLOCK, order.size)):
                taken = min(rows[row, order[k]], left)
                total += taken * gain[k]
                left -= taken
            done += _BLOCK
        sigma[row] = total


@compiled
def _sparse(
    offsets: Ints, successors: Ints, probabilities: Floats, rank: Ints, gain: Floats, radius: float, sigma: Floats
) -> None:
    for row in range(offsets.size - 1):
        first, last = offsets[row], offsets[row + 1]
        left = radius
        if last - first > _SHORT_ROW:
            for k in np.argsort(rank[successors[first:last]]):
                taken = min(probabilities[first + k], left)
                sigma[row] += taken * gain[successors[first + k]]
                left -= taken
                if left <= 0.0:
                    break
        else:
            above = -1
            while left > 0.0:
                lowest, place = rank.size, -1
                for k in range(first, last):
                    r = rank[successors[k]]
                    if above < r < lowest:
                        lowest, place = r, k
                if place < 0:
                    break
                taken = min(probabilities[place], left)
                sigma[row] += taken * gain[successors[place]]
                left -= taken
                above = lowest


def kernel_support(mdp: MDP, radius: float, v: Floats) -> Floats:
    """sigma of the ball of the given radius around every p(.|s,a): an array (S, A)."""
    if radius == 1.0:  # the whole simplex: exactly the maximum
        return np.full((mdp.n_states, mdp.n_actions), v.max())
    order = np.argsort(v, kind="stable")
    gain = v.max() - v
    if isinstance(mdp.kernel, SparseRows):
        sigma = mdp.expectation(v)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        kernel = mdp.kernel
        _sparse(kernel.offsets, kernel.successors, kernel.probabilities, rank, gain, radius, sigma.reshape(-1))
    else:
        sigma = np.empty((mdp.n_states, mdp.n_actions))
        _dense(mdp.kernel.reshape(-1, mdp.n_states), v, order, gain[order], radius, sigma.reshape(-1))
    return sigma
