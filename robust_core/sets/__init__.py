"""The uncertainty sets, one file each."""

from robust_core.sets.base import LEVELS, Threshold, UncertaintySet
from robust_core.sets.contamination import Contamination
from robust_core.sets.total_variation import TotalVariation

SETS: tuple[type[UncertaintySet], ...] = (Contamination, TotalVariation)
"""The sets of the suite, the simplest first. A set that is defined elsewhere works in the same way."""

__all__ = ["LEVELS", "SETS", "Contamination", "Threshold", "TotalVariation", "UncertaintySet"]
