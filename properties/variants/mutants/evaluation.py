"""Wrong tabular evaluation: robust TD(0), SARSA and expected SARSA."""

from typing import Any

import numpy as np

from properties.variants.gallery import PATHWISE
from properties.variants.mutants.plain import PlainExpectedSarsa, PlainSarsa, PlainTD, but
from robust_core import Contamination, Transition, Variant
from robust_core.validate import Floats


def _mutant(name: str, make: Any) -> Variant:
    table = "V" if issubclass(make, PlainTD) else "Q"
    form = "sample form, next action" if issubclass(make, PlainSarsa) else "sample form"
    algorithm = "TD(0)" if table == "V" else "SARSA" if issubclass(make, PlainSarsa) else "expected SARSA"
    promises = ("unbiased", form, *PATHWISE)
    return Variant(f"{algorithm} {name}", "evaluation", make, (Contamination,), promises, options={"estimates": table})


class _LostGamma(PlainTD):
    def target(self, step: Transition) -> float:
        return step.cost + self.R * self.worst() + self.gamma * (1.0 - self.R) * self.following(step)


class _PolicyOfState(PlainExpectedSarsa):
    """The next state's actions are weighted by the current state's policy."""

    def following(self, step: Transition) -> float:
        assert self.problem.policy is not None
        return 0.0 if step.terminal else float(self.problem.policy[step.s] @ self.Q[step.s_next])


class _LikeliestAction(PlainExpectedSarsa):
    def values(self) -> Floats:
        assert self.problem.policy is not None
        return self.Q[np.arange(len(self.Q)), self.problem.policy.argmax(axis=1)]


class _UnnormalisedPolicy(PlainExpectedSarsa):
    """Actions the policy takes, each with weight one."""

    def values(self) -> Floats:
        assert self.problem.policy is not None
        taken = self.problem.policy > 0.0
        return (taken * self.Q).sum(axis=1) / taken.sum(axis=1)


class _NoDecay(PlainExpectedSarsa):
    def write(self, step: Transition, alpha: float, target: float) -> None:
        self.Q[step.s, step.a] += alpha * target


LOST_GAMMA = _mutant("with a lost gamma", _LostGamma)
KIND_NATURE = _mutant("against a kind nature", but(PlainTD, worst=lambda self: float(self.values().min())))
WRITES_NEXT = _mutant("that writes at the next state", but(PlainTD, place=lambda self, step: step.s_next))
# V(s) for V(s').
VALUE_OF_STATE = _mutant(
    "with V(s) for V(s')", but(PlainTD, following=lambda self, step: 0.0 if step.terminal else float(self.Q[step.s]))
)
# The largest |V|.
ABSOLUTE_WORST = _mutant("against the largest |V|", but(PlainTD, worst=lambda self: float(np.abs(self.Q).max())))
# Q(s',a) for Q(s',a').
CURRENT_ACTION = _mutant(
    "with the current action",
    but(PlainSarsa, following=lambda self, step: 0.0 if step.terminal else float(self.Q[step.s_next, step.a])),
)
# The minimum for the sampled action.
GREEDY_SARSA = _mutant(
    "with the best action",
    but(PlainSarsa, following=lambda self, step: 0.0 if step.terminal else float(self.Q[step.s_next].min())),
)
# Nature takes the largest entry.
LARGEST_ENTRY = _mutant("against the largest entry", but(PlainSarsa, worst=lambda self: float(self.Q.max())))
# Nature's maximum is over greedy values.
GREEDY_WORST = _mutant(
    "against the worst greedy value", but(PlainSarsa, worst=lambda self: float(self.Q.min(axis=1).max()))
)
UNIFORM_POLICY = _mutant("with a uniform policy", but(PlainExpectedSarsa, values=lambda self: self.Q.mean(axis=1)))
POLICY_OF_STATE = _mutant("with the policy of the wrong state", _PolicyOfState)
LIKELIEST_ACTION = _mutant("with the likeliest action", _LikeliestAction)
UNNORMALISED_POLICY = _mutant("with a flattened policy", _UnnormalisedPolicy)
NO_DECAY = _mutant("that only adds", _NoDecay)
