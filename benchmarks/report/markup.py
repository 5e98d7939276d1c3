"""Markup by construction: every text is escaped unless it was made here, so no name can break out of its place."""

import html
import json
import re
from collections.abc import Iterable
from typing import Any

# Characters that HTML cannot carry, and halves of characters that UTF-8 cannot.
FORBIDDEN = dict.fromkeys((*range(9), 11, 12, *range(14, 32), *range(127, 160), *range(55296, 57344)), "�")
LONGEST = 24
"""Characters of a word that no column is too narrow for."""
VOID = frozenset({"wbr", "meta", "link", "br", "input", "path", "line", "rect", "circle", "use", "polyline", "col"})


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


def escaped(content: Any) -> Html:
    """Markup as it is, anything else as text.

    >>> escaped("<b> & 'c'"), escaped(Html("<b>")), escaped([1, Html("<br>")])
    ('&lt;b&gt; &amp; &#x27;c&#x27;', '<b>', '1<br>')
    """
    if isinstance(content, Html):
        return content
    if content is None:
        return Html("")
    if isinstance(content, Iterable) and not isinstance(content, str):
        return Html("".join(escaped(part) for part in content))
    return Html(html.escape(str(content).translate(FORBIDDEN), quote=True))


def tag(name: str, /, *children: Any, **attributes: Any) -> Html:
    """An element; `class_` and `for_` lose the underscore at the end, others become hyphens; None is left out.

    >>> tag("a", "1 < 2", class_="x", data_n=3, hidden=None)
    '<a class="x" data-n="3">1 &lt; 2</a>'
    """
    words = [f"<{name}"]
    for key, value in attributes.items():
        if value is not None:
            words.append(f' {key.rstrip("_").replace("_", "-")}="{escaped(str(value))}"')
    start = "".join(words)
    if name in VOID and not children:
        return Html(start + ("/>" if name not in ("meta", "link", "br", "input", "col") else ">"))
    return Html(f"{start}>{escaped(children)}</{name}>")


def named(text: str) -> Html:
    """A name that somebody else chose: kept apart from its surroundings in either writing direction."""
    return tag("bdi", breakable(text))


def breakable(text: str) -> Html:
    """A text whose long words may break: after a mark, or else anywhere.

    >>> breakable("properties.variants.gallery.double_q_learning")
    'properties.<wbr>gallery.<wbr>double_<wbr>q_<wbr>learning'
    """
    words = []
    for word in re.split(r"(\s+)", text):
        pieces = re.findall(rf".{{1,{LONGEST}}}?(?:[./:_]|$)|.{{1,{LONGEST}}}", word) if len(word) > LONGEST else [word]
        words.append("<wbr>".join(escaped(piece) for piece in pieces))
    return Html("".join(words))


def data_block(name: str, data: Any) -> Html:
    """Plain data for the page's script, which no content can end early.

    >>> data_block("x", ["</script>"])
    '<script type="application/json" id="x">["\\\\u003c/script\\\\u003e"]</script>'
    """
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Html(f'<script type="application/json" id="{escaped(name)}">{text}</script>')
