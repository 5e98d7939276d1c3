"""Laws of support functions: (uncertainty_set, p, v) -> sigma(v) = max of q·v over the set around p."""

from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from oracles.arithmetic.exact import round_up
from oracles.planning import truth
from oracles.sets import oracle_of
from properties.cases.choices import Choices, Reader, radii_of, widen, with_radius
from properties.cases.scope import Scope
from properties.cases.sources import Generated
from properties.judging.verdict import Finding
from properties.kinds.support import SupportCase, support_case
from properties.laws.comparison import below, compare
from properties.laws.law import Law
from properties.laws.rounding import UNIT, stated_accuracy, support_bound
from robust_core.problem import Variant
from robust_core.sets import Threshold, UncertaintySet

FACTORS = (2.0, 0.5, 3.0, 0.0, 0.1)
SHIFTS = (1.0, -2.0, 16.0, 0.1)


def _read_axioms(choices: Choices, variant: Variant) -> SupportCase:
    n, scale = choices.size("outcomes", Scope.of(variant).states), choices.scale(variant)
    choice = choices.set_choice(variant)
    p, v = choices.row_for(choice.kind, n), scale * choices.values((n,))
    other, factor, shift = scale * choices.values((n,)), choices.pick(FACTORS), choices.pick(SHIFTS)
    level = choices.level(variant, choice.kind)
    chosen = choices.uncertainty_set(choice, p, v)
    larger = choices.radius(chosen, level, p, v)
    return SupportCase(uncertainty_set=chosen, p=p, v=v).plus(other=other, factor=factor, shift=shift, larger=larger)


MANY = 1024
"""The entries of many rows: 144 rows of seven outcomes."""


def read_rows(choices: Choices, variant: Variant) -> SupportCase:
    """Two rows of rows, and values."""
    case = support_case(choices, variant)
    n, columns = len(case.v), choices.size("columns")
    rows = [choices.row(n, n - 1) for _ in range(2 * columns - 1)]
    return replace(case, p=np.array([case.p, *rows]).reshape(2, columns, n))


def read_many_rows(choices: Choices, variant: Variant) -> SupportCase:
    """The same with the rows repeated, for a function that works in blocks; fewer times where they are long."""
    case = read_rows(choices, variant)
    return replace(case, p=np.tile(case.p, (1, max(MANY // case.p.size, 1), 1)))


NEAR_TIES = np.array([0.125, 0.375, 0.5]), np.array([0.0, 1.0 - 2.0**-10, 1.0])
"""The two largest values are close: at radius ¼ a ball of divergences keeps both, and its dual variable is small."""
RARE_BEST = (
    np.array([[0.5, 0.5, 0.0], [1.0, 2.0**-250, 0.0], [1.0, 2.0**-56, 0.0]]),
    np.array([0.0, 1.0, 2.0]),
)
"""The best state has no mass, and in two rows the best with mass hardly any: shortcuts for large radii show there."""
LONG = np.full(130, 1.0 / 130), np.roll(-(1.1 ** np.arange(130.0)), 47)
"""Every state has mass, and the values are far apart: passes that empty states are many, and so are these states."""
BESIDE = np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 1.5])
"""From the first state to its neighbours on both sides, at distances 1 and 2: the multiplier is between these two."""
EVEN = np.array([0.25, 0.75]), np.array([0.0, 1.0])
"""Two states: a tiny radius moves sigma by its root, one just below the threshold leaves a little below the maximum."""
_PLACES = np.arange(24.0)
FAR = np.eye(24)[0], np.sqrt(_PLACES)
"""All mass in the first place of a line on which v rises ever more slowly: it goes on from each place to the next."""
NEXT_TO_THRESHOLD, NEXT_TO_ONE = Threshold(0.999), 2.0**-24
TINY, NEARLY = 2.0**-76, 1.0 - 2.0**-36
"""A radius whose root is far above rounding, and the share of a threshold that is so far from it."""
Row: TypeAlias = tuple[np.ndarray, np.ndarray]
"""A row p and values v."""
LARGE_RADII = (100.0, 24.0, 10.0, 3.0, 1.0)
"""At 24 the reverse divergence leaves e^-24 of the mass, at 100 nothing that floats show."""


def hard_rows(variant: Variant) -> list[SupportCase]:
    """Near ties, long rows, metrics, boxes, and rare best states at large radii."""
    allowed = Scope.of(variant).states
    found = [*_on_lines(variant), *_in_boxes(variant)]
    for kind in _by_radius(variant):
        for row, usual in ((NEAR_TIES, 0.25), (LONG, 0.75), (LONG, 0.01), (LONG, 2.0**-20)):
            levels = [level for level in radii_of(variant, kind) if not isinstance(level, Threshold)]
            radius = min(levels, key=lambda level: abs(level - usual), default=usual)
            found.append((kind.choose(lambda levels: levels[0], radius, *row), row))
        if NEXT_TO_THRESHOLD in radii_of(variant, kind):
            tiny = kind.choose(lambda levels: levels[0], TINY, *EVEN)
            # Next to the threshold nearly all states of the long row give their mass.
            found += [(tiny, EVEN), *_below_threshold(tiny, NEXT_TO_THRESHOLD.factor, LONG)]
            found += _below_threshold(tiny, NEARLY, EVEN)
    rows, values = RARE_BEST
    found += [(each, (row, values)) for each in large_sets(variant) for row in rows]
    return [
        SupportCase(uncertainty_set=each, p=p, v=v) for each, (p, v) in found if allowed is None or len(v) in allowed
    ]


def _below_threshold(chosen: UncertaintySet, share: float, row: Row) -> list[tuple[UncertaintySet, Row]]:
    """The set with a share of the radius at which sigma reaches its largest value, if there is one."""
    threshold = oracle_of(type(chosen)).threshold
    radius = threshold(chosen, *row) if threshold else None
    return [(chosen.with_radius(share * radius), row)] if radius and np.isfinite(radius) else []


def _on_lines(variant: Variant) -> list[tuple[UncertaintySet, Row]]:
    kinds: list[Any] = [kind for kind in variant.sets if set(kind.axes) == {"radius", "metric"}]
    return [
        (kind(radius, np.abs(places[:, None] - places)), row)
        for kind in kinds
        for radius, places, row in ((1.5, np.array([0.0, -1.0, 2.0]), BESIDE), (14.5, _PLACES, FAR))
        if radius in variant.options.get("radii", (radius,))
    ]


def _in_boxes(variant: Variant) -> list[tuple[UncertaintySet, Row]]:
    """Bounds whose filling ends in the middle of a long row, and an upper bound next to 1."""
    kinds: list[Any] = [kind for kind in variant.sets if set(kind.axes) == {"low", "high"}]
    return [
        (kind(low, high), row)
        for kind in kinds
        for low, high, row in (
            (0.75 * LONG[0], 1.25 * LONG[0], LONG),
            (np.zeros(3), np.array([1.0, 1.0, 1.0 - NEXT_TO_ONE]), BESIDE),
        )
    ]


def large_sets(variant: Variant) -> list[UncertaintySet]:
    """The sets that a radius and a choice describe: their largest level and two lower ones, both ends of the choice."""
    found = []
    for kind in _by_radius(variant):
        most = max((level for level in radii_of(variant, kind) if not isinstance(level, Threshold)), default=0.0)
        lower = [level for level in LARGE_RADII if level < most and "radii" not in variant.options]
        found += [
            kind.choose(lambda levels, end=end: levels[end], radius, *RARE_BEST)  # type: ignore[misc]
            for radius in (most, *lower[:2])
            for end in (0, -1)
        ]
    return list(dict.fromkeys(found))


def _by_radius(variant: Variant) -> list[type[UncertaintySet]]:
    return [kind for kind in variant.sets if set(kind.axes) <= {"radius"}]


def _sigma(variant: Variant, uncertainty_set: UncertaintySet, p: np.ndarray, v: np.ndarray) -> np.ndarray:
    return np.asarray(variant.make(uncertainty_set, p, v), dtype=np.float64)


def _matches(variant: Variant, case: SupportCase) -> Finding | None:
    uncertainty_set, p, v = case.uncertainty_set, case.p, case.v
    given = p.copy(), v.copy()
    got = _sigma(variant, uncertainty_set, *given)
    if not (np.array_equal(given[0], p) and np.array_equal(given[1], v)):
        return Finding("the caller's p and v after a call", [x.tolist() for x in given], [p.tolist(), v.tolist()])
    wanted, error = _truth(uncertainty_set, p, v)
    return compare(got, np.array(wanted), _allowed(variant, p, v) + error, "sigma(v)")


def _truth(uncertainty_set: UncertaintySet, p: np.ndarray, v: np.ndarray) -> tuple[float, float]:
    """sigma(v) and how far it may be off: its rounding, and the width of the enclosure where it is no rational."""
    found = truth.sigma(uncertainty_set, p.tolist(), v.tolist())
    wanted = float(found.middle)
    return wanted, UNIT * abs(wanted) + round_up(found.radius)


def _allowed(variant: Variant, p: np.ndarray, v: np.ndarray) -> float:
    """Rounding, and the error that the variant allows itself, relative to max|v|."""
    return support_bound(p, v) + stated_accuracy(variant.options, float(np.abs(v).max()))


def _axioms(
    variant: Variant, case: SupportCase, other: np.ndarray, factor: float, shift: float, larger: float
) -> Finding | None:
    """What holds for the support function of any set around p, of whatever shape."""
    uncertainty_set, p, v = case.uncertainty_set, case.p, case.v

    def sigma(values: np.ndarray) -> np.ndarray:
        return _sigma(variant, uncertainty_set, p, values)

    def allowed(*vectors: np.ndarray) -> float:
        return 2.0 * sum(_allowed(variant, p, x) for x in (v, *vectors))

    value, above, both = sigma(v), v + np.abs(other), v + other
    wider = widen(uncertainty_set, larger)
    scaled, moved = factor * v, v + shift
    top, mean = np.array(v.max()), np.array(float(p @ v))
    findings = (
        below(mean, value, allowed(), "p·v against sigma(v)") if uncertainty_set.grows else None,
        below(value, top, allowed(), "sigma(v) against max v"),
        compare(sigma(scaled), factor * value, allowed(scaled), f"sigma({factor} v)"),
        compare(sigma(moved), value + shift, allowed(moved), f"sigma(v + {shift})"),
        below(value, sigma(above), allowed(above), "sigma(v) against sigma(v') for v <= v'"),
        below(sigma(both), value + sigma(other), allowed(both, other), "sigma(v + w) against sigma(v) + sigma(w)"),
        below(value, _sigma(variant, wider, p, v), allowed(), "sigma(v) against that of a larger radius"),
        _ends(variant, uncertainty_set, p, v, allowed()),
    )
    return next((finding for finding in findings if finding is not None), None)


def _ends(
    variant: Variant, uncertainty_set: UncertaintySet, p: np.ndarray, v: np.ndarray, allowed: float
) -> Finding | None:
    """The smallest radius and the largest: p·v, and what the set makes of it (max v, if it is then everything)."""
    for radius in (0.0, 1.0):
        extreme = with_radius(uncertainty_set, radius)
        if extreme is None:
            continue
        wanted, error = _truth(extreme, p, v)
        got = _sigma(variant, extreme, p, v)
        finding = compare(got, np.array(wanted), allowed + error, f"sigma(v) with radius {radius:g}")
        if finding is not None:
            return finding
    return None


def _rows(variant: Variant, case: SupportCase) -> Finding | None:
    """Rows in any number of axes and in any order of memory; p and v are left alone, the result is the caller's."""
    uncertainty_set, p, v = case.uncertainty_set, case.p, case.v
    flat = p.reshape(-1, p.shape[-1])
    different = {row.tobytes(): row for row in flat}
    known = {key: _truth(uncertainty_set, row, v) for key, row in different.items()}
    truths = np.array([known[row.tobytes()] for row in flat]).reshape(*p.shape[:-1], 2)
    wanted, allowed = truths[..., 0], _allowed(variant, p, v) + UNIT * float(np.abs(v).max()) + truths[..., 1].max()
    later = [0, *range(p.shape[1] - 1, 0, -1)]
    layouts = {
        "": (p.copy(), wanted),
        " that begin alike": (p[:, later], wanted[:, later]),
        " in two axes": (p[0].copy(), wanted[0]),
        " in four axes": (p[None].copy(), wanted[None]),
        " in another order of memory": (np.asfortranarray(p), wanted),
    }
    for layout, (rows, values) in layouts.items():
        given, asked = rows.copy(order="K"), v.copy()
        first = np.asarray(variant.make(uncertainty_set, given, asked))
        if not (np.array_equal(given, rows) and np.array_equal(asked, v)):
            return Finding(f"the caller's p and v after a call with rows{layout}", "changed", "as they were")
        finding = compare(first, values, allowed, f"sigma(v){layout} of row ", axes=())
        if finding is not None:
            return finding
        variant.make(uncertainty_set, rows.copy(order="K"), v[::-1] + 1.0)
        finding = compare(first, values, allowed, f"sigma(v){layout}, read after another call, of row ", axes=())
        if finding is not None:
            return finding
    return None


def _law(name: str, promise: str, statement: str, read: Reader, judge: Any, *after: str, axes: int = 1) -> Law:
    return Law(name, ("support",), promise, statement, Generated(read), judge, after=after, axes=axes)


LAWS = (
    _law(
        "support value",
        "support function",
        "σ(v) = max of q·v over the set around p, against exact rational arithmetic (Section 2)",
        support_case,
        _matches,
    ),
    _law(
        "support axioms",
        "support function",
        "σ is sublinear, monotone, shifts with v, lies in [p·v, max v], rises with R, and is right at both ends of R",
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
        axes=3,
    ),
)
