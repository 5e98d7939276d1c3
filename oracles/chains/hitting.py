"""Hitting times of a chain, and the exact law of its visits: what the lemma on visit counts is judged by."""

from fractions import Fraction

from oracles.arithmetic import exact
from oracles.chains.chain import Chain


def hitting_times(chain: Chain, target: int) -> exact.Vector:
    """E_x[min{t >= 0 : X_t = target}] for every x, in rationals: g = 1 + P g outside the target, 0 in it.

    The kernel without the target is that of a transient chain, so I − Q is a non-singular M-matrix.

    >>> from oracles.chains.chain import kernel_chain
    >>> hitting_times(kernel_chain([[0.5, 0.5], [0.25, 0.75]]), 0)
    (Fraction(0, 1), Fraction(4, 1))
    """
    chain.require_irreducible()
    others = [x for x in range(chain.size) if x != target]
    times = [Fraction(0)] * chain.size
    if others:
        rows = [row.fractions() for row in chain.exact_rows()]
        inside = [exact.Rational.of(tuple(rows[x][y] for y in others)) for x in others]
        found = exact.discounted_values(inside, [Fraction(1)] * len(others), Fraction(1)).fractions()
        for x, time in zip(others, found, strict=True):
            times[x] = time
    return tuple(times)


def too_few(chain: Chain, target: int, share: Fraction, first: int, last: int) -> Fraction:
    """The largest probability over the starts that at some t in [first, last] the target has < share·t visits.

    K_t counts the visits at times 0 … t−1. Paths are followed by (state, visits); those that have failed are taken out.

    >>> from oracles.chains.chain import kernel_chain
    >>> too_few(kernel_chain([[0.5, 0.5], [0.5, 0.5]]), 0, Fraction(1, 2), 2, 2)
    Fraction(1, 2)
    """
    rows = [row.fractions() for row in chain.exact_rows()]
    worst = Fraction(0)
    for start in range(chain.size):
        alive, failed = {(start, 0): Fraction(1)}, Fraction(0)
        for t in range(1, last + 1):
            moved: dict[tuple[int, int], Fraction] = {}
            for (x, visits), mass in alive.items():
                counted = visits + (x == target)
                if t >= first and counted < share * t:
                    failed += mass
                    continue
                for y, p in enumerate(rows[x]):
                    if p:
                        moved[y, counted] = moved.get((y, counted), Fraction(0)) + mass * p
            alive = moved
        worst = max(worst, failed)
    return worst
