"""The worker's side: run a variant in a case, enumerate its mean, judge it in the case."""

import copy
import inspect
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from properties.cases import law_schema
from properties.cases.case import LawCase
from properties.cases.codec import decode
from properties.cases.runs import Run, rng_seed
from properties.difference.orders import (
    Answer,
    AnswersGiven,
    CaseJudged,
    GiveAnswers,
    JudgeCase,
    LawAtCase,
    MeanTaken,
    Numbers,
    OptionsTold,
    TakeMean,
    TellOptions,
)
from properties.judging import blame
from properties.judging.blame import CannotBeJudged, NotTested
from properties.judging.guard import TooSlow, watch
from properties.judging.observation import observed_variant
from properties.judging.search import judge_case
from properties.judging.verdict import Finding
from properties.judging.verification import applicable
from properties.kinds import kind_of
from properties.kinds.simulator import SimulatorCase
from properties.laws import simulator
from properties.laws.coins import Coins, NotEnumerable, Tape, leaves
from properties.laws.learning import advance, arrays, new_learner, problem
from properties.laws.mean_update import as_array
from properties.laws.view import View, to_rationals
from properties.process.serving import Worker, follow_orders
from properties.process.session import Describe, JudgeCanary, Verify
from robust_core.problem import Variant

ITERATIONS = 3
"""Of a learner with a simulator."""
COINS = 0
"""The stream of draws before the step whose mean is taken."""
Step = tuple[np.ndarray, ...]


class PairWorker(Worker):
    """Answers for one of the two variants."""

    ORDERS: ClassVar[tuple[type, ...]] = (
        Describe, JudgeCanary, Verify, TellOptions, GiveAnswers, TakeMean, JudgeCase,
    )  # fmt: skip

    def follow(self, order: object) -> None:
        """Do as ordered, and send the answer."""
        if isinstance(order, TellOptions):
            self.send(_options(self.variants[order.target]))
        elif isinstance(order, GiveAnswers):
            variant = self.variants[order.target]
            case = _case(variant, order.case)
            answers = (answer(variant, case, seed) for seed in order.seeds)
            whole = not order.last or variant.kind == "sampler"
            self.send(AnswersGiven(tuple(each if whole else _last(each) for each in answers)))
        elif isinstance(order, TakeMean):
            variant = self.variants[order.target]
            self.send(take_mean(variant, _case(variant, order.case), order.ends))
        elif isinstance(order, JudgeCase):
            self.send(CaseJudged(tuple(judge_at(self.variants[order.target], order.case, order.promises))))
        else:
            super().follow(order)


def serve(pipe: int) -> None:
    """Answer as the parent orders."""
    follow_orders(pipe, PairWorker)


def _options(variant: Variant) -> OptionsTold:
    plain = {name: value for name, value in variant.options.items() if isinstance(value, str | int | float | tuple)}
    return OptionsTold(tuple(cls.kind for cls in variant.sets), plain)


def _case(variant: Variant, data: dict[str, Any]) -> LawCase:
    return kind_of(variant.kind).case.of({name: decode(value) for name, value in data.items()})


def _last(answer: Answer) -> Answer:
    return replace(answer, steps=answer.steps[-1:])


def answer(variant: Variant, case: LawCase, seed: int) -> Answer:
    """The results of the variant in a case, its rng seeded so."""
    steps: list[Step] = []

    def work() -> Finding | None:
        try:
            steps.extend(_steps(observed_variant(variant), case, seed))
        except BaseException as error:
            return Finding(blame.misbehaviour(error), None, None)
        return None

    try:
        with rng_seed(seed):
            finding = watch(work)
    except TooSlow as slow:
        finding = slow.finding()
    said = "" if finding is None else str(finding)
    return Answer(tuple(tuple(map(Numbers.of, step)) for step in steps), said)


def _steps(variant: Variant, case: LawCase, seed: int) -> Iterator[Step]:
    """The results in their order, by the kind of the variant."""
    kind = kind_of(variant.kind)
    if kind.learner:
        assert isinstance(case, Run)
        learner = new_learner(variant, case)
        yield arrays(learner.estimate())
        for step in case.path:
            yield arrays(advance(learner, [step]).estimate())
    elif isinstance(case, SimulatorCase):
        learner = simulator.begin(variant, case, Tape(), seed, 0, math.inf)[0]
        yield arrays(simulator.read_estimate(learner))
        for _ in range(ITERATIONS):
            learner.iterate()
            yield arrays(simulator.read_estimate(learner))
    elif kind.shape is not None:
        names = inspect.signature(kind.shape).parameters
        values = (getattr(case, name) for name in names)
        yield (np.asarray(variant.make(*(value() if callable(value) else value for value in values))),)
    elif variant.kind == "sampler":
        for transition in variant.make(*case.entries().values(), np.random.default_rng(seed)):
            yield (np.array(transition, dtype=np.float64),)
    else:
        yield arrays(variant.make(*case.entries().values()))


def take_mean(variant: Variant, case: LawCase, ends: float) -> MeanTaken:
    """E[estimate after the last step | the steps before], over transitions and draws, or the reason against it."""
    found: list[np.ndarray] = []

    def work() -> Finding | None:
        try:
            observed = observed_variant(variant)
            parts = (
                _leaves_of_simulator(observed, case)
                if isinstance(case, SimulatorCase)
                else _leaves(observed, case, ends)
            )
            total: Any = Fraction(0)
            for probability, estimate in parts:
                total = total + probability * to_rationals(as_array(estimate))
            found.append(total.astype(np.float64))
        except NotEnumerable:
            raise
        except BaseException as error:
            return Finding(blame.misbehaviour(error), None, None)
        return None

    try:
        finding = watch(work)
    except NotEnumerable as reason:
        return MeanTaken(None, str(reason))
    except TooSlow as slow:
        finding = slow.finding()
    if finding is not None:
        return MeanTaken(None, str(finding))
    return MeanTaken(Numbers.of(found[0]))


def _leaves(variant: Variant, case: LawCase, ends: float) -> Iterator[tuple[Fraction, Any]]:
    assert isinstance(case, Run)
    history, (s, a) = case.path[:-1], case.path[-1][:2]
    tape = Tape()
    learner = advance(variant.make(problem(case, Coins(tape, COINS))), history)
    view = View(variant, case, past=[], steps=history, s=s, a=a, ends=ends)
    for chance, step in view.float_outcomes():
        each: Callable[[], Any] = lambda step=step: advance(copy.deepcopy(learner), [step]).estimate()  # type: ignore[misc]  # noqa: E731
        for share, estimate in leaves(tape, each):
            yield chance * share, estimate


def _leaves_of_simulator(variant: Variant, case: SimulatorCase) -> Iterator[tuple[Fraction, Any]]:
    for leaf in simulator.outcomes(variant, case, COINS, 0):
        yield leaf.probability, leaf.table


def judge_at(variant: Variant, data: dict[str, Any], promises: tuple[str, ...]) -> Iterator[LawAtCase]:
    """The verdicts of the laws that speak of such a case; those that need another one say nothing."""
    entries = {name: decode(value) for name, value in data.items()}
    wider = replace(variant, promises=tuple(dict.fromkeys((*variant.promises, *promises))))
    for law in applicable(wider):
        beside: dict[str, Any] = {"ends": 0.0, "coins": COINS, "steps": 0}
        known = law.beside <= beside.keys() and not law.large
        if not known:
            continue
        try:
            case = law_schema.read(law, entries | {name: beside[name] for name in law.beside}, wider)
        except ValueError:
            continue
        own = law.promise is None or law.promise in variant.promises
        try:
            finding = judge_case(law, wider, case)
        except (CannotBeJudged, NotTested) as reason:
            yield LawAtCase(law.name, law.promise, own, "untested", str(reason))
            continue
        yield LawAtCase(law.name, law.promise, own, "violated" if finding else "holds", str(finding or ""))
