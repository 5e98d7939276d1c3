"""Reverse Kullback-Leibler ball (Burg): the worst case is q ∝ p/(eta − v), and what is left may go to the best state.

By the weighted mean inequality sigma(v) = min over eta >= M of eta − e^{−r} Π (eta−v)^p, M = max v over the allowed
states. The derivative in eta vanishes where log G + log H = r, G = Π (eta−v)^p, H = Σ p/(eta−v); the left side is
KL(p‖q) at q = p/((eta−v)H) and falls in eta. If it is at most r at eta = M already, which needs p = 0 at M, then eta
= M: q = e^{−r}G p/(M−v) and the rest at M. If p > 0 at M, M itself is reached by no r.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from robust_core import validate
from robust_core.mdp import MDP
from robust_core.sets.base import Ball, RowSolver
from robust_core.sets.rows import deviations, weights
from robust_core.validate import Floats

LEAST_RADIUS = 1e-18
"""Below it sigma is mean + √(2r Var) up to r·span."""
ACCURACY = 1e-8
"""Of the root, relative to r: the value then errs by about the square of it."""
STEPS = 400
SMALLEST = 2.0**-1000
"""The least distance of eta from the maximum: next to it sigma is the maximum up to much less than a rounding."""


@dataclass(frozen=True)
class ReverseKullbackLeibler(Ball):
    """Reverse Kullback-Leibler ball: {q : KL(p‖q) = Σ p log(p/q) <= r}, in nats, p first. Also called Burg entropy.

    `within_support`: q stays in the support of p; by default mass may move to any state.
    """

    kind: ClassVar[str] = "reverse_kullback_leibler"

    def row_solver(self, mdp: MDP) -> RowSolver:
        """Worst rows and certified bounds, compiled."""
        from robust_core.kernels import solutions

        return solutions.Solver(
            mdp, self, solutions.BURG, solutions.WITHIN if self.within_support else solutions.TOP, self.radius
        )

    def kernel_support(self, mdp: MDP, v: Floats) -> Floats:
        """sigma of all rows of a kernel, compiled."""
        from robust_core.kernels import reverse_kullback_leibler

        return reverse_kullback_leibler.kernel_support(mdp, self.radius, self.within_support, v)

    def row_solution(self, rows: Floats, v: Floats) -> tuple[Floats, Floats]:
        """eta − e^{−r} Π (eta−v)^p at the eta of each row, and e^{−r}G p/(eta−v) with the rest on the best state."""
        shape = rows.shape[:-1]
        p = weights(rows).reshape(-1, v.size)
        r = np.broadcast_to(np.asarray(self.radius), shape).reshape(-1, 1)
        allowed = self.allowed(p)
        top, span, d = deviations(v, allowed)
        mean = (p * d).sum(axis=-1, keepdims=True)
        deviation = np.sqrt((p * (d - mean) ** 2).sum(axis=-1, keepdims=True))
        best = np.where(allowed & (d == 0.0), 1.0, 0.0)
        best = np.where(np.cumsum(best, axis=-1) == best, best, 0.0)  # the first of them
        with np.errstate(all="ignore"):
            slope = np.where(deviation > 0.0, np.sqrt(2.0 * r) / deviation, 0.0)
            value = np.minimum(mean + np.sqrt(2.0 * r) * deviation, 0.0)
        worst = p * np.maximum(1.0 + slope * (d - mean), 0.0)
        inner = ((r >= LEAST_RADIUS) & (span > 0.0))[:, 0]
        if inner.any():
            part = p[inner], d[inner], r[inner]
            s = _distance_from_top(*part, deviation[inner], mean[inner])
            value[inner], q = _dual(*part, s)
            worst[inner] = q + best[inner] * np.maximum(1.0 - q.sum(axis=-1, keepdims=True), 0.0)
        worst /= worst.sum(axis=-1, keepdims=True)
        return (top + span * np.minimum(value, 0.0))[:, 0].reshape(shape), worst.reshape(rows.shape)


def _dual(p: Floats, d: Floats, r: Floats, s: Floats) -> tuple[Floats, Floats]:
    """eta − e^{−r}G(eta) about d = −1 … 0 at eta = s, and the mass e^{−r}G p/(eta−d).

    With g the distance of eta from the mean, sigma is mean − g·expm1(−r + Σ p log((eta−d)/g)): it does not cancel.
    """
    mean = (p * d).sum(axis=-1, keepdims=True)
    g = s - mean
    with np.errstate(all="ignore"):
        x = (d - mean) / g
        log_ratio = np.where(x < 0.5, np.log1p(-x), np.log((s - d) / g))
        exponent = np.where(p > 0.0, p * log_ratio, 0.0).sum(axis=-1, keepdims=True) - r
        q = np.where(p > 0.0, np.exp(exponent) * p / ((s - d) / g), 0.0)
    return mean - g * np.expm1(exponent), q


def _distance_from_top(p: Floats, d: Floats, r: Floats, deviation: Floats, mean: Floats) -> Floats:
    """s = eta − max of each row, 0 where the derivative is not negative at the maximum already.

    Newton's method on 1/√(2f), f = log G + log H, which is nearly linear in s far from the maximum, or, near the pole
    of H there, on f as a function of log s, inside a bracket. After the root is found one more step is taken for the
    sake of the worst case, into which an error of s enters in first order.
    """
    pole = np.where(d == 0.0, p, 0.0).sum(axis=-1, keepdims=True)
    found = np.zeros(1, dtype=bool)
    with np.errstate(all="ignore"):
        ends = (pole == 0.0) & (_divergence(p, d, mean, np.zeros_like(r))[0] <= r)
        low, high = np.full_like(r, SMALLEST), 2.0**40 / np.sqrt(r)
        s = deviation / np.sqrt(2.0 * r) + mean
        s = np.clip(np.where(s > 0.0, s, np.where(pole > 0.0, np.minimum(pole, 0.125), 2.0**-10)), low, high)
        for _ in range(STEPS):
            f, slope = _divergence(p, d, mean, s)
            low, high = np.where(f > r, s, low), np.where(f > r, high, s)
            done = ends | (np.abs(f - r) <= ACCURACY * r) | (high <= low * (1.0 + 4 * validate.EPS))
            if found.all():
                break
            by_root = s + (1.0 / np.sqrt(2.0 * r) - 1.0 / np.sqrt(2.0 * f)) * (2.0 * f) ** 1.5 / -slope
            by_logarithm = s * np.exp(np.clip((r - f) / (s * slope), -700.0, 700.0))
            step = np.where(s < -0.25 * mean, by_logarithm, by_root)
            inside = (step > low) & (step < high)
            s = np.where(found, s, np.where(inside, step, np.where(done, s, np.sqrt(low) * np.sqrt(high))))
            found = found | done
    return np.where(ends, 0.0, s)


def _divergence(p: Floats, d: Floats, mean: Floats, s: Floats) -> tuple[Floats, Floats]:
    """f = log G + log H and its derivative in s.

    With g = s − mean, x = (d−mean)/g and y = x/(1−x): G/g = Π (1−x)^p and H·g − 1 = Σ p y =: E; both are near 0 in the
    logarithm for large s. The derivative of f, H minus the sum of p/(s−d)² over H, is (E² − Σ p y²)/(g(1+E)).
    """
    g = s - mean
    x = (d - mean) / g
    y = x * (g / (s - d))
    positive = p > 0.0
    log_g = np.where(positive, p * np.where(x < 0.5, np.log1p(-x), np.log((s - d) / g)), 0.0).sum(
        axis=-1, keepdims=True
    )
    excess = np.where(positive, p * y, 0.0).sum(axis=-1, keepdims=True)
    squares = np.where(positive, p * y * y, 0.0).sum(axis=-1, keepdims=True)
    return log_g + np.log1p(excess), (excess * excess - squares) / ((1.0 + excess) * g)
