"""The search for a violation of a law.

Cases are drawn at random by their sources and reduced by `reductions`. `exploration` has the search of claims, in which
Hypothesis generates and shrinks.
"""

import math
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, islice
from time import monotonic

from oracles.planning.rational import NoExactSupport
from oracles.planning.truth import TooWide
from properties.cases import law_schema, reductions
from properties.cases.case import Case, LawCase
from properties.cases.choices import WithModel
from properties.cases.scope import OutOfScope, Scope
from properties.cases.sources import Generated
from properties.judging import blame
from properties.judging.blame import CannotBeJudged, NotTested, SetAside
from properties.judging.guard import LONGEST_QUOTE, TooSlow, watch
from properties.judging.observation import observed_variant
from properties.judging.verdict import Finding, Outcome, Verdict
from properties.kinds import kind_of
from properties.laws.law import Law
from robust_core.mdp import MDP
from robust_core.problem import Variant

# Warnings that a verdict quotes: more would be no note but a log.
MOST_NOTES = 2
MOST_READ = 8
"""Warnings of a case that are read, the first: a variant may give thousands, with messages that take long to read."""


MOST_SAID = 400
"""Characters of the reason why a case was set aside."""
MOST_ASIDE = 0.01
"""The share of the cases of a law that may be set aside; with more it is undecided."""
TOO_WIDE = "enclosure too wide"

FAILURES = 8
"""The failing cases that a search of a law reduces; it reports the smallest of the results.

The first examples of Hypothesis are alike: four of them often end as one case.
"""


MEMORY = "misbehaviour: raised MemoryError"
MORE = 24
"""Cases that are tried after enough misbehaviour, to find a wrong value too."""
TOO_SLOW = "misbehaviour: time of one case"
CASES_PER_MODEL = 8
"""Cases of a law on one model of the user's: paths, policies, sets and starts differ."""


class _End(BaseException):
    """Raised inside the search to end it. Not an `Exception`, which Hypothesis would shrink."""


class _Enough(_End):
    """Enough cases have failed."""


class _OutOfTime(_End):
    """The time for the law is over."""


class Disowned(_End):
    """The oracle has no reliable truth for the set, so none of its answers is used."""


Judge = Callable[[Case], Finding | None]
Failure = tuple[Case, Finding]


class Search:
    """A search: the cases that were tried, those that failed, and those that could not be judged."""

    def __init__(self, judge: Judge) -> None:
        self.judge, self.tried, self.extra, self.outside = judge, 0, 0, 0
        self.stopped = self.beside = ""
        self.failures: list[Failure] = []
        self.unjudged: list[CannotBeJudged] = []
        self.aside: list[tuple[str, str]] = []
        """Why cases were set aside, and what more there is to say of each."""

    def finding(self, case: Case) -> Finding | None:
        """The finding of the judge; None too if the case cannot be judged, which is noted."""
        self.tried += 1
        try:
            return self.judge(case)
        except OutOfScope:
            self.outside += 1
            return None
        except CannotBeJudged as reason:
            if isinstance(reason.__cause__, NoExactSupport):
                raise Disowned(*reason.args) from None
            if isinstance(reason.__cause__, TooWide):
                self.aside.append((TOO_WIDE, str(reason.__cause__).removeprefix(f"{TOO_WIDE}: ")))
            elif isinstance(reason, SetAside):
                self.aside.append((str(reason), ""))
            else:
                self.unjudged.append(reason)
            return None

    def verdict(self) -> Verdict:
        """The verdict of the search."""
        if self.failures:
            ((case, finding),) = self.failures
            return Verdict("violated", f"{finding}{self.beside}", self.tried, case, finding)
        if self.unjudged:
            outcome: Outcome = "untested" if all(isinstance(each, NotTested) for each in self.unjudged) else "error"
            reason = next((each for each in self.unjudged if not isinstance(each, NotTested)), self.unjudged[0])
            return Verdict(outcome, f"{reason} (so in {len(self.unjudged)} of {self.tried} cases)", self.tried)
        judged = self.tried - self.outside
        if self.tried and not judged:
            left_out = "untested: the options of the variant leave out every case of this law"
            return Verdict("untested", left_out, self.tried)
        said = f"no violation in {judged - len(self.aside)} cases{self.stopped}"
        if self.outside:
            said = f"{said}; {self.outside} more set aside, which lead to problems that the options leave out"
        if not self.aside:
            return Verdict("holds", said, judged)
        why, more = self.aside[0]
        said = f"{said}; {len(self.aside)} of {self.tried} cases set aside: {why}"
        if len(self.aside) <= MOST_ASIDE * self.tried:
            return Verdict("holds", said, self.tried)
        return Verdict("undecided", f"{said}. First: {more:.{MOST_SAID}}" if more else said, self.tried)


def explore_and_reduce(
    cases: Iterable[Case],
    judge: Judge,
    *,
    failures: int = FAILURES,
    reduced: bool = True,
    allowed: Callable[[Case], bool] = lambda case: True,
    seconds: float = math.inf,
) -> Verdict:
    """The verdict of an exact judge on cases of a law, tried in turn; up to `failures` that fail are collected.

    Those that are cheapest to judge are reduced, and the smallest result is reported; without `reduced` the first
    failure is. Cases so slow that this takes long are fewer. A reduction leads only to a case that is `allowed`. A case
    in which the judge is too slow ends the search; if nothing failed before, it is reported as it is, for its
    reductions would take as long. After `seconds` no further case is begun, and the evidence says so; one that has
    failed is reported all the same.
    """
    search, deadline = Search(judge), monotonic() + seconds
    budget: reductions.Budget | None = None

    def attempt(case: Case) -> None:
        nonlocal budget
        if search.tried and monotonic() >= deadline:
            search.stopped = ", where the time for the law was over"
            raise _OutOfTime
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
        budget = budget or reductions.Budget()
        if len(search.failures) >= failures and not (reduced and _only_misbehaviour(search)):
            raise _Enough
        if not budget.has_time():
            raise _Enough

    try:
        with suppress(_Enough, _OutOfTime):
            for case in cases:
                attempt(case)
        if search.failures:
            reported = search.failures[0][1]
            search.beside = f"{_others(search.failures, reported)}{_cause(search.failures)}"
            search.failures[:] = [_smallest(search, allowed) if reduced else _first(search)]
    except Disowned as end:
        return Verdict("error", str(end), search.tried)
    except _End:
        pass
    return search.verdict()


def _only_misbehaviour(search: Search) -> bool:
    """Whether all failures so far are misbehaviour; then some cases more are tried: a crash hides no wrong value."""
    search.extra += 1
    return search.extra <= MORE and all(_is_misbehaviour(finding) for _, finding in search.failures)


def _is_misbehaviour(finding: Finding) -> bool:
    return finding.what.startswith("misbehaviour:")


def _others(failures: list[Failure], reported: Finding) -> str:
    """Findings of other sorts than the reported one, one of each sort."""
    said: dict[str, str] = {}
    for _, finding in failures:
        if not _same_sort(reported, finding):
            said.setdefault(finding.what if _is_misbehaviour(finding) else "", str(finding))
        if finding.also and _is_misbehaviour(reported):
            said.setdefault("", finding.also)
    return "".join(f"; also {text}" for text in list(said.values())[:MOST_NOTES])


def _cause(failures: list[Failure]) -> str:
    """The one factor that alone explains every failure, if there is one."""
    common = set.intersection(*(set(finding.causes) for _, finding in failures))
    if len(common) != 1:
        return ""
    return f"; {common.pop()} is off: no other factor alone explains all {len(failures)} violations"


def flaky(case: Case, finding: Finding) -> Failure:
    """The failure of a case that did not fail again."""
    what = f"misbehaviour: the same case does not always give the same: once {finding.what}"
    return case, Finding(what, finding.got, finding.wanted)


def _first(search: Search) -> Failure:
    """The first failure, if it fails again."""
    case, finding = search.failures[0]
    with suppress(TooSlow):
        if search.finding(case) is None:
            return flaky(case, finding)
    return case, finding


def _smallest(search: Search, allowed: Callable[[Case], bool]) -> Failure:
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


def _reduced(failure: Failure, search: Search, allowed: Callable[[Case], bool], budget: reductions.Budget) -> Failure:
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
    warned.update(list(dict.fromkeys(map(_quote, caught[:MOST_READ]))))
    return finding


def _quote(warning: warnings.WarningMessage) -> str:
    """The type and the message; its class may come from a user."""
    given = warning.message
    return blame.describe_error(given if isinstance(given, Warning) else UserWarning(given))


def _is_inside(scope: Scope, entries: Case) -> bool:
    """Whether the model and the set of a reduced case are those of a problem that the variant is for."""
    return ("mdp" not in entries or scope.has(entries["mdp"])) and (
        "uncertainty_set" not in entries or scope.allows(entries["uncertainty_set"])
    )


def is_of_kind(kind: str, entries: Case) -> bool:
    """Whether the rules that only this kind has accept a reduced case: a positive radius, a policy that takes all."""
    try:
        for name, rule in kind_of(kind).rules.items():
            if name in entries:
                rule(name, entries)
    except ValueError:
        return False
    return True


@dataclass(frozen=True)
class _OnModels:
    """What came of the cases on the user's models: how many were judged, how many took too long, a violation."""

    judged: int = 0
    slow: int = 0
    failure: Verdict | None = None

    def beside(self, verdict: Verdict) -> Verdict:
        """The verdict on the other cases, combined with these."""
        if not self.judged + self.slow:
            return verdict
        said = f"{verdict.evidence}; {self.judged} cases on your models"
        if self.slow:
            said = f"{said}, {self.slow} more left out: they take longer than a case may"
        return replace(verdict, evidence=said, cases=verdict.cases + self.judged)


def _on_models(law: Law, variant: Variant, models: Sequence[MDP], warned: Counter[str], seconds: float) -> _OnModels:
    """Judge the law on every model; the first violation, reduced, ends it."""
    if not models or not isinstance(law.cases, Generated):
        return _OnModels()
    case_type, deadline = kind_of(variant.kind).case, monotonic() + seconds
    judged = slow = 0
    for case in cases_on_models(law, variant, models):
        if judged and monotonic() >= deadline:
            break
        verdict = explore_and_reduce(
            [case.entries()], lambda entries: _at_work(law, variant, case_type.of(entries), warned)
        )
        if verdict.outcome == "violated" and verdict.evidence.startswith(TOO_SLOW):
            slow += 1
        elif verdict.outcome != "holds":
            return _OnModels(judged, slow, replace(verdict, evidence=f"{verdict.evidence} (on a model of yours)"))
        else:
            judged += 1
    return _OnModels(judged, slow)


def cases_on_models(law: Law, variant: Variant, models: Sequence[MDP]) -> Iterator[LawCase]:
    """The cases of a law on models of the user's, as far as the law speaks of them."""
    assert isinstance(law.cases, Generated)
    narrowed = replace(variant, sets=law.sets_of(variant))
    for model in models:
        for seed in range(CASES_PER_MODEL):
            choices = WithModel(model, seed)
            case = law.cases.read(choices, narrowed)
            with suppress(ValueError):
                law_schema.check_hypotheses(law, case.entries())
                if choices.used:
                    yield case


def search(
    law: Law,
    variant: Variant,
    *,
    examples: int,
    master_seed: int,
    shrink: bool = True,
    seconds: float = math.inf,
    models: Sequence[MDP] = (),
    sampled: bool = False,
) -> Verdict:
    """The verdict of an exact law on a variant; if it holds, the evidence says which warnings there were.

    Cases on the user's `models` come first. Their oracle may take long, which is not the variant's fault: such a case
    is left out. After `seconds` no further case is begun. Where the draws of a learner cannot be enumerated, the twin
    of a law takes over if `sampled`; else the law is undecided, because the caller left sampling out.
    """
    warned: Counter[str] = Counter()
    case_type = kind_of(variant.kind).case
    scope = Scope.of(variant)
    reduced = shrink and law.reducible
    began = monotonic()
    given = _on_models(law, variant, models, warned, seconds)
    if given.failure is not None:
        return given.failure
    try:
        drawn = islice(law.cases_of(variant, master_seed), math.ceil(law.share * examples))
        cases = chain(law.first_cases(variant), drawn)
        verdict = explore_and_reduce(
            (case.entries() for case in cases),
            lambda entries: _at_work(law, variant, case_type.of(entries), warned),
            # Of the large instances, which are few, all that fail are collected: the smallest of them are the cheapest.
            failures=(examples if law.large else FAILURES) if reduced else 1,
            reduced=reduced,
            allowed=lambda entries: is_of_kind(variant.kind, entries) and _is_inside(scope, entries),
            seconds=seconds - (monotonic() - began),
        )
    except Exception as error:
        # The variant's exceptions are findings: this one comes from where the cases are made.
        return Verdict("error", str(CannotBeJudged.because(error)))
    if verdict.outcome == "untested" and law.twin is not None:
        refused = verdict.evidence.removeprefix("untested: ")
        if sampled:
            return law.twin(variant, refused, master_seed)
        return replace(
            verdict, outcome="undecided", evidence=f"not run: sampling, which can decide this law; {refused}"
        )
    verdict = given.beside(verdict)
    if verdict.outcome != "holds" or not warned:
        return verdict
    notes = "; ".join(f"in {count} of them {what:.{LONGEST_QUOTE}}" for what, count in warned.most_common(MOST_NOTES))
    return replace(verdict, evidence=f"{verdict.evidence}; {notes}")
