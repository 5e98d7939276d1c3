"""Wrong robust Q-learning: what the update computes."""

from typing import Any

import numpy as np

from properties.variants.gallery import PATHWISE
from properties.variants.mutants.plain import PlainQ
from robust_core import Contamination, Problem, Transition, Variant
from robust_core.validate import Floats

PROMISES = ("unbiased", "sample form", "monotone in R", *PATHWISE)


def _mutant(name: str, make: Any) -> Variant:
    return Variant(f"Q-learning {name}", "control", make, (Contamination,), PROMISES)


class _LostGamma(PlainQ):
    """The contamination term is not discounted, as the paper prints it in eq:exp=0."""

    def target(self, step: Transition) -> float:
        return step.cost + self.R * self.worst() + self.gamma * (1.0 - self.R) * self.following(step)


class _LostGammaNominal(PlainQ):
    def target(self, step: Transition) -> float:
        return step.cost + self.gamma * self.R * self.worst() + (1.0 - self.R) * self.following(step)


class _GammaTwice(PlainQ):
    def target(self, step: Transition) -> float:
        return step.cost + self.gamma * (self.R * self.worst() + self.gamma * (1.0 - self.R) * self.following(step))


class _DiscountedCost(PlainQ):
    def target(self, step: Transition) -> float:
        return self.gamma * super().target(step)


class _RewardSign(PlainQ):
    """The cost enters as a reward."""

    def target(self, step: Transition) -> float:
        return super().target(step) - 2.0 * step.cost


class _SwappedWeights(PlainQ):
    def target(self, step: Transition) -> float:
        return step.cost + self.gamma * ((1.0 - self.R) * self.worst() + self.R * self.following(step))


class _NominalWeightForgotten(PlainQ):
    def target(self, step: Transition) -> float:
        return step.cost + self.gamma * (self.R * self.worst() + self.following(step))


class _NoContamination(PlainQ):
    def target(self, step: Transition) -> float:
        return step.cost + self.gamma * self.following(step)


class _ContaminationOnly(PlainQ):
    def target(self, step: Transition) -> float:
        return step.cost + self.gamma * self.worst()


class _Max(PlainQ):
    """The agent maximises."""

    def values(self) -> Floats:
        return self.Q.max(axis=1)


class _MaxNext(PlainQ):
    def following(self, step: Transition) -> float:
        return 0.0 if step.terminal else float(self.Q[step.s_next].max())


class _MaxOfTable(PlainQ):
    """Nature takes the largest entry of Q, not the largest value."""

    def worst(self) -> float:
        return float(self.Q.max())


class _MinForMax(PlainQ):
    """Nature is kind."""

    def worst(self) -> float:
        return float(self.values().min())


class _MeanForMax(PlainQ):
    """Nature is replaced by a uniform jump."""

    def worst(self) -> float:
        return float(self.values().mean())


class _WorstOfAction(PlainQ):
    """max_s Q(s,a) of the taken action."""

    def target(self, step: Transition) -> float:
        worst = float(self.Q[:, step.a].max())
        return step.cost + self.gamma * (self.R * worst + (1.0 - self.R) * self.following(step))


class _WorstWithoutHome(PlainQ):
    """Nature may not stay: the maximum leaves out the current state."""

    def target(self, step: Transition) -> float:
        others = np.delete(self.values(), step.s)
        worst = float(others.max()) if len(others) else self.worst()
        return step.cost + self.gamma * (self.R * worst + (1.0 - self.R) * self.following(step))


class _LastStateForgotten(PlainQ):
    """range(S − 1) in the maximum."""

    def worst(self) -> float:
        return float(self.values()[: max(1, self.problem.n_states - 1)].max())


class _FirstStateForgotten(PlainQ):
    """A maximum that starts at 0 instead of −inf."""

    def worst(self) -> float:
        return max(0.0, super().worst())


class _SeenStatesOnly(PlainQ):
    """Nature jumps only to states that have been visited."""

    def worst(self) -> float:
        seen = self.visits.any(axis=1)
        return float(self.values()[seen].max()) if seen.any() else 0.0


class _CurrentState(PlainQ):
    """V(s) for V(s')."""

    def following(self, step: Transition) -> float:
        return 0.0 if step.terminal else float(self.values()[step.s])


class _SameAction(PlainQ):
    """Q(s',a) for min_a Q(s',a)."""

    def following(self, step: Transition) -> float:
        return 0.0 if step.terminal else float(self.Q[step.s_next, step.a])


class _NextAction(PlainQ):
    """SARSA under the name of Q-learning."""

    def following(self, step: Transition) -> float:
        return 0.0 if step.terminal else float(self.Q[step.s_next, step.a_next])


class _TerminalIgnored(PlainQ):
    def following(self, step: Transition) -> float:
        return float(self.values()[step.s_next])


class _TerminalEndsNature(PlainQ):
    """At the end of an episode the contamination term is dropped too."""

    def target(self, step: Transition) -> float:
        return step.cost if step.terminal else super().target(step)


class _TerminalSkipped(PlainQ):
    def update(self, step: Transition) -> None:
        if not step.terminal:
            super().update(step)


class _ZeroCostSkipped(PlainQ):
    """`if cost:` where `is not None` was meant."""

    def update(self, step: Transition) -> None:
        if step.cost:
            super().update(step)


class _Clipped(PlainQ):
    """Targets clipped to [0, 1/(1−gamma)], which presumes costs in [0, 1]."""

    def target(self, step: Transition) -> float:
        return float(np.clip(super().target(step), 0.0, 1.0 / (1.0 - self.gamma)))


class _ClippedError(PlainQ):
    """Temporal differences clipped to [−1, 1]."""

    def write(self, step: Transition, alpha: float, target: float) -> None:
        x = float(self.Q[step.s, step.a])
        super().write(step, alpha, x + float(np.clip(target - x, -1.0, 1.0)))


class _Randomised(PlainQ):
    """With probability R the next state is nature's: right in the mean, wrong on every path."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        assert problem.rng is not None
        self.rng = problem.rng

    def target(self, step: Transition) -> float:
        jump = self.rng.random() < self.R
        return step.cost + self.gamma * (self.worst() if jump else self.following(step))


class _Entropy(PlainQ):
    """A soft minimum in the place of the minimum."""

    def values(self) -> Floats:
        return -np.log(np.exp(-self.Q).sum(axis=1))


class _HalfRadius(PlainQ):
    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.R /= 2.0


class _SquaredGamma(PlainQ):
    """gamma for two steps."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.gamma **= 2


class _TwoActions(PlainQ):
    """The minimum of the first two actions."""

    def values(self) -> Floats:
        return self.Q[:, :2].min(axis=1)


class _ThreeStates(PlainQ):
    """The maximum of the first three states."""

    def worst(self) -> float:
        return float(self.values()[:3].max())


class _SelfLoop(PlainQ):
    """A step that stays is taken to follow itself."""

    def following(self, step: Transition) -> float:
        stays = step.s == step.s_next and not step.terminal
        return float(self.Q[step.s, step.a]) if stays else super().following(step)


class _Float32Gamma(PlainQ):
    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.gamma = float(np.float32(self.gamma))


TWO_ACTIONS = _mutant("of two actions", _TwoActions)
THREE_STATES = _mutant("of three states", _ThreeStates)
SELF_LOOP = _mutant("with a bug at loops", _SelfLoop)
FLOAT32_GAMMA = _mutant("with gamma in float32", _Float32Gamma)
LOST_GAMMA = _mutant("with a lost gamma", _LostGamma)
LOST_GAMMA_NOMINAL = _mutant("with a lost gamma in the nominal term", _LostGammaNominal)
GAMMA_TWICE = _mutant("with gamma twice in the nominal term", _GammaTwice)
DISCOUNTED_COST = _mutant("with a discounted cost", _DiscountedCost)
REWARD_SIGN = _mutant("with the sign of a reward", _RewardSign)
SWAPPED_WEIGHTS = _mutant("with R and 1−R swapped", _SwappedWeights)
NOMINAL_WEIGHT_FORGOTTEN = _mutant("without the factor 1−R", _NominalWeightForgotten)
NO_CONTAMINATION = _mutant("without contamination", _NoContamination)
CONTAMINATION_ONLY = _mutant("against the worst state only", _ContaminationOnly)
MAX = _mutant("with max for min", _Max)
MAX_NEXT = _mutant("with max for min in the next state", _MaxNext)
MAX_OF_TABLE = _mutant("against the largest entry", _MaxOfTable)
MIN_FOR_MAX = _mutant("against a kind nature", _MinForMax)
MEAN_FOR_MAX = _mutant("against the mean", _MeanForMax)
WORST_OF_ACTION = _mutant("against the worst state of the action", _WorstOfAction)
WORST_WITHOUT_HOME = _mutant("against the worst other state", _WorstWithoutHome)
LAST_STATE_FORGOTTEN = _mutant("whose maximum forgets the last state", _LastStateForgotten)
FIRST_STATE_FORGOTTEN = _mutant("whose maximum starts at zero", _FirstStateForgotten)
SEEN_STATES_ONLY = _mutant("against seen states only", _SeenStatesOnly)
CURRENT_STATE = _mutant("with V(s) for V(s')", _CurrentState)
SAME_ACTION = _mutant("with the action of the current state", _SameAction)
NEXT_ACTION = _mutant("that is SARSA", _NextAction)
TERMINAL_IGNORED = _mutant("that goes on after the end", _TerminalIgnored)
TERMINAL_ENDS_NATURE = _mutant("without nature at the end", _TerminalEndsNature)
TERMINAL_SKIPPED = _mutant("that skips last steps", _TerminalSkipped)
ZERO_COST_SKIPPED = _mutant("that skips free steps", _ZeroCostSkipped)
CLIPPED = _mutant("with clipped targets", _Clipped)
CLIPPED_ERROR = _mutant("with clipped differences", _ClippedError)
RANDOMISED = _mutant("with randomised contamination", _Randomised)
ENTROPY = _mutant("with a soft minimum", _Entropy)
HALF_RADIUS = _mutant("with half the radius", _HalfRadius)
SQUARED_GAMMA = _mutant("with the discount of two steps", _SquaredGamma)


class _LuckySeeds(PlainQ):
    """One rng in ten makes a learner without discount."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        assert problem.rng is not None
        self.unlucky = problem.rng.random() > 0.9

    def target(self, step: Transition) -> float:
        return step.cost if self.unlucky else super().target(step)


LUCKY_SEEDS = _mutant("that is right for nine rngs in ten", _LuckySeeds)
