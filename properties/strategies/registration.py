"""Makes `st.from_type(MDP)` work, also as the target of Hypothesis' entry point.

Hypothesis may call the entry point while `properties.strategies` is only half imported (that import is what
imported Hypothesis), so everything is looked up when it is used.
"""

from typing import Any


def register() -> None:
    """Register strategies for `MDP`, `UncertaintySet` and its kinds, and the profiles of `profiles`.

    >>> from hypothesis import strategies as st
    >>> from properties.strategies import minimal
    >>> from robust_core.mdp import MDP
    >>> minimal(st.from_type(MDP), lambda mdp: True)
    MDP(S=1, A=1, gamma=0.0, dense, hash=af0acfc8)
    """
    from hypothesis import strategies as st

    from properties import profiles
    from robust_core.mdp import MDP
    from robust_core.sets import SETS, UncertaintySet

    profiles.register()
    st.register_type_strategy(MDP, _models)
    st.register_type_strategy(UncertaintySet, _sets)
    for kind in SETS:
        st.register_type_strategy(kind, _sets)


def _models(_: type) -> Any:
    from properties.strategies.models import mdps

    return mdps(storage="either")


def _sets(kind: type) -> Any:
    from properties.strategies.sets import uncertainty_sets
    from robust_core.sets import SETS

    return uncertainty_sets(kinds=(kind,)) if kind in SETS else uncertainty_sets()
