"""The one-sample learner for sets for which one sample is not enough: it promises to be unbiased and is not.

The set around a Dirac is the Dirac itself for the Kullback-Leibler and the chi-square ball, so the learner
ignores nature and finds the ordinary optimum. For the L1 ball it finds the optimum of contamination of half the radius.
"""

from properties.variants.gallery.one_sample import OneSampleLearner
from robust_core import L1, ChiSquare, KullbackLeibler, Variant

KL = Variant(
    "one-sample Q-learning for Kullback-Leibler", "control", OneSampleLearner, (KullbackLeibler,), ("unbiased",)
)
CHI_SQUARE = Variant("one-sample Q-learning for chi-square", "control", OneSampleLearner, (ChiSquare,), ("unbiased",))
ONE_NORM = Variant("one-sample Q-learning for L1", "control", OneSampleLearner, (L1,), ("unbiased",))
