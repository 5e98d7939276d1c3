"""Expected failures: a file that says which law is known to fail, why, until when, and on which pinned case.

    [[expected]]
    law = "unbiased step"
    reason = "the target uses the mean on purpose"
    expires = 2027-06-30
    counterexample = "unbiased-step-1a2b3c4d.json"

    [[expected]]
    law = "converges/limit/two states/T=256"
    reason = "the plug-in learns another set"
    expires = 2027-06-30
    epoch = "pinned"

An exact law is pinned by its counterexample, a cell of a statistical law by its epoch (that of seed 0 is "pinned",
that of another seed N "seed N"). Only the pinned case or samples are judged. A case that no longer fails, an unknown
law and an expired entry are errors: an excuse must not outlive its reason.
"""

import datetime
import tomllib
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from properties.counterexample import Counterexample
from properties.reading import blamed_on, text_of

# Some two hundred entries, more than there are laws; the time to parse TOML grows with the square of its length.
LARGEST_FILE = 1 << 15
FIELDS = {"law", "reason", "expires"}
PINS = ("counterexample", "epoch")


@dataclass(frozen=True)
class Expectation:
    """One known failure, pinned by a case (exact laws) or by an epoch (statistical laws)."""

    law: str
    reason: str
    expires: datetime.date
    counterexample: Counterexample | None = None
    epoch: str | None = None


def read(
    path: Path, laws: Collection[str], *, cells: Collection[str] = (), today: datetime.date | None = None
) -> dict[str, Expectation]:
    """The expectations of a file by law or cell; anything wrong with it is refused with the reason."""
    text = text_of(path, largest=LARGEST_FILE)
    with blamed_on(path):
        try:
            data = tomllib.loads(text)
        except ValueError as error:
            raise ValueError(f"not TOML: {error}") from None
        found: dict[str, Expectation] = {}
        for number, entry in enumerate(_entries(data), start=1):
            with blamed_on(f"entry {number}"):
                expectation = _checked(entry, path.parent, laws, cells, today or datetime.date.today())
                if expectation.law in found:
                    raise ValueError(f"a second entry for law {expectation.law!r}")
            found[expectation.law] = expectation
        return found


def _entries(data: dict[str, Any]) -> list[Any]:
    entries = data.get("expected")
    if set(data) != {"expected"} or not isinstance(entries, list):
        raise ValueError(f"must hold [[expected]] entries and nothing else, got {sorted(data)}")
    return entries


def _checked(
    entry: object, folder: Path, laws: Collection[str], cells: Collection[str], today: datetime.date
) -> Expectation:
    if not isinstance(entry, dict) or len(set(entry) & set(PINS)) != 1 or set(entry) - set(PINS) != FIELDS:
        raise ValueError(
            f"fields must be {', '.join(sorted(FIELDS))} and one of {' or '.join(PINS)}, got {entry!r:.120}"
        )
    law, reason, expires = (entry[name] for name in ("law", "reason", "expires"))
    if not isinstance(law, str) or law not in (*laws, *cells):
        raise ValueError(f"no law {law!r:.80} applies; there are {', '.join(sorted((*laws, *cells)))}")
    if not isinstance(reason, str) or not reason.strip():
        raise ValueError("reason must say why the failure is accepted")
    if not isinstance(expires, datetime.date) or isinstance(expires, datetime.datetime):
        raise ValueError(f"expires must be a date such as 2027-06-30, got {expires!r:.80}")
    if expires < today:
        raise ValueError(f"expired on {expires}; mend the variant or renew the reason")
    (pin,) = set(entry) & set(PINS)
    if (pin == "epoch") != (law in cells):
        raise ValueError(f"{law!r} is pinned by {'an epoch' if law in cells else 'a counterexample'}")
    if pin == "epoch":
        if not isinstance(entry[pin], str):
            raise ValueError(f"epoch must be text, got {entry[pin]!r:.80}")
        return Expectation(law, reason, expires, epoch=entry[pin])
    example = Counterexample.load(_beside(folder, entry[pin]))
    if example.law != law:
        raise ValueError(f"{entry[pin]} is a counterexample to {example.law!r}, not to {law!r}")
    return Expectation(law, reason, expires, counterexample=example)


def _beside(folder: Path, file: object) -> Path:
    """A file in the folder of the expectations or below it."""
    if not isinstance(file, str) or PurePath(file).is_absolute() or ".." in PurePath(file).parts:
        raise ValueError(f"counterexample must be a file beside this one, got {file!r:.80}")
    path = folder / file
    if not path.exists():
        raise ValueError(f"counterexample {file!r:.80} is not there")
    return path
