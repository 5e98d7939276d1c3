"""The record store beyond what the batches need: measurements of time, full disks, records that are none."""

import json
import os
import zlib
from pathlib import Path

import pytest

from benchmarks.store import Store


def test_of_two_measurements_of_time_the_first_stays(tmp_path: Path) -> None:
    first, second = Store(tmp_path / "s"), Store(tmp_path / "s")
    first.put(b"time", 1.0, repeatable=False)
    second.put(b"time", 2.0, repeatable=False)
    second.put(b"time", 3.0, repeatable=False)
    assert Store(tmp_path / "s").get(b"time") == 1.0


def test_what_is_a_function_of_its_key_must_not_differ(tmp_path: Path) -> None:
    first, second = Store(tmp_path / "s"), Store(tmp_path / "s")
    first.put(b"key", 1.0)
    second.put(b"key", 2.0)
    with pytest.raises(ValueError, match="two values"):
        Store(tmp_path / "s")


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
    (tmp_path / "s").write_bytes(b"\n%s\t%08x\n" % (text, zlib.crc32(text)))
    store = Store(tmp_path / "s")
    assert store.get(b"key") is None
    store.put(b"key", 2)
    assert Store(tmp_path / "s").get(b"key") == 2
