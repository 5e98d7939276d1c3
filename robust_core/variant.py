"""What a pluggable algorithm is: a frozen description and a factory or function of its kind.

No base class, no registration: a variant is found by its name in a module, and what is checked follows from
the sets and the claims it states.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, get_args

import numpy as np

from robust_core import validate
from robust_core.schedules import StepSize
from robust_core.smoothing import Smoothing
from robust_core.trajectory import Transition
from robust_core.uncertainty import UncertaintySet
from robust_core.validate import Floats

Kind = Literal["control", "evaluation", "linear evaluation", "operator", "planner", "support", "sampler"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True, eq=False, kw_only=True)
class Problem:
    """What a learner is told: everything but the kernel.

    `initial` is the first estimate: Q (S,A), V (S,) or theta (N,). `policy` is the policy to evaluate; `features`,
    `smoothing`, `second_step_size` (beta) and `projection` (K) belong to linear evaluation.
    """

    n_states: int
    n_actions: int
    gamma: float
    uncertainty_set: UncertaintySet
    step_size: StepSize
    initial: Floats
    policy: Floats | None = None
    features: Floats | None = None
    smoothing: Smoothing | None = None
    second_step_size: StepSize | None = None
    projection: float = np.inf
    rng: np.random.Generator | None = None

    def __post_init__(self) -> None:
        S = validate.count("n_states", self.n_states, least=1)
        A = validate.count("n_actions", self.n_actions, least=1)
        # Stored as what they were checked to be: a float32 here would make every learner compute in float32.
        object.__setattr__(self, "gamma", validate.discount("gamma", self.gamma))
        if self.projection != np.inf:
            object.__setattr__(self, "projection", validate.positive("projection", self.projection))
        self._check_types()
        checked: dict[str, Floats] = {}
        if self.policy is not None:
            checked["policy"] = validate.policy(self.policy, S, A)
        if self.features is not None:
            checked["features"] = validate.array("features", self.features, shape=(S, None))
        shape = np.shape(self.initial)
        if self.features is not None:
            shape = (checked["features"].shape[1],)
        elif len(shape) not in (1, 2):
            raise ValueError(f"initial must be a table (S, A) or a vector (S,), got shape {shape}")
        else:
            shape = (S, A)[: len(shape)]
        checked["initial"] = validate.array("initial", self.initial, shape=shape)
        for name, value in checked.items():
            value.setflags(write=False)
            object.__setattr__(self, name, value)

    def _check_types(self) -> None:
        for name, wanted, optional in (
            ("uncertainty_set", UncertaintySet, False),
            ("step_size", StepSize, False),
            ("second_step_size", StepSize, True),
            ("smoothing", Smoothing, True),
        ):
            value = getattr(self, name)
            if not (isinstance(value, wanted) or (optional and value is None)):
                raise TypeError(f"{name} must be of type {getattr(wanted, '__name__', wanted)}, got {value!r}")


class Learner(Protocol):
    """An online learner: one transition at a time; `estimate` hands out a fresh copy."""

    def update(self, transition: Transition) -> None:
        """Learn from one step of the trajectory."""

    def estimate(self) -> Any:
        """The current estimate: Q (S,A), V (S,), or the pair (theta, omega)."""


@dataclass(frozen=True)
class Variant:
    """An algorithm under test.

    `make` is a factory `make(problem) -> learner` for the learning kinds, and the function itself for the others
    (operator: (mdp, uncertainty_set, Q) -> TQ; planner: (mdp, uncertainty_set) -> Q*;
    support: (uncertainty_set, p, v) -> sigma; sampler: (mdp, policy, start, steps, rng) -> list of transitions).
    `sets` are the types of uncertainty set it is for, `claims` the names of what it promises (`properties.law.CLAIMS`).
    `options` narrow the cases: `estimates` ("Q" or "V", what an evaluation learns), `radii` (the radii it is for),
    `smoothing` ("lse" or "mellowmax"), `accuracy` (of a planner, relative to the size of the values).
    """

    name: str
    kind: Kind
    make: Callable[..., Any]
    sets: tuple[type[UncertaintySet], ...]
    claims: tuple[str, ...]
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"variant {self.name!r}: kind must be one of {', '.join(KINDS)}, got {self.kind!r}")
        if not callable(self.make):
            raise TypeError(f"variant {self.name!r}: make must be callable, got {self.make!r}")
        for cls in self.sets:
            if not (isinstance(cls, type) and issubclass(cls, UncertaintySet)):
                raise TypeError(f"variant {self.name!r}: sets must be types of uncertainty sets, got {cls!r}")
