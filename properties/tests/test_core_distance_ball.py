"""Balls by two formulas: their support functions and worst cases against closed forms, and messages for mistakes."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from oracles.planning import truth
from oracles.planning.rational import NoExactSupport
from robust_core import ChiSquare, DistanceBall, KullbackLeibler, UncertaintySet, sigma, worst_case
from robust_core.sets.distance_ball import STEP
from robust_core.validate import EPS


@dataclass(frozen=True)
class Power(DistanceBall):
    """{q : Σ p (q/p)^k − 1 <= r}: the chi-square ball for k = 2."""

    kind: ClassVar[str] = "a ball of a power divergence"
    within_support: ClassVar[bool] = True
    radius: float
    order: float = 2.0

    def bound(self, p: Any, v: Any, s: Any) -> Any:
        eta, j = v.max(axis=0) - s, self.order / (self.order - 1)
        return eta + (p * np.maximum(v - eta, 0) ** j).sum(axis=0) ** (1 / j) * (1 + self.radius) ** (1 / self.order)

    def distance(self, p: Any, q: Any) -> Any:
        return (p * (q / p) ** self.order).sum(axis=0) - 1


@dataclass(frozen=True)
class Tilt(DistanceBall):
    """{q : KL(q‖p) <= r}."""

    kind: ClassVar[str] = "a ball of relative entropy by two formulas"
    within_support: ClassVar[bool] = True
    radius: float

    def bound(self, p: Any, v: Any, s: Any) -> Any:
        top = v.max(axis=0)
        return top + s * (self.radius + np.log((p * np.exp((v - top) / s)).sum(axis=0)))

    def distance(self, p: Any, q: Any) -> Any:
        return (q * np.log(q / p)).sum(axis=0)


PAIRS = [(Power, ChiSquare), (Tilt, KullbackLeibler)]


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("radius", [0.0, 1e-8, 0.01, 0.5, 3.0, 100.0])
def test_the_least_bound_is_the_closed_form(pair: Any, radius: float) -> None:
    """To rounding, with long floats; else to that of floats of the size of the multiplier, at most 1/√r here."""
    ours, theirs = (cls(radius) for cls in pair)
    rng = np.random.default_rng(1)
    long = np.finfo(np.longdouble).eps < EPS
    for n in (1, 2, 7, 64):
        p, v = rng.dirichlet(np.full(n, 0.5), (3, 2)), rng.normal(size=n) * 1e200
        allowed = (8 * n + 16) * EPS * (1.0 if long else 1.0 + 1.0 / np.sqrt(radius or 1.0)) * np.abs(v).max()
        assert np.abs(sigma(ours, p, v) - sigma(theirs, p, v)).max() <= allowed
        q = worst_case(ours, p, v)
        assert np.abs(q.sum(axis=-1) - 1.0).max() <= 4 * n * EPS
        assert q.min() >= 0.0
        # Differences with a step of STEP s, where second derivatives are at most of the order of p/s: a mass errs by a
        # few STEP p, and the masses sum to 1.
        assert np.abs(q @ v - sigma(theirs, p, v)).max() <= 4.0 * STEP * np.abs(v).max()


def test_edges_are_met() -> None:
    for ball in (Power(0.5), Tilt(0.5)):
        assert sigma(ball, [0.0, 1.0, 0.0], [1.0, -2.0, 3.0]) == -2.0  # one state of support
        assert sigma(ball, [0.5, 0.5], [3.0, 3.0]) == 3.0
    assert sigma(Power(1.0), [0.5, 0.5], [0.0, 1.0]) == 1.0  # the threshold


def test_a_kink_at_the_minimum_is_found() -> None:
    """With k large, j is near 1: the bound has a kink where eta is a value."""
    rng = np.random.default_rng(2)
    for _ in range(2):
        p, v = rng.dirichlet(np.ones(3)), rng.integers(0, 4, 3).astype(float)
        for order in (1.5, 8.0):
            found = truth.sigma(Power(0.3, order), p.tolist(), v.tolist())
            assert abs(float(sigma(Power(0.3, order), p, v)) - float(found.middle)) <= 48 * EPS * 6.0


def test_radii_per_pair_are_those_of_each_row() -> None:
    p = np.array([[[0.5, 0.5], [0.25, 0.75]]])
    both = sigma(Tilt([[0.1, 0.4]]), p, [0.0, 1.0])  # type: ignore[arg-type]
    assert both.tolist() == [[float(sigma(Tilt(r), row, [0.0, 1.0])) for r, row in zip((0.1, 0.4), p[0], strict=True)]]


class Wrong(Tilt):
    """A base for wrong versions, which have no kind of their own."""


class ForgottenOne(Wrong):
    def distance(self, p: Any, q: Any) -> Any:
        return super().distance(p, q) + 1


class NoAxis(Wrong):
    def bound(self, p: Any, v: Any, s: Any) -> Any:
        top = v.max(axis=0)
        return top + s * (self.radius + np.log((p * np.exp((v - top) / s)).sum()))


class NoSum(Wrong):
    def bound(self, p: Any, v: Any, s: Any) -> Any:
        return v * s


class HalfTheRadius(Wrong):
    def bound(self, p: Any, v: Any, s: Any) -> Any:
        return super().bound(p, v, s) - s * self.radius / 2


ROWS: Any = [[0.25, 0.75], [0.5, 0.5]]


@pytest.mark.parametrize(("cls", "said"), [(NoAxis, "as for the row alone"), (NoSum, "an array of shape")])
def test_a_bound_that_mixes_rows_is_refused(cls: Any, said: str) -> None:
    with pytest.raises(ValueError, match=f"{cls.__name__}.bound must return one number for each row.*{said}"):
        sigma(cls(0.25), ROWS, [0.0, 1.0])


def test_formulas_of_different_sets_are_named() -> None:
    with pytest.raises(NoExactSupport, match=r"distance\(p, p\) of ForgottenOne must be 0, got 1"):
        truth.sigma(ForgottenOne(0.25), [0.25, 0.75], [0.0, 1.0])
    with pytest.raises(NoExactSupport, match=r"is not of one set.*has a member of mean"):
        truth.sigma(HalfTheRadius(0.25), [0.25, 0.75], [0.0, 1.0])


def test_a_set_without_formulas_cannot_be_made() -> None:
    @dataclass(frozen=True)
    class Empty(DistanceBall):
        radius: float

    with pytest.raises(TypeError, match="abstract"):
        Empty(0.5)  # type: ignore[abstract]
    assert issubclass(Empty, UncertaintySet)


def test_a_ball_without_a_radius_says_so() -> None:
    @dataclass(frozen=True)
    class Nameless(Tilt):
        kind: ClassVar[str] = "a ball whose radius has another name"

    ball = Nameless(0.5)
    object.__delattr__(ball, "radius")
    with pytest.raises(TypeError, match="Nameless must be a frozen dataclass with a field `radius`"):
        sigma(ball, [0.5, 0.5], [0.0, 1.0])
