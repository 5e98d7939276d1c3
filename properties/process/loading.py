"""Finding variants: `package.module:NAME`, `path/to/file.py[:NAME]`, the name of a published one, or all built in.

A distribution publishes variants as entry points, each a name and a `Variant`:

    [project.entry-points."robust_core.variants"]
    my-q-learning = "my_lab.q_learning:MINE"

Loading a variant executes the module it is in, here and now. Commands load a user's module in a worker only
(`properties.process.session`). What it prints goes to standard error, for standard output is the command's. A module
beside the variant's file can be imported by it, and so can one in the current folder; both folders are searched after
all others, so that a file named like a library hides none.
"""

import contextlib
import hashlib
import importlib
import importlib.util
import os
import pkgutil
import sys
import traceback
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, TypeGuard

from properties.process.memory import shortage_note
from robust_core.json import text_of
from robust_core.text import LONGEST_NAME, error_text, is_ctrl_c, shorten, suggestion

if TYPE_CHECKING:
    from robust_core.problem import Variant

GROUP = "robust_core.variants"
OWN = ("properties", "oracles", "robust_core", "benchmarks")
"""The packages of the suite."""
FORMS = "package.module[:NAME], file.py[:NAME], or a name that an installed package publishes"
DEEPEST = 100_000
"""The largest recursion limit that a module can set when it is loaded: so many frames take some tens of megabytes."""
MOST_FRAMES = 500
"""Frames that are looked at, from the end of a traceback."""
# Folders that were put on the path for variants, the latest first.
_searched: list[str] = []


def gallery_modules() -> list[str]:
    """The modules of the gallery."""
    from properties.variants import gallery

    return [f"{gallery.__name__}.{info.name}" for info in pkgutil.iter_modules(gallery.__path__) if not info.ispkg]


def gallery_variants() -> "dict[str, Variant]":
    """The variants of the gallery, by the name under which each is loaded."""
    return load_all(gallery_modules())


def published_names() -> list[str]:
    """The names of the variants that installed distributions publish."""
    return sorted({point.name for point in _all_points()})


def _published(name: str) -> "Variant":
    """The variant of an entry point; whatever is wrong with it, the message names its distribution."""
    points = _points(name)
    if len({point.value for point in points}) > 1:
        raise ValueError(f"entry point {name!r}: published by {_origins(points)} with different values; uninstall one")
    try:
        with contextlib.redirect_stdout(sys.stderr):
            variant = points[0].load()
    except BaseException as error:
        if is_ctrl_c(error):
            raise
        raise ValueError(f"{place_of(name)}: {_in_words(error)}") from error
    if not _is_variant(variant, place_of(name)):
        raise ValueError(f"{place_of(name)}: must be a Variant, got {variant!r:.80}")
    return variant


def place_of(target: str) -> str:
    """What is executed when a target is loaded, in the words of a message: a file, a module or an entry point.

    >>> place_of("my_variant.py:MINE")
    'my_variant.py'
    """
    points = _points(target)
    return f"entry point {target!r} of {_origins(points)}" if points else target.partition(":")[0]


def _points(name: str) -> list[EntryPoint]:
    return [point for point in _all_points() if point.name == name]


def _all_points() -> EntryPoints:
    """What all installed distributions publish; read again after a change of a folder that is searched for them."""
    return _read_points(tuple((folder, _changed_at(folder)) for folder in sys.path))


@lru_cache(maxsize=1)
def _read_points(searched: tuple[tuple[str, int], ...]) -> EntryPoints:
    return entry_points(group=GROUP)


def _changed_at(folder: str) -> int:
    try:
        return os.stat(folder or ".").st_mtime_ns
    except OSError:
        return 0


def _origins(points: list[EntryPoint]) -> str:
    return " and ".join(sorted({_origin(point) for point in points}))


def _origin(point: EntryPoint) -> str:
    return "an unknown distribution" if point.dist is None else f"{point.dist.name} {point.dist.version}"


def load(target: str) -> "dict[str, Variant]":
    """The variants that a target names; the keys name each of them alone.

    Whatever is wrong with the target is a `ValueError` of one line that names the file, the line and the reason, also
    when its code raises or asks to exit.
    """
    return load_all([target])


def load_all(targets: Iterable[str]) -> "dict[str, Variant]":
    """The variants that several targets name; a file that is named twice is executed once."""
    found: dict[str, Variant] = {}
    by_place: dict[str, dict[str, Variant]] = {}
    for target in targets:
        if not isinstance(target, str):
            raise TypeError(f"a target must be text ({FORMS}), got {target!r:.80}")
        if _points(target):
            found[target] = _published(target)
            continue
        place, _, name = target.partition(":")
        if place not in by_place:
            module = _from_file(Path(place)) if place.endswith(".py") else _from_package(place)
            by_place[place] = _variants(module, place)
        variants = by_place[place]
        if not variants:
            raise ValueError(f"{place}: no Variant in it")
        if name and name not in variants:
            raise ValueError(f"{place}: no variant {name!r}; it has {', '.join(sorted(variants))}")
        found |= {f"{place}:{key}": variant for key, variant in variants.items() if name in ("", key)}
    return found


def source_of(target: str) -> str:
    """The source of the file or of the suite's module that a target names; nothing is executed."""
    place = place_of(target)
    if is_of_the_suite(place):
        found = importlib.util.find_spec(place)
        if found is None or found.origin is None:
            raise ValueError(f"no module {place!r}")
        return Path(found.origin).read_text(encoding="utf-8")
    if not place.endswith(".py"):
        raise ValueError(f"{place}: its source is not at hand; name its file")
    if (reason := missing_file(target)) is not None:
        raise ValueError(reason)
    return text_of(Path(place))


def load_source(target: str, source: str) -> "Variant":
    """The variant of a target ("place:NAME") as it would be if its module had this source."""
    place, _, name = target.partition(":")
    module = ModuleType(f"variant_of_{hashlib.blake2b(source.encode(), digest_size=8).hexdigest()}")
    module.__file__ = place
    sys.modules[module.__name__] = module
    try:
        with _blamed_on(place):
            exec(compile(source, place, "exec"), module.__dict__)
    finally:
        del sys.modules[module.__name__]
    variant = vars(module).get(name)
    if not _is_variant(variant, place):
        raise ValueError(f"{place}: no variant {name!r}")
    return variant


def is_of_the_suite(place: str) -> bool:
    """Whether a module is one of the suite's own."""
    return not place.endswith(".py") and place.partition(".")[0] in OWN


def missing_file(target: str) -> str | None:
    """The reason, if a target is a file that is not there."""
    path = Path(place_of(target))
    if path.suffix != ".py" or path.is_file():
        return None
    if path.is_dir():
        return f"{path}: a folder, not a Python file"
    if path.exists():
        return f"{path}: not a regular file"
    if path.is_symlink():
        return f"{path}: a link to a file that is not there"
    beside = [str(other) for other in path.parent.glob("*.py")] if path.parent.is_dir() else []
    return f"{path}: no such file{suggestion(path, beside)}"


def target_of(variant: "Variant") -> str | None:
    """How a variant that is there can be loaded again; None for one that is not in a module or a file.

    >>> from properties.variants.gallery.bellman import VARIANT
    >>> target_of(VARIANT)
    'properties.variants.gallery.bellman:VARIANT'
    """
    places: list[tuple[int, str]] = []
    for name, module in list(sys.modules.items()):
        namespace = getattr(module, "__dict__", {})
        found = next((key for key, value in list(namespace.items()) if value is variant), None)
        file = Path(namespace.get("__file__") or "")
        if found is not None and _is_importable(name):
            # A module of tests shows the variants of others.
            places.append((1 if ".tests." in name else 0, f"{name}:{found}"))
        elif found is not None and file.suffix == ".py" and file.is_file():
            # A script may do its work again when it is loaded; multiprocessing knows it by a second name.
            places.append((3 if name in ("__main__", "__mp_main__") else 2, f"{_from_here(file)}:{found}"))
    return min(places)[1] if places else None


def _is_importable(name: str) -> bool:
    """Whether a fresh process would find the module by its name: one of a package; others are known by their file."""
    package, _, _ = name.rpartition(".")
    path = getattr(sys.modules.get(package), "__path__", None)
    return path is not None and any(finder.find_spec(name, path) is not None for finder in sys.meta_path)


def _from_here(path: Path) -> Path:
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def _variants(module: ModuleType, place: str) -> "dict[str, Variant]":
    """The variants of a module by their names, which stand in messages, files and commands."""
    found = {name: value for name, value in vars(module).items() if _is_variant(value, place)}
    for name in found:
        if not name.isidentifier() or len(name) > LONGEST_NAME:
            raise ValueError(
                f"{place}: a variant must be a variable with a name of at most {LONGEST_NAME} characters, got "
                f"{shorten(repr(name), LONGEST_NAME)}"
            )
    return found


def _is_variant(value: object, place: str) -> "TypeGuard[Variant]":
    # The parent of a worker loads no variant, and so no numpy.
    from robust_core.problem import NOT_ITSELF, Variant

    if isinstance(value, Variant) and type(value) is not Variant:
        raise ValueError(f"{place}: {NOT_ITSELF}")
    return isinstance(value, Variant)


def _from_file(path: Path) -> ModuleType:
    """The module that a file is, under a name of its own: `json.py` takes nobody's place."""
    if (reason := missing_file(str(path))) is not None:
        raise ValueError(reason)
    full = path.resolve()
    name = f"variant_{full.stem}_{hashlib.blake2b(str(full).encode(), digest_size=4).hexdigest()}"
    spec = importlib.util.spec_from_file_location(name, full)
    if spec is None or spec.loader is None:
        raise ValueError(f"{path}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    _search(full.parent)
    sys.modules[name] = module
    try:
        with _blamed_on(path):
            spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _from_package(name: str) -> ModuleType:
    if not all(part.isidentifier() for part in name.split(".")):
        reason = "a folder; name a file in it" if name and Path(name).is_dir() else f"a target is {FORMS}"
        raise ValueError(f"{name or repr(name)}: {reason}")
    _search(Path.cwd())
    try:
        with _blamed_on(name):
            return importlib.import_module(name)
    except ValueError as error:
        missing = error.__cause__.name if isinstance(error.__cause__, ModuleNotFoundError) else None
        if missing is None or not f"{name}.".startswith(f"{missing}."):
            raise
    published = ", ".join(sorted(_all_points().names)) or "none"
    raise ValueError(
        f"no module {missing!r} (a file is named with its .py; published by installed packages: {published})"
        f"{suggestion(missing, _beside(missing))}"
    )


def _beside(missing: str) -> list[str]:
    """The modules of the package in which a module is missing: it is loaded by then."""
    package = missing.rpartition(".")[0]
    folders = getattr(sys.modules.get(package), "__path__", ())
    return [f"{package}.{module.name}" for module in pkgutil.iter_modules(folders)]


@contextlib.contextmanager
def _blamed_on(place: str | Path) -> Iterator[None]:
    """Turn whatever loading raises, a wish to exit too, into one line that says where and why."""
    depth = sys.getrecursionlimit()
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    except BaseException as error:
        if is_ctrl_c(error):
            raise
        raise ValueError(f"{_where(place, error)}: {_in_words(error)}{shortage_note(error)} while loading") from error
    finally:
        # A judge needs as much as before, and a recursion without end would fill the memory before it is an error.
        sys.setrecursionlimit(min(max(sys.getrecursionlimit(), depth), max(depth, DEEPEST)))


def _in_words(error: BaseException) -> str:
    """The type and the message of what loading has raised; the lines of a syntax error are named elsewhere."""
    from properties.judging.guard import message_in_time

    message = error.msg if isinstance(error, SyntaxError) else message_in_time(error)
    return error_text(error, " ".join(message.split()))


def _where(place: str | Path, error: BaseException) -> str:
    """The place with the line of it that failed; where a module that it imports failed, that one's line as well."""
    own = str(place.resolve()) if isinstance(place, Path) else None
    frames = traceback.extract_tb(error.__traceback__, limit=-MOST_FRAMES)
    inner = [(frame.filename, frame.lineno) for frame in frames if frame.filename == own or frame.name == "<module>"]
    if isinstance(error, SyntaxError) and error.filename is not None:
        inner.append((error.filename, error.lineno))
    lines = [line for file, line in inner if file == own]
    where = f"{place}, line {lines[-1]}" if lines else str(place)
    if inner and inner[-1][0] != own:
        where += f" ({inner[-1][0]}, line {inner[-1][1]})"
    return where


def _search(folder: Path) -> None:
    """Let modules of the folder be imported, now and later; before those of other variants, after all others.

    A module of the same name that came from the folder of another variant is forgotten.
    """
    new = str(folder)
    if new in sys.path and new not in _searched:
        return
    for other in _searched:
        for name, module in list(sys.modules.items()):
            file = getattr(module, "__file__", None) or ""
            if other != new and Path(file).is_relative_to(other) and _has(folder, name.partition(".")[0]):
                del sys.modules[name]
    _searched[:] = [new, *(other for other in _searched if other != new)]
    sys.path[:] = [*(entry for entry in sys.path if entry not in _searched), *_searched]
    importlib.invalidate_caches()


def _has(folder: Path, name: str) -> bool:
    return (folder / f"{name}.py").is_file() or (folder / name / "__init__.py").is_file()
