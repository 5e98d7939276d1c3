"""Faults of learners."""

from typing import Any

import numpy as np

from properties.variants.faults import Fault, Faults
from properties.variants.gallery import double_q_learning, n_step, td_lambda
from properties.variants.gallery.double_q_learning import BothTables
from properties.variants.gallery.n_step import NStepLearner
from properties.variants.gallery.td_lambda import LAMBDA, TraceLearner
from properties.variants.mutants.plain import PlainQ, PlainSarsa, PlainTD, PlainTDC, but
from robust_core import Contamination, Problem, Transition, Variant
from robust_core.validate import Floats

NOMINAL = {"radii": (0.0,)}
PROMISES = ("unbiased", "sample form", "asynchronous", "fixed point", "shift", "scale", "symmetric", "bounded")
NEXT_ACTION = tuple("sample form, next action" if promise == "sample form" else promise for promise in PROMISES)


FAULTS = Faults()


def _like(name: str, make: Any, variant: Variant) -> Variant:
    """Another algorithm with the promises of one of the gallery, at radius 0."""
    return Variant(name, variant.kind, make, variant.sets, variant.promises, {**variant.options, **NOMINAL})


def _control(name: str, make: Any) -> Variant:
    return Variant(name, "control", make, (Contamination,), PROMISES, NOMINAL)


def _evaluation(name: str, make: Any, estimates: str, promises: tuple[str, ...] = PROMISES) -> Variant:
    return Variant(name, "evaluation", make, (Contamination,), promises, {"estimates": estimates, **NOMINAL})


@FAULTS.of("aimacode/aima-python#1247", "2022-01-20", _control, "Q-learning with the next cost at an end")
class NextCostAtEnd(PlainQ):
    """At an end the Q-value is set by the reward of the next percept."""

    waiting: Transition | None = None

    def update(self, step: Transition) -> None:
        """The update of an end waits for the next step."""
        if self.waiting is not None:
            super().update(self.waiting._replace(cost=step.cost))
        self.waiting = step if step.terminal else None
        if self.waiting is None:
            super().update(step)


@FAULTS.of("openai/spinningup#50", "2018-11-21", _evaluation, "TD with shifted costs", "V")
class ShiftedCosts(PlainTD):
    """Rewards are stored one step too late."""

    before = 0.0

    def target(self, step: Transition) -> float:
        """What the entry moves to."""
        cost, self.before = self.before, step.cost
        return cost + self.gamma * self.following(step)


@FAULTS.of("ray-project/ray#57895", "2025-10-20", _evaluation, "TD with zeros before ends", "V")
class ZeroBeforeEnd(PlainTD):
    """The values of states that a termination follows are zeroed before targets are computed."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.ends: set[int] = set()

    def following(self, step: Transition) -> float:
        """The value of what follows."""
        (self.ends.add if step.terminal else self.ends.discard)(step.s)
        return 0.0 if step.s_next in self.ends else super().following(step)


@FAULTS.of(
    "philtabor/Youtube-Code-Repository#1",
    "2019-04-02",
    _like,
    "double Q-learning that selects in s",
    double_q_learning.BOTH,
)
class SelectsInState(BothTables):
    """Double Q-learning chooses its action in s, not in s'."""

    def update(self, transition: Transition) -> None:
        """Toss the coin, learn from the other table."""
        s, a, cost, s_next, _, terminal = transition
        coin = int(self.rng.random() < 0.5)
        learning, other = self.tables[coin], self.tables[1 - coin]
        greedy = learning[s].index(min(learning[s]))
        target = cost + self.problem.gamma * (0.0 if terminal else other[s_next][greedy])
        alpha = self._step_size(coin, s, a)
        learning[s][a] = (1.0 - alpha) * learning[s][a] + alpha * target


@FAULTS.of("yandexdataschool/Practical_RL#552", "2026-01-19", _like, "n-step TD from the second cost", n_step.VARIANT)
class RewardsFromNext(NStepLearner):
    """The n-step return begins with the wrong reward."""

    def learn(self, alpha: float, following: float) -> None:
        """Move the oldest entry of the window towards its return."""
        gamma, target = self.problem.gamma, following
        for _, cost in reversed(self.window[1:]):
            target = cost + gamma * target
        s = self.window[0][0]
        self.V[s] += alpha * (target - self.V[s])


@FAULTS.of("thoth-station/adviser#1456", "2020-10-13", _like, "n-step TD without partial returns", n_step.VARIANT)
class DropsPartialReturns(NStepLearner):
    """N-step TD learns nothing from returns of fewer than n steps."""

    def flush(self, alpha: float) -> None:
        """Learn the full return, if there is one."""
        if len(self.window) == n_step.STEPS:
            self.learn(alpha, 0.0)
        self.window.clear()


@FAULTS.of("SlopDotCash/asi#2972", "2026-09-19", _like, "TD(lambda) whose traces survive", td_lambda.VARIANT)
class TracesSurvive(TraceLearner):
    """Traces survive the end of an episode."""

    def forget(self) -> None:
        """Nothing is forgotten."""


@FAULTS.of("SlopDotCash/asi#2840", "2026-09-05", _like, "TD(lambda) whose traces end early", td_lambda.VARIANT)
class TracesLostAtEnd(TraceLearner):
    """The trace is multiplied by the discount of the end before the last reward is credited."""

    def update(self, transition: Transition) -> None:
        """One step."""
        if transition.terminal:
            self.forget()
        super().update(transition)


class StateTraces:
    """SARSA(lambda) whose traces belong to states: all actions of a state are credited."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.Q, self.t = problem, problem.initial.copy(), 0
        self.traces = np.zeros(len(self.Q))

    def update(self, step: Transition) -> None:
        """One step."""
        self.traces *= LAMBDA * self.problem.gamma
        self.traces[step.s] += 1.0
        following = 0.0 if step.terminal else self.Q[step.s_next, step.a_next]
        delta = step.cost + self.problem.gamma * following - self.Q[step.s, step.a]
        self.Q = self.Q + self.problem.step_size.at(self.t) * delta * self.traces[:, None]
        self.t += 1
        if step.terminal:
            self.traces[:] = 0.0

    def estimate(self) -> Floats:
        """A copy."""
        return self.Q.copy()


# Gradient TD with corrections: both signs that belong to the tracked error are `+`.
PlusForMinus = but(
    PlainTDC,
    direction=lambda self, step: self.delta(step) * self.phi[step.s] + self.tracked(step) * self.g(step),
    error=lambda self, step: (self.delta(step) + self.tracked(step)) * self.phi[step.s],
)


RIGHT = (
    _control("Q-learning without a fault", PlainQ),
    _evaluation("TD without a fault", PlainTD, "V"),
    _evaluation("SARSA without a fault", PlainSarsa, "Q", NEXT_ACTION),
)
"""What the faults are made of, without them."""
FAULTS += [
    Fault(
        "lazyprogrammer/machine_learning_examples#13",
        "2017-11-19",
        "the value of a terminal state is not 0",
        _control("Q-learning without ends", but(PlainQ, following=lambda self, step: float(self.Q[step.s_next].min()))),
    ),
    Fault(
        "mcmachado/count_based_exploration_sr#1",
        "2019-06-26",
        "`−` for `·` between the discount and the value of the next pair",
        _evaluation(
            "SARSA with a minus",
            but(PlainSarsa, target=lambda self, step: step.cost + self.gamma - self.following(step)),
            "Q",
            NEXT_ACTION,
        ),
    ),
    Fault(
        "moskomule/pytorch.rl.learning#1",
        "2019-09-30",
        "SARSA with the greedy next action",
        _evaluation("greedy SARSA", PlainQ, "Q", NEXT_ACTION),
    ),
    Fault(
        "ray-project/ray#5731",
        "2019-09-18",
        "the target takes the values of the wrong time step",
        _control(
            "Q-learning one step late",
            but(PlainQ, following=lambda self, step: 0.0 if step.terminal else float(self.Q[step.s].min())),
        ),
    ),
    Fault(
        "upb-lea/reinforcement_learning_course_materials#17",
        "2023-05-31",
        "the trace of SARSA(lambda) depends on the state alone",
        Variant(
            "SARSA(lambda) with traces of states",
            "evaluation",
            StateTraces,
            (Contamination,),
            ("fixed point", "asynchronous", "scale", "symmetric"),
            {"estimates": "Q", "delay": "visited", "schedule": "steps", **NOMINAL},
        ),
    ),
    Fault(
        "rldotai/rl-algorithms#1",
        "2018-06-10",
        "`+` for `−` in both corrections of gradient TD",
        Variant("TDC with plus signs", "linear evaluation", PlusForMinus, (Contamination,), ("TDC", "scale"), NOMINAL),
    ),
]
