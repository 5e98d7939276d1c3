"""The convex programs of the support oracle: sets from outside the package are certified, failures have names."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from oracles.sets import Cut, SetOracle, programs, register
from robust_core.sets import TotalVariation
from robust_core.validate import EPS, Floats


@dataclass(frozen=True)
class EuclideanBall:
    """A set from outside the package: {q : ‖q−p‖₂ <= R}, a cone program."""

    radius: float


def euclidean_constraints(q: Any, p: Any) -> tuple[list[Any], Callable[[EuclideanBall, Floats], None]]:
    import cvxpy as cp

    radius = cp.Parameter(nonneg=True)

    def write(uncertainty_set: EuclideanBall, rows: Floats) -> None:
        radius.value = uncertainty_set.radius

    return [cp.norm(q - p, 2, axis=1) <= radius], write


def euclidean_price(uncertainty_set: EuclideanBall, p: Floats, y: Floats) -> tuple[Floats, Floats]:
    # Σ(q−p) = 0, so y may be centred: the price is that of its part along the simplex.
    centred = y - y.mean(axis=1, keepdims=True)
    return centred, (p * centred).sum(axis=1) + uncertainty_set.radius * np.linalg.norm(centred, axis=1)


def euclidean_attained(uncertainty_set: EuclideanBall, p: Floats, q: Floats, v: Floats) -> Floats:
    near = q / q.sum(axis=1, keepdims=True)
    slack = 8 * p.shape[1] * np.finfo(np.float64).eps  # of the distance: sums, quotients and the norm
    share = np.minimum(uncertainty_set.radius / (np.linalg.norm(near - p, axis=1) + slack), 1.0)
    return (1.0 - share) * (p * v).sum(axis=1) + share * (near * v).sum(axis=1)


def test_a_further_set_is_one_registration_and_its_cone_program_is_certified() -> None:
    cut: Any = Cut(euclidean_constraints, euclidean_price, euclidean_attained)
    register(EuclideanBall, SetOracle(program=cut))
    rng = np.random.default_rng(4)
    p, v = rng.dirichlet(np.ones(2), 20), rng.normal(size=(20, 2))
    lower, upper = programs.enclosures(EuclideanBall(0.25), p, v)  # type: ignore[arg-type]
    # With two states the ball is an interval: q = p ± R/√2, cut to [0, 1]; the root is known within an ulp.
    reach = 0.25 / np.sqrt(2.0)
    for step, side in ((np.nextafter(reach, 0.0), upper), (np.nextafter(reach, 1.0), -lower)):
        first = np.where(v[:, 0] > v[:, 1], np.minimum(p[:, 0] + step, 1.0), np.maximum(p[:, 0] - step, 0.0))
        truth = v[:, 1] + first * (v[:, 0] - v[:, 1])
        assert (side >= (truth if side is upper else -truth)).all()
    tolerance = programs.SOLVER_OPTIONS["CLARABEL"]["tol_gap_abs"]
    # The gap of a block is that of the sum of its 32 rows; near the optimum y errs by the root of the gap.
    assert (upper - lower <= 32 * np.sqrt(tolerance)).all()


@dataclass(frozen=True)
class ChiSquareBall:
    """{q : Σ(q−p)²/p <= R, q = 0 where p is}: a cone program without interior where p has zeros."""

    radius: float


def chi_square_constraints(q: Any, p: Any) -> tuple[list[Any], Callable[[ChiSquareBall, Floats], None]]:
    import cvxpy as cp

    weight, centre, cap = (cp.Parameter(q.shape, nonneg=True) for _ in range(3))
    length = cp.Parameter(nonneg=True)

    def write(uncertainty_set: ChiSquareBall, rows: Floats) -> None:
        positive = rows > 0.0
        weight.value = positive / np.sqrt(np.where(positive, rows, 1.0))
        centre.value, cap.value, length.value = np.sqrt(rows), 2.0 * positive, np.sqrt(uncertainty_set.radius)

    return [cp.norm(cp.multiply(weight, q) - centre, 2, axis=1) <= length, q <= cap], write


def chi_square_price(uncertainty_set: ChiSquareBall, p: Floats, y: Floats) -> tuple[Floats, Floats]:
    mean = (p * y).sum(axis=1)
    spread = np.sqrt((p * (y - mean[:, None]) ** 2).sum(axis=1))
    moved = np.where(p > 0.0, y, 2.0 + np.abs(y).max(axis=1, keepdims=True))
    return moved, mean + np.sqrt(uncertainty_set.radius) * spread


def chi_square_attained(uncertainty_set: ChiSquareBall, p: Floats, q: Floats, v: Floats) -> Floats:
    inside = np.where(p > 0.0, q, 0.0)
    total = inside.sum(axis=1, keepdims=True)
    near = np.where(total > 0.5, inside / np.maximum(total, 0.5), p)
    distance = np.sqrt(((near - p) ** 2 / np.where(p > 0.0, p, 1.0)).sum(axis=1))
    distance += 8 * (p.shape[1] + 1) * EPS * (1.0 + distance)
    share = np.minimum(np.sqrt(uncertainty_set.radius) / distance, 1.0) * (1.0 - 4 * EPS)
    return (1.0 - share) * (p * v).sum(axis=1) + share * (near * v).sum(axis=1)


@pytest.fixture
def chi_square() -> Callable[[float], Any]:
    cut: Any = Cut(chi_square_constraints, chi_square_price, chi_square_attained)
    register(ChiSquareBall, SetOracle(program=cut))
    return ChiSquareBall


DEGENERATE = [[1.0], [1.0, 0.0], [0.5, 0.0, 0.5], [1.0 - 2.0**-40, 2.0**-40, 0.0], [1.0 / 3.0] * 3]


@pytest.mark.parametrize("p", DEGENERATE)
@pytest.mark.parametrize("radius", [0.0, 2.0**-40, 2.0**-10])
def test_sets_without_interior_are_certified(chi_square: Any, radius: float, p: list[float]) -> None:
    """Wherever no state is emptied sigma(v) = p·v + √(R Var v); R is so small that none is, or there is only one."""
    v = np.linspace(-1.0, 1.0, len(p))
    lower, upper = programs.enclosures(chi_square(radius), p, v)
    mean = np.dot(p, v)
    truth = mean + np.sqrt(radius * np.dot(p, (v - mean) ** 2))
    rounding = 16 * len(p) * EPS
    assert lower - rounding <= truth <= upper + rounding
    # The allowances of both bounds: twice 3.5, v being scaled to ½ and y at most 2.5, where p is 0.
    allowance = 8 * (6 * len(p) + programs.OPERATIONS) * EPS
    # A ball adds the gap of the solver.
    gap = 8 * len(p) * programs.SOLVER_OPTIONS["CLARABEL"]["tol_gap_abs"]
    assert upper - lower <= (allowance + gap if radius > 0.0 else allowance)


def test_an_answer_does_not_depend_on_what_was_asked_before(chi_square: Any) -> None:
    rng = np.random.default_rng(6)
    pairs = [(rng.dirichlet(np.ones(3)), rng.normal(size=3)) for _ in range(6)]

    def answers(order: list[int]) -> dict[int, Any]:
        return {i: programs.enclosures(chi_square(0.25), *pairs[i]) for i in order}

    assert answers([0, 1, 2, 3, 4, 5]) == answers([5, 4, 3, 2, 1, 0])


@pytest.mark.parametrize("factor", [0.5, 100.0])
def test_a_price_of_another_set_is_refused(factor: float) -> None:
    """Too small, the interval is empty; too large, it says nothing."""

    def price(uncertainty_set: EuclideanBall, p: Floats, y: Floats) -> tuple[Floats, Floats]:
        return euclidean_price(EuclideanBall(factor * uncertainty_set.radius), p, y)

    cut: Any = Cut(euclidean_constraints, price, euclidean_attained)
    register(EuclideanBall, SetOracle(program=cut))
    with pytest.raises(programs.SolverFailure, match=r"EuclideanBall\(radius=0.25\) .* of one set\?"):
        programs.support(EuclideanBall(0.25), [0.25, 0.5, 0.25], [0.0, 1.0, 3.0])  # type: ignore[arg-type]


def test_a_failed_solve_counts_as_no_proposal(monkeypatch: pytest.MonkeyPatch) -> None:
    """At radius 0 the two proposals without a solver are tight."""
    rng = np.random.default_rng(7)
    p, v = rng.dirichlet(np.ones(4), 8), rng.normal(size=(8, 4))

    def breakdown(*_: object, **__: object) -> None:
        raise programs.SolverFailure("no answer")

    monkeypatch.setattr(programs._Program, "solve", breakdown)
    lower, upper = programs.enclosures(TotalVariation(0.0), p, v)
    assert (upper - lower <= 4 * (6 * 4 + programs.OPERATIONS) * EPS * np.abs(v).max(axis=1)).all()
    with pytest.raises(programs.SolverFailure, match="no answer"):
        programs.enclosures(TotalVariation(0.5), p, v)


@dataclass(frozen=True)
class EmptySet:
    """No distribution at all."""

    radius: float = 0.25


def test_a_program_that_fails_names_the_set_the_solver_and_the_status() -> None:
    cut: Any = Cut(lambda q, p: ([q >= 2], lambda uncertainty_set, rows: None), euclidean_price, euclidean_attained)
    register(EmptySet, SetOracle(program=cut))
    with pytest.raises(programs.SolverFailure, match=r"HIGHS on .* of EmptySet\(radius=0.25\), .* status 'infeasible'"):
        programs.support(EmptySet(), [0.5, 0.5], [0.0, 1.0])  # type: ignore[arg-type]


def test_a_solver_that_gives_up_or_breaks_down_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    p, v = rng.dirichlet(np.ones(20), programs.BLOCK), rng.normal(size=20)
    label = r"HIGHS on the support function of TotalVariation\(radius=0.25\), 64 rows of 20 states,"
    with monkeypatch.context() as patch:
        patch.setitem(programs.SOLVER_OPTIONS, "HIGHS", {"simplex_iteration_limit": 0})
        with pytest.raises(programs.SolverFailure, match=label + " ended with status '.*(limit|inaccurate)"):
            programs.support(TotalVariation(0.25), p, v)
    with monkeypatch.context() as patch:
        import cvxpy

        def breakdown(*_: object, **__: object) -> None:
            raise cvxpy.error.SolverError("no answer")

        patch.setattr(cvxpy.Problem, "solve", breakdown)
        with pytest.raises(programs.SolverFailure, match=label + " failed: no answer"):
            programs.support(TotalVariation(0.25), p, v)
    assert programs.support(TotalVariation(0.25), p, v).value.shape == (programs.BLOCK,)
