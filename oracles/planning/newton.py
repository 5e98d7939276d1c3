"""Total variation by policy iteration for both players, judged by weak duality: a second method for `planning`.

Hoffman and Karp: fix the agent's policy, let nature improve its kernel (one linear solve each) until it cannot,
then improve the policy. Everything is dense and explicit; meant for models of a few hundred states at most.

The certificate trusts neither player. A kernel of the set gives σ from below, Σ q v <= σ(v), and any level η from
above, σ(v) <= R·max v + Σ p·max(v, η) − Rη (the one-dimensional dual). So with d⁻ <= TV − V <= d⁺ computed from
these, V + min d⁻/(1−γ) <= V* <= V + max d⁺/(1−γ).

**Rounding** (u = 2⁻⁵³; V = v + k with v centred, x = max|v|, n states). The rows that floats stand for sum to
1 ± (3n+4)u. Cumulative sums err by nu, so the kernel lies within (8n+8)u in the 1-norm of one in the set, which
moves Σ q v by that times x; products and sums of n terms err by 2nu·x, the dual by (6n+8)u·x with the defect of the
row. Below (16n + 32)u·γx for either, plus u of the result, (4A+8)u of it for the average over the actions.
"""

import numpy as np
from numpy.typing import ArrayLike

from oracles.arithmetic.certified import Certified
from oracles.planning.closed_form import ClosedForm
from oracles.planning.direct import centre, one_hot, policy_value
from robust_core import validate
from robust_core.mdp import MDP
from robust_core.validate import Floats

METHOD = "policy iteration for both players, weak duality"
_U = 2.0**-53
_SLACK = 1.01  # terms of second order, and the rounding of the bound itself
_TINY = 2.0**-1000  # gradual underflow


def solve(mdp: MDP, radius: float) -> ClosedForm:
    """Q* and V* over the total-variation ball of the given radius.

    >>> mdp = MDP([[[0.5, 0.5]], [[0.0, 1.0]]], [[1.0], [0.0]], 0.5)
    >>> solve(mdp, 1.0).V.value.round(9)
    array([2., 1.])
    """
    R = validate.unit_interval("radius", radius)
    policy = one_hot(mdp.cost)
    V = _nature(mdp, R, policy)
    Q, _, residual = _residual(mdp, R, V, None)
    while True:
        improved = one_hot(Q)
        next_V = _nature(mdp, R, improved)
        Q, _, next_residual = _residual(mdp, R, next_V, None)
        if not next_residual < residual:
            return _enclose(mdp, R, V, policy, minimise=True)
        policy, V, residual = improved, next_V, next_residual


def evaluate(mdp: MDP, radius: float, policy: ArrayLike) -> ClosedForm:
    """Q^pi and V^pi over the total-variation ball of the given radius."""
    pi = validate.policy(policy, mdp.n_states, mdp.n_actions)
    R = validate.unit_interval("radius", radius)
    return _enclose(mdp, R, _nature(mdp, R, pi), pi, minimise=False)


def _nature(mdp: MDP, R: float, policy: Floats) -> Floats:
    """The worst value of a policy: nature's policy iteration, until its residual stops falling."""
    V = policy_value(mdp, policy, mdp.gamma)
    _, _, residual = _residual(mdp, R, V, policy)
    while True:
        kernel = _attacked(mdp.P, centre(V)[0], R)
        next_V = policy_value(MDP(kernel, mdp.cost, mdp.gamma), policy, mdp.gamma)
        _, _, next_residual = _residual(mdp, R, next_V, policy)
        if not next_residual < residual:
            return V
        V, residual = next_V, next_residual


def _attacked(P: Floats, v: Floats, R: float) -> Floats:
    """The kernel that moves the mass R of least value to the state of greatest value."""
    order = np.argsort(v)
    p = P[..., order]
    kept = p - np.clip(R - (np.cumsum(p, axis=-1) - p), 0.0, p)
    result = np.empty_like(p)
    result[..., order] = kept
    result[..., order[-1]] += np.maximum(1.0 - kept.sum(axis=-1), 0.0)
    return result


def _dual(P: Floats, v: Floats, R: float) -> Floats:
    """R·max v + Σ p·max(v, η) − Rη at the level η where the cumulative mass passes R."""
    order = np.argsort(v)
    passed = np.cumsum(P[..., order], axis=-1) >= R
    level = v[order][np.where(passed.any(axis=-1), passed.argmax(axis=-1), len(v) - 1)]
    return R * v.max() + (P * np.maximum(v, level[..., None])).sum(axis=-1) - R * level


def _residual(mdp: MDP, R: float, V: Floats, policy: Floats | None) -> tuple[Floats, Floats, float]:
    """(Q from below, Q from above, max |TV − V|) at the centred V; policy None: the minimum over actions."""
    v, k = centre(V)
    low = mdp.cost + mdp.gamma * (_attacked(mdp.P, v, R) @ v)
    high = mdp.cost + mdp.gamma * _dual(mdp.P, v, R)
    shift = (1.0 - mdp.gamma) * k
    ends = [float(abs(_reduced(Q, policy) - v - shift).max()) for Q in (low, high)]
    return low, high, max(ends)


def _reduced(Q: Floats, policy: Floats | None) -> Floats:
    return Q.min(axis=1) if policy is None else (policy * Q).sum(axis=1)


def _enclose(mdp: MDP, R: float, V: Floats, policy: Floats, *, minimise: bool) -> ClosedForm:
    pi = None if minimise else policy
    gamma = mdp.gamma
    low, high, residual = _residual(mdp, R, V, pi)
    v, k = centre(V)
    x, size = float(abs(v).max()), float(max(abs(low).max(), abs(high).max()))
    backup_error = _U * ((16.0 * mdp.n_states + 32.0) * gamma * x + (4.0 * mdp.n_actions + 10.0) * size)
    rho = residual + backup_error + _U * (4.0 * (x + residual) + 3.0 * (1.0 - gamma) * abs(k))
    apart = float(abs(high - low).max())
    bound = rho / (1.0 - gamma) + apart + backup_error + 8.0 * _U * (size + abs(k))
    bound = _SLACK * bound + _TINY
    Q = 0.5 * (low + high) + gamma * k
    return ClosedForm(Certified(Q, bound, METHOD), Certified(v + k, bound, METHOD), policy)
