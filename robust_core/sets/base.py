"""Uncertainty sets around a nominal distribution p (Section 3): the data of a set and its mathematics.

A set is one file of this package: a frozen dataclass that derives from `UncertaintySet`, with its fields, their rules,
its support function and a worst case. `robust_core.support_functions` checks the arguments and calls these methods.
The oracles read the fields of a set and nothing else; `properties/tests/test_core_sets.py` checks that.
"""

from abc import ABC
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Protocol, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from robust_core import validate
from robust_core.mdp import MDP
from robust_core.sets.rows import at_scale, to_unit_scale
from robust_core.validate import Floats, Ints

_BY_KIND: dict[str, type["UncertaintySet"]] = {}
_PLAIN_RADII = (0.0, 1.0, 0.5)
_T = TypeVar("_T")


@dataclass(frozen=True)
class WorstRows:
    """Rows of nature: row k has the entries from ends[k−1] to ends[k], and about the value sigma[k]."""

    ends: Ints
    places: Ints
    shares: Floats
    sigma: Floats

    @classmethod
    def empty(cls, rows: int, entries: int, bits: Any = np.int64) -> "WorstRows":
        """Room for so many rows and entries; places of 32 bits are for successors of 32 bits."""
        return cls(np.empty(rows, dtype=np.int64), np.empty(entries, bits), np.empty(entries), np.empty(rows))


class RowSolver(Protocol):
    """What planning needs of a set around all rows of a model."""

    def support(self, v: Floats) -> Floats:
        """About sigma of all rows, for iteration."""

    def rows(self, v: Floats, pairs: Ints) -> WorstRows:
        """About the worst rows of the pairs s·A + a."""

    def bounds(self, v: Floats) -> tuple[Floats, Floats]:
        """lower <= sigma <= upper of all rows, rounding included."""


Pick: TypeAlias = Callable[[Sequence[Any]], Any]
"""Chooses one of several levels."""


@dataclass(frozen=True)
class Threshold:
    """A level of a radius: a multiple of the radius at which sigma reaches its largest value around a row."""

    factor: float


LEVELS: tuple[float | Threshold, ...] = (
    0.0, 1.0, 0.5, 0.25, 0.75, 0.1, 0.01, 2.0**-20, 3.0,
    *(Threshold(factor) for factor in (1.0, 1.0 - 1e-15, 1.0 + 1e-15, 1.0 - 1e-9, 1.0 + 1e-9, 0.999, 0.5)),
    1e-300, 1e-16, 1e-8, 10.0, 1000.0,
)  # fmt: skip
"""Radii of a ball of any size, the simplest first: ordinary ones, the row's threshold and next to it, tiny and huge."""


class UncertaintySet(ABC):
    """An (s,a)-rectangular set: one copy of it around every row of the kernel.

    A subclass is a frozen dataclass with a class attribute `kind`, its name in JSON. `__post_init__` checks the
    fields, by default the radius. A field is a number, or an array of as many axes over the states as `axes` says; a
    field with two axes more, over the states and actions, has one value for each row of a kernel: `at(s, a)` is the
    set of that row. Laws choose the radius of a set among its `radii` and make the set with `choose`.
    """

    kind: ClassVar[str]
    radii: ClassVar[tuple[float | Threshold, ...]] = (
        0.0, 1.0, 0.5, 0.25, 0.75, 0.125, 0.1, 2.0**-20, 1.0 - 2.0**-20, 2.0**-30,
    )  # fmt: skip
    """The radii at which laws test the set, the simplest first: both ends, their neighbours, dyadic and not."""
    axes: ClassVar[Mapping[str, int]] = {"radius": 0}
    """How many axes over the states a field has in the set of one row."""
    splits: ClassVar[bool] = True
    """Whether sigma stays as it is where a state becomes two with equal values, which share its mass equally."""
    grows: ClassVar[bool] = True
    """Whether p is in the set around p, and a larger radius gives a larger set."""
    by_state: ClassVar[bool] = False
    """Whether nature chooses the rows of a state together: backups are of values V(s), not of tables Q(s, a)."""
    moves_to_the_end: ClassVar[bool | None] = None
    """Whether nature may move mass to and from the end of an episode, an outcome of value 0; None: it is not said."""

    def __init_subclass__(cls) -> None:
        if "kind" in vars(cls):  # the base of several sets has none
            _BY_KIND[cls.kind] = cls
        for name in ("__eq__", "__hash__", "__repr__"):  # a dataclass keeps those that are in the class itself
            if name not in vars(cls):
                setattr(cls, name, vars(UncertaintySet)[name])

    def __post_init__(self) -> None:
        """Check a radius: a finite number of at least 0, or one for each pair; a set with other rules has its own."""
        if any(field.name == "radius" for field in fields(self)):  # type: ignore[arg-type]
            object.__setattr__(self, "radius", validate.radius("radius", self.radius))  # type: ignore[attr-defined]

    def row_solution(self, rows: Floats, v: Floats) -> tuple[Floats, Floats]:
        """sigma and a distribution that attains it, for valid rows (…, S) and ½ <= max|v| <= 1 or v = 0."""
        raise self._without("solution")

    def row_support(self, rows: Floats, v: Floats) -> Floats:
        """sigma for valid rows (…, S) and finite v (S,); by default from `row_solution`, else from the worst case."""
        if self._solves():
            return at_scale(lambda values: self.row_solution(rows, values)[0], v)
        if type(self).row_worst_case is UncertaintySet.row_worst_case:
            raise self._without("support function")
        return self.row_worst_case(rows, v) @ v

    def row_worst_case(self, rows: Floats, v: Floats) -> Floats:
        """A distribution that attains sigma, for valid rows (…, S) and finite v (S,); by default of `row_solution`."""
        if self._solves():
            return self.row_solution(rows, to_unit_scale(v)[0])[1]
        raise self._without("worst case")

    def _solves(self) -> bool:
        return type(self).row_solution is not UncertaintySet.row_solution

    def kernel_support(self, mdp: MDP, v: Floats) -> Floats:
        """sigma around all rows of a kernel: an array (S, A); by default row by row on the dense kernel."""
        return self.by_pairs(mdp.P, v) if self.pairs else self.row_support(mdp.P, v)

    def by_pairs(self, rows: Floats, v: Floats) -> Floats:
        """sigma around rows (S, A, S), each with its own set `at(s, a)`."""
        result = np.empty(rows.shape[:2])
        for s, a in np.ndindex(*result.shape):
            result[s, a] = self.at(s, a).row_support(rows[s, a], v)
        return result

    def row_solver(self, mdp: MDP) -> RowSolver:
        """Worst rows and certified bounds for `robust_core.planning`."""
        raise TypeError(
            f"{type(self).__name__} defines no certified rows for planning (`row_solver`): iterate bellman(mdp, "
            "uncertainty_set, Q), or bellman_policy to evaluate a policy"
        )

    def _without(self, form: str) -> TypeError:
        return TypeError(f"{type(self).__name__} defines no {form} in closed form")

    # Parameters.

    @property
    def pairs(self) -> tuple[int, int] | None:
        """(S, A) if a field has one value for each pair; None if all rows have the same set."""
        shapes = (np.shape(getattr(self, name))[:2] for name in self._fields_by_pair())
        return next(((int(S), int(A)) for S, A in shapes), None)

    def _fields_by_pair(self) -> list[str]:
        return [name for name, axes in self.axes.items() if np.ndim(getattr(self, name, 0.0)) == axes + 2]

    def at(self, s: int, a: int) -> Self:
        """The set around the row of (s, a).

        >>> from robust_core.sets import Contamination
        >>> Contamination([[0.25, 0.5]]).at(0, 1)
        Contamination(radius=0.5)
        """
        given = {name: getattr(self, name)[s, a] for name in self._fields_by_pair()}
        return replace(self, **given) if given else self  # type: ignore[type-var]

    def require_fit(self, n_states: int, pairs: tuple[int, ...]) -> None:
        """Raise unless the fields are those of rows over `n_states` states, the rows being of the shape `pairs`."""
        for name, axes in self.axes.items():
            shape = np.shape(getattr(self, name, 0.0))
            wanted = (n_states,) * axes
            if shape not in (wanted, (*pairs, *wanted)) and shape:
                one = f"have shape {wanted}" if axes else "be one number"
                by_pair = len(pairs) == 2 and len(shape) == axes + 2
                each = f", or one for each row in shape {(*pairs, *wanted)}" if by_pair else ""
                raise ValueError(
                    f"{name} of {type(self).__name__} must {one} for {n_states} states{each}, got shape {shape}"
                )

    def with_radius(self, radius: float) -> Self:
        """The same set with another radius."""
        return replace(self, radius=radius)  # type: ignore[type-var]

    def select(self, states: Sequence[int], actions: Sequence[int]) -> Self:
        """The set for the model whose states and actions are these of the old ones, in this order."""
        by_pair, changed = self._fields_by_pair(), {}
        for name, axes in self.axes.items():
            value = np.asarray(getattr(self, name, 0.0))
            index = ([states, actions] if name in by_pair else []) + [states] * axes
            if index and value.ndim:
                changed[name] = value[np.ix_(*index)]
        return replace(self, **changed) if changed else self  # type: ignore[type-var]

    @classmethod
    def choose(cls, pick: Pick, radius: float, p: Floats, v: Floats) -> "UncertaintySet":
        """A set for the rows p (…, S) and values v (S,), by choices among levels; by default one with the radius."""
        make: Any = cls
        return make(radius)

    def plainer(self) -> Iterator[Self]:
        """Sets with numbers that are easier to follow, the plainest first."""
        radius = getattr(self, "radius", None)
        if radius is None:
            return
        if np.ndim(radius):
            yield from (self.with_radius(level) for level in (*_PLAIN_RADII, float(np.max(radius))))
        elif radius in _PLAIN_RADII:
            yield from (self.with_radius(level) for level in _PLAIN_RADII[: _PLAIN_RADII.index(radius)])
        else:
            digits = () if radius in self.radii else (float(f"{radius:.0e}"), float(f"{radius:.2e}"))
            yield from (self.with_radius(level) for level in (*_PLAIN_RADII, *digits) if level != radius)

    # Data.

    def to_dict(self) -> dict[str, Any]:
        """Plain data: the kind and the fields of the dataclass, arrays as lists."""
        return {"kind": self.kind} | {name: _plain(value) for name, value in self._values()}

    def _values(self) -> list[tuple[str, Any]]:
        return [(f.name, getattr(self, f.name)) for f in fields(self)]  # type: ignore[arg-type]

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        theirs = dict(other._values())
        return all(np.array_equal(value, theirs[name]) for name, value in self._values())

    def __hash__(self) -> int:
        values = [value.tobytes() if isinstance(value, np.ndarray) else value for _, value in self._values()]
        return hash((type(self), *values))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={_plain(value)!r}' for name, value in self._values())})"

    @staticmethod
    def from_dict(data: object) -> "UncertaintySet":
        """The set that `to_dict` wrote; anything else is refused with the reason.

        >>> UncertaintySet.from_dict({"kind": "contamination", "radius": 0.25})
        Contamination(radius=0.25)
        """
        if not isinstance(data, dict) or data.get("kind") not in list(_BY_KIND):  # a list: the kind may be unhashable
            raise ValueError(f"an uncertainty set must be an object with kind in {sorted(_BY_KIND)}, got {data!r}")
        cls = _BY_KIND[data["kind"]]
        names = {f.name for f in fields(cls)}  # type: ignore[arg-type]
        if names != data.keys() - {"kind"}:
            raise ValueError(f"{data['kind']} needs exactly the fields {sorted(names)}, got {sorted(data)}")
        return cls(**{name: data[name] for name in names})


@dataclass(frozen=True)
class Ball(UncertaintySet):
    """A ball on the simplex whose distributions may leave the support of p, unless `within_support` is set."""

    radii: ClassVar[tuple[float | Threshold, ...]] = LEVELS
    radius: float
    within_support: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "within_support", validate.boolean("within_support", self.within_support))

    @classmethod
    def choose(cls, pick: Pick, radius: float, p: Floats, v: Floats) -> Self:
        """The radius, and whether q stays in the support."""
        return cls(radius, pick((False, True)))

    def allowed(self, p: Floats) -> NDArray[np.bool_]:
        """Whether a state may have mass, for rows p (…, S)."""
        return p > 0.0 if self.within_support else np.ones(p.shape, dtype=bool)


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value
