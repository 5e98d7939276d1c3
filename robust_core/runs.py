"""Many runs of learners on their walks, side by side."""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import singledispatch

from robust_core import linear, tabular, validate
from robust_core.linear import LinearLearner
from robust_core.tabular import TabularLearner
from robust_core.trajectory import Walk

Learner = TabularLearner | LinearLearner


@singledispatch
def learn(learner: Learner, walk: Walk, steps: int) -> None:
    """Advance walk and learner together by `steps` transitions (compiled), whatever the kind of learner."""
    raise TypeError(f"learner must be a TabularLearner or a LinearLearner, got {learner!r}")


learn.register(TabularLearner)(tabular.learn)
learn.register(LinearLearner)(linear.learn)


def learn_all(pairs: Iterable[tuple[Learner, Walk]], steps: int, *, threads: int = 1) -> None:
    """Independent runs side by side on `threads` threads (the kernels release the interpreter's lock)."""
    runs = list(pairs)
    steps, threads = validate.count("steps", steps), validate.count("threads", threads, least=1)
    if len({id(part) for run in runs for part in run}) != 2 * len(runs):
        raise ValueError("pairs must not share a learner or a walk: their runs would disturb each other")
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda run: learn(run[0], run[1], steps), runs))
