"""Sizes of counterexamples: how small the search makes the first violation of every mutant.

A move of code changes no size. After a change of the generator or of the reductions at most one in a hundred may be
larger (`growths`).
"""

from collections.abc import Iterable, Mapping, Sequence

from benchmarks.net.facts import Difference
from robust_core.problem import Variant

SEEDS = (0, 1, 2)
EXAMPLES = 200
MOST_LARGER = 0.01
"""The share of the counterexamples that may be larger."""


def sizes(
    mutants: Iterable[Variant] | None = None, *, seeds: Sequence[int] = SEEDS, examples: int = EXAMPLES
) -> dict[str, str]:
    """The size (`reductions.size`) of the counterexample to the first law a mutant violates, by mutant and seed."""
    import numpy as np

    from benchmarks.mutants.matrix import zoo
    from properties.cases import reductions
    from properties.judging.search import search
    from properties.judging.verification import applicable

    found = {}
    # The numbers of a wrong algorithm may overflow.
    with np.errstate(all="ignore"):
        for variant in zoo().values() if mutants is None else mutants:
            for seed in seeds:
                verdicts = (search(law, variant, examples=examples, master_seed=seed) for law in applicable(variant))
                case = next((verdict.case for verdict in verdicts if verdict.case is not None), None)
                text = "" if case is None else " ".join(map(str, reductions.size(case)))
                found[f"{variant.name} / seed {seed}"] = text
    return found


def growths(before: Mapping[str, str], after: Mapping[str, str], *, share: float = MOST_LARGER) -> list[Difference]:
    """Counterexamples that are gone, and those that are larger, if these are more than the share.

    >>> growths({"T / seed 0": "1 2 0 2 1"}, {"T / seed 0": "1 1 0 1 1"})
    []
    """
    differences = [Difference(name, text, after.get(name)) for name, text in sorted(before.items())]
    gone = [each for each in differences if each.before and not each.after]
    larger = [each for each in differences if each.before and each.after and _size(each.after) > _size(each.before)]
    return gone + (larger if len(larger) > share * len(before) else [])


def _size(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split()))
