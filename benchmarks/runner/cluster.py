"""Units of work on a Dask cluster that is there already: the engine schedules, this module checks and collects.

    dask scheduler --host 127.0.0.1 --port 8786
    dask worker tcp://127.0.0.1:8786 --nthreads 1 --nworkers 2

Before any work every worker must have the client's code, libraries and kind of processor: then a value has the same
bits wherever it is computed. A unit whose worker dies is computed elsewhere; one that raises, or that kills every
worker it runs on, ends the run with its name. Workers need no disk of the client's: values come back as they are made.
"""

import functools
import platform
import queue
import time
import traceback
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from benchmarks.runner import identity as sources
from benchmarks.runner.units import Unit, compute
from robust_core.streams import key

CONNECTING = 10.0
"""Seconds in which a scheduler must answer, and then a first worker be there."""
PATIENCE = 60.0
"""Seconds that a run waits for a new worker after the last one has gone."""
POLL = 1.0
"""Seconds after which a client that has heard nothing looks at the workers."""
AHEAD = 4
"""Units per worker that are handed out at a time: they hide the way to the cluster and back, some 20 ms."""
LIBRARIES = ("numpy", "scipy", "numba", "llvmlite", "cvxpy", "highspy", "gymnasium", "dask", "distributed")

Identity = dict[str, str]
Tag = Any


class ClusterError(OSError):
    """The cluster cannot be used, or a unit cannot be computed there."""


def identity(modules: Sequence[str]) -> Identity:
    """What the bits of a value depend on beside its unit, in this process; `modules` hold the units' functions."""
    name, features = sources.target()
    return {
        "python": platform.python_version(),
        "libc": "-".join(platform.libc_ver()),
        "processor": f"{platform.machine()} {name} {features}",
        **{name: _version(name) for name in LIBRARIES},
        **{f"code of {module}": sources.fingerprint(module).hex() for module in modules},
    }


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def differences(here: Mapping[str, str], there: Mapping[str, str]) -> list[str]:
    """What is not the same, in words.

    >>> differences({"numpy": "2.0", "scipy": "1.11"}, {"numpy": "2.1", "scipy": "1.11"})
    ['numpy is 2.1 there, 2.0 here']
    """
    return [f"{name} is {there.get(name)} there, {x} here" for name, x in here.items() if there.get(name) != x]


@functools.cache
def _digest(modules: tuple[str, ...]) -> bytes:
    """The identity of this process in sixteen bytes."""
    return key(*sorted(f"{name} {value}" for name, value in identity(modules).items()))


class _OtherBits(Exception):
    """A worker that came after the check has another identity."""


def _at_worker(unit: Unit, modules: tuple[str, ...], wanted: bytes) -> Any:
    if _digest(modules) != wanted:
        raise _OtherBits
    return compute(unit)


def computed(units: Sequence[Unit], address: str) -> Iterator[tuple[int, Any]]:
    """(place, value) of every unit, as they finish on the cluster whose scheduler is at `address`."""
    with connected(address, (unit.function.partition(":")[0] for unit in units)) as session:
        for place, unit in enumerate(units):
            session.submit(place, unit)
        yield from session.finished()


@contextmanager
def connected(address: str, modules: "Iterator[str] | Sequence[str]") -> "Iterator[Session]":
    """A session with a cluster whose workers all have the client's identity; `modules` hold the units' functions."""
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
        session = Session(client, address, tuple(sorted(set(modules))))
        session.check()
        yield session


class Session:
    """Units handed to a cluster and their values, in the order in which they finish; units may be added meanwhile."""

    def __init__(self, client: Any, address: str, modules: tuple[str, ...]) -> None:
        self.client, self.address, self.modules = client, address, modules
        self._waiting: deque[tuple[Tag, Unit]] = deque()
        self._suspects: deque[tuple[Tag, Unit]] = deque()
        self._running: dict[Tag, tuple[Unit, Any]] = {}
        self._alone = False
        self._done: queue.SimpleQueue[Tag] = queue.SimpleQueue()
        self._workers, self._seen = 0, time.monotonic()

    def check(self) -> None:
        """Raise unless there are workers, each with one thread (units share a process' caches) and our identity."""
        try:
            self.client.wait_for_workers(1, timeout=CONNECTING)
        except TimeoutError:
            raise ClusterError(
                f"the scheduler at {self.address} has no workers: start one with "
                f"`dask worker {self.address} --nthreads 1`"
            ) from None
        here = identity(self.modules)
        for worker, there in self.client.run(identity, self.modules, on_error="return").items():
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

    def submit(self, tag: Tag, unit: Unit) -> None:
        """Add a unit; its value comes with this tag."""
        self._waiting.append((tag, unit))

    def finished(self) -> Iterator[tuple[Tag, Any]]:
        """(tag, value) of every unit as it finishes, until there is none."""
        while self._waiting or self._running or self._suspects:
            self._hand_out()
            try:
                tag = self._done.get(timeout=POLL)
            except queue.Empty:
                self._look_at_workers()
                continue
            if (value := self._value(tag)) is not None:
                yield tag, value[0]

    def _hand_out(self) -> None:
        """Few units at a time: who dies takes few suspects with him, and the scheduler's memory stays small."""
        while self._waiting and not self._alone and len(self._running) < max(1, AHEAD * self._workers):
            self._start(*self._waiting.popleft(), name="unit")
        if self._suspects and not self._running:
            self._alone = True
            self._start(*self._suspects.popleft(), name="suspect")

    def _start(self, tag: Tag, unit: Unit, *, name: str) -> None:
        arguments = (unit, self.modules, _digest(self.modules))
        future = self.client.submit(_at_worker, *arguments, key=f"{name}-{unit.key.hex()}", pure=True)
        self._running[tag] = unit, future
        self._announce(tag, future)

    def _announce(self, tag: Tag, future: Any) -> None:
        future.add_done_callback(lambda _: self._done.put(tag))

    def _value(self, tag: Tag) -> tuple[Any] | None:
        """The value of a unit that has ended, in a tuple; None if it is to be computed again."""
        unit, future = self._running.pop(tag)
        if future.status == "finished":
            try:
                value = future.result(timeout=PATIENCE)
            except TimeoutError:  # its worker died before it could hand over the value: Dask computes it again
                self._running[tag] = unit, future
                self._announce(tag, future)
                return None
            self._alone = False
            return (value,)
        self._judge(tag, unit, future)
        return None

    def _judge(self, tag: Tag, unit: Unit, future: Any) -> None:
        """A unit has failed: raise, unless it may have been for its neighbours' sake.

        Dask gives a unit up when several workers have died that it was assigned to, whoever's fault it was. It gets
        another chance with nothing beside it; if they die again, the fault is its own.
        """
        from distributed import KilledWorker

        alone, self._alone = self._alone, False
        error = future.exception() if future.status == "error" else None
        if isinstance(error, KilledWorker) and not alone:
            self._suspects.append((tag, unit))
            return
        if isinstance(error, KilledWorker):
            raise ClusterError(
                f"unit {unit} kills its worker: {error.allowed_failures + 1} more died, with no other unit"
            )
        if isinstance(error, _OtherBits):
            self.check()
        if error is None:
            raise ClusterError(f"the scheduler at {self.address} is gone; run again to go on")
        place = traceback.extract_tb(future.traceback())[-1]
        where = f"{place.filename}:{place.lineno}"
        raise ClusterError(f"unit {unit} raised {type(error).__name__}: {error} ({where})") from error
