"""Metrics of kinds that answer a call on a model: functions and samplers.

Each is called on models that are drawn from the seed. The error of a function is the distance of its answer from the
certified truth. A sampler is measured by the fit of its transitions to the model. This module is executed in workers,
for it calls the user's code.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from benchmarks.regression.measures import Model
from benchmarks.regression.tabular import Values, significant
from oracles.planning import average_cost, enclosed, smoothed, truth
from oracles.planning.policy_gradient import policy_gradient
from properties.cases.planted_problems import on_grid
from properties.cases.scope import Scope
from properties.judging.boundary import Steps, plain, plain_step
from properties.kinds.objective import PARTS, ObjectiveCase
from properties.kinds.policy_gradient import EIGHTHS
from robust_core import (
    Contamination,
    LogSumExp,
    Mellowmax,
    TotalVariation,
    bellman,
    key,
    models,
    support,
)
from robust_core.mdp import MDP
from robust_core.problem import Variant
from robust_core.sets import UncertaintySet
from robust_core.smoothing import Smoothing
from robust_core.streams import numpy_generator
from robust_core.validate import Floats

FLOOR = 1e-12
"""Errors below, in units of the largest possible value, are rounding and count as this."""
PLAN_ERROR, FIT, DRIFT = "error", "fit", "drift"
SIZES = {"garnet S=6": (6, 2, 3), "garnet S=12": (12, 3, 4)}
"""The drawn models: states, actions, successors."""
FITTED = "garnet, sizes of the options"
"""A model whose sizes are the largest that the options of a variant leave."""
FEATURE_GRID = 2.0**-10
GAMMA, RADIUS, VARRHO = 0.75, 0.125, 4.0
STEPS, STRETCHES, STRETCH, TIMED = 2**11, 2**7, 4, 2**6
"""Transitions of one long sample, the number and length of short ones, and transitions of one that is timed."""


class Unsuitable(Exception):
    """The variant cannot be measured on this problem."""


class Misbehaved(Exception):
    """The variant returned something that is not an answer."""


@dataclass(frozen=True)
class Call:
    """A call of a function, its certified answer up to `error`, and the scale of errors.

    `join` makes one array of what was returned, and `view` turns it into the one that is compared with the certified
    answer.
    """

    arguments: tuple[Any, ...]
    wanted: Floats
    error: float
    scale: float
    shape: tuple[int, ...]
    view: Callable[[Floats], Floats] = lambda answer: answer
    join: Callable[[Any], Any] = lambda answer: answer


def sizes_of(problem: str, scope: Scope) -> tuple[int, int, int]:
    """The states, actions and successors of a drawn model."""
    if problem != FITTED:
        return SIZES[problem]
    states, actions = max(scope.states or (6,)), max(scope.actions or (2,))
    return states, actions, min(states, 3)


def draw(variant: Variant, problem: str, model: Model | None, seed: bytes) -> tuple[MDP, UncertaintySet | None]:
    """The model of a seed, or the user's, and the first set of the variant with a radius that it is for."""
    scope = Scope.of(variant)
    radius = scope.radius(RADIUS if model is None else model.radius)
    if model is None:
        states, actions, successors = sizes_of(problem, scope)
        mdp = scope.fit(models.garnet(states, actions, successors, gamma=scope.gamma(GAMMA), seed=key("model", seed)))
    else:
        mdp = MDP.from_dict(model.mdp)
    if not variant.sets:
        return mdp, None
    kind = Contamination if Contamination in variant.sets else variant.sets[0]
    return mdp, kind.choose(lambda levels: levels[0], radius, mdp.P, mdp.cost.min(axis=1))


def require(variant: Variant, given: UncertaintySet | None, *kinds: type[UncertaintySet]) -> Any:
    """The set, unless its truth is unknown."""
    if not isinstance(given, kinds):
        known = " and ".join(kind.__name__ for kind in kinds)
        raise Unsuitable(f"the truth of a {variant.kind} is known for {known}, and {variant.name} is for other sets")
    return given


def _policy(mdp: MDP, rng: np.random.Generator) -> Floats:
    """A policy that takes every action, in eighths where there are few actions."""
    rows = EIGHTHS.get(mdp.n_actions)
    if rows is None:
        return np.full(mdp.cost.shape, 1.0 / mdp.n_actions)
    return np.array([rows[rng.integers(len(rows))] for _ in range(mdp.n_states)]) / 8.0


def _support(variant: Variant, mdp: MDP, given: Any, rng: np.random.Generator) -> Call:
    v = rng.random(mdp.n_states)
    p = mdp.P[rng.integers(mdp.n_states), 0]
    found = truth.sigma(given, p.tolist(), v.tolist())
    middle, width = float((found.lower + found.upper) / 2), float(found.upper - found.lower)
    return Call((given, p, v), np.asarray(middle), width, 1.0, ())


def _operator(variant: Variant, mdp: MDP, given: Any, rng: np.random.Generator) -> Call:
    scale = _scale(mdp)
    Q = scale * rng.random(mdp.cost.shape)
    wanted = enclosed.backup(mdp, given, Q)
    value = np.asarray(wanted.value)
    return Call((mdp, given, Q), value, float(np.max(wanted.error_bound)), scale, value.shape)


def _planner(variant: Variant, mdp: MDP, given: Any, rng: np.random.Generator) -> Call:
    wanted = enclosed.solve(mdp, given)
    table = np.asarray(wanted.value)
    if variant.kind != "planner":
        table = table.min(axis=1)
    shape = mdp.cost.shape if variant.kind == "policy planner" else table.shape
    return Call((mdp, given), table, float(np.max(wanted.error_bound)), _scale(mdp), shape)


def _smoothed(variant: Variant, mdp: MDP, given: Any, rng: np.random.Generator) -> Call:
    radius = require(variant, given, Contamination).radius
    mellowmax = variant.options.get("smoothing", "lse") == "mellowmax"
    policy, V = _policy(mdp, rng), _scale(mdp) * rng.random(mdp.n_states)
    wanted = smoothed.backup(mdp, radius, policy, V, VARRHO, mellowmax=mellowmax)
    smoothing = (Mellowmax if mellowmax else LogSumExp)(VARRHO)
    value = np.asarray(wanted.value)
    error = float(np.max(wanted.error_bound))
    return Call((mdp, given, policy, smoothing, V), value, error, _scale(mdp), value.shape)


def _average(variant: Variant, mdp: MDP, given: Any, rng: np.random.Generator) -> Call:
    gain = average_cost.solve(mdp, require(variant, given, Contamination, TotalVariation)).gain
    return Call((mdp, given), np.asarray(float(gain)), 0.0, float(np.abs(mdp.cost).max()), ())


def _gradient(variant: Variant, mdp: MDP, given: Any, rng: np.random.Generator) -> Call:
    radius = require(variant, given, Contamination).radius
    policy, rho = _policy(mdp, rng), np.full(mdp.n_states, 1.0 / mdp.n_states)
    found = policy_gradient(mdp, radius, policy, rho).gradients[0]
    exact = np.array([[float(x) for x in row] for row in found])

    def view(gradient: Floats) -> Floats:  # a constant for each state is free
        return np.asarray(gradient - gradient.mean(axis=1, keepdims=True))

    scale = _scale(mdp) / (1.0 - mdp.gamma)
    if variant.options.get("parameters") == "softmax":
        wanted = policy * (exact - (policy * exact).sum(axis=1, keepdims=True))
        return Call((mdp, given, policy, rho), wanted, 0.0, scale, exact.shape)
    return Call((mdp, given, policy, rho), view(exact), 0.0, scale, exact.shape, view)


def cosines(n: int) -> Floats:
    """Two features of n rows, on a grid far coarser than the last bits of a cosine."""
    angle = np.pi * np.arange(n) / n
    return on_grid(np.stack((np.cos(angle), np.sin(angle)), axis=1), FEATURE_GRID)


def smoothing_of(name: str, varrho: float) -> Smoothing:
    """The smooth maximum that options["smoothing"] names."""
    return Mellowmax(varrho) if name == "mellowmax" else LogSumExp(varrho)


def _objective(variant: Variant, mdp: MDP, given: Any, rng: np.random.Generator) -> Call:
    """What it promises of J, its gradient and omega, each in units of its largest entry."""
    require(variant, given, Contamination)
    case = ObjectiveCase(
        mdp=mdp,
        uncertainty_set=given,
        policy=_policy(mdp, rng),
        features=cosines(mdp.n_states),
        smoothing=smoothing_of(variant.options.get("smoothing", "lse"), VARRHO),
        theta=2.0 * rng.random(2) - 1.0,
    )
    if (oracle := case.objective()) is None:
        # Some policies visit too few states; every state can be reached from a mixture.
        case = replace(case, mdp=MDP(0.5 * mdp.P + 0.5 / mdp.n_states, mdp.cost, mdp.gamma))
        oracle = case.objective()
    if oracle is None:
        raise Unsuitable("the features depend on each other on the states that the policy visits")
    found = [(oracle.J, oracle.gradient, oracle.omega)[i](case.theta) for i, name in enumerate(PARTS)
             if name in variant.promises]  # fmt: skip
    parts = [np.atleast_1d(np.asarray(part.value)) for part in found]
    units = np.concatenate([np.full(part.size, np.abs(part).max() or 1.0) for part in parts])
    error = max(float(np.max(part.error_bound)) for part in found) / float(units.min())
    arguments = tuple(getattr(case, name) for name in ObjectiveCase.names())
    return Call(arguments, np.concatenate(parts) / units, error, 1.0, units.shape, lambda answer: answer / units, _join)


def _join(answer: Any) -> Floats:
    parts = answer if isinstance(answer, tuple) else (answer,)
    return np.concatenate([np.atleast_1d(np.asarray(part, dtype=np.float64)).ravel() for part in parts])


def _scale(mdp: MDP) -> float:
    return float(np.abs(mdp.cost).max()) / (1.0 - mdp.gamma)


CALLS: dict[str, Callable[[Variant, MDP, Any, np.random.Generator], Call]] = {
    "operator": _operator,
    "planner": _planner,
    "value planner": _planner,
    "policy planner": _planner,
    "support": _support,
    "smoothed operator": _smoothed,
    "average cost planner": _average,
    "policy gradient": _gradient,
    "objective": _objective,
}
"""The call of each kind that is a function."""


def call_of(variant: Variant, problem: str, model: Model | None, seed: bytes) -> Call:
    """The call that belongs to a seed, with the certified answer."""
    mdp, given = draw(variant, problem, model, seed)
    return CALLS[variant.kind](variant, mdp, given, numpy_generator(key("values", seed)))


def _function_row(variant: Variant, problem: str, model: Model | None, seed: bytes) -> Values:
    call = call_of(variant, problem, model, seed)
    answer = np.asarray(call.join(plain(variant.make(*call.arguments))), dtype=np.float64)
    if answer.shape != call.shape:
        raise Misbehaved(f"the answer must have the shape {call.shape}, got {answer.shape}")
    impossible = False
    if variant.kind == "policy planner":
        mdp, given = call.arguments
        value = enclosed.evaluate(mdp, given, answer)[0]
        off = float((value.value - call.wanted).max())
        impossible = bool((value.upper < call.wanted - call.error).any())
    else:
        off = float(np.abs(call.view(answer) - call.wanted).max())
    return {PLAN_ERROR: (significant(max(off / call.scale, FLOOR) if np.isfinite(off) else off), impossible)}


def _sample(variant: Variant, mdp: MDP, start: int, steps: int, seed: bytes) -> Any:
    return variant.make(mdp, np.full(mdp.cost.shape, 1.0 / mdp.n_actions), start, steps, numpy_generator(seed))


def _counts(mdp: MDP, path: Any, steps: int) -> Floats:
    taken = [plain_step(step) for step in path]
    if (odd := Steps(taken, mdp.n_states, mdp.n_actions).oddity()) is not None:
        raise Misbehaved(odd)
    if len(taken) != steps:
        raise Misbehaved(f"a sample must have {steps} transitions, got {len(taken)}")
    counts = np.zeros(mdp.P.shape)
    for s, a, _, s_next, *_ in taken:
        counts[int(s), int(a), int(s_next)] += 1.0
    return counts


def _sampler_row(variant: Variant, problem: str, model: Model | None, seed: bytes) -> Values:
    """The fit of a long sample and the drift of short ones, infinite off the support.

    Every short sample has an rng of its own, so old and new code differ only where the code does: after a first
    difference two long samples would visit other states.
    """
    mdp, _ = draw(variant, problem, model, seed)
    counts = _counts(mdp, _sample(variant, mdp, 0, STEPS, key("sampler", seed)), STEPS)
    short = np.zeros(mdp.P.shape)
    for i in range(STRETCHES):
        path = _sample(variant, mdp, i % mdp.n_states, STRETCH, key("stretch", seed, i))
        short += _counts(mdp, path, STRETCH)
    possible = mdp.P > 0.0
    if (counts + short)[~possible].any():
        return {FIT: (None, False), DRIFT: (None, False)}
    due = counts.sum(axis=2, keepdims=True) * mdp.P
    met = due > 0.0
    freedom = float((met.sum(axis=2) - 1).clip(0).sum())
    statistic = float(((counts - due)[met] ** 2 / due[met]).sum())
    logs = np.log(mdp.P, where=possible, out=np.zeros(mdp.P.shape))
    drift = float(((short - short.sum(axis=2, keepdims=True) * mdp.P) * logs).sum()) / (STRETCHES * STRETCH)
    return {FIT: (significant(statistic / max(freedom, 1.0)), False), DRIFT: (significant(drift), False)}


ROWS: dict[str, tuple[tuple[str, ...], Callable[[Variant, str, Model | None, bytes], Values]]] = {
    **dict.fromkeys(CALLS, ((PLAN_ERROR,), _function_row)),
    "sampler": ((FIT, DRIFT), _sampler_row),
}
"""The metrics of each kind, and the function that measures one seed."""


def contestants(
    variant: Variant, problem: str, model: Model | None, seed: bytes
) -> tuple[Callable[[], object], Callable[[], object]]:
    """The same work for the variant and for the reference of its kind: sweeps of the built-in operator."""
    if variant.kind == "sampler":
        mdp, _ = draw(variant, problem, model, seed)
        return partial(_sample, variant, mdp, 0, TIMED, seed), sweep(mdp)
    call = call_of(variant, problem, model, seed)
    if variant.kind == "support":
        _, p, v = call.arguments
        row = MDP(np.broadcast_to(p, (v.size, 1, v.size)), np.zeros((v.size, 1)), 0.5)
        return partial(variant.make, *call.arguments), partial(support, row, Contamination(RADIUS), v)
    return partial(variant.make, *call.arguments), sweep(call.arguments[0])


def sweep(mdp: MDP) -> Callable[[], object]:
    """The reference of times: a sweep of the built-in operator."""
    return partial(bellman, mdp, Contamination(RADIUS), np.zeros(mdp.cost.shape))
