"""The compiled loop of the tabular learners: walk and update fused (plain form: `tabular`, `trajectory`).

The arithmetic of every update is that of `tabular.robust_update`, operation by operation, so the two give the
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
from robust_core.kernels.walk import U64, Word, arguments, entered, left, moved
from robust_core.validate import Floats

if TYPE_CHECKING:
    from robust_core.learners.tabular import TabularLearner
    from robust_core.trajectory import Recording, Walk

_SCAN_BUDGET, _SCAN_START, _FREE_SCANS = maximum.SCAN_BUDGET, maximum.SCAN_START, maximum.FREE_SCANS
_TREE_STEPS, _TREE_STEPS_PER_STATE = maximum.TREE_STEPS, maximum.TREE_STEPS_PER_STATE

Kernel = Callable[..., int]


# State values and clocks as numbers: a kernel whose free variables are plain numbers can be cached on disk.
_STATE_VALUE = {"minimum": 0, "average": 1, "identity": 2}
_MINIMUM, _AVERAGE, _IDENTITY = 0, 1, 2
_CLOCK = {"constant": 0, "steps": 1, "visits": 2}
_CONSTANT, _STEPS, _VISITS = 0, 1, 2


# How the minimum of the other actions is found, by their number.
_FEW, _FOUR, _MANY = 0, 1, 2


@inlined
def _least_of_other_three(table: Floats, first: Word, a: Word) -> float:
    """The minimum of a row of four without entry a: a^1, a^2 and a^3 are the others, and nothing is written first."""
    return min(table[first + (a ^ U64(1))], min(table[first + (a ^ U64(2))], table[first + (a ^ U64(3))]))  # noqa: PLW3301 - pairs


@inlined
def _least_of_four(table: Floats, first: Word) -> float:
    low = min(table[first], table[first + U64(1)])
    return min(low, min(table[first + U64(2)], table[first + U64(3)]))  # noqa: PLW3301 - two independent halves


@inlined
def _least_of_many(table: Floats, first: Word, end: Word) -> float:
    """The minimum of four entries or more: the last four, and fours from the front (some entries count twice)."""
    value = _least_of_four(table, end - U64(4))
    while first + U64(4) < end:
        value = min(value, _least_of_four(table, first))
        first += U64(4)
    return value


@inlined
def _least_of_few(table: Floats, first: Word, end: Word) -> float:
    value = table[first]
    for j in range(first + U64(1), end):
        value = min(value, table[j])
    return value


@inlined
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
    state_value, clock, sampled_next, breadth = rule
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
    before, rest = table[entry], np.inf
    # The minimum of the other actions does not wait for the new entry, as that of the finished row would.
    if state_value == _MINIMUM and breadth == _FOUR:
        rest = _least_of_other_three(table, first, a)
    elif state_value == _MINIMUM:
        table[entry] = np.inf
        end = first + n_actions
        rest = _least_of_many(table, first, end) if breadth == _MANY else _least_of_few(table, first, end)
    value = (1.0 - alpha) * before + alpha * (cost + gamma_R * worst + gamma_b * following)
    table[entry] = value
    if state_value == _MINIMUM:
        value = min(value, rest)
    elif state_value == _AVERAGE:
        value = _average(table, first, n_actions, policy)
    V[s] = value
    return value


@cache
def _fused(state_value: int, clock: int, sampled_next: bool, breadth: int, robust: bool, episodic: bool) -> Kernel:
    """The loop that draws a transition and learns from it, `steps` times."""

    @compiled
    def run(learner, tree, cost, terminal, t, steps, columns, bits, position, stream):
        rule = (state_value, clock, sampled_next, breadth)
        V, n_actions = learner[1], learner[4]
        walker = entered(position, stream)
        end = t + steps
        best, worst, bound, scan = U64(0), 0.0, 0.0, V.size + _SCAN_START
        while t < end:
            scanned, start = 0, t
            if robust:
                best, bound = best_two(V)
            while t < end:
                visited, value = U64(0), 0.0
                while t < end:
                    visited, taken = walker[0], walker[1]
                    walker = moved(columns, bits, walker)
                    if episodic and terminal[visited]:
                        continue
                    s, a = walker[0], walker[1]
                    paid, stop = cost[visited * n_actions + taken], episodic and terminal[s]
                    if robust:
                        worst = V[best]
                    value = _update(rule, learner, t, visited, taken, paid, s, a, stop, worst)
                    t += 1
                    # One branch that is hardly ever taken: the best state fell, or another one rose, past the bound.
                    if robust and (visited == best) != (value > bound):
                        break
                if robust:
                    if visited == best:
                        if value < bound:
                            best, bound = best_two(V)
                            scanned += scan
                            if scanned > _SCAN_BUDGET * (t - start) + _FREE_SCANS * scan:
                                break
                    elif value > worst:
                        best, bound = visited, worst
                    elif value > bound:
                        bound = value
            if robust and t < end:
                build(tree)
                worst = tree[1]
                until = min(end, t + _TREE_STEPS + _TREE_STEPS_PER_STATE * V.size)
                while t < until:
                    visited, taken = walker[0], walker[1]
                    walker = moved(columns, bits, walker)
                    if episodic and terminal[visited]:
                        continue
                    s, a = walker[0], walker[1]
                    paid, stop = cost[visited * n_actions + taken], episodic and terminal[s]
                    value = _update(rule, learner, t, visited, taken, paid, s, a, stop, worst)
                    t += 1
                    worst = changed(tree, visited, value)
        left(walker, position, stream)
        return t

    return run


@cache
def _replayed(state_value: int, clock: int, sampled_next: bool, breadth: int) -> Kernel:
    """The loop over a recorded trajectory."""

    @compiled
    def run(learner, tree, s, a, cost, s_next, a_next, terminal, t):
        rule = (state_value, clock, sampled_next, breadth)
        build(tree)
        worst = tree[1]
        for i in range(s.size):
            visited, s_i = U64(s[i]), U64(s_next[i])
            value = _update(rule, learner, t, visited, U64(a[i]), cost[i], s_i, U64(a_next[i]), terminal[i], worst)
            worst = changed(tree, visited, value)
            t += 1
        return t

    return run


def _arguments(learner: "TabularLearner") -> tuple[object, ...]:
    """What every loop needs of a learner; V and the tree are scratch of O(S)."""
    problem = learner.problem
    tree, V = maximum.planted(learner.state_values())
    step = problem.step_size
    state = (
        learner.table.reshape(-1), V, learner.visits.reshape(-1), learner.policy.reshape(-1), U64(problem.n_actions),
        (step.scale, step.rate, step.power), *learner.discounts,
    )  # fmt: skip
    return state, tree


def _specialisation(learner: "TabularLearner") -> tuple[int, int, bool, int]:
    rule, breadth = learner.rule, _FEW
    if rule.state_value == "minimum" and learner.problem.n_actions >= 4:
        breadth = _FOUR if learner.problem.n_actions == 4 else _MANY
    return _STATE_VALUE[rule.state_value], _CLOCK[learner.problem.step_size.clock], rule.sampled_next, breadth


def learn(learner: "TabularLearner", walk: "Walk", steps: int) -> None:
    """Advance walk and learner together by `steps` transitions, in place."""
    run = _fused(*_specialisation(learner), learner.discounts[0] > 0.0, bool(walk.terminal.any()))
    cost = walk.mdp.cost.reshape(-1)
    learner.t = run(*_arguments(learner), cost, walk.terminal, learner.t, steps, *arguments(walk))


def update_many(learner: "TabularLearner", recording: "Recording") -> None:
    """The updates of a recorded trajectory, in place."""
    run = _replayed(*_specialisation(learner))
    columns = (recording.s, recording.a, recording.cost, recording.s_next, recording.a_next, recording.terminal)
    learner.t = run(*_arguments(learner), *columns, learner.t)
