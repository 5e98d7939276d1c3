"""Metrics of learners that are not driven by one walk over a table: batches, features, average costs, simulators.

A course is a problem that is the same for all seeds, with its certified truth, and the order in which a learner is
fed; the seed chooses the transitions or draws. The step in which times are counted is one update (of a batch, of a
transition) or one iteration. This module is executed in workers, for it calls the user's code.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice, repeat
from typing import Any

import numpy as np

from benchmarks.regression.functions import (
    RADIUS,
    VARRHO,
    Misbehaved,
    Unsuitable,
    cosines,
    draw,
    require,
    sizes_of,
    smoothing_of,
    sweep,
)
from benchmarks.regression.measures import Model
from benchmarks.regression.tabular import EPSILON, Sizes, Values, learning, significant, value_of
from oracles.chains.chain import state_chain, stationary
from oracles.planning import average_cost, enclosed
from properties.cases.feeds import CountingSimulator, batches, transitions_of_walk
from properties.cases.planted_problems import on_grid
from properties.cases.scope import Scope
from properties.judging.boundary import plain
from properties.judging.convention import in_costs
from robust_core import Contamination, TotalVariation, constant, greedy, key, models, support
from robust_core.learners.schedules import per_visit
from robust_core.mdp import MDP
from robust_core.policy import uniform
from robust_core.problem import Problem, Variant
from robust_core.sets import UncertaintySet
from robust_core.streams import numpy_generator
from robust_core.validate import Floats

LEARNED = ("middle error", "last error", "area", "time to epsilon", "bias", "spread")
REGRET, TRACKING, DRAWS = "regret", "tracking error", "draws"
USUAL, LINEAR, FEW = (
    Sizes(middle=2**8, last=2**11, spread=2**9, per_octave=2),
    Sizes(middle=2**7, last=2**10, spread=2**8, per_octave=2),
    Sizes(middle=2**3, last=2**6, spread=2**4, per_octave=2),
)
"""Updates of a learner of a table and of one with features, and iterations of one with a simulator."""
BATCH = 4
"""Transitions of a batch, unless options["batch"] says another number."""
COST_GRID, TILT = 2.0**-30, 0.5
FED = 2**6
"""Updates between two looks at the clock."""


@dataclass(frozen=True, eq=False)
class Course:
    """A problem, its truth up to `error`, and what a learner is fed.

    `told` holds the initial estimate; `feed` gives the endless arguments of update of a seed. A learner with a
    simulator is fed nothing. `regret` is how far the robust value of the greedy policy of an estimate lies above the
    optimum, in units of the truth, and whether it is better than possible. With `free` a constant is of no consequence.
    """

    mdp: MDP
    told: Problem
    truth: Floats
    feed: Callable[[bytes], Iterator[Any]] | None
    sizes: Sizes = USUAL
    regret: Callable[[Floats], tuple[float, bool]] | None = None
    omega: Callable[[Floats], Floats] | None = None
    free: bool = False

    def off(self, estimate: Floats) -> Floats:
        """How far each entry of an estimate is from the truth."""
        found = estimate - self.truth
        return found - (found.max() + found.min()) / 2.0 if self.free else found

    @property
    def size(self) -> float:
        """The unit of biases."""
        return float(np.abs(self.truth).max())


class Learner:
    """A learner of the user's with an rng of its own, and its estimate as arrays of the shape of the initial one."""

    def __init__(self, variant: Variant, told: Problem, seed: bytes, *simulator: CountingSimulator) -> None:
        self._variant, self._shape = variant, told.initial.shape
        told = replace(told, initial=_several(variant, told.initial), rng=numpy_generator(seed))
        self.started = in_costs(variant)(told, *simulator)

    def parts(self) -> tuple[Floats, ...]:
        """The parts of the estimate: tables, or theta and omega."""
        found = plain(self.started.estimate())
        parts = tuple(np.asarray(part, dtype=np.float64) for part in (found if isinstance(found, tuple) else (found,)))
        for part in parts:
            if part.shape != self._shape:
                raise Misbehaved(f"estimate() must have the shape {self._shape}, got {part.shape}")
        return parts

    def estimate(self) -> Floats:
        """The vector theta, or the mean of all tables."""
        parts = self.parts()
        return parts[0] if _has_features(self._variant) else np.asarray(sum(parts[1:], parts[0]) / len(parts))


def _has_features(variant: Variant) -> bool:
    return variant.kind in ("linear evaluation", *FEATURES)


def _several(variant: Variant, initial: Floats) -> Any:
    """The initial estimate as a learner of several tables, or of theta and omega, is told it."""
    tables = 2 if variant.kind == "off-policy evaluation" else variant.options.get("tables", 0)
    if not tables:
        return initial
    other = np.zeros_like(initial) if _has_features(variant) else initial
    return (initial, *(other.copy() for _ in range(tables - 1)))


class Run(Learner):
    """A learner of the user's on a course, started at `initial`."""

    def __init__(self, variant: Variant, course: Course, initial: Floats, seed: bytes) -> None:
        self.simulators = () if course.feed is not None else (CountingSimulator(course.mdp, seed),)
        super().__init__(variant, replace(course.told, initial=initial), key("learner", seed), *self.simulators)
        self._fed = None if course.feed is None else course.feed(seed)

    def advance(self, steps: int) -> None:
        """So many updates or iterations."""
        if self._fed is None:
            for _ in range(steps):
                self.started.iterate()
        else:
            for fed in islice(self._fed, steps):
                self.started.update(fed)


def row(variant: Variant, problem: str, model: Model | None, seed: bytes) -> Values:
    """All metrics of one seed."""
    course = course_of(variant, problem, model)
    run = Run(variant, course, course.told.initial, seed)
    curve, last = _curve(run, course.sizes), course.sizes.last
    errors = {time: float(np.abs(course.off(x)).max()) for time, x in curve.items()}
    found = learning(errors, course.sizes, EPSILON * course.size)
    ends = []
    for word in ("first", "second"):
        other = Run(variant, course, course.truth, key(word, seed))
        other.advance(course.sizes.spread)
        ends.append(other.estimate())
    values = {
        "bias": float((course.off(curve[last]) * np.sign(course.truth)).mean()) / course.size,
        "spread": float(np.abs(ends[0] - ends[1]).max()),
    }
    if course.omega is not None:
        theta, omega = run.parts()[:2]
        values[TRACKING] = float(((omega - course.omega(theta)) ** 2).sum())
    for simulator in run.simulators:
        values[DRAWS] = simulator.used / last
    found |= {name: (significant(value), False) for name, value in values.items()}
    if course.regret is not None:
        above, impossible = course.regret(curve[course.sizes.middle])
        found[REGRET] = significant(max(above, 0.0)), impossible
    return found


def _curve(run: Run, sizes: Sizes) -> dict[int, Floats]:
    """The estimate at the checkpoints."""
    curve, reached = {}, 0
    for time in sizes.checkpoints(1):
        run.advance(time - reached)
        curve[time], reached = run.estimate(), time
    return curve


def contestants(
    variant: Variant, problem: str, model: Model | None, seed: bytes
) -> tuple[Callable[[], object], Callable[[], object]]:
    """Some updates, or an iteration, of the variant, and a sweep of the built-in operator."""
    course = course_of(variant, problem, model)
    run = Run(variant, course, course.told.initial, seed)
    if course.feed is None:
        return lambda: run.advance(1), sweep(course.mdp)
    kept = list(islice(course.feed(seed), FED))
    again = replace(course, feed=lambda seed: (fed for _ in repeat(None) for fed in kept))
    run = Run(variant, again, course.told.initial, seed)
    return lambda: run.advance(FED), sweep(course.mdp)


# The courses


def course_of(variant: Variant, problem: str, model: Model | None) -> Course:
    """The course of a variant's kind on a problem."""
    options = variant.options
    if variant.kind in FEATURES:
        smoothed = options.get("smoothing", "" if "semi-gradient" in variant.promises else "lse")
        require(variant, Contamination(0.0) if Contamination in variant.sets else None, Contamination)
        return _planted(variant.kind, problem, Scope.of(variant), smoothed)
    mdp, given = draw(variant, problem, model, b"simulator" if variant.kind == "simulator" else b"course")
    assert given is not None
    if variant.kind == "average cost learner":
        if not require(variant, given, Contamination, TotalVariation).radius:
            raise Unsuitable(f"the average cost may depend on the start without a radius, and {variant.name} has 0")
        return _average(mdp.to_json(), given, options.get("schedule", ""), "reference" in options)
    return _tabular(variant.kind, mdp.to_json(), given, options.get("estimates", "Q"), options.get("batch", BATCH))


@lru_cache(maxsize=64)
def _tabular(kind: str, text: str, given: UncertaintySet, estimates: str, batch: int) -> Course:
    """Learners of Q* or of V of the uniform policy, from batches or with a simulator."""
    mdp = MDP.from_json(text)
    policy = uniform(mdp.n_states, mdp.n_actions)
    evaluated = estimates == "V"
    best = enclosed.solve(mdp, given)
    truth = np.asarray(enclosed.evaluate(mdp, given, policy)[0].value if evaluated else best.value)
    size = float(np.abs(best.value).max())

    def regret(estimate: Floats) -> tuple[float, bool]:
        Q = mdp.cost + mdp.gamma * support(mdp, given, estimate) if evaluated else estimate
        return _regret(mdp, given, Q, np.asarray(best.value).min(axis=1), float(np.max(best.error_bound)), size)

    simulated = kind == "simulator"
    step_size = per_visit(1.0, rate=1.0 - mdp.gamma, power=1.0) if simulated else constant(0.5)
    told = Problem.of(
        mdp, given, step_size=step_size, initial=np.zeros(truth.shape), policy=policy if evaluated else None
    )
    feed = None if simulated else lambda seed: batches(mdp, policy, batch, seed)
    return Course(mdp, told, truth, feed, FEW if simulated else USUAL, regret)


def _regret(mdp: MDP, given: UncertaintySet, Q: Floats, best: Floats, error: float, size: float) -> tuple[float, bool]:
    """The robust value of the greedy policy above the optimum, and whether it is below."""
    value = value_of(mdp, given, greedy(np.nan_to_num(Q)))
    return float((value.value - best).max()) / size, bool((value.upper < best - error).any())


@lru_cache(maxsize=64)
def _average(text: str, given: Any, clock: str, free: bool) -> Course:
    """The table whose first entry is the gain: with another reference its constant is another one."""
    mdp = MDP.from_json(text)
    found = average_cost.solve(mdp, given)
    V = np.array([float(x) for x in found.bias])
    Q = mdp.cost + support(mdp, given, V)
    truth, size = Q - Q[0, 0] + float(found.gain), float(np.abs(mdp.cost).max())

    def regret(estimate: Floats) -> tuple[float, bool]:
        gain = _gain(mdp, given, greedy(np.nan_to_num(estimate)).tobytes())
        return (gain - float(found.gain)) / size, gain < float(found.gain) - 2.0**-40 * size

    step_size = constant(2.0**-4) if clock == "steps" else per_visit(1.0, rate=0.25, power=1.0)
    told = Problem.of(mdp, given, step_size=step_size, initial=np.zeros(truth.shape))
    policy = uniform(mdp.n_states, mdp.n_actions)
    return Course(mdp, told, truth, lambda seed: transitions_of_walk(mdp, policy, seed), regret=regret, free=free)


@lru_cache(maxsize=4096)
def _gain(mdp: MDP, given: Any, actions: bytes) -> float:
    """The gain of a policy: that of the model which has its actions alone."""
    chosen, states = np.frombuffer(actions, dtype=np.int64), np.arange(mdp.n_states)
    alone = MDP(mdp.P[states, chosen][:, None], mdp.cost[states, chosen][:, None], mdp.gamma)
    return float(average_cost.solve(alone, given).gain)


@lru_cache(maxsize=64)
def _planted(kind: str, problem: str, scope: Scope, smoothed: str) -> Course:
    """Costs under which a vector that is known is the solution."""
    states, actions, successors = sizes_of(problem, scope)
    if kind == "off-policy evaluation" and actions not in (2, 3):
        raise Unsuitable(f"an {kind} is measured with 2 or 3 actions, got {actions}")
    model = models.garnet(states, actions, successors, gamma=scope.gamma(0.5), seed=key("course", kind, problem))
    make = _control if kind == "linear control" else _off_policy
    course = make(model, Contamination(scope.radius(RADIUS)), smoothed)
    scope.require_model(course.mdp)
    return course


THETA, START = np.array([1.0, -0.5]), np.array([-1.0, 1.0])


def _off_policy(model: MDP, given: Contamination, smoothed: str) -> Course:
    """The values of a policy that is not the behaviour: costs differ by action, and only its mean is planted."""
    S, A, gamma, R = model.n_states, model.n_actions, model.gamma, given.radius
    features, smoothing = cosines(S), smoothing_of(smoothed, VARRHO)
    policy = np.tile([0.375, 0.625] if A == 2 else [0.25, 0.5, 0.25], (S, 1))
    policy[::2] = policy[::2, ::-1]
    policy[1::2] = np.roll(policy[1::2], 1, axis=1)
    behaviour = np.tile([0.5, 0.5] if A == 2 else [0.5, 0.25, 0.25], (S, 1))
    V = features @ THETA
    planted = on_grid(V[:, None] - gamma * (1.0 - R) * (model.P @ V) - gamma * R * smoothing.value(V), COST_GRID)
    tilt = np.zeros((S, A))
    # The mean under the policy is 0, without rounding.
    tilt[:, 0], tilt[:, 1] = TILT * policy[:, 1], -TILT * policy[:, 0]
    mdp = MDP(model.kernel, planted + tilt, gamma)
    told = Problem.of(
        mdp, given, step_size=constant(2.0**-5), second_step_size=constant(2.0**-4), initial=START, policy=policy,
        behaviour=behaviour, features=features, smoothing=smoothing, projection=4.0, second_projection=4.0,
    )  # fmt: skip
    mu = np.asarray(stationary(state_chain(mdp, behaviour)).value)
    weighted, chain = features.T * mu, np.einsum("sa,sat->st", policy, mdp.P)
    C, cost = weighted @ features, (policy * mdp.cost).sum(axis=1)

    def omega(theta: Floats) -> Floats:
        V = features @ theta
        delta = cost + gamma * ((1.0 - R) * chain @ V + R * smoothing.value(V)) - V
        return np.asarray(np.linalg.solve(C, weighted @ delta))

    return Course(mdp, told, THETA, lambda seed: transitions_of_walk(mdp, behaviour, seed), LINEAR, omega=omega)


def _control(model: MDP, given: Contamination, smoothed: str) -> Course:
    """Optimal values that are linear in features of pairs."""
    S, A, gamma, R = model.n_states, model.n_actions, model.gamma, given.radius
    features = cosines(S * A).reshape(S, A, 2)
    Q = features @ THETA
    V = Q.min(axis=1)
    top = smoothing_of(smoothed, VARRHO).value(V) if smoothed else V.max()
    mdp = MDP(model.kernel, on_grid(Q - gamma * ((1.0 - R) * model.P @ V + R * top), COST_GRID), gamma)
    behaviour = uniform(S, A)
    best = enclosed.solve(mdp, given)

    def regret(theta: Floats) -> tuple[float, bool]:
        error, size = float(np.max(best.error_bound)), float(np.abs(best.value).max())
        return _regret(mdp, given, features @ theta, np.asarray(best.value).min(axis=1), error, size)

    told = Problem.of(
        mdp, given, step_size=constant(2.0**-5), second_step_size=constant(2.0**-4), initial=START,
        behaviour=behaviour, features=features, smoothing=smoothing_of(smoothed or "lse", VARRHO),
    )  # fmt: skip
    return Course(mdp, told, THETA, lambda seed: transitions_of_walk(mdp, behaviour, seed), LINEAR, regret)


FEATURES = ("off-policy evaluation", "linear control")
"""The kinds whose estimate is a vector theta, perhaps with omega."""
METRICS: dict[str, tuple[str, ...]] = {
    "batch": (*LEARNED, REGRET),
    "off-policy evaluation": (*LEARNED, TRACKING),
    "linear control": (*LEARNED, REGRET),
    "average cost learner": (*LEARNED, REGRET),
    "simulator": (*LEARNED, REGRET, DRAWS),
}
"""The metrics of each kind."""
