"""Three-valued verdicts: look at geometric times, stop as soon as the evidence is clear.

Two processes per claim. `against` has the null "the claim holds" and decides *violated* at 1/alpha; `favour` has
the null "the claim fails by the stated effect" and decides *holds* at 1/beta, which means: not violated by the
effect. Neither by n_max: *undecided*. Time or samples that end before that: *pending*.

*holds* is not said over strong evidence against the claim. While E against is at least 1/DOUBT, a look that would say
*holds* says nothing: sampling goes on within the budget of n_max samples, and what is still in doubt there is
*undecided*, to be continued with a larger n_max like any other undecided cell.

Error probabilities, whenever one looks and however often a run is continued, by Ville's inequality:

* false *violated* <= alpha: it needs sup_n E_n >= 1/alpha for the supermartingale of the true claim; when sampling
  stops does not matter to the supremum;
* false *holds* <= beta: it needs sup_n E_n >= 1/beta for the process in favour, whose null is then true; the doubt only
  makes the event smaller;
* a true claim is ever in doubt with probability <= DOUBT: it needs sup_n E_n >= 1/DOUBT.
"""

import contextlib
import math
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from properties.statistics.mixtures import Mixture, Process
from properties.statistics.records import Decision, Outcome
from robust_core import validate
from robust_core.validate import Floats

FIRST_LOOK = 16
LOOK_RATIO = 1.25
BETA = 1e-3
"""The default probability of a false *holds*, per cell."""
DOUBT = 1e-2
"""1/DOUBT is the evidence against a claim over which *holds* is not said: decisive on the scale of Jeffreys (1961)."""
Piece = tuple[int, int]
"""The replicates start … stop−1."""
Evidence = Callable[[int, int], Floats]
"""The statistic of the replicates start … stop−1."""
Sampler = Callable[[np.random.Generator, int], Floats]
"""So many samples."""


def look_times() -> Iterator[int]:
    """16·1.25^k, rounded up.

    >>> from itertools import islice
    >>> list(islice(look_times(), 5))
    [16, 20, 25, 32, 40]
    """
    exact = float(FIRST_LOOK)
    while True:
        yield math.ceil(exact)
        exact *= LOOK_RATIO


def look_at_least(n: float) -> int:
    """The first look that is no earlier than n: a sample size that a longer run passes through.

    >>> look_at_least(21)
    25
    """
    validate.real("n", n)
    return next(look for look in look_times() if look >= n)


@dataclass(frozen=True)
class Test:
    """The two processes of one claim; `effect` says in words what `favour` excludes.

    `edge` draws samples for which the claim just holds, `defect` those of the design defect.
    """

    against: Mixture
    favour: Process
    effect: str
    edge: Sampler | None = field(default=None, compare=False, repr=False)
    defect: Sampler | None = field(default=None, compare=False, repr=False)

    # Not a test in the sense of pytest, whatever its name begins with.
    __test__ = False

    @property
    def size(self) -> int:
        """The length of the joint statistic."""
        return self.against.size + self.favour.size

    def statistic(self, x: Floats) -> Floats:
        """The joint statistic of samples."""
        return np.concatenate((self.against.statistic(x), self.favour.statistic(x)))

    def split(self, statistic: Floats) -> tuple[Floats, Floats]:
        """The parts of the two processes."""
        return statistic[: self.against.size], statistic[self.against.size :]


def probability(name: str, value: object) -> float:
    """A probability strictly between 0 and 1: at 0 nothing is ever decided, at 1 everything is decided by nothing."""
    number = validate.real(name, value)
    if not 0.0 < number < 1.0:
        raise ValueError(f"{name} must lie in (0, 1), got {number}")
    return number


@dataclass(frozen=True)
class Plan:
    """A test with its error probabilities and its largest number of replicates, a look; each brings `draws` samples."""

    test: Test
    alpha: float
    beta: float
    n_max: int
    draws: int = 1

    def __post_init__(self) -> None:
        for name in ("alpha", "beta"):
            probability(name, getattr(self, name))
        validate.count("draws", self.draws, least=1)
        if self.n_max != 1 and look_at_least(self.n_max) != self.n_max:
            raise ValueError(f"n_max must be 1 or a look (the next is {look_at_least(self.n_max)}), got {self.n_max}")

    def stretch_by(self, factor: float) -> "Plan":
        """The plan with n_max raised by a factor, but where one sample decides everything."""
        return self if factor == 1.0 or self.n_max == 1 else replace(self, n_max=look_at_least(factor * self.n_max))

    def looks(self) -> list[int]:
        """The sample sizes at which the evidence is looked at."""
        if self.n_max == 1:
            return [1]
        times = []
        for look in look_times():
            times.append(look)
            if look >= self.n_max:
                return times
        raise AssertionError("look times never end")


def judge(plan: Plan, statistic: Floats, n: int) -> Decision:
    """The decision if one stopped now; *undecided* is a reason to go on."""
    against, favour = plan.test.split(statistic)
    log_against, log_favour = plan.test.against.log_e(against), plan.test.favour.log_e(favour)
    outcome: Outcome = "undecided"
    if log_against >= -math.log(plan.alpha):
        outcome = "violated"
    elif log_favour >= -math.log(plan.beta) and log_against < -math.log(DOUBT):
        outcome = "holds"
    factors = tuple(float(x) for x in plan.test.against.log_factors(against))
    return Decision(outcome, n, log_against, log_favour, factors)


def pieces(start: int, stop: int, most: int) -> list[tuple[int, int]]:
    """start … stop−1 in pieces of at most `most`, always cut at the same places.

    >>> pieces(16, 20, 3)
    [(16, 19), (19, 20)]
    """
    return [(first, min(first + most, stop)) for first in range(start, stop, most)]


def steps(plan: Plan, *, piece: int = 256) -> Generator[list[Piece], list[Floats], Decision]:
    """Take samples until a look decides or n_max is reached.

    Yields the pieces up to the next look and is sent their statistics, in their order; fewer of them mean that no more
    will come, and the decision is *pending*. The pieces are fixed and added in their order, so the decision has the
    same bits whoever computed them.
    """
    total, n = np.zeros(plan.test.size), 0
    path: list[tuple[int, float, float]] = []
    for look in plan.looks():
        wanted = pieces(n, look, piece)
        statistics = yield wanted
        for statistic in statistics:
            total = total + statistic
        if len(statistics) < len(wanted):
            so_far = judge(plan, total, wanted[len(statistics)][0])
            return replace(so_far, outcome="pending", path=tuple(path))
        n = look
        decision = judge(plan, total, n)
        path.append((n, decision.log_against, decision.log_favour))
        if decision.outcome != "undecided":
            break
    return replace(decision, path=tuple(path))


T = TypeVar("T")
R = TypeVar("R")


def drive(generator: Generator[list[Piece], list[T], R], answer: Callable[[int, int], T]) -> R:
    """The result of steps that are answered here, piece by piece; an answer that raises OutOfTime is the last one."""
    wanted = next(generator)
    while True:
        answers: list[T] = []
        with contextlib.suppress(OutOfTime):
            for piece in wanted:
                answers += [answer(*piece)]
        try:
            wanted = generator.send(answers)
        except StopIteration as end:
            result: R = end.value
            return result


def run(plan: Plan, evidence: Evidence, *, piece: int = 256) -> Decision:
    """The decision of `steps`, from evidence that is computed here."""
    return drive(steps(plan, piece=piece), evidence)


class OutOfTime(Exception):
    """The time ended before a piece was complete."""
