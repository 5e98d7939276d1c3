"""Which factor of a step of TDC or GTD2 is off: delta, the correction, a projection or a step size.

For a wrong step these are the factors of which each alone can explain it. delta enters theta and omega alike; the
correction and alpha enter theta only, beta omega only; a projection only shortens. In one case several factors may be
possible, with one feature nearly all; the search names the factor that is possible in every case. The words judge
nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from properties.kinds.linear_evaluation import LinearRun
from robust_core.sets import Contamination

NEAR = 1e-7
"""Relative distance below which two vectors are one: far above rounding, far below a wrong factor."""
TINY = 1e-300
DELTA, CORRECTION, PROJECTION = "delta", "the correction", "the projection"
ALPHA, BETA = "the step size alpha", "the step size beta"


@dataclass(frozen=True)
class Step:
    """The parts of one step in floats."""

    theta: np.ndarray
    omega: np.ndarray
    phi: np.ndarray
    g: np.ndarray
    delta: float
    alpha: float
    beta: float
    K: float | None

    @classmethod
    def of(
        cls, case: LinearRun, step: Sequence[Any], before: Sequence[np.ndarray], alpha: float, beta: float
    ) -> "Step":
        """The parts, by the formulas of `next_estimate`; nature stays at an end."""
        s, _, cost, s_next, _, terminal = step
        theta, omega = before
        gamma, R = case.mdp.gamma, float(cast(Contamination, case.uncertainty_set).radius)
        V = case.features @ theta
        weights = np.exp(case.smoothing.varrho * (V - V.max()))
        weights = weights / weights.sum()
        phi, following = case.features[s], 0.0 if terminal else float(V[s_next])
        phi_next = np.zeros_like(phi) if terminal else case.features[s_next]
        delta = cost + gamma * ((1.0 - R) * following + R * float(case.smoothing.value(V))) - V[s]
        g = gamma * ((1.0 - R) * phi_next + R * (weights @ case.features))
        return cls(theta, omega, phi, g, float(delta), alpha, beta, case.projection)

    @property
    def tracked(self) -> float:
        """phi·omega."""
        return float(self.phi @ self.omega)

    def direction(self, rule: str, delta: float) -> np.ndarray:
        """The step of theta with this delta, over alpha."""
        return np.asarray(
            delta * self.phi - self.g * self.tracked if rule == "TDC" else (self.phi - self.g) * self.tracked
        )

    def after(self, rule: str, delta: float) -> tuple[np.ndarray, np.ndarray]:
        """(theta, omega) after the step, before the projection."""
        theta = self.theta + self.alpha * self.direction(rule, delta)
        return theta, self.omega + self.beta * (delta - self.tracked) * self.phi

    def shorten(self, x: np.ndarray) -> np.ndarray:
        """The vector in the ball."""
        norm = float(np.linalg.norm(x))
        return x if self.K is None or norm <= self.K else x * (self.K / norm)


def causes_of(rule: str, step: Step, after: Sequence[np.ndarray], wanted: Sequence[np.ndarray]) -> tuple[str, ...]:
    """The factors of which each alone explains that a step gives `after` and not `wanted`.

    >>> step = Step(*(np.array(x) for x in ([1.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0])), 2.0, 0.5, 0.5, None)
    >>> right = step.after("TDC", 2.0)
    >>> causes_of("TDC", step, (right[0] + [0.0, 1.0], right[1]), right)
    ('the correction',)
    """
    if not all(np.isfinite(part).all() for part in (*after, *wanted)):
        return ()
    judge = _Judge(rule, step, (after[0], after[1]), (wanted[0], wanted[1]))
    if judge.leaves_the_ball():
        return (PROJECTION,) if judge.projection() else ()
    tests: dict[str, Callable[[], bool]] = {
        DELTA: judge.delta,
        CORRECTION: lambda: judge.right[1] and bool(step.tracked and step.alpha),
        PROJECTION: judge.projection,
        ALPHA: lambda: judge.right[1] and judge.multiple(0, step.theta, step.direction(rule, step.delta)),
        BETA: lambda: judge.right[0] and judge.multiple(1, step.omega, (step.delta - step.tracked) * step.phi),
    }
    return tuple(name for name, possible in tests.items() if possible())


Pair = tuple[np.ndarray, np.ndarray]


class _Judge:
    """Compares one step with explanations of it."""

    def __init__(self, rule: str, step: Step, after: Pair, wanted: Pair) -> None:
        self.rule, self.step, self.after = rule, step, after
        parts = (*after, *wanted, step.theta, step.omega)
        self.size = max(float(np.abs(part).max()) for part in parts) + abs(step.delta)
        self.right = [self.near(x, y) for x, y in zip(after, wanted, strict=True)]

    def near(self, x: np.ndarray, y: np.ndarray) -> bool:
        """Whether two vectors are one."""
        return bool(np.abs(x - y).max() <= NEAR * self.size)

    def multiple(self, part: int, start: np.ndarray, direction: np.ndarray) -> bool:
        """Whether a part has moved along its direction, as far as it likes, and was then projected."""
        length = float(direction @ direction)
        if not length:
            return False
        if self.on_sphere(part):
            return True  # how far it went cannot be seen any more
        t = float((self.after[part] - start) @ direction) / length
        return self.near(self.after[part], start + t * direction)

    def on_sphere(self, part: int) -> bool:
        """Whether a part lies on the sphere of the projection."""
        return (
            self.step.K is not None and abs(float(np.linalg.norm(self.after[part])) - self.step.K) <= NEAR * self.size
        )

    def leaves_the_ball(self) -> bool:
        """Whether a part is longer than a projection leaves it."""
        K = self.step.K
        return K is not None and any(float(np.linalg.norm(x)) > K + NEAR * self.size for x in self.after)

    def delta(self) -> bool:
        """Whether another delta gives both parts; it is read off omega, or off theta where omega does not move."""
        step, length = self.step, float(self.step.phi @ self.step.phi)
        if not length or (self.rule == "GTD2" and not self.right[0]):
            return False
        if self.on_sphere(0) or self.on_sphere(1):
            return True
        if step.beta:
            other = float((self.after[1] - step.omega) @ step.phi) / length / step.beta + step.tracked
        elif step.alpha and self.rule == "TDC":
            moved = (self.after[0] - step.theta) / step.alpha + step.g * step.tracked
            other = float(moved @ step.phi) / length
        else:
            return False
        return all(self.near(x, step.shorten(y)) for x, y in zip(self.after, step.after(self.rule, other), strict=True))

    def projection(self) -> bool:
        """Whether every wrong part is a positive multiple of the vector before the projection."""
        if self.step.K is None:
            return False
        raw = self.step.after(self.rule, self.step.delta)
        parts = [(x, y) for x, y, right in zip(self.after, raw, self.right, strict=True) if not right]
        scales = [float(x @ y) / max(float(y @ y), TINY) for x, y in parts]
        return all(c > 0.0 and self.near(x, c * y) for c, (x, y) in zip(scales, parts, strict=True))
