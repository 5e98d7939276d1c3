"""Stationary points of J (Theorem 5 is about them), located by multi-start, each with a certificate.

J is not convex, so no search proves that it found all of them; what it returns is proved: an upper bound on
‖∇J‖, and where Newton-Kantorovich applies, a radius within which there is a true stationary point.
"""

import math
from dataclasses import dataclass

import numpy as np

from oracles.arithmetic.ball import UNIT, Ball, eigenvalue_floor, euclidean, up
from oracles.arithmetic.certified import Certified
from oracles.linear.msprbe import MSPRBE
from robust_core import validate
from robust_core.validate import Floats


@dataclass(frozen=True, eq=False)
class StationaryPoint:
    """A point where ∇J (nearly) vanishes.

    `gradient_bound` is an upper bound on ‖∇J(theta)‖. `distance` is a radius that contains a true stationary
    point, or None if Newton-Kantorovich does not apply. `is_minimum` says that the Hessian is certified
    positive definite at theta.
    """

    theta: Floats
    J: Certified
    gradient_bound: float
    distance: float | None
    is_minimum: bool


def stationary_points(
    problem: MSPRBE, *, rng: np.random.Generator, starts: int = 16, spread: float = 1.0
) -> tuple[StationaryPoint, ...]:
    """Stationary points reached from `starts` random starts, by rising J; points with one certificate merge.

    Starts are normal around zero with standard deviation `spread`. From each, J is minimised and ∇J = 0 is
    solved by Newton's method with the exact Hessian, which also finds saddles and maxima. A point without a
    Newton-Kantorovich certificate is dropped, so every returned `distance` is a number.

    >>> from robust_core.mdp import MDP
    >>> mdp = MDP([[[0.5, 0.5]], [[0.25, 0.75]]], [[1.0], [0.0]], 0.5)
    >>> problem = MSPRBE(mdp, [[1.0], [1.0]], [[1.0], [0.5]], radius=0.25, varrho=2.0)
    >>> [point] = stationary_points(problem, rng=np.random.default_rng(1), starts=4)
    >>> point.is_minimum, bool(np.isfinite(point.distance))
    (True, True)
    """
    validate.count("starts", starts, least=1)
    validate.positive("spread", spread)
    found: list[StationaryPoint] = []
    for start in spread * rng.standard_normal((starts, problem.n_features)):
        for theta in _searches(problem, start):
            point = certify(problem, theta)
            if point.distance is not None and not any(_same(point, other) for other in found):
                found.append(point)
    return tuple(sorted(found, key=lambda point: float(point.J.value)))


def _searches(problem: MSPRBE, start: Floats) -> list[Floats]:
    from scipy.optimize import minimize, root

    def gradient(theta: Floats) -> Floats:
        return problem.gradient(theta).value

    def hessian(theta: Floats) -> Floats:
        return problem.hessian(theta).value

    lowest = minimize(lambda theta: float(problem.J(theta).value), start, jac=gradient, method="BFGS").x
    ends = [root(gradient, begin, jac=hessian, method="hybr").x for begin in (start, lowest)]
    return [_polished(problem, end) for end in ends if np.isfinite(end).all()]


def _polished(problem: MSPRBE, theta: Floats) -> Floats:
    """Two Newton steps, each kept only if it lowers the gradient."""
    for _ in range(2):
        gradient = problem.gradient(theta).value
        step, *_ = np.linalg.lstsq(problem.hessian(theta).value, gradient, rcond=None)
        candidate = theta - step
        if np.linalg.norm(problem.gradient(candidate).value) >= np.linalg.norm(gradient):
            break
        theta = candidate
    return theta


def certify(problem: MSPRBE, theta: Floats) -> StationaryPoint:
    """The certificate of one point.

    Newton-Kantorovich for F = ∇J: with beta >= ‖F'(θ)⁻¹‖, eta = beta‖F(θ)‖ and L a Lipschitz constant of the
    Hessian on the ball of radius 2·eta, h = beta·L·eta <= ½ implies a zero of F within 2·eta/(1 + √(1−2h)) of
    θ. beta² is 1/λ_min of the squared Hessian; L is `third_derivative_bound`.
    """
    J = problem.J(theta)
    gradient = problem.gradient_ball(theta)
    size = gradient.norm()
    hessian = problem.hessian_ball(theta)
    symmetric = Ball((hessian.mid + hessian.mid.T) / 2, up(np.maximum(hessian.rad, hessian.rad.T) * 2))
    squared_floor = eigenvalue_floor(symmetric.T @ symmetric)
    distance = None
    if squared_floor > 0.0:
        beta = float(up(1.0 / math.sqrt(squared_floor)))
        eta = float(up(beta * size))
        third = third_derivative_bound(problem, J, 2 * eta)
        if not math.isfinite(third):
            raise ArithmeticError(
                f"no certificate: at varrho = {problem.varrho:.3g} the bound on the third derivative of J overflows"
            )
        h = float(up(beta * third * eta))
        if h <= 0.5:
            distance = float(up(2 * eta / (1 + math.sqrt(1 - 2 * h))))
    return StationaryPoint(theta, J, size, distance, eigenvalue_floor(symmetric) > 0.0)


def third_derivative_bound(problem: MSPRBE, J: Certified, reach: float) -> float:
    """A bound on |D³J(x,x,x)| for unit x at every point within `reach` of the one where J was evaluated.

    With F = max‖φ_s‖: |δ'| <= (1+gamma)F, |δ''| <= gamma R varrho F² (a variance of numbers in [−F, F]) and
    |δ'''| <= 2 gamma R varrho² F³ (a third central moment). By Bessel |E[Xφ]ᵀC⁻¹E[Yφ]| <= ‖X‖‖Y‖ in L²(mu),
    so |J'''| <= 2(3|δ''||δ'| + |δ'''|√J), and √J moves by at most (1+gamma)F per unit of θ.

    This also bounds the Lipschitz constant of the Hessian: the norm of a symmetric trilinear form is attained
    on the diagonal. It is infinite where floats do not reach.
    """
    gamma, R, varrho = problem.mdp.gamma, problem.radius, problem.varrho
    F = max(float(euclidean(row)) for row in np.abs(problem.features))
    root = float(np.sqrt(max(float(J.upper), 0.0))) + (1 + gamma) * F * reach
    # varrho·F first: the product has no unit of its own, its factors may be far from 1.
    curvature = gamma * R * (varrho * F) * F
    bound = 6 * curvature * (1 + gamma) * F + 4 * curvature * (varrho * F) * root
    return bound * (1 + 64 * UNIT * len(problem.features))


def _same(left: StationaryPoint, right: StationaryPoint) -> bool:
    """Whether the certified balls meet: then they may hold the same stationary point."""
    assert left.distance is not None
    assert right.distance is not None
    return bool(np.linalg.norm(left.theta - right.theta) <= left.distance + right.distance)
