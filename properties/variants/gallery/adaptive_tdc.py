"""Robust TDC with momentum (heavy ball) and with Adam's normalised steps, in theta and in omega.

Momentum leaves the mean of a step a formula of the past. Adam's step is not linear in the sample, so it has no mean
that a formula of the model gives: it promises its fixed point alone.
"""

from typing import Any

import numpy as np

from properties.laws.linear_mean import LinearView
from robust_core import Contamination, Problem, Transition, Variant
from robust_core.validate import Floats

MU = 0.5
DECAYS = 0.9, 0.999
SMALL = 1e-8


class HeavyBallTDC:
    """D ← mu D + (step of TDC), for theta and for omega."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.t = problem, 0
        self.theta, self.omega = (x.copy() for x in problem.initial)
        self.radius = float(getattr(problem.uncertainty_set, "radius"))  # noqa: B009 (any set with a radius)
        self.changes = np.zeros((2, len(self.theta)))

    def update(self, transition: Transition) -> None:
        """One step."""
        directions = self.directions(transition)
        assert self.problem.second_step_size is not None
        sizes = self.problem.step_size.at(self.t), self.problem.second_step_size.at(self.t)
        self.t += 1
        changes = self.accelerate(np.array(directions), np.array(sizes)[:, None])
        self.theta, self.omega = (self.project(x) for x in np.array([self.theta, self.omega]) + changes)

    def accelerate(self, directions: Floats, sizes: Floats) -> Floats:
        """The changes of theta and omega."""
        self.changes = MU * self.changes + sizes * directions
        return self.changes

    def directions(self, transition: Transition) -> tuple[Floats, Floats]:
        """delta phi − g (phiᵀomega), and (delta − phiᵀomega)phi."""
        p, R, phi = self.problem, self.radius, self.problem.features
        assert phi is not None
        assert p.smoothing is not None
        V, here = phi @ self.theta, phi[transition.s]
        after = phi[transition.s_next] * (not transition.terminal)
        worst = p.smoothing.value(V)
        delta = transition.cost + p.gamma * ((1.0 - R) * after @ self.theta + R * worst) - V[transition.s]
        g = p.gamma * ((1.0 - R) * after + R * p.smoothing.gradient(V) @ phi)
        tracked = here @ self.omega
        return delta * here - tracked * g, (delta - tracked) * here

    def project(self, x: Floats) -> Floats:
        """The nearest point of the ball."""
        norm, K = float(np.linalg.norm(x)), self.problem.projection
        return x * (K / norm) if norm > K else x

    def estimate(self) -> tuple[Floats, Floats]:
        """Copies of theta and omega."""
        return self.theta.copy(), self.omega.copy()


class AdamTDC(HeavyBallTDC):
    """Means and mean squares of the directions, corrected for their start at 0."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.means, self.squares = np.zeros_like(self.changes), np.zeros_like(self.changes)

    def accelerate(self, directions: Floats, sizes: Floats) -> Floats:
        """sizes · mean / (√(mean square) + small)."""
        first, second = DECAYS
        self.means = first * self.means + (1.0 - first) * directions
        self.squares = second * self.squares + (1.0 - second) * directions**2
        mean, square = self.means / (1.0 - first**self.t), self.squares / (1.0 - second**self.t)
        return sizes * mean / (np.sqrt(square) + SMALL)


def expected(view: LinearView) -> Any:
    """mu times the last change plus the mean step of TDC, −alpha(½∇J + (M+C)(omega − omega(theta)))."""
    theta, omega = view.theta, view.last_omega
    offset = omega - view.omega(theta)
    moved = theta - view.alpha() * (0.5 * view.gradient(theta) + (view.M(theta) + view.C) @ offset)
    tracked = omega - view.beta() * view.C @ offset
    if view.t:
        moved = moved + MU * (theta - view.estimates[-2][0])
        tracked = tracked + MU * (omega - view.estimates[-2][1])
    return moved, tracked


MOMENTUM = Variant(
    "robust TDC with momentum",
    "linear evaluation",
    HeavyBallTDC,
    (Contamination,),
    ("mean update", "fixed point", "projected"),
    options={"expected": expected, "tables": 2},
)
ADAM = Variant(
    "robust TDC with Adam",
    "linear evaluation",
    AdamTDC,
    (Contamination,),
    ("fixed point", "projected"),
    options={"tables": 2},
)
