"""Claims of Section 6 and Appendix E: what the fifteen panels are said to show. Their tests are experiments."""

from properties.claims.claim import Claim

ELSEWHERE = "benchmarks/experiments"
PANELS = "(p, R) = (0.1, 0.1), (0.05, 0.2), (0.1, 0.2); trained under perturbation p, tested on the unperturbed MDP"


def _figure(id: str, where: str, title: str, hypotheses: str = PANELS) -> Claim:  # noqa: A002
    return Claim(id, where, "X", title, hypotheses, elsewhere=ELSEWHERE)


CLAIMS = (
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
)
