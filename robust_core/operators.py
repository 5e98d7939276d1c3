"""The robust Bellman operators (Sections 2 and 5) and the greedy policy."""

import numpy as np
from numpy.typing import ArrayLike

from robust_core import validate
from robust_core.mdp import MDP
from robust_core.s_rectangular import policy_values, state_values
from robust_core.sets import SRectangular, UncertaintySet
from robust_core.smoothing import Smoothing
from robust_core.support_functions import support
from robust_core.validate import Floats


def bellman(mdp: MDP, uncertainty_set: UncertaintySet, Q: ArrayLike) -> Floats:
    """(TQ)(s,a) = c(s,a) + gamma sigma_{P_s^a}(V), V(s) = min_a Q(s,a).

    A gamma-contraction in the sup norm whose fixed point is Q* (Theorem 1).

    >>> from robust_core.sets import Contamination
    >>> mdp = MDP([[[0.5, 0.5]], [[0.0, 1.0]]], [[1.0], [0.0]], 0.5)
    >>> bellman(mdp, Contamination(0.5), [[2.0], [0.0]])
    array([[1.75],
           [0.5 ]])
    """
    validate.instance("mdp", mdp, MDP)
    table = validate.array("Q", Q, shape=(mdp.n_states, mdp.n_actions))
    with np.errstate(over="ignore"):
        return _finite("TQ", mdp.cost + mdp.gamma * support(mdp, uncertainty_set, table.min(axis=1)))


def bellman_values(mdp: MDP, uncertainty_set: UncertaintySet, V: ArrayLike) -> Floats:
    """(TV)(s) = min_pi max_q Σ_a pi_a q_a·(c(s,a) + gamma V), for every set; fixed point V*.

    For an (s,a)-rectangular set that is min_a of `bellman`; for an s-rectangular one the policy may have to be random.

    >>> from robust_core.sets import L1, SRectangularL1
    >>> mdp = MDP([[[1.0, 0.0], [1.0, 0.0]], [[0.0, 1.0]] * 2], [[0.0, 0.0], [1.0, 1.0]], 0.5)
    >>> bellman_values(mdp, L1(1.0), [0.0, 2.0]), bellman_values(mdp, SRectangularL1(1.0), [0.0, 2.0])
    (array([0.5, 2. ]), array([0.25, 2.  ]))
    """
    if isinstance(uncertainty_set, SRectangular):
        with np.errstate(over="ignore", invalid="ignore"):
            return _finite("TV", state_values(mdp, uncertainty_set, V))
    validate.instance("mdp", mdp, MDP)
    values = validate.array("V", V, shape=(mdp.n_states,))
    return bellman(mdp, uncertainty_set, np.repeat(values[:, None], mdp.n_actions, axis=1)).min(axis=1)


def bellman_policy(mdp: MDP, uncertainty_set: UncertaintySet, policy: ArrayLike, V: ArrayLike) -> Floats:
    """(T_pi V)(s) = E_{A~pi}[c(s,A) + gamma sigma_{P_s^A}(V)] (eq:bellman op); fixed point V^pi.

    For an s-rectangular set nature divides the budget of a state: max over q of Σ_a pi_a q_a·(c(s,a) + gamma V).

    >>> from robust_core.sets import SRectangularL1
    >>> mdp = MDP([[[1.0, 0.0], [1.0, 0.0]], [[0.0, 1.0]] * 2], [[0.0, 0.0], [1.0, 1.0]], 0.5)
    >>> bellman_policy(mdp, SRectangularL1(1.0), [[0.5, 0.5], [1.0, 0.0]], [0.0, 2.0])
    array([0.25, 2.  ])
    """
    validate.instance("mdp", mdp, MDP)
    pi = validate.policy(policy, mdp.n_states, mdp.n_actions)
    values = validate.array("V", V, shape=(mdp.n_states,))
    with np.errstate(over="ignore", invalid="ignore"):
        if isinstance(uncertainty_set, SRectangular):
            return _finite("T_pi V", policy_values(mdp, uncertainty_set, pi, values))
        backup = mdp.cost + mdp.gamma * support(mdp, uncertainty_set, values)
        return _finite("T_pi V", np.einsum("sa,sa->s", pi, backup))


def smoothed_bellman_policy(mdp: MDP, radius: float, smoothing: Smoothing, policy: ArrayLike, V: ArrayLike) -> Floats:
    """T̂_pi: contamination with the maximum replaced by a smooth one (Section 5).

    (T̂_pi V)(s) = E_{A~pi}[c(s,A) + gamma (1−R) Σ p(s'|s,A) V(s') + gamma R smooth-max(V)].
    """
    validate.instance("mdp", mdp, MDP)
    pi = validate.policy(policy, mdp.n_states, mdp.n_actions)
    R = validate.unit_interval("radius", radius)
    values = validate.array("V", V, shape=(mdp.n_states,))
    if not isinstance(smoothing, Smoothing):
        raise TypeError(f"smoothing must be LogSumExp or Mellowmax, got {smoothing!r}")
    worst = smoothing.value(values)
    with np.errstate(over="ignore", invalid="ignore"):
        backup = mdp.cost + mdp.gamma * (1.0 - R) * mdp.expectation(values) + mdp.gamma * R * worst
        return _finite("smoothed T_pi V", np.einsum("sa,sa->s", pi, backup))


def _finite(name: str, values: Floats) -> Floats:
    if not np.isfinite(values).all():
        raise OverflowError(f"{name} leaves the range of float64: rescale the cost")
    return values
