"""Right learners that are written in unusual ways: every one keeps the promises that it makes."""

import bisect
import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal, localcontext
from types import SimpleNamespace
from typing import Any

import numpy as np

from properties.variants.mutants.plain import PlainExpectedSarsa, PlainGTD2, PlainQ, PlainSarsa, PlainTD, PlainTDC
from robust_core import Contamination, Problem, Transition, Variant

MEAN = ("unbiased", "mean update", "fixed point", "fixed point in the mean")
SURE = ("asynchronous", "non-expansive", "monotone", "monotone in R", "shift", "scale", "symmetric", "bounded")
ALL = (*MEAN, *SURE)


class _Lists(PlainQ):
    """Lists of lists; the estimate becomes an array when it is asked for."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.rows: list[list[float]] = self.Q.tolist()

    def values(self) -> Any:
        return np.array([min(row) for row in self.rows])

    def write(self, step: Transition, alpha: float, target: float) -> None:
        row = self.rows[step.s]
        row[step.a] += alpha * (target - row[step.a])

    def estimate(self) -> Any:
        return np.array(self.rows)


class _Advantages(PlainQ):
    """Values and advantages apart: their sum is the table but for a rounding, at the start too."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.v = self.Q.min(axis=1)
        self.advantages = self.Q - self.v[:, None]

    def values(self) -> Any:
        return self.v.copy()

    def write(self, step: Transition, alpha: float, target: float) -> None:
        row = self.v[step.s] + self.advantages[step.s]
        row[step.a] += alpha * (target - row[step.a])
        self.v[step.s] = row.min()
        self.advantages[step.s] = row - row.min()

    def estimate(self) -> Any:
        return self.v[:, None] + self.advantages


class _Dictionary(_Lists):
    """A dictionary of the entries that have moved."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.moved: dict[tuple[int, int], float] = {}

    def values(self) -> Any:
        return self.estimate().min(axis=1)

    def write(self, step: Transition, alpha: float, target: float) -> None:
        place = step.s, step.a
        old = self.moved.get(place, float(self.Q[place]))
        self.moved[place] = (1.0 - alpha) * old + alpha * target

    def estimate(self) -> Any:
        table = self.Q.copy()
        for place, value in self.moved.items():
            table[place] = value
        return table


class _Slots:
    """`__slots__`, Python integers for counts, no base class."""

    __slots__ = ("count", "problem", "radius", "table", "visits")

    def __init__(self, problem: Problem) -> None:
        self.problem, self.radius = problem, float(problem.uncertainty_set.radius)  # type: ignore[attr-defined]
        self.table, self.count = problem.initial.copy(), 0
        self.visits: Counter[tuple[int, int]] = Counter()

    def update(self, step: Transition) -> None:
        place, schedule, V = (step.s, step.a), self.problem.step_size, self.table.min(axis=1)
        alpha = schedule.at(self.visits[place] if schedule.clock == "visits" else self.count)
        following = 0.0 if step.terminal else V[step.s_next]
        target = step.cost + self.problem.gamma * (self.radius * V.max() + (1.0 - self.radius) * following)
        self.table[place] += alpha * (target - self.table[place])
        self.visits[place] += 1
        self.count += 1

    def estimate(self) -> Any:
        return self.table.copy()


@dataclass
class _Data:
    """A dataclass that is replaced as a whole in every step: no array is written twice."""

    problem: Problem
    state: tuple[Any, ...] = ()
    steps: list[Transition] = field(default_factory=list)

    def update(self, step: Transition) -> None:
        inner = _Slots(self.problem)
        if self.state:
            inner.table, inner.count, inner.visits = self.state[0].copy(), self.state[1], Counter(self.state[2])
        inner.update(step)
        self.state = inner.table, inner.count, dict(inner.visits)

    def estimate(self) -> Any:
        return np.array(self.state[0] if self.state else self.problem.initial, dtype=np.float64)


class _Lazy:
    """Nothing is computed before it is asked for: then the whole history is walked."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.history = problem, []  # type: ignore[var-annotated]

    def update(self, step: Transition) -> None:
        self.history.append(step)

    def estimate(self) -> Any:
        learner = PlainQ(self.problem)
        for step in self.history:
            learner.update(step)
        return learner.estimate()


def _closure(problem: Problem) -> Any:
    """Lambdas around a learner."""
    inner = PlainQ(problem)
    return SimpleNamespace(update=lambda step: inner.update(Transition(*step)), estimate=lambda: 1.0 * inner.Q)


def _nested(problem: Problem) -> Any:
    """A class inside a function, whose methods change the variables of that function."""
    Q, inner = problem.initial.copy(), PlainQ(problem)

    class Learner:
        def update(self, step: Transition) -> None:
            inner.update(step)
            Q[...] = inner.Q

        def estimate(self) -> Any:
            return Q.copy()

    return Learner()


def _counting(problem: Problem) -> Any:
    """Functions with nonlocal variables."""
    Q, t, R = problem.initial.copy(), 0, float(problem.uncertainty_set.radius)  # type: ignore[attr-defined]
    visits = np.zeros(Q.shape, dtype=int)

    def update(step: Transition) -> None:
        nonlocal Q, t
        place, schedule, V = (step.s, step.a), problem.step_size, Q.min(axis=1)
        alpha = schedule.at(int(visits[place]) if schedule.clock == "visits" else t)
        after = Q.copy()
        following = 0.0 if step.terminal else V[step.s_next]
        after[place] += alpha * (step.cost + problem.gamma * (R * V.max() + (1 - R) * following) - Q[place])
        Q, t = after, t + 1
        visits[place] += 1

    return SimpleNamespace(update=update, estimate=lambda: 1.0 * Q)


class _Coroutine:
    """A generator that is sent transitions; it cannot be copied."""

    def __init__(self, problem: Problem) -> None:
        self.inner = PlainQ(problem)
        self.running = self._run()
        next(self.running)

    def _run(self) -> Iterator[None]:
        while True:
            step: Any = yield
            self.inner.update(step)

    def update(self, step: Transition) -> None:
        self.running.send(step)  # type: ignore[attr-defined]

    def estimate(self) -> Any:
        return self.inner.estimate()


class _Fortran(PlainQ):
    """The table in Fortran order, and handed out so."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.Q = np.asfortranarray(self.Q)

    def estimate(self) -> Any:
        return np.array(self.Q, order="F")


class _Transposed(PlainQ):
    """A row for each action."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.Q = problem.initial.T.copy()
        self.visits = self.visits.T.copy()

    def place(self, step: Transition) -> Any:
        return step.a, step.s

    def values(self) -> Any:
        return self.Q.min(axis=0)

    def estimate(self) -> Any:
        return self.Q.T.copy()


class _Flat(PlainQ):
    """One vector, addressed by s·A + a."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.actions = self.Q.shape[1]
        self.Q, self.visits = self.Q.ravel().copy(), self.visits.ravel()

    def place(self, step: Transition) -> Any:
        return step.s * self.actions + step.a

    def values(self) -> Any:
        return self.Q.reshape(-1, self.actions).min(axis=1)

    def estimate(self) -> Any:
        return self.Q.reshape(-1, self.actions).copy()


class _Cached(PlainQ):
    """V is kept, and its maximum is found again only when its holder falls."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.V = self.Q.min(axis=1)
        self.top = int(self.V.argmax())

    def values(self) -> Any:
        return self.V

    def worst(self) -> float:
        return float(self.V[self.top])

    def write(self, step: Transition, alpha: float, target: float) -> None:
        super().write(step, alpha, target)
        old, new = self.V[step.s], self.Q[step.s].min()
        self.V[step.s] = new
        if step.s == self.top and new < old:
            self.top = int(self.V.argmax())
        elif new > self.V[self.top]:
            self.top = step.s


class _Sorted(PlainQ):
    """The values in a sorted list, whose last is the largest."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.order = sorted(self.Q.min(axis=1).tolist())

    def worst(self) -> float:
        return self.order[-1]

    def write(self, step: Transition, alpha: float, target: float) -> None:
        self.order.pop(bisect.bisect_left(self.order, float(self.Q[step.s].min())))
        super().write(step, alpha, target)
        bisect.insort(self.order, float(self.Q[step.s].min()))


class _Relative(PlainQ):
    """The table less its start."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.start, self.D = self.Q.copy(), np.zeros_like(self.Q)

    def write(self, step: Transition, alpha: float, target: float) -> None:
        place = step.s, step.a
        self.D[place] += alpha * (target - (self.start[place] + self.D[place]))
        self.Q = self.start + self.D


class _Negative(PlainQ):
    """Rewards inside: −Q, the largest action, the least value."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.Q = -self.Q

    def values(self) -> Any:
        return self.Q.max(axis=1)

    def worst(self) -> float:
        return float(self.values().min())

    def target(self, step: Transition) -> float:
        return -step.cost + self.gamma * (self.R * self.worst() + (1.0 - self.R) * self.following(step))

    def estimate(self) -> Any:
        return -self.Q


class _Long(PlainQ):
    """Extended precision inside."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.Q = self.Q.astype(np.longdouble)

    def estimate(self) -> Any:
        return self.Q.astype(np.float64)


class _Decimals(PlainQ):
    """Fifty digits inside."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.Q = np.array([[Decimal(x) for x in row] for row in self.Q.tolist()], dtype=object)

    def write(self, step: Transition, alpha: float, target: float) -> None:
        with localcontext() as context:
            context.prec = 50
            V = [min(row) for row in self.Q]
            gamma, R, a = Decimal(self.gamma), Decimal(self.R), Decimal(alpha)
            following = Decimal(0) if step.terminal else V[step.s_next]
            exact = Decimal(float(step.cost)) + gamma * (R * max(V) + (1 - R) * following)
            place = step.s, step.a
            self.Q[place] = (1 - a) * self.Q[place] + a * exact

    def target(self, step: Transition) -> float:
        return 0.0

    def estimate(self) -> Any:
        return self.Q.astype(np.float64)


class _Vertices(PlainQ):
    """Nature's choice as the maximum over the vertices of the set."""

    def target(self, step: Transition) -> float:
        V = self.values()
        following = 0.0 if step.terminal else V[step.s_next]
        return max(step.cost + self.gamma * ((1.0 - self.R) * following + self.R * float(v)) for v in V)


class _Fsum(PlainQ):
    """Sums without rounding."""

    def write(self, step: Transition, alpha: float, target: float) -> None:
        old = float(self.Q[step.s, step.a])
        self.Q[step.s, step.a] = math.fsum((old, -alpha * old, alpha * target))


class _Ufunc(PlainQ):
    """numpy's unbuffered writing."""

    def write(self, step: Transition, alpha: float, target: float) -> None:
        np.add.at(self.Q, ([step.s], [step.a]), alpha * (target - self.Q[step.s, step.a]))


class _Doubled(PlainQ):
    """The first call of a problem computes the step sizes ahead."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.sizes: list[float] = []

    def alpha(self, step: Transition) -> float:
        schedule = self.problem.step_size
        n = int(self.visits[self.place(step)]) if schedule.clock == "visits" else self.t
        while len(self.sizes) <= n:
            self.sizes += [schedule.at(k) for k in range(len(self.sizes), 2 * len(self.sizes) + 1)]
        return self.sizes[n]


def _drawing(draw: Callable[[Any, float], float]) -> Any:
    class Drawing(PlainQ):
        """A step size that is right in the mean."""

        def alpha(self, step: Transition) -> float:
            return draw(self.problem.rng, super().alpha(step))

    return Drawing


class _Split(PlainQ):
    """The step is split at random into two parts, which both go to the same target."""

    def write(self, step: Transition, alpha: float, target: float) -> None:
        first = alpha * int(self.problem.rng.integers(3)) / 2.0  # type: ignore[union-attr]
        old = self.Q[step.s, step.a]
        self.Q[step.s, step.a] += first * (target - old) + (alpha - first) * (target - old)


class _Sampled(PlainQ):
    """Nature moves by a coin: the largest value with probability R, the next state with 1−R."""

    def target(self, step: Transition) -> float:
        nature = bool(self.problem.rng.random() < self.R)  # type: ignore[union-attr]
        return step.cost + self.gamma * (self.worst() if nature else self.following(step))


class _Late(PlainQ):
    """A step is carried out when the next one arrives."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.waiting: Transition | None = None

    def update(self, step: Transition) -> None:
        if self.waiting is not None:
            super().update(self.waiting)
        self.waiting = step


class _Twice(PlainQ):
    """Every step is replayed once, after it: two visits."""

    def update(self, step: Transition) -> None:
        super().update(step)
        super().update(step)


class _Target(PlainQ):
    """Targets from a copy that is refreshed every third step."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.old = self.Q.copy()

    def values(self) -> Any:
        if self.t % 3 == 0:
            self.old = self.Q.copy()
        return self.old.min(axis=1)


class _Averaged(PlainQ):
    """The running mean of the iterates."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.mean = self.Q.copy()

    def update(self, step: Transition) -> None:
        super().update(step)
        self.mean += (self.Q - self.mean) / (self.t + 1)

    def estimate(self) -> Any:
        return self.mean.copy()


class _Summed(PlainQ):
    """The mean of the iterates from their sum, which is rounded at every step."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.total = self.Q.copy()

    def update(self, step: Transition) -> None:
        super().update(step)
        self.total += self.Q

    def estimate(self) -> Any:
        return self.total / (self.t + 1)


class _Nesterov(PlainQ):
    """Momentum with a correction of its bias: a mean of past errors, divided by 1 − 2^-t."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.m = np.zeros_like(self.Q)

    def write(self, step: Transition, alpha: float, target: float) -> None:
        self.m *= 0.5
        self.m[step.s, step.a] += 0.5 * (target - self.Q[step.s, step.a])
        self.Q = self.Q + alpha * self.m / (1.0 - 0.5 ** (self.t + 1))


class _Ensemble:
    """Three tables; a coin says which of them learns, from its own values."""

    def __init__(self, problem: Problem) -> None:
        self.rng: Any = problem.rng
        self.members = [PlainQ(replace(problem, initial=one)) for one in problem.initial]

    def update(self, step: Transition) -> None:
        self.members[int(self.rng.integers(3))].update(step)

    def estimate(self) -> Any:
        return tuple(member.estimate() for member in self.members)


class _Together(_Ensemble):
    """All tables learn, from the values of the next one."""

    def update(self, step: Transition) -> None:
        values = [member.values() for member in self.members]
        for k, member in enumerate(self.members):
            V = values[(k + 1) % 3]
            following = 0.0 if step.terminal else float(V[step.s_next])
            target = step.cost + member.gamma * (member.R * float(V.max()) + (1.0 - member.R) * following)
            member.write(step, member.alpha(step), target)
            member.count(step)


class _ListTD(PlainTD):
    """TD(0) on a list."""

    def estimate(self) -> Any:
        return np.array(self.Q.tolist())


class _EinsumSarsa(PlainExpectedSarsa):
    """Values by einsum."""

    def values(self) -> Any:
        assert self.problem.policy is not None
        return np.einsum("sa,sa->s", np.asarray(self.problem.policy), np.asarray(self.Q))


class _FromTableSarsa(PlainSarsa):
    """Sarsa whose values are sums of Python floats."""

    def values(self) -> Any:
        assert self.problem.policy is not None
        pairs = zip(self.problem.policy.tolist(), self.Q.tolist(), strict=True)
        return np.array([math.fsum(map(float.__mul__, weights, row)) for weights, row in pairs])


class _InPlaceTDC(PlainTDC):
    """theta and omega in one array, changed in place."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.both = np.stack([self.theta, self.omega])

    def update(self, step: Transition) -> None:
        self.theta, self.omega = self.both
        direction, error = self.direction(step), self.error(step)
        self.both[0] = self.projected(self.theta + self.alpha() * direction)
        self.both[1] = self.projected(self.omega + self.beta() * error)
        self.t += 1

    def estimate(self) -> Any:
        return self.both[0].copy(), self.both[1].copy()


class _ListTDC(PlainTDC):
    """Sums of Python floats."""

    def direction(self, step: Transition) -> Any:
        delta, tracked = self.delta(step), self.tracked(step)
        return np.array([delta * x - y * tracked for x, y in zip(self.phi[step.s], self.g(step), strict=True)])


class _SplitGTD2(PlainGTD2):
    """The two terms one after the other."""

    def direction(self, step: Transition) -> Any:
        tracked = self.tracked(step)
        return tracked * self.phi[step.s] - tracked * self.g(step)


def _control(make: Any, *promises: str, **options: Any) -> Variant:
    name = getattr(make, "__name__", str(make)).strip("_")
    return Variant(f"control, {name}", "control", make, (Contamination,), promises, options)


def _named(name: str, variant: Variant) -> Variant:
    return replace(variant, name=name)


def _evaluation(make: Any, estimates: str, *promises: str) -> Variant:
    options = {"estimates": estimates}
    return Variant(f"evaluation, {make.__name__}", "evaluation", make, (Contamination,), promises, options)


def _linear(make: Any, rule: str) -> Variant:
    promises = (rule, "projected", "scale", "rotation", "fixed point")
    return Variant(f"linear, {make.__name__}", "linear evaluation", make, (Contamination,), promises)


_FORMS = (
    _Lists,
    _Dictionary,
    _Slots,
    _Data,
    _Lazy,
    _closure,
    _nested,
    _counting,
    _Coroutine,
    _Fortran,
    _Transposed,
    _Flat,
    _Cached,
    _Sorted,
)
_MORE = (_Relative, _Negative, _Long, _Decimals, _Vertices, _Fsum, _Ufunc, _Doubled)
_COINS: dict[str, Callable[[Any, float], float]] = {
    "a step of 1 with probability alpha": lambda rng, alpha: float(rng.random() < alpha),
    "half or one and a half": lambda rng, alpha: alpha * (0.5 + int(rng.integers(2))),
    "mostly nothing": lambda rng, alpha: 4.0 * alpha * (int(rng.integers(4)) == 0),
    "a share of a binomial": lambda rng, alpha: alpha * int(rng.binomial(3, 0.5)) / 1.5,
}
LEARNERS = (
    *(_control(make, "sample form", *ALL) for make in (*_FORMS, *_MORE, _Split)),
    *(_named(name, _control(_drawing(draw), *MEAN, "asynchronous", "scale")) for name, draw in _COINS.items()),
    _control(
        _Sampled, "unbiased", "mean update", "fixed point in the mean", "asynchronous", "shift", "scale", "bounded"
    ),
    _control(_Advantages, "unbiased", "mean update", "fixed point in the mean", "bounded"),
    _control(_Late, "fixed point", "scale", "symmetric", "asynchronous", "bounded", "non-expansive", delay=2),
    _control(_Twice, "fixed point", "asynchronous", "scale", "symmetric", "non-expansive", schedule="own"),
    _control(_Target, "fixed point", "fixed point in the mean", "asynchronous", "scale", "symmetric", "bounded"),
    _control(_Averaged, "fixed point", "scale", "symmetric", "bounded", delay="visited", schedule="steps"),
    _control(_Summed, "fixed point", "symmetric", "bounded", delay="visited", schedule="steps"),
    _control(_Nesterov, "fixed point", "scale", "symmetric", delay="visited", schedule="steps"),
    _control(_Ensemble, "fixed point", "fixed point in the mean", "asynchronous", "scale", tables=3),
    _control(_Together, "fixed point", "fixed point in the mean", "asynchronous", "scale", tables=3),
    _evaluation(_ListTD, "V", "sample form", *ALL),
    _evaluation(_EinsumSarsa, "Q", "sample form", *ALL),
    _evaluation(_FromTableSarsa, "Q", "sample form, next action", *MEAN, "asynchronous", "shift", "scale", "symmetric"),
    _linear(_InPlaceTDC, "TDC"),
    _linear(_ListTDC, "TDC"),
    _linear(_SplitGTD2, "GTD2"),
)
