"""Stationary policies."""

import numpy as np
from hypothesis import strategies as st

from properties.strategies import mass, sizes
from robust_core.mdp import MDP
from robust_core.validate import Floats


def policies(
    mdp_or_sizes: MDP | tuple[int, int],
    *,
    exploring: bool = False,
    deterministic: bool = False,
    dyadic: bool = True,
) -> st.SearchStrategy[Floats]:
    """Policies pi[s, a] for a model or for sizes (S, A); they shrink to "always action 0".

    - `exploring`: every action has positive probability in every state (a behaviour policy), and they shrink
      towards equal shares.
    - `deterministic`: one action per state (excludes `exploring`, beyond one action).
    - `dyadic`: as for `mdps`.

    >>> from properties.strategies import minimal
    >>> minimal(policies((2, 2)), lambda pi: pi[1, 0] < 1.0)
    array([[1., 0.],
           [0., 1.]])
    >>> minimal(policies((1, 2), exploring=True), lambda pi: True)
    array([[0.5, 0.5]])
    """
    S, A = sizes.sizes_of(mdp_or_sizes)
    if exploring and deterministic and A > 1:
        raise ValueError("exploring and deterministic exclude each other for more than one action")
    return _policies(S, A, exploring, mass.grid(dyadic=dyadic, whole=deterministic))


@st.composite
def _policies(draw: st.DrawFn, S: int, A: int, exploring: bool, grid: mass.Grid) -> Floats:
    least = (A - 1).bit_length()
    exponent = draw(st.sampled_from((least, least + 1, least + 4, 10 + least))) if exploring else 0
    reserve = [grid.floor(exponent) if exploring else 0] * A
    moves = draw(sizes.overrides((sizes.actions(A), sizes.states(S)), grid.shares))
    return np.array(
        [mass.move_mass(reserve, 0, [(a, u) for a, s, u in moves if s == state], grid.total) for state in range(S)]
    )
