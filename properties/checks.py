"""Laws as pytest checks: one test per law and variant.

from properties.checks import parametrize_with_checks

@parametrize_with_checks([MY_VARIANT])
def test_my_variant(check):
    check()
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

import pytest

from properties.judging.causes import Causes
from properties.judging.counterexample import Counterexample, describe
from properties.judging.search import search
from properties.judging.verdict import Record, UntestedPromise, Verdict, blocked_verdict
from properties.judging.verification import (
    EXAMPLES,
    applicable,
    not_saved_message,
    require_promises,
    shortly_named,
    untested_promises,
)
from properties.laws.law import Law
from properties.process.checks import UndecidedWarning, id_of
from properties.process.confirmation import confirm
from properties.statistics.law import Size
from properties.statistics.suite import Planned
from robust_core.problem import Variant
from robust_core.text import one_line, suggestion

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet


@dataclass(frozen=True)
class Check:
    """One law, or one cell of a statistical law, on one variant.

    Calling it passes, warns, or fails with the law, the smallest case or the evidence, and the command that shows it
    again. `target` is how the variant is loaded. `causes` is shared by the checks of a variant: a law that says nothing
    new while an earlier one is violated is skipped.
    """

    variant: Variant
    law: Law | Planned | UntestedPromise
    examples: int = EXAMPLES
    seed: int = 0
    target: str | None = None
    causes: Causes = field(default_factory=Causes, compare=False, repr=False)

    def __call__(self) -> None:
        """Search for a violation."""
        cause = self._cause()
        verdict = blocked_verdict(cause) if cause is not None else self.causes.distinct(self.law.name, self._verdict())
        if verdict.statistics is None:
            self.causes.note(self.law.name, verdict)
        if verdict.outcome == "blocked":
            pytest.skip(verdict.evidence)
        if verdict.outcome in ("undecided", "untested"):
            import warnings

            warnings.warn(
                f"{one_line(self.variant.name)}: {self.law.name}: {verdict.evidence}", UndecidedWarning, stacklevel=2
            )
        elif verdict.outcome != "holds":
            pytest.fail("\n".join(part for part in self._parts(verdict) if part), pytrace=False)

    def _cause(self) -> str | None:
        """The law whose violation, seen in this process, leaves nothing new to say; cells follow all exact laws."""
        if isinstance(self.law, Law):
            return self.causes.before(self.law)
        return None if isinstance(self.law, UntestedPromise) else next(iter(self.causes.failed.values()), None)

    def _verdict(self) -> Verdict:
        if isinstance(self.law, UntestedPromise):
            return Verdict("untested", self.law.evidence)
        if isinstance(self.law, Law):
            return search(self.law, self.variant, examples=self.examples, master_seed=self.seed)
        from properties.statistics import judging, seed_sets

        return judging.judge(self.law, seed_set=seed_sets.of_seed(self.seed))

    def _parts(self, verdict: Verdict) -> Iterator[str]:
        """What a failure says."""
        assert not isinstance(self.law, UntestedPromise)
        law = self.law if isinstance(self.law, Law) else self.law.law
        evidence, kept = (verdict.evidence, "") if verdict.case is None else self._keep(law.name, verdict)
        yield f"{one_line(self.variant.name)}: {self.law.name}: {law.statement}"
        yield evidence
        if verdict.case is not None:
            yield describe(verdict.case)
        if verdict.finding is not None:
            yield verdict.finding.deviation().side_by_side
        yield kept
        if verdict.case is None and verdict.statistics is not None and self.target:
            yield f"the same samples again: robust-core verify {self.target} --seed {self.seed}"

    def _keep(self, law: str, verdict: Verdict) -> tuple[str, str]:
        """Save the case, and judge it again in a new process: the evidence, and where the case is."""
        assert verdict.case is not None
        example = Counterexample(law, self.target or self.variant.name, verdict.case, verdict.evidence)
        try:
            path = example.save()
        except OSError as error:
            return verdict.evidence, not_saved_message(error)
        if not self.target:
            return verdict.evidence, f"kept in {path}"
        record = Record.of(verdict, variant=self.variant.name, law=law, seconds=0.0, seed=self.seed)
        again = f"robust-core verify {self.target} --seed {self.seed} --examples {self.examples}"
        record, _ = confirm(replace(record, counterexample=str(path)), None, again=again)
        return record.evidence, f"replay: robust-core replay {path}" if record.counterexample else ""

    def __str__(self) -> str:
        return id_of(self.variant.name, self.law.name)


def checks(
    variants: Iterable[Variant] | Mapping[str, Variant],
    *,
    examples: int = EXAMPLES,
    seed: int = 0,
    size: Size | None = "quick",
) -> list[Check]:
    """Every check that the given variants call for; the statistical ones share one error budget.

    The keys of a mapping say how each is loaded. `size` is that of the statistical laws, None leaves them out.
    """
    from properties.process.loading import target_of
    from properties.statistics.suite import allot_cells, weight

    given = list(variants.items()) if isinstance(variants, Mapping) else [(target_of(v), v) for v in variants]
    for _, variant in given:
        require_promises(variant)
    named = [(target, shortly_named(variant)) for target, variant in given]
    total = None if size is None else weight([variant for _, variant in named], size)
    found: list[Check] = []
    for target, variant in named:
        laws: list[Law | Planned | UntestedPromise] = [*untested_promises(variant), *applicable(variant)]
        if size is not None:
            laws += allot_cells(variant, size, total=total)
        causes = Causes()
        found += [Check(variant, law, examples, seed, target, causes) for law in laws]
    if not found:
        raise ValueError("nothing to check: no law belongs to the kinds and promises of the variants")
    return found


ExpectedFailures: TypeAlias = Mapping[str, str] | Callable[[Variant], Mapping[str, str]]
"""Reasons by the name of a law, for all variants or as a function of the variant."""


def parametrize_with_checks(
    variants: Iterable[Variant] | Mapping[str, Variant],
    *,
    examples: int = EXAMPLES,
    seed: int = 0,
    size: Size | None = "quick",
    expected_failures: ExpectedFailures | None = None,
) -> pytest.MarkDecorator:
    """A decorator that runs a test with the argument `check` once for every law of every variant.

    `expected_failures` says which laws are known to be violated, and why. Such a check is reported as xfailed; one that
    holds fails the test, so that a reason does not outlive the fault. A name that no check has is a ValueError.
    """
    found = checks(variants, examples=examples, seed=seed, size=size)
    if expected_failures is None:
        return pytest.mark.parametrize("check", found, ids=str)
    return pytest.mark.parametrize("check", _with_reasons(found, expected_failures), ids=str)


def _with_reasons(found: Sequence[Check], expected: ExpectedFailures) -> "list[ParameterSet]":
    """The checks, those with a reason marked as strict expected failures."""
    names = {check.law.name for check in found}
    parameters = []
    for check in found:
        reasons = expected(check.variant) if callable(expected) else expected
        for law, reason in reasons.items():
            if law not in names:
                raise ValueError(f"expected_failures: no check of a law {law!r:.80}{suggestion(law, names)}")
            if not isinstance(reason, str) or not reason.strip():
                raise ValueError(f"expected_failures: {law!r:.80} needs a reason, got {reason!r:.80}")
        why = reasons.get(check.law.name)
        marks = [pytest.mark.xfail(reason=why, strict=True, raises=pytest.fail.Exception)] if why else []
        parameters.append(pytest.param(check, marks=marks))
    return parameters
