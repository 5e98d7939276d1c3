"""R-contamination without a robust backup: an ordinary MDP at discount b = γ(1−R), plus a constant.

Insert V = W + k into V = min_a [c + γ(1−R)PV + γR·max V]: the common term leaves W = min_a [c + bPW] for
k(1−b) = γR(max W + k), that is k = γR·max W/(1−γ). The same holds for Q, for a fixed policy, and with LSE or
mellow-max for max, because they too satisfy m(W+k) = m(W) + k.

W comes from Howard's policy iteration with direct linear solves, the bound from its residual. With T the operator
at discount b and ρ = TW − W, |W − W*| <= max|ρ|/(1−b); hence c + bPW is off by b times that and the constant by
γR/(1−γ) times that, together at most max|ρ|/(1−γ).

**Rounding** (u = 2⁻⁵³). The iterate is W = w + k with w centred, so ρ = Tw − w − (1−b)k. A row of n entries stands
for the row over its sum, which is 1 ± (3n+4)u; so fl(c + bPw) errs by (4n + 10)u·b·max|w| + 2u of the result y,
the average over A actions by (4A + 8)u·max|y| more. fl(1−b) errs by 4u, so ρ by 5u|k| more and by 4u(max|w| +
max|ρ|) for its own subtractions; the constant and the last additions err by less than 16u of their sizes.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from oracles.arithmetic.certified import Certified
from oracles.planning.direct import centre, one_hot, policy_value, row_means
from robust_core import validate
from robust_core.mdp import MDP
from robust_core.validate import Floats

METHOD = "contamination closed form with direct solves"
_U = 2.0**-53
_SLACK = 1.01  # terms of second order, and the rounding of the bound itself
_LIBM = 8.0  # units by which exp or log may err
_TINY = 2.0**-1000  # gradual underflow


@dataclass(frozen=True, eq=False)
class ClosedForm:
    """Q and V of a contamination model, and the policy they belong to."""

    Q: Certified
    V: Certified
    policy: Floats


def solve(mdp: MDP, radius: float) -> ClosedForm:
    """Q* and V* under R-contamination (eq:uncertainset), as accurate as direct solves make them.

    >>> mdp = MDP([[[0.5, 0.5]], [[0.0, 1.0]]], [[1.0], [0.0]], 0.5)
    >>> solve(mdp, 0.5).V.agrees_with(Certified(np.array([12 / 7, 4 / 7]), 2.0**-53, "by hand"))
    True
    """
    R = validate.unit_interval("radius", radius)
    b = mdp.gamma * (1.0 - R)
    policy = one_hot(mdp.cost)
    W = policy_value(mdp, policy, b)
    Q, residual = _residual(mdp, W, b)
    while True:
        # Howard's iteration improves the value until only rounding is left to improve.
        improved = one_hot(Q)
        next_W = policy_value(mdp, improved, b)
        Q, next_residual = _residual(mdp, next_W, b)
        if not next_residual < residual:
            return _enclose(mdp, R, W, policy, minimise=True)
        policy, W, residual = improved, next_W, next_residual


def _residual(mdp: MDP, W: Floats, b: float) -> tuple[Floats, float]:
    """(c + bPw for the centred W, max |TW − W|)."""
    w, k = centre(W)
    Q = mdp.cost + b * row_means(mdp, w)
    return Q, float(abs(Q.min(axis=1) - w - (1.0 - b) * k).max())


def evaluate(mdp: MDP, radius: float, policy: ArrayLike) -> ClosedForm:
    """Q^pi and V^pi under R-contamination (eq:bellman op).

    >>> evaluate(MDP([[[1.0]]], [[1.0]], 0.5), 0.5, [[1.0]]).V.value
    array([2.])
    """
    pi = validate.policy(policy, mdp.n_states, mdp.n_actions)
    R = validate.unit_interval("radius", radius)
    return _enclose(mdp, R, policy_value(mdp, pi, mdp.gamma * (1.0 - R)), pi, minimise=False)


def smoothed_fixed_point(
    mdp: MDP, radius: float, policy: ArrayLike, varrho: float, *, mellowmax: bool = False
) -> Certified:
    """The fixed point of the smoothed operator: W + γR/(1−γ)·LSE(W), or mellow-max for LSE.

    >>> smoothed_fixed_point(MDP([[[1.0]]], [[1.0]], 0.5), 0.5, [[1.0]], 10.0).value.round(9)
    array([2.])
    """
    pi = validate.policy(policy, mdp.n_states, mdp.n_actions)
    R = validate.unit_interval("radius", radius)
    rho = validate.positive("varrho", varrho)
    W = policy_value(mdp, pi, mdp.gamma * (1.0 - R))
    return _enclose(mdp, R, W, pi, minimise=False, soft=(rho, mellowmax)).V


def _enclose(
    mdp: MDP, R: float, W: Floats, policy: Floats, *, minimise: bool, soft: tuple[float, bool] | None = None
) -> ClosedForm:
    """The shifted values with the bound that the residual of W gives."""
    gamma, b = mdp.gamma, mdp.gamma * (1.0 - R)
    w, k = centre(W)
    Q = mdp.cost + b * row_means(mdp, w)
    reduced = Q.min(axis=1) if minimise else (policy * Q).sum(axis=1)
    size, size_w = float(abs(Q).max()), float(abs(w).max())
    longest = float(np.diff(mdp.rows.offsets).max()) if mdp.is_sparse else float(mdp.n_states)
    backup_error = _U * ((4.0 * longest + 10.0) * b * size_w + (4.0 * mdp.n_actions + 10.0) * size)
    residual = float(abs(reduced - w - (1.0 - b) * k).max())
    rho = residual + backup_error + _U * (5.0 * abs(k) + 4.0 * (size_w + residual))
    m, m_error = _common(w, soft)
    constant = b * k + gamma * R * (m + k) / (1.0 - gamma)
    sizes = size + abs(k) + gamma * R * (abs(m) + abs(k)) / (1.0 - gamma)
    bound = (rho + gamma * R * m_error) / (1.0 - gamma) + backup_error + 16.0 * _U * sizes
    bound = _SLACK * bound + _TINY
    return ClosedForm(Certified(Q + constant, bound, METHOD), Certified(reduced + constant, bound, METHOD), policy)


def _common(w: Floats, soft: tuple[float, bool] | None) -> tuple[float, float]:
    """(m(w), its rounding error): the maximum or, for soft = (varrho, mellowmax), its smooth stand-in.

    An exponent t errs by 2u|t|, its exponential by 8u more, and |t|eᵗ < 1/e, so a sum of n terms, at least 1 and
    rounded once, errs relatively by (n + 9)u; its logarithm by 8u more; then come a division and two additions.
    """
    top = float(w.max())
    if soft is None:
        return top, 0.0
    varrho, mellowmax = soft
    log_sum = math.log(math.fsum(math.exp(varrho * (value - top)) for value in w.tolist()))
    log_n = math.log(len(w)) if mellowmax else 0.0
    error = _U * ((len(w) + 9.0 + (_LIBM + 4.0) * (log_sum + log_n)) / varrho + 4.0 * abs(top))
    return top + (log_sum - log_n) / varrho, error
