"""The history of a variant: one line of strict JSON per comparison with a frozen reference, and change points in it.

Every record is a comparison on seeds of its own, so that records are independent: its `evidence` has, for each
measure, the logarithms of e-values E_j, one for each λ of a grid and each direction (`benchmarks.regression.paired`).
Each has a mean of at most 1 if old and new code have the same law, at whatever number of seeds the comparison stopped.
The detector is that of Shiryaev and Roberts with e-values (an e-detector), averaged over j: R_{j,0} = 0 and

    R_{j,k} = (1 + R_{j,k−1}) E_{j,k},   R_k = mean of R_{j,k} over j,   alarm at the first k with R_k >= A.

Proof of its false-alarm rate. Let F_k be the past and E[E_{j,k} | F_{k−1}] <= 1. Then E[R_{j,k} | F_{k−1}] <= 1 +
R_{j,k−1}, so R_{j,k} − k is a supermartingale, and so is the mean R_k − k. For the time tau of the alarm and every n,
A P(tau <= n) <= E[R_{min(tau,n)}] <= E[min(tau,n)] <= n. So a measure that never changed has an alarm within n records
with probability at most n/A, and the mean time to a false alarm is at least A. With A = M·10^4 for the M measures of a
variant, any of them has a false alarm within n records with probability at most n/10^4. After a change R_{j,k} is at
least the product of the e-values since then, which grows geometrically for some j: the delay is about log A over the
mean of log E_j.

A file of measurements that is committed (the accepted baseline, or what `robust-core bench --output` wrote) has its
history in git: every committed version is a record. Its seeds are pinned, so there the evidence of records is not
independent and no detector is needed: a change point is a version that differs from the one before, in a comparison
under the error budget of its own.

Files are named by machine and merged as unions of lines (`.gitattributes` tells git so). The order of the records is
that of their times, which no value has a part in; a comparison that is there twice, with the same seeds, counts once.
"""

import datetime
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np

from benchmarks.regression import compare as regression
from benchmarks.regression.baseline import COMMITTED, git, parse
from benchmarks.regression.baseline import FORMAT as BASELINE_FORMAT
from benchmarks.regression.measures import PROCESSOR, Line, Measurements, Sample
from benchmarks.regression.metric import METRICS
from benchmarks.regression.own import Choice, Found
from benchmarks.regression.paired import EXPONENTS, log_evidence
from benchmarks.regression.targets import describe_revision
from benchmarks.regression.variants import OWN_METRICS, RATIO
from benchmarks.runner.store import write_whole
from properties.statistics.budget import RUN_BUDGET
from robust_core.json import LARGEST_FILE, Rule, blame_on, dumps, from_data, loads, text_of
from robust_core.streams import key
from robust_core.text import one_line
from robust_core.validate import Floats

FORMAT = "robust-core history 1"
RECORDS = 1e4
"""A false alarm within n records has a probability of at most n over this."""
ACCEPTED, MOST_VERSIONS = "robust-core baseline", 50
"""The format of the records that are versions of a file of measurements, and how many of them are read at most."""
MOST = 1000
GRID, LEAST = 1000.0, -1e6
"""Evidence is kept to three digits after the point; infinitely little counts as this."""
LAMBDAS = EXPONENTS[::2]
"""In units of 1/margin; the evidence has one number for each of them upwards, then downwards."""
Evidence = Annotated[
    tuple[float, ...], Rule(f"{2 * LAMBDAS.size} numbers", lambda evidence: len(evidence) == 2 * LAMBDAS.size)
]
NO_EVIDENCE = (0.0,) * (2 * LAMBDAS.size)
Points = Annotated[tuple["Point", ...], Rule(f"at most {MOST} measures", lambda points: len(points) <= MOST)]


@dataclass(frozen=True)
class Point:
    """A measure of a record: both medians, the effect with its interval, the verdict, and the evidence of a change."""

    metric: Line
    problem: Line
    old: float | None
    new: float | None
    effect: float | None
    lower: float | None
    upper: float | None
    n: int
    verdict: Line
    evidence: Evidence


@dataclass(frozen=True)
class Record:
    """A comparison: when, which code, on which machine, against which reference."""

    format: Line
    time: Line
    revision: Line
    message: Line
    machine: Line
    variant: Line
    kind: Line
    reference: Line
    reference_name: Line
    seed_set: Line
    points: Points

    @property
    def group(self) -> tuple[str, str]:
        """What is one history: a variant and its frozen reference."""
        return self.variant, self.reference


def with_fresh_seeds(choice: Choice, folder: Path, new: str) -> Choice:
    """Seeds that no record of the history had: named by the number of records and the revision.

    A folder that cannot be there is refused now, before the work.
    """
    _prepare(folder)
    revision, _ = describe_revision(Path(new.partition(":")[0]))
    return replace(choice, seed_set=f"history {len(read(folder))} {revision or 'no revision'}")


def add(folder: Path, found: Sequence[Found], *, old: str, new: str) -> None:
    """Append a record for each comparison."""
    revision, message = describe_revision(Path(new.partition(":")[0]))
    time = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    records = [
        Record(
            FORMAT,
            time,
            revision,
            message[:200],
            each.today.versions.get(PROCESSOR, "")[:200],
            one_line(each.variant.name)[:200],
            each.variant.kind,
            each.reference[:200],
            old[:200],
            each.today.seed_set,
            tuple(_points(each)),
        )
        for each in found
    ]
    _append(folder, records)


def _points(found: Found) -> list[Point]:
    before, now = ({m.name: m for m in side.measures} for side in (found.before, found.today))
    points = []
    for row in found.comparison.rows:
        old, new = before.get(row.name), now.get(row.name)
        if isinstance(old, Sample) and isinstance(new, Sample):
            evidence = log_e(regression.differences(OWN_METRICS[row.metric], old, new), row.metric)
            effect = row.effect, row.lower, row.upper
            medians = _float(row.baseline), _float(row.today)
            points.append(Point(row.metric, row.problem, *medians, *effect, row.n, row.verdict, evidence))
    return points


def _float(x: float | str | None) -> float | None:
    return x if isinstance(x, float) else None


def log_e(d: Floats, metric: str) -> tuple[float, ...]:
    """The logarithms of the e-values that the centre of the differences is 0, rounded down: they stay e-values."""
    lambdas = LAMBDAS / regression.inner_margin(OWN_METRICS[metric])
    exact = [log_evidence(side, 0.0, np.array([one])) for side in (d, -d) for one in lambdas]
    return tuple(math.floor(max(x, LEAST) * GRID) / GRID for x in exact)


def _require_folder(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder}: a history is a folder")


def _prepare(folder: Path) -> None:
    """A folder whose files git merges as unions of lines."""
    _require_folder(folder)
    folder.mkdir(parents=True, exist_ok=True)
    attributes = folder / ".gitattributes"
    if not attributes.exists():
        attributes.write_text("*.jsonl merge=union\n")


def _append(folder: Path, records: Sequence[Record]) -> None:
    _prepare(folder)
    for record in records:
        path = folder / f"{key('machine', record.machine).hex()[:8]}.jsonl"
        with path.open("a", encoding="utf-8") as file:
            file.write(f"{dumps(record, sort_keys=False)}\n")


def read(folder: Path) -> list[Record]:
    """The records of a history, the oldest first; a line that is not a record is refused with its place."""
    _require_folder(folder)
    found = []
    for path in sorted(folder.glob("*.jsonl")):
        for number, line in enumerate(text_of(path, largest=LARGEST_FILE).splitlines(), start=1):
            if line.strip():
                found.append(_record(line, f"{path}, line {number}"))
    return sorted(found, key=lambda record: (record.time, record.revision, record.seed_set, record.variant))


def _record(line: str, place: str) -> Record:
    with blame_on(place):
        data = loads(line)
    written = data.get("format") if isinstance(data, dict) else None
    if written != FORMAT:
        raise ValueError(f"{place}: format must be {FORMAT!r}, got {written!r:.80}, which another version wrote")
    record = from_data(Record, data, place)
    try:
        datetime.datetime.fromisoformat(record.time)
    except ValueError:
        raise ValueError(f"{place}: time must be that of ISO 8601, got {record.time!r:.80}") from None
    return record


def read_any(place: Path) -> list[Record]:
    """The records of a history, or of the committed versions of a file of measurements."""
    return committed_records(place) if place.is_file() else read(place)


def committed_records(path: Path) -> list[Record]:
    """The committed versions of a file of measurements, the oldest first; those of another format are left out.

    Effects are against the oldest version, verdicts against the one before.
    """
    path = path.resolve()
    metrics = METRICS if path == COMMITTED.resolve() else OWN_METRICS
    log = git(path.parent, "log", f"-{MOST_VERSIONS}", "--format=%H %cI %s", "--", path.name,
              why=f"{path}: a file of measurements has a history where it is committed in git")  # fmt: skip
    versions: list[tuple[str, str, str, Measurements]] = []
    for line in reversed(log.decode("utf-8", "replace").splitlines()):
        commit, time, message = line.split(" ", 2)
        content = git(path.parent, "show", f"{commit}:./{path.name}", why=f"{commit}: no {path.name}")
        if f'"{BASELINE_FORMAT}"' in content.decode("utf-8", "replace").partition("\n")[0]:
            side = parse(content.decode("utf-8"), f"{commit[:12]}:{path.name}")
            versions.append((time, commit[:12], one_line(message), side))
    if not versions:
        raise ValueError(f"{path}: no version of it is committed in the format {BASELINE_FORMAT!r}")
    records = []
    for number, (time, commit, message, side) in enumerate(versions):
        before = versions[max(number - 1, 0)][-1]
        effects = regression.compare(versions[0][-1], side, metrics=metrics)
        verdicts = {row.name: row.verdict for row in regression.compare(before, side, metrics=metrics).rows}
        for variant in dict.fromkeys(row.variant for row in effects.rows):
            points = tuple(
                Point(row.metric, row.problem, _float(row.baseline), _float(row.today), row.effect, row.lower,
                      row.upper, row.n, verdicts.get(row.name, "changed"), NO_EVIDENCE)
                for row in effects.rows if row.variant == variant
            )  # fmt: skip
            records.append(
                Record(ACCEPTED, time, commit, message[:200], side.versions.get(PROCESSOR, "")[:200], variant, "",
                       versions[0][1], versions[0][1], f"version {number}", points)
            )  # fmt: skip
    return records


def merge(folder: Path, other: Path) -> int:
    """Add the records of another history that are not there; how many they are."""
    if not other.is_dir():
        raise ValueError(f"{other}: no such history to merge")
    read(folder)
    read(other)
    _prepare(folder)
    added = 0
    for path in sorted(other.glob("*.jsonl")):
        mine = folder / path.name
        lines = mine.read_text(encoding="utf-8").splitlines() if mine.exists() else []
        new = [line for line in dict.fromkeys(path.read_text(encoding="utf-8").splitlines()) if line not in set(lines)]
        added += len(new)
        if new:
            write_whole(mine, "".join(f"{line}\n" for line in [*lines, *new]))
    return added


@dataclass(frozen=True)
class Change:
    """An alarm: the record that raised it, and the one since which the evidence is largest, with their places."""

    alarm: str
    since: str
    message: str
    alarm_at: int
    since_at: int


@dataclass(frozen=True)
class Trend:
    """A measure over the records with one reference: times, effects with intervals, log R at the end, and an alarm.

    Of accepted baselines there is no R, and the alarm is the last version that differs from the one before.
    """

    variant: str
    reference: str
    metric: str
    problem: str
    revisions: tuple[str, ...]
    effects: tuple[float | None, ...]
    lower: tuple[float | None, ...]
    upper: tuple[float | None, ...]
    level: float | None
    alarm: Change | None


def trends(records: Sequence[Record]) -> list[Trend]:
    """The trend of every measure, those with an alarm first."""
    groups: dict[tuple[str, str], dict[str, Record]] = {}
    for record in records:
        groups.setdefault(record.group, {}).setdefault(record.seed_set, record)
    found = []
    for group in groups.values():
        # Two processes of the same code may differ in speed: ratios of times raise no alarms.
        names = dict.fromkeys(
            (point.metric, point.problem)
            for record in group.values()
            for point in record.points
            if point.metric != RATIO
        )
        for name in names:
            pairs = [
                (record, point)
                for record in group.values()
                for point in record.points
                if (point.metric, point.problem) == name
            ]
            found.append(_trend(pairs, len(names)))
    return sorted(found, key=lambda trend: trend.alarm is None)


def _trend(pairs: Sequence[tuple[Record, Point]], measures: int) -> Trend:
    evidence = [point.evidence for _, point in pairs]
    record, point = pairs[-1]
    at: int | None
    level: float | None
    if record.format == ACCEPTED:
        moved = [place for place, (_, point) in enumerate(pairs) if point.verdict in ("worse", "better", "changed")]
        at = since_at = moved[-1] if moved else None
        level = None
    else:
        at, level = detect(evidence, math.log(RECORDS * measures))
        since_at = None if at is None else change_point(evidence[: at + 1])
    alarm = None
    if at is not None and since_at is not None:
        since = pairs[since_at][0]
        alarm = Change(_label(pairs[at][0]), _label(since), since.message, at, since_at)
    return Trend(
        record.variant,
        record.reference_name,
        point.metric,
        point.problem,
        tuple(record.revision for record, _ in pairs),
        tuple(point.effect for _, point in pairs),
        tuple(point.lower for _, point in pairs),
        tuple(point.upper for _, point in pairs),
        level,
        alarm,
    )


def _label(record: Record) -> str:
    """The revision; outside git the time, which tells the records apart."""
    return record.revision or record.time


def detect(evidence: Sequence[Sequence[float]], threshold: float) -> tuple[int | None, float]:
    """The place of the first alarm, and log R there or at the end; `threshold` is log A.

    >>> detect([[0.0], [0.0], [3.0], [3.0]], math.log(500.0))[0]
    3
    """
    levels: Floats = np.full(len(evidence[0]), -math.inf)
    total = -math.inf
    for place, logs in enumerate(evidence):
        levels = np.logaddexp(levels, 0.0) + np.asarray(logs)
        total = _mean(levels)
        if total >= threshold:
            return place, total
    return None, total


def _mean(logs: Floats) -> float:
    return float(np.logaddexp.reduce(logs)) - math.log(logs.size)


def change_point(evidence: Sequence[Sequence[float]]) -> int:
    """The place since which the mean of the products of the e-values is largest, the last one if there are several.

    A record without a difference has no evidence, so it must not be the first of the change.

    >>> change_point([[0.1], [-0.5], [3.0], [3.0]]), change_point([[0.0], [0.0], [3.0], [3.0]])
    (2, 2)
    """
    means = [_mean(row) for row in np.cumsum(np.asarray(evidence)[::-1], axis=0)]
    return len(means) - 1 - int(np.argmax(means))


def short(record: Record) -> dict[str, object]:
    """A record without its measures."""
    return {
        "time": record.time, "revision": record.revision, "message": record.message, "machine": record.machine,
        "variant": record.variant, "reference": record.reference_name, "measures": len(record.points),
    }  # fmt: skip


def text(records: Sequence[Record], found: Sequence[Trend]) -> str:
    """The history in lines: one per record, then the change points."""
    lines = []
    for record in records:
        bad = sum(point.verdict in ("worse", "changed") for point in record.points)
        said = f"{bad} of {len(record.points)} worse or changed" if bad else f"{len(record.points)} measures"
        revision = record.revision or "no revision"
        lines.append(f"{record.time}  {revision:<13} {record.variant}: {said}  {record.message}".rstrip())
    changed = [trend for trend in found if trend.alarm is not None]
    for trend in changed:
        assert trend.alarm is not None
        message = f" ({trend.alarm.message})" if trend.alarm.message else ""
        lines.append(
            f"changed since {trend.alarm.since}{message}: {trend.metric} / {trend.variant} / {trend.problem}, seen at "
            f"{trend.alarm.alarm}"
        )
    versions = bool(records) and records[0].format == ACCEPTED
    among = "n versions" if versions else "n records of a variant"
    most = f"n·{RUN_BUDGET:g}" if versions else f"n/{RECORDS:.0f}"
    lines.append(
        f"{len(records)} records, {len(changed)} of {len(found)} measures changed; a false alarm among {among} has a "
        f"probability of at most {most}"
    )
    return "\n".join(lines)
