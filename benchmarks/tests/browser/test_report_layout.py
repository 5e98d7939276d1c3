"""The layout of the report in a real browser: everything fits, nothing is cut, links lead to where they say."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.report.page import render
from benchmarks.report.report import Report
from benchmarks.tests.browser.conftest import DESKTOP, PHONE, Window
from benchmarks.tests.report_sample import change, law_verdict, measure, sample, trend

WIDE, NARROW = (1400, 1100), (400, 844)
RIGHT_EDGES = """
return [...document.querySelectorAll(arguments[0])].map((e) => e.getBoundingClientRect().right)
"""


def test_on_a_phone_verdicts_are_whole_and_what_is_cut_shows_it(window: Window, pages: dict[str, Path]) -> None:
    window.size(*PHONE)
    window.open(pages["usual"])
    window.unfold()
    for selector in ("table.verdict td", "table.verdict .badge", "table.compare .badge", "table.variants .badge"):
        edges = window.js(RIGHT_EDGES, selector)
        assert edges, selector
        assert max(edges) <= PHONE[0], selector
    # The marks of what can be opened are not cut off.
    assert window.js("return document.querySelector('table.claims').parentElement.classList.contains('fits')")
    assert window.js("return getComputedStyle(document.querySelector('table.claims summary')).overflowX") == "visible"
    wide = "return [...document.querySelectorAll('.scroll')].filter((e) => e.scrollWidth > e.clientWidth)"
    shade = "return getComputedStyle(arguments[0]).backgroundAttachment"
    cut = window.js(wide)
    assert cut
    assert all("local" in window.js(shade, element) for element in cut)


def test_names_of_variants_are_not_squeezed(window: Window, tmp_path: Path) -> None:
    report = sample("naive plug-in Q-learning for total variation")
    target = "properties.variants.gallery.negative.total_variation:VARIANT"
    verdicts = (law_verdict("start", "violated", evidence="a long story " * 60),)
    variants = tuple(replace(one, target=target, verdicts=verdicts) for one in report.variants.variants)
    report = change(report, variants=replace(report.variants, variants=variants))
    (tmp_path / "page.html").write_text(render(report), encoding="utf-8")
    window.open(tmp_path / "page.html")
    script = """
    const tops = (node) => {
      const range = document.createRange();
      range.selectNodeContents(node);
      return new Set([...range.getClientRects()].map((r) => Math.round(r.top))).size;
    };
    const names = [...document.querySelectorAll("table.variants tbody th")];
    return names.map((e) => [...e.childNodes].reduce((most, node) => most + tops(node), 0));
    """
    lines = window.js(script)
    assert lines
    assert max(lines) <= 4, f"names take {lines} lines"


NEAR = 40
"""Pixels from the top of the window within which what a link leads to must lie."""
PLACE = """
const box = document.getElementById(arguments[0]).getBoundingClientRect();
const left = document.documentElement.scrollHeight - innerHeight - scrollY;
return [box.top, left, innerHeight];
"""


def _is_at(place: list[float], headings: int = 0) -> bool:
    """Whether an element is at the top of the window, under its headings, or the page ends before it could be."""
    top, left, height = place
    return -1 <= top <= NEAR + headings or (left <= 1 and 0 <= top < height)


def _arrival(window: Window, name: str, headings: int = 0) -> list[float]:
    """Where an element is, once the window has come to it and has drawn a frame more, in which it could move away."""
    window.until(lambda: window.js(PLACE, name), lambda place: _is_at(place, headings))
    window.drawn()
    return list(window.js(PLACE, name))


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=("wide", "narrow"))
def test_every_link_of_the_contents_leads_to_its_section(
    window: Window, pages: dict[str, Path], size: tuple[int, int]
) -> None:
    window.size(*size)
    window.open(pages["usual"])
    names = window.js("return [...document.querySelectorAll('nav a')].map((a) => a.hash.slice(1))")
    assert len(names) == 12
    for name in names:
        window.open(pages["usual"])
        window.one(f'nav a[href="#{name}"]').click()
        place = _arrival(window, name)
        assert _is_at(place), (name, place)
        if name != "verdict" and size == NARROW:  # elsewhere the contents stay in sight
            window.one(f"#{name} .back").click()
            place = _arrival(window, "contents")
            assert _is_at(place), f"back from {name}"


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=("wide", "narrow"))
@pytest.mark.parametrize("name", ["regression", "panels", "claim-thm6", "example-thm6", "table-cells-1", "run"])
def test_an_address_with_a_place_leads_there(
    window: Window, pages: dict[str, Path], size: tuple[int, int], name: str
) -> None:
    window.size(*size)
    window.open(pages["usual"], f"#{name}")
    headings = 60 if name.startswith("claim") else 0  # they stay above the row
    place = _arrival(window, name, headings)
    assert _is_at(place, headings), place
    if name.startswith("example"):
        assert window.one(f"#{name} dl").is_displayed()


def test_a_section_that_is_missed_would_be_seen(window: Window, pages: dict[str, Path]) -> None:
    window.open(pages["usual"])
    window.js("document.getElementById('panels').scrollIntoView(); scrollBy(0, -300)")
    window.drawn()
    assert not _is_at(window.js(PLACE, "panels"))


TEXTS = """
const found = [];
const beside = (a, b) => a.right <= b.left + 1 || b.right <= a.left + 1;
const apart = (a, b) => beside(a, b) || a.bottom <= b.top + 1 || b.bottom <= a.top + 1;
for (const plot of document.querySelectorAll("svg.plot")) {
  const edge = plot.getBoundingClientRect();
  const texts = [...plot.querySelectorAll("text")].map((e) => [e.textContent, e.getBoundingClientRect()]);
  texts.forEach(([text, box], i) => {
    const whole = box.left >= edge.left - 0.5 && box.right <= edge.right + 0.5;
    const inside = whole && box.top >= edge.top - 2 && box.bottom <= edge.bottom + 2;
    if (!inside) found.push(`${plot.dataset.plot}: ${text} is cut`);
    for (const [other, place] of texts.slice(i + 1)) {
      if (!apart(box, place)) found.push(`${plot.dataset.plot}: ${text} lies on ${other}`);
    }
  });
}
return [document.querySelectorAll("svg.plot").length, found];
"""


def _many_plots() -> Report:
    """A report with e-processes of all lengths and sizes."""
    report = sample()
    (run,) = report.statistics.runs
    (cell,) = run.cells
    sizes = [(n, scale) for n in (3, 30, 455, 2000, 8000, 12800, 640000) for scale in (0.00125, 1.0, 250.0, 1e6)]
    cells = tuple(
        replace(cell, cell=f"cell {n} {scale}", law=f"law {n} {scale}", n=n,
                path=((2, -scale, scale), (n, -12.5 * scale, 7.5 * scale)))
        for n, scale in sizes
    )  # fmt: skip
    return change(report, statistics=replace(report.statistics, runs=(replace(run, cells=cells),)))


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=("wide", "narrow"))
def test_no_text_of_a_plot_is_cut_or_lies_on_another(window: Window, tmp_path: Path, size: tuple[int, int]) -> None:
    (tmp_path / "page.html").write_text(render(_many_plots()), encoding="utf-8")
    window.size(*size)
    window.open(tmp_path / "page.html")
    count, faults = window.js(TEXTS)
    assert count > 40
    assert faults == []
    window.js("const t = document.querySelectorAll('svg.plot text'); t[0].setAttribute('x', 5)")
    window.js("const t = document.querySelectorAll('svg.plot text'); t[3].setAttribute('y', t[2].getAttribute('y'))")
    spoilt = window.js(TEXTS)[1]
    assert any("is cut" in fault for fault in spoilt)
    assert any("lies on" in fault for fault in spoilt)


SIDES = """
const table = arguments[0], box = table.parentElement, edge = box.getBoundingClientRect();
const head = table.tHead.rows[0].cells[3].getBoundingClientRect();
const name = table.tBodies[0].rows[60].cells[0].getBoundingClientRect();
return {fits: box.classList.contains("fits"), head: head.top, name: name.left, top: edge.top, left: edge.left,
        height: box.clientHeight};
"""


def _sides(window: Window, page: Path, size: tuple[int, int], scroll: str) -> dict[str, Any]:
    """Where a long table has its heading, a name in its middle and its box after a script has scrolled it."""
    window.size(*size)
    window.open(page)
    table = window.table("Kind control: 200")
    window.js(scroll, table)
    window.drawn()
    return dict(window.js(SIDES, table))


def test_headings_stay_at_the_top_of_the_window(window: Window, pages: dict[str, Path]) -> None:
    scroll = "arguments[0].tBodies[0].rows[60].scrollIntoView({block: 'center'})"
    found = _sides(window, pages["usual"], WIDE, scroll)
    assert found["fits"]
    assert found["top"] < -500
    assert found["head"] == pytest.approx(0, abs=1)
    window.picture("headings")


def test_on_a_phone_headings_and_names_stay_in_the_box_of_a_wide_table(window: Window, pages: dict[str, Path]) -> None:
    scroll = "const box = arguments[0].parentElement; box.scrollIntoView(); box.scrollTo(200, 2000)"
    found = _sides(window, pages["usual"], NARROW, scroll)
    assert not found["fits"]
    assert found["head"] == pytest.approx(found["top"], abs=1)
    assert found["name"] == pytest.approx(found["left"], abs=1)
    assert found["height"] < NARROW[1]
    window.picture("headings-phone")


def test_the_comparison_fits_a_desktop(window: Window, tmp_path: Path) -> None:
    report = sample()
    assert report.regression is not None
    problems = ("two states, constant step", "planted, constant steps", "garnet, per visit")
    rows = tuple(measure("robust Q-learning", problem=problem) for problem in problems * 4)
    report = change(report, regression=replace(report.regression, rows=rows))
    (tmp_path / "page.html").write_text(render(report), encoding="utf-8")
    window.size(*WIDE)
    window.open(tmp_path / "page.html")
    window.unfold()
    assert window.js(RIGHT_EDGES, "#regression table.compare")[0] <= WIDE[0]
    script = """
    const cells = [...document.querySelectorAll("#regression table.compare tbody td:nth-child(4) bdi")];
    return cells.map((cell) => cell.getClientRects().length);
    """
    assert max(window.js(script)) <= 2


def test_a_phone_has_no_endless_page(window: Window, pages: dict[str, Path]) -> None:
    window.size(*NARROW)
    window.open(pages["usual"])
    assert window.js("return document.documentElement.scrollHeight") < 60 * NARROW[1]


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=("desktop", "phone"))
@pytest.mark.parametrize("name", ["usual", "hostile"])
def test_nothing_is_wider_than_the_window(
    window: Window, pages: dict[str, Path], size: tuple[int, int], name: str
) -> None:
    window.size(*size)
    window.open(pages[name])
    window.unfold()
    assert window.js("return document.documentElement.scrollWidth") <= size[0]
    assert len(window.picture(f"{name}-{size[0]}")) > 10_000


LINES = """
const found = [];
for (const p of document.querySelectorAll("main p, main dd, main figcaption")) {
  if (!p.checkVisibility() || p.matches(".banner, .commands, .part")) continue;
  const range = document.createRange();
  range.selectNodeContents(p);
  const rows = new Set([...range.getClientRects()].map((r) => Math.round(r.bottom / 8)));
  if (rows.size > 2) found.push(p.textContent.length / rows.size);
}
return found;
"""


def test_the_page_is_short_and_its_lines_are_too(window: Window, pages: dict[str, Path]) -> None:
    window.open(pages["usual"])
    assert window.js("return document.documentElement.scrollHeight") <= 12_000
    lines = window.js(LINES)
    assert len(lines) > 10
    assert max(lines) <= 80
    (top, height) = window.js(
        "const line = document.getElementById('facts').getBoundingClientRect(); return [line.top, line.height]"
    )
    assert top < 100
    assert height < 30, "the header is one line"
    window.picture("top")


@pytest.mark.parametrize("size", [DESKTOP, PHONE, (360, 740)], ids=("desktop", "phone", "small phone"))
def test_texts_of_plots_have_twelve_pixels(window: Window, pages: dict[str, Path], size: tuple[int, int]) -> None:
    window.size(*size)
    window.open(pages["usual"])
    script = """
    return [...document.querySelectorAll("svg.plot text, svg.forest-row text")].filter((e) => e.checkVisibility())
      .map((e) => parseFloat(getComputedStyle(e).fontSize) * e.getScreenCTM().a || 12);
    """
    sizes = window.js(script)
    assert len(sizes) > 100
    assert min(sizes) >= 12.0


def test_a_forest_draws_effects_against_their_margins(window: Window, tmp_path: Path) -> None:
    report = sample()
    assert report.regression is not None
    ends = {"worse": (0.12, 0.3), "undecided": (-0.2, None), "equivalent": (-0.05, 0.05)}
    rows = tuple(
        measure(word, word, effect=low / 2 + (high or 0.2) / 2, lower=low, upper=high)
        for word, (low, high) in ends.items()
    )
    report = change(report, regression=replace(report.regression, rows=rows))
    (tmp_path / "page.html").write_text(render(report), encoding="utf-8")
    window.open(tmp_path / "page.html")
    script = """
    return [...document.querySelectorAll("#table-forest tbody tr")].map((row) => {
      const margin = row.querySelector(".margin").getBoundingClientRect();
      const interval = row.querySelector(".whisker").getBoundingClientRect();
      return [row.cells[1].textContent.trim().split(" ")[1], interval.left > margin.right,
              interval.left >= margin.left && interval.right <= margin.right, row.querySelectorAll(".tip-head").length];
    });
    """
    assert window.js(script) == [
        ["worse", True, False, 1],
        ["undecided", False, False, 2],
        ["equivalent", False, True, 0],
    ]
    window.picture("forest")


def test_a_trend_is_drawn_with_its_change_point_between_margins(window: Window, tmp_path: Path) -> None:
    """Of a history with an alarm, of accepted baselines, and of a measure that did not change."""
    versions = trend(problem="machine", level=None)
    report = change(sample(), history=(trend(), versions, trend(problem="two states", alarm=None)))
    (tmp_path / "page.html").write_text(render(report), encoding="utf-8")
    window.open(tmp_path / "page.html", "#history")
    script = """
    return [...document.querySelectorAll("#history figure")].map((figure) => {
      const svg = figure.querySelector("svg.plot"), box = (e) => e.getBoundingClientRect();
      const mark = svg.querySelector(".mark-line"), line = box(svg.querySelector("path.line"));
      const rules = [...svg.querySelectorAll(".rule")].map((rule) => box(rule).top);
      return [mark !== null && line.left < box(mark).left && box(mark).left < line.right,
              rules.length, line.top < Math.min(...rules), figure.textContent.includes("Halve the step size"),
              figure.textContent.includes("log R")];
    });
    """
    assert window.js(script) == [
        [True, 3, True, True, True],
        [True, 3, True, True, False],
        [False, 3, True, False, False],
    ]
    window.picture("trend")
