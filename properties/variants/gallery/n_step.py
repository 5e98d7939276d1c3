"""Robust n-step TD: an entry is updated when the n-th step after its visit is known, or its episode ends.

With b = gamma(1−R) and m(V) = max V, the return of the steps k … k+n−1 is Σ b^j (c_j + gamma R m(V)) + b^n V(s'): every
step of it carries the worst case of its own. Its mean given all but the last step is the return with the robust backup
of V in the place of the last one.
"""

from fractions import Fraction
from typing import Any

from properties.laws.view import View
from robust_core import Contamination, Problem, Transition, Variant
from robust_core.validate import Floats

STEPS = 3


class NStepLearner:
    """n-step TD with the contamination term of eq:Qupdate in every step of the return."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.V, self.t = problem, problem.initial.copy(), 0
        self.radius = float(getattr(problem.uncertainty_set, "radius"))  # noqa: B009 (any set with a radius)
        self.window: list[tuple[int, float]] = []

    def update(self, transition: Transition) -> None:
        """Update the entry whose return is complete; at the end of an episode all that are left, in order."""
        s, _, cost, s_next, _, terminal = transition
        alpha = self.problem.step_size.at(self.t)
        self.t += 1
        self.window.append((s, cost))
        if terminal:
            self.flush(alpha)
        elif len(self.window) == STEPS:
            self.learn(alpha, float(self.V[s_next]))
            self.window.pop(0)

    def flush(self, alpha: float) -> None:
        """Nothing follows the end."""
        while self.window:
            self.learn(alpha, 0.0)
            self.window.pop(0)

    def learn(self, alpha: float, following: float) -> None:
        """Move the oldest entry of the window towards its return."""
        b = self.problem.gamma * (1.0 - self.radius)
        worst = self.problem.gamma * self.radius * float(self.V.max())
        target = following
        for _, cost in reversed(self.window):
            target = cost + worst + b * target
        s = self.window[0][0]
        self.V[s] += alpha * (target - self.V[s])

    def estimate(self) -> Floats:
        """A copy of V."""
        return self.V.copy()


def expected(view: View) -> Any:
    """The mean over the last step of the window; at an end the window is flushed in order."""
    steps = list(view.transitions)
    ends = [number for number, step in enumerate(steps) if step.terminal]
    episode = steps[ends[-1] + 1 :] if ends else steps
    window = episode[len(episode) - min(STEPS - 1, len(episode)) :]

    def after(step: Transition) -> Any:
        V, seen = view.estimate, [*window, step]
        if step.terminal:
            for start in range(len(seen)):
                V[seen[start].s] += view.alpha() * (discounted(view, V, seen[start:], Fraction(0)) - V[seen[start].s])
        elif len(seen) == STEPS:
            V[seen[0].s] += view.alpha() * (discounted(view, V, seen, V[step.s_next]) - V[seen[0].s])
        return V

    return view.mean(after)


def discounted(view: View, V: Any, steps: list[Transition], following: Fraction) -> Fraction:
    """Σ b^j (c_j + gamma R max V) + b^n following."""
    worst = view.gamma * view.radius * max(V)
    returns = (view.b**j * (step.cost + worst) for j, step in enumerate(steps))
    return sum(returns, view.b ** len(steps) * following)


VARIANT = Variant(
    "robust 3-step TD",
    "evaluation",
    NStepLearner,
    (Contamination,),
    ("mean update", "fixed point", "fixed point in the mean", "asynchronous", "scale", "shift", "symmetric"),
    options={"estimates": "V", "expected": expected, "delay": STEPS, "schedule": "steps"},
)
