"""What a policy is worth on the unperturbed MDP: exactly over a finite horizon, and by Monte Carlo next to it.

The exact value replaces the paper's thirty trajectories: V_0 = 0, V_{h+1} = c_pi + gamma P_pi V_h, averaged over the
start. It is what the Monte-Carlo mean estimates, without its noise, and differs from the infinite horizon by at most
gamma^100 max|c|/(1−gamma).
"""

import numpy as np

from robust_core import streams
from robust_core.environments import Environment
from robust_core.mdp import MDP
from robust_core.policy import uniform
from robust_core.validate import Floats, Ints

HORIZON = 100
TRAJECTORIES = 30


def greedy(tables: Floats, ties: str) -> Ints:
    """argmin_a of every table (…, S, A): the first or the last of equal actions.

    >>> greedy(np.array([[0.0, 0.0, 1.0]]), "first"), greedy(np.array([[0.0, 0.0, 1.0]]), "last")
    (array([0]), array([1]))
    """
    if ties == "first":
        return tables.argmin(axis=-1).astype(np.int64)
    return (tables.shape[-1] - 1 - tables[..., ::-1].argmin(axis=-1)).astype(np.int64)


def state_values(
    environment: Environment, policies: Ints, *, horizon: int = HORIZON, p: float = 0.0, worst: Ints | None = None
) -> Floats:
    """V_horizon(s), as costs, of policies (n, S); with probability p each step ends in the policy's worst state.

    `worst` names that state for every policy; without it, it is the worst of the values to come.
    """
    from benchmarks.experiments.kernels import horizon_values

    mdp = environment.mdp
    rows = (mdp.rows.offsets, mdp.rows.successors, mdp.rows.probabilities)
    places = np.full(len(policies), -1, dtype=np.int64) if worst is None else worst.astype(np.int64)
    chosen = np.ascontiguousarray(policies, dtype=np.int64)
    return horizon_values(rows, mdp.cost, mdp.gamma, horizon, chosen, p, places, environment.terminal)


def rewards(
    environment: Environment, policies: Ints, *, horizon: int = HORIZON, p: float = 0.0, worst: Ints | None = None
) -> Floats:
    """The exact discounted reward from the start distribution of policies (…, S), shaped like the policies.

    Equal policies are evaluated once: learners that agree, and policies that have settled, cost nothing.
    """
    columns = [policies] if worst is None else [policies, worst[..., None]]
    flat = np.concatenate(columns, axis=-1).reshape(-1, policies.shape[-1] + len(columns) - 1)
    different, places = np.unique(flat, axis=0, return_inverse=True)
    chosen = different[:, : policies.shape[-1]]
    V = state_values(environment, chosen, horizon=horizon, p=p, worst=None if worst is None else different[:, -1])
    return -(V * environment.initial).sum(axis=1)[places.reshape(-1)].reshape(policies.shape[:-1])


def monte_carlo(environment: Environment, policies: Ints, seed: bytes) -> Floats:
    """The discounted reward of thirty trajectories of every policy (n, S): an array (n, 30)."""
    from benchmarks.experiments.kernels import rollouts

    mdp = environment.mdp
    chosen = np.ascontiguousarray(policies, dtype=np.int64)
    costs = rollouts(
        cumulated_rows(mdp), mdp.cost, mdp.gamma, HORIZON, chosen, np.cumsum(environment.initial), TRAJECTORIES,
        streams.numpy_generator(seed),
    )  # fmt: skip
    return -costs


def cumulated_rows(mdp: MDP) -> tuple[Ints, Ints, Floats]:
    """The rows of a model with probabilities cumulated within each row."""
    rows = mdp.rows
    total = np.cumsum(rows.probabilities)
    before = np.concatenate(([0.0], total))[rows.offsets[:-1]]
    return rows.offsets, rows.successors, total - np.repeat(before, np.diff(rows.offsets))


def uniform_reward(environment: Environment) -> float:
    """The exact discounted reward of the uniform policy: the bottom of the scale."""
    mdp = environment.mdp
    pi = uniform(mdp.n_states, mdp.n_actions)
    v = np.zeros(mdp.n_states)
    for _ in range(HORIZON):
        v = (pi * (mdp.cost + mdp.gamma * mdp.expectation(v))).sum(axis=1)
    return -float((v * environment.initial).sum())


def best_constant(environment: Environment) -> tuple[int, float]:
    """The action that is best when it is taken everywhere, and its reward."""
    mdp = environment.mdp
    everywhere = np.repeat(np.arange(mdp.n_actions)[:, None], mdp.n_states, axis=1)
    values = rewards(environment, everywhere)
    return int(values.argmax()), float(values.max())


def limit_table(mdp: MDP, radius: float, terminal: np.ndarray | None, *, inner: bool = False) -> tuple[Floats, float]:
    """(Q*, error bound) to which robust Q-learning converges on `mdp`.

    Without terminal states (None) this is the oracle's robust plan. A terminal state has value 0 whatever nature
    does, so with m the worst value the others solve an ordinary problem: cost c + gamma R m, discount gamma(1−R),
    terminal states absorbing at no cost. m ↦ max V is a contraction with factor gamma R/(1−gamma(1−R)), iterated
    here; `inner` leaves the terminal states out of the maximum.
    """
    from oracles.planning import bounds
    from robust_core.sets import Contamination

    if terminal is None or not terminal.any():
        solution = bounds.solve(mdp, Contamination(radius), width=WIDTH)
        return solution.q, solution.error_bound
    P = mdp.P.copy()
    P[terminal] = np.eye(mdp.n_states)[terminal][:, None, :]
    b = mdp.gamma * (1.0 - radius)
    slope = mdp.gamma * radius / (1.0 - b)
    m, moved = 0.0, np.inf
    while True:
        cost = np.where(terminal[:, None], 0.0, mdp.cost + mdp.gamma * radius * m)
        solution = bounds.solve(MDP(P, cost, b), Contamination(0.0), width=WIDTH)
        top = float(solution.v[~terminal].max() if inner else solution.v.max())
        # Near the fixed point the enclosures' width, not the contraction, moves m: nothing more to gain.
        if abs(top - m) <= 2.0 * WIDTH or abs(top - m) >= moved:
            return solution.q, solution.error_bound + slope * (abs(top - m) + WIDTH) / (1.0 - slope)
        m, moved = top, abs(top - m)


WIDTH = 1e-9
"""Width asked of the planning oracle: far below every difference of rewards that is reported."""
