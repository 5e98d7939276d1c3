"""What a case of a law is: the rules that the case in a file is held to before anything is judged.

A judge takes its case on trust, because the law's own generator made it. A file may hold anything: a state that is not
there makes a right variant raise, an impossible step or a cost that the model does not have makes a true relation fail,
and the variant would be blamed for it. So whatever a law could not have made is refused, by the entry and the rule.

Which entries there are follows from the type of the case and the signature of the judge, what they must be from their
names; the hypotheses of a law are its fields.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from properties.cases.case import Case, LawCase
from properties.cases.choices import SMOOTHINGS
from properties.cases.generator import estimates, inside
from properties.cases.kinds import CASES
from properties.cases.sources import Designed
from properties.laws.law import Law
from robust_core import LogSumExp, Mellowmax, StepSize, Transition, UncertaintySet, validate
from robust_core.mdp import MDP
from robust_core.problem import Kind, Variant
from robust_core.text import one_line, shorten

# Numbers beyond overflow, or vanish, in the squares that a right learner computes; every law stays far within.
LARGEST, SMALLEST = 2.0**256, 2.0**-256
MOST_STEPS = 1 << 16
"""Of a sampler in one call: four times what any law asks for."""
LONGEST_VALUE = 80


def read(law: Law, entries: Case, variant: Variant | None = None) -> LawCase:
    """The case of the law that has these entries; a `ValueError` names the entry, its value and the rule it breaks.

    With `variant` it must be one of those that this variant is for.

    >>> from properties.laws.catalogue import LAWS
    >>> law = next(law for law in LAWS if law.name == "optimum")
    >>> model = MDP([[[1.0]]], [[0.0]], 0.5)
    >>> read(law, {"mdp": model, "uncertainty_set": 3})
    Traceback (most recent call last):
    ValueError: uncertainty_set must be an uncertainty set, got 3
    """
    kind = _kind(law, entries)
    check_names(law.name, entries, *_names(law, kind))
    for name, rule in RULES.items():
        if name in entries:
            rule(name, entries, kind)
    check_hypotheses(law, entries)
    if variant is not None:
        _check_variant(law, entries, kind, variant)
    return CASES[kind].case.of(entries)


# --- which entries there are


def _kind(law: Law, entries: Case) -> Kind:
    """The kind of variant that the case is for, of those that the law speaks of: that with most of the entries."""
    return max(law.kinds, key=lambda kind: len(entries.keys() & CASES[kind].case.names()))


def _names(law: Law, kind: Kind) -> tuple[frozenset[str], frozenset[str]]:
    """The entries that a case has, and those that it may have."""
    case = CASES[kind].case
    may = frozenset(case.names()) - case.needed()
    return case.needed() | law.beside, may - {"projection"} if law.unprojected else may


def check_names(what: str, case: Case, needed: Iterable[str], allowed: Iterable[str] = ()) -> None:
    """Raise unless the case has the entries that it needs, and no others but the allowed ones."""
    has = f"a case of {what!r} has {', '.join(sorted(needed))}"
    if missing := sorted(set(needed) - case.keys()):
        raise ValueError(f"{missing[0]} is missing; {has}")
    if extra := sorted(case.keys() - set(needed) - set(allowed)):
        raise ValueError(f"{extra[0]} must not be there, got {said(case[extra[0]])}; {has}")


# --- what an entry must be


def said(value: object) -> str:
    """A value as a message quotes it, in one line of reasonable length.

    >>> said(np.zeros((2, 1))), said([1] * 100)
    ('[[0.0], [0.0]]', '[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1…')
    """
    if isinstance(value, np.ndarray):
        value = value.tolist()
    return shorten(one_line(repr(value)), LONGEST_VALUE)


def require(right: bool, name: str, rule: str, value: object) -> None:
    """Raise unless it is right, with the name of the entry, the rule and the value."""
    if not right:
        raise ValueError(f"{name} must {rule}, got {said(value)}")


Rule = Callable[[str, Case, Kind], None]


def _is_a(wanted: type | tuple[type, ...], what: str) -> Rule:
    def rule(name: str, case: Case, kind: Kind) -> None:
        require(isinstance(case[name], wanted), name, f"be {what}", case[name])

    return rule


def _index(name: str, value: Any, size: int) -> None:
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    require(whole and 0 <= int(value) < size, name, f"be one of 0..{size - 1}", value)


def _real(name: str, value: Any) -> None:
    number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    require(number and abs(value) <= LARGEST, name, "be a number of at most 2^256", value)


def _floats(name: str, value: Any, shape: Sequence[int | None]) -> None:
    """An array of floats of a shape (None: any length of at least 1), whose numbers neither overflow nor vanish."""
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


def _model(name: str, case: Case, kind: Kind) -> None:
    require(isinstance(case[name], MDP), name, "be a model", case[name])
    _check_sizes("the costs of mdp", case[name].cost)


def _step_size(name: str, case: Case, kind: Kind) -> None:
    require(isinstance(case[name], StepSize), name, "be a step size", case[name])
    if kind == "linear evaluation":
        require(case[name].clock != "visits", name, "not count visits, which linear evaluation has none of", case[name])


def _policy(name: str, case: Case, kind: Kind) -> None:
    _floats(name, case[name], case["mdp"].cost.shape)
    validate.distribution_rows(name, case[name])


def _features(name: str, case: Case, kind: Kind) -> None:
    _floats(name, case[name], (case["mdp"].n_states, None))


def _initial(name: str, case: Case, kind: Kind) -> None:
    """theta (N,), Q (S,A), or, where a policy is evaluated, V (S,)."""
    if kind == "linear evaluation":
        _floats(name, case[name], case["features"].shape[1:])
    else:
        axes = 1 if kind == "evaluation" and np.ndim(case[name]) == 1 else 2
        _floats(name, case[name], case["mdp"].cost.shape[:axes])


def _table(name: str, case: Case, kind: Kind) -> None:
    _floats(name, case[name], case["mdp"].cost.shape)


def _dearer(name: str, case: Case, kind: Kind) -> None:
    _table(name, case, kind)
    require(bool((case[name] >= 0.0).all()), name, "not be negative", case[name])


def _other(name: str, case: Case, kind: Kind) -> None:
    """A second one of what the case has already."""
    first = next(each for each in ("Q", "initial", "v", "V", "theta") if each in case)
    _floats(name, case[name], case[first].shape)


def _values(name: str, case: Case, kind: Kind) -> None:
    _floats(name, case[name], (None,))


def _nominal(name: str, case: Case, kind: Kind) -> None:
    """A row on as many outcomes as there are values, or rows of rows."""
    value = case[name]
    axes = (None,) * (np.ndim(value) - 1) if np.ndim(value) > 1 else ()
    _floats(name, value, (*axes, len(case["v"])))
    validate.distribution_rows(name, value)


def _projection(name: str, case: Case, kind: Kind) -> None:
    K = case[name]
    _real(name, K)
    require(K >= SMALLEST, name, "be positive", K)
    start = case["initial"]
    require(inside(start, K) is start, "initial", f"lie well within the ball of radius {K!r}, the projection", start)


def _state(name: str, case: Case, kind: Kind) -> None:
    _index(name, case[name], case["mdp"].n_states)


def _action(name: str, case: Case, kind: Kind) -> None:
    _index(name, case[name], case["mdp"].n_actions)


def _steps(name: str, case: Case, kind: Kind) -> None:
    value = case[name]
    whole = isinstance(value, int) and not isinstance(value, bool)
    require(whole and 0 <= value <= MOST_STEPS, name, f"be a whole number from 0 to {MOST_STEPS}", value)


def _number(name: str, case: Case, kind: Kind) -> None:
    _real(name, case[name])


def _factor(name: str, case: Case, kind: Kind) -> None:
    _real(name, case[name])
    require(case[name] >= 0.0, name, "not be negative", case[name])


def _larger(name: str, case: Case, kind: Kind) -> None:
    """A radius, such as the set itself allows."""
    _real(name, case[name])
    of_the_kind: Any = type(case["uncertainty_set"])
    try:
        of_the_kind(case[name])
    except Exception as error:  # whatever the set of a variant's own module has against it
        require(False, name, f"be a radius of {of_the_kind.__name__} ({one_line(str(error))})", case[name])


def _path(name: str, case: Case, kind: Kind) -> None:
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
        _real(f"{where}: cost", cost)
        own = float(mdp.cost[s, a])
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
    "uncertainty_set": _is_a(UncertaintySet, "an uncertainty set"),
    "step_size": _step_size,
    "second_step_size": _step_size,
    "smoothing": _is_a((LogSumExp, Mellowmax), "a smooth maximum"),
    "policy": _policy,
    "features": _features,
    "initial": _initial,
    "Q": _table,
    "dearer": _dearer,
    "v": _values,
    "p": _nominal,
    "other": _other,
    "projection": _projection,
    "s": _state,
    "a": _action,
    "start": _state,
    "steps": _steps,
    "shift": _number,
    "factor": _factor,
    "larger": _larger,
    "path": _path,
}


# --- what a law asks of its cases beside


def check_hypotheses(law: Law, entries: Case) -> None:
    """Raise unless the case is one of which the law speaks."""
    if "p" in entries:
        require(entries["p"].ndim == law.axes, "p", f"have {law.axes} axes", entries["p"])
    if law.endless:
        for number, step in enumerate(entries["path"], start=1):
            require(not step[5], f"path, step {number}: terminal", "be false for this law", step[5])
    if law.deterministic:
        chances = entries["mdp"].rows.probabilities
        require(bool(np.isin(chances, (0.0, 1.0)).all()), "mdp", "be deterministic for this law", chances)
        policy = entries.get("policy", np.ones(1))
        require(bool(np.isin(policy, (0.0, 1.0)).all()), "policy", "be deterministic for this law", policy)
    if isinstance(law.cases, Designed):
        _check_design(law, law.cases, entries)


def _check_design(law: Law, designed: Designed, entries: Case) -> None:
    """Raise unless it is one of the law's own problems, for which alone its judge is right."""
    designs = [case.entries() for case in designed.make()]
    differing = min(
        ([name for name in design if not _equal(entries[name], design[name])] for design in designs), key=len
    )
    if differing:
        rule = f"be that of a problem of {law.name!r}, which is right for its own alone"
        require(False, differing[0], rule, entries[differing[0]])


def _equal(value: Any, other: Any) -> bool:
    return np.array_equal(value, other) if isinstance(other, np.ndarray) else bool(value == other)


def _check_variant(law: Law, case: Case, kind: Kind, variant: Variant) -> None:
    """Raise unless the variant is for such cases."""
    its = f"for {variant.name!r}"
    if variant.kind not in law.kinds:
        raise ValueError(f"the law must be {its} of kind {variant.kind!r}, got {law.name!r} of {', '.join(law.kinds)}")
    if len(law.kinds) > 1 and kind != variant.kind:
        raise ValueError(f"the case must be one {its} of kind {variant.kind!r}, got one of kind {kind!r}")
    if kind in ("control", "evaluation"):
        axes = 2 if estimates(variant) == "Q" else 1
        require(case["initial"].ndim == axes, "initial", f"have {axes} axes {its}", case["initial"])
    if "uncertainty_set" in case:
        uncertainty_set = case["uncertainty_set"]
        kinds = [cls.kind for cls in law.sets_of(variant)]
        require(
            uncertainty_set.kind in kinds, "uncertainty_set", f"be one of {', '.join(kinds)} {its}", uncertainty_set
        )
        radii, radius = variant.options.get("radii"), getattr(uncertainty_set, "radius", None)
        require(radii is None or radius in radii, "uncertainty_set", f"have a radius of {radii} {its}", uncertainty_set)
    smoothing = SMOOTHINGS.get(variant.options.get("smoothing", ""), object)
    if "smoothing" in case:
        require(
            isinstance(case["smoothing"], smoothing), "smoothing", f"be {smoothing.__name__} {its}", case["smoothing"]
        )
