"""The checks of the variants named with --robust-core-variant."""

from properties.checks import Check


def test_variant(robust_core_check: Check) -> None:
    robust_core_check()
