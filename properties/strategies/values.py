"""Value vectors V and tables Q."""

from typing import Any

import numpy as np
from hypothesis import strategies as st

from properties.strategies import scalars, sizes
from robust_core import validate
from robust_core.mdp import MDP
from robust_core.validate import Floats

VALUE_RANGE = (-16.0, 16.0)


def values(n: int, *, value_range: tuple[float, float] = VALUE_RANGE) -> st.SearchStrategy[Floats]:
    """Vectors of n values with ties, signs and scales; they shrink to all zero (or the nearest to it).

    >>> from properties.strategies import minimal
    >>> minimal(values(3), lambda v: v[1] != v[2])
    array([0., 1., 0.])
    """
    return _tables((validate.count("n", n, least=1),), value_range)


def q_tables(
    mdp_or_sizes: MDP | tuple[int, int], *, value_range: tuple[float, float] = VALUE_RANGE
) -> st.SearchStrategy[Floats]:
    """Tables Q[s, a] for a model or for sizes (S, A); they shrink as `values`.

    >>> from properties.strategies import minimal
    >>> minimal(q_tables((2, 2)), lambda Q: Q.min() < 0)
    array([[-1.,  0.],
           [ 0.,  0.]])
    """
    return _tables(sizes.sizes_of(mdp_or_sizes), value_range)


def _tables(shape: tuple[int, ...], value_range: tuple[float, float]) -> st.SearchStrategy[Floats]:
    levels = scalars.levels("value_range", value_range)
    n_states, *n_actions = shape
    places = (*map(sizes.actions, n_actions), sizes.states(n_states))
    resting = scalars.resting(value_range)

    def filled(changes: list[tuple[Any, ...]]) -> Floats:
        table = np.full(shape, resting)
        for *place, level in reversed(changes):
            table[tuple(reversed(place))] = level
        return table

    return sizes.overrides(places, levels).map(filled)
