"""Claims of Appendix B, in the order of the paper: the finite-time analysis of robust Q-learning."""

from properties.claims.noise import K2_BOUND, K2_FORM, K2_INCR, K2_VAR
from properties.claims.rates import SAME_RATE, STEP_CHOICE, THM3, THM6
from properties.claims.recursion import BELLMAN_MATRIX, K1_FORM, K3_BOUND, MATRIX_UPDATE, RECURSION, ROUGH, UNROLLED
from properties.claims.visits import K1_BOUND, VISITS

CLAIMS = (
    MATRIX_UPDATE,
    BELLMAN_MATRIX,
    RECURSION,
    UNROLLED,
    K1_FORM,
    K1_BOUND,
    VISITS,
    K2_FORM,
    K2_VAR,
    K2_INCR,
    K2_BOUND,
    K3_BOUND,
    ROUGH,
    THM6,
    THM3,
    STEP_CHOICE,
    SAME_RATE,
)
