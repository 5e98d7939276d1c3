"""Wrong support functions."""

from typing import Any

import numpy as np

from robust_core import Contamination, TotalVariation, UncertaintySet, Variant, sigma
from robust_core.validate import Floats

_SETS = (Contamination, TotalVariation)


def _mutant(name: str, make: Any, *sets: Any) -> Variant:
    return Variant(f"sigma {name}", "support", make, sets or _SETS, ("support function", "rows"))


def _l1_radius(uncertainty_set: TotalVariation, p: Floats, v: Floats) -> Floats:
    """Passes every axiom of a support function but the end R = 1."""
    return sigma(TotalVariation(uncertainty_set.radius / 2), p, v)


def _double_radius(uncertainty_set: TotalVariation, p: Floats, v: Floats) -> Floats:
    """Passes every axiom of a support function."""
    return sigma(TotalVariation(min(1.0, 2 * uncertainty_set.radius)), p, v)


def _squared_radius(uncertainty_set: Any, p: Floats, v: Floats) -> Floats:
    """Passes every axiom of a support function, both ends included."""
    return sigma(type(uncertainty_set)(uncertainty_set.radius**2), p, v)


def _contamination_for_variation(uncertainty_set: TotalVariation, p: Floats, v: Floats) -> Floats:
    """Passes every axiom of a support function, both ends included."""
    return sigma(Contamination(uncertainty_set.radius), p, v)


def _support_only(uncertainty_set: Contamination, p: Floats, v: Floats) -> Any:
    """Nature stays on the support of p."""
    worst = np.where(np.asarray(p) > 0, v, -np.inf).max(axis=-1)
    return (1 - uncertainty_set.radius) * (p @ v) + uncertainty_set.radius * worst


def _from_the_top(uncertainty_set: TotalVariation, p: Floats, v: Floats) -> Any:
    """The mass is taken in descending order of v."""
    order = np.argsort(-v)
    ascending = p[..., order]
    taken = np.clip(uncertainty_set.radius - (np.cumsum(ascending, axis=-1) - ascending), 0.0, ascending)
    return (ascending - taken) @ v[order] + taken.sum(axis=-1) * v.max()


def _unlimited(uncertainty_set: TotalVariation, p: Floats, v: Floats) -> Any:
    """The mass R is taken from the worst state, whether it has it or not."""
    return p @ v + uncertainty_set.radius * (v.max() - v.min())


def _one_state(uncertainty_set: TotalVariation, p: Floats, v: Floats) -> Any:
    """Only the worst state gives."""
    given = np.minimum(uncertainty_set.radius, p[..., v.argmin()])
    return p @ v + given * (v.max() - v.min())


def _unsorted(uncertainty_set: TotalVariation, p: Floats, v: Floats) -> Any:
    """The mass is taken in the order of the states."""
    taken = np.clip(uncertainty_set.radius - (np.cumsum(p, axis=-1) - p), 0.0, p)
    return (p - taken) @ v + taken.sum(axis=-1) * v.max()


def _from_zero(uncertainty_set: Contamination, p: Floats, v: Floats) -> Any:
    """A maximum that starts at zero."""
    return (1 - uncertainty_set.radius) * (p @ v) + uncertainty_set.radius * max(0.0, v.max())


def _single_row(uncertainty_set: Contamination, p: Floats, v: Floats) -> Any:
    """Written for one row: in a batch it takes the first."""
    row = np.asarray(p).reshape(-1, len(v))[0]
    return np.broadcast_to(sigma(uncertainty_set, row, v), np.shape(p)[:-1])


def _scales_input(uncertainty_set: UncertaintySet, p: Floats, v: Floats) -> Floats:
    """Normalises the caller's v in place."""
    v -= v.min()
    return sigma(uncertainty_set, p, v)


L1_RADIUS = _mutant("with the L1 radius", _l1_radius, TotalVariation)
DOUBLE_RADIUS = _mutant("with twice the radius", _double_radius, TotalVariation)
SQUARED_RADIUS = _mutant("with the squared radius", _squared_radius)
CONTAMINATION_FOR_VARIATION = _mutant("of contamination for variation", _contamination_for_variation, TotalVariation)
SMALLEST = _mutant("of a kind nature", lambda uncertainty_set, p, v: -sigma(uncertainty_set, p, -v))
MEAN_ONLY = _mutant("without a set", lambda uncertainty_set, p, v: np.asarray(p) @ v)
SUPPORT_ONLY = _mutant("on the support", _support_only, Contamination)
ABSOLUTE = _mutant("of |v|", lambda uncertainty_set, p, v: sigma(uncertainty_set, p, np.abs(v)))
FROM_THE_TOP = _mutant("that takes from the top", _from_the_top, TotalVariation)
UNLIMITED = _mutant("that takes more than there is", _unlimited, TotalVariation)
ONE_STATE = _mutant("that takes from one state", _one_state, TotalVariation)
UNSORTED = _mutant("that does not sort", _unsorted, TotalVariation)
FLOAT32 = _mutant("in float32", lambda uncertainty_set, p, v: sigma(uncertainty_set, p, v).astype(np.float32))
FROM_ZERO = _mutant("whose maximum starts at zero", _from_zero, Contamination)
SINGLE_ROW = _mutant("of the first row", _single_row, Contamination)
SCALES_INPUT = _mutant("that writes into v", _scales_input)


def _block(uncertainty_set: TotalVariation, p: Floats, v: Floats) -> Any:
    """The rows after the first 64 are left as they are."""
    found = np.array(sigma(uncertainty_set, p, v))
    found.reshape(-1)[64:] = (p @ v).reshape(-1)[64:]
    return found


BLOCK = _mutant("of the first 64 rows", _block)


def _lowest(uncertainty_set: TotalVariation, p: Floats, v: Floats) -> Any:
    """Mass leaves the 64 lowest values only."""
    lowest = np.zeros(v.size, dtype=bool)
    lowest[np.argsort(v)[:64]] = True
    top = float(np.max(v))
    return sigma(uncertainty_set, p, np.where(lowest, v, top)) - p @ np.where(lowest, 0.0, top - v)


LOWEST = _mutant("that takes from the 64 lowest", _lowest, TotalVariation)


def _by_first_row() -> Any:
    """Results kept under the first of the rows."""
    memory: dict[object, Floats] = {}

    def form(uncertainty_set: UncertaintySet, p: Floats, v: Floats) -> Floats:
        key = (uncertainty_set, p.shape, p.reshape(-1, p.shape[-1])[0].tobytes(), v.tobytes())
        return memory.setdefault(key, sigma(uncertainty_set, p, v)).copy()

    return form


BY_FIRST_ROW = _mutant("kept under the first row", _by_first_row())
