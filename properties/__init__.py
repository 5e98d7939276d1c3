"""The claims, the generators of problems, and the verdicts.

>>> from properties.variants.gallery.bellman import VARIANT
>>> {record.outcome for record in verify(VARIANT, examples=5)}
{'holds'}
"""

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
    """Check a variant against every law that its kind and promises call for; the list of verdicts prints as a table.

    The variant may be named as on the command line (`"my_variant.py"`, `"my_lab.module:NAME"`). `examples` problems are
    generated per exact law; the statistical laws follow at `size` "quick" or "full" unless `statistics` is False, with
    an error budget of 1e-6 for the call. `seed` chooses the problems and the samples (0 the pinned ones); the same
    seed gives the same verdicts. `expected` is a TOML file of expected failures.

    A violation of an exact law carries its `counterexample`, which can be looked at, replayed and saved.

    The variant runs in this process: one that hangs in compiled code or dies takes it along. `robust-core verify`
    gives it a process of its own.
    """
    from tempfile import TemporaryDirectory

    from properties.judging import verification
    from properties.judging.verdict_table import Verdicts
    from properties.process.isolation import expectations
    from properties.statistics.judging import VARIANT_SECONDS
    from properties.statistics.suite import allotted
    from robust_core import validate

    target, chosen = _named(variant)
    verification.require_promises(chosen)
    examples = validate.count("examples", examples, least=1)
    if isinstance(seed, bool) or not hasattr(seed, "__index__"):
        raise TypeError(f"seed must be a whole number, got {seed!r:.80}")
    if size not in VARIANT_SECONDS:
        raise ValueError(f"size must be one of {', '.join(VARIANT_SECONDS)}, got {size!r:.80}")
    with TemporaryDirectory(prefix="robust-core-") as folder:
        records = verification.verify(
            chosen,
            name=target,
            examples=examples,
            seed=int(seed),
            keep=Path(folder),
            expected=None if expected is None else expectations(Path(expected), chosen),
            cells=allotted(chosen, size) if statistics else (),
            cell_seconds=VARIANT_SECONDS[size],
        )
        untested = verification.on_untested(chosen, seed=int(seed))
        return Verdicts([*untested, *(_with_counterexample(record) for record in records)])


def _named(variant: "Variant | str") -> "tuple[str | None, Variant]":
    """How the variant is loaded, where that is known, and the variant."""
    from properties.process.loading import FORMS, load, target_of
    from robust_core.problem import Variant

    if isinstance(variant, Variant):
        return target_of(variant), variant
    if not isinstance(variant, str):
        raise TypeError(f"verify takes one Variant, or one as text ({FORMS}), got {variant!r:.80}")
    found = load(variant)
    if len(found) > 1:
        raise ValueError(f"{variant} has several variants: name one, e.g. {next(iter(found))}")
    return next(iter(found.items()))


def _with_counterexample(record: "Record") -> "Record":
    """The record with the counterexample in the place of the file it was kept in."""
    from dataclasses import replace

    from properties.judging.counterexample import Counterexample

    if record.counterexample is None:
        return record
    return replace(record, counterexample=Counterexample.load(Path(record.counterexample)))
