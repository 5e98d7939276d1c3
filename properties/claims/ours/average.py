"""The robust average cost (docs/theorems.md, T2): R max W, from every start, without any assumption on the chains."""

from fractions import Fraction

from hypothesis import strategies as st

from oracles.arithmetic import exact
from oracles.planning import average_cost
from oracles.sets import vertices
from properties.cases.case import Case
from properties.claims.claim import Claim, Statement
from properties.claims.sides import equal, first
from properties.judging.verdict import Finding
from properties.strategies import mdps, uncertainty_sets
from robust_core.mdp import MDP
from robust_core.sets import Contamination, TotalVariation

WIDTH = 2.0**-20


@st.composite
def _models(draw: st.DrawFn) -> Case:
    mdp = draw(mdps(max_states=3, max_actions=2, cost_range=(-1.0, 1.0)))
    positive = st.sampled_from((0.5, 0.25, 0.0625, 1.0))
    kinds = (Contamination, TotalVariation)
    return {"mdp": mdp, "uncertainty_set": draw(uncertainty_sets(kinds=kinds, radii=positive))}


@st.composite
def _chains(draw: st.DrawFn) -> Case:
    """Two states, one action, contamination with any radius: absorbing states among them."""
    mdp = draw(mdps(min_states=2, max_states=2, max_actions=1))
    radius = st.sampled_from((0.0, 0.5))
    return {"mdp": mdp, "uncertainty_set": draw(uncertainty_sets(kinds=(Contamination,), radii=radius))}


def chain_gains(mdp: MDP) -> tuple[Fraction, Fraction]:
    """The average cost of a chain of two states from either start.

    >>> chain_gains(MDP([[[1.0, 0.0]], [[0.0, 1.0]]], [[1.0], [0.0]], 0.0))
    (Fraction(1, 1), Fraction(0, 1))
    """
    (_, away), (back, _) = (exact.distribution(mdp.P[s, 0].tolist()).fractions() for s in range(2))
    costs = [Fraction(c) for c in mdp.cost[:, 0].tolist()]
    if away + back == 0:
        return costs[0], costs[1]
    gain = (back * costs[0] + away * costs[1]) / (away + back)
    return gain, gain


def _from_every_start(mdp: MDP, uncertainty_set: Contamination) -> Finding | None:
    if uncertainty_set.radius == 0.0:
        return equal("average cost from state 0 against state 1", *chain_gains(mdp))
    return _optimality(mdp, uncertainty_set)


def _optimality(mdp: MDP, uncertainty_set: Contamination | TotalVariation, *, power: int = 1) -> Finding | None:
    """gain + W(s) = min_a (c + sigma(W)) with sigma over the vertices; the gain also by relative value iteration."""
    found = average_cost.solve(mdp, uncertainty_set)
    gain = Fraction(uncertainty_set.radius) ** power * max(found.bias)
    backup = [
        min(
            Fraction(c) + vertices.sigma(uncertainty_set, mdp.P[s, a].tolist(), found.bias)
            for a, c in enumerate(mdp.cost[s].tolist())
        )
        for s in range(mdp.n_states)
    ]
    enclosed = average_cost.enclose(mdp, uncertainty_set, width=WIDTH)
    inside = abs(gain - Fraction(float(enclosed.value))) <= Fraction(enclosed.error_bound)
    return first(
        [
            equal("gain + W against min_a (c + sigma(W))", [gain + w for w in found.bias], backup),
            equal("the gain is in the enclosure of relative value iteration", inside, True),
        ]
    )


AVERAGE_COST = Claim(
    "average-cost",
    "Theorem T2 (docs/theorems.md)",
    "E",
    "the optimal robust average cost is R·max W from every start",
    "contamination or total variation with R > 0",
    printed=Statement(
        "without the hypothesis: at R = 0 too it does not depend on the start",
        _chains,
        _from_every_start,
        exact=True,
    ),
    amended=Statement(
        "for R > 0: g = R max W and bias W solve g + W(s) = min_a (c + σ(W)), W = min_a (c + σ(W) − R max W); relative "
        "value iteration encloses g",
        _models,
        _optimality,
        exact=True,
    ),
    amendment="hypothesis",
    broken=Statement("the gain is R² max W", _models, lambda **case: _optimality(**case, power=2)),
    note="For contamination W is the ordinary optimum at discount 1−R. No chain need be irreducible or unichain.",
)

CLAIMS = (AVERAGE_COST,)
