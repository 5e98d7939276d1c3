"""Robust TDRC (Ghiassian et al., 2020): TDC with a penalty on omega, so that one step size serves both vectors.

Where omega(theta) is not 0, omega stops short of it. So it follows no gradient of J and promises no stationary point.
"""

from typing import Any

from properties.laws.linear_mean import LinearView
from properties.variants.gallery.adaptive_tdc import HeavyBallTDC
from robust_core import Contamination, Transition, Variant

PENALTY = 1.0


class TDRC(HeavyBallTDC):
    """The directions of TDC, less the penalty, and no projection."""

    def update(self, transition: Transition) -> None:
        """One step."""
        theta, omega = self.directions(transition)
        alpha = self.problem.step_size.at(self.t)
        self.theta, self.omega = self.theta + alpha * theta, self.omega + alpha * (omega - PENALTY * self.omega)
        self.t += 1


def expected(view: LinearView) -> Any:
    """The mean step of TDC at this omega, and −alpha(C(omega − omega(theta)) + omega)."""
    theta, omega = view.theta, view.last_omega
    offset = omega - view.omega(theta)
    moved = theta - view.alpha() * (0.5 * view.gradient(theta) + (view.M(theta) + view.C) @ offset)
    return moved, omega - view.alpha() * (view.C @ offset + PENALTY * omega)


VARIANT = Variant(
    "robust TDRC",
    "linear evaluation",
    TDRC,
    (Contamination,),
    ("mean update", "fixed point"),
    options={"expected": expected, "tables": 2},
)
