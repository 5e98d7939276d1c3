"""The choices of which a case is made, and the levels among which there is a choice.

A law needs hundreds of problems per second and each of them small: a bug that three states and two actions do not show
is rare. The first level of every list is the trivial one (no move, no cost, value 0). All rows are dyadic: the float
model is the rational model. Nothing is chosen that the case does not use.

`Drawn` lets Hypothesis choose; `large.Fixed` chooses as the form of a large instance says.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Literal, TypeVar

import numpy as np
from hypothesis import strategies as st

from properties.cases.case import LawCase
from robust_core import LogSumExp, Mellowmax, StepSize, constant, per_visit, polynomial
from robust_core.mdp import MDP
from robust_core.problem import Variant
from robust_core.sets import UncertaintySet
from robust_core.validate import Floats

TOTAL = 1 << 40
# About half of the moves are none, so that sparse rows, loops and Diracs are as common as full rows.
SHARES = (
    0,
    TOTAL,
    TOTAL // 2,
    0,
    TOTAL // 4,
    0,
    3 * TOTAL // 4,
    0,
    TOTAL // 8,
    0,
    1,
    0,
    TOTAL - 1,
    0,
    5 * TOTAL // 8,
    TOTAL >> 20,
)
WHOLE = (0, TOTAL)
COSTS = (0.0, 1.0, 0.5, 0.25, 0.75, 2.0, -1.0, 0.1, 1 / 3, 0.0, 100.0)
VALUES = (0.0, 1.0, 2.0, -1.0, 0.5, 4.0, -3.0, 0.1, 16.0, 1 / 3, -0.25, 1.0, 0.0, 2.0, 1000.0, -1.0, 1.0)
GAMMAS = (0.0, 0.5, 0.75, 0.875, 0.25, 0.9375, 0.9, 1.0 - 2.0**-7)
STEP_SIZES = (
    constant(0.5),
    constant(1.0),
    constant(0.0),
    per_visit(1.0, rate=1.0, power=1.0),
    polynomial(1.0, rate=1.0, power=1.0),
    constant(0.125),
    per_visit(0.75, rate=0.5, power=0.75),
    polynomial(0.5, rate=2.0, power=0.5),
    polynomial(1.0, rate=1000.0, power=1.0),
    # At the edges of what a schedule may be: constant in other words, summable, and hardly moving.
    polynomial(0.5, rate=0.0, power=1.0),
    per_visit(0.5, rate=2.0, power=0.0),
    per_visit(1.0, rate=1.0, power=2.0),
    constant(2.0**-10),
)
STEP_SIZES_WITHOUT_VISITS = tuple(step for step in STEP_SIZES if step.clock != "visits")
VARRHOS = (1.0, 2.0, 0.5, 10.0, 0.125, 1000.0, 2.0**14, 2.0**-6)
PROJECTIONS = (None, 1.0, 0.5, 4.0, None, 16.0)
SMOOTHINGS: dict[str, type[LogSumExp | Mellowmax]] = {"lse": LogSumExp, "mellowmax": Mellowmax}
FEATURES = (0.0, 1.0, 0.5, -0.5, 0.25, -1.0, 0.1, 0.0)
# A world of tiny numbers shows thresholds, one of huge numbers shows clipping.
SCALES = (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0**-40, 2.0**20)
# One start in eight is zero everywhere, as most are in practice.
BLANKS = (False,) * 7 + (True,)
# Three steps in sixteen end an episode, where they may.
ENDS = (False,) * 13 + (True,) * 3
SPARSE = (False, False, True)

Size = Literal["states", "actions", "features", "outcomes", "columns"]
MOST: dict[Size, int] = {"states": 4, "actions": 3, "features": 2, "outcomes": 6, "columns": 2}
MAX_STEPS = 10

T = TypeVar("T")


class Choices(ABC):
    """Where the choices of a case come from."""

    @abstractmethod
    def index(self, n: int) -> int:
        """One of 0..n−1."""

    def any_of(self, options: Sequence[T]) -> T:
        """One of the options."""
        return options[self.index(len(options))]

    def pick(self, levels: Sequence[T]) -> T:
        """One of the levels."""
        return self.any_of(levels)

    def size(self, of: Size) -> int:
        """The number of states, actions, features, outcomes or columns."""
        return 1 + self.index(MOST[of])

    def length(self, steps: int, repeats: tuple[int, ...]) -> tuple[int, int]:
        """(steps of a path, how often it is walked)."""
        return self.index(steps + 1), self.any_of(repeats)

    def scale(self) -> float:
        """The size of all costs and values."""
        return self.pick(SCALES)

    def blank(self) -> bool:
        """Whether a learner starts at zero everywhere."""
        return self.any_of(BLANKS)

    def array(self, shape: tuple[int, ...], levels: tuple[float, ...]) -> Floats:
        """An array of levels."""
        return np.array([self.pick(levels) for _ in range(int(np.prod(shape)))]).reshape(shape)

    def costs(self, shape: tuple[int, ...]) -> Floats:
        """An array of costs."""
        return self.array(shape, COSTS)

    def values(self, shape: tuple[int, ...]) -> Floats:
        """An array of values, not all of them different; the first axis is that of the states or outcomes."""
        return self.array(shape, VALUES)

    def row(self, n: int, home: int, *, deterministic: bool = False) -> Floats:
        """A distribution on n outcomes: shares moved away from `home`."""
        shares = WHOLE if deterministic else SHARES
        units, left = [0] * n, TOTAL
        for outcome in range(n if n > 1 else 0):
            units[outcome] = min(self.pick(shares), left)
            left -= units[outcome]
            if not left:
                break
        units[home] += left
        return np.array(units) / TOTAL

    def mdp(
        self,
        *,
        scale: float = 1.0,
        deterministic: bool = False,
        gammas: tuple[float, ...] = GAMMAS,
        sparse: bool = False,
    ) -> MDP:
        """A model with costs of a scale; with `sparse`, sometimes one that is kept as sparse rows."""
        S, A = self.size("states"), self.size("actions")
        gamma = self.discount(gammas)
        P = np.empty((S, A, S))
        for s, a in np.ndindex(S, A):
            P[s, a] = self.row(S, s, deterministic=deterministic)
        cost = scale * self.costs((S, A))
        dense = MDP(P, cost, gamma)
        return MDP(dense.rows, cost, gamma) if sparse and self.sparse() else dense

    def discount(self, gammas: tuple[float, ...]) -> float:
        """One of the discounts."""
        return self.pick(gammas)

    def sparse(self) -> bool:
        """Whether a kernel that may be kept as sparse rows is."""
        return self.any_of(SPARSE)

    def policy(self, mdp: MDP, *, deterministic: bool = False) -> Floats:
        """A policy pi[s, a]."""
        return np.array([self.row(mdp.n_actions, 0, deterministic=deterministic) for _ in range(mdp.n_states)])

    def step_size(self, *, visits: bool) -> StepSize:
        """A step size; without `visits` one that a learner without visit counts can follow."""
        return self.pick(STEP_SIZES if visits else STEP_SIZES_WITHOUT_VISITS)

    def uncertainty_set(self, variant: Variant) -> UncertaintySet:
        """One of the sets that the variant is for."""
        kind: Any = self.set_kind(variant)
        return kind(self.radius(variant, kind))

    def set_kind(self, variant: Variant) -> type[UncertaintySet]:
        """The kind of set."""
        return self.any_of(variant.sets)

    def radius(self, variant: Variant, kind: type[UncertaintySet]) -> float:
        """A radius of a kind of set."""
        return float(self.pick(radii_of(variant, kind)))

    def smoothing(self, variant: Variant) -> LogSumExp | Mellowmax:
        """LSE or mellow-max; options['smoothing'] ('lse' or 'mellowmax') restricts a variant to one of them."""
        only = variant.options.get("smoothing")
        kind = self.pick(tuple(SMOOTHINGS.values())) if only is None else SMOOTHINGS[only]
        return kind(self.pick(VARRHOS))

    def projection(self) -> float | None:
        """The radius of the ball of projection, if there is one."""
        return self.any_of(PROJECTIONS)

    def path(self, mdp: MDP, *, steps: int, policy: Floats | None, ends: bool = False) -> list[tuple[Any, ...]]:
        """`steps` possible transitions, each where the last one ended; `ends`: some are marked terminal.

        All possible outcomes are alike, whatever their probability. Without a policy any action is taken.
        """
        path: list[tuple[Any, ...]] = []
        if not steps:
            return path
        s = self.index(mdp.n_states)
        a = self._action(policy, s, mdp.n_actions)
        for _ in range(steps):
            s_next = self.any_of(np.flatnonzero(mdp.P[s, a]).tolist())
            a_next = self._action(policy, s_next, mdp.n_actions)
            path.append((s, a, float(mdp.cost[s, a]), s_next, a_next, ends and self.any_of(ENDS)))
            s, a = s_next, a_next
        return path

    def _action(self, policy: Floats | None, s: int, n_actions: int) -> int:
        return self.index(n_actions) if policy is None else self.any_of(np.flatnonzero(policy[s]).tolist())


class Drawn(Choices):
    """Choices of Hypothesis."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw, self.number = draw, 0

    def index(self, n: int) -> int:
        """One of 0..n−1; nothing is drawn where there is no choice.

        Hypothesis favours its simplest choice: one example in ten has nothing else after some prefix. So that this is
        not the trivial case, on which few bugs show, its 0 stands for the middle. Reductions make a case simple.
        """
        if n == 1:
            return 0
        self.number += 1
        return (self.draw(_indices(self.number, n)) + n // 2) % n


@cache
def _indices(number: int, n: int) -> st.SearchStrategy[int]:
    """0..n−1 for the choice of that number.

    Hypothesis copies what it drew from one strategy to the other places where the strategy is drawn from, which gives
    clusters of cases that are alike; so every choice has elements of its own. It also mixes constants of the source
    files at hand into integers, but none below 100: as long as n is below that, the same seed gives the same cases
    wherever the suite is installed.
    """
    return st.sampled_from([(number, index) for index in range(n)]).map(_second)


def _second(pair: tuple[int, int]) -> int:
    return pair[1]


Reader = Callable[[Choices, Variant], LawCase]


@st.composite
def draw_case(draw: st.DrawFn, read: Reader, variant: Variant) -> LawCase:
    """The cases that `read` makes of choices of Hypothesis."""
    return read(Drawn(draw), variant)


class First(Choices):
    """The first choice everywhere: the trivial case."""

    def index(self, n: int) -> int:
        """0."""
        return 0


def radii_of(variant: Variant, kind: type[UncertaintySet]) -> tuple[float, ...]:
    """The radii at which a kind of set is tested; options['radii'] restricts a variant to some."""
    return tuple(variant.options.get("radii", kind.radii))


def radii_beside(variant: Variant, radius: float) -> list[float]:
    """The radius, then 0 and 1, as far as the variant is for them: the same question but for the radius."""
    allowed = variant.options.get("radii", (0.0, 1.0))
    return list(dict.fromkeys([radius, *(end for end in (0.0, 1.0) if end in allowed)]))
