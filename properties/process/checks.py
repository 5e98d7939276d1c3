"""The checks of `pytest --robust-core-variant`: each law is judged in the worker that has loaded the variant."""

import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from properties.judging.causes import Causes
from properties.judging.verdict import FOLDER, Record
from properties.process.session import PROCESSES, Description, Effort, Session, records
from robust_core.text import one_line

EFFORT = Effort(keep=FOLDER)


class UndecidedWarning(UserWarning):
    """A law that its budget could not decide, or a promise that no law tests: green, but not silent."""


@dataclass(frozen=True)
class WorkerCheck:
    """One law, cell or untested promise of one variant; the last check ends the worker."""

    session: Session
    variant: Description
    law: str
    causes: Causes

    def __call__(self) -> None:
        """Judge the variant; pass, warn, skip or fail with the evidence."""
        for record in self._records():
            if record.outcome == "blocked":
                pytest.skip(record.evidence)
            if record.outcome in ("undecided", "untested"):
                warnings.warn(
                    f"{one_line(record.variant)}: {record.law}: {record.evidence}", UndecidedWarning, stacklevel=2
                )
            elif record.outcome != "holds":
                pytest.fail("\n".join(_lines(record)), pytrace=False)

    def _records(self) -> Iterator[Record]:
        if self.law == PROCESSES:
            return records(self.session.finish(self.variant, EFFORT))
        for promise in self.variant.untested:
            if promise.name == self.law:
                return iter([Record(self.variant.name, self.law, "untested", promise.evidence, 0, 0.0, EFFORT.seed)])
        return records(self.session.judge(self.variant, [self.law], self.causes, EFFORT))

    def __str__(self) -> str:
        return id_of(self.variant.name, self.law)


def id_of(variant: str, law: str) -> str:
    """The name of a test: one word of letters, digits and hyphens, for shells and `pytest -k`.

    >>> id_of("my T", "bellman backup, large")
    'my-T-bellman-backup-large'
    """
    return re.sub(r"[^A-Za-z0-9]+", "-", f"{variant}-{law}").strip("-")


def _lines(record: Record) -> Iterator[str]:
    """The text of a failure."""
    yield f"{one_line(record.variant)}: {record.law}"
    yield record.evidence
    if record.results:
        yield record.results
    if record.counterexample:
        yield f"replay: robust-core replay {record.counterexample}"
    elif record.statistics is not None:
        yield f"the same samples again: robust-core verify {record.target} --seed {record.seed}"


def worker_checks(session: Session) -> list[WorkerCheck]:
    """Every check of the variants of a session."""
    found = []
    for variant in session.variants.values():
        causes = Causes()
        names = [promise.name for promise in variant.untested]
        names += [*variant.laws, *(cell.name for cell in variant.cells), PROCESSES]
        found += [WorkerCheck(session, variant, name, causes) for name in names]
    return found
