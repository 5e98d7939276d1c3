"""The identity of the code: what a result depends on beside its arguments.

These are the sources that can take part in computing it, the versions of Python and of the libraries and, where a
source does arithmetic whose last bits depend on it, the processor.

The sources are found in the text of the modules, not by importing them: the module itself and every module of the
four packages that it imports, at any depth, at the top or inside a function. A package on the way to a module counts
with its statements at the top: the functions that it defines are not called. A module that is imported by a name made
up at run time is not seen. Of a source only what is executed counts: a changed docstring costs no results.
"""

import ast
import functools
import hashlib
import importlib.util
import platform
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeGuard

from robust_core.versions import ABSENT as ABSENT
from robust_core.versions import libraries as libraries

PACKAGES = ("robust_core", "oracles", "properties", "benchmarks")
SIMD = ("sse4.2", "avx", "avx2", "fma", "avx512f", "avx512dq", "avx512vl", "neon", "sve", "sve2")
"""The features of a processor that choose vector lanes and fused operations."""
ROUNDED = frozenset(
    (
        "dot",
        "einsum",
        "exp",
        "exp2",
        "expm1",
        "linalg",
        "log",
        "log1p",
        "log2",
        "logaddexp",
        "matmul",
        "njit",
        "tensordot",
    )
)
"""Names of functions whose last bits depend on the processor: products and solutions by BLAS and LAPACK, exponentials
and logarithms, compiled loops."""
SHORT = 12
"""Digits of a hash that are shown to a reader."""


@functools.cache
def processor() -> str:
    """The processor that numba compiles for: architecture, name, and the features that can change bits of a sum.

    >>> processor().split()[0] == platform.machine()
    True
    """
    from llvmlite.binding import get_host_cpu_name
    from numba.core import codegen, config

    features = codegen.get_host_cpu_features() if config.CPU_FEATURES is None else config.CPU_FEATURES
    there = {word[1:] for word in features.split(",") if word.startswith("+")}
    name = config.CPU_NAME or get_host_cpu_name()
    return " ".join((platform.machine(), name, *(word for word in SIMD if word in there)))


@functools.cache
def of(module: str) -> str:
    """The identity of all that a value of this module depends on: its code, and the processor unless it is portable.

    >>> of("robust_core.streams") == of("oracles.arithmetic.certified")
    False
    """
    return code(module) if is_portable(module) else f"{code(module)} {processor()}"


@functools.cache
def parts(module: str) -> dict[str, str]:
    """The same in parts, by name, with the processor in any case."""
    return {
        **libraries(),
        "libc": "-".join(platform.libc_ver()),
        "processor": processor(),
        f"code of {module}": sources(module),
    }


def code(module: str, versions: Mapping[str, str] | None = None) -> str:
    """A hash of the sources and of the versions of the libraries, by default those installed."""
    digest = hashlib.blake2b(digest_size=16)
    for name, number in (libraries() if versions is None else versions).items():
        digest.update(f"{name} {number}\0".encode())
    digest.update(sources(module).encode())
    return digest.hexdigest()


@functools.cache
def sources(module: str) -> str:
    """A hash of the sources that a module reaches."""
    digest = hashlib.blake2b(digest_size=16)
    for name, text in sorted(_reached(module).items()):
        digest.update(f"{name}\0{text}\0".encode())
    return digest.hexdigest()


@functools.cache
def is_portable(module: str) -> bool:
    """Whether no source that it reaches does arithmetic whose last bits depend on the processor.

    >>> is_portable("robust_core.text"), is_portable("oracles.planning.direct")
    (True, False)
    """
    return not any(_rounds(name) for name in reached_modules(module))


@functools.cache
def _rounds(module: str) -> bool:
    return any(
        isinstance(node, ast.MatMult)
        or (isinstance(node, ast.Attribute) and node.attr in ROUNDED)
        or (isinstance(node, ast.ImportFrom) and any(part.name in ROUNDED for part in node.names))
        for node in _nodes(module)
    )


def executed_lines(source: str) -> str:
    """The lines of a source that are executed: without docstrings, lines of nothing but a comment, and empty lines.

    The text of the other lines is kept as it is, so that the result does not depend on the version of Python.

    >>> print(executed_lines("# Why.\\ndef f():\\n    'Half.'\\n\\n    # Exact.\\n    return 0.5\\n"))
    def f():
        return 0.5
    """
    return _executed_lines(source, tuple(ast.walk(ast.parse(source))))


def _executed_lines(source: str, nodes: tuple[ast.AST, ...]) -> str:
    lines = source.splitlines()
    remarks = {line for node in nodes if _is_remark(node, lines) for line in _lines(node)}
    # A line in the middle of a string is not a comment, whatever it begins with.
    strings = {line for node in nodes if isinstance(node, ast.Constant | ast.JoinedStr) for line in _lines(node)}
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


def reached_modules(module: str) -> set[str]:
    """The modules of the four packages that `module` imports, at any depth, itself, and the packages on the way.

    >>> sorted(reached_modules("oracles.arithmetic.certified"))
    ['oracles', 'oracles.arithmetic', 'oracles.arithmetic.certified']
    """
    return set(_reached(module))


def _reached(module: str) -> dict[str, str]:
    """What is executed of every module that is reached."""
    if _file(module) is None:
        raise ValueError(f"module must be a module of {', '.join(PACKAGES)}, got {module!r}")
    found: dict[str, str] = {}
    waiting = [(module, True)]
    whole: set[str] = set()
    while waiting:
        name, used = waiting.pop()
        if name in whole or (name in found and not used):
            continue
        found[name] = _executed(name, used)
        if used:
            whole.add(name)
        waiting += _imported(name, used)
    return found


@functools.cache
def _executed(module: str, used: bool) -> str:
    return _executed_lines(_text(module), _nodes(module)) if used else executed_lines(_top(module))


@functools.cache
def _imported(module: str, used: bool) -> tuple[tuple[str, bool], ...]:
    """The modules that one module names, each with whether it is used or only lies on the way."""
    tree = _tree(module) if used else ast.parse(_top(module))
    named = {(name, True) for name in _named(tree)}
    named |= {(package, False) for name in (module, *(name for name, _ in named)) for package in _packages(name)}
    return tuple(sorted((name, used) for name, used in named if _file(name) is not None))


def _packages(module: str) -> Iterator[str]:
    """The packages that a module lies in: their `__init__` runs first."""
    while module := module.rpartition(".")[0]:
        yield module


def _named(tree: ast.AST) -> Iterator[str]:
    """The modules of the four packages that a source uses; what is imported for the type checker alone is not used."""
    for node in _run(tree):
        if isinstance(node, ast.Import):
            yield from (part.name for part in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            for part in node.names:
                yield _home(node.module, part.name)


def _run(tree: ast.AST) -> Iterator[ast.AST]:
    """All statements but those under `if TYPE_CHECKING`; expressions have no imports."""
    waiting = [tree]
    while waiting:
        for node in ast.iter_child_nodes(waiting.pop()):
            checked = isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
            if isinstance(node, ast.stmt | ast.excepthandler | ast.match_case) and not checked:
                yield node
                waiting.append(node)


@functools.cache
def _home(module: str, name: str) -> str:
    """The module that `from module import name` needs: a submodule, the one a package takes it from, or itself."""
    if _file(f"{module}.{name}") is not None:
        return f"{module}.{name}"
    path = _file(module)
    if path is None or path.name != "__init__.py":
        return module
    for node in ast.walk(_tree(module)):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            if any((part.asname or part.name) == name for part in node.names):
                return _home(node.module, name)
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if _is_text(key) and key.value == name and _is_text(value) and _file(str(value.value)) is not None:
                    return _home(str(value.value), name)
    return module


def _is_text(node: ast.AST | None) -> TypeGuard[ast.Constant]:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


@functools.cache
def _top(package: str) -> str:
    """The source of a package with `pass` in the place of the functions and classes that it defines."""
    lines = _text(package).splitlines()
    for node in _definitions(_tree(package)):
        first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
        lines[first - 1] = " " * node.col_offset + "pass"
        lines[first : node.end_lineno] = [""] * ((node.end_lineno or first) - first)
    return "\n".join(lines)


def _definitions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    """The functions and classes that a source defines, without those within them."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node
        else:
            yield from _definitions(node)


@functools.cache
def _tree(module: str) -> ast.Module:
    return ast.parse(_text(module))


@functools.cache
def _nodes(module: str) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(_tree(module)))


@functools.cache
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
