"""The statistical laws; `laws()` has them all, each with its negative controls."""

from properties.statistics.law import StatisticalLaw


def laws() -> tuple[StatisticalLaw, ...]:
    """Every statistical law, the cheapest first."""
    from properties.statistics.laws import (
        convergence,
        equality,
        finite_time,
        known_limit,
        sampling,
        speed,
        stationarity,
        unbiased,
    )

    modules = (sampling, unbiased, convergence, finite_time, speed, equality)
    return (*(module.LAW for module in modules), *known_limit.LAWS, stationarity.LAW)
