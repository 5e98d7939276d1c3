"""What `robust-core bench` and `robust-core baseline accept` print as JSON."""

import statistics
from dataclasses import dataclass
from pathlib import Path

from benchmarks.regression.compare import Comparison
from benchmarks.regression.measures import Exact, Measure, Measurements, Name


@dataclass(frozen=True)
class ShortMeasure:
    """A measure without its values by seed: a value, or the median of n values."""

    metric: str
    variant: str
    problem: str
    value: float | str | None = None
    median: float | None = None
    n: int = 0
    impossible: int = 0


@dataclass(frozen=True)
class Summary:
    """Today's measurements in short, and where they are kept."""

    seed_set: str
    versions: dict[str, str]
    store: str
    pending: tuple[Name, ...]
    measures: tuple[ShortMeasure, ...]


@dataclass(frozen=True)
class Acceptance:
    """The baseline file that was written, and the comparison with the one that it replaces."""

    file: str
    measures: int
    bytes: int
    reason: str
    comparison: Comparison | None


def summarize(today: Measurements, store: Path) -> Summary:
    """The measurements in short."""
    return Summary(today.seed_set, today.versions, str(store), today.pending, tuple(map(_shorten, today.measures)))


def _shorten(measure: Measure) -> ShortMeasure:
    if isinstance(measure, Exact):
        return ShortMeasure(*measure.name, value=measure.value)
    finite = [value for value in measure.values if value is not None]
    median = statistics.median(finite) if finite else None
    return ShortMeasure(*measure.name, median=median, n=len(measure.values), impossible=measure.impossible)
