"""Finite sets of kernels: nature chooses one of them for the whole run, so such a set is not rectangular."""

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from robust_core import validate
from robust_core.mdp import MDP
from robust_core.validate import Floats

MOST_POLICIES = 100_000
"""Deterministic policies that are tried one by one."""


@dataclass(frozen=True)
class FiniteKernels:
    """Models that differ in their kernels alone: nature knows the policy and chooses one of them, once.

    Rows of different pairs belong together, so this is no `UncertaintySet`: no support function of a row describes it,
    and the robust Bellman equation, which combines the rows of all kernels, gives values that are too large.

    >>> swap, stay = [[[0.0, 1.0]], [[1.0, 0.0]]], [[[1.0, 0.0]], [[0.0, 1.0]]]
    >>> both = FiniteKernels((MDP(swap, [[0.0], [1.0]], 0.5), MDP(stay, [[0.0], [1.0]], 0.5)))
    >>> both.policy_values([[1.0], [1.0]]).round(3)
    array([0.667, 2.   ])
    """

    models: tuple[MDP, ...]

    def __post_init__(self) -> None:
        if not self.models:
            raise ValueError("models must hold at least one model, got none")
        first = self.models[0]
        for number, mdp in enumerate(self.models):
            validate.instance(f"models[{number}]", mdp, MDP)
            if mdp.cost.tolist() != first.cost.tolist() or mdp.gamma != first.gamma:
                raise ValueError(f"models[{number}] must have the costs and the discount of the first, got {mdp!r}")

    def policy_values(self, policy: ArrayLike) -> Floats:
        """max_k V^{pi,k}(s): the value of a stationary policy (S, A) in the worst model for each start."""
        first = self.models[0]
        return np.asarray(self._values(validate.policy(policy, first.n_states, first.n_actions)).max(axis=0))

    def best_policy(self, start: ArrayLike) -> Floats:
        """A deterministic stationary policy (S, A) with the smallest max_k start·V^{pi,k}, by enumeration.

        No policy need be best for every start, and policies that randomise or remember may be better.

        >>> free, dear = [1.0, 0.0], [0.0, 1.0]
        >>> models = [MDP([[risky, free], [dear, dear]], [[0.0, 0.5], [4.0, 4.0]], 0.5) for risky in (free, dear)]
        >>> FiniteKernels(tuple(models)).best_policy([1.0, 0.0])[0]
        array([0., 1.])
        """
        first = self.models[0]
        S, A = first.n_states, first.n_actions
        weights = validate.array("start", start, shape=(S,))
        validate.distribution_rows("start", weights)
        if A**S > MOST_POLICIES:
            raise ValueError(f"models must have at most {MOST_POLICIES} deterministic policies, got {A}^{S}")
        policies = (np.eye(A)[list(actions)] for actions in product(range(A), repeat=S))
        return min(policies, key=lambda pi: float((self._values(pi) @ weights).max()))

    def _values(self, policy: Floats) -> Floats:
        """V^{pi,k}(s) for every model k."""
        first = self.models[0]
        cost = (policy * first.cost).sum(axis=1)
        chains = [np.einsum("sa,sat->st", policy, mdp.P) for mdp in self.models]
        return np.array([np.linalg.solve(np.eye(len(cost)) - first.gamma * chain, cost) for chain in chains])
