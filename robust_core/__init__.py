"""The minimal algorithm core: what is verified. Needs numpy; compiled kernels need numba.

Importing it loads nothing: pytest and Hypothesis import this package in every project of an environment in which it is
installed. A public name is loaded when it is used.

>>> from robust_core import Contamination, Variant, verify
"""

import importlib
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robust_core.learners.linear import LinearLearner, stopping_time
    from robust_core.learners.schedules import StepSize, constant, per_visit, polynomial
    from robust_core.learners.tabular import EXPECTED_SARSA, Q_LEARNING, SARSA, TD0, TabularLearner
    from robust_core.mdp import MDP, SparseRows
    from robust_core.operators import bellman, bellman_policy, bellman_values, smoothed_bellman_policy
    from robust_core.planning import Plan, evaluate, plan
    from robust_core.policy import deterministic, greedy, uniform
    from robust_core.problem import Problem, Variant
    from robust_core.s_rectangular import SPlan, plan_states, solve_states
    from robust_core.sets import (
        L1,
        L2,
        BoundedDensity,
        ChiSquare,
        Contamination,
        DistanceBall,
        FiniteKernels,
        Interval,
        KullbackLeibler,
        LInfinity,
        LocalAdversary,
        Restart,
        ReverseKullbackLeibler,
        SRectangular,
        SRectangularKullbackLeibler,
        SRectangularL1,
        SRectangularL2,
        SRectangularLInfinity,
        TotalVariation,
        UncertaintySet,
        Wasserstein,
    )
    from robust_core.smoothing import LogSumExp, Mellowmax
    from robust_core.streams import key
    from robust_core.support_functions import sigma, support, worst_case
    from robust_core.trajectory import Recording, Transition, Walk

    __version__: str
    verify: Any
    parametrize_with_checks: Any
    strategies: Any

__all__ = [
    "EXPECTED_SARSA", "L1", "L2", "MDP", "Q_LEARNING", "SARSA", "TD0", "BoundedDensity", "ChiSquare",
    "Contamination", "DistanceBall", "FiniteKernels", "Interval", "KullbackLeibler", "LInfinity", "LinearLearner",
    "LocalAdversary", "LogSumExp", "Mellowmax", "Plan", "Problem", "Recording", "Restart", "ReverseKullbackLeibler",
    "SPlan", "SRectangular", "SRectangularKullbackLeibler", "SRectangularL1", "SRectangularL2",
    "SRectangularLInfinity", "SparseRows", "StepSize", "TabularLearner", "TotalVariation", "Transition",
    "UncertaintySet", "Variant", "Walk", "Wasserstein", "bellman", "bellman_policy", "bellman_values", "constant",
    "deterministic", "evaluate", "greedy", "key", "per_visit", "plan", "plan_states", "polynomial", "sigma",
    "smoothed_bellman_policy", "solve_states", "stopping_time", "support", "uniform", "worst_case",
]  # fmt: skip

MODULES = {
    name: module
    for module, names in {
        "robust_core.operators": ("bellman", "bellman_policy", "bellman_values", "smoothed_bellman_policy"),
        "robust_core.s_rectangular": ("SPlan", "plan_states", "solve_states"),
        "robust_core.learners.linear": ("LinearLearner", "stopping_time"),
        "robust_core.learners.schedules": ("StepSize", "constant", "per_visit", "polynomial"),
        "robust_core.learners.tabular": ("EXPECTED_SARSA", "Q_LEARNING", "SARSA", "TD0", "TabularLearner"),
        "robust_core.mdp": ("MDP", "SparseRows"),
        "robust_core.planning": ("Plan", "evaluate", "plan"),
        "robust_core.policy": ("deterministic", "greedy", "uniform"),
        "robust_core.problem": ("Problem", "Variant"),
        "robust_core.smoothing": ("LogSumExp", "Mellowmax"),
        "robust_core.streams": ("key",),
        "robust_core.support_functions": ("sigma", "support", "worst_case"),
        "robust_core.trajectory": ("Recording", "Transition", "Walk"),
        "robust_core.sets": (
            "BoundedDensity",
            "ChiSquare",
            "Contamination",
            "DistanceBall",
            "FiniteKernels",
            "Interval",
            "KullbackLeibler",
            "L1",
            "L2",
            "LInfinity",
            "LocalAdversary",
            "Restart",
            "ReverseKullbackLeibler",
            "SRectangular",
            "SRectangularKullbackLeibler",
            "SRectangularL1",
            "SRectangularL2",
            "SRectangularLInfinity",
            "TotalVariation",
            "UncertaintySet",
            "Wasserstein",
        ),
    }.items()
    for name in names
}
"""The module that defines each public name."""
# The core imports nothing of the suite, which stands above it; these names are handed out for users' convenience.
_SUITE = {"verify": "properties", "parametrize_with_checks": "properties.checks", "strategies": "properties.strategies"}


if not TYPE_CHECKING:  # a type checker sees the declarations above, and so a misspelt name

    def __getattr__(name: str) -> Any:
        if name in MODULES:
            value = getattr(importlib.import_module(MODULES[name]), name)
            if "hypothesis" in sys.modules:
                from robust_core.entry import hypothesis_types

                hypothesis_types.register()
        elif name in _SUITE:
            from robust_core.entry import suite

            module = suite.load(_SUITE[name])
            value = module if name == "strategies" else getattr(module, name)
        elif name == "__version__":
            from importlib import metadata

            value = metadata.version("robust-core")
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *MODULES, *_SUITE, "__version__"})
