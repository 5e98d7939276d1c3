"""The search for a violation: Hypothesis generates cases and shrinks what fails."""

from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from properties.guard import CASE_SECONDS, TooSlow, watched
from properties.law import Case, Law
from properties.verdict import Finding, Verdict
from robust_core.variant import Variant


class _Violation(Exception):
    """Raised inside the search to make Hypothesis shrink."""


def explore(
    cases: st.SearchStrategy[Case], judge: Callable[[Case], Finding | None], *, examples: int, master_seed: int
) -> Verdict:
    """The verdict of an exact judge after at most `examples` cases; the same seed tries the same cases."""
    tried = 0
    smallest: list[tuple[Case, Finding]] = []

    @seed(master_seed)
    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.target, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
    )
    @given(cases)
    def attempt(case: dict[str, Any]) -> None:
        nonlocal tried
        tried += 1
        try:
            finding = judge(case)
        except TooSlow:
            # Shrinking would wait for the limit at every attempt: the case is reported as it is.
            smallest[:] = [(case, Finding("conduct: time of one case", f"over {CASE_SECONDS:g} s", "milliseconds"))]
            raise
        if finding is not None:
            smallest[:] = [(case, finding)]
            raise _Violation

    try:
        attempt()
    except (_Violation, TooSlow):
        case, finding = smallest[0]
        return Verdict("violated", str(finding), tried, case, finding)
    return Verdict("holds", f"no violation in {tried} cases", tried)


def judged(law: Law, variant: Variant, case: Case) -> Finding | None:
    """A law's finding in one case; a variant that raises or misbehaves has broken the law by that."""

    def work() -> Finding | None:
        try:
            return law.judge(variant, **case)
        except Exception as error:
            return Finding(_raised(error), "an exception", "a result")

    return watched(work)


def _raised(error: Exception) -> str:
    if isinstance(error, ValueError) and "read-only" in str(error):
        return "conduct: tried to change an array it was given"
    return f"conduct: raised {type(error).__name__}: {error}"


def search(law: Law, variant: Variant, *, examples: int, master_seed: int) -> Verdict:
    """The verdict of an exact law on a variant."""
    return explore(
        law.cases(variant), lambda case: judged(law, variant, case), examples=examples, master_seed=master_seed
    )
