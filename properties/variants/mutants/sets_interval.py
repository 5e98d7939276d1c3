"""Wrong support functions of interval sets."""

from dataclasses import replace
from typing import Any

import numpy as np

from properties.variants.mutants.sets_forms import falling, fill, minimum, mutants_of
from robust_core import Interval, Variant, bellman, sigma
from robust_core.mdp import MDP
from robust_core.validate import Floats

_mutant = mutants_of(Interval, "interval")


def _renormalised(uset: Interval, p: Floats, v: Floats) -> float:
    """Each state at its better bound, then normalised."""
    q = np.where(v > np.median(v), uset.high, uset.low)
    return float(q @ v / q.sum()) if q.sum() > 0 else float(p @ v)


def _one_receiver(uset: Interval, p: Floats, v: Floats) -> float:
    """The best state takes all that is left, up to its bound; the rest is normalised."""
    q = np.array(uset.low)
    best = int(v.argmax())
    q[best] = min(q[best] + 1 - q.sum(), uset.high[best])
    return float(q @ v / q.sum()) if q.sum() > 0 else float(p @ v)


def _proportional(uset: Interval, p: Floats, v: Floats) -> float:
    """What is left is shared in proportion to the room."""
    room = uset.high - uset.low
    share = (1 - uset.low.sum()) / room.sum() if room.sum() > 0 else 0.0
    return float((uset.low + share * room) @ v)


def _high_capped(uset: Interval, p: Floats, v: Floats) -> float:
    """high is capped at 1 − low."""
    return fill(uset.low, np.maximum(np.minimum(uset.high, 1 - uset.low), uset.low), v, falling(v))


def _fills_sixteen(uset: Interval, p: Floats, v: Floats) -> float:
    """The sixteen best states are filled; the rest is normalised."""
    q, left = np.array(uset.low), 1 - uset.low.sum()
    for i in falling(v)[:16]:
        moved = min(uset.high[i] - uset.low[i], left)
        q[i] += moved
        left -= moved
    return float(q @ v / q.sum()) if q.sum() > 0 else float(p @ v)


def _centre(uset: Interval, p: Floats, v: Floats) -> float:
    """The middle of the bounds in place of the worst case."""
    q = uset.low + uset.high
    return float(q @ v / q.sum())


def _not_normalised(uset: Interval, p: Floats, v: Floats) -> float:
    """The state where the filling ends gets all of its room."""
    q, left = np.array(uset.low), 1 - uset.low.sum()
    for i in falling(v):
        if left <= 0:
            break
        q[i] = uset.high[i]
        left -= uset.high[i] - uset.low[i]
    return float(q @ v)


def _from_nominal(uset: Interval, p: Floats, v: Floats) -> float:
    """Mass moves from the lowest values to the highest, from p cut to the bounds, whose sum is taken for 1."""
    q, order = np.clip(p, uset.low, uset.high), falling(v).tolist()
    for i in order:
        for j in reversed(order):
            moved = min(uset.high[i] - q[i], q[j] - uset.low[j]) if v[j] < v[i] else 0.0
            q[i], q[j] = q[i] + moved, q[j] - moved
    return float(q @ v)


def _first_pair(mdp: MDP, uncertainty_set: Interval, Q: Floats) -> Floats:
    """The bounds of the first pair for all."""
    low, high = (x if x.ndim == 1 else x[0, 0] for x in (uncertainty_set.low, uncertainty_set.high))
    return bellman(mdp, Interval(low, high), Q)


def _early(uset: Interval, p: Floats, v: Floats) -> float:
    """The filling stops where next to nothing is left, which is then nowhere."""
    q, left = np.array(uset.low), 1 - uset.low.sum()
    for i in falling(v):
        if left <= 1e-5:
            break
        added = min(left, uset.high[i] - uset.low[i])
        q[i], left = q[i] + added, left - added
    return float(q @ v)


EARLY = replace(_mutant("filled nearly", _early), options={"accuracy": 1e-6})
NO_LOWER = _mutant("without low", lambda uset, p, v: fill(0 * uset.low, uset.high, v, falling(v)))
NO_UPPER = _mutant("without high", lambda uset, p, v: fill(uset.low, np.ones(p.size), v, falling(v)))
RENORMALISED = _mutant("at its bounds, normalised", _renormalised)
FROM_THE_LOWEST = _mutant(
    "filled from the lowest", lambda uset, p, v: fill(uset.low, uset.high, v, np.argsort(v, kind="stable"))
)
UNSORTED = _mutant("that does not sort", lambda uset, p, v: fill(uset.low, uset.high, v, range(p.size)))
ONE_RECEIVER = _mutant("that fills one state", _one_receiver)
PROPORTIONAL = _mutant("filled in proportion", _proportional)
# Sum one is forgotten.
BOX = _mutant("without sum one", lambda uset, p, v: float(np.where(v > 0, uset.high, uset.low) @ v))
HIGH_CAPPED = _mutant("with high at most 1 − low", _high_capped)
CENTRE = _mutant("at the centre", _centre)
NOT_NORMALISED = _mutant("filled too far", _not_normalised)
NOMINAL = _mutant("of the nominal p", lambda u, p, v: p @ v)
SMALLEST = _mutant("of a kind nature", minimum)
FILLS_SIXTEEN = _mutant("filled in sixteen states", _fills_sixteen)
FROM_NOMINAL = _mutant("moved from a p that is outside", _from_nominal)
FIRST_PAIR = Variant(
    "interval operator with the bounds of the first pair",
    "operator",
    _first_pair,
    (Interval,),
    ("bellman", "radii per pair"),
)
NEAR_ONE = _mutant(
    "with high next to 1 as 1",
    lambda uset, p, v: sigma(Interval(uset.low, np.where(uset.high > 1.0 - 1e-7, 1.0, uset.high)), p, v),
)


def _by_low() -> Any:
    """Results kept under the lower bounds, p and v."""
    memory: dict[bytes, Floats] = {}

    def form(uset: Interval, p: Floats, v: Floats) -> Floats:
        return memory.setdefault(uset.low.tobytes() + p.tobytes() + v.tobytes(), sigma(uset, p, v)).copy()

    return form


BY_LOW = _mutant("kept under low", _by_low())
