"""Claims of Sections 2 and 3 about sets of kernels: products of rows, the definition of T, the centre, the size.

Each is a sentence on the way to the algorithms, not a theorem; everything is decided in exact rationals.
"""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import product

import numpy as np
from hypothesis import strategies as st

from oracles.arithmetic import exact
from oracles.arithmetic.exact import Rational, Vector
from oracles.planning import rational
from oracles.sets import vertices
from properties.cases.case import Case
from properties.claims.claim import Claim, Statement
from properties.claims.sides import at_most, equal, first, fractions
from properties.judging.verdict import Finding
from properties.strategies import mdps, policies, q_tables, radii
from robust_core.mdp import MDP
from robust_core.sets import Contamination
from robust_core.validate import Floats

# rectangular. Two kernels are a set of kernels; the collection of its sets of rows is that of their product, which has
# up to 2^S members. Nature may then mix the rows, and her best answer can be in the product only.


@st.composite
def _two_kernels(draw: st.DrawFn) -> Case:
    """A chain (one action) and a second kernel on the same states."""
    mdp = draw(mdps(min_states=2, max_states=3, max_actions=1))
    return {"mdp": mdp, "other": draw(policies((mdp.n_states, mdp.n_states)))}


def _rows(mdp: MDP, other: Floats) -> list[tuple[Rational, ...]]:
    """The two rows of every state."""
    return [
        (exact.distribution(mdp.P[s, 0].tolist()), exact.distribution(other[s].tolist())) for s in range(len(other))
    ]


def _worst(mdp: MDP, kernels: Sequence[Sequence[Rational]]) -> Vector:
    """The largest value of every state over the kernels, each kept for ever."""
    cost, gamma = [Fraction(c) for c in mdp.cost[:, 0].tolist()], Fraction(mdp.gamma)
    values = [exact.discounted_values(kernel, cost, gamma).fractions() for kernel in kernels]
    return tuple(map(max, zip(*values, strict=True)))


def _bellman_value(mdp: MDP, rows: list[tuple[Rational, ...]], V: Vector) -> Vector:
    """c + gamma max over the rows of each state."""
    value = Rational.of(V)
    return tuple(
        Fraction(c) + Fraction(mdp.gamma) * max(row.dot(value) for row in choices)
        for c, choices in zip(mdp.cost[:, 0].tolist(), rows, strict=True)
    )


def _rectangular(mdp: MDP, other: Floats, *, whole: bool) -> Finding | None:
    """The worst value over the set against the fixed point over its rows; `whole`: the set is the product."""
    rows = _rows(mdp, other)
    set_of_kernels = list(product(*rows)) if whole else [tuple(row[k] for row in rows) for k in range(2)]
    V = _worst(mdp, set_of_kernels)
    return equal("worst value over the set against its sets of rows", V, _bellman_value(mdp, rows, V))


RECTANGULAR = Claim(
    "rectangular",
    "Section 2",
    "E",
    "a set of kernels can be equivalently written as the collection of its sets of rows P_s^a",
    "printed: any uncertainty set of the transition kernel",
    printed=Statement(
        "the worst value of a chain over the set {P, P'} is that over its rows: V = c + γ max{P_s V, P'_s V}",
        _two_kernels,
        lambda **case: _rectangular(**case, whole=False),
        exact=True,
    ),
    amended=Statement(
        "the same if the set is the product of its sets of rows (rectangular, as P = ⊗P_s^a in Section 3)",
        _two_kernels,
        lambda **case: _rectangular(**case, whole=True),
        exact=True,
    ),
    amendment="hypothesis",
    note="A kernel is a collection of rows. But a set of kernels is the product of its sets of rows only if each row "
    "can be chosen independently of the others. For contamination by one restart distribution that is common to all "
    "pairs, the two sets differ and their values are equal (claim decoupling).",
)


# T-definition. To the letter, min_a Q(s,a) is a number at the state s, and sigma of a constant is the constant.


@st.composite
def _tables(draw: st.DrawFn) -> Case:
    mdp = draw(mdps(max_states=3, max_actions=2, cost_range=(-1.0, 1.0)))
    return {"mdp": mdp, "radius": draw(radii()), "Q": draw(q_tables(mdp))}


def _to_the_letter(mdp: MDP, radius: float, Q: Floats) -> Finding | None:
    """c(s,a) + gamma min_a' Q*(s,a') against Q*(s,a)."""
    del Q
    optimum = rational.solve(mdp, Contamination(radius))
    image = [
        [Fraction(c) + Fraction(mdp.gamma) * V for c in row]
        for row, V in zip(mdp.cost.tolist(), optimum.V, strict=True)
    ]
    return equal("TQ* against Q*", image, optimum.Q)


def _as_meant(mdp: MDP, radius: float, Q: Floats, *, largest: bool = False) -> Finding | None:
    choose: Callable[[Iterable[Fraction]], Fraction] = max if largest else min
    uncertainty_set = Contamination(radius)
    optimum = rational.solve(mdp, uncertainty_set)

    def image(table: object) -> list[list[Fraction]]:
        V = tuple(choose(map(Fraction, row)) for row in table)  # type: ignore[attr-defined]
        return [
            [
                Fraction(c) + Fraction(mdp.gamma) * vertices.sigma(uncertainty_set, mdp.P[s, a].tolist(), V)
                for a, c in enumerate(row)
            ]
            for s, row in enumerate(mdp.cost.tolist())
        ]

    return first(
        [
            equal("TQ* against Q*", image(optimum.Q), optimum.Q),
            equal("TQ of any Q", image(Q.tolist()), rational.backup(mdp, uncertainty_set, Q)),
        ]
    )


T_DEFINITION = Claim(
    "T-definition",
    "Section 2, the definition of T",
    "E",
    "TQ(s,a) = c(s,a) + γ σ_{P_s^a}(min_a Q(s,a)) has the fixed point Q*",
    printed=Statement(
        "to the letter, the argument of σ is the number min_a Q(s,a) at the present state: TQ* = Q*",
        _tables,
        _to_the_letter,
        exact=True,
    ),
    amended=Statement(
        "TQ(s,a) = c(s,a) + γ σ_{P_s^a}(V_Q) with the vector V_Q(s') = min_{a'} Q(s',a')",
        _tables,
        _as_meant,
        exact=True,
    ),
    amendment="correction",
    broken=Statement(
        "the same with V_Q(s') = max_{a'} Q(s',a')", _tables, lambda **case: _as_meant(**case, largest=True)
    ),
    note="The s on the right side is that of the left side. σ of a constant is this constant, so in the literal "
    "definition nature has no effect, and the fixed point is min_a c/(1−γ). Public code with a known bug, which "
    "takes the value of the present state, implements the literal definition.",
)


# centroid. The set is the simplex scaled by R and moved: its centroid is the mean of its vertices (1−R)p + R·1_s.


@st.composite
def _centres(draw: st.DrawFn) -> Case:
    return {"p": draw(policies((1, draw(st.integers(1, 4)))))[0], "radius": draw(radii())}


def _centroid(p: Floats, radius: float) -> Vector:
    """The mean of the vertices of the contamination set, from their definition."""
    row, R = exact.distribution(p.tolist()).fractions(), Fraction(radius)
    corners = [[(1 - R) * x + R * (k == s) for k, x in enumerate(row)] for s in range(len(row))]
    return tuple(sum(column, Fraction(0)) / len(row) for column in zip(*corners, strict=True))


def _is_centroid(p: Floats, radius: float) -> Finding | None:
    return equal("centroid of the set against p", _centroid(p, radius), exact.distribution(p.tolist()).fractions())


def _true_centroid(p: Floats, radius: float, *, more: int = 0) -> Finding | None:
    row, R = exact.distribution(p.tolist()).fractions(), Fraction(radius)
    middle = tuple((1 - R) * x + R / (len(row) + more) for x in row)
    member = vertices.contains(Contamination(radius), row, row)
    return first(
        [
            equal("centroid of the set", _centroid(p, radius), middle),
            equal("p is a member", member, True),
            equal("p is the centroid", middle == row, R == 0 or len(set(row)) == 1),
        ]
    )


CENTROID = Claim(
    "centroid",
    "Section 3",
    "E",
    "p is the centroid of its contamination set",
    printed=Statement("the centroid of {(1−R)p + Rq} is p", _centres, _is_centroid, exact=True),
    amended=Statement(
        "it is (1−R)p + R/S·1; p is a member, and the centroid if and only if R = 0 or p is uniform",
        _centres,
        _true_centroid,
        exact=True,
    ),
    amendment="correction",
    broken=Statement("it is (1−R)p + R/(S+1)·1", _centres, lambda **case: _true_centroid(**case, more=1)),
    note="The set lies on one side of p: every q in it satisfies q(s) ≥ (1−R)p(s) for all s.",
)


# restart-diameter.


@st.composite
def _pairs_of_radii(draw: st.DrawFn) -> Case:
    case = draw(_centres())
    return case | {"other": draw(radii()), "q": draw(policies((1, len(case["p"]))))[0]}


def _size(p: Floats, radius: float, other: float, q: Floats, *, factor: int = 1) -> Finding | None:
    """Nested in R; diameter `factor`·R in total variation; two contaminations are one of radius 1 − (1−R)(1−R')."""
    row, far = exact.distribution(p.tolist()).fractions(), exact.distribution(q.tolist()).fractions()
    R, S = Fraction(radius), Fraction(other)
    corners = vertices.vertices(Contamination(radius), p.tolist())
    distances = [sum(abs(x - y) for x, y in zip(a, b, strict=True)) / 2 for a in corners for b in corners]
    wide = Contamination(max(radius, other))
    twice = tuple((1 - S) * ((1 - R) * x + R * y) + S * y for x, y in zip(row, far, strict=True))
    both = 1 - (1 - R) * (1 - S)
    # The radius of both need not be a float: members are asked by their definition, q >= (1−R)p.
    return first(
        [
            *(
                equal("a vertex lies in the wider set", vertices.contains(wide, row, corner), True)
                for corner in corners
            ),
            equal("diameter", max(distances), factor * R if len(row) > 1 else 0),
            at_most("(1−R'')p against a member of the set around a member", [(1 - both) * x for x in row], list(twice)),
        ]
    )


RESTART_DIAMETER = Claim(
    "restart-diameter",
    "Section 3",
    "E",
    "R measures the size of the uncertainty set",
    "two states or more",
    printed=Statement(
        "the sets are nested in R, their diameter in total variation is R, and the set around a member of the set is "
        "in that of radius 1 − (1−R)(1−R')",
        _pairs_of_radii,
        _size,
        exact=True,
    ),
    broken=Statement("the diameter is 2R (the L1 norm)", _pairs_of_radii, lambda **case: _size(**case, factor=2)),
)


# no-gamma-condition.


@st.composite
def _long_horizons(draw: st.DrawFn) -> Case:
    gammas = st.sampled_from((0.5, 0.0, 1 - 2.0**-10, 1 - 2.0**-40))
    mdp = draw(mdps(max_states=3, max_actions=2, gammas=gammas, cost_range=(-1.0, 1.0)))
    return {"mdp": mdp, "radius": draw(radii()), "Q": draw(q_tables(mdp)), "other": draw(q_tables(mdp))}


def _contracts(mdp: MDP, radius: float, Q: Floats, other: Floats, *, relaxed: bool = False) -> Finding | None:
    """‖TQ − TQ'‖ <= gamma‖Q − Q'‖; `relaxed`: nature may add any vector of size R to a row."""

    def image(table: Floats) -> np.ndarray:
        if not relaxed:
            return np.array(rational.backup(mdp, Contamination(radius), table), dtype=object)
        V = fractions(table.min(axis=1))
        rows = [[row.dot(Rational.of(V)) for row in rows] for rows in exact.kernel(mdp)]
        extra = Fraction(radius) * sum(map(abs, V))
        cost = [[Fraction(c) for c in row] for row in mdp.cost.tolist()]
        return np.array(cost, dtype=object) + Fraction(mdp.gamma) * (np.array(rows, dtype=object) + extra)

    gap = max(abs(Fraction(x) - Fraction(y)) for x, y in zip(Q.ravel().tolist(), other.ravel().tolist(), strict=True))
    return at_most("‖TQ − TQ'‖", np.abs(image(Q) - image(other)).max(), Fraction(mdp.gamma) * gap)


NO_GAMMA_CONDITION = Claim(
    "no-gamma-condition",
    "Abstract, Sections 1 and 7",
    "E",
    "contraction, and with it convergence, needs no condition on the discount factor",
    "γ < 1",
    printed=Statement(
        "‖TQ − TQ'‖ ≤ γ‖Q − Q'‖ for every γ < 1 (up to 1 − 2^-40) and every R",
        _long_horizons,
        _contracts,
        exact=True,
    ),
    broken=Statement(
        "the same for the set relaxed to p + u, |u(s)| ≤ R, of earlier work (it needs γ(1 + RS) < 1)",
        _long_horizons,
        lambda **case: _contracts(**case, relaxed=True),
    ),
)

CLAIMS = (RECTANGULAR, T_DEFINITION, CENTROID, RESTART_DIAMETER, NO_GAMMA_CONDITION)
