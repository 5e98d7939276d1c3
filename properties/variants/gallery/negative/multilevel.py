"""Multilevel Monte Carlo designs that fail: an infinite expected cost, and a truncated level.

With psi <= 1/2 the expected number of draws is infinite: Σ psi(1−psi)^n 2^(n+1) diverges, although every run ends.
Truncated at a last level n, the estimator has a finite cost and the bias of a plug-in estimate of 2^(n+1) draws.
"""

from properties.variants.gallery.multilevel_q import MultilevelQ
from robust_core import TotalVariation, Variant


class SmallPsi(MultilevelQ):
    """Levels with psi = 3/8."""

    psi = 0.375


class Cut(MultilevelQ):
    """Levels above 0 are drawn as level 0."""

    def level(self) -> int:
        """Always 0, with the weight 1."""
        return 0

    psi = 1.0


INFINITE_COST = Variant(
    "multilevel Q-learning with psi = 3/8",
    "simulator",
    SmallPsi,
    (TotalVariation,),
    ("multilevel", "expected draws"),
    {"levels": 0.375, "draws": 4.0},
)
TRUNCATED = Variant(
    "multilevel Q-learning cut at its first level",
    "simulator",
    Cut,
    (TotalVariation,),
    ("mean iteration",),
    {"draws": 3},
)
del MultilevelQ
