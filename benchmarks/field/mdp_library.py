"""mdplib: value iteration, its Gauss-Seidel form and policy iteration."""

import contextlib
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.field import ACCURACY
from robust_core.mdp import MDP
from robust_core.problem import Variant
from robust_core.sets import Contamination
from robust_core.validate import Floats


def _values(method: str, **options: Any) -> Callable[..., Floats]:
    def plan(mdp: MDP, uncertainty_set: Any) -> Floats:
        import mdp as library

        scale = float(np.abs(mdp.cost).max()) or 1.0
        # The library writes the model to a file, and how far it is to standard output.
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(None):
            model = library.MDP(
                list(range(mdp.n_states)),
                list(range(mdp.n_actions)),
                lambda s, a, s_next: float(mdp.P[s, a, s_next]),
                lambda s, a, s_next: float(-mdp.cost[s, a] / scale),
                transition_file=str(Path(folder) / "model.csv"),
            )
        # The tolerance is that of the last move in the sup norm, the accuracy that of the values.
        tolerance = ACCURACY * (1.0 - mdp.gamma)
        getattr(model, method)(mdp.gamma, tolerance, max_iter=10**6, norm_type=1, verbose=False, **options)
        return -scale * np.array(model.value)

    return plan


def _variant(name: str, method: str) -> Variant:
    return Variant(
        f"mdplib {name}", "value planner", _values(method), (Contamination,), ("optimal value",),
        {"radii": (0.0,), "accuracy": ACCURACY},
    )  # fmt: skip


VALUE_ITERATION = _variant("value iteration", "VI")
GAUSS_SEIDEL = _variant("Gauss-Seidel value iteration", "VIGS")
POLICY_ITERATION = _variant("policy iteration", "PI")
