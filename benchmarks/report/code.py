"""Which code made a result: for kept ones code that is found by name at run time, for committed ones a short hash."""

from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.runner import identity
from benchmarks.runner.identity import ABSENT, SHORT, libraries
from robust_core.versions import installed_version


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
    present_versions = libraries()
    before = {name: (versions or {}).get(name, ABSENT) for name in present_versions}
    moved: tuple[tuple[str, str, str], ...] = ()
    if versions and made_by and identity.code(module, before) == made_by:
        moved = tuple((name, before[name], now) for name, now in present_versions.items() if now != before[name])
    return Provenance(made_by[:SHORT], present(module), moved)


def present(module: str) -> str:
    """The hash of the present code of a module, as it is shown.

    >>> len(present("oracles.arithmetic.exact")) == SHORT
    True
    """
    return identity.code(module)[:SHORT]


def of(module: str) -> str:
    """A hash of a module that is loaded by name, with what it imports, and the version of the search.

    >>> of("properties.variants.gallery.walk") == of("properties.variants.gallery.td")
    False
    """
    return f"{identity.of(module)} hypothesis {installed_version('hypothesis')}"
