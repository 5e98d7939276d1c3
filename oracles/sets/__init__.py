"""Support functions by convex programs, vertices, duals and base polytopes; the truths about each set in one file."""

from oracles.sets import (  # each registers its set
    bounded_density,
    chi_square,
    contamination,
    interval,
    kullback_leibler,
    l1,
    l2,
    l_infinity,
    local_adversary,
    restart,
    reverse_kullback_leibler,
    s_rectangular,
    total_variation,
    wasserstein,
)
from oracles.sets.multiplier import Multiplier
from oracles.sets.registration import Cut, SetOracle, oracle_of, register

__all__ = [
    "Cut", "Multiplier", "SetOracle", "bounded_density", "chi_square", "contamination", "interval",
    "kullback_leibler", "l1", "l2", "l_infinity", "local_adversary", "oracle_of", "register", "restart",
    "reverse_kullback_leibler", "s_rectangular", "total_variation", "wasserstein",
]  # fmt: skip
