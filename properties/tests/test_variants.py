"""The checks of the variants named with --variant."""

from properties.checks import Check


def test_variant(variant_check: Check) -> None:
    variant_check()
