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
from properties.verification import EXAMPLES, applicable
from robust_core.variant import Variant


class UndecidedWarning(UserWarning):
    """A law that its budget could not decide: green, but not silent."""


@dataclass(frozen=True)
class Check:
    """One law on one variant; calling it passes, warns, or fails with the counterexample."""

    variant: Variant
    law: Law
    examples: int = EXAMPLES
    seed: int = 0

    def __call__(self) -> None:
        """Search for a violation."""
        verdict = search(self.law, self.variant, examples=self.examples, master_seed=self.seed)
        if verdict.outcome == "undecided":
            import warnings

            warnings.warn(f"{self.variant.name}: {self.law.name}: {verdict.evidence}", UndecidedWarning, stacklevel=2)
        elif verdict.outcome != "holds":
            parts = [f"{self.law.name}: {self.law.statement}", verdict.evidence]
            parts += [described(verdict.case)] if verdict.case is not None else []
            parts += [verdict.finding.side_by_side()] if verdict.finding is not None else []
            pytest.fail("\n".join(parts).rstrip(), pytrace=False)

    def __str__(self) -> str:
        return f"{self.variant.name}-{self.law.name}".replace(" ", "-")


def checks(variants: Iterable[Variant], *, examples: int = EXAMPLES) -> list[Check]:
    """Every check that the given variants call for."""
    return [Check(variant, law, examples) for variant in variants for law in applicable(variant)]


def parametrize_with_checks(variants: Iterable[Variant], *, examples: int = EXAMPLES) -> pytest.MarkDecorator:
    """A decorator that runs a test with the argument `check` once for every law of every variant."""
    return pytest.mark.parametrize("check", checks(variants, examples=examples), ids=str)
