"""The net reports planted changes by name, and nothing where nothing has changed."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from benchmarks.cli import net
from benchmarks.cli.main import main
from benchmarks.net import facts, frozen, parts, sizes
from benchmarks.net.facts import Fact
from properties.variants.mutants.operator import NO_DISCOUNT

Plant = Callable[[pytest.MonkeyPatch], None]
CELL = "sampling/successors/garnet/(1,1)/effect=0.05/the core's walk"


def _mutant_sizes() -> parts.Facts:
    yield from (Fact(name, text) for name, text in sizes.sizes(["operator:NO_DISCOUNT"]).items())


def _stop_reducing(patch: pytest.MonkeyPatch) -> None:
    from properties.cases import reductions

    patch.setattr(reductions, "PASSES", ())


def _change_row_seeds(patch: pytest.MonkeyPatch) -> None:
    from properties.statistics import seed_sets

    patch.setattr(seed_sets, "PINNED", "another name")


def _change_page(patch: pytest.MonkeyPatch) -> None:
    from benchmarks.report import page

    patch.setattr(page, "TITLE", "robust-core planted")


def _change_plan(patch: pytest.MonkeyPatch) -> None:
    from benchmarks.regression import exact

    patch.setattr(exact, "WIDTH", exact.WIDTH / 1024.0)


def _change_panel(patch: pytest.MonkeyPatch) -> None:
    from benchmarks.experiments import results

    stored = results.load_results()
    first, *others = stored.runs
    changed = replace(stored, runs=(replace(first, steps=first.steps + 1), *others))
    patch.setattr(results, "load_results", lambda: changed)


PLANTED: dict[str, tuple[parts.Collect, Plant, str]] = {
    "counterexamples": (_mutant_sizes, _stop_reducing, f"changed: {NO_DISCOUNT.name} / bellman backup"),
    "regression": (
        partial(parts.regression, "value iteration / contamination / two states"),
        _change_plan,
        "changed: value iteration / contamination / two states",
    ),
    "rows": (partial(parts.rows, CELL), _change_row_seeds, f"changed: {CELL}"),
    "panels": (partial(parts.panels, ()), _change_panel, "changed: frozenlake-a / default"),
    "page": (parts.page, _change_page, "robust-core planted</h1>"),
}


@pytest.mark.parametrize("part", PLANTED)
def test_a_planted_change_is_reported_by_name(
    part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    collect, plant, named = PLANTED[part]
    monkeypatch.setitem(parts.PARTS, part, collect)
    arguments = [part, "--folder", str(tmp_path)]
    assert main(["net", "freeze", *arguments]) == 0
    assert main(["net", "check", *arguments]) == 0
    assert f"{part}: 0 differences" in capsys.readouterr().out
    plant(monkeypatch)
    assert main(["net", "check", *arguments]) == 1
    assert named in capsys.readouterr().out


def test_a_change_is_planted_into_every_part() -> None:
    assert list(PLANTED) == list(parts.PARTS) == list(net.PARTS)


@pytest.mark.robust_core_slow
@pytest.mark.parametrize("part", ["regression", "rows", "panels", "page"])
def test_the_frozen_facts_are_those_of_the_present_code(part: str) -> None:
    if frozen.check_versions(frozen.FOLDER):
        pytest.skip("other libraries or another processor may change bits")
    differences = "\n".join(map(str, frozen.check(part, frozen.FOLDER)))
    assert not differences, f"if this is meant, run: robust-core net freeze {part}"


def test_frozen_facts_are_read_as_they_were_written(tmp_path: Path) -> None:
    found = facts.by_name([Fact("b", "two\nlines"), Fact("a", ""), Fact("c", "ends with\n")])
    facts.write(tmp_path / "part.json", found)
    assert facts.read(tmp_path / "part.json") == found
    (tmp_path / "part.json").write_text('{"a": 1}', encoding="utf-8")
    with pytest.raises(ValueError, match="a: must be text"):
        facts.read(tmp_path / "part.json")
    with pytest.raises(ValueError, match="two facts"):
        facts.by_name([Fact("a", "1"), Fact("a", "1")])


def test_a_part_that_is_not_there_is_refused_before_any_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["net", "check", "--folder", str(tmp_path)]) == 2
    assert f"{tmp_path} has nothing frozen for counterexamples, regression" in capsys.readouterr().err
    assert main(["net", "freeze", "pages", "--folder", str(tmp_path)]) == 2
    assert "did you mean 'page'?" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_one_counterexample_in_a_hundred_may_be_larger() -> None:
    before = {f"mutant {number}": "2 1 0 2 1" for number in range(100)}
    one = before | {"mutant 0": "2 1 0 2 2"}
    assert sizes.growths(before, one) == []
    assert len(sizes.growths(before, one | {"mutant 1": "2 2 0 2 1"})) == 2
    assert len(sizes.growths(before, before | {"mutant 2": ""})) == 1, "a counterexample is gone"
