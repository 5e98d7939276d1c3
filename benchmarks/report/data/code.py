"""What a kept result depends on beside the modules that compute it: code that is found by name at run time."""

from importlib.metadata import version

from benchmarks.sources import fingerprint


def of(module: str) -> str:
    """A hash of a module that is loaded by name, with what it imports, and the version of the search.

    >>> of("properties.gallery.walk") == of("properties.gallery.td")
    False
    """
    return f"{fingerprint(module).hex()} hypothesis {version('hypothesis')}"
