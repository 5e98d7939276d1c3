"""The compiled loop of the tabular learners: walk and update fused (plain form: `tabular`, `trajectory`).

The arithmetic of every update is that of `tabular.updated_entry`, operation by operation, so the two give the
same bits. One kernel serves all rules; what a run does not need (the maximum when R = 0, visit counts, episodes)
is not compiled into it.
"""

from collections.abc import Callable
from functools import cache
from math import pow as power_of
from typing import TYPE_CHECKING

import numpy as np

from robust_core.kernels import maximum
from robust_core.kernels.jit import compiled, inlined
from robust_core.kernels.maximum import best_two, build, changed
from robust_core.kernels.walk import U64, Word, next_outcome
from robust_core.validate import Floats

if TYPE_CHECKING:
    from robust_core.tabular import TabularLearner
    from robust_core.trajectory import Recording, Walk

_SCAN_BUDGET, _FREE_SCANS = maximum.SCAN_BUDGET, maximum.FREE_SCANS
_TREE_STEPS, _TREE_STEPS_PER_STATE = maximum.TREE_STEPS, maximum.TREE_STEPS_PER_STATE

Kernel = Callable[..., int]


# State values and clocks as numbers: a kernel whose free variables are plain numbers can be cached on disk.
_STATE_VALUE = {"minimum": 0, "average": 1, "identity": 2}
_MINIMUM, _AVERAGE, _IDENTITY = 0, 1, 2
_CLOCK = {"constant": 0, "steps": 1, "visits": 2}
_CONSTANT, _STEPS, _VISITS = 0, 1, 2


@compiled
def _minimum(table: Floats, first: Word, n_actions: Word) -> float:
    value = table[first]
    for j in range(U64(1), n_actions):
        value = min(value, table[first + j])
    return value


@compiled
def _average(table: Floats, first: Word, n_actions: Word, policy: Floats) -> float:
    value = policy[first] * table[first]
    for j in range(U64(1), n_actions):
        value += policy[first + j] * table[first + j]
    return value


@compiled
def step_size(scale: float, rate: float, power: float, n: int) -> float:
    """`schedules.StepSize.at`, compiled."""
    base = 1.0 + rate * n
    return scale / base if power == 1.0 else scale * power_of(base, -power)


@inlined
def _update(rule, learner, t, s, a, cost, s_next, a_next, stop, worst):
    """One update in place; returns the new state value V(s)."""
    state_value, clock, sampled_next = rule
    table, V, visits, policy, n_actions, schedule, gamma_R, gamma_b = learner
    first = s if state_value == _IDENTITY else s * n_actions
    entry = s if state_value == _IDENTITY else first + a
    alpha = schedule[0]
    if clock != _CONSTANT:
        n = t
        if clock == _VISITS:
            n = visits[entry]
            visits[entry] = n + 1
        alpha = step_size(schedule[0], schedule[1], schedule[2], n)
    following = table[s_next * n_actions + a_next] if sampled_next else V[s_next]
    if stop:
        following = 0.0
    table[entry] = (1.0 - alpha) * table[entry] + alpha * (cost + gamma_R * worst + gamma_b * following)
    if state_value == _MINIMUM:
        value = _minimum(table, first, n_actions)
    elif state_value == _AVERAGE:
        value = _average(table, first, n_actions, policy)
    else:
        value = table[entry]
    V[s] = value
    return value


@cache
def _fused(state_value: int, clock: int, sampled_next: bool, robust: bool, episodic: bool) -> Kernel:
    """The loop that draws a transition and learns from it, `steps` times."""

    @compiled
    def run(learner, tree, offsets, cost, columns, bits, stream, position, terminal, t, steps):
        rule = (state_value, clock, sampled_next)
        V, n_actions = learner[1], learner[4]
        x0, x1, x2, x3 = stream
        column_bits, action_bits = bits
        action_mask = (U64(1) << action_bits) - U64(1)
        s, a, s_next = U64(position[0]), U64(position[1]), U64(position[2])
        end = t + steps
        worst = 0.0
        while t < end:
            best, bound, scanned, start = U64(0), 0.0, 0, t
            if robust:
                best, worst, bound = best_two(V)
            while t < end:
                pending, x0, x1, x2, x3 = next_outcome(columns, column_bits, s_next, x0, x1, x2, x3)
                a_next = pending & action_mask
                visited, taken = s, a
                s, a, s_next = s_next, a_next, pending >> action_bits
                if episodic and terminal[visited]:
                    continue
                paid, stop = cost[visited * n_actions + taken], episodic and terminal[s]
                value = _update(rule, learner, t, visited, taken, paid, s, a, stop, worst)
                t += 1
                if robust:
                    at_best = visited == best
                    worst = value if at_best else worst
                    if (value < bound) if at_best else (value > worst):
                        if at_best:
                            best, worst, bound = best_two(V)
                            scanned += V.size
                            if scanned > _SCAN_BUDGET * (t - start) + _FREE_SCANS * V.size:
                                break
                        else:
                            best, worst, bound = visited, value, worst
                    else:
                        bound = bound if at_best else max(bound, value)
            if robust and t < end:
                build(tree, offsets, V)
                until = min(end, t + _TREE_STEPS + _TREE_STEPS_PER_STATE * V.size)
                while t < until:
                    pending, x0, x1, x2, x3 = next_outcome(columns, column_bits, s_next, x0, x1, x2, x3)
                    a_next = pending & action_mask
                    visited, taken = s, a
                    s, a, s_next = s_next, a_next, pending >> action_bits
                    if episodic and terminal[visited]:
                        continue
                    paid, stop = cost[visited * n_actions + taken], episodic and terminal[s]
                    _update(rule, learner, t, visited, taken, paid, s, a, stop, worst)
                    t += 1
                    worst = changed(tree, offsets, V, visited)
        stream[0], stream[1], stream[2], stream[3] = x0, x1, x2, x3
        position[0], position[1], position[2] = s, a, s_next
        return t

    return run


@cache
def _replayed(state_value: int, clock: int, sampled_next: bool) -> Kernel:
    """The loop over a recorded trajectory."""

    @compiled
    def run(learner, tree, offsets, s, a, cost, s_next, a_next, terminal, t):
        rule = (state_value, clock, sampled_next)
        V = learner[1]
        build(tree, offsets, V)
        worst = tree[offsets[-2]]
        for i in range(s.size):
            _update(rule, learner, t, U64(s[i]), U64(a[i]), cost[i], U64(s_next[i]), U64(a_next[i]), terminal[i], worst)
            worst = changed(tree, offsets, V, U64(s[i]))
            t += 1
        return t

    return run


def _arguments(learner: "TabularLearner") -> tuple[object, ...]:
    """What every loop needs of a learner; V and the tree are scratch of O(S)."""
    problem = learner.problem
    V = np.full(maximum.padded(problem.n_states), -np.inf)
    V[: problem.n_states] = learner.state_values()
    offsets = maximum.levels(problem.n_states)
    step = problem.step_size
    state = (
        learner.table.reshape(-1), V, learner.visits.reshape(-1), learner.policy.reshape(-1), U64(problem.n_actions),
        (step.scale, step.rate, step.power), *learner.discounts,
    )  # fmt: skip
    return state, np.empty(offsets[-1]), offsets


def _specialisation(learner: "TabularLearner") -> tuple[int, int, bool]:
    rule = learner.rule
    return _STATE_VALUE[rule.state_value], _CLOCK[learner.problem.step_size.clock], rule.sampled_next


def learn(learner: "TabularLearner", walk: "Walk", steps: int) -> None:
    """Advance walk and learner together by `steps` transitions, in place."""
    run = _fused(*_specialisation(learner), learner.discounts[0] > 0.0, bool(walk.terminal.any()))
    bits = (U64(walk.table.column_bits), U64(walk.table.action_bits))
    learner.t = run(
        *_arguments(learner), walk.mdp.cost.reshape(-1), walk.table.columns, bits, walk.stream, walk.position,
        walk.terminal, learner.t, steps,
    )  # fmt: skip


def update_many(learner: "TabularLearner", recording: "Recording") -> None:
    """The updates of a recorded trajectory, in place."""
    run = _replayed(*_specialisation(learner))
    columns = (recording.s, recording.a, recording.cost, recording.s_next, recording.a_next, recording.terminal)
    learner.t = run(*_arguments(learner), *columns, learner.t)
