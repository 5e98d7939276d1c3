"""The report in a real browser: quiet, quick, usable by mouse and keyboard, safe, accessible."""

from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from benchmarks.tests.browser.conftest import DESKTOP, PHONE, Window
from benchmarks.tests.report_sample import HOSTILE

OPENS_IN = 1.0
"""Seconds that the thread of the page works until it is loaded and drawn; other work on the machine does not count."""


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
