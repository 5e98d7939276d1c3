"""Measures: the values of the metrics, as they are measured, written to a baseline and compared."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from robust_core.json import Rule
from robust_core.mdp import MDP

LONGEST_LINE, MOST_VALUES, MOST_VERSIONS = 500, 10_000, 20
"""Limits that no honest baseline comes near (characters, numbers, libraries)."""
PROCESSOR = "processor"
"""Under this name the versions say for which kind of processor the code was compiled."""
Name = tuple[str, str, str]
"""(metric, variant, problem)."""


def is_line(text: str) -> bool:
    """Whether a text is short and printable: a name from elsewhere must not control the terminal."""
    return len(text) <= LONGEST_LINE and text.isprintable()


def _is_value(value: float | str) -> bool:
    if isinstance(value, int):
        return abs(value) < 1 << 1023  # the largest that a float can hold
    return not isinstance(value, str) or is_line(value)


Line = Annotated[str, Rule(f"one line of at most {LONGEST_LINE} characters", is_line)]
Count = Annotated[int, Rule(f"an integer from 0 to {MOST_VALUES}", lambda n: 0 <= n <= MOST_VALUES)]
Value = Annotated[
    int | float | str, Rule(f"a finite number or one line of at most {LONGEST_LINE} characters", _is_value)
]
Values = Annotated[
    tuple[float | None, ...],
    Rule(f"a list of 1 to {MOST_VALUES} finite numbers or nulls", lambda values: 1 <= len(values) <= MOST_VALUES),
]
Versions = Annotated[
    dict[str, Line],
    Rule(
        f"an object of at most {MOST_VERSIONS} names, each with its version as text",
        lambda versions: len(versions) <= MOST_VERSIONS and all(map(is_line, versions)),
    ),
]


@dataclass(frozen=True)
class Model:
    """A model of the user's (`MDP.to_dict`), with the radius of the set."""

    mdp: dict[str, Any]
    radius: float

    @property
    def name(self) -> str:
        """By content: the file may be called anything."""
        return f"model {MDP.from_dict(self.mdp).hash[:12]}, radius {self.radius:g}"


@dataclass(frozen=True)
class Exact:
    """The value of a deterministic metric."""

    metric: Line
    variant: Line
    problem: Line
    value: Value

    @property
    def name(self) -> Name:
        """(metric, variant, problem)."""
        return self.metric, self.variant, self.problem


@dataclass(frozen=True)
class Sample:
    """One value per seed or repeat (None: not a finite number), and how many of them are better than possible."""

    metric: Line
    variant: Line
    problem: Line
    values: Values
    impossible: Count

    @property
    def name(self) -> Name:
        """(metric, variant, problem)."""
        return self.metric, self.variant, self.problem


Measure = Exact | Sample


@dataclass(frozen=True)
class Measurements:
    """One side of a comparison: measures with their seeds and versions; `pending` ones have not been measured yet."""

    seed_set: str
    versions: dict[str, str]
    measures: tuple[Measure, ...]
    reason: str = ""
    pending: tuple[Name, ...] = ()

    def select(self, text: str) -> "Measurements":
        """The measures whose name contains a text."""
        return replace(self, measures=tuple(measure for measure in self.measures if text in title(measure.name)))


def title(name: Sequence[str]) -> str:
    """A name as it is shown.

    >>> title(("area", "robust TD(0)", "garnet"))
    'area / robust TD(0) / garnet'
    """
    return " / ".join(name)


@dataclass(frozen=True)
class Part:
    """The values by metric that one unit of work contributes to its measures; samples of several units are joined."""

    values: dict[str, int | float | str] = field(default_factory=dict)
    samples: dict[str, tuple[float | None, ...]] = field(default_factory=dict)
    impossible: dict[str, int] = field(default_factory=dict)
