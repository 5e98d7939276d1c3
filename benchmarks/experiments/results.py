"""The committed results: one text file that diffs well, written and read here.

`results.json` has a `format`, `made_by` (`MadeBy`), `runs` (a `PanelRun` for every panel and every interpretation that
matters for it, in that order) and `trends` (`Trend`). A file that is read is checked against these records. Whether
the present code would compute the same numbers is another question: `is_current` tells whether it is the same code.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from benchmarks.experiments.interpretations import INTERPRETATIONS
from benchmarks.experiments.outcome import Count, Text, require
from benchmarks.experiments.paper import PANELS
from benchmarks.experiments.records import PanelRun, Trend
from benchmarks.runner import identity
from robust_core.json import Rule, blame_on, dumps, from_data, load, to_data

FORMAT = "robust-core panels 2"
FILE = Path(__file__).with_name("results.json")
WRITE = "robust-core panels --write"
"""The command that writes the committed results."""
ENTRY = "benchmarks.experiments.panels"
"""The module whose sources, at any depth, compute a panel run."""
SHORT = 12
_CODE = Rule("32 hexadecimal digits", lambda code: len(code) == 32 and set(code) <= set("0123456789abcdef"))
_VERSIONS = Rule(
    "an object of printable names", lambda versions: all(name.isprintable() and len(name) < 80 for name in versions)
)


@dataclass(frozen=True)
class MadeBy:
    """The hash of the code that computed all runs, their number, the libraries, and the time if it was one job."""

    code: Annotated[str, _CODE]
    runs: Count
    libraries: Annotated[dict[str, Text], _VERSIONS]
    cpu_seconds: Count | None = None


@dataclass(frozen=True)
class Results:
    """All panel runs and trends, and the code that computed them."""

    made_by: MadeBy
    runs: tuple[PanelRun, ...]
    trends: tuple[Trend, ...]
    format: str = FORMAT

    def __post_init__(self) -> None:
        require(self.made_by.runs, len(self.runs), "made_by, runs", "the number of runs")
        seen = set()
        for run in self.runs:
            if (run.panel, run.interpretation) in seen:
                raise ValueError(f"runs has panel {run.panel!r} with interpretation {run.interpretation!r} twice")
            seen.add((run.panel, run.interpretation))


def text(results: Results) -> str:
    """JSON with one field of a run per line, runs in the order of panels and interpretations."""
    names = ((panel, interpretation) for panel in PANELS for interpretation in INTERPRETATIONS)
    order = {name: place for place, name in enumerate(names)}
    runs = sorted(results.runs, key=lambda run: order[run.panel, run.interpretation])
    parts = [_objects(to_data(run) for run in runs), _objects(map(to_data, results.trends))]
    head = (
        f'"format": {dumps(results.format)},\n"made_by": {dumps(_present(to_data(results.made_by)), sort_keys=False)}'
    )
    return f'{{{head},\n"runs": [\n{parts[0]}\n], "trends": [\n{parts[1]}\n]}}\n'


def _present(data: dict[str, Any]) -> dict[str, Any]:
    """The fields that a file has: scores are left out, and fields without a value."""
    return {name: value for name, value in data.items() if name != "scores" and value is not None}


def _objects(records: Iterable[dict[str, Any]]) -> str:
    return ",\n".join("{" + ",\n ".join(_fields(record)) + "}" for record in records)


def _fields(record: dict[str, Any]) -> list[str]:
    return [f"{dumps(name)}: {_value(value)}" for name, value in _present(record).items()]


def _value(value: Any) -> str:
    """Lists of claims and groups of curves get a line for each member."""
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n  " + ",\n  ".join(map(_value, value)) + "]"
    if isinstance(value, dict) and any(isinstance(member, dict) for member in value.values()):
        return "{" + ",".join(f"\n  {dumps(name)}: {_value(member)}" for name, member in value.items()) + "}"
    return dumps(value, sort_keys=False)


def load_results(path: Path = FILE) -> Results:
    """The results in a file; a malformed one is a `ValueError` of one line that names the file, the place and the rule.

    >>> len(load_results().runs)
    162
    """
    data = load(path)
    with blame_on(path):
        if isinstance(data, dict) and data.get("format") != FORMAT:
            found = data.get("format", "a file without a format")
            raise ValueError(
                f"format must be {FORMAT!r}, got {found!r:.80}, which another version wrote: write it again ({WRITE})"
            )
        return from_data(Results, data)


def present_code() -> str:
    """The hash of the code that would compute the runs now; the versions of numpy and numba are part of it."""
    return identity.code(ENTRY)


class Codes(NamedTuple):
    """The first digits of two hashes: of the code that made the results, and of the present code."""

    made_by: str
    present: str


def codes(path: Path = FILE) -> Codes:
    """The short hashes to show: of the code that made a results file, and of the present code.

    >>> [len(code) for code in codes()]
    [12, 12]
    """
    return Codes(load_results(path).made_by.code[:SHORT], present_code()[:SHORT])


def is_current(path: Path = FILE) -> bool:
    """Whether the present code, docstrings aside, made a results file; if not, its numbers may still be the same."""
    return load_results(path).made_by.code == present_code()
