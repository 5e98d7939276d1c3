"""The page: one file, the same bytes, nothing from outside, no name breaks out, everything reachable."""

import base64
import functools
import hashlib
import itertools
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import pytest

from benchmarks.report import page, words
from benchmarks.report.markup import VOID, Html, tag
from benchmarks.report.page import render
from benchmarks.tests.report_sample import HOSTILE, sample

RUN = re.compile(r'<section id="run">.*?</section>', re.DOTALL)


class _Reader(HTMLParser):
    """Every element with its attributes, and every end tag that closes another element than the last one opened."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.faults: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            last = self.open.pop() if self.open else None
            self.faults += [] if last == tag else [f"</{tag}> closes {last}"]


@functools.cache
def _page() -> str:
    return render(sample())


def dangers(text: str) -> list[str]:
    """What hostile content could have made of a page: elements, handlers and addresses that are not ours."""
    found = []
    for name, attributes in _Reader(text).elements:
        if name in ("img", "iframe", "object", "embed", "form", "base"):
            found.append(name)
        found += [f"{name} {key}" for key in attributes if key.startswith("on") or key in ("src", "srcset", "style")]
        link = attributes.get("href") or ""
        if name in ("a", "link") and not link.startswith(("#", "data:,")):
            found.append(f"{name} to {link}")
    return found + ["a third script" for _ in range(text.count("<script") - 2)]


def test_the_page_is_well_formed_and_its_links_lead_somewhere() -> None:
    reader = _Reader(_page())
    assert reader.faults == reader.open == []
    ids = [attributes["id"] for _, attributes in reader.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = {(attributes.get("href") or "")[1:] for name, attributes in reader.elements if name == "a"}
    assert links <= set(ids), f"links to nothing: {sorted(links - set(ids))}"


def test_headings_descend_by_one_and_every_table_has_a_caption() -> None:
    reader = _Reader(_page())
    levels = [int(name[1]) for name, _ in reader.elements if re.fullmatch(r"h[1-6]", name)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(later <= earlier + 1 for earlier, later in itertools.pairwise(levels))
    names = [name for name, _ in reader.elements]
    assert names.count("table") == names.count("caption") > 10


def test_hostile_names_stay_text() -> None:
    text = render(sample(*HOSTILE))
    assert dangers(text) == []
    assert text.isprintable() or "\x00" not in text
    text.encode("utf-8")


@pytest.mark.parametrize("hostile", HOSTILE[:3])
def test_the_search_for_dangers_finds_them(hostile: str) -> None:
    broken = _page().replace("<h1>", "<h1>" + Html(hostile.replace("'", "")), 1)
    assert dangers(broken)


def test_nothing_is_loaded_and_only_this_script_and_style_may_act() -> None:
    text = _page()
    assert not re.search(r"https?://|//[a-z]+\.|@import|url\(", text)
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)
    policy = policy.replace("&#x27;", "'")
    assert policy.startswith("default-src 'none'")
    for element in ("style", "script"):
        (content,) = re.findall(rf"<{element}>(.*?)</{element}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{element}-src 'sha256-{digest}'" in policy
    assert "unsafe" not in policy


def test_the_same_data_give_the_same_bytes_even_through_json() -> None:
    again = json.loads(json.dumps(sample(), sort_keys=True))
    assert _page() == render(again)


def test_times_and_versions_are_in_one_section_only() -> None:
    other = sample()
    times = {"begun": "2031-01-01T11:11:11+00:00", "seconds": [["claims", 77.7]]}
    other["run"] = times | {"versions": [["numpy", "9.9.9"]], "speed": []}
    first, second = _page(), render(other)
    assert first != second
    assert RUN.sub("", first) == RUN.sub("", second)


def test_the_verdict_comes_first_as_a_word_a_symbol_and_a_colour() -> None:
    text = _page()
    (banner,) = re.findall(r'<p class="banner (\w+)" id="overall"><strong><span[^>]*>(.)</span> (\w+)</strong>', text)
    assert banner == ("good", "✓", "Holds")
    assert text.index('id="overall"') < text.index("<table")
    order = re.findall(r'<section id="(\w+)">', text)
    assert order == ["verdict", "claims", "variants", "mutants", "panels", "convergence", "statistics", "regression",
                     "counterexamples", "run"]  # fmt: skip


def test_no_two_verdicts_look_alike_but_for_their_colour() -> None:
    for word, (kind, symbol) in words.LOOKS.items():
        assert symbol.strip(), word
        assert kind in ("good", "bad", "warn", "info", "dim")
    assert words.look("holds")[1] != words.look("violated")[1] != words.look("undecided")[1]


def luminance(colour: str) -> float:
    """Relative luminance of #rrggbb (WCAG 2)."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two colours."""
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _schemes() -> list[dict[str, str]]:
    css = page._asset("page.css")
    return [
        dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", part)) for part in css.split("@media (prefers-color-scheme")[:2]
    ]


@pytest.mark.parametrize("colours", _schemes(), ids=("light", "dark"))
def test_contrast(colours: dict[str, str]) -> None:
    text = [(fore, back) for fore in ("text", "quiet", "link") for back in ("page", "soft")]
    text += [(kind, f"{kind}-soft") for kind in ("good", "bad", "warn", "info", "dim")]
    for fore, back in text:
        assert contrast(colours[fore], colours[back]) >= 4.5, (fore, back)
    for line in ("s0", "s1", "s2", "s3", "rule"):
        assert contrast(colours[line], colours["page"]) >= 3.0, line
    assert contrast("#777777", "#888888") < 3.0


def test_tags_escape_what_they_hold() -> None:
    assert tag("p", "<", Html("<b>"), ["&", None, 3], title='"') == '<p title="&quot;">&lt;<b>&amp;3</p>'


def _break(change: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    from benchmarks.report.overall import verdict

    data = sample()
    change(data)
    return verdict(data)


def _violate(data: dict[str, Any]) -> None:
    data["gallery"]["variants"][0]["records"][0]["outcome"] = "violated"


def _pass(data: dict[str, Any]) -> None:
    for record in data["gallery"]["variants"][-1]["records"]:
        record["outcome"] = "holds"


def _survive(data: dict[str, Any]) -> None:
    for record in data["kills"]["records"]:
        record["cases"] = None if record["mutant"] == "zoo:0" else record["cases"]


def _miss(data: dict[str, Any]) -> None:
    data["statistics"]["runs"][0]["missed"] = ["convergence: a stuck learner"]


def _gate(data: dict[str, Any]) -> None:
    data["statistics"]["runs"][0]["summary"]["outcome"] = "violated"


def _worsen(data: dict[str, Any]) -> None:
    data["regression"]["verdict"] = data["regression"]["cells"][0]["verdict"] = "worse"


def _heal(data: dict[str, Any]) -> None:
    data["counterexamples"]["committed"][0]["outcome"] = "holds"


@pytest.mark.parametrize("change", [_violate, _pass, _survive, _miss, _gate, _worsen, _heal], ids=lambda f: f.__name__)
def test_one_thing_wrong_makes_the_verdict_violated(change: Callable[[dict[str, Any]], None]) -> None:
    found = _break(change)
    assert found["outcome"] == "violated"
    assert sum(part["outcome"] == "violated" for part in found["parts"]) == 1


def test_undecided_is_neither_good_nor_bad() -> None:
    def leave(data: dict[str, Any]) -> None:
        data["statistics"]["runs"][0]["summary"]["undecided"] = ["converges/limit"]

    assert _break(leave)["outcome"] == "undecided"
    assert _break(lambda data: None)["outcome"] == "holds"


def test_what_the_paper_got_wrong_is_a_finding_and_decides_nothing() -> None:
    parts = {part["id"]: part for part in _break(lambda data: None)["parts"]}
    assert parts["claims"]["decides"] == parts["panels"]["decides"] == "no"
    assert "reversed" in parts["panels"]["short"]
