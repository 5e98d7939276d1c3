"""Compiled loops of CartPole with its own equations: training transitions and test trajectories, seen through cells."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.experiments.panel_environments import START
from robust_core.environments import (
    ANGLE_LIMIT,
    CART_LIMIT,
    CART_MASS,
    FORCE,
    GRAVITY,
    HALF_LENGTH,
    POLE_MASS,
    TIME_STEP,
)
from robust_core.kernels.jit import compiled
from robust_core.validate import Floats, Ints

MASS = CART_MASS + POLE_MASS


@compiled
def step(state: Floats, action: int) -> None:
    """One Euler step of the cart-pole equations, in place (position, speed, angle, angular speed)."""
    x, speed, angle, spin = state
    force = FORCE if action == 1 else -FORCE
    cos, sin = np.cos(angle), np.sin(angle)
    drive = (force + POLE_MASS * HALF_LENGTH * spin * spin * sin) / MASS
    spin_up = (GRAVITY * sin - cos * drive) / (HALF_LENGTH * (4.0 / 3.0 - POLE_MASS * cos * cos / MASS))
    acceleration = drive - POLE_MASS * HALF_LENGTH * spin_up * cos / MASS
    state[0] = x + TIME_STEP * speed
    state[1] = speed + TIME_STEP * acceleration
    state[2] = angle + TIME_STEP * spin
    state[3] = spin + TIME_STEP * spin_up


@compiled
def cell(state: Floats, limits: Floats, counts: Ints) -> int:
    """The number of the state's cell; the number after the last if the pole has fallen or the cart has left."""
    place, total = 0, 1
    for i in range(4):
        width = 2.0 * limits[i] / counts[i]
        k = int(np.floor((state[i] + limits[i]) / width))
        place = place * counts[i] + min(max(k, 0), counts[i] - 1)
        total *= counts[i]
    fallen = abs(state[0]) > CART_LIMIT or abs(state[2]) > ANGLE_LIMIT
    return total if fallen else place


@compiled
def reset(state: Floats, rng: Any) -> None:
    """A start as Gymnasium draws it."""
    for i in range(4):
        state[i] = START * (2.0 * rng.random() - 1.0)


@compiled
def jump(state: Floats, limits: Floats, counts: Ints, rng: Any) -> int:
    """A jump to a state of the grid drawn uniformly (the fallen one among them) and to a point drawn in its cell."""
    total = counts[0] * counts[1] * counts[2] * counts[3]
    place = min(int(rng.random() * (total + 1)), total)
    rest = place
    for j in range(4):
        i = 3 - j
        width = 2.0 * limits[i] / counts[i]
        state[i] = -limits[i] + (rest % counts[i] + rng.random()) * width
        rest //= counts[i]
    return place


@compiled
def walk(
    state: Floats,
    limits: Floats,
    counts: Ints,
    p: float,
    rng: Any,
    s: Ints,
    a: Ints,
    cost: Floats,
    s_next: Ints,
    terminal: NDArray[np.bool_],
) -> None:
    """Transitions of the uniform policy; with probability p a step, paid as it was, ends in a jump."""
    total = counts[0] * counts[1] * counts[2] * counts[3]
    for t in range(s.size):
        s[t] = cell(state, limits, counts)
        a[t] = 1 if rng.random() < 0.5 else 0
        step(state, a[t])
        reached = cell(state, limits, counts)
        cost[t] = 0.0 if reached == total else -1.0
        if rng.random() < p:
            reached = jump(state, limits, counts, rng)
        s_next[t] = reached
        terminal[t] = reached == total
        if terminal[t]:
            reset(state, rng)


@compiled
def returns(policies: Ints, starts: Floats, limits: Floats, counts: Ints, gamma: float, horizon: int) -> Floats:
    """The discounted reward of every policy from every start: 1 for every step after which the pole stands."""
    total = counts[0] * counts[1] * counts[2] * counts[3]
    result = np.zeros((len(policies), len(starts)))
    state = np.zeros(4)
    for i in range(len(policies)):
        for j in range(len(starts)):
            state[:] = starts[j]
            place, weight = cell(state, limits, counts), 1.0
            for _ in range(horizon):
                step(state, policies[i, place])
                place = cell(state, limits, counts)
                if place == total:
                    break
                result[i, j] += weight
                weight *= gamma
    return result
