"""TDC and GTD2: every compiled step, restarted from the reference's state, is within the bound of `linear_rounding`."""

import copy
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from properties.profiles import examples
from properties.strategies import features as feature_matrices
from properties.strategies import mdps, radii
from properties.tests.linear_rounding import PHI, SETTINGS, Formulas, U, compiled_step, make, setting, violations
from robust_core import streams
from robust_core.learners.linear import learn, learn_plain, project, stopping_time
from robust_core.learners.runs import snapshots
from robust_core.learners.schedules import constant
from robust_core.mdp import MDP
from robust_core.policy import uniform
from robust_core.smoothing import LogSumExp, Mellowmax, Smoothing
from robust_core.trajectory import Walk
from robust_core.validate import Floats

SINGLE_STEPS = 100_000
SHARES = [(rule, name) for rule in ("TDC", "GTD2") for name in SETTINGS]


@pytest.mark.parametrize(("rule", "name"), SHARES)
def test_single_steps_are_within_the_bound(rule: str, name: str) -> None:
    """At least 10^5 single steps, in equal shares."""
    learner, walk = setting(rule, name)
    assert violations(learner, walk, math.ceil(SINGLE_STEPS / len(SHARES)), compiled_step) == 0


def inexact(x: Floats) -> Floats:
    """exp with a relative error of 1e-12 (alternating, so that softmax feels it too)."""
    return np.exp(x) * (1 + 1e-12 * np.where(np.arange(len(x)) % 2, 1.0, -1.0))


def constant_factor(x: Floats) -> Floats:
    """exp with the relative error 1e-12 everywhere."""
    return np.exp(x) * (1 + 1e-12)


WRONG = {
    "exp off by 1e-12, alternating": (Formulas(exp=inexact), "plain"),
    "exp off by 1e-12": (Formulas(exp=constant_factor), "plain"),
    "exp of single precision": (
        Formulas(exp=lambda x: np.exp(x.astype(np.float32)).astype(np.float64)),
        "plain",
    ),
    "softmax without varrho": (Formulas(softmax_varrho=1.0), "plain"),
    "softmax with a varrho off by 1e-9": (Formulas(softmax_varrho=2.0 * (1 + 1e-9)), "plain"),
    "projection forgotten": (Formulas(forgets="projection"), "projected"),
    "mellow-max by the logarithm of a sum": (Formulas(forgets="digits"), "small varrho"),
    "LSE for mellow-max": (Formulas(forgets="shift"), "mellow-max"),
    "steps counted from 1": (Formulas(forgets="t"), "mellow-max"),
    "terminal ignored": (Formulas(forgets="terminal"), "episodes"),
    "omega not tracked": (Formulas(forgets="tracked"), "plain"),
}


@pytest.mark.parametrize("rule", ["TDC", "GTD2"])
@pytest.mark.parametrize("name", WRONG)
def test_wrong_steps_are_noticed(rule: str, name: str) -> None:
    wrong, where = WRONG[name]
    learner, walk = setting(rule, where)
    learn(learner, walk, 50)  # away from omega = 0, where g does not matter
    assert violations(learner, copy.deepcopy(walk), 200, Formulas()) == 0
    assert violations(learner, copy.deepcopy(walk), 200, wrong) > 0


@given(mdps(min_states=2, ergodic=True), radii(), st.sampled_from((0.5, 2.0, 30.0, 1e-9)), st.booleans(), st.data())
@examples(60)
def test_generated_problems_are_within_the_bound(
    mdp: MDP, radius: float, varrho: float, mellow: bool, data: st.DataObject
) -> None:
    Phi = data.draw(feature_matrices(mdp.n_states))
    smoothing: Smoothing = Mellowmax(varrho) if mellow else LogSumExp(varrho)
    K = data.draw(st.sampled_from((math.inf, 1.0, 0.125)))
    rule = data.draw(st.sampled_from(("TDC", "GTD2")))
    learner = make(rule, mdp, radius, Phi, smoothing=smoothing, projection=K, initial=np.full(Phi.shape[1], 0.75))
    pi = uniform(mdp.n_states, mdp.n_actions)
    walk = Walk(mdp, pi, seed=streams.key(mdp.hash))
    assert violations(learner, walk, 30, compiled_step) == 0


def test_runs_resume_and_stay_close() -> None:
    """A compiled run cut in two is the run in one piece, bit for bit; t and the walk go on."""
    for rule in ("TDC", "GTD2"):
        learner, walk = setting(rule, "mellow-max")
        whole, w1 = copy.deepcopy((learner, walk))
        split, w2 = copy.deepcopy((learner, walk))
        plain, w3 = copy.deepcopy((learner, walk))
        learn(whole, w1, 500)
        learn(split, w2, 123)
        learn(split, w2, 377)
        learn_plain(plain, w3, 500)
        assert [x.tobytes() for x in whole.estimate()] == [x.tobytes() for x in split.estimate()]
        assert whole.t == split.t == plain.t == 500
        assert w1.stream.tobytes() == w2.stream.tobytes() == w3.stream.tobytes()
        assert w1.position.tobytes() == w3.position.tobytes()
        restarted, w4 = copy.deepcopy((learner, walk))
        learn(restarted, w4, 123)
        restarted.t = 0
        learn(restarted, w4, 377)
        assert restarted.theta.tobytes() != whole.theta.tobytes()


def test_estimates_are_copies_and_the_problem_stays() -> None:
    learner, walk = setting("TDC", "plain")
    initial = learner.problem.initial.copy()
    learn(learner, walk, 10)
    theta, omega = learner.estimate()
    theta[:], omega[:] = 9.0, 9.0
    assert (learner.theta != 9.0).all()
    assert (learner.omega != 9.0).all()
    assert learner.problem.initial.tobytes() == initial.tobytes()
    assert learner.problem.features is not None
    assert learner.problem.features.tobytes() == PHI.tobytes()


# ---- projection


@pytest.mark.parametrize("scale", [1e-300, 1e-170, 1e-150, 1.0, 1e150, 1e170, 1e300])
def test_the_projection_is_right_at_every_scale(scale: float) -> None:
    """Squares of the entries overflow or underflow at either end; within (N/2+5)u of the nearest point."""
    x = np.array([3.0, 4.0]) * scale
    for K in (scale, 5.0 * scale, 10.0 * scale):
        wanted = np.array([0.6, 0.8]) * min(K, 5.0 * scale)
        assert np.abs(project(x, K) - wanted).max() <= 6 * U * 5.0 * scale
    assert project(x, np.inf).tobytes() == x.tobytes()


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_the_compiled_projection_is_right_at_every_scale(scale: float) -> None:
    """One step from omega = 0 with all numbers scaled: theta and omega end on the ball, not at 0 and not outside."""
    Phi = np.array([[0.6, 0.8], [0.8, -0.6]])
    mdp = MDP([[[0.0, 1.0]], [[1.0, 0.0]]], [[5.0 * scale], [1.0 * scale]], 0.5)
    for run in (learn, learn_plain):
        learner = make(
            "TDC", mdp, 0.25, Phi, projection=scale, smoothing=LogSumExp(1.0 / scale), alpha=constant(1.0),
            beta=constant(1.0),
        )  # fmt: skip
        run(learner, Walk(mdp, np.ones((2, 1)), seed=streams.key("scale")), 1)
        for x in learner.estimate():
            # The projection errs by 6u; the product with the features rounds, so do 0.6 and 0.8, and their multiples.
            assert np.abs(x - np.array([0.6, 0.8]) * scale).max() <= (6 + 4) * U * scale


def test_divergence_is_an_error() -> None:
    """Steps that leave the range of floats: a clear error from either implementation, never nan in an estimate."""
    Phi = np.array([[1e100], [1e100]])
    mdp = MDP([[[0.0, 1.0]], [[1.0, 0.0]]], [[1.0], [1.0]], 0.5)
    for run in (learn, learn_plain):
        for radius in (0.0, 0.5):
            learner = make("TDC", mdp, radius, Phi, initial=np.array([1e50]), alpha=constant(1.0), beta=constant(1.0))
            with pytest.raises(OverflowError, match="TDC diverged"):
                run(learner, Walk(mdp, np.ones((2, 1)), seed=streams.key("diverge")), 100)


def test_one_state_one_feature() -> None:
    """S = 1: smax(V) = V, so TDC is the scalar recursion; here both sides are computed without rounding."""
    mdp = MDP([[[1.0]]], [[1.0]], 0.5)
    for run in (learn, learn_plain):
        learner = make("TDC", mdp, 0.5, np.array([[1.0]]), alpha=constant(0.5), beta=constant(0.5))
        run(learner, Walk(mdp, [[1.0]], seed=streams.key("one")), 2)
        # delta_0 = 1, theta_1 = omega_1 = 1/2; delta_1 = 1 + 1/4 - 1/2 = 3/4, g = 1/2.
        assert learner.theta.tolist() == [0.5 + 0.5 * (0.75 - 0.25)]
        assert learner.omega.tolist() == [0.5 + 0.5 * (0.75 - 0.5)]


def test_stopping_times_are_uniform_and_seeded() -> None:
    """W in 0 … T−1; each of 4 values, in 4,000 seeds, within six standard deviations (1e-8 of false alarm)."""
    T, n = 4, 4000
    drawn = [stopping_time(T, streams.key("W", i)) for i in range(n)]
    assert drawn == [stopping_time(T, streams.key("W", i)) for i in range(n)]
    counts = np.bincount(drawn, minlength=T)
    assert len(counts) == T
    assert np.abs(counts - n / T).max() <= 6 * math.sqrt(n / T * (1 - 1 / T))
    off_by_one = np.bincount([min(w + 1, T - 1) for w in drawn], minlength=T)
    assert np.abs(off_by_one - n / T).max() > 6 * math.sqrt(n / T * (1 - 1 / T))


def test_snapshots_of_a_linear_learner_are_its_estimates_at_their_times() -> None:
    times = [0, 3, 3, 50]
    learner, walk = setting("TDC", next(iter(SETTINGS)))
    thetas, omegas = snapshots(*copy.deepcopy((learner, walk)), times)
    for place, time in enumerate(times):
        one, its_walk = copy.deepcopy((learner, walk))
        learn(one, its_walk, time)
        assert np.array_equal(thetas[place], one.theta)
        assert np.array_equal(omegas[place], one.omega)
    assert not np.array_equal(thetas[0], thetas[-1]), "the learner moved"
    assert [x.shape for x in snapshots(learner, walk, [])] == [(0, learner.theta.size)] * 2
