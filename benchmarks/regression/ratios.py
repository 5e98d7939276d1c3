"""Speed as ratios: two contestants in turn in one process, one ratio of processor times per turn.

Seconds of two runs are never compared. The first contestant begins in every other turn, so that a drift of the
machine favours neither.
"""

import time
from collections.abc import Callable
from functools import cache, partial
from typing import Any

from benchmarks.regression.linear import planted_problem
from benchmarks.regression.measures import Part
from benchmarks.regression.tabular import significant
from robust_core import Contamination, LinearLearner, TotalVariation, key, support
from robust_core.json import to_data
from robust_core.learners import linear
from robust_core.learners.tabular import learn_plain
from robust_core.models import garnet
from robust_core.streams import numpy_generator

TURNS = 96
GAMMA, RADIUS = 0.9, 0.2
STEPS, PLAIN_STEPS, LINEAR_STEPS, PLAIN_LINEAR_STEPS = 200_000, 200, 20_000, 50
Work = Callable[[], object]
Contest = tuple[str, str, str, Callable[[str], tuple[Work, Work, float]]]
"""(metric, variant, problem, the two contestants and the work of the first in units of that of the second)."""


def _slow(work: Work, injected: str) -> Work:
    """The first contestant, or the injected defect of it: everything twice."""
    if injected != "slower code":
        return work

    def twice() -> None:
        work()
        work()

    return twice


def _steps(n_states: int, peer: str, injected: str) -> tuple[Work, Work, float]:
    """Robust Q-learning against vanilla Q-learning, the walk alone or its own plain form."""
    from benchmarks.speed.q_learning import Run

    mdp = garnet(n_states, 4, 8, gamma=GAMMA)
    ours, theirs = Run(mdp, RADIUS), Run(mdp, RADIUS if peer == "plain loop" else 0.0)
    peers: dict[str, tuple[Work, float]] = {
        "vanilla": (theirs.steps(STEPS), 1.0),
        "walk": (partial(theirs.walk.skip, STEPS), 1.0),
        "plain loop": (partial(learn_plain, theirs.learner, theirs.walk, PLAIN_STEPS), STEPS / PLAIN_STEPS),
    }
    return _slow(ours.steps(STEPS), injected), *peers[peer]


def _linear(injected: str) -> tuple[Work, Work, float]:
    model = planted_problem()
    learners = [LinearLearner("TDC", model.problem_from(model.theta_0)) for _ in range(2)]
    walks = [model.walk(key("speed")) for _ in range(2)]
    ours = partial(linear.learn, learners[0], walks[0], LINEAR_STEPS)
    plain = partial(linear.learn_plain, learners[1], walks[1], PLAIN_LINEAR_STEPS)
    return _slow(ours, injected), plain, LINEAR_STEPS / PLAIN_LINEAR_STEPS


def _rows(injected: str) -> tuple[Work, Work, float]:
    mdp = garnet(400, 4, 8, gamma=GAMMA)
    v = numpy_generator(key("speed", "v")).random(mdp.n_states)
    ours, theirs = (
        partial(support, mdp, uncertainty_set(RADIUS), v) for uncertainty_set in (TotalVariation, Contamination)
    )
    return _slow(partial(_repeat, ours, 2), injected), partial(_repeat, theirs, 8), 2 / 8


def _repeat(work: Work, times: int) -> None:
    for _ in range(times):
        work()


def _plans(injected: str) -> tuple[Work, Work, float]:
    from oracles.planning import bounds

    mdp = garnet(200, 4, 8, gamma=GAMMA)
    ours, theirs = (partial(bounds.solve, mdp, Contamination(R), width=1e-6) for R in (RADIUS, 0.0))
    return _slow(partial(_repeat, ours, 4), injected), partial(_repeat, theirs, 4), 1.0


CONTESTS: tuple[Contest, ...] = (
    ("time ratio", "robust Q-learning over vanilla", "garnet S=10", partial(_steps, 10, "vanilla")),
    ("time ratio", "robust Q-learning over vanilla", "garnet S=1000", partial(_steps, 1000, "vanilla")),
    ("time ratio", "robust Q-learning over walk alone", "garnet S=100", partial(_steps, 100, "walk")),
    ("speed-up", "plain loop over robust Q-learning", "garnet S=100", partial(_steps, 100, "plain loop")),
    ("speed-up", "plain loop over robust TDC", "planted", _linear),
    ("time ratio", "total variation over contamination rows", "garnet S=400", _rows),
    ("time ratio", "robust plan over nominal plan", "garnet S=200", _plans),
)


@cache
def contests() -> dict[tuple[str, str, str], Callable[[str], tuple[Work, Work, float]]]:
    """The contests by the name of their measure."""
    return {(metric, variant, problem): make for metric, variant, problem, make in CONTESTS}


def measure(metric: str, variant: str, problem: str, seed_set: str, turns: int = TURNS, injected: str = "") -> Any:
    """One ratio per turn: ours/theirs for a time ratio, theirs/ours for a speed-up, per unit of work.

    Returns the data of a `Part`. The seed set names the occasion: another one is measured anew.
    """
    ours, theirs, more_work = contests()[metric, variant, problem](injected)
    ours()
    theirs()
    values = []
    for turn in range(turns):
        order = (ours, theirs) if turn % 2 == 0 else (theirs, ours)
        seconds = {work: _seconds(work) for work in order}
        ratio = seconds[ours] / (more_work * seconds[theirs])
        values.append(significant(ratio if metric == "time ratio" else 1.0 / ratio))
    return to_data(Part(samples={metric: tuple(values)}))


def _seconds(work: Work) -> float:
    """Processor time of this thread: others on the machine disturb it less than the clock on the wall."""
    started = time.thread_time()
    work()
    return time.thread_time() - started
