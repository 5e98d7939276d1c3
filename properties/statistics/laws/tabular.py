"""What the laws of tabular learners share: named problems, the two speeds of a learner, and wrong learners."""

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import Any, Literal

import numpy as np

from oracles.chains.chain import mu_min, pair_chain, state_chain
from oracles.planning import closed_form, rational
from properties.judging.observation import call_learner
from robust_core import Q_LEARNING, Contamination, TabularLearner, constant, models, per_visit, uniform
from robust_core.learners.schedules import StepSize
from robust_core.mdp import MDP
from robust_core.problem import Problem, Variant
from robust_core.sampler import AliasTable, alias_table
from robust_core.sets import UncertaintySet
from robust_core.streams import key, numpy_generator
from robust_core.trajectory import Recording, Transition, Walk
from robust_core.validate import EPS, Floats

AGREEMENT = 64
"""Transitions on which update_many must equal the loop over update before it is used."""


Truth = Literal["Q*", "Q", "V"]
"""What a learner estimates: Q* (control), or Q or V of the policy that is played (evaluation)."""


@dataclass(frozen=True)
class Setting:
    """A named model with its uncertainty set, under the uniform policy, and what the oracles say of it."""

    name: str
    mdp: MDP
    radius: float
    family: type[UncertaintySet] = Contamination
    learns: Truth = "Q*"

    @property
    def content(self) -> tuple[str | float, ...]:
        """What identifies the setting in a key."""
        usual = self.family is Contamination and self.learns == "Q*"
        return (self.mdp.hash, self.radius, *(() if usual else (self.family.__name__, self.learns)))

    @property
    def uncertainty_set(self) -> UncertaintySet:
        """The set of the given radius."""
        return self.family(self.radius)  # type: ignore[call-arg]

    @cached_property
    def truth(self) -> Floats:
        """What is to be learned, from an oracle (its certified error is far below every threshold used)."""
        part = "V" if self.learns == "V" else "Q"
        if self.family is Contamination:
            found = (
                closed_form.solve(self.mdp, self.radius)
                if self.learns == "Q*"
                else closed_form.evaluate(self.mdp, self.radius, self.policy)
            )
            return np.asarray(getattr(found, part).value)
        exact = (
            rational.solve(self.mdp, self.uncertainty_set)
            if self.learns == "Q*"
            else rational.evaluate(self.mdp, self.uncertainty_set, self.policy)
        )
        return np.array(getattr(exact, part), dtype=np.float64)

    @cached_property
    def mu_min(self) -> float:
        """The stationary probability of the rarest entry: a pair, or a state where V is learned."""
        chain = (state_chain if self.learns == "V" else pair_chain)(self.mdp, self.policy)
        return float(mu_min(chain).value)

    @cached_property
    def sigma(self) -> float:
        """The largest standard deviation, at the truth, of a target that samples what follows.

        gamma(1−R) times the deviation of V*(s'), of Q(s',a') for a learner of Q, and for a learner of V that of
        c(s,a) + gamma(1−R)V(s') over the action too. Sets other than contamination keep no share of the sample
        for certain, so for them 1−R is replaced by 1.
        """
        P, pi, truth = self.mdp.P, self.policy, self.truth
        b = self.mdp.gamma * ((1.0 - self.radius) if self.family is Contamination else 1.0)
        if self.learns == "V":
            target = self.mdp.cost[:, :, None] + b * truth
            moments = [np.einsum("sa,sat,sat->s", pi, P, target**k) for k in (1, 2)]
        elif self.learns == "Q":
            moments = [b**k * (P @ (pi * truth**k).sum(axis=1)) for k in (1, 2)]
        else:
            moments = [b**k * (P @ truth.min(axis=1) ** k) for k in (1, 2)]
        return float(np.sqrt(max((moments[1] - moments[0] ** 2).max(), 0.0)))

    @cached_property
    def policy(self) -> Floats:
        """The behaviour policy."""
        return uniform(self.mdp.n_states, self.mdp.n_actions)

    @cached_property
    def table(self) -> AliasTable:
        """The alias table of the walk, built once."""
        return alias_table(self.mdp, self.policy)

    @property
    def ceiling(self) -> float:
        """The top of the box that contains the truth."""
        return float(self.mdp.cost.max() / (1.0 - self.mdp.gamma))

    def problem(self, step_size: StepSize, *, radius: float | None = None, initial: float = 0.0) -> Problem:
        """What a learner is told, started from a constant table."""
        S, A = self.mdp.n_states, self.mdp.n_actions
        return Problem.of(
            self.mdp,
            self.uncertainty_set if radius is None else Contamination(radius),
            step_size=step_size,
            initial=np.full((S,) if self.learns == "V" else (S, A), initial),
            policy=None if self.learns == "Q*" else self.policy,
        )

    def record(self, seed: bytes, steps: int) -> Recording:
        """A trajectory."""
        return Walk(self.mdp, self.policy, seed=seed, table=self.table).record(steps)


@cache
def settings() -> dict[str, Setting]:
    """The named problems: small, dyadic, every pair visited often."""
    named = (
        Setting("two states", models.two_states(gamma=0.5), 0.25),
        Setting("machine", models.machine_replacement(3, gamma=0.5), 0.125),
        Setting("garnet", models.garnet(4, 2, 2, gamma=0.5, seed=key("statistics", "garnet")), 0.25),
    )
    return {setting.name: setting for setting in named}


def settings_for(variant: Variant) -> dict[str, Setting]:
    """The named problems as a variant is meant to meet them: its first set, a radius it is for, what it learns."""
    learns: Truth = "Q*" if variant.kind == "control" else variant.options.get("estimates", "V")
    return _adapted(variant.sets[0], learns, tuple(variant.options.get("radii", ())))


@cache
def _adapted(family: type[UncertaintySet], learns: Truth, radii: tuple[float, ...]) -> dict[str, Setting]:
    return {
        name: replace(
            setting,
            family=family,
            learns=learns,
            radius=setting.radius if not radii or setting.radius in radii else radii[0],
        )
        for name, setting in settings().items()
    }


def rounding(setting: Setting, alpha: float) -> float:
    """How far the roundings of updates add up: some EPS each, of which alpha(1−gamma) is forgotten at every step."""
    return 4.0 * EPS * setting.ceiling / (alpha * (1.0 - setting.mdp.gamma))


def made(variant: Variant, problem: Problem, seed: bytes) -> Any:
    """A learner with an rng of its own, keyed by the replicate."""
    return variant.make(replace(problem, rng=numpy_generator(key("learner", seed))))


def stretch(recording: Recording, start: int, stop: int) -> Recording:
    """A part of a recording."""
    part = slice(start, stop)
    places = (recording.s[part], recording.a[part], recording.cost[part], recording.s_next[part])
    return Recording(*places, recording.a_next[part], recording.terminal[part])


def advance(learner: Any, recording: Recording, *, fast: bool) -> None:
    """Feed a recorded trajectory to a learner."""
    if fast:
        learner.update_many(recording)
    else:
        call_learner(_advance, learner, recording)


def _advance(learner: Any, recording: Recording) -> None:
    for transition in recording:
        learner.update(transition)


def is_fast(variant: Variant, problem: Problem, recording: Recording) -> bool:
    """Whether the variant has an update_many that equals its update on a short stretch."""
    learner = made(variant, problem, b"agreement")
    if not hasattr(learner, "update_many"):
        return False
    start = stretch(recording, 0, AGREEMENT)
    twin = copy.deepcopy(learner)
    advance(learner, start, fast=False)
    advance(twin, start, fast=True)
    return bool(np.array_equal(learner.estimate(), twin.estimate()))


def _retold(change: Callable[[Problem], Problem]) -> Callable[[Problem], TabularLearner]:
    """Q-learning on a problem that was changed on its way."""
    return lambda problem: TabularLearner(Q_LEARNING, change(problem))


class _Dear(TabularLearner):
    """Every cost is one percent too high: a target biased by one percent."""

    factor = 1.01

    def __init__(self, problem: Problem) -> None:
        super().__init__(Q_LEARNING, problem)

    def update(self, transition: Transition) -> None:
        super().update(transition._replace(cost=self.factor * transition.cost))

    def update_many(self, recording: Recording) -> None:
        super().update_many(replace(recording, cost=self.factor * recording.cost))


PROMISES = ("unbiased", "asynchronous", "converges", "finite time", "as fast as vanilla", "fast path")
_kind = partial(Variant, kind="control", sets=(Contamination,), promises=PROMISES)


def _radius(factor: float) -> Callable[[Problem], Problem]:
    def change(problem: Problem) -> Problem:
        told = problem.uncertainty_set
        assert isinstance(told, Contamination)
        return replace(problem, uncertainty_set=Contamination(factor * told.radius))

    return change


def _step(step_size: StepSize) -> Callable[[Problem], Problem]:
    return lambda problem: replace(problem, step_size=step_size)


RIGHT = _kind(name="robust Q-learning", make=partial(TabularLearner, Q_LEARNING))
NOISY = _kind(name="Q-learning with a constant step", make=_retold(_step(constant(0.5))))
STUCK = _kind(name="Q-learning with a summable step", make=_retold(_step(per_visit(1.0, rate=1.0, power=2.0))))
SLOW = _kind(name="Q-learning with a twentieth of the step", make=_retold(_step(per_visit(0.05, rate=0.5, power=1.0))))
WRONG_RADIUS = _kind(name="Q-learning with half the radius", make=_retold(_radius(0.5)))
DEAR = _kind(name="Q-learning with costs 1 % too high", make=_Dear)


class _VeryDear(_Dear):
    """Costs are ten percent too high."""

    factor = 1.1


VERY_DEAR = _kind(name="Q-learning with costs 10 % too high", make=_VeryDear)


class _Doubled(_Dear):
    """Costs are counted twice.

    Started at 0 the table is twice that of the right learner, so its error is at least ‖Q*‖ − 2‖Q_T − Q*‖. Wherever the
    right learner keeps the sharpened bound of the finite-time law, which is in all but a quarter of its runs, this
    exceeds epsilon: on every named problem ‖Q*‖ is more than 2 epsilon, and that bound less than epsilon/2.
    """

    factor = 2.0


DOUBLED = _kind(name="Q-learning with costs counted twice", make=_Doubled)
