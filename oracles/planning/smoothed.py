"""One application of the smoothed robust operator of a policy (Theorem 4), in rationals and 60 decimal digits.

    T̂V(s) = Σ_a pi(a|s) [c(s,a) + gamma(1−R) Σ p(s'|s,a) V(s') + gamma R m(V)],    m = LSE or mellow-max.

All but m(V) is rational. m(V) = max V + log(Σ exp(varrho(V − max V)))/varrho, less log S/varrho for mellow-max, is
evaluated by `decimal`, whose exp and log are correctly rounded, with exponents below −200 left out (their sum is below
S·e^−200 of the whole).
"""

from decimal import Context, Decimal, localcontext
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from oracles.arithmetic import exact
from oracles.arithmetic.certified import Certified
from robust_core import validate
from robust_core.mdp import MDP

DIGITS = 60
SMALLEST_EXPONENT = -200
_U = 2.0**-53


def soft_maximum(values: ArrayLike, varrho: float, *, mellowmax: bool) -> Fraction:
    """m(V), to 10^-50 of 1 + |max V| + 1/varrho.

    >>> float(soft_maximum([0.0, 0.0], 1.0, mellowmax=False)), float(soft_maximum([1.0, 1.0], 3.0, mellowmax=True))
    (0.6931471805599453, 1.0)
    """
    V = [Fraction(float(x)) for x in np.asarray(values, dtype=np.float64)]
    rho, top = Fraction(varrho), max(V)
    with localcontext(Context(prec=DIGITS)):
        exponents = (rho * (x - top) for x in V)
        total = sum((_decimal(t).exp() for t in exponents if t > SMALLEST_EXPONENT), Decimal(0))
        log_sum = total.ln() - (Decimal(len(V)).ln() if mellowmax else 0)
    return top + Fraction(log_sum) / rho


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def backup(mdp: MDP, radius: float, policy: ArrayLike, V: ArrayLike, varrho: float, *, mellowmax: bool) -> Certified:
    """T̂V, rounded to floats.

    >>> mdp = MDP([[[0.5, 0.5]], [[0.0, 1.0]]], [[1.0], [0.0]], 0.5)
    >>> backup(mdp, 0.5, [[1.0], [1.0]], [0.0, 0.0], 1.0, mellowmax=True).value
    array([1., 0.])
    """
    R = Fraction(validate.unit_interval("radius", radius))
    pi = validate.policy(policy, mdp.n_states, mdp.n_actions)
    values = [Fraction(float(x)) for x in np.asarray(V, dtype=np.float64)]
    gamma, top = Fraction(mdp.gamma), soft_maximum(V, varrho, mellowmax=mellowmax)
    rows, costs = exact.kernel(mdp), exact.costs(mdp)
    found = []
    for s, weights in enumerate(pi.tolist()):
        image = Fraction(0)
        for a, weight in enumerate(exact.distribution(weights).fractions()):
            mean = sum((p * v for p, v in zip(rows[s][a].fractions(), values, strict=True)), Fraction(0))
            image += weight * (costs[s][a] + gamma * ((1 - R) * mean + R * top))
        found.append(float(image))
    result = np.array(found)
    size = float(np.abs(result).max()) + abs(float(top)) + 1.0 / varrho
    return Certified(result, 2.0 * _U * float(np.abs(result).max()) + 2.0**-150 * size, "rationals and 60 digits")
