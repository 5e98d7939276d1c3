"""Finite sets of kernels, which are not rectangular: values by enumeration, and what the Bellman equation says of them.

Nature chooses one kernel of the set for the whole run, after the agent's stationary policy: V^pi(s) = max_k
V^{pi,k}(s). Rows of different states cannot be combined. The robust Bellman equation combines them freely: its fixed
point is the value of the rectangular hull, the set of all kernels whose rows of each pair come from any kernel of the
set. So it is at least max_k V^{pi,k}, and it is larger where no kernel is worst for all states: `gap` measures it. All
in rationals, for small models.

>>> from robust_core import MDP
>>> swap, stay = [[[0.0, 1.0]], [[1.0, 0.0]]], [[[1.0, 0.0]], [[0.0, 1.0]]]
>>> found = FiniteKernels((MDP(swap, [[0.0], [1.0]], 0.5), MDP(stay, [[0.0], [1.0]], 0.5)))
>>> policy_value(found, [[1.0], [1.0]]), hull_value(found, [[1.0], [1.0]])
((Fraction(2, 3), Fraction(2, 1)), (Fraction(1, 1), Fraction(2, 1)))
"""

from fractions import Fraction
from itertools import product

from numpy.typing import ArrayLike

from oracles.arithmetic import exact
from oracles.arithmetic.exact import Rational, Vector
from robust_core import validate
from robust_core.sets import FiniteKernels

MOST_COMBINATIONS = 100_000
"""Of rows of the hull, or of deterministic policies."""


def policy_value(kernels: FiniteKernels, policy: ArrayLike) -> Vector:
    """max_k V^{pi,k} of each state, exactly: nature chooses a kernel for the whole run, for each start."""
    return tuple(max(values) for values in zip(*_by_model(kernels, policy), strict=True))


def best_value(kernels: FiniteKernels, start: int) -> Fraction:
    """The smallest max_k V^{pi,k}(start) over the deterministic stationary policies, by enumeration."""
    S, A = kernels.models[0].cost.shape
    _require(A**S, "deterministic policies")
    policies = ([[float(a == b) for b in range(A)] for a in chosen] for chosen in product(range(A), repeat=S))
    return min(max(values[start] for values in _by_model(kernels, policy)) for policy in policies)


def hull_value(kernels: FiniteKernels, policy: ArrayLike) -> Vector:
    """The fixed point of the robust Bellman equation: the largest value over the rectangular hull, by enumeration.

    For a policy whose rows put mass on several actions, rows of all of them are combined.
    """
    first, rows_of = kernels.models[0], [exact.kernel(mdp) for mdp in kernels.models]
    pairs = [(s, a) for s in range(first.n_states) for a in range(first.n_actions)]
    _require(len(rows_of) ** len(pairs), "combinations of rows")
    best: list[Fraction] | None = None
    for chosen in product(rows_of, repeat=len(pairs)):
        rows = dict(zip(pairs, chosen, strict=True))
        table = [tuple(rows[s, a][s][a] for a in range(first.n_actions)) for s in range(first.n_states)]
        values = _evaluated(kernels, policy, table)
        best = list(values) if best is None else [max(x, y) for x, y in zip(best, values, strict=True)]
    assert best is not None
    return tuple(best)


def gap(kernels: FiniteKernels, policy: ArrayLike) -> Vector:
    """By how much the Bellman equation is too large in each state; 0 everywhere for rectangular sets."""
    larger, value = hull_value(kernels, policy), policy_value(kernels, policy)
    return tuple(x - y for x, y in zip(larger, value, strict=True))


def _by_model(kernels: FiniteKernels, policy: ArrayLike) -> list[Vector]:
    return [_evaluated(kernels, policy, [exact.kernel(mdp)[s] for s in range(mdp.n_states)]) for mdp in kernels.models]


def _evaluated(kernels: FiniteKernels, policy: ArrayLike, table: list[tuple[Rational, ...]]) -> Vector:
    first = kernels.models[0]
    pi = validate.policy(policy, first.n_states, first.n_actions)
    weights = [exact.distribution(row) for row in pi.tolist()]
    rows = [exact.mixture(weight, each) for weight, each in zip(weights, table, strict=True)]
    costs = [
        sum((x * c for x, c in zip(weight.fractions(), each, strict=True)), Fraction(0))
        for weight, each in zip(weights, exact.costs(first), strict=True)
    ]
    return exact.discounted_values(rows, costs, Fraction(first.gamma)).fractions()


def _require(count: int, what: str) -> None:
    if count > MOST_COMBINATIONS:
        raise ValueError(f"a finite set is solved by enumeration: at most {MOST_COMBINATIONS} {what}, got {count}")
