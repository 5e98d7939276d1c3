"""What a check returns: a verdict with its evidence, and the record of it, from which every report is rendered."""

from dataclasses import dataclass, field, replace
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from properties.judging.deviation import Deviation, as_text, in_digits, in_few_digits
from properties.statistics.records import CellResult
from robust_core.json import dumps
from robust_core.versions import installed_version, libraries

if TYPE_CHECKING:
    from properties.judging.side_by_side import Tables

FOLDER = Path(".robust-core") / "counterexamples"
"""Where counterexamples are kept, seen from the current folder."""
MISBEHAVIOUR = "misbehaviour: "
"""How the evidence begins where a variant did something else than to compute wrong numbers."""
LARGEST_INTEGER = 1 << 53
"""Other programs read larger integers of JSON as other ones: they are given as text."""
Outcome = Literal["holds", "violated", "undecided", "untested", "error", "blocked"]


@dataclass(frozen=True)
class Finding:
    """One violation in one case: the quantity, its value, the true value, and the allowed error.

    `tables` are the variant's and the oracle's whole result, where a law compares more than one number. Where nothing
    was compared, `got` and `wanted` are None and `what` says it all. `also` is what the law found beside misbehaviour
    in the same case; `causes` are the factors of a formula of which each alone would explain the violation.
    """

    what: str
    got: Any
    wanted: Any
    allowed: float = 0.0
    tables: "Tables | None" = None
    also: str = ""
    causes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        import numpy as np  # by now it is loaded: what a command reads of a worker has no findings

        for name in ("got", "wanted", "allowed"):
            value = getattr(self, name)
            if isinstance(value, np.generic):
                object.__setattr__(self, name, value.item())

    def __str__(self) -> str:
        if self.got is None and self.wanted is None:
            return self.what
        within = "" if self.allowed == 0.0 else f" within {in_digits(self.allowed, self.got, self.wanted)}"
        got, wanted = in_few_digits(self.got, self.wanted, self.allowed)
        if self._looks_right():
            # NaN differs from itself, and two long fractions may be one float.
            reason = (
                "which is not a number" if "nan" in str(self.got) else "from which it differs by less than is shown"
            )
            return f"{self.what}: got {got}, {reason}, wanted {wanted}{within}"
        return f"{self.what}: got {got}, wanted {wanted}{within}"

    def _looks_right(self) -> bool:
        """Whether the two values as they are shown do not differ."""
        return str(self.wanted) in (str(self.got), f"at most {self.got}", f"at least {self.got}")

    def deviation(self) -> Deviation:
        """The finding as plain data."""
        results = None if self.tables is None else self.tables.side_by_side(self.allowed)
        return Deviation(self.what, _plain(self.got), _plain(self.wanted), float(self.allowed), results)


def _plain(value: Any) -> int | float | str | None:
    is_number = isinstance(value, float) or (type(value) is int and abs(value) < LARGEST_INTEGER)
    return value if value is None or is_number else as_text(value)


@dataclass(frozen=True)
class Verdict:
    """The outcome of one law on one variant.

    `cases` counts the problems tried; `evidence` is one line for a person; a violation carries the smallest case
    found and its finding; `blocked` names the law whose failure makes this one meaningless. A statistical law adds
    its numbers: log E both ways, n, alpha, beta, the effect it detects, and measured intervals.
    """

    outcome: Outcome
    evidence: str
    cases: int = 0
    case: dict[str, Any] | None = None
    finding: Finding | None = None
    blocked_by: str | None = None
    statistics: CellResult | None = None


def blocked_verdict(cause: str, evidence: str | None = None) -> Verdict:
    """The verdict on a law that adds nothing to what another one said; by default because that one is violated.

    >>> blocked_verdict("start").evidence
    "skipped: a violation of 'start' usually violates this law too"
    """
    return Verdict(
        "blocked", evidence or f"skipped: a violation of {cause!r} usually violates this law too", blocked_by=cause
    )


@dataclass(frozen=True)
class UntestedPromise:
    """A promise that no law tests for some set of a variant."""

    name: str
    evidence: str


@cache
def versions() -> dict[str, str]:
    """The versions a result depends on."""
    return libraries() | {name: installed_version(name) for name in ("robust-core", "hypothesis")}


@dataclass(frozen=True)
class Record:
    """One verdict as it is stored: one JSON line, plain data only.

    `counterexample` is the file that holds it; where no file is written it is the `Counterexample` itself, or its plain
    data if it comes from another process. `expected` is the reason under which a violation is accepted, if it is;
    `deviation` has the numbers of a violation. `target` is how the variant was named, where that is known: two variants
    may have one name.
    """

    variant: str
    law: str
    outcome: Outcome
    evidence: str
    cases: int
    seconds: float = field(repr=False)
    seed: int = field(repr=False)
    counterexample: Any = field(default=None, repr=False)
    blocked_by: str | None = field(default=None, repr=False)
    expected: str | None = None
    statistics: CellResult | None = field(default=None, repr=False)
    deviation: Deviation | None = field(default=None, repr=False)
    target: str | None = field(default=None, repr=False)
    versions: dict[str, str] = field(default_factory=versions, repr=False)

    @classmethod
    def of(
        cls,
        verdict: Verdict,
        *,
        variant: str,
        law: str,
        seconds: float,
        seed: int,
        counterexample: Any = None,
        excuse: str | None = None,
    ) -> "Record":
        """The record of a verdict; `excuse` is the reason for which a violation would be accepted."""
        return cls(
            variant=variant,
            law=law,
            outcome=verdict.outcome,
            evidence=verdict.evidence,
            cases=verdict.cases,
            seconds=seconds,
            seed=seed,
            counterexample=counterexample,
            blocked_by=verdict.blocked_by,
            expected=excuse if verdict.outcome == "violated" else None,
            statistics=verdict.statistics,
            deviation=None if verdict.finding is None else verdict.finding.deviation(),
        )

    @property
    def results(self) -> str:
        """The variant's and the oracle's results side by side; empty where the violation has none."""
        return self.deviation.side_by_side if self.deviation else ""

    def to_json(self) -> str:
        """The record as one line of JSON."""
        example = self.counterexample
        return dumps(replace(self, counterexample=example.to_data() if hasattr(example, "to_data") else example))

    def _repr_html_(self) -> str:
        """A table with one line a field; everything a variant could have written is escaped."""
        outcome = "expected" if self.expected else self.outcome
        rows = {"variant": self.variant, "law": self.law, "verdict": outcome, "evidence": self.evidence}
        cells = "".join(f"<tr><th>{name}</th><td>{escape(text)}</td></tr>" for name, text in rows.items())
        for name, shown in (("results", self.results), ("counterexample", self.counterexample)):
            if shown:
                cells += f"<tr><th>{name}</th><td><pre>{escape(str(shown))}</pre></td></tr>"
        return f"<table>{cells}</table>"
