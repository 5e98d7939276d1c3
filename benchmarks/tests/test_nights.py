"""Nights: an undecided cell goes on in its own seed set, from its stored rows, until it is decided or too large."""

import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from benchmarks.batch import cells as batch
from benchmarks.batch import gate, history, nights, rows
from benchmarks.cli.main import main
from benchmarks.runner import identity, progress
from benchmarks.runner.store import Store
from benchmarks.tests.contrived import UNCLEAR, coin, law, thrown
from properties.statistics import design, laws, seed_sets
from properties.statistics.law import Cell
from robust_core.validate import Floats

# A look that is far away.
LONG = 1111


class Killed(BaseException):
    """Nothing catches it."""


@dataclass
class Bench:
    """A store, a calendar, and coins whose throws are counted."""

    path: Path
    set_suite: Callable[..., None]
    day: int = 1
    seeds: list[bytes] = field(default_factory=list)
    dies_after: int | None = None
    truth: float = 0.5

    def throw(self, seed: bytes) -> Floats:
        if self.dies_after is not None and len(self.seeds) >= self.dies_after:
            self.dies_after = None
            raise Killed
        self.seeds.append(seed)
        return thrown(seed, self.truth)

    def coin(self, name: str, **options: Any) -> Cell:
        return coin(name, self.throw, **options)

    def night(self, day: int, **options: Any) -> nights.NightReport:
        self.day = day
        return nights.run(size="quick", path=self.path, with_controls=False, **options)

    def command(self, *options: str) -> int:
        common = ["--size", "quick", "--workers", "1", "--no-controls", "--store", str(self.path)]
        return main(["batch", "run", *common, *options])

    def thrown_in(self, seed_set: str, cell: str, most: int = 4096) -> int:
        """How many throws of a cell were computed in a seed set; they must be the first ones."""
        names = [seed_sets.replicate(seed_set, cell, "sample", i) for i in range(most)]
        known = set(names) & set(self.seeds)
        assert known == set(names[: len(known)])
        return len(known)

    def once(self) -> bool:
        """Whether no throw was computed twice."""
        return len(set(self.seeds)) == len(self.seeds)


def exit_code(report: nights.NightReport, *, strict: bool) -> int:
    return gate.exit_code(report.seed_sets.values(), report.controls, strict=strict)


def day(number: int) -> str:
    return f"night {number}"


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    def forget() -> None:
        for function in (batch.plan_cells, batch.controls, rows.cells_by_stream):
            function.cache_clear()

    def set_suite(*cells: Cell) -> None:
        forget()
        monkeypatch.setattr(laws, "laws", lambda: (law(*cells),))

    made = Bench(tmp_path / "store.jsonl", set_suite)
    monkeypatch.setattr(seed_sets, "fresh", lambda today=None: day(made.day))
    yield made
    forget()


def test_an_undecided_cell_goes_on_the_next_night_in_its_own_seed_set(bench: Bench) -> None:
    bench.set_suite(bench.coin("coin"))
    first = bench.night(1)
    assert first.seed_sets[day(1)].undecided == ("coin",)
    assert bench.thrown_in(day(1), "coin") == 16
    (warning,) = first.warnings
    assert "undecided: coin" in warning
    assert f"--seed-set 'night 1' --stretch 2 --no-controls --only coin --store {bench.path}" in warning

    second = bench.night(2)
    assert second.seed_sets[day(1)].outcome == "holds"
    assert second.stretch[day(1)] == {"coin": 2.0}
    assert bench.once()
    # Decided at a look between the two sizes, and the fresh seed set has begun from nothing.
    assert 16 < bench.thrown_in(day(1), "coin") <= 32
    assert bench.thrown_in(day(2), "coin") == 16
    # What is decided stays closed.
    before = bench.thrown_in(day(1), "coin")
    bench.night(3)
    assert bench.thrown_in(day(1), "coin") == before
    # What was decided in two nights is what is decided at once.
    at_once = batch.run(size="quick", seed_set=day(1), path=bench.path.with_name("other"), stretch=2.0)
    assert at_once.summary == second.seed_sets[day(1)]


def test_the_printed_command_continues_the_cell(bench: Bench) -> None:
    bench.set_suite(bench.coin("coin"))
    (warning,) = bench.night(1).warnings
    bench.day = 2
    program, *words = shlex.split(warning.partition("continue it: ")[2].removesuffix(")"))
    assert program == "robust-core"
    assert main([*words, "--workers", "1", "--strict"]) == 0
    assert bench.once()
    assert 16 < bench.thrown_in(day(1), "coin") <= 32


def test_what_a_pinned_run_left_undecided_goes_on_at_night(bench: Bench) -> None:
    bench.set_suite(bench.coin("coin", defect=UNCLEAR))
    assert bench.command() == 0
    report = bench.night(1)
    assert report.stretch == {"pinned": {"coin": 2.0}, day(1): {"coin": 1.0}}
    assert bench.thrown_in("pinned", "coin") == 32
    assert bench.once()


def test_a_cell_that_never_decides_is_listed_at_the_largest_size_every_night(bench: Bench) -> None:
    bench.set_suite(bench.coin("coin", defect=UNCLEAR))
    sizes = [bench.night(number).stretch[day(1)]["coin"] for number in range(1, 8)]
    assert sizes == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, history.LARGEST_STRETCH]
    most = bench.thrown_in(day(1), "coin")
    assert most >= 16 * history.LARGEST_STRETCH
    for number in (8, 9):
        report = bench.night(number)
        listed = [line for line in report.warnings if "undecided at the largest size: coin (night 1," in line]
        assert len(listed) == 1
        assert report.seed_sets[day(1)].undecided == ("coin",)
        assert exit_code(report, strict=True) == 3
    assert bench.thrown_in(day(1), "coin") == most
    assert bench.once()
    with batch.open_history(bench.path, "quick") as kept:
        assert {task.seed_set for task in nights.open_tasks(kept, "", day(9))} == {
            day(number) for number in range(4, 9)
        }


def test_a_killed_night_goes_on_in_its_own_seed_set_after_midnight(bench: Bench) -> None:
    bench.set_suite(bench.coin("one"), bench.coin("two"))
    bench.dies_after = 20
    with pytest.raises(Killed):
        bench.night(1)
    assert bench.thrown_in(day(1), "one") == 16
    report = bench.night(2)
    assert bench.seeds[20:24] == bench.seeds[16:20]
    assert len(bench.seeds) - len(set(bench.seeds)) == 4, "more than the piece under way was lost"
    # The first was undecided before the kill and goes on at twice its size, the second is what was left.
    assert report.stretch == {day(1): {"one": 2.0, "two": 1.0}, day(2): {"one": 1.0, "two": 1.0}}
    assert bench.thrown_in(day(1), "two") == 16


def test_a_killed_run_goes_on_in_its_own_seed_set_after_midnight(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.set_suite(bench.coin("one"), bench.coin("two"))
    bench.dies_after = 16
    with pytest.raises(Killed):
        bench.command("--seed-set", "fresh")
    bench.day = 2
    bench.command("--seed-set", "fresh")
    assert "seed set: night 1" in capsys.readouterr().err
    assert bench.once()
    assert (bench.thrown_in(day(1), "one"), bench.thrown_in(day(1), "two")) == (16, 16)
    assert bench.thrown_in(day(2), "one") == 0
    # Nothing of it is left: the next run has a seed set of its own.
    bench.command("--seed-set", "fresh")
    assert bench.thrown_in(day(2), "one") == 16


def test_a_run_keeps_its_seed_set_across_midnight(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def late(seed: bytes) -> Floats:
        bench.day += 1
        return bench.throw(seed)

    bench.set_suite(coin("one", late), coin("two", late))
    bench.command("--seed-set", "fresh")
    assert (bench.thrown_in(day(1), "one"), bench.thrown_in(day(1), "two")) == (16, 16)
    bench.seeds.clear()
    bench.night(1000)
    assert (bench.thrown_in(day(1000), "one"), bench.thrown_in(day(1000), "two")) == (16, 16)


def test_time_that_ends_leaves_cells_pending_and_the_next_night_finishes_them(bench: Bench) -> None:
    bench.set_suite(bench.coin("coin"))
    report = bench.night(1, budget_seconds=-1.0)
    assert report.seed_sets[day(1)].pending == ("coin",)
    assert "--seed-set 'night 1' --stretch 1 " in report.warnings[0]
    report = bench.night(2)
    assert report.stretch[day(1)] == {"coin": 1.0}
    assert report.seed_sets[day(1)].pending == ()


def test_a_backlog_leaves_half_of_the_time_to_the_fresh_seed_set(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.set_suite(bench.coin("coin", defect=UNCLEAR, n_max=LONG))
    bench.night(1, budget_seconds=-1.0)
    # One throw takes a second.
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: float(len(bench.seeds))))
    bench.night(2, budget_seconds=1000.0)
    # The last piece that begins before the time ends has at most 64 throws.
    assert 500 < bench.thrown_in(day(1), "coin") <= 500 + 64
    assert 436 <= bench.thrown_in(day(2), "coin") <= 500 + 64


def test_time_that_is_left_goes_to_the_backlog(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    old = {seed_sets.replicate(day(1), "coin", "sample", i) for i in range(LONG)}

    def throw(seed: bytes) -> Floats:
        bench.truth = 0.5 if seed in old else 0.0
        return bench.throw(seed)

    bench.set_suite(coin("coin", throw, defect=UNCLEAR, n_max=LONG))
    bench.night(1, budget_seconds=-1.0)
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: float(len(bench.seeds))))
    report = bench.night(2, budget_seconds=1.5 * LONG)
    assert report.seed_sets[day(2)].outcome == "holds"
    assert report.seed_sets[day(1)].undecided == ("coin",), "half of the time is not enough, the rest is"


def test_other_code_begins_with_the_size_that_was_owed(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.set_suite(bench.coin("coin", defect=UNCLEAR), bench.coin("other", defect=UNCLEAR))
    bench.night(1, only="coin")
    bench.night(2, only="coin")
    monkeypatch.setattr(identity, "of", lambda module: "other code")
    report = bench.night(3)
    assert report.stretch == {day(3): {"coin": 4.0, "other": 1.0}}
    assert set(report.seed_sets) == {day(3)}


@pytest.mark.parametrize("mended", [False, True])
def test_a_red_result_is_not_forgotten_when_unrelated_code_changes(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, mended: bool
) -> None:
    """Other code judges the red cell again, on the same samples: red unless the change has to do with it."""
    old = {seed_sets.replicate(day(1), "coin", "sample", i) for i in range(LONG)}

    def throw(seed: bytes) -> Floats:
        bench.truth = 1.0 if seed in old and not mended else 0.1
        return bench.throw(seed)

    bench.set_suite(coin("coin", lambda seed: thrown(seed, 1.0), n_max=LONG), bench.coin("other"))
    bench.truth = 0.1
    assert exit_code(bench.night(1), strict=False) == 1
    monkeypatch.setattr(identity, "of", lambda module: "other code")
    bench.set_suite(coin("coin", throw, n_max=LONG), bench.coin("other"))
    report = bench.night(2)
    assert report.seed_sets[day(1)].outcome == ("holds" if mended else "violated")
    assert exit_code(report, strict=False) == (0 if mended else 1)
    assert report.stretch[day(1)] == {"coin": 1.0}, "what was green is not judged again"
    # A verdict is needed: time that ends first leaves the cell on the list.
    monkeypatch.setattr(identity, "of", lambda module: "third code")
    later = bench.night(3, budget_seconds=-1.0)
    assert ("coin" in later.seed_sets.get(day(1), report.seed_sets[day(2)]).pending) == (not mended)


def test_evidence_without_end_is_kept(bench: Bench) -> None:
    """A sample that the null excludes: the verdict of the night and of the next."""
    plan = design.certain("a 1", alpha=1e-8)
    bench.set_suite(Cell("coin", lambda alpha: plan, lambda seed: np.ones(1), lambda rows: rows[:, 0]))
    assert exit_code(bench.night(1), strict=False) == 1
    assert exit_code(bench.night(2), strict=False) == 1


def test_red_stays_red_until_the_code_changes(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.set_suite(bench.coin("coin", n_max=LONG))
    bench.truth = 1.0
    assert exit_code(bench.night(1), strict=False) == 1
    bench.truth = 0.1
    report = bench.night(2)
    assert report.seed_sets[day(2)].outcome == "holds"
    assert exit_code(report, strict=False) == 1
    assert any(line.startswith("night 1: violated") for line in report.lines())
    monkeypatch.setattr(identity, "of", lambda module: "other code")
    assert exit_code(bench.night(3), strict=False) == 0


def test_the_command_says_what_a_night_found(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    bench.set_suite(bench.coin("coin"))
    common = ["--size", "quick", "--workers", "1", "--no-controls", "--store", str(bench.path)]
    assert main(["batch", "night", *common, "--strict", "--output", str(bench.path.with_name("report"))]) == 3
    assert "night 1: undecided; error budget 1e-06 of 1e-06" in capsys.readouterr().out
    assert bench.path.with_name("report").exists()


def test_controls_run_in_the_fresh_seed_set(bench: Bench) -> None:
    bench.set_suite(bench.coin("coin"))
    # The control of the contrived law is right, so it is missed.
    report = nights.run(size="quick", path=bench.path)
    assert [(one.control, one.outcome) for one in report.controls] == [("coins: robust Q-learning", "missed")]
    assert exit_code(report, strict=False) == 1


def test_a_pending_cell_takes_part_in_the_product(bench: Bench) -> None:
    bench.truth = 0.65
    bench.set_suite(bench.coin("coin", n_max=LONG))
    common: dict[str, Any] = {"size": "quick", "seed_set": "pinned", "path": bench.path}
    cut = batch.run(samples=20, with_controls=False, **common)
    whole = batch.run(with_controls=False, **common)
    ((_, log_against, log_favour),) = [look for look in whole.cells[0].path if look[0] == 20]
    (pending,) = cut.cells
    assert (pending.outcome, pending.n) == ("pending", 20)
    assert (pending.log_against, pending.log_favour) == (log_against, log_favour)
    assert cut.summary.log_product == log_against != 0.0
    assert (cut.summary.pending, cut.summary.undecided) == (("coin",), ())
    assert cut.summary.spent == whole.summary.spent


def test_a_product_of_pending_cells_can_be_red(bench: Bench) -> None:
    bench.truth = 1.0
    bench.set_suite(*(bench.coin(f"coin {place}", n_max=LONG) for place in range(4)))
    report = batch.run(size="quick", seed_set="pinned", path=bench.path, samples=20, with_controls=False)
    assert len(report.summary.pending) == 4
    assert gate.exit_code([report.summary], (), strict=False) == 1


def test_what_the_store_can_decide_is_decided_however_late_it_is(bench: Bench) -> None:
    bench.set_suite(bench.coin("coin"))
    common: dict[str, Any] = {"size": "quick", "seed_set": "pinned", "path": bench.path, "with_controls": False}
    assert batch.run(budget_seconds=-1.0, **common).summary.pending == ("coin",)
    whole = batch.run(**common)
    assert batch.run(budget_seconds=-1.0, **common) == whole
    assert bench.once()


@pytest.mark.parametrize("library", ["numpy", "numba", "scipy", "python"])
def test_rows_of_other_libraries_are_not_taken(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    versions = identity.libraries()
    before = identity.code(batch.ROWS)
    monkeypatch.setattr(identity, "libraries", lambda: versions | {library: "0.0"})
    assert identity.code(batch.ROWS) != before


def test_names_are_listed_by_what_they_begin_with(tmp_path: Path) -> None:
    store = Store(tmp_path / "s")
    for name in (b"ab", b"a", b"b", b"abc"):
        store.put(name, 1)
    assert list(store.names(b"ab")) == [b"ab", b"abc"]
    assert list(Store(tmp_path / "s").names(b"")) == [b"ab", b"a", b"b", b"abc"]


def pytest_run(tmp_path: Path, *options: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    suite = [str(Path(batch.__file__).parent / "suite.py"), "-k", "test_cell", "--size", "quick"]
    plugins = ["-p", "benchmarks.tests.contrived", "-p", "benchmarks.batch.plugin", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *plugins, *suite, "--store", str(tmp_path / "store"), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment})


def seed_sets_in(path: Path) -> list[str]:
    """The seed sets of all verdicts and runs in a store."""
    kept = history.History(Store(path), identity.of(batch.ROWS), "quick")
    return sorted({*kept.verdicts(), *(seed_set for _, seed_set in kept.runs())})


@pytest.mark.robust_core_slow
def test_a_killed_worker_is_not_silent_and_the_run_goes_on_in_its_seed_set(tmp_path: Path) -> None:
    options = ["-n", "1", "--seed-set", "fresh"]
    ended = pytest_run(tmp_path, *options, CONTRIVED_KILL=str(tmp_path / "mark"))
    shown = ended.stdout
    assert ended.returncode == 2, "a dead worker is an error, not a violation"
    assert "error: a worker process died; the results so far are in the store" in shown
    assert "warning: pending: deadly (n=20; continue it: robust-core batch run" in shown, shown
    assert "warning: undecided: unclear" in shown
    assert "gate: undecided; error budget 1e-06 of 1e-06" in shown
    # Every process has a calendar of its own, and every look at it another day.
    (seed_set,) = seed_sets_in(tmp_path / "store")
    ended = pytest_run(tmp_path, *options, CONTRIVED_KILL=str(tmp_path / "mark"))
    shown = ended.stdout
    assert ended.returncode == 1, shown
    assert f"seed set: {seed_set}" in shown
    assert "warning: pending" not in shown
    assert seed_sets_in(tmp_path / "store") == [seed_set]
    pytest_run(tmp_path, "-p", "no:xdist", "--seed-set", "fresh")
    assert len(seed_sets_in(tmp_path / "store")) == 2, "a finished run was taken for an unfinished one"


def test_ids_of_cells_are_what_pytest_makes_of_them() -> None:
    """The controller finds a cell by its id in the name of the item, and pytest rewrites what is not ASCII."""
    from properties.statistics.suite import plan_cells

    assert all(
        item.cell.id.isascii() and item.cell.id.isprintable() for item in plan_cells("quick") + plan_cells("full")
    )


def test_thrown_coins_have_their_probability() -> None:
    throws = [thrown(seed_sets.replicate("pinned", "coin", "sample", i), 0.25)[0] for i in range(1000)]
    # Five standard deviations.
    assert abs(np.mean(throws) - 0.25) < 5 * np.sqrt(0.25 * 0.75 / 1000)
