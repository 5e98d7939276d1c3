"""Certified plans of every uncertainty set against the same planner on the nominal model, from 100 states on.

The models are those of `scale`: 8 random successors, 4 actions, gamma .99; and dense ones. A plan has bounds at most
1e-6 from their middle, its certificate included. Sets that store a number for every pair of states (a metric, bounds on
all entries) and dense models end at 1,000 states. Balls of L2 and L∞ stay in the support on sparse models: else every
row is a row over all states.
"""

from collections.abc import Callable
from time import thread_time

import numpy as np

from benchmarks.speed.oracle_planning import dense_model
from benchmarks.speed.scale import GAMMA, large_model
from benchmarks.speed.timing import Measurement, at_most
from robust_core import (
    L1,
    L2,
    MDP,
    BoundedDensity,
    ChiSquare,
    Contamination,
    Interval,
    KullbackLeibler,
    LInfinity,
    LocalAdversary,
    ReverseKullbackLeibler,
    TotalVariation,
    UncertaintySet,
    Wasserstein,
    plan,
)

Maker = Callable[[MDP], UncertaintySet]
SPARSE, DENSE = tuple(10**k for k in range(2, 7)), (100, 1_000)
QUICK = 1_000
"""The largest size of a quick run, and of sets with a number for every pair of states."""
ACCURACY = 1e-6
ENOUGH, TURNS = 0.3, 5
"""Seconds of processor time after which a plan is not timed again, and the most turns."""


def _line(n_states: int) -> np.ndarray:
    """Distances on a line of length 1."""
    place = np.arange(n_states) / n_states
    return np.abs(place[:, None] - place)


def _scale(mdp: MDP) -> float:
    """About the size of a probability."""
    return 0.125 if mdp.is_sparse else 1.0 / mdp.n_states


BALLS: tuple[tuple[str, Maker, float | None], ...] = (
    ("contamination", lambda mdp: Contamination(0.1), 1.1),
    ("TV", lambda mdp: TotalVariation(0.1), 2.5),
    ("L1", lambda mdp: L1(0.2), 3.0),
    ("L∞", lambda mdp: LInfinity(0.4 * _scale(mdp), mdp.is_sparse), 3.0),
    ("bounded density", lambda mdp: BoundedDensity(0.1), None),
    ("chi-square", lambda mdp: ChiSquare(0.1), 8.0),
    ("L2", lambda mdp: L2(0.3 * np.sqrt(_scale(mdp)), mdp.is_sparse), 8.0),
    ("KL", lambda mdp: KullbackLeibler(0.1), 8.0),
    ("reverse KL", lambda mdp: ReverseKullbackLeibler(0.1), None),
)
"""Name, set for a model, and the most that its plan may take, as a multiple of the nominal one; None: stated."""
ON_DENSE = {"TV": 1.6}
"""Limits that are smaller on dense models."""
PAIRS: tuple[tuple[str, Maker, float | None], ...] = (
    ("interval", lambda mdp: Interval(0.7 * mdp.P, np.minimum(1.4 * mdp.P, 1.0)), 3.0),
    ("Wasserstein", lambda mdp: Wasserstein(0.01, _line(mdp.n_states)), None),
    ("local adversary", lambda mdp: LocalAdversary(0.01, _line(mdp.n_states)), None),
)


def curve(*, quick: bool = False) -> list[Measurement]:
    """Sparse models of all sizes, then dense ones."""
    sizes = [("sparse", n) for n in SPARSE if not quick or n <= QUICK]
    sizes += [("dense", n) for n in DENSE]
    lines = list[Measurement]()
    for kind, n_states in sizes:
        mdp = large_model(n_states, GAMMA) if kind == "sparse" else dense_model(n_states, GAMMA)
        nominal = _seconds(mdp, Contamination(0.0))
        for name, make, most in (*BALLS, *(PAIRS if n_states <= QUICK else ())):
            taken = _seconds(mdp, make(mdp))
            limit = ON_DENSE.get(name, most) if kind == "dense" else most
            subject, size = f"{name} plan / nominal plan", f"{kind} S={n_states}"
            stated = Measurement(subject, size, taken, nominal, taken / nominal, "stated", True)
            lines.append(stated if limit is None else at_most(subject, size, taken, nominal, limit))
    return lines


def _seconds(mdp: MDP, uncertainty_set: UncertaintySet) -> float:
    """Processor time of a plan, the best of some turns; the first compiles, and counts if it takes long anyway."""
    found, spent = np.inf, 0.0
    for turn in range(TURNS):
        started = thread_time()
        plan(mdp, uncertainty_set, accuracy=ACCURACY)
        taken = thread_time() - started
        found = min(found, taken)
        spent += taken if turn else 0.0
        if turn and spent > ENOUGH:
            break
    return float(found)
