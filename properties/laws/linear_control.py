"""Laws of linear control: the mean semi-gradient step of one vector; that of Greedy-GQ is in `linear_mean`."""

import copy
from collections.abc import Set
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any, cast

import numpy as np

from oracles.arithmetic import exact
from properties.cases import runs
from properties.cases.choices import Choices
from properties.cases.runs import ends_of
from properties.cases.sources import Generated
from properties.judging.verdict import Finding
from properties.kinds.linear_control import LinearControlRun
from properties.laws.coins import Coins, Tape, leaves
from properties.laws.comparison import compare
from properties.laws.law import Law
from properties.laws.learning import advance, ill_formed, late_places, problem, step_size_at
from properties.laws.linear import COMPONENTS
from properties.laws.linear_step import PRECISION, smooth_maximum
from properties.laws.rounding import UNIT, linear_step_bound
from properties.laws.view import ZERO, to_rationals
from robust_core import Transition
from robust_core.problem import Kind, Variant
from robust_core.sets import Contamination

KIND: tuple[Kind, ...] = ("linear control",)
STREAMS = 32
STEPS = 6
CHANCES = (0.0, 0.25, 0.0, 0.5, 1.0, 0.0)
"""Probabilities that a transition ends the episode."""


def _top(variant: Variant, case: LinearControlRun, V: list[Fraction]) -> Fraction:
    """What nature restarts at: the largest value, or the smooth maximum; where nature ends too, the end is a state."""
    values = [*V, ZERO] if ends_of(variant, type(case.uncertainty_set)) == "nature ends" else V
    if "smoothing" not in variant.options:
        return max(values)
    with localcontext(PRECISION):
        decimals = [Decimal(v.numerator) / Decimal(v.denominator) for v in values]
        return Fraction(smooth_maximum(decimals, case.smoothing)[0])


def _promised(variant: Variant, case: LinearControlRun, theta: np.ndarray, s: int, a: int, ends: float) -> Any:
    """theta + alpha (c + gamma((1−R)(1−end) E V(s') + R top) − Q(s,a)) psi(s,a), in rationals."""
    weights, psi = to_rationals(theta), to_rationals(case.features)
    Q = (psi * weights).sum(axis=2)
    V = [min(row) for row in Q]
    R, gamma = Fraction(cast(Contamination, case.uncertainty_set).radius), Fraction(case.mdp.gamma)
    row = exact.distribution(case.mdp.P[s, a].tolist()).fractions()
    mean = sum((p * v for p, v in zip(row, V, strict=True)), ZERO)
    sigma = (1 - R) * (1 - Fraction(ends)) * mean + R * _top(variant, case, V)
    delta = Fraction(float(case.mdp.cost[s, a])) + gamma * sigma - Q[s, a]
    alpha = Fraction(step_size_at(case.step_size, len(case.path) - 1))
    return weights + alpha * delta * psi[s, a]


def _outcomes(case: LinearControlRun, s: int, a: int, ends: float) -> list[tuple[Fraction, Transition]]:
    found, cost = [], float(case.mdp.cost[s, a])
    row = exact.distribution(case.mdp.P[s, a].tolist()).fractions()
    for s_next, p in enumerate(row):
        actions = exact.distribution(case.behaviour[s_next].tolist()).fractions()
        for a_next, share in enumerate(actions):
            for terminal, chance in ((False, 1 - Fraction(ends)), (True, Fraction(ends))):
                if p * share * chance:
                    found.append((p * share * chance, Transition(s, a, cost, s_next, a_next, terminal)))
    return found


def _semi_gradient(variant: Variant, case: LinearControlRun, ends: float, coins: int) -> Finding | None:
    """The mean over what can follow the last pair of the path, after the steps before."""
    return _steps(variant, case, ends, coins, {len(case.path) - 1})


def late_semi_gradient(variant: Variant, case: LinearControlRun, ends: float, coins: int) -> Finding | None:
    """The same after many numbers of steps of a long path."""
    return _steps(variant, case, ends, coins, late_places(len(case.path)))


def _steps(variant: Variant, case: LinearControlRun, ends: float, coins: int, places: Set[int]) -> Finding | None:
    """Walk the path; after each of these numbers of steps take the mean over what can follow the next pair."""
    tape = Tape()
    learner = variant.make(problem(case, Coins(tape, coins)))
    for number, step in enumerate(case.path):
        if number in places:
            until = replace(case, path=case.path[: number + 1])
            if (finding := _mean_of_next(variant, until, learner, ends, tape)) is not None:
                return finding
        advance(learner, [step])
    return None


def _mean_of_next(variant: Variant, case: LinearControlRun, learner: Any, ends: float, tape: Tape) -> Finding | None:
    """Whether the mean of theta after the last step of the path is the promised one."""
    s, a = case.path[-1][:2]
    before = np.array(learner.estimate(), dtype=np.float64)
    if (finding := ill_formed(case.initial, before)) is not None:
        return finding
    mean: Any = ZERO
    for chance, step in _outcomes(case, s, a, ends):
        for share, after in leaves(tape, lambda step=step: advance(copy.deepcopy(learner), [step]).estimate()):  # type: ignore[misc]
            if not np.isfinite(after).all():
                return Finding("the estimate", np.asarray(after).tolist(), "finite numbers")
            mean = mean + chance * share * to_rationals(np.array(after))
    wanted = _promised(variant, case, before, s, a, ends).astype(np.float64)
    cost, rows = float(np.abs(case.mdp.cost).max()), case.features.reshape(-1, case.features.shape[-1])
    bound = linear_step_bound(rows, before, np.zeros_like(before), cost, case.smoothing.varrho)[0]
    allowed = bound + UNIT * float(np.abs(wanted).max())
    what, when = "expected theta", f" after update {len(case.path)}, a visit of (s={s}, a={a})"
    finding = compare(np.asarray(mean).astype(np.float64), wanted, allowed, what, after=when, axes=COMPONENTS)
    if finding is not None:
        tape.require_draws()
    return finding


def read(choices: Choices, variant: Variant, *, deterministic: bool = False) -> LinearControlRun:
    """A run, the chance of an end of its next step, and a seed of the learner's draws."""
    case = cast(LinearControlRun, runs.run(choices, variant, steps=STEPS, least=1, deterministic=deterministic))
    free = ends_of(variant, type(case.uncertainty_set)) != "none" and not deterministic
    return case.plus(ends=choices.pick(CHANCES) if free else 0.0, coins=choices.index(STREAMS))


def _read_sure(choices: Choices, variant: Variant) -> LinearControlRun:
    return read(choices, variant, deterministic=True)


def _has_one_vector(variant: Variant) -> bool:
    return "tables" not in variant.options


LAWS = (
    Law(
        "semi-gradient",
        KIND,
        "semi-gradient",
        "E[θ_{t+1} | past, (s,a)] = θ + α(TQ − Q)(s,a) ψ(s,a), by enumerating transitions, ends and draws",
        Generated(read),
        _semi_gradient,
        after=("start", "run purity"),
        sets=(Contamination,),
        only=_has_one_vector,
    ),
    Law(
        "semi-gradient, deterministic",
        KIND,
        "semi-gradient",
        "the same on deterministic models, where the mean is the step itself",
        Generated(_read_sure),
        _semi_gradient,
        after=("start", "run purity"),
        sets=(Contamination,),
        only=_has_one_vector,
    ),
)
