"""A set carries its data and its mathematics; the oracles may read the data only."""

import ast
import json
from collections.abc import Iterator
from dataclasses import FrozenInstanceError, is_dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from oracles.arithmetic.exact import distribution
from oracles.planning import rational
from oracles.sets import oracle_of, programs, vertices
from properties.cases.choices import First, Seeded, SetChoice
from properties.judging.search import search
from properties.judging.verification import applicable
from properties.laws.rounding import support_bound
from properties.profiles import examples
from properties.strategies import mdps, values
from properties.tests import dual_support
from robust_core import Variant, sets, sigma, worst_case
from robust_core.sets import SETS, UncertaintySet, base
from robust_core.validate import Floats

DATA = {"to_dict", "from_dict", "at", "select", "with_radius", "require_fit", "choose", "plainer"}
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
        "uncertainty_set.row_support(rows, v)",
        "worst = type(uncertainty_set).row_worst_case",
        "getattr(uncertainty_set, 'kernel_support')",
        "from robust_core.sets.total_variation import TotalVariation",
        "from robust_core.sets import total_variation",
        "from robust_core import sets",
        "import robust_core.sets.contamination",
    ],
)
def test_a_use_of_the_mathematics_is_found(line: str) -> None:
    assert list(uses_of_mathematics(line))


def test_data_is_not_mathematics() -> None:
    assert not list(
        uses_of_mathematics("from robust_core.sets import Contamination\nuset.radius, uncertainty_set.kind")
    )


@pytest.mark.parametrize("kind", SETS, ids=lambda kind: kind.kind)
def test_every_set_of_the_suite_is_complete(kind: type[UncertaintySet]) -> None:
    """Frozen data that survives JSON, its methods, two independent truths, and radii it accepts."""
    assert is_dataclass(kind)
    for level in kind.radii:
        made = First().uncertainty_set(SetChoice(kind, level), np.array([0.25, 0.75, 0.0]), np.array([0.0, 1.0, 2.0]))
        assert UncertaintySet.from_dict(json.loads(json.dumps(made.to_dict()))) == made
    with pytest.raises(FrozenInstanceError):
        made.radius = 0.5
    own = vars(kind).keys()
    assert "row_solution" in own or {"row_support", "row_worst_case"} <= own, "define row_worst_case or row_solution"
    oracle = oracle_of(kind)
    assert oracle.program is not None, "register a program"
    assert any((oracle.largest_mass, oracle.vertices, oracle.enclose)), "register a second truth"


@st.composite
def cases(draw: st.DrawFn, kind: type[UncertaintySet]) -> tuple[UncertaintySet, Floats, Floats]:
    mdp = draw(mdps(max_states=4, max_actions=1))
    p, v = mdp.P[0, 0], draw(values(mdp.n_states))
    choices = Seeded(draw(st.integers(0, 1 << 32)))
    return choices.uncertainty_set(SetChoice(kind, draw(st.sampled_from(kind.radii))), p, v), p, v


def enclosures(uncertainty_set: UncertaintySet, p: Floats, v: Floats) -> dict[str, tuple[Fraction, Fraction]]:
    """Bounds on sigma(v) by every method that the oracles have for the set."""
    oracle, row, costs = oracle_of(type(uncertainty_set)), p.tolist(), v.tolist()
    found = {}
    try:
        lower, upper = programs.enclosures(uncertainty_set, p, v)
    except (
        programs.SolverFailure
    ):  # of tiny and huge radii solvers know little; `test_core_set_forms` has ordinary ones
        assert oracle.enclose is not None
    else:
        found["program"] = (Fraction(float(lower)), Fraction(float(upper)))
    if oracle.enclose is not None:
        found["enclosure"] = oracle.enclose(uncertainty_set, distribution(row).fractions(), tuple(map(Fraction, costs)))
    if oracle.largest_mass is not None:
        found["largest mass"] = (rational.sigma(uncertainty_set, row, costs),) * 2
    if oracle.vertices is not None:
        found["vertices"] = (vertices.sigma(uncertainty_set, row, costs),) * 2
    if type(uncertainty_set) in dual_support.DUALS:
        answer = dual_support.support(uncertainty_set, p, v)
        found["dual"] = (Fraction(float(answer.lower)), Fraction(float(answer.upper)))
    return found


@pytest.mark.parametrize("kind", SETS, ids=lambda kind: kind.kind)
@given(data=st.data())
@examples(12)
def test_truths_and_methods_of_a_set_agree(kind: type[UncertaintySet], data: st.DataObject) -> None:
    uncertainty_set, p, v = data.draw(cases(kind))
    found = enclosures(uncertainty_set, p, v)
    lower, upper = max(low for low, _ in found.values()), min(high for _, high in found.values())
    assert lower <= upper, found
    rounding, q = Fraction(support_bound(p, v)), worst_case(uncertainty_set, p, v)
    for got in (float(sigma(uncertainty_set, p, v)), float(q @ v)):
        assert lower - rounding <= got <= upper + rounding, found
    assert q.min() >= 0.0
    assert abs(q.sum() - 1.0) <= support_bound(p, np.ones(len(p)))


def test_a_set_that_derives_from_another_has_its_truths_but_not_its_proof() -> None:
    from oracles.sets.registration import is_base_polytope

    derived = type("Derived", (sets.Contamination,), {"kind": sets.Contamination.kind})
    try:
        assert oracle_of(derived) is oracle_of(sets.Contamination)
        assert (is_base_polytope(sets.Contamination), is_base_polytope(derived)) == (True, False)
    finally:
        base._BY_KIND[sets.Contamination.kind] = sets.Contamination


def test_laws_test_a_set_at_its_own_radii(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "_BY_KIND", dict(base._BY_KIND))  # the class below is for this test only
    seen = set()

    class Narrow(sets.Contamination):
        kind = "contamination at two radii"
        radii = (0.25, 0.5)

    def recording(uncertainty_set: Narrow, p: Floats, v: Floats) -> Floats:
        seen.add(uncertainty_set.radius)
        return sigma(uncertainty_set, p, v)

    variant = Variant("sigma", "support", recording, (Narrow,), ("support function",))
    for law in applicable(variant):
        assert search(law, variant, examples=20, master_seed=0).outcome == "holds"
        assert seen - {0.0, 1.0} == set(Narrow.radii), law.name  # a law may add the smallest and the largest radius
