"""The baseline: a text file with one cell a line, sorted, that diffs well; read from a file or a git revision.

    {"format": …, "seed_set": …, "reason": …, "cells": 171}          why these numbers are the right ones, and how many
    {"versions": {"numpy": …, "numba": …, "processor": …}}        what they were computed with
    {"metric": …, "variant": …, "problem": …, "value": …}                         a deterministic cell
    {"metric": …, "variant": …, "problem": …, "values": […], "impossible": 0}     one value per seed or repeat

Numbers are the shortest decimals that give the float back; null stands for what is no number. A file is data from
elsewhere: it is read as JSON and nothing else, and refused whole if a line is not of this form or cells are missing.
"""

import json
import math
import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

FORMAT = "robust-core regression 2"
PATH = "benchmarks/baselines/regression.jsonl"
"""Where a repository keeps the baseline."""
COMMITTED = Path(__file__).parent.parent / "baselines" / "regression.jsonl"
LARGEST_FILE, LONGEST_LINE, LONGEST_NAME, MOST_VALUES = 4 << 20, 256 << 10, 500, 10_000
"""What no honest baseline comes near (bytes, bytes, characters, numbers)."""
NAMES = ("metric", "variant", "problem")
ACCEPT = "robust-core baseline accept --reason TEXT"
"""The command that writes the committed baseline."""


def checked_reason(reason: str) -> str:
    """The reason, if it is one."""
    if not reason.strip() or not _name(reason):
        raise ValueError(f"reason must be one line that says why the baseline moves, got {reason!r}")
    return reason


def text(side: Mapping[str, Any], *, reason: str) -> str:
    """The file's content for a complete measurement."""
    checked_reason(reason)
    if side.get("pending"):
        raise ValueError(f"{len(side['pending'])} cells are pending: a baseline must be complete")
    cells = sorted(side["cells"], key=lambda cell: tuple(cell[name] for name in NAMES))
    head = {"format": FORMAT, "seed_set": side["seed_set"], "reason": reason, "cells": len(cells)}
    lines = [head, {"versions": dict(side["versions"])}, *cells]
    written = "".join(json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n" for line in lines)
    parsed(written, "the new baseline")
    return written


def write(path: Path, content: str) -> None:
    """Replace the file at once: a kill leaves the old one or the new one; a failure leaves nothing new."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(path.name + ".new")
    try:
        beside.write_text(content, encoding="utf-8")
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def load(source: str, *, folder: Path | None = None) -> dict[str, Any]:
    """The baseline of a file, or of a git revision (of the repository around `folder`, default: where we are)."""
    path = Path(source)
    if path.is_dir():
        raise ValueError(f"{source}: a folder is no baseline")
    if path.is_file():
        if path.stat().st_size > LARGEST_FILE:
            raise ValueError(f"{source}: larger than {LARGEST_FILE} bytes, so it is no baseline")
        return parsed(_decoded(path.read_bytes(), source), source)
    return parsed(_decoded(_of_revision(source, folder or Path.cwd()), source), f"{source}:{PATH}")


def _decoded(content: bytes, source: str) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{source}: not UTF-8 text ({error.reason} at byte {error.start})") from None


def _of_revision(revision: str, folder: Path) -> bytes:
    """The committed baseline of a revision; every refusal of git in words."""
    if not revision or revision.startswith("-") or not revision.isprintable():
        raise ValueError(f"baseline must be a file or a git revision, got {revision!r}")
    _git(folder, "rev-parse", "--show-toplevel", why=f"{revision}: no such file, and {folder} is in no git repository")
    verify = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    commit = _git(folder, *verify, why=f"{revision}: no such file and no such git revision").decode().strip()
    entry = f"{commit}:{PATH}"
    size = int(_git(folder, "cat-file", "-s", entry, why=f"{revision}: that revision has no {PATH}"))
    if size > LARGEST_FILE:
        raise ValueError(f"{revision}:{PATH}: larger than {LARGEST_FILE} bytes, so it is no baseline")
    return _git(folder, "cat-file", "blob", entry, why=f"{revision}:{PATH} cannot be read")


def _git(folder: Path, *arguments: str, why: str) -> bytes:
    try:
        found = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, check=False)
    except FileNotFoundError:
        raise ValueError(f"{why} (git is not installed)") from None
    if found.returncode != 0:
        raise ValueError(why)
    return found.stdout


def parsed(content: str, source: str) -> dict[str, Any]:
    """The content of a baseline file as {"seed_set", "reason", "versions", "cells"}; ValueError names the line."""
    lines = content.splitlines()
    if len(content) > LARGEST_FILE or len(lines) < 2:
        raise ValueError(f"{source}: a baseline has a line for its reason, one for its versions, one for each cell")
    records = [_record(line, f"{source}, line {number}") for number, line in enumerate(lines, 1)]
    head, versions, *cells = records
    if head.get("format") != FORMAT:
        got = str(head.get("format"))[:80]
        raise ValueError(f"{source}, line 1: format must be {FORMAT!r}, got {got!r}: write it again ({ACCEPT})")
    _require(head, {"format": _name, "seed_set": _name, "reason": _name, "cells": _count}, f"{source}, line 1")
    _require(versions, {"versions": _versions}, f"{source}, line 2")
    seen: set[tuple[str, ...]] = set()
    for number, cell in enumerate(cells, 3):
        _check_cell(cell, f"{source}, line {number}")
        name = tuple(cell[part] for part in NAMES)
        if name in seen:
            raise ValueError(f"{source}, line {number}: a second line for {' / '.join(name)}")
        seen.add(name)
    if len(cells) != head["cells"]:
        raise ValueError(
            f"{source}: line 1 promises {head['cells']} cells and there are {len(cells)}: the file was cut short or "
            f"put together by hand; take it from git again, or write it again ({ACCEPT})"
        )
    return {"seed_set": head["seed_set"], "reason": head["reason"], "versions": versions["versions"], "cells": cells}


def _record(line: str, where: str) -> dict[str, Any]:
    if len(line) > LONGEST_LINE:
        raise ValueError(f"{where}: longer than {LONGEST_LINE} characters")
    try:
        record = json.loads(line, object_pairs_hook=_unique, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{where}: not a JSON object ({error})") from None
    if not isinstance(record, dict):
        raise ValueError(f"{where}: not a JSON object")
    return record


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name for name, _ in pairs}) != len(pairs):
        raise ValueError("a name occurs twice")
    return dict(pairs)


def _no_constant(word: str) -> Any:
    raise ValueError(f"{word} is no number of JSON")


def _require(record: Mapping[str, Any], form: Mapping[str, "Rule"], where: str) -> None:
    if record.keys() != form.keys():
        raise ValueError(f"{where}: must have exactly {', '.join(form)}, got {', '.join(map(repr, record)):.200}")
    for name, rule in form.items():
        if not rule(record[name]):
            got = json.dumps(record[name], ensure_ascii=True)
            raise ValueError(f"{where}: {name} must be {RULES[rule]}, got {got:.80}")


def _check_cell(cell: Mapping[str, Any], where: str) -> None:
    names = dict.fromkeys(NAMES, _name)
    if "value" in cell:
        _require(cell, {**names, "value": _value}, where)
    else:
        _require(cell, {**names, "values": _values, "impossible": _count}, where)


def _name(x: Any) -> bool:
    # Printable: a name from elsewhere must not steer the terminal it is shown on.
    return isinstance(x, str) and len(x) <= LONGEST_NAME and x.isprintable()


def _value(x: Any) -> bool:
    return _name(x) or _finite(x)


def _finite(x: Any) -> bool:
    if isinstance(x, int):
        return not isinstance(x, bool) and abs(x) < 1 << 1023  # a longer one is no float
    return isinstance(x, float) and math.isfinite(x)


def _values(x: Any) -> bool:
    return isinstance(x, list) and 1 <= len(x) <= MOST_VALUES and all(v is None or _finite(v) for v in x)


def _count(x: Any) -> bool:
    return isinstance(x, int) and not isinstance(x, bool) and 0 <= x <= MOST_VALUES


def _versions(x: Any) -> bool:
    return isinstance(x, dict) and len(x) <= 20 and all(_name(part) for item in x.items() for part in item)


Rule = Callable[[Any], bool]
RULES: dict[Rule, str] = {
    _name: f"one line of at most {LONGEST_NAME} characters",
    _value: f"a finite number or one line of at most {LONGEST_NAME} characters",
    _values: f"a list of 1 to {MOST_VALUES} finite numbers or nulls",
    _count: f"a whole number from 0 to {MOST_VALUES}",
    _versions: "an object of at most 20 names, each with its version as text",
}
"""What a field must be, in words."""
