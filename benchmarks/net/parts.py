"""The parts of the net: each function computes the facts of one part with the present code.

Modules are imported inside the functions, so that a part can be collected while another one is being moved. A name is
made of names that users see (variants, laws, cells, claims), never of the name of a module.
"""

import argparse
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.net.facts import Fact, digest

if TYPE_CHECKING:
    from properties.laws.law import Law
    from properties.statistics.law import Cell
    from robust_core.problem import Variant

Facts = Iterator[Fact]
Collect = Callable[[], Facts]
ROOT = Path(__file__).parents[2]
GALLERY_SEEDS, GALLERY_EXAMPLES = (0, 1, 2), 25
CHEAP_PANELS = (("frozenlake-c", "short"), ("tdc-a", "default"), ("tdc-c", "fresh-features"))
"""Panels, each under an interpretation, that take about 30 s of processor time together."""
LONGEST_LINE = 400
"""Characters of a line of the page that are frozen; of a longer one also its hash."""
LINE_STARTS = re.compile(r"(?=<(?:section|tr|h[1-6]|p|li|svg|details|table|figure|path|script|style|pre)\b)")
"""The page has few line breaks: a diff needs one before every block."""
PRINTED_COMMAND = re.compile(r"(?:^|`)((?:robust-core|tox|pytest|dask|python -m) [^`\n]*[^`\n\\ ])", re.MULTILINE)
HELP_COLUMNS = "80"
CODE = "0" * 12
"""Stands for the hash of any code."""


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def gallery(
    variants: "Mapping[str, Variant] | None" = None,
    laws: "Iterable[Law] | None" = None,
    *,
    seeds: Sequence[int] = GALLERY_SEEDS,
    examples: int = GALLERY_EXAMPLES,
) -> Facts:
    """Variant / law -> outcome by seed; the statistical cells at quick size for seed 0, with n."""
    from benchmarks.documents import gallery as table
    from properties.judging.verification import on_untested, verify
    from properties.statistics.suite import allot_cells, weight

    chosen = table.variants() if variants is None else variants
    total = weight(chosen.values(), "quick")
    for key, variant in chosen.items():
        for seed in seeds:
            cells = allot_cells(variant, "quick", total=total) if seed == 0 else []
            records = verify(variant, name=key, examples=examples, seed=seed, laws=laws, cells=cells)
            for record in (*on_untested(variant, seed=seed), *records):
                outcome = f"{record.outcome} by {record.blocked_by}" if record.blocked_by else record.outcome
                size = "" if record.statistics is None else f", n={record.statistics.n}"
                yield Fact(f"{variant.name} / {record.law} / seed {seed}", outcome + size)


def kills() -> Facts:
    """Mutant / law -> how many of the drawn problems the mutant fails."""
    from benchmarks.net.rates import hit_rates

    for name, rate in hit_rates().items():
        yield Fact(name, str(rate))


def counterexamples() -> Facts:
    """Mutant / seed -> the size of the counterexample to the first law that it violates."""
    from benchmarks.net.sizes import sizes

    for name, text in sizes().items():
        yield Fact(name, text)


def evidence(ids: Iterable[str] | None = None, *, examples: int | None = None) -> Facts:
    """The status of every claim, committed and found by running it, and every committed counterexample replayed."""
    from properties.claims import catalogue
    from properties.claims import evidence as committed
    from properties.claims.claim import adjudicate, judge

    claims = catalogue()
    effort = {"examples": examples or committed.EXAMPLES, "seed": committed.SEED}
    for name in claims if ids is None else ids:
        claim, stored = claims[name], committed.committed_evidence()[name]
        finding = "" if stored.finding is None else f", {stored.finding}"
        yield Fact(f"{name} / committed", f"{stored.status}, {stored.cases} cases, tightest {stored.tightest}{finding}")
        run = adjudicate(claim, **effort, shrink=False)
        forms = {"printed": run.printed, "amended": run.amended}
        if claim.broken is not None:
            forms["broken"] = judge(claim.broken, **effort, shrink=False)
        outcomes = [f"{form} {verdict.outcome}" for form, verdict in forms.items() if verdict is not None]
        yield Fact(f"{name} / run", ", ".join([run.status, *outcomes]))
        for path, example in committed.counterexamples(claim):
            found = None if claim.printed is None else claim.printed.judge(**example.case)
            yield Fact(f"{name} / {path.name}", "holds" if found is None else f"violated: {found}")


def regression(only: str = "") -> Facts:
    """Metric / variant / problem -> the value, or the hash of the values by seed; ratios of times are left out."""
    from benchmarks.regression import baseline, bench
    from benchmarks.regression.measures import Sample, title
    from benchmarks.runner.units import compute
    from robust_core.json import to_data

    jobs = [job for job in bench.jobs(only=only) if job.unit.repeatable]
    measures, _ = bench.collect(jobs, {job.unit.key: compute(job.unit) for job in jobs}, only=only)
    frozen = baseline.load(str(baseline.COMMITTED)).measures
    for measure in measures:
        text = _canonical(to_data(measure))
        value = f"{len(measure.values)} values, {digest(text)}" if isinstance(measure, Sample) else str(measure.value)
        yield Fact(title(measure.name), f"{value}, {'' if measure in frozen else 'not '}in the baseline")


def _decided(cell: "Cell", alpha: float) -> tuple[str, str]:
    """The outcome of a cell with the pinned seeds, and a text with n and the hash of all rows."""
    from properties.statistics import seed_sets
    from properties.statistics.law import decide, rows_of

    taken: list[list[float]] = []

    def rows(cell: "Cell", seed_set: str, start: int, stop: int) -> list[list[float]]:
        piece = rows_of(cell, seed_set, start, stop)
        taken.extend(piece)
        return piece

    decision = decide(cell, alpha=alpha, seed_set=seed_sets.PINNED, rows=rows)
    exact = json.dumps([decision.log_against, decision.log_favour, taken])
    return decision.outcome, f"{decision.outcome}, n={decision.n}, rows and evidence {digest(exact)}"


def rows(only: str = "") -> Facts:
    """Every quick statistical cell, and every negative control up to the cell that catches it."""
    from benchmarks.batch.cells import controls
    from properties.statistics.suite import plan_cells

    cells = plan_cells("quick")
    for item in cells:
        if only in item.cell.id:
            yield Fact(item.cell.id, _decided(item.cell, item.alpha)[1])
    strictest = min(item.alpha for item in cells)
    for control in controls("quick"):
        name = f"control / {control.law.name} / {control.variant.name}"
        if only in name:
            yield Fact(name, "\n".join(_caught(control.law.cells(control.variant, "quick"), strictest)))


def _caught(cells: "Iterable[Cell]", alpha: float) -> Iterator[str]:
    """The cells of a control, one per line, up to the first that is violated."""
    for cell in cells:
        outcome, text = _decided(cell, alpha)
        yield f"{cell.id}: {text}"
        if outcome == "violated":
            return


def panels(again: Iterable[tuple[str, str]] = CHEAP_PANELS) -> Facts:
    """Panel / interpretation -> outcome and hash of the committed record; the cheap ones computed again."""
    from benchmarks.experiments import results
    from benchmarks.experiments.interpretations import INTERPRETATIONS
    from benchmarks.experiments.panels import run_panel
    from benchmarks.experiments.paper import PANELS
    from robust_core.json import to_data

    committed = results.load_results()
    for run in committed.runs:
        yield Fact(f"{run.panel} / {run.interpretation}", f"{run.outcome}, {digest(_canonical(to_data(run)))}")
    yield Fact("trends", digest(_canonical(to_data(committed.trends))))
    for panel, interpretation in again:
        run = run_panel(PANELS[panel], INTERPRETATIONS[interpretation])
        scores = digest(_canonical(to_data(run.scores)))
        yield Fact(
            f"{panel} / {interpretation} / computed again",
            f"{run.outcome}, {digest(_canonical(to_data(replace(run, scores=()))))}, scores {scores}",
        )


def page() -> Facts:
    """The page of the sample report, as if the present code had made the committed panels."""
    from benchmarks.report.code import Provenance
    from benchmarks.report.page import render
    from benchmarks.tests.report_sample import change, sample

    report = sample()
    # Every edit of the code changes its hash, and the remark beside the panels with it.
    text = render(change(report, panels=replace(report.panels, code=Provenance(CODE, CODE))))
    lines = [line for part in text.split("\n") for line in LINE_STARTS.split(part)]
    yield Fact("sha256", digest(text))
    yield Fact("text", "\n".join(_shortened(line) for line in lines))


def _shortened(line: str) -> str:
    return line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]} … {digest(line)}"


def documents(names: Iterable[str] | None = None) -> Facts:
    """Document / heading -> the hash of the section as it is generated; and whether the committed file is the same."""
    from benchmarks.documents.write import DOCUMENTS, read, render

    for name in DOCUMENTS if names is None else names:
        text = render(name)
        same = text == read(name)
        yield Fact(f"{name}.md", "as committed" if same else "differs from the committed file")
        sections = re.split(r"^(?=#{1,3} )", text, flags=re.MULTILINE)
        for number, section in enumerate(part for part in sections if part):
            heading = section.partition("\n")[0]
            yield Fact(f"{name}.md / {number:03} {heading}", digest(section))


@contextmanager
def _help_width() -> Iterator[None]:
    """The help of a parser is filled to the width of the terminal: fix it."""
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = HELP_COLUMNS
    try:
        yield
    finally:
        del os.environ["COLUMNS"]
        if before is not None:
            os.environ["COLUMNS"] = before


def commands() -> Facts:
    """Every subcommand with its help and its options, and the commands that the documentation prints."""
    from benchmarks.cli.main import parser, subparsers

    root = parser()
    with _help_width():
        for name, command in {"": root, **subparsers(root)}.items():
            program = f"robust-core {name}".strip()
            yield Fact(f"{program} --help", command.format_help())
            for action in command._actions:
                if not isinstance(action, argparse._SubParsersAction):
                    option = ", ".join(action.option_strings) or action.dest
                    yield Fact(f"{program} {option}", action.help or "")
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        printed = sorted(set(PRINTED_COMMAND.findall(path.read_text(encoding="utf-8"))))
        yield Fact(f"printed in {path.name}", "\n".join(printed))


PARTS: dict[str, Collect] = {
    "gallery": gallery,
    "kills": kills,
    "counterexamples": counterexamples,
    "evidence": evidence,
    "regression": regression,
    "rows": rows,
    "panels": panels,
    "page": page,
    "documents": documents,
    "commands": commands,
}
