"""Models."""

from typing import Any, Literal

import numpy as np
from hypothesis import strategies as st

from properties.strategies import mass, scalars, sizes
from robust_core import validate
from robust_core.mdp import MDP, SparseRows
from robust_core.validate import Floats

Storage = Literal["dense", "sparse", "either"]
_FLOOR_EXPONENTS = (1, 2, 3, 5, 10, 20)


def mdps(
    *,
    min_states: int = 1,
    max_states: int = 5,
    min_actions: int = 1,
    max_actions: int = 3,
    gammas: st.SearchStrategy[float] | float | None = None,
    cost_range: tuple[float, float] = (0.0, 1.0),
    ergodic: bool = False,
    deterministic: bool = False,
    dyadic: bool = True,
    storage: Storage = "dense",
) -> st.SearchStrategy[MDP]:
    """Models within the given sizes; they shrink to one state, one action, no cost and gamma 0.

    - `gammas`: a number or a strategy; default `gammas()`.
    - `cost_range`: costs lie in it and reach its ends; a wide one gives costs of very different scales.
    - `ergodic`: under every policy the chain is irreducible and aperiodic.
    - `deterministic`: every row is a Dirac (excludes `ergodic`, beyond one state).
    - `dyadic`: probabilities are multiples of 2^-20, so sums and the rational model are exact; otherwise
      there are thirds and tenths as well, rounded.
    - `storage`: how the kernel is kept.

    >>> from properties.strategies import minimal
    >>> print(minimal(mdps(), lambda mdp: mdp.cost.max() > mdp.cost.min()))
    MDP(S=1, A=2, gamma=0.0, dense, hash=f5cf6a6f)
      s=0 a=0  cost 1.0  -> 0: 1.0
      s=0 a=1  cost 0.0  -> 0: 1.0
    """
    if ergodic and deterministic and max_states > 1:
        raise ValueError("ergodic and deterministic exclude each other for more than one state")
    if storage not in ("dense", "sparse", "either"):
        raise ValueError(f"storage must be 'dense', 'sparse' or 'either', got {storage!r}")
    return _mdps(
        sizes.bounded_count("states", min_states, max_states),
        sizes.bounded_count("actions", min_actions, max_actions),
        _discounts(gammas, dyadic),
        scalars.levels("cost_range", cost_range),
        scalars.resting(cost_range),
        ergodic,
        mass.grid(dyadic=dyadic, whole=deterministic),
        ("dense", "sparse") if storage == "either" else (storage,),
    )


def _discounts(gammas: st.SearchStrategy[float] | float | None, dyadic: bool) -> st.SearchStrategy[float]:
    if gammas is None:
        return scalars.gammas(dyadic=dyadic)
    if isinstance(gammas, st.SearchStrategy):
        return gammas
    return st.just(validate.discount("gammas", gammas))


@st.composite
def _mdps(
    draw: st.DrawFn,
    n_states: st.SearchStrategy[int],
    n_actions: st.SearchStrategy[int],
    gammas: st.SearchStrategy[float],
    cost_levels: tuple[float, ...],
    resting_cost: float,
    ergodic: bool,
    grid: mass.Grid,
    storages: tuple[str, ...],
) -> MDP:
    S, A = draw(n_states), draw(n_actions)
    gamma = draw(gammas)
    reserve = draw(_skeletons(S, grid)) if ergodic else [[0] * S] * S
    action, state = sizes.actions(A), sizes.states(S)
    # One model in four moves everything or nothing: permutations, cycles, traps.
    shares = draw(st.sampled_from((*[grid.shares] * 3, grid.shares[:1])))
    moves = draw(sizes.overrides((action, state, state), shares, crowded=True))
    P = _kernel(S, A, reserve, moves, grid.total)
    cost = np.full((S, A), resting_cost)
    for a, s, level in reversed(draw(sizes.overrides((action, state), cost_levels))):
        cost[s, a] = level
    return MDP(_sparse(P) if draw(st.sampled_from(storages)) == "sparse" else P, cost, gamma)


def _kernel(S: int, A: int, reserve: list[list[int]], moves: list[tuple[Any, ...]], total: int) -> Floats:
    """P[s,a,s'] after the moves (a, s, s', share)."""
    by_pair: dict[tuple[int, int], list[tuple[int, mass.Share]]] = {(s, a): [] for s in range(S) for a in range(A)}
    for a, s, successor, share in moves:
        by_pair[s, a].append((successor, share))
    rows = [mass.move_mass(reserve[s], s, moved, total) for (s, _), moved in by_pair.items()]
    return np.array(rows).reshape(S, A, S)


@st.composite
def _skeletons(draw: st.DrawFn, S: int, grid: mass.Grid) -> list[list[int]]:
    """What every row of state s keeps, whatever the action: a ring or a hub, and a loop at state 0.

    Both graphs are strongly connected and have a cycle of length one, so the chain of any policy is ergodic.
    """
    ring = draw(st.sampled_from((True, False)))
    exponent = draw(st.sampled_from(_FLOOR_EXPONENTS))
    floor = grid.floor(exponent if ring else max(exponent, (S - 1).bit_length()))
    reserve = [[0] * S for _ in range(S)]
    reserve[0][0] = floor
    for state in range(1, S):
        reserve[state - 1 if ring else 0][state] = floor
        reserve[state][(state + 1) % S if ring else 0] = floor
    return reserve


def _sparse(P: Floats) -> SparseRows:
    flat = P.reshape(-1, P.shape[2])
    row, successors = np.nonzero(flat)
    offsets = np.searchsorted(row, np.arange(len(flat) + 1))
    return SparseRows(offsets, successors, flat[row, successors])
