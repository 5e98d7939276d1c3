"""Support functions by convex programs, vertices, duals and base polytopes; the truths about each set in one file."""

from oracles.sets import contamination, total_variation  # each registers its set
from oracles.sets.multiplier import Multiplier
from oracles.sets.registration import Cut, SetOracle, oracle_of, register

__all__ = ["Cut", "Multiplier", "SetOracle", "contamination", "oracle_of", "register", "total_variation"]
