"""Laws of tabular control: make(problem) -> learner with update(transition) and estimate()."""

from typing import Any

import numpy as np
from hypothesis import strategies as st

from oracles import rational
from properties.law import Case, Law
from properties.laws.rounding import UNIT, backup_bound
from properties.strategies import mdps, q_tables, uncertainty_sets
from properties.verdict import Finding
from robust_core.mdp import MDP
from robust_core.schedules import constant
from robust_core.trajectory import Transition
from robust_core.uncertainty import UncertaintySet
from robust_core.variant import Problem, Variant

# Step sizes with the two ends: alpha = 0 must change nothing, alpha = 1 must forget the old entry.
STEP_SIZES = (0.5, 0.0, 1.0, 0.125)


@st.composite
def _one_step(draw: st.DrawFn, variant: Variant) -> Case:
    mdp = draw(mdps())
    return {
        "mdp": mdp,
        "uncertainty_set": draw(uncertainty_sets(kinds=variant.sets)),
        "Q": draw(q_tables(mdp)),
        "alpha": draw(st.sampled_from(STEP_SIZES)),
        "s": draw(st.integers(0, mdp.n_states - 1)),
        "a": draw(st.integers(0, mdp.n_actions - 1)),
    }


def _stepped(
    variant: Variant, mdp: MDP, uset: UncertaintySet, Q: np.ndarray, alpha: float, s: int, a: int, s_next: int
) -> np.ndarray:
    """The estimate after one transition from the table Q."""
    problem = Problem(
        n_states=mdp.n_states,
        n_actions=mdp.n_actions,
        gamma=mdp.gamma,
        uncertainty_set=uset,
        step_size=constant(alpha),
        initial=Q,
    )
    learner: Any = variant.make(problem)
    learner.update(Transition(s, a, float(mdp.cost[s, a]), s_next, 0, False))
    return np.asarray(learner.estimate())


def _unbiased(
    variant: Variant, mdp: MDP, uncertainty_set: UncertaintySet, Q: np.ndarray, alpha: float, s: int, a: int
) -> Finding | None:
    """Σ_{s'} p(s'|s,a)·step(s') = (1−alpha)Q + alpha TQ at (s,a), the mean taken by enumeration."""
    p = mdp.P[s, a]
    mean = 0.0
    for s_next in np.flatnonzero(p):
        mean += p[s_next] * _stepped(variant, mdp, uncertainty_set, Q, alpha, s, a, int(s_next))[s, a]
    wanted = (1.0 - alpha) * Q[s, a] + alpha * float(rational.backup(mdp, uncertainty_set, Q)[s][a])
    allowed = backup_bound(mdp, Q) + 4 * UNIT * abs(wanted)
    if abs(mean - wanted) <= allowed:
        return None
    return Finding(f"expected entry Q({s},{a}) after one step", float(mean), wanted, allowed)


def _asynchronous(
    variant: Variant, mdp: MDP, uncertainty_set: UncertaintySet, Q: np.ndarray, alpha: float, s: int, a: int
) -> Finding | None:
    """All entries but (s,a) keep their bits (Algorithm 1, line 6)."""
    for s_next in np.flatnonzero(mdp.P[s, a]):
        after = _stepped(variant, mdp, uncertainty_set, Q, alpha, s, a, int(s_next))
        if after.shape != Q.shape:
            return Finding("shape of the estimate", after.shape, Q.shape)
        changed = after != Q
        changed[s, a] = False
        if changed.any():
            place = tuple(int(i) for i in np.argwhere(changed)[0])
            return Finding(f"Q{list(place)} after a visit of ({s},{a})", float(after[place]), float(Q[place]))
    return None


UNBIASED = Law(
    "unbiased step",
    ("control",),
    "unbiased",
    "Σ_{s'} p(s'|s,a)·step(s') = (1−alpha)Q(s,a) + alpha TQ(s,a), exactly, by enumeration (eq:exp=0)",
    _one_step,
    _unbiased,
)
ASYNCHRONOUS = Law(
    "asynchronous update",
    ("control",),
    "asynchronous",
    "Q_{t+1}(s,a) = Q_t(s,a) for (s,a) other than the visited pair (Algorithm 1, line 6)",
    _one_step,
    _asynchronous,
)
LAWS = (UNBIASED, ASYNCHRONOUS)
