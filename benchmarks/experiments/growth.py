"""The growth rate of TDC for large theta decides whether TDC diverges in Figure 3, for each draw of the features.

For large theta the cost and the gap between smooth and true maximum are negligible, because they are bounded. The rest
of a step of TDC without projection is x ↦ A(s, s', k)x on x = (theta, omega), where k is the state with the largest
value at theta: a positively homogeneous random recursion that is driven by the chain of states. Its growth rate is the
mean of log(‖x'‖/‖x‖) per step along a long walk on which x is scaled back to length 1 (the largest Lyapunov exponent).
Below zero the recursion contracts on average, and the bounded terms keep theta bounded in probability; above zero theta
grows like exp(rate·t) once it is large. With projection nothing can grow, and a rate above zero means that theta stays
at the boundary of the ball.

Rates are multiplied by the horizon T: a rate of 7 means that the squared gradient is multiplied by e^14 in T steps. The
averaged recursion (`gradient.stability`) is stable for every draw that was tried, so it does not decide.

The growth is measured. The *mean square rate*, ½T log of the factor per step of E‖x‖², is certified
(`oracles/linear/second_moments.py`): for R = 0 it is that of TDC itself, for R > 0 that of the recursion with the
maximum held at the state at which it is most often.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.experiments.gradient import DIVERGED, features, objective, radius_and_discount, trajectory
from benchmarks.experiments.outcome import interval
from benchmarks.experiments.panel_environments import PanelEnvironments
from oracles.arithmetic.ball import Ball
from oracles.chains.chain import state_chain
from oracles.linear import second_moments
from robust_core import streams
from robust_core.kernels.jit import compiled
from robust_core.policy import uniform
from robust_core.validate import EPS, Floats, Ints

BLOCKS = 16
"""Blocks of T steps after the first, which is thrown away; their rates give the interval."""


@dataclass(frozen=True)
class Growth:
    """The growth of a learner over the horizon with a 99.9 % interval, and how many of its runs diverged.

    `growth` is the mean of log(‖x_T‖/‖x_0‖) of the homogeneous recursion; runs are looked at after T and `longer`·T
    steps. `held` is the state at which V is largest most often (none for R = 0), in the share `share` of the steps, and
    `mean_square` has certified bounds on the mean square rate with the maximum held there; the lower one may be
    missing.
    """

    panel: str
    draw: int
    learner: str
    growth: float
    interval: tuple[float, float]
    runs: int
    diverged: int
    longer: int
    diverged_later: int
    held: int | None
    share: float
    mean_square: tuple[float | None, float]

    @property
    def sign(self) -> int:
        """1 if the mean square is certified to grow, −1 if it is certified to shrink, 0 otherwise."""
        low, high = self.mean_square
        return 1 if low is not None and low > 0.0 else -1 if high < 0.0 else 0


@compiled
def walk(cumulative: Floats, uniforms: Floats) -> Ints:
    """The states of a chain from state 0, by inversion."""
    states = np.zeros(len(uniforms) + 1, dtype=np.int64)
    for t in range(len(uniforms)):
        row = cumulative[states[t]]
        states[t + 1] = min(np.searchsorted(row, uniforms[t], side="right"), len(row) - 1)
    return states


@compiled
def rates(
    phi: Floats, states: Ints, gamma: float, radius: float, alpha: float, beta: float, blocks: int, length: int
) -> tuple[Floats, Floats]:
    """log of the growth of ‖(theta, omega)‖ in each block of steps, and the share of steps with V largest at a state.

    The recursion is the homogeneous one; the first block counts for the growth only.
    """
    theta, omega = np.ones(phi.shape[1]), np.zeros(phi.shape[1])
    found, largest = np.zeros(blocks), np.zeros(len(phi))
    for t in range(blocks * length):
        here, there = phi[states[t]], phi[states[t + 1]]
        worst = (phi @ theta).argmax()
        if t >= length:
            largest[worst] += 1.0 / ((blocks - 1) * length)
        jump = gamma * ((1.0 - radius) * there + radius * phi[worst])
        delta, tracked = jump @ theta - here @ theta, here @ omega
        theta += alpha * (delta * here - tracked * jump)
        omega += beta * (delta - tracked) * here
        size = np.sqrt(theta @ theta + omega @ omega)
        theta /= size
        omega /= size
        found[t // length] += np.log(size)
    return found, largest


def growth_rates(environments: PanelEnvironments, learner: str, horizon: int) -> tuple[Floats, Floats]:
    """log of the growth of a learner in blocks of `horizon` steps, and how often V is largest at each state."""
    panel, phi, mdp = environments.panel, features(environments, 0), environments.training.mdp
    assert panel.beta is not None
    radius, gamma = radius_and_discount(panel, learner)
    kernel = state_chain(mdp, uniform(mdp.n_states, mdp.n_actions)).kernel
    seed = streams.key("growth", environments.training.name, environments.interpretation.features or 0)
    uniforms = streams.numpy_generator(seed).random((BLOCKS + 1) * horizon)
    states = walk(np.cumsum(kernel, axis=1), uniforms)
    found: Any = rates(phi, states, gamma, radius, panel.alpha, panel.beta, BLOCKS + 1, horizon)
    return np.asarray(found[0][1:]), np.asarray(found[1])


def mean_square_rate(
    environments: PanelEnvironments, learner: str, horizon: int, *, held: int | None
) -> tuple[float | None, float]:
    """Bounds on the mean square rate with the maximum held at a state (for R = 0 it plays no role)."""
    panel, phi, mdp = environments.panel, features(environments, 0), environments.training.mdp
    assert panel.beta is not None
    radius, gamma = radius_and_discount(panel, learner)
    chain = state_chain(mdp, uniform(mdp.n_states, mdp.n_actions))
    A = second_moments.steps(phi, gamma=gamma, radius=radius, alpha=panel.alpha, beta=panel.beta, held=held or 0)
    low, high = second_moments.growth(Ball.relative(chain.kernel, chain.log_error), A)
    most = math.log(high)
    upper = horizon / 2 * (most + 8.0 * EPS * abs(most))
    if low <= 0.0:
        return None, upper
    least = math.log(low)
    return horizon / 2 * (least - 8.0 * EPS * abs(least)), upper


def growth_of(environments: PanelEnvironments, learner: str, horizon: int, *, runs: int, longer: int) -> Growth:
    """The growth of a learner, and its runs on the panel's own walks."""
    blocks, largest = growth_rates(environments, learner, horizon)
    held = int(largest.argmax()) if learner == "robust" else None
    counts = np.zeros(2, dtype=int)
    for replicate in range(runs):
        thetas = trajectory(environments, learner, replicate, [horizon, longer * horizon])
        counts += objective(environments, learner, replicate).squared_norm(thetas) > DIVERGED
    return Growth(
        environments.panel.id,
        environments.interpretation.features or 0,
        learner,
        float(blocks.mean()),
        interval(blocks),
        runs,
        int(counts[0]),
        longer,
        int(counts[1]),
        held,
        1.0 if held is None else float(largest[held]),
        mean_square_rate(environments, learner, horizon, held=held),
    )
