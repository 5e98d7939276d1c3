"""Learners with a hidden state whose promise is a common mistake about them.

The n-step return with the ordinary discount gamma and one worst case at its end is not a sample of the robust backup
applied n times: nature acts in every step of that. Adam divides by the root of a mean square of the same samples, so
its mean step is not a multiple of −½∇J. The two tables of double Q-learning evaluate each other, so neither moves by
the backup of its own values.
"""

from dataclasses import replace

from properties.laws.view import View
from properties.variants.gallery import adaptive_tdc, double_q_learning, n_step


class OrdinaryReturn(n_step.NStepLearner):
    """Σ gamma^j c_j, and the worst case once, at the end."""

    def learn(self, alpha: float, following: float) -> None:
        """Move the oldest entry of the window towards its return."""
        gamma, R = self.problem.gamma, self.radius
        target = R * float(self.V.max()) + (1.0 - R) * following
        for _, cost in reversed(self.window):
            target = cost + gamma * target
        s = self.window[0][0]
        self.V[s] += alpha * (target - self.V[s])


def own_values(view: View) -> object:
    """Each table moves by alpha/2 towards the backup of its own values."""
    before, after = view.estimate, view.estimate
    for mine, new in zip(before, after, strict=True):
        new[view.place] += view.alpha() / 2 * (view.T(mine) - mine[view.place])
    return after


N_STEP = replace(n_step.VARIANT, name="3-step TD with an ordinary return", make=OrdinaryReturn)
ADAM = replace(
    adaptive_tdc.ADAM, name="TDC with Adam, said to follow the gradient in the mean", promises=("mean update",)
)
DOUBLE = replace(
    double_q_learning.BOTH,
    name="double Q-learning, said to back up its own values",
    promises=("mean update",),
    options={**double_q_learning.BOTH.options, "expected": own_values},
)
