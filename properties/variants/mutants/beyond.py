"""Bugs that need size: a block of sixteen states, a ninth successor, a third feature, the thousandth step.

None of them shows on a problem of four states, three actions, two features and a hundred steps.
"""

from typing import Any

import numpy as np

from properties.variants.gallery.value_iteration import ACCURACY, plan
from properties.variants.mutants.control import PROMISES
from properties.variants.mutants.plain import PlainQ, PlainTDC, but
from robust_core import (
    MDP,
    Contamination,
    Mellowmax,
    Problem,
    Recording,
    TotalVariation,
    Transition,
    UncertaintySet,
    Variant,
    bellman,
    sigma,
    support,
)
from robust_core.validate import Floats

_SETS = (Contamination, TotalVariation)


def _q(name: str, make: Any) -> Variant:
    return Variant(f"Q-learning {name}", "control", make, (Contamination,), PROMISES)


def _tdc(name: str, make: Any) -> Variant:
    return Variant(
        f"TDC {name}", "linear evaluation", make, (Contamination,), ("TDC", "projected", "scale", "rotation")
    )


def _planner(name: str, make: Any) -> Variant:
    return Variant(f"planner {name}", "planner", make, _SETS, ("optimal",), {"accuracy": ACCURACY})


class _ShortCounter(PlainQ):
    """Visits in a byte."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.visits = np.zeros(self.Q.shape, dtype=np.uint8)

    def count(self, step: Transition) -> None:
        self.t += 1
        self.visits[self.place(step)] = (int(self.visits[self.place(step)]) + 1) % 256


class _TabulatedSteps(PlainQ):
    """A table of step sizes that ends."""

    def alpha(self, step: Transition) -> float:
        schedule = self.problem.step_size
        n = int(self.visits[self.place(step)]) if schedule.clock == "visits" else self.t
        return schedule.at(min(n, 500))


class _TiredPairs(PlainQ):
    """A pair that was visited a thousand times learns at half the speed."""

    def write(self, step: Transition, alpha: float, target: float) -> None:
        super().write(step, alpha if self.visits[self.place(step)] < 1000 else alpha / 2.0, target)


class _Blocks(PlainQ):
    """A fast path in blocks of 64 steps, whose clock is that of the block."""

    def update_many(self, recording: Recording) -> None:
        for number, step in enumerate(recording):
            begun = self.t
            self.t -= number % 64 if number >= 64 else 0
            self.update(step)
            self.t = begun + 1


class _Evicts(PlainQ):
    """The table holds 256 entries that were visited: the oldest goes back to where it started."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.held: dict[tuple[int, int], None] = {}

    def update(self, step: Transition) -> None:
        super().update(step)
        self.held[step.s, step.a] = None
        if len(self.held) > 256:
            oldest = next(iter(self.held))
            del self.held[oldest]
            self.Q[oldest] = self.problem.initial[oldest]


class _TwoFeatures(PlainTDC):
    """A direction of two components."""

    def direction(self, step: Transition) -> Floats:
        direction = super().direction(step).copy()
        direction[2:] = 0.0
        return direction


class _SixteenSummands(PlainTDC):
    """The sum of a log-sum-exp in one block, its maximum over all states; mellow-max is right."""

    def smooth(self, V: Floats) -> float:
        if isinstance(self.problem.smoothing, Mellowmax) or len(V) <= 16:
            return super().smooth(V)
        weights = np.exp(self.varrho * (V - V.max()))
        return float(V.max() + np.log(max(weights[:16].sum(), 1.0)) / self.varrho)


class _EightComponents(PlainTDC):
    """The norm of the first eight components."""

    def projected(self, x: Floats) -> Floats:
        norm = float(np.linalg.norm(x[:8]))
        return x * (self.K / norm) if norm > self.K else x


def _dense_blocks(mdp: MDP, uncertainty_set: Contamination, Q: Floats) -> Floats:
    """A dense product in blocks of sixteen, the rest forgotten; sparse kernels are right."""
    if mdp.is_sparse or mdp.n_states <= 16:
        return bellman(mdp, uncertainty_set, Q)
    V, whole = Q.min(axis=1), mdp.n_states // 16 * 16
    return mdp.cost + mdp.gamma * (
        (1.0 - uncertainty_set.radius) * (mdp.P[:, :, :whole] @ V[:whole]) + uncertainty_set.radius * V.max()
    )


def _second_set(mdp: MDP, uncertainty_set: Any, Q: Floats) -> Floats:
    """Total variation of many states by the other formula."""
    return bellman(mdp, Contamination(uncertainty_set.radius) if mdp.n_states > 8 else uncertainty_set, Q)


def _last_state(mdp: MDP, uncertainty_set: Contamination, Q: Floats) -> Floats:
    """Of many states, said to be sorted, the last is the worst."""
    V = Q.min(axis=1)
    worst = V[-1] if mdp.n_states > 8 else V.max()
    return mdp.cost + mdp.gamma * ((1.0 - uncertainty_set.radius) * mdp.expectation(V) + uncertainty_set.radius * worst)


def _sixteen_actions(mdp: MDP, uncertainty_set: UncertaintySet, Q: Floats) -> Floats:
    """A minimum in one block."""
    return mdp.cost + mdp.gamma * support(mdp, uncertainty_set, Q[:, :16].min(axis=1))


def _dense_first_action(mdp: MDP, uncertainty_set: UncertaintySet) -> Floats:
    """Many states in dense rows: the first action's kernel."""
    if mdp.is_sparse or mdp.n_states <= 8:
        return plan(mdp, uncertainty_set)
    return plan(MDP(np.repeat(mdp.P[:, :1], mdp.n_actions, axis=1), mdp.cost, mdp.gamma), uncertainty_set)


def _swept(mdp: MDP, uncertainty_set: UncertaintySet, most: int) -> Floats:
    """Value iteration with MacQueen's bounds and a limit of sweeps."""
    Q = np.zeros_like(mdp.cost)
    horizon, size = mdp.gamma / (1.0 - mdp.gamma), np.abs(mdp.cost).max() / (1.0 - mdp.gamma)
    for _ in range(most):
        image = bellman(mdp, uncertainty_set, Q)
        low, high = horizon * (image - Q).min(), horizon * (image - Q).max()
        if high - low <= _ACCURACY * size:
            return np.asarray(image + (low + high) / 2.0)
        Q = image
    return Q


def _hundred_sweeps(mdp: MDP, uncertainty_set: UncertaintySet) -> Floats:
    """A hundred sweeps are enough where there are many states."""
    return _swept(mdp, uncertainty_set, 100) if mdp.n_states > 8 else plan(mdp, uncertainty_set)


def _eight_successors(mdp: MDP, uncertainty_set: UncertaintySet, Q: Floats) -> Floats:
    """Sparse rows of a fixed length."""
    P = mdp.P.copy()
    for row in P.reshape(-1, mdp.n_states):
        row[np.flatnonzero(row)[8:]] = 0.0
    return bellman(MDP(P / P.sum(axis=2, keepdims=True), mdp.cost, mdp.gamma), uncertainty_set, Q)


def _float32_kernel(mdp: MDP, uncertainty_set: UncertaintySet, Q: Floats) -> Floats:
    """A kernel that was stored in half the space."""
    P = mdp.P.astype(np.float32).astype(np.float64)
    return bellman(MDP(P / P.sum(axis=2, keepdims=True), mdp.cost, mdp.gamma), uncertainty_set, Q)


_ACCURACY = 1e-12
"""Where the iteration stops, in units of the largest cost: far below the effect of the bug."""


def _eight_values(mdp: MDP, uncertainty_set: Contamination) -> Floats:
    """Value iteration against the worst of the first eight states."""
    Q, R = np.zeros_like(mdp.cost), uncertainty_set.radius
    while True:
        V = Q.min(axis=1)
        image = mdp.cost + mdp.gamma * ((1.0 - R) * mdp.expectation(V) + R * V[:8].max())
        if np.abs(image - Q).max() <= _ACCURACY * np.abs(mdp.cost).max():
            return image
        Q = image


def _six_outcomes(uncertainty_set: TotalVariation, p: Floats, v: Floats) -> Any:
    """A long row is treated as if the worst outcome had all the mass that is moved."""
    if len(v) <= 6:
        return sigma(uncertainty_set, p, v)
    return p @ v + np.minimum(uncertainty_set.radius, p[..., v.argmin()]) * (v.max() - v.min())


def _float32_rows(uncertainty_set: UncertaintySet, p: Floats, v: Floats) -> Floats:
    """Many rows at once are kept in half the space."""
    many = np.asarray(p)
    return sigma(uncertainty_set, many.astype(np.float32).astype(np.float64) if many.ndim > 1 else many, v)


# One block of a blocked maximum.
SIXTEEN_STATES = _q("with a maximum of sixteen states", but(PlainQ, worst=lambda self: float(self.values()[:16].max())))
# An unrolled minimum.
FOUR_ACTIONS = _q("with a minimum of four actions", but(PlainQ, values=lambda self: self.Q[:, :4].min(axis=1)))
# States share entries by their last four bits.
HASHED_STATES = _q("with hashed states", but(PlainQ, place=lambda self, step: (step.s % 16, step.a)))
EVICTS = _q("with a table of 256 entries", _Evicts)
# A budget of steps that is meant for tests.
STOPS_LEARNING = _q(
    "that stops after a thousand steps",
    but(PlainQ, alpha=lambda self, step: PlainQ.alpha(self, step) if self.t < 1000 else 0.0),
)
SHORT_COUNTER = _q("with visits in a byte", _ShortCounter)
TABULATED_STEPS = _q("with tabulated step sizes", _TabulatedSteps)
TIRED_PAIRS = _q("that tires of a pair", _TiredPairs)
BLOCKS = _q("whose fast path has a clock per block", _Blocks)
TWO_FEATURES = _tdc("of two features", _TwoFeatures)
# A smooth maximum of the first eight states.
EIGHT_STATES = _tdc(
    "with a maximum of eight states", but(PlainTDC, smooth=lambda self, V: PlainTDC.smooth(self, V[:8]))
)
# After a while it projects at every sixty-fourth step.
RARE_PROJECTION = _tdc(
    "that projects rarely",
    but(PlainTDC, projected=lambda self, x: PlainTDC.projected(self, x) if self.t < 250 or self.t % 64 == 63 else x),
)
SIXTEEN_SUMMANDS = _tdc("with sixteen summands", _SixteenSummands)
EIGHT_COMPONENTS = _tdc("with a norm of eight components", _EightComponents)
# A table of step sizes that ends late.
TWO_THOUSAND_STEPS = _tdc(
    "with two thousand step sizes", but(PlainTDC, alpha=lambda self: self.problem.step_size.at(min(self.t, 2000)))
)
DENSE_BLOCKS = Variant("T in dense blocks", "operator", _dense_blocks, (Contamination,), ("bellman",))
SECOND_SET = Variant("T of one set for two", "operator", _second_set, _SETS, ("bellman",))
LAST_STATE = Variant("T whose worst state is the last", "operator", _last_state, (Contamination,), ("bellman",))
SIXTEEN_ACTIONS = Variant("T of sixteen actions", "operator", _sixteen_actions, _SETS, ("bellman",))
DENSE_FIRST_ACTION = _planner("of the first action in dense rows", _dense_first_action)
HUNDRED_SWEEPS = _planner("with a hundred sweeps", _hundred_sweeps)
FIVE_THOUSAND_SWEEPS = _planner(
    "with five thousand sweeps", lambda mdp, uncertainty_set: _swept(mdp, uncertainty_set, 5000)
)
EIGHT_SUCCESSORS = Variant("T of eight successors", "operator", _eight_successors, _SETS, ("bellman",))
FLOAT32_KERNEL = Variant("T with a kernel in float32", "operator", _float32_kernel, (Contamination,), ("bellman",))
EIGHT_VALUES = Variant(
    "planner of eight states", "planner", _eight_values, (Contamination,), ("optimal",), {"accuracy": ACCURACY}
)
SIX_OUTCOMES = Variant(
    "sigma of six outcomes", "support", _six_outcomes, (TotalVariation,), ("support function", "rows")
)
FLOAT32_ROWS = Variant("sigma with rows in float32", "support", _float32_rows, _SETS, ("support function", "rows"))
