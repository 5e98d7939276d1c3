"""The support functions of the core."""

from robust_core import Variant, sigma
from robust_core.sets import SETS

VARIANT = Variant("support functions", "support", sigma, SETS, ("support function", "rows"))
