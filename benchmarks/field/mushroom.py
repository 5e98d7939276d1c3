"""mushroom-rl: its agents with tables as learners, with rewards.

The learner is the policy of its agent, so that the next action is that of the path, and the step sizes are those of the
problem.
"""

from functools import cache
from typing import Any

import numpy as np

from benchmarks.field import random_states_kept
from properties.laws.view import View, to_rationals
from properties.variants.gallery import speedy_q
from robust_core.problem import Problem, Variant
from robust_core.sets import Contamination
from robust_core.trajectory import Transition
from robust_core.validate import Floats

LAMBDA = 0.75


@cache
def _library() -> tuple[Any, Any, Any]:
    with random_states_kept():
        from mushroom_rl.algorithms import value
        from mushroom_rl.core import MDPInfo
        from mushroom_rl.utils.spaces import Discrete

    return value, MDPInfo, Discrete


class _Learner:
    """An agent, its policy and its learning rate."""

    agent_class = ""
    arguments: dict[str, Any] = {}  # noqa: RUF012 (never changed)

    def __init__(self, problem: Problem) -> None:
        value, info, discrete = _library()
        self.problem, self.t, self.a_next = problem, 0, 0
        self.visits = np.zeros((problem.n_states, problem.n_actions), dtype=int)
        spaces = discrete(problem.n_states), discrete(problem.n_actions)
        make = getattr(value, self.agent_class)
        self.agent = make(info(*spaces, problem.gamma, np.inf), self, self.step_size, **self.arguments)
        self.begin(-np.array(problem.initial))

    def begin(self, table: Floats) -> None:
        self.agent.Q.table[:] = table

    def update(self, step: Transition) -> None:
        s, a, s_next = (np.array([each]) for each in (step.s, step.a, step.s_next))
        self.a_next, self.agent.next_action = step.a_next, None
        self.agent.fit([(s, a, -step.cost, s_next, step.terminal, step.terminal)])
        self.visits[step.s, step.a] += 1
        self.t += 1
        if step.terminal:
            self.agent.episode_start()

    def estimate(self) -> Floats:
        return -np.array(self.agent.Q.table)

    def step_size(self, state: Any, action: Any, **_: Any) -> float:
        n = self.visits[state[0], action[0]] if self.problem.step_size.clock == "visits" else self.t
        return self.problem.step_size.at(int(n))

    def set_q(self, table: Any) -> None:
        """The next action does not depend on the table."""

    def reset(self) -> None:
        """The policy has no state."""

    def draw_action(self, state: Any) -> Any:
        return np.array([self.a_next])

    def __call__(self, state: Any) -> Any:
        assert self.problem.policy is not None
        return self.problem.policy[state[0]]


class _QLearning(_Learner):
    agent_class = "QLearning"


class _Sarsa(_Learner):
    agent_class = "SARSA"


class _ExpectedSarsa(_Learner):
    agent_class = "ExpectedSARSA"


class _Speedy(_Learner):
    agent_class = "SpeedyQLearning"

    def begin(self, table: Floats) -> None:
        self.agent.Q.table[:] = self.agent.old_q.table[:] = table


class _RQ(_Learner):
    """With delta = 1 the estimates of the reward and of the next value have one step size: this is Q-learning."""

    agent_class = "RQLearning"
    arguments = {"off_policy": True, "delta": 1.0}  # noqa: RUF012

    def begin(self, table: Floats) -> None:
        self.agent.Q.table[:] = self.agent.R_tilde.table[:] = table


class _QLambda(_Learner):
    agent_class = "QLambda"
    arguments = {"lambda_coeff": LAMBDA}  # noqa: RUF012


def _traces(view: View) -> Any:
    """Q + alpha e (T Q − Q) with replacing traces e of the episode."""
    decay, Q = to_rationals(LAMBDA).item() * view.b, view.estimate
    traces = 0 * Q
    for step in view.transitions:
        traces = decay * traces
        traces[step.s, step.a] = 1
        if step.terminal:
            traces = 0 * traces
    traces = decay * traces
    traces[view.place] = 1
    return Q + view.alpha() * (view.T(Q) - Q[view.place]) * traces


_STEP = ("unbiased", "asynchronous", "fixed point")


def _variant(name: str, kind: Any, make: Any, promises: tuple[str, ...], **options: Any) -> Variant:
    return Variant(f"mushroom-rl {name}", kind, make, (Contamination,), promises, {"radii": (0.0,), **options})


Q_LEARNING = _variant("QLearning", "control", _QLearning, ("sample form", *_STEP))
SARSA = _variant("SARSA", "evaluation", _Sarsa, ("sample form, next action", *_STEP), estimates="Q")
EXPECTED_SARSA = _variant("ExpectedSARSA", "evaluation", _ExpectedSarsa, ("sample form", *_STEP), estimates="Q")
RQ_LEARNING = _variant("RQLearning, delta = 1", "control", _RQ, ("sample form", *_STEP))
SPEEDY_Q = _variant(
    "SpeedyQLearning", "control", _Speedy, ("mean update", "fixed point", "asynchronous"),
    expected=speedy_q.expected, schedule="steps",
)  # fmt: skip
Q_LAMBDA = _variant(
    "QLambda", "control", _QLambda, ("mean update", "fixed point"),
    expected=_traces, delay="visited", schedule="steps",
)  # fmt: skip
