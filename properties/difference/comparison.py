"""Where two answers part: the first step at which they differ by more than rounding and stated accuracies explain."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from properties.cases.case import Case
from properties.difference.orders import Answer
from properties.judging.side_by_side import entry
from properties.kinds.objective import ObjectiveCase
from properties.laws.objective import judged_errors
from properties.laws.rounding import linear_growth, operations_bound, stated_accuracy
from robust_core.text import shorten

PLANNERS = "planner"


@dataclass(frozen=True)
class Parting:
    """The first step at which two variants part; step 0 is the start of a learner, or the answer of a function.

    `first` and `second` are their values at the entry `place`, or what they did instead; `allowed` is the difference
    that rounding and the accuracies that they state explain.
    """

    step: int
    place: str
    first: str
    second: str
    allowed: float

    def __str__(self) -> str:
        where = f" at {self.place}" if self.place else ""
        return f"step {self.step}{where}: first {self.first}, second {self.second} (allowed {self.allowed:.3g})"


@dataclass(frozen=True)
class Comparison:
    """Whether two answers have the same bits, and where they part, if they do; `misbehaved` if neither is an answer."""

    same_bits: bool
    parting: Parting | None
    misbehaved: str = ""


def compare(
    kind: str, case: Case, answers: tuple[Answer, Answer], options: tuple[Mapping[str, Any], ...]
) -> Comparison:
    """Compare the answers of two variants to one case."""
    first, second = answers
    if first.misbehaviour and first == second:
        return Comparison(False, None, first.misbehaviour)
    if first == second:
        return Comparison(True, None)
    before = 0.0
    for step, (ours, theirs) in enumerate(zip(first.steps, second.steps, strict=False)):
        shapes = [[numbers.shape for numbers in side] for side in (ours, theirs)]
        if shapes[0] != shapes[1]:
            return Comparison(False, Parting(step, "shape", str(shapes[0]), str(shapes[1]), 0.0))
        pairs = [(x.array(), y.array()) for x, y in zip(ours, theirs, strict=True)]
        allowed = allowed_difference(kind, case, pairs, step, before, options)
        worst, place = _furthest(pairs)
        if not worst <= allowed:
            part, where = place
            ours_there, theirs_there = (repr(float(side[where])) for side in pairs[part])
            name = entry(where) + (f" of part {part + 1}" if len(pairs) > 1 else "")
            return Comparison(False, Parting(step, name, ours_there, theirs_there, allowed))
        before = worst
    if len(first.steps) != len(second.steps) or bool(first.misbehaviour) != bool(second.misbehaviour):
        did = (shorten(each.misbehaviour or f"{len(each.steps)} results") for each in answers)
        return Comparison(False, Parting(min(len(each.steps) for each in answers), "", next(did), next(did), 0.0))
    return Comparison(first.steps == second.steps, None)


def _furthest(pairs: list[tuple[np.ndarray, np.ndarray]]) -> tuple[float, tuple[int, tuple[int, ...]]]:
    """The largest difference of two entries, and where; NaN against a number is infinitely far."""
    worst, place = 0.0, (0, ())
    for part, (x, y) in enumerate(pairs):
        with np.errstate(invalid="ignore"):
            apart = np.where((x == y) | (np.isnan(x) & np.isnan(y)), 0.0, np.abs(x - y))
        apart = np.where(np.isnan(apart), np.inf, apart)
        if apart.size and apart.max() > worst:
            where = np.unravel_index(int(apart.argmax()), apart.shape)
            worst, place = float(apart.max()), (part, tuple(int(i) for i in where))  # type: ignore[assignment]
    return worst, place


def allowed_difference(
    kind: str,
    case: Case,
    pairs: list[tuple[np.ndarray, np.ndarray]],
    step: int,
    before: float,
    options: tuple[Mapping[str, Any], ...],
) -> float:
    """How far two evaluations of one algorithm can be apart after a step, if they were apart by `before` ahead of it.

    Each result is that of a chain of roundings as in `mean_bound`, of numbers no larger than the values, costs and
    start; a planner's residual grows by 1/(1−gamma); a step of a linear learner stretches what was there.
    """
    if kind == "objective":
        return _objective_difference(case, options)
    finite = [np.abs(x[np.isfinite(x)]).max(initial=0.0) for pair in pairs for x in pair]
    mdp, told = case.get("mdp"), [case[name] for name in ("initial", "Q", "V", "v") if name in case]
    size = max([*finite, *(float(np.abs(x).max()) for x in told)]) + (np.abs(mdp.cost).max() if mdp else 0.0)
    S, A = mdp.cost.shape if mdp else (case["p"].shape[-1], 1)
    roundings, growth = 4 * S + 4 * A + 32, 1.0
    if "features" in case:
        features = case["features"].reshape(-1, case["features"].shape[-1])
        roundings += 8 * (S + features.shape[1]) + 64
        varrho = float(getattr(case["smoothing"], "varrho", 0.0))
        growth = linear_growth(features, size, varrho)
        # What rounding does to the weights of a softmax, as in `linear_step_bound`.
        size *= 1.0 + varrho * size
    steps = step + 1
    found = growth * before + 2.0 * operations_bound((steps + 1) * roundings, 2.0 * (steps + 1) * float(size))
    if mdp and (PLANNERS in kind or kind == "policy gradient"):
        found /= 1.0 - mdp.gamma
    return found + sum(_stated(kind, case, each) for each in options)


def _objective_difference(case: Case, options: tuple[Mapping[str, Any], ...]) -> float:
    """Twice the largest error of J, its gradient and omega: which of them are returned is not known."""
    errors = judged_errors(ObjectiveCase.of({name: case[name] for name in ObjectiveCase.names()}))
    if errors is None:
        return np.inf
    return 2.0 * max(errors.allowed) + sum(stated_accuracy(each, max(errors.sizes)) for each in options)


def _stated(kind: str, case: Case, options: Mapping[str, Any]) -> float:
    """The accuracy that a variant states, in the unit of its kind."""
    if not {"accuracy", "absolute accuracy"} & options.keys():
        return 0.0
    if kind == "support":
        return stated_accuracy(options, float(np.abs(case["v"]).max()))
    mdp = case["mdp"]
    powers = {"average cost planner": 0, "policy gradient": 2}
    return stated_accuracy(options, float(np.abs(mdp.cost).max()) / float(1.0 - mdp.gamma) ** powers.get(kind, 1))
