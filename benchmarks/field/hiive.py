"""mdptoolbox-hiive: the algorithms of its fork of pymdptoolbox."""

from functools import partial

from benchmarks.field import ACCURACY
from benchmarks.field.toolbox import variants

_variants = partial(variants, "mdptoolbox-hiive", "hiive.mdptoolbox.mdp")
VALUE_ITERATION, VALUE_ITERATION_POLICY = _variants("ValueIteration", epsilon=ACCURACY, max_iter=10**6)
GAUSS_SEIDEL, GAUSS_SEIDEL_POLICY = _variants("ValueIterationGS", epsilon=ACCURACY, max_iter=10**6)
POLICY_ITERATION, POLICY_ITERATION_POLICY = _variants("PolicyIteration")
MODIFIED, MODIFIED_POLICY = _variants("PolicyIterationModified", epsilon=ACCURACY, max_iter=10**6)
