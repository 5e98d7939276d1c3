"""Plans that carry a distribution p to q: constraints for cvxpy, and the least cost of carrying, in fractions."""

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from oracles.arithmetic.exact import Vector


def plan_constraints(q: Any, p: Any) -> tuple[Any, list[Any]]:
    """A variable plan[row, i·n + j] >= 0 with marginals p and q, and its constraints."""
    import cvxpy as cp

    rows, n = q.shape
    plan = cp.Variable((rows, n * n), nonneg=True)
    leaves = np.kron(np.eye(n), np.ones((n, 1)))
    arrives = np.kron(np.ones((n, 1)), np.eye(n))
    return plan, [plan @ leaves == p, plan @ arrives == q]


def least_cost(p: Vector, q: Vector, metric: list[list[Fraction]]) -> Fraction:
    """min Σ plan_ij metric_ij over the plans from p to q: shortest augmenting paths, exactly.

    >>> one, zero = Fraction(1), Fraction(0)
    >>> least_cost((one, zero), (zero, one), [[zero, one], [one, zero]])
    Fraction(1, 1)
    """
    n = len(p)
    plan = [[Fraction(0)] * n for _ in range(n)]
    supply, demand = list(p), list(q)
    while any(supply):
        distance: list[Fraction | None] = [Fraction(0) if supply[i] else None for i in range(n)] + [None] * n
        before: list[int] = [-1] * (2 * n)
        for _ in range(2 * n):
            changed = False
            for i in range(n):
                for j in range(n):
                    here, there = distance[i], distance[n + j]
                    if here is not None and (there is None or here + metric[i][j] < there):
                        distance[n + j], before[n + j], changed = here + metric[i][j], i, True
                    there = distance[n + j]
                    if there is not None and plan[i][j] and (here is None or there - metric[i][j] < here):
                        distance[i], before[i], changed = there - metric[i][j], n + j, True
            if not changed:
                break
        _, end = min((d, n + j) for j in range(n) if demand[j] and (d := distance[n + j]) is not None)
        path = [end]
        while before[path[-1]] >= 0:
            path.append(before[path[-1]])
        path.reverse()
        back = [plan[b][a - n] for a, b in pairwise(path) if a >= n]
        amount = min(supply[path[0]], demand[end - n], *back)
        for a, b in pairwise(path):
            if a < n:
                plan[a][b - n] += amount
            else:
                plan[b][a - n] -= amount
        supply[path[0]] -= amount
        demand[end - n] -= amount
    return sum((plan[i][j] * metric[i][j] for i in range(n) for j in range(n)), Fraction(0))
