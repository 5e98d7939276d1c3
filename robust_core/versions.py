"""The versions of Python and of the libraries that can change the bits of a result."""

import platform
from importlib.metadata import PackageNotFoundError, version

LIBRARIES = ("numpy", "numba", "scipy", "gymnasium")
ABSENT = "absent"


def libraries() -> dict[str, str]:
    """The versions by name; a library that is not there can be there another time, so it is named too."""
    return {"python": platform.python_version()} | {name: installed_version(name) for name in LIBRARIES}


def installed_version(name: str) -> str:
    """The version of a library.

    >>> installed_version("no such library")
    'absent'
    """
    try:
        return version(name)
    except PackageNotFoundError:
        return ABSENT
