"""Uncertainty sets around a nominal distribution p (Section 3), as data.

A set says which distributions nature may choose; what follows from it (its support function, its worst case)
is registered elsewhere by the type of the set, so a further set is a class here plus a function there.
"""

from abc import ABC
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from robust_core import validate

_BY_KIND: dict[str, type["UncertaintySet"]] = {}


class UncertaintySet(ABC):
    """An (s,a)-rectangular set: one copy of it around every row of the kernel.

    A subclass is a frozen dataclass with a class attribute `kind`, its name in JSON.
    """

    kind: ClassVar[str]

    def __init_subclass__(cls) -> None:
        _BY_KIND[cls.kind] = cls

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


@dataclass(frozen=True)
class Contamination(UncertaintySet):
    """R-contamination (eq:uncertainset): {(1−R)p + Rq : q any distribution}."""

    kind: ClassVar[str] = "contamination"
    radius: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", validate.unit_interval("radius", self.radius))


@dataclass(frozen=True)
class TotalVariation(UncertaintySet):
    """Total-variation ball: {q : ½‖q − p‖₁ <= R}."""

    kind: ClassVar[str] = "total_variation"
    radius: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", validate.unit_interval("radius", self.radius))
