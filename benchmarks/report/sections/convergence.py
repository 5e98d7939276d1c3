"""Robust Q-learning with a constant step on named problems, next to the explicit bound of Theorem 3."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from benchmarks.report.layout import commands, figure
from benchmarks.report.markup import Html, tag
from benchmarks.report.plots import Plot, Series
from benchmarks.report.scales import number
from benchmarks.report.section import Content, Section, Work
from benchmarks.runner.units import Unit
from robust_core.json import from_data, to_data

RUNS = 30
EPSILON, DELTA = 0.5, 0.25
CHECKPOINTS = 60
LOW, HIGH = 5.0, 95.0
"""The percentiles of the envelope."""
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
    from oracles.planning import closed_form
    from robust_core.streams import key

    mdp, radius = _problems()[problem]
    Q_star = closed_form.solve(mdp, radius).Q.value
    plan = _plan(mdp, radius, float(abs(Q_star).max()))
    times = _checkpoints(plan.T)
    errors = np.array([_errors(mdp, radius, plan.alpha, times, Q_star, key("report", problem, i)) for i in range(runs)])
    span = float(mdp.cost.max() - mdp.cost.min())
    noise = noise_bound(
        gamma=mdp.gamma,
        radius=radius,
        alpha=plan.alpha,
        V_span=V_span_bound(mdp.gamma, radius, span),
        n_pairs=mdp.cost.size,
        T=plan.T,
        delta=DELTA / 2,
    )
    frame = {"frame": plan.frames.length, "visits": plan.frames.visits, "alpha": plan.alpha, "gamma": mdp.gamma}
    bound = [pathwise_bound(t, psi_0=float(abs(Q_star).max()), noise=noise, **frame) for t in times]
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


@functools.cache
def _problems() -> dict[str, tuple[Any, float]]:
    """Small models with dyadic numbers, every pair visited often."""
    from robust_core import models
    from robust_core.streams import key

    return {
        "two states": (models.two_states(gamma=0.5), 0.25),
        "machine": (models.machine_replacement(3, gamma=0.5), 0.125),
        "garnet": (models.garnet(4, 2, 2, gamma=0.5, seed=key("report", "garnet")), 0.25),
    }


def _plan(mdp: Any, radius: float, psi_0: float) -> Any:
    """T and alpha of the explicit theorem for the chain of the uniform policy."""
    from oracles.bounds.q_learning import explicit_theorem3
    from oracles.chains.chain import mu_min, pair_chain
    from oracles.chains.mixing import t_mix
    from robust_core import uniform

    chain = pair_chain(mdp, uniform(mdp.n_states, mdp.n_actions))
    rarest = float(mu_min(chain).value)
    return explicit_theorem3(
        epsilon=EPSILON,
        delta=DELTA,
        gamma=mdp.gamma,
        radius=radius,
        n_pairs=mdp.cost.size,
        mu_min=rarest,
        tau=max(1, t_mix(chain, threshold=Fraction(rarest) / 2)),
        cost_span=float(mdp.cost.max() - mdp.cost.min()),
        psi_0=psi_0,
    )


def _checkpoints(T: int) -> list[int]:
    """Geometrically spaced times from 1 to T."""
    return sorted({round(T ** (i / (CHECKPOINTS - 1))) for i in range(CHECKPOINTS)})


def _errors(mdp: Any, radius: float, alpha: float, times: list[int], Q_star: Any, seed: bytes) -> list[float]:
    """‖Q_t − Q*‖ at the checkpoints of one run from Q_0 = 0."""
    from robust_core import Q_LEARNING, Contamination, TabularLearner, constant, uniform
    from robust_core.problem import Problem
    from robust_core.trajectory import Recording, Walk

    problem = Problem(
        n_states=mdp.n_states,
        n_actions=mdp.n_actions,
        gamma=mdp.gamma,
        uncertainty_set=Contamination(radius),
        step_size=constant(alpha),
        initial=np.zeros(mdp.cost.shape),
    )
    learner = TabularLearner(Q_LEARNING, problem)
    path = Walk(mdp, uniform(mdp.n_states, mdp.n_actions), seed=seed).record(times[-1])
    found, done = [], 0
    for t in times:
        part = slice(done, t)
        learner.update_many(
            Recording(
                path.s[part], path.a[part], path.cost[part], path.s_next[part], path.a_next[part], path.terminal[part]
            )
        )
        found.append(float(abs(learner.estimate() - Q_star).max()))
        done = t
    return found


def render(curves: Sequence[Curve]) -> Content:
    """One plot per problem."""
    plots = [_plot(curve) for curve in curves]
    figures = [figure(plot, _caption(curve)) for plot, curve in zip(plots, curves, strict=True)]
    again = commands(f"python -c \"from {__name__} import converge; print(converge('garnet', 30))\"")
    return Content(Html(tag("p", INTRODUCTION) + tag("div", *figures, class_="grid") + again), tuple(plots))


def _plot(curve: Curve) -> Plot:
    series = [
        Series(f"mean of {curve.runs} runs", curve.times, curve.mean, curve.low, curve.high),
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


SECTION = Section("convergence", "Convergence against the bound", collect, render)
