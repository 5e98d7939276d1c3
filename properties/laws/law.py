"""Laws: a statement, a source of cases, and a judge that finds a violation in one case.

A law knows kinds and promises, never a variant by name. The judge is a pure function of (variant, case), so a
counterexample is replayed by calling it again.
"""

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from properties.cases.case import LawCase
from properties.cases.runs import ends_of, rng_of
from properties.cases.sources import Designed, Large, Source
from properties.judging.verdict import Finding, Verdict
from properties.kinds import promises
from robust_core.ends import Ends
from robust_core.problem import Kind, Variant
from robust_core.sets import UncertaintySet

PROMISES = promises()
"""What a variant can promise, in words; a law applies where the variant makes the promise that it tests."""
SEED_NAMES = {
    "bellman invariance": "bellman respelling",
    "optimum invariance": "optimum respelling",
    "optimal value invariance": "optimal value, respelled",
    "optimal policy invariance": "optimal policy, respelled",
    "average cost invariance": "average cost, respelled",
}
"""The former names of renamed laws: they are part of the seed of the cases, which a new name must not change."""


@dataclass(frozen=True)
class Law:
    """A law of one kind of variant.

    `promise` is the promise it tests (None: every variant of the kind must obey it); `after` names laws whose
    violation makes this one redundant. The judge takes the variant, the case, and the entries beside the case by their
    names.

    The other fields are hypotheses. They hold for generated cases and are checked for cases from files. `sets` are the
    uncertainty sets whose formula the judge knows (empty: any), and `ends` the meanings of the end of an episode
    (empty: any); for other sets the law does not apply. In an `endless` law no step ends an episode, in a
    `deterministic` one the model and the policy are deterministic, in an `unprojected` one there is no projection.
    `axes` is the number of axes of the rows of a support function. `twin(variant, reason, seed)` decides by sampling
    where draws cannot be enumerated.
    """

    name: str
    kinds: tuple[Kind, ...]
    promise: str | None
    statement: str
    cases: Source
    judge: Callable[..., Finding | None]
    after: tuple[str, ...] = ()
    sets: tuple[type[UncertaintySet], ...] = ()
    ends: tuple[Ends, ...] = ()
    endless: bool = False
    deterministic: bool = False
    unprojected: bool = False
    axes: int = 1
    only: Callable[[Variant], bool] = lambda variant: True
    """Whether the law applies to a variant that makes its promise."""
    twin: Callable[[Variant, str, int], Verdict] | None = None
    share: float = 1.0
    """The share of the examples of a search that this law tries; below 1 where one case takes long to judge."""

    def __post_init__(self) -> None:
        if self.promise is not None and self.promise not in PROMISES:
            raise ValueError(f"law {self.name!r}: promise must be one of {sorted(PROMISES)}, got {self.promise!r}")

    def applies_to(self, variant: Variant) -> bool:
        """Whether the variant is of the law's kind, makes its promise, and is for sets and sizes of the law."""
        claimed = self.promise is None or self.promise in variant.promises
        spoken_of = not (self.sets or self.ends) or bool(self.sets_of(variant))
        if not (variant.kind in self.kinds and claimed and spoken_of and self.only(variant)):
            return False
        return not isinstance(self.cases, Large) or self.cases.is_for(replace(variant, sets=self.sets_of(variant)))

    def sets_of(self, variant: Variant) -> tuple[type[UncertaintySet], ...]:
        """The sets of the variant to which the law applies."""
        named = (cls for cls in variant.sets if not self.sets or cls in self.sets)
        return tuple(cls for cls in named if not self.ends or ends_of(variant, cls) in self.ends)

    def cases_of(self, variant: Variant, seed: int = 0) -> Iterator[LawCase]:
        """The cases of the law for a variant, with the sets that the law speaks of; each law draws its own."""
        return self.cases.draw(
            replace(variant, sets=self.sets_of(variant)), f"{seed} {SEED_NAMES.get(self.name, self.name)}"
        )

    def first_cases(self, variant: Variant) -> Sequence[LawCase]:
        """The cases that every search tries before those that it draws."""
        return self.cases.first(replace(variant, sets=self.sets_of(variant)))

    def judge_case(self, variant: Variant, case: LawCase) -> Finding | None:
        """What the judge finds in a case."""
        with rng_of(case):
            return self.judge(variant, case, **case.beside)

    @property
    def beside(self) -> frozenset[str]:
        """The names of the entries that the judge asks for beside the case."""
        _, _, *others = inspect.signature(self.judge).parameters
        return frozenset(others)

    @property
    def reducible(self) -> bool:
        """Whether the judge is right for every smaller case too."""
        return not isinstance(self.cases, Designed)

    @property
    def large(self) -> bool:
        """Whether its cases are large instances."""
        return isinstance(self.cases, Large)
