"""Solves a robust MDP in floats and writes a certificate that `checker` accepts.

Nothing here has to be right for a certificate to be right: values, members of the sets and multipliers are proposals,
and `certify` returns only what the checker has accepted. Policy iteration in floats gives V (for s-rectangular sets a
plan does: `states`). The rows of the worst kernel are pulled into their sets; the residuals of V, computed in fractions
with the checker's own bounds, say how far V has to be moved down or up: T(V + k) = TV + gamma k.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from robust_core import json, validate
from robust_core.certificates import checker, states
from robust_core.certificates.multipliers import LEVELS, multipliers, spend
from robust_core.mdp import MDP, SparseRows
from robust_core.sets import Interval, SRectangular, UncertaintySet
from robust_core.validate import EPS, Floats, Ints

LARGEST_MODEL = 3 * 10**7
"""Entries of the dense kernel, on which the worst cases of all rows are computed at once."""
ROUNDS, PATIENCE = 20_000, 3
"""Of policy iteration, and of steps without success before plain backups are made for a while."""
PULLS = (2.0**-44, 2.0**-36, 2.0**-28, 2.0**-20, 2.0**-12, 1.0)
"""How far a float member is pulled to the middle of its set, so that rounding leaves it inside."""


@dataclass(frozen=True)
class Rows:
    """A kernel by rows, as in `SparseRows`; a probability is a float or a fraction in text."""

    offsets: list[int]
    successors: list[int]
    probabilities: list[float | str]


@dataclass(frozen=True)
class Moves:
    """A plan for every pair: the share of the mass of a source that goes to a target."""

    offsets: list[int]
    sources: list[int]
    targets: list[int]
    shares: list[float]


@dataclass(frozen=True)
class Certificate:
    """lower <= V* <= V^policy <= upper, with what proves it; `checker` has the statement and the proof."""

    gamma: float
    cost: list[list[float]]
    kernel: Rows
    set: dict[str, Any]
    lower: list[float]
    upper: list[float]
    width: float
    policy: list[int] | list[list[float]]
    worst: Rows | Moves
    duals: list[list[float]]
    format: str = checker.FORMAT

    def to_json(self) -> str:
        """The certificate as JSON text; floats survive bit for bit."""
        return json.dumps(self, sort_keys=False)


def certify(mdp: MDP, uncertainty_set: UncertaintySet, *, width: float = 1e-6) -> Certificate:
    """A certificate of V* of width at most `width`, accepted by the checker.

    >>> from robust_core.sets import TotalVariation
    >>> found = certify(MDP([[[0.5, 0.5]], [[0.0, 1.0]]], [[1.0], [0.0]], 0.5), TotalVariation(0.25))
    >>> [round(x, 6) for x in found.upper], found.width < 1e-12
    ([1.666667, 0.333333], True)
    """
    width = validate.positive("width", width)
    kind = uncertainty_set.kind
    if kind not in checker.SETS:
        raise ValueError(f"uncertainty_set must be one that the checker knows, {', '.join(checker.SETS)}, got {kind}")
    uncertainty_set.require_fit(mdp.n_states, (mdp.n_states, mdp.n_actions))
    if mdp.n_states**2 * mdp.n_actions > LARGEST_MODEL:
        raise ValueError(f"mdp must have S·A·S <= {LARGEST_MODEL}, got S = {mdp.n_states}, A = {mdp.n_actions}")
    try:
        return _certificate(mdp, uncertainty_set, width)
    except OverflowError:
        raise ValueError("mdp must have values in the range of double precision: its costs are too large") from None


def _certificate(mdp: MDP, uncertainty_set: UncertaintySet, width: float) -> Certificate:
    """A certificate of a set that the checker knows and that fits the model."""
    kind = uncertainty_set.kind
    data = uncertainty_set.to_dict()
    judge = checker.SETS[kind](data, mdp.n_states, mdp.n_actions)
    if isinstance(uncertainty_set, SRectangular):
        proposal = _propose_by_state(mdp, uncertainty_set, judge, width)
    else:
        proposal = _propose(mdp, uncertainty_set, judge, width)
    V, levels = proposal.V, proposal.levels
    down, up = _moves(mdp, judge, proposal)
    first = None
    for attempt in range(12):
        margin = Fraction(2.0**attempt * 4 * EPS * (float(np.abs(V).max()) + float(np.abs(mdp.cost).max())))
        margin /= 1 - Fraction(mdp.gamma)
        lower = [float(Fraction(x) - down - margin) for x in V.tolist()]
        upper = [float(Fraction(x) + up + margin) for x in V.tolist()]
        moved = [[float(Fraction(y) + up + margin) for y in row[:levels]] + row[levels:] for row in proposal.duals]
        found = Certificate(
            mdp.gamma, mdp.cost.tolist(), _rows(mdp.rows), data, lower, upper,
            _width(lower, upper), proposal.policy, proposal.worst, moved,
        )  # fmt: skip
        accepted, line = checker.verdict(found.to_json())
        if accepted:
            break
        first = first or line
    else:
        raise ValueError(f"no certificate was found for {uncertainty_set!r:.80}: {first}")
    if found.width > width:
        raise ValueError(f"width must be at least {found.width:.3g} for this model in double precision, got {width:g}")
    return found


Members = list[checker.Row]


@dataclass(frozen=True)
class _Proposal:
    """About V*, a policy, members of the sets as fractions and as they are written, and multipliers.

    The first `levels` multipliers of a state are levels of values, which move with the values.
    """

    V: Floats
    policy: list[int] | list[list[float]]
    members: Members
    worst: Rows | Moves
    duals: list[list[float]]
    levels: int


def _propose(mdp: MDP, uncertainty_set: UncertaintySet, judge: checker.Set, width: float) -> _Proposal:
    V, policy, worst = _solve(mdp, uncertainty_set, width)
    members, rows = _members(mdp, uncertainty_set, judge, worst, V)
    P = mdp.P  # made anew at each access to a sparse model
    duals = [multipliers(uncertainty_set.at(s, a), P[s, a], V) for s, a in enumerate(policy.tolist())]
    return _Proposal(V, policy.tolist(), members, rows, duals, 1 if uncertainty_set.kind in LEVELS else 0)


def _propose_by_state(mdp: MDP, uncertainty_set: SRectangular, judge: checker.Set, width: float) -> _Proposal:
    V, found = states.plan(mdp, uncertainty_set, width)
    P, A, exact = mdp.P, mdp.n_actions, checker.Values([Fraction(x) for x in V.tolist()])
    nominal = checker.kernel(json.to_data(_rows(mdp.rows)), mdp.n_states, A, "kernel")

    def pulled(s: int, rows: Floats) -> tuple[float, Floats]:
        """Rows of a state that are in the set, and the least of their values."""
        for pull in PULLS:
            mixed = (1.0 - pull) * rows + pull * P[s]
            try:
                judge.admit(s, nominal[s * A : (s + 1) * A], [_distribution(row) for row in mixed])
            except checker.Rejected:
                continue
            return float((mdp.cost[s] + mdp.gamma * (mixed @ V) / mixed.sum(axis=1)).min()), mixed
        raise AssertionError("the nominal rows are in every set")

    rows = np.array([each for _, each in states.members(mdp, uncertainty_set, V, found.values, pulled)])
    duals, levels = [], 0
    for s in range(mdp.n_states):
        tried = states.multipliers(
            uncertainty_set, P[s], V, mdp.gamma, found.policy[s], float(found.prices[s]), rows[s]
        )
        weights, part = judge.policy(found.policy[s].tolist()), nominal[s * A : (s + 1) * A]
        duals.append(min(tried, key=lambda y: judge.worth(s, weights, part, exact, [Fraction(x) for x in y])))
        levels = A if len(tried[0]) > 1 else 0
    written = Rows([0], [], [])
    for row in rows.reshape(-1, mdp.n_states):
        places = np.flatnonzero(row > 0.0)
        written.successors.extend(places.tolist())
        written.probabilities.extend(row[places].tolist())
        written.offsets.append(len(written.successors))
    members = [_distribution(row) for row in rows.reshape(-1, mdp.n_states)]
    return _Proposal(V, found.policy.tolist(), members, written, duals, levels)


def _distribution(row: Floats) -> checker.Row:
    """The row over its exact sum."""
    places = np.flatnonzero(row > 0.0)
    weights = [Fraction(x) for x in row[places].tolist()]
    total = sum(weights)
    return {i: x / total for i, x in zip(places.tolist(), weights, strict=True)}


def _width(lower: list[float], upper: list[float]) -> float:
    """The largest difference, rounded up."""
    exact = max(Fraction(high) - Fraction(low) for low, high in zip(lower, upper, strict=True))
    return float(np.nextafter(float(exact), np.inf))


def _rows(rows: SparseRows) -> Rows:
    return Rows(rows.offsets.tolist(), rows.successors.tolist(), rows.probabilities.tolist())


def _solve(mdp: MDP, uncertainty_set: UncertaintySet, width: float) -> tuple[Floats, Ints, Floats]:
    """About V*, its policy and the worst kernel at V*, by policy iteration for agent and nature together.

    Where a step does not narrow the residuals, plain backups are made for a while: they converge always.
    """
    P, gamma, S = mdp.P, mdp.gamma, mdp.n_states
    everyone = np.arange(S)
    V, best, narrowest, failures = np.zeros(S), np.zeros(S), np.inf, 0
    for _ in range(ROUNDS):
        q = _worst(uncertainty_set, P, V)
        Q = mdp.cost + gamma * (q @ V)
        policy = Q.argmin(axis=1)
        image = Q[everyone, policy]
        change = image - V
        span = float(np.ptp(change))
        if span < narrowest:
            narrowest, best, failures = span, image + gamma / (1.0 - gamma) * (change.max() + change.min()) / 2.0, 0
        else:
            failures += 1
        floor = 8 * EPS * float(np.abs(Q).max())
        if span <= floor or (failures > PATIENCE and span <= max(64 * floor, (1.0 - gamma) * width / 64)):
            break
        if failures % (8 * PATIENCE) >= PATIENCE:
            V = image
        else:
            V = np.linalg.solve(np.eye(S) - gamma * q[everyone, policy], mdp.cost[everyone, policy])
    worst = _worst(uncertainty_set, P, best)
    return best, (mdp.cost + gamma * (worst @ best)).argmin(axis=1), worst


def _worst(uncertainty_set: UncertaintySet, P: Floats, V: Floats) -> Floats:
    """About the worst rows of all pairs, each a distribution."""
    if uncertainty_set.pairs:
        rows = np.empty(P.shape)
        for s, a in np.ndindex(*P.shape[:2]):
            rows[s, a] = uncertainty_set.at(s, a).row_worst_case(P[s, a], V)
    else:
        rows = uncertainty_set.row_worst_case(P, V)
    result: Floats = np.maximum(rows, 0.0)
    result /= result.sum(axis=-1, keepdims=True)
    return result


def _members(
    mdp: MDP, uncertainty_set: UncertaintySet, judge: checker.Set, worst: Floats, V: Floats
) -> tuple[Members, Rows | Moves]:
    """Members of the sets of all pairs close to the rows of `worst`, as fractions and as they are written."""
    members: Members = []
    written, P = Rows([0], [], []), mdp.P
    nominal = checker.kernel(json.to_data(_rows(mdp.rows)), mdp.n_states, mdp.n_actions, "kernel")
    if isinstance(judge, checker.Transport):
        moves = _moves_of(uncertainty_set, P, V)
        return judge.members(json.to_data(moves), nominal), moves
    for row, p in enumerate(nominal):
        s, a = divmod(row, mdp.n_actions)
        here = uncertainty_set.at(s, a)
        member, shown = _member(here, P[s, a], worst[s, a], V, lambda q: judge.objection(s, a, p, q) is None)  # noqa: B023
        members.append(member)
        written.successors.extend(member)
        written.probabilities.extend(shown)
        written.offsets.append(len(written.successors))
    return members, written


def _moves_of(uncertainty_set: UncertaintySet, P: Floats, V: Floats) -> Moves:
    """The plans of all pairs; where mass stays, nothing is written."""
    found = Moves([0], [], [], [])
    for s, a in np.ndindex(*P.shape[:2]):
        here: Any = uncertainty_set.at(s, a)
        if here.kind == "wasserstein":
            plan = spend(here, P[s, a], V)[0]
        else:
            near = np.where(here.metric <= here.radius, V, -np.inf)
            plan = [(i, int(near[i].argmax()), 1.0) for i in np.flatnonzero(P[s, a] > 0.0).tolist()]
        moving = {i for i, j, _ in plan if i != j}
        for i, j, share in plan:
            if i in moving:
                found.sources.append(i)
                found.targets.append(j)
                found.shares.append(share)
        found.offsets.append(len(found.sources))
    return found


def _member(
    here: UncertaintySet, p: Floats, q: Floats, V: Floats, inside: Callable[[checker.Row], bool]
) -> tuple[checker.Row, list[float | str]]:
    """A member close to q: in floats, pulled to the middle of the set; else in fractions."""
    middle = p
    if isinstance(here, Interval):
        room = float((here.high - here.low).sum())
        middle = here.low + (here.high - here.low) * ((1.0 - float(here.low.sum())) / room if room > 0.0 else 0.0)
    if here.kind != "restart":
        for pull in PULLS:
            mixed = (1.0 - pull) * q + pull * middle
            member = _distribution(mixed)
            if inside(member):
                return member, [float(mixed[i]) for i in member]
    member = _exact_member(here, p, V)
    return member, [f"{x.numerator}/{x.denominator}" for x in member.values()]


def _exact_member(here: UncertaintySet, p: Floats, V: Floats) -> checker.Row:
    """A worst case in fractions, for sets that may have no inner point: restarts, bounds that are equal, or p."""
    total = sum(map(Fraction, p.tolist()))
    row = [Fraction(x) / total for x in p.tolist()]
    if here.kind == "restart":
        R, states = Fraction(here.radius), here.states  # type: ignore[attr-defined]
        row = [(1 - R) * x for x in row]
        row[int(np.where(states > 0.0, V, -np.inf).argmax())] += R
    elif isinstance(here, Interval):
        row = [Fraction(x) for x in here.low.tolist()]
        left = 1 - sum(row)
        for i in np.argsort(-V, kind="stable").tolist():
            more = min(left, Fraction(float(here.high[i])) - row[i])
            row[i], left = row[i] + more, left - more
    return {i: x for i, x in enumerate(row) if x > 0}


def _moves(mdp: MDP, judge: checker.Set, proposal: _Proposal) -> tuple[Fraction, Fraction]:
    """How far V must go down to be a lower bound, and up to be an upper one, rounding of the results apart."""
    gamma, exact, A = Fraction(mdp.gamma), checker.Values([Fraction(x) for x in proposal.V.tolist()]), mdp.n_actions
    nominal = checker.kernel(json.to_data(_rows(mdp.rows)), mdp.n_states, A, "kernel")
    down, up = [], []
    for s in range(mdp.n_states):
        costs = [Fraction(x) for x in mdp.cost[s].tolist()]
        for cost, q in zip(costs, proposal.members[s * A : (s + 1) * A], strict=True):
            down.append(exact.at[s] - cost - gamma * checker.mean(q, exact.at.__getitem__))
        weights, y = judge.policy(proposal.policy[s]), [Fraction(x) for x in proposal.duals[s]]
        bound = judge.worth(s, weights, nominal[s * A : (s + 1) * A], exact, y)
        up.append(checker.mean(weights, costs.__getitem__) + gamma * bound - exact.at[s])
    return max(down) / (1 - gamma), max(up) / (1 - gamma)
