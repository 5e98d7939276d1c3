"""Wrong learners with a simulator."""

from dataclasses import replace
from typing import Any

import numpy as np

from properties.variants.mutants.plain import but, with_radius
from robust_core import Contamination, Problem, TotalVariation, UncertaintySet, Variant, sigma
from robust_core.validate import Floats


class MeanQ:
    """A right learner, in parts that a mutant replaces."""

    draws = 2

    def __init__(self, problem: Problem, simulator: Any) -> None:
        self.problem, self.simulator = problem, simulator
        self.table, self.count = np.array(problem.initial), 0

    @property
    def radius(self) -> float:
        """R."""
        return float(getattr(self.problem.uncertainty_set, "radius", 0.0))

    def alpha(self) -> float:
        """The step size of the iteration."""
        return self.problem.step_size.at(self.count)

    def top(self, V: Floats, nexts: Any) -> float:
        """What nature restarts at."""
        return float(V.max())

    def nexts(self, s: int, a: int) -> Any:
        """Successors of the pair."""
        return self.simulator.draw(s, a, self.draws)

    def sigma(self, s: int, a: int, V: Floats) -> float:
        """An estimate of sigma(V)."""
        nexts = self.nexts(s, a)
        return float((1.0 - self.radius) * V[nexts].mean() + self.radius * self.top(V, nexts))

    def target(self, s: int, a: int, V: Floats) -> float:
        """What the entry moves to."""
        return float(self.simulator.cost(s, a)) + self.problem.gamma * self.sigma(s, a, V)

    def iterate(self) -> None:
        """Every entry once."""
        V = self.table.min(axis=1)
        for s, a in np.ndindex(*self.table.shape):
            self.table[s, a] += self.alpha() * (self.target(s, a, V) - self.table[s, a])
        self.count += 1

    def estimate(self) -> Any:
        """A copy of the table."""
        return self.table.copy()


class _Stored(MeanQ):
    """The draws of the first iteration serve all later ones."""

    def __init__(self, problem: Problem, simulator: Any) -> None:
        super().__init__(problem, simulator)
        self.store: dict[tuple[int, int], Any] = {}

    def nexts(self, s: int, a: int) -> Any:
        if (s, a) not in self.store:
            self.store[s, a] = super().nexts(s, a)
        return self.store[s, a]


class _Greedy(MeanQ):
    """Draws again until the successor is not the worst."""

    def nexts(self, s: int, a: int) -> Any:
        first, V = super().nexts(s, a), self.table.min(axis=1)
        return first if V[first].min() < V.max() else super().nexts(s, a)


class _OneSide(MeanQ):
    """Only entries that rise are written."""

    def iterate(self) -> None:
        before = self.table.copy()
        super().iterate()
        self.table = np.maximum(self.table, before)


class _Mean(MeanQ):
    """V of the policy 'any action'."""

    def iterate(self) -> None:
        V = self.table.mean(axis=1)
        for s, a in np.ndindex(*self.table.shape):
            self.table[s, a] += self.alpha() * (self.target(s, a, V) - self.table[s, a])
        self.count += 1


class PlugIn(MeanQ):
    """sigma of the set around the empirical row."""

    def sigma(self, s: int, a: int, V: Floats) -> float:
        """The plug-in."""
        return float(sigma(self.problem.uncertainty_set, self.empirical(self.nexts(s, a)), V))

    def empirical(self, nexts: Any) -> Floats:
        """The share of each state."""
        return np.bincount(nexts, minlength=self.problem.n_states) / len(nexts)


class _Smoothed(PlugIn):
    """One more draw of every state."""

    def empirical(self, nexts: Any) -> Floats:
        counts = np.bincount(nexts, minlength=self.problem.n_states) + 1.0
        return np.asarray(counts / counts.sum())


class _HalfPlugIn(PlugIn):
    def sigma(self, s: int, a: int, V: Floats) -> float:
        half = TotalVariation(self.radius / 2.0)
        return float(sigma(half, self.empirical(self.nexts(s, a)), V))


class Multilevel(PlugIn):
    """Multilevel Monte Carlo with a random level."""

    psi = 0.7

    def level(self) -> int:
        """The level."""
        assert self.problem.rng is not None
        return int(self.problem.rng.geometric(self.psi)) - 1

    def weight(self, level: int) -> float:
        """The probability of the level."""
        return self.psi * (1.0 - self.psi) ** level

    def plug_in(self, nexts: Any, V: Floats) -> float:
        """sigma around the empirical row."""
        return float(sigma(self.problem.uncertainty_set, self.empirical(nexts), V))

    def sigma(self, s: int, a: int, V: Floats) -> float:
        """The first draw, and the weighted difference of one level."""
        level = self.level()
        first, nexts = self.simulator.draw(s, a, 1), self.simulator.draw(s, a, 2 ** (level + 1))
        halves = self.plug_in(nexts[::2], V) + self.plug_in(nexts[1::2], V)
        return self.plug_in(first, V) + (self.plug_in(nexts, V) - halves / 2.0) / self.weight(level)


class OneLevel(Multilevel):
    """All entries of an iteration have one level."""

    latest = 0

    def iterate(self) -> None:
        """Draw the level, then move every entry."""
        self.latest = super().level()
        super().iterate()

    def level(self) -> int:
        """The level of the iteration."""
        return self.latest


class _NextWeight(Multilevel):
    def weight(self, level: int) -> float:
        return super().weight(level + 1)


class _SmallPsi(Multilevel):
    psi = 0.4


class _SumOfHalves(Multilevel):
    def sigma(self, s: int, a: int, V: Floats) -> float:
        level = self.level()
        first, nexts = self.simulator.draw(s, a, 1), self.simulator.draw(s, a, 2 ** (level + 1))
        rise = self.plug_in(nexts, V) - self.plug_in(first, V)
        return self.plug_in(first, V) + rise / self.weight(level)


def _mutant(
    name: str, make: Any, *sets: type[UncertaintySet], promises: Any = ("mean iteration",), **more: Any
) -> Variant:
    return Variant(f"simulator {name}", "simulator", make, sets or (Contamination,), promises, {"draws": 2} | more)


_ALL = ("mean iteration", "expected draws", "variance")
VANILLA = _mutant("that is not robust", but(MeanQ, radius=0.0))
HALF = _mutant("with half the radius", with_radius(MeanQ, 0.5))
NEVER = _mutant("that never learns", but(MeanQ, alpha=lambda self: 0.0))
WHOLE = _mutant("with alpha = 1", but(MeanQ, alpha=lambda self: 1.0))
LATE = _mutant("with the next step size", but(MeanQ, alpha=lambda self: self.problem.step_size.at(self.count + 1)))
LOST_GAMMA = _mutant(
    "without gamma", but(MeanQ, target=lambda self, s, a, V: float(self.simulator.cost(s, a)) + self.sigma(s, a, V))
)
MEAN_STATE = _mutant("with the mean for the maximum", but(MeanQ, top=lambda self, V, nexts: float(V.mean())))
# Nature restarts at a state that was drawn.
SEEN_STATES = _mutant("with the maximum of drawn states", but(MeanQ, top=lambda self, V, nexts: float(V[nexts].max())))
# V follows the entries while they move.
IN_PLACE = _mutant(
    "in place", but(MeanQ, target=lambda self, s, a, V: MeanQ.target(self, s, a, self.table.min(axis=1)))
)
# Two draws, of which one is used.
FIRST_ALONE = _mutant(
    "with one draw of two", but(MeanQ, nexts=lambda self, s, a: MeanQ.nexts(self, s, a)[:1]), promises=_ALL
)
# Every successor once, however often it was drawn.
DISTINCT = _mutant(
    "with distinct successors",
    but(MeanQ, draws=3, nexts=lambda self, s, a: np.unique(MeanQ.nexts(self, s, a))),
    draws=3,
)
OTHER_ACTION = _mutant(
    "of the first action", but(MeanQ, nexts=lambda self, s, a: self.simulator.draw(s, 0, self.draws))
)
STORED = _mutant("with stored draws", _Stored)
REDRAWN = _mutant("that draws again", _Greedy)
ONE_SIDE = _mutant("that only rises", _OneSide)
MEAN_ACTION = _mutant("of the mean action", _Mean)
MORE_DRAWS = replace(_mutant("with more draws than it says", MeanQ, promises=_ALL), options={"draws": 1})
FEWER_DRAWS = replace(_mutant("with fewer draws than it says", MeanQ, promises=_ALL), options={"draws": 3})
PLUG_IN = _mutant("with a plug-in sold as exact", PlugIn, TotalVariation)
FEWER_SAMPLES = _mutant("with fewer samples than it says", PlugIn, TotalVariation, samples=4)
SMOOTHED = _mutant("with smoothed rows", _Smoothed, TotalVariation, samples=2)
HALF_PLUG_IN = _mutant("plug-in with half the radius", _HalfPlugIn, TotalVariation, samples=2)
_LEVELS: Any = {"promises": ("multilevel",), "levels": 0.7}
NEXT_WEIGHT = _mutant("with the weight of the next level", _NextWeight, TotalVariation, **_LEVELS)
NO_WEIGHT = _mutant(
    "without weights of levels", but(Multilevel, weight=lambda self, level: 1.0), TotalVariation, **_LEVELS
)
# Levels with another probability than is said, weighted right.
OTHER_PSI_OF_ALL = _mutant("with one other level than it says", but(OneLevel, psi=0.6), TotalVariation, **_LEVELS)
OTHER_PSI = _mutant("with other levels than it says", but(Multilevel, psi=0.6), TotalVariation, **_LEVELS)
SUM_OF_HALVES = _mutant("without halves", _SumOfHalves, TotalVariation, **_LEVELS)
NEVER_MULTILEVEL = _mutant(
    "of levels that never learns", but(Multilevel, alpha=lambda self: 0.0), TotalVariation, **_LEVELS
)
SMALL_PSI = Variant(
    "simulator of infinite cost", "simulator", _SmallPsi, (TotalVariation,), ("multilevel", "expected draws"),
    {"levels": 0.4, "draws": 4.0},
)  # fmt: skip


class _Later(MeanQ):
    """From the fourth iteration on the estimate has a little of the deviation of its draws added."""

    def sigma(self, s: int, a: int, V: Floats) -> float:
        """An estimate of sigma(V)."""
        nexts = self.nexts(s, a)
        more = 1e-3 * V[nexts].std() if self.count > 2 else 0.0
        return float((1.0 - self.radius) * V[nexts].mean() + self.radius * self.top(V, nexts) + more)


LATER = _mutant("that is biased later", _Later)


class _FourthReuse(MeanQ):
    """Every fourth iteration uses the draws of the one before."""

    def __init__(self, problem: Problem, simulator: Any) -> None:
        super().__init__(problem, simulator)
        self.store: dict[tuple[int, int], Any] = {}

    def nexts(self, s: int, a: int) -> Any:
        if self.count % 4 != 3:
            self.store[s, a] = super().nexts(s, a)
        return self.store[s, a]


FOURTH_REUSE = _mutant("that draws in three iterations of four", _FourthReuse)
