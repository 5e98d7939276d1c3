"""Uncertainty sets around a nominal distribution p (Section 3): the data of a set and its mathematics.

A set is one file of this package: a frozen dataclass that derives from `UncertaintySet`, with its fields, their rules,
its support function and a worst case. `robust_core.support_functions` checks the arguments and calls these methods.
The oracles read the fields of a set and nothing else; `properties/tests/test_core_sets.py` checks that.
"""

from abc import ABC
from dataclasses import fields
from typing import Any, ClassVar

from robust_core.mdp import MDP
from robust_core.validate import Floats

_BY_KIND: dict[str, type["UncertaintySet"]] = {}


class UncertaintySet(ABC):
    """An (s,a)-rectangular set: one copy of it around every row of the kernel.

    A subclass is a frozen dataclass with a class attribute `kind`, its name in JSON. `__post_init__` checks the
    fields. Laws make a set as `kind(radius)`, with the radii of the attribute `radii` unless a variant names others.
    """

    kind: ClassVar[str]
    radii: ClassVar[tuple[float, ...]] = (
        0.0, 1.0, 0.5, 0.25, 0.75, 0.125, 0.1, 2.0**-20, 1.0 - 2.0**-20, 2.0**-30,
    )  # fmt: skip
    """The radii at which laws test the set, the simplest first: both ends, their neighbours, dyadic and not."""

    def __init_subclass__(cls) -> None:
        _BY_KIND[cls.kind] = cls

    def row_support(self, rows: Floats, v: Floats) -> Floats:
        """sigma for valid rows (…, S) and finite v (S,)."""
        raise self._without("support function")

    def row_worst_case(self, rows: Floats, v: Floats) -> Floats:
        """A distribution that attains sigma, for valid rows (…, S) and finite v (S,)."""
        raise self._without("worst case")

    def kernel_support(self, mdp: MDP, v: Floats) -> Floats:
        """sigma around all rows of a kernel: an array (S, A); by default row by row on the dense kernel."""
        return self.row_support(mdp.P, v)

    def _without(self, form: str) -> TypeError:
        return TypeError(f"{type(self).__name__} defines no {form} in closed form")

    def to_dict(self) -> dict[str, Any]:
        """Plain data: the kind and the fields of the dataclass."""
        return {"kind": self.kind} | {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]

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
