"""Which code made a result: for kept ones code that is found by name at run time, for committed ones a short hash."""

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from benchmarks.runner.identity import ABSENT, LIBRARIES, fingerprint, libraries

SHORT = 12
"""Digits of a hash that are shown."""


def compared(made_by: str, module: str, versions: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The hash of the code that made committed results ("" if they do not say), and that of the present code.

    `versions` are those of the libraries that they were made with; `libraries` has those of them that differ now
    (name, then, now) if the code is the same and they alone are why the hashes are not.

    >>> compared("", "oracles.arithmetic.exact")["made by"]
    ''
    """
    before = {name: (versions or {}).get(name, ABSENT) for name in LIBRARIES}
    others: list[list[str]] = []
    if versions and made_by and fingerprint(module, tuple(before.items())).hex() == made_by:
        others = [[name, before[name], now] for name, now in libraries().items() if now != before[name]]
    return {"made by": made_by[:SHORT], "present": present(module), "libraries": others}


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
