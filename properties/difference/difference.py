"""The whole comparison of two variants as a record."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from properties.difference.comparison import Parting
from properties.difference.equality import LawCell, Level, equality
from properties.difference.oracle import Siding, side_of_oracle
from properties.difference.pair import SERVE, Pair, ask_worker, to_data
from properties.judging.counterexample import describe
from properties.process.session import Effort, Session

ORACLE_EXAMPLES = 50


@dataclass(frozen=True)
class Difference:
    """Two variants, how far they are equal, the smallest case on which they part, and the side of the oracle.

    `case` is data as in a file of a counterexample, `problem` the same for a person.
    """

    first: str
    second: str
    kind: str
    sets: tuple[str, ...]
    limits: tuple[str, ...]
    verdict: Level
    evidence: str
    cases: int
    same_bits: int
    seed: int
    cells: tuple[LawCell, ...] = ()
    parting: Parting | None = None
    case: dict[str, Any] | None = None
    problem: str = ""
    oracle: Siding | None = None


def differ(
    first: str,
    second: str,
    *,
    examples: int = 200,
    seed: int = 0,
    waiting: Callable[[str], None] = lambda place: None,
    show: Callable[[str], None] = lambda text: None,
) -> Difference:
    """Compare two variants, named as they are loaded; both run in workers only."""
    targets: Sequence[str] = (first, second)
    with Session(targets, serve=SERVE, waiting=waiting) as session:
        pair = Pair.of(list(session.variants.values()), partial(ask_worker, session, Counter()))
        show("comparing answers")
        found = equality(pair, examples=examples, seed=seed)
        smallest = found.smallest
        oracle = None
        if smallest is not None:
            effort = Effort(examples=min(examples, ORACLE_EXAMPLES), seed=seed)
            oracle = side_of_oracle(pair, smallest.case, lambda: session.verify(effort), show)
        session.require_good_end()
        return Difference(
            pair.first.target,
            pair.second.target,
            pair.first.kind,
            tuple(cls.kind for cls in pair.common.sets),
            tuple(f"{name}: {value}" for name, value in pair.common.options.items()),
            found.level,
            found.evidence,
            found.cases,
            found.same_bits,
            seed,
            found.cells,
            None if smallest is None else smallest.parting,
            None if smallest is None else to_data(smallest.case),
            "" if smallest is None else describe(smallest.case),
            oracle,
        )
