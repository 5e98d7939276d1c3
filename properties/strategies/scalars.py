"""Discounts, radii, and the levels that costs, values and features are drawn from."""

from collections.abc import Iterable

from hypothesis import strategies as st

from robust_core import validate

MAX_GAMMA = 1.0 - 2.0**-10
_TINY = 2.0**-20
_SIXTEENTHS = tuple(k / n for n in (2, 4, 8, 16) for k in range(1, n, 2))
_DECIMALS = (0.1, 0.9, 1 / 3, 2 / 3, 0.95, 0.99, 0.999)
_POWERS = tuple(2.0**e for e in (1, 2, 3, 10, -10, 20, -20, 30, -30, 40, 60, 100))


def gammas(*, min_gamma: float = 0.0, max_gamma: float = MAX_GAMMA, dyadic: bool = True) -> st.SearchStrategy[float]:
    """Discounts in [min_gamma, max_gamma], with both ends, shrinking to 0 where that is allowed.

    >>> from properties.strategies import minimal
    >>> minimal(gammas(), lambda gamma: gamma > 0.0), minimal(gammas(min_gamma=0.9), lambda gamma: True)
    (0.5, 0.9375)
    """
    low, high = validate.discount("min_gamma", min_gamma), validate.discount("max_gamma", max_gamma)
    near_one = tuple(1.0 - 2.0**-e for e in (5, 6, 7, 10))
    candidates = (0.0, *_SIXTEENTHS, *near_one, *(() if dyadic else _DECIMALS))
    # Horizon matters more than anything else in a discount: half of the draws are long.
    return st.sampled_from(_within("gamma", candidates, low, high, frequent=(0.0, 0.5, 0.875, *near_one, high)))


def radii(*, min_radius: float = 0.0, max_radius: float = 1.0, dyadic: bool = True) -> st.SearchStrategy[float]:
    """Radii R in [min_radius, max_radius], with both ends and their neighbours, shrinking to 0 where allowed.

    >>> from properties.strategies import minimal
    >>> minimal(radii(), lambda radius: True), minimal(radii(), lambda radius: 0.0 < radius < 0.5)
    (0.0, 0.25)
    """
    low, high = (
        validate.unit_interval("min_radius", min_radius),
        validate.unit_interval("max_radius", max_radius),
    )
    near = (_TINY, 1.0 - _TINY)
    candidates = (0.0, 1.0, *_SIXTEENTHS, *near, *(() if dyadic else _DECIMALS))
    return st.sampled_from(_within("radius", candidates, low, high, frequent=(low, high, 0.5, *near)))


def levels(name: str, bounds: tuple[float, float]) -> tuple[float, ...]:
    """Numbers of all scales in [low, high], simplest first, the commonest repeated at the end.

    >>> levels("cost_range", (0.0, 1.0))[:5], levels("cost_range", (-4.0, 0.0))[:4]
    ((1.0, 0.5, 0.25, 0.75, 0.125), (-1.0, -0.5, -0.25, -0.75))
    """
    low, high = _ordered(name, bounds)
    positive = (1.0, *_SIXTEENTHS, *_POWERS, 1.0 - _TINY)
    signed = [sign * x for x in positive for sign in (1.0, -1.0)]
    inside = [min(max(low + (high - low) * x, low), high) for x in _SIXTEENTHS]
    # `resting` is what an entry is without an override: as a level it would be a lost draw.
    levels = [x for x in _within(name, (*signed, high, low, *inside), low, high) if x != resting(bounds)]
    return tuple(levels) + tuple(levels[:3]) * 4 or (low,)


def resting(bounds: tuple[float, float]) -> float:
    """The number in [low, high] nearest to 0: the entry that nobody has overridden."""
    return min(max(0.0, bounds[0]), bounds[1]) + 0.0


def _ordered(name: str, bounds: tuple[float, float]) -> tuple[float, float]:
    low, high = (validate.real(name, bound) for bound in bounds)
    if low > high:
        raise ValueError(f"{name} must be (low, high) with low <= high, got {bounds}")
    return low, high


def _within(
    name: str, candidates: Iterable[float], low: float, high: float, *, frequent: Iterable[float] = ()
) -> tuple[float, ...]:
    """The candidates in [low, high] without repetition, the bounds, then the frequent ones again."""
    if low > high:
        raise ValueError(f"{name} bounds must satisfy low <= high, got {low} > {high}")
    once = dict.fromkeys(x for x in (*candidates, low, high) if low <= x <= high)
    return (*once, *(x for x in frequent if low <= x <= high))
