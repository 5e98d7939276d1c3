"""Finding variants: `package.module:NAME`, `path/to/file.py[:NAME]`, or all that ship with the suite.

Loading a variant executes the module it is in.
"""

import importlib
import importlib.util
import pkgutil
import sys
from pathlib import Path
from types import ModuleType

from robust_core.variant import Variant


def built_in() -> dict[str, Variant]:
    """The variants of the gallery, by the name under which each is loaded."""
    from properties import gallery

    found: dict[str, Variant] = {}
    for info in pkgutil.iter_modules(gallery.__path__):
        module = f"{gallery.__name__}.{info.name}"
        found |= {f"{module}:{name}": variant for name, variant in _variants(importlib.import_module(module)).items()}
    return found


def load(target: str) -> dict[str, Variant]:
    """The variants that a target names; the keys name each of them alone."""
    place, _, name = target.partition(":")
    module = _from_file(Path(place)) if place.endswith(".py") else _from_package(place)
    found = _variants(module)
    if not found:
        raise ValueError(f"{place}: no Variant in it")
    if name:
        if name not in found:
            raise ValueError(f"{place}: no variant {name!r}; it has {', '.join(sorted(found))}")
        return {target: found[name]}
    return {f"{place}:{key}": variant for key, variant in found.items()}


def _variants(module: ModuleType) -> dict[str, Variant]:
    return {name: value for name, value in vars(module).items() if isinstance(value, Variant)}


def _from_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise ValueError(f"{path}: no such file")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ValueError(f"{path}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def _from_package(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise ValueError(f"no module {error.name!r} (a file is named with its .py)") from None
