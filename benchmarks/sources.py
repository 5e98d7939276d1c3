"""What a result depends on beside its arguments: a hash of the sources that can take part in computing it.

The sources are found in the text of the modules, not by importing them: the module itself and every module of the
four packages that it imports, at any depth, at the top or inside a function. A module that is imported by a name made
up at run time is not seen.
"""

import ast
import functools
import hashlib
import importlib.util
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

PACKAGES = ("robust_core", "oracles", "properties", "benchmarks")
LIBRARIES = ("numpy", "numba")
"""The libraries whose versions can change the bits of a result."""


@functools.cache
def fingerprint(module: str) -> bytes:
    """A hash of the module's sources, at any depth, and of the versions of numpy and numba.

    >>> fingerprint("robust_core.streams") == fingerprint("oracles.certified")
    False
    """
    digest = hashlib.blake2b(digest_size=16)
    for name in LIBRARIES:
        digest.update(f"{name} {version(name)}\0".encode())
    for name in sorted(reached(module)):
        digest.update(name.encode() + b"\0" + _file(name).read_bytes() + b"\0")  # type: ignore[union-attr]
    return digest.digest()


def reached(module: str) -> set[str]:
    """The modules of the four packages that `module` imports, at any depth, and itself.

    >>> sorted(reached("oracles.certified"))
    ['oracles', 'oracles.certified']
    """
    if _file(module) is None:
        raise ValueError(f"module must be a module of {', '.join(PACKAGES)}, got {module!r}")
    found: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += _imported(name)
    return found


@functools.cache
def _imported(module: str) -> tuple[str, ...]:
    """The modules that one module names, and the packages it lies in (their `__init__` runs first)."""
    path = _file(module)
    assert path is not None
    named = {module.rpartition(".")[0], *_named(ast.parse(path.read_bytes()))}
    return tuple(sorted(name for name in named if name and _file(name) is not None))


def _named(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (part.name for part in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module
            yield from (f"{node.module}.{part.name}" for part in node.names)


@functools.cache
def _file(module: str) -> Path | None:
    """The source of a module of the four packages; None for everything else."""
    package, *rest = module.split(".")
    if package not in PACKAGES:
        return None
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return None
    base = Path(spec.submodule_search_locations[0]).joinpath(*rest)
    for path in (base / "__init__.py", base.with_suffix(".py") if rest else base):
        if path.is_file():
            return path
    return None
