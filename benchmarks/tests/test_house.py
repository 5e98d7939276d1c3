"""The house rules that can be counted: one mechanism for each job, types instead of dicts, one command."""

import ast
import re
import subprocess
from collections import Counter
from collections.abc import Container, Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("robust_core", "oracles", "properties", "benchmarks")
MOST_DICTS = 3.0
"""Occurrences of `dict[str, Any]` per 1,000 lines of `benchmarks`."""


CHECKER = "robust_core/certificates/checker.py"
"""The checker of certificates uses nothing of ours and is run by itself: `test_certificates` checks that."""


@cache
def sources(*, tests: bool = False) -> dict[str, str]:
    """The text of every module, by its path."""
    found = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if tests == ("/tests/" in name):
                found[name] = path.read_text(encoding="utf-8")
    return found


def places(pattern: str, *, but: tuple[str, ...] = ()) -> list[str]:
    """The modules whose text has the pattern."""
    return [name for name, text in sources().items() if name not in but and re.search(pattern, text, re.MULTILINE)]


def test_there_is_one_strict_json() -> None:
    assert places(r"object_pairs_hook|parse_constant", but=(CHECKER,)) == ["robust_core/json.py"]


PLAIN_JSON = {
    "robust_core/json.py",
    CHECKER,  # stands alone
    "benchmarks/cli/main.py",  # escapes single characters for a terminal
    "benchmarks/report/markup.py",  # escapes data within a page
    "benchmarks/runner/units.py",  # hashes arguments
    "benchmarks/runner/store.py",  # hashes lines
    "benchmarks/net/parts.py",  # hashes values
    "benchmarks/speed/cluster.py",  # reads the file of another program
    "properties/cases/reductions.py",  # measures lengths
    "properties/judging/counterexample.py",  # cases may hold infinities
    "properties/process/child.py",  # hands arguments to a fresh interpreter
    "properties/process/supervisor.py",  # runs in a process that loads nothing else
}
"""The modules that use the standard library's JSON, and why."""


def test_json_is_read_and_written_by_that_module() -> None:
    assert set(places(r"^\s*(import json$|from json import)")) <= PLAIN_JSON


def test_there_is_one_writer_of_markdown_tables() -> None:
    assert places(r"\|---|\"---\"|'---'") == ["benchmarks/documents/markdown.py"]


def test_there_is_one_list_of_libraries() -> None:
    assert places(r"metadata import .*\bversion\b|metadata\.version\(|_metadata\(") == [
        "robust_core/__init__.py",
        "robust_core/versions.py",
    ]


def test_there_is_one_hash_of_the_code() -> None:
    """Sources are parsed for what they import in one place."""
    assert places(r"ast\.ImportFrom") == ["benchmarks/runner/identity.py"]


def test_there_is_one_program() -> None:
    assert places(r"^if __name__ == .__main__.", but=(CHECKER,)) == ["robust_core/__main__.py"]


@pytest.mark.parametrize(
    ("pattern", "home"),
    [
        (r"multiprocessing import|ProcessPoolExecutor", "benchmarks/runner/pool.py"),
        (r"(from|import) (dask|distributed)\b", "benchmarks/runner/cluster.py"),
        (r"min left\"", "benchmarks/runner/progress.py"),
        (r"^class Seeded\(", "properties/cases/choices.py"),
        (r"^def reduce\(", "properties/cases/reductions.py"),
        (r"^class Unit\b", "benchmarks/runner/units.py"),
        (r"^def (but|told)\(", "properties/variants/mutants/plain.py"),
        (r"^def add_running\(", "benchmarks/cli/conventions.py"),
        (r"with open_store\(", "benchmarks/cli/conventions.py"),
        (r"os\.replace\(", "benchmarks/runner/store.py"),
    ],
    ids=[
        "processes",
        "cluster",
        "time left",
        "generator",
        "shrinker",
        "unit of work",
        "parts of mutants",
        "options of long runs",
        "store of a command",
        "replacement of a file",
    ],
)
def test_there_is_one_place_for(pattern: str, home: str) -> None:
    assert places(pattern) == [home]


def test_a_problem_is_made_of_a_model_in_one_way() -> None:
    assert places(r"^class Setting\b") == []
    named = set(places(r"from robust_core(\.problem)? import [^\n]*\bProblem\b"))
    assert named & set(places(r"(?<![\w.])Problem\(")) == set()


def test_plain_dicts_are_rare() -> None:
    texts = [text for name, text in sources().items() if name.startswith("benchmarks/")]
    lines = sum(text.count("\n") for text in texts)
    found = sum(len(re.findall(r"dict\[str, Any\]", text)) for text in texts)
    assert 1000 * found / lines <= MOST_DICTS, f"{found} in {lines} lines"


BOTH_WAYS = ("robust_core.kernels.", "robust_core.entry.")
"""A specification calls its kernel, which shares its types; an entry point loads what the package hands out lazily."""


def test_imports_have_no_cycle() -> None:
    """Imports inside functions count too: they are for heavy libraries, not for hiding a cycle."""
    modules = {_module(name): text for name, text in sources().items()}
    graph = {name: {other for other in _imports(text, modules) if other != name} for name, text in modules.items()}
    assert [cycle for cycle in _cycles(graph) if not any(name.startswith(BOTH_WAYS) for name in cycle)] == []


def _module(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _imports(text: str, modules: Container[str]) -> Iterator[str]:
    """The modules that a module needs; a package that is only the way to a submodule is not one of them."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (part.name for part in node.names if part.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for part in node.names:
                name = f"{node.module}.{part.name}"
                yield from ([name] if name in modules else [node.module] if node.module in modules else [])


def _cycles(graph: dict[str, set[str]]) -> Iterator[list[str]]:
    """The strongly connected components with more than one module (Tarjan)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in graph[name]:
            if other not in index:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], index[other])
        if low[name] == index[name]:
            component: list[str] = []
            while not component or component[-1] != name:
                component.append(stack.pop())
            if len(component) > 1:
                found.append(sorted(component))

    for name in graph:
        if name not in index:
            visit(name)
    yield from found


CALLED_BY_OTHERS = re.compile(r"__\w+__|pytest_\w+|_check_value|_fill_text|_repr_pretty_|draw_action|set_q")
"""Names that a framework calls: Python, pytest, argparse, IPython, mushroom-rl."""
REGISTERED = re.compile(r"^@FAULTS\.of\((?:.|\n)*?\)\n(?:def|class) \w+", re.MULTILINE)
"""A fault is used by its decorator."""


def test_every_function_and_class_is_named_twice() -> None:
    """Where it is defined and where it is used, be it in a test or in the documentation."""
    texts = [*sources().values(), *sources(tests=True).values(), *(path.read_text() for path in ROOT.glob("docs/*.md"))]
    counts = Counter(word for text in texts for word in re.findall(r"\w+", text))
    defined = {
        f"{name}: {word}"
        for name, text in sources().items()
        for word in re.findall(r"^ *(?:def|class) (\w+)", REGISTERED.sub("", text), re.MULTILINE)
        if counts[word] == 1 and not CALLED_BY_OTHERS.fullmatch(word)
    }
    assert defined == set()


def test_the_top_level_is_fixed() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    if not listed:
        pytest.skip("not a git checkout")
    top = {line.partition("/")[0] for line in listed.splitlines()}
    usual = {"LICENSE", "MANIFEST.in", "CHANGELOG.md", "CONTRIBUTING.md", "CITATION.cff", "docs"}
    assert {name for name in top if not name.startswith(".")} - usual == {
        *PACKAGES,
        "pyproject.toml",
        "tox.ini",
        "README.md",
    }
