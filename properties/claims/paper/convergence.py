"""Theorem 2: asymptotic convergence, without statistics.

Step sizes that the theorem admits: alpha_t = 1/(n+1) at the n-th time t ≡ phase (mod period), 0 at other times. Their
sum diverges and their squares are summable, whatever the period.

Printed: nothing is asked of the behaviour policy or of the chain. A pair that is never visited at a time with a
positive step keeps its first value for ever, so Q_t cannot converge to Q* unless that value is right. Which pairs
these are is decided on the support of the chain times the clock.

Amended: with Assumption 1 (the chain forgets its start), every pair recurrent, and steps that are deterministic and lie
in [0,1], every pair is updated with steps of infinite sum: the visits at time t have covariances that decay
geometrically, so the partial sums S_T of alpha_t 1{visit} have means that tend to ∞ and variances below a constant
times Σ alpha_t²; by Chebyshev P(S_T < E S_T/2) → 0, and S_∞ >= S_T. Convergence then follows from an
inequality that holds on *every* path and is what is judged:

    ‖psi_t‖ <= ∏_f (1 − (1−gamma) w_f) ‖psi_0‖ + N_t/(1−gamma),      w_f = min over pairs of 1 − ∏ (1 − alpha_i),

f running over any consecutive frames, the product inside over the visits of the pair in the frame. (Proof: as for
`oracles.bounds.q_learning.pathwise_bound`, with (1−alpha)^j replaced by ∏(1−alpha_i).) As Σ alpha = ∞ over the visits,
frames with w_f >= ½ never end and the first term vanishes, from whatever time psi is restarted. N_t, the largest |k_2|
since the restart, vanishes almost surely as the restart moves to infinity: at the n-th visit of a pair k_2 obeys
x_{n+1} = (1−a_n)x_n + a_n xi_n with bounded martingale differences xi_n and a_n = alpha_t known before the sample is
drawn (steps that look at s' would break this). M_n = Σ_{i<n} a_i xi_i is a martingale that is bounded in L², because
Σ alpha_t² < ∞, so it converges almost surely; r_n = M_∞ − M_n → 0, and y_n = x_n + r_n obeys
y_{n+1} = (1−a_n)y_n + a_n r_n, an average of y and r since a_n lies in [0,1]. A restart x_m = 0 has y_m = r_m, so
|x_n| <= |y_n| + |r_n| <= 2 sup_{i>=m}|r_i| for all n >= m, which tends to 0. (That Var k_2 → 0 would give convergence
in probability only.) The mean recursion (every sample replaced by its expectation) obeys the inequality with N = 0; it
is judged on the same path.
"""

from fractions import Fraction
from itertools import accumulate

import numpy as np
from hypothesis import strategies as st

from properties.cases.case import Case
from properties.claims.claim import Claim, Statement
from properties.claims.exact_run import Objects, Run, norm
from properties.claims.sides import at_most, first, ratio, readable
from properties.judging.verdict import Finding
from properties.strategies import mdps, policies, q_tables, radii, trajectories
from robust_core.mdp import MDP
from robust_core.validate import Floats, Ints


@st.composite
def _cases(draw: st.DrawFn, *, ergodic: bool) -> Case:
    mdp = draw(mdps(max_states=3, max_actions=2, ergodic=ergodic))
    policy = draw(policies(mdp, exploring=ergodic))
    period = draw(st.integers(1, 3))
    path = draw(trajectories(mdp, policy, max_length=14, starts=[0]))
    return {
        "mdp": mdp,
        "policy": policy,
        "radius": draw(radii()),
        "Q": draw(q_tables(mdp)),
        "period": period,
        "phase": draw(st.integers(0, period - 1)),
        "path": np.array([(s, a, s_next) for s, a, _, s_next, _, _ in path], dtype=np.int64).reshape(-1, 3),
    }


def _updated_pairs(mdp: MDP, policy: Floats, period: int, phase: int) -> set[int]:
    """The pairs that can ever be visited, from state 0, at a time with a positive step."""
    P, found, frontier = mdp.P, set(), [(0, 0)]
    while frontier:
        state, clock = frontier.pop()
        if (state, clock) in found:
            continue
        found.add((state, clock))
        for a in np.flatnonzero(policy[state]):
            frontier += [(int(s_next), (clock + 1) % period) for s_next in np.flatnonzero(P[state, a])]
    actions = mdp.n_actions
    return {s * actions + int(a) for s, clock in found if clock == phase for a in np.flatnonzero(policy[s])}


def _steps(period: int, phase: int, length: int) -> list[Fraction]:
    """alpha_0, alpha_1, …"""
    return [Fraction(1, t // period + 1) if t % period == phase else Fraction(0) for t in range(length)]


def _shrinkage(run: Run, steps: list[Fraction]) -> list[Fraction]:
    """∏(1 − (1−gamma)w_f) over the frames finished by time t: a frame ends when every pair had a positive step."""
    left = np.full(len(run.cost), Fraction(1), dtype=object)
    factors = [Fraction(1)]
    for (pair, _), alpha in zip(run.steps, steps, strict=True):
        left[pair] *= 1 - alpha
        if left.max() < 1:
            factors.append(1 - (1 - run.numbers[0]) * (1 - left.max()))
            left[:] = Fraction(1)
        else:
            factors.append(Fraction(1))
    return list(accumulate(factors, lambda x, y: x * y))


def _mean_update(run: Run, table: Objects, pair: int, alpha: Fraction) -> Objects:
    """The update with the expectation over s' in place of the sample: (1−alpha)Q + alpha TQ at the pair."""
    gamma, R, _ = run.numbers
    V = run.V(table)
    after = table.copy()
    backup = run.cost[pair] + gamma * (1 - R) * run.P[pair].dot(V) + gamma * R * V.max()
    after[pair] = (1 - alpha) * table[pair] + alpha * backup
    return after


def _paths(run: Run, steps: list[Fraction]) -> list[tuple[Fraction, Fraction, Fraction]]:
    """(‖psi_t‖, N_t, ‖psi_t‖ of the mean recursion) for t = 0, 1, …"""
    table, mean, k_2 = run.tables[0], run.tables[0], 0 * run.cost
    largest, found = Fraction(0), [(norm(run.psi[0]), Fraction(0), norm(run.psi[0]))]
    for i, ((pair, s_next), alpha) in enumerate(zip(run.steps, steps, strict=True), start=1):
        table = run.step(table, pair, s_next, alpha)
        mean = _mean_update(run, mean, pair, alpha)
        k_2 = k_2.copy()
        k_2[pair] += alpha * (run.noise(i)[pair] - k_2[pair])
        largest = max(largest, norm(k_2))
        found.append((norm(table - run.Q_star), largest, norm(mean - run.Q_star)))
    return found


Sides = list[tuple[Fraction, Fraction]]


def _sides(
    mdp: MDP, policy: Floats, radius: float, Q: Floats, period: int, phase: int, path: Ints
) -> tuple[Run, Sides, Sides]:
    """Both inequalities at every time: of the run and of its mean recursion."""
    run = Run(mdp, radius, Q, 0.0, path)
    steps = _steps(period, phase, len(run.steps))
    start, gamma = norm(run.psi[0]), run.numbers[0]
    bounds = [factor * start for factor in _shrinkage(run, steps)]
    paths = _paths(run, steps)
    noisy = [(x, bound + N / (1 - gamma)) for (x, N, _), bound in zip(paths, bounds, strict=True)]
    return run, noisy, [(x, bound) for (_, _, x), bound in zip(paths, bounds, strict=True)]


def _converges(**case: object) -> Finding | None:
    run, noisy, mean = _sides(**case)  # type: ignore[arg-type]
    updated = _updated_pairs(run.mdp, case["policy"], case["period"], case["phase"])  # type: ignore[arg-type]
    for pair in sorted(set(range(len(run.cost))) - updated):
        if run.psi[0][pair] != 0:
            s, a = divmod(pair, run.mdp.n_actions)
            what = f"lim Q_t({s},{a}), never visited at a time with a positive step"
            return Finding(what, readable(run.tables[0][pair]), f"Q* = {readable(run.Q_star[pair])}")
    return first(
        [
            *(at_most(f"‖psi_{t}‖ of the run", *sides) for t, sides in enumerate(noisy)),
            *(at_most(f"‖psi_{t}‖ of the mean recursion", *sides) for t, sides in enumerate(mean)),
        ]
    )


def _tightness(**case: object) -> float:
    _, noisy, _ = _sides(**case)  # type: ignore[arg-type]
    return max((ratio(*sides) for sides in noisy[1:]), default=0.0)


CONV = Claim(
    "conv",
    "Theorem 2 (thm:Qasyconv)",
    "S",
    "Q_t → Q* with probability 1",
    "printed: Σ α_t = ∞ and Σ α_t² < ∞ only",
    printed=Statement(
        "for every behaviour policy, start and steps with Σ α_t = ∞, Σ α_t² < ∞: Q_t → Q*",
        lambda: _cases(ergodic=False),
        _converges,
        exact=True,
    ),
    amended=Statement(
        "the same if the chain of pairs is ergodic and visits all of them (Assumption 1 with μ_min > 0) and the steps "
        "are deterministic (or chosen before the sample is drawn) and in [0,1]: every path "
        "obeys ‖ψ_t‖ ≤ ∏_f(1 − (1−γ)w_f)‖ψ_0‖ + N_t/(1−γ), the mean recursion with N = 0",
        lambda: _cases(ergodic=True),
        _converges,
        _tightness,
        exact=True,
    ),
    amendment="hypothesis",
    elsewhere="properties/statistics",
    note="Assumption 1 is printed after the theorem. Irreducibility is not enough for steps on a global clock: in a "
    "chain of period 2, steps that vanish at odd times never update half of the states. Steps that depend on the "
    "next state can select favourable samples. The step from the inequality to the limit is the proof in the "
    "module; it is not computed.",
)
