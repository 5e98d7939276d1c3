"""Hit rates: how many of a law's drawn problems a mutant fails.

A move of code changes no count. A change of the generator changes them all; then the kill sets must be the same and no
rate may be lower beyond sampling error (`losses`).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.net.facts import Difference
from properties.cases.case import LawCase
from properties.laws.law import Law
from robust_core.problem import Variant

SEEDS = (0, 1, 2, 3, 4)
EXAMPLES = 25
"""Problems per law and seed."""
FEW = {"large": 1, "frequencies": 1, "fresh draws": 2, "schedule": 10, "TDC drift": 10}
"""Problems per seed of the laws whose problems are large, by the end of their names.

With these numbers five seeds take about six minutes on one core; two thirds of a run without them were two laws.
"""
ONE_SEED = ("run purity, large", "uneven frequencies", "fractional frequencies")
"""Laws that take seconds per problem over all mutants: judged with the first seed only."""
LEVEL = 1e-3
"""The probability that any of the rates is called lower although none is."""


@dataclass(frozen=True)
class Rate:
    """The problems that a mutant fails, by seed, and the number of problems that could be judged in all seeds."""

    failed: tuple[int, ...]
    cases: int

    def __str__(self) -> str:
        """The counts as they are frozen.

        >>> str(Rate((3, 4), 40)), Rate.of("3 4 of 40")
        ('3 4 of 40', Rate(failed=(3, 4), cases=40))
        """
        return f"{' '.join(map(str, self.failed))} of {self.cases}"

    @classmethod
    def of(cls, text: str) -> "Rate":
        """The counts of a frozen text."""
        failed, _, cases = text.partition(" of ")
        return cls(tuple(map(int, failed.split())), int(cases))

    @property
    def hits(self) -> int:
        """The failed problems of all seeds."""
        return sum(self.failed)


def hit_rates(
    mutants: Iterable[Variant] | None = None, *, seeds: Sequence[int] = SEEDS, examples: int = EXAMPLES
) -> dict[str, Rate]:
    """The rate of every mutant and every law that applies to it, by "mutant / law"."""
    import numpy as np

    from benchmarks.mutants.matrix import problems, zoo
    from properties.judging.verification import applicable

    drawn: dict[tuple[object, ...], list[LawCase]] = {}
    counts: dict[str, list[tuple[int, int]]] = {}
    # The numbers of a wrong algorithm may overflow.
    with np.errstate(all="ignore"):
        for variant in zoo().values() if mutants is None else mutants:
            for law in applicable(variant):
                few = min([examples, *(most for end, most in FEW.items() if law.name.endswith(end))])
                for seed in seeds[:1] if law.name in ONE_SEED else seeds:
                    about = (seed, law.name, variant.kind, variant.sets, tuple(sorted(variant.options.items())))
                    if about not in drawn:
                        drawn[about] = problems(law, variant, examples=few, seed=seed)
                    counts.setdefault(f"{variant.name} / {law.name}", []).append(_count(law, variant, drawn[about]))
    return {
        name: Rate(tuple(failed for failed, _ in found), sum(cases for _, cases in found))
        for name, found in counts.items()
    }


def _count(law: Law, variant: Variant, cases: Iterable[LawCase]) -> tuple[int, int]:
    """(problems that the mutant fails, problems that could be judged)."""
    from properties.judging.blame import CannotBeJudged
    from properties.judging.search import judge_case

    failed = judgeable = 0
    for case in cases:
        try:
            finding = judge_case(law, variant, case)
        except CannotBeJudged:
            continue
        judgeable += 1
        failed += finding is not None
    return failed, judgeable


def losses(before: Mapping[str, str], after: Mapping[str, str], *, level: float = LEVEL) -> list[Difference]:
    """Pairs that are new or gone, kills that are new or gone, and rates that are lower beyond sampling error.

    A rate is lower if Fisher's exact test, one-sided, rejects equal rates at `level` over the number of pairs. It takes
    the problems of a pair as independent draws.
    """
    from scipy.stats import fisher_exact

    found = []
    for name in sorted(before.keys() | after.keys()):
        difference = Difference(name, before.get(name), after.get(name))
        if name not in before or name not in after:
            found.append(difference)
            continue
        old, new = Rate.of(before[name]), Rate.of(after[name])
        table = [[new.hits, new.cases - new.hits], [old.hits, old.cases - old.hits]]
        lower = fisher_exact(table, alternative="less").pvalue < level / len(before)
        if bool(old.hits) != bool(new.hits) or lower:
            found.append(difference)
    return found
