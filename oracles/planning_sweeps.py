"""Compiled backups: z(v) of every row, for dense and sparse kernels, without the term common to all rows.

σ_{s,a}(v) = z_{s,a}(v) + R·max v with, under contamination, z = (1−R)Σp v (the factor (1−R) is in `scale`) and,
under total variation, z = Σp v less the mass R of least value. For a fixed order of the states z is linear in v:
that is nature's kernel, and freezing the order freezes it.

A model is the tuple (dense, offsets, successors, probabilities): either `dense` with one row per pair or the
sparse rows are empty.
"""

import numpy as np
from numba import njit

SHORT_ROW = 24  # up to here repeated selection of the least value beats sorting the row
ALREADY_SORTED = 96  # up to here insertion sort of a nearly sorted order beats sorting anew

# Free order of summation and fused operations: the bound in `enclosure` holds for every order.
_any_order = njit(cache=True, nogil=True, fastmath={"reassoc", "nsz", "contract"})
_exact_order = njit(cache=True, nogil=True)


@_any_order
def dot(p, v):
    """Σ p v."""
    total = 0.0
    for i in range(v.shape[0]):
        total += p[i] * v[i]
    return total


@_any_order
def sparse_dot(successors, probabilities, begin, end, v):
    """Σ p v of one sparse row."""
    total = 0.0
    for k in range(begin, end):
        total += probabilities[k] * v[successors[k]]
    return total


@_exact_order
def sort_states(v, order):
    """Put `order` into the ascending order of v; fast when it nearly is already."""
    if v.shape[0] > ALREADY_SORTED:
        order[:] = np.argsort(v)
        return
    for i in range(1, v.shape[0]):
        state = order[i]
        key = v[state]
        j = i - 1
        while j >= 0 and v[order[j]] > key:
            order[j + 1] = order[j]
            j -= 1
        order[j + 1] = state


@_exact_order
def upper_part(p, v, order, radius):
    """Σ p v less the mass `radius` of the states that come first in `order`."""
    if radius <= 0.5:
        total = dot(p, v)
        remaining = radius
        for i in range(v.shape[0]):
            state = order[i]
            mass = p[state]
            if mass >= remaining:
                return total - remaining * v[state]
            total -= mass * v[state]
            remaining -= mass
        return total
    total = 0.0
    remaining = 1.0 - radius
    for i in range(v.shape[0] - 1, -1, -1):
        state = order[i]
        mass = p[state]
        if mass >= remaining:
            return total + remaining * v[state]
        total += mass * v[state]
        remaining -= mass
    return total


@_exact_order
def removed_mass(successors, probabilities, begin, end, v, radius):
    """(level, share): every state below `level` loses its mass, those at `level` lose `share` in all."""
    if end - begin > SHORT_ROW:
        return _removed_by_sorting(successors, probabilities, begin, end, v, radius)
    level = -np.inf
    remaining = radius
    while True:
        least = np.inf
        mass = 0.0
        for k in range(begin, end):
            value = v[successors[k]]
            if level < value < least:
                least = value
                mass = probabilities[k]
            elif value == least:
                mass += probabilities[k]
        if mass >= remaining or least == np.inf:
            return least, remaining
        remaining -= mass
        level = least


@_exact_order
def _removed_by_sorting(successors, probabilities, begin, end, v, radius):
    order = np.argsort(v[successors[begin:end]])
    remaining = radius
    at_level = 0.0
    for i in range(order.shape[0]):
        k = begin + order[i]
        value = v[successors[k]]
        at_level = 0.0 if i == 0 or v[successors[begin + order[i - 1]]] < value else at_level
        if probabilities[k] >= remaining:
            return value, at_level + remaining
        remaining -= probabilities[k]
        at_level += probabilities[k]
    return np.inf, 0.0


@_exact_order
def sparse_upper_part(successors, probabilities, begin, end, v, radius):
    """Σ p v of one sparse row less the mass `radius` of least value."""
    if radius == 0.0:
        return sparse_dot(successors, probabilities, begin, end, v)
    level, share = removed_mass(successors, probabilities, begin, end, v, radius)
    if level == np.inf:
        return 0.0
    total = 0.0
    mass = 0.0
    for k in range(begin, end):
        value = v[successors[k]]
        if value > level:
            total += probabilities[k] * value
        elif value == level:
            mass += probabilities[k]
    return total + (mass - share) * level


@_exact_order
def backup(model, cost, scale, radius, total_variation, v, order, q):
    """q = cost + scale·z(v) for all pairs; `order` must sort v if the set is total variation and dense."""
    dense, offsets, successors, probabilities = model
    n_states, n_actions = cost.shape
    flat = q.reshape(n_states * n_actions)
    costs = cost.reshape(n_states * n_actions)
    if offsets.shape[0] > 0:
        for row in range(flat.shape[0]):
            begin, end = offsets[row], offsets[row + 1]
            if total_variation:
                z = sparse_upper_part(successors, probabilities, begin, end, v, radius)
            else:
                z = sparse_dot(successors, probabilities, begin, end, v)
            flat[row] = costs[row] + scale * z
    elif total_variation:
        for row in range(flat.shape[0]):
            flat[row] = costs[row] + scale * upper_part(dense[row], v, order, radius)
    else:
        np.dot(dense, v, flat)
        for row in range(flat.shape[0]):
            flat[row] = costs[row] + scale * flat[row]


@_exact_order
def freeze(model, policy, radius, total_variation, v):
    """The sparse kernel of a fixed policy with nature's answer to v frozen in, one row per state."""
    _, offsets, successors, probabilities = model
    n_states, n_actions = policy.shape
    frozen_offsets = np.zeros(n_states + 1, dtype=np.int64)
    for state in range(n_states if offsets.shape[0] > 0 else 0):
        length = 0
        for action in range(n_actions):
            row = state * n_actions + action
            length += offsets[row + 1] - offsets[row] if policy[state, action] > 0.0 else 0
        frozen_offsets[state + 1] = frozen_offsets[state] + length
    targets = np.empty(frozen_offsets[n_states], dtype=np.int64)
    weights = np.empty(frozen_offsets[n_states])
    for state in range(n_states if offsets.shape[0] > 0 else 0):
        at = frozen_offsets[state]
        for action in range(n_actions):
            share = policy[state, action]
            if share > 0.0:
                row = state * n_actions + action
                begin, end = offsets[row], offsets[row + 1]
                level, excess = -np.inf, 0.0
                if total_variation:
                    level, excess = removed_mass(successors, probabilities, begin, end, v, radius)
                for k in range(begin, end):
                    mass = probabilities[k]
                    value = v[successors[k]]
                    if value < level:
                        mass = 0.0
                    elif value == level:
                        taken = min(mass, excess)
                        mass -= taken
                        excess -= taken
                    targets[at] = successors[k]
                    weights[at] = share * mass
                    at += 1
    return frozen_offsets, targets, weights


@_exact_order
def sweep(model, frozen, policy, scale, radius, total_variation, order, x, out):
    """out = scale·(policy's average of z(x)), linear in x: nature's kernel is frozen (by order or by mass)."""
    dense, offsets, _, _ = model
    frozen_offsets, targets, weights = frozen
    n_states, n_actions = policy.shape
    for state in range(n_states):
        total = 0.0
        if offsets.shape[0] > 0:
            total = sparse_dot(targets, weights, frozen_offsets[state], frozen_offsets[state + 1], x)
        else:
            for action in range(n_actions):
                share = policy[state, action]
                if share > 0.0:
                    row = dense[state * n_actions + action]
                    total += share * (upper_part(row, x, order, radius) if total_variation else dot(row, x))
        out[state] = scale * total
