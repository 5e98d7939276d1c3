"""How commands load the variants that the user names: tried in another process first, with a word if it takes long."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from benchmarks.cli_conventions import progress

if TYPE_CHECKING:
    from robust_core.variant import Variant


def loaded(targets: Iterable[str]) -> "dict[str, Variant]":
    """The variants of the targets by how each is loaded alone; a `ValueError` of one line if one cannot be."""
    from properties.probe import load_all

    try:
        return load_all(targets, waiting=say)
    finally:
        progress("")


def say(place: str) -> None:
    """What is waited for."""
    progress(f"loading {place}")
