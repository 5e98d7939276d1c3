"""Small problems for the laws, read off a string of bytes.

A law needs hundreds of problems per second and each of them small: a slip that three states and two actions do not
show is rare. So a problem is decoded from one drawn string instead of being built from many draws. Every byte selects
from a list whose first entry is the trivial one (no move, no cost, value 0), so the shrinker, which lowers bytes,
removes whatever the violation does not need. Among strings with the same entries it prefers the one that has them
late, so arrays are filled from the last state to the first: what is needed moves to the low numbers, and a smaller
size is a size byte less. All rows are dyadic: the float model is the rational model.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from properties.laws.law import Case
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
RADII = UncertaintySet.radii
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
PROJECTIONS = (np.inf, 1.0, 0.5, 4.0, np.inf, 16.0)
SMOOTHINGS = (LogSumExp, Mellowmax)
FEATURES = (0.0, 1.0, 0.5, -0.5, 0.25, -1.0, 0.1, 0.0)

# A world of tiny numbers shows thresholds, one of huge numbers shows clipping.
SCALES = (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0**-40, 2.0**20)

MAX_STATES, MAX_ACTIONS, MAX_STEPS, MAX_FEATURES, MAX_OUTCOMES = 4, 3, 10, 2, 6
MOST = {"states": MAX_STATES, "actions": MAX_ACTIONS, "features": MAX_FEATURES, "outcomes": MAX_OUTCOMES, "columns": 2}
BYTES = 192


def radii_beside(variant: Variant, radius: float) -> list[float]:
    """The radius, then 0 and 1, as far as the variant is for them: the same question but for the radius."""
    allowed = variant.options.get("radii", (0.0, 1.0))
    return list(dict.fromkeys([radius, *(end for end in (0.0, 1.0) if end in allowed)]))


class Tape:
    """The bytes of one case, consumed from left to right (past the end all are zero)."""

    def __init__(self, data: bytes) -> None:
        self.data, self.place = data, 0

    def byte(self) -> int:
        """The next byte."""
        value = self.data[self.place] if self.place < len(self.data) else 0
        self.place += 1
        return value

    def pick(self, options: tuple[Any, ...]) -> Any:
        """One of the options; a zero byte takes the first."""
        return options[self.byte() % len(options)]

    def size(self, of: str) -> int:
        """How many states, actions, features or outcomes."""
        return 1 + self.byte() % MOST[of]

    def length(self, steps: int, repeats: tuple[int, ...]) -> tuple[int, int]:
        """(steps of a path, how often it is walked)."""
        return self.byte() % (steps + 1), int(self.pick(repeats))

    def blank(self) -> bool:
        """Whether a learner starts at zero everywhere, as most do in practice."""
        return self.byte() % 8 == 7

    def array(self, shape: tuple[int, ...], levels: tuple[float, ...]) -> Floats:
        """An array of levels; it takes as many bytes as the largest shape, so a size can shrink by itself."""
        largest = (MAX_STATES, MAX_ACTIONS)[: len(shape)]
        drawn = [self.pick(levels) for _ in range(int(np.prod(largest)))]
        block = np.array(drawn[::-1]).reshape(largest)
        return np.ascontiguousarray(block[tuple(map(slice, shape))])

    def values(self, n: int, most: int) -> Floats:
        """n values, not all of them different; it takes `most` bytes."""
        return np.array([self.pick(VALUES) for _ in range(most)][::-1])[:n]

    def row(self, n: int, most: int, home: int, shares: tuple[int, ...]) -> Floats:
        """A distribution on n outcomes: shares moved away from `home`; it takes `most` bytes."""
        wanted = [self.pick(shares) for _ in range(most)][::-1]
        units, left = [0] * n, TOTAL
        for outcome in range(n):
            units[outcome] = min(wanted[outcome], left)
            left -= units[outcome]
        units[home] += left
        return np.array(units) / TOTAL

    def mdp(self, *, whole: bool = False, gammas: tuple[float, ...] = GAMMAS, sparse: bool = False) -> MDP:
        """A model; with `whole`, a deterministic one; with `sparse`, sometimes one that is kept as sparse rows."""
        S, A = self.size("states"), self.size("actions")
        gamma = self.discount(gammas)
        shares = WHOLE if whole else SHARES
        P = np.empty((S, A, S))
        for s, a in reversed(list(np.ndindex(max(S, MAX_STATES), max(A, MAX_ACTIONS)))):
            row = self.row(S, MAX_STATES, min(s, S - 1), shares)
            if s < S and a < A:
                P[s, a] = row
        cost = self.array((S, A), COSTS)
        dense = MDP(P, cost, gamma)
        return MDP(dense.rows, cost, gamma) if sparse and self.sparse() else dense

    def discount(self, gammas: tuple[float, ...]) -> float:
        """One of the discounts."""
        return float(self.pick(gammas))

    def sparse(self) -> bool:
        """Whether a kernel that may be kept as sparse rows is."""
        return bool(self.pick((False, False, True)))

    def policy(self, mdp: MDP, *, whole: bool = False) -> Floats:
        """A policy pi[s, a]."""
        shares = WHOLE if whole else SHARES
        most = max(MAX_STATES, mdp.n_states)
        rows = [self.row(mdp.n_actions, MAX_ACTIONS, 0, shares) for _ in range(most)][::-1]
        return np.array(rows[: mdp.n_states])

    def step_size(self, *, visits: bool) -> StepSize:
        """A step size; without `visits` one that a learner without visit counts can follow."""
        chosen: StepSize = self.pick(STEP_SIZES if visits else STEP_SIZES_WITHOUT_VISITS)
        return chosen

    def uncertainty_set(self, variant: Variant) -> UncertaintySet:
        """One of the sets that the variant is for."""
        kind: Any = self.set_kind(variant)
        return kind(self.radius(variant))

    def set_kind(self, variant: Variant) -> type[UncertaintySet]:
        """The kind of set."""
        kind: type[UncertaintySet] = self.pick(variant.sets)
        return kind

    def radius(self, variant: Variant) -> float:
        """A radius; options['radii'] restricts a variant to some."""
        return float(self.pick(tuple(variant.options.get("radii", RADII))))

    def path(self, mdp: MDP, *, steps: int, policy: Floats | None, ends: bool = False) -> list[tuple[Any, ...]]:
        """`steps` possible transitions, each where the last one ended; `ends`: some are marked terminal.

        All possible outcomes are alike, whatever their probability. Without a policy any action is taken.
        """
        s, a = self.byte() % mdp.n_states, self.byte()
        path = []
        a = _possible(policy, s, a, mdp.n_actions)
        for _ in range(steps):
            successors = np.flatnonzero(mdp.P[s, a])
            byte, then = self.byte(), self.byte()
            s_next = int(successors[byte % len(successors)])
            a_next = _possible(policy, s_next, then, mdp.n_actions)
            path.append((s, a, float(mdp.cost[s, a]), s_next, a_next, ends and then % 16 > 12))
            s, a = s_next, a_next
        return path


def _possible(policy: Floats | None, s: int, byte: int, n_actions: int) -> int:
    actions = range(n_actions) if policy is None else np.flatnonzero(policy[s])
    return int(actions[byte % len(actions)])


def decoded(read: Callable[[Tape], Case]) -> st.SearchStrategy[Case]:
    """The cases that `read` makes of a string of bytes."""
    return st.binary(min_size=BYTES, max_size=BYTES).map(lambda data: read(Tape(data)))


def smoothing(tape: Tape, variant: Variant) -> LogSumExp | Mellowmax:
    """LSE or mellow-max; options['smoothing'] ('lse' or 'mellowmax') restricts a variant to one of them."""
    kinds = {"lse": LogSumExp, "mellowmax": Mellowmax}
    kind = kinds.get(variant.options.get("smoothing", ""), tape.pick(SMOOTHINGS))
    made: LogSumExp | Mellowmax = kind(tape.pick(VARRHOS))
    return made
