"""Uncertainty sets."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from properties.strategies import scalars
from robust_core.sets import Contamination, TotalVariation, UncertaintySet

KINDS: tuple[type[UncertaintySet], ...] = (Contamination, TotalVariation)
"""The sets that the paper's claims and most tests speak of; name any other set of `robust_core.sets.SETS`."""


def uncertainty_sets(
    *,
    kinds: Sequence[type[UncertaintySet]] = KINDS,
    radii: st.SearchStrategy[float] | None = None,
    states: int = 3,
) -> st.SearchStrategy[UncertaintySet]:
    """Sets of the given kinds (Section 3), each with a radius; shrinks to the first kind and radius 0.

    Sets with other fields, a metric or bounds, are for so many `states`.

    >>> from properties.strategies import minimal
    >>> minimal(uncertainty_sets(), lambda uncertainty: uncertainty.radius > 0)
    Contamination(radius=1.0)
    """
    if not kinds:
        raise ValueError("kinds must name at least one uncertainty set, got none")
    drawn_radii = scalars.radii() if radii is None else radii
    return st.builds(_made, st.sampled_from(kinds), drawn_radii, st.data(), st.just(states))


def _made(kind: type[UncertaintySet], radius: float, data: st.DataObject, states: int) -> UncertaintySet:
    """A set by `choose`, whose other levels Hypothesis draws."""

    def pick(levels: Sequence[Any]) -> Any:
        return data.draw(st.sampled_from(levels))

    return kind.choose(pick, radius, np.full(states, 1.0 / states), np.arange(float(states)))
