"""The checks of the variants named with --robust-core-variant."""

from properties.process.checks import WorkerCheck


def test_variant(robust_core_check: WorkerCheck) -> None:
    robust_core_check()
