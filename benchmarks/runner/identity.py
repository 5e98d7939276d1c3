"""What a result depends on beside its arguments: the sources that can take part in computing it, the versions of the
libraries, and the processor that code is compiled for.

The sources are found in the text of the modules, not by importing them: the module itself and every module of the
four packages that it imports, at any depth, at the top or inside a function. A module that is imported by a name made
up at run time is not seen. Of a source only what is executed counts: who mends a docstring loses no results.
"""

import ast
import functools
import hashlib
import importlib.util
import platform
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TypeGuard

PACKAGES = ("robust_core", "oracles", "properties", "benchmarks")
LIBRARIES = ("numpy", "numba", "scipy", "gymnasium")
"""The libraries whose versions can change the bits of a result."""
ABSENT = "absent"
SIMD = ("sse4.2", "avx", "avx2", "fma", "avx512f", "avx512dq", "avx512vl", "neon", "sve", "sve2")
"""The features of a processor that choose vector lanes and fused operations."""


def libraries() -> dict[str, str]:
    """The versions of the libraries; one that is not there can be there another time, so it is named too."""
    return {name: _version(name) for name in LIBRARIES}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ABSENT


def target() -> tuple[str, str]:
    """The processor that numba compiles for and all its features: this one, if no setting of numba says otherwise."""
    from llvmlite.binding import get_host_cpu_name
    from numba.core import codegen, config

    features = codegen.get_host_cpu_features() if config.CPU_FEATURES is None else config.CPU_FEATURES
    return config.CPU_NAME or get_host_cpu_name(), features


@functools.cache
def processor() -> str:
    """The same in short: architecture, name, and those features that can change the last bits of a sum.

    >>> processor().split()[0] == platform.machine()
    True
    """
    name, features = target()
    there = {word[1:] for word in features.split(",") if word.startswith("+")}
    return " ".join((platform.machine(), name, *(word for word in SIMD if word in there)))


@functools.cache
def fingerprint(module: str, versions: tuple[tuple[str, str], ...] | None = None) -> bytes:
    """A hash of the module's sources, at any depth, and of the versions of the libraries, by default those installed.

    >>> fingerprint("robust_core.streams") == fingerprint("oracles.arithmetic.certified")
    False
    """
    digest = hashlib.blake2b(digest_size=16)
    for name, number in libraries().items() if versions is None else versions:
        digest.update(f"{name} {number}\0".encode())
    for name in sorted(reached(module)):
        digest.update(f"{name}\0{executed(_text(name))}\0".encode())
    return digest.digest()


def executed(source: str) -> str:
    """The lines of a source that are executed: without docstrings, lines of nothing but a comment, and empty lines.

    The text of the other lines is kept as it is, so that the result does not depend on the version of Python.

    >>> print(executed("# Why.\\ndef f():\\n    'Half.'\\n\\n    # Exact.\\n    return 0.5\\n"))
    def f():
        return 0.5
    """
    tree, lines = ast.parse(source), source.splitlines()
    remarks = {line for node in ast.walk(tree) if _is_remark(node, lines) for line in _lines(node)}
    # A line in the middle of a string is not a comment, whatever it begins with.
    strings = {
        line for node in ast.walk(tree) if isinstance(node, ast.Constant | ast.JoinedStr) for line in _lines(node)
    }
    return "\n".join(
        line
        for number, line in enumerate(lines, start=1)
        if number not in remarks and (number in strings or line.lstrip()[:1] not in ("", "#"))
    )


def _is_remark(node: ast.AST, lines: list[str]) -> TypeGuard[ast.Expr]:
    """Whether this is a string that stands as a statement, with its lines to itself."""
    if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)):
        return False
    last = (node.end_lineno or node.lineno) - 1
    rest = lines[last].encode()[node.end_col_offset or 0 :]
    return not lines[node.lineno - 1].encode()[: node.col_offset].strip() and not rest.strip()


def _lines(node: ast.expr | ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def reached(module: str) -> set[str]:
    """The modules of the four packages that `module` imports, at any depth, and itself.

    >>> sorted(reached("oracles.arithmetic.certified"))
    ['oracles', 'oracles.arithmetic.certified']
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
    named = {module.rpartition(".")[0], *_named(ast.parse(_text(module)))}
    return tuple(sorted(name for name in named if name and _file(name) is not None))


def _named(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (part.name for part in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module
            yield from (f"{node.module}.{part.name}" for part in node.names)


def _text(module: str) -> str:
    path = _file(module)
    assert path is not None
    return path.read_text(encoding="utf-8")


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
