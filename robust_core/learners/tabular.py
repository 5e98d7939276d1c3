"""Tabular learners: robust Q-learning (Algorithm 1), SARSA, expected SARSA and TD(0).

All share one update (eq:Qupdate): the visited entry x moves to

    (1 − alpha) x + alpha (c + gamma R max_s V(s) + gamma (1−R) v'),

where V are the state values of the table and v' is the value of the next state. They differ in what V and v' are:

    rule            table    V(s)                      v'
    Q_LEARNING      Q (S,A)  min_a Q(s,a)              V(s')
    EXPECTED_SARSA  Q (S,A)  Σ_a pi(a|s) Q(s,a)        V(s')
    SARSA           Q (S,A)  Σ_a pi(a|s) Q(s,a)        Q(s',a')
    TD0             V (S,)   the table                 V(s')

R = 0 gives the vanilla algorithms. On a terminal transition v' = 0, and max V stays ("nature stays"
in `robust_core.ends`). This module is the specification in plain
numpy; `learn` runs the compiled form, which gives the same bits.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from robust_core import validate
from robust_core.problem import Problem
from robust_core.sets import Contamination
from robust_core.trajectory import Recording, Transition, Walk, valid_transition
from robust_core.validate import Floats, Ints


def robust_update(
    entry: float, cost: float, following: float, worst: float, *, alpha: float, gamma_R: float, gamma_b: float
) -> float:
    """eq:Qupdate: where the visited entry of the table moves.

    `entry`: the entry x before the step. `cost`: c(s,a). `following`: v', 0 after a terminal state.
    `worst`: max_s V(s). `alpha`: the step size. `gamma_R`, `gamma_b`: gamma R and gamma (1−R).

    >>> robust_update(1.0, 0.5, 2.0, 4.0, alpha=0.5, gamma_R=0.25, gamma_b=0.25)
    1.5
    """
    target = cost + gamma_R * worst + gamma_b * following
    return (1.0 - alpha) * entry + alpha * target


@dataclass(frozen=True)
class Rule:
    """How a table gives state values, and whether the next value is that of the sampled action."""

    name: str
    state_value: Literal["minimum", "average", "identity"]
    sampled_next: bool = False


Q_LEARNING = Rule("Q-learning", "minimum")
EXPECTED_SARSA = Rule("expected SARSA", "average")
SARSA = Rule("SARSA", "average", sampled_next=True)
TD0 = Rule("TD(0)", "identity")


def averages(table: Floats, policy: Floats) -> Floats:
    """Σ_a pi(a|s) Q(s,a), added from the first action to the last: a fixed order of rounding."""
    total = policy[:, 0] * table[:, 0]
    for a in range(1, table.shape[1]):
        total = total + policy[:, a] * table[:, a]
    return total


class TabularLearner:
    """A rule at work on a problem; the state is the table, the visit counts (if the step size needs them) and t."""

    def __init__(self, rule: Rule, problem: Problem) -> None:
        validate.instance("rule", rule, Rule)
        validate.instance("problem", problem, Problem)
        if not isinstance(problem.uncertainty_set, Contamination):
            raise TypeError(f"{rule.name} is for contamination sets, got {problem.uncertainty_set!r}")
        if problem.uncertainty_set.pairs:
            raise ValueError(f"{rule.name} needs one radius for all pairs (s, a), got {problem.uncertainty_set!r:.80}")
        shape = (problem.n_states,) if rule.state_value == "identity" else (problem.n_states, problem.n_actions)
        self.table = validate.array("initial", problem.initial, shape=shape)
        if rule.state_value == "average" and problem.policy is None:
            raise ValueError(f"{rule.name} evaluates a policy: the problem needs one")
        self.rule, self.problem = rule, problem
        self.policy: Floats = (
            problem.policy if rule.state_value == "average" and problem.policy is not None else np.empty(0)
        )
        self.visits = np.zeros(shape if problem.step_size.clock == "visits" else 0, dtype=np.int64)
        self.t = 0
        radius = problem.uncertainty_set.radius
        self.discounts = (problem.gamma * radius, problem.gamma * (1.0 - radius))

    def state_values(self) -> Floats:
        """V(s) of the current table."""
        if self.rule.state_value == "minimum":
            return self.table.min(axis=1)
        return averages(self.table, self.policy) if self.rule.state_value == "average" else self.table.copy()

    def update(self, transition: Transition) -> None:
        """One step of the algorithm, in plain numpy."""
        s, a, cost, s_next, a_next, terminal = step = valid_transition(transition)
        for name, size in self._indices():
            validate.index(name, getattr(step, name), size)
        V = self.state_values()
        following = self.table[s_next, a_next] if self.rule.sampled_next else V[s_next]
        place = s if self.rule.state_value == "identity" else (s, a)
        self.table[place] = robust_update(
            float(self.table[place]),
            cost,
            0.0 if terminal else float(following),
            float(V.max()),
            alpha=self._step_size(place),
            gamma_R=self.discounts[0],
            gamma_b=self.discounts[1],
        )
        self.t += 1
        if not math.isfinite(self.table[place]):
            self._require_finite()

    def _indices(self) -> tuple[tuple[str, int], ...]:
        """The fields of a transition that address this learner's tables, and how far they reach."""
        S, A = self.problem.n_states, self.problem.n_actions
        action = () if self.rule.state_value == "identity" else (("a", A),)
        return ("s", S), ("s_next", S), *action, *((("a_next", A),) if self.rule.sampled_next else ())

    def _step_size(self, place: int | tuple[int, int]) -> float:
        if self.problem.step_size.clock != "visits":
            return self.problem.step_size.at(self.t)
        n = int(self.visits[place])
        self.visits[place] = n + 1
        return self.problem.step_size.at(n)

    def update_many(self, recording: Recording) -> None:
        """The updates of a recorded trajectory, compiled: equal to the loop over `update`."""
        from robust_core.kernels import tabular as compiled

        validate.instance("recording", recording, Recording)
        for name in Transition._fields:
            validate.instance(f"recording.{name}", getattr(recording, name), np.ndarray)
            validate.refuse_masked(f"recording.{name}", getattr(recording, name))
        for name, size in self._indices():
            _check_column(name, getattr(recording, name), size, len(recording))
        _check_costs_and_ends(recording)
        compiled.update_many(self, recording)
        self._require_finite()

    def estimate(self) -> Floats:
        """A copy of the table."""
        return self.table.copy()

    def require_fit(self, walk: Walk) -> None:
        """Raise unless the walk is one on states and actions of this learner."""
        validate.instance("walk", walk, Walk)
        S, A, mdp = self.problem.n_states, self.problem.n_actions, walk.mdp
        if (mdp.n_states, mdp.n_actions) != (S, A):
            raise ValueError(f"the learner has S={S}, A={A}, the walk S={mdp.n_states}, A={mdp.n_actions}")

    def _require_finite(self) -> None:
        if not (math.isfinite(self.table.min()) and math.isfinite(self.table.max())):  # no mask of S·A bytes
            raise OverflowError(f"{self.rule.name} left the range of float64 before step {self.t}: rescale the cost")


def _check_column(name: str, column: Ints, size: int, length: int) -> None:
    if column.shape != (length,) or column.dtype.kind not in "iu":
        raise ValueError(f"recording.{name} must be {length} whole numbers, got {column!r}")
    if length and not (column.min() >= 0 and column.max() < size):
        raise ValueError(f"recording.{name} must lie in 0 … {size - 1}, got {column.min()} … {column.max()}")


def _check_costs_and_ends(recording: Recording) -> None:
    cost, terminal, length = recording.cost, recording.terminal, len(recording)
    if cost.shape != (length,) or cost.dtype != np.float64 or not np.isfinite(cost).all():
        raise ValueError(f"recording.cost must be {length} finite numbers, got {cost!r}")
    if terminal.shape != (length,) or terminal.dtype != np.bool_:
        raise ValueError(f"recording.terminal must be {length} booleans, got {terminal!r}")


def learn(learner: TabularLearner, walk: Walk, steps: int) -> None:
    """Advance walk and learner together by `steps` transitions (compiled)."""
    from robust_core.kernels import tabular as compiled

    learner.require_fit(walk)
    compiled.learn(learner, walk, validate.count("steps", steps))
    learner._require_finite()


def learn_plain(learner: TabularLearner, walk: Walk, steps: int) -> None:
    """The same in plain Python: the specification of `learn`."""
    learner.require_fit(walk)
    for transition in walk.steps(validate.count("steps", steps)):
        learner.update(transition)
