"""For which discounts is a policy optimal? Decided exactly, by polynomials on subintervals.

For a deterministic policy pi at discount x, V = (I − xP_pi)⁻¹c_pi is a rational function of x with the positive
denominator det(I − xP_pi), so g_{s,a}(x) = det·(c(s,a) + x p_s^a·V − V(s)) is a polynomial of degree at most S+1, and
pi is optimal at x if and only if no g is negative there. Factors 1−x, which are positive, are divided out. A polynomial
whose Bernstein coefficients on an interval are all negative is negative on it: if every interval of a subdivision of
[0, 1] has such a g, pi is optimal for no discount.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate, pairwise

from oracles.arithmetic import exact
from robust_core.mdp import MDP

Polynomial = list[Fraction]
DEPTH = 12
"""The shortest subinterval is 2^-DEPTH; what is not decided there is not claimed."""


def _eliminate(matrix: list[list[Fraction]]) -> tuple[Fraction, list[Fraction]]:
    """(determinant, solution) of an n × (n+1) system whose leading minors are positive."""
    rows, n, determinant = [row[:] for row in matrix], len(matrix), Fraction(1)
    for k in range(n):
        determinant *= rows[k][k]
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for i in range(n):
            if i != k:
                rows[i] = [x - rows[i][k] * y for x, y in zip(rows[i], rows[k], strict=True)]
    return determinant, [row[-1] for row in rows]


def _advantages(mdp: MDP, policy: Sequence[int], x: Fraction) -> list[Fraction]:
    """g_{s,a}(x) of all pairs off the policy."""
    P, cost = exact.kernel(mdp), exact.costs(mdp)
    rows = [P[s][a].fractions() for s, a in enumerate(policy)]
    system = [[*((s == t) - x * p for t, p in enumerate(row)), cost[s][policy[s]]] for s, row in enumerate(rows)]
    determinant, V = _eliminate(system)
    return [
        determinant * (cost[s][a] + x * sum(p * v for p, v in zip(P[s][a].fractions(), V, strict=True)) - V[s])
        for s in range(mdp.n_states)
        for a in range(mdp.n_actions)
        if a != policy[s]
    ]


def _interpolate(values: Sequence[Fraction]) -> Polynomial:
    """The coefficients of the polynomial with these values at 0, 1/n, …, 1 (Newton's form, multiplied out)."""
    n = len(values) - 1
    table, coefficients = list(values), [values[0]]
    for k in range(1, n + 1):
        table = [(right - left) * Fraction(n, k) for left, right in pairwise(table)]
        coefficients.append(table[0])
    result = [coefficients[-1]]
    for k in range(n - 1, -1, -1):
        node = Fraction(k, n)
        shifted = [Fraction(0), *result]
        result = [high - node * low for high, low in zip(shifted, [*result, Fraction(0)], strict=True)]
        result[0] += coefficients[k]
    return result


def _without_ones(polynomial: Polynomial) -> Polynomial:
    """The polynomial over its factors 1−x: the quotient has the partial sums of the coefficients."""
    while len(polynomial) > 1 and sum(polynomial) == 0:
        polynomial = list(accumulate(polynomial))[:-1]
    return polynomial


def _negative(polynomial: Polynomial, low: Fraction, high: Fraction) -> bool:
    """Whether all Bernstein coefficients on [low, high] are negative."""
    n, width = len(polynomial) - 1, high - low
    moved = [
        width**i * sum(polynomial[j] * math.comb(j, i) * low ** (j - i) for j in range(i, n + 1)) for i in range(n + 1)
    ]
    return all(
        sum(Fraction(math.comb(k, i), math.comb(n, i)) * moved[i] for i in range(k + 1)) < 0 for k in range(n + 1)
    )


def optimal_for_no_discount(mdp: MDP, policy: Sequence[int]) -> bool:
    """Whether the deterministic policy is certified to be optimal for no discount in [0, 1).

    >>> one = MDP([[[1.0], [1.0]]], [[1.0, 0.0]], 0.5)
    >>> optimal_for_no_discount(one, [0]), optimal_for_no_discount(one, [1])
    (True, False)
    """
    if mdp.n_actions == 1:
        return False
    degree = mdp.n_states + 1
    # At x = 1 the matrix may be singular: the nodes lie in [0, ½], and the polynomial is rescaled.
    samples = [_advantages(mdp, policy, Fraction(k, 2 * degree)) for k in range(degree + 1)]
    polynomials = [
        _without_ones([a * 2**i for i, a in enumerate(_interpolate([sample[j] for sample in samples]))])
        for j in range(len(samples[0]))
    ]
    intervals = [(Fraction(0), Fraction(1))]
    while intervals:
        low, high = intervals.pop()
        if any(_negative(polynomial, low, high) for polynomial in polynomials):
            continue
        if high - low <= Fraction(1, 2**DEPTH):
            return False
        middle = (low + high) / 2
        intervals += [(low, middle), (middle, high)]
    return True
