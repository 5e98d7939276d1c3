"""Bad arguments are refused by name before any work."""

import dataclasses
import re
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest

from properties.tests.small_problems import (
    HALF,
    MDP2,
    SEED,
    C,
    linear_problem,
    problem,
    q_learner,
    recording,
    tdc,
    walk,
)
from robust_core import environments, models, validate
from robust_core.learners import linear, runs, tabular
from robust_core.learners.schedules import StepSize, constant, per_visit, polynomial
from robust_core.learners.tabular import EXPECTED_SARSA, Q_LEARNING, SARSA, TD0, TabularLearner
from robust_core.mdp import MDP
from robust_core.operators import bellman, bellman_policy, smoothed_bellman_policy
from robust_core.planning import plan
from robust_core.policy import deterministic, greedy, uniform
from robust_core.problem import Problem, Variant
from robust_core.s_rectangular import plan_states
from robust_core.sampler import alias_table
from robust_core.sets import (
    S_RECTANGULAR,
    SETS,
    Contamination,
    Interval,
    LocalAdversary,
    Restart,
    SRectangular,
    SRectangularL1,
    TotalVariation,
    UncertaintySet,
    Wasserstein,
)
from robust_core.smoothing import LogSumExp, Mellowmax
from robust_core.support_functions import sigma, support, worst_case
from robust_core.trajectory import Transition, Walk

NAN, INF = float("nan"), float("inf")
LARGER = Walk(models.ring(3), np.ones((3, 1)), seed=SEED)
STUCK = MDP([[[0.0, 1.0]], [[0.0, 1.0]]], np.zeros((2, 1)), 0.5)
NEARLY_STUCK = MDP([[[0.0, 1.0]], [[1e-300, 1.0]]], np.zeros((2, 1)), 0.5)
SPARSE = MDP(MDP2.rows, MDP2.cost, MDP2.gamma)
MASKED = np.ma.masked_less([0.0, 1.0], 0.5)
SHARED = walk()
STAY = (1.0, 0, 0.0, False)
PER_PAIR = Contamination([[0.25, 0.5]])  # type: ignore[arg-type]
BAD_POLICY = np.array([[0.5, 0.5], [0.5, 0.25]])


def toy_text(table: Any) -> environments.Environment:
    return environments.from_toy_text("toy", table, [1.0], gamma=0.5, interpretation="continuing")


BAD_CALLS: dict[str, tuple[Callable[[], object], str]] = {
    # sets and support functions
    "radius above 1": (lambda: Contamination(1.5), r"radius must lie in \[0, 1\], got 1.5"),
    "radius negative": (lambda: TotalVariation(-0.1), r"radius must lie in \[0, 1\], got -0.1"),
    "radius text": (lambda: Contamination("a"), "radius must be a number, got 'a'"),  # type: ignore[arg-type]
    "radius per state": (
        lambda: Contamination([0.5]),  # type: ignore[arg-type]
        r"radius must be one number, or have shape \(S, A\) .*, got shape \(1,\)",
    ),
    "radius missing": (lambda: Contamination(None), "radius must be a number, got None"),  # type: ignore[arg-type]
    "values missing": (
        lambda: sigma(TotalVariation(0.1), [0.5, 0.5], None),  # type: ignore[arg-type]
        "v must be an array of numbers: got None",
    ),
    "values text": (
        lambda: sigma(TotalVariation(0.1), [0.5, 0.5], "ab"),
        "v must be an array of numbers: got 'ab'",
    ),
    "radius per pair above 1": (
        lambda: Contamination([[0.5, 1.5]]),  # type: ignore[arg-type]
        r"radius\[0, 1\] must lie in \[0, 1\], got 1.5",
    ),
    "radius per pair in a row": (
        lambda: sigma(PER_PAIR, [0.5, 0.5], [0.0, 1.0]),
        r"radius of Contamination must be one number for 2 states, got shape \(1, 2\)",
    ),
    "radius per pair of another model": (
        lambda: support(MDP2, PER_PAIR, [0.0, 1.0]),
        r"radius of Contamination must be one number for 2 states, or one for each row in shape .*, got shape \(1, 2\)",
    ),
    "radius per pair of a learner": (
        lambda: TabularLearner(Q_LEARNING, problem(uncertainty_set=PER_PAIR)),
        r"needs one radius for all pairs \(s, a\), got Contamination\(radius=\[\[0.25, 0.5\]\]\)",
    ),
    "radius negative, of any size": (lambda: validate.radius("radius", -1.0), "radius must not be negative, got -1.0"),
    "metric not square": (lambda: validate.metric("metric", [[0.0, 1.0]]), r"one row and one column .* \(1, 2\)"),
    "metric not symmetric": (
        lambda: validate.metric("metric", [[0.0, 1.0], [2.0, 0.0]]),
        r"metric\[0, 1\] must equal metric\[1, 0\] = 2.0 \(a metric\), got 1.0",
    ),
    "metric negative": (
        lambda: validate.metric("metric", [[0.0, -1.0], [-1.0, 0.0]]),
        r"metric\[0, 1\] must not be negative \(a metric\), got -1.0",
    ),
    "metric with a diagonal": (
        lambda: validate.metric("metric", [[0.0, 1.0], [1.0, 0.5]]),
        r"metric\[1, 1\] must be 0 \(a metric\), got 0.5",
    ),
    "metric with a detour": (
        lambda: validate.metric("metric", [[0.0, 1.0, 3.0], [1.0, 0.0, 1.0], [3.0, 1.0, 0.0]]),
        r"metric\[0, 2\] must not exceed metric\[0, 1\] \+ metric\[1, 2\] = 2.0 .*triangle.*, got 3.0",
    ),
    "bounds too high": (
        lambda: validate.bounds([0.75, 0.5], [1.0, 1.0]),
        "low must sum to at most 1, or it excludes every distribution, got 1.25",
    ),
    "bounds of a pair too high": (
        lambda: validate.bounds([[[0.5, 0.5], [0.75, 0.5]]] * 2, np.ones((2, 2, 2))),
        r"low\[0, 1\] must sum to at most 1, or it excludes every distribution, got 1.25",
    ),
    "bounds of different lengths": (
        lambda: validate.bounds(cast(Any, [0.5, [0.5]]), [1.0, 1.0]),
        "low must be an array of num",
    ),
    "widths of different lengths": (
        lambda: Interval.around([0.5, 0.5], cast(Any, [0.5, [0.5]])),
        "width must be an array of numbers",
    ),
    "plan: reach by pair": (
        lambda: plan(models.ring(2), LocalAdversary([[0.5], [0.25]], np.zeros((2, 2)))),  # type: ignore[arg-type]
        r"radius of LocalAdversary must be one number for planning, .* got shape \(2, 1\)",
    ),
    "plan of states: no model": (
        lambda: plan_states(HALF, SRectangularL1(0.5)),  # type: ignore[arg-type]
        "mdp must be of type MDP",
    ),
    "bounds too low": (
        lambda: validate.bounds([0.0, 0.0], [0.25, 0.5]),
        "high must sum to at least 1, or it excludes every distribution, got 0.75",
    ),
    "bounds that cross": (
        lambda: validate.bounds([0.0, 0.5], [1.0, 0.25]),
        r"high\[1\] must not be below low = 0.5, got 0.25",
    ),
    "bounds negative": (lambda: validate.bounds([-0.5], [1.0]), r"low\[0\] must not be negative, got -0.5"),
    "bounds of two lengths": (lambda: validate.bounds([0.0, 0.0], [1.0]), r"high must have shape \(2,\), got \(1,\)"),
    "sigma: p sum": (lambda: sigma(C, [0.5, 0.25], [0.0, 1.0]), r"p sums to 0.75"),
    "sigma: p negative": (lambda: sigma(C, [1.5, -0.5], [0.0, 1.0]), r"p\[1\] must not be negative, got -0.5"),
    "sigma: p nan": (lambda: sigma(C, [NAN, 1.0], [0.0, 1.0]), r"p\[0\] must be finite"),
    "sigma: p length": (lambda: sigma(C, [1.0], [0.0, 1.0]), "p must have 2 entries"),
    "sigma: p scalar": (lambda: sigma(C, 1.0, [1.0]), "p must have 1 entries"),
    "sigma: p text": (lambda: sigma(C, ["1"], [1.0]), "p must be an array of numbers"),
    "sigma: v nan": (lambda: sigma(C, [0.5, 0.5], [0.0, NAN]), r"v\[1\] must be finite"),
    "sigma: v shape": (lambda: sigma(C, [1.0], [[1.0]]), "v must have shape"),
    "sigma: v empty": (lambda: sigma(C, [], []), "v must not be empty"),
    "sigma: no set": (lambda: sigma(0.5, [1.0], [1.0]), "uncertainty_set must be of type UncertaintySet, got 0.5"),  # type: ignore[arg-type]
    "worst_case: p sum": (lambda: worst_case(C, [[0.5, 0.5], [0.5, 0.25]], [0.0, 1.0]), r"p row \(1,\) sums to"),
    "support: v length": (lambda: support(MDP2, C, [1.0]), r"v must have shape \(2,\), got \(1,\)"),
    "sigma: v masked": (lambda: sigma(C, [0.5, 0.5], MASKED), "v must not have masked entries"),
    "support: no model": (lambda: support(None, C, [1.0]), "mdp must be of type MDP, got None"),  # type: ignore[arg-type]
    "expectation: nan": (lambda: MDP2.expectation([NAN, 0.0]), r"v\[0\] must be finite, got nan"),
    "expectation: sparse, nan": (lambda: SPARSE.expectation([NAN, 0.0]), r"v\[0\] must be finite, got nan"),
    "expectation: masked": (lambda: MDP2.expectation(MASKED), "v must not have masked entries"),
    # operators
    "bellman: no model": (lambda: bellman(None, C, HALF), "mdp must be of type MDP, got None"),  # type: ignore[arg-type]
    "T_pi: no model": (lambda: bellman_policy(None, C, HALF, [0, 0]), "mdp must be of type MDP"),  # type: ignore[arg-type]
    "smoothed: no model": (
        lambda: smoothed_bellman_policy(None, 0.5, LogSumExp(1.0), HALF, [0, 0]),  # type: ignore[arg-type]
        "mdp must be of type MDP",
    ),
    "bellman: Q shape": (lambda: bellman(MDP2, C, [1.0, 2.0]), r"Q must have shape \(2, 2\)"),
    "bellman: Q inf": (lambda: bellman(MDP2, C, [[INF, 0.0], [0.0, 0.0]]), r"Q\[0, 0\] must be finite"),
    "T_pi: policy sum": (lambda: bellman_policy(MDP2, C, BAD_POLICY, [0, 0]), r"policy row \(1,\) sums to 0.75"),
    "T_pi: policy shape": (lambda: bellman_policy(MDP2, C, [0.5, 0.5], [0, 0]), "policy must have shape"),
    "T_pi: V length": (lambda: bellman_policy(MDP2, C, HALF, [0.0]), "V must have shape"),
    "smoothed: radius": (
        lambda: smoothed_bellman_policy(MDP2, 2.0, LogSumExp(1.0), HALF, [0, 0]),
        "radius must lie",
    ),
    "smoothed: smoothing": (
        lambda: smoothed_bellman_policy(MDP2, 0.5, 1.0, HALF, [0, 0]),  # type: ignore[arg-type]
        "smoothing must be LogSumExp or Mellowmax, got 1.0",
    ),
    "smoothed: V nan": (
        lambda: smoothed_bellman_policy(MDP2, 0.5, Mellowmax(1.0), HALF, [NAN, 0]),
        r"V\[0\] must be finite",
    ),
    "varrho 0": (lambda: LogSumExp(0.0), "varrho must be positive, got 0.0"),
    "varrho negative": (lambda: Mellowmax(-1.0), "varrho must be positive, got -1.0"),
    "varrho inf": (lambda: LogSumExp(INF), "varrho must be finite"),
    "LSE: V empty": (lambda: LogSumExp(1.0).value([]), "V must not be empty"),
    "LSE gradient: V nan": (lambda: LogSumExp(1.0).gradient([NAN]), r"V\[0\] must be finite"),
    # policies
    "uniform: no states": (lambda: uniform(0, 2), "n_states must be at least 1, got 0"),
    "uniform: half an action": (lambda: uniform(2, 1.5), "n_actions must be a whole number"),  # type: ignore[arg-type]
    "deterministic: range": (lambda: deterministic([0, 2], 2), "actions must lie in 0 … 1"),
    "deterministic: floats": (lambda: deterministic([0.0], 2), "actions must be a list of whole numbers"),
    "deterministic: empty": (lambda: deterministic([], 2), "actions must be a list of whole numbers that is not empty"),
    "deterministic: no integers": (lambda: deterministic(np.array([], dtype=np.int64), 2), "that is not empty"),
    "deterministic: masked": (
        lambda: deterministic(np.ma.array([0, 1], mask=[True, False]), 2),
        "actions must not have masked entries",
    ),
    "deterministic: n_actions": (lambda: deterministic([0], 0), "n_actions must be at least 1"),
    "greedy: vector": (lambda: greedy([1.0]), "Q must have shape"),
    # schedules
    "scale above 1": (lambda: constant(1.5), r"scale must lie in \[0, 1\], got 1.5"),
    "scale nan": (lambda: constant(NAN), "scale must be finite"),
    "rate negative": (lambda: polynomial(0.5, rate=-1.0, power=1.0), "rate must not be negative, got -1.0"),
    "power negative": (lambda: per_visit(0.5, rate=1.0, power=-0.5), "power must not be negative, got -0.5"),
    "clock": (lambda: StepSize(0.5, clock="hours"), "clock must be .* got 'hours'"),  # type: ignore[arg-type]
    "negative count": (lambda: polynomial(0.5, rate=1.0, power=1.0).at(-1), "n must be at least 0, got -1"),
    "count of text": (lambda: constant(0.5).at("x"), "n must be a whole number, got 'x'"),  # type: ignore[arg-type]
    "count nan": (lambda: polynomial(0.5, rate=1.0, power=1.0).at(NAN), "n must be a whole number, got nan"),
    "count fractional": (lambda: constant(0.5).at(1.5), "n must be a whole number, got 1.5"),
    # walks
    "walk: policy sum": (lambda: Walk(MDP2, BAD_POLICY, seed=SEED), r"policy row \(1,\) sums to 0.75"),
    "walk: start": (lambda: walk(start=2), "start must lie in 0 … 1, got 2"),
    "walk: start negative": (lambda: walk(start=-1), "start must be at least 0, got -1"),
    "walk: seed": (lambda: Walk(MDP2, HALF, seed="seed"), "seed must be bytes"),  # type: ignore[arg-type]
    "walk: terminal length": (lambda: walk(terminal=[True]), "terminal must be 2 booleans"),
    "walk: terminal numbers": (lambda: walk(terminal=[0, 1]), "terminal must be 2 booleans"),
    "walk: all terminal": (lambda: walk(terminal=[True, True]), "terminal marks every state"),
    "walk: no reset": (
        lambda: Walk(STUCK, np.ones((2, 1)), seed=SEED, terminal=[False, True]),
        "terminal state 1 has no reset",
    ),
    "walk: reset that cannot be drawn": (
        lambda: Walk(NEARLY_STUCK, np.ones((2, 1)), seed=SEED, terminal=[False, True]),
        "terminal state 1 has no reset",
    ),
    "walk: foreign table": (
        lambda: walk(table=LARGER.table),
        "table was made for S=3, A=1, the model has S=2, A=2",
    ),
    "walk: no model": (lambda: Walk(None, HALF, seed=SEED), "mdp must be of type MDP, got None"),  # type: ignore[arg-type]
    "walk: no table": (lambda: walk(table=3), "table must be of type AliasTable, got 3"),
    "walk: table and no policy": (
        lambda: Walk(MDP2, "garbage", seed=SEED, table=walk().table),
        "policy must be an array of numbers",
    ),
    "walk: terminal masked": (
        lambda: walk(terminal=np.ma.array([False, True], mask=[True, False])),
        "terminal must not have masked entries",
    ),
    "walk: negative steps": (lambda: walk().steps(-1), "n must be at least 0, got -1"),
    "walk: negative record": (lambda: walk().record(-1), "n must be at least 0, got -1"),
    "walk: fractional record": (lambda: walk().record(2.5), "n must be a whole number"),  # type: ignore[arg-type]
    "alias table: no model": (lambda: alias_table(None, HALF), "mdp must be of type MDP"),  # type: ignore[arg-type]
    "alias table: policy": (lambda: alias_table(MDP2, BAD_POLICY), "policy row"),
    # problems
    "problem: gamma": (lambda: problem(gamma=1.0), r"gamma must lie in \[0, 1\)"),
    "problem: sizes": (lambda: problem(n_states=0), "n_states must be at least 1"),
    "problem: policy": (lambda: problem(policy=BAD_POLICY), "policy row"),
    "problem: initial shape": (lambda: problem(initial=np.zeros((3, 2))), r"initial must have shape \(2, 2\)"),
    "problem: initial scalar": (lambda: problem(initial=0.0), "initial must be a table"),
    "problem: initial nan": (lambda: problem(initial=np.full((2, 2), NAN)), r"initial\[0, 0\] must be finite"),
    "problem: behaviour": (lambda: problem(behaviour=BAD_POLICY), "behaviour row"),
    "problem: initial text": (lambda: problem(initial="a"), r"initial must be a table .*, got 'a' of shape \(\)"),
    "problem: set": (lambda: problem(uncertainty_set=0.25), "uncertainty_set must be"),
    "problem: step size": (lambda: problem(step_size=0.5), "step_size must be"),
    "problem: feature rows": (
        lambda: linear_problem(features=np.eye(3)),
        r"features must have shape \(2, any\), got \(3, 3\)",
    ),
    "problem: theta length": (lambda: linear_problem(initial=np.zeros(3)), r"initial must have shape \(2,\)"),
    "problem: smoothing": (lambda: linear_problem(smoothing="LSE"), "smoothing must be"),
    "problem: second step size": (lambda: linear_problem(second_step_size=0.5), "second_step_size must be"),
    "problem: projection": (lambda: linear_problem(projection=0.0), "projection must be positive"),
    "problem: projection nan": (lambda: linear_problem(projection=NAN), "projection must be finite"),
    "problem: initial masked": (
        lambda: problem(initial=np.ma.masked_less([[0.0, 1.0], [2.0, 3.0]], 1.0)),
        "initial must not have masked entries",
    ),
    "problem: no model": (
        lambda: Problem.of(None, C, step_size=constant(0.5)),  # type: ignore[arg-type]
        "mdp must be of type MDP, got None",
    ),
    "problem: features of another model": (
        lambda: Problem.of(MDP2, C, step_size=constant(0.5), features=np.eye(3)),
        r"features must have shape \(2, any\), got \(3, 3\)",
    ),
    # learners
    "learner: no rule": (lambda: TabularLearner("x", problem()), "rule must be of type Rule, got 'x'"),  # type: ignore[arg-type]
    "learner: no problem": (lambda: TabularLearner(Q_LEARNING, None), "problem must be of type Problem, got None"),  # type: ignore[arg-type]
    "update: too short": (
        lambda: q_learner().update((0, 0, 0.0)),  # type: ignore[arg-type]
        r"transition must be \(s, a, cost, s_next, a_next, terminal\), got \(0, 0, 0.0\)",
    ),
    "update: no transition": (lambda: q_learner().update(None), "transition must be .* got None"),  # type: ignore[arg-type]
    "update: terminal": (
        lambda: q_learner().update(Transition(0, 0, 0.0, 0, 0, "no")),  # type: ignore[arg-type]
        "terminal must be True or False, got 'no'",
    ),
    "learner: other set": (
        lambda: TabularLearner(Q_LEARNING, problem(uncertainty_set=TotalVariation(0.5))),
        "Q-learning is for contamination sets",
    ),
    "learner: no policy": (
        lambda: TabularLearner(EXPECTED_SARSA, problem(policy=None)),
        "expected SARSA evaluates a policy",
    ),
    "learner: initial of TD(0)": (lambda: TabularLearner(TD0, problem()), r"initial must have shape \(2,\)"),
    "update: state": (lambda: q_learner().update(Transition(2, 0, 0.0, 0, 0, False)), "s must lie in 0 … 1, got 2"),
    "update: negative": (lambda: q_learner().update(Transition(0, 0, 0.0, -1, 0, False)), "s_next must be at least 0"),
    "update: action": (lambda: q_learner().update(Transition(0, 5, 0.0, 0, 0, False)), "a must lie in 0 … 1, got 5"),
    "update: cost": (lambda: q_learner().update(Transition(0, 0, NAN, 0, 0, False)), "cost must be finite, got nan"),
    "update: next action": (
        lambda: TabularLearner(SARSA, problem()).update(Transition(0, 0, 0.0, 0, 7, False)),
        "a_next must lie in 0 … 1, got 7",
    ),
    "update_many: list": (
        lambda: q_learner().update_many([Transition(0, 0, 0.0, 0, 0, False)]),  # type: ignore[arg-type]
        r"recording must be of type Recording, got \[Transition",
    ),
    "update_many: column": (
        lambda: q_learner().update_many(recording(cost=[0.0, 0.0, 0.0])),
        "recording.cost must be of type ndarray",
    ),
    "update_many: no column": (
        lambda: q_learner().update_many(recording(s=None)),
        "recording.s must be of type ndarray",
    ),
    "update_many: masked": (
        lambda: q_learner().update_many(recording(cost=np.ma.masked_less([0.0, 1.0, 2.0], 1.0))),
        "recording.cost must not have masked entries",
    ),
    "update_many: state": (
        lambda: q_learner().update_many(recording(s=np.array([0, 1, 2]))),
        r"recording.s must lie in 0 … 1, got 0 … 2",
    ),
    "update_many: far away": (
        lambda: q_learner().update_many(recording(s_next=np.array([0, 1, 10**12]))),
        "recording.s_next must lie",
    ),
    "update_many: negative": (
        lambda: q_learner().update_many(recording(a=np.array([0, -1, 0]))),
        "recording.a must lie",
    ),
    "update_many: length": (
        lambda: q_learner().update_many(recording(a=np.zeros(2, dtype=np.int64))),
        "recording.a must be 3 whole numbers",
    ),
    "update_many: costs too few": (
        lambda: q_learner().update_many(recording(cost=np.zeros(1))),
        "recording.cost must be 3 finite numbers",
    ),
    "update_many: cost nan": (
        lambda: q_learner().update_many(recording(cost=np.array([0.0, NAN, 0.0]))),
        "recording.cost must be 3 finite numbers",
    ),
    "update_many: terminal too few": (
        lambda: q_learner().update_many(recording(terminal=np.zeros(1, dtype=np.bool_))),
        "recording.terminal must be 3 booleans",
    ),
    "learn: sizes": (lambda: tabular.learn(q_learner(), LARGER, 1), "the learner has S=2, A=2, the walk S=3, A=1"),
    "learn: no walk": (lambda: tabular.learn(q_learner(), None, 1), "walk must be of type Walk, got None"),  # type: ignore[arg-type]
    "learn: steps": (lambda: tabular.learn(q_learner(), walk(), -1), "steps must be at least 0, got -1"),
    "learn_plain: steps": (lambda: tabular.learn_plain(q_learner(), walk(), -1), "steps must be at least 0, got -1"),
    "learn_all: steps": (lambda: runs.learn_all([(q_learner(), walk())], -1), "steps must be at least 0"),
    "learn_all: threads": (lambda: runs.learn_all([], 1, threads=0), "threads must be at least 1"),
    "learn_all: shared walk": (
        lambda: runs.learn_all([(q_learner(), SHARED), (q_learner(), SHARED)], 1),
        "must not share",
    ),
    "learn_all: no pair": (lambda: runs.learn_all([None], 1), "pairs must be a learner and its walk each, got None"),  # type: ignore[list-item]
    "learn_all: no learner": (lambda: runs.learn_all([(walk(), walk())], 1), "pairs must be a learner and its walk"),  # type: ignore[list-item]
    "learn_all: no walk": (lambda: runs.learn_all([(tdc(), tdc())], 1), "walk must be of type Walk"),  # type: ignore[list-item]
    "snapshots: order": (lambda: runs.snapshots(q_learner(), walk(), [3, 2]), r"times must ascend .* \[3, 2\]"),
    "snapshots: negative": (lambda: runs.snapshots(q_learner(), walk(), [-1]), "times must be at least 0"),
    "snapshots: fractional": (lambda: runs.snapshots(q_learner(), walk(), [0.5]), "times must be a whole number"),  # type: ignore[list-item]
    "linear: rule": (lambda: linear.LinearLearner("TD", linear_problem()), "rule must be"),  # type: ignore[arg-type]
    "linear: no problem": (lambda: linear.LinearLearner("TDC", None), "problem must be of type Problem, got None"),  # type: ignore[arg-type]
    "linear: no walk": (lambda: linear.learn(tdc(), None, 1), "walk must be of type Walk"),  # type: ignore[arg-type]
    "linear: too short": (lambda: tdc().update((0, 0, 0.0, 1)), "transition must be"),  # type: ignore[arg-type]
    "linear: terminal": (
        lambda: tdc().update(Transition(0, 0, 0.0, 1, 0, "no")),  # type: ignore[arg-type]
        "terminal must be True or False, got 'no'",
    ),
    "linear: other set": (
        lambda: linear.LinearLearner("TDC", linear_problem(uncertainty_set=TotalVariation(0.5))),
        "TDC is for contamination sets",
    ),
    "linear: no features": (lambda: linear.LinearLearner("TDC", problem()), "TDC needs features"),
    "linear: visits": (
        lambda: linear.LinearLearner("GTD2", linear_problem(step_size=per_visit(0.5, rate=1.0, power=1.0))),
        "GTD2 has no visit counts",
    ),
    "linear: cost": (lambda: tdc().update(Transition(0, 0, INF, 1, 0, False)), "cost must be finite, got inf"),
    "linear: update": (lambda: tdc().update(Transition(0, 0, 0.0, 2, 0, False)), "s_next must lie in 0 … 1, got 2"),
    "linear: sizes": (lambda: linear.learn(tdc(), LARGER, 1), "the learner has S=2, the walk S=3"),
    "linear: steps": (lambda: linear.learn(tdc(), walk(), -1), "steps must be at least 0"),
    "linear plain: steps": (lambda: linear.learn_plain(tdc(), walk(), -1), "steps must be at least 0"),
    "stopping time: horizon": (lambda: linear.stopping_time(0, SEED), "horizon must be at least 1, got 0"),
    "stopping time: seed": (lambda: linear.stopping_time(5, b"short"), "seed must be 16 bytes"),
    # variants
    "variant: kind": (lambda: Variant("x", "magic", print, (Contamination,), ()), "kind must be one of"),  # type: ignore[arg-type]
    "variant: make": (lambda: Variant("x", "control", 5, (Contamination,), ()), "make must be callable"),  # type: ignore[arg-type]
    "variant: sets": (lambda: Variant("x", "control", print, (int,), ()), "sets must be types"),  # type: ignore[arg-type]
    # environments
    "cart pole: action": (lambda: environments.cart_pole_step(np.zeros(4), 2), "action must lie in 0 … 1, got 2"),
    "cart pole: state": (lambda: environments.cart_pole_step(np.zeros(3), 0), "state must have 4 entries"),
    "cart pole: bins": (lambda: environments.cart_pole(bins=(1, 1, 1)), "bins must be four"),  # type: ignore[arg-type]
    "cart pole: one number for bins": (lambda: environments.cart_pole(bins=5), "bins must be four .* got 5"),  # type: ignore[arg-type]
    "cart pole: no bins": (lambda: environments.cart_pole(bins=(0, 1, 1, 1)), "bins must be at least 1"),
    "cart pole: points": (lambda: environments.cart_pole(points=0), "points must be at least 1"),
    "perturbed: p": (
        lambda: environments.perturb(environments.cart_pole(bins=(1, 1, 1, 1), points=1), 1.5),
        r"p must lie in \[0, 1\], got 1.5",
    ),
    "perturbed: no environment": (
        lambda: environments.perturb(None, 0.5),  # type: ignore[arg-type]
        "environment must be of type Environment, got None",
    ),
    "frozen lake: size": (lambda: environments.frozen_lake(size="5x5"), "size must be '4x4' or '8x8', got '5x5'"),
    "frozen lake: slippery": (
        lambda: environments.frozen_lake(slippery="no"),  # type: ignore[arg-type]
        "slippery must be True or False, got 'no'",
    ),
    "toy text: empty": (lambda: toy_text({}), "table must be .* not be empty, got {}"),
    "toy text: no rows": (lambda: toy_text({0: 3}), "table must be .* got {0: 3}"),
    "toy text: state missing": (lambda: toy_text({1: {0: [STAY]}}), "got table without 0"),
    "toy text: ragged": (lambda: toy_text({0: {0: [STAY], 1: [STAY]}, 1: {0: [STAY]}}), r"got table\[1\] without 1"),
    "toy text: short": (lambda: toy_text({0: {0: [(1.0, 0)]}}), r"table\[0\]\[0\] must list .* got \(1.0, 0\)"),
    "toy text: probability": (lambda: toy_text({0: {0: [("1", *STAY[1:])]}}), "probability must be a number, got '1'"),
    "toy text: reward": (lambda: toy_text({0: {0: [(1.0, 0, NAN, False)]}}), "reward must be finite, got nan"),
    "toy text: terminated": (lambda: toy_text({0: {0: [(1.0, 0, 0.0, "no")]}}), "terminated must be True or False"),
    "ring: no states": (lambda: models.ring(0), "n_states must be at least 1"),
    "river: one state": (lambda: models.river_swim(1), "n_states must be at least 2"),
}


@pytest.mark.parametrize("name", BAD_CALLS)
def test_bad_arguments_are_refused_by_name(name: str) -> None:
    call, message = BAD_CALLS[name]
    with pytest.raises((ValueError, TypeError), match=message):
        call()


def _with_radius(cls: Any, radius: object) -> object:
    """A set for three states around a radius."""
    others: dict[str, Any] = {"metric": 1.0 - np.eye(3), "states": np.eye(3)[0]}
    needed = {field.name for field in dataclasses.fields(cls)} & others.keys()
    return cls(radius, **{name: others[name] for name in needed})


WITH_RADIUS = [cls for cls in (*SETS, *S_RECTANGULAR) if cls is not Interval]
BAD_RADII: tuple[Any, ...] = (
    -0.25, NAN, INF, 10**400, "a", None, True, 1j, {1.0}, [], [[1], [1, 2]], [[0.25, -0.25]], [[0.25, NAN]],
    [[True, False]], [True, False], [["a", "b"]], [[None, 0.5]], np.zeros((1, 1, 1)), np.zeros((0, 2)),
    np.ma.masked_less([[0.0, 1.0]], 0.5),
)  # fmt: skip


@pytest.mark.parametrize("cls", WITH_RADIUS)
def test_bad_radii_of_every_set_are_refused_by_name(cls: Any) -> None:
    for radius in BAD_RADII:
        with pytest.raises((ValueError, TypeError), match=r"^radius.* must "):
            _with_radius(cls, radius)
        with pytest.raises((ValueError, TypeError), match=r"^radius.* must "):
            UncertaintySet.from_dict(cast(UncertaintySet, _with_radius(cls, 0.25)).to_dict() | {"radius": radius})


@pytest.mark.parametrize("cls", WITH_RADIUS)
def test_radii_of_another_model_are_refused_by_name(cls: Any) -> None:
    radii = np.full(4, 0.25) if issubclass(cls, SRectangular) else np.full((4, 2), 0.25)
    with pytest.raises(ValueError, match=rf"^radius of {cls.__name__}.* must be one number .*, got shape \(4"):
        cast(UncertaintySet, _with_radius(cls, radii)).require_fit(3, (3, 1))


@pytest.mark.parametrize("name", ["metric", "states", "low"])
def test_fields_of_another_model_are_refused_without_a_shape_that_they_cannot_have(name: str) -> None:
    made = (Wasserstein(0.25, np.zeros((2, 2))), Restart(0.25, np.ones(2)), Interval(np.zeros(2), np.ones(2)))
    wrong = next(each for each in made if name in each.axes)
    shape, got = ((3,) * wrong.axes[name], (2,) * wrong.axes[name])
    message = f"{name} of {type(wrong).__name__} must have shape {shape} for 3 states, got shape {got}"
    with pytest.raises(ValueError, match=re.escape(message)):
        plan(models.river_swim(3), wrong)


def test_the_good_neighbours_are_accepted() -> None:
    """The objects that the bad calls are made from work, so each refusal is due to the one thing changed."""
    learner = q_learner()
    learner.update_many(recording())
    tabular.learn(learner, walk(), 3)
    runs.learn_all([(q_learner(), walk())], 1)
    assert learner.t == 6
    linear.learn(tdc(), walk(), 1)
    Walk(models.ring(2), np.ones((2, 1)), seed=SEED, terminal=[False, True])
    walk(table=walk().table)
    assert list(LARGER.steps(0)) == []
    environments.cart_pole(bins=(1, 1, 1, 1), points=1)
    assert toy_text({0: {0: [STAY]}}).mdp.n_states == 1
    Walk(MDP2, HALF, seed=SEED, table=walk().table)
    for model in (MDP2, SPARSE):
        assert model.expectation([1, 2]).tobytes() == model.expectation(np.array([1.0, 2.0])).tobytes()
    assert MDP2.expectation(np.ma.masked_less([0.0, 1.0], -1.0)).shape == (2, 2), "nothing is masked"
    step = polynomial(0.5, rate=1.0, power=1.0)
    assert [step.at(n) for n in (np.float64(3.0), 3.0)] == [step.at(3)] * 2


def test_nothing_is_done_before_a_refusal() -> None:
    """State and arguments of a refused call are as before it."""
    learner, w = q_learner(), walk()
    before = [x.tobytes() for x in (learner.table, w.stream, w.position)]
    refused: list[Callable[[], object]] = [
        lambda: tabular.learn(learner, w, -1),
        lambda: tabular.learn_plain(learner, w, -1),
        lambda: learner.update(Transition(0, 0, 0.0, 9, 0, False)),
        lambda: learner.update_many(recording(s=np.array([0, 0, 2]))),
        lambda: runs.snapshots(learner, w, [5, 4]),
        lambda: runs.learn_all([(learner, w), (learner, w)], 5),
        lambda: runs.learn_all([(learner, w), (q_learner(), LARGER)], 5),
        lambda: w.record(-1),
    ]
    for call in refused:
        with pytest.raises(ValueError, match=r"must|the learner has S=2"):
            call()
    assert [x.tobytes() for x in (learner.table, w.stream, w.position)] == before
    assert learner.t == 0


def test_problems_keep_their_numbers_in_double_precision() -> None:
    """A float32 discount would make every product of a learner a float32 one."""
    single = problem(gamma=np.float32(0.9))
    assert type(single.gamma) is float
    learner = TabularLearner(Q_LEARNING, single)
    assert all(type(x) is float for x in learner.discounts)
    assert type(linear_problem(projection=np.float32(2.0)).projection) is float


def test_problems_hold_copies() -> None:
    initial, policy = np.zeros((2, 2)), HALF.copy()
    made = problem(initial=initial, policy=policy)
    initial[:], policy[:] = 9.0, 9.0
    assert made.initial.max() == 0.0
    assert made.policy is not None
    assert made.policy.max() == 0.5
    with pytest.raises(ValueError, match="read-only"):
        made.initial[0, 0] = 1.0
