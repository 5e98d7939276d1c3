"""This run: every time and version of the page is here and nowhere else, so two runs can be compared."""

import datetime
import platform
import shlex
from dataclasses import dataclass
from pathlib import Path

from benchmarks.regression.compare import Row
from benchmarks.regression.targets import describe_revision, last_change
from benchmarks.report.layout import fold, table
from benchmarks.report.markup import Html, isolate, tag
from benchmarks.report.scales import number
from benchmarks.report.section import Content, Section, Work
from benchmarks.report.sections import regression
from benchmarks.runner.identity import processor
from robust_core.versions import installed_version

NOTE = "Everything that differs between two runs of the same code with the same seeds is here and in the header."
EVERYTHING = "*"
"""A pattern of git: a change of any file below the working folder counts."""


@dataclass(frozen=True)
class Run:
    """Times and versions: when the report was begun, seconds by section, versions by name, and ratios of times.

    `commit` is empty outside a git repository and ends with "+" if files differ from it.
    """

    begun: str
    commit: str
    version: str
    command: str
    baseline: str
    seconds: tuple[tuple[str, float], ...]
    versions: tuple[tuple[str, str], ...]
    speed: tuple[Row, ...]


def collect(work: Work) -> Run:
    """The times of the sections before, and the versions."""
    from properties.judging.verdict import versions

    found = {**versions(), "system": platform.platform(), "processor": processor()}
    begun = datetime.datetime.fromtimestamp(work.begun, datetime.UTC).isoformat(timespec="seconds")
    return Run(
        begun,
        describe_revision(Path.cwd() / EVERYTHING)[0],
        installed_version("robust-core"),
        shlex.join(["robust-core", "report", *work.targets, *(["--quick"] if work.quick else [])]),
        _baseline(work),
        tuple(work.seconds),
        tuple(found.items()),
        work.result(regression.compare)[1],
    )


def _baseline(work: Work) -> str:
    """The file of the baseline and the commit that it was last changed in."""
    path = regression.baseline_file(work)
    if not path.is_file():
        return "none"
    commit = last_change(path)
    return f"{path.name} of {commit}" if commit else path.name


def render_header(run: Run, *, quick: bool) -> Html:
    """One line: which code, when, by which command, against what."""
    facts = [
        ("commit", tag("code", run.commit or "unknown")),
        ("date", tag("time", run.begun[:16].replace("T", " "), datetime=run.begun)),
        ("version", run.version),
        ("command", tag("code", isolate(run.command))),
        ("baseline", isolate(run.baseline)),
        ("size", "quick" if quick else "full"),
    ]
    shown = [tag("span", tag("span", f"{name} ", class_="quiet"), value, class_="fact") for name, value in facts]
    return tag("p", *shown, class_="facts", id="facts")


def render(run: Run) -> Content:
    """Times and versions."""
    caption = "Seconds per part (almost none where the results were stored)"
    times = [[part, number(seconds, 3)] for part, seconds in run.seconds]
    body = Html(
        tag("p", NOTE, class_="quiet")
        + tag("p", "Started ", tag("time", run.begun, datetime=run.begun), ".")
        + fold("Seconds per part", table(caption, ["part", "seconds"], times, numeric=[1]))
        + fold("Versions", table("Versions", ["what", "version"], run.versions))
    )
    if run.speed:
        body = Html(body + regression.tables("Ratios of times taken in one run", run.speed, name="ratios"))
    return Content(body)


SECTION = Section("run", "This run: times and versions", collect, render)
