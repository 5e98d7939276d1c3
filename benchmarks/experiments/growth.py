"""What decides whether TDC diverges in Figure 3: the growth of its recursion far out, for each draw of the features.

Far out the cost and the gap between smooth and true maximum, which are bounded, do not count. What is left of a step of
TDC without projection is x ↦ A(s, s', s*)x on x = (theta, omega), where s* is the state with the largest value at
theta: a positively homogeneous random recursion, driven by the chain of states. Its growth rate, the mean of
log(‖x'‖/‖x‖) per step along a long walk on which x is scaled back to length 1 (the largest Lyapunov exponent), decides:
below zero the recursion contracts on average and the bounded terms keep theta bounded in probability; above zero theta
grows like exp(rate·t) once it is large. With projection nothing can grow, and a rate above zero means that theta is
held at the boundary of the ball.

Rates are multiplied by the horizon T: a rate of 7 means that the squared gradient is multiplied by e^14 in T steps. The
averaged recursion (`gradient.stability`) is stable for every draw that was tried and decides nothing.

The growth is measured. Beside it stands the *mean square rate*, ½T log of the factor per step of E‖x‖², which is
certified (`oracles/linear/second_moments.py`): for R = 0 of TDC itself, for R > 0 of the recursion with the maximum
held at one state, the largest over all states (`mean_square_rate`).
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
    steps.
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
) -> Floats:
    """log of the growth of ‖(theta, omega)‖ in each block of steps of the homogeneous recursion."""
    theta, omega = np.ones(phi.shape[1]), np.zeros(phi.shape[1])
    found = np.zeros(blocks)
    for t in range(blocks * length):
        here, there = phi[states[t]], phi[states[t + 1]]
        worst = (phi @ theta).argmax()
        jump = gamma * ((1.0 - radius) * there + radius * phi[worst])
        delta, tracked = jump @ theta - here @ theta, here @ omega
        theta += alpha * (delta * here - tracked * jump)
        omega += beta * (delta - tracked) * here
        size = np.sqrt(theta @ theta + omega @ omega)
        theta /= size
        omega /= size
        found[t // length] += np.log(size)
    return found


def growth_rates(environments: PanelEnvironments, learner: str, horizon: int, *, blocks: int = BLOCKS) -> Floats:
    """log of the growth of a learner in blocks of `horizon` steps, for the draw of the environments."""
    panel, phi, mdp = environments.panel, features(environments, 0), environments.training.mdp
    assert panel.beta is not None
    radius, gamma = radius_and_discount(panel, learner)
    kernel = state_chain(mdp, uniform(mdp.n_states, mdp.n_actions)).kernel
    seed = streams.key("growth", environments.training.name, environments.interpretation.features or 0)
    uniforms = streams.numpy_generator(seed).random((blocks + 1) * horizon)
    states = walk(np.cumsum(kernel, axis=1), uniforms)
    found: Any = rates(phi, states, gamma, radius, panel.alpha, panel.beta, blocks + 1, horizon)
    return np.asarray(found[1:])


def mean_square_rate(
    environments: PanelEnvironments, learner: str, horizon: int
) -> tuple[tuple[float, float], int | None]:
    """Bounds on the largest mean square rate, over the states at which the maximum is held.

    The state is that of the largest lower bound.
    """
    panel, phi, mdp = environments.panel, features(environments, 0), environments.training.mdp
    assert panel.beta is not None
    radius, gamma = radius_and_discount(panel, learner)
    chain = state_chain(mdp, uniform(mdp.n_states, mdp.n_actions))
    kernel = Ball.relative(chain.kernel, chain.log_error)
    found = []
    for held in range(mdp.n_states if radius > 0.0 else 1):
        A = second_moments.steps(phi, gamma=gamma, radius=radius, alpha=panel.alpha, beta=panel.beta, held=held)
        low, high = second_moments.growth(kernel, A)
        least, most = math.log(low) if low > 0.0 else -math.inf, math.log(high)
        found.append((horizon / 2 * (least - 8.0 * EPS * abs(least)), horizon / 2 * (most + 8.0 * EPS * abs(most))))
    largest = max(range(len(found)), key=found.__getitem__)
    bounds = found[largest][0], max(high for _, high in found)
    return bounds, largest if radius > 0.0 else None


def growth_of(environments: PanelEnvironments, learner: str, horizon: int, *, runs: int, longer: int) -> Growth:
    """The growth of a learner, and its runs on the panel's own walks."""
    blocks = growth_rates(environments, learner, horizon)
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
    )
