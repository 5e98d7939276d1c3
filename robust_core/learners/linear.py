"""Linear evaluation: robust TDC (Algorithm 2) and robust GTD2; R = 0 gives the vanilla algorithms.

With V_theta = Phi theta, a smooth maximum smax (LSE in the paper) and its gradient in theta,

    delta_t = c_t + gamma (1−R) V(s') + gamma R smax(V) − V(s)
    g_t     = gamma ((1−R) phi_{s'} + R Phiᵀ ∇smax(V))
    TDC     theta ← Π_K(theta + alpha (delta_t phi_s − g_t (phi_sᵀ omega)))
    GTD2    theta ← Π_K(theta + alpha (phi_s − g_t) (phi_sᵀ omega))
    both    omega ← Π_K(omega + beta (delta_t − phi_sᵀ omega) phi_s)

On a terminal transition V(s') = 0 and phi_{s'} = 0, and smax V stays ("nature stays" in `robust_core.ends`). This
module is the specification in plain numpy; `learn` runs the compiled form, equal step by step within the rounding of
its exponentials and sums.
"""

import math
from typing import Literal

import numpy as np

from robust_core import streams, validate
from robust_core.problem import Problem
from robust_core.sets import Contamination
from robust_core.trajectory import Transition, Walk, valid_transition
from robust_core.validate import Floats

LinearRule = Literal["TDC", "GTD2"]


def td_error(cost: float, value: float, following: float, worst: float, *, gamma: float, R: float) -> float:
    """delta_t = c_t + gamma (1−R) V(s') + gamma R smax(V) − V(s).

    `value`: V(s). `following`: V(s'), 0 after a terminal state. `worst`: smax(V).

    >>> td_error(0.5, 1.0, 2.0, 4.0, gamma=0.5, R=0.5)
    1.0
    """
    return cost + gamma * (1.0 - R) * following + gamma * R * worst - value


def target_gradient(phi_next: Floats, phi_worst: Floats, *, gamma: float, R: float) -> Floats:
    """g_t = gamma ((1−R) phi_{s'} + R Phiᵀ ∇smax(V)), the gradient in theta of delta_t + V(s).

    `phi_next`: phi_{s'}, 0 after a terminal state. `phi_worst`: Phiᵀ ∇smax(V).
    """
    return gamma * ((1.0 - R) * phi_next + R * phi_worst)


def tdc(
    theta: Floats, omega: Floats, phi: Floats, delta: float, g: Floats, *, alpha: float, beta: float, K: float
) -> tuple[Floats, Floats]:
    """theta and omega after a step of Algorithm 2 (TDC) from a state with features `phi`."""
    tracked = phi @ omega
    return (
        project(theta + alpha * (delta * phi - g * tracked), K),
        project(omega + beta * (delta - tracked) * phi, K),
    )


def gtd2(
    theta: Floats, omega: Floats, phi: Floats, delta: float, g: Floats, *, alpha: float, beta: float, K: float
) -> tuple[Floats, Floats]:
    """theta and omega after a step of GTD2 from a state with features `phi`."""
    tracked = phi @ omega
    return (
        project(theta + alpha * ((phi - g) * tracked), K),
        project(omega + beta * (delta - tracked) * phi, K),
    )


def project(x: Floats, radius: float) -> Floats:
    """Π_K: the nearest point of the ball of the given radius (infinite: x itself).

    >>> project(np.array([3.0, 4.0]), 1.0)
    array([0.6, 0.8])
    """
    norm = math.hypot(*x)  # safe where squares overflow or underflow
    return x * (radius / norm) if norm > radius else x


class LinearLearner:
    """Algorithm 2 (or GTD2) at work on a problem; the state is (theta, omega) and t."""

    def __init__(self, rule: LinearRule, problem: Problem) -> None:
        if rule not in ("TDC", "GTD2"):
            raise ValueError(f"rule must be 'TDC' or 'GTD2', got {rule!r}")
        validate.instance("problem", problem, Problem)
        if not isinstance(problem.uncertainty_set, Contamination):
            raise TypeError(f"{rule} is for contamination sets, got {problem.uncertainty_set!r}")
        if problem.uncertainty_set.pairs:
            raise ValueError(f"{rule} needs one radius for all pairs (s, a), got {problem.uncertainty_set!r:.80}")
        if problem.features is None or problem.smoothing is None or problem.second_step_size is None:
            raise ValueError(f"{rule} needs features, smoothing and second_step_size in its problem")
        if "visits" in (problem.step_size.clock, problem.second_step_size.clock):
            raise ValueError(f"{rule} has no visit counts: its step sizes are constant or count steps")
        self.rule: LinearRule = rule
        self.problem = problem
        self.features: Floats = problem.features
        self.smoothing = problem.smoothing
        self.second_step_size = problem.second_step_size
        self.radius = problem.uncertainty_set.radius
        start = problem.initial
        theta, omega = start if isinstance(start, tuple) else (start, np.zeros_like(start))
        self.theta, self.omega = (project(x.copy(), problem.projection) for x in (theta, omega))
        self.t = 0

    def update(self, transition: Transition) -> None:
        """One step of the algorithm, in plain numpy."""
        s, _, cost, s_next, _, terminal = valid_transition(transition)
        for name, state in (("s", s), ("s_next", s_next)):
            validate.index(name, state, self.problem.n_states)
        with np.errstate(over="ignore", invalid="ignore"):
            self._step(s, cost, s_next, terminal)
        self._require_finite(self.theta, self.omega)

    def _step(self, s: int, cost: float, s_next: int, terminal: bool) -> None:
        discounts = {"gamma": self.problem.gamma, "R": self.radius}
        V = self.features @ self.theta
        self._require_finite(V)
        phi = self.features[s]
        following, phi_next = (0.0, np.zeros_like(phi)) if terminal else (V[s_next], self.features[s_next])
        worst, shares = self.smoothing.value_and_gradient(V)
        delta = td_error(cost, V[s], following, worst, **discounts)
        g = target_gradient(phi_next, shares @ self.features, **discounts)
        alpha, beta = self.problem.step_size.at(self.t), self.second_step_size.at(self.t)
        step = tdc if self.rule == "TDC" else gtd2
        self.theta, self.omega = step(
            self.theta, self.omega, phi, delta, g, alpha=alpha, beta=beta, K=self.problem.projection
        )
        self.t += 1

    def estimate(self) -> tuple[Floats, Floats]:
        """Copies of (theta, omega)."""
        return self.theta.copy(), self.omega.copy()

    def require_fit(self, walk: Walk) -> None:
        """Raise unless the walk is one on states of this learner."""
        validate.instance("walk", walk, Walk)
        if self.problem.n_states != walk.mdp.n_states:
            raise ValueError(f"the learner has S={self.problem.n_states}, the walk S={walk.mdp.n_states}")

    def _require_finite(self, *vectors: Floats) -> None:
        if not all(np.isfinite(x).all() for x in vectors):
            raise OverflowError(f"{self.rule} diverged beyond float64 before step {self.t}: project or step less")


def learn(learner: LinearLearner, walk: Walk, steps: int) -> None:
    """Advance walk and learner together by `steps` transitions (compiled)."""
    from robust_core.kernels import linear as compiled

    learner.require_fit(walk)
    compiled.learn(learner, walk, validate.count("steps", steps))
    learner._require_finite(learner.theta, learner.omega)


def learn_plain(learner: LinearLearner, walk: Walk, steps: int) -> None:
    """The same in plain Python: the specification of `learn`."""
    learner.require_fit(walk)
    for transition in walk.steps(validate.count("steps", steps)):
        learner.update(transition)


def stopping_time(horizon: int, seed: bytes) -> int:
    """W ~ Uniform{0, …, T−1} (Algorithm 2, line 1); theta_W is the output.

    >>> stopping_time(1, streams.key("any"))
    0
    """
    T = validate.count("horizon", horizon, least=1)
    return int(streams.numpy_generator(seed).integers(T))
