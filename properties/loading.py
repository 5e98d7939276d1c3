"""Finding variants: `package.module:NAME`, `path/to/file.py[:NAME]`, the name of a published one, or all built in.

A distribution publishes variants as entry points, each a name and a `Variant`:

    [project.entry-points."robust_core.variants"]
    my-q-learning = "my_lab.q_learning:MINE"

Loading a variant executes the module it is in.
"""

import importlib
import importlib.util
import pkgutil
import sys
import warnings
from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType

from robust_core.variant import Variant

GROUP = "robust_core.variants"


class PublicationWarning(UserWarning):
    """An entry point of an installed distribution that is no variant."""


def _warn(message: str) -> None:
    warnings.warn(message, PublicationWarning, stacklevel=3)


def built_in() -> dict[str, Variant]:
    """The variants of the gallery, by the name under which each is loaded."""
    from properties import gallery

    found: dict[str, Variant] = {}
    for info in pkgutil.iter_modules(gallery.__path__):
        module = f"{gallery.__name__}.{info.name}"
        found |= {f"{module}:{name}": variant for name, variant in _variants(importlib.import_module(module)).items()}
    return found


def installed(*, complain: Callable[[str], object] = _warn) -> dict[str, Variant]:
    """The variants that installed distributions publish, by the name under which each is loaded.

    What cannot be loaded is told to `complain`, with the name of its distribution, and the others are found all the
    same.
    """
    found: dict[str, Variant] = {}
    for name in sorted({point.name for point in entry_points(group=GROUP)}):
        try:
            found[name] = _published(name)
        except ValueError as error:
            complain(str(error))
    return found


def _published(name: str) -> Variant:
    """The variant of an entry point; whatever is wrong with it, the message names its distribution."""
    points = [point for point in entry_points(group=GROUP) if point.name == name]
    origins = " and ".join(sorted({_origin(point) for point in points}))
    if len({point.value for point in points}) > 1:
        raise ValueError(f"entry point {name!r}: published by {origins} with different values; uninstall one")
    try:
        variant = points[0].load()
    except (Exception, SystemExit) as error:
        raise ValueError(f"entry point {name!r} of {origins}: {type(error).__name__}: {error}") from error
    if not isinstance(variant, Variant):
        raise ValueError(f"entry point {name!r} of {origins}: must be a Variant, got {variant!r:.80}")
    return variant


def _origin(point: EntryPoint) -> str:
    return "an unknown distribution" if point.dist is None else f"{point.dist.name} {point.dist.version}"


def load(target: str) -> dict[str, Variant]:
    """The variants that a target names; the keys name each of them alone."""
    if target in entry_points(group=GROUP).names:
        return {target: _published(target)}
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
        published = ", ".join(sorted(entry_points(group=GROUP).names)) or "none"
        raise ValueError(
            f"no module {error.name!r} (a file is named with its .py; published by installed packages: {published})"
        ) from None
