"""The contract of a variant: an example of every kind that holds, a slip that is seen, and the page that says so."""

from pathlib import Path

import pytest

from properties.contract import BY_KIND, Example, first_violated, page, variant_of
from properties.law import CLAIMS
from properties.verification import verify
from robust_core.variant import KINDS

PAGE = Path(__file__).parents[2] / "docs" / "variants.md"


def test_every_kind_has_an_example() -> None:
    assert [example.kind for example in BY_KIND] == list(KINDS)


@pytest.mark.parametrize("example", BY_KIND, ids=lambda example: example.kind)
def test_an_example_is_of_its_kind_and_holds(example: Example) -> None:
    variant = variant_of(example.source())
    assert variant.kind == example.kind
    outcomes = {record.law: record.outcome for record in verify(variant, examples=10)}
    assert set(outcomes.values()) == {"holds"}, outcomes


@pytest.mark.skipif(not PAGE.is_file(), reason="the documentation is not part of an installed package")
def test_the_page_is_up_to_date() -> None:
    """Also: every slip is seen, or there would be no page."""
    written = page()
    assert PAGE.read_text(encoding="utf-8") == written, "write properties.contract.page() to docs/variants.md"
    assert all(f"| `{claim}` |" in written for claim in CLAIMS)


def test_a_slip_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match="must have 'no such text' once, it has it 0 times"):
        Example("control", "control", "", "no such text", "").planted()


def test_an_example_without_its_slip_breaks_nothing() -> None:
    operator = next(example for example in BY_KIND if example.kind == "operator")
    assert first_violated(variant_of(operator.source())) is None
