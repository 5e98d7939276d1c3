"""Uncertainty sets."""

from collections.abc import Sequence

from hypothesis import strategies as st

from properties.strategies import scalars
from robust_core.sets import Contamination, TotalVariation, UncertaintySet

KINDS: tuple[type[UncertaintySet], ...] = (Contamination, TotalVariation)
"""The sets that the paper's claims and most tests speak of; name any other set of `robust_core.sets.SETS`."""


def uncertainty_sets(
    *,
    kinds: Sequence[type[UncertaintySet]] = KINDS,
    radii: st.SearchStrategy[float] | None = None,
) -> st.SearchStrategy[UncertaintySet]:
    """Sets of the given kinds (Section 3), each with a radius; shrinks to the first kind and radius 0.

    >>> from properties.strategies import minimal
    >>> minimal(uncertainty_sets(), lambda uncertainty: uncertainty.radius > 0)
    Contamination(radius=1.0)
    """
    if not kinds:
        raise ValueError("kinds must name at least one uncertainty set, got none")
    drawn_radii = scalars.radii() if radii is None else radii
    return st.builds(lambda kind, radius: kind(radius=radius), st.sampled_from(kinds), drawn_radii)
