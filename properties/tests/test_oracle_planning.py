"""Robust planning: every method's enclosure meets every other's and contains the rational truth."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from oracles.arithmetic.certified import Certified
from oracles.planning import bounds, closed_form, newton, rational
from properties.strategies import mdps, policies, radii, uncertainty_sets
from robust_core.mdp import MDP, SparseRows
from robust_core.planning import plan
from robust_core.sets import Contamination, Interval, TotalVariation, UncertaintySet
from robust_core.validate import EPS, Floats

Ball = Contamination | TotalVariation
SETS: tuple[type[Contamination], type[TotalVariation]] = (Contamination, TotalVariation)
GAMMAS = (0.0, 0.5, 0.9, 0.99, 0.999, 0.9999)
RADII = (0.0, 0.01, 0.3, 0.7, 1.0)


def request(mdp: MDP) -> float:
    """A width of about six digits of the largest value there can be: more than rounding needs up to γ = 0.9999."""
    return (float(abs(mdp.cost).max()) + 2.0**-30) / (1.0 - mdp.gamma) * 2.0**-20


def random_model(seed: int, *, n_states: int | None = None, sparse: bool | None = None) -> MDP:
    """Models of 1 to 40 states with the edge cases mixed in: Dirac and nearly deterministic rows, ties."""
    rng = np.random.default_rng(seed)
    S = n_states or int(rng.integers(1, 41))
    A = int(rng.integers(1, 5))
    P = rng.random((S, A, S)) ** rng.choice([1.0, 8.0])
    P[rng.random(P.shape) < rng.choice([0.0, 0.7])] = 0.0
    home = rng.integers(0, S, (S, A))
    near = rng.random((S, A)) < 0.3
    P[near] *= rng.choice([0.0, 1e-9])
    np.put_along_axis(P, home[..., None], np.take_along_axis(P, home[..., None], -1) + 1e-3, -1)
    P /= P.sum(axis=-1, keepdims=True)
    cost = rng.integers(0, 3, (S, A)) / 2.0 if rng.random() < 0.3 else rng.normal(size=(S, A))
    model = MDP(P, cost, float(rng.choice(GAMMAS)))
    return MDP(model.rows, cost, model.gamma) if (seed % 2 if sparse is None else sparse) else model


def random_set(seed: int) -> Ball:
    rng = np.random.default_rng([seed, 1])
    return SETS[seed // 2 % 2](float(rng.choice(RADII)))


def random_policy(seed: int, mdp: MDP) -> np.ndarray:
    return np.random.default_rng([seed, 2]).dirichlet(np.full(mdp.n_actions, 0.5), mdp.n_states)


def second(mdp: MDP, uncertainty_set: UncertaintySet, policy: np.ndarray | None = None) -> closed_form.ClosedForm:
    """The method that shares nothing with `planning`."""
    assert isinstance(uncertainty_set, SETS), uncertainty_set
    method = closed_form if isinstance(uncertainty_set, Contamination) else newton
    return (
        method.solve(mdp, uncertainty_set.radius)
        if policy is None
        else method.evaluate(mdp, uncertainty_set.radius, policy)
    )


def assert_meet(one: Certified, other: Certified, what: object) -> None:
    excess = abs(one.value - other.value).max() - one.error_bound - other.error_bound
    assert one.agrees_with(other), f"{what}: {one.method} and {other.method} are apart by {excess} beyond their bounds"


def contains(enclosure: Certified, truth: object) -> bool:
    """Whether exact fractions lie in the enclosure, decided in rationals."""
    exact = np.array(truth, dtype=object)
    pairs = zip(exact.ravel(), enclosure.value.ravel().tolist(), strict=True)
    return all(abs(t - Fraction(value)) <= Fraction(enclosure.error_bound) for t, value in pairs)


@given(st.data())
def test_enclosures_contain_the_rational_truth(data: st.DataObject) -> None:
    mdp = data.draw(mdps(storage="either", dyadic=data.draw(st.booleans())))
    uncertainty_set = data.draw(uncertainty_sets())
    optimum = rational.solve(mdp, uncertainty_set)
    solution = bounds.solve(mdp, uncertainty_set, width=request(mdp))
    other = second(mdp, uncertainty_set)
    for method, Q, V in (("planning", solution.Q, solution.V), ("second", other.Q, other.V)):
        assert contains(Q, optimum.Q), f"{method}: Q* = {optimum.Q} not in {Q} for {uncertainty_set} on\n{mdp}"
        assert contains(V, optimum.V), f"{method}: V* = {optimum.V} not in {V} for {uncertainty_set} on\n{mdp}"


@given(st.data())
def test_policy_values_contain_the_rational_truth(data: st.DataObject) -> None:
    mdp = data.draw(mdps(max_states=4, storage="either"))
    uncertainty_set, policy = data.draw(uncertainty_sets()), data.draw(policies(mdp))
    truth = rational.evaluate(mdp, uncertainty_set, policy).V
    for V in (
        bounds.evaluate(mdp, uncertainty_set, policy, width=request(mdp)).V,
        second(mdp, uncertainty_set, policy).V,
    ):
        assert contains(V, truth), f"{V.method}: V^pi = {truth} not in {V} for {uncertainty_set} on\n{mdp}"


@given(st.integers(0, 10**9))
def test_methods_agree(seed: int) -> None:
    mdp, uncertainty_set = random_model(seed), random_set(seed)
    policy = random_policy(seed, mdp)
    width = request(mdp)
    for asked in (None, policy):
        ours = (
            bounds.solve(mdp, uncertainty_set, width=width)
            if asked is None
            else bounds.evaluate(mdp, uncertainty_set, asked, width=width)
        )
        other = second(mdp, uncertainty_set, asked)
        assert 2.0 * ours.error_bound <= width
        assert_meet(ours.Q, other.Q, (seed, uncertainty_set, mdp))
        assert_meet(ours.V, other.V, (seed, uncertainty_set, mdp))


GAP_ROUNDINGS = 16
"""More than the five operations and the logarithm (at most 4 units in the last place) that the gap is made of."""


@given(st.integers(0, 10**9), st.sampled_from([2.0**-4, 1.0, 2.0**10]), st.booleans())
def test_smoothed_fixed_points_agree(seed: int, varrho: float, mellowmax: bool) -> None:
    mdp, radius = random_model(seed), random_set(seed).radius
    policy = random_policy(seed, mdp)
    width = request(mdp) + 2.0**-20 / varrho / (1.0 - mdp.gamma)
    ours = bounds.smoothed_fixed_point(mdp, radius, policy, varrho, width=width, mellowmax=mellowmax)
    other = closed_form.smoothed_fixed_point(mdp, radius, policy, varrho, mellowmax=mellowmax)
    assert_meet(ours, other, (seed, radius, varrho, mdp))
    # LSE lies in [max, max + log S/varrho], mellow-max in [max − log S/varrho, max].
    sharp = bounds.evaluate(mdp, Contamination(radius), policy, width=width).V
    gap = mdp.gamma * radius / (1.0 - mdp.gamma) * np.log(mdp.n_states) / varrho * (1.0 + GAP_ROUNDINGS * EPS)
    low, high = (-gap, 0.0) if mellowmax else (0.0, gap)
    assert (ours.upper >= sharp.lower + low).all()
    assert (ours.lower <= sharp.upper + high).all()


@given(st.integers(0, 10**9))
def test_dense_and_sparse_storage_agree(seed: int) -> None:
    dense, uncertainty_set = random_model(seed, sparse=False), random_set(seed)
    rows = MDP(dense.rows, dense.cost, dense.gamma)
    width = request(dense)
    assert_meet(
        bounds.solve(dense, uncertainty_set, width=width).Q,
        bounds.solve(rows, uncertainty_set, width=width).Q,
        (seed, uncertainty_set),
    )


@given(mdps(max_states=4), uncertainty_sets())
def test_as_narrow_as_rounding_allows(mdp: MDP, uncertainty_set: Ball) -> None:
    """Ask for nothing: the error names a width; twice that is granted and still contains the truth."""
    try:
        solution = bounds.solve(mdp, uncertainty_set, width=5e-324)
    except ValueError as error:
        advised = float(str(error).split("at least about ")[1].split()[0])
        solution = bounds.solve(mdp, uncertainty_set, width=2.0 * advised)
    assert contains(solution.Q, rational.solve(mdp, uncertainty_set).Q), f"{uncertainty_set} on\n{mdp}"


@pytest.mark.parametrize(
    "uncertainty_set", [Contamination(0.0), Contamination(0.1), TotalVariation(0.1), TotalVariation(0.6)]
)
@pytest.mark.parametrize("gamma", [0.95, 0.9999])
@pytest.mark.parametrize("n_states", [30, 120, 300])
@pytest.mark.parametrize("sparse", [False, True])
def test_slowly_mixing_chains(uncertainty_set: Ball, gamma: float, n_states: int, sparse: bool) -> None:
    """A ring with short steps: the direct and Krylov solves, long rows and the large sort are all used."""
    rng = np.random.default_rng(n_states)
    steps = np.arange(-min(14, n_states // 2 - 1), 15)
    P = np.zeros((n_states, 2, n_states))
    for s in range(n_states):
        for a in range(2):
            P[s, a, (s + steps) % n_states] = rng.dirichlet(np.full(len(steps), 0.3))
    mdp = MDP(P, rng.random((n_states, 2)), gamma)
    mdp = MDP(mdp.rows, mdp.cost, gamma) if sparse else mdp
    ours, other = bounds.solve(mdp, uncertainty_set, width=request(mdp)), second(mdp, uncertainty_set)
    assert_meet(ours.Q, other.Q, (uncertainty_set, gamma))


def test_a_deterministic_cycle_far_from_mixing() -> None:
    """Period 40, γ = 0.9999: V by hand, V(s) = γ^(steps to the paid step)/(1 − γ^40)."""
    n, gamma = 40, 0.9999
    mdp = MDP(np.roll(np.eye(n), 1, axis=1)[:, None, :], np.eye(n)[0][:, None], gamma)
    exact = Fraction(gamma)
    truth = [exact ** ((n - s) % n) / (1 - exact**n) for s in range(n)]
    assert contains(bounds.solve(mdp, Contamination(0.0), width=request(mdp)).V, truth)


# Nature's kernel ------------------------------------------------------------------------------------------------


@given(st.integers(0, 10**9))
def test_worst_kernel_lies_in_the_set_and_attains_the_value(seed: int) -> None:
    mdp, uncertainty_set = random_model(seed), random_set(seed)
    solution = bounds.solve(mdp, uncertainty_set, width=request(mdp))
    attacked = MDP(solution.worst_kernel(), mdp.cost, mdp.gamma)  # validates the rows
    assert attacked.is_sparse == mdp.is_sparse
    # Of a row of floats, in the 1-norm: its sum is off by (2n+1) EPS, and so is that of the kernel it came from; the
    # running sums and the mass for the top state err by n EPS/2 each, the single entries by EPS.
    rounding = 8.0 * (mdp.n_states + 2) * EPS
    if isinstance(uncertainty_set, TotalVariation):
        assert 0.5 * abs(attacked.P - mdp.P).sum(axis=-1).max() <= uncertainty_set.radius + rounding
    else:
        assert ((1.0 - uncertainty_set.radius) * mdp.P - rounding <= attacked.P).all()
    # The kernel is worst for the computed V; rows moved by rounding move a backup by that times max|V|.
    nominal = bounds.solve(attacked, Contamination(0.0), width=request(mdp))
    size = float(abs(solution.v).max())
    allowed = (2.0 * solution.error_bound + rounding * size) / (1.0 - mdp.gamma) + nominal.error_bound
    assert abs(nominal.v - solution.v).max() <= allowed, (seed, uncertainty_set, mdp)


def test_quantecon_on_the_worst_kernel() -> None:
    quantecon = pytest.importorskip("quantecon.markov", exc_type=ImportError)
    for seed in range(20):
        mdp, uncertainty_set = random_model(seed, sparse=False), random_set(seed)
        if mdp.gamma > 0.99:
            continue
        solution = bounds.solve(mdp, uncertainty_set, width=request(mdp))
        peer = quantecon.DiscreteDP(-mdp.cost, solution.worst_kernel(), mdp.gamma).solve(method="policy_iteration")
        # The kernel is worst for the computed V up to twice its error; its rows and the peer's linear solve, which
        # is backward stable, leave a residual of 8(n+2) EPS each relative to the values.
        residual = 2.0 * solution.error_bound + 16.0 * (mdp.n_states + 2) * EPS * abs(peer.v).max()
        assert abs(-peer.v - solution.v).max() <= residual / (1.0 - mdp.gamma), (seed, uncertainty_set)


STORM_PRECISION = 1e-6  # Storm's default: it stops when no value changes by more than this fraction of itself


def _interval_mdp(mdp: MDP, low: Floats, high: Floats) -> str:
    """An interval model in Storm's text format, discounting as stopping."""
    gamma, done = mdp.gamma, mdp.n_states
    lines = ["@type: MDP", "@value_type: double-interval", "@parameters", "", "@reward_models", "cost"]
    lines += ["@nr_states", str(done + 1), "@nr_choices", str(mdp.cost.size + 1), "@model"]
    for s, a in np.ndindex(mdp.cost.shape):
        lines += [f"state {s} [0]{' init' if s == 0 else ''}"] * (a == 0)
        lines += [f"\taction {a} [{float(mdp.cost[s, a])!r}]"]
        for successor in range(mdp.n_states):
            ends = (gamma * float(side[s, a, successor]) for side in (low, high))
            lines += [f"\t\t{successor} : [{', '.join(map(repr, ends))}]"]
        lines += [f"\t\t{done} : [{1.0 - gamma!r}, {1.0 - gamma!r}]"]
    return "\n".join([*lines, f"state {done} [0] done", "\taction 0 [0]", f"\t\t{done} : [1, 1]", ""])


def test_storm_solves_the_interval_mdp(tmp_path: Path) -> None:
    """Contamination by its intervals [(1−R)p, (1−R)p + R], and relative bounds, by the oracle and by the core."""
    stormpy = pytest.importorskip("stormpy", minversion="2", exc_type=ImportError)
    prop = stormpy.parse_properties('Rmin=? [F "done"]')[0]
    for seed, radius in enumerate((0.0625, 0.25, 0.5, None)):
        rng = np.random.default_rng(seed)
        mdp = MDP(rng.dirichlet(np.ones(5), (5, 3)), rng.random((5, 3)), 0.875)
        low, high = 0.5 * mdp.P, np.minimum(2.0 * mdp.P, 1.0)
        if radius is not None:
            low, high = (1.0 - radius) * mdp.P, (1.0 - radius) * mdp.P + radius
        path = tmp_path / f"{seed}.drn"
        path.write_text(_interval_mdp(mdp, low, high), encoding="ascii")
        model = stormpy.build_model_from_drn[stormpy.Interval](str(path))
        mode = stormpy.UncertaintyResolutionMode.ROBUST
        result = stormpy.model_checking(model, prop, uncertainty_resolution_mode=mode, only_initial_states=False)
        peer = np.array([result.get_value(s) for s in range(mdp.n_states)])
        found: list[Any] = [plan(mdp, Interval(low, high), accuracy=1e-9)]
        if radius is not None:
            found.append(bounds.solve(mdp, Contamination(radius), width=1e-9).V)
        for V in found:
            # Iterated from below; a change of at most e per step leaves e·γ/(1−γ) to go.
            short = STORM_PRECISION * V.upper.max() * mdp.gamma / (1.0 - mdp.gamma)
            assert (peer <= V.upper).all(), (seed, radius)
            assert (peer >= V.lower - short).all(), (seed, radius)


# Certificates that are wrong --------------------------------------------------------------------------------------

Planner = Callable[[MDP, Ball], Certified]


def _honest(mdp: MDP, uncertainty_set: Ball) -> Certified:
    return bounds.solve(mdp, uncertainty_set, width=request(mdp)).Q


def _ignores_rounding(mdp: MDP, uncertainty_set: Ball) -> Certified:
    solution = bounds.solve(mdp, uncertainty_set, width=request(mdp) * 2.0**-20)
    return Certified(solution.q, solution.truncation, "no rounding")


def _l1_radius(mdp: MDP, uncertainty_set: Ball) -> Certified:
    narrowed = (
        TotalVariation(uncertainty_set.radius / 2.0) if isinstance(uncertainty_set, TotalVariation) else uncertainty_set
    )
    return bounds.solve(mdp, narrowed, width=request(mdp)).Q


def _backup(mdp: MDP, uncertainty_set: Ball, Q: np.ndarray) -> np.ndarray:
    return np.array(rational.backup(mdp, uncertainty_set, Q), dtype=float)


def _stops_on_the_change(mdp: MDP, uncertainty_set: Ball) -> Certified:
    width = 2.0**-6
    Q = np.zeros_like(mdp.cost)
    while abs((image := _backup(mdp, uncertainty_set, Q)) - Q).max() > width:
        Q = image
    return Certified(image, width, "no 1/(1-gamma)")


def _span_without_shift(mdp: MDP, uncertainty_set: Ball) -> Certified:
    width = 2.0**-6
    factor = mdp.gamma / (1.0 - mdp.gamma) / 2.0
    Q = np.zeros_like(mdp.cost)
    while factor * np.ptp((image := _backup(mdp, uncertainty_set, Q)).min(axis=1) - Q.min(axis=1)) > width:
        Q = image
    return Certified(image, width, "no shift")


def caught(planner: Planner) -> int:
    """On how many of a fixed list of small problems an enclosure misses the rational truth."""
    misses = 0
    for seed in range(24):
        model = random_model(seed, n_states=1 + seed % 3)
        mdp = MDP(model.kernel, model.cost, 0.9)
        uncertainty_set = SETS[seed % 2]([0.1, 0.3][seed // 2 % 2])
        misses += not contains(planner(mdp, uncertainty_set), rational.solve(mdp, uncertainty_set).Q)
    return misses


def test_the_honest_planner_is_not_caught() -> None:
    assert caught(_honest) == 0


@pytest.mark.parametrize("planner", [_ignores_rounding, _l1_radius, _stops_on_the_change, _span_without_shift])
def test_wrong_certificates_are_caught(planner: Planner) -> None:
    assert caught(planner) > 0


# Bad input ----------------------------------------------------------------------------------------------------------

COIN = MDP([[[0.5, 0.5]], [[0.0, 1.0]]], [[1.0], [0.0]], 0.5)


@pytest.mark.parametrize("width", [0.0, -1.0, float("nan"), float("inf")])
def test_width_must_be_positive(width: float) -> None:
    with pytest.raises(ValueError, match="width must be"):
        bounds.solve(COIN, Contamination(0.1), width=width)


def test_width_below_rounding_is_refused_with_the_width_that_is_possible() -> None:
    with pytest.raises(ValueError, match="rounding of float64 allows no less, got 1e-300"):
        bounds.solve(COIN, TotalVariation(0.1), width=1e-300)


def test_unknown_sets_are_refused() -> None:
    with pytest.raises(TypeError, match="uncertainty_set must be Contamination or TotalVariation"):
        bounds.solve(COIN, "contamination", width=1e-6)  # type: ignore[arg-type]


def test_a_policy_must_be_a_distribution() -> None:
    with pytest.raises(ValueError, match="policy row"):
        bounds.evaluate(COIN, Contamination(0.1), [[0.5], [1.0]], width=1e-6)


def test_varrho_must_be_positive() -> None:
    with pytest.raises(ValueError, match="varrho must be positive"):
        bounds.smoothed_fixed_point(COIN, 0.1, [[1.0], [1.0]], 0.0, width=1e-6)


def test_values_beyond_floats_are_refused() -> None:
    with pytest.raises(ValueError, match="exceed the range of floats"):
        bounds.solve(MDP([[[1.0]]], [[1e308]], 0.99), Contamination(0.1), width=1.0)


def test_results_are_the_callers_own() -> None:
    policy = np.ones((2, 1))
    solution = bounds.evaluate(COIN, Contamination(0.1), policy, width=1e-6)
    before = solution.V.value.copy()
    policy[:] = 0.0
    assert (solution.policy == 1.0).all()
    assert (solution.V.value == before).all()


@example(radius=0.5)
@given(radii())
def test_more_uncertainty_costs_more(radius: float) -> None:
    for kind in SETS:
        nominal = bounds.solve(COIN, kind(0.0), width=1e-9).V
        assert (bounds.solve(COIN, kind(radius), width=1e-9).V.upper >= nominal.lower).all()


def test_sparse_rows_of_the_worst_kernel_gain_the_top_state() -> None:
    rows = MDP(COIN.rows, COIN.cost, COIN.gamma)
    kernel = bounds.solve(rows, Contamination(0.5), width=1e-9).worst_kernel()
    assert isinstance(kernel, SparseRows)
    assert MDP(kernel, COIN.cost, COIN.gamma).P.tolist() == [[[0.75, 0.25]], [[0.5, 0.5]]]


@pytest.mark.parametrize("sparse", [False, True])
def test_the_closed_form_does_not_use_the_expectation_of_the_core(
    sparse: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`MDP.expectation` is under test: what judges the planners must not go wrong with it."""
    mdp = MDP(COIN.rows if sparse else COIN.kernel, COIN.cost, COIN.gamma)
    truth = rational.solve(mdp, Contamination(0.25))
    for owner in (MDP, SparseRows):
        monkeypatch.setattr(owner, "expectation", lambda self, v: 1.0 / 0.0)
    answer = closed_form.solve(mdp, 0.25)
    assert answer.V.agrees_with(rational.certified_values(truth.V, "rationals"))
    assert closed_form.evaluate(mdp, 0.25, answer.policy).V.agrees_with(answer.V)
