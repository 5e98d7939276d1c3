"""How commands load the variants that the user names: tried in another process first, with a word if it takes long."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from benchmarks.cli.conventions import progress

if TYPE_CHECKING:
    from robust_core.problem import Variant


def loaded(targets: Iterable[str]) -> "dict[str, Variant]":
    """The variants of the targets by how each is loaded alone; a `ValueError` of one line if one cannot be.

    So is a promise that no variant of its kind can make.
    """
    from properties.process.probe import load_all

    try:
        found = load_all(targets, waiting=say)
    finally:
        progress("")
    require_promises(found)
    return found


def require_promises(found: "Mapping[str, Variant]") -> None:
    """Refuse variants with misspelt promises; the message says which target has one."""
    if not found:
        return
    from properties.judging import verification

    for target, variant in found.items():
        try:
            verification.require_promises(variant)
        except ValueError as error:
            raise ValueError(f"{target}: {error}") from None


def say(place: str) -> None:
    """What is waited for."""
    progress(f"loading {place}")
