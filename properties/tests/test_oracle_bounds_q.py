"""Bounds of robust Q-learning: Theorems 3 and 6 in both forms, and the explicit theorem on real paths."""

import math
from fractions import Fraction

import numpy as np
import pytest

from oracles import bounds
from oracles.chains.chain import mu_min, pair_chain
from oracles.chains.mixing import t_mix
from robust_core.mdp import MDP
from robust_core.validate import EPS

OPERATIONS = 200
"""More than the number of roundings in any of the formulas, or in one step of a path."""


def close(left: float, right: float) -> bool:
    return math.isclose(left, right, rel_tol=OPERATIONS * EPS)


def test_printed_theorem6_is_not_homogeneous_and_the_corrected_one_is() -> None:
    known = {"gamma": 0.9, "alpha": 0.01, "delta": 0.1, "n_pairs": 4, "T": 1e4, "t_mix": 2, "mu_min": 0.2, "c_hat": 1.0}

    def printed(s: float) -> float:
        return bounds.theorem6_printed(100, epsilon=s * 0.1, psi_0=s, **known)  # type: ignore[arg-type]

    def corrected(s: float) -> float:
        return bounds.theorem6_corrected(100, epsilon=s * 0.1, psi_0=s, V_norm=s, **known)  # type: ignore[arg-type]

    assert not close(printed(10.0), 10 * printed(1.0))
    assert close(corrected(10.0), 10 * corrected(1.0))


def test_theorem3_condition_is_met_from_T_on_and_not_before() -> None:
    for c_0, epsilon in ((1.0, 0.5), (1e-3, 0.9), (100.0, 0.01)):
        common = {"epsilon": epsilon, "gamma": 0.5, "mu_min": 0.25, "t_mix": 3, "c_0": c_0}
        T = bounds.theorem3_T(delta=0.1, n_pairs=4, **common)
        rate = 1 / (0.25 * 0.5**5 * epsilon**2) + 3 / (0.25 * 0.5)
        right = c_0 * rate * math.log(T * 4 / 0.1) * math.log(1 / (epsilon * 0.25))
        assert right <= T * (1 + OPERATIONS * EPS)
        assert T == 1.0 or right >= T * (1 - OPERATIONS * EPS)
    with pytest.raises(ValueError, match="epsilon must lie in"):
        bounds.theorem3_T(epsilon=3.0, gamma=0.5, delta=0.1, n_pairs=4, mu_min=0.25, t_mix=3, c_0=1.0)


def test_step_choice_brings_the_corrected_noise_below_epsilon() -> None:
    """With ‖V*‖ <= 1/(1−gamma) and c_1 = 1/(5ĉ)² the noise term of Theorem 6 is at most epsilon."""
    gamma, epsilon, T, delta = 0.9, 0.5, 1e6, 0.1
    alpha = bounds.theorem3_alpha(epsilon=epsilon, gamma=gamma, delta=delta, n_pairs=6, T=T, t_mix=1, c_1=1 / 25)
    noise = 5 * gamma / (1 - gamma) ** 2 * math.sqrt(alpha * math.log(6 * T / delta))
    assert noise <= epsilon * (1 + OPERATIONS * EPS)


# The explicit theorem (design, mathematics 3 and 4) on real paths of robust Q-learning.


class Path:
    """A run of Algorithm 1 on a small model, with k_2 beside it and the frames of the path."""

    def __init__(self, seed: int, *, steps: int, alpha: float, radius: float) -> None:
        rng = np.random.default_rng(seed)
        S, A, gamma = 3, 2, 0.8
        P, cost = rng.dirichlet(np.ones(S), size=(S, A)), rng.random((S, A))
        Q_star = np.zeros((S, A))
        for _ in range(400):
            V = Q_star.min(axis=1)
            Q_star = cost + gamma * ((1 - radius) * P @ V + radius * V.max())
        V_star = Q_star.min(axis=1)
        Q, k2 = np.zeros((S, A)), np.zeros((S, A))
        self.psi, self.k2 = [np.abs(Q - Q_star).max()], [0.0]
        self.V_span = float(np.ptp(V_star))
        pairs, s = [], 0
        for _ in range(steps):
            a = int(rng.integers(A))
            s_next = int(rng.choice(S, p=P[s, a]))
            V = Q.min(axis=1)
            target = cost[s, a] + gamma * ((1 - radius) * V[s_next] + radius * V.max())
            Q[s, a] += alpha * (target - Q[s, a])
            noise = gamma * (1 - radius) * (V_star[s_next] - P[s, a] @ V_star)
            k2[s, a] += alpha * (noise - k2[s, a])
            self.psi.append(np.abs(Q - Q_star).max())
            self.k2.append(np.abs(k2).max())
            pairs.append(s * A + a)
            s = s_next
        self.gamma, self.alpha, self.pairs, self.n_pairs = gamma, alpha, np.array(pairs), S * A

    def visits(self, frame: int) -> int:
        frames = self.pairs[: len(self.pairs) // frame * frame].reshape(-1, frame)
        return min(int(np.bincount(row, minlength=self.n_pairs).min()) for row in frames)

    def broken_by(self, frame: int, gamma_in_rho: float) -> bool:
        """Whether the pathwise bound fails somewhere, with rho computed from another discount."""
        m = self.visits(frame)
        rho = bounds.rho(gamma_in_rho, self.alpha, m)
        noise = np.maximum.accumulate(self.k2)
        rounding = OPERATIONS * EPS * max(self.psi) * len(self.psi)
        return any(
            psi > (1 - rho) ** (t // frame) * self.psi[0] + noise[t] / (1 - self.gamma) + rounding
            for t, psi in enumerate(self.psi)
        )


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("alpha", [0.05, 0.5, 1.0])
def test_pathwise_theorem_holds_on_every_path(seed: int, alpha: float) -> None:
    path = Path(seed, steps=600, alpha=alpha, radius=0.2 * (seed % 3))
    for frame in (50, 100, 200):
        m, noise = path.visits(frame), np.maximum.accumulate(path.k2)
        rounding = OPERATIONS * EPS * max(path.psi) * len(path.psi)
        for t in range(0, 600, 7):
            bound = bounds.pathwise_bound(
                t, frame=frame, visits=m, alpha=alpha, gamma=path.gamma, psi_0=path.psi[0], noise=float(noise[t])
            )
            assert path.psi[t] <= bound + rounding
        assert not path.broken_by(frame, path.gamma)


def test_pathwise_theorem_without_the_discount_is_caught() -> None:
    """With rho = 1 − (1−alpha)^m, as if one frame forgot the start entirely, the bound is broken."""
    assert any(Path(seed, steps=600, alpha=0.5, radius=1.0).broken_by(50, 0.0) for seed in range(3))


def test_noise_bound_holds_and_a_tenth_of_it_does_not() -> None:
    path = Path(1, steps=3000, alpha=0.2, radius=0.1)
    bound = bounds.noise_bound(
        gamma=path.gamma, radius=0.1, alpha=0.2, V_span=path.V_span, n_pairs=path.n_pairs, T=3000, delta=1e-6
    )
    assert max(path.k2) <= bound
    assert max(path.k2) > bound / 10


def test_noise_bound_is_hoeffding_with_the_weights_of_the_visits() -> None:
    for alpha in (1e-3, 0.1, 1.0):
        weights = alpha * (1 - alpha) ** np.arange(50_000)
        radius = math.sqrt(float(weights @ weights) * math.log(2 * 6 * 100 / 0.1) / 2)
        known = {"gamma": 0.5, "radius": 0.5, "V_span": 3.0, "n_pairs": 6, "T": 100, "delta": 0.1}
        bound = bounds.noise_bound(alpha=alpha, **known)  # type: ignore[arg-type]
        assert math.isclose(bound, 0.5 * 0.5 * 3.0 * radius, rel_tol=len(weights) * EPS)


def test_elementary_frames_hold_on_a_real_chain() -> None:
    rng = np.random.default_rng(0)
    mdp = MDP(rng.dirichlet(np.ones(2), size=(2, 2)), np.zeros((2, 2)), 0.9)
    pi = np.full((2, 2), 0.5)
    pairs = pair_chain(mdp, pi)
    smallest = float(mu_min(pairs).lower)
    tau = max(1, t_mix(pairs, threshold=Fraction(smallest) / 2))
    frames = bounds.elementary_frames(tau=tau, mu_min=smallest, n_pairs=4, count=20, delta=1e-6)
    state, seen = 0, np.zeros((frames.count, 4), dtype=int)
    for frame in range(frames.count):
        for _ in range(frames.length):
            seen[frame, state] += 1
            state = int(rng.choice(4, p=pairs.kernel[state]))
    assert seen.min() >= frames.visits
    assert frames.visits >= 1


def test_explicit_theorem3_is_consistent() -> None:
    known = {"epsilon": 0.2, "delta": 0.05, "gamma": 0.9, "radius": 0.1}
    plan = bounds.explicit_theorem3(n_pairs=8, mu_min=0.05, tau=4, **known)
    V_span = bounds.V_span_bound(0.9, 0.1, 1.0)
    noise = bounds.noise_bound(
        gamma=0.9, radius=0.1, alpha=plan.alpha, V_span=V_span, n_pairs=8, T=plan.T, delta=known["delta"] / 2
    )
    final = bounds.pathwise_bound(
        plan.T,
        frame=plan.frames.length,
        visits=plan.frames.visits,
        alpha=plan.alpha,
        gamma=0.9,
        psi_0=10.0,
        noise=noise,
    )
    assert final <= known["epsilon"]
    # Each half of the error has its own half of epsilon.
    assert noise / (1 - 0.9) <= known["epsilon"] / 2
    assert final - noise / (1 - 0.9) <= known["epsilon"] / 2
    assert plan.frames.length * plan.frames.count == plan.T
    # Scaling costs and epsilon together changes nothing.
    same = bounds.explicit_theorem3(n_pairs=8, mu_min=0.05, tau=4, cost_span=16.0, **{**known, "epsilon": 3.2})
    assert same.T == plan.T
    # Radius one has no noise at all, so one visit with alpha = 1 in each frame is enough.
    assert bounds.explicit_theorem3(n_pairs=8, mu_min=0.05, tau=4, **{**known, "radius": 1.0}).alpha == 1.0
