"""Which code made a result: for kept ones code that is found by name at run time, for committed ones a short hash."""

from importlib.metadata import version

from benchmarks.sources import fingerprint

SHORT = 12
"""Digits of a hash that are shown."""


def compared(made_by: str, module: str) -> dict[str, str]:
    """The hash of the code that made committed results ("" if they do not say), and that of the present code.

    >>> compared("", "oracles.exact")["made by"]
    ''
    """
    return {"made by": made_by[:SHORT], "present": present(module)}


def present(module: str) -> str:
    """The hash of the present code of a module, as it is shown.

    >>> len(present("oracles.exact")) == SHORT
    True
    """
    return fingerprint(module).hex()[:SHORT]


def of(module: str) -> str:
    """A hash of a module that is loaded by name, with what it imports, and the version of the search.

    >>> of("properties.gallery.walk") == of("properties.gallery.td")
    False
    """
    return f"{fingerprint(module).hex()} hypothesis {version('hypothesis')}"
