"""Verdicts as a reader meets them: a word, a symbol and a colour class; never the colour alone.

Red (`bad`) is for trouble only. A violation that is intended and a refuted claim of the paper are findings (`info`).
"""

import re

from benchmarks.report.markup import Html, tag

# word: (class, symbol)
LOOKS: dict[str, tuple[str, str]] = {
    "holds": ("good", "✓"),
    "violated": ("bad", "✗"),
    "undecided": ("warn", "?"),
    "error": ("bad", "!"),
    "blocked": ("dim", "–"),
    "pending": ("dim", "…"),
    "corrected": ("info", "✎"),
    "conditional": ("info", "◐"),
    "refuted": ("info", "✗"),
    "violated, as intended": ("info", "✗"),
    "blocked, as intended": ("dim", "–"),
    "not decidable as stated": ("dim", "∅"),
    "elsewhere": ("dim", "→"),
    "open": ("warn", "?"),
    "reproduced": ("good", "✓"),
    "direction only": ("info", "↗"),
    "not reproduced": ("dim", "○"),
    "reversed": ("warn", "⇄"),
    "diverges": ("info", "↗"),
    "stays": ("good", "✓"),
    "better": ("good", "▲"),
    "worse": ("bad", "▼"),
    "equivalent": ("good", "="),
    "changed": ("bad", "≠"),
    "change point": ("warn", "≠"),
    "no change point": ("good", "="),
    "caught": ("good", "✓"),
    "missed": ("bad", "✗"),
    "alive": ("bad", "✗"),
    "not run": ("dim", "·"),
    "finding": ("info", "•"),
    "other code": ("warn", "≠"),
    "other libraries": ("warn", "≠"),
}


def look(word: str) -> tuple[str, str]:
    """Class and symbol of a word; unknown words are shown plainly."""
    return LOOKS.get(word, ("dim", "·"))


def badge(word: str, shown: str | None = None) -> Html:
    """The word with its symbol.

    >>> badge("holds")
    '<span class="badge good"><span aria-hidden="true">✓</span> holds</span>'
    """
    kind, symbol = look(word)
    return tag("span", tag("span", symbol, aria_hidden="true"), " ", shown or word, class_=f"badge {kind}")


def mark(word: str, title: str | None = None) -> Html:
    """The symbol for a crowded table; the word is read aloud and shown on hover."""
    kind, symbol = look(word)
    seen = tag("span", symbol, aria_hidden="true")
    return tag("span", seen, tag("span", word, class_="unseen"), class_=f"mark {kind}", title=title or word)


_ENTRY = re.compile(r"(?: at )?\[([0-9, ]*)\]$")


def with_entry(what: str) -> str:
    """What was compared, the entry of an array in words; a number alone has none.

    >>> with_entry("C against D at [0, 1]"), with_entry("its recursion[0]"), with_entry("x[]"), with_entry("E[f]")
    ('C against D, entry (0, 1)', 'its recursion, entry 0', 'x', 'E[f]')
    """
    found = _ENTRY.search(what)
    if found is None:
        return what
    place = found[1].strip()
    shown = f"({place})" if "," in place else place
    return what[: found.start()] + (f", entry {shown}" if place else "")
