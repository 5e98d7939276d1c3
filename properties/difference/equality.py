"""How far two variants are equal: in bits, in law, in the mean, or not at all.

* *Equal in bits*: the same answers bit for bit in every case that was tried, with the same rng.
* *Equal in law*: in every case rounding and stated accuracies explain the differences; or, where the rng of a learner
  has another use, e-processes find no shift and no other spread of the answers, up to a stated effect.
* *Equal in the mean*: E[estimate_{t+1} | past] is the same, by enumerating transitions and draws at the step at which
  the two part. The past is one that both have had with the same estimates.
* *Different*: none of these.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain, islice
from typing import Any, Literal

import numpy as np

from properties.cases import runs
from properties.cases.case import Case
from properties.cases.choices import Seeded
from properties.cases.sources import Generated
from properties.difference.comparison import Parting, allowed_difference, compare
from properties.difference.orders import Answer
from properties.difference.pair import Pair, is_for
from properties.judging.search import explore_and_reduce
from properties.judging.verdict import Finding
from properties.kinds import kind_of
from properties.statistics import design
from properties.statistics.budget import RUN_BUDGET
from properties.statistics.laws.equality import LOG_DEVIATION
from properties.statistics.records import Decision
from properties.statistics.sequential import BETA, run
from robust_core.streams import key, numpy_generator
from robust_core.validate import Floats

Level = Literal["equal in bits", "equal in law", "equal in the mean", "different"]
LEVELS: tuple[Level, ...] = ("equal in bits", "equal in law", "equal in the mean", "different")
POWER = 0.99
EFFECT = 0.5
"""The shift that is seen, in standard deviations of the difference of two runs."""
CASES, TRIED = 3, 24
"""Cases whose laws are compared, and cases whose means are."""
PILOT, SEEDS = 32, 16
FURTHEST = 1.5
"""Deviations at which the logarithm of a ratio of spreads is cut, for a spread of 0 would be infinitely far."""
ENDS = (0.0, 0.25)
ENUMERATED = ("control", "evaluation", "linear evaluation", "simulator")
"""Kinds whose next estimate has a mean that is enumerated here."""


@dataclass(frozen=True)
class Smallest:
    """The smallest case on which two variants part."""

    case: dict[str, Any]
    parting: Parting


@dataclass(frozen=True)
class LawCell:
    """One statistical comparison: of the centres or of the spreads of a projection of the answers in one case."""

    what: str
    outcome: str
    runs: int
    log_against: float
    log_favour: float


@dataclass(frozen=True)
class Equality:
    """The level with its evidence. `share` of the cases is found to differ with probability POWER if it is larger."""

    level: Level
    cases: int
    same_bits: int
    smallest: Smallest | None
    evidence: str
    cells: tuple[LawCell, ...] = ()


class _Search:
    """Compares cases, and counts."""

    def __init__(self, pair: Pair) -> None:
        self.pair, self.cases, self.same = pair, 0, 0
        self.misbehaved: list[str] = []

    def __call__(self, case: Case) -> Finding | None:
        found = compare(self.pair.first.kind, case, self.pair.answers(case), self.pair.options)
        self.cases += 1
        self.same += found.same_bits
        self.misbehaved += [found.misbehaved] if found.misbehaved else []
        return None if found.parting is None else Finding(str(found.parting), None, None)


def equality(pair: Pair, *, examples: int, seed: int) -> Equality:
    """How far the two are equal, after so many cases."""
    source = Generated(runs.run if kind_of(pair.first.kind).learner else kind_of(pair.first.kind).generate)
    search = _Search(pair)
    drawn = islice(source.draw(pair.common, f"difference {seed}"), examples)
    verdict = explore_and_reduce(
        (case.entries() for case in chain(source.first(pair.common), drawn)), search, allowed=is_for(pair.common)
    )
    if verdict.case is None:
        return _never_parted(search)
    found = compare(pair.first.kind, verdict.case, pair.answers(verdict.case), pair.options)
    # A variant whose answers depend on what it was asked before may not part again.
    parting = found.parting or Parting(0, "", "another answer when asked again", verdict.evidence, 0.0)
    smallest = Smallest(verdict.case, parting)
    law, words, cells = _in_law(pair, verdict.case, seed)
    if law:
        return Equality("equal in law", search.cases, search.same, smallest, words, cells)
    equal, why = _in_the_mean(pair, verdict.case, seed)
    level: Level = "equal in the mean" if equal else "different"
    return Equality(level, search.cases, search.same, smallest, f"{words}; {why}", cells)


def _never_parted(search: _Search) -> Equality:
    if search.misbehaved:
        count = f"{len(search.misbehaved)} of {search.cases} cases"
        raise ValueError(f"differ: neither variant gives an answer in {count}: {search.misbehaved[0]}")
    share = 1.0 - (1.0 - POWER) ** (1.0 / search.cases)
    power = f"a difference in {share:.1%} of such cases or more is found with probability {POWER:g}"
    if search.same == search.cases:
        return Equality("equal in bits", search.cases, search.same, None, f"{search.cases} cases; {power}")
    rounded = search.cases - search.same
    words = f"in {rounded} of {search.cases} cases they differ by no more than rounding and stated accuracies; {power}"
    return Equality("equal in law", search.cases, search.same, None, words)


# --- in law


def _further_cases(pair: Pair, seed: int) -> Iterator[Case]:
    """Cases of the same source as those of the search, by their numbers."""
    kind = kind_of(pair.first.kind)
    read = runs.run if kind.learner else kind.generate
    for number in range(TRIED):
        yield read(Seeded(1000 * seed + number), pair.common).entries()


def _in_law(pair: Pair, case: Case, seed: int) -> tuple[bool, str, tuple[LawCell, ...]]:
    """Whether the laws of the answers over the seeds of the rng are equal, in words, and the comparisons."""
    random: list[Case] = []
    for each in [case, *_further_cases(pair, seed)]:
        constants = [_constant(pair, each, which, seed) for which in (0, 1)]
        if constants[0] is not None and constants[1] is not None:
            answers = constants[0], constants[1]
            if compare(pair.first.kind, each, answers, pair.options).parting is not None:
                return False, f"not equal in law: each gives one answer with {SEEDS} seeds, and they differ", ()
        elif len(random) < CASES:
            random.append(each)
    alpha = RUN_BUDGET / (2 * max(len(random), 1))
    cells: list[LawCell] = []
    for number, each in enumerate(random, start=1):
        for what, decision in _decisions(pair, each, alpha, seed):
            name = f"{what}, case {number}"
            cells.append(LawCell(name, decision.outcome, decision.n, decision.log_against, decision.log_favour))
            if decision.outcome == "violated":
                return False, f"not equal in law: {name}, {decision.n} runs of each", tuple(cells)
    equal = bool(cells) and all(cell.outcome == "holds" for cell in cells)
    words = (
        f"a shift of {EFFECT:g} standard deviations, or a ratio of spreads of "
        f"{math.exp(EFFECT * LOG_DEVIATION):.2g}, of a normal distribution would be called equal with probability "
        f"{BETA:g} at most; equal distributions are called different with probability {RUN_BUDGET:g} at most"
    )
    return equal, words if equal else f"equality in law is not decided: {words}", tuple(cells)


def _constant(pair: Pair, case: Case, which: int, seed: int) -> Answer | None:
    """The one answer of a variant to a case; None if its answers depend on the seed of its rng.

    Two variants of equal laws give two constants that differ with probability 4^-SEEDS at most: p^n (1−p)^n.
    """
    found = pair.runs(case, which, tuple(_seed(seed, which, index) for index in range(-SEEDS, 0)), last=True)
    return found[0] if all(each == found[0] for each in found[1:]) else None


def _seed(seed: int, place: int, index: int) -> int:
    return int.from_bytes(key("difference", seed, place, index)[:6], "big")


def _projection(answer: Answer) -> float:
    """A sum of the entries of the results with random weights; misbehaviour counts as far off."""
    if answer.misbehaviour or not answer.steps:
        return math.inf
    values = np.concatenate([numbers.array().ravel() for step in answer.steps for numbers in step])
    weights = numpy_generator(key("projection", values.size)).standard_normal(values.size)
    return float(weights @ values)


def _decisions(pair: Pair, case: Case, alpha: float, seed: int) -> Iterator[tuple[str, Decision]]:
    """Whether centres and spreads of a projection are equal: two runs of each variant a replicate.

    Under equal laws the difference of the two variants' runs is symmetric, and so is that of the logarithms of the
    distances of their pairs of runs; the scale, by a pilot of other seeds, is independent of them.
    """
    pilot = _rows(pair, case, seed, -PILOT, 0)
    scale = float(np.std(pilot[:, 0] - pilot[:, 2])) or 1.0

    rows_of = cache(partial(_rows, pair, case, seed))

    def shift(start: int, stop: int) -> Floats:
        rows = rows_of(start, stop)
        with np.errstate(invalid="ignore"):
            apart = (rows[:, 0] - rows[:, 2]) / scale
        return np.where(np.isnan(apart), 0.0, apart)

    def spreads(start: int, stop: int) -> Floats:
        rows = rows_of(start, stop)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.log(np.abs(rows[:, 0] - rows[:, 1])) - np.log(np.abs(rows[:, 2] - rows[:, 3]))
        return np.clip(np.where(np.isnan(ratio), 0.0, ratio) / LOG_DEVIATION, -FURTHEST, FURTHEST)

    plan = design.paired_plan(EFFECT, alpha=alpha, two_sided=True)
    for what, samples in (("centre", shift), ("spread", spreads)):
        yield what, run(plan, lambda start, stop, samples=samples: plan.test.statistic(samples(start, stop)))  # type: ignore[misc]


def _rows(pair: Pair, case: Case, seed: int, start: int, stop: int) -> Floats:
    """Two runs of the first variant and two of the second per replicate, all with seeds of their own."""
    columns = []
    for place in range(4):
        seeds = tuple(_seed(seed, place, index) for index in range(start, stop))
        columns.append([_projection(each) for each in pair.runs(case, place // 2, seeds, last=True)])
    return np.array(columns).T


# --- in the mean


def _in_the_mean(pair: Pair, case: Case, seed: int) -> tuple[bool, str]:
    """Whether the means of the next estimate are equal where the two part, and the evidence in words."""
    kind = kind_of(pair.first.kind)
    if pair.first.kind not in ENUMERATED:
        return False, f"means of kind {pair.first.kind!r} are not enumerated"
    parted = 0
    for each in [case, *_further_cases(pair, seed)]:
        found = compare(pair.first.kind, each, pair.answers(each), pair.options)
        if found.parting is None:
            continue
        if found.parting.step == 0:
            return False, "they part at the start"
        parted += 1
        if not kind.learner and found.parting.step > 1:
            continue
        shared = each | {"path": each["path"][: found.parting.step]} if kind.learner else each
        for ends in ENDS if kind.learner and _may_end(pair, each) else ENDS[:1]:
            words = _mean_apart(pair, shared, ends)
            if words:
                return False, f"{words}, in step {found.parting.step}"
    return True, f"the mean of the next estimate is the same in all {parted} cases in which they part, by enumeration"


def _may_end(pair: Pair, case: Case) -> bool:
    return runs.ends_of(pair.common, type(case["uncertainty_set"])) != "none"


def _mean_apart(pair: Pair, case: Case, ends: float) -> str:
    """How the means of the estimate after the last step differ; nothing if rounding explains it."""
    means = [pair.mean(case, which, ends) for which in (0, 1)]
    for variant, mean in zip(pair.both(), means, strict=True):
        if mean.mean is None:
            return f"the mean of {variant.name} cannot be enumerated: {mean.refused}"
    arrays = [mean.mean.array() for mean in means if mean.mean is not None]
    if arrays[0].shape != arrays[1].shape:
        return f"the means have the shapes {arrays[0].shape} and {arrays[1].shape}"
    steps = len(case.get("path", ()))
    allowed = allowed_difference(pair.first.kind, case, [(arrays[0], arrays[1])], steps, 0.0, pair.options)
    apart = np.abs(arrays[0] - arrays[1])
    if bool((apart <= allowed).all()):
        return ""
    where = np.unravel_index(int(np.nanargmax(apart)), apart.shape)
    return f"the means differ: {float(arrays[0][where])!r} and {float(arrays[1][where])!r}"
