"""The search for a violation: Hypothesis generates cases.

It also shrinks those of claims. Those of laws are reduced by `reductions`, which makes them as small in less time.
"""

import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from dataclasses import replace

import numpy as np
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st
from hypothesis.errors import Flaky

from oracles.planning.rational import NoExactSupport
from oracles.planning.truth import TooWide
from properties.cases import reductions
from properties.cases.case import Case, LawCase
from properties.judging import blame
from properties.judging.blame import CannotBeJudged, NotTested
from properties.judging.guard import LONGEST_QUOTE, TooSlow, watch
from properties.judging.observation import observed_variant
from properties.judging.verdict import Finding, Outcome, Verdict
from properties.kinds import kind_of
from properties.laws.law import Law
from robust_core.problem import Variant
from robust_core.sets import UncertaintySet

# Warnings that a verdict quotes: more would be no note but a log.
MOST_NOTES = 2


MOST_ASIDE = 0.01
"""The share of the cases of a law whose truth may be enclosed too widely to judge by; with more it is undecided."""

FAILURES = 8
"""The failing cases that a search of a law reduces; it reports the smallest of the results.

The first examples of Hypothesis are alike: four of them often end as one case.
"""


MEMORY = "misbehaviour: raised MemoryError"


class _Violation(Exception):
    """Raised inside the search of a claim to make Hypothesis shrink."""


class _End(BaseException):
    """Raised inside the search to end it. Not an `Exception`, which Hypothesis would shrink."""


class _Enough(_End):
    """Enough cases have failed."""


class _Disowned(_End):
    """The oracle does not know the set, or not truly, so no answer of it counts."""


Judge = Callable[[Case], Finding | None]
Failure = tuple[Case, Finding]


class _Search:
    """The cases that were tried, those that failed, and those that could not be judged."""

    def __init__(self, judge: Judge) -> None:
        self.judge, self.tried = judge, 0
        self.failures: list[Failure] = []
        self.unjudged: list[CannotBeJudged] = []
        self.aside: list[CannotBeJudged] = []

    def finding(self, case: Case) -> Finding | None:
        """The finding of the judge; None too if the case cannot be judged, which is noted."""
        self.tried += 1
        try:
            return self.judge(case)
        except CannotBeJudged as reason:
            if isinstance(reason.__cause__, NoExactSupport):
                raise _Disowned(*reason.args) from None
            (self.aside if isinstance(reason.__cause__, TooWide) else self.unjudged).append(reason)
            return None

    def run(
        self, cases: st.SearchStrategy[Case], attempt: Callable[[Case], None], *, examples: int, seed: int, shrink: bool
    ) -> None:
        """Let Hypothesis draw cases for `attempt`."""
        generate = (Phase.generate, Phase.target)
        configured = settings(
            max_examples=examples,
            database=None,
            deadline=None,
            phases=(*generate, Phase.shrink) if shrink else generate,
            # A verdict must not depend on the speed of the machine. The other health checks are on.
            suppress_health_check=[HealthCheck.too_slow],
            report_multiple_bugs=False,
        )
        with warnings.catch_warnings():
            # Of a large case that fails; it is not printed.
            warnings.filterwarnings("ignore", message="Generating overly large repr")
            seeded(seed)(configured(given(cases)(attempt)))()

    def verdict(self) -> Verdict:
        """The verdict on what the search came to."""
        if self.failures:
            ((case, finding),) = self.failures
            return Verdict("violated", str(finding), self.tried, case, finding)
        if self.unjudged:
            outcome: Outcome = "untested" if all(isinstance(each, NotTested) for each in self.unjudged) else "error"
            reason = next((each for each in self.unjudged if not isinstance(each, NotTested)), self.unjudged[0])
            return Verdict(outcome, f"{reason} (so in {len(self.unjudged)} of {self.tried} cases)", self.tried)
        said = f"no violation in {self.tried} cases"
        if not self.aside:
            return Verdict("holds", said, self.tried)
        said = f"{said}; {len(self.aside)} of {self.tried} cases set aside: enclosure too wide"
        enough = len(self.aside) <= MOST_ASIDE * self.tried
        return Verdict("holds" if enough else "undecided", said, self.tried)


def explore(
    cases: st.SearchStrategy[Case], judge: Judge, *, examples: int, master_seed: int, shrink: bool = True
) -> Verdict:
    """The verdict of an exact judge after at most `examples` cases; the same seed tries the same cases.

    Hypothesis shrinks the first case that fails; without `shrink` it is reported as it was found. A case that cannot
    be judged is no reason not to try the others; if none of them is a violation the verdict is an error.
    """
    search = _Search(judge)

    def attempt(case: Case) -> None:
        finding = search.finding(case)
        if finding is not None:
            search.failures[:] = [(case, finding)]
            raise _Violation

    try:
        search.run(cases, attempt, examples=examples, seed=master_seed, shrink=shrink)
    except _Disowned as end:
        return Verdict("error", str(end), search.tried)
    except _Violation:
        return search.verdict()
    except Flaky:
        search.failures[:] = [_flaky(*search.failures[0])]
    return search.verdict()


def explore_and_reduce(
    cases: st.SearchStrategy[Case],
    judge: Judge,
    *,
    examples: int,
    master_seed: int,
    failures: int = FAILURES,
    reduced: bool = True,
    first: Iterable[Case] = (),
    allowed: Callable[[Case], bool] = lambda case: True,
) -> Verdict:
    """The same for cases of a law, the `first` ones and then drawn ones; up to `failures` that fail are collected.

    Those that are cheapest to judge are reduced, and the smallest result is reported; without `reduced` the first
    failure is. A reduction leads only to a case that is `allowed`. A case in which the judge is too slow ends the
    search; if nothing failed before, it is reported as it is, for its reductions would take as long.
    """
    search = _Search(judge)

    def attempt(case: Case) -> None:
        try:
            finding = search.finding(case)
        except TooSlow as slow:
            if search.failures:
                raise _Enough from None
            search.failures.append((case, slow.finding()))
            raise _End from None
        if finding is None:
            return
        if finding.what.startswith(MEMORY) and search.failures:
            raise _Enough
        search.failures.append((case, finding))
        if finding.what.startswith(MEMORY):
            raise _End  # its reductions would fill the memory as often
        if len(search.failures) == failures:
            raise _Enough

    try:
        with suppress(_Enough):
            for case in first:
                attempt(case)
            search.run(cases, attempt, examples=examples, seed=master_seed, shrink=False)
        if search.failures:
            search.failures[:] = [_smallest(search, allowed) if reduced else _first(search)]
    except _Disowned as end:
        return Verdict("error", str(end), search.tried)
    except _End:
        pass
    return search.verdict()


def _flaky(case: Case, finding: Finding) -> Failure:
    what = f"misbehaviour: the same case does not always give the same: once {finding.what}"
    return case, Finding(what, finding.got, finding.wanted)


def _first(search: _Search) -> Failure:
    """The first failure, if it fails again."""
    case, finding = search.failures[0]
    with suppress(TooSlow):
        if search.finding(case) is None:
            return _flaky(case, finding)
    return case, finding


def _smallest(search: _Search, allowed: Callable[[Case], bool]) -> Failure:
    """The smallest result of reducing the cheapest failures of the same sort as the first.

    They share one budget, the cheapest to judge first, so that a large one does not use the time of all.
    """
    case, finding = _first(search)
    if finding is not search.failures[0][1]:
        return case, finding
    alike = [failure for failure in search.failures if _same_sort(finding, failure[1])]
    cheapest = sorted(alike, key=lambda failure: reductions.work(failure[0]))[:FAILURES]
    budget = reductions.Budget()
    results = [_reduced(failure, search, allowed, budget) for failure in cheapest]
    return min(results, key=lambda failure: (reductions.size(failure[0]), reductions.length(failure[0])))


def _reduced(failure: Failure, search: _Search, allowed: Callable[[Case], bool], budget: reductions.Budget) -> Failure:
    """The failure after every reduction that leaves it a counterexample of the same sort."""
    smallest = failure

    def fails(less: Case) -> bool:
        nonlocal smallest
        found = search.finding(less) if allowed(less) else None
        if found is None or not _same_sort(failure[1], found):
            return False
        smallest = less, found
        return True

    with suppress(TooSlow):  # what is reported then is the smallest case that had its answer in time
        reductions.reduce(failure[0], fails, budget)
    return smallest


def _same_sort(finding: Finding, other: Finding) -> bool:
    """Misbehaviour stays the same, and a wrong number does not become one."""
    misbehaviour = any(each.what.startswith("misbehaviour:") for each in (finding, other))
    return finding.what == other.what if misbehaviour else True


def judge_case(law: Law, variant: Variant, case: LawCase) -> Finding | None:
    """A law's finding in one case; a variant that raises, takes too long or misbehaves has broken the law by that.

    `CannotBeJudged` is raised where the truth is not to be had: that is no fault of the variant.
    """
    try:
        return _at_work(law, variant, case, Counter())
    except TooSlow as slow:
        return slow.finding()


def _at_work(law: Law, variant: Variant, case: LawCase, warned: Counter[str]) -> Finding | None:
    """The same for a search, which a case that takes too long ends: `TooSlow` is raised.

    Warnings reach nobody's terminal and break no law, whatever the filters of the process say: they are counted in
    `warned`, once a case.
    """

    def work() -> Finding | None:
        try:
            return law.judge_case(observed_variant(variant), case)
        except BaseException as error:
            return Finding(blame.misbehaviour(error), None, None)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        finding = watch(work)
    warned.update({f"{each.category.__name__}: {each.message}" for each in caught})
    return finding


def _of_radii(uncertainty_set: UncertaintySet, radii: Collection[float]) -> bool:
    return set(np.ravel(getattr(uncertainty_set, "radius", ())).tolist()) <= set(radii)


def search(law: Law, variant: Variant, *, examples: int, master_seed: int, shrink: bool = True) -> Verdict:
    """The verdict of an exact law on a variant; if it holds, the evidence says which warnings there were."""
    warned: Counter[str] = Counter()
    case_type = kind_of(variant.kind).case
    radii = variant.options.get("radii")
    reduced = shrink and law.reducible
    try:
        verdict = explore_and_reduce(
            law.cases_of(variant).map(LawCase.entries),
            lambda entries: _at_work(law, variant, case_type.of(entries), warned),
            examples=examples,
            master_seed=master_seed,
            # Of the large instances, which are few, all that fail are collected: the smallest of them are the cheapest.
            failures=(examples if law.large else FAILURES) if reduced else 1,
            reduced=reduced,
            first=[case.entries() for case in law.first_cases(variant)],
            allowed=lambda entries: radii is None or _of_radii(entries["uncertainty_set"], radii),
        )
    except Exception as error:
        # The variant's exceptions are findings: this one comes from where the cases are made.
        return Verdict("error", str(CannotBeJudged.because(error)))
    if verdict.outcome != "holds" or not warned:
        return verdict
    notes = "; ".join(f"in {count} of them {what:.{LONGEST_QUOTE}}" for what, count in warned.most_common(MOST_NOTES))
    return replace(verdict, evidence=f"{verdict.evidence}; {notes}")
