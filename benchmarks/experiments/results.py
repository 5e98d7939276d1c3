"""The committed results: one text file that diffs well, written and read here."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.experiments.panels import PANELS
from benchmarks.experiments.readings import READINGS

FILE = Path(__file__).with_name("results.json")
Record = dict[str, Any]


def dumps(records: Iterable[Record], trends: Iterable[Record]) -> str:
    """JSON with one field of a record per line, records in the order of panels and readings.

    >>> print(dumps([{"panel": "taxi-a", "reading": "default", "p": 0.1}], []))
    {"records": [
    {"panel": "taxi-a",
     "reading": "default",
     "p": 0.1}
    ], "trends": [
    <BLANKLINE>
    ]}
    <BLANKLINE>
    """
    order = {(panel, reading): i for i, (panel, reading) in enumerate((p, r) for p in PANELS for r in READINGS)}
    kept = sorted(records, key=lambda record: order[record["panel"], record["reading"]])
    parts = [",\n".join(map(_fields, group)) for group in (kept, trends)]
    return f'{{"records": [\n{parts[0]}\n], "trends": [\n{parts[1]}\n]}}\n'


def _fields(record: Record) -> str:
    lines = (f"{json.dumps(key)}: {_value(value)}" for key, value in record.items() if key != "scores")
    return "{" + ",\n ".join(lines) + "}"


def _value(value: Any) -> str:
    """Lists of claims and groups of curves get a line for each member."""
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n  " + ",\n  ".join(map(_value, value)) + "]"
    if isinstance(value, dict) and any(isinstance(member, dict) for member in value.values()):
        return "{" + ",".join(f"\n  {json.dumps(key)}: {_value(member)}" for key, member in value.items()) + "}"
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def load(path: Path = FILE) -> tuple[list[Record], list[Record]]:
    """The records and the trends of a results file."""
    data = json.loads(path.read_text(encoding="utf-8"))
    return data["records"], data["trends"]
