"""Which laws say nothing new about a variant: those that come after a violated one, and those that fail as another did.

A law that could not be judged stands in nobody's way: another may need no such truth.
"""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from properties.judging.verdict import Outcome, Record, Verdict, blocked_verdict

if TYPE_CHECKING:
    from properties.laws.law import Law

_NUMBER = re.compile(r"\d+(\.\d+)?(e[-+]?\d+)?")
_HOW_OFTEN = re.compile(r" \(so in \d+ of \d+ cases\)$")


class Causes:
    """What is known to be wrong with a variant: by law the first cause, and by reason the law that gave it.

    >>> causes = Causes()
    >>> raised = Verdict("violated", "misbehaviour: raised IndexError: no entry 3")
    >>> causes.distinct("box", raised).outcome
    'violated'
    >>> causes.distinct("ending", Verdict("violated", "misbehaviour: raised IndexError: no entry 7")).evidence
    "skipped: it fails for the same reason as 'box'"
    """

    def __init__(self, failed: Mapping[str, str] | None = None) -> None:
        self.failed = dict(failed or {})
        self._reasons: dict[str, str] = {}

    def before(self, law: "Law") -> str | None:
        """The violated law that makes this one redundant."""
        return next((self.failed[earlier] for earlier in law.after if earlier in self.failed), None)

    def distinct(self, law: str, verdict: Verdict) -> Verdict:
        """The verdict, or *blocked* if another law already failed for the same reason."""
        reason = _reason(verdict)
        first = law if reason is None else self._reasons.setdefault(reason, law)
        return verdict if first == law else _repeated(first, verdict.outcome)

    def note(self, law: str, verdict: Verdict | Record) -> None:
        """Remember the verdict for the laws that follow."""
        if verdict.outcome == "violated":
            self.failed[law] = law
        elif verdict.blocked_by in self.failed:
            self.failed[law] = self.failed[verdict.blocked_by]


def _reason(verdict: Verdict) -> str | None:
    """What an exception or an error says but for its numbers; that two numbers are wrong makes them no one defect."""
    given = verdict.evidence.startswith(("misbehaviour: raised ", "cannot be judged: "))
    first = _HOW_OFTEN.sub("", verdict.evidence.partition("; also ")[0])
    return _NUMBER.sub("#", first) if given else None


def _repeated(first: str, outcome: Outcome) -> Verdict:
    if outcome == "error":
        return blocked_verdict(first, f"cannot be judged for the reason that {first!r} gives")
    return blocked_verdict(first, f"skipped: it fails for the same reason as {first!r}")
