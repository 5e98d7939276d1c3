"""Right planners, operators, support functions and samplers that are written in unusual ways."""

import bisect
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from robust_core import MDP, Contamination, TotalVariation, Transition, Variant

ACCURACY = 1e-9


def _backups(mdp: MDP, radius: float, V: list[float], s: int) -> list[float]:
    """The backups of a state in plain Python."""
    top = max(V)
    return [
        float(mdp.cost[s, a])
        + mdp.gamma * (radius * top + (1.0 - radius) * sum(p * v for p, v in zip(mdp.P[s, a].tolist(), V, strict=True)))
        for a in range(mdp.n_actions)
    ]


def gauss_seidel(mdp: MDP, uncertainty_set: Any) -> Any:
    """Plain Python, in place, until a sweep moves nothing by more than is allowed."""
    V, scale, R = [0.0] * mdp.n_states, float(np.abs(mdp.cost).max()), float(uncertainty_set.radius)
    P, cost, gamma = mdp.P.tolist(), mdp.cost.tolist(), mdp.gamma
    while True:
        moved = 0.0
        for s, (rows, costs) in enumerate(zip(P, cost, strict=True)):
            top = max(V)
            image = min(
                c + gamma * (R * top + (1.0 - R) * sum(p * v for p, v in zip(row, V, strict=True)))
                for c, row in zip(costs, rows, strict=True)
            )
            moved, V[s] = max(moved, abs(image - V[s])), image
        if moved <= ACCURACY * scale:
            return np.array(V)


def backwards(mdp: MDP, uncertainty_set: Any) -> Any:
    """Sweeps forwards and backwards in turn."""
    V, scale, R = [0.0] * mdp.n_states, float(np.abs(mdp.cost).max()), float(uncertainty_set.radius)
    for turn in itertools.count():
        moved = 0.0
        for s in range(mdp.n_states)[:: 1 if turn % 2 else -1]:
            image = min(_backups(mdp, R, V, s))
            moved, V[s] = max(moved, abs(image - V[s])), image
        if moved <= ACCURACY * scale:
            break
    return np.array(V)


def _closed_form(mdp: MDP, policy: np.ndarray, R: float) -> np.ndarray:
    """Q of a policy: with b = gamma(1−R), V = U + gamma R max V/(1−b), U that of the discount b."""
    S = np.arange(mdp.n_states)
    b = mdp.gamma * (1.0 - R)
    U = np.linalg.solve(np.eye(mdp.n_states) - b * mdp.P[S, policy], mdp.cost[S, policy])
    V = U + mdp.gamma * R * U.max() / (1.0 - b) / (1.0 - mdp.gamma * R / (1.0 - b))
    return np.asarray(mdp.cost + mdp.gamma * (R * V.max() + (1.0 - R) * (mdp.P @ V)))


def policy_iteration(mdp: MDP, uncertainty_set: Any) -> Any:
    """Howard's, with the closed form of contamination; only improvements above rounding count."""
    policy, R, scale = np.zeros(mdp.n_states, dtype=int), float(uncertainty_set.radius), float(np.abs(mdp.cost).max())
    S = np.arange(mdp.n_states)
    while True:
        Q = _closed_form(mdp, policy, R)
        better = Q.min(axis=1) < Q[S, policy] - 1e-12 * scale / (1.0 - mdp.gamma)
        if not better.any():
            return Q
        policy = np.where(better, Q.argmin(axis=1), policy)


def linear_program(mdp: MDP, uncertainty_set: Any) -> Any:
    """The program of the discount gamma(1−R) for the policy, then its values by the closed form."""
    from scipy.optimize import linprog

    S, A = mdp.cost.shape
    R, scale = float(uncertainty_set.radius), float(np.abs(mdp.cost).max()) or 1.0
    A_ub = np.repeat(np.eye(S), A, axis=0) - mdp.gamma * (1.0 - R) * mdp.P.reshape(S * A, S)
    V = linprog(-np.ones(S), A_ub=A_ub, b_ub=mdp.cost.ravel() / scale, bounds=(None, None)).x * scale
    policy = (mdp.cost + mdp.gamma * (1.0 - R) * (mdp.P @ V)).argmin(axis=1)
    while True:  # polished: the program is exact to 1e-7 only
        Q = _closed_form(mdp, policy, R)
        better = Q.min(axis=1) < Q[np.arange(S), policy] - 1e-12 * scale / (1.0 - mdp.gamma)
        if not better.any():
            return Q
        policy = np.where(better, Q.argmin(axis=1), policy)


def modified(mdp: MDP, uncertainty_set: Any) -> Any:
    """Five steps with the greedy policy for each improvement."""
    R, V, S = float(uncertainty_set.radius), np.zeros(mdp.n_states), np.arange(mdp.n_states)
    while True:
        Q = mdp.cost + mdp.gamma * (R * V.max() + (1.0 - R) * (mdp.P @ V))
        greedy = Q.argmin(axis=1)
        if np.abs(Q.min(axis=1) - V).max() <= ACCURACY * np.abs(mdp.cost).max():
            return np.asarray(Q)
        for _ in range(5):
            rows = mdp.P[S, greedy]
            V = mdp.cost[S, greedy] + mdp.gamma * (R * V.max() + (1.0 - R) * (rows @ V))


def loops(mdp: MDP, uncertainty_set: Any, Q: Any) -> Any:
    """T by loops."""
    V, R = [min(row) for row in Q.tolist()], float(uncertainty_set.radius)
    return np.array([_backups(mdp, R, V, s) for s in range(mdp.n_states)])


def vertices(mdp: MDP, uncertainty_set: Any, Q: Any) -> Any:
    """T as a maximum over the vertices of the set."""
    V, R = Q.min(axis=1), float(uncertainty_set.radius)
    nominal = np.einsum("sat,t->sa", mdp.P, V)
    return np.max([mdp.cost + mdp.gamma * ((1.0 - R) * nominal + R * v) for v in V], axis=0)


def greedy_mass(uncertainty_set: Any, p: Any, v: Any) -> Any:
    """Total variation, row by row: mass is taken from the smallest values, in plain Python."""
    rows = np.atleast_2d(p.reshape(-1, p.shape[-1]))
    values, order, found = v.tolist(), sorted(range(len(v)), key=lambda i: v[i]), []
    for row in rows.tolist():
        left, total = float(uncertainty_set.radius), sum(x * y for x, y in zip(row, values, strict=True))
        for i in order:
            taken = min(left, row[i])
            total, left = total + taken * (max(values) - values[i]), left - taken
        found.append(total)
    return np.array(found).reshape(p.shape[:-1])[()]


def mixture(uncertainty_set: Any, p: Any, v: Any) -> Any:
    """Contamination as the mean of the mixture itself."""
    worst = np.zeros(len(v))
    worst[int(np.argmax(v))] = 1.0
    return ((1.0 - uncertainty_set.radius) * p + uncertainty_set.radius * worst) @ v


def lazily(mdp: MDP, policy: Any, start: int, steps: int, rng: Any) -> Iterator[Transition]:
    """A generator that inverts cumulative sums with bisection."""

    def pick(row: Any) -> int:
        edges = list(itertools.accumulate(row.tolist()))
        return min(bisect.bisect_right(edges, rng.random() * edges[-1]), max(np.flatnonzero(row).tolist()))

    s, a = start, pick(policy[start])
    for _ in range(steps):
        s_next = pick(mdp.P[s, a])
        a_next = pick(policy[s_next])
        yield Transition(s, a, float(mdp.cost[s, a]), s_next, a_next, False)
        s, a = s_next, a_next


def by_counts(mdp: MDP, policy: Any, start: int, steps: int, rng: Any) -> list[Transition]:
    """The place of the one in a multinomial draw."""

    def pick(row: Any) -> int:
        return int(rng.multinomial(1, row / row.sum()).argmax())

    path, s, a = [], start, pick(policy[start])
    for _ in range(steps):
        s_next = pick(mdp.P[s, a])
        a_next = pick(policy[s_next])
        path.append(Transition(s, a, float(mdp.cost[s, a]), s_next, a_next, False))
        s, a = s_next, a_next
    return path


_ONE, _EXACT = (Contamination,), {"accuracy": ACCURACY}
FUNCTIONS = (
    Variant("planner, Gauss-Seidel in plain Python", "value planner", gauss_seidel, _ONE, ("optimal value",), _EXACT),
    Variant("planner, sweeps in turn", "value planner", backwards, _ONE, ("optimal value",), _EXACT),
    Variant("planner, policy iteration", "planner", policy_iteration, _ONE, ("optimal",), _EXACT),
    Variant("planner, linear program", "planner", linear_program, _ONE, ("optimal",), _EXACT),
    Variant("planner, modified policy iteration", "planner", modified, _ONE, ("optimal",), _EXACT),
    Variant("operator, loops", "operator", loops, _ONE, ("bellman",)),
    Variant("operator, vertices", "operator", vertices, _ONE, ("bellman",)),
    Variant("support, mass in plain Python", "support", greedy_mass, (TotalVariation,), ("support function", "rows")),
    Variant("support, mixture", "support", mixture, _ONE, ("support function", "rows")),
    Variant("sampler, generator", "sampler", lazily, (), ("trajectory",)),
    Variant("sampler, multinomial", "sampler", by_counts, (), ("trajectory",)),
)
