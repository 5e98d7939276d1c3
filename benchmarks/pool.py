"""Jobs over the processes of this machine."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing import get_context
from typing import Any


def single_thread() -> None:
    """One thread per worker: the cells are the parallelism."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ.setdefault(name, "1")


def computed(jobs: Sequence[Callable[[], dict[str, Any]]], *, workers: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """(place, result) of every job as it finishes; BrokenProcessPool if a worker dies."""
    if workers == 1:
        yield from ((place, job()) for place, job in enumerate(jobs))
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=single_thread) as pool:
        places: dict[Future[dict[str, Any]], int] = {pool.submit(job): place for place, job in enumerate(jobs)}
        waiting = set(places)
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            yield from ((places[future], future.result()) for future in done)
