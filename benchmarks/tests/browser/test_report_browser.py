"""The report in a real browser: quiet, quick, usable by mouse and keyboard, safe, accessible."""

import base64
import csv
import io
import re
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from benchmarks.report.page import render
from benchmarks.tests.browser.conftest import DESKTOP, PHONE, Window
from benchmarks.tests.report_sample import HOSTILE, sample
from robust_core.json import loads

OPENS_IN = 1.0
"""Seconds that the thread of the page works until it is loaded and drawn; other work on the machine does not count."""


def _count_of_claims() -> int:
    """The claims of the page: those of the paper and our own."""
    return len(sample().claims.claims)


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
    const button = arguments[0].tHead.rows[0].cells[arguments[1]].querySelector("button");
    button.scrollIntoView({block: "center"});
    return button;
    """
    return window.js(script, window.table(caption), column)


def _order(window: Window, button: Any) -> str | None:
    """The order that the heading of a button announces."""
    found: str | None = window.js("return arguments[0].parentElement.ariaSort", button)
    return found


def test_a_wait_sees_what_comes_late_and_what_does_not_come(window: Window, tmp_path: Path) -> None:
    page = tmp_path / "late.html"
    page.write_text("<title>early</title><script>setTimeout(() => { document.title = 'late' }, 300)</script>")
    window.open(page)
    window.expect(lambda: window.driver.title, "late")
    with pytest.raises(AssertionError, match="'late' == 'never'"):
        window.expect(lambda: window.driver.title, "never", patience=0.1)


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
    address = "http://127.0.0.1:9/x.png"
    assert window.until(lambda: [x for x in window.console() if "nothing is not defined" in x], bool)
    assert address in window.until(window.requests, lambda found: address in found)


def test_the_policy_stops_what_is_injected(window: Window, pages: dict[str, Path], tmp_path: Path) -> None:
    page = tmp_path / "injected.html"
    text = pages["usual"].read_text(encoding="utf-8")
    page.write_text(text.replace("</main>", "</main><script>window.injected = 1</script>", 1), encoding="utf-8")
    window.open(page)
    assert window.until(lambda: [x for x in window.console() if "Content Security Policy" in x], bool)
    assert window.js("return window.injected") is None


def test_it_opens_in_under_a_second(window: Window, pages: dict[str, Path], record_property: Any) -> None:
    window.driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
    seconds = []
    for _ in range(3):
        window.open(pages["usual"])
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
    window.expect(partial(_order, window, button), "ascending")
    rising = _column(window, "Kind control: 200", 0)
    assert rising == sorted(before, key=lambda name: int(name.split()[1]))
    button.send_keys(Keys.ENTER)
    window.expect(partial(_order, window, button), "descending")
    assert _column(window, "Kind control: 200", 0) == rising[::-1]
    other = _button(window, "Kind control: 200", 2)
    other.send_keys(Keys.SPACE)
    window.expect(partial(_order, window, other), "ascending")
    assert _order(window, button) is None
    numbers = _column(window, "Kind control: 200", 2)
    caught = [int(text) for text in numbers if text.isdigit()]
    assert caught == sorted(caught)
    assert all(not text.isdigit() for text in numbers[len(caught) :])


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=("desktop", "phone"))
def test_tables_filter(window: Window, pages: dict[str, Path], size: tuple[int, int]) -> None:
    from selenium.webdriver.common.keys import Keys

    window.size(*size)
    window.open(pages["usual"])
    number = _count_of_claims()
    window.table(f"The {number} claims")
    claims = partial(_column, window, f"The {number} claims", 0)
    whole = claims()
    assert len(whole) == number
    label = next(x for x in window.all(".filter label") if "claims" in x.get_attribute("textContent"))
    field = window.driver.find_element("id", label.get_attribute("for"))
    field.send_keys("corrected expand")
    window.expect(claims, ["expand-T"])
    assert f"1 of {number} rows" in field.find_element("xpath", "..").text
    field.send_keys(Keys.ESCAPE)
    window.expect(claims, whole)
    field.send_keys("no such claim at all")
    window.expect(claims, [])


def _move(window: Window, plot: Any = None) -> None:
    """Move the pointer onto a plot, or without one up and away from where it is."""
    from selenium.webdriver import ActionChains

    chain = ActionChains(window.driver)
    (chain.move_by_offset(0, -400) if plot is None else chain.move_to_element(plot)).perform()


def _first_line(tip: Any) -> str:
    """The first line that the tip shows; nothing where it is hidden."""
    return next(iter(tip.text.splitlines()), "")


def test_plots_show_values_to_the_pointer_and_to_the_arrow_keys(window: Window, pages: dict[str, Path]) -> None:
    from selenium.webdriver.common.keys import Keys

    window.open(pages["usual"])
    plot, tip = window.one('svg[data-plot="frozenlake-a"]'), window.one("#tip")
    window.js("arguments[0].scrollIntoView({block: 'center'})", plot)
    _move(window, plot)
    window.expect(tip.is_displayed, True)
    lines = tip.text.splitlines()
    assert lines[0].startswith("steps ")
    assert [line.partition(":")[0] for line in lines[1:]] == ["robust", "vanilla", "vanilla at γ(1−R)"]
    window.picture("tooltip")
    _move(window)
    window.expect(tip.is_displayed, False)
    window.js("arguments[0].focus()", plot)
    window.expect(partial(_first_line, tip), "steps 12800")
    plot.send_keys(Keys.ARROW_LEFT)
    window.expect(partial(_first_line, tip), "steps 12288")
    plot.send_keys(Keys.HOME)
    window.expect(partial(_first_line, tip), "steps 512")
    plot.send_keys(Keys.ESCAPE)
    window.expect(tip.is_displayed, False)


def test_a_focused_plot_gets_its_values_back_when_the_pointer_leaves_another(
    window: Window, pages: dict[str, Path]
) -> None:
    from selenium.webdriver.common.keys import Keys

    window.open(pages["usual"])
    focused, other = (window.one(f'svg[data-plot="frozenlake-{letter}"]') for letter in "ab")
    tip = window.one("#tip")
    window.js("arguments[0].scrollIntoView({block: 'center'})", focused)
    window.js("arguments[0].focus()", focused)
    focused.send_keys(Keys.HOME)
    window.expect(partial(_first_line, tip), "steps 512")
    first = tip.text
    _move(window, other)
    assert window.until(lambda: tip.text, lambda text: text != first) != first
    _move(window)
    window.expect(lambda: tip.text, first)
    cursors = "return document.querySelectorAll('.cursor[visibility=visible]').length"
    assert window.js(cursors) == 1
    focused.send_keys(Keys.ESCAPE)
    window.expect(tip.is_displayed, False)
    _move(window, other)
    window.expect(tip.is_displayed, True)
    _move(window)
    window.expect(tip.is_displayed, False)


def test_the_whole_page_can_be_walked_by_keyboard(window: Window, pages: dict[str, Path]) -> None:
    from selenium.webdriver.common.keys import Keys

    window.open(pages["usual"])
    body = window.one("body")
    body.send_keys(Keys.TAB)
    window.expect(lambda: window.driver.switch_to.active_element.text, "Skip to the verdict")
    first = window.driver.switch_to.active_element
    assert first.is_displayed()
    outline = "return getComputedStyle(arguments[0]).outlineStyle"
    assert window.js(outline, first) == "solid"
    first.send_keys(Keys.ENTER)
    window.expect(lambda: window.js("return location.hash"), "#verdict")


def test_links_open_what_is_folded(window: Window, pages: dict[str, Path]) -> None:
    window.open(pages["usual"])
    window.js("location.hash = '#example-conv'")
    window.expect(window.one("#example-conv").is_displayed, True)
    window.js(
        "document.querySelector('table.claims details').open = true", window.table(f"The {_count_of_claims()} claims")
    )
    window.expect(window.one("table.claims details dl").is_displayed, True)


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
    window.expect(lambda: window.js("return getComputedStyle(arguments[0], '::after').content", button), '" ↑"')


def test_hostile_names_are_shown_and_do_nothing(window: Window, pages: dict[str, Path]) -> None:
    window.open(pages["hostile"])
    assert window.js("return document.scripts.length") == 2
    assert window.js("return document.querySelectorAll('img, iframe').length") == 0
    names = window.js("return [...document.querySelectorAll('bdi')].map((e) => e.textContent)")
    assert HOSTILE[0] in names
    assert HOSTILE[1] in names
    assert HOSTILE[2] in names
    window.picture("hostile")


AXE = "const done = arguments[arguments.length - 1]; axe.run().then((r) => done(r.violations))"


def _complaints(window: Window) -> list[str]:
    """What axe-core finds wrong, everything opened."""
    tool = resources.files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    window.unfold()
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


def test_on_paper_it_is_as_on_the_screen_without_the_tools(window: Window, pages: dict[str, Path]) -> None:
    window.open(pages["usual"])
    window.scheme("light", media="print")
    window.expect(window.one("nav").is_displayed, False)
    assert window.one("#overall").is_displayed()
    assert not any(tool.is_displayed() for tool in window.all(".filter, button.tool"))
    window.scheme("light")
    assert 3 <= _sheets(window) <= MOST_SHEETS
    window.unfold()
    assert _sheets(window) > MOST_SHEETS, "what the reader opens is printed"


MOST_SHEETS = 15


def _sheets(window: Window) -> int:
    """The number of A4 pages that the browser prints."""
    paper = {"paperWidth": 8.27, "paperHeight": 11.69}
    printed = base64.b64decode(window.driver.execute_cdp_cmd("Page.printToPDF", paper)["data"])
    return len(re.findall(rb"/Type\s*/Page\b", printed))


def _theme(window: Window) -> list[str]:
    script = "return [document.getElementById('theme').textContent, getComputedStyle(document.body).backgroundColor]"
    return list(window.js(script))


def test_the_theme_is_switched_and_remembered(window: Window, pages: dict[str, Path]) -> None:
    window.open(pages["short"])
    window.js("localStorage.clear()")
    window.open(pages["short"])
    light, dark = "rgb(255, 255, 255)", "rgb(15, 20, 25)"
    assert _theme(window) == ["theme: auto", light]
    for shown in (["theme: light", light], ["theme: dark", dark]):
        window.one("#theme").click()
        window.expect(partial(_theme, window), shown)
    window.open(pages["short"])
    assert _theme(window) == ["theme: dark", dark]
    window.one("#theme").click()
    window.scheme("dark")
    window.expect(partial(_theme, window), ["theme: auto", dark])


def test_commands_are_copied(window: Window, pages: dict[str, Path]) -> None:
    window.open(pages["usual"])
    window.js("navigator.clipboard.writeText = async (text) => { window.copied = text }")
    button = window.one("#regression .commands button.copy")
    window.js("arguments[0].scrollIntoView({block: 'center'})", button)
    button.click()
    window.expect(lambda: [button.text, window.js("return window.copied")], ["copied", "robust-core bench"])
    window.expect(lambda: button.text, "copy")
    copied = window.js("return document.querySelectorAll('.commands code, pre').length")
    assert copied == window.js("return document.querySelectorAll('button.copy').length") > 20


def _saved(window: Window, folder: Path, press: str) -> str:
    """The text of the file that a button saves."""
    before = set(folder.iterdir())
    window.js("document.querySelector(arguments[0]).click()", press)
    whole = window.until(lambda: {path for path in folder.iterdir() if path.suffix in (".csv", ".json")} - before, bool)
    (path,) = whole
    return path.read_text(encoding="utf-8")


def test_tables_are_saved_as_csv_and_json(window: Window, tmp_path: Path) -> None:
    report = sample("=HYPERLINK(1)", 'a "quoted", name')
    page, folder = tmp_path / "page.html", tmp_path / "saved"
    folder.mkdir()
    page.write_text(render(report), encoding="utf-8")
    allow = {"behavior": "allow", "downloadPath": str(folder)}
    window.driver.execute_cdp_cmd("Browser.setDownloadBehavior", allow)
    window.open(page)
    tools = "div.filter:has(+ div > #table-measures) button:nth-of-type({})"
    rows = list(csv.DictReader(io.StringIO(_saved(window, folder, tools.format(1)))))
    assert [row["variant"] for row in rows] == ["'=HYPERLINK(1)", 'a "quoted", name']
    assert float(rows[0]["effect and interval (value)"]) == 0.02
    found = loads(_saved(window, folder, tools.format(2)))
    assert [row["variant"] for row in found] == ["=HYPERLINK(1)", 'a "quoted", name']
    assert found[0]["margin (value)"] == 0.1
    everything = loads(_saved(window, folder, "#save-all"))
    assert len(everything["claims"]) == _count_of_claims()
    assert everything["measures"] == found
    assert window.console() == []


def test_what_was_chosen_for_a_table_is_in_the_address(window: Window, pages: dict[str, Path]) -> None:
    from selenium.webdriver.common.keys import Keys

    window.open(pages["usual"], "#table-claims?claims=corrected+expand")
    claims = partial(_column, window, f"The {_count_of_claims()} claims", 0)
    window.expect(claims, ["expand-T"])
    field = window.one("#filter-claims")
    assert field.get_attribute("value") == "corrected expand"
    field.clear()
    field.send_keys("refuted")
    window.expect(lambda: window.js("return location.hash"), "#table-claims?claims=refuted")
    button = _button(window, f"The {_count_of_claims()} claims", 0)
    for order in ("1", "1-"):
        button.send_keys(Keys.ENTER)
        window.expect(lambda: window.js("return location.hash"), f"#table-claims?claims=refuted&claims.sort={order}")
    refuted = claims()
    window.one('nav a[href="#mutants"]').click()
    window.expect(lambda: window.js("return location.hash"), "#mutants?claims=refuted&claims.sort=1-")
    assert claims() == refuted != []
    window.open(pages["usual"], "#claims?claims=&claims.sort=1-")
    window.expect(lambda: claims() == sorted(claims(), reverse=True) or claims()[0], claims()[0])


def test_a_count_of_claims_leads_to_them(window: Window, pages: dict[str, Path]) -> None:
    window.open(pages["usual"])
    link = next(link for link in window.all("#claims a.plain") if "corrected" in link.text)
    number = int(link.text.split()[1])
    window.js("arguments[0].click()", link)
    rows = partial(_column, window, f"The {_count_of_claims()} claims", 1)
    window.expect(lambda: [len(rows()) >= number, window.one("#table-claims").is_displayed()], [True, True])
    assert all("corrected" in row for row in rows()[:1])


def test_a_plot_is_enlarged_by_a_click_by_its_button_and_by_a_key(window: Window, pages: dict[str, Path]) -> None:
    from selenium.webdriver.common.keys import Keys

    window.open(pages["usual"])
    plot = window.one('svg[data-plot="frozenlake-a"]')
    window.js("arguments[0].scrollIntoView({block: 'center'})", plot)
    width = "return document.querySelector('svg[data-plot=frozenlake-a]').getBoundingClientRect().width"
    small = window.js(width)
    opened = "return document.querySelector('dialog').open"
    ways: list[Any] = [
        plot.click,
        lambda: window.one("figure:has(svg[data-plot=frozenlake-a]) .enlarge").click(),
        lambda: plot.send_keys(Keys.ENTER),
    ]
    for way in ways:
        way()
        window.expect(partial(window.js, opened), True)
        assert window.js(width) > 1.5 * small
        assert window.one("dialog figcaption").is_displayed()
        window.picture("enlarged")
        plot.send_keys(Keys.HOME)
        window.expect(partial(_first_line, window.one("#tip")), "steps 512")
        window.one("dialog button").click()
        window.expect(partial(window.js, opened), False)
        window.expect(partial(window.js, width), small)
    assert window.js("return document.querySelectorAll('figure').length") == window.js(
        "return document.querySelectorAll('figure > svg.plot').length"
    )


def test_the_contents_mark_the_section_in_sight(window: Window, pages: dict[str, Path]) -> None:
    window.open(pages["usual"])
    marked = "return [...document.querySelectorAll('nav a[aria-current]')].map((a) => a.hash)"
    for name in ("mutants", "claims"):
        window.one(f'nav a[href="#{name}"]').click()
        window.expect(partial(window.js, marked), [f"#{name}"])
        assert window.one("nav").is_displayed()
        assert window.js("return document.querySelector('nav').getBoundingClientRect().top") >= 0


def test_headings_show_the_link_to_themselves(window: Window, pages: dict[str, Path]) -> None:
    window.open(pages["usual"])
    anchors = window.all("h2 .anchor, h3 .anchor")
    assert len(anchors) > len(window.all("section")) > 10
    for anchor in anchors:
        assert anchor.is_displayed()
        place = window.js("return document.getElementById(arguments[0].hash.slice(1)).contains(arguments[0])", anchor)
        assert place
