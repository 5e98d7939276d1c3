"""The rule, fixed in advance, that turns paired scores into an outcome.

A score is positive if it favours the paper. Its mean gets Student's interval at 99.9 %, so the error probability of
all fifteen panels together is 1.5 %. Let `much` be the size that the paper's words ask for
(0.1 for rewards; the others follow below):

    reproduced       the interval lies at or above `much` (above 0 if the words name no size)
    direction only   the interval lies above 0
    reversed         the interval lies below 0
    not reproduced   otherwise: no difference was found

Student's interval assumes that the mean of the scores is nearly normal. This is checked in two ways. (i) The scores of
every panel are resampled 20,000 times, with replacement, and the share of intervals that miss their mean is recorded;
it should be 0.1 %. (ii) Every claim also has an interval for the *median* of its scores, by order statistics, which
assumes only that runs are independent, and the outcome that the same rule gives with it. The outcome of a panel is that
of the mean; the table shows both. Scores of rewards are bounded, but an interval for the mean that assumes only this
(by betting) is too wide: for the 400 runs of frozenlake-a it is 0.14 wide, nine times as wide as Student's, because it
must allow for a rare score at the end of its range.

The rule was changed once after a first trial. Rewards were first measured from the value of the uniform policy. On Taxi
this value is −20 because of fines, far below doing nothing, so the bottom of the scale is now the better of the uniform
policy and the best constant action. This makes `much` easier to reach; no sign depends on it.

The default interpretation has 400 runs, because Student's interval then has half-width sd/6, which is much/2 for a
standard deviation of 0.3 on a scale of length 1. Taxi has 100: its five hundred states average most of the noise within
a run. The other interpretations have 100, or 30 on Taxi and CartPole; those that are compared with the default
(real-dynamics, gym-reward, drawn-start, fresh-features) have as many as the default. The record contains the interval.
"""

import math
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from robust_core import streams
from robust_core.json import Rule
from robust_core.validate import Floats

Outcome = Literal["reproduced", "direction only", "not reproduced", "reversed"]
OUTCOMES: tuple[Outcome, ...] = ("reversed", "not reproduced", "direction only", "reproduced")

LEVEL = 0.999
MUCH_REWARD = 0.1
"""'Much higher reward': a tenth of the way from no skill (the better of the uniform policy and the best constant
action) to the optimum."""
MUCH_GRADIENT = math.log10(2.0)
"""'Converges much faster': half the squared gradient norm, averaged over the run (scores are log10 ratios)."""
MUCH_SPREAD = 0.5
"""'Much smaller variance': in three quarters of disjoint pairs of runs robust runs differ less from each other."""

LONGEST_TEXT = 200
Text = Annotated[
    str,
    Rule(
        f"a line of 1 to {LONGEST_TEXT} characters", lambda text: text.isprintable() and 0 < len(text) <= LONGEST_TEXT
    ),
]
Count = Annotated[int, Rule("an integer that is not negative", lambda n: 0 <= n < 2**63)]


def require(value: object, wanted: object, name: str, words: str) -> None:
    """Refuse a value that contradicts the rest of its record."""
    if value != wanted:
        raise ValueError(f"{name} must be {words}, {wanted!r}, got {value!r:.80}")


@dataclass(frozen=True)
class Claim:
    """A claim with its effect, intervals, sign counts, and the outcomes that follow from them.

    `interval` is Student's for the mean. `median_interval` assumes nothing; an end may be missing.
    """

    claim: Text
    effect: float
    interval: tuple[float, float]
    much: float
    runs: Count
    in_favour: Count
    even: Count
    against: Count
    outcome: Outcome
    median: float
    median_interval: tuple[float | None, float | None]
    outcome_by_median: Outcome

    def __post_init__(self) -> None:
        require(self.runs, self.in_favour + self.even + self.against, "runs", "in_favour + even + against")
        for estimate, ends, word in (
            ("effect", "interval", "outcome"),
            ("median", "median_interval", "outcome_by_median"),
        ):
            low, high = bounds(getattr(self, ends))
            if not low <= getattr(self, estimate) <= high:
                raise ValueError(
                    f"{ends} must be around the {estimate}, {getattr(self, estimate)!r}, got {low}, {high}"
                )
            follows = outcome(low, high, self.much)
            require(getattr(self, word), follows, word, f"the outcome that the rule gives for the {ends}")


def bounds(ends: tuple[float | None, float | None]) -> tuple[float, float]:
    """The ends of an interval; a missing one is infinite.

    >>> bounds((None, 1.0))
    (-inf, 1.0)
    """
    low, high = ends
    return -math.inf if low is None else low, math.inf if high is None else high


def interval(scores: Floats) -> tuple[float, float]:
    """Student's interval for the mean.

    >>> low, high = interval(np.array([1.0, 1.0, 1.0]))
    >>> low, high
    (1.0, 1.0)
    """
    from scipy.stats import t

    mean = float(scores.mean())
    half = float(t.ppf(0.5 + LEVEL / 2, len(scores) - 1)) * float(scores.std(ddof=1)) / math.sqrt(len(scores))
    return mean - half, mean + half


REDRAWN = 20_000


def misses(scores: Floats) -> float:
    """The share of Student's intervals that miss, when runs are drawn with replacement from these (0.001 is right).

    Of 20,000 such intervals more than 40 miss with probability 3e-5 (Poisson).

    >>> misses(np.sin(np.arange(400.0))) <= 40 / REDRAWN
    True
    """
    from scipy.stats import t

    n, truth = len(scores), float(scores.mean())
    rng = streams.numpy_generator(streams.key("misses", scores.tolist()))
    quantile = float(t.ppf(0.5 + LEVEL / 2, n - 1))
    missed = 0
    for _ in range(REDRAWN // CHUNK):
        drawn = scores[rng.integers(0, n, (CHUNK, n))]
        half = quantile * drawn.std(axis=1, ddof=1) / math.sqrt(n)
        missed += int((abs(drawn.mean(axis=1) - truth) > half).sum())
    return missed / REDRAWN


CHUNK = 1_000
"""Draws that are held in memory at a time."""


def median_interval(scores: Floats) -> tuple[float | None, float | None]:
    """The distribution-free interval for the median (None: no bound).

    >>> median_interval(np.arange(1.0, 100.0))
    (29.0, 71.0)
    """
    rank = lowest_rank(len(scores))
    if rank is None:
        return None, None
    ordered = np.sort(scores)
    return float(ordered[rank]), float(ordered[len(ordered) - 1 - rank])


def lowest_rank(n: int) -> int | None:
    """The rank (from 0) of the lower end among n ordered scores: the last that the sign test rejects; None if none is.

    The test is that of `properties.statistics.intervals.median` (a test compares the two), written out because a
    record is dated by all code that it can reach, and no check should be part of that.

    >>> lowest_rank(400), lowest_rank(5)
    (156, None)
    """

    def evidence(k: int) -> float:
        """log of the uniform mixture of binomial laws of k against Bin(n, ½)."""
        return math.lgamma(k + 1.0) + math.lgamma(n - k + 1.0) - math.lgamma(n + 2.0) + n * math.log(2.0)

    return max((k for k in range(n // 2 + 1) if evidence(k) >= -math.log(1.0 - LEVEL)), default=None)


def outcome(low: float, high: float, much: float) -> Outcome:
    """The rule.

    >>> outcome(0.2, 0.3, 0.1), outcome(0.02, 0.3, 0.1), outcome(-0.1, 0.1, 0.1), outcome(-0.2, -0.1, 0.1)
    ('reproduced', 'direction only', 'not reproduced', 'reversed')
    """
    if low > 0.0:
        return "reproduced" if low >= much else "direction only"
    return "reversed" if high < 0.0 else "not reproduced"


def judge(claim: str, scores: Floats, much: float) -> Claim:
    """A claim with its effect, intervals, sign counts and outcomes.

    >>> judge("it is positive", np.arange(1.0, 100.0), 0.0).outcome_by_median
    'reproduced'
    """
    low, high = interval(scores)
    ends = median_interval(scores)
    return Claim(
        claim=claim,
        effect=float(scores.mean()),
        interval=(low, high),
        much=much,
        runs=len(scores),
        in_favour=int((scores > 0).sum()),
        even=int((scores == 0).sum()),
        against=int((scores < 0).sum()),
        outcome=outcome(low, high, much),
        median=float(np.median(scores)),
        median_interval=ends,
        outcome_by_median=outcome(*bounds(ends), much),
    )


def spread_scores(robust: Floats, other: Floats) -> Floats:
    """For disjoint pairs of runs: 1 where the other's two differ more than robust's two, −1 where less, 0 if even.

    No moments are needed, so heavy tails and divergence do no harm; infinite differences count as equal.

    >>> spread_scores(np.array([1.0, 1.0, 0.0, 3.0]), np.array([0.0, 2.0, 0.0, 1.0]))
    array([ 1., -1.])
    """
    n = len(robust) // 2 * 2
    with np.errstate(invalid="ignore"):
        gaps = [np.nan_to_num(np.abs(x[:n:2] - x[1:n:2]), nan=np.inf, posinf=np.inf) for x in (robust, other)]
        return np.where(gaps[0] == gaps[1], 0.0, np.sign(np.where(gaps[1] > gaps[0], 1.0, -1.0)))
