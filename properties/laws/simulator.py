"""Laws of learners with a simulator: make(problem, simulator) -> learner with iterate() and estimate().

The simulator of a law is a script: while an iteration is enumerated, every successor that it returns is a fork with the
model's own probability, beside the forks of the learner's own draws (`coins`). So means and second moments over all
that can happen in one iteration are sums of rationals, and no samples are needed.
"""

import copy
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from oracles.planning import enclosed, truth
from properties.cases.choices import Choices
from properties.cases.scope import Scope
from properties.cases.sources import Generated
from properties.judging.boundary import plain
from properties.judging.guard import call_observed
from properties.judging.verdict import Finding
from properties.kinds.planner import state_values
from properties.kinds.simulator import SimulatorCase, evaluates, simulator_case
from properties.laws.coins import Coins, Tape, Unlikely, leaves
from properties.laws.comparison import below, compare
from properties.laws.law import Law
from properties.laws.learning import ill_formed, step_size_at
from properties.laws.rounding import UNIT, mean_bound, operations_bound
from properties.laws.view import to_rationals
from robust_core.mdp import MDP
from robust_core.problem import Problem, Variant
from robust_core.sets import Contamination
from robust_core.validate import Floats

STREAMS = 32
"""Streams of draws during the history."""
HISTORIES = (0, 0, 1, 2, 3, 4, 5, 6, 7, 9, 16, 40)
"""Iterations of the history, which are not enumerated: what is wrong from some iteration on shows after that many."""
LEVELS = 2
"""Levels of a multilevel estimator that are enumerated."""
LEAST = Fraction(1, 2**24)


class TooMany(BaseException):
    """An iteration asks for more draws of a pair than are enumerated."""


class Script:
    """A simulator: ordinary draws of the model, or forks while the tape is walked."""

    def __init__(self, mdp: MDP, tape: Tape, stream: int, most: float) -> None:
        self._mdp, self._tape, self._most = mdp, tape, most
        self._rng = np.random.default_rng([stream, 1])
        self._rows = [[[Fraction(p) for p in row] for row in rows] for rows in mdp.P.tolist()]
        self.counts = np.zeros(mdp.cost.shape, dtype=np.int64)

    def __deepcopy__(self, memo: dict[int, Any]) -> "Script":
        return self

    def cost(self, s: int, a: int) -> float:
        """The cost of a pair."""
        self._check(s, a)
        return float(self._mdp.cost[s, a])

    def draw(self, s: int, a: int, n: int) -> Any:
        """n independent successors of a pair."""
        self._check(s, a)
        if int(n) != n or n < 0:
            raise ValueError(f"n must be a whole number of at least 0, got {n!r:.80}")
        self.counts[s, a] += int(n)
        if not self._tape.active:
            return self._rng.choice(self._mdp.n_states, size=int(n), p=self._mdp.P[s, a])
        if self.counts[s, a] > self._most:
            raise TooMany
        row = self._rows[s][a]
        return np.array([self._tape.fork(row, "simulator.draw", own=False) for _ in range(int(n))], dtype=np.int64)

    def _check(self, s: int, a: int) -> None:
        for name, value, size in (("s", s, self._mdp.n_states), ("a", a, self._mdp.n_actions)):
            if value not in range(size):
                raise ValueError(f"{name} must be one of 0 … {size - 1}, got {value!r:.80}")


@dataclass(frozen=True)
class Leaf:
    """An outcome of one iteration: its probability, the table after it, and the draws of every pair.

    The table is None where the iteration was given up.
    """

    probability: Fraction
    table: Floats | None
    counts: np.ndarray


def _problem(case: SimulatorCase, rng: np.random.Generator) -> Problem:
    return Problem.of(
        case.mdp,
        case.uncertainty_set,
        step_size=case.step_size,
        initial=case.initial,
        policy=case.policy,
        rng=rng,
    )


def read_estimate(learner: Any) -> Any:
    """The estimate in plain numbers."""
    return call_observed(lambda: plain(learner.estimate()))


def begin(variant: Variant, case: SimulatorCase, tape: Tape, coins: int, steps: int, most: float) -> tuple[Any, Script]:
    """A learner after some iterations, and its simulator; nothing of it is enumerated."""
    script = Script(case.mdp, tape, coins, most)
    with tape.pause():
        learner = variant.make(_problem(case, Coins(tape, coins)), script)
        for _ in range(steps):
            call_observed(learner.iterate)
    script.counts[:] = 0
    return learner, script


def table_before(variant: Variant, case: SimulatorCase, coins: int, steps: int) -> Floats:
    """The table after the history."""
    return np.array(read_estimate(begin(variant, case, Tape(), coins, steps, math.inf)[0]), dtype=np.float64)


def outcomes(
    variant: Variant,
    case: SimulatorCase,
    coins: int,
    steps: int,
    *,
    most: float = math.inf,
    least: Fraction = Fraction(0),
) -> Iterator[Leaf]:
    """Every outcome of the iteration after the history."""
    tape = Tape()
    tape.least = least

    learner, script = begin(variant, case, tape, coins, steps, most)

    def run() -> Any:
        script.counts[:] = 0
        mine = call_observed(copy.deepcopy, learner)
        try:
            call_observed(mine.iterate)
        except (TooMany, Unlikely):
            return None
        with tape.pause():
            return np.array(read_estimate(mine), dtype=np.float64)

    for probability, table in leaves(tape, run):
        yield Leaf(probability, table, script.counts.copy())


def _mixed(case: SimulatorCase, backup: Floats) -> Floats:
    """The backups of the pairs as entries of the table: a policy takes their mean."""
    return backup if case.policy is None else np.asarray((case.policy * backup).sum(axis=1))


def _backup(case: SimulatorCase, table: Floats) -> tuple[Floats, float]:
    """T of a table, and how far it may be off."""
    V = state_values(table)
    found = enclosed.backup(case.mdp, case.uncertainty_set, np.repeat(V[:, None], case.mdp.n_actions, axis=1))
    return _mixed(case, found.value), truth.width_of(case.uncertainty_set, found)


def mean_sigma(case: SimulatorCase, s: int, a: int, V: Floats, n: int) -> tuple[float, float]:
    """E sigma(V) around the empirical row of n draws, by their counts, and how far it may be off."""
    row = [Fraction(p) for p in case.mdp.P[s, a].tolist()]
    mean = width = Fraction(0)
    for counts in _counts(n, len(row)):
        weight = Fraction(math.factorial(n))
        for count, p in zip(counts, row, strict=True):
            weight *= p**count / math.factorial(count)
        if weight:
            found = truth.sigma(case.uncertainty_set.at(s, a), [count / n for count in counts], V.tolist())
            mean += weight * (found.lower + found.upper) / 2
            width += weight * (found.upper - found.lower) / 2
    return float(mean), float(width)


def _counts(n: int, outcomes: int) -> Iterator[tuple[int, ...]]:
    if outcomes == 1:
        yield (n,)
        return
    for first in range(n + 1):
        for rest in _counts(n - first, outcomes - 1):
            yield (first, *rest)


def _plug_in(case: SimulatorCase, table: Floats, n: int) -> tuple[Floats, float]:
    """The mean of the backups around the empirical rows of n draws, and how far it may be off."""
    V, mdp = state_values(table), case.mdp
    backup, width = np.empty(mdp.cost.shape), 0.0
    for s, a in np.ndindex(*mdp.cost.shape):
        sigma, error = mean_sigma(case, s, a, V, n)
        backup[s, a], width = mdp.cost[s, a] + mdp.gamma * sigma, max(width, error)
    return _mixed(case, backup), width


def _promised(variant: Variant, case: SimulatorCase, before: Floats, steps: int) -> tuple[Floats, float]:
    samples = variant.options.get("samples")
    backup, width = _backup(case, before) if samples is None else _plug_in(case, before, int(samples))
    alpha = step_size_at(case.step_size, steps)
    return (1.0 - alpha) * before + alpha * backup, width


def _size(case: SimulatorCase, *tables: Floats) -> float:
    return float(np.abs(case.mdp.cost).max()) + max(float(np.abs(table).max()) for table in tables)


def _mean(variant: Variant, case: SimulatorCase, coins: int, steps: int) -> tuple[Any, float, Finding | None]:
    """(the expected table after the iteration, the largest entry of one, a finding)."""
    mean: Any = Fraction(0)
    largest = 0.0
    for leaf in outcomes(variant, case, coins, steps):
        finding = ill_formed(case.initial, leaf.table)
        if finding is not None or leaf.table is None:
            return None, 0.0, finding
        largest = max(largest, float(np.abs(leaf.table).max()))
        mean = mean + leaf.probability * to_rationals(leaf.table)
    return mean.astype(np.float64), largest, None


def _matches(variant: Variant, case: SimulatorCase, coins: int, steps: int) -> Finding | None:
    before = table_before(variant, case, coins, steps)
    finding = ill_formed(case.initial, before)
    if finding is not None:
        return finding
    mean, largest, finding = _mean(variant, case, coins, steps)
    if finding is not None:
        return finding
    wanted, width = _promised(variant, case, before, steps)
    size = _size(case, before) + largest
    allowed = mean_bound(case.mdp, steps + 1, size) + UNIT * size + width
    return compare(mean, wanted, allowed, "expected estimate", after=f" after {steps} iterations and one more")


def _matches_surely(variant: Variant, case: SimulatorCase, coins: int, steps: int) -> Finding | None:
    return _matches(_without_samples(variant), case, coins, steps)


def _under(variant: Variant, case: SimulatorCase, coins: int, steps: int) -> Finding | None:
    """The mean is at most the robust step, and at least the step without a set."""
    before = table_before(variant, case, coins, steps)
    mean, largest, finding = _mean(variant, case, coins, steps)
    if finding is not None:
        return finding
    backup, width = _backup(case, before)
    V, alpha = state_values(before), step_size_at(case.step_size, steps)
    size = _size(case, before) + largest
    allowed = mean_bound(case.mdp, steps + 1, size) + UNIT * size + width
    nominal = _mixed(case, np.asarray(case.mdp.cost + case.mdp.gamma * (case.mdp.P @ V)))
    upper, lower = ((1.0 - alpha) * before + alpha * step for step in (backup, nominal))
    return below(mean, upper, allowed, "expected estimate against the robust step: ") or below(
        lower, mean, allowed, "the step without a set against the expected estimate: "
    )


def _draws(variant: Variant) -> float:
    return float(variant.options.get("draws", 1))


def _cost(variant: Variant, case: SimulatorCase, coins: int, steps: int) -> Finding | None:
    mean: Any = sum((leaf.probability * to_rationals(leaf.counts.astype(float))
                     for leaf in outcomes(variant, case, coins, steps)), np.zeros(1, dtype=object))  # fmt: skip
    said = "expected draws of the pair: "
    got = mean.astype(np.float64)
    if evaluates(variant):
        got, said = got.sum(axis=1), "expected draws in the state: "
    return compare(got, np.full(got.shape, _draws(variant)), 1e-9 * _draws(variant), said)


def _spread(variant: Variant, case: SimulatorCase, coins: int, steps: int) -> Finding | None:
    """Var <= alpha² gamma² (1−R)² Var_p(V)/n: the target of one draw is c + gamma((1−R)V(s') + R max V)."""
    before, first, second, largest = table_before(variant, case, coins, steps), Fraction(0), Fraction(0), 0.0
    finding = ill_formed(case.initial, before)
    if finding is not None:
        return finding
    for leaf in outcomes(variant, case, coins, steps):
        finding = ill_formed(case.initial, leaf.table)
        if finding is not None or leaf.table is None:
            return finding
        move = to_rationals(leaf.table - before)
        largest = max(largest, float(np.abs(leaf.table).max()))
        first, second = first + leaf.probability * move, second + leaf.probability * move * move
    variance = np.asarray(second - first * first).astype(np.float64)
    V, alpha, chosen = state_values(before), step_size_at(case.step_size, steps), case.uncertainty_set
    radius: Any = getattr(chosen, "radius", 0.0)
    nominal = case.mdp.P @ V**2 - (case.mdp.P @ V) ** 2
    most = (alpha * case.mdp.gamma * (1.0 - radius)) ** 2 * nominal / _draws(variant)
    size = _size(case, before) + largest
    allowed = 8.0 * size * (mean_bound(case.mdp, steps + 1, size) + UNIT * size)
    return below(variance, most, allowed, "variance of the entry: ")


def _psi(variant: Variant) -> float:
    return float(variant.options.get("levels", 0.0))


def _levels(variant: Variant, case: SimulatorCase, coins: int, steps: int) -> Finding | None:
    """Levels 0 and 1: their probabilities, and the share of each in the mean of the estimate.

    With level n drawn with probability p_n the estimate of sigma is sigma(p̂_1) + (sigma(p̂_m) − the mean of its two
    halves)/p_n, m = 2^(n+1), so Σ over its outcomes of probability times value is
    p_n E sigma(p̂_1) + E sigma(p̂_m) − E sigma(p̂_{m/2}). What the other pair does at higher levels is not enumerated:
    its levels 0 and 1 have probability p_0 + p_1, independently, unless all pairs have one level.
    """
    before = table_before(variant, case, coins, steps)
    if (finding := ill_formed(case.initial, before)) is not None:
        return finding
    psi, alpha, V, mdp = _psi(variant), step_size_at(case.step_size, steps), state_values(before), case.mdp
    chances = [psi * (1.0 - psi) ** level for level in range(LEVELS)]
    seen = sum(chances)
    pair = next(iter(zip(*np.nonzero((mdp.P > 0.0).sum(axis=2) > 1), strict=True)), (0, 0))
    s, a = int(pair[0]), int(pair[1])
    groups: dict[int, list[Any]] = {}
    largest, one_level = 0.0, True
    for leaf in outcomes(variant, case, coins, steps, most=2**LEVELS + 1, least=LEAST):
        if leaf.table is None:
            continue
        if (finding := ill_formed(case.initial, leaf.table)) is not None:
            return finding
        largest = max(largest, float(np.abs(leaf.table).max()))
        one_level &= bool((leaf.counts == leaf.counts[s, a]).all())
        group = groups.setdefault(int(leaf.counts[s, a]), [Fraction(0), Fraction(0)])
        group[0] += leaf.probability
        group[1] += leaf.probability * to_rationals(leaf.table)[s, a]
    if len(groups) != LEVELS:
        return Finding(f"numbers of draws of a pair, up to {2**LEVELS + 1}", sorted(groups), f"{LEVELS} levels")
    size = _size(case, before) + largest
    bound = mean_bound(mdp, steps + 1, size) + UNIT * size
    means = [mean_sigma(case, s, a, V, 2**k) for k in range(LEVELS + 1)]
    base = (1.0 - alpha) * before[s, a] + alpha * (mdp.cost[s, a] + mdp.gamma * means[0][0])
    others = 1.0 if one_level else seen ** (mdp.cost.size - 1)
    for level, (draws, (mass, total)) in enumerate(sorted(groups.items())):
        rise = means[level + 1][0] - means[level][0]
        allowed = bound + sum(error for _, error in means)
        # The level of a pair is drawn by comparisons with LEVELS + 1 bounds, each the result of four roundings at most.
        coins_off = operations_bound(4 * (LEVELS + 2) * mdp.cost.size, 1.0)
        found = compare(float(mass), np.array(chances[level] * others), coins_off, f"probability of level {level}")
        found = found or compare(
            float(total),
            np.array(others * (chances[level] * base + alpha * mdp.gamma * rise)),
            allowed,
            f"share of level {level} ({draws} draws) in the mean of entry (s={s}, a={a})",
        )
        if found is not None:
            return found
    return None


def _level_cost(variant: Variant, case: SimulatorCase, coins: int, steps: int) -> Finding | None:
    """Σ p_n 2^(n+1) is finite for psi > ½ alone; a first draw may be one of the level's own.

    The sum is 2 psi/(2 psi − 1): a few roundings, of which those of the divisor are 1/(2 psi − 1) times as large in it.
    """
    psi = _psi(variant)
    if psi <= 0.5:
        return Finding(f"expected draws with levels of probability {psi:g}·{1 - psi:g}^n", math.inf, "finite")
    wanted = [2.0 * psi / (2.0 * psi - 1.0) + base for base in (0, 1)]
    if any(abs(_draws(variant) - cost) <= operations_bound(8, cost / (2.0 * psi - 1.0)) for cost in wanted):
        return None
    return Finding(f"options['draws'] with levels of probability {psi:g}·{1 - psi:g}^n", _draws(variant), wanted)


def _pure(variant: Variant, case: SimulatorCase, coins: int, steps: int) -> Finding | None:
    """The first estimate is the given one; reading it or writing into it changes nothing; a second run is the same."""
    tape = Tape()
    learner, _ = begin(variant, case, tape, coins, 0, math.inf)
    runs = []
    for disturbed in (False, True):
        learner, _ = begin(variant, case, tape, coins, 0, math.inf)
        if not disturbed:
            finding = ill_formed(case.initial, read_estimate(learner)) or compare(
                read_estimate(learner), case.initial, 0.0, "the first estimate"
            )
            if finding is not None:
                return finding
        for _ in range(steps + 1):
            if disturbed:
                np.asarray(read_estimate(learner))[...] = 0.5
            call_observed(learner.iterate)
        runs.append(np.array(read_estimate(learner)))
    return compare(runs[1], runs[0], 0.0, "the estimate of a learner whose estimates were overwritten: ")


def _read(choices: Choices, variant: Variant) -> SimulatorCase:
    case = simulator_case(choices, variant)
    return case.plus(coins=choices.index(STREAMS), steps=choices.any_of(HISTORIES))


def _read_sure(choices: Choices, variant: Variant) -> SimulatorCase:
    case = simulator_case(choices, variant, pairs=0)
    return case.plus(coins=choices.index(STREAMS), steps=choices.any_of(HISTORIES))


def _read_levels(choices: Choices, variant: Variant) -> SimulatorCase:
    """Two states with one action, of which one has two successors: at most two levels are at work at a time."""
    share, open_state = choices.pick((0.5, 0.25, 0.75, 0.125)), choices.index(2)
    P = np.zeros((2, 1, 2))
    P[:, 0, choices.index(2)] = 1.0
    P[open_state, 0] = share, 1.0 - share
    mdp = MDP(P, choices.costs(variant, (2, 1)), choices.discount((0.5, 0.75, 0.9), Scope.of(variant).gammas))
    case = SimulatorCase(
        mdp=mdp,
        uncertainty_set=choices.set_of(variant, mdp),
        step_size=choices.step_size(visits=False),
        initial=choices.start(variant, mdp.gamma, (2, 1)),
    )
    return case.plus(coins=choices.index(STREAMS), steps=0)


def _without_samples(variant: Variant) -> Variant:
    return replace(variant, options={name: value for name, value in variant.options.items() if name != "samples"})


def _law(name: str, promise: str | None, statement: str, judge: Any, *after: str, **more: Any) -> Law:
    read = more.pop("read", _read)
    return Law(name, ("simulator",), promise, statement, Generated(read), judge, after=after, **more)


def _has_levels(variant: Variant) -> bool:
    return "levels" in variant.options


LAWS = (
    _law(
        "simulator purity",
        None,
        "the first estimate is the given one; reading or overwriting an estimate changes nothing",
        _pure,
    ),
    _law(
        "mean iteration",
        "mean iteration",
        "E[estimate after an iteration | past] is (1−α)Q + αTQ in every entry, T the robust backup, or with n samples "
        "its mean around empirical rows; by enumerating all draws of the simulator and of the learner",
        _matches,
        "simulator purity",
    ),
    _law(
        "mean iteration, deterministic",
        "mean iteration",
        "the same on deterministic models, where an empirical row is the row itself",
        _matches_surely,
        "simulator purity",
        read=_read_sure,
    ),
    _law(
        "plug-in bias",
        "mean iteration",
        "with n samples the expected estimate is between the step without a set and the robust step: σ is concave in "
        "the row, and a set holds its row",
        _under,
        "mean iteration",
        only=lambda variant: "samples" in variant.options,
    ),
    _law(
        "expected draws",
        "expected draws",
        "the expected number of draws of an entry in one iteration is the stated one",
        _cost,
        only=lambda variant: not _has_levels(variant),
    ),
    _law(
        "variance of an iteration",
        "variance",
        "under contamination the variance of an entry is at most α²γ²(1−R)² Var_p(V)/n, n the stated number of draws",
        _spread,
        sets=(Contamination,),
        only=lambda variant: not evaluates(variant),
    ),
    _law(
        "expected draws of levels",
        "expected draws",
        "Σ ψ(1−ψ)^n 2^(n+1), and one for a base of its own, is finite and the stated number",
        _level_cost,
        read=_read_levels,
        only=_has_levels,
    ),
    _law(
        "levels",
        "multilevel",
        "levels 0 and 1 have probability ψ(1−ψ)^n, and their shares in the mean telescope to σ",
        _levels,
        read=_read_levels,
        only=_has_levels,
        share=0.25,  # some 600 outcomes of an iteration in each case
    ),
)
