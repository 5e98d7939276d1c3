"""Linear features."""

from fractions import Fraction
from itertools import count

import numpy as np
from hypothesis import strategies as st

from properties.strategies import scalars, sizes
from robust_core import validate
from robust_core.validate import Floats

_PIVOTS = (1.0, 0.5, -1.0, 0.25, -0.5)


def features(
    n_states: int,
    *,
    min_features: int = 1,
    max_features: int | None = None,
    bounded: bool = True,
    min_pivot: float = 2.0**-6,
) -> st.SearchStrategy[Floats]:
    """Matrices Phi[s, i] of full column rank; they shrink to the indicators of the first states.

    - `max_features` is at most, and by default, the number of states.
    - `bounded`: ‖phi(s)‖ <= 1 for every state, as Section 5 assumes; attained by some.
    - `min_pivot`: smallest pivot before a row is scaled; smaller gives worse conditioned features.

    The rank is full because some `d` rows form a triangle with non-zero diagonal.

    >>> from properties.strategies import minimal
    >>> minimal(features(3), lambda phi: phi.shape[1] > 1)
    array([[1., 0.],
           [0., 1.],
           [0., 0.]])
    """
    validate.count("n_states", n_states, least=1)
    most = n_states if max_features is None else max_features
    if most > n_states:
        raise ValueError(f"max_features must be at most the {n_states} states, got {most}")
    if not 0.0 < min_pivot <= 1.0:
        raise ValueError(f"min_pivot must lie in (0, 1], got {min_pivot}")
    return _features(n_states, sizes.bounded_count("features", min_features, most), bounded, min_pivot)


@st.composite
def _features(
    draw: st.DrawFn, n_states: int, n_features: st.SearchStrategy[int], bounded: bool, min_pivot: float
) -> Floats:
    d = draw(n_features)
    order = draw(st.permutations(range(n_states)))
    pivots = tuple(p for p in (*_PIVOTS, min_pivot, -min_pivot) if abs(p) >= min_pivot)
    entries = scalars.levels("features", (-1.0, 1.0))
    lower = np.eye(n_states, d)
    for i, pivot in draw(sizes.overrides((sizes.actions(d),), pivots)):
        lower[i, i] = pivot
    for i, s, level in draw(sizes.overrides((sizes.actions(d), sizes.states(n_states)), entries)):
        if i < s:
            lower[s, i] = level
    phi = np.empty_like(lower)
    phi[order] = lower
    return _inside_unit_ball(phi) if bounded else phi


def _inside_unit_ball(phi: Floats) -> Floats:
    """Each row halved until its norm is at most 1: keeps the rank.

    In rationals, because 1 + 2^-60 is 1 in floats.

    >>> _inside_unit_ball(np.array([[1.0, 0.0], [1.0, 2.0**-30]]))[:, 0]
    array([1. , 0.5])
    """
    squares = [sum(Fraction(x) ** 2 for x in row) for row in phi.tolist()]
    halvings = [next(k for k in count() if square <= 4**k) for square in squares]
    return np.ldexp(phi, -np.array(halvings)[:, None])
