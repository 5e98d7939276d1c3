"""Makes `st.from_type(MDP)` work where this distribution is installed: the target of Hypothesis' entry point.

Hypothesis calls `announce` at the end of its own import, in every project. The types are registered as soon as both
Hypothesis and a public name of `robust_core` have been loaded, whichever comes first; the strategies are loaded when
one of them is drawn from.
"""

import functools
import importlib
import sys
from typing import Any

import robust_core
from robust_core.entry import suite


def announce() -> None:
    """Hypothesis is there: register the types if somebody uses the core."""
    if "robust_core.mdp" in sys.modules:
        register()


@functools.cache
def register() -> None:
    """Register strategies for `MDP`, `UncertaintySet` and the sets that `robust_core` exports.

    >>> from hypothesis import strategies as st
    >>> from robust_core import MDP, strategies
    >>> strategies.minimal(st.from_type(MDP), lambda mdp: True)
    MDP(S=1, A=1, gamma=0.0, dense, hash=af0acfc8)
    """
    # Only a process that has loaded Hypothesis comes here: the core does not need it.
    st = importlib.import_module("hypothesis.strategies")
    types = {name: getattr(importlib.import_module(module), name) for name, module in robust_core.MODULES.items()}
    st.register_type_strategy(types["MDP"], _models)
    for value in types.values():
        if isinstance(value, type) and issubclass(value, types["UncertaintySet"]):
            st.register_type_strategy(value, _sets)


def _models(_: type) -> Any:
    return suite.load("properties.strategies").mdps(storage="either")


def _sets(kind: type) -> Any:
    sets = suite.load("properties.strategies.sets")
    return sets.uncertainty_sets(kinds=(kind,) if kind in sets.KINDS else sets.KINDS)
