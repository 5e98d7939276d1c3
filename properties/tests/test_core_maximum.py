"""The maximum over V under adversaries: watched or by the tree, the bits are those of the plain learner."""

import copy

import numpy as np
import pytest

from properties.tests.tabular_runs import agree, make, three_ways
from robust_core import models, streams
from robust_core.learners.schedules import constant
from robust_core.learners.tabular import TD0, TabularLearner
from robust_core.mdp import MDP
from robust_core.trajectory import Walk


def ring_problem(S: int, radius: float = 0.25, *, ascending: bool = False) -> tuple[TabularLearner, Walk]:
    """Deterministic ring without cost, gamma near 1, alpha 1, and a pessimistic start.

    The best state falls below all others, and the next best is visited next: every step needs the maximum anew.
    """
    mdp = MDP(models.ring(S).P, np.zeros((S, 1)), 0.9999)
    order = np.arange(S) if ascending else -np.arange(S)
    learner = make(TD0, mdp, radius, constant(1.0), initial=1000.0 + order * (0.01 / S))
    return learner, Walk(mdp, np.ones((S, 1)), seed=streams.key("ring", S))


def scans_of_the_watch(learner: TabularLearner, walk: Walk, steps: int) -> int:
    """How many entries the watch would have read again: the best state fell below the bound on the others."""
    from robust_core.kernels.maximum import SCAN_START

    learner, walk = copy.deepcopy((learner, walk))

    def best_two() -> tuple[int, float, float]:
        V = np.append(learner.state_values(), -np.inf)
        best = int(V.argmax())
        return best, float(V[best]), float(np.delete(V, best).max())

    best, worst, bound = best_two()
    scanned = 0
    for step in walk.steps(steps):
        learner.update(step)
        value = float(learner.state_values()[step.s])
        if step.s == best:
            worst = value
            if value < bound:
                best, worst, bound = best_two()
                scanned += learner.problem.n_states + SCAN_START
        elif value > worst:
            best, worst, bound = step.s, value, worst
        else:
            bound = max(bound, value)
    return scanned


@pytest.mark.parametrize("S", [1, 2, 7, 8, 9, 64, 65, 513])
def test_the_maximum_under_an_adversary(S: int) -> None:
    """Long enough that the tree is taken, kept for its time, left again, and taken again."""
    from robust_core.kernels import maximum

    steps = 3 * (maximum.TREE_STEPS + maximum.TREE_STEPS_PER_STATE * S) if S < 100 else 15_000
    learner, walk = ring_problem(S)
    assert agree(three_ways(learner, walk, steps))
    if S > 1:
        short = 16 * maximum.FREE_SCANS
        budget = maximum.SCAN_BUDGET * short + maximum.FREE_SCANS * (S + maximum.SCAN_START)
        assert scans_of_the_watch(learner, walk, short) > budget, "the walk does not force the tree"


@pytest.mark.parametrize("S", [2, 9, 65])
def test_the_maximum_when_it_rises(S: int) -> None:
    """The other order: the newest value is the new best, or ties with it."""
    learner, walk = ring_problem(S, ascending=True)
    assert agree(three_ways(learner, walk, 2000))
    flat = make(TD0, walk.mdp, 0.25, constant(0.5), initial=np.full(S, -5.0))
    assert agree(three_ways(flat, walk, 2000))


@pytest.mark.parametrize("S", [1, 2, 7, 8, 9, 64, 65, 513, 4097])
def test_the_tournament_is_the_maximum(S: int) -> None:
    """Random changes, ties and falls included; a root that is not repaired is noticed."""
    from robust_core.kernels import maximum
    from robust_core.kernels.walk import U64

    rng = np.random.default_rng(S)
    values = rng.integers(-4, 5, S).astype(np.float64)
    values[S // 2] = 5.0
    tree, V = maximum.planted(values)
    maximum.build(tree)
    assert tree[1] == V.max()
    unrepaired = tree.copy()
    stale = 0
    for step in range(600):
        place = int(V.argmax()) if step % 2 else int(rng.integers(S))
        V[place] = rng.integers(-4, 5) - step / 64
        assert maximum.changed(tree, U64(place), V[place]) == tree[1] == V.max()
        stale += unrepaired[1] != V.max()
    assert stale > 0
    best, second = maximum.best_two(V)
    assert V[int(best)] == V.max()
    assert second == np.delete(V, int(best)).max(initial=-np.inf)
