"""Robust relative Q-learning for the average cost, for contamination: the first entry estimates the gain."""

from robust_core import Contamination, Variant


class RelativeQ:
    def __init__(self, problem):
        self.problem, self.Q, self.t = problem, problem.initial.copy(), 0
        self.visits = 0 * self.Q

    def update(self, step):
        R, V, place = self.problem.uncertainty_set.radius, self.Q.min(axis=1), (step.s, step.a)
        clock = self.problem.step_size.clock
        alpha = self.problem.step_size.at(int(self.visits[place]) if clock == "visits" else self.t)
        target = step.cost + (1 - R) * V[step.s_next] + R * V.max() - self.Q[0, 0]
        self.Q[place] += alpha * (target - self.Q[place])
        self.visits[place] += 1
        self.t += 1

    def estimate(self):
        return self.Q.copy()


VARIANT = Variant(
    "my relative Q-learning",
    "average cost learner",
    RelativeQ,
    (Contamination,),
    ("relative update", "relative fixed point", "relative shift"),
)
