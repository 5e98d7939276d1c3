"""Sizes of counterexamples: how small the search makes a violation of a mutant.

A move of code changes no size. After a change of the generator or of the reductions at most one in a hundred may be
larger (`growths`).
"""

from collections.abc import Container, Mapping

from benchmarks.net.facts import Difference, digest

SEED, EXAMPLES = 0, 200
EVERY = 10
"""One mutant in so many is searched: 44 s of processor time, a tenth of the time for all."""
MOST_LARGER = 0.01
"""The share of the counterexamples that may be larger."""


def sizes(mutants: Container[str] | None = None) -> dict[str, str]:
    """The size (`reductions.size`) of the counterexample to the law that meets a mutant (`studies.hits`), by mutant.

    Large instances and designs are not reduced, so mutants that these alone meet are left out.
    """
    import numpy as np

    from benchmarks.mutants.matrix import all_mutants
    from benchmarks.studies import hits
    from properties.cases import reductions
    from properties.judging.counterexample import law_named
    from properties.judging.search import search

    found = {}
    known = all_mutants()
    # The numbers of a wrong algorithm may overflow.
    with np.errstate(all="ignore"):
        for one in hits.load().mutants:
            law = law_named(one.law)
            chosen = is_sampled(one.mutant) if mutants is None else one.mutant in mutants
            if law is None or law.large or not law.reducible or not chosen:
                continue
            case = search(law, known[hits.PACKAGE + one.mutant], examples=EXAMPLES, master_seed=SEED).case
            found[f"{one.name} / {law.name}"] = "" if case is None else " ".join(map(str, reductions.size(case)))
    return found


def is_sampled(mutant: str) -> bool:
    """Whether the counterexample to a mutant is frozen: by its name, so that another mutant changes nothing."""
    return int(digest(mutant), 16) % EVERY == 0


def growths(before: Mapping[str, str], after: Mapping[str, str], *, share: float = MOST_LARGER) -> list[Difference]:
    """Counterexamples that are gone, and those that are larger, if these are more than the share.

    >>> growths({"T / bellman backup": "1 2 0 2 1"}, {"T / bellman backup": "1 1 0 1 1"})
    []
    """
    differences = [Difference(name, text, after.get(name)) for name, text in sorted(before.items())]
    gone = [each for each in differences if each.before and not each.after]
    larger = [each for each in differences if each.before and each.after and _size(each.after) > _size(each.before)]
    return gone + (larger if len(larger) > share * len(before) else [])


def _size(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split()))
