"""Wrong samplers (bugs that show on a single path; a distribution that is slightly wrong needs statistics)."""

import copy
from typing import Any

import numpy as np

from properties.variants.mutants.plain import but
from robust_core import MDP, Transition, Variant
from robust_core.validate import Floats

Rng = np.random.Generator


def _mutant(name: str, make: Any) -> Variant:
    return Variant(f"sampler {name}", "sampler", make, (), ("trajectory",))


class _Plain:
    """A sampler with seams, right as it stands."""

    def __call__(self, mdp: MDP, policy: Floats, start: int, steps: int, rng: Rng) -> list[Transition]:
        """A path."""
        s = start
        a = self.action(policy, s, rng)
        path = []
        for _ in range(steps):
            s_next = self.following(mdp, s, a, rng)
            a_next = self.action(policy, s_next, rng)
            path.append(self.step(mdp, s, a, s_next, a_next))
            s, a = s_next, a_next
        return path

    def action(self, policy: Floats, s: int, rng: Rng) -> int:
        """a ~ pi(·|s)."""
        return int(rng.choice(policy.shape[1], p=policy[s]))

    def following(self, mdp: MDP, s: int, a: int, rng: Rng) -> int:
        """s' ~ p(·|s,a)."""
        return int(rng.choice(mdp.n_states, p=mdp.P[s, a]))

    def step(self, mdp: MDP, s: int, a: int, s_next: int, a_next: int) -> Transition:
        """The transition."""
        return Transition(s, a, float(mdp.cost[s, a]), s_next, a_next, False)


class _Transposed(_Plain):
    """p(s|s',a) for p(s'|s,a)."""

    def following(self, mdp: MDP, s: int, a: int, rng: Rng) -> int:
        column = mdp.P[:, a, s]
        return int(rng.choice(mdp.n_states, p=column / column.sum())) if column.any() else s


class _OpenEnd(_Plain):
    """A cumulative sum searched on the wrong side never reaches the last outcome."""

    def following(self, mdp: MDP, s: int, a: int, rng: Rng) -> int:
        return max(0, int(np.searchsorted(np.cumsum(mdp.P[s, a]), rng.random())) - 1)


class _EightSuccessors(_Plain):
    """Successors beyond the eighth are never reached."""

    def following(self, mdp: MDP, s: int, a: int, rng: Rng) -> int:
        first = np.flatnonzero(mdp.P[s, a])[:8]
        return int(rng.choice(first, p=mdp.P[s, a, first] / mdp.P[s, a, first].sum()))


class _FewUniform(_Plain):
    """Three to eight successors are alike."""

    def following(self, mdp: MDP, s: int, a: int, rng: Rng) -> int:
        support = np.flatnonzero(mdp.P[s, a])
        return int(rng.choice(support)) if 3 <= len(support) <= 8 else super().following(mdp, s, a, rng)


class _NoneRare(_Plain):
    """Successors of less than two per cent are left out."""

    def following(self, mdp: MDP, s: int, a: int, rng: Rng) -> int:
        row = np.where(mdp.P[s, a] < 0.02, 0.0, mdp.P[s, a])
        return int(rng.choice(len(row), p=row / row.sum()))


class _OnePolicy(_Plain):
    """The probabilities of state 0 for the actions of every state."""

    def action(self, policy: Floats, s: int, rng: Rng) -> int:
        weights = np.where(policy[s] > 0.0, policy[0], 0.0)
        return (
            int(rng.choice(len(weights), p=weights / weights.sum()))
            if weights.any()
            else super().action(policy, s, rng)
        )


class _EightActions(_Plain):
    """Actions beyond the eighth are never taken."""

    def action(self, policy: Floats, s: int, rng: Rng) -> int:
        weights = policy[s].copy()
        weights[8:] = 0.0
        return (
            int(rng.choice(len(weights), p=weights / weights.sum()))
            if weights.any()
            else super().action(policy, s, rng)
        )


def _sticky(mdp: MDP, policy: Floats, start: int, steps: int, rng: Rng) -> list[Transition]:
    """Every fourth time a state repeats what it chose last."""
    last: dict[int, int] = {}

    class Sticky(_Plain):
        def action(self, policy: Floats, s: int, rng: Rng) -> int:
            repeated = s in last and rng.random() < 0.25
            last[s] = last[s] if repeated else super().action(policy, s, rng)
            return last[s]

    return Sticky()(mdp, policy, start, steps, rng)


def _greedy_first(mdp: MDP, policy: Floats, start: int, steps: int, rng: Rng) -> list[Transition]:
    """The first action is the likeliest."""
    begun: list[int] = []

    class Greedy(_Plain):
        def action(self, policy: Floats, s: int, rng: Rng) -> int:
            begun.append(int(policy[s].argmax()) if not begun else super().action(policy, s, rng))
            return begun[-1]

    return Greedy()(mdp, policy, start, steps, rng)


def _copied_rng(mdp: MDP, policy: Floats, start: int, steps: int, rng: Rng) -> list[Transition]:
    """The caller's generator stays where it was."""
    return _Plain()(mdp, policy, start, steps, copy.deepcopy(rng))


def _few_streams(mdp: MDP, policy: Floats, start: int, steps: int, rng: Rng) -> list[Transition]:
    """One of 256 seeds."""
    return _Plain()(mdp, policy, start, steps, np.random.default_rng(int(rng.integers(256))))


class _CostOfNext(_Plain):
    def step(self, mdp: MDP, s: int, a: int, s_next: int, a_next: int) -> Transition:
        return Transition(s, a, float(mdp.cost[s_next, a]), s_next, a_next, False)


class _CostOfNextAction(_Plain):
    def step(self, mdp: MDP, s: int, a: int, s_next: int, a_next: int) -> Transition:
        return Transition(s, a, float(mdp.cost[s, a_next]), s_next, a_next, False)


class _AlwaysTerminal(_Plain):
    def step(self, mdp: MDP, s: int, a: int, s_next: int, a_next: int) -> Transition:
        return super().step(mdp, s, a, s_next, a_next)._replace(terminal=s_next == mdp.n_states - 1)


class _Reversed(_Plain):
    def step(self, mdp: MDP, s: int, a: int, s_next: int, a_next: int) -> Transition:
        return super().step(mdp, s, a, s_next, a_next)._replace(s=s_next, s_next=s)


def _drawn_twice(mdp: MDP, policy: Floats, start: int, steps: int, rng: Rng) -> list[Transition]:
    """The next state is drawn once for the report and once to go on."""
    plain, s, path = _Plain(), start, []
    for _ in range(steps):
        a = plain.action(policy, s, rng)
        s_next = plain.following(mdp, s, a, rng)
        path.append(plain.step(mdp, s, a, s_next, plain.action(policy, s_next, rng)))
        s = plain.following(mdp, s, a, rng)
    return path


def _action_drawn_twice(mdp: MDP, policy: Floats, start: int, steps: int, rng: Rng) -> list[Transition]:
    """The next action is drawn once for the report and once to go on."""
    plain, s, path = _Plain(), start, []
    for _ in range(steps):
        a = plain.action(policy, s, rng)
        s_next = plain.following(mdp, s, a, rng)
        path.append(plain.step(mdp, s, a, s_next, plain.action(policy, s_next, rng)))
        s = s_next
    return path


def _greedy_later(mdp: MDP, policy: Floats, start: int, steps: int, rng: Rng) -> list[Transition]:
    """After a hundred steps it exploits: the likeliest action, always."""
    greedy = np.eye(policy.shape[1])[policy.argmax(axis=1)]
    early = _Plain()(mdp, policy, start, min(steps, 100), rng)
    if steps <= 100:
        return early
    late = _Plain()(mdp, greedy, early[-1].s_next, steps - 100, rng)
    early[-1] = early[-1]._replace(a_next=late[0].a)
    return early + late


def _writes_policy(mdp: MDP, policy: Floats, start: int, steps: int, rng: Rng) -> list[Transition]:
    """Accumulates the caller's policy in place for its searches."""
    path = _Plain()(mdp, policy, start, steps, rng)
    np.cumsum(policy, axis=1, out=policy)
    return path


def _independent(mdp: MDP, policy: Floats, start: int, steps: int, rng: Rng) -> list[Transition]:
    """Every step from a fresh uniform state."""
    return [_Plain()(mdp, policy, int(rng.integers(mdp.n_states)), 1, rng)[0] for _ in range(steps)]


def _own_seed(mdp: MDP, policy: Floats, start: int, steps: int, rng: Rng) -> list[Transition]:
    return _Plain()(mdp, policy, start, steps, np.random.default_rng(0))


def _no_seed(mdp: MDP, policy: Floats, start: int, steps: int, rng: Rng) -> list[Transition]:
    return _Plain()(mdp, policy, start, steps, np.random.default_rng())


def _global_seed(mdp: MDP, policy: Floats, start: int, steps: int, rng: Rng) -> list[Transition]:
    np.random.seed(0)  # noqa: NPY002 (the bug)
    return _Plain()(mdp, policy, start, steps, rng)


IGNORES_ACTION = _mutant(
    "that ignores the action",
    but(_Plain, following=lambda self, mdp, s, a, rng: _Plain.following(self, mdp, s, 0, rng))(),
)
UNIFORM_POLICY = _mutant(
    "with a uniform policy", but(_Plain, action=lambda self, policy, s, rng: int(rng.integers(policy.shape[1])))()
)
UNIFORM_NEXT = _mutant(
    "with a uniform next state", but(_Plain, following=lambda self, mdp, s, a, rng: int(rng.integers(mdp.n_states)))()
)
LIKELIEST_NEXT = _mutant(
    "of the likeliest state", but(_Plain, following=lambda self, mdp, s, a, rng: int(mdp.P[s, a].argmax()))()
)
TRANSPOSED = _mutant("with the wrong axis", _Transposed())
OPEN_END = _mutant("that never reaches the last state", _OpenEnd())
# The successors are right, their probabilities are forgotten.
UNIFORM_ON_SUPPORT = _mutant(
    "of equal successors",
    but(_Plain, following=lambda self, mdp, s, a, rng: int(rng.choice(np.flatnonzero(mdp.P[s, a]))))(),
)
EIGHT_SUCCESSORS = _mutant("of eight successors", _EightSuccessors())
GREEDY_LATER = _mutant("that exploits later", _greedy_later)
WRITES_POLICY = _mutant("that writes into the policy", _writes_policy)
COST_OF_NEXT = _mutant("with the next state's cost", _CostOfNext())
COST_OF_NEXT_ACTION = _mutant("with the next action's cost", _CostOfNextAction())
ALWAYS_TERMINAL = _mutant("that ends in the last state", _AlwaysTerminal())
REVERSED = _mutant("that walks backwards", _Reversed())
DRAWN_TWICE = _mutant("that draws the next state twice", _drawn_twice)
ACTION_DRAWN_TWICE = _mutant("that draws the next action twice", _action_drawn_twice)
START_IGNORED = _mutant("that starts at 0", lambda mdp, policy, start, steps, rng: _Plain()(mdp, policy, 0, steps, rng))
INDEPENDENT = _mutant("of independent steps", _independent)
ONE_TOO_MANY = _mutant(
    "with a step too many", lambda mdp, policy, start, steps, rng: _Plain()(mdp, policy, start, steps + 1, rng)
)
OWN_SEED = _mutant("with a seed of its own", _own_seed)
NO_SEED = _mutant("without a seed", _no_seed)
GLOBAL_SEED = _mutant("that seeds the world", _global_seed)
FEW_UNIFORM = _mutant("of few successors alike", _FewUniform())
NONE_RARE = _mutant("without rare successors", _NoneRare())
ONE_POLICY = _mutant("with the policy of state 0", _OnePolicy())
EIGHT_ACTIONS = _mutant("of eight actions", _EightActions())
STICKY = _mutant("that repeats its choices", _sticky)
GREEDY_FIRST = _mutant("that begins with the likeliest action", _greedy_first)
COPIED_RNG = _mutant("that leaves the rng where it was", _copied_rng)
FEW_STREAMS = _mutant("of 256 paths", _few_streams)


class _Slots(_Plain):
    """A table of 64 slots for every row: a share below a slot is lost."""

    def following(self, mdp: MDP, s: int, a: int, rng: Rng) -> int:
        slots = np.floor(64 * mdp.P[s, a]).astype(np.int64)
        slots[mdp.P[s, a].argmax()] += 64 - slots.sum()
        return int(np.repeat(np.arange(mdp.n_states), slots)[rng.integers(64)])


class _LastMerged(_Plain):
    """What is left for the last successor is taken for rounding if it is little."""

    def following(self, mdp: MDP, s: int, a: int, rng: Rng) -> int:
        support = np.flatnonzero(mdp.P[s, a])
        cumulative = np.cumsum(mdp.P[s, a, support])
        cumulative[cumulative > 1.0 - 0.012] = 1.0
        return int(support[np.searchsorted(cumulative, rng.random(), side="right")])


class _FirstSkipped(_Plain):
    """A draw below 1.2 % is taken for zero and is not a draw of the first successor."""

    def following(self, mdp: MDP, s: int, a: int, rng: Rng) -> int:
        support = np.flatnonzero(mdp.P[s, a])
        drawn = max(rng.random(), 0.012)
        return int(support[np.searchsorted(np.cumsum(mdp.P[s, a, support]), drawn, side="right")])


class _NearlyUniform(_Plain):
    """Successors that differ by less than a fifth are drawn alike, by int(u n)."""

    def following(self, mdp: MDP, s: int, a: int, rng: Rng) -> int:
        support = np.flatnonzero(mdp.P[s, a])
        if np.ptp(mdp.P[s, a, support]) < 0.18:
            return int(support[int(rng.random() * len(support))])
        return super().following(mdp, s, a, rng)


class _ActionSlots(_Plain):
    """A table of 16 slots for the actions."""

    def action(self, policy: Floats, s: int, rng: Rng) -> int:
        slots = np.floor(16 * policy[s]).astype(np.int64)
        slots[policy[s].argmax()] += 16 - slots.sum()
        return int(np.repeat(np.arange(policy.shape[1]), slots)[rng.integers(16)])


SLOTS = _mutant("of 64 slots", _Slots())
LAST_MERGED = _mutant("that takes a rare last state for rounding", _LastMerged())
FIRST_SKIPPED = _mutant("that skips a rare first state", _FirstSkipped())
NEARLY_UNIFORM = _mutant("of nearly equal successors alike", _NearlyUniform())
ACTION_SLOTS = _mutant("of 16 slots for actions", _ActionSlots())


class _Mixed(_Plain):
    """One successor in 200 is drawn uniformly from the possible ones."""

    def following(self, mdp: MDP, s: int, a: int, rng: Rng) -> int:
        if rng.random() < 0.005:
            return int(rng.choice(np.flatnonzero(mdp.P[s, a])))
        return super().following(mdp, s, a, rng)


class _MixedActions(_Plain):
    """One action in 200 is any that the policy takes."""

    def action(self, policy: Floats, s: int, rng: Rng) -> int:
        if rng.random() < 0.005:
            return int(rng.choice(np.flatnonzero(policy[s])))
        return super().action(policy, s, rng)


class _NeverOne(_Plain):
    """The uniform number never exceeds 0.999."""

    def following(self, mdp: MDP, s: int, a: int, rng: Rng) -> int:
        support = np.flatnonzero(mdp.P[s, a])
        return int(support[np.searchsorted(np.cumsum(mdp.P[s, a, support])[:-1], 0.999 * rng.random(), side="right")])


class _Thousand(_Plain):
    """A thousand slots."""

    def following(self, mdp: MDP, s: int, a: int, rng: Rng) -> int:
        support = np.flatnonzero(mdp.P[s, a])
        cumulative = np.cumsum(mdp.P[s, a, support])[:-1]
        return int(support[np.searchsorted(cumulative, rng.integers(1000) / 1000.0, side="right")])


class _KeptRows(_Plain):
    """Rows are kept by their pair for all models."""

    def __init__(self) -> None:
        self.rows: dict[tuple[int, int, int], Floats] = {}

    def following(self, mdp: MDP, s: int, a: int, rng: Rng) -> int:
        row = self.rows.setdefault((mdp.n_states, s, a), mdp.P[s, a].copy())
        return int(rng.choice(mdp.n_states, p=row))


class _Stays(_Plain):
    """One step in fifty stays where it is, if that is possible."""

    def following(self, mdp: MDP, s: int, a: int, rng: Rng) -> int:
        stays = rng.random() < 0.02 and mdp.P[s, a, s] > 0.0
        return s if stays else super().following(mdp, s, a, rng)


def _repeats(mdp: MDP, policy: Floats, start: int, steps: int, rng: Rng) -> list[Transition]:
    """One action in fifty is the last one again, if that is possible."""
    plain = _Plain()
    path, s, a = [], start, plain.action(policy, start, rng)
    for _ in range(steps):
        s_next = plain.following(mdp, s, a, rng)
        repeats = rng.random() < 0.02 and policy[s_next, a] > 0.0
        a_next = a if repeats else plain.action(policy, s_next, rng)
        path.append(Transition(s, a, float(mdp.cost[s, a]), s_next, a_next, False))
        s, a = s_next, a_next
    return path


STAYS = _mutant("that stays in one step of 50", _Stays())
REPEATS = _mutant("that repeats one action in 50", _repeats)
MIXED = _mutant("that draws one state in 200 uniformly", _Mixed())
MIXED_ACTIONS = _mutant("that draws one action in 200 uniformly", _MixedActions())
NEVER_ONE = _mutant("whose last successor loses a thousandth", _NeverOne())
THOUSAND = _mutant("of a thousand slots", _Thousand())
KEPT_ROWS = _mutant("that keeps rows for all models", _KeptRows())
