"""docs/hit-rates.md: how often its law meets each mutant."""

from benchmarks.documents.markdown import table
from benchmarks.studies.hits import LEAST, ROUNDS, SEEDS, Hits, load

HEAD = """# Hit rates

The suite is tested by wrong algorithms, the mutants in `properties/variants/mutants`. A mutant that is found by luck
does not count as caught. So this page lists, for every mutant, a law that it violates and how often it does. *always*
means in a case that every search tries (a trivial case or a fixed instance). Otherwise the entry is the number of
violations among the cases that were generated with {seeds} seeds, with the number for each seed in brackets. Counting
stops as soon as the rate is clearly above {least} %, if possible after {few} cases, and at the latest after {most:,}
cases. The law is the first in the catalogue that the mutant violates so often.

**{caught} of {all} mutants are caught**: {always} always, and {drawn} in at least {lowest} % of the drawn cases. This
page is written by `robust-core documents hit-rates` from the result of `robust-core study hits`.
"""
COLUMNS = ("mutant", "law", "hits")


def document() -> str:
    """All mutants, by kind."""
    mutants = load().mutants
    drawn = [one.rate for one in mutants if one.caught and not one.always]
    head = HEAD.format(
        seeds=len(SEEDS),
        least=f"{100 * LEAST:g}",
        few=len(SEEDS) * ROUNDS[0],
        most=len(SEEDS) * ROUNDS[-1],
        caught=sum(one.caught for one in mutants),
        all=len(mutants),
        always=sum(one.always for one in mutants),
        drawn=len(drawn),
        lowest=f"{100 * min(drawn, default=0.0):.2g}",
    )
    kinds = sorted({one.kind for one in mutants})
    return "\n".join([head, *(_part(kind, [one for one in mutants if one.kind == kind]) for kind in kinds)])


def _part(kind: str, mutants: list[Hits]) -> str:
    rows = [[one.name, one.law, _cell(one)] for one in sorted(mutants, key=lambda one: (one.always, one.rate))]
    return f"## {kind.capitalize()}: {sum(one.caught for one in mutants)} of {len(mutants)}\n\n{table(COLUMNS, rows)}\n"


def _cell(one: Hits) -> str:
    return one.words if one.caught else f"**not caught**: {one.words}"
