"""Learners from minibatches of independent transitions."""

from dataclasses import dataclass, replace
from itertools import count, pairwise, takewhile
from typing import Any

import numpy as np

from properties.cases.case import Case, Path
from properties.cases.choices import ENDS, Choices
from properties.cases.entry_rules import RULES, check_floats, check_step_size, require
from properties.cases.runs import USUAL, Beginning, Run, RunOptions, estimates, schedule
from properties.kinds import Canary, Example, KindOfVariant
from robust_core import Transition
from robust_core.mdp import MDP
from robust_core.problem import Variant
from robust_core.validate import Floats

SIZES = (1, 2, 3)
"""Of batches whose members may all have several successors; in a model for larger ones, one pair has two."""


@dataclass(frozen=True, kw_only=True, eq=False)
class BatchRun(Run):
    """A run whose path is cut into batches of `size` transitions, and the policy that is evaluated, if there is one.

    `first` is the size of the first batch, where it has another one.
    """

    size: int
    policy: Floats | None = None
    first: int | None = None

    def given(self, batches: int) -> int:
        """How many transitions so many batches have together."""
        return batches and (self.first or self.size) + (batches - 1) * self.size

    def batches(self) -> list[Path]:
        """The batches; what is left over at the end is not given to a learner."""
        ends = takewhile(lambda end: end <= len(self.path), map(self.given, count()))
        return [self.path[start:end] for start, end in pairwise(ends)]

    def adapt(self, learner: Any) -> Any:
        """The learner as one of single transitions."""
        return InBatches(learner, self.size, self.first or self.size)


class InBatches:
    """A learner of batches behind the contract of a learner of transitions: it gets a batch when that is full."""

    def __init__(self, learner: Any, size: int, first: int) -> None:
        self._learner, self._size, self._awaited = learner, size, first
        self._batch: list[Transition] = []

    def update(self, transition: Transition) -> None:
        """Collect the transition."""
        self._batch.append(transition)
        if len(self._batch) == self._awaited:
            batch, self._batch, self._awaited = tuple(self._batch), [], self._size
            self._learner.update(batch)

    def estimate(self) -> Any:
        """As the learner's own."""
        return self._learner.estimate()


def batch_run(choices: Choices, variant: Variant, options: RunOptions = USUAL) -> BatchRun:
    """A problem and independent transitions, many of them of the same pairs."""
    fixed = variant.options.get("batch")
    size = choices.any_of(SIZES) if fixed is None else int(fixed)
    large = size > max(SIZES)
    if large:
        options = replace(options, deterministic=True)
    begin = Beginning.choose(choices, variant, options)
    mdp = _with_open_pair(choices, begin.mdp) if large else begin.mdp
    policy = begin.policy(choices) if estimates(variant) == "V" else None
    step_size = schedule(choices, variant, visits=False)
    initial = begin.table(choices, variant)
    steps = [_step(choices, mdp, policy, ends=begin.ends) for _ in range(begin.length * begin.times)]
    return BatchRun(
        mdp=mdp,
        uncertainty_set=begin.uncertainty_set,
        step_size=step_size,
        initial=initial,
        path=steps,
        size=size,
        policy=policy,
    )


def _with_open_pair(choices: Choices, mdp: MDP) -> MDP:
    """A deterministic model with one pair that has two successors, one more likely: a median is not a mean."""
    P = np.array(mdp.P)
    s, a = choices.index(mdp.n_states), choices.index(mdp.n_actions)
    P[s, a] *= 0.25
    P[s, a, choices.index(mdp.n_states)] += 0.75
    return MDP(P, mdp.cost, mdp.gamma)


def _step(choices: Choices, mdp: MDP, policy: Floats | None, *, ends: bool) -> tuple[Any, ...]:
    """A transition of any state."""

    def action(s: int) -> int:
        return choices.index(mdp.n_actions) if policy is None else choices.any_of(np.flatnonzero(policy[s]).tolist())

    s = choices.index(mdp.n_states)
    a = action(s)
    s_next = choices.any_of(np.flatnonzero(mdp.P[s, a]).tolist())
    return s, a, float(mdp.cost[s, a]), s_next, action(s_next), ends and choices.any_of(ENDS)


def _step_size(name: str, case: Case) -> None:
    check_step_size(name, case)
    require(case[name].clock != "visits", name, "not count visits, of which a batch has many", case[name])


def _initial(name: str, case: Case) -> None:
    check_floats(name, case[name], case["mdp"].cost.shape[: np.ndim(case[name])])


def _size(name: str, case: Case) -> None:
    RULES["steps"](name, case)
    require(case[name] >= 1, name, "be positive", case[name])


def _first(name: str, case: Case) -> None:
    if case[name] is not None:
        _size(name, case)


KIND = KindOfVariant(
    case=BatchRun,
    generate=batch_run,
    promises={
        "batch mean": "the mean of the estimate after a batch, given the past and the pairs of the batch, is the step"
        " options['expected']: 'robust backup' (default; entry x moves by alpha n/k (Tx − x), n of the k transitions"
        " being of that entry), 'robust backup, per entry' (entries of the batch move by alpha (Tx − x)), or a function"
        " of a view",
        "batch variance": "the variance of an entry is at most that of the same step with independent targets: with"
        " n of k transitions alpha² n/k² times the variance of one target, per entry alpha²/n times it (contamination)",
        "batch order": "the order of the transitions in a batch does not matter, up to rounding",
    },
    canary=Canary("batch:VANILLA", ("batch mean", "batch mean, one pair")),
    example=Example(
        called="a factory `make(problem)` of learners with `update(batch)`, a tuple of independent transitions, and"
        " `estimate()`, which is Q[s, a], or V[s] of `problem.policy` with `options={'estimates': 'V'}`; alpha is"
        " `problem.step_size.at(j)` after j batches; batches have any size, or that of `options={'batch': k}`",
        right="/ len(batch)",
        wrong="/ len(self.Q)",
    ),
    learner=True,
    rules={"step_size": _step_size, "initial": _initial, "size": _size, "first": _first},
    learning=("batch mean",),
    visits=False,
)
