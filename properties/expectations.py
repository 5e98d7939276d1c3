"""Expected failures: a file that says which law is known to fail, why, until when, and on which pinned case.

    [[expected]]
    law = "unbiased step"
    reason = "the target uses the mean on purpose"
    expires = 2027-06-30
    counterexample = "unbiased-step-1a2b3c4d.json"

Only the pinned case is judged. A case that no longer fails, an unknown law and an expired entry are errors: an
excuse must not outlive its reason.
"""

import datetime
import tomllib
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from properties.counterexample import Counterexample

FIELDS = {"law", "reason", "expires", "counterexample"}


@dataclass(frozen=True)
class Expectation:
    """One known failure."""

    law: str
    reason: str
    expires: datetime.date
    counterexample: Counterexample


def read(path: Path, laws: Collection[str], *, today: datetime.date | None = None) -> dict[str, Expectation]:
    """The expectations of a file by law; anything wrong with it is refused with the reason."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: not TOML: {error}") from None
    entries = data.get("expected")
    if set(data) != {"expected"} or not isinstance(entries, list):
        raise ValueError(f"{path}: must hold [[expected]] entries and nothing else, got {sorted(data)}")
    found: dict[str, Expectation] = {}
    for number, entry in enumerate(entries, start=1):
        expectation = _checked(f"{path}: entry {number}", entry, path.parent, laws, today or datetime.date.today())
        if expectation.law in found:
            raise ValueError(f"{path}: entry {number}: a second entry for law {expectation.law!r}")
        found[expectation.law] = expectation
    return found


def _checked(where: str, entry: object, folder: Path, laws: Collection[str], today: datetime.date) -> Expectation:
    if not isinstance(entry, dict) or set(entry) != FIELDS:
        raise ValueError(f"{where}: fields must be {', '.join(sorted(FIELDS))}, got {entry!r:.120}")
    law, reason, expires, file = (entry[name] for name in ("law", "reason", "expires", "counterexample"))
    if law not in laws:
        raise ValueError(f"{where}: no law {law!r} applies; there are {', '.join(sorted(laws))}")
    if not isinstance(reason, str) or not reason.strip():
        raise ValueError(f"{where}: reason must say why the failure is accepted")
    if not isinstance(expires, datetime.date) or isinstance(expires, datetime.datetime):
        raise ValueError(f"{where}: expires must be a date such as 2027-06-30, got {expires!r}")
    if expires < today:
        raise ValueError(f"{where}: expired on {expires}; mend the variant or renew the reason")
    if not isinstance(file, str):
        raise ValueError(f"{where}: counterexample must be a file name, got {file!r}")
    example = Counterexample.load(folder / file)
    if example.law != law:
        raise ValueError(f"{where}: {file} is a counterexample to {example.law!r}, not to {law!r}")
    return Expectation(law, reason, expires, example)
