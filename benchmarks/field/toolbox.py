"""pymdptoolbox: value iteration, Gauss-Seidel value iteration, policy iteration and its modified form."""

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.field import ACCURACY
from robust_core.mdp import MDP
from robust_core.problem import Variant
from robust_core.sets import Contamination
from robust_core.validate import Floats


def _solve(mdp: MDP, method: str, **options: Any) -> tuple[Floats, Floats]:
    """V and the actions."""
    from mdptoolbox import mdp as toolbox

    scale = float(np.abs(mdp.cost).max()) or 1.0
    if mdp.gamma == 0.0:  # the library asks for a positive discount
        return mdp.cost.min(axis=1), mdp.cost.argmin(axis=1)
    transitions = np.ascontiguousarray(mdp.P.transpose(1, 0, 2))
    solver = getattr(toolbox, method)(transitions, -mdp.cost / scale, mdp.gamma, **options)
    solver.run()
    return -scale * np.array(solver.V), np.array(solver.policy)


def _values(method: str, **options: Any) -> Callable[..., Floats]:
    return lambda mdp, uncertainty_set: _solve(mdp, method, **options)[0]


def _policy(method: str, **options: Any) -> Callable[..., Floats]:
    return lambda mdp, uncertainty_set: np.eye(mdp.n_actions)[_solve(mdp, method, **options)[1]]


def _variants(method: str, **options: Any) -> tuple[Variant, Variant]:
    narrowed = {"radii": (0.0,), "accuracy": ACCURACY}
    name = f"pymdptoolbox {method}"
    values, policy = _values(method, **options), _policy(method, **options)
    return (
        Variant(f"{name}, values", "value planner", values, (Contamination,), ("optimal value",), narrowed),
        Variant(f"{name}, policy", "policy planner", policy, (Contamination,), ("optimal policy",), narrowed),
    )


VALUE_ITERATION, VALUE_ITERATION_POLICY = _variants("ValueIteration", epsilon=ACCURACY, max_iter=10**6)
GAUSS_SEIDEL, GAUSS_SEIDEL_POLICY = _variants("ValueIterationGS", epsilon=ACCURACY, max_iter=10**6)
POLICY_ITERATION, POLICY_ITERATION_POLICY = _variants("PolicyIteration")
MODIFIED, MODIFIED_POLICY = _variants("PolicyIterationModified", epsilon=ACCURACY, max_iter=10**6)
