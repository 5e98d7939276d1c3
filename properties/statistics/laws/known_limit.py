"""Where learners of other kinds end: the estimate after T updates against a certified truth, on both sides.

Each kind has one small problem on which half the radius moves the truth by a known amount. A run is off if an entry of
its estimate is further from the truth than `SHARE` of that amount. The cell claims that at most a quarter of the runs
is off. The schedules and T are such that right algorithms of different construction are well inside (measured, not
proved: `properties/tests/test_known_limit.py`). Starts are away from the truth, costs and starts are scaled by 2^k, k
from the seed of the run, so that no constant is the answer of all runs.

Learners from batches and with a simulator go to Q* or V of their policy. Learners of the average cost go to the
solution of T Q − Q = gain whose first entry is the gain; with a reference of their own it is determined up to a
constant, which is then left out. Off-policy evaluation goes to theta* with J(theta*) = 0, planted, and omega = 0. A
policy gradient is a function: multiplicative steps along it lead to a policy whose certified robust value is compared
with the optimum, on a problem where the optimal policies for half the radius and for none lose. There is no chance in
that, so one run decides.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import islice
from typing import Any

import numpy as np

from oracles.planning import average_cost, enclosed
from properties.cases.feeds import CountingSimulator, batches, transitions_of_walk
from properties.judging.observation import call_learner
from properties.statistics import design
from properties.statistics.law import Cell, Size, StatisticalLaw, bernoulli_plan, once
from properties.statistics.sequential import Plan
from properties.variants.examples import average_cost_learner, batch, off_policy_evaluation, policy_gradient, simulator
from properties.variants.wrong_forms import never_learns, with_share_of_radius
from robust_core import Contamination, LogSumExp, Mellowmax, polynomial, support
from robust_core.mdp import MDP
from robust_core.policy import uniform
from robust_core.problem import Kind, Problem, Variant
from robust_core.streams import draw, generator_state, key, numpy_generator
from robust_core.validate import Floats

GAMMA, RADIUS, VARRHO = 0.75, 0.5, 4.0
BATCH = 4
"""Transitions of a batch, unless options["batch"] says another number."""
SHARE = 0.6
"""What is allowed, as a share of the distance to the truth for half the radius."""
STEPS: dict[Kind, dict[Size, int]] = {
    "batch": {"quick": 512, "full": 4096},
    "simulator": {"quick": 128, "full": 2048},
    "average cost learner": {"quick": 4096, "full": 32768},
    "off-policy evaluation": {"quick": 512, "full": 8192},
    "policy gradient": {"quick": 64, "full": 256},
}
"""Updates, iterations, transitions, or steps along a gradient."""
SCALES = (-2, -1, 0, 1, 2)
"""The k of the factor 2^k that a run takes from its seed."""


@dataclass(frozen=True, eq=False)
class Known:
    """A problem with its limit, and how far an entry may be from it."""

    mdp: MDP
    told: Problem
    limit: tuple[Floats, ...]
    allowed: float
    free: bool = False
    """Whether a constant is left out."""

    def errors(self, estimate: Any, scale: float) -> Floats:
        """The estimate less the limit, in units of the scale."""
        parts = estimate if isinstance(estimate, tuple) else (estimate,)
        if len(self.limit) == 1 and len(parts) > 1:
            parts = (sum(map(np.asarray, parts)) / len(parts),)
        pairs = zip(parts, self.limit, strict=True)
        off = np.concatenate([np.ravel(np.asarray(part) / scale - limit) for part, limit in pairs])
        return np.asarray(off - (off.max() + off.min()) / 2.0 if self.free else off)


def _model() -> MDP:
    """Three states, two actions; the last state is dear, and the nominal model seldom visits it."""
    eighths = [[[6, 2, 0], [4, 3, 1]], [[4, 4, 0], [2, 4, 2]], [[2, 4, 2], [4, 2, 2]]]
    cost = [[0.25, 0.0], [0.5, 0.25], [1.0, 1.25]]
    return MDP(np.array(eighths) / 8.0, np.array(cost), GAMMA)


def _truths(variant: Variant, mdp: MDP, radius: float) -> Floats:
    given = Contamination(radius)
    if variant.kind == "average cost learner":
        found = average_cost.solve(mdp, given)
        Q = mdp.cost + support(mdp, given, np.array([float(x) for x in found.bias]))
        return np.asarray(Q - Q[0, 0] + float(found.gain))
    if variant.options.get("estimates") == "V":
        return np.asarray(enclosed.evaluate(mdp, given, uniform(*mdp.cost.shape))[0].value)
    return np.asarray(enclosed.solve(mdp, given).value)


@cache
def _tabular(kind: Kind, estimates: str | None, free: bool) -> Known:
    mdp = _model()
    variant = replace(EXAMPLES[kind], options={"estimates": estimates} if estimates else {})
    limit, half = (_truths(variant, mdp, radius) for radius in (RADIUS, RADIUS / 2.0))
    schedule = polynomial(1.0, rate=1.0 / 16.0, power=0.75)
    told = Problem.of(
        mdp, Contamination(RADIUS), step_size=schedule, initial=np.zeros(limit.shape),
        policy=uniform(*mdp.cost.shape) if estimates == "V" else None,
    )  # fmt: skip
    known = Known(mdp, told, (limit,), 0.0, free)
    return replace(known, allowed=SHARE * float(np.abs(known.errors(half, 1.0)).max()))


THETA, LINEAR_ALLOWED = np.array([1.0, -0.5]), 0.25
"""theta*, and what is allowed: with half the radius theta ends about 0.5 from it."""


@cache
def _linear(mellowmax: bool) -> Known:
    """Costs of which only the mean under the policy makes theta* the zero of J."""
    model, features = _model(), np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])
    smoothing = (Mellowmax if mellowmax else LogSumExp)(VARRHO)
    policy, behaviour = np.tile([0.25, 0.75], (3, 1)), np.tile([0.5, 0.5], (3, 1))
    V = features @ THETA

    def planted(radius: float) -> Floats:
        chain = np.einsum("sa,sat->st", policy, model.P)
        return np.asarray(V - GAMMA * ((1.0 - radius) * chain @ V + radius * smoothing.value(V)))

    cost = planted(RADIUS)[:, None] + 0.5 * np.array([0.75, -0.25])
    mdp = MDP(model.P, cost, GAMMA)
    told = Problem.of(
        mdp, Contamination(RADIUS), step_size=polynomial(1.0, rate=1.0 / 16.0, power=0.75),
        second_step_size=polynomial(1.0, rate=1.0 / 16.0, power=0.6), initial=np.zeros(2), policy=policy,
        behaviour=behaviour, features=features, smoothing=smoothing, projection=8.0, second_projection=8.0,
    )  # fmt: skip
    return Known(mdp, told, (THETA, np.zeros(2)), LINEAR_ALLOWED)


def known_for(variant: Variant) -> Known:
    """The problem of a variant of a kind that learns."""
    if variant.kind == "off-policy evaluation":
        return _linear(variant.options.get("smoothing") == "mellowmax")
    return _tabular(variant.kind, variant.options.get("estimates"), "reference" in variant.options)


def _scaled(known: Known, k: int) -> Known:
    """Costs and balls times 2^k, varrho times 2^−k."""
    factor = 2.0**k
    told = known.told
    if told.smoothing is not None:
        smoothing = replace(told.smoothing, varrho=told.smoothing.varrho / factor)
        told = replace(
            told, smoothing=smoothing, projection=factor * told.projection,
            second_projection=factor * told.second_projection,
        )  # fmt: skip
    return replace(known, mdp=MDP(known.mdp.P, factor * known.mdp.cost, GAMMA), told=told)


def _feed(learner: Any, fed: list[Any]) -> None:
    for each in fed:
        learner.update(each)


def _iterate(learner: Any, times: int) -> None:
    for _ in range(times):
        learner.iterate()


def _sampler(variant: Variant, steps: int) -> Callable[[bytes], Floats]:
    known = known_for(variant)
    scaled = {k: _scaled(known, k) for k in SCALES}

    def sample(seed: bytes) -> Floats:
        k = SCALES[draw(generator_state(seed + b"scale")) % len(SCALES)]
        problem = scaled[k]
        initial: Any = problem.told.initial
        if variant.kind == "off-policy evaluation":
            initial = (initial, initial)
        elif count := variant.options.get("tables"):
            initial = (initial,) * count
        told = replace(problem.told, initial=initial, rng=numpy_generator(key("learner", seed)))
        if variant.kind == "simulator":
            learner = variant.make(told, CountingSimulator(problem.mdp, seed))
            call_learner(_iterate, learner, steps)
        else:
            learner = variant.make(told)
            call_learner(_feed, learner, list(islice(_fed(variant, problem, seed), steps)))
        return known.errors(learner.estimate(), 2.0**k)

    return sample


def _fed(variant: Variant, problem: Known, seed: bytes) -> Iterator[Any]:
    policy = uniform(*problem.mdp.cost.shape)
    if variant.kind == "batch":
        return batches(problem.mdp, policy, variant.options.get("batch", BATCH), seed)
    return transitions_of_walk(problem.mdp, policy, seed)


# Policies

STAY, PAY = 0, 1
DOOR = 4.0
"""Between 1/(1 − gamma(1−R)) and 1/(1 − gamma(1−R/2)): to stay is optimal, but not for half the radius or none."""
DOOR_GAMMA, DOOR_RADIUS, STEP, LOSS = 0.875, 0.25, 1.0, 0.05


def door() -> MDP:
    """Stay outside for 1 a step, or pay once and be free, until nature puts one outside again."""
    P = np.array([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [0.0, 1.0]]])
    return MDP(P, np.array([[1.0, DOOR], [0.0, 0.0]]), DOOR_GAMMA)


def _descent(variant: Variant, steps: int) -> Callable[[bytes], Floats]:
    mdp, given = door(), Contamination(DOOR_RADIUS)
    best = np.asarray(enclosed.solve(mdp, given).value).min(axis=1)

    def sample(seed: bytes) -> Floats:
        factor = 2.0 ** SCALES[draw(generator_state(seed + b"scale")) % len(SCALES)]
        scaled, policy = MDP(mdp.P, factor * mdp.cost, mdp.gamma), uniform(2, 2)
        softmax = variant.options.get("parameters") == "softmax"
        for _ in range(steps):
            gradient = np.asarray(variant.make(scaled, given, policy, np.array([0.5, 0.5]))) / factor
            gradient = gradient - gradient.mean(axis=1, keepdims=True)
            if softmax:  # d J/d x(s,a) = pi(a|s) (g(s,a) − mean): the natural gradient is without pi
                gradient = gradient / np.maximum(policy, 1e-12)
            weights = policy * np.exp(np.clip(-STEP * gradient, -8.0, 8.0))
            policy = np.maximum(weights / weights.sum(axis=1, keepdims=True), 1e-9)
            policy = policy / policy.sum(axis=1, keepdims=True)
        value = enclosed.evaluate(mdp, given, policy)[0]
        return np.asarray(np.asarray(value.value) - best)

    return sample


def _where(rows: Floats) -> str:
    return f"wrong limit: off by {', '.join(f'{x:+.3g}' for x in np.median(rows, axis=0))}"


def _outside(allowed: float, rows: Floats) -> Floats:
    """1 where an entry is too far off, or not a number."""
    return (~(np.abs(rows) <= allowed).all(axis=1)).astype(float)


def _certain(alpha: float) -> Plan:
    return design.certain(f"a policy that is {LOSS:g} worse than the best", alpha=alpha)


def cells(variant: Variant, size: Size) -> list[Cell]:
    """One cell."""
    steps = STEPS[variant.kind][size]
    is_function = variant.kind == "policy gradient"
    allowed = LOSS if is_function else known_for(variant).allowed
    name = f"limit/{variant.kind}/T={steps}"
    return [
        Cell(
            name,
            _certain if is_function else bernoulli_plan(0.25, 0.5),
            once(partial(_descent if is_function else _sampler, variant, steps)),
            partial(_outside, allowed),
            (models(variant)[0].hash, steps),
            diagnose=_where,
            kind="limit",
            variant=variant.name,
            stream=name,
        )
    ]


def models(variant: Variant) -> list[MDP]:
    """The model of the cell, of the scale 1."""
    return [door() if variant.kind == "policy gradient" else known_for(variant).mdp]


EXAMPLES: dict[Kind, Variant] = {
    module.VARIANT.kind: replace(module.VARIANT, promises=("limit",))
    for module in (batch, simulator, average_cost_learner, off_policy_evaluation, policy_gradient)
}


def _still(mdp: MDP, uncertainty_set: Any, policy: Floats, rho: Floats) -> Floats:
    return np.zeros_like(policy)


def _law(kind: Kind, what: str) -> StatisticalLaw:
    right = EXAMPLES[kind]
    stays = (
        replace(right, name="a gradient that is 0", make=_still) if kind == "policy gradient" else never_learns(right)
    )
    far = f"{LINEAR_ALLOWED:g}" if kind == "off-policy evaluation" else f"{SHARE:g} of the effect of half the radius"
    null = f"at most a quarter of the runs has an entry further off than {far}"
    return StatisticalLaw(
        f"limit of {kind}",
        (kind,),
        "limit",
        what,
        "the run ends inside the allowance" if kind == "policy gradient" else null,
        cells,
        right,
        (stays, with_share_of_radius(right, 0.0), with_share_of_radius(right, 0.5)),
        sets=(Contamination,),
        models=models,
    )


LAWS = (
    _law("batch", "the table goes to Q*, or to V of its policy"),
    _law("simulator", "the table goes to Q*, or to V of its policy"),
    _law("average cost learner", "the table goes to the solution of TQ − Q = gain whose reference is the gain"),
    _law("off-policy evaluation", "theta goes to the zero of J, and omega to 0"),
    _law("policy gradient", "steps along the gradient lead to a policy of the optimal robust value"),
)
