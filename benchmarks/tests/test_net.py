"""The net reports planted changes by name, and nothing where nothing has changed."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from benchmarks.cli import net
from benchmarks.cli.main import main
from benchmarks.net import facts, parts, rates, sizes
from benchmarks.net.facts import Fact
from benchmarks.net.rates import Rate
from properties.judging.counterexample import law_named
from properties.variants.gallery.td import VARIANT
from properties.variants.mutants.operator import NO_DISCOUNT
from robust_core.learners import tabular

Plant = Callable[[pytest.MonkeyPatch], None]
CELL = "sampling/successors/garnet/(1,1)/effect=0.05/the core's walk"


def _sample_step_of_td() -> parts.Facts:
    law = law_named("sample step")
    assert law is not None
    return parts.gallery({"td": VARIANT}, [law], seeds=(1,), examples=5)


def _mutant_kills() -> parts.Facts:
    found = rates.hit_rates([NO_DISCOUNT], seeds=(0, 1), examples=2)
    yield from (Fact(name, str(rate)) for name, rate in found.items())


def _mutant_sizes() -> parts.Facts:
    yield from (Fact(name, text) for name, text in sizes.sizes([NO_DISCOUNT], seeds=(0,), examples=20).items())


def _stop_reducing(patch: pytest.MonkeyPatch) -> None:
    from properties.cases import reductions

    patch.setattr(reductions, "PASSES", ())


def _change_update(patch: pytest.MonkeyPatch) -> None:
    right = tabular.robust_update
    patch.setattr(tabular, "robust_update", lambda *entry, alpha, **rest: right(*entry, alpha=alpha / 2, **rest))


def _silence_law(patch: pytest.MonkeyPatch) -> None:
    from properties.laws import catalogue

    silent = (
        replace(law, judge=lambda *_, **__: None) if law.name == "bellman backup" else law for law in catalogue.LAWS
    )
    patch.setattr(catalogue, "LAWS", tuple(silent))


def _change_row_seeds(patch: pytest.MonkeyPatch) -> None:
    from properties.statistics import seed_sets

    patch.setattr(seed_sets, "PINNED", "another name")


def _change_page(patch: pytest.MonkeyPatch) -> None:
    from benchmarks.report import page

    patch.setattr(page, "TITLE", "robust-core planted")


def _remove_option(patch: pytest.MonkeyPatch) -> None:
    from benchmarks.cli import claims as cli_claims

    patch.setattr(cli_claims, "add_quiet", lambda parser: None)


def _silence_claim(patch: pytest.MonkeyPatch) -> None:
    from properties import claims

    known = claims.catalogue()
    printed = known["expand-T"].printed
    assert printed is not None
    silent = replace(known["expand-T"], printed=replace(printed, judge=lambda **_: None))
    patch.setattr(claims, "catalogue", lambda: {**known, "expand-T": silent})


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
    "gallery": (_sample_step_of_td, _change_update, "changed: robust TD(0) / sample step"),
    "kills": (_mutant_kills, _silence_law, f"changed: {NO_DISCOUNT.name} / bellman backup"),
    "counterexamples": (_mutant_sizes, _stop_reducing, f"changed: {NO_DISCOUNT.name} / seed 0"),
    "evidence": (
        partial(parts.evidence, ["expand-T"], examples=2),
        _silence_claim,
        "changed: expand-T / expand-T.json",
    ),
    "regression": (
        partial(parts.regression, "value iteration / contamination / two states"),
        _change_plan,
        "changed: value iteration / contamination / two states",
    ),
    "rows": (partial(parts.rows, CELL), _change_row_seeds, f"changed: {CELL}"),
    "panels": (partial(parts.panels, ()), _change_panel, "changed: frozenlake-a / default"),
    "page": (parts.page, _change_page, "robust-core planted</h1>"),
    "documents": (
        partial(parts.documents, ["command-line"]),
        _remove_option,
        "## `robust-core claims`",
    ),
    "commands": (parts.commands, _remove_option, "gone: robust-core claims --quiet"),
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
    assert f"{tmp_path} has nothing frozen for gallery, kills" in capsys.readouterr().err
    assert main(["net", "freeze", "pages", "--folder", str(tmp_path)]) == 2
    assert "did you mean 'page'?" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def _lost(old: Rate, new: Rate) -> bool:
    return bool(rates.losses({"pair": str(old)}, {"pair": str(new)}))


def test_after_a_change_of_the_generator_rates_may_differ_by_chance_only() -> None:
    half = Rate((50, 50), 200)
    assert not _lost(half, Rate((45, 48), 200))
    assert not _lost(half, Rate((100, 100), 200)), "a higher rate is no loss"
    assert _lost(half, Rate((20, 20), 200))
    assert _lost(Rate((1, 0), 200), Rate((0, 0), 200)), "a kill is gone"
    assert _lost(Rate((0, 0), 200), Rate((0, 1), 200)), "a kill is new"
    assert rates.losses({"pair": str(half)}, {}) != []


def test_one_counterexample_in_a_hundred_may_be_larger() -> None:
    before = {f"mutant {number}": "2 1 0 2 1" for number in range(100)}
    one = before | {"mutant 0": "2 1 0 2 2"}
    assert sizes.growths(before, one) == []
    assert len(sizes.growths(before, one | {"mutant 1": "2 2 0 2 1"})) == 2
    assert len(sizes.growths(before, before | {"mutant 2": ""})) == 1, "a counterexample is gone"
