"""Wrong algorithms of the kinds beside learners of tables, by an author who had not read the laws.

Each is wrong in one place only: at an end of the range of a number, with more states, actions or transitions than three
or four, late in a run, or where two actions are nearly alike.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from properties.variants.mutants.average_cost_learner import Relative
from properties.variants.mutants.batch import MeanBatch, PerEntry
from properties.variants.mutants.linear_control import GreedyGQ, LinearQ, SmoothQ
from properties.variants.mutants.objective import Objective
from properties.variants.mutants.off_policy_evaluation import OffPolicy
from properties.variants.mutants.plain import but
from properties.variants.mutants.simulator import MeanQ, Multilevel, PlugIn
from robust_core import Contamination, LogSumExp, Mellowmax, TotalVariation, Transition, Variant, sigma
from robust_core.mdp import MDP
from robust_core.validate import Floats

ACCURACY = 1e-9
SWEEPS = 10**5


def _largest(mdp: MDP) -> float:
    return float(np.abs(mdp.cost).max())


def iterate(
    mdp: MDP,
    R: float,
    *,
    top: Callable[[Floats], float] = lambda V: float(V.max()),
    stop: Callable[[Floats, Floats], float] = lambda change, V: float(np.abs(change).max()),
    actions: slice = slice(None),
) -> Floats:
    """Value iteration for contamination until `stop` is small against the costs."""
    V = np.zeros(mdp.n_states)
    for _ in range(SWEEPS):
        Q = mdp.cost + mdp.gamma * ((1.0 - R) * mdp.expectation(V) + R * top(V))
        after = Q[:, actions].min(axis=1)
        if stop(after - V, after) <= ACCURACY * _largest(mdp):
            return after
        V = after
    return V


def policy_iteration(mdp: MDP, b: float, improvements: int = 1000) -> tuple[Floats, Any]:
    """(W, actions) of ordinary policy iteration at discount b, from the cheapest actions."""
    states, actions = np.arange(mdp.n_states), mdp.cost.argmin(axis=1)
    for _ in range(improvements):
        W = np.linalg.solve(np.eye(mdp.n_states) - b * mdp.P[states, actions], mdp.cost[states, actions])
        Q = mdp.cost + b * mdp.expectation(W)
        better = Q.min(axis=1) < Q[states, actions] - 1e-12 * _largest(mdp)
        if not better.any():
            break
        actions = np.where(better, Q.argmin(axis=1), actions)
    return W, actions


# Planners of values.
def _values(name: str, make: Any) -> Variant:
    kind, promises = "value planner", ("optimal value",)
    return Variant(f"planner of values {name}", kind, make, (Contamination,), promises, {"accuracy": ACCURACY})  # type: ignore[arg-type]


def _stale_worst(mdp: MDP, uncertainty_set: Any) -> Floats:
    """Nature restarts where the first policy is worst."""
    R, gamma = uncertainty_set.radius, mdp.gamma
    first = policy_iteration(mdp, gamma * (1.0 - R), 1)[0].argmax()
    W = policy_iteration(mdp, gamma * (1.0 - R))[0]
    return np.asarray(W + gamma * R / (1.0 - gamma) * W[first])


def _whole_simplex(mdp: MDP, uncertainty_set: Any) -> Floats:
    """With R = 1 every state has the value of the worst one."""
    if uncertainty_set.radius == 1.0:
        return np.full(mdp.n_states, mdp.cost.min(axis=1).max() / (1.0 - mdp.gamma))
    return iterate(mdp, uncertainty_set.radius)


def _reachable(mdp: MDP, uncertainty_set: Any) -> Floats:
    seen = mdp.P.sum(axis=(0, 1)) > 0.0
    return iterate(mdp, uncertainty_set.radius, top=lambda V: float(V[seen].max()))


SPAN_STOP = _values("with the span for a stop", lambda m, u: iterate(m, u.radius, stop=lambda d, V: float(np.ptp(d))))
MEAN_STOP = _values(
    "with the mean for a stop", lambda m, u: iterate(m, u.radius, stop=lambda d, V: float(np.abs(d).mean()))
)
ABSOLUTE_STOP = _values(
    "with an absolute stop",
    lambda m, u: iterate(m, u.radius, stop=lambda d, V: float(np.abs(d).max()) * min(1.0, _largest(m))),
)
EIGHT_STATES = _values("of eight worst states", lambda m, u: iterate(m, u.radius, top=lambda V: float(V[:8].max())))
FOUR_ACTIONS = _values("of four actions", lambda m, u: iterate(m, u.radius, actions=slice(4)))
NOT_NEGATIVE = _values(
    "with a maximum above 0", lambda m, u: iterate(m, u.radius, top=lambda V: max(float(V.max()), 0.0))
)
STALE_WORST = _values("with a stale worst state", _stale_worst)
WHOLE_SIMPLEX = _values("with one value at R = 1", _whole_simplex)
REACHABLE = _values("of reachable states", _reachable)
MYOPIC_AT_ZERO = _values(
    "of the first action at gamma 0", lambda m, u: m.cost[:, 0].copy() if m.gamma == 0.0 else iterate(m, u.radius)
)


# Planners of policies.
def _policies(name: str, make: Any, *sets: Any) -> Variant:
    options = {"accuracy": 1e-6}
    return Variant(
        f"planner of policies {name}", "policy planner", make, sets or (Contamination,), ("optimal policy",), options
    )


def greedy(Q: Floats) -> Floats:
    """The first best action of every state."""
    return np.eye(Q.shape[1])[Q.argmin(axis=1)]


def table(mdp: MDP, R: float) -> Floats:
    """Q*, by value iteration."""
    V = iterate(mdp, R)
    return np.asarray(mdp.cost + mdp.gamma * ((1.0 - R) * mdp.expectation(V) + R * V.max()))


def _soft(mdp: MDP, uncertainty_set: Any) -> Floats:
    Q = table(mdp, uncertainty_set.radius)
    weights = np.exp(-(Q - Q.min(axis=1, keepdims=True)) / (2.0**-10 * (_largest(mdp) or 1.0)))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _close_enough(mdp: MDP, uncertainty_set: Any) -> Floats:
    """The last action that is within a ten-thousandth of the best value."""
    Q = table(mdp, uncertainty_set.radius)
    near = np.isclose(Q, Q.min(axis=1, keepdims=True), rtol=1e-4, atol=0.0)
    return np.eye(mdp.n_actions)[mdp.n_actions - 1 - near[:, ::-1].argmax(axis=1)]


ROBUST_STEP = _policies("with one robust step", lambda m, u: greedy(
    m.cost + m.gamma * (1.0 - u.radius) * m.expectation(iterate(m, 0.0))
))  # fmt: skip
SOFT = _policies("with a low temperature", _soft)
CLOSE_ENOUGH = _policies("of the last close action", _close_enough)
FOUR_ACTIONS_OF_MANY = _policies(
    "of four actions", lambda m, u: np.eye(m.n_actions)[table(m, u.radius)[:, :4].argmin(axis=1)]
)
FLOAT16 = _policies("of half precision", lambda m, u: greedy(table(m, u.radius).astype(np.float16)))
VARIATION_TOO = _policies(
    "of contamination for variation too", lambda m, u: greedy(table(m, u.radius)), TotalVariation, Contamination
)


# Smoothed operators.
def _smooth_of_eight(smoothing: Any, V: Floats) -> tuple[float, Floats]:
    """The smooth maximum of the first eight values, and its gradient."""
    gradient = np.zeros_like(V)
    gradient[:8] = smoothing.gradient(V[:8])
    return float(smoothing.value(V[:8])), gradient


def _smooth(name: str, top: Callable[[Any, Floats, MDP], float]) -> Variant:
    def backup(mdp: MDP, uncertainty_set: Any, policy: Floats, smoothing: Any, V: Floats) -> Floats:
        R = uncertainty_set.radius
        Q = mdp.cost + mdp.gamma * ((1.0 - R) * mdp.expectation(V) + R * top(smoothing, V, mdp))
        return np.asarray((policy * Q).sum(axis=1))

    kind, promises = "smoothed operator", ("smoothed bellman",)
    return Variant(f"smoothed T {name}", kind, backup, (Contamination,), promises)  # type: ignore[arg-type]


def _from_first(smoothing: Any, V: Floats, mdp: MDP) -> float:
    """Exponents shifted by the first value."""
    with np.errstate(all="ignore"):
        total = np.exp(smoothing.varrho * (V - V[0])).sum() / (len(V) if isinstance(smoothing, Mellowmax) else 1)
    return float(V[0] + np.log(total) / smoothing.varrho)


def _flat(smoothing: Any, V: Floats, mdp: MDP) -> float:
    """The limit of a small varrho."""
    if smoothing.varrho >= 2.0**-8:
        return float(smoothing.value(V))
    return float(V.mean() + (np.log(len(V)) / smoothing.varrho if isinstance(smoothing, LogSumExp) else 0.0))


UNIQUE = _smooth("of distinct values", lambda soft, V, mdp: soft.value(np.unique(V)))
FROM_FIRST = _smooth("shifted by the first value", _from_first)
FLAT = _smooth("with a mean for small varrho", _flat)
SHARP = _smooth(
    "with a maximum for large varrho", lambda soft, V, m: float(V.max()) if soft.varrho > 500 else soft.value(V)
)
NEVER_BELOW = _smooth("never below the maximum", lambda soft, V, mdp: max(soft.value(V), float(V.max())))
REACHED = _smooth("of reachable states", lambda soft, V, mdp: soft.value(V[mdp.P.sum(axis=(0, 1)) > 0.0]))
SINGLE = _smooth("of single precision", lambda soft, V, mdp: float(np.float32(soft.value(V))))
EIGHT_VALUES = _smooth("of eight values", lambda soft, V, mdp: soft.value(V[:8]))


# Planners of the average cost.
def _average(name: str, make: Any) -> Variant:
    kind, promises = "average cost planner", ("average cost",)
    return Variant(f"average cost {name}", kind, make, (Contamination,), promises, {"accuracy": ACCURACY})  # type: ignore[arg-type]


def _gain(mdp: MDP, R: float, *, gamma: float = 1.0, improvements: int = 1000, states: slice = slice(None)) -> float:
    """R max W at discount 1−R."""
    return float(R * policy_iteration(mdp, gamma * (1.0 - R), improvements)[0][states].max())


def _vanishing_discount(mdp: MDP, uncertainty_set: Any) -> float:
    """(1−g) V at the discount g = 1 − 1e-7."""
    g, R = 1.0 - 1e-7, uncertainty_set.radius
    return float(policy_iteration(mdp, g * (1.0 - R))[0].max() * (1.0 - g * (1.0 - R)))


def _of_modulus(mdp: MDP, uncertainty_set: Any) -> float:
    W = policy_iteration(mdp, 1.0 - uncertainty_set.radius)[0]
    return float(uncertainty_set.radius * W[np.abs(W).argmax()])


def _long_horizon(mdp: MDP, uncertainty_set: Any) -> float:
    """The cost of two thousand steps, divided."""
    W, R = np.zeros(mdp.n_states), uncertainty_set.radius
    for _ in range(2000):
        W = (mdp.cost + (1.0 - R) * mdp.expectation(W) + R * W.max()).min(axis=1)
    return float(W.max() / 2000)


VANISHING_DISCOUNT = _average("of a vanishing discount", _vanishing_discount)
LONG_DISCOUNT = _average(
    "with the discount of a long horizon", lambda m, u: _gain(m, u.radius, gamma=m.gamma if m.gamma > 0.99 else 1.0)
)
OF_MODULUS = _average("of the largest modulus", _of_modulus)
TWO_IMPROVEMENTS = _average("with two improvements", lambda m, u: _gain(m, u.radius, improvements=2))
LONG_HORIZON = _average("of a finite horizon", _long_horizon)
FOUR_STATES = _average("of four states", lambda m, u: _gain(m, u.radius, states=slice(4)))
GAIN_NOT_NEGATIVE = _average("that is not negative", lambda m, u: max(_gain(m, u.radius), 0.0))


# Learners of the average cost.
def _relative(name: str, make: Any, **options: Any) -> Variant:
    promises = ("relative update", "relative fixed point", "relative shift")
    return Variant(f"average-cost learner {name}", "average cost learner", make, (Contamination,), promises, options)


class _StaleWorst(Relative):
    """The worst state is sought every fourth step."""

    kept = 0

    def worst(self) -> float:
        if self.t % 4 == 0:
            self.kept = int(self.values().argmax())
        return float(self.values()[self.kept])


class _Recentred(Relative):
    """Every fifth step the table is centred."""

    def update(self, step: Transition) -> None:
        super().update(step)
        if self.t % 5 == 0:
            self.Q -= self.Q[0, 0]


class _StateVisits(Relative):
    """Visits of the state."""

    def alpha(self, step: Transition) -> float:
        count = self.visits[step.s].sum() if self.problem.step_size.clock == "visits" else self.t
        return self.problem.step_size.at(int(count))


class _RareState(Relative):
    """Once in 64 steps the next state is the first one."""

    def values(self) -> Floats:
        V = super().values().copy()
        assert self.problem.rng is not None
        return np.full_like(V, V[0]) if self.problem.rng.random() < 1 / 64 else V


class _Running(Relative):
    """A running mean of the table that takes four actions or more for three."""

    def __init__(self, problem: Any) -> None:
        super().__init__(problem)
        self.mean = float(self.Q.mean())

    def gain(self, step: Transition) -> float:
        return self.mean

    def update(self, step: Transition) -> None:
        before = self.Q[step.s, step.a]
        super().update(step)
        self.mean += float(self.Q[step.s, step.a] - before) / (len(self.Q) * min(self.Q.shape[1], 3))


STALE_TOP = _relative("with a stale worst state", _StaleWorst)
RECENTRED = _relative("that is centred", _Recentred)
STATE_VISITS = _relative("that counts visits of states", _StateVisits)
RARE_STATE = _relative("that rarely jumps", _RareState)
TOP_OF_EIGHT = _relative("of eight worst states", but(Relative, worst=lambda self: float(self.values()[:8].max())))
RUNNING_MEAN = _relative("with a running mean", _Running, reference=lambda view: view.estimate.mean())


# Gradients of policies.
def _gradient(name: str, make: Any, **options: Any) -> Variant:
    return Variant(f"policy gradient {name}", "policy gradient", make, (Contamination,), ("policy gradient",), options)


def right(
    mdp: MDP,
    R: float,
    policy: Floats,
    rho: Floats,
    *,
    worst: Callable[[Floats], int] = lambda W: int(W.argmax()),
    factor: Callable[[float, float], float] = lambda gamma, R: gamma * R / (1.0 - gamma),
) -> Floats:
    """d(s) q(s,a) at discount gamma(1−R)."""
    b = mdp.gamma * (1.0 - R)
    chain = np.eye(mdp.n_states) - b * np.einsum("sa,sat->st", policy, mdp.P)
    W = np.linalg.solve(chain, (policy * mdp.cost).sum(axis=1))
    start = rho + factor(mdp.gamma, R) * np.eye(mdp.n_states)[worst(W)]
    return np.asarray(np.linalg.solve(chain.T, start)[:, None] * (mdp.cost + b * mdp.expectation(W)))


def _soft_of(gradient: Floats, policy: Floats, baseline: Floats) -> Floats:
    return np.asarray(policy * (gradient - baseline[:, None]))


def _clipped_policy(mdp: MDP, uncertainty_set: Any, policy: Floats, rho: Floats) -> Floats:
    """Entries below a hundredth are raised to it."""
    clipped = np.maximum(policy, 0.01) / np.maximum(policy, 0.01).sum(axis=1, keepdims=True)
    g = right(mdp, uncertainty_set.radius, policy, rho)
    return _soft_of(g, clipped, (clipped * g).sum(axis=1))


def _binary(mdp: MDP, uncertainty_set: Any, policy: Floats, rho: Floats) -> Floats:
    """Each action as if it were one of two."""
    g = right(mdp, uncertainty_set.radius, policy, rho)
    return np.asarray(
        policy * (1.0 - policy) * (g - g.mean(axis=1, keepdims=True)) * mdp.n_actions / (mdp.n_actions - 1 or 1)
    )


def _at_tie(mdp: MDP, uncertainty_set: Any, policy: Floats, rho: Floats) -> Floats:
    """The restarts of all worst states, each counted in full."""
    R = uncertainty_set.radius
    W = _policy_values(mdp, policy, mdp.gamma * (1.0 - R))
    none = right(mdp, R, policy, rho, factor=lambda gamma, R: 0.0)

    def of(state: int) -> Floats:
        return right(mdp, R, policy, rho, worst=lambda W: state) - none

    return np.asarray(none + sum(of(int(s)) for s in np.flatnonzero(W.max() == W)))


def _policy_values(mdp: MDP, policy: Floats, discount: float) -> Floats:
    chain = np.einsum("sa,sat->st", policy, mdp.P)
    return np.linalg.solve(np.eye(mdp.n_states) - discount * chain, (policy * mdp.cost).sum(axis=1))


def _nominal_worst(mdp: MDP, uncertainty_set: Any, policy: Floats, rho: Floats) -> Floats:
    V = _policy_values(mdp, policy, mdp.gamma)
    return right(mdp, uncertainty_set.radius, policy, rho, worst=lambda W: int(V.argmax()))


CLIPPED_POLICY = _gradient("of softmax with a clipped policy", _clipped_policy, parameters="softmax")
BINARY = _gradient("of softmax, action by action", _binary, parameters="softmax")
ALL_TIES = _gradient("with all worst states", _at_tie)
NOMINAL_WORST = _gradient("with the nominal worst state", _nominal_worst)
MODULUS_WORST = _gradient(
    "with the largest modulus",
    lambda m, u, pi, rho: right(m, u.radius, pi, rho, worst=lambda W: int(np.abs(W).argmax())),
)
NEAR_WORST = _gradient(
    "with the first nearly worst state",
    lambda m, u, pi, rho: right(m, u.radius, pi, rho, worst=lambda W: int(np.isclose(W, W.max(), rtol=0.05).argmax())),
)
EIGHT_WORST = _gradient(
    "of eight worst states", lambda m, u, pi, rho: right(m, u.radius, pi, rho, worst=lambda W: int(W[:8].argmax()))
)
NO_RESTART_AT_ONE = _gradient(
    "without restarts at R = 1",
    lambda m, u, pi, rho: right(m, u.radius, pi, rho, factor=lambda g, R: g * R / (1.0 - g) * (R < 1.0)),
)


# Learners with a simulator.
class _Median(MeanQ):
    draws = 3

    def sigma(self, s: int, a: int, V: Floats) -> float:
        return float((1.0 - self.radius) * np.median(V[self.nexts(s, a)]) + self.radius * V.max())


class _OnceTwice(MeanQ):
    """One draw, used twice."""

    def nexts(self, s: int, a: int) -> Any:
        return np.repeat(self.simulator.draw(s, a, 1), 2)


class _Shared(MeanQ):
    """The draws of the first action serve every other one."""

    def nexts(self, s: int, a: int) -> Any:
        if a == 0:
            self.kept = super().nexts(s, a)
        return self.kept


class _Previous(MeanQ):
    """V of the table before the last iteration."""

    old: Any = None

    def target(self, s: int, a: int, V: Floats) -> float:
        return super().target(s, a, V if self.old is None else self.old)

    def iterate(self) -> None:
        V = self.table.min(axis=1)
        super().iterate()
        self.old = V


class _Skips(MeanQ):
    """One entry in sixteen is left out."""

    def alpha(self) -> float:
        assert self.problem.rng is not None
        return super().alpha() if self.problem.rng.random() < 15 / 16 else 0.0


class _Constant(MeanQ):
    """The step size falls for two iterations."""

    def alpha(self) -> float:
        return self.problem.step_size.at(min(self.count, 2))


class _NoDraws(MeanQ):
    """No draws where they have no weight."""

    def nexts(self, s: int, a: int) -> Any:
        return np.zeros(1, dtype=np.int64) if self.radius == 1.0 else super().nexts(s, a)


class _Pooled(PlugIn):
    """The draws of all iterations so far."""

    def __init__(self, problem: Any, simulator: Any) -> None:
        super().__init__(problem, simulator)
        self.pool: dict[Any, Any] = {}

    def nexts(self, s: int, a: int) -> Any:
        self.pool[s, a] = np.concatenate([self.pool.get((s, a), np.zeros(0, dtype=np.int64)), super().nexts(s, a)])
        return self.pool[s, a]


class _Each(PlugIn):
    """The mean of sigma around the single draws."""

    def sigma(self, s: int, a: int, V: Floats) -> float:
        each = [sigma(self.problem.uncertainty_set, self.empirical([x]), V) for x in self.nexts(s, a)]
        return float(np.mean(each))


class _SortedHalves(Multilevel):
    """The halves of the sorted draws, which are not alike."""

    def sigma(self, s: int, a: int, V: Floats) -> float:
        level = self.level()
        first, nexts = self.simulator.draw(s, a, 1), np.sort(self.simulator.draw(s, a, 2 ** (level + 1)))
        halves = self.plug_in(nexts[: len(nexts) // 2], V) + self.plug_in(nexts[len(nexts) // 2 :], V)
        return self.plug_in(first, V) + (self.plug_in(nexts, V) - halves / 2.0) / self.weight(level)


def _simulator(name: str, make: Any, *promises: str, sets: Any = (Contamination,), **options: Any) -> Variant:
    promises = promises or ("mean iteration", "expected draws", "variance")
    return Variant(f"simulator {name}", "simulator", make, sets, promises, {"draws": make.draws, **options})


MEDIAN = _simulator("with a median", _Median)
ONCE_TWICE = _simulator("with one draw for two", _OnceTwice)
SHARED = _simulator("with shared draws", _Shared, "mean iteration")
PREVIOUS = _simulator("with the table before", _Previous)
SKIPS = _simulator("that skips entries", _Skips, "mean iteration", "expected draws")
CONSTANT = _simulator("whose step size stops to fall", _Constant)
NO_DRAWS = _simulator("without draws at R = 1", _NoDraws)
POOLED = _simulator("with pooled draws", _Pooled, "mean iteration", sets=(TotalVariation,), samples=2)
EACH = _simulator("with sigma of each draw", _Each, "mean iteration", sets=(TotalVariation,), samples=2)
SORTED_HALVES = _simulator("with sorted halves", _SortedHalves, "multilevel", sets=(TotalVariation,), levels=0.7)


# Learners from batches.
def _batch(name: str, make: Any, **options: Any) -> Variant:
    promises = ("batch mean", "batch variance", "batch order")
    return Variant(f"batch {name}", "batch", make, (Contamination,), promises, options)


class _OneFewerOfMany(MeanBatch):
    """Batches of more than three are divided by k − 1."""

    def size(self, batch: Sequence[Transition]) -> float:
        return float(len(batch) - (len(batch) > 3))


class _Resampled(MeanBatch):
    """A bootstrap of the batch: the mean is right."""

    def used(self, batch: Sequence[Transition]) -> Sequence[Transition]:
        assert self.problem.rng is not None
        return [batch[int(self.problem.rng.integers(len(batch)))] for _ in batch]


class _Momentum(MeanBatch):
    """A thousandth of the last change."""

    last: Any = 0.0

    def change(self, batch: Sequence[Transition]) -> Floats:
        self.last = super().change(batch) + 1e-3 * self.last
        return np.asarray(self.last)


class _OldTop(MeanBatch):
    """The larger of the last two maxima."""

    last = -np.inf

    def top(self, V: Floats, batch: Sequence[Transition]) -> float:
        return max(super().top(V, batch), self.last)

    def update(self, batch: Sequence[Transition]) -> None:
        top = float(self.values().max())
        super().update(batch)
        self.last = top


class _Pooling(PerEntry):
    """The errors of an entry, in some mean."""

    def pool(self, errors: list[float]) -> float:
        """Their mean."""
        return float(np.mean(errors))

    def change(self, batch: Sequence[Transition]) -> Floats:
        V, change, found = self.values(), np.zeros_like(self.table), dict[Any, list[float]]()
        for step in batch:
            found.setdefault(self.place(step), []).append(self.target(step, V, batch) - self.table[self.place(step)])
        for place, errors in found.items():
            change[place] = self.pool(errors)
        return change


class _Trimmed(_Pooling):
    """Without the smallest and the largest of four or more."""

    def pool(self, errors: list[float]) -> float:
        return float(np.mean(sorted(errors)[1:-1] if len(errors) > 3 else errors))


class _MedianOf(_Pooling):
    def pool(self, errors: list[float]) -> float:
        return float(np.median(errors))


class _Halving(_Pooling):
    """Each error counts half of the one after it."""

    def pool(self, errors: list[float]) -> float:
        mean = errors[0]
        for error in errors[1:]:
            mean = (mean + error) / 2.0
        return mean


ONE_FEWER_OF_MANY = _batch("of many divided by k - 1", _OneFewerOfMany)
RESAMPLED = _batch("of a bootstrap", _Resampled)
MOMENTUM = _batch("with a little momentum", _Momentum)
EIGHT_TOPS = _batch("of eight worst states", but(MeanBatch, top=lambda self, V, batch: float(V[:8].max())))
OLD_TOP = _batch("with the last maximum", _OldTop)
TRIMMED = _batch("with a trimmed mean", _Trimmed, expected="robust backup, per entry")
MEDIAN_OF_BATCH = _batch("with a median", _MedianOf, expected="robust backup, per entry")
HALVING = _batch("with halving weights", _Halving, expected="robust backup, per entry")


# Off-policy evaluation.
def _off_policy(name: str, make: Any) -> Variant:
    kind, promises = "off-policy evaluation", ("mean update", "fixed point", "projected onto two balls")
    return Variant(f"off-policy {name}", kind, make, (Contamination,), promises)  # type: ignore[arg-type]


class _NewTheta(OffPolicy):
    """omega follows the new theta."""

    def update(self, step: Transition) -> None:
        omega = self.omega
        super().update(step)
        theta, self.omega = self.theta, omega
        self.t -= 1
        super().update(step)
        self.theta = theta


class _WeightedRatio(OffPolicy):
    """Ratios over their mean so far."""

    total, count = 0.0, 0

    def ratio(self, step: Transition) -> float:
        ratio = super().ratio(step)
        self.total, self.count = self.total + ratio, self.count + 1
        return ratio * self.count / self.total if self.total > 0.0 else ratio


class _FlooredRatio(OffPolicy):
    """No ratio below a hundredth."""

    def ratio(self, step: Transition) -> float:
        return max(super().ratio(step), 0.01)


class _EndInDelta(OffPolicy):
    """The end counts in delta, not in its gradient."""

    def parts(self, step: Transition) -> tuple[float, Floats]:
        return super().parts(step)[0], super().parts(step._replace(terminal=False))[1]


class _LateBeta(OffPolicy):
    """The next beta, after three steps."""

    @property
    def sizes(self) -> Any:
        alpha, beta = super().sizes
        second: Any = self.problem.second_step_size
        return alpha, second.at(self.t + 1) if self.t > 2 else beta


class _Rejects(OffPolicy):
    """A theta outside of its ball is not taken."""

    def update(self, step: Transition) -> None:
        before, moved = self.theta, self.theta + self.sizes[0] * self.moves(step)[0]
        super().update(step)
        self.theta = self.theta if np.linalg.norm(moved) <= self.balls[0] else before


EIGHT_OFF_POLICY = _off_policy(
    "of eight values", but(OffPolicy, smooth=lambda self, V: _smooth_of_eight(self.problem.smoothing, V))
)
NEW_THETA = _off_policy("with the new theta for omega", _NewTheta)
WEIGHTED_RATIO = _off_policy("with weighted ratios", _WeightedRatio)
FLOORED_RATIO = _off_policy("with ratios above 0", _FlooredRatio)
END_IN_DELTA = _off_policy("whose gradient goes on after the end", _EndInDelta)
LATE_BETA = _off_policy("with a late beta", _LateBeta)
REJECTS = _off_policy("that rejects steps", _Rejects)


# Linear control.
def _linear(name: str, make: Any, **options: Any) -> Variant:
    return Variant(f"linear control {name}", "linear control", make, (Contamination,), ("semi-gradient",), options)


class _EndOfTop(LinearQ):
    """After the end nature does not restart."""

    def top(self, V: Floats, step: Transition) -> float:
        return 0.0 if step.terminal else float(V.max())


class _LastTop(LinearQ):
    """The maximum before the last step."""

    last: Any = None

    def top(self, V: Floats, step: Transition) -> float:
        found, self.last = (V.max() if self.last is None else self.last), V.max()
        return float(found)


class _ConstantStep(LinearQ):
    def alpha(self) -> float:
        return self.problem.step_size.at(min(self.t, 3))


class _NotNegative(LinearQ):
    def top(self, V: Floats, step: Transition) -> float:
        return max(float(V.max()), 0.0)


class _FourActions(LinearQ):
    def values(self, Q: Floats) -> Floats:
        return np.asarray(Q[:, :4].min(axis=1))


class _AllPairs(SmoothQ):
    """The smooth maximum of all pairs, where there are two actions."""

    def top(self, V: Floats, step: Transition) -> float:
        return super().top((self.psi @ self.theta).ravel() if self.problem.n_actions == 2 else V, step)


class _Decay(GreedyGQ):
    """omega decays by a thousandth."""

    def update(self, step: Transition) -> None:
        omega = self.omega
        super().update(step)
        self.omega = self.omega - 1e-3 * self.sizes[1] * omega


END_OF_TOP = _linear("whose nature ends", _EndOfTop)
LAST_TOP = _linear("with the last maximum", _LastTop)
CONSTANT_STEP = _linear("whose step size stops to fall", _ConstantStep)
TOP_NOT_NEGATIVE = _linear("with a maximum above 0", _NotNegative)
BEST_OF_FOUR = _linear("of four actions", _FourActions)
ALL_PAIRS = _linear("with the smooth maximum of all pairs", _AllPairs, smoothing="mellowmax")
DECAY = Variant("Greedy-GQ with a decay", "linear control", _Decay, (Contamination,), ("mean update",), {"tables": 2})


# Objectives.
def _objective(name: str, make: Any) -> Variant:
    promises = ("objective", "objective gradient", "tracked weights")
    return Variant(f"objective {name}", "objective", make(), (Contamination,), promises)


class _ManySteps(Objective):
    """The law after two hundred steps."""

    def law(self, chain: Floats) -> Floats:
        return np.asarray(np.full(len(chain), 1.0 / len(chain)) @ np.linalg.matrix_power(chain, 200))


class _FirstVector(Objective):
    """The first eigenvector, whatever its eigenvalue."""

    def law(self, chain: Floats) -> Floats:
        first = np.abs(np.linalg.eig(chain.T)[1][:, 0].real)
        return np.asarray(first / first.sum())


class _CutOff(Objective):
    """C without its small singular values."""

    def second_moment(self, weighted: Floats, features: Floats) -> Floats:
        left, sizes, rest = np.linalg.svd(weighted @ features)
        return np.asarray((left * np.maximum(sizes, 1e-3 * sizes.max())) @ rest)


class _SingleLaw(Objective):
    def law(self, chain: Floats) -> Floats:
        return super().law(chain).astype(np.float32).astype(np.float64)


class _SharpPolicy(Objective):
    """The costs of the likeliest action, if it is likely enough."""

    def cost(self, mdp: MDP, policy: Floats) -> Floats:
        sure = policy.max(axis=1) > 0.9
        return np.where(sure, mdp.cost[np.arange(len(policy)), policy.argmax(axis=1)], super().cost(mdp, policy))


class _KeptLaw(Objective):
    """The law of a policy is kept."""

    def __init__(self) -> None:
        self.known: dict[bytes, Floats] = {}

    def __call__(self, mdp: MDP, uncertainty_set: Any, policy: Floats, *others: Any) -> Any:
        self.key = policy.tobytes()
        return super().__call__(mdp, uncertainty_set, policy, *others)

    def law(self, chain: Floats) -> Floats:
        return self.known.setdefault(self.key, super().law(chain))


EIGHT_OF_OBJECTIVE = _objective(
    "of eight values", but(Objective, smooth=lambda self, smoothing, V: _smooth_of_eight(smoothing, V))
)
MANY_STEPS = _objective("of a law after two hundred steps", _ManySteps)
FIRST_VECTOR = _objective("of the first eigenvector", _FirstVector)
CUT_OFF = _objective("with small parts cut off", _CutOff)
SINGLE_LAW = _objective("with a law of single precision", _SingleLaw)
SHARP_POLICY = _objective("with a sharp policy", _SharpPolicy)
KEPT_LAW = _objective("with a law that is kept", _KeptLaw)
