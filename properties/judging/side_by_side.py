"""Two arrays side by side, entry by entry: what a variant computed and what it should have."""

from dataclasses import dataclass

import numpy as np

from properties.judging.deviation import Entry, SideBySide

# More lines than this are not read: then only entries that are wrong are shown.
LONGEST = 24
# What the axes of a table mean: V(s), Q(s,a).
AXES: dict[int, tuple[str, ...]] = {1: ("s",), 2: ("s", "a")}


def entry(place: int | tuple[int, ...], axes: tuple[str, ...] | None = None) -> str:
    """The name of an entry: of Q or V by default; without names for the axes, its indices.

    >>> entry((0, 1)), entry(2), entry((2,), ()), entry(())
    ('(s=0, a=1)', '(s=2)', '[2]', '')
    """
    indices = place if isinstance(place, tuple) else (place,)
    names = AXES.get(len(indices), ()) if axes is None else axes
    if not indices:
        return ""
    if len(names) != len(indices):
        return str(list(indices))
    return "(" + ", ".join(f"{name}={index}" for name, index in zip(names, indices, strict=True)) + ")"


@dataclass(frozen=True, eq=False)
class Tables:
    """Two arrays of one shape, `got` and `wanted`, and what they are called.

    `bound` says that `wanted` is a bound from above: an entry is wrong when it exceeds that by more than allowed.
    """

    got: np.ndarray
    wanted: np.ndarray
    columns: tuple[str, str] = ("variant", "oracle")
    axes: tuple[str, ...] | None = None
    bound: bool = False

    def wrong(self, allowed: float) -> np.ndarray:
        """Which entries are wrong; NaN is always wrong."""
        with np.errstate(invalid="ignore"):
            distance = self.got - self.wanted
            near = (distance if self.bound else np.abs(distance)) <= allowed
            return np.asarray(~(near | (self.got == self.wanted)))  # infinity less infinity is not a number

    def first(self, allowed: float) -> tuple[int, ...] | None:
        """The first entry that is wrong."""
        places = np.argwhere(self.wrong(allowed))
        return tuple(int(i) for i in places[0]) if len(places) else None

    def side_by_side(self, allowed: float) -> SideBySide:
        """The entries, wrong ones marked; of a large table the wrong ones only.

        >>> print(Tables(np.array([[1.0, 3.0]]), np.array([[2.0, 3.0]])).side_by_side(0.0))
        entry       variant  oracle
        (s=0, a=0)  1.0      2.0     <-
        (s=0, a=1)  3.0      3.0
        """
        wrong = self.wrong(allowed)
        places = list(np.ndindex(self.wanted.shape))
        shown = places if len(places) <= LONGEST else [place for place in places if wrong[place]][:LONGEST]
        entries = (
            Entry(entry(place, self.axes), float(self.got[place]), float(self.wanted[place]), bool(wrong[place]))
            for place in shown
        )
        return SideBySide(self.columns, tuple(entries), len(places), int(wrong.sum()))
