"""Kullback-Leibler ball: nature tilts p exponentially, q ∝ p e^{bv}, until the divergence is r.

By convex duality sigma(v) = min over b > 0 of (r + log Σ p e^{bv})/b. With L(b) = log Σ p e^{bv}, the derivative is
(f(b) − r)/b², f(b) = bL'(b) − L(b) = KL(q_b‖p), which rises from 0 to r* = −log p(the states of highest v in the
support). For r >= r* the maximum over the support is reached; below, f(b) = r has one root, and q_b is the worst
case. An error of b enters the value in second order.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from robust_core import validate
from robust_core.mdp import MDP
from robust_core.sets.base import LEVELS, RowSolver, Threshold, UncertaintySet
from robust_core.sets.rows import deviations, weights
from robust_core.validate import Floats

LEAST_RADIUS = 1e-18
"""Below it sigma is mean + √(2r Var) up to r·span (Bernstein's inequality from above, the worst case from below)."""
ACCURACY = 1e-8
"""Of the root, relative to r and to r* − r: the value then errs by about the square of it."""
STEPS = 200
NEGLIGIBLE = 2.0**-56
"""Of the span: an error of sigma below this is less than a rounding."""


@dataclass(frozen=True)
class KullbackLeibler(UncertaintySet):
    """Kullback-Leibler ball: {q : KL(q‖p) = Σ q log(q/p) <= r}, in nats, q first; q stays in the support of p."""

    kind: ClassVar[str] = "kullback_leibler"
    radii: ClassVar[tuple[float | Threshold, ...]] = LEVELS
    radius: float

    def row_solution(self, rows: Floats, v: Floats) -> tuple[Floats, Floats]:
        """(r + log Σ p e^{bv})/b at the multiplier b of each row, and p e^{bv}, normalised.

        The worst case is p on the states of highest v if the radius reaches so far.
        """
        return _tilt(rows, v, np.asarray(self.radius))

    def row_solver(self, mdp: MDP) -> RowSolver:
        """Worst rows and certified bounds, compiled."""
        from robust_core.kernels import solutions

        return solutions.Solver(mdp, self, solutions.TILTED, solutions.WITHIN, self.radius)

    def kernel_support(self, mdp: MDP, v: Floats) -> Floats:
        """sigma of all rows of a kernel, compiled."""
        from robust_core.kernels import kullback_leibler

        return kullback_leibler.kernel_support(mdp, self.radius, v)


def _tilt(rows: Floats, v: Floats, radius: Floats) -> tuple[Floats, Floats]:
    """sigma and the worst case of each row."""
    shape = rows.shape[:-1]
    p = weights(rows).reshape(-1, v.size)
    r = np.broadcast_to(radius, shape).reshape(-1, 1)
    top, span, d = deviations(v, p > 0.0)
    rest = np.where(d < 0.0, p, 0.0).sum(axis=-1, keepdims=True)
    best = np.where(d == 0.0, p, 0.0)
    with np.errstate(all="ignore"):
        threshold = np.where(rest < 0.5, -np.log1p(-rest), -np.log(best.sum(axis=-1, keepdims=True)))
    mean = (p * d).sum(axis=-1, keepdims=True)
    deviation = np.sqrt((p * (d - mean) ** 2).sum(axis=-1, keepdims=True))
    sigma = top + span * np.minimum(mean + np.sqrt(2.0 * r) * deviation, 0.0)
    with np.errstate(all="ignore"):
        slope = np.where(deviation > 0.0, np.sqrt(2.0 * r) / deviation, 0.0)
    worst = p * np.maximum(1.0 + slope * (d - mean), 0.0)
    reached = (r >= threshold)[:, 0]
    sigma[reached], worst[reached] = top[reached], best[reached]
    inner = ~reached & (r >= LEAST_RADIUS)[:, 0]
    if inner.any():
        b, log_mean = _multiplier(p[inner], d[inner], r[inner], threshold[inner], -mean[inner], deviation[inner])
        sigma[inner] = top[inner] + span[inner] * np.minimum((r[inner] + log_mean) / b, 0.0)
        worst[inner] = p[inner] * np.exp(b * d[inner])
    worst /= worst.sum(axis=-1, keepdims=True)
    return sigma.reshape(shape), worst.reshape(rows.shape)


def _multiplier(
    p: Floats, d: Floats, r: Floats, threshold: Floats, gap: Floats, deviation: Floats
) -> tuple[Floats, Floats]:
    """b with f(b) = r of each row, and L(b), for values −1 <= d <= 0 with maximum 0, minimum −1 and mean −gap.

    Newton's method on √(2f), which is nearly linear for small b, or on log(r* − f), which is for large b, inside a
    bracket: f(b) <= b²/8 (Hoeffding), and at the upper end sigma differs from the maximum by less than a rounding.
    After the root is found one more step is taken for the sake of the worst case, into which an error of b enters in
    first order.
    """
    low, high = np.sqrt(8.0 * r), 2.0**57 * threshold
    found = np.zeros(1, dtype=bool)
    with np.errstate(all="ignore"):
        b = np.clip(np.minimum(np.sqrt(2.0 * r) / deviation, 4.0 * (threshold + 1.0)), low, high)
        for _ in range(STEPS):
            small = b * gap <= 1.0
            e = np.exp(b * d)
            total = np.where(small, 1.0 + (p * np.expm1(b * d)).sum(axis=-1, keepdims=True), 0.0)
            total = np.where(small, total, (p * e).sum(axis=-1, keepdims=True))
            log_mean = np.where(small, np.log1p((p * np.expm1(b * d)).sum(axis=-1, keepdims=True)), np.log(total))
            mean = (p * e * d).sum(axis=-1, keepdims=True) / total
            variance = (p * e * (d - mean) ** 2).sum(axis=-1, keepdims=True) / total
            f = b * mean - log_mean
            left, wanted = threshold - f, threshold - r
            # The bound exceeds sigma by (r−f)/b at most if f <= r, where q_b is a member; else q_b is pulled to p, and
            # it exceeds it by (f−r)/b · KL(p‖q_b)/f at most.
            excess = np.where(f > r, (f - r) * np.maximum(1.0, (log_mean + b * gap) / f), r - f)
            close = (np.abs(f - r) <= ACCURACY * np.minimum(r, wanted)) | (excess <= NEGLIGIBLE * b)
            low, high = np.where(f < r, b, low), np.where(f < r, high, b)
            done = close | (high <= low * (1.0 + 4 * validate.EPS))
            if found.all():
                break
            root = np.sqrt(2.0 * f)
            by_root = b - (root - np.sqrt(2.0 * r)) * root / (b * variance)
            by_logarithm = b + np.log(left / wanted) * left / (b * variance)
            step = np.where(r <= threshold / 2, by_root, by_logarithm)
            inside = (step > low) & (step < high)
            b = np.where(found, b, np.where(inside, step, np.where(done, b, np.sqrt(low) * np.sqrt(high))))
            found = found | done
    return b, log_mean
