"""'Vanilla TDC may diverge (Fig. 3(c)), while robust TDC still converges': judged from the counts of diverged runs.

The shares of runs that diverge get intervals that hold together at 99.9 %. With them,

    reproduced       vanilla's interval lies above robust's, and no robust run diverged
    direction only   vanilla's interval lies above robust's
    reversed         robust's interval lies above vanilla's
    not reproduced   otherwise

A run has diverged when the squared gradient of its last theta exceeds a million.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.experiments.outcome import LEVEL, Outcome

LEARNERS = ("vanilla", "robust")
CLAIMED_FOR = "tdc-c"


@dataclass(frozen=True)
class Divergence:
    """How many of the runs diverged, the intervals of their shares, and the outcome of the claim."""

    runs: int
    diverged: dict[str, int]
    intervals: dict[str, tuple[float, float]]
    outcome: Outcome


def judge_divergence(diverged: Mapping[str, int], runs: int) -> Divergence:
    """The claim that vanilla TDC may diverge while robust TDC still converges, by the number of diverged runs.

    >>> judge_divergence({"robust": 0, "vanilla": 60, "shorter horizon": 0}, runs=100).outcome
    'reproduced'
    """
    from properties.statistics.intervals import proportion

    counts = {learner: diverged[learner] for learner in LEARNERS}
    shares = {learner: proportion(count, runs, alpha=(1.0 - LEVEL) / 2) for learner, count in counts.items()}
    intervals = {learner: (share.lower, share.upper) for learner, share in shares.items()}
    vanilla_above = intervals["vanilla"][0] - intervals["robust"][1]
    robust_above = intervals["robust"][0] - intervals["vanilla"][1]
    return Divergence(runs, counts, intervals, _outcome(counts["robust"], vanilla_above, robust_above))


def _outcome(robust_diverged: int, vanilla_above: float, robust_above: float) -> Outcome:
    if vanilla_above > 0.0:
        return "direction only" if robust_diverged else "reproduced"
    return "reversed" if robust_above > 0.0 else "not reproduced"
