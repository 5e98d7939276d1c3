"""Where the centre of paired differences lies: an interval that assumes symmetry and nothing else.

Under "nothing changed" the two values of a seed are exchangeable, so their difference d is symmetric about 0,
whatever the law of the values and however they are correlated. With F_θ(x) = 1 + tanh(λ(x−θ)) the product over
the seeds has mean at most 1 if d − θ is symmetric, or stochastically smaller than symmetric; so has its average over
a grid of λ. By Markov's inequality it exceeds 1/alpha with probability at most alpha. The interval holds the θ that
are rejected from neither side; its ends are monotone in every difference, infinite ones included.
"""

import math
from dataclasses import dataclass

import numpy as np

from robust_core.validate import Floats

EXPONENTS: Floats = np.ldexp(1.0, np.arange(-8, 9))
"""λ in units of 1/margin: a factor of two apart, the best is within 11 % of the ideal λ in evidence."""
_BISECTIONS = 40
_DOUBLINGS = 64
_NODES = 48


@dataclass(frozen=True)
class Centre:
    """lower <= centre <= upper except with probability alpha; the estimate is that of Hodges and Lehmann."""

    lower: float
    estimate: float
    upper: float


def centre(differences: Floats, *, margin: float, alpha: float) -> Centre:
    """The interval for the centre of symmetry, alpha/2 on each side; `margin` is the scale of interest.

    >>> found = centre(np.full(64, 0.5), margin=1.0, alpha=1e-6)
    >>> 0.45 < found.lower < found.estimate == 0.5 < found.upper < 0.55
    True
    >>> centre(np.zeros(64), margin=1.0, alpha=1e-6)
    Centre(lower=0.0, estimate=0.0, upper=0.0)
    """
    d = np.ravel(differences)
    if not d.any():
        # The same bits: there is no difference to estimate.
        return Centre(0.0, 0.0, 0.0)
    lambdas, level = EXPONENTS / margin, -math.log(alpha / 2.0)
    lower = _end(d, lambdas, level, margin)
    upper = -_end(-d, lambdas, level, margin)
    return Centre(lower, hodges_lehmann(d), upper)


def log_evidence(d: Floats, theta: float, lambdas: Floats) -> float:
    """log of the average over λ of Π 2/(1 + exp(−2λ(d−θ))): evidence that the centre lies above θ."""
    sums = d.size * math.log(2.0) - np.logaddexp(0.0, -2.0 * np.outer(lambdas, d - theta)).sum(axis=1)
    return float(np.logaddexp.reduce(sums)) - math.log(lambdas.size)


def _end(d: Floats, lambdas: Floats, level: float, margin: float) -> float:
    """The largest θ that is rejected from above, rounded down; −inf if none is."""
    finite = d[np.isfinite(d)]
    top = float(finite.max(initial=0.0)) + margin
    if log_evidence(d, top + 2.0**_DOUBLINGS * margin, lambdas) >= level:
        return math.inf  # enough of the differences are infinite
    step, bottom = margin, float(finite.min(initial=0.0))
    for _ in range(_DOUBLINGS):
        if log_evidence(d, bottom, lambdas) >= level:
            break
        bottom, step = bottom - step, 2.0 * step
    else:
        return -math.inf
    for _ in range(_BISECTIONS):
        middle = (bottom + top) / 2.0
        if middle in (bottom, top):
            break
        if log_evidence(d, middle, lambdas) >= level:
            bottom = middle
        else:
            top = middle
    return bottom


BETS: Floats = np.array([0.9, 0.7, *np.ldexp(1.0, -np.arange(1, 8))])
"""The shares of its capital that a bet on a mean risks."""


def mean_between(d: Floats, *, alpha: float) -> Centre:
    """The interval for the mean of numbers of −1, 0 and 1, alpha/2 on each side, whenever one looks.

    With c in BETS the product of 1 − c + c (1 + d)/(1 + θ) is a bet that the mean is above θ: it is never negative and
    has mean at most 1 if it is not. It falls in θ, so the θ that are rejected are those below the end of an interval.

    >>> found = mean_between(np.repeat([1.0, 0.0], [60, 140]), alpha=1e-6)
    >>> 0.1 < found.lower < found.estimate == 0.3 < found.upper < 0.6
    True
    """
    level = -math.log(alpha / 2.0) + math.log(BETS.size)

    def end(counts: Floats) -> float:
        low, high = -1.0, 1.0
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2.0
            factors = 1.0 - BETS[:, None] + BETS[:, None] * np.arange(3.0) / (1.0 + middle)
            rejected = float(np.logaddexp.reduce(np.log(factors) @ counts)) >= level
            low, high = (middle, high) if rejected else (low, middle)
        return low

    counts = np.array([(d == x).sum() for x in (-1.0, 0.0, 1.0)], dtype=np.float64)
    return Centre(end(counts), float(d.mean()) if d.size else 0.0, -end(counts[::-1]))


def hodges_lehmann(d: Floats) -> float:
    """The median of the means of all pairs: the centre of a symmetric law, little moved by single values.

    >>> hodges_lehmann(np.array([0.0, 1.0, 2.0, 1000.0]))
    1.75
    """
    finite = np.clip(d, -_LARGE, _LARGE)
    if finite.size > _FEW:
        return _by_counting(np.sort(finite))
    first, second = np.triu_indices(finite.size)
    middle = float(np.median((finite[first] + finite[second]) / 2.0))
    return middle if abs(middle) < _LARGE / 2.0 else math.copysign(math.inf, middle)


def _by_counting(x: Floats) -> float:
    """The same for many values, by bisection: sums of pairs up to a bound are counted without listing them."""
    n = x.size
    low, high = float(x[0]), float(x[-1])
    for _ in range(2 * _BISECTIONS):
        middle = low / 2.0 + high / 2.0
        if middle in (low, high):
            break
        # Pairs i <= j with x_i + x_j <= 2 middle.
        others = np.searchsorted(x, 2.0 * middle - x, side="right")
        below = int(np.maximum(others - np.arange(n), 0).sum())
        low, high = (low, middle) if 2 * below >= n * (n + 1) // 2 else (middle, high)
    return high if abs(high) < _LARGE / 2.0 else math.copysign(math.inf, high)


_FEW = 1024
"""Values of which all pairs are listed."""
_LARGE = 2.0**1000
"""Stands for an infinite difference, so that the mean of two opposite ones is a number."""


def detectable(spread: float, n: int, *, margin: float, alpha: float, power: float) -> float:
    """The shift that n normal differences of standard deviation `spread` tell from 0 with probability `power`, about.

    For every λ the evidence is a sum of n independent terms, nearly normal: its quantile must reach log(2/alpha) and
    pay for the grid. The least shift for which some λ does is found by bisection.
    """
    from scipy.special import ndtri

    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    weights = weights / weights.sum()
    level = -math.log(alpha / 2.0) + math.log(EXPONENTS.size)
    if n * math.log(2.0) <= level or not math.isfinite(spread):
        return math.inf
    z = float(ndtri(power))

    def found(shift: float) -> bool:
        terms = math.log(2.0) - np.logaddexp(0.0, -2.0 * np.outer(EXPONENTS / margin, shift + spread * nodes))
        means = terms @ weights
        deviations = np.sqrt(np.maximum(terms**2 @ weights - means**2, 0.0))
        return bool((n * means - z * math.sqrt(n) * deviations >= level).any())

    low, high = 0.0, margin + spread
    while not found(high):
        low, high = high, 2.0 * high
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2.0
        low, high = (low, middle) if found(middle) else (middle, high)
    return high
