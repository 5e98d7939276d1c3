"""Nature's answer to a value function: the kernel in the uncertainty set that attains σ_{s,a}(V)."""

import numpy as np

from robust_core.mdp import MDP, SparseRows
from robust_core.sets import TotalVariation, UncertaintySet
from robust_core.validate import Floats, Ints


def worst_kernel(mdp: MDP, uncertainty_set: UncertaintySet, v: Floats) -> Floats | SparseRows:
    """Contamination: (1−R)p + Rδ_top; total variation: p with the mass R of least value moved to `top`,

    the state of greatest value. Stored like the kernel of the model.

    >>> from robust_core.sets import Contamination
    >>> worst_kernel(MDP([[[0.5, 0.5]], [[0.0, 1.0]]], [[1.0], [0.0]], 0.5), Contamination(0.5), np.array([1.0, 0.0]))
    array([[[0.75, 0.25]],
    <BLANKLINE>
           [[0.5 , 0.5 ]]])
    """
    rows = mdp.rows
    row = np.repeat(np.arange(len(rows.offsets) - 1), np.diff(rows.offsets))
    radius: float = uncertainty_set.radius  # type: ignore[attr-defined]
    if isinstance(uncertainty_set, TotalVariation):
        kept = rows.probabilities - _removed(rows, row, v, radius)
    else:
        kept = (1.0 - radius) * rows.probabilities
    return _with_top(mdp, rows, row, kept, int(np.argmax(v)))


def _removed(rows: SparseRows, row: Ints, v: Floats, radius: float) -> Floats:
    """The mass that leaves every entry when the mass R of least value leaves each row."""
    order = np.lexsort((v[rows.successors], row))
    place = np.arange(len(row)) - rows.offsets[row]  # `order` keeps the rows in place
    # One line per row: a running sum over all rows would lose the digits of the later ones.
    p = np.zeros((len(rows.offsets) - 1, int(place.max()) + 1))
    p[row, place] = rows.probabilities[order]
    before = np.cumsum(p, axis=1) - p
    removed = np.empty(len(row))
    removed[order] = np.clip(radius - before, 0.0, p)[row, place]
    return removed


def _with_top(mdp: MDP, rows: SparseRows, row: Ints, kept: Floats, top: int) -> Floats | SparseRows:
    """Rows `kept` plus what each lacks to 1 on state `top`."""
    n_rows = len(rows.offsets) - 1
    missing = np.maximum(1.0 - np.add.reduceat(kept, rows.offsets[:-1]), 0.0)
    if not mdp.is_sparse:
        dense = np.zeros((n_rows, mdp.n_states))
        dense[row, rows.successors] = kept
        dense[:, top] += missing
        return dense.reshape(mdp.n_states, mdp.n_actions, mdp.n_states)
    already = np.zeros(n_rows, dtype=bool)
    at_top = rows.successors == top
    already[row[at_top]] = True
    probabilities = kept + np.where(at_top, missing[row], 0.0)
    ends = rows.offsets[1:][~already]
    return SparseRows(
        rows.offsets + np.concatenate(([0], np.cumsum(~already))),
        np.insert(rows.successors, ends, top),
        np.insert(probabilities, ends, missing[~already]),
    )
