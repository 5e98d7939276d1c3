"""Loads the packages above the core, and says which file hides one of them.

The core must not import the suite: the contract on imports in `pyproject.toml` says so. An entry point has to reach it
nevertheless, and so do the names that `robust_core` hands out; they look the module up by name when it is used.
"""

import importlib
import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]
"""The folder that the four packages are installed in."""
NEEDED = {"properties": ("oracles", "properties"), "benchmarks": ("oracles", "properties", "benchmarks")}
"""The packages that a module of a package can import."""


class HiddenPackageError(ImportError):
    """A module of the user has the name of a package of the suite and is found first."""


def load(module: str) -> ModuleType:
    """The module of the suite with this name; an `ImportError` of one line where it cannot be loaded here."""
    require_posix()
    require_own(*NEEDED[module.partition(".")[0]])
    return importlib.import_module(module)


def require_posix() -> None:
    """Refuse a system on which the suite cannot limit and end the processes that it starts."""
    if os.name != "posix":
        raise ImportError(
            f"the verification suite of robust-core needs a POSIX system (Linux, macOS, WSL), this is {sys.platform}; "
            "the algorithms in robust_core work without it"
        )


def require_own(*packages: str) -> None:
    """Refuse a package that is not ours, and name the file that is found in its place."""
    for name in packages:
        place = location(name)
        if place is not None and place not in (ROOT / name, ROOT / name / "__init__.py"):
            raise HiddenPackageError(
                f"{place} hides the package {name!r} of robust-core: rename it, or run this in another folder"
            )


def location(name: str) -> Path | None:
    """The file or folder that `import name` loads, or has loaded; None if there is none."""
    if name in sys.modules:
        module = sys.modules[name]
        places = [getattr(module, "__file__", None), *getattr(module, "__path__", ())]
    else:
        spec = importlib.util.find_spec(name)
        places = [] if spec is None else [spec.origin, *(spec.submodule_search_locations or ())]
    return next((Path(place).resolve() for place in places if place), None)
