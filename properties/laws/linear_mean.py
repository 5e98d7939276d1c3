"""Laws of linear evaluation on what is learned: the mean update of (theta, omega), and the fixed point."""

import copy
import math
from collections.abc import Callable, Sequence, Set
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeAlias, cast

import numpy as np

from properties.cases import runs
from properties.cases.choices import Choices, Seeded
from properties.cases.runs import ends_of, table_count
from properties.cases.scope import Scope
from properties.cases.sources import Generated
from properties.judging.verdict import Finding
from properties.kinds.linear_control import LinearControlRun
from properties.kinds.linear_evaluation import LinearRun
from properties.laws.coins import Coins, Tape, leaves
from properties.laws.comparison import compare
from properties.laws.law import Law
from properties.laws.learning import advance, arrays, late_places, new_learner, problem, step_size_at
from properties.laws.linear import COMPONENTS, KIND, read_ergodic
from properties.laws.rounding import UNIT, linear_growth, linear_step_bound
from robust_core import Transition
from robust_core.mdp import MDP
from robust_core.problem import Kind, Variant
from robust_core.sets import Contamination
from robust_core.validate import Floats

KINDS: tuple[Kind, ...] = (*KIND, "off-policy evaluation", "linear control")
STREAMS = 32
PROMISES_TRIED = 16
STEPS = 12
SMALLEST_ROOT = 1e-8
"""What Adam adds to the root of the mean square."""
VAGUE = 2.0**-16
"""The share of theta from which a bound says too little."""
Pair = tuple[Floats | None, Floats | None]
LinearCase: TypeAlias = LinearRun | LinearControlRun


class LinearView:
    """The past of a linear learner, and exact means under the stationary distribution of the policy.

    `estimates` are the pairs (theta, omega) so far, the start first; `transitions` the steps so far. `C`, and at any
    theta `M`, `omega` and `gradient` (of J) are those of Section 5, certified to a few roundings.
    """

    def __init__(
        self, case: LinearCase, past: Sequence[tuple[Floats, ...]], *, tracked: bool = False, ends: bool = False
    ) -> None:
        self._case, self._tracked, self._ends = _ended(case) if ends and not tracked else case, tracked, ends
        self.estimates = tuple(past)
        self.transitions = tuple(Transition(*step) for step in case.path)
        self._J = self._case.objective()

    @property
    def t(self) -> int:
        """The number of steps so far."""
        return len(self.transitions)

    @property
    def theta(self) -> Floats:
        """A copy of the last theta."""
        return self.estimates[-1][0].copy()

    @property
    def last_omega(self) -> Floats:
        """A copy of the last omega of the learner."""
        return self.estimates[-1][1].copy()

    def alpha(self, n: int | None = None) -> float:
        """The step size of theta at count n, by default that of the next step."""
        return step_size_at(self._case.step_size, self.t if n is None else n)

    def beta(self, n: int | None = None) -> float:
        """The step size of omega."""
        return step_size_at(self._case.second_step_size, self.t if n is None else n)

    @cached_property
    def C(self) -> Floats:
        """E[phi phiᵀ]."""
        return np.array(self._J.C.value)

    def M(self, theta: Floats) -> Floats:
        """E[∇delta phiᵀ]."""
        return np.array(self._J.slope(theta).value)

    def omega(self, theta: Floats) -> Floats:
        """C⁻¹ E[delta phi]."""
        return np.array(self._J.omega(theta).value)

    def gradient(self, theta: Floats) -> Floats:
        """∇J = 2 M omega."""
        return np.array(self._J.gradient(theta).value)

    @property
    def is_smooth(self) -> bool:
        """Whether J has a gradient at theta."""
        return self._J.is_smooth(self.theta)

    @property
    def tracks(self) -> bool:
        """Whether omega is omega(theta), to rounding: then TDC and GTD2 both follow −½∇J in the mean."""
        if self._tracked:
            return True
        best = self._J.omega(self.theta)
        near = best.error_bound + UNIT * float(np.abs(best.value).max())
        return bool((np.abs(self.last_omega - best.value) <= near).all())

    def error(self) -> float:
        """How far a step of the promised form may be from the truth, per unit of the step size."""
        J, theta = self._J, self.theta
        best, gradient, slope = J.omega(theta), J.gradient(theta), J.slope(theta)
        offset, N = float(np.abs(self.last_omega - best.value).max()), len(theta)
        size = float(np.abs(slope.value).max() + np.abs(J.C.value).max())
        certified = gradient.error_bound + N * (slope.error_bound + J.C.error_bound) * offset
        if self._tracked:
            certified += N * size * offset
        rounding = 8 * (N + 2) * UNIT * (float(np.abs(gradient.value).max()) + N * size * offset)
        return certified + 2 * N * size * (best.error_bound + UNIT * offset) + rounding

    def tracked(self) -> "LinearView":
        """The same past before a next step whose costs make the last omega omega(theta), up to rounding.

        Costs that are x·phi higher, x = omega − omega(theta), change E[delta phi] by C x, and omega(theta) by x. (Off
        policy too, since a ratio has mean 1 in every state.) No learner knows the costs before they are paid.
        """
        higher = self._case.values(self.last_omega - self.omega(self.theta))[0]
        mdp = self._case.mdp
        case = replace(self._case, mdp=MDP(mdp.kernel, mdp.cost + higher, mdp.gamma))
        return LinearView(case, self.estimates, tracked=True, ends=self._ends)

    @property
    def ends(self) -> bool:
        """Whether the next step ends its episode."""
        return self._ends

    @property
    def case(self) -> LinearCase:
        """The problem with the costs of the next step."""
        return self._case

    def outcomes(self) -> list[tuple[float, Transition]]:
        """Every transition with its stationary probability."""
        mdp, weights, found = self._case.mdp, self._case.weights(self._J.mu), []
        for s, a, s_next in np.argwhere(mdp.P * weights[:, :, None] > 0.0).tolist():
            for share, a_next in self._next_actions(s_next):
                step = Transition(s, a, float(mdp.cost[s, a]), s_next, a_next, self._ends)
                found.append((float(weights[s, a] * mdp.P[s, a, s_next] * share), step))
        return found

    def _next_actions(self, s: int) -> list[tuple[float, int]]:
        """The next actions; only a learner that weighs actions can ask for them."""
        row = self._case.walked_policy()[s]
        if self._case.weighs_actions:
            return [(float(row[a]), int(a)) for a in np.flatnonzero(row)]
        return [(1.0, int(np.argmax(row)))]

    @property
    def weight_error(self) -> float:
        """The relative error of the probabilities."""
        return math.expm1(self._J.mu_log_error) + 8 * self._case.mdp.n_states * self._case.mdp.n_actions * UNIT


def _ended(case: LinearCase) -> LinearCase:
    """The case whose J is that of steps that all end their episode: gamma R m(V) is all that follows.

    The discount is gamma R and the radius 1.
    """
    discount = case.mdp.gamma * cast(Contamination, case.uncertainty_set).radius
    mdp = MDP(case.mdp.kernel, case.mdp.cost, discount)
    return replace(case, mdp=mdp, uncertainty_set=Contamination(1.0))


def follow_gradient(view: LinearView) -> Pair:
    """theta − alpha ½∇J where omega is omega(theta) and J has a gradient; omega − beta C(omega − omega(theta))."""
    theta, omega = view.theta, view.last_omega
    moved = theta - 0.5 * view.alpha() * view.gradient(theta) if view.tracks and view.is_smooth else None
    return moved, omega - view.beta() * view.C @ (omega - view.omega(theta))


def _step_of(variant: Variant) -> Callable[[LinearView], Pair]:
    step = variant.options.get("expected", "gradient of J")
    return step if callable(step) else follow_gradient


def judge_mean(variant: Variant, case: LinearCase, coins: int, ending: bool) -> Finding | None:
    """After the path, the mean over transitions under the stationary distribution and over the draws of the learner;
    `ending` says that all next steps end their episode.
    """
    return _means(variant, case, coins, ending, {len(case.path)})


def late_mean(variant: Variant, case: LinearCase, coins: int, ending: bool) -> Finding | None:
    """The same after many numbers of steps of a long path."""
    return _means(variant, case, coins, ending, late_places(len(case.path)))


def _means(variant: Variant, case: LinearCase, coins: int, ending: bool, places: Set[int]) -> Finding | None:
    tape, late = Tape(), len(places) > 1
    learner = variant.make(problem(case, Coins(tape, coins)))
    past: list[tuple[Floats, ...]] = []
    stays = ends_of(variant, type(case.uncertainty_set)) == "nature stays"
    for number in range(len(case.path) + 1):
        past.append(arrays(learner.estimate()))
        if not all(np.isfinite(x).all() for x in past[-1]):
            return Finding(f"the estimate after {number} steps", [x.tolist() for x in past[-1]], "finite numbers")
        if number in places:
            until = replace(case, path=case.path[:number])
            # Late in a run about half of the next steps end their episode; which, has no period.
            ends = ending or (late and stays and number.bit_count() // 2 % 2 == 1)
            finding = _mean_after(variant, until, learner, past, tape, ends=ends, late=late)
            if finding is not None:
                return finding
        advance(learner, case.path[number : number + 1])
    return None


def _mean_after(
    variant: Variant,
    case: LinearCase,
    learner: Any,
    past: Sequence[tuple[Floats, ...]],
    tape: Tape,
    *,
    ends: bool,
    late: bool,
) -> Finding | None:
    """The mean of the step after the path of the case, with its costs and with those that make omega omega(theta)."""
    view = LinearView(case, past, ends=ends)
    views = [view]
    # A function of the variant may ask for the costs that it knows.
    if case.path and Scope.of(variant).costs is None and not callable(variant.options.get("expected")):
        views.append(view.tracked())
    # Late in a run one of the two is enough; which, has no period.
    if late:
        views = views[view.t.bit_count() % len(views) :][:1]
    findings = (_judge_next(variant, learner, each, tape) for each in views)
    return next((finding for finding in findings if finding is not None), None)


def _judge_next(variant: Variant, learner: Any, view: LinearView, tape: Tape) -> Finding | None:
    """The mean of the next (theta, omega)."""
    case, past = view.case, view.estimates
    wanted = _step_of(variant)(view)
    mean, largest = [np.zeros_like(x) for x in past[-1]], [0.0, 0.0]
    for chance, step in view.outcomes():
        for share, after in leaves(tape, lambda step=step: _after(learner, step)):  # type: ignore[misc]
            for i in range(2):
                change = after[i] - past[-1][i]
                mean[i] += chance * float(share) * change
                largest[i] = max(largest[i], float(np.abs(change).max()))
    cost = float(np.abs(case.mdp.cost).max())
    bounds = linear_step_bound(_rows(case), past[-1][0], past[-1][1], cost, case.smoothing.varrho)
    sizes, weight = (view.alpha(), view.beta()), case.largest_weight()
    for i, name in enumerate(("theta", "omega")):
        target = wanted[i]
        if target is None:
            continue
        right = target - past[-1][i]
        # A promise that recovers hidden state from the past carries the rounding of every step so far.
        rounding = (view.t + 1) * (weight * bounds[i] + 4 * UNIT * max(float(np.abs(pair[i]).max()) for pair in past))
        allowed = sizes[i] * view.error() + rounding + view.weight_error * largest[i]
        what = f"expected change of {name}"
        when = f" after {view.t} steps{', in a step that ends the episode' if view.ends else ''}"
        finding = compare(mean[i], right, allowed, what, after=when, axes=COMPONENTS)
        if finding is not None:
            tape.require_draws()
            return finding
    return None


def _after(learner: Any, step: Transition) -> tuple[np.ndarray, ...]:
    return arrays(advance(copy.deepcopy(learner), [step]).estimate())


def read_mean(choices: Choices, variant: Variant) -> LinearCase:
    """A run on an ergodic chain; every second one has no history and starts at omega(theta)."""
    case, ending = _read(choices, variant)
    if choices.any_of((True, False)):
        case = replace(case, path=[])
    if not case.path and case.tables == 2:
        case = tracking(case)
    return case.plus(coins=choices.index(STREAMS), ending=ending)


def read_history(choices: Choices, variant: Variant) -> LinearCase:
    """A run on an ergodic chain, with its history."""
    case, ending = _read(choices, variant)
    return case.plus(coins=choices.index(STREAMS), ending=ending)


def _read(choices: Choices, variant: Variant) -> tuple[LinearCase, bool]:
    """A run, in whose history episodes may end, and whether its next step ends one."""
    case = cast(LinearCase, read_ergodic(choices, variant, ends=True)).apart()
    stays = ends_of(variant, type(case.uncertainty_set)) == "nature stays"
    return case, stays and choices.any_of((False, False, True))


def tracking(case: LinearCase) -> LinearCase:
    """The case, started at omega(theta)."""
    theta = case.initial[0]
    return replace(case, initial=np.stack([theta, LinearView(case, [(theta, theta)]).omega(theta)]))


def _rows(case: LinearCase) -> Floats:
    """The features as rows."""
    return case.features.reshape(-1, case.features.shape[-1])


def _planted(case: LinearCase) -> LinearCase:
    """The case with costs that make delta 0 in the mean at the given theta, and omega 0."""
    theta = case.initial[0] if case.tables else case.initial
    (own, V), R = case.values(theta), cast(Contamination, case.uncertainty_set).radius
    smooth = float(case.smoothing.value(V))
    cost = own - case.mdp.gamma * ((1.0 - R) * case.mdp.expectation(V) + R * smooth)
    mdp = MDP(case.mdp.P, cost, case.mdp.gamma)
    path = [(s, a, float(cost[s, a]), t, b, end) for s, a, _, t, b, end in case.path]
    return replace(case, mdp=mdp, path=path, initial=np.stack([theta, 0.0 * theta]) if case.tables else theta)


def _content(variant: Variant, case: LinearCase, coins: int, ending: bool) -> Finding | None:
    """The promise alone: away from omega(theta) it moves theta in at least half of the problems."""
    moved = 0
    for seed in range(PROMISES_TRIED):
        drawn = cast(LinearCase, read_ergodic(Seeded(seed), variant)).apart()
        pair = drawn.initial[0], drawn.initial[1] + 1.0
        change = _step_of(variant)(LinearView(replace(drawn, path=[]), [pair]))[0]
        moved += change is not None and bool((change != pair[0]).any())
    if 2 * moved >= PROMISES_TRIED:
        return None
    return Finding(
        "problems in which the promised mean update moves theta", moved, f"at least half of {PROMISES_TRIED}"
    )


def _about_the_problem(variant: Variant, case: LinearCase, coins: int, ending: bool) -> Finding | None:
    """The promise alone: where J is 0 it stays."""
    planted = _planted(replace(case, path=[]))
    theta = planted.initial[0]
    zero = 0.0 * theta
    view = LinearView(planted, [(theta, zero)])
    found = _step_of(variant)(view)
    bounds = linear_step_bound(_rows(planted), theta, zero, float(np.abs(planted.mdp.cost).max()), 1.0)
    # The costs are rounded, so omega(theta) is not 0; M and C carry it into a step, whose step size is at most 1.
    carried = len(theta) * float(np.abs(view.M(theta)).max() + np.abs(view.C).max() + 1.0)
    off = carried * float(np.abs(view.omega(theta)).max())
    for name, got, right, bound in zip(("theta", "omega"), found, (theta, zero), bounds, strict=True):
        allowed = view.error() + bound + off
        if got is not None:
            finding = compare(got, right, allowed, f"the promised mean update where J is 0: {name}", axes=COMPONENTS)
            if finding is not None:
                return finding
    return None


def _fixed_point(variant: Variant, case: LinearCase) -> Finding | None:
    """On a deterministic chain with delta = 0 everywhere, no step from (theta, 0) changes anything, up to rounding.

    delta is not 0 but of the size of rounding. A step that is linear in the sample, as a promise of its mean says,
    carries an error e of (theta, omega) on: at most `linear_growth` times the largest ratio, and what a learner
    remembers of its last change adds at most 2e. So every step of the path is judged, until the bound is VAGUE times
    theta. Another learner may divide its step by the root of a mean square, which a small constant keeps from 0 (Adam,
    RMSprop): rounding counts as if divided by that constant. It would be so again in every step that follows, so each
    transition of the path is given to a learner of its own.
    """
    run = _planted(case)
    cost, weight = float(np.abs(run.mdp.cost).max()), run.largest_weight()
    is_linear = bool({"TDC", "GTD2", "mean update"} & set(variant.promises))
    for path in [run.path] if is_linear else [[step] for step in dict.fromkeys(map(tuple, run.path))]:
        learner = new_learner(variant, run)
        start = arrays(learner.estimate())
        bounds = linear_step_bound(_rows(run), start[0], start[-1], cost, run.smoothing.varrho)
        rounding = 2.0 * weight * max(bounds) / (1.0 if is_linear else SMALLEST_ROOT)
        allowed = rounding
        for number, step in enumerate(path):
            if number and allowed > VAGUE * max(1.0, float(np.abs(start[0]).max())):
                break
            after = arrays(advance(learner, [step]).estimate())
            for name, got, right in zip(("theta", "omega"), after, start, strict=False):
                when = f" after step {number + 1} from the solution, {step[0]} to {step[3]}"
                finding = compare(got, right, allowed, name, after=when, axes=COMPONENTS)
                if finding is not None:
                    return finding
            allowed = (2.0 + weight * linear_growth(_rows(run), allowed, run.smoothing.varrho)) * allowed + rounding
    return None


def _read_deterministic(choices: Choices, variant: Variant) -> LinearCase:
    run = runs.run(choices, variant, steps=STEPS, least=1, ends=False, deterministic=True, projected=False)
    return cast(LinearCase, run)


def _has_own_step(variant: Variant) -> bool:
    return _is_free(variant) and callable(variant.options.get("expected"))


def _is_free(variant: Variant) -> bool:
    return table_count(variant) == 2


_FIRST = ("start", "run purity", "TDC step", "GTD2 step")
LAWS = (
    Law(
        "promised mean moves, linear",
        KINDS,
        "mean update",
        "the promised mean update moves θ in at least half of the problems with ω other than ω(θ)",
        Generated(lambda choices, variant: read_mean(Seeded(0), variant)),
        _content,
        unprojected=True,
        sets=(Contamination,),
        only=_has_own_step,
    ),
    Law(
        "promised mean, linear",
        KINDS,
        "mean update",
        "where J = 0 the promised mean update of (θ, 0) is (θ, 0)",
        Generated(read_mean),
        _about_the_problem,
        unprojected=True,
        sets=(Contamination,),
        only=_has_own_step,
    ),
    Law(
        "mean update, linear",
        KINDS,
        "mean update",
        "under the stationary distribution E[(θ, ω)_{t+1} | past] is the promised mean, by enumerating transitions "
        "and draws",
        Generated(read_mean),
        judge_mean,
        after=(*_FIRST, "promised mean moves, linear", "promised mean, linear"),
        unprojected=True,
        sets=(Contamination,),
        only=_is_free,
    ),
    Law(
        "linear fixed point",
        KINDS,
        "fixed point",
        "on a deterministic chain with δ = 0 everywhere, no step from (θ, 0) changes anything; the first step only, if "
        "no promise says that steps are linear in the sample",
        Generated(_read_deterministic),
        _fixed_point,
        after=_FIRST,
        unprojected=True,
        endless=True,
        deterministic=True,
        sets=(Contamination,),
        only=lambda variant: variant.kind != "linear control" or _is_free(variant),
    ),
)
