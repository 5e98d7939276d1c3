"""Help, first call and memory: what a user pays before the first step, and what a learner keeps."""

import functools
import os
import subprocess
import sys
import tempfile
import time
import tracemalloc

from benchmarks.speed.timing import Measurement, at_most, without_limit

_FIRST_RUN = """
from robust_core import *
from robust_core.models import garnet
from robust_core.learners.tabular import learn
mdp = garnet(10, 2, 3, gamma=0.9)
problem = Problem.of(mdp, Contamination(0.2), step_size=constant(0.1))
learn(TabularLearner(Q_LEARNING, problem), Walk(mdp, uniform(10, 2), seed=key("first")), 1000)
"""
WARM_LIMIT = 3.0
HELP_SECONDS = 0.3
# What a learner needs beside its table, per state: the tree over V has 2·4^⌈log4 S⌉ < 8 S floats (V are its leaves),
# and while it is planted V is there once more.
STATE_FLOATS = 9
_HELP = (sys.executable, "-m", "robust_core", "--help")


def _seconds(*command: str, **settings: str) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True, env=os.environ | settings, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def help_text(*, quick: bool = False) -> list[Measurement]:
    """`robust-core --help` in a new process, on the clock on the wall."""
    shown = min(_seconds(*_HELP) for _ in range(5))
    return [at_most(f"robust-core --help / {HELP_SECONDS} s", "one call", shown, HELP_SECONDS, 1.0)]


def first_call(*, quick: bool = False) -> list[Measurement]:
    """Import, compile and a thousand steps in a new process: with an empty cache, then with a warm one."""
    with tempfile.TemporaryDirectory() as cache:
        new_process = functools.partial(_seconds, sys.executable, "-c", _FIRST_RUN, NUMBA_CACHE_DIR=cache)
        cold = new_process()
        warm = min(new_process() for _ in range(3))
    return [
        at_most("first call, warm cache / 1 s", "one call", warm, 1.0, WARM_LIMIT),
        without_limit("first call, cold cache", "one call", cold, 1.0),
    ]


def memory(*, quick: bool = False) -> list[Measurement]:
    """Peak memory of a learner and its compiled loop beyond problem and walk, in tables of S·A floats.

    With many actions O(S) is little: a temporary of O(S·A), were it one byte an entry, would exceed the limit.
    """
    from benchmarks.speed.q_learning import RADIUS, Run
    from robust_core import Q_LEARNING, TabularLearner
    from robust_core.learners.tabular import learn
    from robust_core.models import garnet

    lines = []
    for S, A in ((100_000, 8), (10_000, 128)):
        run = Run(garnet(S, A, 2, gamma=0.9), RADIUS)
        learn(run.learner, run.walk, 1)  # compiled, and the problem made, before memory is counted
        tracemalloc.start()
        learn(TabularLearner(Q_LEARNING, run.learner.problem), run.walk, 1_000)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        limit = 1.0 + STATE_FLOATS / A
        lines.append(at_most("peak memory / (S,A) table", f"S={S}, A={A}", peak, S * A * 8, limit))
    return lines
