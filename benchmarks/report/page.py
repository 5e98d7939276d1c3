"""The page: one self-contained HTML file, the same bytes for the same data."""

import base64
import hashlib
from importlib import resources
from typing import Any

from benchmarks.report import plots
from benchmarks.report.layout import Section
from benchmarks.report.markup import Html, data_block, escaped, tag
from benchmarks.report.sections import (
    claims,
    convergence,
    counterexamples,
    mutants,
    panels,
    regression,
    run,
    statistics,
    variants,
    verdict,
)

ORDER = (
    verdict,
    claims,
    variants,
    mutants,
    panels,
    convergence,
    statistics,
    regression,
    counterexamples,
    run,
)
TITLE = "robust-core report"


def render(data: dict[str, Any]) -> str:
    """The report as an HTML page that needs nothing else, from what `collect` gave."""
    sections = [module.section(data) for module in ORDER]
    style, script = _asset("page.css"), _asset("page.js")
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_policy(style, script)),
        tag("meta", name_="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name_="color-scheme", content="light dark"),
        tag("title", f"{TITLE}: {data['verdict']['outcome']}"),
        tag("link", rel="icon", href="data:,"),
        tag("style", Html(style)),
    )
    body = tag(
        "body",
        tag("a", "Skip to the verdict", href="#verdict", class_="skip"),
        tag("header", tag("h1", TITLE), _contents(sections), id="contents"),
        tag("main", *(section.markup() for section in sections), id="main"),
        tag("footer", tag("p", "Made by ", tag("code", "robust-core report"), ".")),
        tag("div", class_="tip", id="tip", role="status", aria_live="polite", hidden="hidden"),
        data_block("points", {plot.id: plots.points(plot) for section in sections for plot in section.plots}),
        tag("script", Html(script)),
    )
    return "<!DOCTYPE html>\n" + tag("html", head, "\n", body, lang="en", dir="ltr") + "\n"


def _asset(name: str) -> str:
    return resources.files("benchmarks.report").joinpath(name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """No address may be loaded from; only this very style and this very script may act."""
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script)]
    return (
        f"default-src 'none'; img-src data:; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _contents(sections: list[Section]) -> Html:
    links = [tag("li", tag("a", section.title, href=f"#{section.id}")) for section in sections]
    return tag("nav", tag("ul", *links), aria_label=str(escaped("Contents")))
