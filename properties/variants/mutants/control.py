"""Wrong robust Q-learning: what the update computes."""

from typing import Any

import numpy as np

from properties.variants.gallery import PATHWISE
from properties.variants.mutants.plain import PlainQ, but, with_problem, with_radius
from robust_core import Contamination, Problem, Transition, Variant

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


class _SwappedWeights(PlainQ):
    def target(self, step: Transition) -> float:
        return step.cost + self.gamma * ((1.0 - self.R) * self.worst() + self.R * self.following(step))


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


class _SeenStatesOnly(PlainQ):
    """Nature jumps only to states that have been visited."""

    def worst(self) -> float:
        seen = self.visits.any(axis=1)
        return float(self.values()[seen].max()) if seen.any() else 0.0


class _TerminalSkipped(PlainQ):
    def update(self, step: Transition) -> None:
        if not step.terminal:
            super().update(step)


class _ZeroCostSkipped(PlainQ):
    """`if cost:` where `is not None` was meant."""

    def update(self, step: Transition) -> None:
        if step.cost:
            super().update(step)


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


class _SelfLoop(PlainQ):
    """A step that stays is taken to follow itself."""

    def following(self, step: Transition) -> float:
        stays = step.s == step.s_next and not step.terminal
        return float(self.Q[step.s, step.a]) if stays else super().following(step)


class _Floor(PlainQ):
    """No step size falls below a ten-millionth."""

    def alpha(self, step: Transition) -> float:
        return max(super().alpha(step), min(1e-7, self.problem.step_size.scale))


class _Float32Gamma(PlainQ):
    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.gamma = float(np.float32(self.gamma))


# The minimum of the first two actions.
TWO_ACTIONS = _mutant("of two actions", but(PlainQ, values=lambda self: self.Q[:, :2].min(axis=1)))
# The maximum of the first three states.
THREE_STATES = _mutant("of three states", but(PlainQ, worst=lambda self: float(self.values()[:3].max())))
FLOOR = _mutant("with a floor of step sizes", _Floor)
SELF_LOOP = _mutant("with a bug at loops", _SelfLoop)
FLOAT32_GAMMA = _mutant("with gamma in float32", _Float32Gamma)
LOST_GAMMA = _mutant("with a lost gamma", _LostGamma)
LOST_GAMMA_NOMINAL = _mutant("with a lost gamma in the nominal term", _LostGammaNominal)
GAMMA_TWICE = _mutant("with gamma twice in the nominal term", _GammaTwice)
DISCOUNTED_COST = _mutant(
    "with a discounted cost", but(PlainQ, target=lambda self, step: self.gamma * PlainQ.target(self, step))
)
# The cost enters as a reward.
REWARD_SIGN = _mutant(
    "with the sign of a reward", but(PlainQ, target=lambda self, step: PlainQ.target(self, step) - 2.0 * step.cost)
)
SWAPPED_WEIGHTS = _mutant("with R and 1−R swapped", _SwappedWeights)
NOMINAL_WEIGHT_FORGOTTEN = _mutant(
    "without the factor 1−R",
    but(PlainQ, target=lambda self, step: step.cost + self.gamma * (self.R * self.worst() + self.following(step))),
)
NO_CONTAMINATION = _mutant(
    "without contamination", but(PlainQ, target=lambda self, step: step.cost + self.gamma * self.following(step))
)
CONTAMINATION_ONLY = _mutant(
    "against the worst state only", but(PlainQ, target=lambda self, step: step.cost + self.gamma * self.worst())
)
# The agent maximises.
MAX = _mutant("with max for min", but(PlainQ, values=lambda self: self.Q.max(axis=1)))
MAX_NEXT = _mutant(
    "with max for min in the next state",
    but(PlainQ, following=lambda self, step: 0.0 if step.terminal else float(self.Q[step.s_next].max())),
)
# Nature takes the largest entry of Q, not the largest value.
MAX_OF_TABLE = _mutant("against the largest entry", but(PlainQ, worst=lambda self: float(self.Q.max())))
# Nature is kind.
MIN_FOR_MAX = _mutant("against a kind nature", but(PlainQ, worst=lambda self: float(self.values().min())))
# Nature is replaced by a uniform jump.
MEAN_FOR_MAX = _mutant("against the mean", but(PlainQ, worst=lambda self: float(self.values().mean())))
WORST_OF_ACTION = _mutant("against the worst state of the action", _WorstOfAction)
WORST_WITHOUT_HOME = _mutant("against the worst other state", _WorstWithoutHome)
# range(S − 1) in the maximum.
LAST_STATE_FORGOTTEN = _mutant(
    "whose maximum forgets the last state",
    but(PlainQ, worst=lambda self: float(self.values()[: max(1, self.problem.n_states - 1)].max())),
)
# A maximum that starts at 0 instead of −inf.
FIRST_STATE_FORGOTTEN = _mutant(
    "whose maximum starts at zero", but(PlainQ, worst=lambda self: max(0.0, PlainQ.worst(self)))
)
SEEN_STATES_ONLY = _mutant("against seen states only", _SeenStatesOnly)
# V(s) for V(s').
CURRENT_STATE = _mutant(
    "with V(s) for V(s')",
    but(PlainQ, following=lambda self, step: 0.0 if step.terminal else float(self.values()[step.s])),
)
# Q(s',a) for min_a Q(s',a).
SAME_ACTION = _mutant(
    "with the action of the current state",
    but(PlainQ, following=lambda self, step: 0.0 if step.terminal else float(self.Q[step.s_next, step.a])),
)
# SARSA under the name of Q-learning.
NEXT_ACTION = _mutant(
    "that is SARSA",
    but(PlainQ, following=lambda self, step: 0.0 if step.terminal else float(self.Q[step.s_next, step.a_next])),
)
TERMINAL_IGNORED = _mutant(
    "that goes on after the end", but(PlainQ, following=lambda self, step: float(self.values()[step.s_next]))
)
# At the end of an episode the contamination term is dropped too.
TERMINAL_ENDS_NATURE = _mutant(
    "without nature at the end",
    but(PlainQ, target=lambda self, step: step.cost if step.terminal else PlainQ.target(self, step)),
)
TERMINAL_SKIPPED = _mutant("that skips last steps", _TerminalSkipped)
ZERO_COST_SKIPPED = _mutant("that skips free steps", _ZeroCostSkipped)
# Targets clipped to [0, 1/(1−gamma)], which presumes costs in [0, 1].
CLIPPED = _mutant(
    "with clipped targets",
    but(PlainQ, target=lambda self, step: float(np.clip(PlainQ.target(self, step), 0.0, 1.0 / (1.0 - self.gamma)))),
)
CLIPPED_ERROR = _mutant("with clipped differences", _ClippedError)
RANDOMISED = _mutant("with randomised contamination", _Randomised)
# A soft minimum in the place of the minimum.
ENTROPY = _mutant("with a soft minimum", but(PlainQ, values=lambda self: -np.log(np.exp(-self.Q).sum(axis=1))))
HALF_RADIUS = _mutant("with half the radius", with_radius(PlainQ, 0.5))
SQUARED_GAMMA = _mutant("with the discount of two steps", with_problem(PlainQ, gamma=lambda problem: problem.gamma**2))


class _LuckySeeds(PlainQ):
    """One rng in ten makes a learner without discount."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        assert problem.rng is not None
        self.unlucky = problem.rng.random() > 0.9

    def target(self, step: Transition) -> float:
        return step.cost if self.unlucky else super().target(step)


LUCKY_SEEDS = _mutant("that is right for nine rngs in ten", _LuckySeeds)
