"""Vanilla Q-learning with the promises of robust Q-learning: it ignores nature, so it is right for radius 0 only."""

from properties.variants.gallery.q_learning import VARIANT as ROBUST
from properties.variants.gallery.vanilla_q_learning import VARIANT as VANILLA
from robust_core import Variant

CLAIMED_ROBUST = Variant("vanilla Q-learning, claimed robust", "control", VANILLA.make, ROBUST.sets, ROBUST.promises)
# Only what is defined here is offered under this module's name.
del ROBUST, VANILLA
