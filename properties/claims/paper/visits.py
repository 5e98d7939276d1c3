"""Claims of the k_1 lemma (Appendix B): visit counts, and the part of psi_t that forgets the start.

The lemma is a probability, but no sampling is needed. For the chain of pairs with kernel P, any theta > 0 and
D = diag(exp(−theta·1_x)), the visits K_t(x) before time t satisfy (Chernoff, from any start)

    P(K_t(x) < t mu_min/2) <= exp(theta t mu_min/2) E exp(−theta K_t(x)) <= ‖M^t‖∞,    M = exp(theta mu_min/2) D P,

a number that a few matrix products give. As ‖M^{i+j}‖ <= ‖M^i‖‖M^j‖ and ‖M^j‖ <= exp(theta mu_min j/2), one power with
‖M^m‖ < 1 bounds the sum over all t >= t_0 as well: Σ <= ‖M^m‖^⌊t_0/m⌋ · m exp(theta mu_min m/2)/(1 − ‖M^m‖).
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from hypothesis import strategies as st

from oracles.bounds import q_learning
from oracles.chains import chain, mixing
from properties.cases.case import Case
from properties.claims.claim import Claim, Statement
from properties.claims.exact_run import STEP_SIZES, Run, norm
from properties.claims.sides import at_most, first
from properties.judging.verdict import Finding
from properties.strategies import mdps, policies, q_tables, radii, trajectories
from robust_core.mdp import MDP
from robust_core.validate import EPS, Floats, Ints

Clock = Literal["states", "pairs"]

DELTAS = (0.5, 0.015625, 0.875)
THETAS = (1.0, 0.25)
MORE_THETAS = (2.0, 1.0, 0.5, 0.25)
BLOCKS = 16
"""The power M^m is taken at m = t_0/BLOCKS: the bound on the sum then costs little more than the bound at t_0."""


@st.composite
def _chains(draw: st.DrawFn, max_states: int = 3) -> Case:
    mdp = draw(mdps(max_states=max_states, max_actions=2, ergodic=True))
    return {
        "mdp": mdp,
        "policy": draw(policies(mdp, exploring=True)),
        "T": draw(st.sampled_from((1, 1 << 10, 1 << 20))),
        "delta": draw(st.sampled_from(DELTAS)),
    }


@dataclass(frozen=True, eq=False)
class Facts:
    """The chain of pairs under a policy: kernel, mu_min, and t_mix of the states and of the pairs."""

    kernel: Floats
    mu_min: float
    t_mix: dict[Clock, int]


@lru_cache(maxsize=8)
def _facts(mdp: MDP, policy: bytes) -> Facts:
    pi = np.frombuffer(policy).reshape(mdp.n_states, mdp.n_actions)
    pairs = chain.pair_chain(mdp, pi)
    t_mix: dict[Clock, int] = {
        "states": mixing.t_mix(chain.state_chain(mdp, pi)),
        "pairs": mixing.pair_t_mix(mdp, pi),
    }
    return Facts(pairs.kernel, float(chain.mu_min(pairs).value), t_mix)


def facts(mdp: MDP, policy: Floats) -> Facts:
    """What the bounds need to know of the chain (kept for the last few chains: judge and tightness ask alike)."""
    return _facts(mdp, policy.tobytes())


def frame(mdp: MDP, policy: Floats, T: float, delta: float, clock: Clock) -> float:
    """t_frame with mu_min of the pairs and t_mix of the states (Section 4) or of the pairs (the quoted lemma)."""
    known = facts(mdp, policy)
    return q_learning.t_frame(known.t_mix[clock], known.mu_min, len(known.kernel), T, delta)


@lru_cache(maxsize=4096)
def _log_norm(kernel: bytes, size: int, pair: int, theta: float, mu_min: float, m: int, wanted: float = 0.5) -> float:
    """log ‖M^m‖∞ from above, by repeated squaring with the scale kept apart; M for `wanted`·mu_min·t visits."""
    M = np.frombuffer(kernel).reshape(size, size).copy()
    M[pair] *= math.exp(-theta)
    result, log_result, square, log_square = np.eye(size), 0.0, M, theta * mu_min * wanted
    left = m
    while left:
        if left & 1:
            result, log_result = result @ square, log_result + log_square
            scale = float(result.sum(axis=1).max())
            result, log_result = result / scale, log_result + math.log(scale)
        left >>= 1
        square, log_square = square @ square, 2 * log_square
        scale = float(square.sum(axis=1).max())
        square, log_square = square / scale, log_square + math.log(scale)
    # Non-negative matrices: each of the at most 2m products and scalings errs by a factor 1 ± (size+4)·eps.
    rounding = 2 * m * (size + 4) * EPS + 64 * EPS * (abs(log_result) + m * theta)
    return log_result + math.log(float(result.sum(axis=1).max())) + rounding


def log_failure(mdp: MDP, policy: Floats, start: float) -> float:
    """log of a bound on P(some pair has K_t < t mu_min/2 for some t >= start)."""
    known = facts(mdp, policy)
    size = len(known.kernel)
    t = max(1, math.ceil(start))
    # Which theta is best is a matter of speed only; about 1/t_mix is (a visit is forgotten after t_mix steps).
    thetas = [share / max(known.t_mix["pairs"], 1) for share in THETAS]
    logs = [
        min(_sum_bound(known.kernel.tobytes(), size, pair, theta, known.mu_min, t) for theta in thetas)
        for pair in range(size)
    ]
    largest = max(logs)
    return largest + math.log(sum(math.exp(log - largest) for log in logs)) if largest < math.inf else math.inf


def log_frame_failure(mdp: MDP, policy: Floats, length: int, wanted: float) -> float:
    """log of a bound on P(some pair has K_t < wanted·mu_min·t) at t = `length`."""
    known = facts(mdp, policy)
    size, kernel = len(known.kernel), known.kernel.tobytes()
    thetas = [share / max(known.t_mix["pairs"], 1) for share in MORE_THETAS]
    logs = [
        min(_log_norm(kernel, size, pair, theta, known.mu_min, length, wanted) for theta in thetas)
        for pair in range(size)
    ]
    largest = max(logs)
    return largest + math.log(sum(math.exp(log - largest) for log in logs))


def _sum_bound(kernel: bytes, size: int, pair: int, theta: float, mu_min: float, t: int) -> float:
    """log of the bound on Σ_{i>=t} ‖M^i‖."""
    m = max(1, t // BLOCKS)
    block = _log_norm(kernel, size, pair, theta, mu_min, m)
    if block >= 0.0:
        return math.inf
    return (t // m) * block + math.log(m) + theta * mu_min * m / 2 - math.log(-math.expm1(block))


def _visits(mdp: MDP, policy: Floats, T: int, delta: float, *, clock: Clock, share: float = 1.0) -> Finding | None:
    """`share` shortens the frame: the lemma with 443·share in place of 443."""
    n_pairs = mdp.n_states * mdp.n_actions
    if n_pairs == 1:  # K_t = t
        return None
    start = share * frame(mdp, policy, T, delta, clock)
    t = max(1, math.ceil(start))
    if t < n_pairs:
        return Finding(
            f"t_frame = {start:.3g}: probability that at t = {t} some of {n_pairs} pairs has no visit", 1, f"< {delta}"
        )
    failure = log_failure(mdp, policy, start)
    if failure > math.log(delta):
        return Finding("log of the bound on the probability of too few visits", failure, math.log(delta))
    return None


def _smallest_share(**case: Any) -> float:
    """The smallest 2^-k for which 443·2^-k is still certified on this chain."""
    share = 1.0
    while share > 2.0**-10 and _visits(**case, clock="pairs", share=share / 2) is None:
        share /= 2
    return share


VISITS = Claim(
    "visits",
    "Appendix B, k_1 lemma (Lemma 5 of Li et al.)",
    "S",
    "K_t(s,a) ≥ t μ_min/2 for all pairs and all t ≥ t_frame, with probability at least 1−δ",
    "ergodic chain of pairs; t_frame = 443 t_mix/μ_min log(4SAT/δ)",
    printed=Statement(
        "the lemma with t_mix as Section 4 defines it, for the chain of states",
        _chains,
        lambda **case: _visits(**case, clock="states"),
    ),
    amended=Statement(
        "the lemma with t_mix of the chain of state-action pairs",
        _chains,
        lambda **case: _visits(**case, clock="pairs"),
        _smallest_share,
    ),
    amendment="correction",
    elsewhere="properties/statistics",
    note="With one state and two actions t_mix of the states is 0, so t_frame = 0, and at t = 1 one pair is certainly "
    "unvisited. t_mix of the pairs is t_mix of the states or one more. The probability is bounded by matrix powers "
    "(Chernoff), without sampling. Tightness is the largest share of the constant 443 that this certificate needed. "
    "A lemma with 23.32 in place of 443, for all t and without T in the logarithm, is proved: visit-constant.",
)


# k1-bound: where K_t >= t mu_min/2, k_1 = (1−alpha)^K_t psi_0 is below the bound; and |k_1| <= ‖psi_0‖ always. So the
# lemma holds with the visit counts, and fails with them: at t = 1 a single pair has been visited, and if another one
# has |psi_0| = ‖psi_0‖ its |k_1| is still ‖psi_0‖ > (1−alpha)^{mu_min/2}‖psi_0‖.


@st.composite
def _forgetting(draw: st.DrawFn, max_states: int = 3) -> Case:
    case = draw(_chains(max_states))
    mdp = case["mdp"]
    path = draw(trajectories(mdp, case["policy"], max_length=6))
    return case | {
        "radius": draw(radii()),
        "Q": draw(q_tables(mdp)),
        "alpha": draw(st.sampled_from(STEP_SIZES)),
        "path": np.array([(s, a, s_next) for s, a, _, s_next, _, _ in path], dtype=np.int64).reshape(-1, 3),
    }


def _missed(run: Run, policy: Floats) -> float:
    """P(a pair with |psi_0| = ‖psi_0‖ is not the first one visited), from state 0."""
    largest = [pair for pair, x in enumerate(run.psi[0]) if abs(x) == norm(run.psi[0])]
    return 1.0 if len(largest) > 1 else 1.0 - float(policy.ravel()[largest[0]]) * (largest[0] < run.mdp.n_actions)


def _k1_bound(
    mdp: MDP,
    policy: Floats,
    T: int,
    delta: float,
    radius: float,
    Q: Floats,
    alpha: float,
    path: Ints,
    *,
    clock: Clock,
) -> Finding | None:
    run = Run(mdp, radius, Q, alpha, path)
    start = frame(mdp, policy, T, delta, clock)
    t, size = max(1, math.ceil(start)), norm(run.psi[0])
    if t == 1 and alpha > 0 and size > 0:
        missed = _missed(run, policy)
        if missed > delta:
            what = f"t_frame = {start:.3g}: probability that at t = 1 an entry |k_1| = ‖psi_0‖ is left"
            return Finding(what, missed, f"at most {delta}")
    return first(
        [
            _visits(mdp, policy, T, delta, clock="pairs") if t >= len(run.cost) else None,
            *(at_most(f"|k_1| at t = {i}", np.abs(run.k_1(i)), size) for i in range(len(run.steps) + 1)),
        ]
    )


K1_BOUND = Claim(
    "k1-bound",
    "Appendix B, k_1 lemma",
    "S",
    "|k_{1,t}| ≤ (1−α)^{t μ_min/2}‖ψ_0‖ for t ≥ t_frame with probability 1−δ, and ≤ ‖ψ_0‖ before",
    "0 ≤ α ≤ 1; ergodic chain of pairs",
    printed=Statement(
        "the lemma with t_mix as Section 4 defines it, for the chain of states",
        lambda: _forgetting(max_states=1),
        lambda **case: _k1_bound(**case, clock="states"),
    ),
    amended=Statement(
        "the lemma with t_mix of the chain of state-action pairs",
        _forgetting,
        lambda **case: _k1_bound(**case, clock="pairs"),
    ),
    amendment="correction",
    elsewhere="properties/statistics",
    note="The second half (‖ψ_0‖ for all t) holds on every path. The first is the visit counts, see visits.",
)
