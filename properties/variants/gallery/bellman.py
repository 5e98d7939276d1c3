"""The robust Bellman operator of the core."""

from robust_core import Contamination, TotalVariation, Variant, bellman

VARIANT = Variant(
    "robust Bellman operator", "operator", bellman, (Contamination, TotalVariation), ("bellman", "radii per pair")
)
