"""rlax: its temporal differences as the updates of learners of tables, with rewards and in 64-bit floats."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from benchmarks.field import random_states_kept
from properties.variants.gallery import double_q_learning, n_step
from robust_core.problem import Problem, Variant
from robust_core.sets import Contamination
from robust_core.trajectory import Transition


@cache
def _compiled(name: str) -> Callable[..., Any]:
    with random_states_kept():
        import jax
        import rlax

    jax.config.update("jax_enable_x64", True)
    compiled: Callable[..., Any] = jax.jit(getattr(rlax, name))
    return compiled


class _Learner:
    """A table that moves by alpha times a temporal difference; rewards are negative costs."""

    rule = ""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.t = problem, 0
        self.table, self.visits = -np.array(problem.initial), np.zeros(np.shape(problem.initial), dtype=int)
        _compiled(self.rule)

    def update(self, step: Transition) -> None:
        place = (step.s, step.a) if self.table.ndim == 2 else step.s
        n = int(self.visits[place]) if self.problem.step_size.clock == "visits" else self.t
        discount = 0.0 if step.terminal else self.problem.gamma
        error = float(_compiled(self.rule)(*self.arguments(step, -step.cost, discount)))
        self.table[place] += self.problem.step_size.at(n) * error
        self.visits[place] += 1
        self.t += 1

    def arguments(self, step: Transition, reward: float, discount: float) -> tuple[Any, ...]:
        raise NotImplementedError

    def estimate(self) -> Any:
        return -self.table


class _QLearning(_Learner):
    rule = "q_learning"

    def arguments(self, step: Transition, reward: float, discount: float) -> tuple[Any, ...]:
        return self.table[step.s], step.a, reward, discount, self.table[step.s_next]


class _Sarsa(_Learner):
    rule = "sarsa"

    def arguments(self, step: Transition, reward: float, discount: float) -> tuple[Any, ...]:
        return self.table[step.s], step.a, reward, discount, self.table[step.s_next], step.a_next


class _ExpectedSarsa(_Learner):
    rule = "expected_sarsa"

    def arguments(self, step: Transition, reward: float, discount: float) -> tuple[Any, ...]:
        assert self.problem.policy is not None
        return self.table[step.s], step.a, reward, discount, self.table[step.s_next], self.problem.policy[step.s_next]


class _TDLearning(_Learner):
    rule = "td_learning"

    def arguments(self, step: Transition, reward: float, discount: float) -> tuple[Any, ...]:
        return self.table[step.s], reward, discount, self.table[step.s_next]


class _DoubleQ(double_q_learning.BothTables):
    """Two tables of costs; the coin and the step size are those of the suite's learner."""

    def update(self, step: Transition) -> None:
        assert self.problem.rng is not None
        coin = int(self.problem.rng.random() < 0.5)
        mine, other = (-np.array(self.tables[each]) for each in (coin, 1 - coin))
        discount = 0.0 if step.terminal else self.problem.gamma
        told = (mine[step.s], step.a, -step.cost, discount, other[step.s_next], mine[step.s_next])
        error = float(_compiled("double_q_learning")(*told))
        self.tables[coin][step.s][step.a] -= self._step_size(coin, step.s, step.a) * error


class _Returns(n_step.NStepLearner):
    """The return of the window by td_lambda with lambda = 1; the window is that of the suite's learner."""

    def learn(self, alpha: float, following: float) -> None:
        states, costs = ([each[i] for each in self.window] for i in (0, 1))
        ahead = [*(-self.V[states[1:]]), -following]
        # Padded to one length, behind which nothing follows, so that the function is compiled once.
        pad = np.zeros(n_step.STEPS - len(states))
        before, rewards, after = (np.concatenate((x, pad)) for x in (-self.V[states], -np.array(costs), ahead))
        discounts = np.concatenate((np.full(len(states), self.problem.gamma), pad))
        errors = _compiled("td_lambda")(before, rewards, discounts, after, np.array(1.0))
        self.V[states[0]] -= alpha * float(errors[0])


_STEP = ("unbiased", "asynchronous", "fixed point")


def _variant(name: str, kind: Any, make: Any, promises: tuple[str, ...], **options: Any) -> Variant:
    return Variant(f"rlax {name}", kind, make, (Contamination,), promises, {"radii": (0.0,), **options})


Q_LEARNING = _variant("q_learning", "control", _QLearning, ("sample form", *_STEP))
SARSA = _variant("sarsa", "evaluation", _Sarsa, ("sample form, next action", *_STEP), estimates="Q")
EXPECTED_SARSA = _variant("expected_sarsa", "evaluation", _ExpectedSarsa, ("sample form", *_STEP), estimates="Q")
TD_LEARNING = _variant("td_learning", "evaluation", _TDLearning, ("sample form", *_STEP), estimates="V")
DOUBLE_Q = _variant(
    "double_q_learning", "control", _DoubleQ, ("mean update", "fixed point", "asynchronous"),
    expected=double_q_learning.expected, tables=2, schedule="steps",
)  # fmt: skip
TD_LAMBDA = _variant(
    "td_lambda, three-step returns", "evaluation", _Returns, ("mean update", "fixed point"), estimates="V",
    expected=n_step.expected, delay=n_step.STEPS, schedule="steps",
)  # fmt: skip
