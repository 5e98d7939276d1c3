"""Laws of support functions: (uncertainty_set, p, v) -> sigma(v) = max of q·v over the set around p."""

from typing import Any

import numpy as np

from oracles.planning import rational
from properties.cases.tape import MAX_OUTCOMES, SCALES, SHARES, Tape, decoded
from properties.judging.verdict import Finding
from properties.laws.comparison import below, compared
from properties.laws.law import Case, Law
from properties.laws.rounding import UNIT, support_bound
from robust_core.problem import Variant
from robust_core.sets import UncertaintySet

FACTORS = (2.0, 0.5, 3.0, 0.0, 0.1)
SHIFTS = (1.0, -2.0, 16.0, 0.1)


def read(tape: Tape, variant: Variant) -> Case:
    """A row and values."""
    case = _read_pair(tape, variant)
    case.pop("other")
    return case


def _read_pair(tape: Tape, variant: Variant) -> Case:
    n, scale = tape.size("outcomes"), tape.pick(SCALES)
    return {
        "uncertainty_set": tape.uncertainty_set(variant),
        "p": tape.row(n, MAX_OUTCOMES, 0, SHARES),
        "v": scale * tape.values(n, MAX_OUTCOMES),
        "other": scale * tape.values(n, MAX_OUTCOMES),
    }


def _read_axioms(tape: Tape, variant: Variant) -> Case:
    return _read_pair(tape, variant) | {
        "factor": tape.pick(FACTORS),
        "shift": tape.pick(SHIFTS),
        "larger": tape.radius(variant),
    }


def read_rows(tape: Tape, variant: Variant) -> Case:
    """Two rows of rows, and values."""
    case = read(tape, variant)
    n = len(case["v"])
    columns = tape.size("columns")
    rows = [tape.row(n, MAX_OUTCOMES, n - 1, SHARES) for _ in range(2 * columns - 1)]
    return case | {"p": np.array([case["p"], *rows]).reshape(2, columns, n)}


def _sigma(variant: Variant, uset: UncertaintySet, p: np.ndarray, v: np.ndarray) -> np.ndarray:
    return np.asarray(variant.make(uset, p, v), dtype=np.float64)


def _matches(variant: Variant, uncertainty_set: UncertaintySet, p: np.ndarray, v: np.ndarray) -> Finding | None:
    given = p.copy(), v.copy()
    got = _sigma(variant, uncertainty_set, *given)
    if not (np.array_equal(given[0], p) and np.array_equal(given[1], v)):
        return Finding("the caller's p and v after a call", [x.tolist() for x in given], [p.tolist(), v.tolist()])
    wanted, error = _truth(uncertainty_set, p, v)
    return compared(got, np.array(wanted), _allowed(variant, p, v) + error, "sigma(v)")


def _truth(uset: UncertaintySet, p: np.ndarray, v: np.ndarray) -> tuple[float, float]:
    """sigma(v) and how far it may be off: exact up to its rounding, or from the convex program of the set."""
    try:
        wanted = float(rational.sigma(uset, p.tolist(), v.tolist()))
    except rational.NoExactSupport:
        from oracles.sets.programs import is_registered, support

        if not is_registered(type(uset)):
            raise
        certified = support(uset, p, v)
        return float(certified.value), float(certified.error_bound)
    return wanted, UNIT * abs(wanted)


def _allowed(variant: Variant, p: np.ndarray, v: np.ndarray) -> float:
    """Rounding, and the error that the variant allows itself, relative to max|v|."""
    return support_bound(p, v) + float(variant.options.get("accuracy", 0.0)) * float(np.abs(v).max())


def _axioms(
    variant: Variant,
    uncertainty_set: Any,
    p: np.ndarray,
    v: np.ndarray,
    other: np.ndarray,
    factor: float,
    shift: float,
    larger: float,
) -> Finding | None:
    """What holds for the support function of any set around p, of whatever shape."""

    def sigma(values: np.ndarray) -> np.ndarray:
        return _sigma(variant, uncertainty_set, p, values)

    def allowed(*vectors: np.ndarray) -> float:
        return 2.0 * sum(_allowed(variant, p, x) for x in (v, *vectors))

    value, above, both = sigma(v), v + np.abs(other), v + other
    wider = type(uncertainty_set)(max(uncertainty_set.radius, larger))
    scaled, moved = factor * v, v + shift
    top, mean = np.array(v.max()), np.array(float(p @ v))
    findings = (
        below(mean, value, allowed(), "p·v against sigma(v)"),
        below(value, top, allowed(), "sigma(v) against max v"),
        compared(sigma(scaled), factor * value, allowed(scaled), f"sigma({factor} v)"),
        compared(sigma(moved), value + shift, allowed(moved), f"sigma(v + {shift})"),
        below(value, sigma(above), allowed(above), "sigma(v) against sigma(v') for v <= v'"),
        below(sigma(both), value + sigma(other), allowed(both, other), "sigma(v + w) against sigma(v) + sigma(w)"),
        below(value, _sigma(variant, wider, p, v), allowed(), "sigma(v) against that of a larger radius"),
        _ends(variant, uncertainty_set, p, v, allowed()),
    )
    return next((finding for finding in findings if finding is not None), None)


def _ends(variant: Variant, uset: Any, p: np.ndarray, v: np.ndarray, allowed: float) -> Finding | None:
    """The smallest radius and the largest: p·v, and what the set makes of it (max v, if it is then everything)."""
    for radius in (0.0, 1.0):
        extreme = type(uset)(radius)
        wanted, error = _truth(extreme, p, v)
        got = _sigma(variant, extreme, p, v)
        finding = compared(got, np.array(wanted), allowed + error, f"sigma(v) with radius {radius:g}")
        if finding is not None:
            return finding
    return None


def _rows(variant: Variant, uncertainty_set: UncertaintySet, p: np.ndarray, v: np.ndarray) -> Finding | None:
    """Rows in any number of axes and in any order of memory; p and v are left alone, the result is the caller's."""
    truths = np.array([[_truth(uncertainty_set, row, v) for row in rows] for rows in p])
    wanted, allowed = truths[..., 0], _allowed(variant, p, v) + UNIT * float(np.abs(v).max()) + truths[..., 1].max()
    layouts = {
        "": (p.copy(), wanted),
        " in two axes": (p[0].copy(), wanted[0]),
        " in four axes": (p[None].copy(), wanted[None]),
        " in another order of memory": (np.asfortranarray(p), wanted),
    }
    for layout, (rows, values) in layouts.items():
        given, asked = rows.copy(order="K"), v.copy()
        first = np.asarray(variant.make(uncertainty_set, given, asked))
        if not (np.array_equal(given, rows) and np.array_equal(asked, v)):
            return Finding(f"the caller's p and v after a call with rows{layout}", "changed", "as they were")
        finding = compared(first, values, allowed, f"sigma(v){layout} of row ", axes=())
        if finding is not None:
            return finding
        variant.make(uncertainty_set, rows.copy(order="K"), v[::-1] + 1.0)
        finding = compared(first, values, allowed, f"sigma(v){layout}, read after another call, of row ", axes=())
        if finding is not None:
            return finding
    return None


def _law(name: str, promise: str, statement: str, read: Any, judge: Any, *after: str) -> Law:
    cases = lambda variant: decoded(lambda tape: read(tape, variant))  # noqa: E731
    return Law(name, ("support",), promise, statement, cases, judge, after=after)


LAWS = (
    _law(
        "support value",
        "support function",
        "σ(v) = max of q·v over the set around p, against exact rational arithmetic (Section 2)",
        read,
        _matches,
    ),
    _law(
        "support axioms",
        "support function",
        "σ is sublinear, monotone, shifts with v, lies in [p·v, max v], rises with R and has the right ends",
        _read_axioms,
        _axioms,
        "support value",
    ),
    _law(
        "support rows",
        "rows",
        "many rows at once, in any layout, give what each gives alone",
        read_rows,
        _rows,
        "support value",
    ),
)
