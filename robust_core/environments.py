"""FrozenLake, Taxi and CartPole as MDPs, and the paper's perturbation (Section 6).

Environments give rewards; here, and nowhere else, they become costs: cost = −(expected reward). A terminal state is
a choice of interpretation: *continuing* (absorbing at no cost, the paper's formal model) or *episodic* (value 0; the
walk goes on from a reset). Needs the extra `environments` (gymnasium) except for CartPole.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robust_core import streams, validate
from robust_core.mdp import MDP
from robust_core.trajectory import Walk
from robust_core.validate import Floats, Ints

Interpretation = Literal["continuing", "episodic"]
Table = Mapping[int, Mapping[int, Sequence[tuple[float, int, float, bool]]]]
_OUTCOME = "(probability, s', reward, terminated)"


@dataclass(frozen=True, eq=False)
class Environment:
    """A model with its terminal states, its start distribution and the interpretation of terminal states in force."""

    name: str
    mdp: MDP
    terminal: NDArray[np.bool_]
    initial: Floats
    interpretation: Interpretation

    def walk(self, policy: ArrayLike, *, seed: bytes) -> Walk:
        """A trajectory of `policy` from a start drawn from `initial`."""
        rng = streams.numpy_generator(streams.key("start", seed))
        cumulated = np.cumsum(self.initial)
        start = int(np.searchsorted(cumulated, rng.random() * cumulated[-1], side="right"))
        terminal = self.terminal if self.interpretation == "episodic" else None
        return Walk(self.mdp, policy, seed=seed, start=start, terminal=terminal)


def perturb(environment: Environment, p: float) -> Environment:
    """With probability p the next state is uniform over all states (Section 6.1); costs stay.

    Under the episodic interpretation the reset is not an action of the agent and stays as it is.
    """
    validate.instance("environment", environment, Environment)
    p = validate.unit_interval("p", p)
    mdp = environment.mdp
    mixed = (1.0 - p) * mdp.P + p / mdp.n_states
    if environment.interpretation == "episodic":
        mixed[environment.terminal] = mdp.P[environment.terminal]
    mixed /= mixed.sum(axis=-1, keepdims=True)
    names = {"state_names": mdp.state_names, "action_names": mdp.action_names}
    return replace(environment, mdp=MDP(mixed, mdp.cost, mdp.gamma, **names))


def from_toy_text(
    name: str, table: Table, initial: ArrayLike, *, gamma: float, interpretation: Interpretation
) -> Environment:
    """An environment from Gymnasium's transition table {s: {a: [(probability, s', reward, terminated), …]}}.

    The states entered by a transition marked `terminated` are terminal.
    """
    S, A = _table_size(table)
    P, reward = np.zeros((S, A, S)), np.zeros((S, A))
    terminal = np.zeros(S, dtype=np.bool_)
    for s in range(S):
        for a in range(A):
            for outcome in table[s][a]:
                if not (isinstance(outcome, Sequence) and len(outcome) == 4):
                    raise ValueError(f"table[{s}][{a}] must list {_OUTCOME}, got {outcome!r:.80}")
                probability, s_next, gain, terminated = outcome
                probability = validate.unit_interval(f"table[{s}][{a}] probability", probability)
                P[s, a, validate.index(f"table[{s}][{a}] successor", s_next, S)] += probability
                reward[s, a] += probability * validate.real(f"table[{s}][{a}] reward", gain)
                terminal[s_next] |= validate.boolean(f"table[{s}][{a}] terminated", terminated)
    _check_table_sums(table, P)
    return _environment(name, P, reward, terminal, initial, gamma=gamma, interpretation=interpretation)


def to_toy_text(mdp: MDP) -> Table:
    """The transition table of a model, as `from_toy_text` and users of Gymnasium read it; no state is terminal.

    >>> to_toy_text(MDP([[[0.5, 0.5]], [[0.0, 1.0]]], [[1.0], [0.0]], 0.5))[0][0]
    [(0.5, 0, -1.0, False), (0.5, 1, -1.0, False)]
    """
    rows, A = mdp.rows, mdp.n_actions

    def outcomes(row: int) -> list[tuple[float, int, float, bool]]:
        part, reward = slice(rows.offsets[row], rows.offsets[row + 1]), 0.0 - float(mdp.cost.ravel()[row])
        pairs = zip(rows.probabilities[part].tolist(), rows.successors[part].tolist(), strict=True)
        return [(p, s, reward, False) for p, s in pairs]

    return {s: {a: outcomes(s * A + a) for a in range(A)} for s in range(mdp.n_states)}


def _table_size(table: Table) -> tuple[int, int]:
    """S and A of a table that has all states, each with the same actions, counted from 0."""
    rule = f"table must be {{s: {{a: [{_OUTCOME}, …]}}}}"
    if not isinstance(table, Mapping) or not table or not all(isinstance(row, Mapping) for row in table.values()):
        raise TypeError(f"{rule} and not be empty, got {table!r:.80}")
    S, A = len(table), max(map(len, table.values()))
    for name, row, size in (("table", table, S), *((f"table[{s}]", row, A) for s, row in table.items())):
        if missing := set(range(size)) - set(row):
            raise ValueError(f"{rule} for s in 0 … {S - 1} and a in 0 … {A - 1}, got {name} without {min(missing)}")
    return S, A


def _check_table_sums(table: Table, P: Floats) -> None:
    """`_environment` divides by the sums: a row that lost a successor must not pass for a full one."""
    for (s, a), total in np.ndenumerate(P.sum(axis=-1)):
        if not abs(total - 1.0) <= validate.row_sum_tolerance(np.array(len(table[s][a]))):
            raise ValueError(f"table[{s}][{a}] has probabilities that sum to {float(total)!r}, not 1")


def _environment(
    name: str,
    P: Floats,
    reward: Floats,
    terminal: NDArray[np.bool_],
    initial: ArrayLike,
    *,
    gamma: float,
    interpretation: Interpretation,
) -> Environment:
    """Close the model at its terminal states according to the interpretation."""
    if interpretation not in ("continuing", "episodic"):
        raise ValueError(f"interpretation must be 'continuing' or 'episodic', got {interpretation!r}")
    S = len(P)
    start = validate.array("initial", initial, shape=(S,))
    validate.distribution_rows("initial", start)
    if (start[terminal] > 0).any():
        raise ValueError(f"{name}: a terminal state has positive start probability")
    if interpretation == "continuing":
        P[terminal] = np.eye(S)[terminal][:, None, :]
    else:
        P[terminal] = start
    P /= P.sum(axis=-1, keepdims=True)
    cost = np.where(terminal[:, None], 0.0, -reward)
    return Environment(name, MDP(P, cost, gamma), terminal, start, interpretation)


def frozen_lake(
    *, slippery: bool = True, size: str = "4x4", gamma: float = 0.95, interpretation: Interpretation = "continuing"
) -> Environment:
    """FrozenLake-v1: reward 1 at the goal, holes end the episode."""
    if size not in ("4x4", "8x8"):
        raise ValueError(f"size must be '4x4' or '8x8', got {size!r:.80}")
    validate.boolean("slippery", slippery)
    made = _gymnasium().make("FrozenLake-v1", map_name=size, is_slippery=slippery).unwrapped
    label = f"FrozenLake {size}{'' if slippery else ' not'} slippery"
    return from_toy_text(label, made.P, made.initial_state_distrib, gamma=gamma, interpretation=interpretation)


def taxi(*, gamma: float = 0.95, interpretation: Interpretation = "continuing") -> Environment:
    """Taxi: reward −1 a step, 20 for a delivery (which ends the episode), −10 for a wrong pick-up or drop-off."""
    gymnasium = _gymnasium()
    newest = max(name for name in gymnasium.registry if name.startswith("Taxi-v"))
    made = gymnasium.make(newest).unwrapped
    return from_toy_text("Taxi", made.P, made.initial_state_distrib, gamma=gamma, interpretation=interpretation)


def _gymnasium() -> Any:
    try:
        import gymnasium
    except ImportError:
        raise ImportError("this environment needs gymnasium: pip install 'robust-core[environments]'") from None
    return gymnasium


# CartPole's constants (Barto, Sutton and Anderson, 1983; the same as in Gymnasium's CartPole).
GRAVITY, CART_MASS, POLE_MASS, HALF_LENGTH, FORCE, TIME_STEP = 9.8, 1.0, 0.1, 0.5, 10.0, 0.02
CART_LIMIT, ANGLE_LIMIT = 2.4, 12 * 2 * np.pi / 360
# Velocities have no limit of their own: bins end here and the outer ones collect the rest.
SPEED_RANGE, ANGULAR_SPEED_RANGE = 2.0, 2.5


def cart_pole_step(state: Floats, action: int) -> Floats:
    """One Euler step of the cart-pole equations for states (…, 4): position, speed, angle, angular speed."""
    shape = np.shape(state)
    if not shape or shape[-1] != 4:
        raise ValueError(f"state must have 4 entries in its last axis, got shape {shape}")
    x, speed, angle, spin = np.moveaxis(validate.array("state", state, shape=shape), -1, 0)
    force = FORCE if validate.index("action", action, 2) == 1 else -FORCE
    mass = CART_MASS + POLE_MASS
    cos, sin = np.cos(angle), np.sin(angle)
    drive = (force + POLE_MASS * HALF_LENGTH * np.square(spin) * sin) / mass
    spin_up = (GRAVITY * sin - cos * drive) / (HALF_LENGTH * (4.0 / 3.0 - POLE_MASS * np.square(cos) / mass))
    acceleration = drive - POLE_MASS * HALF_LENGTH * spin_up * cos / mass
    return np.stack(
        (x + TIME_STEP * speed, speed + TIME_STEP * acceleration, angle + TIME_STEP * spin, spin + TIME_STEP * spin_up),
        axis=-1,
    )


def cart_pole(
    *,
    bins: tuple[int, int, int, int] = (3, 3, 6, 6),
    points: int = 4,
    gamma: float = 0.95,
    interpretation: Interpretation = "continuing",
) -> Environment:
    """CartPole on a grid of cells plus one fallen state (the last); reward 1 for every step that does not fall.

    A cell's transition law is that of `points`^4 states spread evenly over the cell, each moved by one step.
    """
    if np.shape(bins) != (4,):
        raise ValueError(f"bins must be four whole numbers, got {bins!r:.80}")
    counts = tuple(validate.count("bins", n, least=1) for n in bins)
    points = validate.count("points", points, least=1)
    limits = np.array([CART_LIMIT, SPEED_RANGE, ANGLE_LIMIT, ANGULAR_SPEED_RANGE])
    widths = 2 * limits / counts
    n_cells = int(np.prod(counts))
    cells = np.stack(np.unravel_index(np.arange(n_cells), counts), axis=-1)
    offsets = np.stack(np.meshgrid(*[(np.arange(points) + 0.5) / points] * 4, indexing="ij"), axis=-1).reshape(-1, 4)
    states = -limits + (cells[:, None, :] + offsets) * widths
    P = np.zeros((n_cells + 1, 2, n_cells + 1))
    for a in range(2):
        reached = _cell(cart_pole_step(states, a), limits, widths, counts)
        np.add.at(P[:, a], (np.arange(n_cells)[:, None], reached), 1.0 / len(offsets))
    P[n_cells] = np.eye(n_cells + 1)[n_cells]
    P /= P.sum(axis=-1, keepdims=True)
    terminal = np.arange(n_cells + 1) == n_cells
    initial = np.zeros(n_cells + 1)
    initial[_cell(np.zeros(4), limits, widths, counts)] = 1.0
    return _environment(
        "CartPole", P, 1.0 - P[:, :, n_cells], terminal, initial, gamma=gamma, interpretation=interpretation
    )


def _cell(states: Floats, limits: Floats, widths: Floats, counts: tuple[int, ...]) -> Ints:
    """The number of the cell of each state; fallen states get the number after the last cell."""
    places = np.floor((states + limits) / widths).astype(np.int64)
    places = np.clip(places, 0, np.array(counts) - 1)
    flat = np.ravel_multi_index(np.moveaxis(places, -1, 0), counts)
    fallen = (np.abs(states[..., 0]) > CART_LIMIT) | (np.abs(states[..., 2]) > ANGLE_LIMIT)
    return np.where(fallen, int(np.prod(counts)), flat)
