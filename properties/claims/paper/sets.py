"""Claims of Section 3 about uncertainty sets and their support functions.

All judges decide in exact rationals, except where a convex program is asked (its bounds are certified) and where
a logarithm appears (enclosed to fifty digits).
"""

from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st

import robust_core
from oracles.arithmetic import exact
from oracles.planning import rational
from oracles.sets import programs, vertices
from properties.cases.case import Case
from properties.claims.claim import Claim, Statement
from properties.claims.sides import at_most, dot, equal, first, fractions, of_sides
from properties.judging.verdict import Finding
from properties.laws.rounding import operations_bound
from properties.strategies import policies, radii, values
from robust_core.sets import Contamination, TotalVariation
from robust_core.validate import Floats

MAX_STATES = 4


@st.composite
def _rows(draw: st.DrawFn, *names: str, max_states: int = MAX_STATES) -> Case:
    """A radius, distributions over the same states under the given names, and values v."""
    n = draw(st.integers(1, max_states))
    case: Case = {"radius": draw(radii()), "v": draw(values(n))}
    return case | {name: draw(policies((1, n)))[0] for name in names}


def _closed_form(radius: float, p: Floats, v: Floats) -> Fraction:
    """(1−R) p·v + R max v."""
    R, V = Fraction(radius), fractions(v)
    return (1 - R) * dot(exact.distribution(p.tolist()).fractions(), V) + R * max(V)


# sup-closed: every member of the set is (1−R)p + Rq, so the maximum over the set is (1−R)p·v + R max_q q·v, and
# max_q q·v = max v. The judge asks the vertices of the definition and one drawn member.


def _sup_closed(radius: float, p: Floats, q: Floats, v: Floats, *, form: Any = _closed_form) -> Finding | None:
    V, R = fractions(v), Fraction(radius)
    claimed = form(radius, p, v)
    centre, other = (exact.distribution(row.tolist()).fractions() for row in (p, q))
    member = tuple((1 - R) * x + R * y for x, y in zip(centre, other, strict=True))
    return first(
        [
            equal("sigma(v) against the vertices", claimed, vertices.sigma(Contamination(radius), p.tolist(), V)),
            at_most("q·v of a member q against sigma(v)", dot(member, V), claimed),
        ]
    )


SUP_CLOSED = Claim(
    "sup-closed",
    "Section 4 (after Algorithm 1), Appendix A",
    "E",
    "the support function of the contamination set is (1−R) p·v + R max v",
    "p a distribution, 0 ≤ R ≤ 1, v any vector",
    printed=Statement(
        "max{q·v : q = (1−R)p + Ru, u in the simplex} = (1−R) p·v + R max v",
        lambda: _rows("p", "q"),
        _sup_closed,
        exact=True,
    ),
    broken=Statement(
        "… = p·v + R max v (the nominal part keeps its whole weight)",
        lambda: _rows("p", "q"),
        lambda **case: _sup_closed(
            **case, form=lambda R, p, v: _closed_form(0.0, p, v) + Fraction(R) * Fraction(v.max())
        ),
    ),
)


# sup-tv: the closed form in use against the enclosure that the convex program certifies (by its dual), and the
# exact greedy form against the vertices of the ball.


def _sup_tv(radius: float, p: Floats, v: Floats, *, convention: float = 1.0) -> Finding | None:
    ball = TotalVariation(radius)
    got = float(robust_core.sigma(TotalVariation(radius * convention), p, v))
    lower, upper = (float(bound) for bound in programs.enclosures(ball, p, v))
    # sort, cumulate, clip, two sums of S terms and three more operations
    allowed = operations_bound(6 * len(p) + 8, 2.0 * float(np.abs(v).max()))
    if not lower - allowed <= got <= upper + allowed:
        return Finding("sigma_TV(v) against the convex program", got, (lower, upper), allowed)
    row = p.tolist()
    return equal(
        "the greedy form against the vertices",
        rational.sigma(ball, row, v.tolist()),
        vertices.sigma(ball, row, v.tolist()),
    )


SUP_TV = Claim(
    "sup-tv",
    "Section 3, Remark",
    "E",
    "the closed form of the total-variation ball is the optimum of the convex program",
    "d_TV = ½‖·‖₁",
    printed=Statement(
        "move mass R from the states of lowest v to a state of largest v: the value is max{q·v : ½‖q−p‖₁ ≤ R}",
        lambda: _rows("p"),
        _sup_tv,
    ),
    broken=Statement(
        "the same with the radius convention ‖q−p‖₁ ≤ R",
        lambda: _rows("p"),
        lambda **case: _sup_tv(**case, convention=0.5),
    ),
    note="The convex program's bounds are certified by weak duality; the greedy form is compared with the vertices "
    "in exact rationals.",
)


# cont-in-tv: d_TV(p, (1−R)p + Rq) = R d_TV(p, q) <= R, with equality iff q and p have disjoint supports.


def _variation(p: Floats, q: Floats) -> Fraction:
    left, right = (exact.distribution(row.tolist()).fractions() for row in (p, q))
    return sum((abs(x - y) for x, y in zip(left, right, strict=True)), Fraction(0)) / 2


def _contained(radius: float, p: Floats, q: Floats, v: Floats) -> tuple[Fraction, Fraction]:
    R = Fraction(radius)
    centre, other = (exact.distribution(row.tolist()).fractions() for row in (p, q))
    member = [(1 - R) * x + R * y for x, y in zip(centre, other, strict=True)]
    return sum((abs(x - y) for x, y in zip(centre, member, strict=True)), Fraction(0)) / 2, R


CONT_IN_TV = Claim(
    "cont-in-tv",
    "Section 3, Remark",
    "E",
    "the contamination set lies in the total-variation ball of the same radius",
    "d_TV = ½‖·‖₁",
    printed=Statement(
        "d_TV(p, (1−R)p + Rq) ≤ R for all distributions p, q",
        lambda: _rows("p", "q"),
        lambda **case: at_most("d_TV(p, (1−R)p + Rq) against R", *_contained(**case)),
        of_sides(_contained),
        exact=True,
    ),
    broken=Statement(
        "d_TV(p, (1−R)p + Rq) ≤ R/2 (the other convention)",
        lambda: _rows("p", "q"),
        lambda **case: at_most("d_TV against R/2", _contained(**case)[0], _contained(**case)[1] / 2),
    ),
    note="d_TV(p, (1−R)p + Rq) = R d_TV(p, q): equality iff p and q have disjoint supports. The inclusion is not "
    "strict for every p: for p = (1, 0) both sets are equal.",
)


# remark-conservative: contamination ⊂ TV gives sigma_TV >= sigma_cont, so TV is the more conservative of the two.
# How much more? sigma_TV = R max v + (1−R) U with U the mean of v over the upper 1−R part of p (its CVaR), and with
# L the mean over the lower R part p·v = (1−R)U + R L. Hence sigma_TV − sigma_cont = (1−R)(U − p·v) = R(1−R)(U − L),
# between 0 and R(1−R) span v; both ends are attained, the upper one by p = (R, 1−R), v = (0, 1).


def _gap(radius: float, p: Floats, v: Floats) -> tuple[Fraction, Fraction]:
    row, V = p.tolist(), fractions(v)
    wide = vertices.sigma(TotalVariation(radius), row, V)
    R = Fraction(radius)
    return wide - _closed_form(radius, p, v), R * (1 - R) * (max(V) - min(V))


def _more_conservative(**case: Any) -> Finding | None:
    gap, bound = _gap(**case)
    return first([at_most("sigma_cont against sigma_TV", -gap, 0), at_most("sigma_TV − sigma_cont", gap, bound)])


REMARK_CONSERVATIVE = Claim(
    "remark-conservative",
    "Section 3, Remark",
    "E",
    "total variation is less conservative than contamination of the same radius",
    "same centre, same radius; less conservative: the support function is nowhere larger",
    printed=Statement(
        "σ_TV(v) ≤ σ_cont(v) for all v",
        lambda: _rows("p"),
        lambda **case: at_most("sigma_TV − sigma_cont against 0", _gap(**case)[0], 0),
        exact=True,
    ),
    amended=Statement(
        "0 ≤ σ_TV(v) − σ_cont(v) ≤ R(1−R) span(v): total variation is the more conservative, by at most that",
        lambda: _rows("p"),
        _more_conservative,
        of_sides(_gap),
        exact=True,
    ),
    amendment="correction",
    broken=Statement(
        "the same with half the bound",
        lambda: _rows("p"),
        lambda **case: at_most("sigma_TV − sigma_cont", _gap(**case)[0], _gap(**case)[1] / 2),
    ),
    note="The inclusion printed one line before implies the opposite of the conclusion. The bound is attained at "
    "p = (R, 1−R), v = (0, 1).",
)


# pinsker. The logarithms are enclosed: Decimal.ln is correctly rounded, so with fifty digits each of the at most
# 2S logarithms and their products and sums errs by less than one unit in the fiftieth digit of its magnitude.

_DIGITS = Context(prec=50, Emin=-(10**6), Emax=10**6)


def _log(x: Fraction) -> tuple[Fraction, Fraction]:
    """ln x and a bound on its error."""
    logs = [_DIGITS.ln(Decimal(n)) for n in (x.numerator, x.denominator)]
    unit = Fraction(1, 10**49)
    return Fraction(logs[0]) - Fraction(logs[1]), unit * (1 + sum(abs(Fraction(log)) for log in logs))


def _pinsker(
    p: Floats, q: Floats, *, constant: Fraction = Fraction(1, 2), **_: Any
) -> tuple[Fraction, Fraction] | None:
    """(2·d_TV², an upper bound on the divergence times 2·constant); None where the divergence is infinite."""
    left, right = (exact.distribution(row.tolist()).fractions() for row in (p, q))
    if any(x > 0 == y for x, y in zip(left, right, strict=True)):
        return None
    terms = [(x, *_log(x / y)) for x, y in zip(left, right, strict=True) if x > 0]
    divergence = sum((x * (log + error) for x, log, error in terms), Fraction(0)) if left != right else Fraction(0)
    return 2 * _variation(p, q) ** 2, 2 * constant * divergence


def _pinsker_judge(**case: Any) -> Finding | None:
    sides = _pinsker(**case)
    return None if sides is None else at_most("2 d_TV² against d_KL", *sides)


PINSKER = Claim(
    "pinsker",
    "Section 3, Remark",
    "E",
    "Pinsker's inequality d_TV(p,q) ≤ √(½ d_KL(p,q))",
    "natural logarithm; d_KL = ∞ where q vanishes and p does not",
    printed=Statement(
        "2 d_TV(p,q)² ≤ Σ p log(p/q)",
        lambda: _rows("p", "q"),
        _pinsker_judge,
        lambda **case: of_sides(lambda: _pinsker(**case) or (0, 1))(),
    ),
    broken=Statement(
        "d_TV(p,q) ≤ √(¼ d_KL(p,q))",
        lambda: _rows("p", "q"),
        lambda **case: _pinsker_judge(**case, constant=Fraction(1, 4)),
    ),
    note="The constant ½ is sharp: the ratio tends to 1 as q tends to p = (½, ½).",
)


CLAIMS = (SUP_CLOSED, SUP_TV, CONT_IN_TV, REMARK_CONSERVATIVE, PINSKER)
