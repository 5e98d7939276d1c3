"""The committed results: one text file that diffs well, written and read here.

`results.json` has three parts.

- `made by`: the hash of the code that made all records (`benchmarks.runner.identity.fingerprint`), how many there are,
  the versions of the `libraries`, and the processor time if they were made in one go.
- `records`: one for every panel and every interpretation that matters for it, in that order. `panel`, `source` (the
  figure in the paper), `interpretation`, `p`, `R`, `outcome` (that of the first claim), `steps` (of training),
  `claims`, `values` (the plateau of every learner and of the controls, exact), and what belongs to a figure: `limits`,
  `runs equal to shorter horizon`, `diverged`, `stability`. A claim has `claim`, `effect`, `interval` (99.9 %,
  Student), `much`, `runs`, `for`, `even`, `against`, `outcome`, and without assumptions `median`, `median interval`
  (an end may be null), `outcome by median`. Where an interpretation has as many runs as the default there is `student
  misses` (see `outcome`), and under the default interpretation there are also `times` (x: steps, or iterations for
  RARL), `curves` (for every learner `mean`, `low`, `high`: the mean and the 5th and 95th percentile of thirty runs at
  these times) and `monte carlo`.
- `trends`: claims about the growth of the advantage with p and R, each with `figure` and `interpretation`.

A file that is read is checked against all this (`schema`). Whether the present code would make the same records is
another question: `made_by_present_code` tells whether it is the code that made them.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

from benchmarks.experiments.interpretations import INTERPRETATIONS
from benchmarks.experiments.panels import PANELS
from benchmarks.experiments.schema import checked
from benchmarks.runner.identity import fingerprint
from robust_core import json as strict_json
from robust_core.json import blamed_on

FILE = Path(__file__).with_name("results.json")
Record = dict[str, Any]
ENTRY = "benchmarks.experiments.panels"
"""The module whose sources, at any depth, make a record."""
SHORT = 12
Results = TypedDict("Results", {"made by": Record, "records": list[Record], "trends": list[Record]})


def dumps(made: Results) -> str:
    """JSON with one field of a record per line, records in the order of panels and interpretations.

    >>> record = {"panel": "taxi-a", "interpretation": "default", "p": 0.1, "scores": [1.0]}
    >>> print(dumps({"made by": {"code": "00"}, "records": [record], "trends": []}))
    {"made by": {"code": "00"},
    "records": [
    {"panel": "taxi-a",
     "interpretation": "default",
     "p": 0.1}
    ], "trends": [
    <BLANKLINE>
    ]}
    <BLANKLINE>
    """
    order = {
        (panel, interpretation): i
        for i, (panel, interpretation) in enumerate((p, r) for p in PANELS for r in INTERPRETATIONS)
    }
    kept = sorted(made["records"], key=lambda record: order[record["panel"], record["interpretation"]])
    parts = [",\n".join(map(_fields, group)) for group in (kept, made["trends"])]
    head = json.dumps(made["made by"])
    return f'{{"made by": {head},\n"records": [\n{parts[0]}\n], "trends": [\n{parts[1]}\n]}}\n'


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


def load_all(path: Path = FILE) -> Results:
    """All of a results file; a malformed one is a `ValueError` of one line that names the file, the place and the rule.

    >>> sorted(load_all())
    ['made by', 'records', 'trends']
    """
    made: Results = strict_json.load(path)
    with blamed_on(path):
        checked(made)
    return made


def load(path: Path = FILE) -> tuple[list[Record], list[Record]]:
    """The records and, under the default interpretation, the trends of a results file."""
    made = load_all(path)
    return made["records"], [trend for trend in made["trends"] if trend["interpretation"] == "default"]


def present_code() -> str:
    """The hash of the code that would make the records now; the versions of numpy and numba are part of it."""
    return fingerprint(ENTRY).hex()


class Codes(NamedTuple):
    """The first digits of two hashes: of the code that made the results, and of the present code."""

    made_by: str
    present: str


def codes(path: Path = FILE) -> Codes:
    """The short hashes to show: of the code that made a results file, and of the present code.

    >>> [len(code) for code in codes()]
    [12, 12]
    """
    return Codes(load_all(path)["made by"]["code"][:SHORT], present_code()[:SHORT])


def made_by_present_code(path: Path = FILE) -> bool:
    """Whether the present code, docstrings aside, made a results file; if not, its numbers may still be the same."""
    return bool(load_all(path)["made by"]["code"] == present_code())
