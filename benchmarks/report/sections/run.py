"""This run: every time and version of the page is here and nowhere else, so two runs can be compared."""

import datetime
import platform
from dataclasses import dataclass

from benchmarks.regression.compare import Row
from benchmarks.report.layout import table
from benchmarks.report.markup import Html, tag
from benchmarks.report.scales import number
from benchmarks.report.section import Content, Section, Work
from benchmarks.report.sections import regression
from benchmarks.runner.identity import processor

NOTE = "Everything that differs between two runs of the same code with the same seeds is in this section."


@dataclass(frozen=True)
class Run:
    """Times and versions: when the report was begun, seconds by section, versions by name, and ratios of times."""

    begun: str
    seconds: tuple[tuple[str, float], ...]
    versions: tuple[tuple[str, str], ...]
    speed: tuple[Row, ...]


def collect(work: Work) -> Run:
    """The times of the sections before, and the versions."""
    from properties.judging.verdict import versions

    found = {**versions(), "system": platform.platform(), "processor": processor()}
    begun = datetime.datetime.fromtimestamp(work.begun, datetime.UTC).isoformat(timespec="seconds")
    return Run(begun, tuple(work.seconds), tuple(found.items()), work.result(regression.compare)[1])


def render(run: Run) -> Content:
    """Times and versions."""
    caption = "Seconds per part (almost none where the results were stored)"
    times = [[part, number(seconds, 3)] for part, seconds in run.seconds]
    body = Html(
        tag("p", NOTE, class_="quiet")
        + tag("p", "Started ", tag("time", run.begun, datetime=run.begun), ".")
        + table(caption, ["part", "seconds"], times, numeric=[1], tools=False)
        + table("Versions", ["what", "version"], run.versions, tools=False)
    )
    if run.speed:
        body = Html(body + regression.tables("Ratios of times taken in one run, against the baseline", run.speed))
    return Content(body)


SECTION = Section("run", "This run: times and versions", collect, render)
