"""Laws of samplers: (mdp, policy, start, steps, rng) -> transitions. Only what needs no statistics."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from properties.cases.sources import Designed, Generated
from properties.judging.verdict import Finding
from properties.kinds.sampler import SamplerCase, sampler_case
from properties.laws.law import Law
from robust_core.mdp import MDP
from robust_core.problem import Variant

# A law asks what a sampler does with a fixed rng.
RNG_SEED = 0
STEPS = 24
# Each of the 8 triples has probability 1/8 in every third step whatever happened before: 8 (7/8)^(600/3) < FALSE_ALARM.
COIN_STEPS = 600
# A state of probability 1/16 that is never reached in 600 draws: (15/16)^600, far below FALSE_ALARM.
SKEWED_ROW = np.array([4, 2, *[1] * 10]) / 16
SKEWED_POLICY = np.array([5, 2, 1]) / 8
SKEWED_STEPS = 2400
LOW = 2
FALSE_ALARM = 1e-10
# Calls of one step with one rng, and of STEPS steps: two such paths are alike with probability below (1/4)^24.
SHORT_CALLS, DISTINCT_CALLS = 1200, 64
# Successors of a pair: one or two likely ones, and some that share 1/16; none are the successors of a sure pair.
RARE = (1, 2, 4, 0)
RARE_SHARE = 1 / 16
UNEVEN_STATES, UNEVEN_STEPS = 7, 16_384
# By number of actions, the probability of each but one.
UNEVEN_POLICIES = {2: 1 / 4, 3: 1 / 8, 12: 1 / 16}
# Outcomes of a row, by which states there are and which of them can be reached; none of the probabilities is dyadic.
FRACTIONS = {3: (3, (0, 1, 2)), 5: (8, (0, 2, 3, 5, 7)), 7: (7, (0, 1, 2, 3, 4, 5, 6))}
RAREST = 1 / 100
# Draws at each position of the rare outcome, about: one that is never drawn has the e-value exp(0.01005 · 6000 − 4.9).
# An action that is repeated in 2 % of the steps is 10 deviations off in 7 · 6000 steps of seven actions; 8.2 are seen.
FRACTION_DRAWS = 6000
# A row of three outcomes and a policy of four actions, each with one so rare. An outcome that is lost is not seen in
# ODD_STEPS draws with the e-value exp(33.3 − 6), and one that is drawn from uniformly in one step of 200 is 3.5 times
# as frequent; neither is a multiple of 1/1000 or of a power of 1/2.
ODD = 1 / 1500
ODD_STEPS = 50_000


def _sampled(variant: Variant, case: SamplerCase, seed: int | None = None) -> list[Any]:
    rng = np.random.default_rng(RNG_SEED if seed is None else seed)
    return [tuple(step) for step in variant.make(case.mdp, case.policy.copy(), case.start, case.steps, rng)]


def _path(variant: Variant, case: SamplerCase) -> Finding | None:
    """Every step is possible, starts where the last one ended and costs what the model says."""
    mdp, policy, start, steps = case.mdp, case.policy, case.start, case.steps
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


def _repeatable(variant: Variant, case: SamplerCase) -> Finding | None:
    """A path is a function of its arguments: same rng, same path."""
    first, second = _sampled(variant, case), _sampled(variant, case)
    return None if first == second else Finding("path of a second call with the same rng", second, first)


PATH = Law(
    "possible path",
    ("sampler",),
    "trajectory",
    "s_{t+1} ~ p(·|s_t,a_t) is possible, a_t is an action of the policy, costs are c(s_t,a_t), steps are chained",
    Generated(sampler_case),
    _path,
)
REPEATABLE = Law(
    "repeatable path",
    ("sampler",),
    "trajectory",
    "the same arguments and rng give the same path",
    Generated(sampler_case),
    _repeatable,
)


def _coin_model() -> SamplerCase:
    """Two states, two actions, everything a fair coin; the costs tell the pairs apart."""
    mdp = MDP(np.full((2, 2, 2), 0.5), [[0.0, 1.0], [2.0, 3.0]], 0.5)
    return SamplerCase(mdp=mdp, policy=np.full((2, 2), 0.5), start=0, steps=COIN_STEPS)


def _covers(variant: Variant, case: SamplerCase) -> Finding | None:
    """All eight transitions of the coin model occur, and another rng gives another path."""
    path = _sampled(variant, case)
    if path == _sampled(variant, case, RNG_SEED + 1):
        return Finding("path with another rng", "the same", "another one")
    seen = {(s, a, t) for s, a, _, t, _, _ in path}
    missing = [triple for triple in np.ndindex(2, 2, 2) if triple not in seen]
    return Finding(f"visits of {missing[0]} in {case.steps} steps", 0, "some") if missing else None


COVERAGE = Law(
    "coverage",
    ("sampler",),
    "trajectory",
    f"in {COIN_STEPS} steps of fair coins every transition occurs (a miss has probability below 1e-10)",
    Designed(lambda: [_coin_model()]),
    _covers,
    after=("possible path",),
)


def _skewed_model() -> SamplerCase:
    """Every row is one distribution on 12 states and the policy one on 3 actions, so all draws are independent."""
    S, A = len(SKEWED_ROW), len(SKEWED_POLICY)
    mdp = MDP(np.tile(SKEWED_ROW, (S, A, 1)), np.zeros((S, A)), 0.5)
    return SamplerCase(mdp=mdp, policy=np.tile(SKEWED_POLICY, (S, 1)), start=0, steps=SKEWED_STEPS)


def _wrong_share(what: str, happened: np.ndarray, p: float) -> Finding:
    """The finding that something of probability p happened too often or too rarely: counts and standard deviations.

    >>> print(_wrong_share("share of heads", np.arange(400) < 230, 0.5))
    share of heads (230 of 400, +3.0 standard deviations): got 0.575, wanted 0.5
    """
    count, number = int(np.sum(happened)), len(happened)
    deviation = math.sqrt(number * p * (1.0 - p))
    far = f", {(count - number * p) / deviation:+.1f} standard deviations" if deviation > 0.0 else ""
    return Finding(f"{what} ({count} of {number}{far})", count / number, p)


def _frequencies(variant: Variant, case: SamplerCase) -> Finding | None:
    """In both halves of the path next states, next actions and coarse triples are as frequent as they should be."""
    mdp, policy, steps = case.mdp, case.policy, case.steps
    path = _sampled(variant, case)
    if len(path) != steps:
        return Finding("number of transitions", len(path), steps)
    halves = {"first": path[: steps // 2], "second": path[steps // 2 :]}
    for half, part in halves.items():
        # The state and action of a step were drawn by the step before: every other step has draws of its own.
        events = list(_events(np.array([step[:5] for step in part[::2]]), mdp.P[0, 0], policy[0]))
        for name, p, happened in events:
            if _unlikely(happened, p, len(events) * len(halves)):
                return _wrong_share(f"share of {name} in the {half} half of {steps} steps", happened, p)
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
    return sum(x * math.log(x / y) if y > 0.0 else math.inf for x, y in parts if x > 0.0)


FREQUENCIES = Law(
    "frequencies",
    ("sampler",),
    "trajectory",
    "next states and actions are as frequent as the model and the policy say, early and late "
    f"(Chernoff; a correct sampler fails for one rng in {1 / FALSE_ALARM:g})",
    Designed(lambda: [_skewed_model()]),
    _frequencies,
    after=("possible path", "repeatable path", "coverage"),
)


def _fresh(variant: Variant, case: SamplerCase) -> Finding | None:
    """Many calls with one rng: single steps have the right frequencies, and no two paths are the same."""
    mdp, policy, start, steps = case.mdp, case.policy, case.start, case.steps
    rng = np.random.default_rng(RNG_SEED)
    single = [list(variant.make(mdp, policy.copy(), start, 1, rng)) for _ in range(steps)]
    if any(len(path) != 1 for path in single):
        return Finding("number of transitions", sorted({len(path) for path in single}), [1])
    _, a, _, s_next, a_next = np.array([tuple(path[0])[:5] for path in single]).T
    draws = (("a", a, policy[start]), ("s'", s_next, mdp.P[0, 0]), ("a'", a_next, policy[0]))
    events = [(f"{name} = {i}", float(p), drawn == i) for name, drawn, law in draws for i, p in enumerate(law)]
    for name, p, happened in events:
        if _unlikely(happened, p, len(events)):
            return _wrong_share(f"share of {name} in {steps} calls of one step", happened, p)
    paths = {tuple(map(tuple, variant.make(mdp, policy.copy(), start, STEPS, rng))) for _ in range(DISTINCT_CALLS)}
    if len(paths) == DISTINCT_CALLS:
        return None
    return Finding(f"different paths in {DISTINCT_CALLS} calls with one rng", len(paths), DISTINCT_CALLS)


def _unlikely(happened: np.ndarray, p: float, tests: int) -> bool:
    """Whether independent events of probability p happen so often, or so rarely, with probability FALSE_ALARM/tests."""
    n = len(happened)
    return n > 0 and n * _divergence(float(happened.mean()), p) > math.log(2 * tests / FALSE_ALARM)


FRESH = Law(
    "fresh draws",
    ("sampler",),
    "trajectory",
    "calls with one rng are independent: single steps are as frequent as they should be, paths differ "
    f"(Chernoff; a correct sampler fails for one rng in {1 / FALSE_ALARM:g})",
    Designed(lambda: [replace(_skewed_model(), steps=SHORT_CALLS)]),
    _fresh,
    after=("possible path", "repeatable path", "coverage", "frequencies"),
)


def _uneven_model(A: int) -> SamplerCase:
    """Every pair has successors and every state a policy of its own; the model of three actions is sparse."""
    S = UNEVEN_STATES
    P = np.zeros((S, A, S))
    for number, (s, a) in enumerate(np.ndindex(S, A)):
        rare = RARE[number % len(RARE)]
        likely = 1.0 - (RARE_SHARE if rare else 0.0)
        others = [(s + 1 + a + step) % S for step in range(S)]
        P[s, a, others[0]] = likely - (0.25 if rare > 1 else 0.0)
        P[s, a, others[1]] = 0.25 if rare > 1 else 0.0
        P[s, a, others[2 : 2 + rare]] = RARE_SHARE / max(rare, 1)
    weights = np.full(A, UNEVEN_POLICIES[A])
    weights[0] += 1.0 - weights.sum()
    policy = np.array([np.roll(weights, s) for s in range(S)])
    dense = MDP(P, np.zeros((S, A)), 0.5)
    mdp = MDP(dense.rows, dense.cost, 0.5) if A == 3 else dense
    return SamplerCase(mdp=mdp, policy=policy, start=0, steps=UNEVEN_STEPS)


def _uneven(variant: Variant, case: SamplerCase) -> Finding | None:
    """In the whole path and in both halves: what follows a pair, a state, and a pair of actions.

    By the Markov property what is drawn at the visits of a pair, or at the arrivals in a state after some action or
    after some earlier choice there, is a sequence of independent draws. How many there are depends on the path, so
    the bound of Chernoff is taken at each of at most `steps` lengths together.
    """
    mdp, policy, steps = case.mdp, case.policy, case.steps
    path = _sampled(variant, case)
    if len(path) != steps:
        return Finding("number of transitions", len(path), steps)
    columns = np.array([step[:5] for step in path])[:, [0, 1, 3, 4]].astype(np.int64)
    parts = {"": columns, "the first half of ": columns[: steps // 2], "the second half of ": columns[steps // 2 :]}
    counted = {part: list(_draws(rows, mdp.P, policy)) for part, rows in parts.items()}
    tests = steps * sum(len(law) for draws in counted.values() for _, law, _ in draws)
    for part, draws in counted.items():
        for name, law, drawn in draws:
            for i, p in enumerate(law):
                if _unlikely(drawn == i, float(p), tests):
                    return _wrong_share(f"share of {name}{i} in {part}{steps} steps", drawn == i, float(p))
    return None


def _draws(rows: np.ndarray, P: np.ndarray, policy: np.ndarray) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """(name, distribution, independent draws from it)."""
    s, a, s_next, a_next = rows.T
    S, A = policy.shape
    yield from _rare(P[s, a], s_next)
    for state in range(S):
        arrived = s_next == state
        chosen = a_next[arrived]
        yield f"pi(·|{state}): action ", policy[state], chosen
        for action in range(A):
            yield f"p(·|{state},{action}): state ", P[state, action], s_next[(s == state) & (a == action)]
            yield f"pi(·|{state}) after action {action}: action ", policy[state], a_next[arrived & (a == action)]
            again = chosen[1:][chosen[:-1] == action]
            yield f"pi(·|{state}) after {action} at its last visit: action ", policy[state], again


def _rare(here: np.ndarray, s_next: np.ndarray) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Whether the next state is a rare one (1) or not (0), over all pairs whose rare successors share the same."""
    rare = np.where(here <= RARE_SHARE, here, 0.0)
    total, most = rare.sum(axis=1), (rare > 0.0).sum(axis=1)
    drawn = np.take_along_axis(rare, s_next[:, None], axis=1)[:, 0] > 0.0
    for share in np.unique(total[total > 0.0]):
        coin = np.array([1.0 - share, share])
        yield f"rare successors ({share:g} in all): ", coin, drawn[total == share]
        for count in np.unique(most[total == share]):
            yield f"{count} rare successors ({share:g} in all): ", coin, drawn[(total == share) & (most == count)]


UNEVEN = Law(
    "uneven frequencies",
    ("sampler",),
    "trajectory",
    "successors of every pair and actions of every state are as frequent as the model and the policy say, whatever "
    f"was chosen before (Chernoff; a correct sampler fails for one rng in {1 / FALSE_ALARM:g})",
    Designed(lambda: [_uneven_model(A) for A in UNEVEN_POLICIES]),
    _uneven,
    after=("possible path", "repeatable path", "coverage", "frequencies"),
)


def _fraction_model(n: int) -> SamplerCase:
    """n actions, all alike; under action i the i-th outcome has RAREST and the others share the rest alike."""
    S, reached = FRACTIONS[n]
    P = np.zeros((S, n, S))
    for i in range(n):
        P[:, i, reached] = (1.0 - RAREST) / (n - 1)
        P[:, i, reached[i]] = RAREST
    dense = MDP(P, np.zeros((S, n)), 0.5)
    mdp = MDP(dense.rows, dense.cost, 0.5) if n == 5 else dense
    return SamplerCase(mdp=mdp, policy=np.full((S, n), 1.0 / n), start=0, steps=n * FRACTION_DRAWS)


def _fractions(variant: Variant, case: SamplerCase) -> Finding | None:
    """What follows an action, one by one and pooled by the position of the outcome, and which action is next.

    Given the past each of these is a coin of a known probability. How many there are depends on the path, so they are
    judged by an e-process, which exceeds 1/alpha at any time with probability at most alpha.
    """
    policy, steps = case.policy, case.steps
    path = _sampled(variant, case)
    if len(path) != steps:
        return Finding("number of transitions", len(path), steps)
    columns = np.array([step[:5] for step in path])
    coins = list(_coins(columns[:, [0, 1, 3, 4]].astype(np.int64), case.mdp.P[0], policy[0]))
    for name, p, happened in coins:
        if log_mixture(int(happened.sum()), len(happened), p) > math.log(len(coins) / FALSE_ALARM):
            return _wrong_share(f"share of {name} in {steps} steps", happened, p)
    return None


def log_mixture(count: int, number: int, p: float) -> float:
    """Log of an e-process against coins of probability p: the mean of the likelihood ratio over Beta(1/2, 1/2).

    >>> round(math.exp(log_mixture(0, 1, 0.5)), 9)
    1.0
    """
    a, b = count + 0.5, number - count + 0.5
    mixed = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b) - math.log(math.pi)
    return mixed - count * math.log(p) - (number - count) * math.log1p(-p)


def _coins(rows: np.ndarray, P: np.ndarray, weights: np.ndarray) -> Iterator[tuple[str, float, np.ndarray]]:
    """(name, probability, when it happened) of what is counted.

    To stay is an outcome of RAREST in one step of n, that whose action is rare at the state: a sampler that repeats a
    state with probability q has RAREST + q there. The divergence of 3 % from 1 % is 0.013 a step.
    """
    s, a, s_next, a_next = rows.T
    reached = np.flatnonzero(P[0])
    for i, outcome in enumerate(reached):
        for action in range(len(weights)):
            drawn = s_next[a == action] == outcome
            yield f"p(·|·,{action}): state {outcome}", float(P[action, outcome]), drawn
        common = float(P[i - 1, outcome])
        yield f"state {outcome} where it is not rare", common, s_next[a != i] == outcome
        yield f"action {i}", float(weights[i]), a_next == i
    yield f"outcomes of {RAREST:g}", RAREST, s_next == reached[a]
    yield "the same action again", float(weights[0]), a_next == a
    yield "the same state again, where that is rare", RAREST, s_next[s == reached[a]] == s[s == reached[a]]


FRACTION = Law(
    "fractional frequencies",
    ("sampler",),
    "trajectory",
    "rows of thirds, fifths and sevenths with an outcome of 1 % at every position: all are as frequent as they should "
    "be, whatever the last state and action (e-process; a correct sampler fails for one rng in "
    f"{1 / FALSE_ALARM:g})",
    Designed(lambda: [_fraction_model(n) for n in FRACTIONS]),
    _fractions,
    after=("possible path", "repeatable path", "coverage", "frequencies"),
)


def _odd_model(rare: int) -> SamplerCase:
    """Three states and four actions, all alike: one successor is ODD, the last action too."""
    row, weights = np.full(3, (1.0 - ODD) / 2.0), np.full(4, (1.0 - ODD) / 3.0)
    row[rare], weights[-1] = ODD, ODD
    mdp = MDP(np.tile(row, (3, 4, 1)), np.zeros((3, 4)), 0.5)
    return SamplerCase(mdp=mdp, policy=np.tile(weights, (3, 1)), start=0, steps=ODD_STEPS)


def _odd(variant: Variant, case: SamplerCase) -> Finding | None:
    """Successors and actions, and whether an action is repeated where the state is."""
    row, weights = case.mdp.P[0, 0], case.policy[0]
    path = _sampled(variant, case, RNG_SEED + int(row.argmin()))
    if len(path) != case.steps:
        return Finding("number of transitions", len(path), case.steps)
    s, a, _, s_next, a_next = np.array([step[:5] for step in path]).T
    coins = [(f"state {i}", float(p), s_next == i) for i, p in enumerate(row)]
    coins += [(f"action {i}", float(p), a_next == i) for i, p in enumerate(weights)]
    for i, p in enumerate(weights[:-1]):
        again = (s_next == s) & (a == i)
        coins.append((f"action {i} where it and the state were the last ones", float(p), a_next[again] == i))
    for name, p, happened in coins:
        if log_mixture(int(happened.sum()), len(happened), p) > math.log(len(coins) / FALSE_ALARM):
            return _wrong_share(f"share of {name} in {case.steps} steps", happened, p)
    return None


RARELY = Law(
    "rare frequencies",
    ("sampler",),
    "trajectory",
    "an outcome of 1/1500 at every position is neither lost nor drawn too often "
    f"(e-process; a correct sampler fails for one rng in {1 / FALSE_ALARM:g})",
    Designed(lambda: [_odd_model(rare) for rare in range(3)]),
    _odd,
    after=("possible path", "repeatable path", "coverage", "frequencies"),
)
LAWS = (PATH, REPEATABLE, COVERAGE, FREQUENCIES, FRESH, FRACTION, UNEVEN, RARELY)
