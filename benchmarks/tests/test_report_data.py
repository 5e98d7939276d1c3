"""Collecting: what is kept is not computed again, Ctrl-C loses nothing; the files, the summary, the command."""

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.cli import main
from benchmarks.cli.conventions import progress
from benchmarks.regression.compare import Row
from benchmarks.regression.measures import Measurements, Sample
from benchmarks.report import code, files
from benchmarks.report import collect as collecting
from benchmarks.report.collect import collect
from benchmarks.report.files import write
from benchmarks.report.page import render
from benchmarks.report.report import SECTIONS, Report
from benchmarks.report.section import Work
from benchmarks.report.sections import convergence, mutants, regression, statistics, variants
from benchmarks.report.summary import summary, text
from benchmarks.runner import identity
from benchmarks.runner.units import Unit
from benchmarks.tests.processes import ends_when_asked
from benchmarks.tests.report_sample import HOSTILE, change, law_verdict, measure, sample
from properties.judging.counterexample import Counterexample
from properties.process import hypothesis_storage
from robust_core.json import dumps, from_data, loads

ROOT = Path(__file__).parents[2]
RIGHT, WRONG = (
    "properties.variants.gallery.bellman:VARIANT",
    "properties.variants.gallery.negative.vanilla:CLAIMED_ROBUST",
)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A report of two variants, one module of mutants, one short curve and no samples."""

    def few(units: Any, keep: Any) -> Any:
        return lambda *arguments: [unit for unit in units(*arguments) if keep(unit.arguments)]

    monkeypatch.setattr(variants, "QUICK_EXAMPLES", 5)
    monkeypatch.setattr(mutants, "QUICK_EXAMPLES", 5)
    chosen = few(variants.units, lambda arguments: arguments["target"] in (RIGHT, WRONG))
    monkeypatch.setattr(variants, "units", chosen)
    planners = few(mutants.units, lambda arguments: arguments["module"].endswith("planner"))
    monkeypatch.setattr(mutants, "units", planners)
    short = [Unit(f"{convergence.__name__}:converge", {"problem": "two states", "runs": 2})]
    monkeypatch.setattr(convergence, "units", lambda: short)
    (run,) = sample().statistics.runs
    monkeypatch.setattr(statistics, "quick_run", lambda work: run)
    monkeypatch.setattr(regression, "compare", lambda work: (None, ()))


def _report(folder: Path, lines: list[str] | None = None) -> Report:
    show = (lambda line: None) if lines is None else lines.append
    return collect(quick=True, stores=folder, show=show)


@pytest.mark.robust_core_slow
def test_reports_are_the_same_but_for_times_and_a_second_one_computes_nothing(small: None, tmp_path: Path) -> None:
    first, lines = _report(tmp_path / "a"), list[str]()
    second = _report(tmp_path / "a", lines)
    assert replace(second, run=first.run) == first
    assert sum("units in the store, 0 to compute" in line for line in lines) == 3
    assert len({line.partition("]")[0] for line in lines}) == len(SECTIONS)
    assert lines[0] == f"[part 1/{len(SECTIONS)}] {SECTIONS[0].id}"
    assert not any(" %" in line for line in lines)
    assert from_data(Report, loads(dumps(first))) == first
    fresh = _report(tmp_path / "b")
    assert fresh.run != first.run
    assert render(replace(fresh, run=first.run)) == render(first)
    outcomes = {variant.target: variant.expected for variant in first.variants.variants}
    assert outcomes == {RIGHT: "holds", WRONG: "violated"}
    assert [name for name, _ in first.run.seconds] == [section.id for section in SECTIONS[:-1]]


def test_an_interrupted_report_goes_on_where_it_was(small: None, tmp_path: Path) -> None:
    def stop(line: str) -> None:
        if "[1/2, 50 %]" in line:
            raise KeyboardInterrupt

    units, lines = variants.units(5), list[str]()
    with pytest.raises(KeyboardInterrupt):
        Work(stores=tmp_path, show=stop).compute(units)
    Work(stores=tmp_path, show=lines.append).compute(units)
    assert "1 units in the store, 1 to compute" in lines


def test_one_worker_says_which_variant_it_judges(small: None, tmp_path: Path) -> None:
    lines: list[str] = []
    Work(stores=tmp_path, show=lines.append).compute(variants.units(5))
    names = ["bellman:VARIANT", "negative.vanilla:CLAIMED_ROBUST"]
    assert lines[1:3] == [f"[0/2, 0 %] {names[0]}", f"[1/2, 50 %] {names[1]}"]


DRAWING = """
from hypothesis import given, settings, strategies as st
from properties.process.hypothesis_storage import temporary_storage

@settings(max_examples=200, database=None)
@given(st.integers())
def draw(number):
    pass

with temporary_storage():
    draw()
"""


def test_no_notes_are_left_in_the_users_folder(tmp_path: Path) -> None:
    environment = {key: value for key, value in os.environ.items() if key != hypothesis_storage.STORAGE}
    environment |= {"TMPDIR": str(tmp_path / "tmp"), "PYTHONPATH": str(ROOT)}
    (tmp_path / "tmp").mkdir()
    (tmp_path / "here").mkdir()
    subprocess.run([sys.executable, "-c", DRAWING], cwd=tmp_path / "here", env=environment, check=True, timeout=300)
    assert list((tmp_path / "here").iterdir()) == []
    assert list((tmp_path / "tmp").glob("robust-core-hypothesis/*")), "no notes at all: the test tests nothing"


def test_a_place_for_notes_that_somebody_chose_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(hypothesis_storage.STORAGE, "/somewhere")
    with hypothesis_storage.temporary_storage():
        assert os.environ[hypothesis_storage.STORAGE] == "/somewhere"
    monkeypatch.delenv(hypothesis_storage.STORAGE)
    with hypothesis_storage.temporary_storage():
        assert os.environ[hypothesis_storage.STORAGE].endswith("robust-core-hypothesis")
    assert hypothesis_storage.STORAGE not in os.environ


def test_a_report_that_is_ended_leaves_no_complaint_and_no_worker(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "robust_core", "report", "--workers", "2"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    report = subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    ends_when_asked(report)


def test_other_code_is_computed_again() -> None:
    units = {unit.arguments["target"]: unit for unit in variants.units(5)}
    arguments = dict(units[RIGHT].arguments)
    changed = Unit(units[RIGHT].function, {**arguments, "code": "of yesterday"})
    assert changed.key != units[RIGHT].key
    assert len({unit.key for unit in units.values()}) == len(units)


def test_results_of_the_same_code_with_other_libraries_are_known_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    module, then = "oracles.arithmetic.exact", identity.libraries() | {"gymnasium": "0.0.1"}
    made_by = identity.code(module, then)
    found = code.compare(made_by, module, then)
    assert found.libraries == (("gymnasium", "0.0.1", identity.libraries()["gymnasium"]),)
    assert not found.is_present
    other_code = identity.code("oracles.chains.chain")
    assert code.compare(other_code, module, then).libraries == ()
    assert code.compare(made_by, module).libraries == (), "nothing is known about the libraries"
    present = code.compare(identity.code(module), module, identity.libraries())
    assert present.is_present
    assert present.libraries == ()


def test_the_users_variants_are_judged_apart_and_never_kept(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        "from robust_core import Contamination, Variant\n"
        "def zero(mdp, uncertainty_set, Q):\n    return Q * 0.0\n"
        "MINE = Variant('<i>zero</i>', 'operator', zero, (Contamination,), ('bellman',))\n"
    )
    (mine,) = variants.verify_apart([str(path)], examples=5)
    assert mine.name == "<i>zero</i>"
    wrong = [verdict for verdict in mine.verdicts if verdict.outcome == "violated"]
    assert wrong
    assert all(verdict.counterexample for verdict in wrong)


def test_a_claim_that_no_law_tests_is_in_the_report(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        "from dataclasses import replace\n"
        "from properties.variants.examples import linear_evaluation\n"
        "from robust_core import TotalVariation\n"
        "MINE = replace(linear_evaluation.VARIANT, promises=('TDC',), sets=(TotalVariation,))\n"
    )
    (mine,) = variants.verify_apart([str(path)], examples=2)
    (untested,) = [verdict for verdict in mine.verdicts if verdict.outcome == "undecided"]
    assert untested.law == "promise 'TDC'"
    assert mine.outcome == "undecided"
    report = sample()
    both = replace(report.variants, variants=(*report.variants.variants, mine))
    assert "no law tests this promise" in render(change(report, variants=both))


def test_curves_start_below_the_bound_and_end_below_epsilon() -> None:
    found = from_data(convergence.Curve, convergence.converge("two states", 3))
    assert all(worst <= bound for worst, bound in zip(found.worst, found.bound, strict=True))
    assert found.bound[-1] <= found.epsilon
    assert found.worst[-1] < found.mean[0] / 10
    assert found.times[-1] == found.T
    assert found.above == 0


def test_a_comparison_is_split_by_what_is_a_function_of_the_seeds() -> None:
    measures = Sample("last error", "v", "p", (0.5,) * 8, 0), Sample("time ratio", "v", "p", (1.0, 1.5) * 4, 0)
    side = Measurements("e", {}, measures, "r")
    found, speed = regression.split(side, side)
    assert [one.metric for one in found.rows] == ["last error"]
    assert [one.metric for one in speed] == ["time ratio"]
    assert regression.compare(Work(baseline=Path("no such file"))) == (None, ())


def test_the_files_are_whole_and_the_counterexamples_can_be_replayed(tmp_path: Path) -> None:
    page = write(sample(), tmp_path / "deep" / "er")
    assert sorted(path.name for path in page.parent.iterdir()) == ["counterexamples", "report.html", "summary.md"]
    (example,) = (page.parent / "counterexamples").iterdir()
    assert Counterexample.load(example).law == "sample step"
    assert f"robust-core replay counterexamples/{example.name}" in page.read_text(encoding="utf-8")


def _worse(report: Report, *rows: Row) -> Report:
    """The report with measures that got worse."""
    assert report.regression is not None
    return change(report, regression=replace(report.regression, verdict="worse", rows=rows))


def test_the_summary_says_what_is_wrong() -> None:
    report = sample("mine")
    mine, *others = report.variants.variants
    wrong = replace(mine, verdicts=(law_verdict("start", "violated", evidence="got 1, wanted 2"),))
    gallery = replace(report.variants, variants=(wrong, *others))
    lines = summary(change(_worse(report, measure("mine", "worse", effect=0.5)), variants=gallery)).splitlines()
    assert lines[0] == "## ✗ robust-core: violated"
    assert "| mine | start | got 1, wanted 2 |" in lines
    assert r"| ▼ worse | last error | mine | garnet | +50 % \[−1 %, +5 %\] |" in lines
    assert summary(sample()).startswith("## ✓ robust-core: holds\n\nnothing is worse; 1 variant keeps its promises")


def test_hostile_names_cannot_break_the_summary() -> None:
    lines = summary(sample(*HOSTILE)).splitlines()
    rows = [line for line in lines if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {4}
    for name in HOSTILE:
        shown = text(name)
        assert not re.search(r"<|@(?!\u200b)|[\u202a-\u202e\n]|(?<!\\)[`\[|]", shown), shown
        shown.encode("utf-8")


def test_long_lists_are_cut_in_the_summary() -> None:
    assert "… and 10 more." in summary(_worse(sample(), *(measure(f"v{i}", "worse") for i in range(30))))


@pytest.mark.parametrize(("outcome", "strict", "code"), [("holds", True, 0), ("violated", False, 1),
                                                         ("undecided", False, 0), ("undecided", True, 3)])  # fmt: skip
def test_the_command(
    outcome: str,
    strict: bool,
    code: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    report = sample()
    report = replace(report, verdict=replace(report.verdict, outcome=outcome))
    monkeypatch.setattr(collecting, "collect", lambda **options: report)
    monkeypatch.setattr(files, "render", lambda report: "a page")
    arguments = ["report", "--output", str(tmp_path / "out"), *(["--strict"] if strict else [])]
    assert main.main(arguments) == code
    assert capsys.readouterr().out.splitlines()[1:] == [
        str(tmp_path / "out" / n) for n in ("report.html", "summary.md")
    ]
    assert main.main([*arguments, "--json"]) == code
    assert from_data(Report, loads(capsys.readouterr().out)) == report
    assert main.main([*arguments, "--quiet"]) == code
    assert capsys.readouterr().out.startswith(f"{outcome}: ") == (outcome != "holds")


def test_a_target_that_does_not_exist_is_refused_before_any_work(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(collecting, "collect", lambda **options: pytest.fail("work was begun"))
    assert main.main(["report", "nowhere.py", "--output", str(tmp_path / "out")]) == 2
    assert "nowhere.py" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("terminal", "environment", "shown"),
    [
        (True, {"TERM": "xterm"}, "\r\033[K  [1/9] a long n …\r\033[K"),
        (True, {"TERM": "xterm", "NO_COLOR": "1"}, ""),
        (True, {"TERM": "dumb"}, ""),
        (False, {"TERM": "xterm"}, ""),
    ],
)
def test_progress_is_one_line_of_a_terminal_that_can_be_steered(
    terminal: bool,
    environment: dict[str, str],
    shown: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in {**environment, "COLUMNS": "19"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
    progress("[1/9] a long name")
    progress("")
    assert capsys.readouterr().err == shown
