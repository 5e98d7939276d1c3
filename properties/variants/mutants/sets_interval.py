"""Wrong support functions of interval sets."""

import numpy as np

from properties.variants.mutants.sets_forms import falling, fill, minimum, mutants_of
from robust_core import Interval
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
