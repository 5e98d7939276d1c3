"""Plots and diagrams: nothing is lost, nothing breaks on odd numbers."""

import math
import re
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from benchmarks.report import diagrams, plots
from benchmarks.report.diagrams import Model
from benchmarks.report.plots import Plot, Series
from benchmarks.report.scales import LARGEST, Scale, compact, number, scale_of
from robust_core.mdp import MDP
from robust_core.validate import EPS

finite = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(st.floats(), min_size=1), st.booleans())
@example([5e-324], False)
def test_a_scale_shows_whatever_is_there(values: list[float], logarithmic: bool) -> None:
    scale = scale_of(values, 0.0, 100.0, logarithmic=logarithmic)
    assert all(math.isfinite(tick) for tick in scale.ticks())
    assert all(-100.0 <= scale.at(x) <= 200.0 for x in values if not math.isnan(x))


@given(finite, finite)
def test_a_scale_keeps_the_order(a: float, b: float) -> None:
    scale = Scale(0.0, 10.0, 0.0, 100.0)
    assert (scale.at(a) <= scale.at(b)) or a > b


@given(st.floats())
def test_numbers_have_few_digits(x: float) -> None:
    assert len(number(x)) <= 12
    assert len(compact(x)) <= 12
    if abs(x) < LARGEST:
        plain = float(number(x).replace("−", "-"))
        # Of four digits, half a unit of the last; what they say is rounded, near 0 to a multiple of the least float.
        assert abs(plain - x) <= (0.5e-3 + EPS) * abs(x) + math.ulp(0.0)


def _plot(series: list[Series], **more: Any) -> Plot:
    return Plot("p", "a title", "steps", "reward", series, **more)


def test_a_plot_has_every_line_and_a_hover_has_every_value() -> None:
    plot = _plot([Series("a", [1, 2], [0.5, 0.25], [0.4, 0.2], [0.6, 0.3]), Series("b", [1, 2], [1.0, math.inf])])
    root = ElementTree.fromstring(f"<div>{plots.draw(plot)}</div>")
    classes = [element.get("class") or "" for element in root.iter("path")]
    assert sum("band" in name for name in classes) == 1
    assert sum("line" in name for name in classes) == 2
    assert [point[1:] for point in plots.points(plot)] == [
        ["steps 1", "a: 0.5 (0.4 … 0.6)", "b: 1"],
        ["steps 2", "a: 0.25 (0.2 … 0.3)", "b: ∞"],
    ]


def _names(plot: Plot) -> list[tuple[float, str]]:
    """The height of the name of every rule."""
    root = ElementTree.fromstring(f"<div>{plots.draw(plot)}</div>")
    found = [element for element in root.iter("text") if (element.get("class") or "").startswith("note")]
    return [(float(str(element.get("y"))), str(element.text)) for element in found]


def test_names_of_rules_lie_neither_on_each_other_nor_beyond_the_edge() -> None:
    series = [Series("a", [1, 1e6], [1e-12, 1.0])]
    (high, _), (low, _) = _names(_plot(series, rules=[("one", 1.0), ("two", 0.9)], log_y=True))
    assert high - 10 >= 0
    assert low - high >= 10


def test_lines_differ_by_more_than_colour() -> None:
    assert len(set(plots.DASHES)) == len(plots.DASHES)


@pytest.mark.parametrize("values", [[0.0], [1.0, 1.0], [-1e300, 1e300], [math.nan, math.inf]])
def test_odd_numbers_are_drawn_somehow(values: list[float]) -> None:
    for log_y in (False, True):
        text = plots.draw(_plot([Series("a", range(len(values)), values)], log_y=log_y))
        places = re.findall(r' (?:d|x|y|x1|x2|y1|y2)="([^"]*)"', text)
        assert len(places) > 10
        assert not any("nan" in place or "inf" in place for place in places), places


MODEL = Model((((0.5, 0.5), (1.0, 0.0)), ((0.25, 0.75), (0.0, 1.0))), ((1.0, 0.0), (0.5, 2.0)), 0.5)


def test_a_diagram_has_a_circle_per_state_a_square_per_pair_and_an_arrow_per_transition() -> None:
    root = ElementTree.fromstring(diagrams.draw(MODEL, "a model"))
    classes = [element.get("class") for element in root.iter()]
    assert classes.count("state") == 2
    assert classes.count("action") == 4
    assert classes.count("arrow") == classes.count("head") == 6
    texts = [element.text for element in root.iter("text")]
    assert {"0.5", "0.25", "0.75", "1", "a1, c=2"} <= set(texts)


def test_a_diagram_keeps_everything_inside() -> None:
    root = ElementTree.fromstring(diagrams.draw(MODEL, "a model"))
    left, top, width, height = (float(x) for x in str(root.get("viewBox")).split())
    for element in root.iter("text"):
        x, y = float(str(element.get("x"))), float(str(element.get("y")))
        assert left <= x <= left + width
        assert top + 8 <= y <= top + height


def test_large_models_are_not_drawn() -> None:
    assert Model.of(MDP(MODEL.P, MODEL.cost, MODEL.gamma)) == MODEL
    states = diagrams.MOST_STATES + 1
    assert Model.of(MDP(np.full((states, 1, states), 1 / states), np.zeros((states, 1)), 0.5)) is None
    assert "state 1, action 1, cost 2: to 1 with 1" in diagrams.words(MODEL)
