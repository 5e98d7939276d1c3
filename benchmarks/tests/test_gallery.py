"""The gallery: right variants hold, wrong ones are violated. `test_documentation` compares its page with a new run."""

import pytest

from benchmarks.documents import gallery, write
from properties.judging.verification import verify
from properties.process.loading import gallery_variants
from properties.statistics.suite import allot_cells, weight

PAGE = write.read("gallery")
RIGHT = gallery_variants()
TOTAL = weight(RIGHT.values(), "quick")
NEGATIVE = {key: variant for key, variant in gallery.variants().items() if key not in RIGHT}


@pytest.mark.skipif(PAGE is None, reason="the documentation is not part of an installed package")
def test_on_the_page_only_the_negative_part_fails() -> None:
    assert str(PAGE).count("**violated**") == len(NEGATIVE)


@pytest.mark.robust_core_slow
@pytest.mark.parametrize("key", RIGHT)
def test_right_variants_hold_with_another_seed_too(key: str) -> None:
    variant = RIGHT[key]
    cells = allot_cells(variant, "quick", total=TOTAL)
    outcomes = {record.law: record.outcome for record in verify(variant, examples=5, seed=1, cells=cells, sampled=True)}
    assert set(outcomes.values()) == {"holds"}, outcomes


@pytest.mark.robust_core_slow
def test_the_naive_plug_in_learns_contamination_under_another_name() -> None:
    """The same learner with the same claims holds, once the set is called what it is."""
    from dataclasses import replace

    from robust_core import Contamination

    (naive,) = (variant for key, variant in NEGATIVE.items() if "total_variation:VARIANT" in key)
    renamed = replace(naive, sets=(Contamination,))
    assert {record.outcome for record in verify(renamed, examples=20)} == {"holds"}
