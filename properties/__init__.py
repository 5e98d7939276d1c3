"""The claims, the generators of problems, and the verdicts.

>>> from properties.gallery.bellman import VARIANT
>>> {record.outcome for record in verify(VARIANT, examples=5)}
{'holds'}
"""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from properties.statistics.law import Size
    from properties.verdicts import Verdicts
    from robust_core.variant import Variant

__all__ = ["verify"]


def verify(
    variant: "Variant",
    *,
    examples: int = 200,
    seed: int = 0,
    size: "Size" = "quick",
    statistics: bool = True,
    expected: "Path | None" = None,
) -> "Verdicts":
    """Check a variant against every law that its kind and its claims call for; the list of verdicts prints as a table.

    `examples` problems are generated per exact law; the statistical laws follow at `size` "quick" or "full" unless
    `statistics` is False, with an error budget of 1e-6 for the call. `seed` chooses the problems and the samples (0
    the pinned ones); the same seed gives the same verdicts. `expected` is a TOML file of expected failures.

    The variant runs in this process: one that hangs in compiled code or dies takes it along. `robust-core verify`
    gives it a process of its own.
    """
    from properties import verification
    from properties.isolation import expectations
    from properties.statistics.judging import VARIANT_SECONDS
    from properties.statistics.suite import allotted
    from properties.verdicts import Verdicts

    if examples < 1:
        raise ValueError(f"examples must be at least 1, got {examples}")
    if size not in VARIANT_SECONDS:
        raise ValueError(f"size must be one of {', '.join(VARIANT_SECONDS)}, got {size!r}")
    return Verdicts(
        verification.verify(
            variant,
            examples=examples,
            seed=seed,
            expected=None if expected is None else expectations(Path(expected), variant),
            cells=allotted(variant, size) if statistics else (),
            cell_seconds=VARIANT_SECONDS[size],
        )
    )
