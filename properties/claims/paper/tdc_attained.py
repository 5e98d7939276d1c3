"""Cases in which bounds of Appendix D are nearly attained: what a check of such a loose bound can still see.

Eight constants are multiplied on the way to eq:tdcbound, so on most problems the bound is a million times too large,
and a wrong factor in it would not be noticed. Two families come close.

**A rare start, gamma = 0.** State 0 has nearly all of mu, state 1 is where the path starts; theta = omega = −K. Then
delta = c − theta·phi reaches C_delta, omega(theta) reaches C_delta in the direction opposite to omega, so ‖z_0‖ reaches
K_z, and one sample is as far from its mean as it can be. At t = 0 E[f], E[g], E[h] reach 1/4, 1/2 and 2/3 of their
bounds before tau.

**One state, gamma = 0, phi = 1.** There is no noise: delta_{t+1} = (1−alpha)delta_t and, as omega(theta) = delta,
z_{t+1} = (1−beta)z_t + alpha delta_t. From delta_0 = 0 the average of z_t² is
z_0²(1−(1−beta)^{2T})/(T(1−(1−beta)²)); from z_0 = 0 that of ‖∇J‖² = 4 delta_t² is the same with 4 delta_0² and alpha.
The first reaches 1/50 of eq:trackingbound and the second 1/4 of eq:tdcbound, for T about 1/beta and 1/alpha.
"""

import math
from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
from hypothesis import strategies as st

from oracles.bounds.tdc import CorrectedConstants
from oracles.bounds.tdc_rate import Steps, admissible, tdc_bound, tracking_bound
from properties.cases.case import Case
from properties.claims.paper.linear import Side, above, number
from robust_core.mdp import MDP

Which = Literal["tracking", "tdc"]
BOUNDS: dict[str, Which] = {"tracking": "tracking", "tdcbound": "tdc"}
"""The claims on one state, by id."""


@st.composite
def rare_starts(draw: st.DrawFn) -> Case:
    """A case of the lemmas on E[f], E[g], E[h], at t = 0 from a rare state."""
    e = draw(st.sampled_from((2.0**-20, 2.0**-10)))
    K = draw(st.sampled_from((2.0**-6, 1.0)))
    cost = draw(st.sampled_from((1.0, 0.0)))
    return {
        "mdp": MDP([[[1.0 - e, e]], [[1.0 - e, e]]], [[cost], [cost]], 0.0),
        "policy": np.ones((2, 1)),
        "features": np.array([[1.0], [draw(st.sampled_from((0.0, -1.0)))]]),
        "radius": 0.0,
        "varrho": 1.0,
        "K": K,
        "theta": np.array([-K]),
        "omega": np.array([-K]),
        "s": 1,
        "t": 0,
        "beta": draw(st.sampled_from((2.0**-10, 2.0**-4))),
        "alpha": 2.0**-10,
        "rho": 0.5,
        "m": 0.5,
    }


@st.composite
def quick_chains(draw: st.DrawFn) -> Case:
    """A case of the same lemmas from tau = 1 on: nearly independent states, so that mixing costs next to nothing."""
    case = draw(rare_starts())
    p, d = draw(st.sampled_from((0.9375, 0.75))), draw(st.sampled_from((2.0**-5, 2.0**-6)))
    costs = [[draw(st.sampled_from((1.0, -1.0)))] for _ in range(2)]
    K = draw(st.sampled_from((1.0, 2.0**-6)))
    return case | {
        "mdp": MDP([[[p, 1.0 - p]], [[p - d, 1.0 - p + d]]], costs, 0.0),
        "features": np.array([[-1.0], [draw(st.sampled_from((-1.0, 0.5)))]]),
        "K": K,
        "theta": np.array([K * draw(st.sampled_from((-1.0, 1.0, 0.0)))]),
        "omega": np.array([K * draw(st.sampled_from((-1.0, 1.0)))]),
        "s": draw(st.integers(0, 1)),
        "t": 1,
        "beta": 2.0**-4,
        "alpha": 2.0**-4,
        "m": 2.0**-20,
    }


@st.composite
def free_runs(draw: st.DrawFn) -> Case:
    """A case of the recursion of E‖z_t‖² without projection: large ball, long steps, opposite costs, gamma = 0."""
    p = draw(st.sampled_from((0.5, 0.75, 1.0 - 2.0**-10)))
    beta = draw(st.sampled_from((1.0, 0.5, 0.125)))
    return {
        "mdp": MDP([[[p, 1.0 - p]], [[1.0 - p, p]]], [[1.0], [-1.0]], draw(st.sampled_from((0.0, 0.5)))),
        "policy": np.ones((2, 1)),
        "features": np.array([[1.0], [draw(st.sampled_from((1.0, -1.0, 0.5)))]]),
        "radius": 0.0,
        "varrho": 1.0,
        "K": 64.0,
        "theta": np.zeros(1),
        "omega": np.array([draw(st.sampled_from((0.0, 1.0, 4.0, 32.0)))]),
        "s": draw(st.integers(0, 1)),
        "t": draw(st.integers(0, 2)),
        "beta": beta,
        "alpha": beta * draw(st.sampled_from((1.0, 0.5))),
    }


@st.composite
def one_state(draw: st.DrawFn) -> Case:
    """One state, gamma = 0: step sizes and horizon as powers of two."""
    return {
        "K": draw(st.sampled_from((1.0, 2.0**-6, 2.0**12))),
        "cost": draw(st.sampled_from((2.0**-10, 1.0))),
        "beta_power": draw(st.integers(16, 56)),
        "ratio_power": draw(st.integers(32, 48)),
        "horizon": draw(st.integers(-3, 4)),
    }


def one_state_path(rate: float, T: int) -> float:
    """(1/T) Σ_{t<T} (1−rate)^{2t}.

    >>> one_state_path(0.5, 2)
    0.625
    """
    once = 2 * math.log1p(-rate)
    return math.expm1(T * once) / (T * math.expm1(once))


def one_state_sides(
    which: Which, *, factor: float = 1.0, constants: type[CorrectedConstants] = CorrectedConstants
) -> Any:
    """The average along the deterministic path against its bound times `factor`.

    The path keeps |theta|, |omega| <= K: theta starts at cost (delta = 0) or at cost − K, omega at ±K.
    """

    def sides(K: float, cost: float, beta_power: int, ratio_power: int, horizon: int) -> Iterable[Side]:
        beta, ratio = 2.0**-beta_power, 2.0**-ratio_power
        alpha = beta * ratio
        c = constants(cost, gamma=0.0, radius=0.0, n_states=1, varrho=1.0, K=K, lam=1.0, ratio=ratio)
        if cost > K or not admissible(c, alpha, beta):
            return
        rate = beta if which == "tracking" else alpha
        T = int(2.0**horizon / rate)
        steps = Steps(alpha, beta, T, 2.0**-20, 0.5)
        if which == "tracking":
            bound = tracking_bound(c, steps, K, 0.0)
            yield f"average z_t² over {T} steps", number(K**2 * one_state_path(rate, T)), above(bound * factor)
            return
        start = K - cost / 2 if cost < K else K / 2
        drop = start**2 * -math.expm1(2 * T * math.log1p(-alpha))
        left = 4 * start**2 * one_state_path(rate, T)
        yield f"average ‖∇J‖² over {T} steps", number(left), above(tdc_bound(c, steps, 0.0, drop) * factor)

    return sides
