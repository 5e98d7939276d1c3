"""Which sets one sample can learn (docs/theorems.md, T5): those whose support function is affine in the centre.

The one-sample update puts the set around the Dirac at the next state; its mean is Σ p(s')·sigma_{U(1_{s'})}(v).
"""

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from oracles.arithmetic import exact
from oracles.sets import vertices
from properties.cases.case import Case
from properties.claims.claim import Claim, Statement
from properties.claims.sides import dot, equal, first, fractions
from properties.judging.verdict import Finding
from properties.strategies import policies, radii, values
from robust_core.sets import Contamination, TotalVariation, UncertaintySet
from robust_core.validate import Floats, Ints


@st.composite
def _rows(draw: st.DrawFn) -> Case:
    """A row, values, a radius, restart distributions, and for every state the neighbours to which mass may move."""
    n = draw(st.integers(1, 4))
    return {
        "p": draw(policies((1, n)))[0],
        "v": draw(values(n)),
        "radius": draw(radii()),
        "laws": draw(policies((draw(st.integers(1, 2)), n))),
        "near": np.array([[int(s == t or draw(st.booleans())) for t in range(n)] for s in range(n)], dtype=np.int64),
    }


def plug_in(uncertainty_set: UncertaintySet, p: Floats, v: Floats) -> Fraction:
    """Σ p(s') sigma around the Dirac at s', over the vertices: the mean of the one-sample target."""
    row, V, n = exact.distribution(p.tolist()).fractions(), fractions(v), len(p)
    return sum(
        (x * vertices.sigma(uncertainty_set, [int(k == s) for k in range(n)], V) for s, x in enumerate(row)),
        Fraction(0),
    )


def _unbiased(uncertainty_set: UncertaintySet, p: Floats, v: Floats) -> Finding | None:
    truth = vertices.sigma(uncertainty_set, p.tolist(), fractions(v))
    return equal(
        f"mean of the one-sample target for {type(uncertainty_set).__name__}", plug_in(uncertainty_set, p, v), truth
    )


def _restart(p: Floats, v: Floats, radius: float, laws: Floats, *, kind: bool = False) -> Finding | None:
    """{(1−R)p + Rq : q in a set}: definition against the plug-in; `kind`: nature takes the best distribution."""
    row, V, R = exact.distribution(p.tolist()).fractions(), fractions(v), Fraction(radius)
    restarts = [exact.distribution(law.tolist()).fractions() for law in laws]
    truth = max(dot(tuple((1 - R) * x + R * y for x, y in zip(row, q, strict=True)), V) for q in restarts)
    choose = min if kind else max
    points = [choose([(1 - R) * V[s] + R * dot(q, V) for q in restarts]) for s in range(len(V))]
    return equal("mean of the one-sample target for restart distributions", dot(row, tuple(points)), truth)


def _local(p: Floats, v: Floats, near: Ints) -> Finding | None:
    """Mass at s may move within N(s): the maximum over all couplings, by enumeration of one target for each state."""
    row, V = exact.distribution(p.tolist()).fractions(), fractions(v)
    targets = [[t for t in range(len(V)) if near[s, t]] for s in range(len(V))]
    best: list[Fraction] = [Fraction(0)]
    for s, choices in enumerate(targets):
        best = [value + row[s] * V[t] for value in best for t in choices]
    points = tuple(max(V[t] for t in choices) for choices in targets)
    return equal("mean of the one-sample target for a local adversary", dot(row, points), max(best))


def _affine(p: Floats, v: Floats, radius: float, laws: Floats, near: Ints) -> Finding | None:
    return first([_unbiased(Contamination(radius), p, v), _restart(p, v, radius, laws), _local(p, v, near)])


ONE_SAMPLE = Claim(
    "one-sample",
    "Theorem T5 (docs/theorems.md)",
    "E",
    "the one-sample update is unbiased",
    "σ_{U(p)}(v) affine in p, equivalently U(p) = Σ p(s')U(1_{s'})",
    printed=Statement(
        "without the hypothesis: for the total variation ball",
        _rows,
        lambda p, v, radius, laws, near: _unbiased(TotalVariation(radius), p, v),
        exact=True,
    ),
    amended=Statement(
        "Σ p(s')σ_{U(1_{s'})}(v) = σ_{U(p)}(v) for contamination, for sets of restart distributions, and for local "
        "adversaries (mass at s' moves within N(s'))",
        _rows,
        _affine,
        exact=True,
    ),
    amendment="hypothesis",
    broken=Statement(
        "the same for restart distributions, with the best of them for the agent in the target",
        _rows,
        lambda p, v, radius, laws, near: _restart(p, v, radius, laws, kind=True),
    ),
    note="For these sets Algorithm 1 with σ_{U(1_{s'})}(V_t) as the target converges, and Theorem 3 holds in its "
    "amended form without R.",
)


def _learns(p: Floats, v: Floats, radius: float, *, other: type[UncertaintySet] = Contamination) -> Finding | None:
    """The plug-in of TV against sigma of another set of the same radius."""
    truth = vertices.sigma(other(radius), p.tolist(), fractions(v))  # type: ignore[call-arg]
    return equal("mean of the one-sample target of total variation", plug_in(TotalVariation(radius), p, v), truth)


def _reverse_ball(p: Floats, v: Floats, radius: float) -> Finding | None:
    """KL(1_{s'} ‖ q) <= d asks for q(s') >= e^{−d} = 1−R: its vertices move R to one state."""
    row, V, R = exact.distribution(p.tolist()).fractions(), fractions(v), Fraction(radius)
    points = tuple(max((1 - R) * V[s] + R * V[t] for t in range(len(V))) for s in range(len(V)))
    return equal(
        "mean of the one-sample target of KL(p‖q) <= −log(1−R)", dot(row, points), (1 - R) * dot(row, V) + R * max(V)
    )


PLUG_IN = Claim(
    "plug-in",
    "Theorem T5 (docs/theorems.md)",
    "E",
    "for other sets the one-sample update learns another problem",
    "total variation; KL(p‖q) ≤ −log(1−R)",
    printed=Statement(
        "around a Dirac the total variation ball, and the ball KL(p‖q) ≤ −log(1−R), are the contamination set of "
        "radius R: their plug-in learns contamination",
        _rows,
        lambda p, v, radius, laws, near: first([_learns(p, v, radius), _reverse_ball(p, v, radius)]),
        exact=True,
    ),
    broken=Statement(
        "the plug-in of total variation learns total variation",
        _rows,
        lambda p, v, radius, laws, near: _learns(p, v, radius, other=TotalVariation),
    ),
    note="KL(q‖p) and chi-square balls (p below) around a Dirac are the Dirac: their plug-in learns the ordinary "
    "problem.",
)

CLAIMS = (ONE_SAMPLE, PLUG_IN)
