"""Rectangularity: the Bellman equation, randomised policies, and the order of minimum and maximum, in exact rationals.

One decision between two actions, followed by values v, is a game: with kernel k the action a costs w[k][a] = q_{k,a}·v.
A set that is given by kernels of the state (both rows chosen together) is s-rectangular and, as a set of two or three
kernels, not convex.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
from hypothesis import strategies as st

from oracles.arithmetic import exact
from oracles.arithmetic.exact import Rational, Vector
from properties.cases.case import Case
from properties.claims.claim import Claim, Statement
from properties.claims.sets.rows import distribution
from properties.claims.sides import dot, equal, fractions
from properties.judging.verdict import Finding
from properties.strategies import mdps, policies, values
from robust_core.mdp import MDP
from robust_core.validate import Floats

Game = list[Vector]
"""w[k][a], two actions."""


@st.composite
def _decisions(draw: st.DrawFn) -> Case:
    """Two or three kernels of one state with two actions, and the values of the next states."""
    n, count = draw(st.integers(2, 3)), draw(st.integers(2, 3))
    kernels = np.stack([draw(policies((2, n))) for _ in range(count)])
    return {"kernels": kernels, "v": draw(values(n))}


def _game(kernels: Floats, v: Floats) -> Game:
    return [tuple(dot(distribution(row), fractions(v)) for row in kernel) for kernel in kernels]


def _crossings(lines: Sequence[Vector]) -> list[Fraction]:
    """The weights x in [0, 1] of the first end at which two of the lines x·first + (1−x)·second meet, and both ends."""
    found = [Fraction(0), Fraction(1)]
    for (a, b), (c, d) in combinations(lines, 2):
        slope = (a - b) - (c - d)
        if slope and 0 <= (d - b) / slope <= 1:
            found.append((d - b) / slope)
    return found


def randomised(game: Game) -> Fraction:
    """min over policies (x, 1−x) of the largest x w[k][0] + (1−x) w[k][1]: convex, least at a crossing or an end."""
    return min(max(x * a + (1 - x) * b for a, b in game) for x in _crossings(game))


def deterministic(game: Game) -> Fraction:
    """min over actions of the largest w[k][a]."""
    return min(max(w[a] for w in game) for a in range(2))


def nature_first(game: Game, *, mixes: bool) -> Fraction:
    """max over kernels, or over their convex hull, of the least w[k][a].

    With two actions an optimal mixture needs two kernels at most (one equation), and there both actions cost the same.
    """
    pure = max(map(min, game))
    if not mixes:
        return pure
    pairs = ((first, second) for first, second in combinations(game, 2))
    mixed = (
        min(x * first[a] + (1 - x) * second[a] for a in range(2))
        for first, second in pairs
        for x in _crossings([(first[0], second[0]), (first[1], second[1])])
    )
    return max([pure, *mixed])


def _rectangular(kernels: Floats, v: Floats) -> Game:
    """The game in which the rows of both actions are chosen apart."""
    game = _game(kernels, v)
    return [(first[0], second[1]) for first in game for second in game]


def _same(what: str, make: Callable[..., Game]) -> Callable[..., Finding | None]:
    def judge(**case: Any) -> Finding | None:
        game = make(**case)
        return equal(what, randomised(game), deterministic(game))

    return judge


S_RANDOMISED = Claim(
    "s-rect-randomised",
    "Wiesemann, Kuhn and Rustem 2013 (printed for (s,a)-rectangular sets: Iyengar 2005, Nilim and El Ghaoui 2005)",
    "E",
    "a deterministic policy is optimal",
    "printed: for rectangular sets",
    printed=Statement(
        "for s-rectangular sets: the best randomised policy is no better than the best action",
        _decisions,
        _same("least worst cost of randomised policies against that of actions", _game),
        exact=True,
    ),
    amended=Statement(
        "for (s,a)-rectangular sets: nature chooses the rows of different actions independently",
        _decisions,
        _same("least worst cost of randomised policies against that of actions", _rectangular),
        exact=True,
    ),
    amendment="hypothesis",
    note="The counterexample has two kernels, each of which punishes one action: either action costs 1 in the worst "
    "case, and a fair coin costs ½.",
)


def _order(kernels: Floats, v: Floats, *, convex: bool) -> Finding | None:
    game = _game(kernels, v)
    return equal(
        "min over policies of max against max over kernels of min", randomised(game), nature_first(game, mixes=convex)
    )


S_DUALITY = Claim(
    "s-rect-duality",
    "Wiesemann, Kuhn and Rustem 2013; Ho, Petrik and Wiesemann 2021",
    "E",
    "min over policies and max over kernels commute for s-rectangular sets",
    "printed: for compact sets that are convex",
    printed=Statement(
        "without convexity: for a set of two or three kernels",
        _decisions,
        lambda **case: _order(**case, convex=False),
        exact=True,
    ),
    amended=Statement(
        "for the convex hull of the kernels of the state (von Neumann)",
        _decisions,
        lambda **case: _order(**case, convex=True),
        exact=True,
    ),
    amendment="hypothesis",
    note="The minimum over policies is the same for the set and its hull; the maximum over kernels first is not.",
)


@st.composite
def _two_models(draw: st.DrawFn) -> Case:
    """A model with two actions and a second kernel for it."""
    mdp = draw(mdps(min_states=2, max_states=2, min_actions=2, max_actions=2, cost_range=(0.0, 1.0)))
    other = draw(policies((mdp.n_states * mdp.n_actions, mdp.n_states)))
    return {"mdp": mdp, "other": other.reshape(mdp.P.shape)}


Choices = list[list[tuple[Rational, Rational]]]


def _choices(mdp: MDP, other: Floats) -> Choices:
    """The two rows of every pair."""
    return [
        [
            (exact.distribution(mdp.P[s, a].tolist()), exact.distribution(other[s, a].tolist()))
            for a in range(mdp.n_actions)
        ]
        for s in range(mdp.n_states)
    ]


def _worst(mdp: MDP, rows: Choices, policy: Sequence[int], *, apart: bool) -> Vector:
    """The largest value of every state, over both kernels, or over all products of their rows."""
    gamma, states = Fraction(mdp.gamma), range(mdp.n_states)
    cost = [Fraction(float(mdp.cost[s, policy[s]])) for s in states]
    picks = product(range(2), repeat=mdp.n_states) if apart else [(k,) * mdp.n_states for k in range(2)]
    kernels = ([rows[s][policy[s]][pick[s]] for s in states] for pick in picks)
    found = [exact.discounted_values(kernel, cost, gamma).fractions() for kernel in kernels]
    return tuple(map(max, zip(*found, strict=True)))


def _bellman(mdp: MDP, other: Floats, *, apart: bool) -> Finding | None:
    rows = _choices(mdp, other)
    policies_of = product(range(mdp.n_actions), repeat=mdp.n_states)
    V = tuple(map(min, zip(*(_worst(mdp, rows, policy, apart=apart) for policy in policies_of), strict=True)))
    value = Rational.of(V)
    image = tuple(
        min(
            Fraction(float(mdp.cost[s, a])) + Fraction(mdp.gamma) * max(row.dot(value) for row in rows[s][a])
            for a in range(mdp.n_actions)
        )
        for s in range(mdp.n_states)
    )
    return equal("least worst value against its robust backup", V, image)


BELLMAN_TWO_KERNELS = Claim(
    "bellman-two-kernels",
    "Iyengar 2005; Nilim and El Ghaoui 2005 (printed with rectangularity)",
    "E",
    "the least worst-case value V(s) over stationary deterministic policies satisfies the robust Bellman equation "
    "V(s) = min_a c(s,a) + γ max_q q·V",
    "two states, two actions, two kernels",
    printed=Statement(
        "for the set {P, P'}: nature keeps one of the two kernels",
        _two_models,
        lambda **case: _bellman(**case, apart=False),
        exact=True,
    ),
    amended=Statement(
        "for the product of the rows: nature chooses the row of every pair independently",
        _two_models,
        lambda **case: _bellman(**case, apart=True),
        exact=True,
    ),
    amendment="hypothesis",
    note="Planners by backups always solve the problem of the product set. The value of the set itself is smaller, "
    "and the policy that they return need not be optimal for it. The claim rectangular is the case without actions.",
)

CLAIMS = (BELLMAN_TWO_KERNELS, S_RANDOMISED, S_DUALITY)
