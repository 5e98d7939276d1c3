"""One step of robust TDC and GTD2 (Algorithm 2) in long decimals, written from the paper's formulas."""

from collections.abc import Sequence
from decimal import Context, Decimal, localcontext
from typing import Any, cast

import numpy as np

from properties.kinds.linear_evaluation import LinearRun
from robust_core.sets import Contamination
from robust_core.smoothing import Mellowmax

# Beyond double precision by a margin that no cancellation in a few dozen operations uses up.
PRECISION = Context(prec=60)
Vector = list[Decimal]


def decimals(values: np.ndarray) -> Vector:
    """Floats as the decimals they are."""
    return [Decimal(float(x)) for x in values]


def _dot(x: Sequence[Decimal], y: Sequence[Decimal]) -> Decimal:
    return sum((a * b for a, b in zip(x, y, strict=True)), Decimal(0))


def smooth_maximum(V: Vector, smoothing: Any) -> tuple[Decimal, Vector]:
    """LSE or mellow-max of V and its gradient, the softmax."""
    varrho, top = Decimal(smoothing.varrho), max(V)
    weights = [((v - top) * varrho).exp() for v in V]
    total = sum(weights, Decimal(0))
    count = len(V) if isinstance(smoothing, Mellowmax) else 1
    return top + (total / count).ln() / varrho, [w / total for w in weights]


def _projected(x: Vector, K: float | None) -> Vector:
    norm = _dot(x, x).sqrt()
    if K is None or norm <= Decimal(K):
        return x
    return [v * Decimal(K) / norm for v in x]


def next_estimate(
    rule: str,
    case: LinearRun,
    step: Sequence[Any],
    estimate: Sequence[np.ndarray],
    alpha: float,
    beta: float,
    *,
    nature_ends: bool = False,
) -> tuple[np.ndarray, np.ndarray]:
    """(theta, omega) after one transition.

    delta = c + gamma(1−R)V(s') + gamma R smax(V) − V(s),  g = gamma((1−R)phi_{s'} + R Phiᵀ softmax(V)),
    TDC: theta + alpha(delta phi_s − g (phi_sᵀomega)),  GTD2: theta + alpha(phi_s − g)(phi_sᵀomega),
    omega + beta(delta − phi_sᵀomega)phi_s, both projected onto the ball of radius K. Where nature ends too, the end is
    one more state of the smooth maximum, with features 0.
    """
    with localcontext(PRECISION):
        s, _, cost, s_next, _, terminal = step
        gamma, R = Decimal(case.mdp.gamma), Decimal(cast(Contamination, case.uncertainty_set).radius)
        rows = [decimals(row) for row in case.features]
        theta, omega = decimals(estimate[0]), decimals(estimate[1])
        V = [_dot(row, theta) for row in rows]
        worst = [*rows, [Decimal(0)] * len(theta)] if nature_ends else rows
        smooth, softmax = smooth_maximum([_dot(row, theta) for row in worst] if nature_ends else V, case.smoothing)
        phi = rows[s]
        following, phi_next = (Decimal(0), [Decimal(0)] * len(phi)) if terminal else (V[s_next], rows[s_next])
        delta = Decimal(cost) + gamma * (1 - R) * following + gamma * R * smooth - V[s]
        mean = [_dot(softmax, column) for column in zip(*worst, strict=True)]
        g = [gamma * ((1 - R) * x + R * y) for x, y in zip(phi_next, mean, strict=True)]
        tracked = _dot(phi, omega)
        pairs = zip(phi, g, strict=True)
        direction = [(delta * x - y * tracked) if rule == "TDC" else (x - y) * tracked for x, y in pairs]
        K, a, b = case.projection, Decimal(alpha), Decimal(beta)
        new_theta = _projected([t + a * d for t, d in zip(theta, direction, strict=True)], K)
        new_omega = _projected([w + b * (delta - tracked) * x for w, x in zip(omega, phi, strict=True)], K)
        return np.array(new_theta, dtype=np.float64), np.array(new_omega, dtype=np.float64)
