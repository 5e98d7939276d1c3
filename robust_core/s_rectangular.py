"""s-rectangular sets on whole models: backups, randomised policies, rows of nature, and planning with a certificate.

**Planning** is modified policy iteration (`robust_core.iteration`, with the proof that it ends).

**Certificate.** Bounds on the exact backup of the final v, with margins for rounding (`kernels.s_rectangular`), in
MacQueen's inequality.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robust_core import validate
from robust_core.iteration import MOST_SWEEPS, bounds, iterate
from robust_core.mdp import MDP
from robust_core.sets.s_rectangular import (
    SRectangular,
    SRectangularKullbackLeibler,
    SRectangularL1,
    SRectangularL2,
    SRectangularLInfinity,
    StateUpdate,
)
from robust_core.validate import Floats

FORMS: dict[type[SRectangular], int] = {
    SRectangularL1: 0,
    SRectangularL2: 1,
    SRectangularLInfinity: 2,
    SRectangularKullbackLeibler: 3,
}
"""The compiled form of a class; a class of its own is solved in its plain form."""


@dataclass(frozen=True)
class SolvedStates:
    """A backup TV (S,), a policy (S, A) and rows of nature (S, A, S) that attain it."""

    values: Floats
    policy: Floats
    kernel: Floats


@dataclass(frozen=True)
class SPlan:
    """lower <= V* <= upper, an optimal policy up to that width, and how it was found.

    The policy's own robust value is at most `upper`: it keeps the bound of the last backup.
    """

    lower: Floats
    upper: Floats
    policy: Floats
    backups: int
    sweeps: int
    falls: int
    nature: Callable[[], Floats]
    """Makes the rows of `worst_kernel`."""

    def worst_kernel(self) -> Floats:
        """Rows of nature (S, A, S) at the last backup, up to rounding members of the set.

        Under them no action of a state has a lower expected value than the backup, and no policy a value below `lower`:
        with q and the policy the two players are at an equilibrium, up to the width.
        """
        rows = self.nature()
        return rows / rows.sum(axis=-1, keepdims=True)

    @property
    def width(self) -> float:
        """The largest distance of the bounds."""
        return float((self.upper - self.lower).max())

    @property
    def values(self) -> Floats:
        """The middle of the bounds."""
        return self.lower + (self.upper - self.lower) / 2.0


def solve_states(mdp: MDP, uncertainty_set: SRectangular, V: ArrayLike) -> SolvedStates:
    """TV(s) = min_pi max_q Σ_a pi_a q_a·(c(s,a) + gamma V) of every state, in its plain form.

    >>> mdp = MDP([[[1.0, 0.0], [1.0, 0.0]], [[0.0, 1.0]] * 2], [[0.0, 0.0], [1.0, 1.0]], 0.5)
    >>> found = solve_states(mdp, SRectangularL1(1.0), [0.0, 2.0])
    >>> found.values, found.policy[0]
    (array([0.25, 2.  ]), array([0.5, 0.5]))
    """
    values = _checked(mdp, uncertainty_set, V)
    updates = [_update(mdp, uncertainty_set, values, s) for s in range(mdp.n_states)]
    return SolvedStates(*(np.array(part) for part in zip(*updates, strict=True)))


def _update(mdp: MDP, uncertainty_set: SRectangular, values: Floats, s: int) -> StateUpdate:
    w = mdp.cost[s][:, None] + mdp.gamma * values[None, :]
    return uncertainty_set.state_update(mdp.P[s], w, float(uncertainty_set.budgets(mdp.n_states)[s]))


def state_values(mdp: MDP, uncertainty_set: SRectangular, V: ArrayLike) -> Floats:
    """TV of every state, compiled where the set has a compiled form."""
    values = _checked(mdp, uncertainty_set, V)
    if type(uncertainty_set) not in FORMS:
        return solve_states(mdp, uncertainty_set, V).values
    from robust_core.kernels import s_rectangular as kernel

    backup = compiled_backup(kernel.Outcomes.of(mdp), uncertainty_set)
    return backup(values, False).values


def policy_values(mdp: MDP, uncertainty_set: SRectangular, policy: Floats, V: ArrayLike) -> Floats:
    """T_pi V(s) = max over the set of Σ_a pi_a q_a·(c(s,a) + gamma V), in its plain form."""
    values, P = _checked(mdp, uncertainty_set, V), mdp.P
    budgets = uncertainty_set.budgets(mdp.n_states).tolist()
    return np.array(
        [
            uncertainty_set.policy_value(P[s], mdp.cost[s][:, None] + mdp.gamma * values, budgets[s], policy[s])
            for s in range(mdp.n_states)
        ]
    )


def _checked(mdp: MDP, uncertainty_set: SRectangular, V: ArrayLike) -> Floats:
    validate.instance("mdp", mdp, MDP)
    validate.instance("uncertainty_set", uncertainty_set, SRectangular)
    uncertainty_set.require_fit(mdp.n_states, mdp.cost.shape)
    return validate.array("V", V, shape=(mdp.n_states,))


def compiled_backup(outcomes: Any, uncertainty_set: SRectangular) -> Callable[[Floats, bool], Any]:
    """The backup (values, certified) -> `kernels.s_rectangular.States` of a model of outcomes."""
    from robust_core.kernels import s_rectangular as kernel

    if type(uncertainty_set) not in FORMS:
        known = ", ".join(cls.__name__ for cls in FORMS)
        raise TypeError(
            f"uncertainty_set must be one of {known}, which have a compiled form, got {uncertainty_set!r:.80}"
        )
    form, within = _form(uncertainty_set)
    budgets = uncertainty_set.budgets(outcomes.n_states)

    def backup(values: Floats, certified: bool) -> Any:
        return kernel.solve(form, within, outcomes, budgets, values, certified=certified)

    return backup


def _form(uncertainty_set: SRectangular) -> tuple[int, bool]:
    """The compiled form of a set, and whether it stays in the support."""
    return FORMS[type(uncertainty_set)], bool(getattr(uncertainty_set, "within_support", True))


def plan_states(mdp: MDP, uncertainty_set: SRectangular, *, accuracy: float = 1e-6) -> SPlan:
    """Bounds on V* whose distance from their middle is at most `accuracy`, if rounding allows it.

    >>> mdp = MDP([[[1.0, 0.0], [1.0, 0.0]], [[0.0, 1.0]] * 2], [[0.0, 0.0], [1.0, 1.0]], 0.5)
    >>> plan = plan_states(mdp, SRectangularL1(1.0))
    >>> plan.values.round(4), bool(plan.width <= 2e-6)
    (array([0.4, 2. ]), True)
    >>> plan.worst_kernel()[0].round(4)
    array([[0.75, 0.25],
           [0.75, 0.25]])
    """
    from robust_core.kernels import s_rectangular as kernel

    validate.instance("mdp", mdp, MDP)
    _checked(mdp, uncertainty_set, np.zeros(mdp.n_states))
    return plan_outcomes(kernel.Outcomes.of(mdp), uncertainty_set, accuracy=accuracy)


def plan_outcomes(
    outcomes: Any, uncertainty_set: SRectangular, *, accuracy: float = 1e-6, most_sweeps: int = MOST_SWEEPS
) -> SPlan:
    """`plan_states` for a model whose costs may depend on the successor (`kernels.s_rectangular.Outcomes`)."""
    from robust_core.kernels import s_rectangular as kernel

    goal, gamma = validate.positive("accuracy", accuracy), outcomes.gamma
    uncertainty_set.require_fit(outcomes.n_states, (outcomes.n_states, outcomes.n_actions))
    backup = compiled_backup(outcomes, uncertainty_set)
    start = np.zeros(outcomes.n_states)
    with np.errstate(over="ignore", invalid="ignore"):
        point, counts = iterate(lambda v: backup(v, False), gamma, start, goal, most_sweeps=most_sweeps)
        exact = backup(point.v, True)
        lower, upper = bounds(gamma, point.v, exact.lower, exact.upper)
    form, within = _form(uncertainty_set)
    nature = partial(kernel.members, form, within, outcomes, point.v, exact.values)
    return SPlan(lower, upper, exact.policy, counts.backups + 1, counts.sweeps, counts.falls, nature)
