"""The page: one self-contained HTML file, the same bytes for the same data."""

import base64
import hashlib
from collections.abc import Iterable
from importlib import resources

from benchmarks.report import plots
from benchmarks.report.markup import Html, data_block, tag
from benchmarks.report.report import SECTIONS, Report
from benchmarks.report.sections import verdict

TITLE = "robust-core report"


def render(report: Report) -> str:
    """The report as an HTML page that needs nothing else."""
    contents = {(verdict.ID, verdict.TITLE): verdict.render(report.verdict)}
    for section in SECTIONS:
        contents[section.id, section.title] = section.render(getattr(report, section.id))
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
        tag("header", tag("h1", TITLE), _contents(contents), id="contents"),
        tag("main", *(_section(*names, content.body) for names, content in contents.items()), id="main"),
        tag("footer", tag("p", "Made by ", tag("code", "robust-core report"), ".")),
        tag("div", class_="tip", id="tip", role="status", aria_live="polite", hidden="hidden"),
        data_block("points", {plot.id: plots.points(plot) for content in contents.values() for plot in content.plots}),
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


def _contents(contents: Iterable[tuple[str, str]]) -> Html:
    links = [tag("li", tag("a", title, href=f"#{id_}")) for id_, title in contents]
    return tag("nav", tag("ul", *links), aria_label="Contents")


def _section(id_: str, title: str, body: Html) -> Html:
    """A section, with a way back to the contents."""
    back = tag("a", tag("span", "↑", aria_hidden="true"), " contents", href="#contents", class_="back")
    return tag("section", tag("h2", title), back, body, id=id_)
