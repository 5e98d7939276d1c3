"""QuantEcon's DiscreteDP: value iteration, modified policy iteration, policy iteration and linear programming."""

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.field import ACCURACY
from robust_core.mdp import MDP
from robust_core.problem import Variant
from robust_core.sets import Contamination
from robust_core.validate import Floats


def _values(method: str, **options: Any) -> Callable[..., Floats]:
    def plan(mdp: MDP, uncertainty_set: Any) -> Floats:
        from quantecon.markov import DiscreteDP

        scale = float(np.abs(mdp.cost).max()) or 1.0
        result = DiscreteDP(-mdp.cost / scale, mdp.P, mdp.gamma).solve(method=method, **options)
        return -scale * np.array(result.v)

    return plan


def _variant(name: str, method: str, **options: Any) -> Variant:
    return Variant(
        f"QuantEcon {name}", "value planner", _values(method, **options), (Contamination,), ("optimal value",),
        {"radii": (0.0,), "accuracy": ACCURACY},
    )  # fmt: skip


VALUE_ITERATION = _variant("value iteration", "value_iteration", epsilon=ACCURACY, max_iter=10**6)
DEFAULT_LIMIT = _variant("value iteration, default max_iter", "value_iteration", epsilon=ACCURACY)
MODIFIED = _variant("modified policy iteration", "modified_policy_iteration", epsilon=ACCURACY, max_iter=10**6)
POLICY_ITERATION = _variant("policy iteration", "policy_iteration")
LINEAR_PROGRAMMING = _variant("linear programming", "linear_programming")
