"""The verdict comes first: the worst of what the sections say, in one sentence, and a line per part."""

from collections.abc import Iterable
from dataclasses import dataclass

from benchmarks.report.layout import table
from benchmarks.report.markup import Html, tag
from benchmarks.report.section import Content, Line, worst
from benchmarks.report.words import badge, look

ID, TITLE = "verdict", "Verdict"
NOTE = (
    "Holds means: no violation was found by the searches and samples described below, with the error probabilities "
    "stated there. Findings do not affect the verdict."
)


@dataclass(frozen=True)
class Verdict:
    """The word for the whole, its sentence, and the lines: those that decide come first."""

    outcome: str
    sentence: str
    lines: tuple[Line, ...]


def decide(lines: Iterable[Line]) -> Verdict:
    """The worst outcome of the lines that decide, and why."""
    ordered = tuple(sorted(lines, key=lambda line: not line.decides))
    word = worst({line.outcome for line in ordered if line.decides})
    wrong = [line.short for line in ordered if line.decides and line.outcome == word != "holds"]
    briefs = [line.brief for line in ordered if line.brief]
    return Verdict(word, f"{'; '.join(wrong or briefs)}.", ordered)


def render(verdict: Verdict) -> Content:
    """The overall verdict and one line per part."""
    kind, symbol = look(verdict.outcome)
    word = tag("strong", tag("span", symbol, aria_hidden="true"), " ", verdict.outcome.capitalize())
    banner = tag("p", word, ": ", tag("bdi", verdict.sentence), class_=f"banner {kind}", id="overall")
    rows = [
        [tag("a", line.name, href=f"#{line.section}"), badge(line.outcome), tag("bdi", line.short)]
        for line in verdict.lines
    ]
    lines = table("What was checked", ["part", "verdict", "in short"], rows, class_="verdict")
    return Content(Html(banner + lines + tag("p", NOTE, class_="quiet")))
