"""The verdict comes first."""

from typing import Any

from benchmarks.report.layout import Section, table
from benchmarks.report.markup import Html, tag
from benchmarks.report.words import badge, look

NOTE = (
    "Holds means: no violation was found by the searches and samples described below, with the error probabilities "
    "stated there. Rows marked “finding” say what became of the paper; they do not decide."
)


def section(data: dict[str, Any]) -> Section:
    """The overall verdict and one line per part."""
    verdict = data["verdict"]
    kind, symbol = look(verdict["outcome"])
    word = tag("strong", tag("span", symbol, aria_hidden="true"), " ", verdict["outcome"].capitalize())
    banner = tag("p", word, ": ", tag("bdi", verdict["sentence"]), class_=f"banner {kind}", id="overall")
    rows = [
        [tag("a", part["name"], href=f"#{part['id']}"), badge(part["outcome"]), tag("bdi", part["short"])]
        for part in verdict["parts"]
    ]
    parts = table("What was checked", ["part", "verdict", "in short"], rows, class_="verdict", tools=False)
    return Section("verdict", "Verdict", Html(banner + parts + tag("p", NOTE, class_="quiet")))
