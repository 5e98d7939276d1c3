"""Laws of learners of the average cost: make(problem) -> learner with estimate() = Q, relative to a number f.

T Q = c + sigma(min_a Q) without a discount. The optimality equation T Q − Q = gain determines Q up to a constant, and a
relative learner moves by alpha (T Q − f − Q): its mean is a function of f alone, which the variant states.
"""

import copy
from collections.abc import Sequence, Set
from dataclasses import replace
from fractions import Fraction
from typing import Any, cast

import numpy as np

from oracles.planning import average_cost
from properties.cases import runs
from properties.cases.choices import Choices
from properties.cases.runs import Run
from properties.cases.sources import Generated
from properties.judging.verdict import Finding
from properties.laws.coins import Coins, Tape, leaves
from properties.laws.comparison import RUNS, compare
from properties.laws.law import Law
from properties.laws.learning import advance, ill_formed, late_places, new_learner, problem, table
from properties.laws.rounding import UNIT, mean_bound
from properties.laws.view import ZERO, View, to_rationals
from robust_core.mdp import MDP
from robust_core.problem import Kind, Variant
from robust_core.sets import Contamination

KIND: tuple[Kind, ...] = ("average cost learner",)
STREAMS = 32
STEPS = 7
LONG_STEPS = 12


class AverageView(View):
    """The past of a learner of the average cost; `T` has no discount."""

    def __init__(self, variant: Variant, case: Run, *, past: Sequence[Any], s: int, a: int) -> None:
        steps = case.path[: len(past) - 1]
        super().__init__(variant, case, past=past, steps=steps, s=s, a=a, ends=0.0)
        self.gamma = Fraction(1)


def _first_entry(view: Any) -> Any:
    return view.estimate[0, 0]


def _reference(variant: Variant, view: AverageView) -> Fraction:
    return Fraction(variant.options.get("reference", _first_entry)(view))


def _update(variant: Variant, case: Run, coins: int) -> Finding | None:
    """The mean over what can follow the last pair of the path, after the steps before."""
    return _updates(variant, case, coins, {len(case.path) - 1})


def late_update(variant: Variant, case: Run, coins: int) -> Finding | None:
    """The same after many numbers of steps of a long path."""
    return _updates(variant, case, coins, late_places(len(case.path)))


def _updates(variant: Variant, case: Run, coins: int, places: Set[int]) -> Finding | None:
    """Walk the path; after each of these numbers of steps take the mean over what can follow the next pair."""
    tape = Tape()
    learner = variant.make(problem(case, Coins(tape, coins)))
    past: list[Any] = []
    largest = 0.0
    for number, step in enumerate(case.path):
        last = table(learner)
        if (finding := ill_formed(case.initial, last, f" after {number} steps")) is not None:
            return finding
        past.append(to_rationals(last))
        largest = max(largest, float(np.abs(last).max()))
        if number in places:
            view = AverageView(variant, case, past=past, s=step[0], a=step[1])
            if (finding := _mean_of_next(variant, case, learner, view, tape, largest)) is not None:
                return finding
        if number < len(case.path) - 1:
            advance(learner, [step])
    return None


def _mean_of_next(
    variant: Variant, case: Run, learner: Any, view: AverageView, tape: Tape, largest: float
) -> Finding | None:
    """Whether the mean of the next table is the promised one; no table so far is larger than `largest`."""
    s, a = cast(tuple[int, int], view.place)
    wanted = view.estimate
    wanted[s, a] += view.alpha() * (view.T(view.estimate) - _reference(variant, view) - wanted[s, a])
    mean = cast(Any, ZERO)
    for chance, step in view.float_outcomes():
        for share, after in leaves(tape, lambda step=step: table(advance(copy.deepcopy(learner), [step]))):  # type: ignore[misc]
            if (finding := ill_formed(case.initial, after)) is not None:
                return finding
            largest = max(largest, float(np.abs(after).max()))
            mean = mean + chance * share * to_rationals(after)
    size = largest + float(np.abs(case.mdp.cost).max())
    # f may be a sum over the past: that many more terms of the same size.
    allowed = mean_bound(case.mdp, view.t + 2, size * case.mdp.cost.size) + UNIT * size + float(view.width)
    when = f" after update {view.t + 1}, a visit of (s={s}, a={a})"
    finding = compare(mean.astype(np.float64), wanted.astype(np.float64), allowed, "expected Q", after=when)
    if finding is not None:
        tape.require_draws()
    return finding


def _about_reference(variant: Variant, case: Run) -> Finding | None:
    """The promise alone: f is one number for all pairs, and rises with the table, so that it can find the gain."""
    if not case.path:
        return None
    start = to_rationals(case.initial)
    # A history of one step, in which the estimate has moved: f may be relative to the start.
    past = [start, start + Fraction(1, 2)]
    higher = [start, start + Fraction(3, 2)]
    pairs = list(np.ndindex(*case.initial.shape))
    values = [_reference(variant, AverageView(variant, case, past=past, s=s, a=a)) for s, a in pairs]
    if len(set(values)) > 1:
        return Finding("f at the pairs that can be next", [float(x) for x in values], "one number")
    after = _reference(variant, AverageView(variant, case, past=higher, s=0, a=0))
    if after <= values[0]:
        return Finding("f of a table that is 1 higher", float(after), f"above {float(values[0])}")
    return None


def _solution(variant: Variant, case: Run) -> tuple[np.ndarray, Fraction] | None:
    """Q plus the constant at which f is the gain, and the gain; None if no constant does that."""
    found = average_cost.solve(case.mdp, case.uncertainty_set)  # type: ignore[arg-type]
    V = list(found.bias)
    view = AverageView(variant, replace(case, path=[]), past=[to_rationals(case.initial)], s=0, a=0)
    Q = np.empty(case.mdp.cost.shape, dtype=object)
    for s, a in np.ndindex(*Q.shape):
        Q[s, a] = view.T(V, s, a) - found.gain
    low, high = (
        _reference(variant, AverageView(variant, replace(case, path=[]), past=[Q + k], s=0, a=0)) for k in (0, 1)
    )
    if low == high:
        return None
    return np.asarray(Q + (found.gain - low) / (high - low)), found.gain


def _fixed_point(variant: Variant, case: Run) -> Finding | None:
    if not cast(Contamination, case.uncertainty_set).radius:
        return None  # the gain may depend on the start
    solved = _solution(variant, case)
    if solved is None:
        return Finding("f at the start", "the same for all constants", "the gain, for one of them")
    Q = solved[0].astype(np.float64)
    run = replace(case, initial=Q)
    learner, size = new_learner(variant, run), float(np.abs(Q).max()) + float(np.abs(case.mdp.cost).max())
    for number, step in enumerate(case.path, start=1):
        got = table(advance(learner, [step]))
        # A step is 3-Lipschitz in the sup norm: entry, value and reference.
        allowed = 3.0**number * mean_bound(case.mdp, number + 1, size * case.mdp.cost.size)
        finding = compare(got, Q, allowed, "Q", after=f" after {number} steps from the solution")
        if finding is not None:
            return finding
    return None


def _shift(variant: Variant, case: Run, shift: float) -> Finding | None:
    mdp = MDP(case.mdp.P, case.mdp.cost + shift, case.mdp.gamma)
    path = [(s, a, float(mdp.cost[s, a]), t, b, end) for s, a, _, t, b, end in case.path]
    higher = replace(case, mdp=mdp, path=path, initial=case.initial + shift)
    left, right = new_learner(variant, case), new_learner(variant, higher)
    for number, steps in enumerate(zip(case.path, path, strict=True), start=1):
        x, y = (table(advance(learner, [step])) for learner, step in zip((left, right), steps, strict=True))
        size = max(float(np.abs(each).max()) for each in (x, y, mdp.cost, case.mdp.cost, case.initial)) + abs(shift)
        # A step is 3-Lipschitz in the sup norm: entry, value and reference.
        allowed = 3.0**number * mean_bound(mdp, number + 1, size * case.mdp.cost.size)
        what = f"Q with costs and start {shift:g} higher"
        finding = compare(y, x + shift, allowed, what, after=f" after {number} steps", columns=RUNS)
        if finding is not None:
            return finding
    return None


def _read(choices: Choices, variant: Variant) -> Run:
    return runs.run(choices, variant, steps=STEPS, least=1).plus(coins=choices.index(STREAMS))


def _read_sure(choices: Choices, variant: Variant) -> Run:
    case = runs.run(choices, variant, steps=STEPS, least=1, deterministic=True)
    return case.plus(coins=choices.index(STREAMS))


def _read_path(choices: Choices, variant: Variant) -> Run:
    return runs.run(choices, variant, steps=LONG_STEPS, least=1, deterministic=True)


def _read_shift(choices: Choices, variant: Variant) -> Run:
    return runs.run(choices, variant, steps=5, least=1).plus(shift=choices.pick((1.0, -0.5, 4.0)))


def _law(name: str, promise: str, statement: str, read: Any, judge: Any, *after: str, **more: Any) -> Law:
    first = ("start", "run purity", *after)
    return Law(name, KIND, promise, statement, Generated(read), judge, after=first, endless=True, **more)


_UPDATE, _REFERENCE = "relative update", "reference of the gain"
LAWS = (
    _law(
        _REFERENCE,
        _UPDATE,
        "the stated f is one number whatever pair is next, and rises with the table",
        _read_path,
        _about_reference,
    ),
    _law(
        _UPDATE,
        _UPDATE,
        "E[Q_{t+1} | past, (s,a)] is Q + α(c + σ(V) − f − Q) at the visited entry and Q elsewhere, by enumeration",
        _read,
        _update,
        _REFERENCE,
    ),
    _law(
        "relative update, deterministic",
        _UPDATE,
        "the same on deterministic models, where the mean is the update itself",
        _read_sure,
        _update,
        _REFERENCE,
        deterministic=True,
    ),
    _law(
        "relative fixed point",
        "relative fixed point",
        "on deterministic models it stays at the solution of TQ − Q = gain at which f is the gain",
        _read_path,
        _fixed_point,
        _UPDATE,
        deterministic=True,
        sets=(Contamination,),
    ),
    _law(
        "relative shift",
        "relative shift",
        "costs and start that are k higher give estimates that are k higher",
        _read_shift,
        _shift,
        _UPDATE,
    ),
)
