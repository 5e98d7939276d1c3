"""Step sizes alpha = scale / (1 + rate·n)^power, where n counts steps or visits of the updated pair."""

import math
from dataclasses import dataclass
from typing import Any, Literal

from robust_core import validate

Clock = Literal["constant", "steps", "visits"]


@dataclass(frozen=True)
class StepSize:
    """One formula for all schedules; `clock` says what n counts before the update (the first has n = 0).

    >>> [polynomial(0.5, rate=1.0, power=1.0).at(n) for n in (0, 1, 3)]
    [0.5, 0.25, 0.125]
    """

    scale: float
    rate: float = 0.0
    power: float = 1.0
    clock: Clock = "constant"

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", validate.unit_interval("scale", self.scale))
        object.__setattr__(self, "rate", validate.non_negative("rate", self.rate))
        object.__setattr__(self, "power", validate.non_negative("power", self.power))
        if self.clock not in ("constant", "steps", "visits"):
            raise ValueError(f"clock must be 'constant', 'steps' or 'visits', got {self.clock!r}")

    def __deepcopy__(self, memo: dict[int, Any]) -> "StepSize":
        made = memo[id(self)] = object.__new__(type(self))
        vars(made).update(vars(self))
        return made

    def at(self, n: float) -> float:
        """alpha after n counts, a whole number (as a float too: visits may be kept in an array of floats)."""
        if type(n) is not int or n < 0:  # nearly free for an int, which is what most steps ask with
            n = validate.count("n", int(n) if isinstance(n, float) and n.is_integer() else n)
        if self.clock == "constant":
            return self.scale
        base = 1.0 + self.rate * n
        return self.scale / base if self.power == 1.0 else self.scale * math.pow(base, -self.power)


def constant(alpha: float) -> StepSize:
    """alpha_t = alpha."""
    return StepSize(alpha)


def polynomial(scale: float, *, rate: float, power: float) -> StepSize:
    """alpha_t = scale / (1 + rate·t)^power; Theorem 2 asks for ½ < power <= 1."""
    return StepSize(scale, rate, power, "steps")


def per_visit(scale: float, *, rate: float, power: float) -> StepSize:
    """The same in the number of visits of the updated pair so far."""
    return StepSize(scale, rate, power, "visits")
