"""Mutants of a user's own variant: which small changes of its source do its promises leave unseen?"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from benchmarks.mutants.isolated import SourceJudged, judge_source
from benchmarks.mutants.mutation import Mutation, mutations, reason_of_equivalence
from properties.process.session import Description, Session

Outcome = Literal["killed", "alive", "equivalent", "invalid"]
SECONDS = 10.0
"""How long a mutant may take for one problem: the problems are small, and a mutant may loop forever."""


@dataclass(frozen=True)
class Fate:
    """What became of one mutant.

    `law` is the law that it violates first. An invalid mutant cannot be loaded. An equivalent one is alive, and the
    author gave a reason (`evidence`) why it changes nothing. `seen_by` are promises that the variant keeps but does not
    make, and under which the mutant would die.
    """

    target: str
    line: int
    operator: str
    diff: str
    outcome: Outcome
    law: str
    evidence: str
    seen_by: tuple[str, ...] = ()


def fates(
    session: Session,
    variant: Description,
    source: str,
    *,
    examples: int,
    seed: int,
    tick: Callable[[str], None] = lambda text: None,
) -> Iterator[Fate]:
    """The fate of every mutant of the variant, in the order of its source.

    A `ValueError` is raised if the variant itself violates a law: then every mutant would seem to be killed.
    """
    judge = partial(judge_source, session, variant, examples=examples, seed=seed, seconds=SECONDS)
    tick("the variant itself")
    own = judge(source)
    if own != SourceJudged():
        raise ValueError(f"{variant.target}: violates {own.law!r} before any mutation: {own.evidence}")
    others = _kept_promises(judge, variant, source)
    every = list(mutations(source))
    for number, mutation in enumerate(every, start=1):
        tick(f"mutant {number}/{len(every)}, line {mutation.line}")
        judged = judge(mutation.source)
        fate = _fate(variant, source, mutation, judged)
        if fate.outcome == "alive":
            seen = [name for name in others if judge(mutation.source, promises=(name,)).law]
            fate = replace(fate, seen_by=tuple(seen))
        yield fate


def _kept_promises(judge: Callable[..., SourceJudged], variant: Description, source: str) -> list[str]:
    """Promises of the kind that the variant does not make but keeps."""
    from properties.judging.verification import promises_of
    from properties.laws.law import PROMISES
    from robust_core.problem import KINDS

    kind = next(kind for kind in KINDS if kind == variant.kind)
    others = [name for name in promises_of(kind) if name in PROMISES and name not in variant.promises]
    return [name for name in others if judge(source, promises=(name,)) == SourceJudged()]


def _fate(variant: Description, source: str, mutation: Mutation, judged: SourceJudged) -> Fate:
    reason = reason_of_equivalence(source, mutation)
    outcome: Outcome = "alive"
    if not judged.valid:
        outcome = "invalid"
    elif judged.law:
        outcome = "killed"
    elif reason:
        outcome = "equivalent"
    evidence = reason if outcome == "equivalent" else judged.evidence
    return Fate(variant.target, mutation.line, mutation.operator, mutation.diff(source), outcome, judged.law, evidence)


def summary(found: Iterable[Fate]) -> str:
    """How many mutants died and by which law.

    >>> dead = Fate("m.py:M", 3, "name", "", "killed", "start", "")
    >>> print(summary([dead, replace(dead, outcome="alive", law="")]))
    1 of 2 mutants killed (50.0 %), 1 alive
      killed by start: 1
    """
    found = list(found)
    outcomes = Counter(fate.outcome for fate in found)
    judged = outcomes["killed"] + outcomes["alive"]
    share = f" ({100 * outcomes['killed'] / judged:.1f} %)" if judged else ""
    rest = [f"{outcomes[name]} {name}" for name in ("alive", "equivalent", "invalid") if outcomes[name]]
    lines = [", ".join([f"{outcomes['killed']} of {judged} mutants killed{share}", *rest])]
    laws = Counter(fate.law for fate in found if fate.outcome == "killed")
    return "\n".join([*lines, *(f"  killed by {law}: {count}" for law, count in laws.most_common())])
