"""Claims of Section 6 and Appendix E: what the fifteen panels are said to show. Their tests are experiments.

**test-in-set.** Samples come from p' = (1−p)p_0 + p·uniform, policies are tested on p_0. The contamination set around
p' holds q >= (1−R)p' only: a state that p_0 does not reach has (1−R)p/S > 0 there, so p_0 is outside unless R = 1. In
total variation p_0 is within p(1−1/S) of p'.
"""

from fractions import Fraction

from hypothesis import strategies as st

from oracles.arithmetic import exact
from oracles.sets import vertices
from properties.cases.case import Case
from properties.claims.claim import Claim, Statement
from properties.claims.paper import tested_models
from properties.claims.paper.sentences import DEVIATION, GREEDY
from properties.claims.sides import equal
from properties.judging.verdict import Finding
from properties.strategies import policies
from robust_core.sets import Contamination, TotalVariation, UncertaintySet
from robust_core.validate import Floats

ELSEWHERE = "benchmarks/experiments"
PANELS = "(p, R) = (0.1, 0.1), (0.05, 0.2), (0.1, 0.2); trained under perturbation p, tested on the unperturbed MDP"


def _figure(id: str, where: str, title: str, hypotheses: str = PANELS) -> Claim:  # noqa: A002
    return Claim(id, where, "X", title, hypotheses, elsewhere=ELSEWHERE)


@st.composite
def _perturbed_rows(draw: st.DrawFn) -> Case:
    """A row of the tested model, a perturbation p and a radius R >= p, as dyadic numbers."""
    n = draw(st.integers(1, 4))
    perturbation, radius = draw(st.sampled_from(((0.125, 0.125), (0.0625, 0.25), (0.125, 0.25), (0.0, 0.5))))
    return {"p": draw(policies((1, n)))[0], "perturbation": perturbation, "radius": radius}


def _is_member(p: Floats, perturbation: float, uncertainty_set: UncertaintySet) -> Finding | None:
    row, share = exact.distribution(p.tolist()).fractions(), Fraction(perturbation)
    sampled = tuple((1 - share) * x + share / len(row) for x in row)
    return equal(
        "the tested row is in the set around the sampled one", vertices.contains(uncertainty_set, sampled, row), True
    )


TEST_IN_SET = Claim(
    "test-in-set",
    "Section 6",
    "E",
    "the MDP in which policies are tested lies in the uncertainty set around the MDP that generates the samples",
    "samples from (1−p)p_0 + p·uniform, tested on p_0, p ≤ R",
    printed=Statement(
        "p_0 is in the contamination set of radius R around (1−p)p_0 + p/S·1",
        _perturbed_rows,
        lambda p, perturbation, radius: _is_member(p, perturbation, Contamination(radius)),
        exact=True,
    ),
    amended=Statement(
        "p_0 is in the total variation ball of radius R around it",
        _perturbed_rows,
        lambda p, perturbation, radius: _is_member(p, perturbation, TotalVariation(radius)),
        exact=True,
    ),
    amendment="correction",
    note="So no theorem of the paper says that its robust policy is good on the tested model. If the two models were "
    "exchanged, the theorems would apply: the sampled model is in the contamination set of radius p around the "
    "tested one.",
)

CLAIMS = (
    GREEDY,
    DEVIATION,
    TEST_IN_SET,
    *tested_models.CLAIMS,
    _figure(
        "fig-frozenlake",
        "Section 6.1, Figure 1 (Fig.44fl), three panels",
        "robust Q-learning gets a much higher discounted reward than vanilla Q-learning on the 4×4 Frozen Lake",
        PANELS + "; γ = 0.96, α = 0.8, 30 trajectories, horizon 100",
    ),
    _figure(
        "fig-cartpole",
        "Section 6.1, Figure 2 (Fig.CP), three panels",
        "robust Q-learning gets a much higher discounted reward than vanilla Q-learning on Cart-Pole",
        PANELS + "; γ = 0.95, α = 0.2, 30 trajectories, horizon 100; the discretisation is not printed",
    ),
    _figure(
        "fig-taxi",
        "Appendix E, Figure 5 (Fig.TX), three panels",
        "robust Q-learning gets a much higher discounted reward than vanilla Q-learning on Taxi",
        PANELS + "; γ = 0.8, α = 0.3, 30 trajectories, horizon 100",
    ),
    _figure(
        "fig-tdc",
        "Section 6.2, Figure 3 (Fig.TDC), three panels",
        "robust TDC reaches a stationary point faster and with smaller variance; vanilla TDC may diverge",
        PANELS + "; Frozen Lake, γ = 0.9, α = 0.1, β = 0.5, five random features, θ_0 = 1, ω_0 = 0",
    ),
    _figure(
        "fig-rarl",
        "Section 6.3, Figure 4 (Fig.AD), three panels",
        "robust Q-learning beats RARL in the worst-case test MDP, with smaller variance",
        "Taxi; (p, R) as in the other panels; γ = 0.9, α = 0.2; tested where nature moves to the worst state "
        "with probability p",
    ),
    _figure(
        "trend",
        "Section 6.1",
        "the advantage of robust over vanilla Q-learning grows with p and R",
        "across the panels of Frozen Lake, Cart-Pole and Taxi",
    ),
    _figure(
        "vanilla-same",
        "Section 6.2, Figure 3(a) and 3(c)",
        "vanilla TDC's results differ between (p, R) = (0.1, 0.1) and (0.1, 0.2)",
        "vanilla TDC does not know R, so with one p its θ_t has the same distribution in both panels; only the "
        "measure ‖∇J‖² and the draw of the features can differ",
    ),
)
