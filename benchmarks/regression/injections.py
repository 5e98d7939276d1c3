"""Regressions that are injected into a variant of any kind, to see which a comparison finds.

A learner gets another schedule, other costs or its transitions twice; of a function the answer is changed. Everything
is a function of the arguments, but for the bug that remembers its first answer.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import repeat
from time import thread_time
from typing import Any

import numpy as np

from benchmarks.regression.variants import REPEATS, Work, lengthen
from properties.kinds import kind_of
from robust_core.mdp import MDP
from robust_core.problem import Problem, Variant
from robust_core.validate import Floats

SLOWER, BIAS, VARIANCE, IMPROVES, SLOWDOWN = (
    "slower rate", "bias 1 %", "larger variance", "a bug that improves", "slowdown 10 %",
)  # fmt: skip
INJECTIONS = {
    SLOWER: "learners: constant steps are halved, others fall four times as fast; functions stop early (a millionth of "
    "the answer is missing), a policy planner uses half the discount, a sampler stays with probability 2 %",
    BIAS: "learners: costs are 1 % too high; functions: answers are; a policy planner takes any action with "
    "probability 1 %, a sampler the likeliest successor",
    VARIANCE: "learners: costs have noise of mean 0 (0.5 up or down); functions: answers have noise of 1 %, a policy "
    "planner takes any action in one state, a sampler draws from a random model whose mean is right",
    IMPROVES: "learners: every transition is used twice, which is faster; functions return their first answer again, "
    "which is faster",
    SLOWDOWN: "learners: every tenth step is done twice; functions: idle turns take a tenth of the time of a call",
}
"""What each does to a learner and to a function."""
NOISE = 0.5
CONCENTRATION = 500.0
"""Of the Dirichlet law of a random model's rows."""


def inject(name: str, variant: Variant) -> Variant:
    """The variant with a regression; with the name "" as it is."""
    if not name:
        return variant
    make: Callable[..., Any]
    if variant.kind == "simulator" or kind_of(variant.kind).learner:
        make = _learner(name, variant)
    elif variant.kind == "sampler":
        make = _sampler(name, variant.make)
    else:
        make = _function(name, variant)
    return replace(variant, make=make)


# Learners


def _learner(name: str, variant: Variant) -> Callable[..., Any]:
    def make(problem: Problem, *simulator: Any) -> Any:
        if name == SLOWER:
            return variant.make(_slower(problem), *simulator)
        if simulator and name in (BIAS, VARIANCE):
            return variant.make(problem, _OtherCosts(simulator[0], _Costs(name, problem)))
        learner = variant.make(problem, *simulator)
        if name in (BIAS, VARIANCE):
            return _Altered(learner, _Costs(name, problem))
        return _Repeated(learner, learner if name == IMPROVES else variant.make(problem, *simulator), name == IMPROVES)

    return make


def _slower(problem: Problem) -> Problem:
    step = problem.step_size
    slower = replace(step, scale=step.scale / 2.0) if step.clock == "constant" else replace(step, rate=4.0 * step.rate)
    return replace(problem, step_size=slower)


@dataclass
class _Costs:
    """Costs that are 1 % too high, or have noise."""

    name: str
    problem: Problem

    def __call__(self, cost: float) -> float:
        if self.name == BIAS:
            return 1.01 * cost
        assert self.problem.rng is not None
        return cost + (NOISE if self.problem.rng.random() < 0.5 else -NOISE)


class _OtherCosts:
    """A simulator with other costs."""

    def __init__(self, simulator: Any, costs: _Costs) -> None:
        self._simulator, self._costs, self.draw = simulator, costs, simulator.draw

    def cost(self, s: int, a: int) -> float:
        """The cost of a pair."""
        return self._costs(self._simulator.cost(s, a))


class _Altered:
    """A learner that is told other costs."""

    def __init__(self, learner: Any, costs: _Costs) -> None:
        self._learner, self._costs, self.estimate = learner, costs, learner.estimate

    def update(self, fed: Any) -> None:
        """With a transition, or a batch of them."""
        if hasattr(fed, "cost"):
            self._learner.update(fed._replace(cost=self._costs(fed.cost)))
        else:
            self._learner.update(tuple(step._replace(cost=self._costs(step.cost)) for step in fed))


class _Repeated:
    """A learner whose steps are also given to another one, or to itself: all of them, or every tenth."""

    def __init__(self, learner: Any, other: Any, always: bool) -> None:
        self._learner, self._other, self.estimate = learner, other, learner.estimate
        self._every, self._count = 1 if always else 10, 0

    def _repeats(self) -> bool:
        self._count += 1
        return self._count % self._every == 0

    def update(self, fed: Any) -> None:
        """With what the learner is fed."""
        self._learner.update(fed)
        if self._repeats():
            self._other.update(fed)

    def iterate(self) -> None:
        """Of a learner with a simulator."""
        self._learner.iterate()
        if self._repeats():
            self._other.iterate()


# Functions


def _rng(*arrays: Any) -> np.random.Generator:
    digest = hashlib.blake2b(digest_size=8)
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return np.random.Generator(np.random.Philox(int.from_bytes(digest.digest(), "big")))


def _each(answer: Any, change: Callable[[Floats], Any]) -> Any:
    """The answer, or each of its parts, changed."""
    return (
        tuple(change(np.asarray(part)) for part in answer) if isinstance(answer, tuple) else change(np.asarray(answer))
    )


def _function(name: str, variant: Variant) -> Callable[..., Any]:
    if name in (IMPROVES, SLOWDOWN):
        return _remembered(variant.make) if name == IMPROVES else _slowed(variant.make)
    if variant.kind == "policy planner":
        return _policy(name, variant.make)

    def noisy(part: Floats) -> Any:
        return part * (1.0 + 0.01 * _rng(part).standard_normal(part.shape))

    changes: dict[str, Callable[[Floats], Any]] = {
        SLOWER: lambda part: part * (1.0 - 2.0**-20), BIAS: lambda part: 1.01 * part, VARIANCE: noisy,
    }  # fmt: skip
    return lambda *arguments: _each(variant.make(*arguments), changes[name])


def _remembered(make: Callable[..., Any]) -> Callable[..., Any]:
    """The first answer to arguments of these sizes and numbers is returned again."""
    known: dict[str, Any] = {}

    def called(*arguments: Any) -> Any:
        size = str([x if isinstance(x, int) else np.shape(getattr(x, "cost", x)) for x in arguments])
        if size not in known:
            known[size] = make(*arguments)
        return known[size]

    return called


def _slowed(make: Callable[..., Any]) -> Callable[..., Any]:
    """Every call is preceded by idle turns that take a tenth of its time, measured at the first call on an object."""
    known: list[Any] = [None, 0]

    def called(*arguments: Any) -> Any:
        if known[0] is not arguments[0]:
            known[:] = arguments[0], _idle_turns(partial(make, *arguments))
        _idle(known[1])
        return make(*arguments)

    return called


def _idle(turns: int) -> None:
    # A range would make new integers above 256: its long loops take longer per turn than its short ones.
    for _ in repeat(None, turns):
        pass


def _idle_turns(call: Work) -> int:
    """How many turns take a tenth of the processor time of a call.

    By the clock of the thread: that of the process moves in ticks of some milliseconds while a time limit is set, as it
    is for the first seed.
    """
    many = 10_000

    def least(work: Work) -> float:
        seconds = lengthen(work, thread_time)
        return min(seconds() for _ in range(REPEATS))

    return round(0.1 * least(call) / least(partial(_idle, many)) * many)


def _policy(name: str, make: Callable[..., Any]) -> Callable[..., Any]:
    def plan(mdp: MDP, uncertainty_set: Any) -> Any:
        if name == SLOWER:
            return make(MDP(mdp.P, mdp.cost, mdp.gamma / 2.0), uncertainty_set)
        policy, any_action = np.array(make(mdp, uncertainty_set)), 1.0 / mdp.n_actions
        if name == BIAS:
            return 0.99 * policy + 0.01 * any_action
        policy[_rng(mdp.cost).integers(mdp.n_states)] = any_action
        return policy

    return plan


def _sampler(name: str, make: Callable[..., Any]) -> Callable[..., Any]:
    if name in (IMPROVES, SLOWDOWN):
        return _remembered(make) if name == IMPROVES else _slowed(make)

    def sample(mdp: MDP, policy: Any, start: int, steps: int, rng: Any) -> Any:
        if name == VARIANCE:
            drawn = np.array(mdp.P)
            for place in np.ndindex(*drawn.shape[:2]):
                kept = drawn[place] > 0.0
                drawn[place][kept] = rng.dirichlet(CONCENTRATION * drawn[place][kept])
        else:
            others = np.eye(mdp.n_states)[:, None] if name == SLOWER else np.eye(mdp.n_states)[mdp.P.argmax(axis=2)]
            share = 0.02 if name == SLOWER else 0.01
            drawn = (1.0 - share) * mdp.P + share * others
        return make(MDP(drawn, mdp.cost, mdp.gamma), policy, start, steps, rng)

    return sample
