"""The speed table: all comparisons in several passes, and their lines as Markdown."""

from collections.abc import Callable, Sequence

from benchmarks.documents import markdown
from benchmarks.speed import (
    oracle_planning,
    oracle_support,
    q_learning,
    s_rectangular,
    scale,
    set_plans,
    sets,
    startup,
    support,
    tdc,
)
from benchmarks.speed.timing import Measurement, best_of

PARTS: dict[str, Callable[..., list[Measurement]]] = {
    "loops": q_learning.loops,
    "adversary": q_learning.adversary,
    "python": q_learning.against_python,
    "threads": q_learning.threads,
    "tdc": tdc.loops,
    "support": support.rows,
    "sets": sets.rows,
    "s-rectangular": s_rectangular.plans,
    "help": startup.help_text,
    "first call": startup.first_call,
    "memory": startup.memory,
    "plans": oracle_planning.plans,
    "scale": scale.curve,
    "set plans": set_plans.curve,
    "programs": oracle_support.blocks,
}


def measure(parts: Sequence[str], *, quick: bool, passes: int, show: Callable[[str], None]) -> list[Measurement]:
    """The lines of some parts, each the best of several passes over all of them."""
    found: list[list[Measurement]] = []
    for number in range(passes):
        found.append([])
        for name in parts:
            show(f"pass {number + 1}/{passes}: {name}")
            found[-1] += PARTS[name](quick=quick)
    return [best_of(same) for same in zip(*found, strict=True)]


COLUMNS = ("what", "size", "ours", "theirs", "ratio", "limit")


def text(lines: Sequence[Measurement]) -> str:
    """The lines as a table."""
    return markdown.table(COLUMNS, map(row, lines))


def row(line: Measurement) -> list[str]:
    """The cells of a line."""
    mark = "" if line.within else " **missed**"
    amounts = [amount(line.ours), amount(line.theirs), f"{line.ratio:.3g}"]
    return [line.subject, line.size, *amounts, f"{line.limit}{mark}"]


def amount(value: float) -> str:
    """A time in its unit, or a number of bytes."""
    if value >= 1e4:
        return f"{value:.3g}"
    for unit, seconds in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= seconds:
            return f"{value / seconds:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"
