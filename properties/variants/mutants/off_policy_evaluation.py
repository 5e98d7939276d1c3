"""Wrong learners of off-policy evaluation."""

from typing import Any

import numpy as np

from properties.variants.mutants.plain import TwoWeights, but, hard_maximum, with_radius
from robust_core import Contamination, Transition, Variant


class OffPolicy(TwoWeights):
    """Robust TDC with importance ratios, in parts that a mutant replaces."""

    @property
    def balls(self) -> tuple[float, float]:
        """The radii of projection."""
        return self.problem.projection, self.problem.second_projection

    def ratio(self, step: Transition) -> float:
        """pi(a|s)/behaviour(a|s)."""
        policy: Any = self.problem.policy
        behaviour: Any = self.problem.behaviour
        return float(policy[step.s, step.a] / behaviour[step.s, step.a])


class _Product(OffPolicy):
    """Ratios are multiplied along the path."""

    product = 1.0

    def ratio(self, step: Transition) -> float:
        return self.product * super().ratio(step)

    def update(self, step: Transition) -> None:
        after = 1.0 if step.terminal else self.product * OffPolicy.ratio(self, step)
        super().update(step)
        self.product = after


class _Swapped(OffPolicy):
    """The behaviour is evaluated from actions of the policy."""

    def ratio(self, step: Transition) -> float:
        policy: Any = self.problem.policy
        behaviour: Any = self.problem.behaviour
        return float(behaviour[step.s, step.a] / max(policy[step.s, step.a], 0.125))


class _PolicyAlone(OffPolicy):
    """pi(a|s) without the behaviour's probability."""

    def ratio(self, step: Transition) -> float:
        policy: Any = self.problem.policy
        return float(policy[step.s, step.a])


class _Box(OffPolicy):
    """Entries are clipped."""

    def update(self, step: Transition) -> None:
        alpha, beta = self.sizes
        theta, omega = self.moves(step)
        self.theta = np.clip(self.theta + alpha * theta, -self.balls[0], self.balls[0])
        self.omega = np.clip(self.omega + beta * omega, -self.balls[1], self.balls[1])
        self.t += 1


def _mutant(name: str, make: Any, promises: Any = ("mean update",)) -> Variant:
    return Variant(f"off-policy {name}", "off-policy evaluation", make, (Contamination,), promises)


_BALLS = ("projected onto two balls",)
NO_RATIO = _mutant("without ratios", but(OffPolicy, ratio=lambda self, step: 1.0))
INVERSE = _mutant(
    "with inverse ratios", but(OffPolicy, ratio=lambda self, step: 1.0 / max(OffPolicy.ratio(self, step), 0.125))
)
CLIPPED = _mutant("with clipped ratios", but(OffPolicy, ratio=lambda self, step: min(1.0, OffPolicy.ratio(self, step))))
SQUARED = _mutant("with squared ratios", but(OffPolicy, ratio=lambda self, step: OffPolicy.ratio(self, step) ** 2))
# The ratio of the next action.
NEXT_RATIO = _mutant(
    "with the ratio of the next action",
    but(OffPolicy, ratio=lambda self, step: OffPolicy.ratio(self, step._replace(s=step.s_next, a=step.a_next))),
)
PRODUCT = _mutant("with products of ratios", _Product)
LOST_ON_DELTA = _mutant(
    "without the ratio of delta", but(OffPolicy, ratios=lambda self, step: (1.0, r := self.ratio(step), r))
)
LOST_ON_OMEGA = _mutant(
    "without the ratio of omega", but(OffPolicy, ratios=lambda self, step: (r := self.ratio(step), r, 1.0))
)
LOST_ON_CORRECTION = _mutant(
    "without the ratio of the correction", but(OffPolicy, ratios=lambda self, step: (r := self.ratio(step), 1.0, r))
)
SWAPPED = _mutant("with swapped policies", _Swapped)
POLICY_ALONE = _mutant("weighted by the policy alone", _PolicyAlone)
VANILLA = _mutant("that is not robust", but(OffPolicy, radius=0.0))
HALF = _mutant("with half the radius", with_radius(OffPolicy, 0.5))
NEVER = _mutant("that never learns", but(OffPolicy, factors=(0.0, 0.0)))
OMEGA_ASLEEP = _mutant("whose omega never moves", but(OffPolicy, factors=(1.0, 0.0)))
SEMIGRADIENT = _mutant("without a correction", but(OffPolicy, correction=0.0))
SIGN = _mutant("with the sign of the correction", but(OffPolicy, correction=-1.0))
ONE_CORRECTION = _mutant("without nature's part of the correction", but(OffPolicy, nature=0.0))
HARD_MAXIMUM = _mutant("with the hard maximum", but(OffPolicy, smooth=hard_maximum))
# Both vectors are projected onto the ball of theta.
ONE_BALL = _mutant(
    "with one ball for both",
    but(OffPolicy, balls=property(lambda self: (self.problem.projection, self.problem.projection))),
    _BALLS,
)
SWAPPED_BALLS = _mutant(
    "with swapped balls",
    but(OffPolicy, balls=property(lambda self: (self.problem.second_projection, self.problem.projection))),
    _BALLS,
)
NO_BALLS = _mutant("without balls", but(OffPolicy, balls=property(lambda self: (np.inf, np.inf))), _BALLS)
SMALL_BALLS = _mutant(
    "with balls of half the radius",
    but(OffPolicy, balls=property(lambda self: (self.problem.projection / 2.0, self.problem.second_projection / 2.0))),
    _BALLS,
)
BOX = _mutant("with boxes for balls", _Box, _BALLS)
LATE_ALPHA = _mutant("whose alpha is one step late", but(OffPolicy, alpha_count=lambda self: max(self.t - 1, 0)))
SHORT_TABLE = _mutant("with 64 step sizes", but(OffPolicy, alpha_count=lambda self: min(self.t, 63)))


class _Restarts(OffPolicy):
    """After the end of an episode beta starts again."""

    ended = False

    @property
    def sizes(self) -> tuple[float, float]:
        second: Any = self.problem.second_step_size
        return super().sizes[0], second.at(0 if self.ended else self.t)

    def update(self, step: Transition) -> None:
        super().update(step)
        self.ended = bool(step.terminal)


END_RATIO = _mutant(
    "without ratios at ends",
    but(OffPolicy, ratio=lambda self, step: 1.0 if step.terminal else OffPolicy.ratio(self, step)),
)
RESTARTS = _mutant("whose beta restarts", _Restarts)
# From the twentieth step on, an end is taken for a step.
PAST_LATE_END = _mutant(
    "that goes on after late ends",
    but(OffPolicy, after=lambda self, step, top: top[step.s_next] * (not step.terminal or self.t >= 20)),
)
# From the twentieth step on, both vectors have the larger ball.
LARGER_BALL = _mutant(
    "with one ball in the end",
    but(
        OffPolicy,
        balls=property(
            lambda self: OffPolicy.balls.fget(self) if self.t < 20 else (max(OffPolicy.balls.fget(self)),) * 2  # type: ignore[attr-defined]
        ),
    ),
    _BALLS,
)
