"""What a law is: a statement, the cases it speaks of, and a judge that finds a violation in one case.

A law knows kinds and promises, never a variant by name. The judge is a pure function of (variant, case), so a
counterexample is replayed by calling it again.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from hypothesis import strategies as st

from properties.cases.case import LawCase
from properties.cases.sources import Designed, Large, Source
from properties.judging.verdict import Finding
from robust_core.problem import Kind, Variant
from robust_core.sets import UncertaintySet

# What a variant can promise, in words; a law applies where the variant makes one of the promises it tests.
PROMISES: Mapping[str, str] = {
    # learners
    "unbiased": "the mean over next states (and actions) of an update is (1−alpha)·estimate + alpha·(robust backup)",
    "asynchronous": "an update changes the visited entry only",
    "sample form": "given the transition, the visited entry moves to"
    " (1−alpha)x + alpha(c + gamma R max V + gamma(1−R)v'), v' the value of the next state",
    "sample form, next action": "the same with v' = Q(s',a'), the entry of the next action",
    "fixed point": "started at the solution of a deterministic problem it stays there",
    "non-expansive": "two estimates on one path never move apart in the sup norm",
    "monotone": "a larger start or cost gives a larger estimate at all times",
    "monotone in R": "a larger radius gives a larger estimate at all times",
    "shift": "costs + k(1−gamma) and start + k give estimates + k",
    "scale": "costs and start times 2 give estimates times 2 (K times 2 and varrho half, where they apply)",
    "symmetric": "names of states and actions do not matter, nor do actions never taken and states never visited",
    "bounded": "estimates stay in the box [min c, max c]/(1−gamma) if they start there",
    "TDC": "an update is a step of robust TDC (Algorithm 2)",
    "GTD2": "an update is a step of robust GTD2",
    "projected": "theta and omega never leave the ball of radius K",
    "rotation": "orthogonally changed features give the same values",
    # functions
    "bellman": "the operator is the robust Bellman operator T",
    "optimal": "the planner returns Q*, to options['accuracy'] times max|c|/(1−gamma) (default: to rounding)",
    "support function": "the function is the support function of the set",
    "rows": "the function takes many rows p at once",
    "trajectory": "the sampler returns one path of the chain",
}


@dataclass(frozen=True)
class Law:
    """A law of one kind of variant.

    `promise` is the promise it tests (None: every variant of the kind must obey it); `after` names laws whose
    failure makes this one say nothing new. The judge takes the variant, the case, and the entries beside the case by
    their names.

    The others are hypotheses, to which drawn cases and those of files are held alike. `sets` are the uncertainty sets
    whose formula the judge knows (none: any); for the other sets of a variant the law says nothing. In an `endless` law
    no step ends an episode, in a `deterministic` one nothing is left to chance, an `unprojected` one has no ball of
    projection; `axes` are those of the rows of a support function.
    """

    name: str
    kinds: tuple[Kind, ...]
    promise: str | None
    statement: str
    cases: Source
    judge: Callable[..., Finding | None]
    after: tuple[str, ...] = ()
    sets: tuple[type[UncertaintySet], ...] = ()
    endless: bool = False
    deterministic: bool = False
    unprojected: bool = False
    axes: int = 1

    def __post_init__(self) -> None:
        if self.promise is not None and self.promise not in PROMISES:
            raise ValueError(f"law {self.name!r}: promise must be one of {sorted(PROMISES)}, got {self.promise!r}")

    def applies_to(self, variant: Variant) -> bool:
        """Whether the variant is of the law's kind, makes its promise, and is for a set the law speaks of."""
        claimed = self.promise is None or self.promise in variant.promises
        return variant.kind in self.kinds and claimed and (not self.sets or bool(self.sets_of(variant)))

    def sets_of(self, variant: Variant) -> tuple[type[UncertaintySet], ...]:
        """The sets of the variant that the law speaks of."""
        return tuple(cls for cls in variant.sets if not self.sets or cls in self.sets)

    def cases_of(self, variant: Variant) -> st.SearchStrategy[LawCase]:
        """The cases of the law for a variant, with the sets that the law speaks of."""
        return self.cases.strategy(replace(variant, sets=self.sets_of(variant)))

    def judge_case(self, variant: Variant, case: LawCase) -> Finding | None:
        """What the judge finds in a case."""
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
