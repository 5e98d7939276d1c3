"""Units of work on a Dask cluster that is there already: the engine schedules, this module checks and collects.

    dask scheduler --host 127.0.0.1 --port 8786
    dask worker tcp://127.0.0.1:8786 --nthreads 1 --nworkers 2

Before any work every worker must have the client's code, libraries and kind of processor: then a value has the same
bits wherever it is computed. A unit whose worker dies is computed elsewhere; one that raises, or that kills every
worker it runs on, ends the run with its name. Workers need no disk of the client's: values come back as they are made.
"""

import functools
import queue
import time
import traceback
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from benchmarks.runner import identity
from benchmarks.runner.units import Unit, compute
from robust_core.versions import installed_version

CONNECTING = 10.0
"""Seconds in which a scheduler must answer, and then a first worker be there."""
PATIENCE = 60.0
"""Seconds that a run waits for a new worker after the last one has gone."""
POLL = 1.0
"""Seconds after which a client that has heard nothing looks at the workers."""
AHEAD = 4
"""Units per worker that are handed out at a time: they hide the way to the cluster and back, some 20 ms."""


class ClusterError(OSError):
    """The cluster cannot be used, or a unit cannot be computed there."""


def differences(here: Mapping[str, str], there: Mapping[str, str]) -> list[str]:
    """The differences between two identities, in words.

    >>> differences({"numpy": "2.0", "scipy": "1.11"}, {"numpy": "2.1", "scipy": "1.11"})
    ['numpy is 2.1 there, 2.0 here']
    """
    return [f"{name} is {there.get(name)} there, {x} here" for name, x in here.items() if there.get(name) != x]


class _OtherBits(Exception):
    """A worker that came after the check has another identity."""


@functools.cache
def _parts(module: str) -> dict[str, str]:
    """The identity of a module in this process, and the versions of Dask."""
    return identity.parts(module) | {name: installed_version(name) for name in ("dask", "distributed")}


def _at_worker(unit: Unit, wanted: Mapping[str, str]) -> Any:
    if _parts(unit.module) != wanted:
        raise _OtherBits
    return compute(unit)


@contextmanager
def connect(address: str) -> "Iterator[Session]":
    """A session with the cluster whose scheduler is at `address`."""
    try:
        from distributed import Client
        from distributed.comm import get_address_host_port
        from distributed.security import Security
    except ImportError:
        raise ImportError("a cluster needs Dask: pip install 'robust-core[cluster]'") from None
    try:
        # A client that finds out by itself is not closed: it tries that when it is collected, in vain and for long.
        get_address_host_port(address)
        if address.startswith("tls:") and Security().get_connection_args("client").get("ssl_context") is None:
            raise ValueError("tls needs certificates, in Dask's configuration under distributed.comm.tls")
        client = Client(address, timeout=CONNECTING, set_as_default=False)
    except (OSError, ValueError) as error:
        message = f"no Dask scheduler answers at {address!r}: {error}; start one with `dask scheduler`"
        raise ClusterError(message) from None
    with client:
        yield Session(client, address)


class Session:
    """Units that are handed to a cluster, and their values in the order in which they finish.

    Before the first unit of a module every worker must have the identity of the client.
    """

    def __init__(self, client: Any, address: str) -> None:
        self.client, self.address = client, address
        self._checked: dict[str, dict[str, str]] = {}
        self._suspects: deque[Unit] = deque()
        self._running: dict[bytes, tuple[Unit, Any]] = {}
        self._alone = False
        self._done: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._workers, self._seen = 0, time.monotonic()

    def check(self, module: str) -> None:
        """Raise unless there are workers, each with one thread (units share a process' caches) and our identity."""
        try:
            self.client.wait_for_workers(1, timeout=CONNECTING)
        except TimeoutError:
            raise ClusterError(
                f"the scheduler at {self.address} has no workers: start one with "
                f"`dask worker {self.address} --nthreads 1`"
            ) from None
        here = self._checked.setdefault(module, _parts(module))
        for worker, there in self.client.run(_parts, module, on_error="return").items():
            if isinstance(there, Exception):
                raise ClusterError(f"worker {worker} cannot say what it has: {type(there).__name__}: {there}")
            if wrong := differences(here, there):
                raise ClusterError(f"worker {worker} would not compute the same bits: {'; '.join(wrong)}")
        self._look_at_workers()

    def _look_at_workers(self) -> None:
        threads = self.client.nthreads()
        for worker, count in threads.items():
            if count != 1:
                raise ClusterError(f"worker {worker} has {count} threads, units need one: `dask worker --nthreads 1`")
        self._workers = len(threads)
        if threads:
            self._seen = time.monotonic()
        elif time.monotonic() - self._seen > PATIENCE:
            names = ", ".join(str(unit) for unit, _ in self._running.values())
            raise ClusterError(
                f"no worker is left at {self.address}, and none came in {PATIENCE:.0f} s; under way: {names}"
            )

    @property
    def has_room(self) -> bool:
        """Whether another unit may be submitted: few at a time, so that few are suspect if a worker dies."""
        return not self._alone and not self._suspects and len(self._running) < max(1, AHEAD * self._workers)

    def submit(self, unit: Unit) -> None:
        """Hand out a unit."""
        if unit.module not in self._checked:
            self.check(unit.module)
        self._start(unit, name="unit")

    def collect(self) -> tuple[Unit, Any]:
        """Wait for a unit."""
        while True:
            if self._suspects and not self._running:
                self._alone = True
                self._start(self._suspects.popleft(), name="suspect")
            try:
                name = self._done.get(timeout=POLL)
            except queue.Empty:
                self._look_at_workers()
                continue
            unit, future = self._running.pop(name)
            if (value := self._value(unit, future)) is not None:
                return unit, value

    def compute(self, units: Iterable[Unit]) -> Iterator[tuple[Unit, Any]]:
        """Every unit with its value, as they finish."""
        waiting = deque(units)
        while waiting or self._running or self._suspects:
            while waiting and self.has_room:
                self.submit(waiting.popleft())
            yield self.collect()

    def _start(self, unit: Unit, *, name: str) -> None:
        arguments = (unit, self._checked[unit.module])
        self._await(unit, self.client.submit(_at_worker, *arguments, key=f"{name}-{unit.key.hex()}", pure=True))

    def _await(self, unit: Unit, future: Any) -> None:
        self._running[unit.key] = unit, future
        future.add_done_callback(lambda _: self._done.put(unit.key))

    def _value(self, unit: Unit, future: Any) -> Any:
        """The value of a unit that has ended; None if it is to be computed again."""
        if future.status == "finished":
            try:
                value = future.result(timeout=PATIENCE)
            except TimeoutError:  # its worker died before it could hand over the value: Dask computes it again
                self._await(unit, future)
                return None
            self._alone = False
            return value
        self._judge(unit, future)
        return None

    def _judge(self, unit: Unit, future: Any) -> None:
        """A unit has failed: raise, unless it may have been for its neighbours' sake.

        Dask gives a unit up when several workers have died that it was assigned to, whoever's fault it was. It gets
        another chance with nothing beside it; if they die again, the fault is its own.
        """
        from distributed import KilledWorker

        alone, self._alone = self._alone, False
        error = future.exception() if future.status == "error" else None
        if isinstance(error, KilledWorker) and not alone:
            self._suspects.append(unit)
            return
        if isinstance(error, KilledWorker):
            raise ClusterError(
                f"unit {unit} kills its worker: {error.allowed_failures + 1} more died, with no other unit"
            )
        if isinstance(error, _OtherBits):
            self.check(unit.module)
        if error is None:
            raise ClusterError(f"the scheduler at {self.address} is gone; run again to go on")
        place = traceback.extract_tb(future.traceback())[-1]
        where = f"{place.filename}:{place.lineno}"
        raise ClusterError(f"unit {unit} raised {type(error).__name__}: {error} ({where})") from error
