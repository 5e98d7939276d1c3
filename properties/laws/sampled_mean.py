"""The mean update by sampling: the twin of the exact laws for learners whose draws cannot be enumerated.

Claim of a cell: E[X] = 0, where X is a projection of the next estimate less its promised mean; for an unbiased step the
entry that is visited is all that is promised, so X is that entry. The promise is evaluated
at the past of every run, in rationals, so X has mean 0 given that past, whatever was drawn before. The next transition
is drawn from the model. The process is one of bounded means: X in [−B, B], B twice the largest |X| of a pilot with
other seeds. A run beyond B ends the cell *undecided*, never *violated*.

Null: given that it is in [−B, B], X has mean 0 up to rounding. It holds if E[X] = 0 and X never leaves [−B, B], and for
every X with a symmetric law, bounded or not. Given the pilot, *violated* then has a probability of at most alpha: the
runs that count are independent draws of X given |X| <= B, so their factors have mean at most 1. Of other laws nothing
can be said: whatever was seen, a large value of tiny probability can move the mean anywhere.

In a *signed* cell X is multiplied by the sign of a projection of the last estimate before the step, less its mean in
the pilot. That sign is a function of the past, so X still has mean 0; but a coin that is tossed once for several steps
shows in both factors.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from properties.cases import runs
from properties.cases.choices import Seeded
from properties.cases.runs import Run, ends_of, place_of
from properties.cases.scope import OutOfScope
from properties.judging import blame
from properties.judging.blame import CannotBeJudged
from properties.judging.guard import TooSlow, watch
from properties.judging.observation import observed_variant
from properties.judging.verdict import Finding, Verdict
from properties.laws.learning import advance, problem
from properties.laws.rounding import mean_bound
from properties.laws.view import View, promised_step, robust_backup, to_rationals
from properties.statistics import design
from properties.statistics.budget import sampled_level
from properties.statistics.records import Decision
from properties.statistics.sequential import BETA, drive, steps
from robust_core.problem import Variant
from robust_core.streams import key

PLAIN, SIGNED = 3, 2
"""Cells of each sort."""
STEPS, PILOT = 4, 48
EFFECT = 0.2
"""The bias that is seen with probability 1 − BETA, in units of B: a choice, of which the number of runs follows."""
LEAST_RANGE = 64.0
"""Of B, in units of twice the rounding of a run: the slack of the null is at most 1/128 B, a 25th of the effect."""
RADII = (0.2, 0.9)
"""Where nature and the model both matter, so that a wrong radius is a large bias."""
MOST_SEEDS = 400
PIECE = 64


class _Misbehaved(Exception):
    """What a run did beside computing."""


class _Beyond(Exception):
    """A run left the range of the pilot."""


@dataclass(frozen=True)
class _Cell:
    """A case, the probability that the next step ends the episode, the weights of the projection, and the promise.

    `before` are the weights of the projection of the last estimate before the step; None if the cell is not signed.
    """

    number: int
    case: Run
    ends: float
    weights: np.ndarray
    promised: Callable[[View], Any]
    before: np.ndarray | None = None

    def sample(self, variant: Variant, seed: int) -> "_Sample":
        """The sample of one run."""
        found: list[_Sample] = []

        def work() -> Finding | None:
            try:
                found.append(self._run(observed_variant(variant), seed))
            except BaseException as error:
                return Finding(blame.misbehaviour(error), None, None)
            return None

        try:
            finding = watch(work)
        except TooSlow as slow:
            finding = slow.finding()
        if finding is not None:
            raise _Misbehaved(str(finding))
        return found[0]

    def _run(self, variant: Variant, seed: int) -> "_Sample":
        case, history = self.case, self.case.path[:-1]
        s, a = case.path[-1][:2]
        learner = variant.make(problem(case, np.random.default_rng(seed)))
        past = [learner.estimate(), *(advance(learner, [step]).estimate() for step in history)]
        view = View(variant, case, past=[_rational(x) for x in past], steps=history, s=s, a=a, ends=self.ends)
        said = self.promised(view)
        wanted = np.array(to_rationals(np.array([*map(np.asarray, said)]) if isinstance(said, tuple) else said))
        outcomes = list(view.float_outcomes())
        chances = [float(p) for p, _ in outcomes]
        (step,) = random.Random(seed).choices([step for _, step in outcomes], chances)
        after = np.array(advance(learner, [step]).estimate(), dtype=np.float64)
        change = float(self.weights.ravel() @ (after - wanted.astype(np.float64)).ravel())
        last = np.array(past[-1], dtype=np.float64)
        return _Sample(change, 0.0 if self.before is None else float(self.before.ravel() @ last.ravel()))

    def rounding(self) -> float:
        """How far rounding moves X: the weights sum to 1."""
        size = float(np.abs(self.case.initial).max() + np.abs(self.case.mdp.cost).max()) / (1.0 - self.case.mdp.gamma)
        return mean_bound(self.case.mdp, len(self.case.path), size)


@dataclass(frozen=True)
class _Sample:
    """The projected change of a run less its promised mean, and the projection of the estimate before it."""

    change: float
    before: float

    def signed(self, middle: float | None) -> float:
        """X: the change, in a signed cell with the sign of the projection before it less `middle`."""
        return self.change if middle is None else self.change * float(np.sign(self.before - middle))


def _rational(estimate: Any) -> Any:
    return tuple(map(to_rationals, estimate)) if isinstance(estimate, tuple) else to_rationals(estimate)


def _cells(variant: Variant, *, visited: bool) -> Iterator[_Cell]:
    """Cases in which a step moves the estimate, transitions are random, and the radius is neither small nor large.

    In the signed ones, which are the last, the step before it does not end an episode: a coin may be tossed for each.
    """
    promised = robust_backup if visited else promised_step(variant)
    count = 0
    for seed in range(MOST_SEEDS):
        case = runs.run(Seeded(seed), variant, steps=STEPS, least=2)
        radius = getattr(case.uncertainty_set, "radius", 0.5)
        wide = np.ptp(case.initial) > 0.0 and case.mdp.n_states > 1 and not np.isin(case.mdp.P, (0.0, 1.0)).all()
        told = variant.options.get("radii") is not None or RADII[0] <= float(np.max(radius)) <= RADII[1]
        signed = count >= PLAIN
        if not (wide and told and case.step_size.scale >= 0.25 and case.mdp.gamma > 0.0):
            continue
        if signed and case.path[-2][-1]:
            continue
        rng = np.random.default_rng(seed)
        weights = rng.choice([-1.0, 1.0], size=case.initial.shape)
        before = rng.choice([-1.0, 1.0], size=case.initial.shape) if signed else None
        if visited:
            weights = np.zeros(case.initial.shape)
            weights[place_of(variant, *case.path[-1][:2])] = 1.0
        free = ends_of(variant, type(case.uncertainty_set)) != "none"
        ends = 0.25 if free and count % 2 else 0.0
        yield _Cell(count, case, ends, weights / np.abs(weights).sum(), promised, before)
        count += 1
        if count == PLAIN + SIGNED:
            return


def _cells_of(cases: Sequence[Run], variant: Variant) -> Iterator[_Cell]:
    """The cases themselves, with the probability of an end that each has beside it."""
    for number, case in enumerate(cases, start=PLAIN + SIGNED):
        weights = np.random.default_rng(number).choice([-1.0, 1.0], size=case.initial.shape)
        yield _Cell(number, case, case.beside["ends"], weights / weights.size, promised_step(variant))


def sampled_mean(
    variant: Variant,
    refused: str,
    seed: int,
    *,
    visited: bool = False,
    cases: Callable[[Variant], Sequence[Run]] | None = None,
) -> Verdict:
    """The verdict by sampling on the promise of a mean update; `refused` is the call that cannot be enumerated.

    With `visited` the promise is that of an unbiased step. The `cases` are those of a law with few; by default some are
    drawn.
    """
    because = f"by sampling, because draws cannot be enumerated ({refused})"
    cells = list(_cells(variant, visited=visited) if cases is None else _cells_of(cases(variant), variant))
    alpha, total = sampled_level() / max(1, len(cells)), 0
    undecided = ""
    for cell in cells:
        try:
            decision = _decide(variant, cell, alpha, seed)
        except _Misbehaved as fault:
            return Verdict("violated", str(fault), total)
        except CannotBeJudged as reason:
            return Verdict("error", str(reason), total)
        except OutOfScope as outside:
            undecided = f"case {cell.number + 1}: the options of the variant leave it out ({outside})"
            continue
        except _Beyond as beyond:
            undecided = f"case {cell.number + 1}: {beyond}"
            continue
        total += decision.n
        if decision.outcome == "violated":
            where = f"{cell.case.mdp!r}, {cell.case.uncertainty_set!r}"
            said = f"the mean of the next estimate is not the promised one in case {cell.number + 1} ({where})"
            evidence = f"log E {decision.log_against:.3g}, {decision.n} runs"
            return Verdict("violated", f"{said}: {evidence}, {because}", total)
        if decision.outcome != "holds":
            undecided = f"case {cell.number + 1}: log E {decision.log_favour:.3g} in favour after {decision.n} runs"
    if undecided or not total:
        return Verdict("undecided", f"{undecided or 'no case is fit for it'}; {because}", total)
    words = (
        f"no bias of {EFFECT:g} of the range of a step in {len(cells)} cases, {total} runs, {because}; such a bias is "
        f"missed with probability {BETA:g} a case, a false alarm has probability {sampled_level():.2g} if draws are "
        "bounded by twice the range of other runs, or symmetric"
    )
    return Verdict("holds", words, total)


def _decide(variant: Variant, cell: _Cell, alpha: float, seed: int) -> Decision:
    """The decision of one cell."""
    pilot = [cell.sample(variant, _seed(seed, cell, -index)) for index in range(1, PILOT)]
    middle = None if cell.before is None else float(np.mean([each.before for each in pilot]))
    bound = 2.0 * max(*(abs(each.change) for each in pilot), LEAST_RANGE * cell.rounding())
    plan = design.two_sided_mean(0.0, EFFECT, low=-1.0, high=1.0, slack=cell.rounding() / bound, alpha=alpha)

    def statistic(start: int, stop: int) -> Any:
        values = [cell.sample(variant, _seed(seed, cell, index)).signed(middle) / bound for index in range(start, stop)]
        if not max(map(abs, values)) <= 1.0:
            raise _Beyond("a run is more than twice as far off as those of the pilot, so the draws have no known bound")
        return plan.test.statistic(np.array(values))

    return drive(steps(plan, piece=PIECE), statistic)


def _seed(seed: int, cell: _Cell, index: int) -> int:
    return int.from_bytes(key("sampled mean", seed, cell.number, index)[:6], "big")
