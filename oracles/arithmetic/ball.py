"""Arrays with a proven radius: float arithmetic that carries its own rounding bound.

A `Ball` stands for every array whose entries differ from `mid` by at most `rad`. Each operation returns a
ball that contains the exact result for every choice inside its operands, rounding included. The unit roundoff
is u = eps/2; a sum or dot product of k terms, in any order and with or without fused operations, has relative
error at most k·u/(1 − k·u) against the sum of absolute values.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from robust_core.validate import EPS, Floats

UNIT = EPS / 2
TINY = float(np.finfo(np.float64).tiny)
SMALLEST = float(np.finfo(np.float64).smallest_subnormal)
LIBM_ULPS = 4
"""exp and log of the supported math libraries are within this many units in the last place."""


def up(bound: ArrayLike, terms: int = 1) -> Floats:
    """A bound that was summed from `terms` non-negative floats, rounded so that it stays an upper bound."""
    return np.asarray(bound, dtype=np.float64) * (1.0 + (terms + 8) * EPS)


def euclidean(sizes: Floats, axis: int | None = None) -> Floats:
    """An upper bound on √Σx² over non-negative floats x that were rounded up, at any scale.

    The sum is taken after a division by a power of two near the largest x (of each column), so that no square that
    matters under- or overflows: those that still underflow are below 2⁻¹⁰⁷⁴ of the largest square each.

    >>> bool(5e-300 <= euclidean(np.array([3e-300, 4e-300])) <= 5.1e-300)
    True
    """
    if not sizes.size:
        return np.zeros(())
    _, exponent = np.frexp(np.max(sizes, axis=axis))
    root = np.sqrt(np.sum(np.ldexp(sizes, -exponent) ** 2, axis=axis))
    # The last product is exact unless its result is subnormal or infinite.
    terms = sizes.size if axis is None else sizes.shape[axis]
    return np.where(root > 0.0, np.ldexp(up(root, terms), exponent) + SMALLEST, 0.0)


@dataclass(frozen=True, eq=False)
class Ball:
    """Every array within `rad` of `mid`, entry by entry.

    >>> third = Ball.exact(1.0) / Ball.exact(3.0)
    >>> bool(0.0 < third.rad <= EPS)
    True
    """

    mid: Floats
    rad: Floats

    # numpy must leave mixed operations to this class.
    __array_ufunc__ = None

    @staticmethod
    def exact(values: ArrayLike) -> "Ball":
        """The ball of radius zero."""
        mid = np.asarray(values, dtype=np.float64)
        return Ball(mid, np.zeros_like(mid))

    @staticmethod
    def relative(values: Floats, log_error: float) -> "Ball":
        """Every array whose entries differ from `values` by a factor within exp(±log_error)."""
        return Ball(values, up(np.abs(values) * np.expm1(log_error) + TINY))

    @property
    def T(self) -> "Ball":
        """The transpose."""
        return Ball(self.mid.T, self.rad.T)

    @property
    def magnitude(self) -> Floats:
        """The largest absolute value of every entry."""
        return up(np.abs(self.mid) + self.rad)

    def norm(self) -> float:
        """An upper bound on the Euclidean (Frobenius) norm."""
        return float(euclidean(self.magnitude))

    def __getitem__(self, key: int | slice | tuple[slice | int | None, ...]) -> "Ball":
        return Ball(self.mid[key], self.rad[key])

    def __neg__(self) -> "Ball":
        return Ball(-self.mid, self.rad)

    def __add__(self, other: "Ball") -> "Ball":
        mid = self.mid + other.mid
        return Ball(mid, up(self.rad + other.rad + UNIT * np.abs(mid)))

    def __sub__(self, other: "Ball") -> "Ball":
        return self + (-other)

    def __mul__(self, other: "Ball") -> "Ball":
        mid = self.mid * other.mid
        cross = np.abs(self.mid) * other.rad + self.rad * (np.abs(other.mid) + other.rad)
        return Ball(mid, up(cross + UNIT * np.abs(mid) + TINY))

    def __truediv__(self, other: "Ball") -> "Ball":
        room = np.abs(other.mid) - other.rad * (1.0 + EPS)
        if (room <= 0.0).any():
            raise ZeroDivisionError("the divisor's ball contains zero")
        mid = self.mid / other.mid
        # Divided first: a product that underflowed would be a loss of any size after the division.
        spread = self.rad / room + np.abs(mid) * (other.rad / room + TINY)
        return Ball(mid, up(spread * (1.0 + 4 * EPS) + UNIT * np.abs(mid) + TINY))

    def __matmul__(self, other: "Ball") -> "Ball":
        terms = self.mid.shape[-1]
        size_left, size_right = np.abs(self.mid), np.abs(other.mid)
        rounding = terms * UNIT / (1.0 - terms * UNIT) * (size_left @ size_right) + terms * TINY
        spread = size_left @ other.rad + self.rad @ (size_right + other.rad)
        return Ball(np.asarray(self.mid @ other.mid), up(spread + rounding, 2 * terms))

    def sum(self) -> "Ball":
        """The sum of a vector."""
        return self @ Ball.exact(np.ones(len(self.mid)))

    def exp(self) -> "Ball":
        """The exponential."""
        mid = np.exp(self.mid)
        return Ball(mid, up(mid * (np.expm1(self.rad) * (1.0 + LIBM_ULPS * EPS) + LIBM_ULPS * EPS) + TINY))

    def log(self) -> "Ball":
        """The natural logarithm of a positive ball."""
        room = self.mid - self.rad * (1.0 + EPS)
        if (room <= 0.0).any():
            raise ValueError("the logarithm's argument contains zero")
        mid = np.log(self.mid)
        return Ball(mid, up(self.rad / room * (1.0 + EPS) + LIBM_ULPS * EPS * np.abs(mid) + TINY))


def eigenvalue_floor(matrix: Ball) -> float:
    """A certified lower bound on the smallest eigenvalue of every symmetric matrix in the ball (may be <= 0).

    With approximate eigenvectors W, B = WᵀCW is nearly diagonal and λ_min(C) >= λ_min(B)/‖W‖² when B is
    positive; Gershgorin bounds λ_min(B), and ‖W‖² <= 1 + ‖WᵀW − I‖. Nothing is assumed about the eigensolver.

    For two rows the products, of two terms each, cost 4 EPS on the diagonal of B, 8 beside it (4 if the eigenvectors
    were exact) and 4 in WᵀW − I; the last two lines add 8 and 4.

    >>> floor = eigenvalue_floor(Ball.exact([[2.0, 1.0], [1.0, 2.0]]))
    >>> bool(1.0 - 28 * EPS <= floor <= 1.0)
    True
    """
    vectors = Ball.exact(np.linalg.eigh(matrix.mid)[1])
    diagonalised = vectors.T @ matrix @ vectors
    defect = (vectors.T @ vectors - Ball.exact(np.eye(len(matrix.mid)))).norm()
    off = up(np.where(np.eye(len(matrix.mid)), 0.0, diagonalised.magnitude).sum(axis=1), len(matrix.mid))
    diagonal = np.diag(diagonalised.mid) - np.diag(diagonalised.rad) * (1.0 + EPS)
    smallest = float(np.min(diagonal - off - 8 * EPS * np.abs(diagonal)))
    stretch = 1.0 + defect if smallest > 0.0 else max(1.0 - defect, 0.5)
    return smallest / stretch * (1.0 - 4 * EPS) if smallest > 0.0 else smallest / stretch * (1.0 + 4 * EPS)


def solve(matrix: Ball, right: Ball, floor: float) -> Ball:
    """The solution of a symmetric positive definite system whose smallest eigenvalue is at least `floor`.

    ‖C⁻¹b − x‖ <= ‖b − Cx‖/floor for any x, column by column.
    """
    x = Ball.exact(np.linalg.solve(matrix.mid, right.mid))
    residual = (right - matrix @ x).magnitude
    error = up(euclidean(residual, axis=0) / floor)
    return Ball(x.mid, np.broadcast_to(error, x.mid.shape))
