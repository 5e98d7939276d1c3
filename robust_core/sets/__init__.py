"""The uncertainty sets, one file each."""

from robust_core.sets.base import LEVELS, Threshold, UncertaintySet
from robust_core.sets.bounded_density import BoundedDensity
from robust_core.sets.chi_square import ChiSquare
from robust_core.sets.contamination import Contamination
from robust_core.sets.distance_ball import DistanceBall
from robust_core.sets.finite_kernels import FiniteKernels
from robust_core.sets.interval import Interval
from robust_core.sets.kullback_leibler import KullbackLeibler
from robust_core.sets.l1 import L1
from robust_core.sets.l2 import L2
from robust_core.sets.l_infinity import LInfinity
from robust_core.sets.local_adversary import LocalAdversary
from robust_core.sets.restart import Restart
from robust_core.sets.reverse_kullback_leibler import ReverseKullbackLeibler
from robust_core.sets.s_rectangular import (
    SRectangular,
    SRectangularKullbackLeibler,
    SRectangularL1,
    SRectangularL2,
    SRectangularLInfinity,
)
from robust_core.sets.total_variation import TotalVariation
from robust_core.sets.wasserstein import Wasserstein

SETS: tuple[type[UncertaintySet], ...] = (
    Contamination, TotalVariation, KullbackLeibler, ReverseKullbackLeibler, ChiSquare, L1, L2, LInfinity, Interval,
    BoundedDensity, Restart, LocalAdversary, Wasserstein,
)  # fmt: skip
"""The sets of the suite, the simplest first. A set that is defined elsewhere works in the same way."""
S_RECTANGULAR: tuple[type[SRectangular], ...] = (
    SRectangularL1, SRectangularL2, SRectangularLInfinity, SRectangularKullbackLeibler,
)  # fmt: skip
"""The s-rectangular sets: nature has one budget for all rows of a state."""

__all__ = [
    "L1", "L2", "LEVELS", "SETS", "S_RECTANGULAR", "BoundedDensity", "ChiSquare", "Contamination", "DistanceBall",
    "FiniteKernels", "Interval", "KullbackLeibler", "LInfinity", "LocalAdversary", "Restart", "ReverseKullbackLeibler",
    "SRectangular", "SRectangularKullbackLeibler", "SRectangularL1", "SRectangularL2", "SRectangularLInfinity",
    "Threshold", "TotalVariation", "UncertaintySet", "Wasserstein",
]  # fmt: skip
