"""Wrong learners from minibatches."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from properties.variants.mutants.plain import but, with_radius
from robust_core import Contamination, Problem, Transition, Variant
from robust_core.validate import Floats


class MeanBatch:
    """A right learner, in parts that a mutant replaces."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.table, self.count = problem, np.array(problem.initial), 0

    @property
    def radius(self) -> float:
        """R."""
        return float(getattr(self.problem.uncertainty_set, "radius", 0.0))

    def alpha(self) -> float:
        """The step size."""
        return self.problem.step_size.at(self.count)

    def values(self) -> Floats:
        """V of the table."""
        return self.table if self.table.ndim == 1 else np.asarray(self.table.min(axis=1))

    def top(self, V: Floats, batch: Sequence[Transition]) -> float:
        """What nature restarts at."""
        return float(V.max())

    def following(self, step: Transition, V: Floats) -> float:
        """The value after the step."""
        return 0.0 if step.terminal else float(V[step.s_next])

    def place(self, step: Transition) -> Any:
        """The entry of the step."""
        return step.s if self.table.ndim == 1 else (step.s, step.a)

    def target(self, step: Transition, V: Floats, batch: Sequence[Transition]) -> float:
        """What the entry moves to."""
        sigma = (1.0 - self.radius) * self.following(step, V) + self.radius * self.top(V, batch)
        return step.cost + self.problem.gamma * sigma

    def used(self, batch: Sequence[Transition]) -> Sequence[Transition]:
        """The transitions that count."""
        return batch

    def size(self, batch: Sequence[Transition]) -> float:
        """By what the sum is divided."""
        return float(len(batch))

    def change(self, batch: Sequence[Transition]) -> Floats:
        """The mean change."""
        V, change = self.values(), np.zeros_like(self.table)
        for step in batch:
            change[self.place(step)] += self.target(step, V, batch) - self.table[self.place(step)]
        return change / self.size(batch)

    def update(self, batch: Sequence[Transition]) -> None:
        """One step."""
        self.table = self.table + self.alpha() * self.change(self.used(batch))
        self.count += 1

    def estimate(self) -> Floats:
        """A copy of the table."""
        return np.array(self.table)


class PerEntry(MeanBatch):
    """The mean over the transitions of each entry."""

    def change(self, batch: Sequence[Transition]) -> Floats:
        """The mean of each entry."""
        V, total, count = self.values(), np.zeros_like(self.table), np.zeros_like(self.table)
        for step in batch:
            total[self.place(step)] += self.target(step, V, batch) - self.table[self.place(step)]
            count[self.place(step)] += 1.0
        return np.asarray(total / np.maximum(count, 1.0))


class _LastFour(PerEntry):
    """The mean over the last four transitions of each entry."""

    def used(self, batch: Sequence[Transition]) -> Sequence[Transition]:
        latest: dict[Any, list[Transition]] = {}
        for step in batch:
            latest.setdefault(self.place(step), []).append(step)
        return [step for steps in latest.values() for step in steps[-4:]]


class _Never(MeanBatch):
    def alpha(self) -> float:
        return 0.0


class _Last(MeanBatch):
    """Each entry is written by its last transition."""

    def change(self, batch: Sequence[Transition]) -> Floats:
        V, change = self.values(), np.zeros_like(self.table)
        for step in batch:
            change[self.place(step)] = self.target(step, V, batch) - self.table[self.place(step)]
        return change / self.size(batch)


class _Sequential(MeanBatch):
    """Members one after the other, each at the newest table."""

    def update(self, batch: Sequence[Transition]) -> None:
        for step in batch:
            self.table = self.table + self.alpha() * self.change([step]) / len(batch)
        self.count += 1


class _CountsTransitions(MeanBatch):
    """The step size counts transitions."""

    def update(self, batch: Sequence[Transition]) -> None:
        super().update(batch)
        self.count += len(batch) - 1


class _EndOfBatch(MeanBatch):
    """One end in a batch ends all of it."""

    def change(self, batch: Sequence[Transition]) -> Floats:
        if any(step.terminal for step in batch):
            batch = [step._replace(terminal=True) for step in batch]
        return super().change(batch)


class _MeanValue(MeanBatch):
    """The targets of a batch share the mean of its next values."""

    def change(self, batch: Sequence[Transition]) -> Floats:
        V = self.values()
        self.shared = float(np.mean([super(_MeanValue, self).following(step, V) for step in batch]))
        return super().change(batch)

    def following(self, step: Transition, V: Floats) -> float:
        return self.shared


class _Leftover(MeanBatch):
    """The first transition of the last batch is used again."""

    last: Sequence[Transition] = ()

    def used(self, batch: Sequence[Transition]) -> Sequence[Transition]:
        before, self.last = self.last, batch
        return [*batch, *before[:1]]


class _Clipped(MeanBatch):
    """Errors are clipped."""

    def change(self, batch: Sequence[Transition]) -> Floats:
        return np.asarray(sum(np.clip(MeanBatch.change(self, [step]), -1.0, 1.0) for step in batch)) / len(batch)


class _FirstSize(MeanBatch):
    """Divides by the size of the first batch."""

    first = 0

    def size(self, batch: Sequence[Transition]) -> float:
        self.first = self.first or len(batch)
        return float(self.first)


class _StaleBuffer(MeanBatch):
    """Keeps batches in a buffer of the largest size so far: a smaller one leaves old transitions behind it."""

    buffer: Sequence[Transition] = ()

    def used(self, batch: Sequence[Transition]) -> Sequence[Transition]:
        self.buffer = [*batch, *self.buffer[len(batch) :]]
        return self.buffer


class _Blocks(MeanBatch):
    """The mean of the means of blocks of eight, the last of which may be shorter."""

    def change(self, batch: Sequence[Transition]) -> Floats:
        blocks = [batch[start : start + 8] for start in range(0, len(batch), 8)]
        return np.asarray(np.mean([MeanBatch.change(self, block) for block in blocks], axis=0))


class _LostGamma(MeanBatch):
    def target(self, step: Transition, V: Floats, batch: Sequence[Transition]) -> float:
        return step.cost + (1.0 - self.radius) * self.following(step, V) + self.radius * self.top(V, batch)


class _OneDraw(MeanBatch):
    """A member of the batch, drawn by a coin: the mean is right, the variance that of one."""

    def used(self, batch: Sequence[Transition]) -> Sequence[Transition]:
        assert self.problem.rng is not None
        return [batch[int(self.problem.rng.integers(len(batch)))]]


class _Sorted(MeanBatch):
    """The half of the batch with the larger next values."""

    def used(self, batch: Sequence[Transition]) -> Sequence[Transition]:
        V = self.values()
        return sorted(batch, key=lambda step: -V[step.s_next])[: (len(batch) + 1) // 2]


def _half_backup(view: Any) -> Any:
    """The step of half the radius."""
    table, old = view.estimate, view.estimate
    V = view.values(old)
    for s, a in view.batch:
        row, place, R = view._mdp.P[s, a], view.place_of(s, a), view.radius / 2
        mean = sum(float(p) * v for p, v in zip(row, V, strict=True))
        target = float(view._mdp.cost[s, a]) + view.gamma * ((1 - R) * mean + R * max(V))
        table[place] += view.alpha() / len(view.batch) * (target - old[place])
    return table


_MEAN = ("batch mean",)
_ALL = ("batch mean", "batch variance", "batch order")


def _mutant(name: str, make: Any, promises: Any = _MEAN, **options: Any) -> Variant:
    return Variant(f"batch {name}", "batch", make, (Contamination,), promises, options)


VANILLA = _mutant("that is not robust", with_radius(MeanBatch, 0.0))
VANILLA_V = _mutant("of V that is not robust", with_radius(MeanBatch, 0.0), estimates="V")
HALF = _mutant("with half the radius", with_radius(MeanBatch, 0.5))
NEVER = _mutant("that never learns", _Never)
# Only the first transition of a batch.
FIRST = _mutant("of the first transition", but(MeanBatch, used=lambda self, batch: batch[:1]))
# Only the first transition of each entry: the mean is right.
FIRST_OF_ENTRY = _mutant(
    "of the first transition of an entry",
    but(PerEntry, used=lambda self, batch: list({self.place(step): step for step in reversed(batch)}.values())),
    _ALL,
    expected="robust backup, per entry",
)
LAST = _mutant("of the last transition", _Last)
SUM = _mutant("with the sum", but(MeanBatch, size=lambda self, batch: 1.0))
ONE_FEWER = _mutant("divided by k - 1", but(MeanBatch, size=lambda self, batch: max(1.0, len(batch) - 1.0)))
ROOT = _mutant("divided by the root of k", but(MeanBatch, size=lambda self, batch: float(np.sqrt(len(batch)))))
SEQUENTIAL = _mutant("one after the other", _Sequential)
COUNTS_TRANSITIONS = _mutant("that counts transitions", _CountsTransitions)
# The maximum over the next states of the batch.
SEEN_STATES = _mutant(
    "with the maximum of its states",
    but(MeanBatch, top=lambda self, V, batch: float(max(V[step.s_next] for step in batch))),
)
# The maximum over the states of a batch of eight or more.
SEEN_BY_MANY = _mutant(
    "with the maximum of the states of a long one",
    but(
        MeanBatch,
        top=lambda self, V, batch: float(
            V[[s for step in batch for s in (step.s, step.s_next)]].max() if len(batch) >= 8 else V.max()
        ),
    ),
)
LAST_FOUR = _mutant("of four transitions of an entry", _LastFour, ("batch order",), expected="robust backup, per entry")
PAST_END = _mutant("that goes on after the end", but(MeanBatch, following=lambda self, step, V: float(V[step.s_next])))
END_OF_BATCH = _mutant("that ends as a whole", _EndOfBatch)
MEAN_VALUE = _mutant("with a shared next value", _MeanValue)
# Equal transitions count once.
DISTINCT = _mutant("of distinct transitions", but(MeanBatch, used=lambda self, batch: list(dict.fromkeys(batch))))
# max for min.
BEST_ACTION = _mutant("with max for min", but(MeanBatch, values=lambda self: np.asarray(self.table.max(axis=1))))
LEFTOVER = _mutant("with a transition of the last batch", _Leftover)
CLIPPED = _mutant("with clipped errors", _Clipped)
FIRST_SIZE = _mutant("divided by the size of the first one", _FirstSize)
STALE_BUFFER = _mutant("with a stale buffer", _StaleBuffer)
BLOCKS = _mutant("by blocks of eight", _Blocks)
LOST_GAMMA = _mutant("without gamma", _LostGamma)
ONE_DRAW = _mutant("of one drawn transition", _OneDraw, _ALL)
SORTED = _mutant("of its upper half", _Sorted)
PER_ENTRY = _mutant("per entry, sold as one of all", PerEntry)
ORDERED = _mutant("that depends on the order", _Sequential, ("batch order",))
EMPTY = _mutant("with an empty promise", _Never, expected=lambda view: view.estimate)
HALF_PROMISE = _mutant(
    "with a promise of half the radius",
    with_radius(MeanBatch, 0.5),
    expected=_half_backup,
)
