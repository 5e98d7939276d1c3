"""The minimal algorithm core: what is verified. Needs numpy; compiled kernels need numba.

Importing it compiles nothing and does not import numba.
"""

from robust_core.bellman import bellman, bellman_policy, smoothed_bellman_policy
from robust_core.learners.linear import LinearLearner, stopping_time
from robust_core.learners.schedules import StepSize, constant, per_visit, polynomial
from robust_core.learners.tabular import EXPECTED_SARSA, Q_LEARNING, SARSA, TD0, TabularLearner
from robust_core.mdp import MDP, SparseRows
from robust_core.policy import deterministic, greedy, uniform
from robust_core.problem import Problem, Variant
from robust_core.sets import Contamination, TotalVariation, UncertaintySet
from robust_core.smoothing import LogSumExp, Mellowmax
from robust_core.streams import key
from robust_core.support import sigma, support, worst_case
from robust_core.trajectory import Recording, Transition, Walk

__all__ = [
    "EXPECTED_SARSA", "MDP", "Q_LEARNING", "SARSA", "TD0", "Contamination", "LinearLearner", "LogSumExp", "Mellowmax",
    "Problem", "Recording", "SparseRows", "StepSize", "TabularLearner", "TotalVariation", "Transition",
    "UncertaintySet", "Variant", "Walk", "bellman", "bellman_policy", "constant", "deterministic", "greedy", "key",
    "per_visit", "polynomial", "sigma", "smoothed_bellman_policy", "stopping_time", "support", "uniform", "worst_case",
]  # fmt: skip
