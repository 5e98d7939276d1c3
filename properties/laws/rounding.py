"""How far a correct float implementation may be from the exact result: one bound for all exact laws."""

import numpy as np

from robust_core.mdp import MDP

UNIT = 2.0**-53


def operations_bound(operations: int, magnitude: float) -> float:
    """The error of at most `operations` roundings on quantities of at most `magnitude`.

    Each rounding errs by at most u·magnitude; (1+u)^n − 1 <= n u / (1 − n u). Subnormal results add at most the
    smallest positive float each.
    """
    relative = operations * UNIT / (1.0 - operations * UNIT)
    return relative * magnitude + operations * 5e-324


def backup_bound(mdp: MDP, estimate: np.ndarray) -> float:
    """Any sensible evaluation of a robust backup, its mixing with the old entry and a mean over next states.

    A backup is a sum over S next states of products, a maximum, four products and three sums, and a mean over
    next states is such a sum again: 4 S + 4 A + 32 roundings leave room for other orders of evaluation. All
    intermediate quantities are at most |cost| + |estimate| up to the factor 2 of a difference.
    """
    S, A = mdp.n_states, mdp.n_actions
    magnitude = 2.0 * (float(np.abs(mdp.cost).max()) + float(np.abs(estimate).max()))
    return operations_bound(4 * S + 4 * A + 32, magnitude)
