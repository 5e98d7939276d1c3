"""Facts: named texts that are frozen in a file and compared with those of another state of the code.

A frozen file is a strict JSON object, sorted by name, with one line per fact; a fact of several lines is a list.
"""

import difflib
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from robust_core import json
from robust_core.json import blame_on

DIGITS = 16
"""Hexadecimal digits of a hash: 64 bits, so two of ten thousand facts share one with probability below 1e-11."""
MOST_LINES = 60
"""Lines of one difference that are printed."""


@dataclass(frozen=True)
class Fact:
    """One result under a name that no move of a module changes."""

    name: str
    value: str


@dataclass(frozen=True)
class Difference:
    """A fact that is not as it was; None stands for a fact that is not there."""

    name: str
    before: str | None
    after: str | None

    def __str__(self) -> str:
        """The two values, or where they have several lines the lines that differ.

        >>> print(Difference("robust TD / start", "holds", "violated"))
        changed: robust TD / start
          - holds
          + violated
        """
        word = "new" if self.before is None else "gone" if self.after is None else "changed"
        before, after = ((value or "").splitlines() for value in (self.before, self.after))
        if len(before) > 1 or len(after) > 1:
            shown = list(difflib.unified_diff(before, after, n=0, lineterm=""))[2:]
        else:
            shown = [*(f"- {line}" for line in before), *(f"+ {line}" for line in after)]
        if len(shown) > MOST_LINES:
            shown = [*shown[:MOST_LINES], f"… {len(shown) - MOST_LINES} more lines"]
        return "\n  ".join([f"{word}: {self.name}", *shown])


def digest(text: str) -> str:
    """A short hash of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGITS]


def by_name(facts: Iterable[Fact]) -> dict[str, str]:
    """The values by name, sorted; two facts of one name are refused."""
    found: dict[str, str] = {}
    for fact in facts:
        if fact.name in found:
            raise ValueError(f"two facts are named {fact.name!r}")
        found[fact.name] = fact.value
    return dict(sorted(found.items()))


def write(path: Path, facts: Mapping[str, str]) -> None:
    """Freeze the facts."""
    plain = {name: lines if len(lines := value.split("\n")) > 1 else value for name, value in facts.items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(plain, indent=0) + "\n", encoding="utf-8")


def read(path: Path) -> dict[str, str]:
    """The frozen facts; a file of any other form is refused."""
    data = json.load(path)
    with blame_on(path):
        if not isinstance(data, dict):
            raise ValueError("must be an object with an entry per fact")
        return {name: _text(name, value) for name, value in data.items()}


def _text(name: str, value: object) -> str:
    lines: list[object] = value if isinstance(value, list) else [value]
    texts = [line for line in lines if isinstance(line, str)]
    if len(texts) < len(lines):
        raise ValueError(f"{name}: must be text or a list of lines")
    return "\n".join(texts)


def compare(before: Mapping[str, str], after: Mapping[str, str]) -> list[Difference]:
    """Every fact that differs, is new or is gone, by name.

    >>> [str(difference) for difference in compare({"a": "1"}, {"a": "1"})]
    []
    """
    names = sorted(before.keys() | after.keys())
    return [
        Difference(name, before.get(name), after.get(name)) for name in names if before.get(name) != after.get(name)
    ]
