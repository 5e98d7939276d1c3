"""The algorithms that are measured, by name; an injected defect replaces the factory and leaves the name."""

from dataclasses import dataclass
from functools import partial
from typing import Literal

from benchmarks.regression.defects import DEFECTS, Factory
from properties.cases.benchmark_problems import BenchmarkProblem, Learned
from robust_core import EXPECTED_SARSA, Q_LEARNING, SARSA, TD0, LinearLearner, TabularLearner


@dataclass(frozen=True)
class Algorithm:
    """A learner, what it converges to, and whether it is told the radius (otherwise 0: the vanilla form)."""

    name: str
    learns: Learned | Literal["theta"]
    make: Factory
    robust: bool = True

    def radius(self, radius: float) -> float:
        """The radius it is told."""
        return radius if self.robust else 0.0


_ALGORITHMS = (
    Algorithm("robust Q-learning", "Q*", partial(TabularLearner, Q_LEARNING)),
    Algorithm("vanilla Q-learning", "Q*", partial(TabularLearner, Q_LEARNING), robust=False),
    Algorithm("robust SARSA", "Q", partial(TabularLearner, SARSA)),
    Algorithm("robust expected SARSA", "Q", partial(TabularLearner, EXPECTED_SARSA)),
    Algorithm("robust TD(0)", "V", partial(TabularLearner, TD0)),
    Algorithm("robust TDC", "theta", partial(LinearLearner, "TDC")),
    Algorithm("robust GTD2", "theta", partial(LinearLearner, "GTD2")),
)
ALGORITHMS = {algorithm.name: algorithm for algorithm in _ALGORITHMS}


def factory(variant: str, injected: str, benchmark: BenchmarkProblem | None) -> Factory:
    """The factory of a variant, or that of an injected defect where it applies to the variant."""
    if variant not in ALGORITHMS:
        raise ValueError(f"no variant {variant!r}: there are {', '.join(ALGORITHMS)}")
    make = ALGORITHMS[variant].make
    if not injected:
        return make
    defect = DEFECTS[injected]
    return partial(defect.make, make, benchmark) if variant in defect.variants else make
