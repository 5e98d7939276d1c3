"""The baseline: a text file with one measure a line, sorted, that diffs well; read from a file or a git revision.

    {"format": …, "seed_set": …, "reason": …, "measures": 171}    why these numbers are the right ones, and how many
    {"versions": {"numpy": …, "numba": …, "processor": …}}        the libraries and the processor that computed them
    {"metric": …, "variant": …, "problem": …, "value": …}                         a deterministic measure
    {"metric": …, "variant": …, "problem": …, "values": […], "impossible": 0}     one value per seed or repeat

Numbers are the shortest decimals that give the float back; null stands for NaN and infinity. A file from elsewhere is
read as strict JSON, and refused as a whole if a line is not of this form or measures are missing.
"""

import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.regression.measures import (
    LONGEST_LINE,
    Count,
    Exact,
    Line,
    Measure,
    Measurements,
    Sample,
    Versions,
    is_line,
    title,
)
from robust_core.json import LARGEST_FILE, blame_on, dumps, from_data, loads, text_of

FORMAT = "robust-core regression 3"
PATH = "benchmarks/baselines/regression.jsonl"
"""Where a repository keeps the baseline."""
COMMITTED = Path(__file__).parent.parent / "baselines" / "regression.jsonl"
ACCEPT = "robust-core baseline accept --reason TEXT"
"""The command that writes the committed baseline."""


@dataclass(frozen=True)
class _Header:
    format: Line
    seed_set: Line
    reason: Line
    measures: Count


@dataclass(frozen=True)
class _Versions:
    versions: Versions


def require_reason(reason: str) -> None:
    """Refuse a reason that is empty, or more than one line."""
    if not reason.strip() or not is_line(reason):
        raise ValueError(
            f"reason must be one line of at most {LONGEST_LINE} characters that says why the baseline moves, "
            f"got {reason!r}"
        )


def text(side: Measurements, *, reason: str) -> str:
    """The content of the file for complete measurements."""
    require_reason(reason)
    if side.pending:
        raise ValueError(f"{len(side.pending)} measures are pending: a baseline must be complete")
    measures = sorted(side.measures, key=lambda measure: measure.name)
    header = _Header(FORMAT, side.seed_set, reason, len(measures))
    lines = [header, _Versions(side.versions), *measures]
    content = "".join(f"{dumps(line, sort_keys=False)}\n" for line in lines)
    parse(content, "the new baseline")
    return content


def load(source: str, *, folder: Path | None = None) -> Measurements:
    """The baseline of a file, or of a git revision (of the repository around `folder`, default: where we are)."""
    path = Path(source)
    if path.is_dir():
        raise ValueError(f"{source}: a folder, not a baseline")
    if path.is_file():
        return parse(text_of(path, largest=LARGEST_FILE), source)
    return parse(_of_revision(source, folder or Path.cwd()), f"{source}:{PATH}")


def _of_revision(revision: str, folder: Path) -> str:
    """The committed baseline of a revision; every refusal of git in words."""
    if not revision or revision.startswith("-") or not revision.isprintable():
        raise ValueError(f"baseline must be a file or a git revision, got {revision!r}")
    git(folder, "rev-parse", "--show-toplevel", why=f"{revision}: no such file, and {folder} is in no git repository")
    verify = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    commit = git(folder, *verify, why=f"{revision}: no such file and no such git revision").decode().strip()
    entry = f"{commit}:{PATH}"
    size = int(git(folder, "cat-file", "-s", entry, why=f"{revision}: that revision has no {PATH}"))
    if size > LARGEST_FILE:
        raise ValueError(f"{revision}:{PATH}: must have at most {LARGEST_FILE} bytes")
    with blame_on(f"{revision}:{PATH}"):
        return git(folder, "cat-file", "blob", entry, why=f"{revision}:{PATH} cannot be read").decode("utf-8")


def git(folder: Path, *arguments: str, why: str) -> bytes:
    """What a command of git prints; a refusal is a ValueError that says `why`."""
    try:
        found = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, check=False)
    except FileNotFoundError:
        raise ValueError(f"{why} (git is not installed)") from None
    if found.returncode != 0:
        raise ValueError(why)
    return found.stdout


def parse(content: str, source: str) -> Measurements:
    """The measurements in the content of a baseline file; a ValueError names the source, the line and the field."""
    lines = content.splitlines()
    if len(lines) < 2:
        raise ValueError(f"{source}: a baseline has a line for its reason, one for its versions, one for each measure")
    places = [f"{source}, line {number}" for number in range(1, len(lines) + 1)]
    first, second, *rest = [_line(line, place) for line, place in zip(lines, places, strict=True)]
    _require_format(first, places[0])
    header = from_data(_Header, first, places[0])
    versions = from_data(_Versions, second, places[1]).versions
    measures = [_measure(data, place) for data, place in zip(rest, places[2:], strict=True)]
    seen = set()
    for measure, place in zip(measures, places[2:], strict=True):
        if measure.name in seen:
            raise ValueError(f"{place}: a second line for {title(measure.name)}")
        seen.add(measure.name)
    if len(measures) != header.measures:
        raise ValueError(
            f"{source}: line 1 says {header.measures} measures and there are {len(measures)}: the file was cut short "
            f"or edited by hand; restore it from git, or write it again ({ACCEPT})"
        )
    return Measurements(header.seed_set, versions, tuple(measures), header.reason)


def _line(line: str, place: str) -> Any:
    with blame_on(place):
        return loads(line)


def _require_format(header: Any, place: str) -> None:
    found = header.get("format") if isinstance(header, dict) else None
    if isinstance(found, str) and is_line(found) and found != FORMAT:
        raise ValueError(
            f"{place}: format must be {FORMAT!r}, got {found!r}, which another version wrote: "
            f"write the file again ({ACCEPT})"
        )


def _measure(data: Any, place: str) -> Measure:
    kind: type[Measure] = Exact if isinstance(data, dict) and "value" in data else Sample
    return from_data(kind, data, place)
