"""Cases for Section 5 and Appendix D: small chains, features in the unit ball, points in the ball of radius K.

One draw for each row, feature vector and point keeps a case cheap (a hundred claims times two hundred cases) and
lets it shrink to a few whole numbers. Rows are positive, so every chain is ergodic; near-Dirac rows make it as good
as periodic, absorbing or independent. All numbers are dyadic and all norms exact.
"""

from itertools import permutations
from typing import Any

import numpy as np
from hypothesis import strategies as st

from properties.cases.case import Case
from robust_core.mdp import MDP
from robust_core.validate import Floats

_RARE = (2.0**-10, 2.0**-20)


def _orders(row: tuple[float, ...]) -> list[tuple[float, ...]]:
    return sorted(set(permutations(row)), reverse=True)


_ROWS: dict[int, tuple[tuple[float, ...], ...]] = {
    1: ((1.0,),),
    2: ((0.5, 0.5), *_orders((0.75, 0.25)), *(row for e in _RARE for row in _orders((1.0 - e, e)))),
    3: (
        *_orders((0.5, 0.25, 0.25)),
        *(row for e in _RARE for row in _orders((1.0 - 2 * e, e, e))),
        *_orders((0.5, 0.5 - _RARE[0], _RARE[0])),
    ),
}
"""Positive distributions by the number of states, simplest first."""

VECTORS: dict[int, tuple[tuple[float, ...], ...]] = {
    1: ((1.0,), (-1.0,), (0.5,), (0.0,), (-0.5,), (2.0**-5,), (1.0 - 2.0**-5,)),
    2: (
        (1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0), (0.5, 0.5), (0.5, -0.5), (0.75, 0.5), (-0.5, 0.75),
        (0.0, 0.0), (0.0, 2.0**-5),
    ),
}  # fmt: skip
"""Vectors of norm at most 1 by dimension, exactly."""

GAMMAS = (0.5, 0.0, 0.75, 0.9375, 1.0 - 2.0**-7)
RADII = (0.0, 1.0, 0.5, 0.25, 2.0**-10)
VARRHOS = (1.0, 4.0, 0.25, 32.0, 2.0**-6)
SCALES = (1.0, 0.25, 4.0, 2.0**-6, 2.0**6)
COSTS = (0.0, 1.0, -1.0, 0.5, 0.25)


@st.composite
def problems(
    draw: st.DrawFn,
    *,
    max_states: int = 3,
    min_states: int = 1,
    max_actions: int = 2,
    max_features: int = 2,
    gammas: tuple[float, ...] = GAMMAS,
    radii: tuple[float, ...] = RADII,
    costs: tuple[float, ...] = COSTS,
    rows: tuple[tuple[float, ...], ...] | None = None,
    vectors: tuple[tuple[float, ...], ...] | None = None,
) -> Case:
    """A model, the policy to evaluate, features of full rank with ‖phi‖ <= 1, a radius and varrho.

    `rows` and `vectors` replace what rows and features are drawn from (for one number of states and features).
    """
    S, A = draw(st.integers(min_states, max_states)), draw(st.integers(1, max_actions))
    N = draw(st.integers(1, min(max_features, S)))
    kernel = [draw(st.sampled_from(rows or _ROWS[S])) for _ in range(S * A)]
    cost = [draw(st.sampled_from(costs)) for _ in range(S * A)]
    policy = [draw(st.sampled_from(_ROWS[A])) for _ in range(S)]
    phi = np.array([draw(st.sampled_from(vectors or VECTORS[N])) for _ in range(S)])
    mdp = MDP(np.reshape(kernel, (S, A, S)), np.reshape(cost, (S, A)), draw(st.sampled_from(gammas)))
    return {
        "mdp": mdp,
        "policy": np.array(policy),
        "features": _full_rank(phi),
        "radius": draw(st.sampled_from(radii)),
        "varrho": draw(st.sampled_from(VARRHOS)),
    }


def _full_rank(phi: Floats) -> Floats:
    """The features themselves, or with unit vectors in the first rows where they were dependent."""
    N = phi.shape[1]
    independent = phi.any() if N == 1 else any(np.linalg.det(phi[[i, j]]) for i in range(len(phi)) for j in range(i))
    return phi if independent else np.vstack([np.eye(N), phi[N:]])


@st.composite
def in_the_ball(
    draw: st.DrawFn,
    /,
    *names: str,
    reach: tuple[float, ...] = (1.0,),
    scales: tuple[float, ...] = SCALES,
    **options: Any,
) -> Case:
    """A problem, K (one of `scales`), and points of norm at most K (times one of `reach`) under the given names."""
    case: Case = dict(draw(problems(**options)))
    case["K"] = draw(st.sampled_from(scales))
    vectors = options.get("vectors") or VECTORS[case["features"].shape[1]]
    for name in names:
        case[name] = case["K"] * draw(st.sampled_from(reach)) * np.array(draw(st.sampled_from(vectors)))
    return case


@st.composite
def one_step(
    draw: st.DrawFn,
    /,
    *,
    betas: tuple[float, ...] = (0.5, 1.0, 2.0**-3, 2.0**-7),
    ratios: tuple[float, ...] = (1.0, 0.5, 2.0**-5),
    **options: Any,
) -> Case:
    """theta and omega in the ball, a possible transition (s, a, s_next), and alpha <= beta <= 1 (by their ratio)."""
    case = draw(in_the_ball("theta", "omega", **options))
    S, A = case["mdp"].n_states, case["mdp"].n_actions
    case["s"], case["a"], case["s_next"] = (draw(st.integers(0, n - 1)) for n in (S, A, S))
    case["beta"] = draw(st.sampled_from(betas))
    case["alpha"] = case["beta"] * draw(st.sampled_from(ratios))
    return case
