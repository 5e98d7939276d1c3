"""'Vanilla TDC may diverge (Fig. 3(c)), while robust TDC still converges': judged from the counts of diverged runs.

The shares of runs that diverge get intervals that hold together at 99.9 %. With them,

    reproduced       vanilla's interval lies above robust's, and no robust run diverged
    direction only   vanilla's interval lies above robust's
    reversed         robust's interval lies above vanilla's
    not reproduced   otherwise

A run has diverged when the squared gradient of its last theta exceeds a million.
"""

from typing import Any

from benchmarks.experiments.outcome import LEVEL, Outcome

LEARNERS = ("vanilla", "robust")
CLAIMED_FOR = "tdc-c"


def judged_divergence(record: dict[str, Any]) -> dict[str, Any]:
    """The claim on a record of TDC: runs, how many diverged, the intervals of their shares, the outcome.

    >>> record = {"claims": [{"runs": 100}], "diverged": {"robust": 0, "vanilla": 60, "shorter horizon": 0}}
    >>> judged_divergence(record)["outcome"]
    'reproduced'
    """
    from properties.statistics.intervals import proportion

    runs = record["claims"][0]["runs"]
    shares = {learner: proportion(record["diverged"][learner], runs, alpha=(1.0 - LEVEL) / 2) for learner in LEARNERS}
    return {
        "claim": "vanilla TDC may diverge while robust TDC still converges",
        "runs": runs,
        "diverged": {learner: record["diverged"][learner] for learner in LEARNERS},
        "intervals": {learner: [share.lower, share.upper] for learner, share in shares.items()},
        "outcome": _outcome(record["diverged"]["robust"], shares["vanilla"].lower - shares["robust"].upper,
                            shares["robust"].lower - shares["vanilla"].upper),
    }  # fmt: skip


def _outcome(robust_diverged: int, vanilla_above: float, robust_above: float) -> Outcome:
    if vanilla_above > 0.0:
        return "direction only" if robust_diverged else "reproduced"
    return "reversed" if robust_above > 0.0 else "not reproduced"
