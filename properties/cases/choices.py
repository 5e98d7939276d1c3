"""The choices of which a case is made, and the levels among which there is a choice.

A law needs hundreds of problems per second and each of them small: a bug that three states and two actions do not show
is rare. The first level of every list is the trivial one (no move, no cost, value 0). All rows are dyadic: the float
model is the rational model. Nothing is chosen that the case does not use.

`Seeded` chooses at random, as a seed says; `large.Fixed` chooses as the form of a large instance says.
"""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np

from oracles.sets import oracle_of
from properties.cases.case import LawCase
from properties.cases.scope import Scope
from properties.cases.transition_costs import SWINGS, are_paid_by
from robust_core import LogSumExp, Mellowmax, StepSize, constant, per_visit, polynomial
from robust_core.mdp import MDP
from robust_core.problem import Variant
from robust_core.sets import Threshold, UncertaintySet
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
WEIGHTS = (1, 2, 3, 8, 1, 32)
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
# In one case of four the last feature is small, which shows what drops features or directions of a small second moment.
FAINT = (1.0,) * 6 + (2.0**-12, 2.0**-24)
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
Level: TypeAlias = float | Threshold


@dataclass(frozen=True)
class SetChoice:
    """A kind of set and a level of its radius."""

    kind: type[UncertaintySet]
    level: Level


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

    def size(self, of: Size, allowed: Sequence[int] | None = None) -> int:
        """The number of states, actions, features, outcomes or columns: one of those allowed, if only some are."""
        return 1 + self.index(MOST[of]) if allowed is None else self.any_of(allowed)

    def length(self, steps: int, repeats: tuple[int, ...]) -> tuple[int, int]:
        """(steps of a path, how often it is walked)."""
        return self.index(steps + 1), self.any_of(repeats)

    def scale(self, variant: Variant) -> float:
        """The size of all costs and values; 1 where options['costs'] say the size of costs."""
        return self.pick(SCALES) if Scope.of(variant).costs is None else 1.0

    def blank(self) -> bool:
        """Whether a learner starts at zero everywhere."""
        return self.any_of(BLANKS)

    def array(self, shape: tuple[int, ...], levels: tuple[float, ...]) -> Floats:
        """An array of levels."""
        return np.array([self.pick(levels) for _ in range(int(np.prod(shape)))]).reshape(shape)

    def faint(self, features: Floats) -> Floats:
        """The features, the last of them sometimes small; chosen last, so that the rest of the case is the same."""
        scaled = features.copy()
        scaled[..., -1] *= self.any_of(FAINT)
        return scaled

    def costs(self, variant: Variant, shape: tuple[int, ...]) -> Floats:
        """An array of costs; options['costs'] gives their range."""
        scope = Scope.of(variant)
        if scope.costs is None:
            return self.array(shape, COSTS)
        levels = scope.cost_levels()
        if are_paid_by(variant):  # the swing leads as far as a quarter of the range away
            levels = tuple(sum(scope.costs) / 4.0 + level / 2.0 for level in levels)
        return self.array(shape, levels)

    def swing(self, variant: Variant, scale: float) -> float:
        """The swing of the costs of transitions, a power of two; inside options['costs']."""
        scope = Scope.of(variant)
        size = scale if scope.costs is None else 2.0 ** np.floor(np.log2((scope.costs[1] - scope.costs[0]) / 8.0))
        return float(size) * self.pick(SWINGS)

    def start(self, variant: Variant, gamma: float, shape: tuple[int, ...]) -> Floats:
        """A table to start at; where costs have a range, all entries are between 0 and values of policies."""
        scope = Scope.of(variant)
        if scope.costs is None:
            return self.values(shape)
        low, high = scope.box(gamma)
        return self.array(shape, tuple(low + part * (high - low) for part in (0.0, 1.0, 0.5, 0.25, 0.75, 0.125)))

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

    def row_for(self, kind: type[UncertaintySet], n: int) -> Floats:
        """A row for a support function; where the radii are the set's own, every other one is full.

        What happens between the first state that a ball empties and its threshold shows on full rows alone.
        """
        if kind.radii is UncertaintySet.radii or not self.index(2):
            return self.row(n, 0)
        weights = [self.any_of(WEIGHTS) for _ in range(n)]
        units = [TOTAL * weight // sum(weights) for weight in weights]
        units[0] += TOTAL - sum(units)
        return np.array(units) / TOTAL

    def mdp(
        self,
        variant: Variant,
        *,
        scale: float = 1.0,
        deterministic: bool = False,
        gammas: tuple[float, ...] = GAMMAS,
        sparse: bool = False,
    ) -> MDP:
        """A model for the variant with costs of a scale; with `sparse`, sometimes one that is kept as sparse rows."""
        scope = Scope.of(variant)
        S, A = self.size("states", scope.states), self.size("actions", scope.actions)
        gamma = self.discount(gammas, scope.gammas)
        P = np.empty((S, A, S))
        for s, a in np.ndindex(S, A):
            P[s, a] = self.row(S, s, deterministic=deterministic)
        cost = scale * self.costs(variant, (S, A))
        dense = MDP(P, cost, gamma)
        return MDP(dense.rows, cost, gamma) if sparse and self.sparse() else dense

    def discount(self, gammas: tuple[float, ...], allowed: tuple[float, ...] | None) -> float:
        """One of the discounts, or of those allowed, if only some are."""
        return self.pick(allowed or gammas)

    def sparse(self) -> bool:
        """Whether a kernel that may be kept as sparse rows is."""
        return self.any_of(SPARSE)

    def policy(self, mdp: MDP, *, deterministic: bool = False) -> Floats:
        """A policy pi[s, a]."""
        return np.array([self.row(mdp.n_actions, 0, deterministic=deterministic) for _ in range(mdp.n_states)])

    def step_size(self, *, visits: bool) -> StepSize:
        """A step size; without `visits` one that a learner without visit counts can follow."""
        return self.pick(STEP_SIZES if visits else STEP_SIZES_WITHOUT_VISITS)

    def set_choice(self, variant: Variant) -> "SetChoice":
        """One of the sets that the variant is for, and one of its levels; the rest follows when the rows are known."""
        kind = self.set_kind(variant)
        return SetChoice(kind, self.level(variant, kind))

    def uncertainty_set(self, choice: "SetChoice", p: Floats, v: Floats) -> UncertaintySet:
        """The chosen set for rows p (…, S) and values v (S,)."""
        made = choice.kind.choose(self.any_of, 0.0 if isinstance(choice.level, Threshold) else choice.level, p, v)
        return made.with_radius(self.radius(made, choice.level, p, v)) if isinstance(choice.level, Threshold) else made

    def set_of(self, variant: Variant, mdp: MDP) -> UncertaintySet:
        """A set for a model whose values are not known: a threshold is that of the costs."""
        return self.uncertainty_set(self.set_choice(variant), mdp.P, mdp.cost.min(axis=1))

    def radius(self, uncertainty_set: UncertaintySet, level: Level, p: Floats, v: Floats) -> float:
        """The radius of a level: where it is a multiple of the threshold, that of one of the rows."""
        if not isinstance(level, Threshold):
            return float(level)
        threshold = oracle_of(type(uncertainty_set)).threshold
        rows = p.reshape(-1, p.shape[-1])
        found = threshold and threshold(uncertainty_set, rows[self.index(len(rows))], v)
        return level.factor * (float(found) if found is not None and np.isfinite(found) else 1.0)

    def set_per_pair(self, variant: Variant, chosen: UncertaintySet, mdp: MDP, v: Floats) -> UncertaintySet:
        """The set with a radius of its own for each pair, or each state; where it has no radius, all fields are own."""
        if "radius" in chosen.axes:
            radii: Any = np.empty(mdp.cost.shape[:1] if chosen.by_state else mdp.cost.shape)
            for place in np.ndindex(*radii.shape):
                radii[place] = self.radius(chosen, self.level(variant, type(chosen)), mdp.P[place], v)
            return chosen.with_radius(radii)
        rows = mdp.P.reshape(-1, mdp.n_states)
        own = [self.uncertainty_set(SetChoice(type(chosen), 0.0), row, v) for row in rows]
        fields = {name: np.array([getattr(each, name) for each in own]) for name in chosen.axes}
        shaped = {name: value.reshape(*mdp.cost.shape, *value.shape[1:]) for name, value in fields.items()}
        return replace(chosen, **shaped)  # type: ignore[type-var]

    def set_kind(self, variant: Variant) -> type[UncertaintySet]:
        """The kind of set."""
        return self.any_of(variant.sets)

    def level(self, variant: Variant, kind: type[UncertaintySet]) -> Level:
        """A level of the radius of a kind of set; 0, and no choice, where it has none."""
        return self.pick(radii_of(variant, kind)) if "radius" in kind.axes else 0.0

    def smoothing(self, variant: Variant) -> LogSumExp | Mellowmax:
        """LSE or mellow-max; options['smoothing'] ('lse' or 'mellowmax') restricts a variant to one of them."""
        only = variant.options.get("smoothing")
        kind = self.pick(tuple(SMOOTHINGS.values())) if only is None else SMOOTHINGS[only]
        return kind(self.pick(VARRHOS))

    def projection(self) -> float | None:
        """The radius of the ball of projection, if there is one."""
        return self.any_of(PROJECTIONS)

    def path(
        self, mdp: MDP, *, steps: int, policy: Floats | None, ends: bool = False, deterministic: bool = False
    ) -> list[tuple[Any, ...]]:
        """`steps` possible transitions, each where the last one ended; `ends`: some are marked terminal.

        All possible outcomes are alike, whatever their probability. Without a policy any action is taken. In a
        `deterministic` problem the visits of a pair are all terminal or none is.
        """
        path: list[tuple[Any, ...]] = []
        ending: dict[tuple[int, int], bool] = {}
        if not steps:
            return path
        s = self.index(mdp.n_states)
        a = self._action(policy, s, mdp.n_actions)
        for _ in range(steps):
            s_next = self.any_of(np.flatnonzero(mdp.P[s, a]).tolist())
            a_next = self._action(policy, s_next, mdp.n_actions)
            last = ends and self.any_of(ENDS)
            if deterministic:
                last = ending.setdefault((s, a), last)
            path.append((s, a, float(mdp.cost[s, a]), s_next, a_next, last))
            s, a = s_next, a_next
        return path

    def _action(self, policy: Floats | None, s: int, n_actions: int) -> int:
        return self.index(n_actions) if policy is None else self.any_of(np.flatnonzero(policy[s]).tolist())


Reader = Callable[[Choices, Variant], LawCase]


class First(Choices):
    """The first choice everywhere: the trivial case."""

    def index(self, n: int) -> int:
        """0."""
        return 0


class NearlyFirst(First):
    """The first choice but for sizes, the steps of a path, one cost for all pairs, the discount, the set and its level.

    `rank` is the place of the discount, the set and the level among theirs, the last place if there are fewer.
    """

    def __init__(self, *, size: int, steps: int, cost: float, rank: int) -> None:
        self.n, self.steps, self.cost, self.rank = size, steps, cost, rank

    def size(self, of: Size, allowed: Sequence[int] | None = None) -> int:
        """As stated, or the nearest that is allowed."""
        wanted = min(self.n, MOST[of])
        return wanted if allowed is None else min(allowed, key=lambda size: abs(size - wanted))

    def length(self, steps: int, repeats: tuple[int, ...]) -> tuple[int, int]:
        """As stated, walked as often as is first."""
        return min(self.steps, steps), repeats[0]

    def costs(self, variant: Variant, shape: tuple[int, ...]) -> Floats:
        """The same everywhere, or the nearest in their range."""
        scope = Scope.of(variant)
        return np.full(shape, self.cost if scope.costs is None else np.clip(self.cost, *scope.costs))

    def discount(self, gammas: tuple[float, ...], allowed: tuple[float, ...] | None) -> float:
        """That of the rank."""
        return self._of_rank(allowed or gammas)

    def set_kind(self, variant: Variant) -> type[UncertaintySet]:
        """That of the rank."""
        return self._of_rank(variant.sets)

    def level(self, variant: Variant, kind: type[UncertaintySet]) -> Level:
        """That of the rank; 0 where there is no radius."""
        return self._of_rank(radii_of(variant, kind)) if "radius" in kind.axes else 0.0

    def _of_rank(self, options: Sequence[T]) -> T:
        return options[min(self.rank, len(options) - 1)]


# Nothing costs anything, for one state and for two; then everything costs the same.
SIMPLE: tuple[Callable[[], Choices], ...] = (
    First,
    partial(NearlyFirst, size=2, steps=3, cost=0.0, rank=1),
    partial(NearlyFirst, size=1, steps=2, cost=1.0, rank=1),
    partial(NearlyFirst, size=2, steps=3, cost=1.0, rank=2),
)


def simple_cases(read: Reader, variant: Variant) -> list[LawCase]:
    """The trivial case that `read` makes and some that are nearly trivial, where drawn cases hardly come."""
    return [read(choices(), variant) for choices in SIMPLE]


class Seeded(Choices):
    """Choices by the bytes of a hash of a seed; `chosen` are those that were made."""

    def __init__(self, seed: int | str) -> None:
        self.seed, self.number = seed, 0
        self.chosen: list[int] = []

    def index(self, n: int) -> int:
        """One of 0..n−1."""
        self.number += 1
        if n == 1:
            return 0
        digest = hashlib.blake2b(f"{self.seed} {self.number}".encode(), digest_size=8).digest()
        self.chosen.append(int.from_bytes(digest, "big") % n)
        return self.chosen[-1]


MOST_REPETITIONS = 200
"""Draws in a row that give no new case after which there are no others."""


def draw_cases(read: Reader, variant: Variant, seed: str) -> Iterator[LawCase]:
    """The cases that `read` makes of the choices of a seed, independent of each other but each once.

    Every choice is uniform, so a search that sees nothing in n cases bounds the share of failing ones. A case is a
    function of the seed and its number alone.
    """
    seen: set[tuple[int, ...]] = set()
    last = 0
    for number in count():
        choices = Seeded(f"{seed} {number}")
        case = read(choices, variant)
        if (chosen := tuple(choices.chosen)) not in seen:
            seen.add(chosen)
            last = number
            yield case
        elif number - last >= MOST_REPETITIONS:
            return


class WithModel(Seeded):
    """Choices by a seed, but for the model, which is given; `used` says whether it was asked for."""

    def __init__(self, model: MDP, seed: int) -> None:
        super().__init__(seed)
        self.model, self.used = model, False

    def mdp(
        self,
        variant: Variant,
        *,
        scale: float = 1.0,
        deterministic: bool = False,
        gammas: tuple[float, ...] = GAMMAS,
        sparse: bool = False,
    ) -> MDP:
        """The given one."""
        self.used = True
        return self.model


def radii_of(variant: Variant, kind: type[UncertaintySet]) -> tuple[Level, ...]:
    """The levels at which a kind of set is tested; options['radii'] restricts a variant to some."""
    return tuple(variant.options.get("radii", kind.radii))


def sets_beside(variant: Variant, uncertainty_set: UncertaintySet) -> list[UncertaintySet]:
    """The set, then those with radius 0 and 1, as far as the variant is for them: the same but for the radius."""
    allowed = variant.options.get("radii", (0.0, 1.0))
    ends = [with_radius(uncertainty_set, end) for end in (0.0, 1.0) if end in allowed]
    return list(dict.fromkeys([uncertainty_set, *(each for each in ends if each is not None)]))


def with_radius(uncertainty_set: UncertaintySet, radius: float) -> UncertaintySet | None:
    """The set with another radius; None if it has no radius, or none of this size."""
    if "radius" not in uncertainty_set.axes:
        return None
    try:
        return uncertainty_set.with_radius(radius)
    except (TypeError, ValueError):
        return None


def widen(uncertainty_set: UncertaintySet, radius: float) -> UncertaintySet:
    """The set with the radius, or its own where that is larger; the set itself if it has none or does not grow."""
    given: Any = uncertainty_set
    grows = given.grows and "radius" in given.axes
    return given.with_radius(np.maximum(given.radius, radius)) if grows else uncertainty_set


def radius_of(uncertainty_set: UncertaintySet) -> str:
    """The radius as a message has it."""
    radius = getattr(uncertainty_set, "radius", None)
    return (
        f"{radius:g}" if isinstance(radius, float) else "of each state" if uncertainty_set.by_state else "of each pair"
    )
