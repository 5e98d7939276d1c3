"""The search for a violation: Hypothesis generates cases and shrinks what fails."""

import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Flaky

from oracles.planning.rational import NoExactSupport
from properties.cases import reductions
from properties.judging import blame
from properties.judging.blame import CannotBeJudged
from properties.judging.guard import LONGEST_QUOTE, TooSlow, watched
from properties.judging.observation import observed_variant
from properties.judging.verdict import Finding, Verdict
from properties.laws.law import Case, Law
from robust_core.problem import Variant

# Warnings that a verdict quotes: more would be no note but a log.
MOST_NOTES = 2


class _Violation(Exception):
    """Raised inside the search to make Hypothesis shrink."""


class _Disowned(BaseException):
    """Raised inside the search to end it: the oracle does not know the set, or not truly, so no answer of it counts.

    Not an `Exception`, which Hypothesis would shrink.
    """


Judge = Callable[[Case], Finding | None]


def explore(
    cases: st.SearchStrategy[Case],
    judge: Judge,
    *,
    examples: int,
    master_seed: int,
    reduce: bool = False,
    shrink: bool = True,
) -> Verdict:
    """The verdict of an exact judge after at most `examples` cases; the same seed tries the same cases.

    What is found is shrunk by Hypothesis and then, with `reduce`, as a case of a law can be (`reductions`);
    without `shrink` it is reported as it was found. A case that cannot be judged is no reason not to try the others;
    if none of them is a violation the verdict is an error.
    """
    tried = 0
    smallest: list[tuple[Case, Finding]] = []
    unjudged: list[CannotBeJudged] = []

    @seed(master_seed)
    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.target, Phase.shrink) if shrink else (Phase.generate, Phase.target),
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
    )
    @given(cases)
    def attempt(case: Case) -> None:
        nonlocal tried
        tried += 1
        try:
            finding = judge(case)
        except TooSlow as slow:
            # Shrinking would wait for the limit at every attempt: the case is reported as it is.
            smallest[:] = [(case, slow.finding())]
            raise
        except CannotBeJudged as reason:
            unjudged.append(_owned(reason))
            return
        if finding is not None:
            smallest[:] = [(case, finding)]
            raise _Violation

    try:
        with warnings.catch_warnings():
            # Of a large case that fails; it is not printed.
            warnings.filterwarnings("ignore", message="Generating overly large repr")
            attempt()
    except _Violation:
        try:
            case, finding = _reduced(*smallest[0], judge) if reduce and shrink else smallest[0]
        except _Disowned as end:
            return Verdict("error", str(end), tried)
        return Verdict("violated", str(finding), tried, case, finding)
    except _Disowned as end:
        return Verdict("error", str(end), tried)
    except TooSlow:
        case, finding = smallest[0]
        return Verdict("violated", str(finding), tried, case, finding)
    except Flaky:
        case, finding = smallest[0]
        finding = Finding(
            f"conduct: the same case does not always give the same: once {finding.what}", finding.got, finding.wanted
        )
        return Verdict("violated", str(finding), tried, case, finding)
    if unjudged:
        return Verdict("error", f"{unjudged[0]} (so in {len(unjudged)} of {tried} cases)", tried)
    return Verdict("holds", f"no violation in {tried} cases", tried)


def _owned(reason: CannotBeJudged) -> CannotBeJudged:
    """The reason, if the oracle failed in this case alone."""
    if isinstance(reason.__cause__, NoExactSupport):
        raise _Disowned(*reason.args)
    return reason


def _reduced(case: Case, finding: Finding, judge: Judge) -> tuple[Case, Finding]:
    """The case after every reduction that leaves it a counterexample of the same sort."""
    smallest = case, finding

    def fails(less: Case) -> bool:
        nonlocal smallest
        try:
            found = judge(less)
        except CannotBeJudged as reason:
            _owned(reason)
            return False
        if found is None or not _same_sort(finding, found):
            return False
        smallest = less, found
        return True

    with suppress(TooSlow):  # what is reported then is the smallest case that had its answer in time
        reductions.reduced(case, fails)
    return smallest


def _same_sort(finding: Finding, other: Finding) -> bool:
    """A fault of conduct stays that fault, and a wrong number does not become one."""
    misconduct = any(each.what.startswith("conduct:") for each in (finding, other))
    return finding.what == other.what if misconduct else True


def judged(law: Law, variant: Variant, case: Case) -> Finding | None:
    """A law's finding in one case; a variant that raises, takes too long or misbehaves has broken the law by that.

    `CannotBeJudged` is raised where the truth is not to be had: that is no fault of the variant.
    """
    try:
        return _at_work(law, variant, case, Counter())
    except TooSlow as slow:
        return slow.finding()


def _at_work(law: Law, variant: Variant, case: Case, warned: Counter[str]) -> Finding | None:
    """The same for a search, which a case that takes too long ends: `TooSlow` is raised.

    Warnings reach nobody's terminal and break no law, whatever the filters of the process say: they are counted in
    `warned`, once a case.
    """

    def work() -> Finding | None:
        try:
            return law.judge(observed_variant(variant), **case)
        except BaseException as error:
            return Finding(blame.conduct(error), None, None)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        finding = watched(work)
    warned.update({f"{each.category.__name__}: {each.message}" for each in caught})
    return finding


def search(law: Law, variant: Variant, *, examples: int, master_seed: int, shrink: bool = True) -> Verdict:
    """The verdict of an exact law on a variant; if it holds, the evidence says which warnings there were."""
    warned: Counter[str] = Counter()
    try:
        verdict = explore(
            law.cases_of(variant),
            lambda case: _at_work(law, variant, case, warned),
            examples=examples,
            master_seed=master_seed,
            reduce=law.reducible,
            shrink=shrink,
        )
    except Exception as error:
        # The variant's exceptions are findings: this one comes from where the cases are made.
        return Verdict("error", str(CannotBeJudged.because(error)))
    if verdict.outcome != "holds" or not warned:
        return verdict
    notes = "; ".join(f"in {count} of them {what:.{LONGEST_QUOTE}}" for what, count in warned.most_common(MOST_NOTES))
    return replace(verdict, evidence=f"{verdict.evidence}; {notes}")
