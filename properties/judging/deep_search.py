"""The deep search: every statement that should hold and every law, on fresh random problems, until the time is up.

It goes through the catalogue and the gallery in rounds, each with new seeds and twice the examples of the one before.
Violations are saved as counterexample files that `robust-core replay` judges again.
"""

import secrets
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from properties.claims import AMENDED, LAW_PREFIX, PRINTED, catalogue
from properties.claims.claim import judge
from properties.claims.evidence import committed_evidence
from properties.judging.counterexample import Counterexample
from properties.judging.search import search
from properties.judging.verdict import Verdict
from properties.judging.verification import applicable
from properties.process.loading import gallery_variants

FOLDER = Path(".robust-core") / "nightly"
FIRST_EXAMPLES = 500


@dataclass(frozen=True)
class Task:
    """One thing that should hold, and how to look for a violation with (examples, seed)."""

    law: str
    variant: str
    run: Callable[[int, int], Verdict]


@dataclass(frozen=True)
class Begin:
    """A task is at work, in a round with so many examples for each."""

    law: str
    variant: str
    examples: int


@dataclass(frozen=True)
class Violation:
    """A violation, and the file that holds its counterexample."""

    law: str
    variant: str
    evidence: str
    seed: int
    counterexample: Path


@dataclass(frozen=True)
class RoundEnd:
    """A round is complete."""

    examples: int


def tasks() -> Iterator[Task]:
    """The guarding statement of every claim that has one, then every law on every variant of the gallery."""
    for claim in catalogue().values():
        guard, name = (claim.amended, AMENDED) if claim.amended is not None else (claim.printed, PRINTED)
        if guard is not None and committed_evidence()[claim.id].status != "refuted":
            yield Task(
                LAW_PREFIX + claim.id,
                name,
                lambda examples, seed, guard=guard: judge(guard, examples=examples, seed=seed),  # type: ignore[misc]
            )
    for target, variant in gallery_variants().items():
        for law in applicable(variant):
            yield Task(
                law.name,
                target,
                lambda examples, seed, law=law, variant=variant: search(  # type: ignore[misc]
                    law, variant, examples=examples, master_seed=seed
                ),
            )


def run(budget: float, *, folder: Path = FOLDER) -> Iterator[Begin | Violation | RoundEnd]:
    """Search for `budget` seconds, and report what happens as it happens."""
    end, examples = time.monotonic() + budget, FIRST_EXAMPLES
    while time.monotonic() < end:
        for task in tasks():
            if time.monotonic() >= end:
                return
            yield Begin(task.law, task.variant, examples)
            seed = secrets.randbits(32)
            verdict = task.run(examples, seed)
            if verdict.case is not None:
                path = Counterexample(task.law, task.variant, verdict.case, verdict.evidence).save(folder)
                yield Violation(task.law, task.variant, verdict.evidence, seed, path)
        yield RoundEnd(examples)
        examples *= 2
