"""Contamination is a change of discount: decoupling, one value for all games, the span, and where it ends.

Proofs: docs/theorems.md, T1 and T3. b = gamma(1−R), W is the ordinary optimal value at discount b. All in rationals.
"""

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from hypothesis import strategies as st

from oracles.arithmetic import exact
from oracles.arithmetic.exact import Vector
from oracles.planning import rational
from properties.cases.case import Case
from properties.claims.claim import Claim, Statement
from properties.claims.ours.best_responses import BEST_RESPONSES
from properties.claims.ours.discounts import optimal_for_no_discount
from properties.claims.sides import at_most, dot, equal, first, fractions, ratio
from properties.judging.verdict import Finding
from properties.strategies import mdps, policies, radii, uncertainty_sets, values
from robust_core.mdp import MDP
from robust_core.sets import Contamination, TotalVariation
from robust_core.validate import Floats

# decoupling.


@st.composite
def _restarts(draw: st.DrawFn, *, max_actions: int = 2) -> Case:
    """A model, a radius, and a restart distribution for every pair."""
    mdp = draw(mdps(max_states=3, max_actions=max_actions, cost_range=(-1.0, 1.0)))
    return {"mdp": mdp, "radius": draw(radii()), "laws": draw(policies((mdp.cost.size, mdp.n_states)))}


@st.composite
def _laws_by_pair(draw: st.DrawFn) -> Case:
    """State 0 costs less than state 1; its dearer action restarts in a better place."""
    stay = [[[1.0, 0.0], [1.0, 0.0]], [[0.0, 1.0], [0.0, 1.0]]]
    extra = draw(st.sampled_from((0.0625, 0.125, 0.5)))
    places = [draw(st.sampled_from(([0.0, 1.0], [1.0, 0.0], [0.5, 0.5]))) for _ in range(4)]
    return {
        "mdp": MDP(stay, [[0.0, extra], [1.0, 1.0]], draw(st.sampled_from((0.5, 0.75)))),
        "radius": draw(st.sampled_from((0.5, 0.25))),
        "laws": np.array(places),
    }


def _short_horizon(mdp: MDP, radius: float) -> MDP | None:
    """The model at discount b, if b is a float."""
    b = mdp.gamma * (1.0 - radius)
    return MDP(mdp.P, mdp.cost, b) if Fraction(b) == Fraction(mdp.gamma) * (1 - Fraction(radius)) else None


def _with_restarts(mdp: MDP, radius: float, laws: Floats) -> MDP | None:
    """(1−R)P + R·laws, if its numbers are floats."""
    mixed = (1.0 - radius) * mdp.P + radius * laws.reshape(mdp.P.shape)
    R = Fraction(radius)
    for new, old, law in zip(mixed.ravel().tolist(), mdp.P.ravel().tolist(), laws.ravel().tolist(), strict=True):
        if Fraction(new) != (1 - R) * Fraction(old) + R * Fraction(law):
            return None
    return MDP(mixed, mdp.cost, mdp.gamma)


def _decoupled(
    mdp: MDP, radius: float, laws: Floats, *, common: bool, value: bool = True, short_sum: bool = False
) -> Finding | None:
    """Optimal actions (for one distribution also the value) of the kernel with restarts against those at b."""
    law = np.broadcast_to(laws[0], laws.shape) if common else laws
    short, restarting = _short_horizon(mdp, radius), _with_restarts(mdp, radius, np.ascontiguousarray(law))
    if short is None or restarting is None:
        return None
    W, V = (rational.solve(model, Contamination(0.0)) for model in (short, restarting))
    if V.optimal_actions != W.optimal_actions:
        return Finding(
            "optimal actions with restarts", str(V.optimal_actions), f"{W.optimal_actions}, as at discount b"
        )
    if not value:
        return None
    gamma, R = Fraction(mdp.gamma), Fraction(radius)
    total = 1 - gamma * (1 - R) if short_sum else 1 - gamma
    shift = gamma * R / total * dot(exact.distribution(law[0].tolist()).fractions(), W.V)
    return equal("V* with restarts against W + shift", V.V, tuple(w + shift for w in W.V))


DECOUPLING = Claim(
    "decoupling",
    "Theorem T1 (docs/theorems.md)",
    "E",
    "if nature restarts with probability R by one distribution q, the optimal policies are those at discount γ(1−R), "
    "for every q",
    "0 ≤ R ≤ 1, γ < 1; one restart distribution for all pairs",
    printed=Statement(
        "without the hypothesis: the same for restart distributions q_{s,a} that differ between pairs",
        _laws_by_pair,
        lambda **case: _decoupled(**case, common=False, value=False),
        exact=True,
    ),
    amended=Statement(
        "for one distribution q: V* of (1−R)P + R·1qᵀ is W + (γR/(1−γ))(q·W)·1, with the optimal actions of W",
        _restarts,
        lambda **case: _decoupled(**case, common=True),
        exact=True,
    ),
    amendment="hypothesis",
    broken=Statement(
        "the same with γR/(1−γ(1−R)) for γR/(1−γ)",
        _restarts,
        lambda **case: _decoupled(**case, common=True, short_sum=True),
    ),
    note="The agent's problem does not depend on nature: q adds the same constant to all values.",
)


# game-value.


@st.composite
def _law_sets(draw: st.DrawFn) -> Case:
    mdp = draw(mdps(max_states=3, max_actions=2, cost_range=(-1.0, 1.0)))
    return {
        "mdp": mdp,
        "radius": draw(radii()),
        "laws": draw(policies((draw(st.integers(1, 3)), mdp.n_states))),
    }


def _game_value(mdp: MDP, radius: float, laws: Floats, *, horizon: str = "gamma") -> Finding | None:
    """Static, in both orders, and rectangular; `horizon`: 1 − gamma or (wrongly) 1 − b under the fraction."""
    short = _short_horizon(mdp, radius)
    if short is None:
        return None
    W, gamma, R = rational.solve(short, Contamination(0.0)).V, Fraction(mdp.gamma), Fraction(radius)
    restarts = [exact.distribution(law.tolist()).fractions() for law in laws]
    long = 1 - gamma if horizon == "gamma" else 1 - gamma * (1 - R)
    claimed = tuple(w + gamma * R / long * max(dot(q, W) for q in restarts) for w in W)
    P, cost = exact.kernel(mdp), exact.costs(mdp)
    table: dict[tuple[int, ...], list[Vector]] = {}
    for policy in product(range(mdp.n_actions), repeat=mdp.n_states):
        table[policy] = []
        for q in restarts:
            rows = [
                exact.Rational.of(tuple((1 - R) * x + R * y for x, y in zip(P[s][a].fractions(), q, strict=True)))
                for s, a in enumerate(policy)
            ]
            own = [cost[s][a] for s, a in enumerate(policy)]
            table[policy].append(exact.discounted_values(rows, own, gamma).fractions())
    worst = [tuple(map(max, zip(*per_law, strict=True))) for per_law in table.values()]
    best = [
        tuple(map(min, zip(*(per_law[k] for per_law in table.values()), strict=True))) for k in range(len(restarts))
    ]
    top = max(dot(q, claimed) for q in restarts)
    backup = tuple(
        min(cost[s][a] + gamma * ((1 - R) * dot(P[s][a].fractions(), claimed) + R * top) for a in range(mdp.n_actions))
        for s in range(mdp.n_states)
    )
    return first(
        [
            equal("min over policies of max over distributions", tuple(map(min, zip(*worst, strict=True))), claimed),
            equal("max over distributions of min over policies", tuple(map(max, zip(*best, strict=True))), claimed),
            equal("the rectangular Bellman equation", backup, claimed),
        ]
    )


GAME_VALUE = Claim(
    "game-value",
    "Theorem T1 (docs/theorems.md)",
    "E",
    "rectangular, static and fully coupled contamination games have one value: rectangularity costs nothing",
    "any non-empty compact set Q of restart distributions",
    printed=Statement(
        "min_π max_{q∈Q} V = max_{q∈Q} min_π V = W + (γR/(1−γ)) max_Q q·W, and it solves the Bellman equation in which "
        "nature chooses q anew at every pair",
        _law_sets,
        _game_value,
        exact=True,
    ),
    broken=Statement("the same with 1 − γ(1−R) for 1 − γ", _law_sets, lambda **case: _game_value(**case, horizon="b")),
)


# some-discount: where the reduction ends.


def radius_values(mdp: MDP, radius_of: Floats) -> tuple[Vector, tuple[int, ...], bool]:
    """(V*, a robust optimal policy, whether it is the only one) under contamination with a radius for each pair.

    Nature's best state is one for all pairs, so V^pi is the largest, and V* the smallest, of finitely many values.
    """
    P, cost, gamma, S = exact.kernel(mdp), exact.costs(mdp), Fraction(mdp.gamma), mdp.n_states
    found = {}
    for policy in product(range(mdp.n_actions), repeat=S):
        own = [cost[s][a] for s, a in enumerate(policy)]
        answers = []
        for top in range(S):
            rows = []
            for s, a in enumerate(policy):
                R = Fraction(float(radius_of[s, a]))
                rows.append(
                    exact.Rational.of(tuple((1 - R) * x + R * (t == top) for t, x in enumerate(P[s][a].fractions())))
                )
            answers.append(exact.discounted_values(rows, own, gamma).fractions())
        found[policy] = tuple(map(max, zip(*answers, strict=True)))
    V = tuple(map(min, zip(*found.values(), strict=True)))
    best = [policy for policy, own_values in found.items() if own_values == V]
    return V, best[0], len(best) == 1


@st.composite
def _radii_by_pair(draw: st.DrawFn, *, tempting: bool = False) -> Case:
    """State 0 is free for ever; in state 1 the agent pays to get there. A radius for each pair.

    `tempting`: the dear action is the better one at gamma, and the cheap one at discounts below 8/9.
    """
    eighths = st.integers(0, 7).map(lambda k: k / 8)
    stay = draw(st.sampled_from((0.375,) if tempting else (0.375, 0.0, 0.25)))
    cheap = draw(st.sampled_from((0.5,) if tempting else (0.5, 0.25)))
    dear = draw(st.sampled_from((0.75,) if tempting else (1.0, 0.75)))
    mdp = MDP(
        [[[1.0, 0.0], [1.0, 0.0]], [[1.0 - stay, stay], [1.0, 0.0]]],
        [[0.0, draw(st.sampled_from((0.0, 0.25)))], [cheap, dear]],
        draw(st.sampled_from((0.9375,) if tempting else (0.9375, 0.5, 0.75))),
    )
    return {"mdp": mdp, "radius_of": np.array([[draw(eighths), draw(eighths)], [draw(eighths), draw(eighths)]])}


def _some_discount(mdp: MDP, radius_of: Floats, *, common: bool, power: int = 1) -> Finding | None:
    """Whether a robust optimal policy that is the only one is optimal for some discount; `common`: for gamma(1−R)."""
    matrix = np.full_like(radius_of, radius_of[0, 0]) if common else radius_of
    _, policy, alone = radius_values(mdp, matrix)
    if alone and optimal_for_no_discount(mdp, policy):
        return Finding(f"discounts at which the robust policy {list(policy)} is optimal", "none", "at least one")
    short = _short_horizon(mdp, 1.0 - (1.0 - float(matrix[0, 0])) ** power) if common else None
    if short is None:
        return None
    actions = rational.solve(short, Contamination(0.0)).optimal_actions
    if all(a in best for a, best in zip(policy, actions, strict=True)):
        return None
    return Finding("the robust policy", str(list(policy)), f"one of {actions}, as at discount {short.gamma}")


SOME_DISCOUNT = Claim(
    "some-discount",
    "Theorem T1, its limit (docs/theorems.md)",
    "E",
    "a robust optimal policy is an optimal policy of the nominal model at some discount",
    "contamination with one radius for all pairs",
    printed=Statement(
        "without the hypothesis: for radii R(s,a) that differ",
        _radii_by_pair,
        lambda **case: _some_discount(**case, common=False),
        exact=True,
    ),
    amended=Statement(
        "for one radius R: it is optimal at γ(1−R)",
        _radii_by_pair,
        lambda **case: _some_discount(**case, common=True),
        exact=True,
    ),
    amendment="hypothesis",
    broken=Statement(
        "for one radius R: it is optimal at γ",
        lambda: _radii_by_pair(tempting=True),
        lambda **case: _some_discount(**case, common=True, power=0),
    ),
    note="Bernstein coefficients of the advantages certify that a policy is optimal for no discount in [0, 1). With "
    "radii that differ, a robust policy prefers reliable actions, and no discount expresses this preference.",
)


# some-discount-tv. Found by search over models of three states and three actions.

WITNESS = MDP(
    [
        [[0.0625, 0.0, 0.9375], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]],
        [[0.0625, 0.0, 0.9375], [0.0625, 0.9375, 0.0], [0.125, 0.875, 0.0]],
        [[0.0625, 0.9375, 0.0], [0.3125, 0.6875, 0.0], [0.125, 0.625, 0.25]],
    ],
    [[0.3125, 0.3125, 0.125], [0.6875, 0.5, 0.5], [0.125, 0.875, 0.4375]],
    0.875,
)


@st.composite
def _near_the_witness(draw: st.DrawFn) -> Case:
    gamma, radius = draw(st.sampled_from((0.875, 0.75, 0.9375))), draw(st.sampled_from((0.25, 0.125, 0.0625, 0.375)))
    return {"mdp": MDP(WITNESS.P, WITNESS.cost, gamma), "uncertainty_set": TotalVariation(radius)}


def _some_discount_tv(mdp: MDP, uncertainty_set: TotalVariation) -> Finding | None:
    actions = rational.solve(mdp, uncertainty_set).optimal_actions
    policy = [only[0] for only in actions]
    if all(len(only) == 1 for only in actions) and optimal_for_no_discount(mdp, policy):
        return Finding(f"discounts at which the robust policy {policy} is optimal", "none", "at least one")
    return None


SOME_DISCOUNT_TV = Claim(
    "some-discount-tv",
    "Theorem T1, its limit (docs/theorems.md)",
    "E",
    "a policy that is optimal for total variation is optimal in the nominal model at some discount",
    "total variation has R max v in its support function too, but the rest is not linear",
    printed=Statement(
        "the same for the total variation ball of one radius", _near_the_witness, _some_discount_tv, exact=True
    ),
    note="Such models are rare, about 1 in 300 random ones. So total variation is more than a change of discount.",
)


# span-modulus.


@st.composite
def _two_values(draw: st.DrawFn) -> Case:
    mdp = draw(mdps(max_states=3, max_actions=2, cost_range=(-1.0, 1.0)))
    numbers = st.sampled_from((0.0, 0.25, 0.5, 1.0))
    return {
        "mdp": mdp,
        "uncertainty_set": draw(uncertainty_sets(kinds=(Contamination, TotalVariation))),
        "radius_of": np.array([draw(numbers) for _ in range(mdp.cost.size)]).reshape(mdp.cost.shape),
        "V": draw(values(mdp.n_states)),
        "other": draw(values(mdp.n_states)),
    }


def _span(x: list[Fraction]) -> Fraction:
    return max(x) - min(x)


def _images(case: Case, *, by_pair: bool) -> tuple[list[Fraction], list[Fraction], Fraction]:
    """(TV − TV', V − V', gamma(1−R)), R the smallest radius there is."""
    mdp, uncertainty_set, radius_of = case["mdp"], case["uncertainty_set"], case["radius_of"]
    gamma, cost, images = Fraction(mdp.gamma), exact.costs(mdp), []
    pair = [fractions(case[name]) for name in ("V", "other")]
    for v in pair:
        sigma = [
            [
                (1 - R) * dot(row.fractions(), v) + R * max(v)
                if by_pair
                else rational.sigma(uncertainty_set, row.fractions(), v)
                for row, R in zip(rows, map(Fraction, own), strict=True)
            ]
            for rows, own in zip(exact.kernel(mdp), radius_of.tolist(), strict=True)
        ]
        images.append(
            [min(c + gamma * x for c, x in zip(*both, strict=True)) for both in zip(cost, sigma, strict=True)]
        )
    least = Fraction(float(radius_of.min())) if by_pair else Fraction(uncertainty_set.radius)
    gaps = [[x - y for x, y in zip(*both, strict=True)] for both in (images, pair)]
    return gaps[0], gaps[1], gamma * (1 - least)


def _span_sides(*, by_pair: bool, **case: Any) -> tuple[Fraction, Fraction]:
    after, before, modulus = _images(case, by_pair=by_pair)
    return _span(after), modulus * _span(before)


def _contracts_in_span(*, factor: Fraction = Fraction(1), **case: Any) -> Finding | None:
    findings = []
    for by_pair in (False, True):
        left, right = _span_sides(**case, by_pair=by_pair)
        findings.append(at_most(f"span(TV − TV'){', radii by pair' if by_pair else ''}", left, factor * right))
    return first(findings)


def _contracts_in_sup(**case: Any) -> Finding | None:
    after, before, modulus = _images(case, by_pair=False)
    return at_most("‖TV − TV'‖", max(map(abs, after)), modulus * max(map(abs, before)))


SPAN_MODULUS = Claim(
    "span-modulus",
    "Theorem T3 (docs/theorems.md)",
    "E",
    "T contracts with modulus γ(1−R), in the span seminorm",
    "contamination or total variation; for radii R(s,a) that differ, R is the smallest",
    printed=Statement("without the hypothesis: in the sup norm", _two_values, _contracts_in_sup, exact=True),
    amended=Statement(
        "span(TV − TV') ≤ γ(1−R) span(V − V') for contamination, also with a radius for each pair, and for "
        "total variation",
        _two_values,
        _contracts_in_span,
        lambda **case: ratio(*_span_sides(**case, by_pair=False)),
        exact=True,
    ),
    amendment="hypothesis",
    broken=Statement(
        "the same with seven eighths of the modulus",
        _two_values,
        lambda **case: _contracts_in_span(**case, factor=Fraction(7, 8)),
    ),
    note="The modulus is sharp (tightest ratio 1). At γ = 1 the modulus is 1−R: the span is a seminorm of the kind "
    "that work on robust average reward constructs.",
)

# span-restarts: the span modulus needs one set of restart distributions.


@st.composite
def _restarting_values(draw: st.DrawFn) -> Case:
    """A model, a radius, a restart distribution for every pair, and two value vectors."""
    case = draw(_restarts())
    states = case["mdp"].n_states
    return case | {"V": draw(values(states)), "other": draw(values(states))}


def _restart_span(
    mdp: MDP, radius: float, laws: Floats, V: Floats, other: Floats, *, common: bool, factor: Fraction = Fraction(1)
) -> Finding | None:
    """Restarts by the distribution of the pair, or by the worst of all at every pair (`common`)."""
    gamma, R, cost = Fraction(mdp.gamma), Fraction(radius), exact.costs(mdp)
    restarts = [exact.distribution(law.tolist()).fractions() for law in laws]
    images = []
    for v in map(fractions, (V, other)):
        means = [dot(q, v) for q in restarts]
        moved = []
        for s, rows in enumerate(exact.kernel(mdp)):
            ends = [max(means) if common else means[s * mdp.n_actions + a] for a in range(mdp.n_actions)]
            pairs = zip(cost[s], rows, ends, strict=True)
            moved.append(min(c + gamma * ((1 - R) * dot(row.fractions(), v) + R * end) for c, row, end in pairs))
        images.append(moved)
    after = [x - y for x, y in zip(*images, strict=True)]
    before = [x - y for x, y in zip(fractions(V), fractions(other), strict=True)]
    return at_most("span(TV − TV')", _span(after), factor * gamma * (1 - R) * _span(before))


SPAN_RESTARTS = Claim(
    "span-restarts",
    "Theorem T3, its limit (docs/theorems.md)",
    "E",
    "with restarts from a set Q of distributions T contracts in the span with modulus γ(1−R)",
    "one set Q for all pairs",
    printed=Statement(
        "without the hypothesis: a distribution for each pair",
        _restarting_values,
        lambda **case: _restart_span(**case, common=False),
        exact=True,
    ),
    amended=Statement(
        "σ(v) = (1−R)p·v + R max_Q q·v with one Q for all pairs",
        _restarting_values,
        lambda **case: _restart_span(**case, common=True),
        exact=True,
    ),
    amendment="hypothesis",
    broken=Statement(
        "the same with seven eighths of the modulus",
        _restarting_values,
        lambda **case: _restart_span(**case, common=True, factor=Fraction(7, 8)),
    ),
    note="With a distribution for each pair the modulus is γ, as two absorbing states that restart in themselves show.",
)

CLAIMS = (DECOUPLING, GAME_VALUE, BEST_RESPONSES, SOME_DISCOUNT, SOME_DISCOUNT_TV, SPAN_MODULUS, SPAN_RESTARTS)
