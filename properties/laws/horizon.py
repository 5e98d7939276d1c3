"""Long and wide runs of learners, and wide models of operators, planners and support functions, at few places.

Small cases do not show a counter of 16 bits, a table of step sizes that ends, a learner that changes after 50,000
steps, or a maximum over the first 1,024 states. One run of 66,100 steps for each clock, in which one pair is visited
more than 2^16 times, and a few dozen steps among 1,030 states, 260 actions or 66 features do. A learner that has
`update_many` walks most of a long run by it, so the run costs little; the last steps before each comparison are
single updates.

The judge walks along in floats, from the learner's own table at the last comparison. A step is a non-expansion in the
sup norm, so after n steps the two differ by at most n times the rounding of one step of each.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from math import fsum
from operator import mul
from typing import Any

import numpy as np

from oracles.planning import enclosed
from properties.cases import runs
from properties.cases.case import Path
from properties.cases.choices import SMOOTHINGS, radii_of
from properties.cases.runs import Run, ends_of, estimates, place_of, policy_of
from properties.cases.sources import Large
from properties.judging.verdict import Finding
from properties.kinds.evaluation import EvaluationRun
from properties.kinds.linear_evaluation import LinearRun
from properties.kinds.operator import OperatorCase
from properties.kinds.planner import PlannerCase
from properties.kinds.support import SupportCase
from properties.laws import linear, operator, planner, support, tabular_step
from properties.laws.comparison import compare
from properties.laws.every_learner import feed
from properties.laws.law import Law
from properties.laws.learning import advance, new_learner, table
from properties.laws.operator import where_known
from properties.laws.rounding import UNIT, backup_bound, step_bound
from properties.laws.tabular_step import Clock
from robust_core import StepSize, constant, per_visit, polynomial
from robust_core.mdp import MDP, SparseRows
from robust_core.problem import Variant
from robust_core.sets import Contamination, SRectangular, UncertaintySet

STEPS = 66_100
"""Of a long run: more than 2^16, for the one pair that it visits nearly always too."""
EXCURSION, EPISODE = 997, 3
"""Every so many steps the long run leaves its pair, and ends an episode."""
SINGLE = 8
"""Steps before a comparison that are single updates also where the learner has `update_many`."""
# Just after the powers of two, and after limits that people choose.
PLACES = sorted(
    {2**k + j for k in range(7, 17) for j in (0, 1, 3)}
    | {n + j for n in (100, 1000, 5000, 10_000, 20_000, 30_000, 50_000, 60_000) for j in (0, 1, 3)}
    | {STEPS}
)
# Places beside the ends of blocks and tables, the last first.
STATES, ACTIONS, FEATURES = 1030, 260, 66
EDGES = (1029, 1024, 1023, 0, 512, 511, 256, 257, 255, 128, 127, 64, 700, 63, 32)
PART = 3.0
"""Values are whole numbers and fractions of 8 over this, so that no table of fewer than 53 bits holds them."""
ACTION_EDGES = (259, 256, 255, 0, 128, 129, 127, 64, 63, 200, 32, 31, 16, 15, 8, 1)


def _long_path(mdp: MDP, *, ends: bool) -> list[tuple[Any, ...]]:
    """Mostly (0,0), now and then over state 1 and back; every third step ends an episode, so values keep moving."""
    pairs = [(0, 0)] * (STEPS + 1)
    for number in range(EXCURSION, STEPS, EXCURSION):
        pairs[number : number + 2] = [(0, 1), (1, number // EXCURSION % 2)]
    costs = mdp.cost.tolist()
    return [
        (s, a, costs[s][a], t, b, ends and number % EPISODE == 0)
        for number, ((s, a), (t, b)) in enumerate(pairwise(pairs))
    ]


def _moves(successors: np.ndarray, cost: np.ndarray, gamma: float) -> MDP:
    """A deterministic model in sparse rows."""
    flat = successors.reshape(-1).astype(np.int64)
    return MDP(SparseRows(np.arange(len(flat) + 1), flat, np.ones(len(flat))), cost, gamma)


def _case(variant: Variant, mdp: MDP, step_size: StepSize, initial: np.ndarray, policy: np.ndarray, path: Path) -> Run:
    """The case of the variant's kind."""
    start = initial if estimates(variant) == "Q" else initial.min(axis=1)
    case = Run(mdp=mdp, uncertainty_set=_set_of(variant), step_size=step_size, initial=start, path=path)
    return case if variant.kind == "control" else EvaluationRun.of(case.entries() | {"policy": policy})


def long_runs(variant: Variant) -> list[Run]:
    """One run for each clock: visits, and steps."""
    mdp = _moves(np.array([[0, 1], [0, 0]]), np.array([[1.0, 3.0], [-1.0, 2.0]]), 0.875)
    path = _long_path(mdp, ends=variant.options.get("ends") != "none")
    start, policy = np.array([[2.0, 1.0], [4.0, 3.0]]), np.full((2, 2), 0.5)
    schedules = (per_visit(1.0, rate=0.01, power=1.0), polynomial(1.0, rate=0.01, power=0.75))
    return [_case(variant, mdp, schedule, start, policy, path) for schedule in schedules]


def _walk(mdp: MDP, pairs: Sequence[tuple[int, int]], *, ends: bool) -> list[tuple[Any, ...]]:
    costs = mdp.cost.tolist()
    return [
        (s, a, costs[s][a], t, b, ends and number % 5 == 4) for number, ((s, a), (t, b)) in enumerate(pairwise(pairs))
    ]


def many_states(variant: Variant) -> Run:
    """Each visited state is the worst of all until its visit lowers it; then another one is."""
    rank = {s: i for i, s in enumerate(EDGES)}
    following = {s: EDGES[(i + 1) % len(EDGES)] for s, i in rank.items()}
    successors = np.array([[following.get(s, s)] * 2 for s in range(STATES)])
    cost = np.array([[s % 7 / 4.0, s % 5 / 2.0] for s in range(STATES)]) / PART
    initial = np.array([[100.0 - rank[s] if s in rank else s % 11 / 8.0, 101.0] for s in range(STATES)]) / PART
    mdp = _moves(successors, cost, 0.5)
    pairs = [(s, 0) for s in EDGES] * 2 + [(s, 1) for s in EDGES]
    policy = np.tile([0.75, 0.25], (STATES, 1))
    path = _walk(mdp, pairs, ends=variant.options.get("ends") != "none")
    return _case(variant, mdp, constant(1.0), initial, policy, path)


def many_actions(variant: Variant) -> Run:
    """Each action that is taken is the best of all until its visit raises it; then another one is."""
    rank = {a: i for i, a in enumerate(ACTION_EDGES)}
    successors = np.zeros((2, ACTIONS), dtype=np.int64)
    cost = np.array([[100.0 + a % 3, 1.0] for a in range(ACTIONS)]).T / PART
    first = np.array([rank[a] - 20.0 if a in rank else 60.0 + a % 13 for a in range(ACTIONS)]) / PART
    mdp = _moves(successors, cost, 0.5)
    policy = np.zeros((2, ACTIONS))
    policy[:, list(ACTION_EDGES)] = 1.0 / len(ACTION_EDGES)
    pairs = [(0, a) for a in ACTION_EDGES] * 2
    path = _walk(mdp, pairs, ends=variant.options.get("ends") != "none")
    return _case(variant, mdp, constant(0.5), np.array([first, first + 10.0]), policy, path)


def _cases(variant: Variant) -> list[Run]:
    return [many_states(variant), many_actions(variant), *long_runs(variant)]


class _Walker:
    """eq:Qupdate in floats, on lists: what the judge expects."""

    def __init__(self, variant: Variant, case: Run, *, sampled: bool) -> None:
        radius: float = case.uncertainty_set.radius  # type: ignore[attr-defined]
        self.gamma_R, self.gamma_b = case.mdp.gamma * radius, case.mdp.gamma * (1.0 - radius)
        self.nature_ends = ends_of(variant, type(case.uncertainty_set)) == "nature ends"
        self.clock, self.sampled, self.variant = Clock(case.step_size), sampled, variant
        policy = policy_of(case)
        self.policy = None if policy is None else policy.tolist()

    def follow(self, start: np.ndarray, path: Path) -> np.ndarray:
        """The table after the path."""
        Q = start.tolist()
        values = start.ndim == 1
        V = Q if values else [self._value(Q, s) for s in range(len(Q))]
        for s, a, cost, s_next, a_next, terminal in path:
            alpha = self.clock.next(place_of(self.variant, s, a))
            following = 0.0 if terminal else Q[s_next][a_next] if self.sampled else V[s_next]
            worst = max(V)
            if self.nature_ends:
                worst = max(worst, 0.0)
            target = cost + self.gamma_R * worst + self.gamma_b * following
            if values:
                Q[s] = (1.0 - alpha) * Q[s] + alpha * target
            else:
                Q[s][a] = (1.0 - alpha) * Q[s][a] + alpha * target
                V[s] = self._value(Q, s)
        return np.array(Q)

    def _value(self, Q: list[Any], s: int) -> float:
        return min(Q[s]) if self.policy is None else fsum(map(mul, self.policy[s], Q[s]))


def _segments(path: Path) -> Iterator[tuple[int, int]]:
    """From one comparison to the next: every step of a short path."""
    places = PLACES if len(path) > PLACES[0] else range(1, len(path) + 1)
    yield from pairwise([0, *(place for place in places if place <= len(path))])


def _proceed(learner: Any, path: Path) -> None:
    """The learner after the path, which it walks fast where it can, but for the last steps."""
    fast = path[:-SINGLE] if hasattr(learner, "update_many") else []
    if fast:
        feed(learner, fast)
    advance(learner, path[len(fast) :])


def _followed(variant: Variant, case: Run, *, sampled: bool) -> Finding | None:
    mdp, path = case.mdp, case.path
    learner, walker = new_learner(variant, case), _Walker(variant, case, sampled=sampled)
    before = table(learner)
    largest = max(abs(step[2]) for step in path)
    for start, stop in _segments(path):
        wanted = walker.follow(before, path[start:stop])
        _proceed(learner, path[start:stop])
        got = table(learner)
        size = max(float(np.abs(before).max()), float(np.abs(wanted).max())) + largest / (1.0 - mdp.gamma)
        allowed = 2.0 * (stop - start + 1) * step_bound(mdp.n_states, mdp.n_actions, size)
        finding = compare(got, wanted, allowed, estimates(variant), after=f" after {stop} steps")
        if finding is not None:
            return finding
        before = got
    return None


def _sample_form(variant: Variant, case: Run) -> Finding | None:
    return _followed(variant, case, sampled=False)


def _sample_form_next_action(variant: Variant, case: Run) -> Finding | None:
    return _followed(variant, case, sampled=True)


def _before_a_visit(variant: Variant) -> list[Run]:
    """Long runs, and the pair that is visited next."""
    return [case.plus(s=0, a=0) for case in long_runs(variant)]


def _promises_less(variant: Variant) -> bool:
    """Whether no promise says more: a sample form is followed on the same runs."""
    return not {"sample form", "sample form, next action"} & set(variant.promises)


def _set_of(variant: Variant) -> Any:
    """Contamination, of which alone the judges know the formula, at a middle radius if the variant is for one."""
    radii: Any = radii_of(variant, Contamination)
    return Contamination(0.25 if 0.25 in radii else radii[len(radii) // 2])


def _linear_case(
    variant: Variant, mdp: MDP, features: np.ndarray, theta: np.ndarray, schedule: StepSize, K: float, path: Path
) -> LinearRun:
    count = runs.table_count(variant)  # a start of (theta, omega) is theta and zeros
    return LinearRun(
        mdp=mdp,
        uncertainty_set=_set_of(variant),
        step_size=schedule,
        second_step_size=replace(schedule, scale=schedule.scale / 2.0),
        policy=np.full(mdp.cost.shape, 1.0 / mdp.n_actions),
        features=features,
        initial=theta if count is None else np.stack([theta, *[np.zeros_like(theta)] * (count - 1)]),
        tables=count,
        smoothing=SMOOTHINGS[variant.options.get("smoothing", "lse")](1.0),
        projection=K,
        path=path,
    )


def _linear_cases(variant: Variant) -> list[Run]:
    """Many states, many features, and a long run of one state and one feature, whose step sizes fall."""
    ends = variant.options.get("ends") != "none"
    few = EDGES[:4]
    cases: list[Run] = []
    successors = np.array([[few[(few.index(s) + 1) % 4] if s in few else s] for s in range(STATES)])
    states = _moves(successors, np.array([[s % 5 / 4.0] for s in range(STATES)]) / PART, 0.5)
    features = np.array([[(s * 37 % 101) / 128.0, (s * 53 % 97) / 128.0] for s in range(STATES)]) / PART
    features[list(few)] = np.array([[1.0, -0.5], [0.5, 1.0], [-1.0, 0.25], [0.75, 0.75]]) / PART
    path = _walk(states, [(s, 0) for s in few] + [(few[0], 0)], ends=ends)
    theta = np.array([4.0, 2.0]) / PART
    cases.append(_linear_case(variant, states, features, theta, constant(0.5), 64.0, path))
    ring = _moves(np.array([[1], [2], [0]]), np.array([[1.0], [-2.0], [0.5]]), 0.5)
    features = np.array([[((i * 29 + s * 17) % 31 - 15) / 64.0 for i in range(FEATURES)] for s in range(3)])
    features[:, -2:] = [[1.0, -1.0], [0.5, 1.0], [-1.0, 0.5]]
    path = _walk(ring, [(s % 3, 0) for s in range(7)], ends=ends)
    theta = np.array([(i % 5 - 2) / 4.0 for i in range(FEATURES)]) / PART
    cases.append(_linear_case(variant, ring, features, theta, constant(0.5), 4.0, path))
    one = _moves(np.zeros((1, 1), dtype=np.int64), np.array([[1.0]]), 0.5)
    path = _walk(one, [(0, 0)] * (STEPS + 1), ends=ends)
    schedule = polynomial(1.0, rate=0.01, power=1.0)
    cases.append(_linear_case(variant, one, np.ones((1, 1)), np.array([4.0]), schedule, 64.0, path))
    return cases


def _linear_judge(rule: str) -> Any:
    def judge(variant: Variant, case: LinearRun) -> Finding | None:
        places = None if len(case.path) <= PLACES[0] else set(PLACES)
        return linear.follow_steps(variant, rule, case, places)

    return judge


PLANNED_STATES = 260
"""A planner that iterates in plain Python visits every pair of states some tens of times."""
PLACES_COMPARED = (0, 1, -1)


def _plain_sets(variant: Variant) -> list[type[UncertaintySet]]:
    """The sets of the variant that a radius alone describes: others have fields of S x S numbers, or rows by state."""
    return [kind for kind in variant.sets if set(kind.axes) <= {"radius"} and not issubclass(kind, SRectangular)]


def _sets_of(variant: Variant, p: np.ndarray, v: np.ndarray) -> list[UncertaintySet]:
    """One set of each kind, at a middle radius."""
    radii = variant.options.get("radii", (0.25,))
    radius = float(radii[len(radii) // 2])
    return [kind.choose(lambda levels: levels[0], radius, p, v) for kind in _plain_sets(variant)]


def _wide_tables(states: int) -> list[tuple[MDP, np.ndarray]]:
    """A model of many states whose worst is the last, and one of many actions whose best is the last."""
    cost = np.array([[s % 5 / 4.0] for s in range(states)])
    Q = np.array([[s % 11 / 8.0] for s in range(states)])
    cost[-1], Q[-1] = 9.0, 9.0
    wide = _moves(np.array([[(7 * s + 1) % states] for s in range(states)]), cost / PART, 0.5)
    best = np.array([[60.0 + a % 13, 50.0 + a % 7] for a in range(ACTIONS)]).T
    best[:, -1] = -4.0, -2.0
    moves = np.tile(np.arange(ACTIONS) % 2, (2, 1))
    many = _moves(moves, np.array([[a % 3, 1.0] for a in range(ACTIONS)]).T / PART, 0.5)
    return [(wide, Q / PART), (many, best / PART)]


def _wide_operators(variant: Variant) -> list[OperatorCase]:
    return [
        OperatorCase(mdp=mdp, uncertainty_set=chosen, Q=Q, other=Q)
        for mdp, Q in _wide_tables(STATES)
        for chosen in _sets_of(variant, mdp.P, Q.min(axis=1))
    ]


def _wide_planners(variant: Variant) -> list[PlannerCase]:
    return [
        PlannerCase(mdp=mdp, uncertainty_set=chosen)
        for mdp, Q in _wide_tables(PLANNED_STATES)[:1]
        for chosen in _sets_of(variant, mdp.P, Q.min(axis=1))
    ]


def _wide_rows(variant: Variant) -> list[SupportCase]:
    """Values that rise to the last outcome, which is rare."""
    p = np.array([1.0 + outcome % 2 for outcome in range(STATES)])
    p[0] += 2048.0 - p.sum()
    v = np.array([outcome % 11 / 8.0 for outcome in range(STATES)])
    v[-1] = 9.0
    v /= PART
    return [SupportCase(uncertainty_set=chosen, p=p / 2048.0, v=v) for chosen in _sets_of(variant, p / 2048.0, v)]


def _backup_at_places(case: PlannerCase, Q: np.ndarray) -> tuple[np.ndarray, float]:
    """TQ at some pairs, NaN elsewhere, and its error."""
    mdp = case.mdp
    pairs = [(s % mdp.n_states, a % mdp.n_actions) for s in PLACES_COMPARED for a in PLACES_COMPARED]
    found = enclosed.backup_of(mdp, case.uncertainty_set, Q, pairs)
    values = np.full(mdp.cost.shape, np.nan)
    for pair, value in zip(pairs, found.value, strict=True):
        values[pair] = value
    return values, found.error_bound + UNIT * float(np.abs(found.value).max())


def _wide_backup(variant: Variant, case: OperatorCase) -> Finding | None:
    wanted, error = _backup_at_places(case, case.Q)
    image = np.array(variant.make(case.mdp, case.uncertainty_set, case.Q.copy()), dtype=np.float64)
    return compare(image, where_known(wanted, image), backup_bound(case.mdp, case.Q) + error, "TQ")


def _wide_optimum(variant: Variant, case: PlannerCase) -> Finding | None:
    """|TQ − Q| <= (1 + gamma)|Q − Q*|."""
    Q = np.array(variant.make(case.mdp, case.uncertainty_set), dtype=np.float64)
    if Q.shape != case.mdp.cost.shape or not np.isfinite(Q).all():
        return Finding("Q*", Q.tolist(), f"{' x '.join(map(str, case.mdp.cost.shape))} finite numbers")
    image, error = _backup_at_places(case, Q)
    allowed = (1.0 + case.mdp.gamma) * planner.allowed_error(variant, case.mdp, Q) + error
    return compare(Q, where_known(image, Q), allowed, "Q", after=" against TQ", columns=("Q", "TQ"))


def _named(laws: Sequence[Law], name: str) -> Law:
    return next(law for law in laws if law.name == name)


SUPPORT = _named(support.LAWS, "support value")


def _wide_law(law: Law, cases: Any, judge: Any) -> Law:
    wide = _law(law, cases, judge, only=lambda variant: bool(_plain_sets(variant)))
    return replace(wide, statement=f"{law.statement}; with hundreds of states or actions, in selected entries")


def _law(law: Law, cases: Any, judge: Any, **fields: Any) -> Law:
    return replace(
        law,
        name=f"{law.name}, horizon",
        statement=f"{law.statement}; after 2^16 steps and visits, with a thousand states and hundreds of actions",
        cases=Large(runs.run, (), others=cases),
        judge=judge,
        after=(*law.after, law.name, f"{law.name}, large"),
        **fields,
    )


LAWS = (
    _law(tabular_step.SAMPLE_FORM, _cases, _sample_form),
    _law(tabular_step.SAMPLE_FORM_NEXT_ACTION, _cases, _sample_form_next_action),
    _law(
        tabular_step.UNBIASED, _before_a_visit, tabular_step.UNBIASED.judge, sets=(Contamination,), only=_promises_less
    ),
    *(
        replace(
            _law(law, _linear_cases, _linear_judge(law.name.split()[0])),
            statement=f"{law.statement}; after 2^16 steps, with a thousand states and 66 features",
        )
        for law in linear.LAWS
        if law.name in ("TDC step", "GTD2 step")
    ),
    _wide_law(_named(operator.LAWS, "bellman backup"), _wide_operators, _wide_backup),
    _wide_law(_named(planner.LAWS, "optimum"), _wide_planners, _wide_optimum),
    _wide_law(SUPPORT, _wide_rows, SUPPORT.judge),
)
