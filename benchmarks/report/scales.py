"""Axes: from numbers to places on the page, ticks at round numbers, and numbers as words."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

TICKS = 5
"""About how many ticks an axis gets."""
FEWEST = 2
"""A logarithmic axis with fewer powers of ten than this shows what lies between them."""


LARGEST = 1e300
"""Beyond this, and below its inverse on a logarithmic axis, numbers are drawn at the edge."""
UNSEEN = 1e-9
"""A share of a step, of a power or of a number that rounding may add and no reader sees: places have two decimals."""


def number(x: float, digits: int = 4) -> str:
    """A number for a reader: few digits, a true minus, words for NaN and infinity.

    >>> number(-0.25), number(12800), number(1.5e-9), number(float("inf"))
    ('−0.25', '12800', '1.5e−9', '∞')
    """
    if math.isnan(x):
        return "NaN"
    if math.isinf(x):
        return "∞" if x > 0 else "−∞"
    if x == int(x) and abs(x) < 1e7:
        return str(int(x)).replace("-", "−")
    text = f"{x:.{digits}g}"
    mantissa, e, exponent = text.partition("e")
    return (mantissa + (e and f"e{int(exponent)}")).replace("-", "−")


def percent(share: float, digits: int = 3) -> str:
    """A share of one hundred.

    >>> percent(-0.0125)
    '−1.25\\xa0%'
    """
    # The space does not break: the sign belongs to its number.
    return f"{number(float(f'{100.0 * share:.{digits}g}'), digits)}\u00a0%"


def with_sign(text: str) -> str:
    """A number in words with its sign, if it is one that has one.

    >>> with_sign("2 %"), with_sign("−2 %"), with_sign("0")
    ('+2 %', '−2 %', '0')
    """
    return text if text.startswith(("−", "0\u00a0")) or text == "0" else f"+{text}"


def with_interval(x: float, low: float | None, high: float | None, show: Callable[[float], str]) -> str:
    """A number and its interval, all with their signs; an end that is None is infinite.

    >>> with_interval(2.0, -1.0, None, number)
    '+2 [−1, +∞]'
    """
    ends = ("−∞" if low is None else with_sign(show(low)), "+∞" if high is None else with_sign(show(high)))
    return f"{with_sign(show(x))} [{ends[0]}, {ends[1]}]"


def compact(x: float, largest: float | None = None) -> str:
    """A number for an axis, in thousands or millions if the largest number of the axis is.

    >>> compact(12500), compact(600000), compact(0.25), compact(1e-9), compact(1e10)
    ('12.5k', '600k', '0.25', '10⁻⁹', '10¹⁰')
    >>> compact(2500), compact(2500, largest=12500), compact(0, largest=12500)
    ('2500', '2.5k', '0')
    """
    power = math.log10(abs(x)) if x and math.isfinite(x) else 0.0
    if abs(power) > 3 and _is_power(x) and not 3 < power < 7:
        return power_of_ten(x)
    top = abs(x if largest is None else largest)
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if size * (10 if letter == "k" else 1) <= top < 1e3 * size:
            return number(x / size, 3) + letter if x else "0"
    return number(x, 3)


_RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def power_of_ten(x: float) -> str:
    """The power of ten that is nearest to a positive number.

    >>> power_of_ten(0.01), power_of_ten(1.0)
    ('10⁻²', '10⁰')
    """
    return "10" + str(round(math.log10(x))).translate(_RAISED)


def _is_power(x: float) -> bool:
    return x > 0 and math.isfinite(x) and abs(math.log10(x) - round(math.log10(x))) < UNSEEN


@dataclass(frozen=True)
class Scale:
    """A straight or logarithmic map of [low, high] to [start, stop]."""

    low: float
    high: float
    start: float
    stop: float
    logarithmic: bool = False

    def at(self, x: float) -> float:
        """The place of a number, kept within a plot's length beyond the ends (browsers dislike huge coordinates).

        NaN is put at the low end.

        >>> Scale(0.0, 10.0, 0.0, 100.0).at(5.0), Scale(1.0, 100.0, 0.0, 100.0, True).at(10.0)
        (50.0, 50.0)
        """
        low, high, value = (self._straight(number) for number in (self.low, self.high, x))
        share = (value - low) / (high - low) if not math.isnan(value) else 0.0
        return round(self.start + min(max(share, -1.0), 2.0) * (self.stop - self.start), 2)

    def _straight(self, x: float) -> float:
        return math.log10(max(x, self.low * 1e-3)) if self.logarithmic else x

    def ticks(self) -> list[float]:
        """Round numbers inside the range."""
        return _decades(self.low, self.high) if self.logarithmic else _round_steps(self.low, self.high)

    def labels(self) -> list[tuple[float, str]]:
        """The ticks with their texts: powers of ten on a logarithmic axis, unless it is too short for them.

        >>> [text for _, text in Scale(0.5, 2e6, 0.0, 1.0, True).labels()]
        ['10⁰', '10²', '10⁴', '10⁶']
        >>> [text for _, text in Scale(0.5, 6.0, 0.0, 1.0, True).labels()]
        ['0.5', '1', '2', '5']
        """
        ticks = self.ticks()
        powers = self.logarithmic and all(_is_power(tick) for tick in ticks)
        largest = None if self.logarithmic else max(map(abs, ticks), default=None)
        return [(tick, power_of_ten(tick) if powers else compact(tick, largest)) for tick in ticks]


def _round_steps(low: float, high: float) -> list[float]:
    rough = (high - low) / TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = min((factor * power for factor in (1, 2, 2.5, 5, 10)), key=lambda step: abs(step - rough))
    first = math.ceil(low / step - UNSEEN)
    last = math.floor(high / step + UNSEEN)
    return [float(f"{i * step:.10g}") for i in range(first, last + 1)]


def _decades(low: float, high: float) -> list[float]:
    """Powers of ten; where there are few also what lies between."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    stride = max(1, round((last - first) / TICKS))
    found: list[float] = []
    for factors in ((1,), (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 6, 8)):
        powers = range(first - first % stride, last + 1, stride)
        found = [factor * 10.0**power for power in powers for factor in factors]
        found = [x for x in found if low * (1 - UNSEEN) <= x <= high * (1 + UNSEEN)]
        if len(found) >= FEWEST:
            break
    return found


def scale_of(values: Sequence[float], start: float, stop: float, *, logarithmic: bool = False) -> Scale:
    """A scale that shows all finite values, with a little air.

    >>> scale_of([1.0, 1.0], 0.0, 1.0).low
    0.5
    """
    finite = [min(max(x, -LARGEST), LARGEST) for x in values if math.isfinite(x)]
    if logarithmic:
        finite = [max(x, 1.0 / LARGEST) for x in finite if x > 0]
    low, high = (min(finite), max(finite)) if finite else (1.0, 1.0)
    if logarithmic:
        return Scale(low / 1.2, high * 1.2, start, stop, True)
    air = max(0.05 * (high - low) or 0.5 * (abs(low) or 1.0), 1.0 / LARGEST)
    return Scale(low - air, high + air, start, stop)
