"""Support functions of polyhedral sets around all rows of a kernel: L1, L∞ and interval boxes, bounded densities.

All walk through the states by value, with one sort of v for all dense rows, and stop when the mass that nature can
move is spent; `robust_core.sets` has the plain forms. Values count from the highest, so that a defect of the sum of a
row moves no value by more than a rounding. Sparse rows are sorted one by one; of the states outside a row those of
highest value count, if the set lets mass go there.
"""

import numpy as np

from robust_core.kernels.jit import compiled, reassociated
from robust_core.kernels.rows import Rows
from robust_core.mdp import MDP
from robust_core.validate import Floats, Ints

# So many states are visited between two looks whether the mass is spent (see `total_variation`).
_BLOCK = 8
_L1, _DENSITY, _L_INFINITY = 0, 1, 2


@reassociated
def _sums(p: Floats, values: Floats, top: float) -> tuple[float, float]:
    """Σ p and Σ p (v − top)."""
    mass = moment = 0.0
    for i in range(p.size):
        mass += p[i]
        moment += p[i] * (values[i] - top)
    return mass, moment


@reassociated
def _lower_sums(p: Floats, values: Floats, top: float, radius: float) -> tuple[float, float]:
    """Σ (p−r)⁺ and Σ (p−r)⁺ (v − top)."""
    low = moment = 0.0
    for i in range(p.size):
        x = p[i] - radius
        x = x if x > 0.0 else 0.0
        low += x
        moment += x * (values[i] - top)
    return low, moment


@compiled
def _highest(p: Floats, values: Floats, order: Ints) -> float:
    """The greatest value among p > 0, by the rising order of the values."""
    k = order.size - 1
    while p[order[k]] <= 0.0:
        k -= 1
    return values[order[k]]


@compiled
def _from_below(p: Floats, values: Floats, order: Ints, top: float, left: float) -> float:
    """Σ taken (v − top), the mass `left` taken from the lowest values on."""
    n, done, total = order.size, 0, 0.0
    while left > 0.0 and done < n:
        for k in range(done, min(done + _BLOCK, n)):
            i = order[k]
            taken = min(p[i], left)
            total += taken * (values[i] - top)
            left -= taken
        done += _BLOCK
    return total


@compiled
def _move_mass(p: Floats, values: Floats, order: Ints, top: float, radius: float) -> float:
    """L1: mass r/2 goes from the lowest values to `top`."""
    if radius >= 2.0:
        return top
    mass, moment = _sums(p, values, top)
    return top + min((moment - _from_below(p, values, order, top, 0.5 * radius * mass)) / mass, 0.0)


@compiled
def _upper_part(p: Floats, values: Floats, order: Ints, radius: float) -> float:
    """Bounded densities: the mean of the upper part 1−R, from above, or from below if that is shorter."""
    n, top = order.size, _highest(p, values, order)
    mass, moment = _sums(p, values, top)
    keep = (1.0 - radius) * mass
    if radius <= 0.5:
        return top + min((moment - _from_below(p, values, order, top, radius * mass)) / keep, 0.0)
    left, total, done = keep, 0.0, 0
    while left > 0.0 and done < n:
        for k in range(done, min(done + _BLOCK, n)):
            i = order[n - 1 - k]
            taken = min(p[i], left)
            total += taken * min(values[i] - top, 0.0)  # no mass is above the top
            left -= taken
        done += _BLOCK
    return top + total / keep


@compiled
def _fill_ball(p: Floats, values: Floats, order: Ints, top: float, within: bool, radius: float, mass: float) -> float:
    """L∞: the box (p−r)⁺ <= q <= min(p+r, 1) is filled from the highest value on."""
    low, moment = _lower_sums(p, values, top, radius * mass)
    left, n, done = mass - low, order.size, 0
    cap = mass
    while left > 0.0 and done < n:
        for k in range(done, min(done + _BLOCK, n)):
            i = order[n - 1 - k]
            upper = min(p[i] + radius * mass, cap) if p[i] > 0.0 or not within else 0.0
            added = min(upper - max(p[i] - radius * mass, 0.0), left)
            moment += added * (values[i] - top)
            left -= added
        done += _BLOCK
    return top + moment / mass


@compiled
def _fill_sparse_ball(
    p: Floats, values: Floats, places: Ints, states: Ints, v: Floats, order: Ints, radius: float
) -> float:
    """The same for a sparse row whose mass may leave it: `places` sorts the row, `order` all states."""
    S, top = order.size, v[order[order.size - 1]]
    mass, _ = _sums(p, values, top)
    low, moment = _lower_sums(p, values, top, radius * mass)
    left, mine, k = mass - low, places.size - 1, S - 1
    while left > 0.0 and k >= 0:
        here = v[order[k]]
        if mine >= 0 and values[places[mine]] >= here:  # the states of the row first among equals
            x = p[places[mine]]
            added = min(min(x + radius * mass, mass) - max(x - radius * mass, 0.0), left)
            moment += added * (values[places[mine]] - top)
            mine -= 1
        else:
            added = 0.0
            if not _holds(states, order[k]):
                added = min(min(radius, 1.0) * mass, left)
                moment += added * (here - top)
            k -= 1
        left -= added
    return top + moment / mass


@compiled
def _holds(states: Ints, state: int) -> bool:
    """Whether a state is among the successors of a row."""
    return bool((states == state).any())


@compiled
def _rows(
    form: int, within: bool, offsets: Ints, successors: Ints, probabilities: Floats, dense: bool, longest: int, v:
    Floats, order: Ints, radii: Floats, sigma: Floats,
) -> None:  # fmt: skip
    gathered = np.empty(longest)
    for row in range(radii.size):
        first, last = offsets[row], offsets[row + 1]
        p, r = probabilities[first:last], radii[row]
        if dense:
            values, sorting = v, order
        else:
            for k in range(last - first):
                gathered[k] = v[successors[first + k]]
            values = gathered[: last - first]
            sorting = np.argsort(values)
        top = _highest(p, values, sorting) if within else v[order[order.size - 1]]
        if form == _L1:
            sigma[row] = _move_mass(p, values, sorting, top, r)
        elif form == _DENSITY:
            sigma[row] = _upper_part(p, values, sorting, r)
        elif dense or within:
            sigma[row] = _fill_ball(p, values, sorting, top, within, r, _sums(p, values, top)[0])
        else:
            sigma[row] = _fill_sparse_ball(p, values, sorting, successors[first:last], v, order, r)


@reassociated
def _box_sums(lower: Floats, upper: Floats, row: int, v: Floats, top: float) -> tuple[float, float, float]:
    """Σ lower, Σ upper and Σ lower (v − top). Both rows are read in order, so that the walk finds them in the cache."""
    low = high = moment = 0.0
    for i in range(v.size):
        low += lower[row, i]
        high += upper[row, i]
        moment += lower[row, i] * (v[i] - top)
    return low, high, moment


@compiled
def _boxes(lower: Floats, upper: Floats, v: Floats, order: Ints, sigma: Floats) -> None:
    n, top = order.size, v[order[order.size - 1]]
    for row in range(lower.shape[0]):
        low, high, moment = _box_sums(lower, upper, row, v, top)
        left, done = min(1.0 - low, high - low), 0
        while left > 0.0 and done < n:
            for k in range(done, min(done + _BLOCK, n)):
                i = order[n - 1 - k]
                added = min(upper[row, i] - lower[row, i], left)
                moment += added * (v[i] - top)
                left -= added
            done += _BLOCK
        sigma[row] = top + moment


def _support(form: int, within: bool, mdp: MDP, radius: float | Floats, v: Floats) -> Floats:
    rows = Rows.of(mdp, v, radius, ordered=form == _L_INFINITY and not within)
    sigma = np.empty(rows.radii.size)
    _rows(
        form, within, rows.offsets, rows.successors, rows.probabilities, rows.dense, rows.longest, rows.v, rows.order,
        rows.radii, sigma,
    )  # fmt: skip
    return rows.result(sigma)


def l1_support(mdp: MDP, radius: float | Floats, within: bool, v: Floats) -> Floats:
    """sigma of the L1 balls around every p(.|s,a): an array (S, A)."""
    return _support(_L1, within, mdp, radius, v)


def l_infinity_support(mdp: MDP, radius: float | Floats, within: bool, v: Floats) -> Floats:
    """sigma of the L∞ balls around every p(.|s,a): an array (S, A)."""
    return _support(_L_INFINITY, within, mdp, radius, v)


def bounded_density_support(mdp: MDP, radius: float | Floats, v: Floats) -> Floats:
    """sigma of the bounded densities around every p(.|s,a): an array (S, A)."""
    return _support(_DENSITY, True, mdp, radius, v)


def box_support(lower: Floats, upper: Floats, v: Floats) -> Floats:
    """max q·v over lower <= q <= upper, Σq = 1, for rows (…, S) of bounds."""
    exponent = int(np.frexp(np.abs(v).max())[1])
    scaled = np.ldexp(v, -exponent)
    sigma = np.empty(lower.shape[:-1])
    least, most = (np.ascontiguousarray(x.reshape(-1, v.size)) for x in (lower, upper))
    _boxes(least, most, scaled, np.argsort(scaled, kind="stable"), sigma.reshape(-1))
    return np.ldexp(sigma, exponent)
