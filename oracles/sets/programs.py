"""Support functions as convex programs over the definitions of the sets, many rows in one program.

Each set is the simplex cut by a set K around p. For *any* vector y, whatever its origin,

    sigma(v) = max_{q in simplex and K} q·(v−y) + q·y  <=  max(v−y) + sigma_K(y)        (weak duality),

and *any* member q of the set gives q·v <= sigma(v). The solver proposes q and, through its multipliers lam
of Σq = 1 and s of q >= 0, the vector y = v − lam + s at which the inequality is tight; both bounds are then
evaluated here, with an allowance for rounding. Nothing the solver says is believed: a bad answer, a wrong
sign or an early stop makes the certified interval wide, never wrong. So an answer that the solver calls
inaccurate, as it does of sets without interior (radius 0, a p with zeros), is judged like any other, a solver that
fails proposes nothing, and both stand next to proposals that need no solver: q = p, and for y the two ends, v (tight
if the set is p alone) and 0 (tight if the largest value can be attained).

The program of a set is the `program` of its `SetOracle`.
"""

import warnings
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from oracles.arithmetic.certified import Certified
from oracles.sets.pairs import checked_pairs
from oracles.sets.registration import Cut, oracle_of
from robust_core.sets import UncertaintySet
from robust_core.validate import EPS, Floats

BLOCK = 64
"""Rows per program: with 20 states the cost per row measured least from 64 to 128 rows."""

OPERATIONS = 16
"""More roundings than a bound needs beside its inner products; each is at most EPS times the magnitudes."""

LEAST_TOTAL = 2.0**-1000
"""A sum of weights above this is so far from underflow (2**-1074) that products with them err relatively."""

SOLVER_OPTIONS: dict[str, dict[str, float]] = {
    "HIGHS": {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    "CLARABEL": {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10},
}
"""As tight as the solvers accept; they decide how wide a certified interval is, never whether it is right."""

WIDEST = 2.0**-10
"""A wider certified interval, as a share of max |v|, is no answer: it would let wrong support functions pass."""


def _cvxpy() -> Any:
    import cvxpy  # slow, so only when a program is built

    return cvxpy


class SolverFailure(RuntimeError):
    """A convex program ended without a solution, or with one that certifies next to nothing."""


class Contradiction(SolverFailure):
    """A lower bound above the upper one: the forms of a program are not of one set."""


def _cut(uncertainty_set: UncertaintySet) -> Cut[Any]:
    program = oracle_of(type(uncertainty_set)).program
    if program is None:
        raise TypeError(f"no convex program is registered for {type(uncertainty_set).__name__}")
    return program


def support(uncertainty_set: UncertaintySet, p: ArrayLike, v: ArrayLike) -> Certified:
    """sigma(v) = max_{q in the set around p} q·v (Section 2), as a convex program, certified.

    `p` and `v` are rows or batches of rows and broadcast against each other; a batch is solved in blocks. The
    bound is that of the worst row; `enclosures` has each row's own.

    >>> from robust_core.sets import TotalVariation
    >>> answer = support(TotalVariation(0.25), [0.5, 0.5], [[0.0, 1.0], [2.0, 0.0]])
    >>> bool(abs(answer.value - [0.75, 1.5]).max() <= answer.error_bound)
    True
    """
    lower, upper = enclosures(uncertainty_set, p, v)
    middle = lower + (upper - lower) / 2
    error = np.nextafter(np.maximum(upper - middle, middle - lower), np.inf).max()
    return Certified(middle, float(error), f"convex program ({type(uncertainty_set).__name__}), certified by its dual")


def enclosures(uncertainty_set: UncertaintySet, p: ArrayLike, v: ArrayLike) -> tuple[Floats, Floats]:
    """Certified lower and upper bounds on sigma(v), row by row (see `support`).

    >>> from robust_core.sets import Contamination
    >>> lower, upper = enclosures(Contamination(0.5), [0.5, 0.5], [0.0, 1.0])
    >>> bool(lower <= 0.75 <= upper)
    True
    """
    _cut(uncertainty_set)
    rows, values = checked_pairs(p, v)
    shape = rows.shape[:-1]
    rows, values = rows.reshape(-1, rows.shape[-1]), values.reshape(-1, values.shape[-1])
    block = min(BLOCK, 1 << (len(rows) - 1).bit_length())
    parts = [
        _certified_block(uncertainty_set, rows[start : start + block], values[start : start + block], block)
        for start in range(0, len(rows), block)
    ]
    lower, upper = (np.concatenate(bounds).reshape(shape) for bounds in zip(*parts, strict=True))
    return lower, upper


def _certified_block(uncertainty_set: UncertaintySet, p: Floats, v: Floats, block: int) -> tuple[Floats, Floats]:
    """Bounds for at most `block` rows; a short block is filled up by repeating its last row."""
    count, n_states = p.shape
    # A power of two scales without rounding and keeps sums of huge values finite.
    exponent = np.frexp(np.abs(v).max(axis=1, keepdims=True))[1]
    scaled = np.ldexp(v, -exponent)
    filled = np.minimum(np.arange(block), count - 1)
    proposals, failure = [(p, scaled), (p, np.zeros_like(scaled))], ""
    try:
        q, y = _program(type(uncertainty_set), _cut(uncertainty_set), block, n_states).solve(
            uncertainty_set, p[filled], scaled[filled]
        )
        proposals.append((q[:count], y[:count]))
    except SolverFailure as error:  # it proposes nothing; the others may be enough
        failure = str(error)
    bounds = [certificate(uncertainty_set, p, scaled, members, prices) for members, prices in proposals]
    lower = np.max([low for low, _ in bounds], axis=0)
    upper = np.min([high for _, high in bounds], axis=0)
    _refuse(uncertainty_set, p, lower, upper, failure)
    back = exponent[:, 0]
    return np.nextafter(np.ldexp(lower, back), -np.inf), np.nextafter(np.ldexp(upper, back), np.inf)


def _refuse(uncertainty_set: UncertaintySet, p: Floats, lower: Floats, upper: Floats, failure: str) -> None:
    """No interval that says nothing, nor one that is empty: then what is registered is not one set."""
    bad = np.flatnonzero(~((lower <= upper) & (upper - lower <= WIDEST)))
    if bad.size and failure and (lower <= upper).all():
        raise SolverFailure(failure)
    if bad.size:
        row = bad[0]
        raise (Contradiction if lower[row] > upper[row] else SolverFailure)(
            f"the program of {uncertainty_set} encloses sigma(v), max|v| being in [1/2, 1], between {lower[row]:.6g} "
            f"and {upper[row]:.6g} around p = {p[row].tolist()}: are `constraints`, `price` and `attained` of one set?"
        )


def certificate(uncertainty_set: UncertaintySet, p: Floats, v: Floats, q: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Lower and upper bounds on sigma(v) from any q and any y, rounding included.

    Hypothesis: each row of v is zero or has ½ <= max |v| <= 1, so that underflow is far below the allowance.

    The allowance: a float inner product of n terms is off by n EPS/2; p stands for itself over its exact sum,
    which is within (2n+1) EPS of 1; together (3n+2) EPS times the largest magnitude, at most twice (for p and
    for q). What remains are at most OPERATIONS roundings of numbers no larger than 1 + max |y|.

    >>> from robust_core.sets import TotalVariation
    >>> row, v = np.array([[0.5, 0.5]]), np.array([[0.0, 1.0]])
    >>> lower, upper = certificate(TotalVariation(0.25), row, v, q=row, y=0 * v)  # poor, so wide: not wrong
    >>> lower.round(2), upper.round(2)
    (array([0.5]), array([1.]))
    """
    cut = _cut(uncertainty_set)
    moved, price = cut.price(uncertainty_set, p, y)
    allowance = (6 * p.shape[-1] + OPERATIONS) * EPS
    size, size_moved = np.abs(v).max(axis=1), np.abs(moved).max(axis=1)
    upper = (v - moved).max(axis=1) + price + allowance * (size + size_moved)
    lower = cut.attained(uncertainty_set, p, np.maximum(q, 0.0), v) - allowance * size
    return lower, upper


class _Program:
    """max Σ_rows v·q over q in simplex and K: cvxpy compiles it once per (set type, its K, rows, states)."""

    def __init__(self, kind: type[UncertaintySet], registered: Cut[Any], block: int, n_states: int) -> None:
        cp = _cvxpy()

        self._q = cp.Variable((block, n_states))
        self._p = cp.Parameter((block, n_states))
        self._v = cp.Parameter((block, n_states))
        self._simplex = [self._q >= 0, cp.sum(self._q, axis=1) == 1]
        cut, self._write = registered.constraints(self._q, self._p)
        objective = cp.Maximize(cp.sum(cp.multiply(self._v, self._q)))
        self._problem = cp.Problem(objective, self._simplex + cut)
        if not self._problem.is_dpp():
            raise ValueError(f"the constraints registered for {kind.__name__} break the rules of DPP")
        # The objective is linear, so a quadratic program is a linear one; older versions of cvxpy have no is_lp.
        self.solver = "HIGHS" if self._problem.is_qp() else "CLARABEL"

    def solve(self, uncertainty_set: UncertaintySet, p: Floats, v: Floats) -> tuple[Floats, Floats]:
        """The solver's proposals (q, y), one row each; values are mapped to [0, 1] for its tolerances."""
        cp = _cvxpy()

        least = v.min(axis=1, keepdims=True)
        span = v.max(axis=1, keepdims=True) - least
        span[span == 0.0] = 1.0
        self._p.value = p / p.sum(axis=1, keepdims=True)
        self._v.value = (v - least) / span
        self._write(uncertainty_set, self._p.value)
        try:
            with warnings.catch_warnings():
                # The certificate says how inaccurate.
                warnings.filterwarnings("ignore", "Solution may be inaccurate", UserWarning)
                # From where the last problem ended Clarabel breaks down in one problem of a hundred, and the answer
                # would depend on what was asked before.
                self._problem.solve(solver=self.solver, warm_start=False, **SOLVER_OPTIONS[self.solver])
        except cp.error.SolverError as error:
            raise SolverFailure(f"{self._label(uncertainty_set)} failed: {error}") from None
        if self._problem.status not in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE):
            raise SolverFailure(f"{self._label(uncertainty_set)} ended with status {self._problem.status!r}")
        slack, lam = (constraint.dual_value for constraint in self._simplex)
        return self._q.value, span * (self._v.value - lam[:, None] + slack)

    def _label(self, uncertainty_set: UncertaintySet) -> str:
        rows, states = self._q.shape
        return f"{self.solver} on the support function of {uncertainty_set}, {rows} rows of {states} states,"


_program = lru_cache(maxsize=64)(_Program)


def mean(p: Floats, v: Floats) -> Floats:
    """p·v of each row."""
    return np.einsum("rs,rs->r", p, v)


def normalised_mean(weights: Floats, v: Floats, otherwise: Floats) -> Floats:
    """Σ weights v / Σ weights of each row; `otherwise` where they vanish."""
    total = weights.sum(axis=1)
    usable = total > LEAST_TOTAL
    return np.where(usable, mean(weights, v) / np.where(usable, total, 1.0), otherwise)
