"""Markov chains induced by a model and a policy: support, stationary distribution, mu_min.

The state chain has kernel P_pi(s,s') = Σ_a pi(a|s) p(s'|s,a), the state-action chain
P((s,a),(s',a')) = p(s'|s,a) pi(a'|s'). Pairs are numbered s*A+a. What can be reached is decided exactly on
the support. The stationary distribution comes from three methods that share nothing: GTH elimination, a linear solve
with a residual certificate, exact rationals. How fast the chain forgets its start is in `mixing`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from oracles.arithmetic import exact
from oracles.arithmetic.ball import TINY, UNIT, Ball, up
from oracles.arithmetic.certified import Certified
from robust_core import validate
from robust_core.mdp import MDP
from robust_core.validate import EPS, Floats, Ints

Method = Literal["gth", "linear", "rational"]


class NotErgodicError(ValueError):
    """The chain lacks the ergodicity that was asked for; the message names a state or the period."""


@dataclass(frozen=True, eq=False)
class Chain:
    """A finite chain: float kernel, its entrywise error, its exact rows, and the name of every state.

    Every true probability differs from `kernel` by a factor within exp(±log_error); zeros are exact.
    """

    kernel: Floats
    log_error: float
    exact_rows: Callable[[], tuple[exact.Rational, ...]]
    label: Callable[[int], str]

    def __post_init__(self) -> None:
        self.kernel.setflags(write=False)

    @property
    def size(self) -> int:
        """The number of states of the chain."""
        return len(self.kernel)

    @cached_property
    def closed_classes(self) -> tuple[Ints, ...]:
        """The communicating classes that are never left, each in ascending order (exact on the support)."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components

        edges = self.kernel > 0.0
        count, component = connected_components(csr_array(edges), directed=True, connection="strong")
        source, target = np.nonzero(edges)
        leaves = np.zeros(count, dtype=bool)
        leaves[component[source[component[source] != component[target]]]] = True
        return tuple(np.flatnonzero(component == k) for k in np.flatnonzero(~leaves))

    @cached_property
    def recurrent(self) -> Ints:
        """The states of the only closed class; an error if there are several."""
        if len(self.closed_classes) > 1:
            first, second = (self.label(int(states[0])) for states in self.closed_classes[:2])
            raise NotErgodicError(
                f"the stationary distribution is not unique: {second} cannot be reached from {first}, nor the reverse "
                f"({len(self.closed_classes)} closed classes)"
            )
        return self.closed_classes[0]

    @cached_property
    def period(self) -> int:
        """The greatest common divisor of all cycle lengths of the closed class (exact on the support)."""
        inside = np.ix_(self.recurrent, self.recurrent)
        return _period(self.kernel[inside] > 0.0)

    @property
    def is_irreducible(self) -> bool:
        """Whether every state can be reached from every state."""
        return len(self.closed_classes) == 1 and len(self.recurrent) == self.size

    @property
    def is_ergodic(self) -> bool:
        """Whether the law of the chain forgets its start: one closed class, and that aperiodic."""
        return len(self.closed_classes) == 1 and self.period == 1

    def require_irreducible(self) -> None:
        """Raise, naming a state that cannot be reached, unless the chain is irreducible."""
        if len(self.recurrent) < self.size:
            outside = int(np.setdiff1d(np.arange(self.size), self.recurrent)[0])
            inside = int(self.recurrent[0])
            raise NotErgodicError(
                f"the chain is not irreducible: {self.label(outside)} cannot be reached from {self.label(inside)}"
            )

    def require_ergodic(self) -> None:
        """Raise, naming two closed classes or the period, unless the law of the chain converges."""
        if self.period > 1:
            raise NotErgodicError(
                f"the chain is periodic with period {self.period} (on the class of "
                f"{self.label(int(self.recurrent[0]))}): its law does not converge"
            )


def _period(edges: NDArray[np.bool_]) -> int:
    """gcd over all edges i→j of level(i) + 1 − level(j), with breadth-first levels from state 0."""
    level = np.full(len(edges), -1)
    level[0] = 0
    frontier = np.array([0])
    while len(frontier):
        reached = np.flatnonzero(edges[frontier].any(axis=0) & (level < 0))
        level[reached] = level[frontier[0]] + 1
        frontier = reached
    source, target = np.nonzero(edges)
    return math.gcd(*(level[source] + 1 - level[target]).tolist())


def row_defect(length: int) -> float:
    """|log Σ row| of an accepted row of `length` non-zeros: its float sum is within (length+1)·eps of 1,

    which the summation misses by at most length·eps/2.
    """
    return 2 * (length + 1) * EPS


def kernel_chain(P: ArrayLike) -> Chain:
    """The chain of a given stochastic matrix.

    >>> kernel_chain([[0.5, 0.5], [1.0, 0.0]]).is_ergodic
    True
    >>> kernel_chain([[0.0, 1.0], [1.0, 0.0]]).period
    2
    """
    kernel = validate.array("P", P, shape=(None, None))
    kernel = validate.array("P", kernel, shape=(len(kernel), len(kernel)))
    validate.distribution_rows("P", kernel)
    rows = kernel.tolist()
    return Chain(
        kernel,
        row_defect(len(kernel)),
        lambda: tuple(exact.distribution(row) for row in rows),
        lambda state: f"state {state}",
    )


def state_chain(mdp: MDP, policy: ArrayLike) -> Chain:
    """The chain of states under a stationary policy (Assumption 1 and Assumption 5 of the paper).

    >>> mdp = MDP([[[0.5, 0.5]], [[1.0, 0.0]]], [[0.0], [0.0]], 0.9)
    >>> stationary(state_chain(mdp, [[1.0], [1.0]])).value.round(6)
    array([0.666667, 0.333333])
    """
    pi = validate.policy(policy, mdp.n_states, mdp.n_actions)
    P = mdp.P
    kernel = np.einsum("sa,sat->st", pi, P)
    _require_normal(kernel, np.asarray(((pi[:, :, None] > 0.0) & (P > 0.0)).any(axis=1)))
    rounding = (mdp.n_actions + 1) * EPS

    def rows() -> tuple[exact.Rational, ...]:
        weights = [exact.distribution(row) for row in pi.tolist()]
        return tuple(exact.mixture(w, r) for w, r in zip(weights, exact.kernel(mdp), strict=True))

    error = row_defect(mdp.n_states) + row_defect(mdp.n_actions) + rounding
    return Chain(kernel, error, rows, lambda state: f"state {state}")


def pair_chain(mdp: MDP, policy: ArrayLike) -> Chain:
    """The chain of state-action pairs, on all S·A pairs: the chain that the visit-count lemma is about.

    >>> mdp = MDP([[[0.5, 0.5]], [[1.0, 0.0]]], [[0.0], [0.0]], 0.9)
    >>> pair_chain(mdp, [[1.0], [1.0]]).size
    2
    """
    pi = validate.policy(policy, mdp.n_states, mdp.n_actions)
    n = mdp.n_states * mdp.n_actions
    P = mdp.P.reshape(n, mdp.n_states)
    kernel = (P[:, :, None] * pi[None]).reshape(n, n)
    _require_normal(kernel, ((P[:, :, None] > 0.0) & (pi[None] > 0.0)).reshape(n, n))

    def rows() -> tuple[exact.Rational, ...]:
        weights = [exact.distribution(row).fractions() for row in pi.tolist()]
        nominal = [row.fractions() for rows in exact.kernel(mdp) for row in rows]
        return tuple(
            exact.Rational.of([p * w for p, ws in zip(row, weights, strict=True) for w in ws]) for row in nominal
        )

    error = row_defect(mdp.n_states) + row_defect(mdp.n_actions) + EPS
    return Chain(kernel, error, rows, lambda k: f"pair (s={k // mdp.n_actions}, a={k % mdp.n_actions})")


def _require_normal(kernel: Floats, support: NDArray[np.bool_]) -> None:
    lost = support & (kernel < TINY)
    if lost.any():
        row, column = (int(i) for i in np.argwhere(lost)[0])
        raise ArithmeticError(f"the probability of {row} -> {column} underflows: it is positive but below {TINY}")


def stationary(chain: Chain, *, method: Method = "gth") -> Certified:
    """The stationary distribution mu, zero on transient states; needs one closed class, not aperiodicity.

    `gth` bounds every entry relatively (see `gth_log_error`), `linear` in the maximum norm, `rational` is the
    exact law rounded once.

    >>> stationary(kernel_chain([[0.5, 0.5], [0.25, 0.75]]), method="rational").value.round(4)
    array([0.3333, 0.6667])
    """
    if method == "gth":
        mu, log_error = stationary_log(chain)
        return Certified(mu, float(up(mu.max() * math.expm1(log_error))), "GTH elimination")
    if method == "linear":
        return _stationary_linear(chain)
    if method == "rational":
        values = np.array([float(x) for x in stationary_exact(chain)])
        return Certified(values, UNIT, "exact rationals, rounded once")
    raise ValueError(f"method must be 'gth', 'linear' or 'rational', got {method!r}")


def stationary_log(chain: Chain) -> tuple[Floats, float]:
    """The stationary distribution by GTH elimination and a bound on |log(computed/true)| of every positive entry."""
    inside = chain.recurrent
    mu = np.zeros(chain.size)
    mu[inside] = _gth(chain.kernel[np.ix_(inside, inside)])
    return mu, gth_log_error(len(inside), chain.log_error)


def _gth(kernel: Floats) -> Floats:
    """Grassmann, Taksar and Heyman's elimination: state after state is censored, without a subtraction."""
    rates = kernel.copy()
    np.fill_diagonal(rates, 0.0)
    weights = np.ones(len(rates))
    try:
        with np.errstate(under="raise"):
            for m in range(len(rates) - 1, 0, -1):
                rates[:m, m] /= rates[m, :m].sum()
                rates[:m, :m] += np.outer(rates[:m, m], rates[m, :m])
            for m in range(1, len(rates)):
                weights[m] = (weights[:m] * rates[:m, m]).sum()
            normalised: Floats = weights / weights.sum()
    except FloatingPointError:
        raise ArithmeticError("GTH elimination underflows on this chain; use method='rational'") from None
    return normalised


def gth_log_error(n: int, log_error: float) -> float:
    """A bound on |log(mu_computed/mu)| of GTH elimination on n states whose kernel has entrywise `log_error`.

    Proof. By the Markov chain tree theorem the unnormalised law is a sum over trees of n−1 transitions with
    different end points, so an entrywise factor exp(±e) of the kernel moves it by at most exp(±(n−1)e).
    Censoring the last of m+1 states adds to every rate a product of two rates over a sum of m: (m−1) + 3
    roundings, hence the law of the computed censored chain (m states) is off by (m−1)(m+2) more; the weight
    of the censored state, Σ_j w_j q_jm / s_m, costs 2m. The sum over m = 1 … n−1, plus the error of the
    kernel, bounds the unnormalised weights; normalising doubles it and adds n roundings. Nothing here depends
    on the condition of the chain. (Idea: O'Cinneide 1993.)

    >>> gth_log_error(10, 0.0) // UNIT  # 402 roundings, doubled, and ten of the normalisation
    814.0
    """
    roundings = sum((m - 1) * (m + 2) + 2 * m for m in range(1, n))
    return float(up(2 * (roundings * UNIT + (n - 1) * log_error) + n * UNIT)) * (1.0 + EPS)


def _stationary_linear(chain: Chain) -> Certified:
    """Solve Aᵀmu = b (rows of I − P, and Σ mu = 1): |x − mu| <= ‖R(b − Ax)‖/(1 − ‖I − RA‖) for any R."""
    inside = chain.recurrent
    n = len(inside)
    kernel = Ball.relative(chain.kernel[np.ix_(inside, inside)], chain.log_error)
    system = Ball.exact(np.eye(n)) - kernel.T
    mid, rad = system.mid.copy(), system.rad.copy()
    mid[-1], rad[-1] = 1.0, 0.0
    system = Ball(mid, rad)
    try:
        inverse = Ball.exact(np.linalg.inv(mid))
    except np.linalg.LinAlgError:
        raise ArithmeticError("the linear system of this chain is singular in floats; use method='gth'") from None
    right = Ball.exact(np.append(np.zeros(n - 1), 1.0))
    x = Ball.exact((inverse @ right).mid)
    defect = float(up((Ball.exact(np.eye(n)) - inverse @ system).magnitude.sum(axis=1).max(), n))
    if defect >= 1.0:
        raise ArithmeticError(
            f"the linear system of this chain is too ill-conditioned to certify (‖I − RA‖ <= {defect:.3g}); "
            "use method='gth'"
        )
    error = float(up((inverse @ (right - system @ x)).magnitude.max() / (1.0 - defect)))
    mu = np.zeros(chain.size)
    mu[inside] = x.mid
    return Certified(mu, error, "linear solve with residual certificate")


def stationary_exact(chain: Chain) -> exact.Vector:
    """The stationary distribution in rationals.

    With one recurrent state as the reference, the expected visits x_j to the others between two visits of the
    reference solve x = p_ref + Qᵀx, Q the kernel without the reference; I − Qᵀ is a non-singular M-matrix.
    Row i has the denominator D_i: in the unknowns y_i = x_i/D_i the system is integral without any lcm.

    >>> stationary_exact(kernel_chain([[0.5, 0.5], [0.25, 0.75]]))
    (Fraction(1, 3), Fraction(2, 3))
    """
    inside = chain.recurrent.tolist()
    rows = chain.exact_rows()
    reference, others = inside[0], inside[1:]
    visits = {reference: rows[reference].denominator}
    scale = 1
    if others:
        columns = [exact.Rational(tuple(rows[i].numerators[j] for i in others), rows[j].denominator) for j in others]
        starts = [Fraction(rows[reference].numerators[j], rows[j].denominator) for j in others]
        solution = exact.discounted_values(columns, starts, Fraction(1))
        scale = solution.denominator
        visits |= {j: y * rows[j].denominator for j, y in zip(others, solution.numerators, strict=True)}
    visits[reference] *= scale
    total = sum(visits.values())
    return tuple(Fraction(visits.get(state, 0), total) for state in range(chain.size))


def mu_min(chain: Chain) -> Certified:
    """The smallest stationary probability, with a relative certificate; needs an irreducible chain.

    >>> float(mu_min(kernel_chain([[0.5, 0.5], [0.25, 0.75]])).value.round(4))
    0.3333
    """
    chain.require_irreducible()
    mu, log_error = stationary_log(chain)
    smallest = mu.min()
    return Certified(smallest, float(up(smallest * math.expm1(log_error))), "GTH elimination")
