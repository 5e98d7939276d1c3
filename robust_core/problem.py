"""What a pluggable algorithm is: a frozen description and a factory or function of its kind.

No base class, no registration: a variant is found by its name in a module, and what is checked follows from
the sets and the promises it states.
"""

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, get_args

import numpy as np

from robust_core import validate
from robust_core.ends import ENDS
from robust_core.learners.schedules import StepSize
from robust_core.mdp import MDP
from robust_core.sets import UncertaintySet
from robust_core.smoothing import Smoothing
from robust_core.text import suggestion
from robust_core.trajectory import Transition
from robust_core.validate import Floats

Kind = Literal[
    "control",
    "evaluation",
    "linear evaluation",
    "off-policy evaluation",
    "linear control",
    "operator",
    "planner",
    "value planner",
    "policy planner",
    "average cost planner",
    "average cost learner",
    "policy gradient",
    "smoothed operator",
    "objective",
    "support",
    "sampler",
    "simulator",
    "batch",
]
KINDS: tuple[Kind, ...] = get_args(Kind)
Promise = Literal[
    "as fast as vanilla", "asynchronous", "average cost", "batch mean", "batch order", "batch variance", "bellman",
    "bounded", "converges", "expected draws", "fast path", "finite time", "fixed point", "fixed point in the mean",
    "GTD2", "limit", "mean iteration", "mean update", "monotone", "monotone in R", "multilevel", "non-expansive",
    "objective", "objective gradient", "optimal", "optimal policy", "optimal value", "policy gradient", "projected",
    "projected onto two balls", "radii per pair", "relative fixed point", "relative shift", "relative update",
    "rotation", "rows", "sample form", "sample form, next action", "samples the model", "scale", "semi-gradient",
    "shift", "smoothed bellman", "stationary", "support function", "symmetric", "TDC", "tracked weights", "trajectory",
    "unbiased", "variance",
]  # fmt: skip
"""The names of all promises, for editors; `properties` defines which kinds may make them and what they mean."""
SETLESS: tuple[Kind, ...] = ("sampler",)
"""Kinds that need no uncertainty set."""
ACCURATE: tuple[Kind, ...] = (
    "planner", "value planner", "policy planner", "average cost planner", "policy gradient", "objective", "support"
)  # fmt: skip
"""Kinds whose answers are numbers with a stated accuracy."""
# What narrows the problems to those a variant is for; another name would narrow nothing, so it is refused.
OPTIONS: Mapping[str, str] = {
    "estimates": 'the table of an evaluation: "V" or "Q"',
    "expected": 'the mean update: "robust backup" (default), "robust backup, per entry", or a function of a view',
    "tables": "the number of tables, for a learner whose estimate is a tuple of them",
    "delay": 'the entries that a step may change: n for those of the last n visits, "visited" for all visited ones',
    "cost per": '"transition": a step costs c(s,a,s′), of mean c(s,a); nature changes the successor, not the cost paid',
    "convention": '"rewards": `transition.cost` is a reward, and the learner of a table maximises',
    "schedule": '"steps": step sizes do not count visits; "own": the learner has its own step sizes',
    "radii": "a tuple of the radii that the variant is for, for example (0.0,)",
    "gammas": "a tuple of the discounts that the variant is for",
    "states": "a tuple of numbers of states (for a support function: of outcomes), each at most 16",
    "actions": "a tuple of numbers of actions, each at most 16",
    "costs": "(lowest, highest) cost; a learner of a table then starts between 0 and the values that such costs give",
    "smoothing": 'the smooth maximum of a linear learner: "lse" or "mellowmax"',
    "ends": 'the meaning of the end of an episode: "nature stays", "nature ends" or "none" (verdicts.md)',
    "accuracy": "the allowed error, relative to max|c|/(1−gamma) for a planner, max|c| for an average cost,"
    " max|c|/(1−gamma)² for a policy gradient, the size of the terms for an objective, max|v| for a support function",
    "absolute accuracy": "a further allowed error, in the unit of the costs (for a support function: of the values)",
    "samples": "n, for a learner with a simulator whose mean is that of the plug-in estimate of n draws",
    "draws": "the expected draws per entry and iteration of a learner with a simulator",
    "levels": "psi, for multilevel Monte Carlo: level n is drawn with probability psi(1−psi)^n",
    "reference": "the estimate of the gain of a learner of the average cost, as a function of a view",
    "batch": "the batch size, for a learner from batches that has only one",
    "parameters": 'the variables of a policy gradient: "policy" (its entries) or "softmax"',
}
EXPECTED = ("robust backup", "robust backup, per entry", "gradient of J")
"""The steps that a promise of a mean update can name."""
WORDS: Mapping[str, tuple[str, ...]] = {
    "estimates": ("Q", "V"),
    "smoothing": ("lse", "mellowmax"),
    "schedule": ("steps", "own"),
    "convention": ("costs", "rewards"),
    "cost per": ("pair", "transition"),
    "ends": ENDS,
    "parameters": ("policy", "softmax"),
}
"""The values of the options that are words."""
TUPLES: Mapping[str, tuple[str, str]] = {
    "radii": ("at least one radius", "(0.0, 0.25)"),
    "gammas": ("at least one discount", "(0.9,)"),
    "states": ("at least one number of states", "(2, 3)"),
    "actions": ("at least one number of actions", "(2,)"),
    "costs": ("the lowest and the highest cost", "(0.0, 1.0)"),
}
"""The options that are tuples: of what, and an example."""
LARGEST = 16
"""The largest number of states or actions that an option can ask for: an exact law solves every case in rationals."""

_WHOLE = frozenset((int, float, type(None)))
"""Types of fields that need not be copied."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Problem:
    """The data that a learner receives: all but the transition probabilities. `Problem.of` makes one from a model.

    `initial` is the first estimate: Q (S,A), V (S,) or theta (N,), or a tuple of such tables for a learner of several
    (options["tables"]; of linear evaluation (theta, omega)). `policy` is the policy to evaluate; `features`,
    `smoothing`, `second_step_size` (beta) and `projection` (K) belong to linear evaluation. In off-policy evaluation
    `behaviour` is the policy that is followed, and `second_projection` the radius K of omega alone. In linear control
    `features` are those of pairs, (S, A, N).
    """

    n_states: int
    n_actions: int
    gamma: float
    uncertainty_set: UncertaintySet
    step_size: StepSize
    initial: Any
    policy: Floats | None = None
    features: Floats | None = None
    smoothing: Smoothing | None = None
    second_step_size: StepSize | None = None
    projection: float = np.inf
    rng: np.random.Generator | None = None
    behaviour: Floats | None = None
    second_projection: float = np.inf

    @classmethod
    def of(
        cls,
        mdp: MDP,
        uncertainty_set: UncertaintySet,
        *,
        step_size: StepSize,
        initial: Any = None,
        gamma: float | None = None,
        policy: Floats | None = None,
        features: Floats | None = None,
        smoothing: Smoothing | None = None,
        second_step_size: StepSize | None = None,
        projection: float = np.inf,
        rng: np.random.Generator | None = None,
        behaviour: Floats | None = None,
        second_projection: float = np.inf,
    ) -> "Problem":
        """The problem of learning a model: its numbers of states and actions and its discount, but not its kernel.

        `initial` is by default 0: theta where there are features, and else a table Q (S,A). `gamma` is by default
        the discount of the model.

        >>> from robust_core import Contamination, constant, models
        >>> Problem.of(models.two_states(gamma=0.5), Contamination(0.25), step_size=constant(0.5)).initial
        array([[0., 0.],
               [0., 0.]])
        """
        validate.instance("mdp", mdp, MDP)
        if initial is None:
            initial = np.zeros(mdp.cost.shape if features is None else np.shape(features)[-1:])
        return cls(
            n_states=mdp.n_states,
            n_actions=mdp.n_actions,
            gamma=mdp.gamma if gamma is None else gamma,
            uncertainty_set=uncertainty_set,
            step_size=step_size,
            initial=initial,
            policy=policy,
            features=features,
            smoothing=smoothing,
            second_step_size=second_step_size,
            projection=projection,
            rng=rng,
            behaviour=behaviour,
            second_projection=second_projection,
        )

    def __post_init__(self) -> None:
        S = validate.count("n_states", self.n_states, least=1)
        A = validate.count("n_actions", self.n_actions, least=1)
        # Stored as what they were checked to be: a float32 here would make every learner compute in float32.
        object.__setattr__(self, "gamma", validate.discount("gamma", self.gamma))
        for name in ("projection", "second_projection"):
            if getattr(self, name) != np.inf:
                object.__setattr__(self, name, validate.positive(name, getattr(self, name)))
        self._check_types()
        checked: dict[str, Floats] = {}
        if self.policy is not None:
            checked["policy"] = validate.policy(self.policy, S, A)
        if self.behaviour is not None:
            checked["behaviour"] = validate.policy(self.behaviour, S, A, name="behaviour")
        if self.features is not None:
            per_pair = np.ndim(self.features) == 3
            checked["features"] = validate.array(
                "features", self.features, shape=(S, A, None) if per_pair else (S, None)
            )
        tables = self.initial if isinstance(self.initial, tuple) else (self.initial,)
        if not tables:
            raise ValueError("initial must be a table, or a tuple of at least one, got ()")
        starts = []
        for table in tables:
            shape = np.shape(table)
            if self.features is not None:
                shape = checked["features"].shape[-1:]
            elif len(shape) not in (1, 2):
                raise ValueError(f"initial must be a table (S, A) or a vector (S,), got {table!r:.80} of shape {shape}")
            else:
                shape = (S, A)[: len(shape)]
            starts.append(validate.array("initial", table, shape=shape))
        for value in (*checked.values(), *starts):
            value.setflags(write=False)
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "initial", tuple(starts) if isinstance(self.initial, tuple) else starts[0])

    def __deepcopy__(self, memo: dict[int, Any]) -> "Problem":
        # As the generic one in a third of its time: laws copy learners, which hold their problem, thousands of times.
        made = memo[id(self)] = object.__new__(type(self))
        parts = vars(self).items()
        vars(made).update((name, part if type(part) in _WHOLE else copy.deepcopy(part, memo)) for name, part in parts)
        return made

    def _check_types(self) -> None:
        for name, wanted, optional in (
            ("uncertainty_set", UncertaintySet, False),
            ("step_size", StepSize, False),
            ("second_step_size", StepSize, True),
            ("smoothing", Smoothing, True),
        ):
            value = getattr(self, name)
            if not (optional and value is None):
                validate.instance(name, value, wanted)


class Learner(Protocol):
    """An online learner: one transition at a time; `estimate` returns a fresh copy."""

    def update(self, transition: Transition) -> None:
        """Learn from one step of the trajectory."""

    def estimate(self) -> Any:
        """The current estimate: Q (S,A), V (S,), or the pair (theta, omega)."""


class Simulator(Protocol):
    """Access to a model by draws, for a learner of the kind "simulator"."""

    def draw(self, s: int, a: int, n: int) -> Any:
        """An array of n independent successors of a pair."""

    def cost(self, s: int, a: int) -> float:
        """The cost of a pair."""


NOT_ITSELF = "a variant must be a Variant itself: a class made from it can change its fields"
"""What promises nothing when it is asked is judged by nothing."""


@dataclass(frozen=True)
class Variant:
    """An algorithm under test.

    `make` is the algorithm: a factory of learners, `make(problem) -> learner`, or a function, for example
    (mdp, uncertainty_set, Q) -> TQ for an operator. The signature for each kind is in docs/variants.md, and
    `properties.kinds.kind_of(kind).example.called` has it too.
    `sets` are the types of uncertainty set it is for, `promises` the names of what it promises
    (`properties.laws.law.PROMISES`), `options` narrow the problems (`OPTIONS`).
    """

    name: str
    kind: Kind
    make: Callable[..., Any]
    sets: tuple[type[UncertaintySet], ...]
    promises: tuple[Promise | str, ...]
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise TypeError(f"a variant's name must be text that is not empty, got {self.name!r:.80}")
        if self.kind not in KINDS:
            known = ", ".join(KINDS)
            raise ValueError(
                f"{self._its('kind')} must be one of {known}, got {self.kind!r:.80}{suggestion(self.kind, KINDS)}"
            )
        if not callable(self.make):
            raise TypeError(f"{self._its('make')} must be callable, got {self.make!r:.80}")
        self._check_sets()
        self._check_promises()
        self._check_options()

    def _its(self, argument: str) -> str:
        return f"variant {self.name!r}: {argument}"

    def _check_sets(self) -> None:
        rule = f"{self._its('sets')} must be types of uncertainty sets in a tuple, e.g. (Contamination,)"
        if not isinstance(self.sets, tuple):
            raise TypeError(f"{rule}, got {self.sets!r:.80}")
        for cls in self.sets:
            if not (isinstance(cls, type) and issubclass(cls, UncertaintySet)):
                raise TypeError(f"{rule}, got {cls!r:.80}")
        if not self.sets and self.kind not in SETLESS:
            raise ValueError(f"{rule}; a variant of kind {self.kind!r} needs at least one, got ()")

    def _check_promises(self) -> None:
        rule = f"{self._its('promises')} must be names of promises in a tuple, e.g. ('unbiased',)"
        if not isinstance(self.promises, tuple):
            raise TypeError(f"{rule}, got {self.promises!r:.80}")
        for promise in self.promises:
            if not isinstance(promise, str):
                raise TypeError(f"{rule}, got {promise!r:.80}")

    def _check_options(self) -> None:
        if not isinstance(self.options, Mapping):
            raise TypeError(f"{self._its('options')} must be a mapping, got {self.options!r:.80}")
        for name, value in self.options.items():
            rule = self._its(f"options[{name!r}]")
            if name not in OPTIONS:
                raise ValueError(f"{rule}: no such option; there are {', '.join(OPTIONS)}{suggestion(name, OPTIONS)}")
            if name in WORDS and value not in WORDS[name]:
                raise ValueError(f"{rule} must be one of {', '.join(map(repr, WORDS[name]))}, got {value!r:.80}")
            if name == "convention" and value == "rewards" and self.kind not in ("control", "evaluation"):
                raise ValueError(f"{rule}: only learners of tables can learn from rewards, got kind {self.kind!r}")
            if name == "cost per" and self.kind not in ("control", "evaluation"):
                raise ValueError(f"{rule} is for learners of tables, got kind {self.kind!r}")
            if name == "delay" and value != "visited":
                validate.count(rule, value, least=1)
            if name in ("tables", "samples", "batch"):
                validate.count(rule, value, least=1)
            if name == "expected" and not callable(value) and value not in EXPECTED:
                known = ", ".join(map(repr, EXPECTED))
                raise ValueError(f"{rule} must be a function of a view, or one of {known}, got {value!r:.80}")
            if name == "reference" and not callable(value):
                raise TypeError(f"{rule} must be a function of a view, got {value!r:.80}")
            if name in ("accuracy", "absolute accuracy", "draws"):
                validate.non_negative(rule, value)
            if name in ("accuracy", "absolute accuracy") and self.kind not in ACCURATE:
                raise ValueError(f"{rule} is for kind {', '.join(ACCURATE)}, got {self.kind!r}")
            if name == "levels":
                validate.unit_interval(rule, value)
            if name in TUPLES:
                self._check_tuple(rule, name, value)

    def _check_tuple(self, rule: str, name: str, value: Any) -> None:
        what, example = TUPLES[name]
        if not isinstance(value, tuple) or not value:
            raise TypeError(f"{rule} must be a tuple of {what}, e.g. {example}, got {value!r:.80}")
        for each in value:
            if name == "radii":
                validate.non_negative(f"{rule}: a radius", each)
            elif name == "gammas":
                validate.discount(f"{rule}: a discount", each)
            elif name == "costs":
                validate.real(f"{rule}: an end of the range", each)
            else:
                if validate.count(f"{rule}: a size", each, least=1) > LARGEST:
                    raise ValueError(f"{rule}: a size must be at most {LARGEST}, got {each}")
        if name == "costs" and (len(value) != 2 or not value[0] < value[1]):
            raise ValueError(f"{rule} must be (lowest, highest) with lowest < highest, got {value!r:.80}")
