"""J, omega and ∇J a second time: rationals for the stationary distribution, long decimals for the rest.

Nothing is shared with `msprbe` but the problem's data. The kernel and the stationary distribution are exact rationals;
C, its inverse and b are decimals of 400 digits; LSE is evaluated in decimals of `DIGITS` digits, whose exp and
ln are rounded correctly. The gradient is a central difference of J with step 1e-25: no formula for a
derivative is trusted.
"""

import math
from collections.abc import Iterable, Sequence
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from oracles.arithmetic import exact
from oracles.arithmetic.ball import UNIT
from oracles.arithmetic.certified import Certified
from oracles.chains.chain import stationary_exact
from oracles.linear.msprbe import MSPRBE
from oracles.linear.stationary import third_derivative_bound
from robust_core import validate
from robust_core.validate import Floats

DIGITS = 100
NARROW = Context(prec=DIGITS)
WIDE = Context(prec=4 * DIGITS)
GUARD = Decimal(10) ** (20 - DIGITS)
"""Far above the rounding of the few thousand decimal operations of one evaluation, relative to the sum of
absolute values that it adds up."""
STEP = Decimal(10) ** -25
Decimals = list[Decimal]


class ExactMSPRBE:
    """The problem of a `MSPRBE` in long arithmetic; J, omega and ∇J with bounds near one rounding to floats.

    b(θ) = b_0 + B θ + gamma R·LSE(Φθ)·E[φ] with b_0, B and E[φ] known to some 400 digits.

    >>> from robust_core.mdp import MDP
    >>> mdp = MDP([[[0.5, 0.5]], [[0.25, 0.75]]], [[1.0], [0.0]], 0.5)
    >>> problem = MSPRBE(mdp, [[1.0], [1.0]], [[1.0], [0.5]], radius=0.25, varrho=2.0)
    >>> ExactMSPRBE(problem).J([0.5]).agrees_with(problem.J([0.5]))
    True
    """

    def __init__(self, problem: MSPRBE) -> None:
        self._problem = problem
        with localcontext(WIDE):
            gamma, R = Decimal(problem.mdp.gamma), Decimal(problem.radius)
            phi = [[Decimal(x) for x in row] for row in problem.features.tolist()]
            kernel = [_decimals(row.fractions()) for row in problem.chain.exact_rows()]
            weights = [_decimals(exact.distribution(row).fractions()) for row in problem.policy.tolist()]
            costs = [[Decimal(c) for c in row] for row in problem.mdp.cost.tolist()]
            cost = [_dot(w, c) for w, c in zip(weights, costs, strict=True)]
            mu = _decimals(stationary_exact(problem.walked))
            columns = list(zip(*phi, strict=True))
            weighted = [[m * x for m, x in zip(mu, column, strict=True)] for column in columns]
            successor = [[_dot(row, column) for row in kernel] for column in columns]
            C = [[_dot(w, column) for column in columns] for w in weighted]
            self._B = [
                [gamma * (1 - R) * _dot(w, after) - c for after, c in zip(successor, row, strict=True)]
                for w, row in zip(weighted, C, strict=True)
            ]
            self._b0 = [_dot(w, cost) for w in weighted]
            self._worst_phi = [gamma * R * sum(w) for w in weighted]
            self._inverse = _inverse(C)
            self._phi = phi

    @cached_property
    def _offset(self) -> Decimal:
        if self._problem.smoothing == "lse":
            return Decimal(0)
        return Decimal(len(self._phi)).ln(NARROW)

    def _moment(self, theta: Decimals) -> Decimals:
        varrho = Decimal(self._problem.varrho)
        V = [_dot(row, theta) for row in self._phi]
        top = max(V)
        total = sum((((v - top) * varrho).exp() for v in V), Decimal(0))
        smooth = top + (total.ln() - self._offset) / varrho
        return [
            b0 + _dot(row, theta) + w * smooth for b0, row, w in zip(self._b0, self._B, self._worst_phi, strict=True)
        ]

    def _size(self, theta: Decimals) -> Decimal:
        """The sum of absolute values that enters an entry of b: a scale for its rounding."""
        V = max(_dot(map(abs, row), map(abs, theta)) for row in self._phi)
        slack = V + Decimal(len(self._phi)).ln() / Decimal(self._problem.varrho)
        return max(
            abs(b0) + _dot(map(abs, row), map(abs, theta)) + abs(w) * slack
            for b0, row, w in zip(self._b0, self._B, self._worst_phi, strict=True)
        )

    def _inverse_size(self) -> Decimal:
        return sum((abs(x) for row in self._inverse for x in row), Decimal(0))

    def _J(self, theta: Decimals) -> Decimal:
        b = self._moment(theta)
        return _dot(b, [_dot(row, b) for row in self._inverse])

    def _read(self, theta: ArrayLike) -> Decimals:
        values = validate.array("theta", theta, shape=(self._problem.n_features,))
        return [Decimal(x) for x in values.tolist()]

    def omega(self, theta: ArrayLike) -> Certified:
        """omega(θ) = C⁻¹b(θ)."""
        with localcontext(NARROW):
            point = self._read(theta)
            b = self._moment(point)
            values = [_dot(row, b) for row in self._inverse]
            return _rounded(values, GUARD * self._inverse_size() * self._size(point))

    def J(self, theta: ArrayLike) -> Certified:
        """J(θ) = b(θ)ᵀC⁻¹b(θ)."""
        with localcontext(NARROW):
            point = self._read(theta)
            result = _rounded([self._J(point)], GUARD * self._inverse_size() * self._size(point) ** 2)
        return Certified(result.value[0], result.error_bound, result.method)

    def gradient(self, theta: ArrayLike) -> Certified:
        """∇J(θ) by central differences; the truncation h²/6·|J'''| uses `third_derivative_bound`."""
        with localcontext(NARROW):
            point = self._read(theta)
            ends = [[self._J(_shifted(point, k, h)) for k in range(len(point))] for h in (STEP, -STEP)]
            values = [(right - left) / (2 * STEP) for right, left in zip(*ends, strict=True)]
            rounding = GUARD * self._inverse_size() * (2 * self._size(point)) ** 2 / STEP
            third = third_derivative_bound(self._problem, self._problem.J(theta), 1.0)
            if not math.isfinite(third):
                raise ArithmeticError(
                    f"varrho = {self._problem.varrho:.3g} is too large for a difference of step {STEP}"
                )
            return _rounded(values, rounding + STEP**2 * Decimal(third))


def _decimals(values: Sequence[Fraction]) -> Decimals:
    return [Decimal(x.numerator) / Decimal(x.denominator) for x in values]


def _dot(left: Iterable[Decimal], right: Iterable[Decimal]) -> Decimal:
    return sum((x * y for x, y in zip(left, right, strict=True)), Decimal(0))


def _shifted(point: Decimals, k: int, h: Decimal) -> Decimals:
    return [x + h if i == k else x for i, x in enumerate(point)]


def _rounded(values: Decimals, error: Decimal) -> Certified:
    """The nearest floats; the rounding to floats enters the bound."""
    nearest: Floats = np.array([float(x) for x in values])
    conversion = max(abs(x) for x in values) * Decimal(UNIT) + Decimal(float(np.finfo(np.float64).tiny))
    bound = float(np.nextafter(float(error + conversion), np.inf))
    return Certified(nearest, bound, f"rationals and {DIGITS}-digit decimals")


def _inverse(C: list[Decimals]) -> list[Decimals]:
    """C⁻¹ by Gauss-Jordan in the wide context; the residual proves that at least `DIGITS` digits survived."""
    n = len(C)
    identity = [[Decimal(int(i == j)) for j in range(n)] for i in range(n)]
    rows = [[*row, *unit] for row, unit in zip(C, identity, strict=True)]
    for k in range(n):
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for i in range(n):
            if i != k:
                factor = rows[i][k]
                rows[i] = [x - factor * y for x, y in zip(rows[i], rows[k], strict=True)]
    inverse = [row[n:] for row in rows]
    columns = list(zip(*inverse, strict=True))
    residual = max(
        abs(_dot(row, column) - unit)
        for row, units in zip(C, identity, strict=True)
        for column, unit in zip(columns, units, strict=True)
    )
    if residual > Decimal(10) ** -DIGITS:
        raise ArithmeticError(f"C is too ill-conditioned for {WIDE.prec} digits: ‖I − C·C⁻¹‖ = {residual:.3g}")
    return inverse
