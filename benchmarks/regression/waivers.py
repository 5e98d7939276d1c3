"""Waivers: measures that may be worse or changed for a while, with a reason and an expiry date.

    [[waived]]
    metric = "last error"
    problem = "garnet, per visit"
    reason = "the new step size trades the last error for the first"
    expires = 2027-06-30

`variant` limits an entry to one variant; without `problem` it is for all problems. An entry that has expired is an
error, as for expected failures: an excuse must not outlive its reason.
"""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.regression.compare import Comparison, Row, worst
from benchmarks.regression.variants import OWN_METRICS
from properties.judging.expectations import entries_of
from robust_core.json import blame_on
from robust_core.text import suggestion

NEEDED, OPTIONAL = {"metric", "reason", "expires"}, {"variant", "problem"}


@dataclass(frozen=True)
class Waiver:
    """One entry; None stands for all."""

    metric: str
    reason: str
    expires: datetime.date
    variant: str | None = None
    problem: str | None = None

    def covers(self, row: Row) -> bool:
        """Whether a measure that is worse or changed is waived."""
        return (
            row.verdict in ("worse", "changed")
            and row.metric == self.metric
            and self.variant in (None, row.variant)
            and self.problem in (None, row.problem)
        )


def read(path: Path, *, today: datetime.date | None = None) -> tuple[Waiver, ...]:
    """The waivers of a file; whatever is wrong is refused with the number of the entry."""
    with entries_of(path, "waived") as entries:
        found = []
        for number, entry in enumerate(entries, start=1):
            with blame_on(f"entry {number}"):
                found.append(_waiver(entry, today or datetime.date.today()))
        return tuple(found)


def _waiver(entry: Any, today: datetime.date) -> Waiver:
    if not isinstance(entry, dict) or not NEEDED <= set(entry) <= NEEDED | OPTIONAL:
        raise ValueError(
            f"fields must be {', '.join(sorted(NEEDED))}, and may be variant and problem, got {entry!r:.120}"
        )
    for name in sorted(set(entry) - {"expires"}):
        if not isinstance(entry[name], str) or not entry[name].strip() or not entry[name].isprintable():
            raise ValueError(f"{name} must be one line of text, got {entry[name]!r:.80}")
    if entry["metric"] not in OWN_METRICS:
        there = suggestion(entry["metric"], OWN_METRICS)
        raise ValueError(f"no metric {entry['metric']!r:.80}; there are {'; '.join(OWN_METRICS)}{there}")
    expires = entry["expires"]
    if not isinstance(expires, datetime.date) or isinstance(expires, datetime.datetime):
        raise ValueError(f"expires must be a date such as 2027-06-30, got {expires!r:.80}")
    if expires < today:
        raise ValueError(f"expired on {expires}; fix the variant or extend the expiry date")
    return Waiver(**entry)


def apply(found: Comparison, waivers: Sequence[Waiver]) -> Comparison:
    """The comparison with what is waived marked as such: it stays in the table and does not count."""
    rows = []
    for row in found.rows:
        waiver = next((waiver for waiver in waivers if waiver.covers(row)), None)
        said = "" if waiver is None else f"{waiver.reason} (until {waiver.expires})"
        rows.append(replace(row, waived=said))
    return replace(found, rows=tuple(rows), verdict=worst(rows))
