"""Which code made a result: for kept ones code that is found by name at run time, for committed ones a short hash."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version

from benchmarks.runner.identity import ABSENT, LIBRARIES, fingerprint, libraries

SHORT = 12
"""Digits of a hash that are shown."""


@dataclass(frozen=True)
class Provenance:
    """The hash of the code that made committed results ("" if they do not say), and that of the present code.

    `libraries` has those that differ now (name, then, now), if they alone are why the hashes differ.
    """

    made_by: str
    present: str
    libraries: tuple[tuple[str, str, str], ...] = ()

    @property
    def is_present(self) -> bool:
        """Whether the present code made the results."""
        return bool(self.made_by) and self.made_by == self.present


def compare(made_by: str, module: str, versions: Mapping[str, str] | None = None) -> Provenance:
    """The code that made results next to the present code; `versions` are those of its libraries, if known.

    >>> compare("", "oracles.arithmetic.exact").is_present
    False
    """
    before = {name: (versions or {}).get(name, ABSENT) for name in LIBRARIES}
    moved: tuple[tuple[str, str, str], ...] = ()
    if versions and made_by and fingerprint(module, tuple(before.items())).hex() == made_by:
        moved = tuple((name, before[name], now) for name, now in libraries().items() if now != before[name])
    return Provenance(made_by[:SHORT], present(module), moved)


def present(module: str) -> str:
    """The hash of the present code of a module, as it is shown.

    >>> len(present("oracles.arithmetic.exact")) == SHORT
    True
    """
    return fingerprint(module).hex()[:SHORT]


def of(module: str) -> str:
    """A hash of a module that is loaded by name, with what it imports, and the version of the search.

    >>> of("properties.variants.gallery.walk") == of("properties.variants.gallery.td")
    False
    """
    return f"{fingerprint(module).hex()} hypothesis {version('hypothesis')}"
