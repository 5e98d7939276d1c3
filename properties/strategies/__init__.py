"""Hypothesis strategies for anything that tests MDP code: models, policies, sets, values, features, paths.

Every draw is valid by construction: nothing is filtered or rejected. Every problem starts as a trivial one
(each state loops on itself, all costs equal) and receives a list of sparse overrides, so a failing example
shrinks by losing overrides and sizes and ends as a counterexample that can be read. Probabilities, discounts
and radii are dyadic (k/2^n) unless asked otherwise: the float model and the rational model are one object.

>>> from properties.strategies import mdps, minimal
>>> print(minimal(mdps(), lambda mdp: mdp.P[0, 0, 0] < 1.0))
MDP(S=2, A=1, gamma=0.0, dense, hash=cc146967)
  s=0 a=0  cost 0.0  -> 1: 1.0
  s=1 a=0  cost 0.0  -> 1: 1.0

With this package imported (or installed, through its entry point) `st.from_type(MDP)` works as well, for the `MDP`
that `robust_core` exports.
"""

from properties.strategies.features import features
from properties.strategies.minimal import minimal
from properties.strategies.models import mdps
from properties.strategies.policies import policies
from properties.strategies.scalars import gammas, radii
from properties.strategies.sets import uncertainty_sets
from properties.strategies.trajectories import trajectories
from properties.strategies.values import q_tables, values
from robust_core.entry.hypothesis_types import register

__all__ = [
    "features",
    "gammas",
    "mdps",
    "minimal",
    "policies",
    "q_tables",
    "radii",
    "trajectories",
    "uncertainty_sets",
    "values",
]

register()
