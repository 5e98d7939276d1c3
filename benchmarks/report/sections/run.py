"""This run: every time and version of the page is here and nowhere else, so two runs can be compared."""

from typing import Any

from benchmarks.report.layout import Section, table
from benchmarks.report.markup import Html, tag
from benchmarks.report.scales import number
from benchmarks.report.sections.regression import comparison

NOTE = "All that differs between two runs of the same code with the same seeds is in this section."


def section(data: dict[str, Any]) -> Section:
    """Times and versions."""
    run = data["run"]
    times = [[part, number(seconds, 3)] for part, seconds in run["seconds"]]
    versions = [[name, version] for name, version in run["versions"]]
    body = Html(
        tag("p", NOTE, class_="quiet")
        + tag("p", "Begun ", tag("time", run["begun"], datetime=run["begun"]), ".")
        + table(
            "Seconds per part (next to nothing where results were kept)",
            ["part", "seconds"],
            times,
            numeric=[1],
            tools=False,
        )
        + table("Versions", ["what", "version"], versions, tools=False)
    )
    if run["speed"]:
        body = Html(body + comparison("Ratios of times taken in one run, against the baseline", run["speed"]))
    return Section("run", "This run: times and versions", body)
