"""pymdptoolbox: value iteration, Gauss-Seidel value iteration, policy iteration and its modified form."""

from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.field import ACCURACY
from robust_core.mdp import MDP
from robust_core.problem import Variant
from robust_core.sets import Contamination
from robust_core.validate import Floats


def _solve(mdp: MDP, package: str, method: str, **options: Any) -> tuple[Floats, Floats]:
    """V and the actions."""
    toolbox = import_module(package)
    scale = float(np.abs(mdp.cost).max()) or 1.0
    if mdp.gamma == 0.0:  # the library asks for a positive discount
        return mdp.cost.min(axis=1), mdp.cost.argmin(axis=1)
    transitions = np.ascontiguousarray(mdp.P.transpose(1, 0, 2))
    solver = getattr(toolbox, method)(transitions, -mdp.cost / scale, mdp.gamma, **options)
    solver.run()
    return -scale * np.array(solver.V), np.array(solver.policy)


def variants(library: str, package: str, method: str, **options: Any) -> tuple[Variant, Variant]:
    """The values and the policy of a method."""
    narrowed = {"radii": (0.0,), "accuracy": ACCURACY}

    def values(mdp: MDP, uncertainty_set: Any) -> Floats:
        return _solve(mdp, package, method, **options)[0]

    def policy(mdp: MDP, uncertainty_set: Any) -> Floats:
        return np.eye(mdp.n_actions)[_solve(mdp, package, method, **options)[1]]

    name = f"{library} {method}"
    return (
        Variant(f"{name}, values", "value planner", values, (Contamination,), ("optimal value",), narrowed),
        Variant(f"{name}, policy", "policy planner", policy, (Contamination,), ("optimal policy",), narrowed),
    )


_variants = partial(variants, "pymdptoolbox", "mdptoolbox.mdp")
VALUE_ITERATION, VALUE_ITERATION_POLICY = _variants("ValueIteration", epsilon=ACCURACY, max_iter=10**6)
GAUSS_SEIDEL, GAUSS_SEIDEL_POLICY = _variants("ValueIterationGS", epsilon=ACCURACY, max_iter=10**6)
POLICY_ITERATION, POLICY_ITERATION_POLICY = _variants("PolicyIteration")
MODIFIED, MODIFIED_POLICY = _variants("PolicyIterationModified", epsilon=ACCURACY, max_iter=10**6)
