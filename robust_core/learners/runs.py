"""Whole runs of a learner on a walk: snapshots at chosen times (`snapshots`), many runs side by side (`learn_all`)."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import singledispatch
from typing import Any

import numpy as np

from robust_core import validate
from robust_core.learners import linear, tabular
from robust_core.learners.linear import LinearLearner
from robust_core.learners.tabular import TabularLearner
from robust_core.trajectory import Walk

Learner = TabularLearner | LinearLearner


@singledispatch
def learn(learner: Learner, walk: Walk, steps: int) -> None:
    """Advance walk and learner together by `steps` transitions (compiled), whatever the kind of learner."""
    raise TypeError(f"learner must be a TabularLearner or a LinearLearner, got {learner!r}")


learn.register(TabularLearner)(tabular.learn)
learn.register(LinearLearner)(linear.learn)


def snapshots(learner: Learner, walk: Walk, times: Iterable[int], *, run: Callable[..., None] = learn) -> Any:
    """The estimates at the given times (ascending, counted from the learner's t), stacked.

    One array of tables for a tabular learner, the pair (thetas, omegas) for a linear one. The loop runs undisturbed
    from one time to the next.
    """
    wanted = [validate.count("times", time) for time in times]
    if any(later < earlier for earlier, later in zip([learner.t, *wanted], wanted, strict=False)):
        raise ValueError(f"times must ascend from the learner's t = {learner.t}, got {wanted}")
    taken = []
    for time in wanted:
        run(learner, walk, time - learner.t)
        taken.append(learner.estimate())
    if isinstance(learner, LinearLearner):
        return tuple(np.array([pair[i] for pair in taken]).reshape(len(taken), learner.theta.size) for i in range(2))
    return np.array(taken).reshape(len(taken), *learner.table.shape)


def learn_all(pairs: Iterable[tuple[Learner, Walk]], steps: int, *, threads: int = 1) -> None:
    """Independent runs side by side on `threads` threads (the kernels release the interpreter's lock)."""
    runs = list(pairs)
    for run in runs:
        if not (isinstance(run, (tuple, list)) and len(run) == 2 and isinstance(run[0], Learner)):
            raise TypeError(f"pairs must be a learner and its walk each, got {run!r:.80}")
        run[0].require_fit(run[1])
    steps, threads = validate.count("steps", steps), validate.count("threads", threads, least=1)
    if len({id(part) for run in runs for part in run}) != 2 * len(runs):
        raise ValueError("pairs must not share a learner or a walk: their runs would disturb each other")
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda run: learn(run[0], run[1], steps), runs))
