"""The statistical laws; `laws()` has them all, each with its negative controls."""

import importlib

from properties.statistics.law import StatisticalLaw

PARTS = ("sampling", "unbiased", "convergence", "finite_time", "speed", "equality", "stationarity")


def laws() -> tuple[StatisticalLaw, ...]:
    """Every statistical law, the cheapest first."""
    return tuple(importlib.import_module(f"{__name__}.{part}").LAW for part in PARTS)
