"""The statistical laws at quick size: right algorithms are not accused, wrong ones are caught and told apart."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from oracles.bounds.q_learning import rho
from properties.cases.benchmark_problems import problems_for, small_problems
from properties.cases.stationary_problems import CYCLE, EDGE, NOISY, TWO_FEATURES
from properties.judging.verdict import Record
from properties.laws.rounding import operations_bound
from properties.statistics import budget, judging, seed_sets
from properties.statistics.judging import records as judged_records
from properties.statistics.law import (
    SIZES,
    Cell,
    Rows,
    Size,
    StatisticalLaw,
    catch_control,
    decide,
    find_caught_control,
    rows_of,
)
from properties.statistics.laws import (
    convergence,
    equality,
    finite_time,
    known_limit,
    laws,
    limit,
    linear,
    sampling,
    stationarity,
    tabular,
    unbiased,
)
from properties.statistics.records import Interval
from properties.statistics.suite import allot_cells, plan_cells, results
from properties.variants.gallery.adaptive_tdc import MOMENTUM
from robust_core import Q_LEARNING, Contamination, TabularLearner, constant
from robust_core.problem import Problem, Variant
from robust_core.trajectory import Recording, Transition

MASTER_SEEDS = ("master 0", "master 1", "master 2")
SHARES = {size: min(item.alpha for item in plan_cells(size)) for size in SIZES}
SHARE = SHARES["quick"]


def verify(variant: Variant) -> list[Record]:
    return list(judged_records(variant.name, allot_cells(variant, "quick")))


CONTROLS = {f"{law.name}: {control.name}": (law, control) for law in laws() for control in law.controls}
LONG = {law.name for law in known_limit.LAWS if law.kinds[0] not in ("batch", "policy gradient")}


def in_turn(names: dict[str, Any]) -> list[Any]:
    """The laws whose runs are long are tried with the tests that take long."""
    slow = {name: [pytest.mark.robust_core_slow] * (found[0].name in LONG) for name, found in names.items()}
    return [pytest.param(name, marks=marks) for name, marks in slow.items()]


@pytest.mark.parametrize("seed_set", MASTER_SEEDS)
def test_the_suite_accuses_no_right_algorithm(seed_set: str) -> None:
    gate = budget.gate(results("quick", seed_set=seed_set))
    # The weight of all, a quotient and a product in each share, their sum, and the sum with the other half.
    assert gate.spent <= budget.RUN_BUDGET + operations_bound(5, budget.RUN_BUDGET)
    assert not gate.red, gate
    assert gate.undecided == (), gate


@pytest.mark.parametrize("name", in_turn(CONTROLS))
def test_negative_controls_are_violated(name: str) -> None:
    law, control = CONTROLS[name]
    assert catch_control(law, control, size="quick", alpha=SHARE, seed_set=seed_sets.PINNED) is not None


def kinds() -> dict[str, tuple[StatisticalLaw, str, Size]]:
    """Every kind of cell at the smallest size that has it."""
    found: dict[str, tuple[StatisticalLaw, str, Size]] = {}
    for law in laws():
        for size in SIZES:
            for cell in law.cells(law.right, size):
                found.setdefault(f"{law.name}: {cell.kind}", (law, cell.kind, size))
    return found


KINDS = kinds()


@pytest.mark.parametrize("name", in_turn(KINDS))
def test_every_kind_of_cell_is_violated_by_a_control(name: str) -> None:
    """What no wrong algorithm ever violates shows nothing when it holds."""
    law, kind, size = KINDS[name]
    assert kind, f"{law.name}: a cell does not say its kind"
    assert find_caught_control(law, kind, size=size, alpha=SHARES[size]) is not None


def test_a_kind_of_cell_that_cannot_fail_is_seen() -> None:
    blunt = replace(sampling.LAW, fine_controls=(sampling.SLIGHTLY_BIASED,), controls=(sampling.BIASED,))
    assert find_caught_control(blunt, "visits", size="full", alpha=SHARES["full"]) is None


def only_cell(cells: list[Cell], kind: str) -> Cell:
    return next(cell for cell in cells if cell.kind == kind)


def test_the_controls_of_single_cells_are_as_wrong_as_derived() -> None:
    """By the bounds in their docstrings, on every replicate that is looked at."""
    benchmark = small_problems()["garnet"]
    S, A = benchmark.truth.table.shape
    visits = only_cell(sampling.cells(sampling.ONE_ACTION, "full"), "visits")
    frame = sampling._frame(benchmark)
    most = sampling.NOISE_STEPS / (S * (A - 1)) / (benchmark.mu_min * frame)
    assert most < 0.5
    assert np.array(rows_of(visits, "derived", 0, 4)).max() <= most
    noise = only_cell(sampling.cells(sampling.BURSTS, "full"), "k2")
    assert np.array(rows_of(noise, "derived", 0, 4))[:, 0].min() > 1.0
    for size in SIZES:
        for problem in finite_time.PROBLEMS[size]:
            named, epsilon = small_problems()[problem], finite_time.EPSILON[size]
            plan, norm = finite_time.explicit(named, epsilon), named.truth.size
            kept = finite_time.DEVIATIONS * finite_time.deviation(named, plan.alpha)
            left = (1.0 - rho(named.mdp.gamma, plan.alpha, plan.frames.visits)) ** plan.frames.count
            assert norm - 2.0 * kept > epsilon, (size, problem)
            assert norm - 2.0 * kept - left * norm > epsilon / 2.0, (size, problem)


def test_swapped_actions_are_seen_by_the_contrast_alone() -> None:
    swapped = equality.LAW.fine_controls[-1]
    outcomes = {
        cell.kind: decide(cell, alpha=SHARES["full"]).outcome
        for cell in equality.cells(swapped, "full")
        if cell.kind != "spread"  # independent of the labels like the sum, and slow
    }
    assert outcomes == {"sum": "holds", "contrast": "violated"}


@pytest.mark.parametrize(
    ("variant", "part", "word"),
    [
        (tabular.NOISY, "limit", "does not settle"),
        (tabular.STUCK, "rate", "stuck"),
        (tabular.SLOW, "rate", "slow"),
        (tabular.WRONG_RADIUS, "limit", "wrong limit"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.name,
)
def test_failures_to_converge_are_told_apart(variant: Variant, part: str, word: str) -> None:
    # The cell with ends allows the larger noise of the ends: it is for learners that ignore them.
    for cell in (c for c in convergence.cells(variant, "quick") if f"/{part}/" in c.id and "with ends" not in c.id):
        result = decide(cell, alpha=SHARE)
        assert (result.outcome, result.diagnosis) == ("violated", word), cell.id
        assert word in str(result)


def test_the_theorem_at_face_value_has_little_power() -> None:
    """Half the radius passes the explicit bound and is caught by the scaling beside it."""
    outcomes = {
        cell.id.split("/")[1]: decide(cell, alpha=SHARE).outcome
        for cell in finite_time.cells(tabular.WRONG_RADIUS, "quick")
    }
    assert outcomes["explicit"] == "holds"
    assert outcomes["scaling"] == "violated"


@pytest.mark.parametrize("law", laws(), ids=lambda law: law.name)
def test_the_name_of_a_variant_does_not_choose_its_samples(law: StatisticalLaw) -> None:
    """Renaming is no rerun: the same rows, and so the same verdicts; and no stream names a variant."""
    renamed = replace(law.right, name=f"{law.right.name}, renamed")
    for size in SIZES:
        own, other = law.cells(law.right, size), law.cells(renamed, size)
        assert [cell.samples for cell in own] == [cell.samples for cell in other]
        assert [cell.name for cell in own] == [cell.name for cell in other]
        assert all(law.right.name not in cell.stream for cell in own)
        assert [cell.id for cell in other] == [f"{cell.name}/{renamed.name}" for cell in own]
    for one, same in zip(law.cells(law.right, "quick"), law.cells(renamed, "quick"), strict=True):
        assert rows_of(one, "any", 0, 1) == rows_of(same, "any", 0, 1)


def test_cells_of_one_stream_have_one_sampler_and_laws_have_streams_of_their_own() -> None:
    owners: dict[str, str] = {}
    for law in laws():
        for size in SIZES:
            samplers: dict[str, object] = {}
            for cell in law.cells(law.right, size):
                assert owners.setdefault(cell.stream, law.name) == law.name
                assert samplers.setdefault(cell.stream, cell.sample) is cell.sample, cell.id


def test_rows_of_a_common_stream_are_computed_once() -> None:
    calls: list[bytes] = []
    right = tabular.RIGHT

    def counted(problem: Problem) -> object:
        calls.append(b"made")
        return right.make(problem)

    variant = replace(right, make=counted, promises=("converges",))
    first, second = allot_cells(variant, "quick")[:2]
    assert first.cell.samples == second.cell.samples
    known: dict[bytes, np.ndarray] = {}
    assert judging.judge(first, known=known).outcome == "holds"
    before = len(calls)
    assert judging.judge(second, known=known).outcome == "holds"
    assert len(calls) == before


def test_rows_do_not_depend_on_how_they_are_grouped() -> None:
    cell = convergence.cells(tabular.RIGHT, "quick")[0]
    assert rows_of(cell, "any", 3, 9) == rows_of(cell, "any", 3, 5) + rows_of(cell, "any", 5, 9)
    assert rows_of(cell, "any", 0, 1) != rows_of(cell, "other", 0, 1)


def test_an_undecided_cell_continues_where_it_stopped() -> None:
    """A truth midway between the design points, cut short: the longer run reuses all rows and decides."""
    cell = unbiased.cells(tabular.RIGHT, "quick")[0]
    pieces: dict[tuple[int, int], Rows] = {}

    def stored(cell: Cell, seed_set: str, start: int, stop: int) -> Rows:
        if (start, stop) not in pieces:
            pieces[start, stop] = rows_of(cell, seed_set, start, stop)
        return pieces[start, stop]

    short = decide(cell, alpha=SHARE, rows=stored, stretch=0.01)
    assert short.outcome == "undecided"
    before = list(pieces)
    long = decide(cell, alpha=SHARE, rows=stored, stretch=2.0)
    assert long.outcome == "holds"
    assert list(pieces)[: len(before)] == before
    assert long == decide(cell, alpha=SHARE, stretch=2.0)


def test_the_planted_gradient_is_the_oracles() -> None:
    problem = stationarity.planted_problem()
    for theta in ([0.3, -0.2], [-1.0, 1.0], [2.0, 0.5]):
        truth = problem.oracle.gradient(theta)
        got = problem.gradient(np.array([theta]))[0]
        # Forty rounded operations on numbers of the size of the gradient.
        assert abs(got - truth.value).max() <= truth.error_bound + 40 * np.finfo(float).eps * abs(truth.value).max()
    # At theta* the residual is nothing but such roundings, of numbers of the size of the cost. With features of norm 1,
    # ‖omega‖ <= residual/lambda; ∇J = 2 M omega and ‖M‖ <= gamma(1−R) + 1 + gamma R.
    residual = 40 * np.finfo(float).eps * abs(problem.mdp.cost).max()
    rounding = 2.0 * (1.0 + problem.mdp.gamma) * residual / problem.oracle.floor
    at, beside = problem.gradient(np.array([problem.theta_star, problem.theta_star + 2.0**-40]))
    assert abs(at).max() <= rounding < abs(beside).max()


def test_the_explicit_bound_of_tdc_is_vacuous_on_the_planted_problem() -> None:
    bound, always = stationarity.explicit_bound(stationarity.HORIZON["full"])
    assert bound > always


def test_costs_scale_through_a_run() -> None:
    """Equivariance: costs and start times 8 give 8 times the path, to the bit; a constant in the target breaks it."""
    benchmark = small_problems()["two states"]
    recording = benchmark.record(b"scale", 500)
    scaled = replace(recording, cost=8.0 * recording.cost)

    def final(variant: Variant, path: Recording, initial: float) -> np.ndarray:
        learner = variant.make(benchmark.problem(constant(0.25), initial=initial))
        learner.update_many(path)
        return np.asarray(learner.estimate())

    assert np.array_equal(final(tabular.RIGHT, scaled, 8.0), 8.0 * final(tabular.RIGHT, recording, 1.0))
    assert not np.array_equal(final(tabular.RIGHT, scaled, 1.0), 8.0 * final(tabular.RIGHT, recording, 1.0))


def test_robust_is_as_fast_as_vanilla_with_an_interval() -> None:
    from properties.statistics.laws import speed

    (cell,) = speed.cells(tabular.RIGHT, "quick")
    ratio = cell.measure(np.array(rows_of(cell, seed_sets.PINNED, 0, 200)))["median ratio of relative errors"]
    assert isinstance(ratio, Interval)
    assert 1.0 / speed.FACTOR < ratio.lower <= ratio.estimate <= ratio.upper < speed.FACTOR


def test_laws_apply_to_variants_by_kind_and_claim() -> None:
    silent = replace(tabular.WRONG_RADIUS, promises=("asynchronous",))
    assert verify(silent) == []
    modest = replace(tabular.WRONG_RADIUS, promises=("fast path",))
    assert {record.outcome for record in verify(modest)} == {"holds"}
    bold = replace(tabular.WRONG_RADIUS, promises=("converges",))
    records = [record for record in verify(bold) if "with ends" not in record.law]
    assert {record.outcome for record in records} == {"violated"}
    for record in records:
        assert record.statistics is not None
        assert record.statistics.alpha < budget.RUN_BUDGET
        assert record.statistics.diagnosis == "wrong limit"


def test_a_variant_that_raises_is_violated() -> None:
    def broken(problem: object) -> None:
        raise ZeroDivisionError("by design")

    variant = replace(tabular.RIGHT, make=broken, promises=("as fast as vanilla",))
    (record,) = verify(variant)
    assert record.outcome == "violated"
    assert "by design" in record.evidence


def test_every_claim_that_points_here_is_decided_here() -> None:
    from properties.claims import catalogue

    pointing = {claim.id for claim in catalogue().values() if claim.elsewhere == "properties/statistics"}
    decided = {claim for law in laws() for claim in law.claims}
    assert pointing <= decided, pointing - decided
    assert decided <= set(catalogue())


class Lost:
    """A learner whose estimate is no number."""

    def __init__(self, problem: Problem) -> None:
        self.shape = problem.initial.shape

    def update(self, transition: object) -> None:
        pass

    def estimate(self) -> np.ndarray:
        return np.full(self.shape, np.nan)

    def update_many(self, recording: Recording) -> None:
        pass


@pytest.mark.parametrize("claim", ["converges", "finite time", "as fast as vanilla", "unbiased", "fast path"])
def test_a_learner_that_is_lost_is_violated(claim: str) -> None:
    records = verify(replace(tabular.RIGHT, make=Lost, promises=(claim,)))
    assert records
    assert {record.outcome for record in records} == {"violated"}


@pytest.mark.parametrize("variant", linear.ALSO_RIGHT, ids=lambda variant: variant.name)
def test_slower_learners_with_the_right_limit_are_not_accused(variant: Variant) -> None:
    outcomes = {cell.kind: decide(cell, alpha=SHARE).outcome for cell in stationarity.cells(variant, "quick")}
    assert set(outcomes.values()) == {"holds"}, outcomes


def test_momentum_and_a_start_of_two_vectors_are_no_reason_to_accuse() -> None:
    """In plain Python, so without the noisy chain, which takes seconds."""
    variant = replace(MOMENTUM, promises=("stationary", "projected"))
    certain = [cell for cell in limit.cells(variant, "quick") if "noisy" not in cell.kind]
    assert [decide(cell, alpha=SHARE).outcome for cell in certain] == ["holds"] * 3


GROSS = {"noisy": {"TDC that ignores the ball"}, "edge of the ball": set(), "cycle": {"TDC that ignores the ball"}}


@pytest.mark.parametrize("variant", linear.GROSS, ids=lambda variant: variant.name)
def test_gross_limits_are_violated_by_every_limit_cell_that_can_see_them(variant: Variant) -> None:
    for cell in limit.cells(variant, "quick"):
        blind = variant.name in GROSS.get(cell.kind.removeprefix("limit, "), GROSS["cycle"])
        found = decide(cell, alpha=SHARE)
        assert found.outcome == ("holds" if blind else "violated"), cell.id
        assert blind or "off by" in found.diagnosis


def test_the_limits_are_stationary_points_with_weight_on_every_part() -> None:
    """Certified: the gradient vanishes (or leaves the ball), J > 0, omega ≠ 0, and scaling by 2^k is exact."""
    for problem in (CYCLE, EDGE, TWO_FEATURES, NOISY):
        theta, omega = np.split(problem.limit, 2)
        gradient, J = problem.oracle.gradient(theta), problem.oracle.J(theta)
        if problem.active:
            assert (gradient.value * theta < -gradient.error_bound).all()
            assert np.linalg.norm(theta) == problem.projection
        else:
            curvature = np.linalg.eigvalsh(problem.oracle.hessian(theta).value)[0]
            # First order: the stationary point is nearer than gradient over curvature, far below every allowance.
            reach = (np.linalg.norm(gradient.value) + gradient.error_bound) / curvature
            assert curvature > 0.0
            assert reach < 1e-6 * limit.ALLOWED["full"][problem.name]
        assert J.value - J.error_bound > 0.25
        assert abs(omega).min() > 0.5
        assert np.linalg.norm(omega) < problem.projection, "the ball does not hold omega back"
        for k in limit.SCALES:
            assert np.allclose(problem.rescale(k).limit, 2.0**k * problem.limit, rtol=2.0**-40, atol=0.0)


def test_an_update_that_leaves_its_range_is_violated_by_that() -> None:
    """Right in the mean over next states, and far off in every single update: the variance would hide a bias.

    It draws nothing. Noise from its rng would be no fault: the promise is one of the mean, which is taken exactly then.
    """

    class Wild(TabularLearner):
        def __init__(self, problem: Problem) -> None:
            super().__init__(Q_LEARNING, problem)

        def update(self, transition: Transition) -> None:
            super().update(transition)
            row = problems_for(tabular.RIGHT)["two states"].mdp.P[transition.s, transition.a]
            self.table[transition.s, transition.a] += 8.0 * (row[1] if transition.s_next == 0 else -row[0])

    cell = unbiased.cells(replace(tabular.RIGHT, make=Wild), "quick")[0]
    result = decide(cell, alpha=SHARE)
    assert (result.outcome, result.n) == ("violated", 16)
    assert result.log_against == math.inf


@pytest.mark.parametrize("radius", [0.0, 0.9375, 1.0])
def test_no_radius_is_a_reason_to_accuse(radius: float) -> None:
    """With R = 1 nothing is sampled, with R near 1 the start outlasts the noise: neither is the learner's fault."""
    records = verify(replace(tabular.RIGHT, options={"radii": (radius,)}))
    assert {record.outcome for record in records} == {"holds"}, [r for r in records if r.outcome != "holds"]


class Randomised(TabularLearner):
    """The maximum with probability R, else the sample: right in the mean, and further off than a sample can be."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(Q_LEARNING, problem)

    def update(self, transition: Transition) -> None:
        problem, pair = self.problem, (transition.s, transition.a)
        V, rng, told = self.table.min(axis=1), problem.rng, problem.uncertainty_set
        assert rng is not None
        assert isinstance(told, Contamination)
        value = V.max() if rng.random() < told.radius else V[transition.s_next]
        target = transition.cost + problem.gamma * value
        self.table[pair] += problem.step_size.at(self.t) * (target - self.table[pair])
        self.t += 1


def test_randomness_of_its_own_is_no_bias() -> None:
    variant = replace(tabular.RIGHT, make=Randomised, promises=("unbiased",))
    alpha = min(item.alpha for item in plan_cells("full"))
    cell = unbiased.cells(variant, "full")[1]
    rows = np.array(rows_of(cell, "own randomness", 0, 2048))
    test = cell.plan(alpha).test
    against, _ = test.split(test.statistic(cell.observe(rows)))
    assert test.against.log_e(against) < -np.log(alpha) / 4.0
