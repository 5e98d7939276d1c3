"""Restarts: with probability R nature restarts in one of some states, otherwise p. sigma is affine in p."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from robust_core import validate
from robust_core.mdp import MDP
from robust_core.sets.base import Pick, RowSolver, UncertaintySet
from robust_core.sets.rows import weights
from robust_core.validate import Floats


@dataclass(frozen=True)
class Restart(UncertaintySet):
    """Restarts: {(1−R)p + Rq : q any distribution on the restart states}; `states` is 1 for these and 0 for the others.

    The restart states are common to all pairs. With all states it is contamination.
    """

    kind: ClassVar[str] = "restart"
    axes: ClassVar[Mapping[str, int]] = {"radius": 0, "states": 1}
    splits: ClassVar[bool] = False
    grows: ClassVar[bool] = False
    radius: float
    states: Floats

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", validate.radius("radius", self.radius, most=1.0))
        states = validate.array("states", self.states, shape=("S",))
        if not (np.isin(states, (0.0, 1.0)).all() and states.any()):
            raise ValueError(
                f"states must be 0 or 1 for each state, at least one of them 1, got {states.tolist()!r:.80}"
            )
        object.__setattr__(self, "states", validate.read_only(states))

    def row_support(self, rows: Floats, v: Floats) -> Floats:
        """(1−R) p·v + R max of v over the restart states."""
        top = v[self.states > 0.0].max()
        return top + (1.0 - np.asarray(self.radius)) * (weights(rows) @ (v - top))

    def row_worst_case(self, rows: Floats, v: Floats) -> Floats:
        """(1−R)p + R·(the best restart state)."""
        worst = (1.0 - np.asarray(self.radius))[..., None] * weights(rows)
        worst[..., np.where(self.states > 0.0, v, -np.inf).argmax()] += self.radius
        return worst

    def row_solver(self, mdp: MDP) -> RowSolver:
        """Worst rows and certified bounds: a product."""
        from robust_core.kernels.affine_rows import AffineSolver

        return AffineSolver(mdp, self.radius, restarts=np.flatnonzero(self.states))

    def kernel_support(self, mdp: MDP, v: Floats) -> Floats:
        """The same for all rows of a kernel, dense or sparse."""
        top = v[self.states > 0.0].max()
        return top + (1.0 - np.asarray(self.radius)) * mdp.expectation(v - top)

    @classmethod
    def choose(cls, pick: Pick, radius: float, p: Floats, v: Floats) -> "Restart":
        """The first state, the last, every second, or all."""
        n = len(v)
        every = np.arange(n)
        masks = (every == 0, every == n - 1, every % 2 == 0, every >= 0)
        return cls(radius, pick(masks).astype(float))
