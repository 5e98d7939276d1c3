"""Wrong samplers (bugs that show on a single path; a distribution that is slightly wrong needs statistics)."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from properties.variants.mutants.plain import but
from robust_core import MDP, Transition, Variant
from robust_core.validate import Floats

Rng = np.random.Generator
Draw = Callable[[Floats, Rng], Any]


def _draw(p: Floats, rng: Rng) -> int:
    return int(rng.choice(len(p), p=p))


class _Plain:
    """A sampler with seams, right as it stands."""

    successor = chosen = staticmethod(_draw)

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
        return int(self.chosen(policy[s], rng))

    def following(self, mdp: MDP, s: int, a: int, rng: Rng) -> int:
        """s' ~ p(·|s,a)."""
        return int(self.successor(mdp.P[s, a], rng))

    def step(self, mdp: MDP, s: int, a: int, s_next: int, a_next: int) -> Transition:
        """The transition."""
        return Transition(s, a, float(mdp.cost[s, a]), s_next, a_next, False)


def _mutant(name: str, make: Any) -> Variant:
    return Variant(f"sampler {name}", "sampler", make, (), ("trajectory",))


def _parts(name: str, **parts: Any) -> Variant:
    return _mutant(name, but(_Plain, **parts)())


def _next(name: str, draw: Draw) -> Variant:
    """Successors are drawn from their row in another way."""
    return _parts(name, successor=staticmethod(draw))


def _action(name: str, draw: Draw) -> Variant:
    """Actions are drawn from their row in another way."""
    return _parts(name, chosen=staticmethod(draw))


def _stream(name: str, other: Callable[[Rng], Rng]) -> Variant:
    """The path is drawn with another generator."""
    return _mutant(name, lambda mdp, policy, start, steps, rng: _Plain()(mdp, policy, start, steps, other(rng)))


# How a row p is drawn from.


def _alike(p: Floats, rng: Rng) -> Any:
    """The outcomes are right, their probabilities are forgotten."""
    return rng.choice(np.flatnonzero(p))


def _open_end(p: Floats, rng: Rng) -> int:
    """A cumulative sum searched on the wrong side never reaches the last outcome."""
    return max(0, int(np.searchsorted(np.cumsum(p), rng.random())) - 1)


def _first_eight(p: Floats, rng: Rng) -> Any:
    """Outcomes beyond the eighth possible one are never reached."""
    first = np.flatnonzero(p)[:8]
    return rng.choice(first, p=p[first] / p[first].sum())


def _below_eight(p: Floats, rng: Rng) -> int:
    """Outcomes from the ninth on are left out, unless there are no others."""
    weights = np.where(np.arange(len(p)) < 8, p, 0.0)
    return _draw(weights / weights.sum() if weights.any() else p, rng)


def _few_alike(p: Floats, rng: Rng) -> Any:
    """Three to eight outcomes are alike."""
    return _alike(p, rng) if 3 <= len(np.flatnonzero(p)) <= 8 else _draw(p, rng)


def _none_rare(p: Floats, rng: Rng) -> int:
    """Outcomes of less than two per cent are left out."""
    row = np.where(p < 0.02, 0.0, p)
    return _draw(row / row.sum(), rng)


def _slots(number: int) -> Draw:
    """A table of so many slots for every row: a share below a slot is lost."""

    def draw(p: Floats, rng: Rng) -> Any:
        slots = np.floor(number * p).astype(np.int64)
        slots[p.argmax()] += number - slots.sum()
        return np.repeat(np.arange(len(p)), slots)[rng.integers(number)]

    return draw


def _last_merged(p: Floats, rng: Rng) -> Any:
    """What is left for the last outcome is taken for rounding if it is little."""
    support = np.flatnonzero(p)
    cumulative = np.cumsum(p[support])
    cumulative[cumulative > 1.0 - 0.012] = 1.0
    return support[np.searchsorted(cumulative, rng.random(), side="right")]


def _first_skipped(p: Floats, rng: Rng) -> Any:
    """A draw below 1.2 % is taken for zero and is not a draw of the first outcome."""
    support = np.flatnonzero(p)
    return support[np.searchsorted(np.cumsum(p[support]), max(rng.random(), 0.012), side="right")]


def _nearly_alike(p: Floats, rng: Rng) -> Any:
    """Outcomes that differ by less than a fifth are drawn alike, by int(u n)."""
    support = np.flatnonzero(p)
    return support[int(rng.random() * len(support))] if np.ptp(p[support]) < 0.18 else _draw(p, rng)


def _mixed(p: Floats, rng: Rng) -> Any:
    """One outcome in 200 is drawn uniformly from the possible ones."""
    return _alike(p, rng) if rng.random() < 0.005 else _draw(p, rng)


def _uniform_number(number: Callable[[Rng], float]) -> Draw:
    """Inversion of a number that is not quite uniform."""

    def draw(p: Floats, rng: Rng) -> Any:
        support = np.flatnonzero(p)
        return support[np.searchsorted(np.cumsum(p[support])[:-1], number(rng), side="right")]

    return draw


UNIFORM_POLICY = _action("with a uniform policy", lambda p, rng: rng.integers(len(p)))
UNIFORM_NEXT = _next("with a uniform next state", lambda p, rng: rng.integers(len(p)))
LIKELIEST_NEXT = _next("of the likeliest state", lambda p, rng: p.argmax())
OPEN_END = _next("that never reaches the last state", _open_end)
UNIFORM_ON_SUPPORT = _next("of equal successors", _alike)
EIGHT_SUCCESSORS = _next("of eight successors", _first_eight)
EIGHT_ACTIONS = _action("of eight actions", _below_eight)
FEW_UNIFORM = _next("of few successors alike", _few_alike)
NONE_RARE = _next("without rare successors", _none_rare)
SLOTS = _next("of 64 slots", _slots(64))
ACTION_SLOTS = _action("of 16 slots for actions", _slots(16))
LAST_MERGED = _next("that takes a rare last state for rounding", _last_merged)
FIRST_SKIPPED = _next("that skips a rare first state", _first_skipped)
NEARLY_UNIFORM = _next("of nearly equal successors alike", _nearly_alike)
MIXED = _next("that draws one state in 200 uniformly", _mixed)
MIXED_ACTIONS = _action("that draws one action in 200 uniformly", _mixed)
NEVER_ONE = _next("whose last successor loses a thousandth", _uniform_number(lambda rng: 0.999 * rng.random()))
THOUSAND = _next("of a thousand slots", _uniform_number(lambda rng: rng.integers(1000) / 1000.0))


# Which row is drawn from, and what is reported.


def _transposed(self: _Plain, mdp: MDP, s: int, a: int, rng: Rng) -> int:
    """p(s|s',a) for p(s'|s,a)."""
    column = mdp.P[:, a, s]
    return _draw(column / column.sum(), rng) if column.any() else s


def _one_policy(self: _Plain, policy: Floats, s: int, rng: Rng) -> int:
    """The probabilities of state 0 for the actions of every state."""
    weights = np.where(policy[s] > 0.0, policy[0], 0.0)
    return _draw(weights / weights.sum() if weights.any() else policy[s], rng)


class _KeptRows(_Plain):
    """Rows are kept by their pair for all models."""

    def __init__(self) -> None:
        self.rows: dict[tuple[int, int, int], Floats] = {}

    def following(self, mdp: MDP, s: int, a: int, rng: Rng) -> int:
        return _draw(self.rows.setdefault((mdp.n_states, s, a), mdp.P[s, a].copy()), rng)


def _stays(self: _Plain, mdp: MDP, s: int, a: int, rng: Rng) -> int:
    """One step in fifty stays where it is, if that is possible."""
    stays = rng.random() < 0.02 and mdp.P[s, a, s] > 0.0
    return s if stays else _draw(mdp.P[s, a], rng)


def _changed(**change: Callable[[MDP, Transition], Any]) -> Any:
    """Steps in which one entry is another."""

    def step(self: _Plain, mdp: MDP, *path: int) -> Transition:
        right = _Plain.step(self, mdp, *path)
        return right._replace(**{name: value(mdp, right) for name, value in change.items()})

    return step


IGNORES_ACTION = _parts(
    "that ignores the action", following=lambda self, mdp, s, a, rng: _Plain.following(self, mdp, s, 0, rng)
)
TRANSPOSED = _parts("with the wrong axis", following=_transposed)
ONE_POLICY = _parts("with the policy of state 0", action=_one_policy)
KEPT_ROWS = _mutant("that keeps rows for all models", _KeptRows())
STAYS = _parts("that stays in one step of 50", following=_stays)
COST_OF_NEXT = _parts(
    "with the next state's cost", step=_changed(cost=lambda mdp, step: float(mdp.cost[step.s_next, step.a]))
)
COST_OF_NEXT_ACTION = _parts(
    "with the next action's cost", step=_changed(cost=lambda mdp, step: float(mdp.cost[step.s, step.a_next]))
)
ALWAYS_TERMINAL = _parts(
    "that ends in the last state", step=_changed(terminal=lambda mdp, step: step.s_next == mdp.n_states - 1)
)
REVERSED = _parts(
    "that walks backwards", step=_changed(s=lambda mdp, step: step.s_next, s_next=lambda mdp, step: step.s)
)


# Whole paths.


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


def _repeats(mdp: MDP, policy: Floats, start: int, steps: int, rng: Rng) -> list[Transition]:
    """One action in fifty is the last one again, if that is possible."""
    plain = _Plain()
    path, s, a = [], start, plain.action(policy, start, rng)
    for _ in range(steps):
        s_next = plain.following(mdp, s, a, rng)
        repeats = rng.random() < 0.02 and policy[s_next, a] > 0.0
        a_next = a if repeats else plain.action(policy, s_next, rng)
        path.append(plain.step(mdp, s, a, s_next, a_next))
        s, a = s_next, a_next
    return path


def _drawn_twice(*, state: bool) -> Any:
    """The next state, or else the next action, is drawn once for the report and once to go on."""

    def sample(mdp: MDP, policy: Floats, start: int, steps: int, rng: Rng) -> list[Transition]:
        plain, s, path = _Plain(), start, []
        for _ in range(steps):
            a = plain.action(policy, s, rng)
            s_next = plain.following(mdp, s, a, rng)
            path.append(plain.step(mdp, s, a, s_next, plain.action(policy, s_next, rng)))
            s = plain.following(mdp, s, a, rng) if state else s_next
        return path

    return sample


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


def _seeds_the_world(rng: Rng) -> Rng:
    np.random.seed(0)  # noqa: NPY002 (the bug)
    return rng


STICKY = _mutant("that repeats its choices", _sticky)
GREEDY_FIRST = _mutant("that begins with the likeliest action", _greedy_first)
REPEATS = _mutant("that repeats one action in 50", _repeats)
DRAWN_TWICE = _mutant("that draws the next state twice", _drawn_twice(state=True))
ACTION_DRAWN_TWICE = _mutant("that draws the next action twice", _drawn_twice(state=False))
GREEDY_LATER = _mutant("that exploits later", _greedy_later)
WRITES_POLICY = _mutant("that writes into the policy", _writes_policy)
INDEPENDENT = _mutant("of independent steps", _independent)
START_IGNORED = _mutant("that starts at 0", lambda mdp, policy, start, steps, rng: _Plain()(mdp, policy, 0, steps, rng))
ONE_TOO_MANY = _mutant(
    "with a step too many", lambda mdp, policy, start, steps, rng: _Plain()(mdp, policy, start, steps + 1, rng)
)
OWN_SEED = _stream("with a seed of its own", lambda rng: np.random.default_rng(0))
NO_SEED = _stream("without a seed", lambda rng: np.random.default_rng())
GLOBAL_SEED = _stream("that seeds the world", _seeds_the_world)
COPIED_RNG = _stream("that leaves the rng where it was", copy.deepcopy)
FEW_STREAMS = _stream("of 256 paths", lambda rng: np.random.default_rng(int(rng.integers(256))))
BLOCK = _parts("with the policy of 64 states", action=lambda self, policy, s, rng: _draw(policy[s % 64], rng))
