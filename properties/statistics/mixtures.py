"""E-processes: evidence against a null hypothesis that stays valid whenever one looks at it.

A factor f_λ(x) with E[f_λ(X) | past] <= 1 under the null makes E_λ = Π f_λ(x_i) a non-negative supermartingale; so
is its mixture over a finite grid of λ with prior weights w_j, and Ville's inequality gives, under the null,

    P(sup_n E_n >= 1/alpha) <= alpha,     log E = logsumexp_j(log w_j + S_j),     S_j = Σ_i log f_{λ_j}(x_i).

What a process keeps of its data, the *statistic*, is additive, so shards merge by adding. Every grid has the same
shape (`MULTIPLES` of the design λ, half of the weight on the design itself), so evidence from independent cells can
be multiplied point by point before it is mixed (`budget.gate`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from robust_core import validate
from robust_core.validate import EPS, Floats

MULTIPLES = (1.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
"""The grid of λ in units of the design λ; the first entry is the design and has half of the weight."""
WEIGHTS = (0.5, *[0.5 / (len(MULTIPLES) - 1)] * (len(MULTIPLES) - 1))
LOG_WEIGHTS: Floats = np.log(WEIGHTS)
NEAR_RUIN = 0.9
"""No λ above this share of the largest that keeps every factor non-negative: one sample must not ruin a bet."""


class Process(Protocol):
    """Evidence against one null; `size` is the length of its additive statistic."""

    @property
    def size(self) -> int:
        """The length of the statistic."""

    def statistic(self, x: Floats) -> Floats:
        """What is kept of the samples x; the statistic of a union is the sum."""

    def log_e(self, statistic: Floats) -> float:
        """log E."""


class Mixture(Process, Protocol):
    """A process with evidence for every point of the common grid."""

    def log_factors(self, statistic: Floats) -> Floats:
        """S_j, one entry per grid point."""


def log_mixture(log_factors: Floats) -> float:
    """log Σ_j w_j exp(S_j).

    The weights sum to one, within a rounding for each:

    >>> abs(log_mixture(np.zeros(len(WEIGHTS)))) <= len(WEIGHTS) * 2.0**-52
    True
    """
    terms = log_factors + LOG_WEIGHTS
    top = float(terms.max())
    if math.isinf(top):
        return top
    return min(top + math.log(math.fsum(math.exp(term - top) for term in terms.tolist())), math.inf)


def grid(design: float, ruin: float) -> tuple[float, ...]:
    """The grid of a design λ, kept below the λ at which a factor could vanish."""
    validate.positive("design", design)
    return tuple(min(multiple * design, NEAR_RUIN * ruin) for multiple in MULTIPLES)


def _column_sums(terms: Floats) -> Floats:
    """Exactly rounded sums: they do not depend on the order of the samples."""
    return np.array([math.fsum(column) for column in terms.T.tolist()])


@dataclass(frozen=True)
class Mean:
    """f = 1 + side·λ(x − m): side +1 against E[X | past] <= m (x >= bound), −1 against E[X | past] >= m (x <= bound).

    No variance, no law of X is assumed; only the one bound on the side of the loss, which is part of the null: a sample
    beyond it (or NaN) has probability 0 under the null, so it is infinite evidence. Nothing is cut.

    >>> process = Mean.above(0.5, bound=0.0, design=1.0)
    >>> abs(process.log_e(process.statistic(np.full(64, 0.5)))) <= len(WEIGHTS) * 2.0**-52  # nothing is won
    True
    """

    m: float
    bound: float
    side: int
    lambdas: tuple[float, ...]

    @classmethod
    def above(cls, m: float, *, bound: float, design: float) -> "Mean":
        """Evidence that the mean is above m, for samples that are never below `bound` < m."""
        return cls(m, bound, 1, grid(design, 1.0 / _gap("bound", m - bound)))

    @classmethod
    def below(cls, m: float, *, bound: float, design: float) -> "Mean":
        """Evidence that the mean is below m, for samples that are never above `bound` > m."""
        return cls(m, bound, -1, grid(design, 1.0 / _gap("bound", bound - m)))

    @property
    def size(self) -> int:
        """One sum per grid point."""
        return len(self.lambdas)

    def statistic(self, x: Floats) -> Floats:
        """Σ log f for every λ."""
        samples = np.ravel(x)
        if not (self.side * (samples - self.bound) >= 0.0).all():
            return np.full(self.size, np.inf)
        return _column_sums(np.log1p(self.side * np.outer(samples - self.m, self.lambdas)))

    def log_factors(self, statistic: Floats) -> Floats:
        """S_j."""
        return statistic

    def log_e(self, statistic: Floats) -> float:
        """log E."""
        return log_mixture(statistic)


@dataclass(frozen=True)
class Bernoulli:
    """Zeros and ones; side +1 against P(1 | past) <= q, −1 against P(1 | past) >= q. The statistic is (n, ones).

    The design λ of `versus` makes f the likelihood ratio of the other success probability to q. At the edges of [0, 1]
    the null has no chance in it: a single 1 against P(1) <= 0, or a single 0 against P(1) >= 1, is infinite evidence.

    >>> process = Bernoulli.versus(0.5, 0.75)
    >>> process.statistic(np.array([1.0, 1.0, 0.0]))
    array([3., 2.])
    """

    q: float
    side: int
    lambdas: tuple[float, ...]

    @classmethod
    def versus(cls, q: float, other: float) -> "Bernoulli":
        """Against q as the bound of the null, designed for the alternative `other`."""
        if not (0.0 <= q <= 1.0 and 0.0 <= other <= 1.0 and q != other):
            raise ValueError(f"q and other must lie in [0, 1] and differ, got {q} and {other}")
        side = 1 if other > q else -1
        if q in (0.0, 1.0):
            return cls(q, side, (math.inf,) * len(MULTIPLES))
        ruin = 1.0 / q if side > 0 else 1.0 / (1.0 - q)
        return cls(q, side, grid(abs(other - q) / (q * (1.0 - q)), ruin))

    @property
    def size(self) -> int:
        """(n, ones)."""
        return 2

    def statistic(self, x: Floats) -> Floats:
        """(n, ones)."""
        samples = np.ravel(x)
        if not np.isin(samples, (0.0, 1.0)).all():
            raise ValueError("samples must be 0 or 1")
        return np.array([samples.size, samples.sum()])

    def log_factors(self, statistic: Floats) -> Floats:
        """S_j = ones·log(1 + λ(1−q)) + zeros·log(1 − λq), with the sign of the side."""
        n, ones = statistic
        if self.q in (0.0, 1.0):
            impossible = ones if self.side > 0 else n - ones
            return np.full(len(self.lambdas), math.inf if impossible else 0.0)
        bets = self.side * np.array(self.lambdas)
        return np.asarray(ones * np.log1p(bets * (1.0 - self.q)) + (n - ones) * np.log1p(-bets * self.q))

    def log_e(self, statistic: Floats) -> float:
        """log E."""
        return log_mixture(self.log_factors(statistic))


@dataclass(frozen=True)
class SoftSign:
    """f = 2/(1 + exp(−2λ·side·(x − shift))) = 1 + tanh(λ·side·(x − shift)): no bounds, no moments.

    Null: x − shift is symmetric about 0, or stochastically smaller than a symmetric variable (side +1; larger for
    −1). That is not "mean 0" and not "median 0".

    >>> process = SoftSign.versus(0.0, effect=1.0)
    >>> abs(process.log_e(process.statistic(np.array([1.0, -1.0])))) < 1.0
    True
    """

    shift: float
    side: int
    lambdas: tuple[float, ...]

    @classmethod
    def versus(cls, shift: float, *, effect: float, side: int = 1) -> "SoftSign":
        """Designed for a normal x of variance 1 with mean shift + side·effect: then f is a likelihood ratio."""
        return cls(shift, side, grid(validate.positive("effect", effect), math.inf))

    @property
    def size(self) -> int:
        """One sum per grid point."""
        return len(self.lambdas)

    def statistic(self, x: Floats) -> Floats:
        """Σ log f for every λ."""
        exponents = -2.0 * self.side * np.outer(np.ravel(x) - self.shift, self.lambdas)
        return _column_sums(math.log(2.0) - np.logaddexp(0.0, exponents))

    def log_factors(self, statistic: Floats) -> Floats:
        """S_j."""
        return statistic

    def log_e(self, statistic: Floats) -> float:
        """log E."""
        return log_mixture(statistic)


@dataclass(frozen=True)
class Categorical:
    """Outcomes 0 … K−1, independent of law p under the null; the statistic is the counts.

    The alternative is a Dirichlet(kappa·p) mixture of laws: E = ∫Π(q/p)dDir, a Dirichlet-multinomial ratio. The grid
    is over kappa: an outcome is off by about √(p(1−p)/kappa). An outcome of probability 0 makes E infinite.

    A single outcome is no evidence: E = 1, up to 4096 roundings. For kappa <= 16 the four lgamma of `_dirichlet` add up
    to 78, and Python holds each to 5e-15, 46 roundings, of its size; sums, logarithms and mixing add less than 400.

    >>> process = Categorical.designed((0.5, 0.5), effect=0.25)
    >>> abs(process.log_e(process.statistic(np.array([0.0])))) <= 4096 * 2.0**-53
    True
    """

    p: tuple[float, ...]
    kappas: tuple[float, ...]

    @classmethod
    def designed(cls, p: Sequence[float], *, effect: float) -> "Categorical":
        """For laws in which some outcome is off by about `effect`."""
        validate.positive("effect", effect)
        spread = max(q * (1.0 - q) for q in _law("p", p))
        # kappa is a concentration, the inverse square of an effect: the largest multiple is the smallest effect.
        return cls(tuple(p), tuple(spread / (multiple * effect**2) for multiple in MULTIPLES))

    @property
    def size(self) -> int:
        """One count per outcome."""
        return len(self.p)

    def statistic(self, x: Floats) -> Floats:
        """The counts."""
        return _counts(x, len(self.p))

    def log_factors(self, statistic: Floats) -> Floats:
        """The log ratio of the Dirichlet-multinomial law to p, for every kappa."""
        p = np.array(self.p)
        if statistic[p == 0.0].any():
            return np.full(len(self.kappas), np.inf)
        seen = [(count, q) for count, q in zip(statistic.tolist(), self.p, strict=True) if count]
        return np.array([_dirichlet(seen, kappa) for kappa in self.kappas])

    def log_e(self, statistic: Floats) -> float:
        """log E."""
        return log_mixture(self.log_factors(statistic))


def _dirichlet(seen: list[tuple[float, float]], kappa: float) -> float:
    n = math.fsum(count for count, _ in seen)
    ratios = (math.lgamma(kappa * q + count) - math.lgamma(kappa * q) - count * math.log(q) for count, q in seen)
    return math.fsum(ratios) - math.lgamma(kappa + n) + math.lgamma(kappa)


def _law(name: str, p: Sequence[float]) -> Sequence[float]:
    """Refuse what is no law with at least two outcomes.

    The sum may be off by the rounding of a product of two rows of a kernel, each of which may be off by its own.
    """
    entries = validate.array(name, p, shape=(None,))
    if not ((entries >= 0.0) & (entries < 1.0)).all():
        worst = entries[~((entries >= 0.0) & (entries < 1.0))][0]
        raise ValueError(f"{name} must have entries in [0, 1), more than one of them positive, got {worst}")
    total = math.fsum(entries)
    if abs(total - 1.0) > 2.0 * validate.row_sum_tolerance(np.count_nonzero(entries)):
        raise ValueError(f"{name} must sum to 1, got {total}")
    return p


def _counts(x: Floats, size: int) -> Floats:
    outcomes = np.ravel(x)
    allowed = (outcomes >= 0) & (outcomes < size) & (outcomes == np.floor(outcomes))
    if not allowed.all():
        raise ValueError(f"outcomes must be whole numbers in 0 … {size - 1}, got {outcomes[~allowed][0]}")
    return np.bincount(outcomes.astype(np.int64), minlength=size).astype(np.float64)


def _edges(q: float, effect: float) -> list[float]:
    """The probabilities that are off q by the effect; those beyond 0 and 1 by more than the rounding are not there."""
    return [min(max(edge, 0.0), 1.0) for edge in (q - effect, q + effect) if -EPS <= edge <= 1.0 + EPS]


@dataclass(frozen=True)
class NoOutcomeOff:
    """Against "some outcome is off from p by at least `effect`": the counts in, one Bernoulli process per side.

    The null is a union. Whichever part of it is true, the least of the e-values is at most the e-value of that
    part, so the minimum is an e-value against the union.
    """

    p: tuple[float, ...]
    effect: float

    def __post_init__(self) -> None:
        _law("p", self.p)
        validate.positive("effect", self.effect)

    @property
    def size(self) -> int:
        """One count per outcome."""
        return len(self.p)

    def statistic(self, x: Floats) -> Floats:
        """The counts."""
        return _counts(x, len(self.p))

    def log_e(self, statistic: Floats) -> float:
        """The least log E over outcomes and sides."""
        n = float(statistic.sum())
        evidence = [
            Bernoulli.versus(edge, q).log_e(np.array([n, count]))
            for count, q in zip(statistic.tolist(), self.p, strict=True)
            for edge in _edges(q, self.effect)
        ]
        return min(evidence, default=0.0)


@dataclass(frozen=True)
class Average:
    """The mean of two processes against the same null: evidence on either side (two-sided tests)."""

    first: Mixture
    second: Mixture

    @property
    def size(self) -> int:
        """Both statistics, one after the other."""
        return self.first.size + self.second.size

    def statistic(self, x: Floats) -> Floats:
        """Both statistics."""
        return np.concatenate((self.first.statistic(x), self.second.statistic(x)))

    def log_factors(self, statistic: Floats) -> Floats:
        """The log of the mean at every grid point."""
        first, second = self._parts(statistic)
        return np.logaddexp(self.first.log_factors(first), self.second.log_factors(second)) - math.log(2.0)

    def _parts(self, statistic: Floats) -> tuple[Floats, Floats]:
        return statistic[: self.first.size], statistic[self.first.size :]

    def log_e(self, statistic: Floats) -> float:
        """log E."""
        return log_mixture(self.log_factors(statistic))


@dataclass(frozen=True)
class Minimum:
    """The lesser of two processes: evidence against the union of their nulls."""

    first: Process
    second: Process

    @property
    def size(self) -> int:
        """Both statistics, one after the other."""
        return self.first.size + self.second.size

    def statistic(self, x: Floats) -> Floats:
        """Both statistics."""
        return np.concatenate((self.first.statistic(x), self.second.statistic(x)))

    def log_e(self, statistic: Floats) -> float:
        """The lesser log E."""
        cut = self.first.size
        return min(self.first.log_e(statistic[:cut]), self.second.log_e(statistic[cut:]))


def _gap(name: str, gap: float) -> float:
    if not gap > 0.0:
        raise ValueError(f"{name} must lie on the far side of m, off by {gap}")
    return gap
