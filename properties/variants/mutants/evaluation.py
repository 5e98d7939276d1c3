"""Wrong tabular evaluation: robust TD(0), SARSA and expected SARSA."""

from typing import Any

import numpy as np

from properties.variants.gallery import PATHWISE
from properties.variants.mutants.plain import PlainExpectedSarsa, PlainSarsa, PlainTD
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


class _KindNature(PlainTD):
    def worst(self) -> float:
        return float(self.values().min())


class _WritesNext(PlainTD):
    def place(self, step: Transition) -> Any:
        return step.s_next


class _ValueOfState(PlainTD):
    """V(s) for V(s')."""

    def following(self, step: Transition) -> float:
        return 0.0 if step.terminal else float(self.Q[step.s])


class _AbsoluteWorst(PlainTD):
    """The largest |V|."""

    def worst(self) -> float:
        return float(np.abs(self.Q).max())


class _CurrentAction(PlainSarsa):
    """Q(s',a) for Q(s',a')."""

    def following(self, step: Transition) -> float:
        return 0.0 if step.terminal else float(self.Q[step.s_next, step.a])


class _GreedySarsa(PlainSarsa):
    """The minimum for the sampled action."""

    def following(self, step: Transition) -> float:
        return 0.0 if step.terminal else float(self.Q[step.s_next].min())


class _LargestEntry(PlainSarsa):
    """Nature takes the largest entry."""

    def worst(self) -> float:
        return float(self.Q.max())


class _GreedyWorst(PlainSarsa):
    """Nature's maximum is over greedy values."""

    def worst(self) -> float:
        return float(self.Q.min(axis=1).max())


class _UniformPolicy(PlainExpectedSarsa):
    def values(self) -> Floats:
        return self.Q.mean(axis=1)


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
KIND_NATURE = _mutant("against a kind nature", _KindNature)
WRITES_NEXT = _mutant("that writes at the next state", _WritesNext)
VALUE_OF_STATE = _mutant("with V(s) for V(s')", _ValueOfState)
ABSOLUTE_WORST = _mutant("against the largest |V|", _AbsoluteWorst)
CURRENT_ACTION = _mutant("with the current action", _CurrentAction)
GREEDY_SARSA = _mutant("with the best action", _GreedySarsa)
LARGEST_ENTRY = _mutant("against the largest entry", _LargestEntry)
GREEDY_WORST = _mutant("against the worst greedy value", _GreedyWorst)
UNIFORM_POLICY = _mutant("with a uniform policy", _UniformPolicy)
POLICY_OF_STATE = _mutant("with the policy of the wrong state", _PolicyOfState)
LIKELIEST_ACTION = _mutant("with the likeliest action", _LikeliestAction)
UNNORMALISED_POLICY = _mutant("with a flattened policy", _UnnormalisedPolicy)
NO_DECAY = _mutant("that only adds", _NoDecay)
