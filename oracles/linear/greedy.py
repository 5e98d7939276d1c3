"""J of control with features of pairs (Greedy-GQ), from the model.

With Q = psi·theta, V(s) = min_a Q(s,a) and (s,a) under the stationary distribution of a behaviour,

    delta = c + gamma(1−R)V(s') + gamma R·LSE(V) − Q(s,a),   C = E[psi psiᵀ],   J = E[delta psi]ᵀ C⁻¹ E[delta psi].

It is the J of `msprbe` on the chain of pairs, but for the values that follow: near a theta at which every best action
is unique they are those of fixed pairs (s, a*(s)), so V, LSE(V) and M have the same formulas with the features of these
pairs. Where best actions tie J has one-sided slopes only; `is_smooth` says where that may be so.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from oracles.arithmetic.ball import UNIT, Ball
from oracles.linear.msprbe import MSPRBE, Smoothing
from robust_core import validate
from robust_core.mdp import MDP
from robust_core.validate import Floats, Ints

APART = 2.0**-20
"""Best actions count as unique where the others are further away than this part of the largest value."""


class GreedyMSPRBE(MSPRBE):
    """J for one model, behaviour and array of features (S, A, N).

    >>> mdp = MDP([[[0.5, 0.5], [1, 0]], [[0.25, 0.75], [0, 1]]], [[1.0, 0.0], [0.0, 2.0]], 0.5)
    >>> features = [[[1.0], [0.5]], [[0.25], [-1.0]]]
    >>> problem = GreedyMSPRBE(mdp, [[0.5, 0.5]] * 2, features, radius=0.25, varrho=2.0)
    >>> one, other = problem.complex_gradient([0.5]), problem.gradient([0.5])
    >>> bool(abs(one.value[0] - other.value[0]) <= one.error_bound + other.error_bound), problem.is_smooth([0.0])
    (True, False)
    """

    def __init__(
        self,
        mdp: MDP,
        behaviour: ArrayLike,
        features: ArrayLike,
        *,
        radius: float,
        varrho: float,
        smoothing: Smoothing = "lse",
    ) -> None:
        S, A = mdp.n_states, mdp.n_actions
        self.psi = validate.array("features", features, shape=(S, A, None))
        rows = validate.policy(behaviour, S, A)
        pairs = (mdp.P[:, :, :, None] * rows).reshape(S * A, 1, S * A)
        super().__init__(
            MDP(pairs, mdp.cost.reshape(-1, 1), mdp.gamma),
            np.ones((S * A, 1)),
            self.psi.reshape(S * A, -1),
            radius=radius,
            varrho=varrho,
            smoothing=smoothing,
        )
        # The products round; a stationary distribution is a ratio of sums of products of n − 1 entries of the kernel.
        self.mu_log_error += 4 * S * A * UNIT
        self._rows = Ball.relative(mdp.P.reshape(S * A, S), 2 * (S + 1) * UNIT)

    def greedy(self, theta: ArrayLike) -> Ints:
        """A best action in every state."""
        return np.asarray((self.psi @ self._theta(theta)).argmin(axis=1))

    def is_smooth(self, theta: ArrayLike) -> bool:
        """Whether all best actions are unique by a margin, but for actions with the same features."""
        Q, best = self.psi @ self._theta(theta), self.greedy(theta)
        states = np.arange(len(best))
        margin = APART * float(np.abs(Q).max())
        others = (self.psi != self.psi[states, best][:, None, :]).any(axis=2)
        return not bool((others & (Q - Q[states, best][:, None] <= margin)).any())

    def _top(self, theta: Floats) -> Floats:
        """The features of the greedy pairs, a row for each state."""
        best = self.greedy(theta)
        return np.asarray(self.psi[np.arange(len(best)), best])

    def _moment(self, theta: Floats) -> tuple[Ball, Ball]:
        point = Ball.exact(theta)
        V = Ball.exact(self._top(theta)) @ point
        smooth, softmax = self._smoothed_max(V)
        residual = self._cost + self._nominal * (self._rows @ V) + self._worst * smooth - self._Phi @ point
        return self._weighted @ residual, softmax

    def _slope(self, theta: Floats, softmax: Ball) -> Ball:
        top = Ball.exact(self._top(theta))
        successor = (self._rows @ top).T @ self._weighted.T
        g = top.T @ softmax
        return self._nominal * successor + self._worst * (g[:, None] * self._mean_phi[None, :]) - self._C

    def _complex_parts(self, theta: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """The minimum of Q by its real part: no pair is fixed beforehand."""
        Q = self.psi @ theta
        V = np.take_along_axis(Q, Q.real.argmin(axis=1)[:, None], axis=1)[:, 0]
        shift = V.real.max()
        weights = np.exp(self.varrho * (V - shift))
        smooth = shift + np.log(weights.sum()) / self.varrho
        if self.smoothing == "mellowmax":
            smooth = smooth - np.log(len(V)) / self.varrho
        gamma, R = self.mdp.gamma, self.radius
        residual = self.mdp.cost[:, 0] + gamma * (1 - R) * (self._rows.mid @ V) + gamma * R * smooth - Q.reshape(-1)
        return (self.features.T * self.mu) @ residual, weights / weights.sum()
