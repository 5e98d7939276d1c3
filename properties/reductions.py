"""Cases that are smaller than a given one: what a counterexample may lose without ceasing to be a case.

Hypothesis lowers bytes one by one or sorts them; it cannot take a state out of the middle of a model, because that
changes many bytes at once. These reductions do: fewer steps, states and actions, then zeros for costs and values.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from properties.law import Case
from robust_core.mdp import MDP

# Arrays with one row a state (and one column an action); `initial` is one unless there are features.
TABLES = ("initial", "other", "dearer", "Q")
VALUES = (*TABLES, "features", "v")
# Beyond FEW states or actions whole halves are tried first, and not every state as the heir of another; beyond MANY
# steps no single one is taken out of the path.
FEW, MANY = 4, 40


def smaller(case: Case) -> Iterator[Case]:
    """Cases that have something less, much less first; every one is a possible case of the same laws."""
    chained = _possible(case, chained=True)
    for candidate in _candidates(case):
        if _possible(candidate, chained=chained):
            yield candidate


def _candidates(case: Case) -> Iterator[Case]:
    if "path" in case:
        yield from _shorter(case)
    if "mdp" in case:
        S, A = case["mdp"].n_states, case["mdp"].n_actions
        if S > FEW:
            yield from (_thinned(case, half, _without_state) for half in (range(S // 2, S), range(S // 2)))
        if A > FEW:
            yield from (_thinned(case, half, _without_action) for half in (range(A // 2, A), range(A // 2)))
        yield from _flat(case)
        for state in reversed(range(S)):
            yield from _without_state(case, state)
        for action in reversed(range(A)):
            yield from _without_action(case, action)
        yield from _free(case)
    elif case.get("p", np.zeros((1, 1))).ndim == 1:
        for outcome in reversed(range(len(case["v"]))):
            yield from _without_outcome(case, outcome)
    yield from _flattened(case)


def _possible(case: Case, *, chained: bool) -> bool:
    """Whether the path, if there is one, is one of the model: each step can happen, and where the last one ended."""
    path = case.get("path", [])
    mdp, policy = case.get("mdp"), case.get("policy")
    for number, (s, a, cost, s_next, a_next, _) in enumerate(path):
        assert mdp is not None
        linked = not chained or number + 1 == len(path) or tuple(path[number + 1][:2]) == (s_next, a_next)
        taken = policy is None or (policy[s, a] > 0.0 and policy[s_next, a_next] > 0.0)
        if not (linked and taken and mdp.P[s, a, s_next] > 0.0 and cost == mdp.cost[s, a]):
            return False
    return True


def _shorter(case: Case) -> Iterator[Case]:
    """Without a half, a quarter, an eighth of the path; without a single step, where there are not many."""
    path = list(case["path"])
    n = len(path)
    chunks = dict.fromkeys(max(1, n // parts) for parts in (2, 4, 8))
    for chunk in [*chunks, *([1] if n <= MANY else [])]:
        for i in reversed(range(0, n, chunk)):
            yield case | {"path": path[:i] + path[i + chunk :]}


def _thinned(case: Case, gone: range, without: Callable[[Case, int], Iterator[Case]]) -> Case:
    """Without several states or actions, each taken away in the first way there is."""
    for number in reversed(gone):
        case = next(without(case, number), case)
    return case


def _flat(case: Case) -> Iterator[Case]:
    """All costs, or a whole table, set to 0."""
    mdp: MDP = case["mdp"]
    if np.count_nonzero(mdp.cost) > 1:
        yield _at_costs(case, np.zeros_like(mdp.cost))
    for name in VALUES:
        if name in case and np.count_nonzero(case[name]) > 1:
            yield case | {name: np.zeros_like(case[name])}


def _model(mdp: MDP, P: np.ndarray, cost: np.ndarray) -> MDP:
    dense = MDP(P, cost, mdp.gamma)
    return MDP(dense.rows, cost, mdp.gamma) if mdp.is_sparse else dense


def _without_state(case: Case, state: int) -> Iterator[Case]:
    """The mass that went there stays where it was, or goes to another state, which takes its part on the path too."""
    mdp: MDP = case["mdp"]
    if mdp.n_states == 1:
        return
    kept = np.delete(np.arange(mdp.n_states), state)
    home = np.arange(len(kept))
    used = state in (case.get("s"), case.get("start")) or _visits(case, state, (0, 3))
    for heir in [*([] if used else [None]), *range(len(kept))[:FEW]]:
        P = mdp.P[np.ix_(kept, np.arange(mdp.n_actions), kept)].copy()
        P[home, :, home if heir is None else heir] += mdp.P[kept, :, state]
        less = dict(case, mdp=_model(mdp, P, mdp.cost[kept]))
        for name in (*_tables(case), "policy", "features"):
            if name in case:
                less[name] = case[name][kept]
        yield _renumbered(less, state, heir, ("s", "start"), (0, 3))


def _without_action(case: Case, action: int) -> Iterator[Case]:
    """Its probability goes to another action, which takes its part on the path too."""
    mdp: MDP = case["mdp"]
    kept = np.delete(np.arange(mdp.n_actions), action)
    for heir in range(len(kept))[:FEW]:
        less = dict(case, mdp=_model(mdp, mdp.P[:, kept], mdp.cost[:, kept]))
        for name in _tables(case):
            if case[name].ndim == 2:
                less[name] = case[name][:, kept]
        if "policy" in case:
            policy = case["policy"][:, kept].copy()
            policy[:, heir] += case["policy"][:, action]
            less["policy"] = policy
        yield _renumbered(less, action, heir, ("a",), (1, 4))


def _visits(case: Case, number: int, places: tuple[int, ...]) -> bool:
    return any(step[i] == number for step in case.get("path", ()) for i in places)


def _renumbered(case: Case, gone: int, heir: int | None, names: tuple[str, ...], places: tuple[int, ...]) -> Case:
    """The number that is gone becomes the heir's, those above it fall by one."""

    def new(number: int) -> int:
        return heir if number == gone and heir is not None else number - (number > gone)

    for name in names:
        if name in case:
            case[name] = new(case[name])
    if "path" in case:
        case["path"] = [tuple(new(x) if i in places else x for i, x in enumerate(step)) for step in case["path"]]
        case["path"] = [_at_cost(step, case["mdp"]) for step in case["path"]]
    return case


def _at_cost(step: Any, mdp: MDP) -> Any:
    return (*step[:2], float(mdp.cost[step[0], step[1]]), *step[3:])


def _without_outcome(case: Case, outcome: int) -> Iterator[Case]:
    """A support function's row without one outcome, whose mass goes to the first of the others."""
    if len(case["v"]) == 1:
        return
    p = np.delete(case["p"], outcome)
    p[0] += case["p"][outcome]
    yield case | {name: np.delete(case[name], outcome) for name in ("v", "other") if name in case} | {"p": p}


def _tables(case: Case) -> list[str]:
    return [name for name in TABLES if name in case and not (name == "initial" and "features" in case)]


def _free(case: Case) -> Iterator[Case]:
    """One cost set to 0, on the path as well."""
    mdp: MDP = case["mdp"]
    for s, a in np.argwhere(mdp.cost).tolist():
        cost = mdp.cost.copy()
        cost[s, a] = 0.0
        yield _at_costs(case, cost)


def _at_costs(case: Case, cost: np.ndarray) -> Case:
    less = dict(case, mdp=_model(case["mdp"], case["mdp"].P, cost))
    if "path" in case:
        less["path"] = [_at_cost(step, less["mdp"]) for step in case["path"]]
    return less


def _flattened(case: Case) -> Iterator[Case]:
    """One value set to 0."""
    for name in VALUES:
        if name in case:
            for place in map(tuple, np.argwhere(case[name]).tolist()):
                flat = case[name].copy()
                flat[place] = 0.0
                yield case | {name: flat}
