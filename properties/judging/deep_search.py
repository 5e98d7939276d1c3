"""The deep search: every statement that should hold and every law, on fresh random problems, until the time is up.

`python -m properties.judging.deep_search --budget 30min` goes through the catalogue and the gallery in rounds, each
with new seeds and twice the examples of the one before. What it finds is kept as counterexample files that
`robust-core replay` judges again; the exit code is 1 if there was anything.
"""

import argparse
import secrets
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from properties.claims import catalogue
from properties.claims.claim import judge
from properties.claims.evidence import AMENDED, LAW_PREFIX, PRINTED, stored
from properties.judging.counterexample import Counterexample
from properties.judging.search import search
from properties.judging.verdict import Verdict
from properties.judging.verification import applicable
from properties.process.loading import built_in
from properties.timespan import seconds

FOLDER = Path(".robust-core") / "nightly"
FIRST_EXAMPLES = 500


@dataclass(frozen=True)
class Task:
    """One thing that should hold, and how to look for a violation with (examples, seed)."""

    law: str
    variant: str
    run: Callable[[int, int], Verdict]


def tasks() -> Iterator[Task]:
    """The guarding statement of every claim that has one, then every law on every variant of the gallery."""
    for claim in catalogue().values():
        guard, name = (claim.amended, AMENDED) if claim.amended is not None else (claim.printed, PRINTED)
        if guard is not None and stored()[claim.id].status != "refuted":
            yield Task(
                LAW_PREFIX + claim.id,
                name,
                lambda examples, seed, guard=guard: judge(guard, examples=examples, seed=seed),  # type: ignore[misc]
            )
    for target, variant in built_in().items():
        for law in applicable(variant):
            yield Task(
                law.name,
                target,
                lambda examples, seed, law=law, variant=variant: search(  # type: ignore[misc]
                    law, variant, examples=examples, master_seed=seed
                ),
            )


def run(budget: float, *, folder: Path = FOLDER, say: Callable[[str], object] = sys.stdout.write) -> list[Path]:
    """Search for `budget` seconds; returns the files of what was found."""
    end, found, examples = time.monotonic() + budget, [], FIRST_EXAMPLES
    while time.monotonic() < end:
        for task in tasks():
            if time.monotonic() >= end:
                break
            seed = secrets.randbits(32)
            verdict = task.run(examples, seed)
            if verdict.case is not None:
                path = Counterexample(task.law, task.variant, verdict.case, verdict.evidence).save(folder)
                found.append(path)
                say(f"{task.variant}: {task.law}: {verdict.evidence} (seed {seed}); robust-core replay {path}\n")
        say(f"a round of {examples} examples each ended, {len(found)} found\n")
        examples *= 2
    return found


def main(arguments: list[str] | None = None) -> int:
    """The command line of the deep search."""
    parser = argparse.ArgumentParser(prog="python -m properties.judging.deep_search", description=__doc__)
    parser.add_argument("--budget", type=seconds, default=1800.0, metavar="TIME", help="e.g. 30min (default)")
    budget = parser.parse_args(arguments).budget
    if not budget > 0.0:
        parser.error(f"--budget must be more than no time at all, in which nothing is searched, got {budget:g}s")
    return 1 if run(budget) else 0


if __name__ == "__main__":
    raise SystemExit(main())
