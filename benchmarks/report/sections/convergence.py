"""Robust Q-learning with a constant step on benchmark problems, next to the explicit bound of Theorem 3."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.report.layout import commands, figure
from benchmarks.report.markup import Html, tag
from benchmarks.report.plots import Plot, Series, share_axes
from benchmarks.report.scales import number
from benchmarks.report.section import Content, Section, Work
from benchmarks.runner.units import Unit
from robust_core.json import from_data, to_data
from robust_core.validate import Floats

if TYPE_CHECKING:
    from properties.cases.benchmark_problems import BenchmarkProblem

RUNS = 30
EPSILON = 0.5
CHECKPOINTS = 60
LOW, HIGH = 5.0, 95.0
"""The percentiles of the envelope."""
BAND = "5th to 95th percentile of the runs"
DIGITS = 5
PROBLEMS = ("two states", "machine", "garnet")
INTRODUCTION = (
    "Theorem 3 with explicit constants: from Q_0 = 0 with the constant step α, ‖Q_t − Q*‖ ≤ (1−ρ)^⌊t/L⌋ ‖Q*‖ + N/(1−γ) "
    "at all t ≤ T at once with probability at least 1−δ, and ≤ ε at t = T."
)


@dataclass(frozen=True)
class Curve:
    """‖Q_t − Q*‖ over seeded runs on one problem: mean, envelope, worst run, and the bound.

    `above` counts the runs that are above the bound at some time.
    """

    problem: str
    model: str
    radius: float
    runs: int
    epsilon: float
    delta: float
    alpha: float
    T: int
    above: int
    times: tuple[int, ...]
    mean: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    worst: tuple[float, ...]
    bound: tuple[float, ...]


def collect(work: Work) -> tuple[Curve, ...]:
    """One curve per problem."""
    return tuple(from_data(Curve, data) for data in work.compute(units()))


def units(runs: int = RUNS) -> list[Unit]:
    """The work of this section."""
    return [Unit(f"{__name__}:converge", {"problem": name, "runs": runs}) for name in PROBLEMS]


def converge(problem: str, runs: int) -> Any:
    """The data of a curve with the alpha of the explicit theorem.

    With probability at least 1−delta the whole path lies below the bound (`pathwise_bound` with `noise_bound`); at
    t = T the bound is at most epsilon.
    """
    from oracles.bounds.q_learning import V_span_bound, noise_bound, pathwise_bound
    from properties.cases.benchmark_problems import small_problems
    from properties.statistics.laws.finite_time import DELTA, explicit
    from robust_core.streams import key

    benchmark = small_problems()[problem]
    mdp, radius = benchmark.mdp, benchmark.radius
    plan = explicit(benchmark, EPSILON)
    times = _checkpoints(plan.T)
    errors = np.array([_errors(benchmark, plan.alpha, times, key("report", problem, i)) for i in range(runs)])
    noise = noise_bound(
        gamma=mdp.gamma,
        radius=radius,
        alpha=plan.alpha,
        V_span=V_span_bound(mdp.gamma, radius, float(mdp.cost.max() - mdp.cost.min())),
        n_pairs=mdp.cost.size,
        T=plan.T,
        delta=DELTA / 2,
    )
    bound = [
        pathwise_bound(
            t,
            psi_0=benchmark.truth.size,
            noise=noise,
            frame=plan.frames.length,
            visits=plan.frames.visits,
            alpha=plan.alpha,
            gamma=mdp.gamma,
        )
        for t in times
    ]
    low, high = np.percentile(errors, (LOW, HIGH), axis=0)
    curve = Curve(
        problem=problem,
        model=repr(mdp),
        radius=radius,
        runs=runs,
        epsilon=EPSILON,
        delta=DELTA,
        alpha=plan.alpha,
        T=plan.T,
        above=int((errors > np.array(bound)).any(axis=1).sum()),
        times=tuple(times),
        mean=_short(errors.mean(axis=0)),
        low=_short(low),
        high=_short(high),
        worst=_short(errors.max(axis=0)),
        bound=_short(bound),
    )
    return to_data(curve)


def _short(values: Sequence[float]) -> tuple[float, ...]:
    """The values with few digits."""
    return tuple(float(f"{x:.{DIGITS}g}") for x in values)


def _checkpoints(T: int) -> list[int]:
    """Geometrically spaced times from 1 to T."""
    return sorted({round(T ** (i / (CHECKPOINTS - 1))) for i in range(CHECKPOINTS)})


def _errors(benchmark: "BenchmarkProblem", alpha: float, times: Sequence[int], seed: bytes) -> Floats:
    """‖Q_t − Q*‖ at the checkpoints of one run from Q_0 = 0."""
    from robust_core import Q_LEARNING, TabularLearner, constant
    from robust_core.learners.runs import snapshots

    learner = TabularLearner(Q_LEARNING, benchmark.problem(constant(alpha)))
    tables = snapshots(learner, benchmark.walk(seed), times)
    return abs(tables - benchmark.truth.table).max(axis=(1, 2))


def render(curves: Sequence[Curve]) -> Content:
    """One plot per problem."""
    plots = share_axes([_plot(curve) for curve in curves])
    figures = [figure(plot, _caption(curve)) for plot, curve in zip(plots, curves, strict=True)]
    again = commands(f"python -c \"from {__name__} import converge; print(converge('garnet', 30))\"")
    return Content(Html(tag("p", INTRODUCTION) + tag("div", *figures, class_="grid") + again), tuple(plots))


def _plot(curve: Curve) -> Plot:
    series = [
        Series(f"mean of {curve.runs} runs", curve.times, curve.mean, curve.low, curve.high, BAND),
        Series("bound", curve.times, curve.bound),
        Series("worst run", curve.times, curve.worst),
    ]
    return Plot(
        id=f"convergence-{curve.problem.replace(' ', '-')}",
        title=f"Error of robust Q-learning on {curve.problem}",
        x_label="steps",
        y_label="‖Q − Q*‖",
        series=series,
        rules=[("ε", curve.epsilon)],
        log_x=True,
        log_y=True,
    )


def _caption(curve: Curve) -> list[Any]:
    facts = (
        f"R = {curve.radius:g}, α = {number(curve.alpha, 3)}, T = {curve.T}, δ = {curve.delta:g}, "
        f"ε = {curve.epsilon:g}; {curve.above} of {curve.runs} runs above the bound at some time"
    )
    return [tag("strong", curve.problem), " ", tag("code", curve.model), " ", facts]


SECTION = Section("convergence", "Convergence against the bound", collect, render, about="paper")
