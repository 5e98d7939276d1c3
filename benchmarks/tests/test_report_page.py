"""The page: one file, the same bytes, nothing from outside, no name breaks out, everything reachable."""

import base64
import functools
import hashlib
import itertools
import re
from collections.abc import Callable
from dataclasses import fields, replace
from html.parser import HTMLParser
from typing import Any

import pytest

from benchmarks.report import page, words
from benchmarks.report.markup import VOID, Html, inline, tag
from benchmarks.report.page import render
from benchmarks.report.report import SECTIONS, Report
from benchmarks.report.sections.run import Run
from benchmarks.tests.report_sample import HOSTILE, change, law_verdict, sample
from robust_core.json import dumps, from_data, loads

RUN = re.compile(r'<section id="run">.*?</section>|<p class="facts".*?</p>', re.DOTALL)


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
    addresses = [(attributes.get("href") or "")[1:] for name, attributes in reader.elements if name == "a"]
    links = {address.partition("?")[0] for address in addresses}
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
    again = from_data(Report, loads(dumps(sample())))
    assert again == sample()
    assert _page() == render(again)


def test_times_and_versions_are_in_the_header_and_in_one_section_only() -> None:
    times = Run("2031-01-01T11:11:11+00:00", "f" * 12, "9.9", "robust-core report", "none",
                (("claims", 77.7),), (("numpy", "9.9.9"),), ())  # fmt: skip
    other = change(sample(), run=times)
    first, second = _page(), render(other)
    assert first != second
    assert RUN.sub("", first) == RUN.sub("", second)


def test_the_verdict_comes_first_as_a_word_a_symbol_and_a_colour() -> None:
    text = _page()
    (banner,) = re.findall(r'<p class="banner (\w+)" id="overall"><strong><span[^>]*>(.)</span> (\w+)</strong>', text)
    assert banner == ("good", "✓", "Holds")
    assert text.index('id="overall"') < text.index("<table")
    order = re.findall(r'<section id="(\w+)">', text)
    assert order == ["verdict", "regression", "history", "variants", "found", "mutants", "statistics", "run",
                     "claims", "panels", "convergence", "counterexamples"]  # fmt: skip


RED = re.compile(r'class="(?:badge|mark|banner) bad"')


def test_red_is_for_trouble_only() -> None:
    assert RED.findall(_page()) == []
    assert len(RED.findall(render(_violate(sample())))) >= 3


def test_the_header_says_which_code_when_and_how_in_one_line() -> None:
    (facts,) = re.findall(r'<p class="facts".*?</p>', _page())
    shown = re.sub(r"<[^>]+>", "", facts)
    assert shown == ("commit 0123456789abdate 2021-12-06 00:00version 0.1command robust-core report --quick"
                     "baseline regression.jsonlsize quick")  # fmt: skip


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
    pairs = re.findall(r"--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)", page._asset("page.css"))
    return [{name: colours[place] for name, *colours in pairs} for place in (0, 1)]


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


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_escaped_and_only_backticks_make_code(text: str) -> None:
    assert set(re.findall(r"<[^>]*>", inline(text))) <= {"<code>", "</code>"}
    assert not re.search(r"<(script|img)", inline(text))


def _violate(report: Report) -> Report:
    first, *others = report.variants.variants
    wrong = replace(first, verdicts=(law_verdict("start", "violated"),))
    return change(report, variants=replace(report.variants, variants=(wrong, *others)))


def _pass(report: Report) -> Report:
    *others, last = report.variants.variants
    right = replace(last, verdicts=(law_verdict("start"),))
    return change(report, variants=replace(report.variants, variants=(*others, right)))


def _survive(report: Report) -> Report:
    kills = (replace(kill, cases=None) if kill.mutant == "zoo:0" else kill for kill in report.mutants.kills)
    return change(report, mutants=replace(report.mutants, kills=tuple(kills)))


def _change_run(report: Report, **fields: Any) -> Report:
    (run,) = report.statistics.runs
    return change(report, statistics=replace(report.statistics, runs=(replace(run, **fields),)))


def _miss(report: Report) -> Report:
    return _change_run(report, missed=("convergence: a stuck learner",))


def _gate(report: Report) -> Report:
    return _change_run(report, gate=replace(report.statistics.runs[0].gate, outcome="violated"))


def _worsen(report: Report) -> Report:
    assert report.regression is not None
    return change(report, regression=replace(report.regression, verdict="worse"))


def _lose(report: Report) -> Report:
    first, *others = report.counterexamples
    return change(report, counterexamples=(replace(first, outcome="holds"), *others))


@pytest.mark.parametrize("defect", [_violate, _pass, _survive, _miss, _gate, _worsen, _lose], ids=lambda f: f.__name__)
def test_one_thing_wrong_makes_the_verdict_violated(defect: Callable[[Report], Report]) -> None:
    verdict = defect(sample()).verdict
    assert verdict.outcome == "violated"
    (line,) = [line for line in verdict.lines if line.outcome == "violated"]
    assert verdict.sentence == f"{line.short}."


def test_undecided_is_neither_good_nor_bad() -> None:
    report = sample()
    gate = replace(report.statistics.runs[0].gate, undecided=("converges/limit",))
    assert _change_run(report, gate=gate).verdict.outcome == "undecided"
    assert report.verdict.outcome == "holds"


def test_what_the_paper_got_wrong_is_a_finding_and_decides_nothing() -> None:
    lines = {line.section: line for line in sample().verdict.lines}
    assert not lines["claims"].decides
    assert not lines["panels"].decides
    assert "reversed" in lines["panels"].short


def test_the_fields_of_a_report_are_its_sections() -> None:
    names = [field.name for field in fields(Report)]
    assert names[: len(SECTIONS)] == [section.id for section in SECTIONS]
