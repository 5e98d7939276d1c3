"""The report in a real browser: quiet, quick, usable by mouse and keyboard, safe, accessible."""

from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from benchmarks.report.page import render
from benchmarks.tests.browser.conftest import DESKTOP, PHONE, Window
from benchmarks.tests.report_sample import HOSTILE, comparison, sample

OPENS_IN = 1.0
"""Seconds that the thread of the page works until it is loaded and drawn; other work on the machine does not count."""
MUTANTS, LAWS, VARIANTS = 200, 15, 16
"""The size of a real report."""


def _full_size() -> dict[str, Any]:
    data = sample(*(f"variant {i}" for i in range(VARIANTS)))
    first = data["kills"]["records"][0]
    data["kills"]["records"] = [
        {**first, "mutant": f"zoo:{i}", "name": f"mutant {i}", "law": f"law {j}",
         "cases": i % 60 + 1 if i % LAWS == j else None}
        for i in range(MUTANTS)
        for j in range(LAWS)
    ]  # fmt: skip
    return data


def _one_of_each() -> dict[str, Any]:
    """A page with an element of every sort: axe-core's time grows fast with the number of elements."""
    data = sample(*HOSTILE[:4])
    statuses = {claim["status"]: claim for claim in data["claims"]}
    shown = {name for claim in statuses.values() for name in claim["counterexamples"]}
    data["claims"] = list(statuses.values())
    data["statistics"]["laws"][0]["claims"] = []
    data["panels"]["panels"] = data["panels"]["panels"][:1]
    examples = data["counterexamples"]["committed"]
    data["counterexamples"]["committed"] = [e for e in examples if e["file"].rpartition("/")[2] in shown]
    return data


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A report of real size, one whose names attack it, and a short one."""
    folder = tmp_path_factory.mktemp("pages")
    found = {}
    for name, data in (("usual", _full_size()), ("hostile", sample(*HOSTILE)), ("short", _one_of_each())):
        found[name] = folder / f"{name}.html"
        found[name].write_text(render(data), encoding="utf-8")
    return found


def _column(window: Window, caption: str, column: int) -> list[str]:
    """The visible texts of a column, from the top."""
    script = """
    const table = [...document.querySelectorAll("table")].find((t) => t.caption.textContent.startsWith(arguments[0]));
    const shown = [...table.tBodies[0].rows].filter((row) => getComputedStyle(row).display !== "none");
    return shown.map((row) => row.cells[arguments[1]].textContent.trim());
    """
    return list(window.js(script, caption, column))


def _button(window: Window, caption: str, column: int) -> Any:
    script = """
    const table = [...document.querySelectorAll("table")].find((t) => t.caption.textContent.startsWith(arguments[0]));
    for (let e = table; e; e = e.parentElement) if (e.tagName === "DETAILS") e.open = true;
    const button = table.tHead.rows[0].cells[arguments[1]].querySelector("button");
    button.scrollIntoView({block: "center"});
    return button;
    """
    return window.js(script, caption, column)


@pytest.mark.parametrize("name", ["usual", "hostile"])
def test_no_errors_and_no_network(window: Window, pages: dict[str, Path], name: str) -> None:
    window.open(pages[name])
    assert window.console() == []
    asked = [url for url in window.requests() if not url.startswith(("data:", "about:"))]
    assert asked == [pages[name].as_uri()]


def test_errors_and_requests_would_be_seen(window: Window, tmp_path: Path) -> None:
    page = tmp_path / "bad.html"
    page.write_text("<script>nothing.here()</script><img src='http://127.0.0.1:9/x.png'>")
    window.open(page)
    assert any("nothing is not defined" in line for line in window.console())
    assert "http://127.0.0.1:9/x.png" in window.requests()


def test_the_policy_stops_what_is_injected(window: Window, pages: dict[str, Path], tmp_path: Path) -> None:
    page = tmp_path / "injected.html"
    text = pages["usual"].read_text(encoding="utf-8")
    page.write_text(text.replace("</main>", "</main><script>window.injected = 1</script>", 1), encoding="utf-8")
    window.open(page)
    assert window.js("return window.injected") is None
    assert any("Content Security Policy" in line for line in window.console())


def test_it_opens_in_under_a_second(window: Window, pages: dict[str, Path], record_property: Any) -> None:
    drawn = "const done = arguments[0]; requestAnimationFrame(() => setTimeout(done))"
    window.driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
    seconds = []
    for _ in range(3):
        window.open(pages["usual"])
        window.driver.execute_async_script(drawn)
        found = window.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
        seconds += [entry["value"] for entry in found if entry["name"] == "TaskDuration"]
    window.driver.execute_cdp_cmd("Performance.disable", {})
    record_property("seconds", min(seconds))
    assert pages["usual"].stat().st_size < 2_000_000
    assert 0 < min(seconds) < OPENS_IN, f"it took {seconds} seconds"


def test_tables_sort_by_mouse_and_by_keyboard(window: Window, pages: dict[str, Path]) -> None:
    from selenium.webdriver.common.keys import Keys

    window.open(pages["usual"])
    before = _column(window, "Kind control: 200", 0)
    button = _button(window, "Kind control: 200", 0)
    button.click()
    rising = _column(window, "Kind control: 200", 0)
    assert rising == sorted(before, key=lambda name: int(name.split()[1]))
    assert window.js("return arguments[0].parentElement.ariaSort", button) == "ascending"
    button.send_keys(Keys.ENTER)
    assert _column(window, "Kind control: 200", 0) == rising[::-1]
    assert window.js("return arguments[0].parentElement.ariaSort", button) == "descending"
    other = _button(window, "Kind control: 200", 2)
    other.send_keys(Keys.SPACE)
    numbers = _column(window, "Kind control: 200", 2)
    caught = [int(text) for text in numbers if text.isdigit()]
    assert caught == sorted(caught)
    assert all(not text.isdigit() for text in numbers[len(caught) :])
    assert window.js("return arguments[0].parentElement.ariaSort", button) is None


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=("desktop", "phone"))
def test_tables_filter(window: Window, pages: dict[str, Path], size: tuple[int, int]) -> None:
    from selenium.webdriver.common.keys import Keys

    window.size(*size)
    window.open(pages["usual"])
    whole = _column(window, "The 81 claims", 0)
    label = next(x for x in window.all(".filter label") if "claims" in x.get_attribute("textContent"))
    field = window.driver.find_element("id", label.get_attribute("for"))
    field.send_keys("corrected expand")
    assert _column(window, "The 81 claims", 0) == ["expand-T"]
    assert "1 of 81 rows" in field.find_element("xpath", "..").text
    field.send_keys(Keys.ESCAPE)
    assert _column(window, "The 81 claims", 0) == whole
    field.send_keys("no such claim at all")
    assert _column(window, "The 81 claims", 0) == []


def test_plots_show_values_to_the_pointer_and_to_the_arrow_keys(window: Window, pages: dict[str, Path]) -> None:
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.keys import Keys

    window.open(pages["usual"])
    plot = window.one('svg[data-plot="frozenlake-a"]')
    window.js("arguments[0].scrollIntoView({block: 'center'})", plot)
    ActionChains(window.driver).move_to_element(plot).perform()
    tip = window.one("#tip")
    assert tip.is_displayed()
    lines = tip.text.splitlines()
    assert lines[0].startswith("steps ")
    assert [line.partition(":")[0] for line in lines[1:]] == ["robust", "vanilla", "vanilla at γ(1−R)"]
    window.picture("tooltip")
    ActionChains(window.driver).move_by_offset(0, -400).perform()
    assert not tip.is_displayed()
    window.js("arguments[0].focus()", plot)
    assert tip.text.startswith("steps 12800")
    plot.send_keys(Keys.ARROW_LEFT)
    assert tip.text.startswith("steps 12288")
    plot.send_keys(Keys.HOME)
    assert tip.text.startswith("steps 512")
    plot.send_keys(Keys.ESCAPE)
    assert not tip.is_displayed()


def test_a_focused_plot_gets_its_values_back_when_the_pointer_leaves_another(
    window: Window, pages: dict[str, Path]
) -> None:
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.keys import Keys

    window.open(pages["usual"])
    focused, other = (window.one(f'svg[data-plot="frozenlake-{letter}"]') for letter in "ab")
    window.js("arguments[0].scrollIntoView({block: 'center'})", focused)
    window.js("arguments[0].focus()", focused)
    focused.send_keys(Keys.HOME)
    tip = window.one("#tip")
    first = tip.text
    assert first.startswith("steps 512")
    ActionChains(window.driver).move_to_element(other).perform()
    assert tip.text != first
    ActionChains(window.driver).move_by_offset(0, -400).perform()
    assert tip.is_displayed()
    assert tip.text == first
    cursors = (
        "return [...document.querySelectorAll('.cursor')].filter((e) => e.getAttribute('visibility') == 'visible')"
    )
    assert len(window.js(cursors)) == 1
    focused.send_keys(Keys.ESCAPE)
    ActionChains(window.driver).move_to_element(other).perform()
    ActionChains(window.driver).move_by_offset(0, -400).perform()
    assert not tip.is_displayed()


OPEN_ALL = "document.querySelectorAll('details').forEach((d) => { d.open = true })"
RIGHT_EDGES = """
return [...document.querySelectorAll(arguments[0])].map((e) => e.getBoundingClientRect().right)
"""


def test_on_a_phone_verdicts_are_whole_and_what_is_cut_shows_it(window: Window, pages: dict[str, Path]) -> None:
    window.size(*PHONE)
    window.open(pages["usual"])
    window.js(OPEN_ALL)
    for selector in ("table.verdict td", "table.verdict .badge", "table.compare .badge", "table.variants .badge"):
        edges = window.js(RIGHT_EDGES, selector)
        assert edges, selector
        assert max(edges) <= PHONE[0], selector
    # Long formulas scroll where they stand, and the marks of what can be opened are not cut off.
    assert window.js("return document.querySelector('table.claims').parentElement.classList.contains('fits')")
    assert window.js("return getComputedStyle(document.querySelector('table.claims summary')).overflowX") == "visible"
    wide = "return [...document.querySelectorAll('.scroll')].filter((e) => e.scrollWidth > e.clientWidth)"
    shade = "return getComputedStyle(arguments[0]).backgroundAttachment"
    cut = window.js(wide)
    assert cut
    assert all("local" in window.js(shade, element) for element in cut)


def test_names_of_variants_are_not_squeezed(window: Window, tmp_path: Path) -> None:
    data = sample("naive plug-in Q-learning for total variation")
    for variant in data["gallery"]["variants"]:
        variant["target"] = "properties.gallery.negative.total_variation:VARIANT"
        variant["records"][0] |= {"evidence": "a long story " * 60, "outcome": "violated"}
    (tmp_path / "page.html").write_text(render(data), encoding="utf-8")
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


def test_the_whole_page_can_be_walked_by_keyboard(window: Window, pages: dict[str, Path]) -> None:
    from selenium.webdriver.common.keys import Keys

    window.open(pages["usual"])
    body = window.one("body")
    body.send_keys(Keys.TAB)
    first = window.driver.switch_to.active_element
    assert first.text == "Skip to the verdict"
    assert first.is_displayed()
    outline = "return getComputedStyle(arguments[0]).outlineStyle"
    assert window.js(outline, first) == "solid"
    first.send_keys(Keys.ENTER)
    assert window.js("return location.hash") == "#verdict"


def test_links_open_what_is_folded(window: Window, pages: dict[str, Path]) -> None:
    window.open(pages["usual"])
    window.js("location.hash = '#example-conv'")
    assert window.one("#example-conv").is_displayed()
    window.js("document.querySelector('table.claims details').open = true")
    assert window.one("table.claims details dl").is_displayed()


WIDE, NARROW = (1400, 1100), (400, 844)
NEAR = 40
"""Pixels from the top of the window within which what a link leads to must lie."""
PLACE = """
const box = document.getElementById(arguments[0]).getBoundingClientRect();
const left = document.documentElement.scrollHeight - innerHeight - scrollY;
return [box.top, left];
"""


def _arrived(window: Window, name: str) -> bool:
    """Whether an element is at the top of the window, or the page ends before it could be."""
    # Two frames: what the page measures for itself is done by then.
    window.driver.execute_async_script(
        "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)))"
    )
    top, left = window.js(PLACE, name)
    return -1 <= top <= NEAR or (left <= 1 and 0 <= top < window.js("return innerHeight"))


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=("wide", "narrow"))
def test_every_link_of_the_contents_leads_to_its_section(
    window: Window, pages: dict[str, Path], size: tuple[int, int]
) -> None:
    window.size(*size)
    window.open(pages["usual"])
    names = window.js("return [...document.querySelectorAll('header a')].map((a) => a.hash.slice(1))")
    assert len(names) == 10
    missed: list[Any] = []
    for name in names:
        window.open(pages["usual"])
        window.one(f'header a[href="#{name}"]').click()
        missed += [] if _arrived(window, name) else [(name, *window.js(PLACE, name))]
        if name != "verdict":
            window.one(f"#{name} .back").click()
            missed += [] if window.js("return scrollY") < NEAR else [f"back from {name}"]
    assert missed == []


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=("wide", "narrow"))
@pytest.mark.parametrize("name", ["regression", "panels", "claim-thm6", "example-thm6", "run"])
def test_an_address_with_a_place_leads_there(
    window: Window, pages: dict[str, Path], size: tuple[int, int], name: str
) -> None:
    window.size(*size)
    window.open(pages["usual"], f"#{name}")
    headings = 60 if name.startswith("claim") else 0  # they stay above the row
    top, left = window.js(PLACE, name)
    assert _arrived(window, name) or headings / 2 <= top <= NEAR + headings, (top, left)
    if name.startswith("example"):
        assert window.one(f"#{name} dl").is_displayed()


def test_a_section_that_is_missed_would_be_seen(window: Window, pages: dict[str, Path]) -> None:
    window.open(pages["usual"])
    window.js("document.getElementById('panels').scrollIntoView(); scrollBy(0, -300)")
    assert not _arrived(window, "panels")


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


def _many_plots() -> dict[str, Any]:
    """A report with e-processes of all lengths and sizes."""
    data = sample()
    run = data["statistics"]["runs"][0]
    (cell,) = run["cells"]
    sizes = [(n, scale) for n in (3, 30, 455, 2000, 8000, 12800, 640000) for scale in (0.00125, 1.0, 250.0, 1e6)]
    run["cells"] = [
        {**cell, "cell": f"cell {n} {scale}", "law": f"law {n} {scale}", "n": n,
         "path": [[2, -scale, scale], [n, -12.5 * scale, 7.5 * scale]]}
        for n, scale in sizes
    ]  # fmt: skip
    return data


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


HEADINGS = """
const table = [...document.querySelectorAll("table")].find((t) => t.caption.textContent.startsWith(arguments[0]));
for (let e = table; e; e = e.parentElement) if (e.tagName === "DETAILS") e.open = true;
return table;
"""
SIDES = """
const table = arguments[0], box = table.parentElement, edge = box.getBoundingClientRect();
const head = table.tHead.rows[0].cells[3].getBoundingClientRect();
const name = table.tBodies[0].rows[60].cells[0].getBoundingClientRect();
return {fits: box.classList.contains("fits"), head: head.top, name: name.left, top: edge.top, left: edge.left};
"""


def test_headings_stay_at_the_top_of_the_window(window: Window, pages: dict[str, Path]) -> None:
    window.size(*WIDE)
    window.open(pages["usual"])
    table = window.js(HEADINGS, "Kind control: 200")
    window.js("arguments[0].tBodies[0].rows[60].scrollIntoView({block: 'center'})", table)
    found = window.js(SIDES, table)
    assert found["fits"]
    assert found["top"] < -500
    assert found["head"] == pytest.approx(0, abs=1)
    window.picture("headings")


def test_on_a_phone_headings_and_names_stay_in_the_box_of_a_wide_table(window: Window, pages: dict[str, Path]) -> None:
    window.size(*NARROW)
    window.open(pages["usual"])
    table = window.js(HEADINGS, "Kind control: 200")
    window.js("arguments[0].parentElement.scrollIntoView(); arguments[0].parentElement.scrollTo(200, 2000)", table)
    found = window.js(SIDES, table)
    assert not found["fits"]
    assert found["head"] == pytest.approx(found["top"], abs=1)
    assert found["name"] == pytest.approx(found["left"], abs=1)
    assert window.js("return arguments[0].parentElement.clientHeight", table) < NARROW[1]
    window.picture("headings-phone")


def test_headings_that_sort_say_so(window: Window, pages: dict[str, Path]) -> None:
    window.open(pages["usual"])
    script = """
    const buttons = [...document.querySelectorAll("table.tools thead button")];
    return buttons.map((button) => getComputedStyle(button, "::after").content);
    """
    signs = window.js(script)
    assert len(signs) > 50
    assert all("↕" in sign for sign in signs)
    button = _button(window, "Kind control: 200", 4)
    button.click()
    assert "↑" in window.js("return getComputedStyle(arguments[0], '::after').content", button)


def test_the_comparison_fits_a_desktop(window: Window, tmp_path: Path) -> None:
    data = sample()
    problems = ("two states, constant step", "planted, constant steps", "garnet, per visit")
    data["regression"]["cells"] = [comparison("robust Q-learning", problem=problem) for problem in problems * 4]
    (tmp_path / "page.html").write_text(render(data), encoding="utf-8")
    window.size(*WIDE)
    window.open(tmp_path / "page.html")
    window.js(OPEN_ALL)
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


def test_hostile_names_are_shown_and_do_nothing(window: Window, pages: dict[str, Path]) -> None:
    window.open(pages["hostile"])
    assert window.js("return document.scripts.length") == 2
    assert window.js("return document.querySelectorAll('img, iframe').length") == 0
    names = window.js("return [...document.querySelectorAll('bdi')].map((e) => e.textContent)")
    assert HOSTILE[0] in names
    assert HOSTILE[1] in names
    assert HOSTILE[2] in names
    window.picture("hostile")


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=("desktop", "phone"))
@pytest.mark.parametrize("name", ["usual", "hostile"])
def test_nothing_is_wider_than_the_window(
    window: Window, pages: dict[str, Path], size: tuple[int, int], name: str
) -> None:
    window.size(*size)
    window.open(pages[name])
    window.js(OPEN_ALL)
    assert window.js("return document.documentElement.scrollWidth") <= size[0]
    assert len(window.picture(f"{name}-{size[0]}")) > 10_000


AXE = "const done = arguments[arguments.length - 1]; axe.run().then((r) => done(r.violations))"


def _complaints(window: Window) -> list[str]:
    """What axe-core finds wrong, everything opened."""
    tool = resources.files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    window.js(OPEN_ALL)
    window.js(tool)
    window.driver.set_script_timeout(300)
    found = window.driver.execute_async_script(AXE)
    return [f"{entry['id']}: {entry['help']}: {entry['nodes'][0]['html'][:160]}" for entry in found]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessible(window: Window, pages: dict[str, Path], scheme: str) -> None:
    pytest.importorskip("axe_core_python")
    window.scheme(scheme)
    window.open(pages["short"])
    window.picture(f"scheme-{scheme}")
    assert _complaints(window) == []


def test_what_is_not_accessible_would_be_seen(window: Window, tmp_path: Path) -> None:
    pytest.importorskip("axe_core_python")
    page = tmp_path / "bad.html"
    page.write_text("<title>bad</title><img src='data:,'><p style='color:#ccc;background:#fff'>pale</p><input>")
    window.open(page)
    found = " ".join(_complaints(window))
    assert "image-alt" in found
    assert "color-contrast" in found
    assert "label" in found


def test_on_paper_everything_but_the_tools_is_there(window: Window, pages: dict[str, Path]) -> None:
    window.open(pages["usual"])
    window.scheme("light", media="print")
    assert not window.one("nav").is_displayed()
    assert window.one("#overall").is_displayed()
    assert not any(field.is_displayed() for field in window.all(".filter"))
    folded = "return document.querySelectorAll('details:not([open])').length"
    before = window.js(folded)
    assert before > 80
    window.js("dispatchEvent(new Event('beforeprint'))")
    assert window.js(folded) == 0
    window.js("dispatchEvent(new Event('afterprint'))")
    assert window.js(folded) == before
