"""Laws of learners from minibatches: the mean and the variance of an update, by enumerating all members of a batch.

The pairs of a batch are given; their successors (and ends; for a table of V their actions) are independent, so the
outcomes of a batch are tuples of transitions, beside the learner's own draws. Sums are those of rationals.
"""

import copy
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import cycle, islice, product
from typing import Any, cast

import numpy as np

from properties.cases import runs
from properties.cases.case import Path
from properties.cases.choices import Choices, Seeded
from properties.cases.runs import ends_of, estimates
from properties.cases.sources import Generated, Large
from properties.judging.blame import SetAside
from properties.judging.verdict import Finding
from properties.kinds.batch import BatchRun
from properties.laws.coins import MOST_LEAVES, Coins, NotEnumerable, Tape, leaves
from properties.laws.comparison import below, compare
from properties.laws.law import Law
from properties.laws.learning import advance, ill_formed, new_learner, problem
from properties.laws.rounding import UNIT, mean_bound
from properties.laws.tabular_path import solution_of
from properties.laws.view import ZERO, View, to_rationals
from robust_core import Transition, constant
from robust_core.problem import Kind, Variant
from robust_core.sets import Contamination

KIND: tuple[Kind, ...] = ("batch",)
STREAMS = 32
STEPS = 9
LONG, SEEDS = (9, 33, 130), 2
"""Sizes of batches of many transitions, and how many problems are tried with each."""
AWAY_SEEDS = 12
"""Problems among which some have transitions away from the worst state."""
TIMES = (1, 1, 4)
"""How many times as large a batch is whose order does not matter: up to twelve transitions."""
MOST_OUTCOMES = 800
"""Of the transitions of a batch."""
CHANCES = (0.0, 0.25, 0.0, 0.5, 1.0, 0.0)
"""Probabilities that a transition ends the episode."""
PROMISES_TRIED = 24
MORE = (0, 1, -1, 0, 2)
"""How many transitions more the first batch has than the others: a learner that keeps its size is then wrong."""
MANY = (4, 6, 5)
"""Sizes of batches with 2^k outcomes: what a learner does with four transitions of an entry may be new."""


class BatchView(View):
    """The past of a learner of minibatches, and the next batch: `batch` are its pairs (s, a), `t` counts batches."""

    def __init__(self, variant: Variant, case: BatchRun, past: Sequence[Any], batch: Path, *, ends: float) -> None:
        before = case.path[: case.given(len(past) - 1)]
        super().__init__(variant, case, past=past, steps=before, s=batch[0][0], a=batch[0][1], ends=ends)
        self.batch = tuple((int(step[0]), int(step[1])) for step in batch)
        self._members = [
            View(variant, case, past=past, steps=before, s=s, a=a, ends=ends) for s, a in self.batch
        ]  # fmt: skip

    @property
    def t(self) -> int:
        """The number of batches so far."""
        return len(self.estimates) - 1

    def count(self, place: Any) -> int:
        """How many transitions of the batch are of an entry."""
        return sum(self.place_of(s, a) == place for s, a in self.batch)

    def places(self) -> list[Any]:
        """The entries of the batch, each once."""
        return list(dict.fromkeys(self.place_of(s, a) for s, a in self.batch))

    def error(self, table: Any, place: Any) -> Fraction:
        """T of the table at an entry, less the entry."""
        s, a = place if isinstance(place, tuple) else (place, None)
        return self.T(table, s, a) - table[place]

    def member_outcomes(self) -> list[list[tuple[Fraction, Transition]]]:
        """For every transition of the batch, what it can be and with which probability."""
        return [list(member.float_outcomes()) for member in self._members]


def _mean_of_all(view: BatchView) -> Any:
    return _moved(view, lambda place: Fraction(view.count(place), len(view.batch)))


def _mean_per_entry(view: BatchView) -> Any:
    return _moved(view, lambda place: Fraction(1))


def _moved(view: BatchView, weight: Callable[[Any], Fraction]) -> Any:
    table, old, alpha = view.estimate, view.estimate, view.alpha()
    for place in view.places():
        table[place] += alpha * weight(place) * view.error(old, place)
    return table


STEPS_BY_NAME: dict[str, Callable[[BatchView], Any]] = {
    "robust backup": _mean_of_all,
    "robust backup, per entry": _mean_per_entry,
}


def _step_of(variant: Variant) -> Callable[[BatchView], Any]:
    step = variant.options.get("expected", "robust backup")
    return step if callable(step) else STEPS_BY_NAME.get(step, _mean_of_all)


def _table(estimate: Any) -> Any:
    return np.array(estimate, dtype=np.float64)


def _history(variant: Variant, case: BatchRun, tape: Tape, coins: int) -> tuple[Any, list[Any], Path]:
    """A learner before the last batch, its estimates so far, and that batch."""
    told = problem(case, Coins(tape, coins))
    learner, batches = case.adapt(variant.make(told)), case.batches()
    past = [_table(learner.estimate()), *(_table(advance(learner, batch).estimate()) for batch in batches[:-1])]
    return learner, past, batches[-1]


def _after(learner: Any, batch: Path) -> Any:
    return advance(copy.deepcopy(learner), batch).estimate()


def _outcomes(learner: Any, view: BatchView, tape: Tape, most: int) -> Iterator[tuple[Fraction, Any]]:
    """Every estimate after the batch with its probability; the learner's own draws leave room for `most` of them."""
    outcomes = view.member_outcomes()
    limit = max(1, most // math.prod(map(len, outcomes)))
    for members in product(*outcomes):
        chance = math.prod((share for share, _ in members), start=Fraction(1))
        batch = [step for _, step in members]
        after = partial(_after, learner, batch)
        for share, estimate in leaves(tape, after, limit=limit):
            yield chance * share, estimate


def _moments(
    variant: Variant, case: BatchRun, ends: float, coins: int, most: int = MOST_LEAVES
) -> tuple[BatchView, Any, Any, float, Tape, Finding | None]:
    """(view, mean of the change, mean of its square, largest entry, tape, finding)."""
    tape = Tape()
    learner, past, batch = _history(variant, case, tape, coins)
    view = BatchView(variant, case, [to_rationals(table) for table in past], batch, ends=ends)
    before, first, second, largest = view.estimate, ZERO, ZERO, max(float(np.abs(x).max()) for x in past)
    for table in past:
        if (finding := ill_formed(case.initial, table)) is not None:
            return view, None, None, largest, tape, finding
    for probability, estimate in _outcomes(learner, view, tape, most):
        after = _table(estimate)
        if (finding := ill_formed(case.initial, after)) is not None:
            return view, None, None, largest, tape, finding
        largest = max(largest, float(np.abs(after).max()))
        move = to_rationals(after) - before
        first, second = first + probability * move, second + probability * move * move
    return view, first, second, largest, tape, None


def _allowed(case: BatchRun, view: BatchView, largest: float, tape: Tape) -> float:
    size = largest + float(np.abs(case.mdp.cost).max())
    steps = case.given(view.t + 1)
    return mean_bound(case.mdp, steps, size) + UNIT * size + float(tape.cut) * largest + float(view.width)


def _when(view: BatchView) -> str:
    few = f"pairs {list(view.batch)}" if len(view.batch) <= max(MANY) else f"{len(view.batch)} transitions"
    return f" after batch {view.t + 1}, of the {few}"


def _mean(variant: Variant, case: BatchRun, ends: float, coins: int) -> Finding | None:
    return _wrong_mean(variant, case, ends, coins, MOST_LEAVES)


def _mean_of_many(variant: Variant, case: BatchRun, ends: float, coins: int) -> Finding | None:
    """The same; a learner that draws for every transition has too many outcomes."""
    try:
        return _wrong_mean(variant, case, ends, coins, MOST_OUTCOMES)
    except NotEnumerable as reason:
        raise SetAside(f"draws with too many outcomes ({reason})") from reason


def _wrong_mean(variant: Variant, case: BatchRun, ends: float, coins: int, most: int) -> Finding | None:
    if not case.batches():
        return None
    view, first, _, largest, tape, finding = _moments(variant, case, ends, coins, most)
    if finding is not None:
        return finding
    wanted = to_rationals(_step_of(variant)(view))
    if wanted.shape != case.initial.shape:
        return Finding("shape of the promised mean", wanted.shape, case.initial.shape)
    got = (view.estimate + first).astype(np.float64)
    what, when = f"expected {estimates(variant)}", _when(view)
    finding = compare(got, wanted.astype(np.float64), _allowed(case, view, largest, tape), what, after=when)
    if finding is not None:
        tape.require_draws()
    return finding


def _variance(variant: Variant, case: BatchRun, ends: float, coins: int) -> Finding | None:
    """Σ over the transitions of an entry of (weight)² Var(c + gamma(1−R)v'), v' = 0 at an end."""
    if not case.batches():
        return None
    view, first, second, largest, tape, finding = _moments(variant, case, ends, coins)
    if finding is not None:
        return finding
    variance = np.asarray(second - first * first).astype(np.float64)
    per_entry = variant.options.get("expected") == "robust backup, per entry"
    values, alpha, most = view.values(view.estimate), view.alpha(), np.zeros(case.initial.shape)
    for (s, a), outcomes in zip(view.batch, view.member_outcomes(), strict=True):
        place = view.place_of(s, a)
        weight = alpha / (view.count(place) if per_entry else len(view.batch))
        targets = [(p, Fraction(x.cost) + view.b * values[x.s_next] * (not x.terminal)) for p, x in outcomes]
        mean = sum((p * target for p, target in targets), ZERO)
        most[place] += float(weight**2 * sum((p * (target - mean) ** 2 for p, target in targets), ZERO))
    size = largest + float(np.abs(case.mdp.cost).max())
    # A change that errs by e errs by 2|change|e in its square, and so does the square of the mean.
    allowed = 8.0 * size * _allowed(case, view, largest, tape)
    when = _when(view)
    return below(variance, most, allowed, f"variance of {estimates(variant)}", after=when)


def _order(variant: Variant, case: BatchRun) -> Finding | None:
    """Every batch backwards gives the same estimates."""
    backwards = [step for batch in case.batches() for step in reversed(batch)]
    left, right = (
        _table(advance(new_learner(variant, case), path).estimate())
        for path in (case.path[: len(backwards)], backwards)
    )
    finding = ill_formed(case.initial, left) or ill_formed(case.initial, right)
    if finding is not None:
        return finding
    size = float(np.abs(case.mdp.cost).max()) + max(float(np.abs(x).max()) for x in (left, right, case.initial))
    allowed = 2.0 * mean_bound(case.mdp, len(case.path) + 1, size)
    what = f"{estimates(variant)} after batches that were given backwards: "
    return compare(right, left, allowed, what, columns=("backwards", "as given"))


def _at_solution(variant: Variant, case: BatchRun) -> Finding | None:
    """The promise alone: from the solution it stays."""
    if not case.batches():
        return None
    solution, error = solution_of(variant, case, np.zeros(case.mdp.P.shape))
    view = BatchView(variant, case, [to_rationals(solution)], case.batches()[0], ends=0.0)
    wanted = to_rationals(_step_of(variant)(view))
    size = float(np.abs(solution).max()) + float(np.abs(case.mdp.cost).max())
    allowed = mean_bound(case.mdp, case.size, size) + 2.0 * error + float(view.width)
    what = f"the promised mean at the solution: {estimates(variant)}"
    return compare(wanted.astype(np.float64), solution, allowed, what, columns=("promise", "solution"))


def _content(variant: Variant, case: BatchRun) -> Finding | None:
    """The promise alone: away from the solution it moves in at least half of the problems."""
    moved = tried = 0
    for seed in range(PROMISES_TRIED):
        drawn = cast(BatchRun, runs.run(Seeded(seed), variant, steps=STEPS, least=case.size, ends=False))
        if not drawn.batches() or not drawn.step_size.scale:
            continue
        start = to_rationals(drawn.initial)
        view = BatchView(variant, drawn, [start], drawn.batches()[0], ends=0.0)
        wrong = any(view.error(start, place) for place in view.places())
        tried += wrong
        moved += wrong and bool((to_rationals(_step_of(variant)(view)) != start).any())
    if 2 * moved >= tried:
        return None
    return Finding("problems in which the promised mean moves the estimate", moved, f"at least half of {tried}")


def _read(choices: Choices, variant: Variant) -> BatchRun:
    """A run of at least one batch, whose last one has few enough outcomes to enumerate."""
    least = max(3, int(variant.options.get("batch", 1)))
    case = cast(BatchRun, runs.run(choices, variant, steps=max(STEPS, 3 * least), least=least))
    ends = choices.pick(CHANCES) if ends_of(variant, type(case.uncertainty_set)) != "none" else 0.0
    case, ends = _few_enough(variant, case, ends)
    coins = choices.index(STREAMS)
    return _uneven(choices, variant, case).plus(ends=ends, coins=coins)


def _uneven(choices: Choices, variant: Variant, case: BatchRun) -> BatchRun:
    """The case with more or fewer transitions in the first of several batches, where batches may have any size."""
    more = choices.any_of(MORE)
    if not more or "batch" in variant.options or len(case.batches()) < 2 or case.size + more < 1:
        return case
    path = [*case.path[:more], *case.path] if more > 0 else case.path[-more:]
    return replace(case, path=path, first=case.size + more)


def _few_enough(variant: Variant, case: BatchRun, ends: float) -> tuple[BatchRun, float]:
    """The case with fewer open ends or, where batches may have any size, smaller batches."""
    while case.batches() and _count(variant, case, ends) > MOST_OUTCOMES:
        if ends not in (0.0, 1.0):
            ends = 0.0
        elif case.size > 1 and "batch" not in variant.options:
            case = replace(case, size=case.size - 1)
        else:
            # The last batch without its transitions of many outcomes: that of its first pair, over and over.
            case = replace(case, path=[*case.path[: -case.size], *[_calmest(case)] * case.size])
            break
    return case, ends


def _count(variant: Variant, case: BatchRun, ends: float) -> int:
    start = to_rationals(case.initial)
    view = BatchView(variant, case, [start] * len(case.batches()), case.batches()[-1], ends=ends)
    return math.prod(len(outcomes) for outcomes in view.member_outcomes())


def _calmest(case: BatchRun) -> Any:
    """The transition of the last batch whose pair has fewest successors."""
    return min(case.batches()[-1], key=lambda step: int((case.mdp.P[step[0], step[1]] > 0.0).sum()))


def _read_one_pair(choices: Choices, variant: Variant) -> BatchRun:
    """The same, with one pair for all members of the last batch."""
    case = _read(choices, variant)
    if not case.batches():
        return case
    last = case.batches()[-1][0]
    path = [*case.path[: case.given(len(case.batches()) - 1)], *[last] * len(case.batches()[-1])]
    narrowed, ends = _few_enough(variant, replace(case, path=path), case.beside["ends"])
    return narrowed.plus(ends=ends)


def _read_many(choices: Choices, variant: Variant) -> BatchRun:
    """The same for larger batches, in a model where one pair is open."""
    sized = replace(variant, options={**variant.options, "batch": choices.any_of(MANY)})
    return _read_one_pair(choices, sized)


def _long_batches(variant: Variant) -> list[BatchRun]:
    """Batches that are longer than a block, after one of two transitions; in deterministic models, so with one outcome.

    A path is repeated, and a block of it has not the shares of the whole. Some paths stay away from the worst state.
    """
    drawn = [_deterministic(variant, seed) for seed in range(AWAY_SEEDS)]
    away = [far for case in drawn if (far := _away_from_worst(case)) is not None]
    cases = []
    for size, case in product(LONG, (*drawn[:SEEDS], *away[:SEEDS])):
        path = [*case.path[:2], *islice(cycle(case.path), size)]
        step_size = constant(0.5) if not case.step_size.scale else case.step_size
        long = replace(case, path=path, size=size, first=2, step_size=step_size)
        cases.append(long.plus(ends=0.0, coins=0))
    return cases


def _deterministic(variant: Variant, seed: int) -> BatchRun:
    choices = Seeded(seed)
    return cast(BatchRun, runs.run(choices, variant, steps=STEPS, least=STEPS, ends=False, deterministic=True))


def _away_from_worst(case: BatchRun) -> BatchRun | None:
    """The case with the transitions alone that neither leave nor enter the state of the largest value at the start."""
    worst = int(case.initial.reshape(len(case.initial), -1).min(axis=1).argmax())
    path = [step for step in case.path if worst not in (step[0], step[3])]
    return replace(case, path=path) if len(path) > 1 else None


def _has_own_step(variant: Variant) -> bool:
    return callable(variant.options.get("expected"))


def _read_nothing(choices: Choices, variant: Variant) -> BatchRun:
    return cast(BatchRun, runs.run(Seeded(0), variant, steps=1, ends=False))


def _read_first(choices: Choices, variant: Variant) -> BatchRun:
    least = max(3, int(variant.options.get("batch", 1)))
    return cast(BatchRun, runs.run(choices, variant, steps=2 * least, least=least, ends=False))


def _read_order(choices: Choices, variant: Variant) -> BatchRun:
    """A run of two transitions at least, sometimes in larger batches of a path that is repeated."""
    case = cast(BatchRun, runs.run(choices, variant, steps=STEPS, least=2))
    times = choices.any_of(TIMES) if "batch" not in variant.options else 1
    return replace(case, path=[*case.path] * times, size=case.size * times)


_FIRST = ("start", "run purity")


def _law(name: str, promise: str, statement: str, read: Any, judge: Any, *after: str, **more: Any) -> Law:
    return Law(name, KIND, promise, statement, Generated(read), judge, after=(*_FIRST, *after), **more)


_ON_PROMISE = ("promised batch mean moves", "promised batch mean at the solution")
LAWS = (
    _law(
        _ON_PROMISE[0],
        "batch mean",
        "away from the solution the promised mean changes the estimate in at least half of the problems",
        _read_nothing,
        _content,
        only=_has_own_step,
    ),
    _law(
        _ON_PROMISE[1],
        "batch mean",
        "at the solution the promised mean of the first batch is the solution",
        _read_first,
        _at_solution,
        only=_has_own_step,
        endless=True,
    ),
    _law(
        "batch mean",
        "batch mean",
        "E[estimate after a batch | past and pairs] is the promised step in every entry, by enumerating the "
        "transitions of the batch and the draws of the learner",
        _read,
        _mean,
        *_ON_PROMISE,
    ),
    _law(
        "batch mean, one pair",
        "batch mean",
        "the same for batches of one pair",
        _read_one_pair,
        _mean,
        *_ON_PROMISE,
    ),
    _law(
        "batch mean, many",
        "batch mean",
        "the same for batches of four to six transitions of one pair",
        _read_many,
        _mean_of_many,
        *_ON_PROMISE,
        "batch mean, one pair",
        only=lambda variant: "batch" not in variant.options,
    ),
    replace(
        _law(
            "batch mean, long",
            "batch mean",
            "the same for batches of up to 130 transitions of several pairs, after a small one",
            _read,
            _mean_of_many,
            "batch mean",
            only=lambda variant: "batch" not in variant.options,
        ),
        cases=Large(_read, (), others=_long_batches),
    ),
    _law(
        "batch variance",
        "batch variance",
        "under contamination the variance of an entry is at most the sum over its transitions of (weight)² times the "
        "variance of one target",
        _read_one_pair,
        _variance,
        sets=(Contamination,),
        only=lambda variant: not _has_own_step(variant),
    ),
    _law(
        "batch order",
        "batch order",
        "batches given backwards lead to the same estimates",
        _read_order,
        _order,
    ),
)
