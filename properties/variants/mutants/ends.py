"""Wrong at the end of an episode: each makes one promise alone, so that the law of that promise must see it."""

from typing import Any

import numpy as np

from properties.variants.mutants.plain import PlainExpectedSarsa, PlainQ, PlainTD, PlainTDC, but
from robust_core import Contamination, Problem, Transition, Variant
from robust_core.validate import Floats


class NatureEndsQ(PlainQ):
    """Right where nature may end an episode: 0 is among the values of which she takes the largest."""

    def worst(self) -> float:
        """max(max V, 0)."""
        return max(super().worst(), 0.0)


class _IgnoresEnds(PlainQ):
    """The next value is used after the last step too."""

    def following(self, step: Transition) -> float:
        return float(self.values()[step.s_next])


class _NoCostAtTheEnd(PlainQ):
    """The whole target is zero at the end."""

    def target(self, step: Transition) -> float:
        return 0.0 if step.terminal else super().target(step)


class _CostAlone(PlainQ):
    """Nature has no say at the end: gamma R max V is dropped."""

    def target(self, step: Transition) -> float:
        return step.cost if step.terminal else super().target(step)


class _SureEnd(PlainQ):
    """At the end the whole weight is nature's."""

    def target(self, step: Transition) -> float:
        return step.cost + self.gamma * self.worst() if step.terminal else super().target(step)


class _EndsOnceOnly(PlainQ):
    """Nature ends, but only where the step does."""

    def target(self, step: Transition) -> float:
        if not step.terminal:
            return super().target(step)
        return step.cost + self.gamma * self.R * max(self.worst(), 0.0)


class _ForgetsVisits(PlainQ):
    """The counters of visits begin anew with every episode."""

    def count(self, step: Transition) -> None:
        super().count(step)
        if step.terminal:
            self.visits[...] = 0
            self.t = 0


class _SkipsTheEnd(PlainQ):
    """The last step of an episode is not learned."""

    def write(self, step: Transition, alpha: float, target: float) -> None:
        if not step.terminal:
            super().write(step, alpha, target)


class _ClearsTheLastState(PlainQ):
    """The state behind the end is set to zero, as if it were left for ever."""

    def update(self, step: Transition) -> None:
        super().update(step)
        if step.terminal and step.s_next != step.s:
            self.Q[step.s_next] = 0.0


class _StaleMaximum(PlainQ):
    """The maximum is that of the beginning of the episode."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.kept = float(super().worst())

    def worst(self) -> float:
        return self.kept

    def update(self, step: Transition) -> None:
        super().update(step)
        if step.terminal:
            self.kept = float(super().worst())


class _EvaluationIgnoresEnds(PlainExpectedSarsa):
    def following(self, step: Transition) -> float:
        return float(self.values()[step.s_next])


class _ValuesCostAlone(PlainTD):
    def target(self, step: Transition) -> float:
        return step.cost if step.terminal else super().target(step)


class _LinearIgnoresEnds(PlainTDC):
    def next_features(self, step: Transition) -> Floats:
        return self.phi[step.s_next]


class _LinearForgetsTracking(PlainTDC):
    """omega begins anew with every episode."""

    def update(self, step: Transition) -> None:
        super().update(step)
        if step.terminal:
            self.omega = np.zeros_like(self.omega)


def _q(name: str, make: Any, *promises: str, **options: str) -> Variant:
    return Variant(f"Q-learning {name}", "control", make, (Contamination,), promises, options)


_LATE = "that ignores ends"
IGNORES_ENDS = _q(f"{_LATE}, unbiased", _IgnoresEnds, "unbiased")
IGNORES_ENDS_FIXED = _q(f"{_LATE}, fixed point", _IgnoresEnds, "fixed point")
NO_COST = _q("whose last target is zero, unbiased", _NoCostAtTheEnd, "unbiased")
NO_COST_FIXED = _q("whose last target is zero, fixed point", _NoCostAtTheEnd, "fixed point")
COST_ALONE = _q("whose last target is the cost, unbiased", _CostAlone, "unbiased")
COST_ALONE_FIXED = _q("whose last target is the cost, fixed point", _CostAlone, "fixed point")
SURE_END = _q("whose end is all nature's", _SureEnd, "unbiased")
NATURE_ENDS_UNSAID = _q("where nature ends, unsaid", NatureEndsQ, "unbiased")
NATURE_ENDS_UNSAID_FIXED = _q("where nature ends, unsaid, fixed point", NatureEndsQ, "fixed point")
NATURE_STAYS_AFTER_ALL = _q("where nature stays after all", PlainQ, "unbiased", ends="nature ends")
NATURE_STAYS_FIXED = _q("where nature stays after all, fixed point", PlainQ, "fixed point", ends="nature ends")
ENDS_ONCE_ONLY = _q("where nature ends at ends only", _EndsOnceOnly, "unbiased", ends="nature ends")
FORGETS_VISITS = _q("that forgets visits at the end", _ForgetsVisits, "unbiased")
SKIPS_THE_END = _q("that skips the last step", _SkipsTheEnd, "unbiased")
CLEARS_THE_LAST_STATE = _q("that clears the state behind the end", _ClearsTheLastState, "fixed point")
STALE_MAXIMUM = _q("with the maximum of the episode's start", _StaleMaximum, "unbiased")
EVALUATION_IGNORES_ENDS = Variant(
    "expected SARSA that ignores ends",
    "evaluation",
    _EvaluationIgnoresEnds,
    (Contamination,),
    ("fixed point",),
    {"estimates": "Q"},
)
VALUES_COST_ALONE = Variant(
    "TD whose last target is the cost", "evaluation", _ValuesCostAlone, (Contamination,), ("fixed point",)
)
LINEAR_IGNORES_ENDS = Variant(
    "TDC that ignores ends", "linear evaluation", _LinearIgnoresEnds, (Contamination,), ("TDC",)
)
# The value of the end is 0, its gradient is not.
LINEAR_KEEPS_GRADIENT = Variant(
    "TDC with the gradient of the end",
    "linear evaluation",
    but(PlainTDC, g=lambda self, step: PlainTDC.g(self, step._replace(terminal=False))),
    (Contamination,),
    ("TDC",),
)
LINEAR_FORGETS_TRACKING = Variant(
    "TDC whose tracking ends", "linear evaluation", _LinearForgetsTracking, (Contamination,), ("TDC",)
)
