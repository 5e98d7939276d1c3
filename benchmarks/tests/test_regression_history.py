"""The history of a variant: records, merges, and the detector of change points."""

import math
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.cli.main import main
from benchmarks.regression import baseline, history
from benchmarks.regression.history import FORMAT, LAMBDAS, Point, Record, change_point, detect
from benchmarks.regression.measures import Measurements, Sample
from benchmarks.regression.own import Choice
from robust_core.streams import key, numpy_generator


def record(number: int, each: float, *, variant: str = "mine") -> Record:
    point = Point("last error", "garnet", 1.0, 1.05, 0.05, 0.01, 0.09, 64, "undecided", (each,) * 2 * LAMBDAS.size)
    time = f"2026-11-18T00:{number:02d}:00+00:00"
    return Record(FORMAT, time, f"r{number}", f"change {number}", "cpu", variant, "control", "ref", "v1", f"s{number}",
                  (point,))  # fmt: skip


def test_a_change_is_dated_and_a_second_copy_counts_once() -> None:
    records = [record(0, -0.3), record(1, 0.1), record(2, 5.0), record(3, 5.0)]
    (trend,) = history.trends([*records, replace(records[2], time="2026-11-18T01:00:00+00:00")])
    assert trend.alarm is not None
    assert (trend.alarm.since, trend.alarm.alarm, trend.alarm.message) == ("r1", "r3", "change 1")
    (quiet,) = history.trends([records[2], *(replace(records[2], time=f"t{k}") for k in range(9))])
    assert quiet.alarm is None


def test_records_outside_git_are_told_apart_by_their_times() -> None:
    records = [replace(record(k, 6.0 * (k > 0)), revision="", message="") for k in range(4)]
    (trend,) = history.trends(records)
    assert trend.alarm is not None
    assert trend.alarm.since == records[1].time
    lines = history.text(records, [trend]).splitlines()
    assert f"changed since {records[1].time}: last error" in lines[-2]
    assert [line.rstrip() for line in lines] == lines


def test_a_folder_that_cannot_be_there_is_refused_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="file: a history is a folder"):
        history.with_fresh_seeds(Choice(), tmp_path / "file", "mine.py")
    with pytest.raises(OSError, match="Not a directory"):
        history.with_fresh_seeds(Choice(), tmp_path / "file" / "h", "mine.py")


def test_merges_are_unions(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    history._append(one, [record(0, 0.0), record(1, 0.0)])
    history._append(other, [record(0, 0.0), record(2, 0.0)])
    assert history.merge(one, other) == 1
    assert history.merge(one, other) == 0
    assert [each.revision for each in history.read(one)] == ["r0", "r1", "r2"]
    assert history.merge(tmp_path / "new", one) == 3
    for folder in (one, tmp_path / "new"):
        assert (folder / ".gitattributes").read_text() == "*.jsonl merge=union\n"
    with pytest.raises(ValueError, match="misspelt: no such history to merge"):
        history.merge(one, tmp_path / "misspelt")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("[1]", "line 1: format must be"),
        ('{"format": "robust-core history 0"}', "which another version wrote"),
        ('{"format": "robust-core history 1"}', "line 1"),
        ("{", "line 1"),
    ],
)
def test_what_is_no_record_is_refused(line: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(f"{line}\n")
    with pytest.raises(ValueError, match=reason):
        history.read(tmp_path)


def test_versions_of_a_committed_file_are_a_history(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def git(*words: str) -> None:
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=tmp_path, check=True)

    path = tmp_path / "saved.jsonl"
    git("init", "-q")
    for factor, message in ((1.0, "first"), (1.0, "same"), (1.2, "slower"), (1.2, "later")):
        values = tuple(factor * (1.0 + 0.01 * i) for i in range(40))
        side = Measurements("pinned", {"numpy": message}, (Sample("last error", "mine", "garnet", values, 0),))
        path.write_text(baseline.text(side, reason=message))
        git("add", "-A")
        git("commit", "-qm", message)
    (trend,) = history.trends(history.read_any(path))
    assert trend.alarm is not None
    assert (trend.alarm.message, trend.alarm.since_at) == ("slower", 2)
    assert trend.effects == pytest.approx((0.0, 0.0, 0.2, 0.2))
    assert main(["history", str(path), "--strict"]) == 3
    assert "changed since" in capsys.readouterr().out
    assert main(["history", str(tmp_path / "none")]) == 2
    loose = tmp_path / "loose" / "saved.jsonl"
    loose.parent.mkdir()
    loose.write_text("")
    with pytest.raises(ValueError, match="no version of it is committed"):
        history.read_any(loose)


def log_e_values(shape: tuple[int, int, int], shift: float, spread: float, word: str) -> np.ndarray:
    """Evidence of (histories, records) with so many seeds each, whose differences are normal."""
    d = shift + spread * numpy_generator(key("detector", word)).standard_normal(shape)
    return np.array([[history.log_e(record, "last error") for record in each] for each in d])


def test_false_alarms_keep_their_rate() -> None:
    """At A = 20 an alarm within 5 records has a probability of at most 5/20."""
    null = log_e_values((400, 5, 32), 0.0, 0.5, "null")
    alarms = sum(detect(list(each), math.log(20.0))[0] is not None for each in null)
    assert alarms <= 400 * 5 / 20 + 3.0 * math.sqrt(400 * 0.25 * 0.75)
    assert alarms > 0, "the detector cannot be seen to work"


def test_a_change_of_five_percent_is_found_with_a_delay() -> None:
    """Differences with a deviation of 0.1, 64 seeds a record: within eight records at A = 10^4·30."""
    found = log_e_values((20, 8, 64), math.log(1.05), 0.1, "shift")
    places = [detect(list(each), math.log(30e4))[0] for each in found]
    assert all(place is not None for place in places)
    assert change_point(list(found[0])) == 0
