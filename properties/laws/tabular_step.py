"""Laws of one tabular update, fresh or after a history: what it writes, where, and in the mean (eq:Qupdate)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, cast

import numpy as np

from oracles.arithmetic import exact
from oracles.planning import ends as ending
from oracles.planning.truth import Bracket
from properties.cases import runs
from properties.cases.choices import Choices
from properties.cases.runs import Place, Run, ends_of, estimates, place_of, policy_of
from properties.cases.sources import Generated
from properties.cases.transition_costs import cost_of
from properties.judging.side_by_side import entry
from properties.judging.verdict import Finding
from properties.laws.coins import NotEnumerable, Tape
from properties.laws.comparison import compare
from properties.laws.law import Law
from properties.laws.learning import (
    LONG,
    TABULAR,
    advance,
    branches,
    learner_with_coins,
    new_learner,
    step_size_at,
    table,
)
from properties.laws.rounding import UNIT, step_bound
from properties.laws.sampled_mean import sampled_mean
from robust_core.mdp import MDP
from robust_core.problem import Variant
from robust_core.sets import Contamination, UncertaintySet

SEEDS, MOST_STEPS = 24, 400
"""Seeds of the rng for which a step without chance is the same; with a fair coin it is so with probability 2^-23.
After longer paths that is not asked.
"""


def state_values(entries: np.ndarray, policy: np.ndarray | None) -> list[Fraction]:
    """V(s) of a table, exactly: its entries, their minimum, or their mean under the policy."""
    if entries.ndim == 1:
        return [Fraction(x) for x in entries.tolist()]
    if policy is None:
        return [Fraction(x) for x in entries.min(axis=1).tolist()]  # a minimum of floats is exact
    return [_mean(row.tobytes(), weights.tobytes()) for row, weights in zip(entries, policy, strict=True)]


@lru_cache(maxsize=1024)
def _mean(row: bytes, weights: bytes) -> Fraction:
    """The mean of a row of floats under weights, exactly; a step of a run changes one row of many."""
    shares = exact.distribution(np.frombuffer(weights).tolist()).fractions()
    return sum((w * Fraction(x) for w, x in zip(shares, np.frombuffer(row).tolist(), strict=True)), Fraction(0))


class Clock:
    """Counts what the step size counts."""

    def __init__(self, schedule: Any) -> None:
        self.schedule, self.t = schedule, 0
        self.visits: dict[Place, int] = {}

    def next(self, place: Place) -> float:
        """The step size of a visit of `place`, which is counted."""
        n = self.visits.get(place, 0) if self.schedule.clock == "visits" else self.t
        self.visits[place] = self.visits.get(place, 0) + 1
        self.t += 1
        return step_size_at(self.schedule, n)


def _size(entries: np.ndarray, cost: float) -> float:
    return float(np.abs(entries).max()) + abs(cost)


def _entry_wrong(
    variant: Variant,
    before: np.ndarray,
    place: Place,
    values: tuple[float, float],
    allowed: float,
    *,
    of: str = "",
    when: str,
) -> Finding | None:
    """The finding that the visited entry is the first value and not the second, within the table before the step."""
    got, wanted = before.copy(), before.copy()
    got[place], wanted[place] = values
    return compare(got, wanted, allowed, of + estimates(variant), after=when)


def _written(variant: Variant, case: Run, *, sampled: bool) -> Finding | None:
    """Follow the path; at every step compare the written entry with eq:Qupdate, evaluated in rationals."""
    mdp, uncertainty_set = case.mdp, cast(Contamination, case.uncertainty_set)
    learner, clock = new_learner(variant, case), Clock(case.step_size)
    R, gamma = Fraction(uncertainty_set.radius), Fraction(mdp.gamma)
    # Where nature may end an episode, 0 is among the values of which she takes the largest.
    end = [Fraction(0)] if ends_of(variant, type(uncertainty_set)) == "nature ends" else []
    before = table(learner)
    for number, step in enumerate(case.path):
        s, a, cost, s_next, a_next, terminal = step
        place = place_of(variant, s, a)
        V = state_values(before, policy_of(case))
        following = Fraction(float(before[s_next, a_next])) if sampled else V[s_next]
        alpha = Fraction(clock.next(place))
        target = Fraction(cost) + gamma * (R * max(V + end) + (1 - R) * (0 if terminal else following))
        wanted = float((1 - alpha) * Fraction(float(before[place])) + alpha * target)
        after = table(advance(learner, [step]))
        allowed = step_bound(mdp.n_states, mdp.n_actions, _size(before, cost))
        if not abs(after[place] - wanted) <= allowed:
            when = f" after step {number + 1} with alpha = {float(alpha)}"
            return _entry_wrong(variant, before, place, (float(after[place]), wanted), allowed, when=when)
        before = after
    return None


def _sample_form(variant: Variant, case: Run) -> Finding | None:
    return _written(variant, case, sampled=False)


def _sample_form_next_action(variant: Variant, case: Run) -> Finding | None:
    return _written(variant, case, sampled=True)


def _asynchronous(variant: Variant, case: Run) -> Finding | None:
    """All entries but the visited one keep their bits (Algorithm 1, line 6); with a delay, those visited lately."""
    learner = new_learner(variant, case)
    places: list[Place] = []
    before = table(learner)
    for number, step in enumerate(case.path):
        after = table(advance(learner, [step]))
        place = place_of(variant, step[0], step[1])
        places.append(place)
        wanted = before.copy()
        for one in _changeable(variant, places):
            wanted[at(one)] = after[at(one)]
        if (after != wanted).any():
            when = f" after step {number + 1}, a visit of {entry(place)}"
            return compare(after, wanted, 0.0, estimates(variant), after=when, columns=("after", "before"))
        before = after
    return None


def _changeable(variant: Variant, places: list[Place]) -> list[Place]:
    """The entries that the last step may change: the last one visited, or as options['delay'] says."""
    delay = variant.options.get("delay", 1)
    return places if delay == "visited" else places[-delay:]


def at(place: Place) -> tuple[Any, ...]:
    """The index of an entry in a table, or in several that are stacked."""
    return (..., *(place if isinstance(place, tuple) else (place,)))


def backup(
    variant: Variant,
    mdp: MDP,
    uncertainty_set: UncertaintySet,
    entries: np.ndarray,
    policy: np.ndarray | None,
    s: int,
    a: int,
    *,
    ends: Sequence[float],
) -> Bracket:
    """The robust backup that a visit of (s,a) is about, enclosed: TQ(s,a), T_pi Q(s,a) or T_pi V(s).

    `ends` are the states that end an episode when they are entered from s.
    """
    V = state_values(entries, policy)
    gamma, nature_ends = Fraction(mdp.gamma), ends_of(variant, type(uncertainty_set)) == "nature ends"

    def value(action: int) -> tuple[Fraction, Fraction]:
        one = uncertainty_set.at(s, action)
        found = ending.sigma(one, mdp.P[s, action].tolist(), ends, V, nature_ends=nature_ends)
        cost = Fraction(float(mdp.cost[s, action]))
        return cost + gamma * found.lower, cost + gamma * found.upper

    if estimates(variant) == "Q":
        return Bracket(*value(a))
    assert policy is not None
    weights = exact.distribution(policy[s].tolist()).fractions()
    values = [(w, value(action)) for action, w in enumerate(weights) if w]
    return Bracket(*(sum((w * pair[end] for w, pair in values), Fraction(0)) for end in (0, 1)))


def _outcomes(variant: Variant, case: Run, s: int, a: int) -> Iterator[tuple[Fraction, Sequence[Any]]]:
    """Every transition from (s,a), or from s for a table of state values, with its probability; none is terminal."""
    mdp, policy, weights = case.mdp, policy_of(case), {a: Fraction(1)}
    if estimates(variant) == "V" and policy is not None:
        weights = {b: Fraction(w) for b, w in enumerate(policy[s].tolist()) if w}
    for action, weight in weights.items():
        for s_next in np.flatnonzero(mdp.P[s, action]).tolist():
            cost = cost_of(mdp, case.swing, s, action, s_next)
            after = {0: 1.0} if policy is None else {b: w for b, w in enumerate(policy[s_next].tolist()) if w}
            for a_next, share in after.items():
                probability = weight * Fraction(float(mdp.P[s, action, s_next])) * Fraction(share)
                yield probability, (s, action, cost, s_next, a_next, False)


@dataclass(frozen=True)
class _Written:
    """What a visit after the path writes: for each transition its probability, next state and mean entries, without and
    with the end of the episode; the table before, and the largest number.
    """

    before: np.ndarray
    entries: tuple[tuple[Fraction, int, tuple[Fraction, ...]], ...] = ()
    largest: float = 0.0
    wrong_form: Finding | None = None


def _written_after(variant: Variant, case: Run, s: int, a: int, learner: Any, tape: Tape) -> _Written:
    """The means over the draws of the learner, by enumeration."""
    before, place = table(advance(learner, case.path)), place_of(variant, s, a)
    if before.shape != case.initial.shape or not np.isfinite(before).all():
        wanted = f"finite numbers in the shape {case.initial.shape}"
        return _Written(
            before, wrong_form=Finding(f"the estimate after {len(case.path)} steps", before.tolist(), wanted)
        )
    found, largest = [], _size(before, case.largest_cost)
    endless = ends_of(variant, type(case.uncertainty_set)) == "none"
    for probability, step in _outcomes(variant, case, s, a):
        means = []
        for each in (step,) if endless else (step, (*step[:5], True)):
            mean, highest = _mean_entry(learner, each, place, tape)
            if mean is None:
                return _Written(before, wrong_form=Finding(f"entry {place} after {each}", highest, "a finite number"))
            means.append(mean)
            largest = max(largest, highest)
        found.append((probability, step[3], tuple(means)))
    return _Written(before, tuple(found), largest)


def _without_chance(variant: Variant, case: Run, s: int, a: int) -> _Written | None:
    """What is written if that is the same for all seeds of the rng; None if draws before the step matter."""
    first: _Written | None = None
    for seed in range(SEEDS):
        with runs.rng_seed(seed):
            found = _written_after(variant, case, s, a, new_learner(variant, case), Tape())
        if first is not None and found.entries != first.entries:
            return None
        first = first or found
    return first


def _unbiased(variant: Variant, case: Run, s: int, a: int) -> Finding | None:
    """After the path, the mean of the written entry over all transitions and draws of the learner, by enumeration.

    Draws that cannot be enumerated, or were made before the step, leave the law untested only if they matter.
    """
    tape = Tape()
    try:
        written = _written_after(variant, case, s, a, learner_with_coins(variant, case, tape), tape)
        finding = _wrong_mean(variant, case, s, a, written, float(tape.cut))
        if finding is not None:
            tape.require_draws()
        return finding
    except NotEnumerable:
        sure = _without_chance(variant, case, s, a) if len(case.path) <= MOST_STEPS else None
        if sure is None:
            raise
        return _wrong_mean(variant, case, s, a, sure, 0.0)


def _wrong_mean(variant: Variant, case: Run, s: int, a: int, written: _Written, cut: float) -> Finding | None:
    if written.wrong_form is not None:
        return written.wrong_form
    mdp, path, policy, before = case.mdp, case.path, policy_of(case), written.before
    clock, place = Clock(case.step_size), place_of(variant, s, a)
    for step in path:
        clock.next(place_of(variant, step[0], step[1]))
    alpha = Fraction(clock.next(place))
    endless = ends_of(variant, type(case.uncertainty_set)) == "none"
    # Each outcome is one update; its rounding is that of numbers as large as what it writes.
    rounding = step_bound(mdp.n_states, mdp.n_actions, written.largest) + cut * written.largest
    for ends, said in _endings(mdp.n_states, endless=endless):
        got = float(sum((p * entries[int(ends[s_next])] for p, s_next, entries in written.entries), Fraction(0)))
        target = backup(variant, mdp, case.uncertainty_set, before, policy, s, a, ends=ends)
        wanted = float((1 - alpha) * Fraction(float(before[place])) + alpha * target.middle)
        allowed = rounding + UNIT * abs(wanted) + exact.round_up(alpha * target.radius)
        if not abs(got - wanted) <= allowed:
            update = f"update {len(path) + 1}" if path else "the first update"
            when = f" after {update} (alpha = {float(alpha)}){said}"
            return _entry_wrong(variant, before, place, (got, wanted), allowed, of="expected ", when=when)
    return None


def _mean_entry(learner: Any, step: Sequence[Any], place: Place, tape: Tape) -> tuple[Fraction | None, float]:
    """The mean of an entry after a step over the draws of the learner, and the largest; None where it is not finite."""
    mean, largest = Fraction(0), 0.0
    for probability, after in branches(learner, step, tape):
        value = float(after[place])
        if not np.isfinite(value):
            return None, value
        mean, largest = mean + probability * Fraction(value), max(largest, abs(value))
    return mean, largest


def _endings(n_states: int, *, endless: bool) -> Iterator[tuple[list[float], str]]:
    """Which states end the episode when they are entered: none, then every other one, then all, and in words."""
    yield [0.0] * n_states, ""
    if endless:
        return
    if n_states > 1:
        yield [float(s % 2) for s in range(n_states)], ", which ends the episode if it leads to an odd state"
    yield [1.0] * n_states, ", which ends the episode"


def read_step(choices: Choices, variant: Variant) -> Run:
    """A run, and the pair that is visited after it."""
    case = runs.run(choices, variant, steps=6)
    return case.plus(s=choices.index(case.mdp.n_states), a=choices.index(case.mdp.n_actions))


_RUNS = Generated(partial(runs.run, repeats=LONG))
ASYNCHRONOUS = Law(
    "asynchronous update",
    TABULAR,
    "asynchronous",
    "Q_{t+1}(s,a) = Q_t(s,a) for (s,a) other than the visited pair (Algorithm 1, line 6); with options['delay'] = n, "
    "other than those visited in the last n steps",
    _RUNS,
    _asynchronous,
    after=("start",),
)
SAMPLE_FORM = Law(
    "sample step",
    TABULAR,
    "sample form",
    "each step writes (1−α)x + α(c + γ R max V + γ(1−R)V(s')), α from the schedule (eq:Qupdate)",
    _RUNS,
    _sample_form,
    after=("start", "run purity"),
    sets=(Contamination,),
)
SAMPLE_FORM_NEXT_ACTION = Law(
    "sample step, next action",
    TABULAR,
    "sample form, next action",
    "each step writes (1−α)x + α(c + γ R max V + γ(1−R)Q(s',a')), α from the schedule",
    _RUNS,
    _sample_form_next_action,
    after=("start", "run purity"),
    sets=(Contamination,),
    only=lambda variant: estimates(variant) == "Q",  # values of states have no entry of an action
)
UNBIASED = Law(
    "unbiased step",
    TABULAR,
    "unbiased",
    "after any history Σ p·step = (1−α)x + α·backup, exactly, by enumerating the transitions (eq:exp=0) and the draws "
    "of the learner, where none, some or all of them end the episode",
    Generated(read_step),
    _unbiased,
    after=("start", "run purity", "sample step", "sample step, next action"),
    twin=partial(sampled_mean, visited=True),
)
LAWS = (ASYNCHRONOUS, SAMPLE_FORM, SAMPLE_FORM_NEXT_ACTION, UNBIASED)
