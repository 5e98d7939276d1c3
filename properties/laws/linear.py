"""Laws of linear evaluation: make(problem) -> learner with estimate() = (theta, omega) (Section 5)."""

import copy
import math
from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np

from oracles.arithmetic.certified import Certified
from oracles.linear.msprbe import MSPRBE
from properties.cases import runs
from properties.cases.choices import FAINT, SMOOTHINGS, Choices, Reader
from properties.cases.runs import ends_of, table_count
from properties.cases.sources import Generated
from properties.judging.verdict import Finding
from properties.kinds.linear_evaluation import LinearRun
from properties.laws.comparison import RUNS, compare
from properties.laws.law import Law
from properties.laws.learning import LONG, advance, arrays, new_learner, step_size_at
from properties.laws.linear_cause import Step, causes_of
from properties.laws.linear_step import next_estimate
from properties.laws.rounding import UNIT, linear_growth, linear_step_bound
from robust_core import polynomial
from robust_core.mdp import MDP
from robust_core.problem import Kind, Variant
from robust_core.sets import Contamination

KIND: tuple[Kind, ...] = ("linear evaluation",)
ROTATION = np.array([[0.6, 0.8], [-0.8, 0.6]])
PAIR_STEPS = 4
# The entries of theta and omega belong to features, not to states.
COMPONENTS: tuple[str, ...] = ()


def _sizes(case: LinearRun, number: int) -> tuple[float, float]:
    return step_size_at(case.step_size, number), step_size_at(case.second_step_size, number)


def _bounds(case: LinearRun, estimate: tuple[np.ndarray, ...], cost: float) -> tuple[float, float]:
    return linear_step_bound(case.features, estimate[0], estimate[1], cost, case.smoothing.varrho)


def _steps(variant: Variant, rule: str, case: LinearRun) -> Finding | None:
    return follow_steps(variant, rule, case)


def follow_steps(variant: Variant, rule: str, case: LinearRun, places: Collection[int] | None = None) -> Finding | None:
    """Follow the path; at every step compare (theta, omega) with the formulas in long decimals.

    With `places`, only the steps of these numbers are compared.
    """
    learner = new_learner(variant, case)
    nature_ends = ends_of(variant, type(case.uncertainty_set)) == "nature ends"
    before = arrays(learner.estimate())
    at = 0
    for number, step in enumerate(case.path):
        if places is not None and number not in places:
            continue
        if at < number:
            before = arrays(advance(learner, case.path[at:number]).estimate())
        at = number + 1
        alpha, beta = _sizes(case, number)
        wanted = next_estimate(rule, case, step, before, alpha, beta, nature_ends=nature_ends)
        allowed = _bounds(case, before, step[2])
        after = arrays(advance(learner, [step]).estimate())
        for name, got, right, error in zip(("theta", "omega"), after, wanted, allowed, strict=True):
            allowed_here = error + UNIT * float(np.abs(right).max())
            finding = compare(got, right, allowed_here, name, after=f" after step {number + 1}", axes=COMPONENTS)
            if finding is not None:
                parts = Step.of(case, step, before, alpha, beta)
                return replace(finding, causes=() if nature_ends else causes_of(rule, parts, after, wanted))
        before = after
    return None


def _drift(variant: Variant, rule: str, case: LinearRun) -> Finding | None:
    """The mean change of (theta, omega) under the stationary distribution, by enumeration, against J's own derivatives.

    TDC:  E[Δtheta] = −alpha(½∇J + (M+C)(omega − omega(theta))),   GTD2: −alpha(½∇J + M(omega − omega(theta))),
    both: E[Δomega] = −beta C(omega − omega(theta)); so at omega(theta) both follow −½∇J.
    """
    mdp = case.mdp
    learner = advance(new_learner(variant, case), case.path)
    theta, omega = (x.copy() for x in arrays(learner.estimate()))
    if not (np.isfinite(theta).all() and np.isfinite(omega).all()):
        return Finding("estimate", [theta.tolist(), omega.tolist()], "finite numbers")
    problem = case.objective()
    mean, largest = _mean_change(learner, (theta, omega), mdp, case.policy, problem.mu)
    alpha, beta = _sizes(case, len(case.path))
    wanted, certified = _wanted_drift(rule, problem, theta, omega, alpha, beta)
    step_errors = _bounds(case, (theta, omega), float(np.abs(mdp.cost).max()))
    for name, got, right, error, step_error, size in zip(
        ("theta", "omega"), mean, wanted, certified, step_errors, largest, strict=True
    ):
        weights = math.expm1(problem.mu_log_error) + 8 * mdp.n_states * mdp.n_actions * UNIT
        allowed = error + step_error + weights * size
        finding = compare(got, right, allowed, f"expected change of {name}", axes=COMPONENTS)
        if finding is not None:
            return finding
    return None


def _mean_change(
    learner: Any, before: tuple[np.ndarray, np.ndarray], mdp: MDP, policy: np.ndarray, mu: np.ndarray
) -> tuple[list[np.ndarray], list[float]]:
    mean, largest = [np.zeros_like(x) for x in before], [0.0, 0.0]
    for s, a, s_next in np.argwhere(mdp.P * policy[:, :, None] > 0.0).tolist():
        weight = mu[s] * policy[s, a] * mdp.P[s, a, s_next]
        step = (s, a, float(mdp.cost[s, a]), s_next, int(np.argmax(policy[s_next])), False)
        after = arrays(advance(copy.deepcopy(learner), [step]).estimate())
        for i in range(2):
            change = after[i] - before[i]
            mean[i] = mean[i] + weight * change
            largest[i] = max(largest[i], float(np.abs(change).max()))
    return mean, largest


def _product(matrix: Certified, x: np.ndarray, x_error: float) -> tuple[np.ndarray, float]:
    """matrix·x and its error, entrywise: N terms, each off by the errors of both factors and a few roundings."""
    N = len(x)
    size, largest = float(np.abs(matrix.value).max()), float(np.abs(x).max())
    error = N * (matrix.error_bound * (largest + x_error) + size * x_error + (N + 2) * UNIT * size * largest)
    return matrix.value @ x, error


def _wanted_drift(
    rule: str, problem: MSPRBE, theta: np.ndarray, omega: np.ndarray, alpha: float, beta: float
) -> tuple[tuple[np.ndarray, np.ndarray], tuple[float, float]]:
    best, gradient, slope, C = problem.omega(theta), problem.gradient(theta), problem.slope(theta), problem.C
    offset = omega - best.value
    offset_error = best.error_bound + UNIT * float(np.abs(offset).max())
    pull, pull_error = _product(C, offset, offset_error)
    bend, bend_error = _product(slope, offset, offset_error)
    if rule == "TDC":
        bend, bend_error = bend + pull, bend_error + pull_error
    total = 0.5 * gradient.value + bend
    sizes = float(np.abs(gradient.value).max() + np.abs(bend).max() + np.abs(pull).max())
    error = 0.5 * gradient.error_bound + bend_error + 4 * UNIT * sizes
    return (-alpha * total, -beta * pull), (alpha * error, beta * (pull_error + 4 * UNIT * sizes))


def _ball(variant: Variant, case: LinearRun) -> Finding | None:
    K = case.projection
    if K is None:
        return None
    learner = new_learner(variant, case)
    # A projected vector has the norm K up to the roundings of its N entries and of the norm itself.
    allowed = K * (4 * case.features.shape[1] + 16) * UNIT
    for number, step in enumerate(case.path):
        for name, x in zip(("theta", "omega"), arrays(advance(learner, [step]).estimate()), strict=True):
            norm = float(np.linalg.norm(x))
            if not norm <= K + allowed:
                return Finding(f"norm of {name} after step {number + 1}", norm, f"at most {K}", allowed)
    return None


Changed = Callable[[np.ndarray], np.ndarray]


def _related(variant: Variant, left: LinearRun, right: LinearRun, change: Changed, what: str) -> Finding | None:
    """Run both side by side: the right estimates are the changed left ones, up to rounding and its growth."""
    learners = new_learner(variant, left), new_learner(variant, right)
    allowed = 0.0
    for number, steps in enumerate(zip(left.path, right.path, strict=True)):
        estimates = [arrays(learner.estimate()) for learner in learners]
        cases = (left, right)
        errors = [max(_bounds(c, e, step[2])) for c, e, step in zip(cases, estimates, steps, strict=True)]
        growth = max(
            linear_growth(c.features, float(np.abs(e[1]).max()), c.smoothing.varrho)
            for c, e in zip(cases, estimates, strict=True)
        )
        allowed = growth * allowed + 2.0 * sum(errors)
        for learner, step in zip(learners, steps, strict=True):
            advance(learner, [step])
        after = [arrays(learner.estimate()) for learner in learners]
        for name, x, y in zip(("theta", "omega"), *after, strict=True):
            when = f" after {number + 1} steps"
            finding = compare(y, change(x), 2.0 * allowed, f"{what}: {name}", after=when, axes=COMPONENTS, columns=RUNS)
            if finding is not None:
                return finding
    return None


def _scale(variant: Variant, case: LinearRun) -> Finding | None:
    smooth = case.smoothing
    right = replace(
        case,
        initial=2.0 * case.initial,
        smoothing=type(smooth)(smooth.varrho / 2.0),
        path=[(s, a, 2.0 * c, t, b, end) for s, a, c, t, b, end in case.path],
        projection=None if case.projection is None else 2.0 * case.projection,
    )
    return _related(variant, case, right, lambda x: 2.0 * x, "costs, start and K times 2, varrho half")


def _rotated(variant: Variant, case: LinearRun) -> Finding | None:
    if case.features.shape[1] != 2:
        return None
    right = replace(case, features=case.features @ ROTATION.T, initial=case.initial @ ROTATION.T)
    return _related(variant, case, right, lambda x: ROTATION @ x, "rotated features")


def read_ergodic(choices: Choices, variant: Variant, *, ends: bool = False) -> LinearRun:
    """A chain that visits every state, features that are independent, no projection."""
    case = cast(LinearRun, runs.run(choices, variant, steps=4, ends=ends, projected=False))
    mdp, S = case.mdp, case.mdp.n_states
    ring = np.zeros((S, 1, S))
    ring[np.arange(S), 0, (np.arange(S) + 1) % S] += 0.25
    ring[:, 0, 0] += 0.25
    # A quarter to the next state and a quarter to state 0: irreducible and aperiodic under every policy.
    ergodic = MDP(0.5 * mdp.P + ring, mdp.cost, mdp.gamma)
    rows = case.features.reshape(-1, case.features.shape[-1])
    features = rows[:, : len(rows)].copy()
    N = features.shape[1]
    if np.abs(features[:, -1]).max() < min(FAINT) * 2.0:  # the second moments of such a feature are lost in floats
        features[:, -1] *= 2.0**12
    features[:N] = np.tril(features[:N])
    diagonal = np.arange(N)
    features[diagonal, diagonal] = np.where(features[diagonal, diagonal] == 0.0, 1.0, features[diagonal, diagonal])
    features = features.reshape(*case.features.shape[:-1], N)
    return replace(case, mdp=ergodic, features=features, initial=case.initial[..., :N])


_LONG_RUNS = partial(runs.run, repeats=LONG)
_SHORT_RUNS = partial(runs.run, steps=PAIR_STEPS)


def _creeping(choices: Choices, variant: Variant) -> LinearRun:
    """Both vectors reach the sphere in the first step; the next ones push them out by less than 1e-9."""
    slow = polynomial(1.0, rate=1e10, power=1.0)
    kind: Any = variant.sets[0]
    count = table_count(variant)
    return LinearRun(
        mdp=MDP(np.ones((1, 1, 1)), np.full((1, 1), 8.0), 0.0),
        uncertainty_set=kind(min(variant.options.get("radii", (0.0,)))),
        step_size=slow,
        second_step_size=slow,
        policy=np.ones((1, 1)),
        features=np.ones((1, 1)),
        initial=np.array([0.5]) if count is None else np.full((count, 1), 0.5),
        tables=count,
        smoothing=SMOOTHINGS[variant.options.get("smoothing", "lse")](1.0),
        projection=1.0,
        path=[(0, 0, 8.0, 0, 0, False)] * PAIR_STEPS,
    )


def _law(name: str, promise: str, statement: str, read: Reader, judge: Any, *after: str) -> Law:
    """A law whose formula, or whose rounding errors, are those of the contamination set."""
    first = ("start", "run purity", *after)
    return Law(name, KIND, promise, statement, Generated(read), judge, after=first, sets=(Contamination,))


def _drift_law(rule: str, statement: str) -> Law:
    law = _law(f"{rule} drift", rule, statement, partial(read_ergodic, ends=True), _of(rule, _drift), *_STEPS)
    # J is that of problems in which nature ends nothing.
    return replace(law, unprojected=True, ends=("nature stays", "none"))


def _of(rule: str, judge: Callable[..., Finding | None]) -> Callable[..., Finding | None]:
    return lambda variant, case: judge(variant, rule, case)


_STEPS = ("TDC step", "GTD2 step")
LAWS = (
    _law("TDC step", "TDC", "each step is Algorithm 2's, recomputed in long decimals", _LONG_RUNS, _of("TDC", _steps)),
    _law("GTD2 step", "GTD2", "each step is GTD2's, recomputed in long decimals", _LONG_RUNS, _of("GTD2", _steps)),
    _drift_law(
        "TDC",
        "under the stationary distribution E[Δθ] = −α(½∇J + (M+C)(ω − ω(θ))), E[Δω] = −β C(ω − ω(θ))",
    ),
    _drift_law(
        "GTD2",
        "under the stationary distribution E[Δθ] = −α(½∇J + M(ω − ω(θ))), E[Δω] = −β C(ω − ω(θ))",
    ),
    # The norm is compared with K alone, whatever the set.
    replace(_law("ball", "projected", "‖θ‖ ≤ K and ‖ω‖ ≤ K at all times", _LONG_RUNS, _ball, *_STEPS), sets=()),
    Law(
        "ball, creeping",
        KIND,
        "projected",
        "‖θ‖ ≤ K and ‖ω‖ ≤ K where a step leads out of the ball by less than a billionth",
        Generated(_creeping),
        _ball,
        after=("ball",),
    ),
    _law(
        "linear scale",
        "scale",
        "cost, K and θ_0 times 2 and ϱ half give θ and ω times 2",
        _SHORT_RUNS,
        _scale,
        *_STEPS,
    ),
    _law("rotation", "rotation", "rotated features rotate θ and ω", _SHORT_RUNS, _rotated, *_STEPS),
)
