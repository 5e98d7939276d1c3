"""A comparison as text for the terminal: the verdict first, then the measures that differ, the worst on top."""

from collections import Counter
from collections.abc import Mapping

from benchmarks.documents.markdown import table
from benchmarks.regression.compare import SEVERITY, Comparison, Row, margin_ends
from benchmarks.regression.measures import title
from benchmarks.runner.identity import ABSENT


def text(found: Comparison, *, everything: bool = False) -> str:
    """The comparison in lines; measures that are equivalent only on request."""
    rows = sorted(found.rows, key=lambda row: SEVERITY.index(row.verdict))
    shown = [row for row in rows if everything or _differs(row)]
    pending = dict.fromkeys(row.problem for row in shown if is_pending(row))
    shown = [row for row in shown if not is_pending(row)]
    counts = ", ".join(f"{count} {word}" for word, count in found.counts.items() if count)
    if apart := _apart(found):
        counts += f"; apart: {apart}"
    lines = [f"{found.verdict}: {counts or 'no measures'}", *map(line, shown)]
    lines += [f"  {'pending':<10} {problem}: there was no time for it, give more by --budget" for problem in pending]
    lines.append(_statement(found))
    if found.baseline.versions != found.today.versions:
        lines.append(f"versions differ: {version_changes(found.baseline.versions, found.today.versions)}")
    return "\n".join(lines)


def is_pending(row: Row) -> bool:
    """Whether a measure was left out for want of time."""
    return row.note.startswith("pending")


def _differs(row: Row) -> bool:
    return row.verdict != "equivalent" and not (row.kind == "share" and row.apart)


def _apart(found: Comparison) -> str:
    """What does not count in the verdict: waived measures, and what is not decided of times and shares of runs."""
    waived = sum(bool(row.waived) for row in found.rows)
    kinds = Counter(row.kind for row in found.rows if row.apart and not row.waived)
    words = (
        (waived, "waived"),
        (kinds["ratio"], "undecided ratios of times"),
        (kinds["share"], "undecided shares of bad runs"),
    )
    return ", ".join(f"{count} {word}" for count, word in words if count)


def markdown(found: Comparison, variant: str) -> str:
    """The comparison as Markdown for a pull request: what differs as a table, the rest as numbers."""
    rows = sorted(found.rows, key=lambda row: SEVERITY.index(row.verdict))
    counts = ", ".join(f"{count} {word}" for word, count in found.counts.items() if count)
    apart = _apart(found)
    lines = [f"### {_escape(variant)}: **{found.verdict}**", "", f"{counts}{f'; apart: {apart}' if apart else ''}", ""]
    moved = [row for row in rows if _differs(row) and not is_pending(row)]
    if pending := dict.fromkeys(row.problem for row in rows if is_pending(row)):
        lines += [_escape(f"No time for {'; '.join(pending)}: give more by --budget."), ""]
    if moved:
        lines += [table(HEAD, ([_escape(cell.strip()) for cell in _cells(row)] for row in moved)), ""]
    return "\n".join([*lines, _escape(_statement(found))])


HEAD = ("verdict", "measure", "old", "new", "effect, interval, margin", "note")


def _cells(row: Row) -> tuple[str, ...]:
    name = f"{row.metric} / {row.problem}"
    return (
        row.verdict,
        name,
        _amount(row.baseline, row.n),
        _amount(row.today, row.n),
        _change(row),
        row.waived or row.note,
    )


def _escape(text: str) -> str:
    """Text that is not read as Markdown or HTML: a name comes from a user's module.

    >>> _escape("a|b <i>*x*")
    'a\\\\|b &lt;i&gt;\\\\*x\\\\*'
    """
    for char in "\\`*_{}[]|#":
        text = text.replace(char, f"\\{char}")
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\n", " ")


def _statement(found: Comparison) -> str:
    seeds = "the same seeds" if found.paired else "different seeds"
    return (
        f"{seeds}; a false better, worse or changed in any measure has a probability of at most {found.alpha:.0e}; "
        f"baseline: {found.baseline.reason or 'no reason given'}"
    )


def line(row: Row) -> str:
    """A measure in one line: the verdict, both sides, the effect with its interval."""
    text = f"waived: {row.waived}" if row.waived else row.note
    note = f"  ({text})" if text else ""
    sides = f"{_amount(row.baseline, row.n)} -> {_amount(row.today, row.n)}"
    return f"  {row.verdict:<10} {title(row.name)}: {sides}{_change(row)}{note}"


def _change(row: Row) -> str:
    """The effect with its interval and margin, in the scale of the metric."""
    if row.kind == "deterministic" or row.effect is None:
        return ""
    relative = row.scale == "relative"

    def shown(x: float | None, missing: str) -> str:
        if x is None:
            return missing
        return f"{100.0 * x:+.3g} %" if relative else f"{x:+.3g}"

    interval = f"[{shown(row.lower, '-∞')}, {shown(row.upper, '∞')}]"
    low, high = margin_ends(row.scale, row.margin)
    margin = f"margin {shown(low, '')} … {shown(high, '')}"
    return f" {row.unit}, {shown(row.effect, '?')} {interval}, {margin}, n={row.n}"


def _amount(value: float | str | None, n: int) -> str:
    if value is None:
        return "not finite" if n else "none"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def version_changes(before: Mapping[str, str], now: Mapping[str, str]) -> str:
    """The versions that differ, and no others.

    >>> version_changes({"numpy": "2.3.0", "gymnasium": "1.2.0"}, {"numpy": "2.3.0"})
    'gymnasium 1.2.0 -> absent'
    """
    pairs = {name: (before.get(name, ABSENT), now.get(name, ABSENT)) for name in {**before, **now}}
    return ", ".join(f"{name} {old} -> {new}" for name, (old, new) in pairs.items() if old != new)
