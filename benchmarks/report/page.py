"""The page: one self-contained HTML file, the same bytes for the same data."""

import base64
import hashlib
from collections.abc import Mapping
from importlib import resources
from typing import Any

from benchmarks.report import plots
from benchmarks.report.layout import heading
from benchmarks.report.markup import Html, data_block, tag
from benchmarks.report.report import SECTIONS, Report
from benchmarks.report.section import Content, Section
from benchmarks.report.sections import run, verdict

TITLE = "robust-core report"


PARTS = {"run": "This run", "paper": "The paper"}
"""The two parts of the page: what can differ from run to run, and what is known about the paper."""


def render(report: Report) -> str:
    """The report as an HTML page that needs nothing else."""
    drawn = {section: section.render(getattr(report, section.id)) for section in SECTIONS}
    first = verdict.render(report.verdict)
    plots_drawn = [plot for content in drawn.values() for plot in content.plots]
    style, script = _asset("page.css"), _asset("page.js")
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_policy(style, script)),
        tag("meta", name_="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name_="color-scheme", content="light dark"),
        tag("title", f"{TITLE}: {report.verdict.outcome}"),
        tag("link", rel="icon", href="data:,"),
        tag("style", Html(style)),
    )
    body = tag(
        "body",
        tag("a", "Skip to the verdict", href="#verdict", class_="skip"),
        tag("header", tag("h1", TITLE), run.render_header(report.run, quick=report.quick), id="top"),
        tag("nav", *_contents(), aria_label="Contents", id="contents"),
        tag("main", _section(verdict.ID, verdict.TITLE, first.body), *_parts(drawn), id="main"),
        tag("footer", tag("p", "Made by ", tag("code", "robust-core report"), ".")),
        tag("div", class_="tip", id="tip", role="status", aria_live="polite", hidden="hidden"),
        data_block("points", {plot.id: plots.points(plot) for plot in plots_drawn}),
        tag("script", Html(script)),
    )
    return "<!DOCTYPE html>\n" + tag("html", head, "\n", body, lang="en", dir="ltr") + "\n"


def _parts(drawn: Mapping[Section[Any], Content]) -> list[Html]:
    """The sections of both parts; the second begins with a line of its own."""
    found = []
    for about, title in PARTS.items():
        if about == "paper":
            found.append(tag("p", title, class_="part", id="paper"))
        found += [
            _section(section.id, section.title, content.body)
            for section, content in drawn.items()
            if section.about == about
        ]
    return found


def _asset(name: str) -> str:
    return resources.files("benchmarks.report").joinpath(name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """No address may be loaded from; only this very style and this very script may act."""
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script)]
    return (
        f"default-src 'none'; img-src data:; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _contents() -> list[Html]:
    """The links to all sections, part by part."""
    found = []
    for about, title in PARTS.items():
        names = [(section.id, section.title) for section in SECTIONS if section.about == about]
        names = [(verdict.ID, verdict.TITLE), *names] if about == "run" else names
        links = [tag("li", tag("a", name, href=f"#{id_}")) for id_, name in names]
        found += [tag("p", title, class_="part-name"), tag("ul", *links)]
    return found


def _section(id_: str, title: str, body: Html) -> Html:
    """A section, with a link to itself and, where the contents are out of sight, a way back to them."""
    back = tag("a", tag("span", "↑", aria_hidden="true"), " contents", href="#contents", class_="back")
    return tag("section", heading(2, title, id_), back, body, id=id_)
