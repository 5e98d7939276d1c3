"""Robust TDC against C with vectorised exponentials and against numpy, both on a walk that is recorded before."""

import ctypes
import math
from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks.speed import c_peer
from benchmarks.speed.q_learning import _pointer
from benchmarks.speed.timing import Measurement, at_least, at_most, best_times
from robust_core import MDP, Contamination, LinearLearner, LogSumExp, Problem, Walk, constant, key, uniform
from robust_core.learners.linear import learn
from robust_core.models import garnet
from robust_core.streams import numpy_generator

N_FEATURES, RADIUS, GAMMA, VARRHO, ALPHA, BETA, PROJECTION = 8, 0.2, 0.9, 5.0, 1e-3, 1e-2, 10.0
LEAST = {16: 100, 1_000: 4}
STATE_STEPS, NUMPY_STEPS = 1_600_000, 1_000


def _learner(mdp: MDP) -> tuple[LinearLearner, Walk]:
    S, A = mdp.n_states, mdp.n_actions
    features = numpy_generator(key("speed", "features", S)).standard_normal((S, N_FEATURES))
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    problem = Problem.of(
        mdp,
        Contamination(RADIUS),
        step_size=constant(ALPHA),
        second_step_size=constant(BETA),
        initial=np.ones(N_FEATURES),
        features=features,
        smoothing=LogSumExp(VARRHO),
        projection=PROJECTION,
    )
    return LinearLearner("TDC", problem), Walk(mdp, uniform(S, A), seed=key("speed"))


def _c_run(mdp: MDP, n: int) -> Callable[[], None] | None:
    library = c_peer.library("tdc.c")
    if library is None:
        return None
    learner, walk = _learner(mdp)
    S = mdp.n_states
    recording = walk.record(n)
    arrays = [recording.s, recording.s_next, recording.cost]
    state = [learner.theta, learner.omega, learner.features, np.ascontiguousarray(learner.features.T)]
    scratch = [np.empty(S), np.empty(S)]
    numbers = [VARRHO, GAMMA * RADIUS, GAMMA * (1.0 - RADIUS), ALPHA, BETA, PROJECTION]
    arguments = [
        *map(_pointer, arrays), ctypes.c_size_t(n), *map(_pointer, [*state, *scratch]), ctypes.c_size_t(S),
        ctypes.c_size_t(N_FEATURES), *map(ctypes.c_double, numbers),
    ]  # fmt: skip
    keep = (arrays, state, scratch)  # the pointers must outlive the closure

    def work() -> None:
        library.tdc(*arguments)
        assert keep

    return work


def numpy_steps(learner: LinearLearner, walk: Walk, n: int) -> tuple[Callable[[], None], list[np.ndarray]]:
    """The peer in numpy, as fast as we can write it: nothing is checked, nothing of size S made; and its state."""
    recording, S = walk.record(n), len(learner.features)
    path = list(zip(recording.s.tolist(), recording.s_next.tolist(), recording.cost.tolist(), strict=True))
    features, rows = learner.features, list(learner.features)
    theta, omega, V, weights = learner.theta.copy(), learner.omega.copy(), np.empty(S), np.empty(S)

    def work() -> None:
        for s, s_next, cost in path:
            np.dot(features, theta, out=V)
            top = np.maximum.reduce(V)
            np.subtract(V, top, out=weights)
            np.multiply(weights, VARRHO, out=weights)
            np.exp(weights, out=weights)
            total, phi = np.add.reduce(weights), rows[s]
            smooth = top + math.log(total) / VARRHO
            delta = cost + GAMMA * (1.0 - RADIUS) * V[s_next] + GAMMA * RADIUS * smooth - V[s]
            tracked = phi.dot(omega)
            g = rows[s_next] * (GAMMA * (1.0 - RADIUS)) + weights.dot(features) * (GAMMA * RADIUS / total)
            np.add(theta, phi * (ALPHA * delta) - g * (ALPHA * tracked), out=theta)
            np.add(omega, phi * (BETA * (delta - tracked)), out=omega)
            for vector in (theta, omega):
                if (square := vector.dot(vector)) > PROJECTION**2:
                    np.multiply(vector, PROJECTION / math.sqrt(square), out=vector)

    return work, [theta, omega]


def loops(*, quick: bool = False) -> list[Measurement]:
    """The compiled step of Algorithm 2 against C and numpy."""
    lines = []
    for S, least in LEAST.items():
        n = STATE_STEPS // S
        mdp = garnet(S, 4, 8, gamma=GAMMA)
        fast = _learner(mdp)
        contestants: dict[str, Callable[[], None] | None] = {
            "fast": partial(learn, *fast, n),
            "numpy": numpy_steps(*_learner(mdp), NUMPY_STEPS)[0],
            "C": _c_run(mdp, n),
        }
        times = best_times({name: work for name, work in contestants.items() if work is not None})
        size, ours = f"S={S}, N={N_FEATURES}", times["fast"] / n
        if "C" in times:
            lines.append(at_most("TDC / C", size, ours, times["C"] / n, 1.2))
        lines.append(at_least("numpy TDC / TDC", size, ours, times["numpy"] / NUMPY_STEPS, least))
    return lines
