"""A set carries its data and its mathematics; the oracles may read the data only."""

import ast
from collections.abc import Iterator
from dataclasses import FrozenInstanceError, fields, is_dataclass
from pathlib import Path

import pytest

import oracles
from oracles.sets import oracle_of
from robust_core import sets
from robust_core.sets import SETS, UncertaintySet

DATA = {"to_dict", "from_dict"}
MATHEMATICS = {
    name
    for cls in (UncertaintySet, *SETS)
    for name, value in vars(cls).items()
    if callable(value) and not name.startswith("__")
} - DATA
SOURCES = sorted(Path(oracles.__file__).parent.rglob("*.py"))


def uses_of_mathematics(source: str) -> Iterator[str]:
    """What a module takes from `robust_core.sets` beside its classes, and every mention of a method of a set."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and node.attr in MATHEMATICS:
            yield f"line {node.lineno}: .{node.attr}"
        elif isinstance(node, ast.Constant) and node.value in MATHEMATICS:
            yield f"line {node.lineno}: {node.value!r}"
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("robust_core.sets"):
            names = {alias.name for alias in node.names}
            if node.module != "robust_core.sets" or not names <= set(sets.__all__):
                yield f"line {node.lineno}: from {node.module} import {', '.join(sorted(names))}"
        elif isinstance(node, ast.ImportFrom) and node.module == "robust_core":
            yield from (f"line {node.lineno}: {alias.name}" for alias in node.names if alias.name == "sets")
        elif isinstance(node, ast.Import):
            found = (alias.name for alias in node.names if alias.name.startswith("robust_core.sets"))
            yield from (f"line {node.lineno}: import {name}" for name in found)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_oracles_do_not_use_the_mathematics_of_a_set(path: Path) -> None:
    assert list(uses_of_mathematics(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "line",
    [
        "uset.row_support(rows, v)",
        "worst = type(uset).row_worst_case",
        "getattr(uset, 'kernel_support')",
        "from robust_core.sets.total_variation import TotalVariation",
        "from robust_core.sets import total_variation",
        "from robust_core import sets",
        "import robust_core.sets.contamination",
    ],
)
def test_a_use_of_the_mathematics_is_found(line: str) -> None:
    assert list(uses_of_mathematics(line))


def test_data_is_not_mathematics() -> None:
    assert not list(uses_of_mathematics("from robust_core.sets import Contamination\nuset.radius, uset.kind"))


@pytest.mark.parametrize("kind", SETS, ids=lambda kind: kind.kind)
def test_every_set_of_the_suite_is_complete(kind: type[UncertaintySet]) -> None:
    """Frozen data that survives JSON, the three methods, every independent truth, and radii it accepts."""
    assert is_dataclass(kind)
    for radius in kind.radii:
        made = kind(radius)
        assert UncertaintySet.from_dict(made.to_dict()) == made
    with pytest.raises(FrozenInstanceError):
        made.radius = 0.5
    own = vars(kind)
    assert {"row_support", "row_worst_case"} <= own.keys()
    oracle = oracle_of(kind)
    assert [field.name for field in fields(oracle) if not getattr(oracle, field.name)] == []


def test_a_set_that_derives_from_another_has_its_truths_but_not_its_proof() -> None:
    from oracles.sets.registration import is_base_polytope

    derived = type("Derived", (sets.Contamination,), {"kind": sets.Contamination.kind})
    try:
        assert oracle_of(derived) is oracle_of(sets.Contamination)
        assert (is_base_polytope(sets.Contamination), is_base_polytope(derived)) == (True, False)
    finally:
        sets.base._BY_KIND[sets.Contamination.kind] = sets.Contamination
