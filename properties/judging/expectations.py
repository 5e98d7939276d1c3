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
    seed_set = "pinned"

An exact law is pinned by its counterexample, a cell of a statistical law by its seed set (that of seed 0 is "pinned",
that of another seed N "seed N"). Only the pinned case or samples are judged. A case that no longer fails, an unknown
law and an expired entry are errors: an excuse must not outlive its reason.
A file without entries expects nothing, as one does whose last entry was removed.

An entry may name the variant it speaks of, `variant = "my Q-learning"`; without, it speaks of every variant of the run.
"""

import contextlib
import datetime
import tomllib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from robust_core.json import blame_on, text_of

if TYPE_CHECKING:
    from properties.judging.counterexample import Counterexample

# Some two hundred entries, more than there are laws; the time to parse TOML grows with the square of its length.
LARGEST_FILE = 1 << 15
FIELDS = {"law", "reason", "expires"}
PINS = ("counterexample", "seed_set")
WHOSE = "variant"


@dataclass(frozen=True)
class Expectation:
    """One known failure, pinned by a case (exact laws) or by a seed set (statistical laws)."""

    law: str
    reason: str
    expires: datetime.date
    counterexample: "Counterexample | None" = None
    seed_set: str | None = None


def read(
    path: Path,
    laws: Collection[str],
    *,
    cells: Collection[str] = (),
    variant: str | None = None,
    today: datetime.date | None = None,
) -> dict[str, Expectation]:
    """The expectations of a file by law or cell; anything wrong with it is refused with the reason.

    `laws` and `cells` are those of the variant called `variant`; entries that name another one are checked as far as
    that goes without it, and left out. Without `variant` all entries are its own.
    """
    found: dict[str, Expectation] = {}
    with entries_of(path, "expected") as entries:
        for number, entry in enumerate(entries, start=1):
            with blame_on(f"entry {number}"):
                _check(entry, today or datetime.date.today())
                if variant is not None and entry.get(WHOSE, variant) != variant:
                    continue
                expectation = _pinned(entry, path.parent, laws, cells)
                if expectation.law in found:
                    raise ValueError(f"a second entry for law {expectation.law!r}")
            found[expectation.law] = expectation
    return found


def variants(path: Path) -> dict[int, str]:
    """The variants that the entries of a file name, by the number of the entry."""
    with entries_of(path, "expected") as entries:
        named = ((number, entry.get(WHOSE)) for number, entry in enumerate(entries, 1) if isinstance(entry, dict))
        return {number: name for number, name in named if isinstance(name, str)}


@contextlib.contextmanager
def entries_of(path: Path, name: str) -> Iterator[list[Any]]:
    """The [[name]] entries of a TOML file; whatever is wrong with them is blamed on it."""
    text = text_of(path, largest=LARGEST_FILE)
    with blame_on(path):
        try:
            data = tomllib.loads(text)
        except ValueError as error:
            raise ValueError(f"not TOML: {error}") from None
        # A file without entries is what is left when every failure is fixed.
        entries = data.get(name, [])
        if set(data) - {name} or not isinstance(entries, list):
            raise ValueError(f"must hold [[{name}]] entries and nothing else, got {sorted(data)}")
        yield entries


def _check(entry: Any, today: datetime.date) -> None:
    """Refuse an entry that is wrong whatever the variant."""
    if not isinstance(entry, dict) or len(set(entry) & set(PINS)) != 1 or set(entry) - {*PINS, WHOSE} != FIELDS:
        raise ValueError(
            f"fields must be {', '.join(sorted(FIELDS))}, one of {' or '.join(PINS)}, and {WHOSE} if the entry speaks "
            f"of one variant only, got {entry!r:.120}"
        )
    reason, expires = entry["reason"], entry["expires"]
    if not isinstance(entry["law"], str):
        raise ValueError(f"law must be the name of a law, got {entry['law']!r:.80}")
    if WHOSE in entry and not (isinstance(entry[WHOSE], str) and entry[WHOSE].strip()):
        raise ValueError(f"{WHOSE} must be the name of a variant, got {entry[WHOSE]!r:.80}")
    if not isinstance(reason, str) or not reason.strip():
        raise ValueError("reason must say why the failure is accepted")
    if not isinstance(expires, datetime.date) or isinstance(expires, datetime.datetime):
        raise ValueError(f"expires must be a date such as 2027-06-30, got {expires!r:.80}")
    if expires < today:
        raise ValueError(f"expired on {expires}; fix the variant or extend the expiry date")


def _pinned(entry: dict[str, Any], folder: Path, laws: Collection[str], cells: Collection[str]) -> Expectation:
    """The expectation of a variant to which the given laws and cells apply."""
    law, reason, expires = (entry[name] for name in ("law", "reason", "expires"))
    if law not in (*laws, *cells):
        # Names of laws have commas.
        raise ValueError(f"no law {law!r:.80} applies; there are {'; '.join(sorted((*laws, *cells)))}")
    from properties.judging.counterexample import Counterexample

    (pin,) = set(entry) & set(PINS)
    if (pin == "seed_set") != (law in cells):
        raise ValueError(f"{law!r} is pinned by {'a seed_set' if law in cells else 'a counterexample'}")
    if pin == "seed_set":
        if not isinstance(entry[pin], str):
            raise ValueError(f"seed_set must be text, got {entry[pin]!r:.80}")
        return Expectation(law, reason, expires, seed_set=entry[pin])
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
