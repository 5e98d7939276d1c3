"""No store or baseline takes the suite down: it is loaded, ignored line by line, or refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.regression import baseline
from benchmarks.runner.store import Store
from benchmarks.tests.test_store import as_line
from properties.tests.corruption import Loader, as_json, fuzz, limited_memory, survived

MEASURE = {"metric": "error", "variant": "Q", "problem": "two states"}
BASELINE = [
    {"format": baseline.FORMAT, "seed_set": "pinned", "reason": "first", "measures": 2},
    {"versions": {"numpy": "2.0"}},
    {**MEASURE, "value": 0.5},
    {**MEASURE, "metric": "steps", "values": [0.25, None, 3], "impossible": 0},
]
RECORDS = [{"key": b"k".hex(), "value": [[0.1, 2]]}, {"key": b"t".hex(), "value": {"a": None}, "repeatable": False}]


def as_lines(value: Any) -> bytes:
    return b"\n".join(map(as_json, value if isinstance(value, list) else [value]))


def as_store(value: Any) -> bytes:
    """Every line with the checksum that it needs to be looked at."""
    texts = map(as_json, value if isinstance(value, list) else [value])
    return b"".join(map(as_line, texts))


def load_store(path: Path) -> object:
    store = Store(path)
    try:
        return store.get(b"k"), store.get(b"t")
    finally:
        store.close()


def load_baseline(path: Path) -> object:
    return baseline.load(str(path))


def test_corrupted_baselines_are_loaded_or_refused(tmp_path: Path) -> None:
    survived(BASELINE, as_lines, load_baseline, tmp_path / "baseline.jsonl", 2000)


def test_corrupted_lines_of_a_store_are_ignored(tmp_path: Path) -> None:
    with limited_memory():
        loaded, refused = fuzz(RECORDS, as_store, load_store, tmp_path / "store.jsonl", 1000)
    assert loaded > refused, "a store reads what it can"


def test_a_deeply_nested_line_of_a_store_is_ignored(tmp_path: Path) -> None:
    deep = b'{"key": "6b", "value": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    (tmp_path / "store.jsonl").write_bytes(as_line(deep) + as_store(RECORDS[1]))
    assert load_store(tmp_path / "store.jsonl") == (None, {"a": None})


def careless(path: Path) -> object:
    return [json.loads(line)["metric"] for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("load", [careless])
def test_a_careless_loader_is_caught(load: Loader, tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        fuzz(BASELINE, as_lines, load, tmp_path / "baseline.jsonl", 200)
