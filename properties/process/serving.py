"""The worker's side of a verification: load the variants, describe them, judge them as ordered."""

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import ClassVar

from properties.cases.scope import Scope
from properties.cases.transition_costs import are_paid_by
from properties.judging.blame import CannotBeJudged, describe_error
from properties.judging.canary import missed_defect
from properties.judging.counterexample import Counterexample
from properties.judging.expectations import Expectation
from properties.judging.verification import (
    advice,
    applicable,
    read_expectations,
    require_promises,
    shortly_named,
    untested_promises,
    verify,
)
from properties.kinds import kind_of
from properties.process.child import Line, settle
from properties.process.confirmation import Refused
from properties.process.loading import load_all
from properties.process.session import (
    Alive,
    Begun,
    CanaryJudged,
    Decided,
    Describe,
    Described,
    Description,
    Failed,
    JudgeCanary,
    PlannedCell,
    Size,
    Verify,
)
from properties.statistics.suite import allot_cells
from robust_core.ends import default_ends
from robust_core.mdp import MDP
from robust_core.problem import Variant

SIGN_OF_LIFE = 1.0
"""Seconds between messages from a statistical law at work, which may take longer than a worker may be silent."""


def serve(pipe: int) -> None:
    """Verify variants as the parent orders."""
    follow_orders(pipe, Worker)


def follow_orders(pipe: int, kind: "type[Worker]") -> None:
    """Follow the orders of the parent until it has no more."""
    with Line(pipe) as line:
        settle()
        worker = kind(line.send)
        while (order := line.receive(*kind.ORDERS)) is not None:
            try:
                worker.follow(order)
            except Exception as error:
                # An exception of the variant is a verdict; this one comes from the suite, and blames nobody.
                line.send(Failed(str(CannotBeJudged.because(error))))


class Worker:
    """The variants that this process has loaded, and their expected failures."""

    ORDERS: ClassVar[tuple[type, ...]] = (Describe, JudgeCanary, Verify)

    def __init__(self, send: Callable[[object], None]) -> None:
        self.send = send
        self.variants: dict[str, Variant] = {}
        self.expected: dict[str, Mapping[str, Expectation]] = {}

    def follow(self, order: object) -> None:
        """Execute an order and send the answers."""
        if isinstance(order, Describe):
            self.send(self.describe(order))
        elif isinstance(order, JudgeCanary):
            self.send(CanaryJudged(missed_defect(order.kind)))
        elif isinstance(order, Verify):
            self.verify(order)

    def describe(self, order: Describe) -> Described | Refused:
        """Load the variants; whatever is wrong with them or with the expected failures is a reason to refuse them."""
        folder, mask = os.getcwd(), os.umask(0o077)
        os.umask(mask)
        try:
            for target, variant in load_all(order.targets).items():
                self.variants[target] = shortly_named(variant)
            # A module may have changed both. Files are named as seen from here, and others can read counterexamples.
            os.chdir(folder)
            os.umask(mask)
            for target, variant in self.variants.items():
                try:
                    require_promises(variant)
                except ValueError as error:
                    raise ValueError(f"{target}: {error}") from None
                if order.expected is not None:
                    self.expected[target] = read_expectations(Path(order.expected), variant)
            return Described(tuple(description(*item, order.size) for item in self.variants.items()))
        except ValueError as error:
            return Refused(str(error))
        except BaseException as error:
            return Refused(f"{', '.join(order.targets)}: {describe_error(error)} while loading")

    def verify(self, order: Verify) -> None:
        """Judge a variant by the laws and cells that are named in the order."""
        from properties.statistics.judging import VARIANT_SECONDS

        variant = self.variants[order.target]
        cells = [] if order.size is None else allot_cells(variant, order.size, total=order.weight)
        records = verify(
            variant,
            name=order.target,
            examples=order.examples,
            seed=order.seed,
            laws=[law for law in applicable(variant) if law.name in order.laws],
            failed=order.failed,
            expected=self.expected.get(order.target),
            keep=None if order.keep is None else Path(order.keep),
            progress=lambda law: self.send(Begun(law)),
            cells=[cell for cell in cells if cell.name in order.laws],
            cell_seconds=float("inf") if order.size is None else VARIANT_SECONDS[order.size],
            tick=_at_most_every(SIGN_OF_LIFE, lambda: self.send(Alive())),
            law_seconds=float("inf") if order.budget is None else order.budget,
            models=[MDP.from_dict(model) for model in order.models],
            sampled=order.size is not None,
        )
        for record in records:
            example = record.counterexample
            if isinstance(example, Counterexample):
                self.send(Decided(replace(record, target=order.target, counterexample=None), example.to_json()))
            else:
                self.send(Decided(replace(record, target=order.target)))


def description(target: str, variant: Variant, size: Size | None) -> Description:
    """The variant in plain words; without a size, the cells are those of the quick one."""
    return Description(
        target,
        variant.name,
        variant.kind,
        tuple(cls.__name__ for cls in variant.sets),
        variant.promises,
        limits(variant),
        tuple(law.name for law in applicable(variant)),
        tuple(PlannedCell(cell.name, cell.cell.weight) for cell in allot_cells(variant, size or "quick")),
        tuple(untested_promises(variant)),
        advice(variant),
        Scope.of(variant),
    )


def limits(variant: Variant) -> tuple[str, ...]:
    """Which problems the options of a variant leave out, in words.

    >>> from properties.variants.gallery.vanilla_q_learning import VARIANT
    >>> limits(VARIANT)
    ('tried for radius 0 only',)
    """
    words = [*Scope.of(variant).in_words()]
    if "smoothing" in variant.options:
        words.append(f"tried with smoothing {variant.options['smoothing']!r} only")
    if variant.options.get("convention") == "rewards":
        words.append("told rewards; the verdicts speak of costs, their negatives")
    if are_paid_by(variant):
        words.append("told costs c(s,a,s'); the truth is that of their mean, and nature changes the successor only")
    if "tables" in variant.options:
        words.append(f"started from {variant.options['tables']} different tables")
    if "delay" in variant.options:
        delay = variant.options["delay"]
        words.append(
            f"a step may change {'all visited entries' if delay == 'visited' else f'the last {delay} visited'}"
        )
    if "schedule" in variant.options:
        own = variant.options["schedule"] == "own"
        words.append("not told any step size" if own else "tried with step sizes that count no visits only")
    if "ends" in variant.options:
        meaning = variant.options["ends"]
        words.append("tried without ends of episodes" if meaning == "none" else f"ends of episodes: {meaning}")
    elif kind_of(variant.kind).learner:
        without = [cls.__name__ for cls in variant.sets if default_ends(cls) == "none"]
        if without:
            words.append(f"tried without ends of episodes for {', '.join(without)}: options['ends'] says none")
    if "accuracy" in variant.options:
        scales = {
            "support": "max|v|",
            "average cost planner": "max|c|",
            "policy gradient": "max|c|/(1-gamma)^2",
            "objective": "the size of its terms",
        }
        scale = scales.get(variant.kind, "max|c|/(1-gamma)")
        words.append(f"judged to an accuracy of {variant.options['accuracy']:.2g} times {scale}")
    if "absolute accuracy" in variant.options:
        words.append(f"judged to an absolute accuracy of {variant.options['absolute accuracy']:.2g}")
    return tuple(words)


def _at_most_every(seconds: float, act: Callable[[], None]) -> Callable[[], None]:
    last = monotonic()

    def tick() -> None:
        nonlocal last
        if monotonic() - last >= seconds:
            last = monotonic()
            act()

    return tick
