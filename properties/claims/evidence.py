"""What running the claims gave: the committed evidence, the committed counterexamples, and how both are renewed.

`robust-core claims [ID …] --renew` runs the claims (all by default), replaces their entries in `evidence.json`, and
keeps a counterexample to every printed form that fails; `robust-core documents claims` writes `docs/claims.md` again.
The tests run the claims and compare the statuses, so a change of status is red until this is done on purpose.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Annotated

from properties.claims import LAW_PREFIX, PRINTED, catalogue
from properties.claims.claim import Adjudication, Claim, Status
from properties.judging.counterexample import Counterexample
from robust_core import json
from robust_core.json import Rule, blame_on, from_data

EXAMPLES, SEED = 200, 0
FILE = Path(__file__).parent / "evidence.json"
COUNTEREXAMPLES = Path(__file__).parent.parent / "counterexamples"


@dataclass(frozen=True)
class Evidence:
    """The status of a claim, the cases judged for it, the tightest ratio seen, and how the printed form failed."""

    status: Status
    cases: Annotated[int, Rule("an integer that is not negative", lambda cases: cases >= 0)]
    tightest: float | None = None
    finding: str | None = None


def of(adjudication: Adjudication) -> Evidence:
    """The evidence that one run gives."""
    guard = adjudication.amended or adjudication.printed
    failed = adjudication.printed is not None and adjudication.printed.outcome == "violated"
    tightest = adjudication.tightest
    return Evidence(
        adjudication.status,
        0 if guard is None else guard.cases,
        None if tightest is None else float(f"{tightest:.3g}"),
        adjudication.printed.evidence if failed and adjudication.printed else None,
    )


@cache
def committed_evidence() -> Mapping[str, Evidence]:
    """The committed evidence, by claim."""
    return read(FILE)


def read(path: Path) -> dict[str, Evidence]:
    """The evidence in a file, by claim; anything else is refused with the reason."""
    data = json.load(path)
    with blame_on(path):
        if not isinstance(data, dict):
            raise ValueError(f"must be an object with an entry per claim, got {data!r:.80}")
        return {name: from_data(Evidence, entry, name) for name, entry in data.items()}


@cache
def _all_counterexamples() -> tuple[tuple[Path, Counterexample], ...]:
    return tuple((path, Counterexample.load(path)) for path in sorted(COUNTEREXAMPLES.glob("*.json")))


def counterexamples(claim: Claim) -> list[tuple[Path, Counterexample]]:
    """The committed counterexamples to the printed form of a claim."""
    return [(path, example) for path, example in _all_counterexamples() if example.law == LAW_PREFIX + claim.id]


def keep(adjudication: Adjudication) -> None:
    """Write the counterexample to the printed form, if there is one, under the name of the claim."""
    verdict, claim = adjudication.printed, adjudication.claim
    if verdict is None or verdict.case is None:
        return
    COUNTEREXAMPLES.mkdir(exist_ok=True)
    example = Counterexample(LAW_PREFIX + claim.id, PRINTED, verdict.case, verdict.evidence)
    (COUNTEREXAMPLES / f"{claim.id}.json").write_text(example.to_json(), encoding="utf-8")


def store(adjudication: Adjudication) -> None:
    """Replace the committed evidence for a claim, and the counterexample to its printed form."""
    known = {**(read(FILE) if FILE.exists() else {}), adjudication.claim.id: of(adjudication)}
    ordered = {claim: asdict(known[claim]) for claim in catalogue() if claim in known}
    keep(adjudication)
    FILE.write_text(json.dumps(ordered, indent=1, sort_keys=False) + "\n", encoding="utf-8")
    committed_evidence.cache_clear()
    _all_counterexamples.cache_clear()
