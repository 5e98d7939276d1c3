"""Wrong robust Bellman operators."""

from typing import Any

import numpy as np

from robust_core import Contamination, ReverseKullbackLeibler, TotalVariation, UncertaintySet, Variant, bellman, support
from robust_core.mdp import MDP
from robust_core.validate import Floats

_SETS = (Contamination, TotalVariation)


def _mutant(name: str, make: Any, *sets: Any) -> Variant:
    return Variant(f"T {name}", "operator", make, sets or _SETS, ("bellman",))


def _maximum_for_minimum(mdp: MDP, uncertainty_set: UncertaintySet, Q: Floats) -> Floats:
    return mdp.cost + mdp.gamma * support(mdp, uncertainty_set, Q.max(axis=1))


def _discounted_cost(mdp: MDP, uncertainty_set: UncertaintySet, Q: Floats) -> Floats:
    return mdp.gamma * (mdp.cost + support(mdp, uncertainty_set, Q.min(axis=1)))


def _kind_nature(mdp: MDP, uncertainty_set: UncertaintySet, Q: Floats) -> Floats:
    return mdp.cost - mdp.gamma * support(mdp, uncertainty_set, -Q.min(axis=1))


def _l1_radius(mdp: MDP, uncertainty_set: TotalVariation, Q: Floats) -> Floats:
    return bellman(mdp, TotalVariation(uncertainty_set.radius / 2), Q)


def _double_radius(mdp: MDP, uncertainty_set: TotalVariation, Q: Floats) -> Floats:
    return bellman(mdp, TotalVariation(min(1.0, 2 * uncertainty_set.radius)), Q)


def _contamination_for_variation(mdp: MDP, uncertainty_set: TotalVariation, Q: Floats) -> Floats:
    return bellman(mdp, Contamination(uncertainty_set.radius), Q)


def _reachable_only(mdp: MDP, uncertainty_set: Contamination, Q: Floats) -> Floats:
    """Nature stays within the support of the nominal row."""
    V = Q.min(axis=1)
    worst = np.where(mdp.P > 0, V, -np.inf).max(axis=2)
    return mdp.cost + mdp.gamma * ((1 - uncertainty_set.radius) * mdp.expectation(V) + uncertainty_set.radius * worst)


def _transposed(mdp: MDP, uncertainty_set: Contamination, Q: Floats) -> Floats:
    """The kernel summed over the wrong axis."""
    V = Q.min(axis=1)
    nominal = np.einsum("tas,t->sa", mdp.P, V)
    return mdp.cost + mdp.gamma * ((1 - uncertainty_set.radius) * nominal + uncertainty_set.radius * V.max())


def _cost_of_next(mdp: MDP, uncertainty_set: UncertaintySet, Q: Floats) -> Floats:
    """Costs paid on arrival."""
    arrival = np.einsum("sat,t->sa", mdp.P, mdp.cost[:, 0])
    return bellman(mdp, uncertainty_set, Q) - mdp.cost + arrival


def _first_action_cost(mdp: MDP, uncertainty_set: UncertaintySet, Q: Floats) -> Floats:
    return bellman(mdp, uncertainty_set, Q) - mdp.cost + mdp.cost[:, :1]


def _gauss_seidel(mdp: MDP, uncertainty_set: UncertaintySet, Q: Floats) -> Floats:
    """States already swept are read back."""
    table = Q.copy()
    for s in range(mdp.n_states):
        table[s] = bellman(mdp, uncertainty_set, table)[s]
    return table


def _in_place(mdp: MDP, uncertainty_set: UncertaintySet, Q: Floats) -> Floats:
    Q[:] = bellman(mdp, uncertainty_set, Q)
    return Q


def _mean_for_max(mdp: MDP, uncertainty_set: Contamination, Q: Floats) -> Floats:
    V = Q.min(axis=1)
    return mdp.cost + mdp.gamma * (
        (1 - uncertainty_set.radius) * mdp.expectation(V) + uncertainty_set.radius * V.mean()
    )


def _remembered() -> Any:
    """Results remembered by the identity of the argument, which is soon another array's."""
    memory: dict[tuple[int, str], Floats] = {}

    def operator(mdp: MDP, uncertainty_set: UncertaintySet, Q: Floats) -> Floats:
        return memory.setdefault((mdp.n_states, mdp.hash), bellman(mdp, uncertainty_set, Q)).copy()

    return operator


def _rounded_key() -> Any:
    """Kernels remembered by six digits of theirs."""
    memory: dict[bytes, MDP] = {}

    def operator(mdp: MDP, uncertainty_set: UncertaintySet, Q: Floats) -> Floats:
        key = np.round(mdp.P, 6).tobytes() + mdp.cost.tobytes() + np.float64(mdp.gamma).tobytes()
        return bellman(memory.setdefault(key, mdp), uncertainty_set, Q)

    return operator


def _sparse_rows_unscaled(mdp: MDP, uncertainty_set: UncertaintySet, Q: Floats) -> Floats:
    """The branch for sparse kernels forgets gamma."""
    V = Q.min(axis=1)
    return mdp.cost + (1.0 if mdp.is_sparse else mdp.gamma) * support(mdp, uncertainty_set, V)


SPARSE_ROWS_UNSCALED = _mutant("with a bug for sparse kernels", _sparse_rows_unscaled)
MAXIMUM_FOR_MINIMUM = _mutant("with max for min", _maximum_for_minimum)
NO_DISCOUNT = _mutant(
    "without gamma", lambda mdp, uncertainty_set, Q: mdp.cost + support(mdp, uncertainty_set, Q.min(axis=1))
)
DISCOUNTED_COST = _mutant("with a discounted cost", _discounted_cost)
KIND_NATURE = _mutant("against a kind nature", _kind_nature)
NOT_ROBUST = _mutant(
    "that is not robust", lambda mdp, uncertainty_set, Q: mdp.cost + mdp.gamma * mdp.expectation(Q.min(axis=1))
)
L1_RADIUS = _mutant("with the L1 radius", _l1_radius, TotalVariation)
DOUBLE_RADIUS = _mutant("with twice the radius", _double_radius, TotalVariation)
CONTAMINATION_FOR_VARIATION = _mutant("of contamination for variation", _contamination_for_variation, TotalVariation)
REACHABLE_ONLY = _mutant("with nature on the support", _reachable_only, Contamination)
TRANSPOSED = _mutant("with the wrong axis", _transposed, Contamination)
COST_OF_NEXT = _mutant("with costs on arrival", _cost_of_next)
FIRST_ACTION_COST = _mutant("with the first action's cost", _first_action_cost)
GAUSS_SEIDEL = _mutant("that reads back", _gauss_seidel)
IN_PLACE = _mutant("in place", _in_place)
FLOAT32 = _mutant(
    "in float32", lambda mdp, uncertainty_set, Q: bellman(mdp, uncertainty_set, Q).astype(np.float32).astype(np.float64)
)
# Half a step towards TQ: the same fixed point.
RELAXED = _mutant("relaxed", lambda mdp, uncertainty_set, Q: (Q + bellman(mdp, uncertainty_set, Q)) / 2)
MEAN_FOR_MAX = _mutant("against the mean", _mean_for_max, Contamination)
REMEMBERED = _mutant("with a memory", _remembered())
ROUNDED_KEY = _mutant("with a memory of rounded kernels", _rounded_key())


def _per_pair(name: str, make: Any) -> Variant:
    return Variant(f"T {name}", "operator", make, _SETS, ("bellman", "radii per pair"))


def _with_radius(uncertainty_set: UncertaintySet, change: Any) -> UncertaintySet:
    given: Any = uncertainty_set
    return given.with_radius(change(given.radius)) if given.pairs else uncertainty_set


def _first_radius(mdp: MDP, uncertainty_set: UncertaintySet, Q: Floats) -> Floats:
    """The radius of the first pair for all."""
    return bellman(mdp, _with_radius(uncertainty_set, lambda radius: float(radius[0, 0])), Q)


def _radius_of_the_state(mdp: MDP, uncertainty_set: UncertaintySet, Q: Floats) -> Floats:
    """The radius of the first action for all actions of a state."""
    return bellman(mdp, _with_radius(uncertainty_set, lambda radius: np.repeat(radius[:, :1], radius.shape[1], 1)), Q)


def _largest_radius(mdp: MDP, uncertainty_set: UncertaintySet, Q: Floats) -> Floats:
    """The largest radius for all pairs: safe, and wrong."""
    return bellman(mdp, _with_radius(uncertainty_set, lambda radius: float(radius.max())), Q)


def _radii_by_column(mdp: MDP, uncertainty_set: UncertaintySet, Q: Floats) -> Floats:
    """The radii read in the other order of memory."""
    return bellman(mdp, _with_radius(uncertainty_set, lambda radius: radius.T.reshape(radius.shape)), Q)


FIRST_RADIUS = _per_pair("with the radius of the first pair", _first_radius)
RADIUS_OF_THE_STATE = _per_pair("with the radius of the first action", _radius_of_the_state)
LARGEST_RADIUS = _per_pair("with the largest radius", _largest_radius)
RADII_BY_COLUMN = _per_pair("with radii by column", _radii_by_column)


def _unit_values(mdp: MDP, uncertainty_set: UncertaintySet, Q: Floats) -> Floats:
    """Values divided by the largest, and the result times it: 0/0 where all of them are zero."""
    V = Q.min(axis=1)
    with np.errstate(invalid="ignore"):
        unit = V / np.abs(V).max()
    if not np.isfinite(unit).all():
        return np.full_like(Q, np.nan)
    return mdp.cost + mdp.gamma * np.abs(V).max() * support(mdp, uncertainty_set, unit)


UNIT_VALUES = _mutant("that divides by the largest value", _unit_values)


def _wrong_axis(mdp: MDP, uncertainty_set: UncertaintySet, Q: Floats) -> Floats:
    """The minimum over the axis that is as long as there are actions, the first one if both are."""
    axis = next(axis for axis in (0, 1) if Q.shape[axis] == mdp.n_actions) if mdp.n_states > 4 else 1
    return mdp.cost + mdp.gamma * support(mdp, uncertainty_set, Q.min(axis=axis))


WRONG_AXIS = _mutant("over the axis of that length", _wrong_axis)


def _large_is_everything(mdp: MDP, uncertainty_set: ReverseKullbackLeibler, Q: Floats) -> Floats:
    """At a radius of 100 nature goes anywhere, whether the set stays in the support or not."""
    if uncertainty_set.radius < 100.0:
        return bellman(mdp, uncertainty_set, Q)
    return mdp.cost + mdp.gamma * Q.min(axis=1).max()


LARGE_IS_EVERYTHING = _mutant("that a radius of 100 makes the simplex", _large_is_everything, ReverseKullbackLeibler)
