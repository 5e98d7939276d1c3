"""The record store beyond what the batches need: measurements of time, full disks, records that are none."""

import json
import math
import multiprocessing
import os
import zlib
from pathlib import Path

import pytest

from benchmarks.runner.store import Store


def as_line(text: bytes) -> bytes:
    """A line of a store, with the checksum of its text."""
    return b'\n{"check": "%08x", %s\n' % (zlib.crc32(text[1:]), text[1:])


def test_lines_are_strict_json_whatever_the_numbers(tmp_path: Path) -> None:
    store, value = Store(tmp_path / "s"), {"a": [[0.1, math.inf], [-math.inf, -0.0]], "b": "é"}
    store.put(b"key", value)
    store.put(b"nan", [math.nan])
    lines = (tmp_path / "s").read_text(encoding="utf-8").split()
    for line in (tmp_path / "s").read_text(encoding="utf-8").splitlines():
        assert not line or json.loads(line, parse_constant=pytest.fail).keys() == {"check", "key", "value"}
    assert '"NaN"]}' in lines[-1]
    for reader in (store, Store(tmp_path / "s")):
        assert reader.get(b"key") == value
        assert math.isnan(reader.get(b"nan")[0])
    with pytest.raises(ValueError, match="stands for a number"):
        store.put(b"word", ["NaN"])


def test_a_store_of_an_older_version_is_refused_and_left_alone(tmp_path: Path) -> None:
    text = b'{"key": "6b", "value": 1}'
    old = b"\n%s\t%08x\n" % (text, zlib.crc32(text))
    (tmp_path / "s").write_bytes(old)
    with pytest.raises(ValueError, match=r"older version of robust-core.*delete the file or name another"):
        Store(tmp_path / "s")
    assert (tmp_path / "s").read_bytes() == old


def test_of_two_measurements_of_time_the_first_stays(tmp_path: Path) -> None:
    first, second = Store(tmp_path / "s"), Store(tmp_path / "s")
    first.put(b"time", 1.0, repeatable=False)
    second.put(b"time", 2.0, repeatable=False)
    second.put(b"time", 3.0, repeatable=False)
    assert first.get(b"time") == second.get(b"time") == Store(tmp_path / "s").get(b"time") == 1.0


def test_what_is_a_function_of_its_key_must_not_differ(tmp_path: Path) -> None:
    first, second = Store(tmp_path / "s"), Store(tmp_path / "s")
    first.put(b"key", 1.0)
    with pytest.raises(ValueError, match="two values"):
        second.put(b"key", 2.0)
    assert Store(tmp_path / "s").get(b"key") == 1.0, "the second one must not get into the file"


def test_a_store_with_two_values_says_how_to_repair_it(tmp_path: Path) -> None:
    path = tmp_path / "s"
    for value in (1.0, 2.0):
        Store(tmp_path / f"{value}").put(b"key", value)
    Store(tmp_path / "1.0").put(b"other", 3.0)
    path.write_bytes(b"".join((tmp_path / f"{value}").read_bytes() for value in (1.0, 2.0)))
    name = b"key".hex()
    with pytest.raises(ValueError, match=f"Delete every line with {name} from {path}"):
        Store(path)
    kept = [line for line in path.read_text().splitlines(keepends=True) if name not in line]
    path.write_text("".join(kept))
    assert (Store(path).get(b"key"), Store(path).get(b"other")) == (None, 3.0)


def _write(path: Path, start: float, many: int) -> None:
    """A writer that measures times of its own, and one that computes what everybody computes."""
    store = Store(path)
    for number in range(many):
        store.put(b"time %d" % number, start + number, repeatable=False)
        store.put(b"result %d" % number, number)


def test_writers_at_the_same_time_keep_the_first_and_write_nothing_twice(tmp_path: Path) -> None:
    context, many = multiprocessing.get_context("spawn"), 200
    writers = [context.Process(target=_write, args=(tmp_path / "s", 1000.0 * i, many)) for i in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60.0)
    assert [writer.exitcode for writer in writers] == [0, 0, 0]
    lines = [line for line in (tmp_path / "s").read_bytes().splitlines() if line]
    assert len(lines) == 2 * many, "each key once"
    store = Store(tmp_path / "s")
    assert [store.get(b"result %d" % number) for number in range(many)] == list(range(many))


def test_a_record_that_was_cut_short_is_an_error_and_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path / "s")
    whole = os.write
    monkeypatch.setattr(os, "write", lambda file, line: whole(file, line[: len(line) // 2]))
    with pytest.raises(OSError, match="cut short"):
        store.put(b"key", list(range(100)))
    monkeypatch.undo()
    assert store.get(b"key") is None
    store.put(b"other", 1)
    again = Store(tmp_path / "s")
    assert (again.get(b"key"), again.get(b"other")) == (None, 1)


@pytest.mark.parametrize("record", [[], 3, "key", {"value": 1}, {"key": "6b6579"}, {"key": ["6b6579"], "value": 1}])
def test_a_sound_line_that_is_no_record_is_ignored(record: object, tmp_path: Path) -> None:
    text = json.dumps(record).encode()
    (tmp_path / "s").write_bytes(as_line(text))
    store = Store(tmp_path / "s")
    assert store.get(b"key") is None
    store.put(b"key", 2)
    assert Store(tmp_path / "s").get(b"key") == 2
