"""The gallery: what is right holds, what is wrong is said to be, and the page in the documentation is up to date."""

from pathlib import Path

import pytest

from benchmarks.documents import gallery
from properties.judging.verification import verify
from properties.process.loading import built_in
from properties.statistics.suite import allotted, weight

PAGE = Path(__file__).parents[2] / "docs" / "gallery.md"
TOTAL = weight(built_in().values(), "quick")
NEGATIVE = {key: variant for key, variant in gallery.variants().items() if key not in built_in()}


@pytest.mark.skipif(not PAGE.is_file(), reason="the documentation is not part of an installed package")
def test_the_page_is_up_to_date_and_only_the_negative_part_fails() -> None:
    page = gallery.page()
    assert PAGE.read_text(encoding="utf-8") == page, "write benchmarks.documents.gallery.page() to docs/gallery.md"
    assert page.count("**violated**") == len(NEGATIVE)


@pytest.mark.parametrize("key", built_in())
def test_right_variants_hold_with_another_seed_too(key: str) -> None:
    variant = built_in()[key]
    cells = allotted(variant, "quick", total=TOTAL)
    outcomes = {record.law: record.outcome for record in verify(variant, examples=5, seed=1, cells=cells)}
    assert set(outcomes.values()) == {"holds"}, outcomes


def test_the_naive_plug_in_learns_contamination_under_another_name() -> None:
    """The same learner with the same claims holds, once the set is called what it is."""
    from dataclasses import replace

    from robust_core import Contamination

    (naive,) = (variant for key, variant in NEGATIVE.items() if "total_variation:VARIANT" in key)
    renamed = replace(naive, sets=(Contamination,))
    assert {record.outcome for record in verify(renamed, examples=20)} == {"holds"}
