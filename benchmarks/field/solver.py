"""mdpsolver: modified policy iteration, value iteration and policy iteration."""

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.field import ACCURACY
from robust_core.mdp import MDP
from robust_core.problem import Variant
from robust_core.sets import Contamination
from robust_core.validate import Floats


def _values(algorithm: str, **options: Any) -> Callable[..., Floats]:
    def plan(mdp: MDP, uncertainty_set: Any) -> Floats:
        import mdpsolver

        scale = float(np.abs(mdp.cost).max()) or 1.0
        if mdp.gamma == 0.0:  # the library asks for a positive discount
            return mdp.cost.min(axis=1)
        model = mdpsolver.model()
        model.mdp(discount=mdp.gamma, rewards=(-mdp.cost / scale).tolist(), tranMatWithZeros=mdp.P.tolist())
        model.solve(algorithm=algorithm, tolerance=ACCURACY, parallel=False, verbose=False, **options)
        return -scale * np.array(model.getValueVector())

    return plan


def _variant(name: str, algorithm: str, **options: Any) -> Variant:
    return Variant(
        f"mdpsolver {name}", "value planner", _values(algorithm, **options), (Contamination,), ("optimal value",),
        {"radii": (0.0,), "accuracy": ACCURACY},
    )  # fmt: skip


MODIFIED = _variant("modified policy iteration", "mpi")
VALUE_ITERATION = _variant("value iteration", "vi")
POLICY_ITERATION = _variant("policy iteration", "pi")
UNCHECKED = _variant("modified policy iteration, makeFinalCheck=False", "mpi", makeFinalCheck=False)
