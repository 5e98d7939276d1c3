"""The robust average cost (docs/theorems.md, T2): R max W, from every start, without any assumption on the chains.

With a radius for each pair it is the g at which W = min_a (c − g + z(W)) has the maximum 0.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import numpy as np
from hypothesis import strategies as st

from oracles.arithmetic import exact
from oracles.arithmetic.exact import Number
from oracles.planning import average_cost
from oracles.sets import vertices
from properties.cases.case import Case
from properties.claims.claim import Claim, Statement
from properties.claims.sides import at_most, equal, first
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


def chain_gains(rows: Sequence[Sequence[Number]], cost: Sequence[float]) -> tuple[Fraction, Fraction]:
    """The average cost of a chain of two states from either start.

    >>> chain_gains([[1.0, 0.0], [0.0, 1.0]], [1.0, 0.0])
    (Fraction(1, 1), Fraction(0, 1))
    """
    (_, away), (back, _) = (exact.distribution(row).fractions() for row in rows)
    costs = [Fraction(c) for c in cost]
    if away + back == 0:
        return costs[0], costs[1]
    gain = (back * costs[0] + away * costs[1]) / (away + back)
    return gain, gain


def _from_every_start(mdp: MDP, uncertainty_set: Contamination) -> Finding | None:
    if uncertainty_set.radius == 0.0:
        return equal(
            "average cost from state 0 against state 1", *chain_gains(mdp.P[:, 0].tolist(), mdp.cost[:, 0].tolist())
        )
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
    note="For contamination W is the ordinary optimum at discount 1−R. The chain need not be irreducible or unichain.",
)

# average-cost-radii.


@st.composite
def _models_by_pair(draw: st.DrawFn) -> Case:
    """Contamination or total variation with a radius for each pair, all above 0."""
    mdp = draw(mdps(max_states=3, max_actions=2, cost_range=(-1.0, 1.0)))
    numbers = st.sampled_from((0.5, 0.25, 1.0, 0.0625))
    radii = np.array([draw(numbers) for _ in range(mdp.cost.size)]).reshape(mdp.cost.shape)
    kind = draw(st.sampled_from((Contamination, TotalVariation)))
    return {"mdp": mdp, "uncertainty_set": kind(radii)}  # type: ignore[arg-type]


def _radius_at_the_top(mdp: MDP, uncertainty_set: Contamination | TotalVariation) -> Finding | None:
    """The gain against R(s*,a*)·max W, W at g = 0, s* its maximiser and a* the action there."""
    found = average_cost.solve_by_pair(mdp, uncertainty_set)
    W, policy = average_cost.until_jump(mdp, uncertainty_set)
    top = max(range(mdp.n_states), key=W.__getitem__)
    radius = Fraction(float(np.asarray(uncertainty_set.radius)[top, policy[top]]))
    return equal("the average cost against R(s*,a*) max W", found.gain, radius * max(W))


def _optimality_by_pair(
    mdp: MDP, uncertainty_set: Contamination | TotalVariation, *, shift: Fraction = Fraction(0)
) -> Finding | None:
    """max W = 0 and gain + W(s) = min_a (c + sigma(W)), sigma over vertices; the gain by relative value iteration."""
    found = average_cost.solve_by_pair(mdp, uncertainty_set)
    gain, W = found.gain, found.bias
    backup = [
        min(
            Fraction(c) + vertices.sigma(uncertainty_set.at(s, a), mdp.P[s, a].tolist(), W)
            for a, c in enumerate(mdp.cost[s].tolist())
        )
        for s in range(mdp.n_states)
    ]
    enclosed = average_cost.enclose(mdp, uncertainty_set, width=WIDTH)
    distance = abs(gain + shift - Fraction(float(enclosed.value)))
    return first(
        [
            equal("max W", max(W), Fraction(0)),
            equal("gain + W against min_a (c + sigma(W))", [gain + w for w in W], backup),
            at_most("the distance from relative value iteration", distance, Fraction(enclosed.error_bound)),
        ]
    )


AVERAGE_COST_RADII = Claim(
    "average-cost-radii",
    "Theorem T2 with radii by pair (docs/theorems.md)",
    "E",
    "with a radius for each pair the optimal robust average cost is the g at which W_g has the maximum 0",
    "contamination or total variation, R(s,a) > 0 at every pair",
    printed=Statement(
        "without the hypothesis of one radius: the average cost is R(s*,a*) max W, s* a state of largest W and a* its "
        "optimal action",
        _models_by_pair,
        _radius_at_the_top,
        exact=True,
    ),
    amended=Statement(
        "g and W with W = min_a (c − g + z(W)) and max W = 0 solve g + W = min_a (c + σ(W)); relative value iteration "
        "encloses g, which is the least max_s C(s)/N(s) of all policies, C and N the cost and the time until nature's "
        "first jump",
        _models_by_pair,
        _optimality_by_pair,
        exact=True,
    ),
    amendment="correction",
    broken=Statement(
        "the same g moved by 2^-16",
        _models_by_pair,
        lambda **case: _optimality_by_pair(**case, shift=Fraction(1, 2**16)),
    ),
    note="For one radius N = 1/R, and this is R max W. This follows from renewal theory: between two jumps to a "
    "state of largest W the mean cost is C and the mean time is N.",
)


# average-cost-zero-radius.


@st.composite
def _chains_by_state(draw: st.DrawFn) -> Case:
    """Two states, one action, contamination with a radius for each state, one of them above 0."""
    mdp = draw(mdps(min_states=2, max_states=2, max_actions=1))
    other = draw(st.sampled_from((0.0, 0.5, 0.25, 1.0)))
    radii = [[other], [draw(st.sampled_from((0.5, 0.25)))]]
    return {"mdp": mdp, "uncertainty_set": Contamination(radii)}  # type: ignore[arg-type]


def _gains_by_start(
    mdp: MDP, uncertainty_set: Contamination, *, positive: bool, shift: Fraction = Fraction(0)
) -> Finding | None:
    """Nature's best average cost from either start, over her stationary choices of a vertex at each state."""
    if positive and float(np.min(uncertainty_set.radius)) == 0.0:
        return None
    sets = [vertices.vertices(uncertainty_set.at(s, 0), mdp.P[s, 0].tolist()) for s in range(2)]
    gains = [chain_gains(rows, mdp.cost[:, 0].tolist()) for rows in product(*sets)]
    best = tuple(map(max, zip(*gains, strict=True)))
    found = equal("average cost from state 0 against state 1", best[0], best[1])
    if found is None and positive:
        found = equal("average cost against T2", best[0] + shift, average_cost.solve_by_pair(mdp, uncertainty_set).gain)
    return found


AVERAGE_COST_ZERO_RADIUS = Claim(
    "average-cost-zero-radius",
    "Theorem T2 with radii by pair, its limit (docs/theorems.md)",
    "E",
    "with a radius for each pair the robust average cost is the same from every start",
    "R(s,a) > 0 at every pair",
    printed=Statement(
        "without the hypothesis: if R(s,a) > 0 at one pair",
        _chains_by_state,
        lambda **case: _gains_by_start(**case, positive=False),
        exact=True,
    ),
    amended=Statement(
        "if R(s,a) > 0 at every pair; it is the g of T2",
        _chains_by_state,
        lambda **case: _gains_by_start(**case, positive=True),
        exact=True,
    ),
    amendment="hypothesis",
    broken=Statement(
        "it is g + 2^-16",
        _chains_by_state,
        lambda **case: _gains_by_start(**case, positive=True, shift=Fraction(1, 2**16)),
    ),
    note="Nature's stationary choices are enumerated. An absorbing state with radius 0 keeps its own average cost.",
)

CLAIMS = (AVERAGE_COST, AVERAGE_COST_RADII, AVERAGE_COST_ZERO_RADIUS)
