"""The shrinker of the laws: it makes a counterexample small and plain as long as it remains one.

It works on the values of a case, not on the choices they were drawn by, so that it can take a state out of the middle
of a model, and also reduces large instances, which are not drawn. The passes try fewer steps, states and actions, rows
with one successor, and plain numbers. Each tries much at once, then halves, quarters, …, and goes on from where it
succeeded; all are repeated until none of them has anything to take away.
"""

import json
import os
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias, TypeVar

import numpy as np

from properties.cases.case import Case
from properties.cases.codec import encode
from properties.cases.transition_costs import at_cost, cost_of
from properties.kinds import own_tables
from properties.kinds.linear_evaluation import inside
from properties.process.idleness import Idleness
from robust_core import LogSumExp, Mellowmax, StepSize, constant, per_visit, polynomial
from robust_core.mdp import MDP
from robust_core.sets import UncertaintySet
from robust_core.validate import Floats

# Arrays with one row a state (and one column an action); `initial` is one unless there are features.
TABLES = ("initial", "other", "dearer", "Q", *own_tables())
VALUES = (*TABLES, "features", "v", "theta")
POLICIES = ("policy", "behaviour")
# How many states or actions are tried as the heir of one that goes.
HEIRS = 4
# Beyond MANY steps no single one is taken out of the middle of a path, only whole parts, down to one of PARTS.
MANY, PARTS = 40, 16
# Discounts and step sizes that are easy to follow by hand.
GAMMAS = (0.0, 0.5, 0.9)
STEP_SIZES = (
    constant(1.0),
    constant(0.5),
    polynomial(1.0, rate=1.0, power=1.0),
    per_visit(1.0, rate=1.0, power=1.0),
)
VARRHO = 1.0
# Shares of a row, finest last: multiples of 1/4, 1/16, … have few digits and sum to 1 in floats.
SHARES = (4, 16, 64, 256)
# Digits of a number that are kept, fewest first.
DIGITS = (1, 2, 4)

MOST_WORK = 3000
"""How much is tried in all, in small cases (see `work`), each of which takes about a millisecond."""
ENTRIES, STEPS = 5000, 20
"""So many entries of a kernel, or steps of a path, take about as long to judge as a small case."""
MOST_SECONDS = 20.0
"""At work or idle, for variants so slow that MOST_WORK would take longer. Only their cases depend on the machine."""

Pass: TypeAlias = Generator[Case, bool, None]
T = TypeVar("T")


class Budget:
    """The work and the time that are left for reductions; several cases may share one."""

    def __init__(self) -> None:
        self.work, self.clock = float(MOST_WORK), Idleness(os.getpid(), MOST_SECONDS)

    def allows(self, case: Case) -> bool:
        """Whether the case can still be tried; its work is subtracted."""
        self.work -= work(case)
        return self.work >= 0.0 and self.has_time()

    def has_time(self) -> bool:
        """Whether there is time left; a wait for the processor does not count."""
        return self.clock.look() + self.clock.work_seconds() <= MOST_SECONDS


def reduce(case: Case, fails: Callable[[Case], bool], budget: Budget | None = None) -> Case:
    """The case after every reduction that leaves it one that `fails`; the same case gives the same result."""
    budget = Budget() if budget is None else budget
    habits = _habits(case)
    before = None
    while before is not case:
        before = case
        for each in PASSES:
            tries = each(case)
            candidate = next(tries, None)
            while candidate is not None:
                accepted = False
                if _possible(candidate, habits):
                    if not budget.allows(candidate):
                        return case
                    accepted = fails(candidate)
                if accepted:
                    case = candidate
                candidate = _next(tries, accepted)
    return case


def _next(tries: Pass, accepted: bool) -> Case | None:
    try:
        return tries.send(accepted)
    except StopIteration:
        return None


def smaller(case: Case) -> Iterator[Case]:
    """All that is tried of a case as long as nothing succeeds; every one is a possible case of the same laws."""
    habits = _habits(case)
    return (candidate for each in PASSES for candidate in each(case) if _possible(candidate, habits))


def work(case: Case) -> float:
    """What judging the case costs, in units of a small one: an entry of the kernel, or a step, is a part of that."""
    mdp: MDP | None = case.get("mdp")
    entries = np.size(case.get("p", 0.0)) if mdp is None else mdp.n_states**2 * mdp.n_actions
    return 1.0 + entries / ENTRIES + len(case.get("path", ())) / STEPS


def size(case: Case) -> tuple[int, ...]:
    """The order by which one counterexample is smaller than another, as tuples are compared.

    States (or outcomes), actions (or rows), steps, possible moves, numbers other than zero.

    >>> size({"v": np.array([1.0, 0.0]), "p": np.array([1.0, 0.0])})
    (2, 1, 0, 1, 1)
    """
    mdp: MDP | None = case.get("mdp")
    p = np.atleast_2d(case.get("p", 0.0))
    S, A = (p.shape[-1], p.size // p.shape[-1]) if mdp is None else (mdp.n_states, mdp.n_actions)
    rows = [p if mdp is None else mdp.rows.probabilities, case.get("policy", np.zeros(0))]
    values = [np.zeros(0) if mdp is None else mdp.cost, *(case[name] for name in VALUES if name in case)]
    steps = len(case.get("path", ())) + int(case.get("steps", 0))
    moves, numbers = (sum(int(np.count_nonzero(each)) for each in part) for part in (rows, values))
    return S, A, steps, moves, numbers


def length(case: Case) -> int:
    """The characters of the case in a file: of two cases of one size the plainer one has fewer."""
    return len(json.dumps({name: encode(value) for name, value in case.items()}))


@dataclass(frozen=True)
class _Habits:
    """What is so on a path, and stays so: each step begins where the last one ended; a pair ends episodes or not."""

    chained: bool = False
    sure: bool = False


def _habits(case: Case) -> _Habits:
    return _Habits(_possible(case, _Habits(chained=True)), _possible(case, _Habits(sure=True)))


def _sure(case: Case) -> bool:
    """Whether nothing is left to chance, the ends of episodes included."""
    path = case.get("path", [])
    if not path or not np.isin(case["mdp"].rows.probabilities, (0.0, 1.0)).all():
        return False
    return len({(s, a, end) for s, a, _, _, _, end in path}) == len({(s, a) for s, a, *_ in path})


def _possible(case: Case, habits: _Habits) -> bool:
    """Whether the start is within the ball of projection, and the path, if there is one, is one of the model:

    each step can happen, and the habits of the path are kept.
    """
    if case.get("uncertainty_set", True) is None:
        return False
    if habits.sure and case.get("path", []) and not _sure(case):
        return False
    for name in ("projection", "second_projection"):
        if name in case and inside(case["initial"], case[name]) is not case["initial"]:
            return False
    path = case.get("path", [])
    mdp, policy = case.get("mdp"), case.get("behaviour", case.get("policy"))
    for number, (s, a, cost, s_next, a_next, _) in enumerate(path):
        assert mdp is not None
        linked = not habits.chained or number + 1 == len(path) or tuple(path[number + 1][:2]) == (s_next, a_next)
        taken = policy is None or (policy[s, a] > 0.0 and policy[s_next, a_next] > 0.0)
        if not (linked and taken and mdp.P[s, a, s_next] > 0.0):
            return False
        if cost != cost_of(mdp, case.get("swing"), s, a, s_next):
            return False
    return True


def _parts(n: int, finest: int = 1) -> Iterator[range]:
    """Halves of n things, then quarters, … down to parts of `finest`, the last things first."""
    chunk = max(n // 2, 1)
    while chunk >= finest:
        yield from (range(start, min(start + chunk, n)) for start in reversed(range(0, n, chunk)))
        if chunk == 1:
            return
        chunk = max(chunk // 2, 1)


# Fewer steps, states and actions.


def _truncated(case: Case) -> Pass:
    """Without the end of the path."""
    path = list(case.get("path", []))
    cut = len(path)
    while cut > 0:
        rest = path[: len(path) - cut]
        path, cut = (rest, min(cut, len(rest))) if (yield case | {"path": rest}) else (path, cut // 2)


def _shorter(case: Case) -> Pass:
    """Without a part of the path; without a single step, where there are not many."""
    path = list(case.get("path", []))
    n = len(path)
    for part in _parts(n, 1 if n <= MANY else n // PARTS):
        rest = path[: part.start] + path[part.stop :]
        if len(rest) < len(path) and (yield case | {"path": rest}):
            path = rest
    while case.get("steps", 0) > 1 and (yield case | {"steps": case["steps"] // 2}):
        case = case | {"steps": case["steps"] // 2}


def _fewer_ends(case: Case) -> Pass:
    """Without an end of an episode; then without those of a part of the path."""
    path = list(case.get("path", []))
    # Where a pair ends episodes or not, all its visits go together.
    pairs = list(dict.fromkeys(tuple(step[:2]) for step in path))
    groups = [pairs.index(tuple(step[:2])) for step in path] if _sure(case) else list(range(len(path)))
    number = max(groups, default=-1) + 1
    for part in [range(number), *_parts(number)]:
        if any(step[5] for step, group in zip(path, groups, strict=True) if group in part):
            rest = [(*step[:5], step[5] and group not in part) for step, group in zip(path, groups, strict=True)]
            if (yield case | {"path": rest}):
                path = rest


def _fewer(case: Case, number: int, without: Callable[[Case, range], Iterator[Case]]) -> Pass:
    """Without the parts of so many things, one after the other, each in the first of its ways that succeeds."""
    for part in _parts(number):
        for less in without(case, part):
            if (yield less):
                case = less
                break


def _fewer_states(case: Case) -> Pass:
    """The mass that went to them stays where it was, or goes to another state, which takes their part on the path."""
    if "mdp" in case:
        yield from _fewer(case, case["mdp"].n_states, _without_states)


def _without_states(case: Case, gone: range) -> Iterator[Case]:
    mdp: MDP = case["mdp"]
    S = mdp.n_states
    if gone.stop > S or len(gone) == S:
        return
    kept = np.delete(np.arange(S), gone)
    home = np.arange(len(kept))
    used = any(case.get(name) in gone for name in ("s", "start")) or _visits(case, gone, (0, 3))
    heirs = range(len(kept))[: HEIRS if len(gone) == 1 else 1]
    lost = mdp.P[kept][:, :, list(gone)].sum(axis=2)
    for heir in [*([] if used else [None]), *heirs]:
        P = mdp.P[np.ix_(kept, np.arange(mdp.n_actions), kept)]
        P[home, :, home if heir is None else heir] += lost
        less = dict(case, mdp=_model(mdp, P, mdp.cost[kept])) | _selected(case, kept.tolist(), range(mdp.n_actions))
        for name in (*_tables(case), *POLICIES, "features"):
            if name in case:
                less[name] = np.take(case[name], kept, axis=_first_axis(case, name))
        yield _renumbered(less, gone, heir, ("s", "start"), (0, 3))


def _fewer_actions(case: Case) -> Pass:
    """Their probability goes to another action, which takes their part on the path too, and perhaps as the lowest."""
    if "mdp" in case:
        yield from _fewer(case, case["mdp"].n_actions, _without_actions)


def _without_actions(case: Case, gone: range) -> Iterator[Case]:
    mdp: MDP = case["mdp"]
    if gone.stop > mdp.n_actions or len(gone) == mdp.n_actions:
        return
    kept = np.delete(np.arange(mdp.n_actions), gone)
    heirs = range(len(kept))[: HEIRS if len(gone) == 1 else 1]
    for heir, lowest in product(heirs, (False, True)):
        less = dict(case, mdp=_model(mdp, mdp.P[:, kept], mdp.cost[:, kept]))
        less |= _selected(case, range(mdp.n_states), kept.tolist())
        for name in _tables(case):
            if case[name].ndim == 2 + _first_axis(case, name):
                less[name] = case[name][..., kept]
                if lowest:
                    less[name][..., heir] = case[name][..., [kept[heir], *gone]].min(axis=-1)
        if "features" in case and case["features"].ndim == 3:
            less["features"] = case["features"][:, kept]
        for name in POLICIES:
            if name in case:
                less[name] = case[name][:, kept]
                less[name][:, heir] += case[name][:, list(gone)].sum(axis=1)
        yield _renumbered(less, gone, heir, ("a",), (1, 4))


def _fewer_outcomes(case: Case) -> Pass:
    """A support function's rows without some outcomes, whose mass goes to the first of the others; fewer rows."""
    if "mdp" in case or "v" not in case or "p" not in case:
        return
    for part in _parts(len(case["v"])):
        if part.stop > len(case["v"]) or len(part) == len(case["v"]):
            continue
        less: Case = {name: np.delete(case[name], part, axis=-1) for name in ("v", "other", "p") if name in case}
        less["p"][..., 0] += case["p"][..., list(part)].sum(axis=-1)
        less |= _selected(case, [i for i in range(len(case["v"])) if i not in part], [0])
        if (yield case | less):
            case = case | less
    if case["p"].ndim > 2 and case["p"].shape[1] > 1:
        yield case | {"p": case["p"][:, :1].copy()}


def _selected(case: Case, states: Sequence[int], actions: Sequence[int]) -> Case:
    """The set for some of the states and actions; None, which is no possible case, where it leaves nothing."""
    given: UncertaintySet | None = case.get("uncertainty_set")
    if given is None:
        return {}
    try:
        return {"uncertainty_set": given.select(states, actions)}
    except (TypeError, ValueError):
        return {"uncertainty_set": None}


def _visits(case: Case, numbers: range, places: tuple[int, ...]) -> bool:
    return any(step[i] in numbers for step in case.get("path", ()) for i in places)


def _renumbered(case: Case, gone: range, heir: int | None, names: tuple[str, ...], places: tuple[int, ...]) -> Case:
    """The numbers that are gone become the heir's, those above them fall."""

    def new(number: int) -> int:
        if number in gone and heir is not None:
            return heir
        return number - (len(gone) if number >= gone.stop else 0)

    for name in names:
        if name in case:
            case[name] = new(case[name])
    if "path" in case:
        case["path"] = [tuple(new(x) if i in places else x for i, x in enumerate(step)) for step in case["path"]]
        case["path"] = [at_cost(step, case["mdp"], case.get("swing")) for step in case["path"]]
    return case


def _tables(case: Case) -> list[str]:
    return [name for name in TABLES if name in case and not (name == "initial" and "features" in case)]


def _first_axis(case: Case, name: str) -> int:
    """The axis of the states: of several tables the first one numbers the tables."""
    return int("tables" in case and name in ("initial", "other"))


def _model(mdp: MDP, P: Floats, cost: Floats, gamma: float | None = None) -> MDP:
    dense = MDP(P, cost, mdp.gamma if gamma is None else gamma)
    return MDP(dense.rows, cost, dense.gamma) if mdp.is_sparse else dense


# Plainer rows.


def _fewer_successors(case: Case) -> Pass:
    """One successor for many rows: themselves, or where the path goes; then the likeliest; then few digits."""
    if "mdp" in case:
        S, A = case["mdp"].n_states, case["mdp"].n_actions
        home = np.arange(S * A) // A
        walked = {s * A + a: s_next for s, a, _, s_next, _, _ in case.get("path", ())}
        yield from _plainer_rows(case, _with_kernel, case["mdp"].P.reshape(-1, S), home, walked)


def _fewer_choices(case: Case) -> Pass:
    """One action for many rows of the policy, the one on the path, if there is one; then few digits."""
    if "policy" in case:
        walked = {s: a for s, a, *_ in case.get("path", ())} | {s: a for *_, s, a, _ in case.get("path", ())}
        if "s" in case and "a" in case:
            walked[case["s"]] = case["a"]
        first = np.zeros(len(case["policy"]), dtype=int)
        yield from _plainer_rows(case, lambda case, rows: case | {"policy": rows}, case["policy"], first, walked)


def _plainer_nominal(case: Case) -> Pass:
    """The rows of a support function: one outcome; then few digits."""
    if "p" in case:
        rows = case["p"].reshape(-1, case["p"].shape[-1])
        put = lambda case, rows: case | {"p": rows.reshape(case["p"].shape)}  # noqa: E731
        yield from _plainer_rows(case, put, rows, rows.argmax(axis=1), {})


def _plainer_rows(
    case: Case, put: Callable[[Case, Floats], Case], rows: Floats, home: np.ndarray, walked: dict[int, int]
) -> Pass:
    """Rows with all mass at one place, where the path goes, at home or where most of it is; then rows in shares."""
    unit = np.eye(rows.shape[1])
    towards = home.copy()
    for row, place in walked.items():
        towards[row] = place
    likeliest = rows.argmax(axis=1)
    forms: list[Callable[[Floats, np.ndarray], Floats]] = [
        lambda some, chosen: unit[towards[chosen]],
        # What has one place already is not sent to another and back.
        lambda some, chosen: np.where(some.max(axis=1, keepdims=True) == 1.0, some, unit[likeliest[chosen]]),
        *(lambda some, chosen, units=units: _in_shares(some, units) for units in SHARES),
    ]
    for form in forms:
        for part in _parts(len(rows)):
            chosen, changed = np.array(part), rows.copy()
            changed[chosen] = form(rows[chosen], chosen)
            if not np.array_equal(changed, rows):
                less = put(case, changed)
                if (yield less):
                    case, rows = less, changed


def _in_shares(rows: Floats, units: int) -> Floats:
    """Rows in multiples of 1/units, with the same support if it is not too large; those that are so stay."""
    plain = (np.remainder(rows * units, 1.0) == 0.0).all(axis=1) | ((rows > 0.0).sum(axis=1) > units)
    counts = np.maximum(np.floor(rows * units), rows > 0.0)
    best = rows.argmax(axis=1)
    excess = counts.sum(axis=1) - units
    # What is too much is taken from the largest shares, what is missing goes to the largest.
    for i in np.flatnonzero(~plain & (excess > 0.0)):
        while excess[i] > 0.0:
            most = counts[i].argmax()
            taken = min(excess[i], counts[i, most] - 1.0)
            counts[i, most] -= taken
            excess[i] -= taken
    counts[np.arange(len(rows)), best] -= np.minimum(excess, 0.0)
    return np.where(plain[:, None], rows, counts / units)


def _with_kernel(case: Case, rows: Floats) -> Case:
    mdp: MDP = case["mdp"]
    return _with_model(case, _model(mdp, rows.reshape(mdp.P.shape), mdp.cost))


# Plainer numbers.


def _plainer_than(value: T, plain: tuple[T, ...]) -> tuple[T, ...]:
    """Of the plain values, plainest first, those before the value; all, if it is none of them."""
    return plain[: plain.index(value)] if value in plain else plain


def _first_of(options: Iterable[Case]) -> Generator[Case, bool, Case | None]:
    """Try the options; the first that succeeds."""
    for less in options:
        if (yield less):
            return less
    return None


def _plainer_problem(case: Case) -> Pass:
    """A discount, step sizes and a smooth maximum that are easy to follow, and no projection."""
    if "mdp" in case:
        mdp: MDP = case["mdp"]
        gammas = _plainer_than(mdp.gamma, GAMMAS)
        models = (case | {"mdp": _model(mdp, mdp.P, mdp.cost, gamma)} for gamma in gammas)
        case = (yield from _first_of(models)) or case
    for name in ("step_size", "second_step_size"):
        if isinstance(case.get(name), StepSize):
            # Not every learner counts visits.
            plain = tuple(step for step in STEP_SIZES if step.clock != "visits" or case[name].clock == "visits")
            steps = _plainer_than(case[name], plain)
            case = (yield from _first_of([case | {name: step} for step in steps])) or case
    smoothing = case.get("smoothing")
    if isinstance(smoothing, (LogSumExp, Mellowmax)) and smoothing.varrho != VARRHO:
        case = (yield from _first_of([case | {"smoothing": type(smoothing)(VARRHO)}])) or case
    if "projection" in case:
        yield {name: value for name, value in case.items() if name != "projection"}


def _plainer_set(case: Case) -> Pass:
    """Parameters that are easy to follow."""
    given: UncertaintySet | None = case.get("uncertainty_set")
    if given is not None:
        yield from _first_of(case | {"uncertainty_set": plainer} for plainer in _plainer_sets(given))


def _plainer_sets(uncertainty_set: UncertaintySet) -> Iterator[UncertaintySet]:
    """The sets that are plainer, as far as the kind has such radii."""
    tries = uncertainty_set.plainer()
    while True:
        try:
            yield next(tries)
        except (StopIteration, TypeError, ValueError):  # a radius that the kind does not have ends what it proposes
            return


def _plainer_values(case: Case) -> Pass:
    """Costs and tables: zero, or a sign, or few digits; the whole table, then parts of it."""
    if "swing" in case:
        less = _with_model({name: value for name, value in case.items() if name != "swing"}, case["mdp"])
        if (yield less):
            case = less
    names = [name for name in ("mdp", *VALUES) if name in case]
    for name in names:
        values = case["mdp"].cost if name == "mdp" else case[name]
        for plain in PLAIN:
            for part in _parts(values.size):
                changed = values.copy()
                flat = changed.reshape(-1)
                flat[part.start : part.stop] = plain(flat[part.start : part.stop])
                if np.array_equal(changed, values):
                    continue
                model = _model(case["mdp"], case["mdp"].P, changed) if name == "mdp" else None
                less = case | {name: changed} if model is None else _with_model(case, model)
                if (yield less):
                    case, values = less, changed


def _rounded(digits: int) -> Callable[[Floats], Floats]:
    """To so many digits, if they are fewer than there were; signs stay."""

    def rounded(values: Floats) -> Floats:
        return np.array([float(f"{x:.{digits - 1}e}") for x in values.tolist()])

    return rounded


PLAIN: tuple[Callable[[Floats], Floats], ...] = (np.zeros_like, np.sign, *map(_rounded, DIGITS))


def _with_model(case: Case, mdp: MDP) -> Case:
    """The case with another model of the same sizes, and its path at the costs of that."""
    less = dict(case, mdp=mdp)
    if "path" in case:
        less["path"] = [at_cost(step, mdp, case.get("swing")) for step in case["path"]]
    return less


# What makes a case cheap to judge comes first: a path ends soon after the step that shows the bug, and states count
# twice in the kernel.
PASSES: tuple[Callable[[Case], Pass], ...] = (
    _truncated,
    _fewer_states,
    _fewer_actions,
    _shorter,
    _fewer_ends,
    _fewer_outcomes,
    _fewer_successors,
    _fewer_choices,
    _plainer_nominal,
    _plainer_problem,
    _plainer_set,
    _plainer_values,
)
