"""Laws of operators: (mdp, uncertainty_set, Q) -> TQ."""

from typing import Any

import numpy as np
from hypothesis import strategies as st

from oracles import rational
from properties.law import Case, Law
from properties.laws.rounding import UNIT, backup_bound
from properties.strategies import mdps, q_tables, uncertainty_sets
from properties.verdict import Finding
from robust_core.mdp import MDP
from robust_core.uncertainty import UncertaintySet
from robust_core.variant import Variant


@st.composite
def _cases(draw: st.DrawFn, variant: Variant, *, tables: int) -> Case:
    mdp = draw(mdps())
    uset = draw(uncertainty_sets(kinds=variant.sets))
    names = ("Q", "other")[:tables]
    return {"mdp": mdp, "uncertainty_set": uset} | {name: draw(q_tables(mdp)) for name in names}


def _exact_backup(mdp: MDP, uset: UncertaintySet, Q: np.ndarray) -> np.ndarray:
    return np.array([[float(x) for x in row] for row in rational.backup(mdp, uset, Q)])


def _matches(variant: Variant, mdp: MDP, uncertainty_set: UncertaintySet, Q: np.ndarray) -> Finding | None:
    got = np.asarray(variant.make(mdp, uncertainty_set, Q.copy()))
    wanted = _exact_backup(mdp, uncertainty_set, Q)
    return _compared(got, wanted, backup_bound(mdp, Q) + UNIT * float(np.abs(wanted).max()), "TQ")


def _compared(got: Any, wanted: np.ndarray, allowed: float, what: str) -> Finding | None:
    if got.shape != wanted.shape:
        return Finding(f"shape of {what}", got.shape, wanted.shape)
    wrong = ~(np.abs(got - wanted) <= allowed)
    if not wrong.any():
        return None
    place = tuple(int(i) for i in np.argwhere(wrong)[0])
    return Finding(f"{what}{list(place)}", float(got[place]), float(wanted[place]), allowed)


def _contracts(
    variant: Variant, mdp: MDP, uncertainty_set: UncertaintySet, Q: np.ndarray, other: np.ndarray
) -> Finding | None:
    image = np.asarray(variant.make(mdp, uncertainty_set, Q.copy()))
    other_image = np.asarray(variant.make(mdp, uncertainty_set, other.copy()))
    distance, before = float(np.abs(image - other_image).max()), float(np.abs(Q - other).max())
    allowed = backup_bound(mdp, Q) + backup_bound(mdp, other)
    if distance <= mdp.gamma * before + allowed:
        return None
    return Finding("‖TQ − TQ'‖ against gamma‖Q − Q'‖", distance, mdp.gamma * before, allowed)


MATCHES = Law(
    "bellman backup",
    ("operator",),
    "bellman",
    "TQ(s,a) = c(s,a) + gamma sigma_{P_s^a}(min_a Q), against exact rational arithmetic (Theorem 1)",
    lambda variant: _cases(variant, tables=1),
    _matches,
)
CONTRACTION = Law(
    "contraction",
    ("operator",),
    "bellman",
    "‖TQ − TQ'‖ <= gamma ‖Q − Q'‖ in the sup norm (Appendix A)",
    lambda variant: _cases(variant, tables=2),
    _contracts,
)
LAWS = (MATCHES, CONTRACTION)
