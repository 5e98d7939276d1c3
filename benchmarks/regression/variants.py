"""What is measured of any variant: metrics that follow from its kind, one replicate per seed.

Learners run on the named benchmark problems and are compared with the certified truth, as the built-in ones are, with
shorter runs: a variant without a compiled path takes a tenth of a second per replicate. The other kinds are measured
by `benchmarks.regression.functions`. Seeds depend on (seed set, problem, number) alone. This module is executed in
workers, for it calls the user's code.
"""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from time import process_time
from typing import Any

import numpy as np

from benchmarks.regression import courses, functions, linear
from benchmarks.regression.functions import FITTED, GAMMA, RADIUS, Unsuitable
from benchmarks.regression.linear import Planted
from benchmarks.regression.measures import Model, Part
from benchmarks.regression.metric import METRICS, Metric
from benchmarks.regression.problems import PROBLEMS
from benchmarks.regression.tabular import CONTROL, Bench, Sizes, Values, significant
from properties.cases.benchmark_problems import BenchmarkProblem, with_paid_costs
from properties.cases.runs import ends_of
from properties.cases.scope import ANY, Scope
from robust_core import (
    EXPECTED_SARSA,
    Q_LEARNING,
    TD0,
    Contamination,
    LinearLearner,
    TabularLearner,
    key,
    models,
    per_visit,
)
from robust_core.learners.schedules import StepSize
from robust_core.mdp import MDP
from robust_core.problem import Problem, Variant
from robust_core.trajectory import Recording

SHORT = Sizes(middle=2**9, last=2**12, spread=2**10, rests=4, rest=2**8, per_octave=2)
LINEAR_TIMES, LINEAR_SPREAD = tuple(2**k for k in range(12)), 2**9
AGREEMENT = 64
"""Transitions on which update_many must equal the loop over update before it is used."""
ERROR_MARGIN, SPEED_MARGIN = 0.04, 0.05
RATIO, MISBEHAVIOUR = "time ratio", "misbehaviour"
BAD_RUNS, WORST_RUNS = "bad runs", "worst runs"
DEFAULT = {
    "control": ("two states, per visit", "garnet, per visit", "garnet, constant step"),
    "evaluation": ("machine, per visit", "garnet, constant step"),
    "linear evaluation": (linear.PROBLEM,),
}
EVALUATION = ("middle error", "last error", "area", "time to epsilon", "bias", "spread")
LINEAR = ("last error", *linear.METRIC_NAMES)
_MARGINS = dict.fromkeys(("first error", "middle error", "last error", "area", "spread"), ERROR_MARGIN)
_MARGINS[RATIO] = SPEED_MARGIN
OWN_METRICS: dict[str, Metric] = METRICS | {
    name: replace(METRICS[name], margin=margin, why="a change of 5 % is to be found")
    for name, margin in _MARGINS.items()
}
OWN_METRICS["bias"] = replace(
    METRICS["bias"], text="the mean entry of Q_T − Q* in units of ‖Q*‖, of theta_T − theta* away from 0"
)
OWN_METRICS[RATIO] = replace(OWN_METRICS[RATIO], text="processor time in units of that of the built-in reference")
OWN_METRICS[functions.PLAN_ERROR] = Metric(
    functions.PLAN_ERROR, "largest value", "lower", "statistical",
    "the distance from the enclosed truth, at least 1e-12", "relative", 0.25,
    "a quarter of an error: two bits of accuracy are eleven such steps",
)  # fmt: skip
OWN_METRICS[functions.FIT] = Metric(
    functions.FIT, "1", "exact", "statistical",
    "Pearson's statistic of sampled successors over its degrees of freedom", "relative", 0.1,
    "its mean is 1 for a right sampler: neither more nor less is right",
)  # fmt: skip
OWN_METRICS[functions.DRIFT] = Metric(
    functions.DRIFT, "nats", "exact", "statistical",
    "the mean log-probability of the successors in short samples above its expectation", "absolute", 0.002,
    "a fifth of a percent of the transitions with a successor that is e times as likely",
)  # fmt: skip
OWN_METRICS[courses.DRAWS] = Metric(
    courses.DRAWS, "draws", "lower", "statistical", "draws of the simulator per iteration", "relative", ERROR_MARGIN,
    "a change of 5 % is to be found",
)  # fmt: skip
for _name, _which in ((BAD_RUNS, "90 % quantile"), (WORST_RUNS, "largest")):
    OWN_METRICS[_name] = Metric(
        _name, "of the runs", "lower", "share",
        f"runs whose (last) error is above the {_which} of the better ones on the first 32 seeds", "absolute", 0.05,
        "one run in twenty",
    )  # fmt: skip
OWN_METRICS[MISBEHAVIOUR] = Metric(
    MISBEHAVIOUR, "text", "exact", "deterministic", "what the code did instead of an answer; nothing if it answers"
)


ROWS: dict[str, tuple[tuple[str, ...], Callable[[Variant, str, Model | None, bytes], Values]]] = {
    **functions.ROWS,
    **{kind: (names, courses.row) for kind, names in courses.METRICS.items()},
}
"""The kinds that are measured on drawn models: their metrics, and the function that measures one seed."""
MEASURED = (*DEFAULT, *ROWS)
"""The kinds that can be measured."""


def problem_names(kind: str) -> tuple[str, ...]:
    """All problems that a kind can be measured on; the first ones are the default."""
    named = {
        "control": tuple(PROBLEMS),
        "evaluation": tuple(name for name, problem in PROBLEMS.items() if not problem.terminal),
    }
    return tuple(dict.fromkeys((*_usual(kind), *named.get(kind, ()), FITTED)))


def _usual(kind: str) -> tuple[str, ...]:
    """The problems on which a kind is measured, unless its sizes are outside; a kind without metrics is refused."""
    if kind not in MEASURED:
        raise ValueError(f"a variant of kind {kind!r} has no metrics: robust-core verify judges it")
    return DEFAULT.get(kind, tuple(functions.SIZES))


def default_problems(kind: str, scope: Scope = ANY) -> tuple[str, ...]:
    """The problems of a comparison unless others are named: those whose sizes are inside, or one made for them."""
    return tuple(name for name in _usual(kind) if scope.has_sizes(*sizes_of(name, scope)[:2])) or (FITTED,)


def sizes_of(problem: str, scope: Scope) -> tuple[int, int, int]:
    """The states, actions and successors of a problem; of a named model all states can be successors."""
    if problem in PROBLEMS:
        mdp = PROBLEMS[problem].mdp
        return mdp.n_states, mdp.n_actions, mdp.n_states
    return functions.sizes_of(problem, scope) if problem != linear.PROBLEM else (6, 2, 3)


def metrics_of(kind: str, problem: str, *, own_schedule: bool = False) -> tuple[str, ...]:
    """The statistical metrics of a kind on a problem."""
    if kind == "linear evaluation":
        return LINEAR
    if kind == "evaluation":
        return EVALUATION
    if kind in ROWS:
        return ROWS[kind][0]
    names = CONTROL[:-2] if problem in PROBLEMS and PROBLEMS[problem].terminal else CONTROL
    return tuple(name for name in names if not (own_schedule and name == "noise"))


def measure(
    variant: Variant,
    problem: str,
    model: Model | None,
    seed_set: str,
    start: int,
    stop: int,
    tick: Callable[[], None] = lambda: None,
) -> Part:
    """The values of the seeds start … stop−1; `tick` is called after each."""
    names = metrics_of(variant.kind, problem, own_schedule=variant.options.get("schedule") == "own")
    row = _rows(variant, problem, model)
    rows = []
    for index in range(start, stop):
        rows.append(row(key("regression", seed_set, problem, index)))
        tick()
    return Part(
        samples={name: tuple(values[name][0] for values in rows) for name in names},
        impossible={name: sum(values[name][1] for values in rows) for name in names},
    )


def _rows(variant: Variant, problem: str, model: Model | None) -> Callable[[bytes], Values]:
    if variant.kind in ROWS:
        return partial(ROWS[variant.kind][1], variant, problem, model)
    maker = _Maker(variant)
    if variant.kind == "linear evaluation":
        planted = _planted(variant, problem)
        maker.fast = maker.agrees(planted.problem_from(planted.theta_0), planted.walk(b"agreement").record(AGREEMENT))
        return partial(_linear_row, planted, maker)
    met = benchmark(variant, problem, model)
    zero = np.zeros_like(met.truth.table)
    maker.fast = maker.agrees(met.problem(initial=zero), met.record(b"agreement", AGREEMENT))
    return partial(_tabular_row, Bench(met, maker, SHORT), maker, "asynchronous" in variant.promises)


def _tabular_row(bench: Bench, maker: "_Maker", local: bool, seed: bytes) -> Values:
    maker.begin(seed)
    values = bench.row(seed, hashlib.blake2b())
    # Only one who promises to change what was visited cannot know better of the rest.
    if not local:
        values |= {name: (values[name][0], False) for name in ("first error", "time to epsilon")}
    return values


def _linear_row(planted: Planted, maker: "_Maker", seed: bytes) -> Values:
    maker.begin(seed)
    return linear.row(planted, maker, seed, hashlib.blake2b(), LINEAR_TIMES, LINEAR_SPREAD, away=True)


def benchmark(variant: Variant, problem: str, model: Model | None) -> BenchmarkProblem:
    """The benchmark problem as the variant meets it: with its first set, inside its options, what it learns."""
    scope = Scope.of(variant)
    if model is not None:
        found = replace(_of_model(model, problem), radius=scope.radius(model.radius))
    elif problem == FITTED:
        mdp = models.garnet(*sizes_of(problem, scope), gamma=GAMMA, seed=key("regression", "fitted"))
        found = BenchmarkProblem(problem, mdp, RADIUS, step_size=_per_visit(mdp.gamma)).within(scope)
    else:
        found = PROBLEMS[problem].within(scope)
    if found.terminal and Contamination not in variant.sets:
        raise Unsuitable(f"problem {problem!r}: its truth is known for contamination only, and {variant.name} is not")
    if found.terminal and ends_of(variant, Contamination) == "none":
        raise Unsuitable(f"problem {problem!r}: its episodes end, and {variant.name} is for problems without ends")
    return replace(
        with_paid_costs(found, variant),
        set_kind=Contamination if Contamination in variant.sets else variant.sets[0],
        learns="Q*" if variant.kind == "control" else variant.options.get("estimates", "V"),
    )


def _per_visit(gamma: float) -> StepSize:
    return per_visit(1.0, rate=1.0 - gamma, power=1.0)


def _of_model(model: Model, name: str) -> BenchmarkProblem:
    mdp = MDP.from_dict(model.mdp)
    return BenchmarkProblem(name, mdp, model.radius, step_size=_per_visit(mdp.gamma))


@cache
def _planted_problem(scope: Scope, sizes: tuple[int, int, int], smoothing: str) -> Planted:
    smooth = functions.smoothing_of(smoothing, linear.VARRHO)
    planted = Planted(scope.radius(linear.RADIUS), smooth, sizes, scope.gamma(0.5))
    scope.require_model(planted.mdp)
    return planted


def _planted(variant: Variant, problem: str) -> Planted:
    scope = Scope.of(variant)
    return _planted_problem(scope, sizes_of(problem, scope), variant.options.get("smoothing", "lse"))


class _Maker:
    """The factory of a variant's learners, each with an rng of its own that is keyed by the replicate."""

    def __init__(self, variant: Variant) -> None:
        self.variant, self.fast, self.seed, self.count = variant, False, b"", 0

    def begin(self, seed: bytes) -> None:
        """A replicate begins."""
        self.seed, self.count = seed, 0

    def __call__(self, problem: Problem) -> "_Learner":
        self.count += 1
        return _Learner(self.variant, problem, key("learner", self.seed, self.count), fast=self.fast)

    def agrees(self, problem: Problem, recording: Recording) -> bool:
        """Whether there is an update_many that equals the loop over update on a short stretch."""
        learners = []
        for fast in (False, True):
            self.begin(b"agreement")
            learners.append(self(problem))
            learners[-1].fast = fast
        if not hasattr(learners[1].started, "update_many"):
            return False
        for learner in learners:
            learner.update_many(recording)
        slow, quick = (learner.parts() for learner in learners)
        return all(np.array_equal(one, other) for one, other in zip(slow, quick, strict=True))


class _Learner(courses.Learner):
    """A user's learner, driven by recordings."""

    def __init__(self, variant: Variant, problem: Problem, seed: bytes, *, fast: bool) -> None:
        super().__init__(variant, problem, seed)
        self.fast = fast

    def update_many(self, recording: Recording) -> None:
        """Feed a recording, by the fast path where it is sound."""
        _feed(self.started, recording, fast=self.fast)

    def estimate(self) -> Any:
        """The estimate; of linear learners (theta, omega), where one that has no omega has 0."""
        if self._variant.kind != "linear evaluation":
            return super().estimate()
        parts = self.parts()
        return (*parts, np.zeros_like(parts[0]))[:2]


def _feed(learner: Any, recording: Recording, *, fast: bool) -> None:
    if fast:
        learner.update_many(recording)
    else:
        for transition in recording:
            learner.update(transition)


# Speed

TURN_SECONDS, REPEATS = 0.004, 3
STEPS = {True: 2**14, False: 2**8}
"""Steps of a learner between two looks at the clock, with a compiled path and without."""
Work = Callable[[], object]


def clock(
    variant: Variant, problem: str, model: Model | None, seed_set: str
) -> Callable[[int], tuple[float | None, ...]]:
    """One ratio of processor times per turn: the variant's, in units of the built-in reference's, in this process.

    The two take turns. Of REPEATS pairs the least time of each counts: a disturbance only ever lengthens a time.
    """
    ours, theirs = (lengthen(work) for work in contestants(variant, problem, model, key("speed", seed_set, problem)))

    def measure_turns(turns: int) -> tuple[float | None, ...]:
        found = []
        for turn in range(turns):
            times: tuple[list[float], list[float]] = ([], [])
            for repeat in range(REPEATS):
                for side in (0, 1) if (turn + repeat) % 2 == 0 else (1, 0):
                    times[side].append((ours, theirs)[side]())
            found.append(significant(min(times[0]) / max(min(times[1]), 1e-12)))
        return tuple(found)

    return measure_turns


def lengthen(work: Work, clock: Callable[[], float] = process_time) -> Callable[[], float]:
    """Seconds of the processor per call, measured over as many calls as take TURN_SECONDS; the first may compile."""
    work()
    count = 1
    while _seconds(work, count, clock) < TURN_SECONDS and count < 2**16:
        count *= 2
    return lambda: _seconds(work, count, clock) / count


def _seconds(work: Work, count: int, clock: Callable[[], float]) -> float:
    started = clock()
    for _ in range(count):
        work()
    return clock() - started


def contestants(variant: Variant, problem: str, model: Model | None, seed: bytes) -> tuple[Work, Work]:
    """The same work for the variant and for the reference of its kind."""
    if variant.kind in courses.METRICS:
        return courses.contestants(variant, problem, model, seed)
    if variant.kind in functions.ROWS:
        return functions.contestants(variant, problem, model, seed)
    maker = _Maker(variant)
    maker.begin(seed)
    if variant.kind == "linear evaluation":
        planted = _planted(variant, problem)
        told, record = planted.problem_from(planted.theta_0), planted.walk(seed).record
        reference: Any = LinearLearner("TDC", told)
    else:
        met = benchmark(variant, problem, model)
        told, record = met.problem(initial=np.zeros_like(met.truth.table)), met.walk(seed).record
        rules = {"Q*": Q_LEARNING, "Q": EXPECTED_SARSA, "V": TD0}
        reference = TabularLearner(rules[met.learns], replace(told, uncertainty_set=Contamination(met.radius)))
    maker.fast = maker.agrees(told, record(AGREEMENT))
    recording = record(STEPS[maker.fast])
    fast = maker.fast and hasattr(reference, "update_many")
    return partial(maker(told).update_many, recording), partial(_feed, reference, recording, fast=fast)
