"""docs/speed.md: written by hand, except for the tables of plans by size."""

from collections.abc import Callable, Iterable, Sequence

from benchmarks.documents.markdown import with_table
from benchmarks.documents.write import read
from benchmarks.speed.scale import SIZES
from benchmarks.speed.table import amount
from benchmarks.studies import sizes
from benchmarks.studies.sizes import Point

COLUMNS = ("set", "states", "plan", "/ nominal", "backup", "/ nominal", "memory", "load")
POWERS = tuple(f"S=10^{len(str(n)) - 1}" for n in SIZES)
PLANS, BACKUPS = ("certified plan", *POWERS), ("backup of all pairs", *POWERS)
NOMINAL = ("states", "nominal plan", "nominal backup", "largest width", "peak memory", "load")


def document() -> str:
    """The document with the tables as they are."""
    found = sizes.load()
    text = with_table(read("speed") or "", PLANS, _curves(found, lambda one: (one.plan, one.nominal_plan)))
    text = with_table(text, BACKUPS, _curves(found, lambda one: (one.backup, one.nominal_backup)))
    return with_table(text, NOMINAL, _sizes(found))


def cells(one: Point) -> Sequence[str]:
    """One point."""
    plan, backup = one.plan / one.nominal_plan, one.backup / one.nominal_backup
    times = amount(one.plan), f"{plan:.3g}", amount(one.backup), f"{backup:.3g}"
    return one.set, str(one.states), *times, _memory(one), f"{one.load:.2g}"


def _curves(found: sizes.Sizes, times: Callable[[Point], tuple[float, float]]) -> Iterable[Sequence[str]]:
    """A line for each set: the time and, in brackets, the ratio to the nominal one beside which it was measured."""
    for name in sizes.SETS:
        mine = {one.states: times(one) for one in found.points if one.set == name}
        yield name, *(f"{amount(mine[n][0])} ({mine[n][0] / mine[n][1]:.3g})" if n in mine else "" for n in SIZES)


def _sizes(found: sizes.Sizes) -> Iterable[Sequence[str]]:
    """A line for each size: the best nominal times, the largest width and memory, and the load of its points."""
    for n in SIZES:
        if mine := [one for one in found.points if one.states == n]:
            least = amount(min(one.nominal_plan for one in mine)), amount(min(one.nominal_backup for one in mine))
            loads = min(one.load for one in mine), max(one.load for one in mine)
            most = f"{max(one.width for one in mine):.2g}", _memory(max(mine, key=lambda one: one.peak))
            yield str(n), *least, *most, f"{loads[0]:.2g} to {loads[1]:.2g}"


def _memory(one: Point) -> str:
    return f"{one.peak / 1e9:.2f} GB"
