"""The claims, the generators of problems, and the verdicts.

>>> from properties.variants.gallery.bellman import VARIANT
>>> {record.outcome for record in verify(VARIANT, examples=5)}
{'holds'}
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from properties.judging.verdict import Record
    from properties.judging.verdict_table import Verdicts
    from properties.statistics.law import Size
    from robust_core.problem import Variant

__all__ = ["verify"]


def verify(
    variant: "Variant | str",
    *,
    examples: int = 200,
    seed: int = 0,
    size: "Size" = "quick",
    statistics: bool = True,
    expected: "Path | None" = None,
) -> "Verdicts":
    """Test a variant against every law that belongs to its kind and promises; the list of verdicts prints as a table.

    The variant may be named as on the command line (`"my_variant.py"`, `"my_lab.module:NAME"`). `examples` problems are
    generated per exact law; the statistical laws follow at `size` "quick" or "full" unless `statistics` is False, with
    an error budget of 1e-6 for the call. `seed` chooses the problems and the samples (0 the pinned ones); the same
    seed gives the same verdicts. `expected` is a TOML file of expected failures.

    A violation of an exact law carries its `counterexample`, which can be looked at, replayed and saved.

    A `Variant` runs in this process: one that hangs in compiled code or dies takes it along. One that is named as text
    is loaded and judged in a worker, as by `robust-core verify`, and never in this process.
    """
    from properties.judging.verdict_table import Verdicts
    from robust_core import validate
    from robust_core.problem import Variant

    examples = validate.count("examples", examples, least=1)
    if isinstance(seed, bool) or not hasattr(seed, "__index__"):
        raise TypeError(f"seed must be a whole number, got {seed!r:.80}")
    if size not in ("quick", "full"):
        raise ValueError(f"size must be one of quick, full, got {size!r:.80}")
    chosen = size if statistics else None
    path = None if expected is None else Path(expected)
    if isinstance(variant, Variant):
        return Verdicts(_verify_here(variant, examples, int(seed), chosen, path))
    if isinstance(variant, str):
        return Verdicts(_verify_apart(variant, examples, int(seed), chosen, path))
    raise TypeError(f"verify takes one Variant, or one as text (file.py[:NAME], say), got {variant!r:.80}")


def _verify_here(
    variant: "Variant", examples: int, seed: int, size: "Size | None", expected: Path | None
) -> "Iterator[Record]":
    from properties.judging import verification
    from properties.process.loading import target_of
    from properties.statistics.judging import VARIANT_SECONDS
    from properties.statistics.suite import allot_cells

    verification.require_promises(variant)
    yield from verification.on_untested(variant, seed=seed)
    yield from verification.verify(
        variant,
        name=target_of(variant),
        examples=examples,
        seed=seed,
        expected=None if expected is None else verification.read_expectations(expected, variant),
        cells=[] if size is None else allot_cells(variant, size),
        cell_seconds=float("inf") if size is None else VARIANT_SECONDS[size],
        sampled=size is not None,
    )


def _verify_apart(
    target: str, examples: int, seed: int, size: "Size | None", expected: Path | None
) -> "Iterator[Record]":
    """The records of a variant that is named; a set that only its module knows leaves a counterexample plain data."""
    from contextlib import suppress
    from dataclasses import replace

    from properties.judging.counterexample import Counterexample
    from properties.process.session import Effort, Session, records

    with Session([target], size=size, expected=expected) as session:
        if len(session.variants) > 1:
            raise ValueError(f"{target} has several variants: name one, e.g. {next(iter(session.variants))}")
        for record in records(session.verify(Effort(examples, seed))):
            example = record.counterexample
            if example is not None:
                with suppress(ValueError):
                    example = Counterexample.from_data(example)
            yield replace(record, counterexample=example)
