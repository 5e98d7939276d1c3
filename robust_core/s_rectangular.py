"""s-rectangular sets on whole models: backups, randomised policies, rows of nature, and planning with a certificate.

**Planning.** T is monotone and T(v+k) = Tv + gamma k, so with d = Tv − v, f = gamma/(1−gamma),

    Tv + f min d  <=  V*  <=  Tv + f max d        (MacQueen).

A round makes a backup, fixes its policy and rows of nature, sweeps that Markov chain until its own change is a
hundredth as wide, and makes a backup there. Sweeps of a fixed pair need not come nearer to V*: policy iteration for
both players at once is not known to converge. The safeguard makes it terminate. Let h(v) = f span(Tv − v)/2 be the half
width at v, and x the best point so far:

- a round that ends at y with h(y) <= .9 h(x) is accepted: x = y. Rounds go on from where the last one ended;
- after `PATIENCE` rounds in a row without an accepted one they are thrown away (a *fall*). Then x is replaced by T^m x,
  shifted by a constant, with m = 1 at the first fall and twice as large at every further one, and rounds go on there.

**Termination.** span(Tx − Ty) <= gamma span(x − y) for every x and y: from x <= y + max(x−y) follows Tx <= Ty + gamma
max(x−y), and likewise from below. A shift by a constant moves T by a constant and leaves h alone. So a fall with m
backups makes h(x) at most gamma^m as large, an accepted round at most .9 as large: h(x) never grows, and falls below
every positive accuracy e. With N the number of plain backups that reach e, gamma^N h(0) <= e: after j falls plain
backups alone have made h(x) <= gamma^(2^j − 1) h(0), so there are at most log2(N + 1) + 1 falls with at most 4N + 1
plain backups, and at most log(h(0)/e)/log(1/.9) + 1 accepted rounds. At most `PATIENCE` rounds come before each fall
and each accepted round, and a round has one backup and at most `MOST_SWEEPS` sweeps. So the loop ends, whatever the
sweeps do.

In floats h stops falling at the level of rounding; a fall that does not lower it ends the loop, and the certificate
tells the width that was reached.

**Certificate.** Bounds on the exact backup of the final v, with margins for rounding (`kernels.s_rectangular`), in
MacQueen's inequality.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robust_core import validate
from robust_core.mdp import MDP
from robust_core.sets.s_rectangular import (
    SRectangular,
    SRectangularKullbackLeibler,
    SRectangularL1,
    SRectangularL2,
    SRectangularLInfinity,
    StateUpdate,
)
from robust_core.validate import EPS, Floats

MOST_SWEEPS = 2_000
"""Of one chain: a span shrinks by gamma at least in each, so a hundredth is certain for gamma <= .9977."""
PATIENCE, ACCEPTED = 25, 0.9
"""Rounds in a row before a fall (on Taxi the half width is above that of the start for 14 rounds, then it collapses),
and the share of the best half width at which a round is accepted."""
NARROWER = 0.01
"""The span of the change at which the sweeps of a chain end, as a share of that at its start."""
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
    found: Floats = backup(values, False).values
    return found


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
    form, within = FORMS[type(uncertainty_set)], bool(getattr(uncertainty_set, "within_support", True))
    budgets = uncertainty_set.budgets(outcomes.n_states)

    def backup(values: Floats, certified: bool) -> Any:
        return kernel.solve(form, within, outcomes, budgets, values, certified=certified)

    return backup


def plan_states(mdp: MDP, uncertainty_set: SRectangular, *, accuracy: float = 1e-6) -> SPlan:
    """Bounds on V* whose distance from their middle is at most `accuracy`, if rounding allows it.

    >>> mdp = MDP([[[1.0, 0.0], [1.0, 0.0]], [[0.0, 1.0]] * 2], [[0.0, 0.0], [1.0, 1.0]], 0.5)
    >>> plan = plan_states(mdp, SRectangularL1(1.0))
    >>> plan.values.round(4), bool(plan.width <= 2e-6)
    (array([0.4, 2. ]), True)
    """
    from robust_core.kernels import s_rectangular as kernel

    _checked(mdp, uncertainty_set, np.zeros(mdp.n_states))
    return plan_outcomes(kernel.Outcomes.of(mdp), uncertainty_set, accuracy=accuracy)


@dataclass
class _Point:
    """A point, its backup and the half width there."""

    v: Floats
    found: Any
    half: float
    following: Floats

    @classmethod
    def at(cls, backup: Callable[[Floats, bool], Any], gamma: float, v: Floats) -> "_Point":
        found = backup(v, False)
        change, factor = found.values - v, gamma / (1.0 - gamma)
        low, high = float(change.min()), float(change.max())
        return cls(v, found, factor * 0.5 * (high - low), found.values + factor * 0.5 * (low + high))


def plan_outcomes(
    outcomes: Any, uncertainty_set: SRectangular, *, accuracy: float = 1e-6, most_sweeps: int = MOST_SWEEPS
) -> SPlan:
    """`plan_states` for a model whose costs may depend on the successor (`kernels.s_rectangular.Outcomes`)."""
    goal, gamma = validate.positive("accuracy", accuracy), outcomes.gamma
    uncertainty_set.require_fit(outcomes.n_states, (outcomes.n_states, outcomes.n_actions))
    backup = compiled_backup(outcomes, uncertainty_set)
    point = _Point.at(backup, gamma, np.zeros(outcomes.n_states))
    backups, sweeps, falls, plain = 1, 0, 0, 1
    tried, left = point, PATIENCE
    while point.half > goal:
        reached, made = _sweep(tried, gamma, most_sweeps)
        tried = _Point.at(backup, gamma, reached)
        backups, sweeps, left = backups + 1, sweeps + made, left - 1
        if tried.half <= ACCEPTED * point.half:
            point, left = tried, PATIENCE
        if left:
            continue
        falls, before, left = falls + 1, point.half, PATIENCE
        for _ in range(plain):
            point = _Point.at(backup, gamma, point.following)
            backups += 1
            if point.half <= goal:
                break
        plain, tried = 2 * plain, point
        if not point.half < before:  # rounding
            break
    return _certified(backup, gamma, point, backups + 1, sweeps, falls)


def _sweep(point: _Point, gamma: float, most: int) -> tuple[Floats, int]:
    """The point after sweeps of the fixed pair, and how many there were."""
    from robust_core.kernels import s_rectangular as kernel

    chain = point.found.chain
    v = point.following.copy()
    span = float(np.ptp(point.found.values - point.v))
    made = kernel.sweep(
        chain.ends, chain.places, chain.shares, chain.constants, gamma, v, np.empty_like(v), most, NARROWER * span
    )
    return v, int(made)


def _certified(backup: Callable[[Floats, bool], Any], gamma: float, point: _Point, *counts: int) -> SPlan:
    """MacQueen's bounds with certified bounds of one backup; every float operation is rounded outwards by 8 EPS."""
    exact = backup(point.v, True)
    factor, size = gamma / (1.0 - gamma), 8.0 * EPS * float(np.abs(exact.values).max() + np.abs(point.v).max())
    below = factor * (float((exact.lower - point.v).min()) - size)
    above = factor * (float((exact.upper - point.v).max()) + size)
    lower = exact.lower + below - 8.0 * EPS * (np.abs(exact.lower) + abs(below))
    upper = exact.upper + above + 8.0 * EPS * (np.abs(exact.upper) + abs(above))
    return SPlan(lower, upper, exact.policy, *counts)
