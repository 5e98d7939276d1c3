"""Wrong learners with a hidden state: windows, traces, memories, copies, averages and momentum kept wrongly."""

from dataclasses import replace
from typing import Any

import numpy as np

from properties.variants.gallery import (
    adaptive_tdc,
    averaging,
    double_q_learning,
    gtd2,
    heavy_ball,
    minibatch,
    n_step,
    replay,
    speedy_q,
    target_copy,
    td_lambda,
    tdc,
)
from properties.variants.mutants.plain import but, with_problem, with_radius
from robust_core import Problem, Transition, Variant
from robust_core.validate import Floats


def _mutant(right: Variant, name: str, make: Any) -> Variant:
    return replace(right, name=name, make=make, promises=("mean update",))


# Double Q-learning.


class _Double(double_q_learning.BothTables):
    def values(self, learning: Any, other: Any) -> list[float]:
        return [row[mine.index(min(mine))] for mine, row in zip(learning, other, strict=True)]

    def tops(self, learning: Any, other: Any) -> list[float]:
        return self.values(learning, other)

    def toss(self) -> int:
        return int(self.rng.random() < 0.5)

    def update(self, transition: Transition) -> None:
        s, a, cost, s_next, _, terminal = transition
        coin = self.toss()
        learning, other = self.tables[coin], self.tables[1 - coin]
        following = 0.0 if terminal else self.values(learning, other)[s_next]
        gamma, R = self.problem.gamma, self.radius
        target = cost + gamma * (R * max(self.tops(learning, other)) + (1.0 - R) * following)
        alpha = self._step_size(coin, s, a)
        learning[s][a] = (1.0 - alpha) * learning[s][a] + alpha * target


class _Itself(_Double):
    def values(self, learning: Any, other: Any) -> list[float]:
        return [min(mine) for mine in learning]


class _OthersChoice(_Double):
    def values(self, learning: Any, other: Any) -> list[float]:
        return [min(row) for row in other]


class _LowestTop(_Double):
    def tops(self, learning: Any, other: Any) -> list[float]:
        return [min(row) for row in other]


DOUBLE_ONE = _mutant(double_q_learning.BOTH, "double Q: one table learns", but(_Double, toss=lambda self: 0))
DOUBLE_ITSELF = _mutant(double_q_learning.BOTH, "double Q: a table evaluates itself", _Itself)
DOUBLE_OTHERS = _mutant(double_q_learning.BOTH, "double Q: the other table selects", _OthersChoice)
DOUBLE_TOP = _mutant(double_q_learning.BOTH, "double Q: maximum of minima, not of chosen values", _LowestTop)
DOUBLE_LOADED = _mutant(
    double_q_learning.BOTH, "double Q: loaded coin", but(_Double, toss=lambda self: int(self.rng.random() < 0.375))
)


# Replay.


class _StoredLate(replay.ReplayLearner):
    def update(self, transition: Transition) -> None:
        alpha, before = self.step_size(), self.Q.copy()
        for number in self.draw() if self.memory else ():
            step = self.memory[number]
            self.Q[step.s, step.a] += alpha / replay.DRAWS * (self.target(step, before) - before[step.s, step.a])
        self.memory.append(transition)


class _NewestNever(replay.ReplayLearner):
    def draw(self) -> Any:
        return np.asarray(self.rng.integers(max(len(self.memory) - 1, 1), size=replay.DRAWS))


class _NewestOften(replay.ReplayLearner):
    def draw(self) -> Any:
        return np.minimum(self.rng.integers(len(self.memory) + 1, size=replay.DRAWS), len(self.memory) - 1)


class _SmallMemory(replay.ReplayLearner):
    """The memory holds eight steps."""

    def draw(self) -> Any:
        del self.memory[:-8]
        return super().draw()


class _Summed(replay.ReplayLearner):
    def step_size(self) -> float:
        return replay.DRAWS * super().step_size()


class _DrawnOnce(replay.ReplayLearner):
    """The second draw is learned from at the table that the first has changed."""

    def update(self, transition: Transition) -> None:
        self.memory.append(transition)
        alpha = self.step_size()
        for number in self.draw():
            step = self.memory[number]
            place = step.s, step.a
            self.Q[place] += alpha / replay.DRAWS * (self.target(step, self.Q) - self.Q[place])


REPLAY_LATE = _mutant(replay.VARIANT, "replay: stored after drawing", _StoredLate)
REPLAY_NEVER = _mutant(replay.VARIANT, "replay: newest step never drawn", _NewestNever)
REPLAY_OFTEN = _mutant(replay.VARIANT, "replay: newest step too often", _NewestOften)
REPLAY_SUM = _mutant(replay.VARIANT, "replay: sum for mean", _Summed)
REPLAY_SMALL = _mutant(replay.VARIANT, "replay: memory of eight steps", _SmallMemory)
REPLAY_IN_TURN = _mutant(replay.VARIANT, "replay: draws in turn, said to be at one table", _DrawnOnce)


# Target copy.


class _CopyLate(target_copy.CopyLearner):
    def is_due(self) -> bool:
        return self.t % target_copy.PERIOD == 1


class _FreshTop(target_copy.CopyLearner):
    def target(self, transition: Transition, Q: Floats) -> float:
        fresh, old = self.Q.min(axis=1).max(), Q.min(axis=1).max()
        return super().target(transition, Q) + float(self.problem.gamma * self.radius * (fresh - old))


COPY_NEVER = _mutant(
    target_copy.VARIANT, "target copy: never renewed", but(target_copy.CopyLearner, is_due=lambda self: False)
)
COPY_LATE = _mutant(target_copy.VARIANT, "target copy: renewed one step late", _CopyLate)
COPY_TOP = _mutant(target_copy.VARIANT, "target copy: fresh maximum, old values", _FreshTop)


# Averages.


class _OnAverage(averaging.AveragingLearner):
    def target(self, transition: Transition, Q: Floats) -> float:
        return super().target(transition, self.mean)


class _StartForgotten(averaging.AveragingLearner):
    def update(self, transition: Transition) -> None:
        place = transition.s, transition.a
        self.Q[place] += self.step_size() * (self.target(transition, self.Q) - self.Q[place])
        self.mean += (self.Q - self.mean) / self.t


class _Window(averaging.AveragingLearner):
    """No average is one of more than a hundred iterates."""

    def update(self, transition: Transition) -> None:
        mean = self.mean.copy()
        super().update(transition)
        self.mean = mean + (self.Q - mean) / min(self.t + 1, 100)


class _Burned(averaging.AveragingLearner):
    """The average is begun anew after 32 steps."""

    def update(self, transition: Transition) -> None:
        super().update(transition)
        if self.t == 32:
            self.mean = self.Q.copy()


AVERAGE_BURNED = _mutant(averaging.VARIANT, "averaging: begun anew after 32 steps", _Burned)
AVERAGE_WINDOW = _mutant(averaging.VARIANT, "averaging: a window of a hundred", _Window)
AVERAGE_TARGET = _mutant(averaging.VARIANT, "averaging: bootstraps on the average", _OnAverage)
AVERAGE_START = _mutant(averaging.VARIANT, "averaging: the start is left out", _StartForgotten)


# Speedy Q-learning.


class _NoFactor(speedy_q.SpeedyLearner):
    def update(self, transition: Transition) -> None:
        place, alpha = (transition.s, transition.a), self.step_size()
        old, new = self.target(transition, self.last), self.target(transition, self.Q)
        self.keep()
        self.Q[place] += alpha * (old - self.Q[place]) + (new - old)


class _Swapped(speedy_q.SpeedyLearner):
    def update(self, transition: Transition) -> None:
        place, alpha = (transition.s, transition.a), self.step_size()
        new, old = self.target(transition, self.last), self.target(transition, self.Q)
        self.keep()
        self.Q[place] += alpha * (old - self.Q[place]) + (1.0 - alpha) * (new - old)


class _NeverMoved(speedy_q.SpeedyLearner):
    def keep(self) -> None:
        pass


SPEEDY_FACTOR = _mutant(speedy_q.VARIANT, "speedy Q: 1−alpha left out", _NoFactor)
SPEEDY_SWAPPED = _mutant(speedy_q.VARIANT, "speedy Q: tables swapped", _Swapped)
SPEEDY_STILL = _mutant(speedy_q.VARIANT, "speedy Q: the older table never moves", _NeverMoved)


# TD(lambda).


class _Replacing(td_lambda.TraceLearner):
    def mark(self, s: int) -> None:
        self.traces *= self.decay
        self.traces[s] = 1.0


class _Apart(td_lambda.TraceLearner):
    def mark(self, s: int) -> None:
        super().mark(s)
        self.traces[s] += 0.001 * (self.traces[s] - 1.0)


class _OverTheEnd(td_lambda.TraceLearner):
    def forget(self) -> None:
        pass


class _Forgotten(td_lambda.TraceLearner):
    """Small traces are dropped."""

    def mark(self, s: int) -> None:
        super().mark(s)
        self.traces[self.traces < 1e-8] = 0.0


class _AtMostThree(td_lambda.TraceLearner):
    """A bound that only a state which is visited again and again reaches."""

    def mark(self, s: int) -> None:
        super().mark(s)
        self.traces[s] = min(self.traces[s], 3.0)


class _FewCleared(td_lambda.TraceLearner):
    """At an end the traces of the last four states are cleared."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.recent: list[int] = []

    def mark(self, s: int) -> None:
        super().mark(s)
        self.recent = [*(other for other in self.recent if other != s), s][-4:]

    def forget(self) -> None:
        self.traces[self.recent] = 0.0


TRACE_FEW_CLEARED = _mutant(td_lambda.VARIANT, "TD(lambda): four traces cleared at an end", _FewCleared)
TRACE_FORGOTTEN = _mutant(td_lambda.VARIANT, "TD(lambda): small traces dropped", _Forgotten)
TRACE_BOUNDED = _mutant(td_lambda.VARIANT, "TD(lambda): traces of at most three", _AtMostThree)
TRACE_DECAY = _mutant(
    td_lambda.VARIANT,
    "TD(lambda): traces decay by gamma lambda",
    but(td_lambda.TraceLearner, decay=property(lambda self: td_lambda.LAMBDA * self.problem.gamma)),
)
TRACE_REPLACING = _mutant(td_lambda.VARIANT, "TD(lambda): replacing traces", _Replacing)
TRACE_APART = _mutant(td_lambda.VARIANT, "TD(lambda): own trace too large by a thousandth", _Apart)
TRACE_END = _mutant(td_lambda.VARIANT, "TD(lambda): traces survive the end", _OverTheEnd)


# n-step TD.


class _TopOnce(n_step.NStepLearner):
    def learn(self, alpha: float, following: float) -> None:
        gamma, R = self.problem.gamma, self.radius
        target = gamma * (R * float(self.V.max()) + (1.0 - R) * following) + self.window[-1][1]
        for _, cost in reversed(self.window[:-1]):
            target = cost + gamma * (1.0 - R) * target
        s = self.window[0][0]
        self.V[s] += alpha * (target - self.V[s])


class _LongDiscount(n_step.NStepLearner):
    def learn(self, alpha: float, following: float) -> None:
        gamma, R = self.problem.gamma, self.radius
        worst, target = gamma * R * float(self.V.max()), (1.0 - R) * following
        for _, cost in reversed(self.window):
            target = cost + worst + gamma * target
        s = self.window[0][0]
        self.V[s] += alpha * (target - self.V[s])


class _WindowLost(n_step.NStepLearner):
    def flush(self, alpha: float) -> None:
        self.window = []


class _BeyondTheEnd(n_step.NStepLearner):
    def update(self, transition: Transition) -> None:
        self.following = float(self.V[transition.s_next])
        super().update(transition)

    def flush(self, alpha: float) -> None:
        while self.window:
            self.learn(alpha, self.following)
            self.window.pop(0)


class _WindowKept(n_step.NStepLearner):
    """An end is no reason to do anything: the window goes on into the next episode."""

    def update(self, transition: Transition) -> None:
        super().update(transition._replace(terminal=False))


N_STEP_TOP = _mutant(n_step.VARIANT, "3-step TD: the maximum once", _TopOnce)
N_STEP_DISCOUNT = _mutant(n_step.VARIANT, "3-step TD: gamma for gamma(1−R)", _LongDiscount)
N_STEP_LOST = _mutant(n_step.VARIANT, "3-step TD: the window is lost at an end", _WindowLost)
N_STEP_BEYOND = _mutant(n_step.VARIANT, "3-step TD: bootstraps at an end", _BeyondTheEnd)
N_STEP_KEPT = _mutant(n_step.VARIANT, "3-step TD: the window crosses the end", _WindowKept)


# Momentum.


class _Nesterov(heavy_ball.HeavyBallLearner):
    def update(self, transition: Transition) -> None:
        place, ahead = (transition.s, transition.a), self.Q + heavy_ball.MU * self.change
        self.change = heavy_ball.MU * self.change
        self.change[place] += self.step_size() * (self.target(transition, ahead) - ahead[place])
        self.Q = self.Q + self.change


class _Damped(heavy_ball.HeavyBallLearner):
    def step_size(self) -> float:
        return (1.0 - heavy_ball.MU) * super().step_size()


class _Restarted(heavy_ball.HeavyBallLearner):
    """No momentum in every fiftieth step."""

    def update(self, transition: Transition) -> None:
        if self.t % 50 == 49:
            self.change = np.zeros_like(self.Q)
        super().update(transition)


MOMENTUM_RESTARTED = _mutant(heavy_ball.VARIANT, "momentum: restarted every fifty steps", _Restarted)
MOMENTUM_NESTEROV = _mutant(heavy_ball.VARIANT, "momentum: Nesterov's for the heavy ball", _Nesterov)
MOMENTUM_DAMPED = _mutant(heavy_ball.VARIANT, "momentum: damped", _Damped)


# Minibatches.


class _FirstOnly(minibatch.MinibatchLearner):
    def update(self, transition: Transition) -> None:
        super().update(self.batch[0] if self.batch else transition)


class _InTurn(minibatch.MinibatchLearner):
    def update(self, transition: Transition) -> None:
        alpha = self.step_size()
        self.batch.append(transition)
        if len(self.batch) == minibatch.BATCH:
            for step in self.batch:
                self.Q[step.s, step.a] += alpha / minibatch.BATCH * (self.target(step, self.Q) - self.Q[step.s, step.a])
            self.batch = []


BATCH_FIRST = _mutant(minibatch.VARIANT, "minibatch: the first step only", _FirstOnly)
BATCH_IN_TURN = _mutant(minibatch.VARIANT, "minibatch: steps in turn, said to be at one table", _InTurn)


# Momentum of TDC.


class _ThetaOnly(adaptive_tdc.HeavyBallTDC):
    def accelerate(self, directions: Floats, sizes: Floats) -> Floats:
        changes = super().accelerate(directions, sizes).copy()
        changes[1] = sizes[1] * directions[1]
        return changes


class _DampedTDC(adaptive_tdc.HeavyBallTDC):
    def accelerate(self, directions: Floats, sizes: Floats) -> Floats:
        return super().accelerate((1.0 - adaptive_tdc.MU) * directions, sizes)


class _NoCorrection(adaptive_tdc.HeavyBallTDC):
    def directions(self, transition: Transition) -> tuple[Floats, Floats]:
        omega, self.omega = self.omega, 0.0 * self.omega
        theta_part, _ = super().directions(transition)
        self.omega = omega
        return theta_part, super().directions(transition)[1]


class _Signs(adaptive_tdc.HeavyBallTDC):
    def accelerate(self, directions: Floats, sizes: Floats) -> Floats:
        return super().accelerate(np.sign(directions), sizes)


TDC_MOMENTUM_THETA = _mutant(adaptive_tdc.MOMENTUM, "TDC with momentum: omega has none", _ThetaOnly)
TDC_MOMENTUM_DAMPED = _mutant(adaptive_tdc.MOMENTUM, "TDC with momentum: damped", _DampedTDC)
TDC_NO_CORRECTION = _mutant(adaptive_tdc.MOMENTUM, "TDC with momentum: no correction", _NoCorrection)
TDC_SIGNS = _mutant(adaptive_tdc.MOMENTUM, "TDC with momentum: signs of the directions", _Signs)


# Gross ones, for every set of promises: no learning at all, nature forgotten, half the radius, a shorter horizon.


class _Never:
    def __init__(self, problem: Problem) -> None:
        self.start = problem.initial

    def update(self, transition: Transition) -> None:
        pass

    def estimate(self) -> Any:
        start = self.start
        return tuple(x.copy() for x in start) if isinstance(start, tuple) else start.copy()


RIGHT = (
    n_step.VARIANT,
    td_lambda.VARIANT,
    replay.VARIANT,
    target_copy.VARIANT,
    averaging.VARIANT,
    heavy_ball.VARIANT,
    speedy_q.VARIANT,
    minibatch.VARIANT,
    double_q_learning.BOTH,
    adaptive_tdc.MOMENTUM,
    tdc.FREE,
    gtd2.FREE,
)


def gross(right: Variant) -> list[Variant]:
    """The same promises by a learner that never learns, one of the vanilla problem, and one with half the radius."""
    makes = {
        "never learns": _Never,
        "vanilla": with_radius(right.make, 0.0),
        "half the radius": with_radius(right.make, 0.5),
        "gamma too small by a tenth": with_problem(right.make, gamma=lambda problem: 0.9 * problem.gamma),
    }
    return [replace(right, name=f"{right.name}: {name}", make=make) for name, make in makes.items()]
