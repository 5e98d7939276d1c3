"""What an entry of a case must be, by its name: an error names the entry, the rule and the value.

A kind of variant adds rules for entries of its own (`rules` in `properties/kinds`).
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from properties.cases.case import Case
from properties.cases.transition_costs import cost_of
from robust_core import LogSumExp, Mellowmax, StepSize, Transition, UncertaintySet, validate
from robust_core.mdp import MDP
from robust_core.text import one_line, shorten

# Numbers beyond overflow, or vanish, in the squares that a right learner computes; every law stays far within.
LARGEST, SMALLEST = 2.0**256, 2.0**-256
MOST_STEPS = 1 << 16
"""Of a sampler in one call: four times what any law asks for."""
MOST_TABLES = 64
"""Of a learner."""
STREAMS = 1 << 32
"""Of the draws of a learner."""
LONGEST_VALUE = 80


def quote(value: object) -> str:
    """A value as a message quotes it, in one line of reasonable length.

    >>> quote(np.zeros((2, 1))), quote([1] * 100)
    ('[[0.0], [0.0]]', '[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1…')
    """
    if isinstance(value, np.ndarray):
        value = value.tolist()
    return shorten(one_line(repr(value)), LONGEST_VALUE)


def require(right: bool, name: str, rule: str, value: object) -> None:
    """Raise unless it is right, with the name of the entry, the rule and the value."""
    if not right:
        raise ValueError(f"{name} must {rule}, got {quote(value)}")


Rule = Callable[[str, Case], None]


def _is_a(wanted: type | tuple[type, ...], what: str) -> Rule:
    def rule(name: str, case: Case) -> None:
        require(isinstance(case[name], wanted), name, f"be {what}", case[name])

    return rule


def _index(name: str, value: Any, size: int) -> None:
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    require(whole and 0 <= int(value) < size, name, f"be one of 0..{size - 1}", value)


def check_number(name: str, value: Any) -> None:
    """Raise unless it is a number that does not overflow."""
    number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    require(number and abs(value) <= LARGEST, name, "be a number of at most 2^256", value)


def check_floats(name: str, value: Any, shape: Sequence[int | None]) -> None:
    """Raise unless it is an array of floats of this shape (None: any length of at least 1).

    Its numbers neither overflow nor vanish.
    """
    wanted = " x ".join("any" if n is None else str(n) for n in shape)
    rule = f"be an array of floats, {wanted}"
    require(isinstance(value, np.ndarray) and value.dtype == np.float64, name, rule, value)
    fits = value.ndim == len(shape) and all(n in (None, m) for n, m in zip(shape, value.shape, strict=True))
    require(fits and value.size > 0, name, rule, value)
    _check_sizes(name, value)


def _check_sizes(name: str, values: np.ndarray) -> None:
    sizes = np.abs(values)
    wrong = ~((sizes <= LARGEST) & ((sizes >= SMALLEST) | (sizes == 0.0)))
    if wrong.any():
        require(False, name, "hold zeros and numbers from 2^-256 to 2^256 in size", float(values[wrong][0]))


def _set(name: str, case: Case) -> None:
    """A set whose fields have the shapes of the rows."""
    given: Any = case[name]
    require(isinstance(given, UncertaintySet), name, "be an uncertainty set", given)
    mdp: Any = case.get("mdp")
    p: Any = case.get("p")
    if not isinstance(mdp, MDP) and not (isinstance(p, np.ndarray) and p.ndim):
        return
    try:
        given.require_fit(*((mdp.n_states, mdp.cost.shape) if isinstance(mdp, MDP) else (p.shape[-1], p.shape[:-1])))
    except ValueError as error:
        require(False, name, f"fit the rows ({one_line(str(error))})", given)


def _model(name: str, case: Case) -> None:
    require(isinstance(case[name], MDP), name, "be a model", case[name])
    _check_sizes("the costs of mdp", case[name].cost)


def check_step_size(name: str, case: Case) -> None:
    """Raise unless it is a step size."""
    require(isinstance(case[name], StepSize), name, "be a step size", case[name])


def _policy(name: str, case: Case) -> None:
    check_floats(name, case[name], case["mdp"].cost.shape)
    validate.distribution_rows(name, case[name])


def check_full_policy(name: str, case: Case) -> None:
    """Raise unless it is a policy that takes every action."""
    _policy(name, case)
    require(bool((case[name] > 0.0).all()), name, "take every action", case[name])


def _features(name: str, case: Case) -> None:
    check_floats(name, case[name], (case["mdp"].n_states, None))


def _table(name: str, case: Case) -> None:
    """A table (S, A), or values of states where the set is s-rectangular."""
    by_state = getattr(case.get("uncertainty_set"), "by_state", False)
    check_floats(name, case[name], case["mdp"].cost.shape[:1] if by_state else case["mdp"].cost.shape)


def _tables(name: str, case: Case) -> None:
    _index(name, case[name], MOST_TABLES + 1)
    require(case[name] > 0, name, "be positive", case[name])


def _initial(name: str, case: Case) -> None:
    """One table, or several along the first axis."""
    first = (case["tables"],) if "tables" in case else ()
    check_floats(name, case[name], (*first, *case["mdp"].cost.shape))


def _dearer(name: str, case: Case) -> None:
    _table(name, case)
    require(bool((case[name] >= 0.0).all()), name, "not be negative", case[name])


def _other(name: str, case: Case) -> None:
    """A second one of what the case has already."""
    first = next(each for each in ("Q", "initial", "v", "V", "theta") if each in case)
    check_floats(name, case[name], case[first].shape)


def _values(name: str, case: Case) -> None:
    check_floats(name, case[name], (None,))


def _nominal(name: str, case: Case) -> None:
    """A row on as many outcomes as there are values, or rows of rows."""
    value = case[name]
    axes = (None,) * (np.ndim(value) - 1) if np.ndim(value) > 1 else ()
    check_floats(name, value, (*axes, len(case["v"])))
    validate.distribution_rows(name, value)


def _state(name: str, case: Case) -> None:
    _index(name, case[name], case["mdp"].n_states)


def _action(name: str, case: Case) -> None:
    _index(name, case[name], case["mdp"].n_actions)


def _steps(name: str, case: Case) -> None:
    value = case[name]
    whole = isinstance(value, int) and not isinstance(value, bool)
    require(whole and 0 <= value <= MOST_STEPS, name, f"be a whole number from 0 to {MOST_STEPS}", value)


def _number(name: str, case: Case) -> None:
    check_number(name, case[name])


def _factor(name: str, case: Case) -> None:
    check_number(name, case[name])
    require(case[name] >= 0.0, name, "not be negative", case[name])


def _probability(name: str, case: Case) -> None:
    check_number(name, case[name])
    require(0.0 <= case[name] <= 1.0, name, "be a probability", case[name])


def _stream(name: str, case: Case) -> None:
    _index(name, case[name], STREAMS)


def _larger(name: str, case: Case) -> None:
    """A radius, such as the set itself allows; 0 if it has none."""
    check_number(name, case[name])
    uncertainty_set: UncertaintySet = case["uncertainty_set"]
    if "radius" not in uncertainty_set.axes:
        require(case[name] == 0.0, name, f"be 0, as {type(uncertainty_set).__name__} has no radius", case[name])
        return
    try:
        uncertainty_set.with_radius(case[name])
    except Exception as error:  # whatever the set of a variant's own module has against it
        require(False, name, f"be a radius of {type(uncertainty_set).__name__} ({one_line(str(error))})", case[name])


def _path(name: str, case: Case) -> None:
    """Steps that can happen, at the costs of the model: what a learner can meet on a trajectory."""
    path, mdp, policy = case[name], case["mdp"], case.get("policy")
    require(isinstance(path, (list, tuple)), name, "be a list of steps", path)
    for number, step in enumerate(path, start=1):
        where = f"{name}, step {number}"
        fields = Transition._fields
        right = isinstance(step, (list, tuple)) and len(step) == len(fields)
        require(right, where, f"have the {len(fields)} fields {', '.join(fields)}", step)
        s, a, cost, s_next, a_next, terminal = step
        for field, value, size in (
            ("s", s, mdp.n_states),
            ("a", a, mdp.n_actions),
            ("s_next", s_next, mdp.n_states),
            ("a_next", a_next, mdp.n_actions),
        ):
            _index(f"{where}: {field}", value, size)
        check_number(f"{where}: cost", cost)
        own = cost_of(mdp, case.get("swing"), s, a, s_next) if _can_follow(mdp, s, a, s_next) else float(mdp.cost[s, a])
        require(cost == own, f"{where}: cost", f"be {own!r}, as in the model", cost)
        require(isinstance(terminal, bool), f"{where}: terminal", "be true or false", terminal)
        require(_can_follow(mdp, s, a, s_next), f"{where}: s_next", f"be possible after (s={s}, a={a})", s_next)
        if policy is not None:
            require(policy[s, a] > 0.0, f"{where}: a", f"be an action of the policy in state {s}", a)
            require(policy[s_next, a_next] > 0.0, f"{where}: a_next", f"be an action of the policy in {s_next}", a_next)


def _can_follow(mdp: MDP, s: int, a: int, s_next: int) -> bool:
    """Whether p(s_next|s,a) > 0; a sparse kernel is not made dense for it."""
    kernel = mdp.kernel
    if isinstance(kernel, np.ndarray):
        return bool(kernel[s, a, s_next] > 0.0)
    row = s * mdp.n_actions + a
    part = slice(int(kernel.offsets[row]), int(kernel.offsets[row + 1]))
    return bool(kernel.probabilities[part][kernel.successors[part] == s_next].sum() > 0.0)


# In this order: what an entry must be may depend on the entries before it.
RULES: dict[str, Rule] = {
    "mdp": _model,
    "uncertainty_set": _set,
    "step_size": check_step_size,
    "second_step_size": check_step_size,
    "smoothing": _is_a((LogSumExp, Mellowmax), "a smooth maximum"),
    "policy": _policy,
    "features": _features,
    "tables": _tables,
    "initial": _initial,
    "swing": _number,
    "Q": _table,
    "dearer": _dearer,
    "v": _values,
    "p": _nominal,
    "other": _other,
    "s": _state,
    "a": _action,
    "start": _state,
    "steps": _steps,
    "shift": _number,
    "factor": _factor,
    "larger": _larger,
    "ends": _probability,
    "ending": _is_a(bool, "true or false"),
    "coins": _stream,
    "path": _path,
}
