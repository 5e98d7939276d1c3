"""How docs/statistics.md shows the committed calibration: false alarms, power, and the code that measured them."""

from dataclasses import astuple

from benchmarks.documents.markdown import ceiling, floor, table
from benchmarks.studies.calibration import SEEN_IN, Calibration, ControlCounts, Full, Right, Verified

POWER = """\
### Power

A cell is designed to detect its stated effect with probability 1 − beta = 0.999; for the Bernoulli cells that is
computed exactly above, for the others simulated. Each control was chosen to deviate by at least the stated effect in
some cell of its law. The table was measured over {seeds} master seeds, with an interval (99.9 %, at all n at once). So
few seeds can contradict the stated power but cannot confirm it:"""

BEYOND = """\
Pairs, problems and statements that the quick size leaves out, with right algorithms: {seeds} master seeds, {dear} for
the cells that take seconds each; **{red} violated**. By design a cell is violated with probability at most its alpha,
about 1e-8. So few seeds cannot confirm that; the table has the upper end of the exact interval (Clopper and Pearson,
99.9 %):"""

BEYOND_POWER = """\
The controls of the full size, each in the one cell that is designed to detect it (the law has more cells), with the
exact interval:"""

MADE = {
    "right": "quick cells", "wrong": "controls of the quick cells", "verify": "verification",
    "full": "cells of the full size", "dear": "long cells of the full size",
}  # fmt: skip
MADE_BY = """\
Calibration is slow and is not repeated after every change. The figures stay valid as long as a change does not alter
the samples, which the tests of bitwise reproducibility and the committed full run check."""


def calibration_text(report: Calibration) -> str:
    """The committed calibration."""
    parts: list[str] = []
    if report.right is not None:
        parts += right(report.right)
    if report.wrong is not None:
        parts += [POWER.format(seeds=report.wrong.seeds), power(report.wrong.controls)]
    if report.full is not None:
        parts += ["### Cells of the full size only", beyond(report.full)]
    if report.verify is not None:
        parts += ["### The whole verification", verifications(report.verify)]
    if report.made_by:
        made = table(["part", "code and versions"], ((MADE[part], code) for part, code in report.made_by.items()))
        parts += ["### Code and versions", MADE_BY, made]
    return "\n\n".join(parts)


def right(found: Right) -> list[str]:
    """False alarms at quick size."""
    evidence = "; ".join(f"{name} = {value:.2g}" for name, value in found.evidence.items())
    return [
        f"{found.seeds} master seeds at quick size: **{found.red} red**. "
        f"Evidence against right algorithms: {evidence} (each may be at most the inverse of its level).",
        table(
            ["cell", "holds", "undecided", "violated", "mean n", "largest log E"],
            [[name, *astuple(cell)] for name, cell in found.cells.items()],
        ),
    ]


def power(controls: dict[str, ControlCounts]) -> str:
    """Stated against measured power of every law on every negative control."""
    from properties.statistics.intervals import proportion
    from properties.statistics.sequential import BETA

    rows = []
    for name, c in controls.items():
        interval = proportion(c.caught, c.of)
        met = "not contradicted" if interval.upper >= 1.0 - BETA else "**below**"
        measured_power = f"{c.caught} of {c.of}, {interval.estimate:.3g} [{interval.lower:.3g}, {interval.upper:.3g}]"
        rows.append([name, f"{1.0 - BETA:g}", measured_power, met, c.mean_n])
    return table(["control", "stated power", "measured", "stated power is", "mean n"], rows)


def beyond(found: Full) -> str:
    """False alarms in the cells that only the full size has, and the power on its controls, each in one cell."""
    from properties.statistics.intervals import clopper_pearson

    rows = []
    for name, c in found.cells.items():
        most = ceiling(clopper_pearson(c.violated, c.seeds).upper)
        rows.append([name, c.seeds, c.holds, c.undecided, c.violated, most, c.mean_n, c.largest_log_e])
    head = ["cell", "seeds", "holds", "undecided", "violated", "false alarms at most", "mean n", "largest log E"]
    places = {f"{law}: {name}": place for law, named in SEEN_IN.items() for name, place in named.items()}
    seen = []
    for name, control in found.controls.items():
        interval = clopper_pearson(control.caught, control.of)
        shown = f"{control.caught} of {control.of}: [{floor(interval.lower)}, {ceiling(interval.upper)}]"
        seen.append([name, places[name].removesuffix("/"), shown, control.mean_n])
    text = BEYOND.format(seeds=found.seeds, dear=found.dear_seeds, red=found.red)
    return "\n\n".join([text, table(head, rows), BEYOND_POWER, table(["control", "cell", "caught", "mean n"], seen)])


def verifications(found: Verified) -> str:
    """The verifications of the gallery over many master seeds."""
    rows = [
        [name, *(counts.get(word, 0) for word in ("holds", "undecided", "violated", "error", "blocked"))]
        for name, counts in found.variants.items()
    ]
    lines = [
        f"Every right variant of the gallery over {found.seeds} master seeds (`robust-core verify --seed 1` to "
        f"`--seed {found.seeds}`), {found.examples} problems per exact law, statistical laws at quick size: "
        f"**{found.red} red**. "
        "Counts of verdicts, over all laws and seeds:",
        table(["variant", "holds", "undecided", "violated", "error", "blocked"], rows),
    ]
    return "\n\n".join([*lines, *found.wrong])
