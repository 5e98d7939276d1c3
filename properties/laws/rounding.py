"""How far a correct float implementation may be from the exact result: one home for the bounds of all exact laws."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from robust_core.mdp import MDP

UNIT = 2.0**-53
TINY = 5e-324


def stated_accuracy(options: Mapping[str, Any], unit: float) -> float:
    """The error that a variant states beside rounding: relative to the unit of its kind, and absolute.

    >>> stated_accuracy({"accuracy": 0.5, "absolute accuracy": 3.0}, 2.0)
    4.0
    """
    return float(options.get("accuracy", 0.0)) * unit + float(options.get("absolute accuracy", 0.0))


def operations_bound(operations: int, magnitude: float) -> float:
    """The error of at most `operations` roundings on quantities of at most `magnitude`.

    Each rounding errs by at most u·magnitude; (1+u)^n − 1 <= n u / (1 − n u). Subnormal results add at most the
    smallest positive float each.
    """
    relative = operations * UNIT / (1.0 - operations * UNIT)
    return relative * magnitude + operations * TINY


def backup_bound(mdp: MDP, estimate: np.ndarray) -> float:
    """Any sensible evaluation of a robust backup, its mixing with the old entry and a mean over next states.

    Roundings that lead to one entry: 2 S of the S products of sigma and their sum, 2 S of a mean over next states, 2 A
    each of a mean over actions before and after it, at most 6 of c + gamma((1−R)x + R m), 4 of (1−alpha)x + alpha T, 8
    of alpha (a power errs by some units), which leaves 14 for other orders of evaluation: 4 S + 4 A + 32. All
    intermediate quantities are at most |cost| + |estimate| up to the factor 2 of a difference.
    """
    size = float(np.abs(mdp.cost).max()) + float(np.abs(estimate).max())
    return step_bound(mdp.n_states, mdp.n_actions, size)


def step_bound(n_states: int, n_actions: int, size: float) -> float:
    """The same for one update of a table of S x A entries, |cost| + |estimate| <= `size`.

    It covers a step size that errs by some units: alpha multiplies the difference of target and entry.
    """
    return operations_bound(4 * n_states + 4 * n_actions + 32, 2.0 * size)


def mean_bound(mdp: MDP, steps: int, size: float) -> float:
    """How far the mean update of a learner of tables may be from its exact value after so many updates.

    Hypothesis: all that enters is a sum of at most n = steps + 1 terms, each at most 2 `size` in absolute value (a
    return of n steps; n times an average less n − 1 times the one before). Each term is the result of at most n
    updates, and an update rounds at most as often as one of `step_bound`. So at most n times that many roundings lead
    to the result, each of a quantity of at most 2 n size.
    """
    roundings = 4 * mdp.n_states + 4 * mdp.n_actions + 32
    return operations_bound((steps + 1) * roundings, 2.0 * (steps + 1) * size)


def box_size(gamma: float, cost: float, start: float) -> float:
    """The largest |estimate| on any path: max(|start|, |cost|/(1−gamma)), since a step is a convex combination

    of the entry and of c + gamma (a value between smallest and largest entry); times (1 + 2^-20) for rounding.
    """
    return max(start, cost / (1.0 - gamma)) * (1.0 + 2.0**-20)


def path_bound(mdp: MDP, steps: int, cost: float, start: float) -> float:
    """How far rounding moves a tabular learner in `steps` steps.

    A step is a non-expansion in the sup norm, so the error grows by one `step_bound` a step and never by a factor.
    """
    size = box_size(mdp.gamma, cost, start)
    return (steps + 1) * step_bound(mdp.n_states, mdp.n_actions, cost + size)


def fixed_point_bound(mdp: MDP, Q: np.ndarray) -> float:
    """How far from Q* a float table is whose residual is all rounding: |Q − Q*| <= |TQ − Q|/(1−gamma)."""
    return 2.0 * backup_bound(mdp, Q) / (1.0 - mdp.gamma)


def support_bound(p: np.ndarray, v: np.ndarray) -> float:
    """A support function of n values: a sort, n differences, n products and their sum, none above 2 max|v|."""
    return operations_bound(8 * len(v) + 16, 2.0 * float(np.abs(v).max()))


def linear_step_bound(
    features: np.ndarray, theta: np.ndarray, omega: np.ndarray, cost: float, varrho: float
) -> tuple[float, float]:
    """(error of theta, error of omega) of one step of TDC or GTD2 with step sizes of at most 1.

    With f = max|phi|, v = max_s Σ_i |phi_i theta_i|, w likewise for omega, L = max|V| + log(S+1)/varrho >= |smax V|,

        |delta| <= D = |c| + 2(v + L),    |g| <= f,    |direction| <= D f + 2 f w,

    and each is a chain of at most 8(S + N) + 64 roundings of quantities of that size. V itself errs by N u v; that
    moves delta by as much (smax is 1-Lipschitz), and the softmax weights by the factor exp(2 varrho N u v), hence
    g by 2 varrho (N + 2) u v f; an exponent t = varrho(V − max V) rounds by 2u|t| and |t|eᵗ < 1. exp and log err
    by at most 8 units. A projection scales by K/norm: N + 8 more roundings, and it is a non-expansion.
    """
    S, N = features.shape
    f = float(np.abs(features).max())
    v = float((np.abs(features) @ np.abs(theta)).max())
    w = float((np.abs(features) @ np.abs(omega)).max())
    D = abs(cost) + 2.0 * (2.0 * v + math.log(S + 1) / varrho)
    roundings = 8 * (S + N) + 64
    softmax = 4.0 * varrho * (N + 2) * v * UNIT * f * w
    direction = D * f + 2.0 * f * w
    theta_error = operations_bound(roundings, float(np.abs(theta).max()) + direction) + softmax
    omega_error = operations_bound(roundings, float(np.abs(omega).max()) + (D + w) * f)
    # A projection of a vector of N entries spreads the error of one entry over the others.
    return math.sqrt(N) * 2.0 * theta_error, math.sqrt(N) * 2.0 * omega_error


def linear_growth(features: np.ndarray, largest_omega: float, varrho: float) -> float:
    """By how much one step of TDC or GTD2 can stretch the sup distance of two states (theta, omega).

    With f = max|phi|, N features and w = N f |omega|: V moves by f N e, hence delta by 2 f N e and the softmax by
    2 varrho f N e in the 1-norm, g by f times that; so theta + direction moves by at most
    e (1 + f² N (3 + 2 varrho w)), omega by less, and the projection, a non-expansion in the 2-norm, by √N more.
    """
    N = features.shape[1]
    f = float(np.abs(features).max())
    return math.sqrt(N) * (1.0 + f * f * N * (3.0 + 2.0 * varrho * N * f * largest_omega))


def elimination_residual(n: int, largest: float, solution: float) -> float:
    """How large an entry of Ax − b can be if n equations are solved in floats, |A| <= `largest`, Σ|x| <= `solution`.

    Gaussian elimination with partial pivoting solves (A + E)x = b with |E| <= g |L||U|, g = 3nu/(1 − 3nu) (Higham,
    Accuracy and Stability of Numerical Algorithms, Theorem 9.4); the entries of L are at most 1 and those of U at most
    2^(n−1) `largest`, so |E| <= g n 2^(n−1) `largest`, and Ax − b = −Ex. Other methods are allowed as much.
    """
    return operations_bound(3 * n, n * 2.0 ** (n - 1) * largest * solution)
