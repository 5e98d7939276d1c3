"""Trying to load a variant in a process of its own, before it is loaded where its end would be everybody's.

A module that ends its process, hangs or eats memory while it is loaded is a `ValueError` of one line, as one that
raises is. The suite's own modules need no trial.
"""

from collections.abc import Callable, Iterable
from multiprocessing.connection import Connection
from pathlib import Path

from properties.judging.blame import said
from properties.process import child
from properties.process.child import Child
from properties.process.loading import load, place_of
from robust_core.problem import Variant

OWN = ("properties", "oracles", "robust_core", "benchmarks")


def load_all(
    targets: Iterable[str], *, seconds: float = child.SECONDS, waiting: Callable[[str], None] = lambda place: None
) -> dict[str, Variant]:
    """The variants that the targets name, by how each is loaded alone; what they are in is tried once."""
    found: dict[str, Variant] = {}
    tried: set[str] = set()
    for target in targets:
        place = place_of(target)
        if place not in tried:
            probe(target, seconds=seconds, waiting=waiting)
            tried.add(place)
        found |= load(target)
    return found


def probe(target: str, *, seconds: float = child.SECONDS, waiting: Callable[[str], None] = lambda place: None) -> None:
    """Refuse a target whose module cannot be loaded in a process that is watched; `waiting` hears if that takes long.

    Only the module is tried: whether it has the variant that is named is seen when it is loaded.
    """
    place = place_of(target)
    if not may_misbehave(place):
        return
    with Child(_serve, target if place.startswith("entry point ") else place) as prober:
        message = prober.message(seconds, waiting=lambda: waiting(place))
    if "fault" in message:
        raise ValueError(f"{place}: {message['fate']} while loading")
    if "refused" in message:
        raise ValueError(message["refused"])


def may_misbehave(place: str) -> bool:
    """A file that is not there does nothing, and the suite's own modules are known."""
    return Path(place).is_file() if place.endswith(".py") else place.partition(".")[0] not in OWN


def _serve(connection: Connection, target: str) -> None:
    send = child.sender(connection)
    child.settle()
    try:
        load(target)
    except ValueError as error:
        send({"refused": str(error)})
    except BaseException as error:
        send({"refused": f"{target}: {said(error)} while loading"})
    else:
        send({"loaded": True})
