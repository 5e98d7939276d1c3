"""With which of two variants the oracle sides: laws judge both in the case in which they part, then in their own cases.

A law that only one of them promises decides only if the others do not.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from properties.cases.case import Case
from properties.difference.orders import LawAtCase
from properties.difference.pair import Pair
from properties.process.session import Event, Judged, LawBegun

Which = Literal["first", "second"]
WHICH: tuple[Which, Which] = ("first", "second")
Side = Literal["first", "second", "both", "neither"]
IN_WORDS: dict[Side, str] = {
    "first": "the oracle sides with the first",
    "second": "the oracle sides with the second",
    "both": "both keep what they promise: no promise speaks of this difference",
    "neither": "the oracle sides with neither",
}


@dataclass(frozen=True)
class Blame:
    """A law that one of the two violates."""

    which: Which
    law: str
    evidence: str
    at_the_case: bool


@dataclass(frozen=True)
class Siding:
    """The side of the oracle, and the violations that say so."""

    side: Side
    violations: tuple[Blame, ...]


def side_of_oracle(
    pair: Pair, case: Case, search: Callable[[], Iterable[Event]], show: Callable[[str], None] = lambda text: None
) -> Siding:
    """The side of the oracle: by the case, else by a search for violations of the laws of both."""
    judged = [pair.judge(case, which) for which in (0, 1)]
    violated = [[law for law in laws if law.outcome == "violated"] for laws in judged]
    own = [_blame([law for law in laws if law.own], which) for laws, which in zip(violated, WHICH, strict=True)]
    if not any(own):
        own = _search(pair, search(), show)
    others = [_blame(laws, which) for laws, which in zip(violated, WHICH, strict=True)]
    found = own if any(own) else others
    blames = tuple(blame for side in found for blame in side)
    if all(found):
        # Each breaks what only the other promises: two algorithms, both right.
        return Siding("neither" if any(own) else "both", blames)
    return Siding(("second" if found[0] else "first") if any(found) else "both", blames)


def _blame(laws: list[LawAtCase], which: Which) -> list[Blame]:
    return [
        Blame(which, law.law, law.evidence + ("" if law.own else f" (only the other promises {law.promise!r})"), True)
        for law in laws
    ]


def _search(pair: Pair, events: Iterable[Event], show: Callable[[str], None]) -> list[list[Blame]]:
    """The violations of each."""
    targets = [variant.target for variant in pair.both()]
    found: list[list[Blame]] = [[], []]
    for event in events:
        if isinstance(event, LawBegun):
            show(f"{event.variant.name}: {event.law}")
        if isinstance(event, Judged) and event.record.outcome == "violated":
            which = targets.index(str(event.record.target))
            found[which].append(Blame(WHICH[which], event.record.law, event.record.evidence, False))
    return found
