"""Robust Q-learning: against vanilla, the walk alone, C, the plain loop and a numpy batch."""

import ctypes
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.speed import c_peer
from benchmarks.speed.timing import Measurement, at_least, at_most, best_times
from robust_core import (
    MDP,
    Q_LEARNING,
    Contamination,
    Problem,
    SparseRows,
    TabularLearner,
    Walk,
    constant,
    key,
    uniform,
)
from robust_core.learners.runs import learn_all
from robust_core.learners.tabular import learn, learn_plain
from robust_core.models import garnet
from robust_core.streams import numpy_generator
from robust_core.validate import Ints

GAMMA, RADIUS, ALPHA, N_ACTIONS, BRANCHING = 0.9, 0.2, 0.1, 4, 8
SIZES = (10, 100, 1_000, 10_000, 100_000)
STEPS = 2_000_000


@dataclass(eq=False)
class Run:
    """A learner and its walk, restarted for every turn from the same place."""

    mdp: MDP
    radius: float
    alpha: float = ALPHA
    initial: float | np.ndarray = 0.0

    def __post_init__(self) -> None:
        self.policy = uniform(self.mdp.n_states, self.mdp.n_actions)
        self.walk = Walk(self.mdp, self.policy, seed=key("speed"))
        self.learner = self.fresh()

    def fresh(self) -> TabularLearner:
        """A learner at its initial table."""
        shape = (self.mdp.n_states, self.mdp.n_actions)
        problem = Problem.of(
            self.mdp,
            Contamination(self.radius),
            step_size=constant(self.alpha),
            initial=np.broadcast_to(self.initial, shape),
        )
        return TabularLearner(Q_LEARNING, problem)

    def steps(self, n: int) -> Callable[[], None]:
        """The work of n compiled steps."""
        return lambda: learn(self.learner, self.walk, n)


def _c_run(name: str, run: Run, n: int) -> Callable[[], None] | None:
    """The work of n steps of the C loop on the same problem."""
    library = c_peer.library("q_learning.c")
    if library is None:
        return None
    S, A = run.mdp.n_states, run.mdp.n_actions
    Q, V = run.fresh().table.ravel(), run.fresh().state_values()
    table, walk = run.walk.table, Walk(run.mdp, run.policy, seed=key("speed"))
    cost = run.mdp.cost
    arguments = [
        _pointer(table.columns), ctypes.c_uint64(table.column_bits), ctypes.c_uint64(table.action_bits),
        _pointer(walk.stream), _pointer(walk.position), _pointer(Q), _pointer(V), _pointer(cost),
        ctypes.c_size_t(S), ctypes.c_size_t(A), ctypes.c_double(run.alpha),
        ctypes.c_double(run.mdp.gamma * run.radius), ctypes.c_double(run.mdp.gamma * (1.0 - run.radius)),
        ctypes.c_size_t(n),
    ]  # fmt: skip
    function = getattr(library, name)
    keep = (table, walk, Q, V, cost)  # the pointers must outlive the closure

    def work() -> None:
        function(*arguments)
        assert keep

    return work


def _pointer(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def loops(*, quick: bool = False) -> list[Measurement]:
    """The compiled step of Algorithm 1 against vanilla, the walk alone and C, by number of states."""
    lines = []
    for S in SIZES[:3] if quick else SIZES:
        mdp = garnet(S, N_ACTIONS, BRANCHING, gamma=GAMMA)
        robust, vanilla = Run(mdp, RADIUS), Run(mdp, 0.0)
        contestants: dict[str, Any] = {
            "robust": robust.steps(STEPS),
            "vanilla": vanilla.steps(STEPS),
            "walk": lambda walk=vanilla.walk: walk.skip(STEPS),
            "C": _c_run("robust", robust, STEPS),
        }
        times = best_times({name: work for name, work in contestants.items() if work is not None})
        per_step = {name: seconds / STEPS for name, seconds in times.items()}
        small = S <= 10
        size = f"S={S}"
        lines.append(at_most("robust / vanilla", size, per_step["robust"], per_step["vanilla"], 1.35 if small else 1.1))
        lines.append(at_most("robust / walk alone", size, per_step["robust"], per_step["walk"], 1.6 if small else 1.3))
        if "C" in per_step:
            lines.append(at_most("robust / C", size, per_step["robust"], per_step["C"], 1.15))
    return lines


def adversary(*, quick: bool = False) -> list[Measurement]:
    """A walk that keeps visiting the top states: a ring, all values high, every visit drops the highest one.

    Along the memory and across it: what is kept by blocks of states is spared by the first order only.
    """
    lines = []
    for S in SIZES[:3] if quick else SIZES:
        rng = numpy_generator(key("speed", "adversary", S))
        for name, order in (("in order", np.arange(S)), ("shuffled", np.append(0, 1 + rng.permutation(S - 1)))):
            mdp, initial = _cycle(order), np.empty((S, 1))
            initial[order, 0] = 1e6 - 1e-3 * np.arange(S)
            runs = {kind: Run(mdp, radius, 1.0, initial) for kind, radius in (("robust", RADIUS), ("vanilla", 0.0))}
            times = best_times({kind: run.steps(STEPS) for kind, run in runs.items()})
            robust, vanilla = times["robust"] / STEPS, times["vanilla"] / STEPS
            lines.append(at_most(f"robust / vanilla, adversary {name}", f"S={S}", robust, vanilla, 2.5))
    return lines


def _cycle(order: Ints) -> MDP:
    """A deterministic ring through the states in the given order, without cost, all actions alike."""
    S, after = len(order), np.empty_like(order)
    after[order] = np.roll(order, -1)
    rows = SparseRows(np.arange(S * N_ACTIONS + 1), np.repeat(after, N_ACTIONS), np.ones(S * N_ACTIONS))
    return MDP(rows, np.zeros((S, N_ACTIONS)), 0.9999)


def against_python(*, quick: bool = False) -> list[Measurement]:
    """Against the plain loop and a numpy batch over a thousand chains, at a thousand states."""
    S, plain_steps, batch_steps, chains = 1_000, 2_000, 20, 1_000
    mdp = garnet(S, N_ACTIONS, BRANCHING, gamma=GAMMA)
    fast, plain = Run(mdp, RADIUS), Run(mdp, RADIUS)
    batch = _Batch(mdp, chains)
    times = best_times(
        {
            "fast": fast.steps(STEPS),
            "plain": lambda: learn_plain(plain.learner, plain.walk, plain_steps),
            "batch": lambda: batch.steps(batch_steps),
        },
        turns=3,
    )
    ours = times["fast"] / STEPS
    return [
        at_least("plain loop / robust", f"S={S}", ours, times["plain"] / plain_steps, 1_000),
        at_least("numpy batch / robust", f"S={S}", ours, times["batch"] / (batch_steps * chains), 30),
    ]


class _Batch:
    """Algorithm 1 on many chains at once, as numpy users write it."""

    def __init__(self, mdp: MDP, chains: int) -> None:
        self.mdp, self.rng = mdp, np.random.default_rng(1)
        self.cumulative = np.cumsum(mdp.rows.probabilities.reshape(-1, BRANCHING), axis=1)
        self.successors = mdp.rows.successors.reshape(-1, BRANCHING)
        self.Q = np.zeros((chains, mdp.n_states, mdp.n_actions))
        self.V = np.zeros((chains, mdp.n_states))
        self.s = np.zeros(chains, dtype=np.int64)

    def steps(self, n: int) -> None:
        """Advance every chain by n steps."""
        who = np.arange(len(self.s))
        A, gamma = self.mdp.n_actions, self.mdp.gamma
        for _ in range(n):
            a = (self.rng.random(len(who)) * A).astype(np.int64)
            row = self.s * A + a
            place = (self.rng.random(len(who))[:, None] > self.cumulative[row]).sum(axis=1)
            s_next = self.successors[row, np.minimum(place, BRANCHING - 1)]
            worst = self.V.max(axis=1)
            target = self.mdp.cost[self.s, a] + gamma * RADIUS * worst + gamma * (1 - RADIUS) * self.V[who, s_next]
            self.Q[who, self.s, a] = (1 - ALPHA) * self.Q[who, self.s, a] + ALPHA * target
            self.V[who, self.s] = self.Q[who, self.s].min(axis=1)
            self.s = s_next


def threads(*, quick: bool = False) -> list[Measurement]:
    """Thirty independent runs on one thread and on two."""
    mdp = garnet(100, N_ACTIONS, BRANCHING, gamma=GAMMA)
    runs = [Run(mdp, RADIUS) for _ in range(30)]
    pairs = [(run.learner, run.walk) for run in runs]
    n = STEPS // 4
    times = best_times(
        {"one": lambda: learn_all(pairs, n, threads=1), "two": lambda: learn_all(pairs, n, threads=2)},
        turns=3,
        clock=time.perf_counter,
    )
    return [at_least("30 runs: 1 thread / 2 threads", "S=100", times["two"] / n, times["one"] / n, 1.8)]
