"""Planning for every rectangular set: bounds against enclosures, policies, worst kernels, wrong planners."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from oracles.planning import enclosed
from robust_core import (
    L1,
    MDP,
    BoundedDensity,
    ChiSquare,
    Interval,
    KullbackLeibler,
    LInfinity,
    Plan,
    ReverseKullbackLeibler,
    SRectangularL1,
    TotalVariation,
    UncertaintySet,
    Wasserstein,
    evaluate,
    plan,
    plan_states,
)
from robust_core import planning as core
from robust_core.iteration import iterate
from robust_core.kernels.affine_rows import TransportSolver
from robust_core.kernels.chains import FINER, Matrix
from robust_core.mdp import SparseRows
from robust_core.sets import SETS
from robust_core.sets.base import Threshold, WorstRows
from robust_core.validate import Floats, Ints

ACCURACY = 1e-7
ROW_LOSS = 1e-6
"""What is asked of the rows of a worst kernel: how far they may be from the worst, of max|v|."""


@dataclass(frozen=True)
class Case:
    """A small model and a set."""

    mdp: MDP
    uncertainty_set: UncertaintySet


def cases(kind: type[UncertaintySet], count: int, seed: int = 0) -> Iterator[Case]:
    """Models with zeros, Diracs and ties, dense and sparse, with sets at the radii of the laws."""
    rng = np.random.default_rng(seed)
    radii = [r for r in kind.radii if not isinstance(r, Threshold)]
    for number in range(count):
        S, A = int(rng.integers(2, 5)), int(rng.integers(1, 4))
        P = rng.dirichlet(np.full(S, 0.7), (S, A)) * (rng.random((S, A, S)) < 0.8)
        P[..., 0] += P.sum(axis=-1) == 0.0
        P /= P.sum(axis=-1, keepdims=True)
        cost = rng.normal(size=(S, A)) if number % 3 else rng.integers(-1, 2, (S, A)).astype(float)
        dense = MDP(P, cost, float(rng.choice([0.5, 0.9, 0.99])))
        mdp = MDP(dense.rows, cost, dense.gamma) if number % 2 else dense
        radius = radii[number % len(radii)] if number % 4 else float(rng.random())
        made: Any = kind.choose(lambda levels: levels[int(rng.integers(len(levels)))], radius, P[0, 0], cost[:, 0])
        yield Case(mdp, made)


def objection(case: Case, found: Plan, wanted: float = ACCURACY) -> str | None:
    """What is wrong with a plan, against enclosures of V* and of the value of its policy."""
    Q = enclosed.solve(case.mdp, case.uncertainty_set)
    V, _ = enclosed.evaluate(case.mdp, case.uncertainty_set, found.policy)
    if found.width > 2.0 * wanted * (1.0 + 1e-9):
        return f"width {found.width}"
    if not (found.lower <= Q.value.min(axis=1) + Q.error_bound).all():
        return "lower above V*"
    if not (V.value - V.error_bound <= found.upper).all():
        return "upper below the value of the policy"
    return None


# Four sets by default, with one kernel each; compiling those of all the others takes a minute.
QUICK = ("contamination", "total_variation", "l1", "kullback_leibler")
each_set = pytest.mark.parametrize(
    "kind",
    [pytest.param(each, marks=() if each.kind in QUICK else pytest.mark.robust_core_slow) for each in SETS],
    ids=lambda kind: kind.kind,
)


@each_set
def test_plans_enclose_the_optimum_and_the_value_of_their_policy(kind: type[UncertaintySet]) -> None:
    """lower <= V* <= V^pi <= upper within the accuracy, on small models with nasty rows and radii."""
    for case in cases(kind, 8):
        found = plan(case.mdp, case.uncertainty_set, accuracy=ACCURACY)
        assert objection(case, found) is None, case
        given = evaluate(case.mdp, case.uncertainty_set, found.policy, accuracy=ACCURACY)
        assert given.width <= 2.0 * ACCURACY * (1.0 + 1e-9)
        assert (given.lower <= found.upper).all()
        assert (found.lower <= given.upper).all()


@each_set
def test_the_worst_kernel_costs_the_robust_value(kind: type[UncertaintySet]) -> None:
    """Without nature, the model of the worst rows has the robust value, up to what rows that are nearly worst lose.

    Rows q with q·v >= sigma(v) − e have a value of at least V* − gamma e/(1−gamma); each plan is within its accuracy.
    """
    for case in cases(kind, 4, seed=1):
        found = plan(case.mdp, case.uncertainty_set, accuracy=ACCURACY)
        attacked = plan(MDP(found.worst_kernel(), case.mdp.cost, case.mdp.gamma), L1(0.0), accuracy=ACCURACY)
        lost = ROW_LOSS * max(1.0, float(abs(found.values).max())) * case.mdp.gamma / (1.0 - case.mdp.gamma)
        assert abs(attacked.values - found.values).max() <= lost + 2.0 * ACCURACY


def test_a_randomised_policy_is_evaluated() -> None:
    """V^pi of a policy that mixes actions, against the oracle."""
    for case in cases(TotalVariation, 6, seed=2):
        policy = np.random.default_rng(3).dirichlet(np.ones(case.mdp.n_actions), case.mdp.n_states)
        V, _ = enclosed.evaluate(case.mdp, case.uncertainty_set, policy)
        found = evaluate(case.mdp, case.uncertainty_set, policy, accuracy=ACCURACY)
        assert (found.lower <= V.value + V.error_bound).all()
        assert (V.value - V.error_bound <= found.upper).all()


def test_an_s_rectangular_set_is_sent_to_its_own_planner() -> None:
    with pytest.raises(
        TypeError, match=r"uncertainty_set must be .*rectangular, got SRectangularL1.*; use plan_states"
    ):
        plan(MDP([[[1.0]]], [[1.0]], 0.5), SRectangularL1(0.1))


def test_bounds_about_a_row_name_what_is_wrong() -> None:
    for p, width, message in (
        (None, 0.1, "p must be an array of numbers: got None"),
        ([0.5, 0.5], [0.1, 0.1, 0.1], "width must be one number or have the shape of p"),
        ([0.5, 0.5], np.nan, "width must be finite, got nan"),
        ([0.5, 0.6], 0.1, "p sums to 1.1, not 1"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            Interval.around(p, width)  # type: ignore[arg-type]


def test_bad_input_is_named() -> None:
    """The argument, its value and the rule."""
    mdp = MDP([[[1.0]]], [[1.0]], 0.5)
    with pytest.raises(ValueError, match=r"accuracy must be .* got -1.0"):
        plan(mdp, L1(0.5), accuracy=-1.0)
    with pytest.raises(TypeError, match="uncertainty_set must be"):
        plan(mdp, 0.5)  # type: ignore[arg-type]


# Wrong planners.

Planner = Callable[[MDP, UncertaintySet], Plan]


def _without_shift(mdp: MDP, uncertainty_set: UncertaintySet) -> Plan:
    """Bounds on Tv, taken for bounds on V*."""
    found = plan(mdp, uncertainty_set, accuracy=ACCURACY)
    Q = mdp.cost + mdp.gamma * uncertainty_set.kernel_support(mdp, found.v)
    return replace(found, lower=Q.min(axis=1) - ACCURACY, upper=Q.min(axis=1) + ACCURACY)


def _nominal(mdp: MDP, uncertainty_set: UncertaintySet) -> Plan:
    return plan(mdp, L1(0.0), accuracy=ACCURACY)


def _optimist(mdp: MDP, uncertainty_set: UncertaintySet) -> Plan:
    """Nature minimises."""
    flipped = plan(MDP(mdp.rows, -mdp.cost, mdp.gamma), uncertainty_set, accuracy=ACCURACY)
    return replace(flipped, lower=-flipped.upper, upper=-flipped.lower)


def _worst_action(mdp: MDP, uncertainty_set: UncertaintySet) -> Plan:
    """The right values beside a policy that is not theirs."""
    found = plan(mdp, uncertainty_set, accuracy=ACCURACY)
    Q = mdp.cost + mdp.gamma * uncertainty_set.kernel_support(mdp, found.v)
    return replace(found, policy=np.eye(mdp.n_actions)[Q.argmax(axis=1)])


def _stopped_early(mdp: MDP, uncertainty_set: UncertaintySet) -> Plan:
    """A change of 1e-7 taken for an error of 1e-7."""
    Q = np.zeros_like(mdp.cost)
    while True:
        Q, last = mdp.cost + mdp.gamma * uncertainty_set.kernel_support(mdp, Q.min(axis=1)), Q
        if abs(Q - last).max() <= ACCURACY:
            found = plan(mdp, uncertainty_set, accuracy=ACCURACY)
            return replace(found, lower=Q.min(axis=1) - ACCURACY, upper=Q.min(axis=1) + ACCURACY)


def _wide(mdp: MDP, uncertainty_set: UncertaintySet) -> Plan:
    found = plan(mdp, uncertainty_set, accuracy=ACCURACY)
    return replace(found, lower=found.lower - 1e-5)


def _rounded(mdp: MDP, uncertainty_set: UncertaintySet) -> Plan:
    """Costs in single precision."""
    return plan(MDP(mdp.rows, mdp.cost.astype(np.float32), mdp.gamma), uncertainty_set, accuracy=ACCURACY / 8)


WRONG: tuple[Planner, ...] = (
    _without_shift, _nominal, _optimist, _worst_action, _stopped_early, _wide, _rounded,
)  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.__name__.lstrip("_"))
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.robust_core_slow) for seed in (1, 2))])
def test_wrong_planners_are_found(wrong: Planner, seed: int) -> None:
    """Each within twelve cases, from every seed."""
    assert any(objection(case, wrong(case.mdp, case.uncertainty_set)) for case in cases(TotalVariation, 12, seed=seed))


@dataclass(frozen=True)
class _Careless:
    """Worst rows that are the nominal ones: iteration goes astray, the certificate does not."""

    mdp: MDP
    right: Any

    def support(self, v: Floats) -> Floats:
        found: Floats = self.right.support(v)
        return found

    def rows(self, v: Floats, pairs: Ints) -> WorstRows:
        nominal = L1(0.0).row_solver(self.mdp).rows(v, pairs)
        return replace(nominal, sigma=self.right.rows(v, pairs).sigma)

    def bounds(self, v: Floats) -> tuple[Floats, Floats]:
        lower, upper = self.right.bounds(v)
        return lower, upper


def test_the_result_rests_on_the_bounds_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """With useless rows of nature the plan is as right and as narrow, by plain backups."""
    right = TotalVariation.row_solver
    monkeypatch.setattr(TotalVariation, "row_solver", lambda self, mdp: _Careless(mdp, right(self, mdp)))
    for case in cases(TotalVariation, 4):
        if case.mdp.gamma < 0.95:
            assert objection(case, core.plan(case.mdp, case.uncertainty_set, accuracy=ACCURACY)) is None


@pytest.mark.parametrize("ball", [KullbackLeibler(720.0), ReverseKullbackLeibler(1.0)], ids=lambda ball: ball.kind)
def test_a_mass_that_is_nearly_zero_is_planned_with(ball: UncertaintySet) -> None:
    found = plan(MDP([[[1.0, 1e-310]], [[0.0, 1.0]]], [[0.0], [1.0]], 0.5), ball)
    assert (found.lower <= found.upper).all()
    assert (found.upper <= 2.0 + 1e-9).all()


def test_bounds_of_costs_at_the_end_of_the_range_are_right_and_narrow() -> None:
    """One state: V* = c/(1−gamma) whatever the set."""
    least = 2.0**-1074
    found = plan(MDP(MDP([[[1.0]]], [[least]], 0.25).rows, [[least]], 0.25), TotalVariation(0.1))
    assert found.upper[0] > least  # V* is 4/3 of it
    small = plan(MDP([[[1.0]]], [[1e-290]], 0.25), ChiSquare(0.1), accuracy=1e-300)
    assert small.lower[0] <= 1e-290 / 0.75 <= small.upper[0]
    assert small.width <= 2e-300


@dataclass
class _Swap:
    """The backup of two states that follow each other, and its only chain."""

    cost: Floats
    gamma: float
    values: Floats

    @property
    def chain(self) -> "_Swap":
        return self

    def sweep(self, gamma: float, v: Floats, most: int, goal: float) -> int:
        v[:] = self.cost + gamma * v[::-1]
        return 1


@pytest.mark.parametrize(
    ("cost", "gamma", "goal"), [((1e293, -1e293), 1.0 - 2.0**-53, 1.0), ((5e-324, -1e-323), 0.6, 0.0)]
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_iteration_ends_at_infinite_and_at_subnormal_widths(
    cost: tuple[float, float], gamma: float, goal: float
) -> None:
    c = np.array(cost)
    _, counts = iterate(lambda v: _Swap(c, gamma, c + gamma * v[::-1]), gamma, np.zeros(2), goal)
    assert counts.backups < 1000


@pytest.mark.parametrize("mixing", [0.0, 0.5])
def test_a_small_chain_is_solved_whether_it_mixes_or_not(mixing: float) -> None:
    """A ring of 60 states, whose sweeps gain 1 % each and end in an elimination, and one with jumps to all states."""
    S, gamma, goal = 60, 0.99, 1e-2
    kernel = (1.0 - mixing) * np.roll(np.eye(S), 1, axis=1) + mixing / S
    costs = np.arange(S) % 7 == 0.0
    chain, v = Matrix(kernel, costs.astype(float)), np.zeros(S)
    assert chain.sweep(gamma, v, 1, goal) <= S // 3 + 1
    # The last change has a span of FINER goal; with a shift by its middle, gamma/(1 − gamma) times half of it is left.
    wanted = np.linalg.solve(np.eye(S) - gamma * kernel, costs.astype(float))
    assert np.abs(v - wanted).max() <= gamma / (1.0 - gamma) * FINER * goal


@pytest.mark.parametrize("ball", [L1(0.1), KullbackLeibler(0.1), Wasserstein(0.1, 1.0 - np.eye(2))])
@pytest.mark.parametrize("costs", [[1e308, -1e308], [1e308, 1e308]])
def test_values_beyond_the_range_are_an_overflow(ball: UncertaintySet, costs: list[float]) -> None:
    mdp = MDP([[[0.5, 0.5]], [[0.0, 1.0]]], np.array(costs)[:, None], 0.99)
    with pytest.raises(OverflowError, match="rescale the cost"):
        plan(mdp, ball)
    with pytest.raises(OverflowError, match="rescale the cost"):
        evaluate(mdp, ball, [[1.0], [1.0]])
    with pytest.raises(OverflowError, match="rescale the cost"):
        plan_states(mdp, SRectangularL1(0.1))


@pytest.mark.robust_core_slow
def test_gains_over_many_segments_round_as_often_as_there_are_states() -> None:
    """A row of equal masses that all move to one end: half a million segments, each of which used to round up."""
    S = 1024
    steps = [(int(2**53 * 1.97 / 2**10 / (S - 1)) + S // 2 - j) * 2**10 + 614 for j in range(S - 1)]
    v = np.array([(sum(steps[:j]) - sum(steps) // 2) * 2.0**-53 for j in range(S)])
    places = np.arange(S)
    distance = np.abs(places[:, None] - places).astype(float)
    nearest = np.argsort(distance, axis=1, kind="stable")
    offsets = np.append(0, np.arange(S, 2 * S))
    rows = SparseRows(offsets, np.append(places, places[1:]), np.append(np.full(S, 1.0 / S), np.ones(S - 1)))
    solver = TransportSolver(
        MDP(rows, np.zeros((S, 1)), 0.9), (nearest, np.take_along_axis(distance, nearest, axis=1)), 1e4
    )
    lower, upper = solver.bounds(v)
    assert lower[0] <= v.max() <= upper[0]


def sparse_model(successors: int, seed: int = 0, S: int = 80, A: int = 3) -> MDP:
    """Random rows, some with a large share at one successor."""
    rng = np.random.default_rng(seed)
    places = np.array([np.sort(rng.choice(S, successors, replace=False)) for _ in range(S * A)])
    p = rng.dirichlet(np.full(successors, 0.5), S * A) + 1e-9
    p /= p.sum(axis=1, keepdims=True)
    rows = SparseRows(np.arange(S * A + 1) * successors, places.ravel(), p.ravel())
    return MDP(rows, rng.random((S, A)), 0.95)


def same(one: Plan, other: Plan) -> bool:
    """Whether two plans have narrow bounds that meet."""
    narrow = max(one.width, other.width) <= 2.0 * ACCURACY
    return narrow and bool((one.lower <= other.upper).all() and (other.lower <= one.upper).all())


@pytest.mark.parametrize("successors", [5, 19])
def test_sparse_and_dense_spellings_have_the_same_plan(successors: int) -> None:
    """On sparse models a backup looks at the pairs that may be the best alone, and rows are short or long."""
    for seed, ball in enumerate((TotalVariation(0.2), L1(0.3, within_support=True), KullbackLeibler(0.1))):
        sparse = sparse_model(successors, seed)
        dense = MDP(sparse.P, sparse.cost, sparse.gamma)
        assert same(plan(sparse, ball, accuracy=ACCURACY), plan(dense, ball, accuracy=ACCURACY))


@pytest.mark.parametrize("successors", [5, 19])
def test_bounds_with_few_entries_are_planned_with_by_these(successors: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Intervals of each pair, and one for all pairs, kept by entries and kept whole."""
    mdp = sparse_model(successors)
    one = Interval(0.5 * mdp.P[0, 0], np.minimum(2.0 * mdp.P[0, 0], 1.0))
    for bounds in (Interval(0.5 * mdp.P, np.minimum(2.0 * mdp.P, 1.0)), one):
        found = plan(mdp, bounds, accuracy=ACCURACY)
        assert not bounds.entries.dense
        with monkeypatch.context() as patch:
            patch.setattr("robust_core.sets.interval.SPARSE", -1.0)
            whole = Interval(bounds.low, bounds.high)
            assert same(found, plan(mdp, whole, accuracy=ACCURACY))
            assert whole.entries.dense


def exact_fill(lo: list[Fraction], hi: list[Fraction], v: Floats) -> Fraction:
    """max q·v over lo <= q <= hi, Σq = 1, in rationals."""
    q, left = list(lo), 1 - sum(lo)
    for i in np.argsort(-v).tolist():
        added = min(left, hi[i] - lo[i])
        q[i], left = q[i] + added, left - added
    assert left == 0
    return sum((x * Fraction(float(y)) for x, y in zip(q, v, strict=True)), Fraction(0))


def test_bounds_of_long_rows_contain_rational_truth() -> None:
    """Total variation, L1, L-infinity, densities and intervals on rows of 60 states, dense and sparse."""
    sparse = sparse_model(60, S=64, A=1)
    r, v = 0.25, np.random.default_rng(1).normal(size=64)
    near = Interval(0.5 * sparse.P, np.minimum(2.0 * sparse.P, 1.0))
    for mdp in (sparse, MDP(sparse.P, sparse.cost, sparse.gamma)):
        for ball in (TotalVariation(r), L1(2 * r), BoundedDensity(r), LInfinity(r / 32), near):
            lower, upper = ball.row_solver(mdp).bounds(v)
            assert (upper - lower <= 2.1 * (24.0 * 65.0 + 64.0) * 2.0**-53 * abs(v).max() / (1.0 - r)).all()
            for s in range(4):
                p = [Fraction(x) for x in mdp.P[s, 0].tolist()]
                p = [x / sum(p) for x in p]
                lo, hi = [Fraction(0)] * 64, p
                if isinstance(ball, (TotalVariation, L1)):
                    hi = [min(x + Fraction(r) * (i == v.argmax()), Fraction(1)) for i, x in enumerate(p)]
                elif isinstance(ball, BoundedDensity):
                    hi = [x / (1 - Fraction(r)) for x in p]
                elif isinstance(ball, LInfinity):
                    lo = [max(x - Fraction(r) / 32, Fraction(0)) for x in p]
                    hi = [min(x + Fraction(r) / 32, Fraction(1)) for x in p]
                else:
                    lo, hi = ([Fraction(x) for x in side[s, 0].tolist()] for side in (near.low, near.high))
                assert lower[s] <= exact_fill(lo, hi, v) <= upper[s], (ball.kind, s)


@pytest.mark.robust_core_slow
def test_short_and_long_rows_of_a_wasserstein_ball_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """The steepest of the next segments of a row, and one order of all segments."""
    mdp = sparse_model(6)
    place = np.random.default_rng(2).random(80)
    ball = Wasserstein(0.05, np.abs(place[:, None] - place))
    short = plan(mdp, ball, accuracy=ACCURACY)
    monkeypatch.setattr("robust_core.kernels.wasserstein.FEW", 0)
    assert same(short, plan(mdp, ball, accuracy=ACCURACY))
