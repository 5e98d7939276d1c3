"""Models that are the same but for their spelling: relations that T and Q* obey exactly."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from properties.cases.scope import Scope
from robust_core.mdp import MDP
from robust_core.problem import Variant
from robust_core.sets import UncertaintySet


class EquivalentModel(NamedTuple):
    """A model, the table that belongs to it, and which of its entries are the old ones.

    `origin`: of which old states and actions its own are copies.
    """

    what: str
    mdp: MDP
    Q: np.ndarray
    states: list[int]
    actions: list[int]
    origin: tuple[list[int], list[int]]


def equivalent_by_state(mdp: MDP, V: np.ndarray, *, splits: bool = True) -> list[EquivalentModel]:
    """The same for s-rectangular sets, whose backups are of values V (S,), and where an action may be hopeless.

    A copy of an action helps the agent, because nature has to pay for it too. An action that is dominated changes
    nothing if its nominal cost exceeds all that the action it copies can cost: nature then pays nothing for it. So it
    costs more by the span of all values, which is at most max c − min c + gamma (max V − min V), and for V* at most
    (max c − min c)/(1−gamma).
    """
    wide = equivalent_models(mdp, np.repeat(V[:, None], mdp.n_actions, axis=1), splits=splits)
    more = 4.0 * (size(mdp.cost) / (1.0 - mdp.gamma) + size(V))
    found = []
    for same in wide[1:]:
        other = same._replace(Q=V[same.origin[0]])
        if same.mdp.n_actions > mdp.n_actions:
            cost = np.concatenate((mdp.cost, mdp.cost[:, :1] + more), axis=1)
            other = other._replace(what="with a hopeless action", mdp=MDP(same.mdp.P, cost, mdp.gamma))
        found.append(other)
    return found


def size(values: np.ndarray) -> float:
    """The largest of the numbers, 1 if all are zero."""
    return float(np.abs(values).max()) or 1.0


def old_entries(table: np.ndarray, same: EquivalentModel) -> np.ndarray:
    """The old entries of a new table (S, A) or vector (S,)."""
    return table[same.states] if table.ndim == 1 else table[np.ix_(same.states, same.actions)]


def respellings(
    variant: Variant, mdp: MDP, uncertainty_set: UncertaintySet, table: np.ndarray
) -> Iterator[tuple[EquivalentModel, UncertaintySet]]:
    """The model and its table spelled in other ways that the variant is for, each with the set that belongs to it."""
    spell, scope = equivalent_by_state if uncertainty_set.by_state else equivalent_models, Scope.of(variant)
    for same in spell(mdp, table, splits=uncertainty_set.splits):
        if scope.has(same.mdp):
            yield same, uncertainty_set.select(*same.origin)


def equivalent_models(mdp: MDP, Q: np.ndarray, *, splits: bool = True) -> list[EquivalentModel]:
    """The model with a duplicate action, with a dominated one, with its last state split, and relabelled.

    A dominated action costs more, and its table entry is higher, than that of the action it copies, by the size of
    the model's own numbers: the minimum never takes it. A split state is two states with the same rows, which share
    its incoming mass: every distribution on the old states is one on the new, and the other way round, with the same
    set and values. Not every set has it so: without `splits` it is left out.
    """
    S, A = mdp.n_states, mdp.n_actions
    states, actions = list(range(S)), list(range(A))
    wide, cost, table = (np.concatenate((x, x[:, :1]), axis=1) for x in (mdp.P, mdp.cost, Q))
    dear, high = cost.copy(), table.copy()
    dear[:, A] += size(mdp.cost)
    high[:, A] += size(Q)
    copies = [*states, S - 1]
    P = mdp.P[copies][:, :, copies].copy()
    P[:, :, S - 1] *= 0.5
    P[:, :, S] = P[:, :, S - 1]
    back = mdp.P[::-1, ::-1, ::-1], mdp.cost[::-1, ::-1]
    more, reverse = (states, [*actions, 0]), (states[::-1], actions[::-1])
    split = EquivalentModel(
        "with its last state split", MDP(P, mdp.cost[copies], mdp.gamma), Q[copies], states, actions, (copies, actions)
    )
    return [
        EquivalentModel("with a duplicate action", MDP(wide, cost, mdp.gamma), table, states, actions, more),
        EquivalentModel("with a dominated action", MDP(wide, dear, mdp.gamma), high, states, actions, more),
        *([split] if splits else []),
        EquivalentModel("in reverse order", MDP(*back, mdp.gamma), Q[::-1, ::-1], *reverse, reverse),
    ]
