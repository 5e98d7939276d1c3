"""How fast a chain forgets its start: d(t), mixing times, geometric ergodicity.

d(t) = max_x d_TV(P^t(x,·), mu) never increases. Powers of the kernel are sums of products of non-negative
numbers, so a float power has a small *relative* error in every entry, whatever the chain.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from oracles.arithmetic import exact
from oracles.arithmetic.ball import TINY, UNIT, up
from oracles.arithmetic.certified import Certified
from oracles.chains.chain import Chain, pair_chain, row_defect, state_chain, stationary_exact, stationary_log
from robust_core import validate
from robust_core.mdp import MDP
from robust_core.validate import EPS, Floats

THRESHOLD = Fraction(1, 4)
EXACT_BITS = 2_000_000
"""Ties with the threshold are decided in rationals as long as an entry of P^t needs no more bits."""


@dataclass(frozen=True, eq=False)
class _Power:
    """P^t in floats; every entry is right up to a factor exp(±log_error) (and underflow)."""

    entries: Floats
    t: int
    log_error: float

    def __matmul__(self, other: "_Power") -> "_Power":
        n = other.entries.shape[0]
        rounding = (n + 1) * EPS / 2
        return _Power(self.entries @ other.entries, self.t + other.t, self.log_error + other.log_error + rounding)


def _distance(power: _Power, mu: Floats, mu_log_error: float) -> tuple[float, float]:
    """max_x ½ Σ_y |P^t(x,y) − mu(y)| and its error: half the relative errors, since both rows sum to 1."""
    n = len(mu)
    value = float(0.5 * np.abs(power.entries - mu).sum(axis=1).max())
    relative = 0.5 * (math.expm1(power.log_error) + math.expm1(mu_log_error))
    return value, float(up(relative * (1 + 2 * relative) + 2 * (n + 3) * UNIT + n * power.t * TINY))


def distance(chain: Chain, t: int) -> Certified:
    """d(t) = max_x d_TV(P^t(x,·), mu).

    >>> from oracles.chains.chain import kernel_chain
    >>> distance(kernel_chain([[0.75, 0.25], [0.25, 0.75]]), 2).value
    array(0.125)
    """
    validate.count("t", t)
    chain.require_ergodic()
    value, error = _distance(_power(chain, t), *stationary_log(chain))
    return Certified(np.array(value), error, "powers of the float kernel")


def _power(chain: Chain, t: int) -> _Power:
    result = _Power(np.eye(chain.size), 0, 0.0)
    square = _Power(chain.kernel, 1, chain.log_error)
    while t:
        if t & 1:
            result = result @ square
        t >>= 1
        if t:
            square = square @ square
    return result


def distance_exact(chain: Chain, t: int) -> Fraction:
    """d(t) in rationals.

    >>> from oracles.chains.chain import kernel_chain
    >>> distance_exact(kernel_chain([[0.75, 0.25], [0.25, 0.75]]), 1)
    Fraction(1, 4)
    """
    validate.count("t", t)
    chain.require_ergodic()
    rows = chain.exact_rows()
    common = math.lcm(*(row.denominator for row in rows))
    bits = t * common.bit_length()
    if bits > EXACT_BITS:
        raise ArithmeticError(
            f"d({t}) would need {bits} bits per entry in exact rationals (limit {EXACT_BITS}); in "
            "floats it cannot be told from the threshold"
        )
    numerators = [[n * (common // row.denominator) for n in row.numerators] for row in rows]
    power = _integer_power(numerators, t)
    mu = exact.Rational.of(stationary_exact(chain))
    scale = common**t
    gaps = (sum(abs(x * mu.denominator - m * scale) for x, m in zip(row, mu.numerators, strict=True)) for row in power)
    return Fraction(max(gaps), 2 * scale * mu.denominator)


def _integer_power(matrix: list[list[int]], t: int) -> list[list[int]]:
    size = range(len(matrix))
    result = [[int(i == j) for j in size] for i in size]
    while t:
        if t & 1:
            result = _product(result, matrix)
        t >>= 1
        if t:
            matrix = _product(matrix, matrix)
    return result


def _product(left: list[list[int]], right: list[list[int]]) -> list[list[int]]:
    columns = list(zip(*right, strict=True))
    return [[sum(x * y for x, y in zip(row, column, strict=True)) for column in columns] for row in left]


def _mixed(chain: Chain, power: _Power, threshold: Fraction, law: tuple[Floats, float]) -> bool:
    """Whether d(t) <= threshold: in floats when that is beyond doubt, otherwise in rationals."""
    value, error = _distance(power, *law)
    bound = Fraction(threshold)
    if Fraction(value) + Fraction(error) <= bound:
        return True
    if Fraction(value) - Fraction(error) > bound:
        return False
    return distance_exact(chain, power.t) <= bound


def t_mix(chain: Chain, *, threshold: Fraction = THRESHOLD) -> int:
    """min{t >= 0 : d(t) <= threshold}, exactly (Section 4, threshold 1/4); needs an ergodic chain.

    Powers are doubled until d <= threshold, then the last t above it is found by bisection. Transient states
    are allowed: they too are starting points.

    >>> from oracles.chains.chain import kernel_chain
    >>> t_mix(kernel_chain([[0.75, 0.25], [0.25, 0.75]]))
    1
    """
    if not 0 < threshold < 1:
        raise ValueError(f"threshold must lie in (0, 1), got {threshold}")
    chain.require_ergodic()
    law = stationary_log(chain)
    identity = _Power(np.eye(chain.size), 0, 0.0)
    if _mixed(chain, identity, threshold, law):
        return 0
    powers = [_Power(chain.kernel, 1, chain.log_error)]
    while not _mixed(chain, powers[-1], threshold, law):
        powers.append(powers[-1] @ powers[-1])
    last_above = identity
    for power in reversed(powers[:-1]):
        candidate = last_above @ power
        if not _mixed(chain, candidate, threshold, law):
            last_above = candidate
    return last_above.t + 1


def pair_t_mix(mdp: MDP, policy: ArrayLike) -> int:
    """t_mix of the state-action chain from powers of the S × S kernel; it is t_mix of the states or one more.

    The law of the pair at time t >= 1 from (s,a) is p(·|s,a) P_pi^{t−1} times the policy, so d_pairs(t) =
    max_{s,a} d_TV(p(·|s,a) P_pi^{t−1}, mu). By convexity d(t) <= d_pairs(t), and d_pairs(t) <= d(t−1).

    >>> mdp = MDP([[[0.75, 0.25]], [[0.25, 0.75]]], [[0.0], [0.0]], 0.9)
    >>> pair_t_mix(mdp, [[1.0], [1.0]])
    1
    """
    states = state_chain(mdp, policy)
    t = t_mix(states)
    if t == 0:
        # d_pairs(0) <= 1/4 needs a probability of 3/4 for every pair.
        return 0 if mdp.n_actions == 1 else t_mix(pair_chain(mdp, policy))
    starts = _Power(mdp.P.reshape(-1, mdp.n_states), 1, row_defect(mdp.n_states))
    value, error = _distance(starts @ _power(states, t - 1), *stationary_log(states))
    if Fraction(value) - Fraction(error) > THRESHOLD:
        return t + 1
    if Fraction(value) + Fraction(error) <= THRESHOLD:
        return t
    return t if distance_exact(pair_chain(mdp, policy), t) <= THRESHOLD else t + 1


@dataclass(frozen=True)
class GeometricErgodicity:
    """Assumption 5 with numbers: d(t) <= m·rho^t for every t > 0, from the contraction over t0 steps."""

    m: float
    rho: float
    t0: int


GRID = 512
"""d is evaluated at most at this many points below t0 (between them monotonicity is used)."""
CONTRACTION = 2.0**-8
"""P^t0 contracts total variation at least by this factor (or the chain is as good as independent)."""


def geometric_ergodicity(chain: Chain) -> GeometricErgodicity:
    """A pair (m, rho) with d(t) <= m·rho^t for all t > 0: a proof, not an eigenvalue.

    Let kappa = max_{x,y} d_TV(P^t0(x,·), P^t0(y,·)) < 1 (Dobrushin). A signed measure of mass zero shrinks by
    kappa in t0 steps, so d(k·t0 + r) <= kappa^k d(r) for 1 <= r <= t0; with rho = kappa^(1/t0) the least m
    that this gives is max_r d(r) rho^(−r). All bounds are rounded upwards. The law of (s_t, a_t, s_{t+1}) has
    the same distance from stationarity as that of s_t.

    >>> from oracles.chains.chain import kernel_chain
    >>> pair = geometric_ergodicity(kernel_chain([[0.75, 0.25], [0.25, 0.75]]))
    >>> bool(0.5 <= pair.rho < 0.501 and 0.5 <= pair.m < 0.51)
    True
    """
    chain.require_ergodic()
    power = _Power(chain.kernel, 1, chain.log_error)
    kappa = _dobrushin(power)
    while kappa > CONTRACTION:
        if power.log_error > CONTRACTION / 8:
            raise ArithmeticError(
                f"the chain mixes too slowly to certify: after {power.t} steps two starts are still "
                f"{kappa:.3g} apart and rounding has grown to {power.log_error:.3g}"
            )
        power = power @ power
        kappa = _dobrushin(power)
    rho = min(float(up(max(kappa, CONTRACTION**2) ** (1.0 / power.t), 8)), np.nextafter(1.0, 0.0))
    return GeometricErgodicity(_multiplier(chain, power.t, rho), rho, power.t)


def _dobrushin(power: _Power) -> float:
    """An upper bound on the contraction coefficient of P^t in total variation."""
    entries = power.entries
    n = len(entries)
    widest = max(float(0.5 * np.abs(entries - row).sum(axis=1).max()) for row in entries)
    relative = math.expm1(power.log_error)
    return float(up(widest + relative * (1 + 2 * relative) + 2 * (n + 3) * UNIT + n * power.t * TINY))


def _multiplier(chain: Chain, t0: int, rho: float) -> float:
    """max_{1<=r<=t0} d(r) rho^(−r) from above; on a grid of step h, d(r) <= d(jh) for jh <= r < (j+1)h."""
    law = stationary_log(chain)
    h = -(-t0 // GRID)
    step = _power(chain, h)
    power, best = _power(chain, 1), 0.0
    position = 1
    while position <= t0:
        value, error = _distance(power, *law)
        last = min(position + h - 1, t0) if h > 1 else position
        best = max(best, float(up((value + error) * rho ** (-last), 16)))
        power, position = power @ step, position + h
    return max(best, UNIT)
