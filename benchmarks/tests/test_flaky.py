"""The study of tests that fail by chance counts what it saw, and goes on where it was."""

import ast
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.cli.conventions import HOLDS, TERMINATED, VIOLATED
from benchmarks.cli.main import main
from benchmarks.studies import flaky
from benchmarks.studies.flaky import Count, Group, Progress
from benchmarks.tests.processes import alive

SOMETIMES = """
import pathlib, signal

def test_sometimes():
    runs = pathlib.Path("runs")
    runs.write_text(runs.read_text() + "x" if runs.exists() else "x")
    assert len(runs.read_text()) != 3, "the third"

def test_caller():
    assert (signal.getsignal(signal.SIGINT) is signal.SIG_IGN) == pathlib.Path("ignored").exists()
"""


@pytest.mark.robust_core_slow
def test_failures_by_chance_are_counted_and_a_study_goes_on(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(SOMETIMES)
    counts, group = tmp_path / "kept" / "counts.json", Group("mine", 4, ("test_mine.py",))
    nothing = flaky.run(counts, seconds=0.0, groups=(group,), root=tmp_path)
    assert nothing == Progress()
    flaky.run(counts, share=0.5, conditions=("idle",), groups=(group,), root=tmp_path)
    assert flaky.read(counts).counts["idle: test_mine::test_sometimes"] == Count(2, 0)
    found = flaky.run(counts, conditions=("idle",), groups=(group,), root=tmp_path)
    assert found == flaky.read(counts)
    assert found.done == {"idle: mine": 4}
    count = found.counts["idle: test_mine::test_sometimes"]
    assert (count.runs, count.failures, "the third" in count.message) == (4, 1, True)
    assert found.counts["idle: test_mine::test_caller"] == Count(4, 0)


RACING = {"Popen", "openpty", "setitimer", "await_true", "interruptible", "ends_when_asked"}
"""What a test uses that starts a process and does not wait for its end, or whose moment the system chooses."""


def racing(file: Path) -> Iterator[str]:
    """The tests in a file that use something of this, directly or by a function of the file."""
    functions = {node.name: node for node in ast.parse(file.read_text()).body if isinstance(node, ast.FunctionDef)}
    used = {name: set(names_in(node)) for name, node in functions.items()}
    before = -1
    while before != (before := sum(map(len, used.values()))):
        for names in used.values():
            names |= {each for name in names if name in functions for each in used[name]}
    return (name for name, names in used.items() if name.startswith("test_") and names & RACING)


def names_in(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        if isinstance(node, ast.Attribute):
            yield node.attr


def test_the_study_has_every_test_that_races_with_a_process() -> None:
    """Those of the browser wait for pages, and those of this file start studies."""
    root = Path(flaky.__file__).parent.parent.parent
    studied = {test for group in flaky.GROUPS for test in group.tests}
    for file in (*root.glob("properties/tests/test_*.py"), *root.glob("benchmarks/tests/test_*.py")):
        place = file.relative_to(root).as_posix()
        if file.samefile(__file__) or place in studied:
            continue
        missing = [name for name in racing(file) if f"{place}::{name}" not in studied]
        assert not missing, f"{place}: list these in benchmarks/studies/flaky.py"


def test_a_caller_that_ignores_ctrl_c_is_one(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(SOMETIMES)
    (tmp_path / "ignored").touch()
    counts = flaky.repeat(("test_mine.py::test_caller",), 3, "ignored", root=tmp_path)
    assert counts == {"test_mine::test_caller": Count(3, 0)}


def test_every_test_of_the_study_is_there() -> None:
    root = Path(flaky.__file__).parent.parent.parent
    for group in flaky.GROUPS:
        for test in group.tests:
            file, _, name = test.partition("::")
            assert f"def {name}" in (root / file).read_text(encoding="utf-8"), test


def test_who_asks_a_study_to_end_leaves_no_busy_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    busy: list[int] = []
    start = subprocess.Popen

    def started(*args: Any, **options: Any) -> Any:
        process = start(*args, **options)
        busy.append(process.pid)
        return process

    def run(*_: object, **__: object) -> None:
        with flaky._load():
            signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(flaky, "run", run)
    monkeypatch.setattr(subprocess, "Popen", started)
    with pytest.raises(SystemExit, match=str(TERMINATED)):
        main(["study", "flaky", "--counts", str(tmp_path / "counts.json")])
    assert busy
    assert not any(map(alive, busy))


def test_the_command_says_what_failed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "counts.json"
    done = {f"{condition}: {group.name}": 1000 for condition in flaky.CONDITIONS for group in flaky.GROUPS}
    flaky.write(Progress(done, {"idle: tests::test_x": Count(1000, 0)}), file)
    assert main(["study", "flaky", "--counts", str(file)]) == HOLDS
    assert "the machine as it is: 0 of 1000 runs of 1 tests failed" in capsys.readouterr().out
    flaky.write(Progress(done, {"load: tests::test_x": Count(1000, 2, "no\nluck")}), file)
    assert main(["study", "flaky", "--counts", str(file), "--quiet"]) == VIOLATED
    assert "failed 2 of 1000: load: tests::test_x: no luck" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["study", "flaky", "--share", "2"])
