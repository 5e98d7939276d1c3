"""The support functions of the core."""

from robust_core import Contamination, TotalVariation, Variant, sigma

VARIANT = Variant("support functions", "support", sigma, (Contamination, TotalVariation), ("support function", "rows"))
