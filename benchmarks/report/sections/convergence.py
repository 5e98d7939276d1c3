"""Convergence curves next to the explicit bound of Theorem 3."""

from typing import Any

from benchmarks.report.layout import Section, commands, figure
from benchmarks.report.markup import Html, tag
from benchmarks.report.plots import Plot, Series
from benchmarks.report.scales import number
from benchmarks.report.typeset import prose

INTRODUCTION = (
    "Theorem 3 with explicit constants: from Q_0 = 0 with the constant step alpha, ‖Q_t − Q*‖ <= (1−rho)^⌊t/L⌋‖Q*‖ + "
    "N/(1−gamma) at all t <= T at once with probability at least 1−delta, and <= epsilon at t = T."
)


def section(data: dict[str, Any]) -> Section:
    """One plot per problem."""
    curves = data["convergence"]
    plots = [_plot(curve) for curve in curves]
    figures = [figure(plot, _caption(curve)) for plot, curve in zip(plots, curves, strict=True)]
    again = commands("python -c \"from benchmarks.report.data.convergence import *; print(converged('garnet', 30))\"")
    body = Html(tag("p", prose(INTRODUCTION)) + tag("div", *figures, class_="grid") + again)
    return Section("convergence", "Convergence against the bound", body, tuple(plots))


def _plot(curve: dict[str, Any]) -> Plot:
    series = [
        Series(f"mean of {curve['runs']} runs", curve["times"], curve["mean"], curve["low"], curve["high"]),
        Series("bound", curve["times"], curve["bound"]),
        Series("worst run", curve["times"], curve["worst"]),
    ]
    return Plot(
        id=f"convergence-{curve['problem'].replace(' ', '-')}",
        title=f"Error of robust Q-learning on {curve['problem']}",
        x_label="steps",
        y_label="‖Q − Q*‖",
        series=series,
        rules=[("ε", curve["epsilon"])],
        log_x=True,
        log_y=True,
    )


def _caption(curve: dict[str, Any]) -> list[Any]:
    facts = (
        f"R = {curve['radius']:g}, alpha = {number(curve['alpha'], 3)}, T = {curve['T']}, delta = {curve['delta']:g}, "
        f"epsilon = {curve['epsilon']:g}"
    )
    above = f"; {curve['above']} of {curve['runs']} runs ever above the bound"
    return [tag("strong", curve["problem"]), " ", tag("code", curve["model"]), " ", prose(facts), above]
