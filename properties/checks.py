"""Laws as pytest checks: one test per law and variant.

from properties.checks import parametrize_with_checks

@parametrize_with_checks([MY_VARIANT])
def test_my_variant(check):
    check()
"""

from collections.abc import Iterable
from dataclasses import dataclass

import pytest

from properties.counterexample import described
from properties.law import Law
from properties.search import search
from properties.statistics.law import Size
from properties.statistics.suite import Planned
from properties.verdict import Verdict
from properties.verification import EXAMPLES, applicable
from robust_core.variant import Variant


class UndecidedWarning(UserWarning):
    """A law that its budget could not decide: green, but not silent."""


@dataclass(frozen=True)
class Check:
    """One law, or one cell of a statistical law, on one variant.

    Calling it passes, warns, or fails with the counterexample or the evidence.
    """

    variant: Variant
    law: Law | Planned
    examples: int = EXAMPLES
    seed: int = 0

    def __call__(self) -> None:
        """Search for a violation."""
        verdict = self._verdict()
        if verdict.outcome == "undecided":
            import warnings

            warnings.warn(f"{self.variant.name}: {self.law.name}: {verdict.evidence}", UndecidedWarning, stacklevel=2)
        elif verdict.outcome != "holds":
            parts = [f"{self.law.name}: {self._statement()}", verdict.evidence]
            parts += [described(verdict.case)] if verdict.case is not None else []
            parts += [verdict.finding.side_by_side()] if verdict.finding is not None else []
            pytest.fail("\n".join(parts).rstrip(), pytrace=False)

    def _verdict(self) -> Verdict:
        if isinstance(self.law, Law):
            return search(self.law, self.variant, examples=self.examples, master_seed=self.seed)
        from properties.statistics import epochs, judging

        return judging.judged(self.law, epoch=epochs.of_seed(self.seed))

    def _statement(self) -> str:
        return self.law.statement if isinstance(self.law, Law) else self.law.law.statement

    def __str__(self) -> str:
        return f"{self.variant.name}-{self.law.name}".replace(" ", "-")


def checks(
    variants: Iterable[Variant], *, examples: int = EXAMPLES, seed: int = 0, size: Size | None = "quick"
) -> list[Check]:
    """Every check that the given variants call for; the statistical ones share one error budget.

    `size` is that of the statistical laws, None leaves them out.
    """
    from properties.statistics.suite import allotted, weight

    chosen = list(variants)
    total = None if size is None else weight(chosen, size)
    found: list[Check] = []
    for variant in chosen:
        laws: list[Law | Planned] = [*applicable(variant)]
        if size is not None:
            laws += allotted(variant, size, total=total)
        found += [Check(variant, law, examples, seed) for law in laws]
    return found


def parametrize_with_checks(
    variants: Iterable[Variant], *, examples: int = EXAMPLES, seed: int = 0, size: Size | None = "quick"
) -> pytest.MarkDecorator:
    """A decorator that runs a test with the argument `check` once for every law of every variant."""
    return pytest.mark.parametrize("check", checks(variants, examples=examples, seed=seed, size=size), ids=str)
