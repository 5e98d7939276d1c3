"""How a model is shown: by `print`, in IPython, in a report of Hypothesis, in a notebook."""

import html
from html.parser import HTMLParser

from hypothesis.vendor.pretty import pretty

from robust_core import models
from robust_core.mdp import MDP, SHOWN_PAIRS

NAMED = MDP(
    models.two_states().P, [[0.0, 0.25], [1.0, 1.5]], 0.5, state_names=("<b>", "bad & worse"), action_names=("x", "y")
)


def test_models_are_printed_as_tables() -> None:
    """The same lines by `print`, in IPython's protocol and in a report of Hypothesis; a large model is cut."""
    lines = str(NAMED).split("\n")
    assert lines[0] == repr(NAMED)
    assert lines[1] == "  <b> x  cost 0.0  -> <b>: 0.75, bad & worse: 0.25"
    assert len(lines) == 5
    assert pretty(NAMED) == str(NAMED)
    large = models.garnet(31, 2, 3, gamma=0.5)
    assert len(str(large).split("\n")) == 1 + SHOWN_PAIRS + 1
    assert str(large).endswith("… 2 more pairs")
    exact = models.garnet(30, 2, 3, gamma=0.5)
    assert len(str(exact).split("\n")) == 1 + SHOWN_PAIRS


class Cells(HTMLParser):
    """The texts of a table's cells, and all tags."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def cells(text: str) -> Cells:
    parser = Cells()
    parser.feed(text)
    return parser


def test_notebooks_show_a_table_and_names_are_text() -> None:
    shown = cells(NAMED._repr_html_())
    assert set(shown.tags) == {"table", "caption", "tr", "th", "td"}
    assert shown.texts[0] == repr(NAMED)
    assert shown.texts[5:9] == ["<b>", "x", "0.0", "<b>: 0.75, bad & worse: 0.25"]
    assert shown.tags.count("td") == 4 * 4
    # Without escaping the name would be a tag.
    assert "b" in cells(html.unescape(NAMED._repr_html_())).tags
    assert cells(models.garnet(31, 2, 3, gamma=0.5)._repr_html_()).texts[-1] == "… 2 more pairs"
