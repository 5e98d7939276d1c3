"""A headless Chromium, and pages to open in it."""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pytest

from benchmarks.mutants.matrix import Kill
from benchmarks.report.page import render
from benchmarks.report.report import Report
from benchmarks.report.sections.statistics import committed_runs
from benchmarks.tests.report_sample import HOSTILE, change, measure, sample, trend

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
DESKTOP, PHONE = (1280, 900), (390, 844)
PATIENCE = 20.0
"""Seconds until a state that does not come fails a test. The page answers within a frame; a busy machine does not."""
POLL = 0.02
"""Seconds between two looks at a state: about one frame."""
KINDS = ("control", "evaluation", "linear evaluation", "operator", "planner", "policy planner", "sampler", "simulator",
         "support", "value planner", "average cost planner", "policy gradient", "smoothed operator")  # fmt: skip
MUTANTS, CONTROL, LAWS, VARIANTS, MEASURES, TRENDS = 650, 200, 15, 40, 171, 12
"""The size of a real report."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--browser-required", action="store_true", help="fail instead of skipping where there is no browser"
    )
    parser.addoption("--screenshots", type=Path, metavar="DIR", help="where to keep the screenshots")


def _absent(request: pytest.FixtureRequest, why: str) -> None:
    if request.config.getoption("browser_required", default=False):
        pytest.fail(why)
    pytest.skip(why)


@pytest.fixture(scope="session")
def browser(request: pytest.FixtureRequest) -> Iterator[Any]:
    """The driver of a headless browser that keeps its console and its network log."""
    binary = next((path for path in map(shutil.which, BROWSERS) if path), None)
    driver = shutil.which("chromedriver")
    if binary is None or driver is None:
        _absent(request, "no Chromium with chromedriver (Debian: apt-get install chromium chromium-driver)")
    try:
        from selenium import webdriver
    except ImportError:
        _absent(request, "selenium is not installed (tox -e browser installs it)")
    options = webdriver.ChromeOptions()
    options.binary_location = str(binary)
    for argument in ("--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(argument)
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")  # Chromium refuses to run as root with it
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    found = webdriver.Chrome(options=options, service=webdriver.ChromeService(str(driver)))
    yield found
    found.quit()


TABLE = """
const table = [...document.querySelectorAll("table")].find((t) => t.caption.textContent.startsWith(arguments[0]));
for (let e = table; e; e = e.parentElement) if (e.tagName === "DETAILS") e.open = true;
return table;
"""


DRAWN = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)))"
LOADED = "return [location.href, document.readyState]"

T = TypeVar("T")


class Window:
    """One page in the browser, and what it did.

    The browser answers a click, a key or a change of size after the driver's call has returned. So a test does not look
    at once: it waits with `expect` or `until` for the state that it asserts, and calls `drawn` before it asserts that
    nothing has happened.
    """

    def __init__(self, driver: Any, screenshots: Path | None) -> None:
        self.driver, self.screenshots = driver, screenshots
        self.logged: dict[str, list[dict[str, Any]]] = {"browser": [], "performance": []}
        self.size(*DESKTOP)
        self.scheme("light")

    def open(self, path: Path, place: str = "") -> None:
        """Load a file, at a place of it, wait until it is drawn, and forget what was logged before."""
        self._load("about:blank")
        for kind, entries in self.logged.items():
            self.driver.get_log(kind)
            entries.clear()
        self._load(path.as_uri() + place)
        self.drawn()

    def _load(self, address: str) -> None:
        """Go to an address; `get` alone may return while the page before it is still there."""
        self.driver.get(address)
        self.expect(lambda: self.js(LOADED), [address, "complete"])

    def until(self, read: Callable[[], T], holds: Callable[[T], object], patience: float = PATIENCE) -> T:
        """Read a state until it holds or the patience ends. Return the last value, which the caller asserts."""
        from selenium.common.exceptions import TimeoutException
        from selenium.webdriver.support.ui import WebDriverWait

        states: list[T] = []

        def look(_: Any) -> bool:
            states[:] = [read()]
            return bool(holds(states[0]))

        with suppress(TimeoutException):
            WebDriverWait(self.driver, patience, POLL).until(look)
        return states[0]

    def expect(self, read: Callable[[], object], wanted: object, patience: float = PATIENCE) -> None:
        """Assert that a state comes to be the wanted one."""
        assert self.until(read, lambda found: found == wanted, patience) == wanted

    def drawn(self) -> None:
        """Wait until a whole frame is drawn: what the page does when sizes change is done by then."""
        self.driver.execute_async_script(DRAWN)

    def size(self, width: int, height: int) -> None:
        """The viewport; narrow ones as on a phone."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def scheme(self, name: str, media: str = "") -> None:
        """Light or dark, on the screen or on paper."""
        features = [{"name": "prefers-color-scheme", "value": name}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": features})

    def js(self, code: str, *arguments: Any) -> Any:
        """Run a script in the page."""
        return self.driver.execute_script(code, *arguments)

    def all(self, selector: str) -> list[Any]:
        """The elements that a selector finds."""
        return list(self.driver.find_elements("css selector", selector))

    def one(self, selector: str) -> Any:
        """The first element that a selector finds."""
        return self.driver.find_element("css selector", selector)

    def table(self, caption: str) -> Any:
        """The table whose caption begins so; everything that it is folded in is opened and drawn."""
        table = self.js(TABLE, caption)
        self.drawn()
        return table

    def unfold(self) -> None:
        """Open and draw everything that is folded."""
        self.js("document.querySelectorAll('details').forEach((d) => { d.open = true })")
        self.drawn()

    def console(self) -> list[str]:
        """What the console said since the page was opened."""
        return [entry["message"] for entry in self._log("browser")]

    def requests(self) -> list[str]:
        """The addresses asked for since the page was opened."""
        events = [json.loads(entry["message"])["message"] for entry in self._log("performance")]
        sent = [event["params"] for event in events if event["method"] == "Network.requestWillBeSent"]
        return [event["request"]["url"] for event in sent]

    def _log(self, kind: str) -> list[dict[str, Any]]:
        """The entries since the page was opened; the driver returns each only once."""
        self.logged[kind] += self.driver.get_log(kind)
        return self.logged[kind]

    def picture(self, name: str) -> bytes:
        """A screenshot of the window, kept if somebody wants to look at it."""
        image = bytes(self.driver.get_screenshot_as_png())
        if self.screenshots is not None:
            self.screenshots.mkdir(parents=True, exist_ok=True)
            (self.screenshots / f"{name}.png").write_bytes(image)
        return image


@pytest.fixture
def window(browser: Any, request: pytest.FixtureRequest) -> Window:
    """The browser with its usual size and colours."""
    return Window(browser, request.config.getoption("screenshots", default=None))


def _full_size() -> Report:
    """A report of the size of a real one: gallery, mutants of several kinds, measures, the committed batch, trends."""
    kills = tuple(
        Kill(f"zoo:{i}", f"mutant {i}", kind, f"law {j}", i % 60 + 1 if i % laws == j else None, 0.0, "off")
        for i in range(MUTANTS)
        for kind, laws in [("control", LAWS) if i < CONTROL else (KINDS[1 + i % (len(KINDS) - 1)], 5)]
        for j in range(laws)
    )
    report = sample(*(f"variant {i}" for i in range(VARIANTS)))
    mine, *others = report.variants.variants
    gallery = tuple(
        replace(one, target=f"properties.variants.gallery.{'negative.' * (one.expected == 'violated')}v{i}:VARIANT",
                kind=KINDS[i % len(KINDS)])
        for i, one in enumerate(others)
    )  # fmt: skip
    assert report.regression is not None
    rows = tuple(
        measure(f"learner {i % 9}", metric=f"metric {i % 19}", lower=-0.002 * (i % 40), upper=0.002 * (i % 44))
        for i in range(MEASURES)
    )
    return change(
        report,
        mutants=replace(report.mutants, kills=kills),
        variants=replace(report.variants, variants=(mine, *gallery)),
        regression=replace(report.regression, rows=rows),
        statistics=replace(report.statistics, runs=(*report.statistics.runs, *committed_runs())),
        history=tuple(trend(problem=f"problem {i}", alarm=None if i else trend().alarm) for i in range(TRENDS)),
    )


def _one_of_each() -> Report:
    """A page with an element of every sort: axe-core's time grows fast with the number of elements."""
    report = sample(*HOSTILE[:4])
    claims = tuple({claim.status: claim for claim in report.claims.claims}.values())
    shown = {name for claim in claims for name in claim.counterexamples}
    cards = (card for card in report.counterexamples if card.file.rpartition("/")[2] in shown)
    (law,) = report.statistics.laws
    return change(
        report,
        claims=replace(report.claims, claims=claims),
        statistics=replace(report.statistics, laws=(replace(law, claims=()),)),
        panels=replace(report.panels, runs=tuple(report.panels.panels[:1])),
        counterexamples=tuple(cards),
    )


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A report of real size, one whose names attack it, and a short one."""
    folder = tmp_path_factory.mktemp("pages")
    found = {}
    for name, report in (("usual", _full_size()), ("hostile", sample(*HOSTILE)), ("short", _one_of_each())):
        found[name] = folder / f"{name}.html"
        found[name].write_text(render(report), encoding="utf-8")
    return found
