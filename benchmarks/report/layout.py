"""What the sections are built of: tables that sort and filter, figures, commands, folded parts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.report.markup import Html, escape, tag
from benchmarks.report.plots import Plot, draw


@dataclass(frozen=True)
class Cell:
    """A table cell; `key` is what it is sorted by, if not its text."""

    content: Any
    key: Any = None
    class_: str | None = None
    head: bool = False

    def markup(self) -> Html:
        """The element; the first cell of a row is its header."""
        attributes = {"class_": self.class_, "data_key": self.key}
        return (
            tag("th", self.content, scope="row", **attributes) if self.head else tag("td", self.content, **attributes)
        )


def table(
    caption: Any,
    head: Sequence[Any],
    rows: Iterable[Sequence[Any]],
    *,
    numeric: Sequence[int] = (),
    class_: str = "",
    name: str = "",
) -> Html:
    """A table with a caption. Empty columns are left out.

    The script lets a table with a name be sorted, filtered and saved; the address keeps the choice under that name.
    """
    marked = [[_in_row(cell, place, place in numeric) for place, cell in enumerate(row)] for row in rows]
    used = [place for place in range(len(head)) if not marked or any(escape(row[place].content) for row in marked)]
    body = [tag("tr", *(row[place].markup() for place in used)) for row in marked]
    heads = [tag("th", head[i], scope="col", class_="num" if i in numeric else None) for i in used]
    whole = tag(
        "table", tag("caption", caption), tag("thead", tag("tr", *heads)), tag("tbody", *body),
        class_=f"{class_} tools".strip() if name else class_ or None, id=f"table-{name}" if name else None,
    )  # fmt: skip
    return tag("div", whole, class_="scroll", tabindex="0", role="region", aria_label=_text(caption))


def _in_row(cell: Any, place: int, numeric: bool) -> Cell:
    """A cell as it stands in its row: the first is its header."""
    cell = cell if isinstance(cell, Cell) else Cell(cell)
    return replace(cell, head=place == 0, class_=cell.class_ or ("num" if numeric and place else None))


def _text(caption: Any) -> str:
    return caption if isinstance(caption, str) else "table"


def heading(level: int, title: Any, id_: str | None = None) -> Html:
    """A heading; one with an identifier shows the link to itself."""
    if id_ is None:
        return tag(f"h{level}", title)
    link = tag("a", "#", href=f"#{id_}", class_="anchor", aria_label="Link to this part")
    return tag(f"h{level}", title, " ", link, id=None if level == 2 else id_)


def commands(*lines: str, lead: str = "Reproduce") -> Html:
    """The commands that give the numbers again."""
    shown = Html(" ".join(tag("code", line) for line in lines))
    return tag("p", tag("span", f"{lead}: ", class_="lead"), shown, class_="commands")


def figure(plot: Plot, caption: Any) -> Html:
    """A plot with its caption."""
    return tag("figure", draw(plot), tag("figcaption", caption))


def fold(summary: Any, *content: Any, shown: bool = False, class_: str | None = None) -> Html:
    """Detail that is opened on demand."""
    return tag("details", tag("summary", summary), *content, class_=class_, open="open" if shown else None)


def chapter(summary: Any, *content: Any, shown: bool = False) -> Html:
    """A long part of a section, folded: its first line says enough where nothing is wrong."""
    return fold(summary, *content, shown=shown, class_="chapter")
