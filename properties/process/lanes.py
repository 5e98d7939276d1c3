"""Threads that each work through a lane of keyed events, heard key by key in a given order."""

import contextlib
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from queue import SimpleQueue
from typing import TypeVar

Event = TypeVar("Event")
JOIN_SECONDS = 0.05


@contextlib.contextmanager
def run_lanes(
    lanes: Iterable[Iterator[tuple[str, Event | None]]], keys: Iterable[str], interrupt: Callable[[], None]
) -> Generator[Callable[[str], Iterator[Event]], None, None]:
    """Run the lanes at the same time; gives the function from a key to its events, which end with a None in its lane.

    An exception in a lane is raised where the first events that it leaves out are waited for. At the end of the `with`
    block no lane is at work: `interrupt` must let a lane go on that waits, and is called until all have ended.
    """
    queues: dict[str, SimpleQueue[Event | BaseException | None]] = {key: SimpleQueue() for key in keys}
    stopped = threading.Event()

    def work(lane: Iterator[tuple[str, Event | None]]) -> None:
        try:
            for key, event in lane:
                if stopped.is_set():
                    return
                queues[key].put(event)
        except BaseException as error:
            for queue in queues.values():
                queue.put(error)

    def events(key: str) -> Iterator[Event]:
        while (event := queues[key].get()) is not None:
            if isinstance(event, BaseException):
                raise event
            yield event

    # Daemons: a second Ctrl-C does not wait for them.
    threads = [threading.Thread(target=work, args=(lane,), daemon=True) for lane in lanes]
    try:
        for thread in threads:
            thread.start()
        yield events
    finally:
        stopped.set()
        while started := [thread for thread in threads if thread.is_alive()]:
            interrupt()
            for thread in started:
                thread.join(JOIN_SECONDS)
