"""Confidence sequences: intervals that cover the truth at all sample sizes at once, with probability 1 − alpha.

Each is the set of parameter values that an e-process does not reject, so it may be read whenever one likes. The one
exception, for a number of samples that was fixed beforehand, says so.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from properties.statistics.mixtures import WEIGHTS
from properties.statistics.records import ALPHA, Interval
from properties.statistics.sequential import probability
from robust_core import validate
from robust_core.validate import Floats

_BISECTIONS = 60


def _beta_log_e(ones: float, n: float, q: float) -> float:
    """log of the uniform mixture over alternatives: E = B(1+ones, 1+zeros)/(q^ones (1−q)^zeros)."""
    zeros = n - ones
    log_marginal = math.lgamma(ones + 1.0) + math.lgamma(zeros + 1.0) - math.lgamma(n + 2.0)
    log_null = (ones * math.log(q) if ones else 0.0) + (zeros * math.log1p(-q) if zeros else 0.0)
    return log_marginal - log_null


def proportion(ones: int, n: int, *, alpha: float = ALPHA) -> Interval:
    """The success probability of Bernoulli samples.

    >>> 0.5 in proportion(50, 100), 0.9 in proportion(50, 100)
    (True, False)
    """
    validate.count("n", n)
    if validate.count("ones", ones) > n:
        raise ValueError(f"ones must be at most n = {n}, got {ones}")
    probability("alpha", alpha)
    if n == 0:
        return Interval(0.0, 0.5, 1.0, alpha)
    estimate, level = ones / n, -math.log(alpha)

    def inside(q: float) -> bool:
        return _beta_log_e(ones, n, q) < level

    return Interval(
        0.0 if ones == 0 else _edge(inside, estimate, 0.0),
        estimate,
        1.0 if ones == n else _edge(inside, estimate, 1.0),
        alpha,
    )


def clopper_pearson(ones: int, n: int, *, alpha: float = ALPHA) -> Interval:
    """The success probability of Bernoulli samples whose number n does not depend on them; narrower than `proportion`.

    The values that neither tail of the binomial law rejects at alpha/2: P(Bin(n, lower) >= ones) = alpha/2 and
    P(Bin(n, upper) <= ones) = alpha/2 (Clopper and Pearson, 1934).

    >>> print(clopper_pearson(100, 100))
    1 [0.927, 1]
    """
    from scipy.stats import beta

    validate.count("n", n, least=1)
    if validate.count("ones", ones) > n:
        raise ValueError(f"ones must be at most n = {n}, got {ones}")
    tail = probability("alpha", alpha) / 2.0
    lower = 0.0 if ones == 0 else float(beta.ppf(tail, ones, n - ones + 1))
    upper = 1.0 if ones == n else float(beta.isf(tail, ones + 1, n - ones))
    return Interval(lower, ones / n, upper, alpha)


def _edge(inside: Callable[[float], bool], middle: float, end: float) -> float:
    """Where `inside` stops being true between the middle and an end; the outer point of the last bisection."""
    good, bad = middle, end
    for _ in range(_BISECTIONS):
        trial = (good + bad) / 2.0
        if trial in (good, bad):
            break
        if inside(trial):
            good = trial
        else:
            bad = trial
    return bad


def median(x: ArrayLike, *, alpha: float = ALPHA) -> Interval:
    """The median of independent samples of a law without atoms: order statistics that the sign test keeps.

    >>> median(np.arange(101.0)).estimate
    50.0
    """
    probability("alpha", alpha)
    samples = np.sort(np.ravel(x))
    n, level = samples.size, -math.log(alpha)
    # With the true median, the number of samples below it is Bin(n, ½): a rank k that is rejected is too low.
    rejected = [k for k in range(n // 2 + 1) if _beta_log_e(k, n, 0.5) >= level]
    if not rejected:
        return Interval(-math.inf, float(np.median(samples)) if n else math.nan, math.inf, alpha)
    k = max(rejected)
    return Interval(float(samples[k]), float(np.median(samples)), float(samples[n - 1 - k]), alpha)


def mean(x: ArrayLike, *, low: float, high: float, alpha: float = ALPHA) -> Interval:
    """The mean of independent samples in [low, high], by betting: half of alpha on either side.

    >>> interval = mean(np.tile([0.0, 1.0], 500), low=0.0, high=1.0)
    >>> 0.5 in interval, 0.4 in interval
    (True, False)
    """
    probability("alpha", alpha)
    if not validate.real("low", low) < validate.real("high", high):
        raise ValueError(f"low must lie below high = {high}, got {low}")
    samples = np.ravel(x)
    if not samples.size:
        raise ValueError("x must have at least one sample, got none")
    inside = (samples >= low) & (samples <= high)
    if not inside.all():
        raise ValueError(f"x must lie in [low, high] = [{low}, {high}], got {samples[~inside][0]}")
    estimate = float(samples.mean())
    level = -math.log(alpha / 2.0)
    lower = _edge(lambda m: _bet(samples, m, low, high, 1.0) < level, estimate, low)
    upper = _edge(lambda m: _bet(samples, m, low, high, -1.0) < level, estimate, high)
    return Interval(lower, estimate, upper, alpha)


_SCALES = 0.9 * 0.5 ** np.arange(len(WEIGHTS) * 2)


def _bet(samples: Floats, m: float, low: float, high: float, side: float) -> float:
    """log of the uniform mixture over λ = 0.9·2^{−j}/(high − low), which is fair for every m in [low, high]."""
    bets = side * _SCALES / (high - low)
    terms = np.log1p(np.outer(samples - m, bets)).sum(axis=0) - math.log(_SCALES.size)
    return float(np.logaddexp.reduce(terms))
