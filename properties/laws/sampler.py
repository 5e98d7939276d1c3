"""Laws of samplers: (mdp, policy, start, steps, rng) -> transitions. Only what needs no statistics."""

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


def _read(tape: Tape, variant: Variant) -> Case:
    steps, start = tape.byte() % (STEPS + 1), tape.byte()
    mdp = tape.mdp(sparse=True)
    return {"mdp": mdp, "policy": tape.policy(mdp), "start": start % mdp.n_states, "steps": steps}


def _sampled(variant: Variant, mdp: MDP, policy: np.ndarray, start: int, steps: int) -> list[Any]:
    rng = np.random.default_rng(RNG_SEED)
    return [tuple(step) for step in variant.make(mdp, policy.copy(), start, steps, rng)]


def _path(variant: Variant, mdp: MDP, policy: np.ndarray, start: int, steps: int) -> Finding | None:
    """Every step is possible, starts where the last one ended and costs what the model says."""
    path = _sampled(variant, mdp, policy, start, steps)
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
    lambda variant: decoded(lambda tape: _read(tape, variant)),
    _path,
)
REPEATABLE = Law(
    "repeatable path",
    ("sampler",),
    "trajectory",
    "the same arguments and rng give the same path",
    lambda variant: decoded(lambda tape: _read(tape, variant)),
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
LAWS = (PATH, REPEATABLE, COVERAGE)
