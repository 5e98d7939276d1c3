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


def escape(content: Any) -> Html:
    """Markup as it is, anything else as text.

    >>> escape("<b> & 'c'"), escape(Html("<b>")), escape([1, Html("<br>")])
    ('&lt;b&gt; &amp; &#x27;c&#x27;', '<b>', '1<br>')
    """
    if isinstance(content, Html):
        return content
    if content is None:
        return Html("")
    if isinstance(content, Iterable) and not isinstance(content, str):
        return Html("".join(escape(part) for part in content))
    return Html(html.escape(str(content).translate(FORBIDDEN), quote=True))


def tag(name: str, /, *children: Any, **attributes: Any) -> Html:
    """An element; `class_` and `for_` lose the underscore at the end, others become hyphens; None is left out.

    >>> tag("a", "1 < 2", class_="x", data_n=3, hidden=None)
    '<a class="x" data-n="3">1 &lt; 2</a>'
    """
    words = [f"<{name}"]
    for key, value in attributes.items():
        if value is not None:
            words.append(f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"')
    start = "".join(words)
    if name in VOID and not children:
        return Html(start + ("/>" if name not in ("meta", "link", "br", "input", "col") else ">"))
    return Html(f"{start}>{escape(children)}</{name}>")


def slug(text: str) -> str:
    """A text as an identifier.

    >>> slug("linear evaluation")
    'linear-evaluation'
    """
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def isolate(text: str) -> Html:
    """A name that somebody else chose: isolated from its surroundings in either writing direction."""
    return tag("bdi", breakable(text))


def breakable(text: str) -> Html:
    """A text whose long words may break: after a mark, or else anywhere.

    >>> breakable("properties.variants.gallery.double_q_learning")
    'properties.<wbr>variants.<wbr>gallery.<wbr>double_<wbr>q_<wbr>learning'
    """
    words = []
    for word in re.split(r"(\s+)", text):
        pieces = re.findall(rf".{{1,{LONGEST}}}?(?:[./:_]|$)|.{{1,{LONGEST}}}", word) if len(word) > LONGEST else [word]
        words.append("<wbr>".join(escape(piece) for piece in pieces))
    return Html("".join(words))


def inline(text: str) -> Html:
    """A text as it is written, with `names from the code` between backticks as code.

    >>> inline("a `name` < 1")
    'a <code>name</code> &lt; 1'
    """
    parts = re.split(r"`([^`]+)`", text)
    return Html("".join(tag("code", part) if place % 2 else escape(part) for place, part in enumerate(parts)))


def data_block(name: str, data: Any) -> Html:
    """Plain data for the page's script, which no content can end early.

    >>> data_block("x", ["</script>"])
    '<script type="application/json" id="x">["\\\\u003c/script\\\\u003e"]</script>'
    """
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Html(f'<script type="application/json" id="{escape(name)}">{text}</script>')
