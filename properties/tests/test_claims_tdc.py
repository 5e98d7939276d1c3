"""What the general test of the claims does not cover: single lines, sharper statements, witnesses, long decimals."""

import numpy as np
import pytest

from oracles.bounds.tdc import BesselConstants
from oracles.linear.msprbe import MSPRBE
from properties.claims import evidence
from properties.claims.claim import Claim, Statement, judge
from properties.claims.paper import (
    h_mean,
    msprbe,
    smoothing,
    tdc_attained,
    tdc_constants,
    tdc_delta,
    tdc_drift,
    tdc_noise,
    tdc_rate,
    tdc_recursion,
    tdc_table,
)
from properties.claims.paper.linear import inequality, learner
from properties.tests.exact_msprbe import ExactMSPRBE
from robust_core.learners.linear import LinearLearner
from robust_core.mdp import MDP
from robust_core.trajectory import Transition

EXAMPLES = 60
SEARCH = 200

LINES = [
    (claim, line, statement, (claim, line) in module.FAILING_LINES)
    for module in (tdc_recursion, tdc_noise, tdc_rate)
    for claim, lines in module.LINES.items()
    for line, statement in lines.items()
]
SHARPER = [
    (claim, statement)
    for module in (smoothing, tdc_delta, tdc_constants, tdc_drift, tdc_noise, tdc_rate)
    for claim, statement in module.SHARPER.items()
]
OWN = {c.id: c for module in (smoothing, msprbe, tdc_constants, tdc_rate) for c in module.CLAIMS}
OTHER_CASES = ("main-sum", "tracking", "tdcbound", "thm5")
"""Claims whose amended form is about other cases than the printed one: runs without an active projection."""
FAILING = [claim for claim in OWN.values() if claim.printed is not None and claim.amended is not None]


@pytest.mark.parametrize(("claim", "line", "statement", "fails"), LINES, ids=[f"{c}: {line}" for c, line, *_ in LINES])
def test_every_printed_line_is_judged_alone(claim: str, line: str, statement: Statement, fails: bool) -> None:
    verdict = judge(statement, examples=SEARCH if fails else EXAMPLES)
    assert verdict.outcome == ("violated" if fails else "holds"), f"{claim}, {line}: {verdict.evidence}"


@pytest.mark.parametrize(("claim", "statement"), SHARPER, ids=[claim for claim, _ in SHARPER])
def test_sharper_statements_hold(claim: str, statement: Statement) -> None:
    verdict = judge(statement, examples=EXAMPLES)
    assert verdict.outcome == "holds", f"{claim}: {verdict.evidence}"


@pytest.mark.parametrize("claim", FAILING, ids=[claim.id for claim in FAILING])
def test_the_kept_counterexample_breaks_the_printed_form_only(claim: Claim) -> None:
    assert claim.printed is not None
    assert claim.amended is not None
    examples = evidence.counterexamples(claim)
    assert examples, f"no counterexample to {claim.id} is kept"
    for path, example in examples:
        assert claim.printed.judge(**example.case) is not None, path.name
        if claim.id not in OTHER_CASES:
            assert claim.amended.judge(**example.case) is None, path.name


def test_mutated_statements_about_the_implementation_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    planted, scaled, drift = (
        next(statement for claim, statement in SHARPER if claim == name) for name in ("thm5", "homogeneity", "h-zero")
    )
    shifted = Statement("", planted.cases, lambda **case: tdc_rate._planted(**case, shifted=0.125))
    assert judge(shifted, examples=EXAMPLES).outcome == "violated"
    fixed_varrho = Statement("", scaled.cases, lambda **case: tdc_drift._scaled(**case, unit=0.0))
    assert judge(fixed_varrho, examples=EXAMPLES).outcome == "violated"
    monkeypatch.setattr(tdc_drift, "learner", lambda *given: LinearLearner("GTD2", learner(*given).problem))
    assert judge(drift, examples=EXAMPLES).outcome == "violated"


BESSEL_CONTROLS = {"f-mean": 2.0, "g-mean": 2.0, "h-mean": 2.0, "zeta": 16.0}
"""By how much the bounds before tau may be divided until they fail."""


@pytest.mark.parametrize("claim", BESSEL_CONTROLS)
def test_the_noise_lemmas_by_bessel_fail_when_divided(claim: str) -> None:
    name = claim.removesuffix("-mean")
    over = BESSEL_CONTROLS[claim]
    divided = inequality("", dict(SHARPER)[claim].cases, tdc_noise._lemma(name, least=1, bessel=True, early_over=over))
    assert judge(divided, examples=SEARCH).outcome == "violated"


@pytest.mark.parametrize(("claim", "over"), [("tracking", 24.0), ("tdcbound", 8.0)])
def test_a_bound_by_bessel_fails_when_divided(claim: str, over: float) -> None:
    """On one state with gamma = 0; a run reaches 1/18 and 1/4 of them."""
    lowered = tdc_attained.one_state_sides(tdc_attained.BOUNDS[claim], constants=BesselConstants, factor=1.0 / over)
    divided = inequality("", tdc_attained.one_state, lowered)
    assert judge(divided, examples=SEARCH).outcome == "violated"


def test_the_bounds_by_bessel_are_the_smallest_of_the_table_and_no_instance_exceeds_them() -> None:
    for name, _, corrected, by_bessel, attained in tdc_table.bounds():
        better = float(by_bessel) / float(corrected)
        assert better >= 1.0 if "larger is better" in name else better <= 1.0
        assert not attained or float(attained) <= float(by_bessel)


@pytest.mark.parametrize("name", ["J-lip", "omega-lip", "G-star", "h-const", "f-lip", "G-omega-lip", "G-bound"])
def test_a_sharper_bound_divided_by_eight_fails(name: str) -> None:
    sides = {
        "J-lip": tdc_constants._J_lipschitz(bessel=True),
        "omega-lip": tdc_constants._omega_increment(0.5),
        "G-star": tdc_drift._star(0.5, smooth=False),
        "h-const": tdc_drift._h_constants(True),
        "f-lip": tdc_constants._f_lipschitz(2.0),
        "G-omega-lip": tdc_constants._G_omega(smooth=False),
        "G-bound": tdc_constants._separate_radii,
    }[name]
    cases = dict(SHARPER)[name].cases
    lowered = inequality("", cases, lambda **case: [(what, left, bound / 8) for what, left, bound in sides(**case)])
    assert judge(lowered, examples=SEARCH).outcome == "violated"


def test_J_is_not_convex_with_costs_between_0_and_1() -> None:
    mdp = MDP([[[0.75, 0.25]], [[0.9375, 0.0625]]], [[0.0], [1.0]], 0.9375)
    problem = MSPRBE(mdp, np.ones((2, 1)), [[0.75], [-1.0]], radius=1.0, varrho=16.0)
    assert float(problem.hessian([0.0]).upper[0, 0]) < -1.0
    assert float(MSPRBE(mdp, np.ones((2, 1)), [[0.75], [-1.0]], radius=0.0, varrho=16.0).hessian([0.0]).lower[0, 0]) > 0


def test_the_printed_gradient_differs_from_long_decimals() -> None:
    [(_, example), *_] = evidence.counterexamples(OWN["J-grad"])
    case = example.case
    problem = MSPRBE(case["mdp"], case["policy"], case["features"], radius=case["radius"], varrho=case["varrho"])
    truth, formula = ExactMSPRBE(problem).gradient(case["theta"]), problem.gradient(case["theta"])
    assert truth.agrees_with(formula)
    finding = OWN["J-grad"].printed.judge(**case)
    assert finding is not None
    assert abs(finding.got + truth.value[int(finding.what[-2])] / 2) > truth.error_bound + finding.allowed


@pytest.mark.parametrize("which", ["tracking", "tdc"])
def test_the_closed_form_of_one_state_is_the_path_of_the_learner(which: str) -> None:
    mdp, alpha, beta, T = MDP([[[1.0]]], [[0.25]], 0.0), 2.0**-4, 2.0**-2, 12
    theta = np.array([0.25 if which == "tracking" else -0.5])
    run = learner(mdp, np.ones((1, 1)), 0.0, 1.0, 1.0, theta, alpha, beta)
    run.omega = np.array([1.0]) if which == "tracking" else 0.25 - theta
    values: list[float] = []
    for _ in range(T):
        theta, omega = run.estimate()
        delta = 0.25 - theta[0]
        values.append(float(omega[0] - delta) ** 2 if which == "tracking" else 4 * delta**2)
        run.update(Transition(0, 0, 0.25, 0, 0, False))
    rate = beta if which == "tracking" else alpha
    assert np.mean(values) == pytest.approx(values[0] * tdc_attained.one_state_path(rate, T), rel=1e-12)


def test_the_printed_constants_of_the_lemma_on_h_are_enough_for_every_lambda() -> None:
    """Seven divisions show the inequality on all cells; with a drift that is a third larger it is false."""
    assert len(h_mean.failing_cells(depth=7)) == 0
    worse = h_mean.failing_cells(depth=7, drift=4 / 3)
    middle = worse.mean(axis=2, keepdims=True).repeat(2, axis=2)
    assert (h_mean.margins(middle, drift=4 / 3) < 0).any()
    assert (h_mean.margins(middle) > 0).all()
