"""Theorem 3 with the explicit constants of `oracles.bounds.q_learning.explicit_theorem3`, and sharpened.

Theorem 6 is its form for every t: with probability 1 − delta no frame ends above (1 − rho)^k ‖psi_0‖ + epsilon/2, k the
number of frames so far; the cells *every time* ask that of the same runs, at the ends of up to `LOOKS` frames.

The theorem at face value is loose: wrong algorithms can pass it. So beside its epsilon the same runs (same T, same
alpha) are held to `DEVIATIONS` standard deviations of the scalar recursion psi ← psi + alpha(−(1−gamma)psi + noise),
whose stationary variance is at most alpha sigma²/(2(1−gamma)−alpha(1−gamma)²), and to the scaling in epsilon: with
alpha ∝ epsilon² and T ∝ 1/alpha the error must fall like epsilon. Where nothing is random (R = 1) this
error is 0, and the scaling is not tested.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from itertools import pairwise

import numpy as np

from oracles.bounds.q_learning import ExplicitTheorem3, explicit_theorem3, rho
from oracles.chains.chain import pair_chain
from oracles.chains.mixing import t_mix
from properties.cases.benchmark_problems import BenchmarkProblem, models_for, problems_for
from properties.statistics import intervals
from properties.statistics.law import Cell, Size, StatisticalLaw, above, above_multiple, bernoulli_plan, once
from properties.statistics.laws import tabular
from properties.statistics.laws.tabular import advance, is_fast, make_learner, rounding, stretch
from properties.statistics.records import Interval
from robust_core import Contamination, constant
from robust_core.problem import Variant
from robust_core.validate import Floats

EPSILON = {"quick": 1.0, "full": 0.5}
DELTA = 0.25
"""T grows with log 1/delta, the number of runs with 1/delta: a large delta is the cheap one."""
DEVIATIONS = 4.0
FINER = 16
"""alpha is divided by this for the scaling in epsilon, so epsilon by its root."""
TOLERANCE = 0.4
SCALING_BOUND = FINER ** -((1.0 - TOLERANCE) / 2.0)
COARSE = 0.04
"""The larger alpha of the scaling cells."""
PROBLEMS = {"quick": ("two states",), "full": ("two states", "machine", "garnet")}
LOOKS = 64
"""Ends of frames at which the form for every t is looked at."""
ERROR, EXCESS = 0, 1
"""The columns of a row."""
FORGETTING = 8.0
"""Runs of the scaling cells last so many multiples of 1/(alpha mu_min (1−gamma)): the start is forgotten by e^-8."""


def explicit(benchmark: BenchmarkProblem, epsilon: float) -> ExplicitTheorem3:
    """The plan (T, alpha) of the explicit theorem on a named problem."""
    chain = pair_chain(benchmark.mdp, benchmark.policy)
    cost = benchmark.mdp.cost
    return explicit_theorem3(
        epsilon=epsilon,
        delta=DELTA,
        gamma=benchmark.mdp.gamma,
        radius=benchmark.radius,
        n_pairs=cost.size,
        mu_min=benchmark.mu_min,
        tau=max(1, t_mix(chain, threshold=Fraction(benchmark.mu_min) / 2)),
        cost_span=float(cost.max() - cost.min()),
        psi_0=benchmark.truth.size,
    )


def deviation(benchmark: BenchmarkProblem, alpha: float) -> float:
    """The stationary deviation of the scalar recursion at the noisiest pair."""
    slack = 1.0 - benchmark.mdp.gamma
    return float(benchmark.sigma * np.sqrt(alpha / (2.0 * slack - alpha * slack**2)))


def course(variant: Variant, benchmark: BenchmarkProblem, plan: ExplicitTheorem3) -> Callable[[bytes], Floats]:
    """‖Q_T − Q*‖, and the most by which ‖Q_t − Q*‖ exceeds (1 − rho)^k ‖psi_0‖ at the end of a frame."""
    problem = benchmark.problem(constant(plan.alpha))
    fast = is_fast(variant, problem, benchmark.record(b"agreement", tabular.AGREEMENT))
    frames = plan.frames
    ends = np.unique(np.linspace(0, frames.count, min(frames.count, LOOKS) + 1).astype(int)).tolist()
    left = 1.0 - rho(benchmark.mdp.gamma, plan.alpha, frames.visits)
    start = benchmark.truth.size

    def sample(seed: bytes) -> Floats:
        learner, recording = make_learner(variant, problem, seed), benchmark.record(seed, plan.T)
        error, excess = start, 0.0
        for before, after in pairwise(ends):
            advance(learner, stretch(recording, before * frames.length, after * frames.length), fast=fast)
            error = abs(np.asarray(learner.estimate()) - benchmark.truth.table).max()
            excess = np.maximum(excess, error - left**after * start)  # NaN stays
        return np.array([error, excess])

    return sample


def final_error(variant: Variant, benchmark: BenchmarkProblem, alpha: float, steps: int) -> Callable[[bytes], Floats]:
    """‖Q_T − Q*‖ with a constant step."""
    problem = benchmark.problem(constant(alpha))
    fast = is_fast(variant, problem, benchmark.record(b"agreement", tabular.AGREEMENT))

    def sample(seed: bytes) -> Floats:
        learner = make_learner(variant, problem, seed)
        advance(learner, benchmark.record(seed, steps), fast=fast)
        return np.array([abs(np.asarray(learner.estimate()) - benchmark.truth.table).max()])

    return sample


def _two_scales(variant: Variant, benchmark: BenchmarkProblem) -> Callable[[bytes], Floats]:
    """Independent runs with alpha and alpha/16, each long enough to forget its start."""
    rate = benchmark.mu_min * (1.0 - benchmark.mdp.gamma)
    alphas = (COARSE, COARSE / FINER)
    runs = [final_error(variant, benchmark, alpha, int(FORGETTING / (alpha * rate))) for alpha in alphas]
    return lambda seed: np.concatenate([run(seed + bytes([place])) for place, run in enumerate(runs)])


def _exponent(rows: Floats) -> Mapping[str, Interval]:
    return {"exponent in epsilon": intervals.median(2.0 * np.log(rows[:, 0] / rows[:, 1]) / np.log(FINER))}


def _measured(rows: Floats) -> Mapping[str, Interval]:
    return {"median error": intervals.median(rows[:, ERROR])}


def cells(variant: Variant, size: Size) -> list[Cell]:
    """The theorem, its sharpened form, and its scaling, on every problem."""
    found = []
    for name in PROBLEMS[size]:
        benchmark, epsilon = problems_for(variant)[name], EPSILON[size]
        plan = explicit(benchmark, epsilon)
        tight = DEVIATIONS * deviation(benchmark, plan.alpha) + rounding(benchmark, plan.alpha)
        sample = once(partial(course, variant, benchmark, plan))
        content = (*benchmark.content, plan.T, plan.alpha)
        for word, column, bound in (
            ("explicit", ERROR, epsilon),
            ("every time", EXCESS, epsilon / 2.0),
            ("sharpened", ERROR, tight),
        ):
            found.append(
                Cell(
                    f"finite time/{word}/{name}/epsilon={epsilon:g}",
                    bernoulli_plan(DELTA, 2.0 * DELTA),
                    sample,
                    above(column, bound),
                    content,
                    measure=_measured,
                    kind=word,
                    variant=variant.name,
                    stream=f"finite time/course/{name}/epsilon={epsilon:g}",
                )
            )
        if benchmark.sigma == 0.0:
            continue
        found.append(
            Cell(
                f"finite time/scaling/{name}",
                bernoulli_plan(0.5, 0.8),
                once(partial(_two_scales, variant, benchmark)),
                above_multiple(1, SCALING_BOUND, 0, most=benchmark.truth.size),
                benchmark.content,
                measure=_exponent,
                kind="scaling",
                variant=variant.name,
                stream=f"finite time/scaling/{name}",
            )
        )
    return found


LAW = StatisticalLaw(
    "finite-time bound",
    ("control",),
    "finite time",
    "‖Q_T − Q*‖ ≤ ε with probability ≥ 1 − δ for the explicit T and α (Theorem 3); error ∝ ε",
    "P(err_T > ε) ≤ δ; P(err_t > (1−ρ)^k ‖ψ_0‖ + ε/2 at the end of any frame k) ≤ δ; "
    "P(err > 4 deviations) ≤ 1/4; P(err(α/16) > 16^-0.3 min(err(α), ‖ψ_0‖)) ≤ 1/2",
    cells,
    tabular.RIGHT,
    (tabular.STUCK, tabular.WRONG_RADIUS, tabular.NOISY, tabular.DOUBLED),
    claims=("thm3", "thm6"),
    sets=(Contamination,),
    purposes={
        "explicit": "the bound of the theorem, which is loose: it detects errors of the size of Q*",
        "every time": "the bound of Theorem 6: it detects an error in the middle of a run that is gone at its end",
        "sharpened": "the same runs against the noise that is to be expected: the cell with power",
        "scaling": "error ∝ ε: a bias below the sharpened bound shows when alpha falls",
    },
    models=lambda variant: models_for(variant, *PROBLEMS["quick"]),
)
