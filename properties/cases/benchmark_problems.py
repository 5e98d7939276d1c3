"""Benchmark problems: named models with an uncertainty set, walked by the uniform policy, and their truth.

Statistical laws, studies and the regression benchmark measure learners on them. Names and contents are hashed into
seeds and must not change.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, cached_property
from typing import Any, Literal

import numpy as np

from oracles.arithmetic import exact
from oracles.arithmetic.certified import Certified
from oracles.chains.chain import mu_min, pair_chain, state_chain
from oracles.planning import closed_form, enclosed, rational
from oracles.planning import ends as ending
from properties.cases.runs import ends_of
from properties.cases.scope import Scope
from properties.cases.transition_costs import are_paid_by, costs_of
from robust_core import models, uniform
from robust_core.learners.schedules import StepSize
from robust_core.mdp import MDP
from robust_core.problem import Problem, Variant
from robust_core.sampler import AliasTable, alias_table
from robust_core.sets import Contamination, TotalVariation, UncertaintySet
from robust_core.streams import key, numpy_generator
from robust_core.trajectory import Recording, Walk
from robust_core.validate import Floats

LAST_MOVE = Fraction(1, 2**80)
"""Exact value iteration stops when no entry moves by more: far below the last bit of the rounded result."""

SWING = 0.5
"""That of costs of transitions."""

Learned = Literal["Q*", "Q", "V"]
"""The limit of a learner: Q* (control), or Q or V of the policy that is played (evaluation)."""


@dataclass(frozen=True, eq=False)
class Truth:
    """A fixed point and how far it may be off."""

    table: Floats
    error: float

    @cached_property
    def size(self) -> float:
        """‖Q*‖, the unit of biases."""
        return float(abs(self.table).max())


@dataclass(frozen=True)
class BenchmarkProblem:
    """A named model with its uncertainty set, under the uniform policy, and what the oracles say of it.

    `step_size` is the one with which a learner is measured by default. A `terminal` state has the value 0, and the walk
    goes on from a reset. With `exact` the truth is computed in rationals and rounded once, so it has the same bits on
    every machine; without, the truth of contamination is the closed form in floats, with a certified error.
    """

    name: str
    mdp: MDP
    radius: float
    set_kind: type[UncertaintySet] = Contamination
    learns: Learned = "Q*"
    step_size: StepSize | None = None
    terminal: tuple[int, ...] = ()
    exact: bool = False
    swing: float = 0.0
    """With a swing, steps cost c(s,a,s') (`transition_costs`); not where states are terminal."""

    def within(self, scope: Scope) -> "BenchmarkProblem":
        """The problem with a radius, a discount and costs that are inside; `OutOfScope` if its sizes are not."""
        mdp, step_size = scope.fit(self.mdp), self.step_size
        if step_size is not None and step_size.clock == "visits" and mdp.gamma != self.mdp.gamma:
            step_size = replace(step_size, rate=1.0 - mdp.gamma)
        return replace(self, mdp=mdp, radius=scope.radius(self.radius), step_size=step_size)

    @property
    def content(self) -> tuple[str | float, ...]:
        """What identifies the problem in a key."""
        usual = self.set_kind is Contamination and self.learns == "Q*"
        others = (() if usual else (self.set_kind.__name__, self.learns)) + ((self.swing,) if self.swing else ())
        return (self.mdp.hash, self.radius, *others)

    @property
    def uncertainty_set(self) -> UncertaintySet:
        """The set of the given radius."""
        return self.set_kind.choose(lambda levels: levels[0], self.radius, self.mdp.P, self.mdp.cost.min(axis=1))

    @cached_property
    def policy(self) -> Floats:
        """The behaviour policy, and the one that is evaluated."""
        return uniform(self.mdp.n_states, self.mdp.n_actions)

    @cached_property
    def table(self) -> AliasTable:
        """The alias table of the walk, built once."""
        return alias_table(self.mdp, self.policy)

    @cached_property
    def mask(self) -> np.ndarray:
        """Which states are terminal."""
        return np.isin(np.arange(self.mdp.n_states), self.terminal)

    @property
    def n_pairs(self) -> int:
        """S·A."""
        return int(self.mdp.cost.size)

    @cached_property
    def truth(self) -> Truth:
        """What is to be learned, from an oracle (its certified error is far below every threshold used)."""
        return _truth(self)

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
        for certain, so for them 1−R is replaced by 1. Costs of transitions add their own deviation at most.
        """
        P, pi, truth = self.mdp.P, self.policy, self.truth.table
        b = self.mdp.gamma * ((1.0 - self.radius) if self.set_kind is Contamination else 1.0)
        if self.learns == "V":
            target = self.mdp.cost[:, :, None] + b * truth
            moments = [np.einsum("sa,sat,sat->s", pi, P, target**k) for k in (1, 2)]
        elif self.learns == "Q":
            moments = [b**k * (P @ (pi * truth**k).sum(axis=1)) for k in (1, 2)]
        else:
            moments = [b**k * (P @ truth.min(axis=1) ** k) for k in (1, 2)]
        noise = float(np.sqrt(max((moments[1] - moments[0] ** 2).max(), 0.0)))
        if not self.swing:
            return noise
        return noise + float(np.sqrt((P * (self.transition_costs - self.mdp.cost[:, :, None]) ** 2).sum(axis=2).max()))

    @property
    def ceiling(self) -> float:
        """The top of the box that contains the truth."""
        return float(self.mdp.cost.max() / (1.0 - self.mdp.gamma))

    def problem(self, step_size: StepSize | None = None, *, initial: float | Floats = 0.0) -> Problem:
        """What a learner is told; the step size is by default that of the benchmark problem."""
        step_size = self.step_size if step_size is None else step_size
        if step_size is None:
            raise ValueError(f"benchmark problem {self.name!r} names no step size: give one")
        S, A = self.mdp.n_states, self.mdp.n_actions
        return Problem.of(
            self.mdp,
            self.uncertainty_set,
            step_size=step_size,
            initial=np.broadcast_to(initial, (S,) if self.learns == "V" else (S, A)),
            policy=None if self.learns == "Q*" else self.policy,
        )

    def walk(self, seed: bytes) -> Walk:
        """A trajectory under the behaviour policy."""
        terminal = self.mask if self.terminal else None
        return Walk(self.mdp, self.policy, seed=seed, table=self.table, terminal=terminal)

    def record(self, seed: bytes, steps: int) -> Recording:
        """The first steps of a trajectory."""
        found = self.walk(seed).record(steps)
        return replace(found, cost=self.transition_costs[found.s, found.a, found.s_next]) if self.swing else found

    @cached_property
    def transition_costs(self) -> Floats:
        """c(s,a,s'), an array (S, A, S)."""
        return costs_of(self.mdp, self.swing)


ENDING = 0.25
"""The probability that a transition of an `EndingProblem` is the last one of its episode."""


@dataclass(frozen=True)
class EndingProblem(BenchmarkProblem):
    """A problem in which every transition ends its episode with probability ENDING; the walk goes on where it was."""

    nature_ends: bool = False

    @property
    def content(self) -> tuple[str | float, ...]:
        """What identifies the problem in a key."""
        return (*super().content, ENDING, float(self.nature_ends))

    @cached_property
    def truth(self) -> Truth:
        """What is to be learned, in rationals and rounded once."""
        policy = None if self.learns == "Q*" else self.policy
        ends = np.full(self.mdp.n_states, ENDING)
        V, Q = ending.enclose(self.mdp, self.uncertainty_set, policy, ends, nature_ends=self.nature_ends)
        found = V if self.learns == "V" else Q
        return Truth(np.asarray(found.value), found.error_bound)

    @cached_property
    def sigma(self) -> float:
        """A bound: √(sigma² + E(1−E) B²), E the probability of an end, B the largest discounted value that it cuts off.

        Given that the episode goes on, the target has the variance of a problem with this truth and no ends. The end
        itself is a coin that takes at most B away.
        """
        cut = self.mdp.gamma * self.truth.size
        return float(np.hypot(super().sigma, np.sqrt(ENDING * (1.0 - ENDING)) * cut))

    def record(self, seed: bytes, steps: int) -> Recording:
        """The first steps of a trajectory, each the last of its episode by a coin of its own."""
        coins = numpy_generator(key("ends of episodes", seed)).random(steps)
        return replace(super().record(seed, steps), terminal=coins < ENDING)


@cache
def _truth(problem: BenchmarkProblem) -> Truth:
    mdp, part = problem.mdp, "V" if problem.learns == "V" else "Q"
    found: Any
    if problem.terminal:
        return _episodic(problem)
    if problem.set_kind is Contamination and not problem.exact:
        found = (
            closed_form.solve(mdp, problem.radius)
            if problem.learns == "Q*"
            else closed_form.evaluate(mdp, problem.radius, problem.policy)
        )
        certified: Certified = getattr(found, part)
        return Truth(np.asarray(certified.value), float(np.max(certified.error_bound)))
    if problem.learns == "Q*":
        enclosure = enclosed.solve(mdp, problem.uncertainty_set)
    else:
        V, Q = enclosed.evaluate(mdp, problem.uncertainty_set, problem.policy)
        enclosure = V if problem.learns == "V" else Q
    return Truth(np.asarray(enclosure.value), enclosure.error_bound)


def _rounded(values: Any, error: float = 0.0) -> Truth:
    """Exact values that may be off by `error`, as the nearest floats."""
    found = rational.certified_values(values, "exact, rounded once")
    return Truth(found.value, found.error_bound + error)


def _episodic(problem: BenchmarkProblem) -> Truth:
    """Value iteration with V = 0 at terminal states, exactly; what is left is that of a gamma-contraction."""
    if problem.set_kind is not Contamination or problem.learns != "Q*":
        raise ValueError(f"benchmark problem {problem.name!r}: with terminal states only Q* of contamination is known")
    mdp, gamma = problem.mdp, Fraction(problem.mdp.gamma)
    kernel, cost = exact.kernel(mdp), exact.costs(mdp)
    told, kept = gamma * Fraction(problem.radius), gamma * (1 - Fraction(problem.radius))
    Q = [[Fraction(0)] * mdp.n_actions for _ in range(mdp.n_states)]
    while True:
        V = [min(row) for row in Q]
        values, worst = exact.Rational.of(V), told * max(V)
        image = [
            [Fraction(0) if problem.mask[s] else cost[s][a] + kept * kernel[s][a].dot(values) + worst
             for a in range(mdp.n_actions)]
            for s in range(mdp.n_states)
        ]  # fmt: skip
        moved = max(abs(x - y) for new, old in zip(image, Q, strict=True) for x, y in zip(new, old, strict=True))
        Q = image
        if moved <= LAST_MOVE:
            return _rounded(Q, exact.round_up(gamma * moved / (1 - gamma)))


@cache
def small_problems() -> dict[str, BenchmarkProblem]:
    """The benchmark problems of the statistical laws: small, dyadic, every pair visited often."""
    named = (
        BenchmarkProblem("two states", models.two_states(gamma=0.5), 0.25),
        BenchmarkProblem("machine", models.machine_replacement(3, gamma=0.5), 0.125),
        BenchmarkProblem("garnet", models.garnet(4, 2, 2, gamma=0.5, seed=key("statistics", "garnet")), 0.25),
    )
    return {problem.name: problem for problem in named}


def problems_for(variant: Variant) -> dict[str, BenchmarkProblem]:
    """The small problems as a variant is meant to meet them: its first set, a radius it is for, what it learns."""
    learns: Learned = "Q*" if variant.kind == "control" else variant.options.get("estimates", "V")
    return _adapted(variant.sets[0], learns, tuple(variant.options.get("radii", ())))


def with_paid_costs(problem: BenchmarkProblem, variant: Variant) -> BenchmarkProblem:
    """The problem with costs of transitions, if the variant is for them and no state is terminal."""
    return replace(problem, swing=SWING) if are_paid_by(variant) and not problem.terminal else problem


def models_for(variant: Variant, *names: str) -> list[MDP]:
    """The models of some of these problems."""
    return [problems_for(variant)[name].mdp for name in names]


@cache
def _adapted(set_kind: type[UncertaintySet], learns: Learned, radii: tuple[float, ...]) -> dict[str, BenchmarkProblem]:
    return {
        name: replace(
            problem,
            set_kind=set_kind,
            learns=learns,
            radius=problem.radius if not radii or problem.radius in radii else radii[0],
        )
        for name, problem in small_problems().items()
    }


def ending_problem(variant: Variant) -> EndingProblem | None:
    """The two states with ends of episodes, as a variant is meant to meet them; None if it is not for ends."""
    meaning, plain = ends_of(variant, variant.sets[0]), problems_for(variant)["two states"]
    if meaning == "none" or not issubclass(plain.set_kind, Contamination | TotalVariation):
        return None
    return EndingProblem(
        "two states with ends",
        plain.mdp,
        plain.radius,
        plain.set_kind,
        plain.learns,
        nature_ends=meaning == "nature ends",
    )
