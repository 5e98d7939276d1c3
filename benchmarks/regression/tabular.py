"""Tabular learners, one replicate per seed: errors along one trajectory, the noise of the step, the greedy policy.

Every replicate is a function of (seed set, problem, index), not of the code: the same seeds today and in the baseline.
What is hashed starts at 0 or at the exact truth and is only ever moved by the learner: no sum in it has an order that
another machine could choose otherwise. Errors and values of policies are not hashed.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from benchmarks.regression.defects import Factory
from benchmarks.regression.learners import ALGORITHMS, factory
from benchmarks.regression.measures import Part
from benchmarks.regression.problems import PROBLEMS
from oracles.arithmetic.certified import Certified
from oracles.planning import closed_form, enclosed
from properties.cases.benchmark_problems import BenchmarkProblem, Truth
from robust_core import Contamination, constant, deterministic, greedy, key
from robust_core.json import to_data
from robust_core.mdp import MDP
from robust_core.sets import UncertaintySet
from robust_core.trajectory import Recording
from robust_core.validate import Floats, Ints


@dataclass(frozen=True)
class Sizes:
    """Steps of a replicate: `middle` and `last` are powers of two; the noise is a mean over `rests` short runs."""

    middle: int = 2**10
    last: int = 2**15
    spread: int = 2**12
    rests: int = 16
    rest: int = 2**8
    per_octave: int = 4
    """Looks at the error per doubling of the time."""

    def checkpoints(self, first: int) -> list[int]:
        """The times at which the error is looked at: so many a doubling, from the first time on.

        >>> FULL.checkpoints(4)[:6], FULL.checkpoints(4)[-1] == FULL.last
        ([1, 2, 4, 5, 6, 8], True)
        """
        octaves = range(self.per_octave * (self.last.bit_length() - 1) + 1)
        fine = {int(2.0 ** (k / self.per_octave)) for k in octaves}
        coarse = {2**k for k in range(self.last.bit_length())}
        return sorted({t for t in fine if t >= first} | coarse | {first, self.middle})


FULL = Sizes()
EPSILON = 2.0**-4
"""epsilon of the time to reach it, in units of ‖Q*‖."""
RESTING_STEP = 2.0**-20
"""A step so small that a learner at Q* stays there while the noise of its targets is added up."""
TABLE = "table"
"""The metric that is a hash of the tables."""
CONTROL = (
    "first error", "middle error", "last error", "area", "time to epsilon", "bias", "spread", "noise", "regret",
    "nominal value",
)  # fmt: skip
EVALUATION = ("last error", "area", "bias", "spread")


def metrics_of(variant: str, problem: str) -> tuple[str, ...]:
    """The metrics of a variant on a problem; policies are valued only where no state is terminal."""
    if ALGORITHMS[variant].learns != "Q*":
        return EVALUATION
    return CONTROL[:-2] if PROBLEMS[problem].terminal else CONTROL


def measure(variant: str, problem: str, seed_set: str, start: int, stop: int, injected: str = "") -> Any:
    """The values of the seeds start … stop−1 and a hash of all tables, as the data of a `Part`."""
    benchmark, algorithm = PROBLEMS[problem], ALGORITHMS[variant]
    assert algorithm.learns != "theta"
    told = replace(benchmark, radius=algorithm.radius(benchmark.radius), learns=algorithm.learns)
    bench = Bench(told, factory(variant, injected, benchmark), adversary=benchmark.radius)
    names = metrics_of(variant, problem)
    digest = hashlib.blake2b(digest_size=16)
    rows = [bench.row(key("regression", seed_set, problem, index), digest) for index in range(start, stop)]
    return to_data(
        Part(
            values={TABLE: digest.hexdigest()},
            samples={name: tuple(row[name][0] for row in rows) for name in names},
            impossible={name: sum(row[name][1] for row in rows) for name in names},
        )
    )


def stretch(recording: Recording, start: int, stop: int) -> Recording:
    """A stretch of a recording."""
    fields = ("s", "a", "cost", "s_next", "a_next", "terminal")
    return Recording(*(getattr(recording, name)[start:stop] for name in fields))


Values = dict[str, tuple[float | None, bool]]
"""By metric: the value (None: not finite) and whether it is better than anything that is possible."""


@dataclass(eq=False)
class Bench:
    """One learner on one benchmark problem, with the truth it is measured against.

    `problem` is the benchmark problem as the learner meets it: with the radius it is told, to learn Q*, Q or V. The
    regret is that under the radius `adversary`, by default the same.
    """

    problem: BenchmarkProblem
    make: Factory
    sizes: Sizes = FULL
    adversary: float | None = None

    @property
    def _adversary(self) -> float:
        return self.problem.radius if self.adversary is None else self.adversary

    @property
    def truth(self) -> Truth:
        """Q*, Q or V."""
        return self.problem.truth

    def row(self, seed: bytes, digest: Any) -> Values:
        """All metrics of one seed; what is learned goes into the digest."""
        tables, times, recording = self._tables(seed)
        pair = [self._run_from_truth(self._record(word, seed, self.sizes.spread)) for word in ("first", "second")]
        for table in (*tables, *pair):
            digest.update(np.ascontiguousarray(table).tobytes())
        found = self._errors(tables, times, recording)
        with np.errstate(invalid="ignore"):  # of infinities
            found["bias"] = significant(float((tables[-1] - self.truth.table).mean()) / self.truth.size), False
            found["spread"] = significant(float(abs(pair[0] - pair[1]).max())), False
        if self.problem.learns == "Q*":
            found["noise"] = self._noise(seed), False
            if not self.problem.terminal:
                found |= self._policy(tables[times.index(self.sizes.middle)])
        return found

    def _tables(self, seed: bytes) -> tuple[list[Floats], list[int], Recording]:
        """The tables at the checkpoints of one run from 0."""
        start = np.zeros_like(self.truth.table)
        learner = self.make(self.problem.problem(initial=start))
        recording = self.problem.record(seed, self.sizes.last)
        tables, reached, times = [], 0, self.sizes.checkpoints(self.problem.n_pairs)
        for time in times:
            learner.update_many(stretch(recording, reached, time))
            tables.append(learner.estimate())
            reached = time
        return tables, times, recording

    def _errors(self, tables: Iterable[Floats], times: list[int], recording: Recording) -> Values:
        errors = dict(zip(times, (float(abs(table - self.truth.table).max()) for table in tables), strict=True))
        first, epsilon = self.problem.n_pairs, EPSILON * self.truth.size
        found = learning(errors, self.sizes, epsilon)
        reached = found["time to epsilon"][0]
        visits = self._first_visits(recording)
        distance = abs(self.truth.table.ravel())
        # An entry that has not been visited is where it was: nobody can know better.
        floor = float(distance[visits > first].max(initial=0.0)) - self.truth.error
        soonest = int(visits[distance > epsilon + self.truth.error].max(initial=0))
        return found | {
            "first error": (significant(errors[first]), errors[first] < floor),
            "time to epsilon": (reached, reached is not None and reached < soonest),
        }

    def _first_visits(self, recording: Recording) -> np.ndarray:
        """The number of steps after which each entry of the table has been visited; past the end if it never was."""
        place = recording.s if self.problem.learns == "V" else recording.s * self.problem.mdp.n_actions + recording.a
        found = np.full(self.truth.table.size, len(recording) + 1, dtype=np.int64)
        # Backwards: of several visits the first is written last, and stays.
        found[place[::-1]] = np.arange(len(recording), 0, -1)
        return found

    def _run_from_truth(self, recording: Recording, step_size: float | None = None) -> Floats:
        """What a run that starts at the truth has become."""
        step = None if step_size is None else constant(step_size)
        learner = self.make(self.problem.problem(step, initial=self.truth.table))
        learner.update_many(recording)
        table: Floats = learner.estimate()
        return table

    def _record(self, word: str, seed: bytes, steps: int) -> Recording:
        return self.problem.record(key(word, seed), steps)

    @cached_property
    def variance(self) -> Floats:
        """The variance of the sampled target at Q*: gamma²(1−R)² Var_p(V*)."""
        V, mdp = self.truth.table.min(axis=1), self.problem.mdp
        spread = mdp.expectation(V**2) - mdp.expectation(V) ** 2
        return np.maximum((mdp.gamma * (1.0 - self.problem.radius)) ** 2 * spread, 0.0)

    def _noise(self, seed: bytes) -> float | None:
        """Squared moves of a learner at rest at Q* in units of their variance: a mean over short runs and pairs."""
        whole = self._record("noise", seed, self.sizes.rests * self.sizes.rest)
        shares = []
        for start in range(0, len(whole), self.sizes.rest):
            recording = stretch(whole, start, start + self.sizes.rest)
            counts = np.zeros_like(self.truth.table)
            np.add.at(counts, (recording.s, recording.a), 1.0)
            noisy = (counts > 0.0) & (self.variance > self.variance.max() * 2.0**-20)
            moved = (self._run_from_truth(recording, RESTING_STEP) - self.truth.table)[noisy] / RESTING_STEP
            shares.append(moved**2 / (counts * self.variance)[noisy])
        joined = np.concatenate(shares)
        # Nothing is noisy in a deterministic model.
        return significant(float(joined.mean())) if joined.size else 0.0

    def _policy(self, table: Floats) -> Values:
        """The robust and the nominal value of the greedy policy, in units of ‖Q*‖."""
        mdp = self.problem.mdp
        found: Values = {}
        with np.errstate(invalid="ignore"):
            policy = deterministic(greedy(np.nan_to_num(table)), mdp.n_actions)
        for name, radius in (("regret", self._adversary), ("nominal value", 0.0)):
            # With the radius 0 every set is the model itself.
            kind = self.problem.set_kind if radius else Contamination
            valued = replace(self.problem, radius=radius, set_kind=kind)
            best, value = valued.truth, policy_value(valued, policy)
            excess = float((value.value - best.table.min(axis=1)).max())
            impossible = bool((value.upper < best.table.min(axis=1) - best.error).any())
            shown = excess if name == "regret" else float(value.value.mean())
            found[name] = significant(max(shown, 0.0) / best.size), impossible
        return found


def learning(errors: Mapping[int, float], sizes: Sizes, epsilon: float) -> Values:
    """What the errors at the checkpoints say of the speed of learning."""
    powers = [2**k for k in range(sizes.last.bit_length())]
    values = {
        "middle error": errors[sizes.middle],
        "last error": errors[sizes.last],
        "area": float(np.mean([errors[time] for time in powers])),
        "time to epsilon": float(next((time for time, error in errors.items() if error <= epsilon), sizes.last)),
    }
    return {name: (significant(value), False) for name, value in values.items()}


def policy_value(problem: BenchmarkProblem, policy: Floats) -> Certified:
    """The robust value of a deterministic policy: in closed form, or enclosed; kept, for few policies are greedy."""
    return value_of(problem.mdp, problem.uncertainty_set, policy.argmax(axis=1))


def value_of(mdp: MDP, uncertainty_set: UncertaintySet, actions: Ints) -> Certified:
    """The robust value of the policy that takes these actions, kept."""
    return _value(mdp, uncertainty_set, np.asarray(actions, dtype=np.int64).tobytes())


@lru_cache(maxsize=4096)
def _value(mdp: MDP, uncertainty_set: UncertaintySet, actions: bytes) -> Certified:
    policy = deterministic(np.frombuffer(actions, dtype=np.int64), mdp.n_actions)
    if isinstance(uncertainty_set, Contamination):
        return closed_form.evaluate(mdp, uncertainty_set.radius, policy).V
    return enclosed.evaluate(mdp, uncertainty_set, policy)[0]


DIGITS = 6
"""Significant digits that are kept of a statistical value: margins are far wider, and files stay small."""


def significant(x: float) -> float | None:
    """The value with DIGITS significant digits, None for NaN and infinity.

    >>> significant(1 / 3), significant(float("nan"))
    (0.333333, None)
    """
    return float(f"{x:.{DIGITS}g}") if np.isfinite(x) else None
