"""Defects of public algorithms: the committed result is that of the laws, and what they are made of is right."""

import pytest

from benchmarks.studies import faults
from properties.judging.search import search
from properties.judging.verification import applicable
from properties.variants.faults import catalogue, halves, right
from robust_core.problem import Variant

COMMITTED = {one.source: one for one in faults.load().faults}
SAMPLE = "aimacode/aima-python#16"


def test_the_committed_result_has_every_fault_once() -> None:
    sources = [fault.source for fault in catalogue()]
    assert sorted(COMMITTED) == sorted(sources)
    assert len(set(sources)) == len(sources) >= 30
    older, newer = halves()
    assert max(fault.date for fault in older) <= min(fault.date for fault in newer)


@pytest.mark.parametrize(
    "source",
    [pytest.param(one, marks=[pytest.mark.robust_core_slow] * (one != SAMPLE)) for one in sorted(COMMITTED)],
)
def test_the_committed_law_catches_the_fault(source: str) -> None:
    (fault,) = (fault for fault in catalogue() if fault.source == source)
    (law,) = (law for law in applicable(fault.variant) if law.name == COMMITTED[source].law)
    found = search(law, fault.variant, examples=faults.EXAMPLES, master_seed=faults.SEED, shrink=False)
    assert found.outcome == "violated"


@pytest.mark.robust_core_slow
@pytest.mark.parametrize("variant", right(), ids=lambda variant: variant.name)
def test_without_their_faults_they_hold(variant: Variant) -> None:
    for law in applicable(variant):
        found = search(law, variant, examples=50, master_seed=0, shrink=False)
        assert found.outcome == "holds", (law.name, found.evidence)
