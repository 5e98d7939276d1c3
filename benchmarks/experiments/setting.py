"""The environments of a panel: where it learns, and where its policies are tested."""

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from benchmarks.experiments.panels import Panel
from benchmarks.experiments.readings import Reading
from robust_core import streams
from robust_core.environments import Environment, cart_pole, frozen_lake, perturbed, taxi
from robust_core.environments import Reading as Closure
from robust_core.policy import uniform
from robust_core.sampler import AliasTable, alias_table
from robust_core.trajectory import Walk


@cache
def environment(panel: Panel, reading: Reading, closure: Closure) -> Environment:
    """The unperturbed environment of a panel."""
    if panel.figure in ("frozenlake", "tdc"):
        return frozen_lake(slippery=reading.slippery, gamma=panel.gamma, reading=closure)
    if panel.figure == "cartpole":
        return cart_pole(bins=reading.bins, gamma=panel.gamma, reading=closure)
    return taxi(gamma=panel.gamma, reading=closure)


@dataclass(frozen=True, eq=False)
class Setting:
    """`training` (perturbed) and `test` (unperturbed, terminal states absorbing at no cost) of one panel.

    `ends` marks the states whose value is 0 by decree (episodic reading); None if there are none.
    """

    panel: Panel
    reading: Reading
    training: Environment
    test: Environment
    ends: NDArray[np.bool_] | None

    @cached_property
    def table(self) -> AliasTable:
        """The sampler of the uniform behaviour policy, shared by all runs."""
        mdp = self.training.mdp
        return alias_table(mdp, uniform(mdp.n_states, mdp.n_actions))

    def walk(self, replicate: int) -> Walk:
        """The walk of a replicate: the same for all learners, radii and readings on the same environment."""
        seed = streams.key("panels", self.training.name, replicate)
        start = streams.numpy_generator(streams.key("start", seed)).choice(len(self.test.initial), p=self.test.initial)
        return Walk(
            self.training.mdp,
            uniform(self.training.mdp.n_states, self.training.mdp.n_actions),
            seed=seed,
            start=int(start),
            terminal=self.ends,
            table=self.table,
        )


def control_setting(panel: Panel, reading: Reading) -> Setting:
    """The setting of a Q-learning panel."""
    closure: Closure = "continuing" if reading.terminal == "continuing" else "episodic"
    raw = environment(panel, reading, closure)
    ends = raw.terminal if reading.terminal == "episodic" else None
    return Setting(panel, reading, perturbed(raw, panel.p), environment(panel, reading, "continuing"), ends)
