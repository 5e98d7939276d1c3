"""An instance solved twice: plain value iteration under the published stopping rule, and a plan with a certificate."""

from dataclasses import dataclass

import numpy as np

from benchmarks.instances.rules import Instance
from robust_core.s_rectangular import compiled_backup, plan_outcomes
from robust_core.sets import SRectangularL1
from robust_core.validate import Floats

BUDGETS = (0.05, 0.10, 0.20)
MOST_SWEEPS = 100_000
ACCURACY = 1e-6


@dataclass(frozen=True)
class Solution:
    """One instance with one budget; values are rewards, the least and the greatest over the states."""

    name: str
    states: int
    actions: int
    gamma: float
    budget: float
    sweeps: int
    published: int | None
    least: float
    certified_least: float
    certified_greatest: float
    width: float
    error: float
    backups: int

    @property
    def same(self) -> bool:
        """Whether the number of sweeps is the published one, where there is one."""
        return self.published in (None, self.sweeps)


@dataclass(frozen=True)
class Oddity:
    """Something odd in an instance, or in how it is solved."""

    name: str
    what: str
    detail: str


def plain_iteration(instance: Instance, budget: float) -> tuple[int, Floats]:
    """The sweeps until no value changes by more than the residual, and the values (costs)."""
    backup, v = compiled_backup(instance.outcomes, SRectangularL1(budget)), np.zeros(instance.outcomes.n_states)
    for sweeps in range(1, MOST_SWEEPS + 1):
        image = backup(v, False).values
        change, v = float(np.abs(image - v).max()), image
        if change <= instance.residual:
            return sweeps, v
    raise ArithmeticError(f"{instance.name} changes by {change:.2g} after {MOST_SWEEPS} sweeps")


def solve(instance: Instance, budget: float) -> Solution:
    """Both solutions of an instance."""
    sweeps, v = plain_iteration(instance, budget)
    plan = plan_outcomes(instance.outcomes, SRectangularL1(budget), accuracy=ACCURACY)
    middle, outcomes = plan.values, instance.outcomes
    return Solution(
        name=instance.name,
        states=outcomes.n_states,
        actions=outcomes.n_actions,
        gamma=outcomes.gamma,
        budget=budget,
        sweeps=sweeps,
        published=instance.published.get(budget),
        least=0.0 - float(v.max()),
        certified_least=0.0 - float(middle.max()),
        certified_greatest=0.0 - float(middle.min()),
        width=plan.width,
        error=float(np.abs(v - middle).max()),
        backups=plan.backups,
    )


def lint(instance: Instance) -> list[Oddity]:
    """What a reader of results on the instance should know."""
    outcomes, found = instance.outcomes, []
    S, A = outcomes.n_states, outcomes.n_actions
    rows = np.repeat(np.arange(S * A), np.diff(outcomes.offsets))
    differs = np.unique(rows[outcomes.costs != outcomes.outside[rows]])
    full = np.diff(outcomes.offsets) == S
    if (count := int((~full[differs]).sum())) > 0:
        found.append(
            Oddity(
                instance.name,
                "rewards outside the support",
                f"{count} of {S * A} rows have another reward inside their support than for the successors outside it, "
                "so nature changes rewards by moving mass there",
            )
        )
    going_on = [(s, a, j) for s, a, j in instance.ends if not _absorbing(instance, j)]
    if going_on:
        s, a, _ = going_on[0]
        found.append(
            Oddity(
                instance.name,
                "dropped terminal flags",
                f"{len(going_on)} of {len(instance.ends)} outcomes end an episode in the table and go on here "
                f"(the first is s={s}, a={a})",
            )
        )
    factor = outcomes.gamma / (1.0 - outcomes.gamma)
    if factor > 1.0:
        found.append(
            Oddity(
                instance.name,
                "stopping rule",
                f"a change of at most {instance.residual:g} leaves an error of up to gamma/(1−gamma) times as much, "
                f"{factor * instance.residual:.2g}",
            )
        )
    return found


def _absorbing(instance: Instance, s: int) -> bool:
    """Whether a state stays where it is for ever at no cost."""
    outcomes = instance.outcomes
    for row in range(s * outcomes.n_actions, (s + 1) * outcomes.n_actions):
        own = slice(outcomes.offsets[row], outcomes.offsets[row + 1])
        if list(outcomes.successors[own]) != [s] or outcomes.costs[own].any():
            return False
    return True
