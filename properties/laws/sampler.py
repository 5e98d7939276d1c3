"""Laws of samplers: (mdp, policy, start, steps, rng) -> transitions. Only what needs no statistics."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from hypothesis import strategies as st

from properties.law import Case, Law
from properties.laws.cases import Tape, decoded
from properties.laws.learning import RNG_SEED
from properties.verdict import Finding
from robust_core.mdp import MDP
from robust_core.variant import Variant

STEPS = 24
# Each of the 8 triples has probability 1/8 in every third step whatever happened before: 8 (7/8)^(600/3) < 1e-10.
COIN_STEPS = 600
# A state of probability 1/16 that is never reached in 600 draws: (15/16)^600 < 1e-16, beyond the false alarm.
SKEWED_ROW = np.array([4, 2, *[1] * 10]) / 16
SKEWED_POLICY = np.array([5, 2, 1]) / 8
SKEWED_STEPS = 2400
LOW = 2
FALSE_ALARM = 1e-10


def read(tape: Tape, variant: Variant) -> Case:
    """A model, a policy, a start and a number of steps."""
    (steps, times), start = tape.length(STEPS, (1,)), tape.byte()
    mdp = tape.mdp(sparse=True)
    return {"mdp": mdp, "policy": tape.policy(mdp), "start": start % mdp.n_states, "steps": steps * times}


def _sampled(variant: Variant, mdp: MDP, policy: np.ndarray, start: int, steps: int) -> list[Any]:
    rng = np.random.default_rng(RNG_SEED)
    return [tuple(step) for step in variant.make(mdp, policy.copy(), start, steps, rng)]


def _path(variant: Variant, mdp: MDP, policy: np.ndarray, start: int, steps: int) -> Finding | None:
    """Every step is possible, starts where the last one ended and costs what the model says."""
    given = policy.copy()
    path = [tuple(step) for step in variant.make(mdp, given, start, steps, np.random.default_rng(RNG_SEED))]
    if not np.array_equal(given, policy):
        return Finding("the caller's policy after a call", given.tolist(), policy.tolist())
    if len(path) != steps:
        return Finding("number of transitions", len(path), steps)
    state, action = start, None
    for number, step in enumerate(path):
        if len(step) != 6:
            return Finding(f"fields of transition {number}", len(step), 6)
        finding = _possible(mdp, policy, step, state, action)
        if finding is not None:
            return Finding(f"{finding.what} in transition {number}", finding.got, finding.wanted)
        state, action = step[3], step[4]
    return None


def _possible(mdp: MDP, policy: np.ndarray, step: Any, state: int, action: int | None) -> Finding | None:
    s, a, cost, s_next, a_next, terminal = step
    for name, value, size in (("s", s, mdp.n_states), ("a", a, mdp.n_actions), ("s'", s_next, mdp.n_states)):
        if not 0 <= value < size:
            return Finding(name, value, f"in 0 … {size - 1}")
    if not 0 <= a_next < mdp.n_actions:
        return Finding("a'", a_next, f"in 0 … {mdp.n_actions - 1}")
    if s != state:
        return Finding("s (where the last step ended)", s, state)
    if action is not None and a != action:
        return Finding("a (the a' of the last step)", a, action)
    for where, taken in ((s, a), (s_next, a_next)):
        if policy[where, taken] == 0.0:
            return Finding(f"an action in state {where}", taken, "one that the policy takes")
    if mdp.P[s, a, s_next] == 0.0:
        return Finding(f"s' after ({s},{a})", s_next, "a possible next state")
    if cost != mdp.cost[s, a]:
        return Finding(f"cost of ({s},{a})", cost, float(mdp.cost[s, a]))
    return Finding("terminal", terminal, False) if terminal else None


def _repeatable(variant: Variant, mdp: MDP, policy: np.ndarray, start: int, steps: int) -> Finding | None:
    """A path is a function of its arguments: same rng, same path."""
    first = _sampled(variant, mdp, policy, start, steps)
    second = _sampled(variant, mdp, policy, start, steps)
    return None if first == second else Finding("path of a second call with the same rng", second, first)


PATH = Law(
    "possible path",
    ("sampler",),
    "trajectory",
    "s_{t+1} ~ p(·|s_t,a_t) is possible, a_t is an action of the policy, costs are c(s_t,a_t), steps are chained",
    lambda variant: decoded(lambda tape: read(tape, variant)),
    _path,
)
REPEATABLE = Law(
    "repeatable path",
    ("sampler",),
    "trajectory",
    "the same arguments and rng give the same path",
    lambda variant: decoded(lambda tape: read(tape, variant)),
    _repeatable,
)


def _coin_model() -> Case:
    """Two states, two actions, everything a fair coin; the costs tell the pairs apart."""
    mdp = MDP(np.full((2, 2, 2), 0.5), [[0.0, 1.0], [2.0, 3.0]], 0.5)
    return {"mdp": mdp, "policy": np.full((2, 2), 0.5), "start": 0, "steps": COIN_STEPS}


def _covers(variant: Variant, mdp: MDP, policy: np.ndarray, start: int, steps: int) -> Finding | None:
    """All eight transitions of the coin model occur, and another rng gives another path."""
    path = _sampled(variant, mdp, policy, start, steps)
    other = [tuple(step) for step in variant.make(mdp, policy, start, steps, np.random.default_rng(RNG_SEED + 1))]
    if path == other:
        return Finding("path with another rng", "the same", "another one")
    seen = {(s, a, t) for s, a, _, t, _, _ in path}
    missing = [triple for triple in np.ndindex(2, 2, 2) if triple not in seen]
    return Finding(f"visits of {missing[0]} in {steps} steps", 0, "some") if missing else None


COVERAGE = Law(
    "coverage",
    ("sampler",),
    "trajectory",
    f"in {COIN_STEPS} steps of fair coins every transition occurs (a miss has probability below 1e-10)",
    lambda variant: st.builds(_coin_model),
    _covers,
    after=("possible path",),
)


def _skewed_model() -> Case:
    """Every row is one distribution on 12 states and the policy one on 3 actions, so all draws are independent."""
    S, A = len(SKEWED_ROW), len(SKEWED_POLICY)
    mdp = MDP(np.tile(SKEWED_ROW, (S, A, 1)), np.zeros((S, A)), 0.5)
    return {"mdp": mdp, "policy": np.tile(SKEWED_POLICY, (S, 1)), "start": 0, "steps": SKEWED_STEPS}


def _frequencies(variant: Variant, mdp: MDP, policy: np.ndarray, start: int, steps: int) -> Finding | None:
    """In both halves of the path next states, next actions and coarse triples are as frequent as they should be."""
    path = _sampled(variant, mdp, policy, start, steps)
    if len(path) != steps:
        return Finding("number of transitions", len(path), steps)
    halves = {"first": path[: steps // 2], "second": path[steps // 2 :]}
    for half, part in halves.items():
        # The state and action of a step were drawn by the step before: every other step has draws of its own.
        events = list(_events(np.array([step[:5] for step in part[::2]]), mdp.P[0, 0], policy[0]))
        for name, p, happened in events:
            share = float(happened.mean())
            if len(happened) * _divergence(share, p) > math.log(2 * len(events) * len(halves) / FALSE_ALARM):
                return Finding(f"share of {name} in the {half} half of {steps} steps", share, p)
    return None


def _events(steps: np.ndarray, row: np.ndarray, weights: np.ndarray) -> Iterator[tuple[str, float, np.ndarray]]:
    """(name, probability, when it happened) of what is counted."""
    s, a, _, s_next, a_next = steps.T
    yield from ((f"s' = {state}", float(p), s_next == state) for state, p in enumerate(row))
    yield from ((f"a' = {action}", float(p), a_next == action) for action, p in enumerate(weights))
    low, first = float(row[:LOW].sum()), float(weights[0])
    sides = ((s < LOW, low, f"s < {LOW}"), (a == 0, first, "a = 0"), (s_next < LOW, low, f"s' < {LOW}"))
    for signs in np.ndindex(2, 2, 2):
        name = ", ".join(text if sign else f"not {text}" for sign, (_, _, text) in zip(signs, sides, strict=True))
        p = math.prod(q if sign else 1.0 - q for sign, (_, q, _) in zip(signs, sides, strict=True))
        yield name, p, np.all([x == bool(sign) for sign, (x, _, _) in zip(signs, sides, strict=True)], axis=0)


def _divergence(share: float, p: float) -> float:
    """KL(share ‖ p) of two coins: P(a share at least as far off, on its side) <= exp(−n KL) (Chernoff)."""
    parts = ((share, p), (1.0 - share, 1.0 - p))
    return sum(x * math.log(x / y) for x, y in parts if x > 0.0)


FREQUENCIES = Law(
    "frequencies",
    ("sampler",),
    "trajectory",
    "next states and actions are as frequent as the model and the policy say, early and late "
    f"(Chernoff; a right sampler fails for one rng in {1 / FALSE_ALARM:g})",
    lambda variant: st.builds(_skewed_model),
    _frequencies,
    after=("possible path", "repeatable path", "coverage"),
)
LAWS = (PATH, REPEATABLE, COVERAGE, FREQUENCIES)
