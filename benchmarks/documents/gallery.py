"""docs/gallery.md: the verdicts of the gallery as a table."""

import importlib
import inspect
from collections.abc import Iterable
from pkgutil import iter_modules

from benchmarks.documents.markdown import table
from properties.judging.verdict import Record
from properties.judging.verification import verify
from properties.process.loading import gallery_variants, load
from properties.statistics.suite import allot_cells, weight
from properties.variants.gallery import negative
from robust_core.problem import Variant
from robust_core.text import plural

EXAMPLES = 10
HEAD = """# Gallery

Known algorithms, each in a small file of `properties/variants/gallery/`, with the verdicts of the suite. The exact laws
are tested first, then the cells of the [statistical laws](statistics.md) at quick size, which share an error budget of
1e-6. A variant promises only what a theorem says about it: robust GTD2 would pass the law of stationarity, but Theorem
5 is about TDC. This page is written by `robust-core documents gallery`; a test compares it with a fresh run.

"""


def document() -> str:
    """The table, and what the files say of the variants whose promises do not hold."""
    rows: list[list[str]] = []
    notes: dict[str, list[str]] = {}
    total = weight(variants().values(), "quick")
    for key, variant in variants().items():
        cells = allot_cells(variant, "quick", total=total)
        records = list(verify(variant, name=key, examples=EXAMPLES, cells=cells, sampled=True))
        rows.append([variant.name, variant.kind, "; ".join(variant.promises), verdict(records)])
        if any(record.outcome == "violated" for record in records):
            said = inspect.cleandoc(importlib.import_module(key.partition(":")[0]).__doc__ or "")
            notes.setdefault(said, []).append(variant.name)
    reasons = [f"**{'; '.join(names)}.** {said}" for said, names in notes.items()]
    verdicts = table(["variant", "kind", "promises", "verdict"], rows)
    return HEAD + verdicts + "\n\n## Variants that fail, and why\n\n" + "\n\n".join(reasons) + "\n"


def variants() -> dict[str, Variant]:
    """Both parts of the gallery: what holds, and what does not."""
    modules = [f"{negative.__name__}.{info.name}" for info in iter_modules(negative.__path__)]
    return gallery_variants() | {key: variant for module in modules for key, variant in load(module).items()}


def verdict(records: Iterable[Record]) -> str:
    """The records of one variant in a few words: first causes by name, the rest counted.

    >>> verdict([Record("v", "box", "holds", "", 1, 0.1, 0)])
    'holds (1 law)'
    """
    records = list(records)
    holds = [record for record in records if record.outcome == "holds"]
    cells = sum(record.statistics is not None for record in holds)
    laws = plural(len(holds) - cells, "law") + (f", {plural(cells, 'cell')}" if cells else "")
    wrong = [record.law + _diagnosis(record) for record in records if record.outcome == "violated"]
    rest = [
        f"{count} {word}" for word in ("blocked", "undecided") if (count := sum(r.outcome == word for r in records))
    ]
    if not wrong:
        return f"holds ({', '.join([laws, *rest])})"
    return f"**violated**: {', '.join(wrong)} ({', '.join([*rest, f'{laws} hold'])})"


def _diagnosis(record: Record) -> str:
    word = "" if record.statistics is None else record.statistics.diagnosis
    return f" ({word})" if word else ""
