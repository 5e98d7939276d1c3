"""Claims of Appendix B, in the order of the paper: the finite-time analysis of robust Q-learning."""

from properties.claims.paper.noise import BERNSTEIN_STEP, K2_BOUND, K2_FORM, K2_INCR, K2_VAR
from properties.claims.paper.rates import SAME_RATE, STEP_CHOICE, THM3, THM6
from properties.claims.paper.recursion import (
    BELLMAN_MATRIX,
    K1_FORM,
    K3_BOUND,
    MATRIX_UPDATE,
    RECURSION,
    ROUGH,
    UNROLLED,
)
from properties.claims.paper.sample_size import SAMPLE_SIZE
from properties.claims.paper.sentences import MU_MIN
from properties.claims.paper.visits import K1_BOUND, VISITS

CLAIMS = (
    MATRIX_UPDATE,
    BELLMAN_MATRIX,
    RECURSION,
    UNROLLED,
    K1_FORM,
    MU_MIN,
    K1_BOUND,
    VISITS,
    K2_FORM,
    K2_VAR,
    K2_INCR,
    K2_BOUND,
    BERNSTEIN_STEP,
    K3_BOUND,
    ROUGH,
    THM6,
    THM3,
    SAMPLE_SIZE,
    STEP_CHOICE,
    SAME_RATE,
)
