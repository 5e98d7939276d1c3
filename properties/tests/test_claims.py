"""Every claim of the paper: its status is derived by running it, and every check is shown to be able to fail."""

import secrets
from dataclasses import replace
from types import CodeType
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st

from oracles.bounds import q_learning
from oracles.chains import mixing
from oracles.chains.chain import state_chain
from properties import profiles
from properties.claims import catalogue, claim_named, evidence
from properties.claims.claim import Claim, Statement, adjudicate, judge, status
from properties.claims.ours import visit_counts
from properties.claims.paper import theorem3_constants
from properties.claims.text import explain, parts
from properties.judging.counterexample import Counterexample
from properties.judging.verdict import Finding, Verdict
from robust_core import MDP

# The ids of the inventory. A claim that is dropped, or added without being one, makes the suite red.
INVENTORY = """
sup-closed sup-tv cont-in-tv remark-conservative pinsker rectangular T-definition centroid restart-diameter
no-gamma-condition duality contraction eval-contraction r0-vanilla mle-unbiased sup-sample update-eq memory expand-T
noise-mean noise-var mle independent-visits noise-square conv matrix-update bellman-matrix recursion unrolled k1-form
mu-min k1-bound visits k2-form k2-var k2-incr k2-bound bernstein-step k3-bound rough thm6 thm3 sample-size step-choice
same-rate lse-grad lse-gap smooth-contraction smooth-limit thm4 mellowmax C-matrix moment proj J-form J-grad
J-nonconvex tdc-vanilla extends off-kernel non-robust double-sampling zero-means z-bound mean-drift tracking-recursion
M-sum R2-order root-trick delta-bound delta-lip delta-grad-lip delta-hess J-lip omega-lip z-recursion eq-1 G-bound
H-bound z-step g-lip f-lip G-omega-lip f-mean g-mean h-mean h-zero h-const AtBtCt q-range tracking zeta G-star descent
main-sum admissible tdcbound thm5 same-rate-tdc homogeneity greedy deviation figure-steps test-in-set tested-stationary
rarl-game worst-case-test variance-reduction max-not-smooth tdc-memory nonlinear bounded-values vanilla-same
fig-frozenlake fig-cartpole fig-taxi fig-tdc fig-rarl trend decoupling game-value best-responses some-discount
some-discount-tv span-modulus average-cost policy-gradient one-sample plug-in visit-constant span-restarts
gradient-domination some-discount-kl average-cost-radii average-cost-zero-radius tdc-bounded tdc-grows kl-in-tv
bretagnolle-huber chi2-in-kl reverse-pinsker ratio-balls norm-balls w1-balls radius-zero radius-infinity dual-tv
dual-tv-fail-state dual-kl kl-range kl-tilted dual-chi2 cvar-tail dual-w1 w1-lipschitz regularised-ball
regularised-norms regularised-chi2 bellman-two-kernels s-rect-randomised s-rect-duality dirac-balls plug-in-optimistic
""".split()  # noqa: SIM905

CLAIMS = catalogue()
CHECKED = [claim for claim in CLAIMS.values() if claim.printed or claim.amended]
FAILING = ("corrected", "conditional", "refuted")

# Quick: the examples of the committed evidence. Nightly: many more, and others every night.
EXAMPLES = profiles.examples(evidence.EXAMPLES).max_examples
SEED = evidence.SEED if settings().derandomize else secrets.randbits(32)

ABOUT_SETS = {claim.id for claims in parts("sets").values() for claim in claims}


def examples(claim: Claim) -> int:
    """Claims about sets are judged on a quarter of the cases of their evidence: their cases are single rows."""
    return EXAMPLES // 4 if claim.id in ABOUT_SETS else EXAMPLES


named = pytest.mark.parametrize("claim", CHECKED, ids=lambda claim: claim.id)


def test_every_claim_of_the_inventory_is_registered_and_has_evidence() -> None:
    assert sorted(CLAIMS) == sorted(INVENTORY)
    assert list(evidence.committed_evidence()) == list(CLAIMS)
    assert [claim for claims in parts().values() for claim in claims] == list(CLAIMS.values())


def test_exact_and_pathwise_claims_are_decided_here() -> None:
    left_out = [claim.id for claim in CLAIMS.values() if claim.kind in "EP" and claim not in CHECKED]
    assert not left_out


@pytest.mark.parametrize("share", [3, pytest.param(1, marks=pytest.mark.robust_core_slow)])
@named
def test_status_is_what_running_gives_and_swapping_the_statements_flips_it(claim: Claim, share: int) -> None:
    """A statement that holds is judged on a third of its cases by default, and on all with the tests that take long."""
    wanted = evidence.committed_evidence()[claim.id].status

    def run(statement: Statement | None, holds: bool) -> Verdict | None:
        cases = examples(claim) // (share if holds else 1)
        return None if statement is None else judge(statement, examples=cases, seed=SEED, shrink=False)

    printed, amended = run(claim.printed, wanted not in FAILING), run(claim.amended, True)
    assert status(claim, printed, amended) == wanted, f"seed {SEED}: printed {printed}, amended {amended}"
    if wanted in FAILING:
        assert status(claim, amended, printed) == "open"
    if wanted in FAILING and claim.amended is not None:
        alone = replace(claim, printed=claim.amended, amended=None, amendment=None)
        assert status(alone, amended, None) == "holds"


@pytest.mark.parametrize("claim", [claim for claim in CHECKED if claim.broken], ids=lambda claim: claim.id)
def test_the_broken_statement_is_caught(claim: Claim) -> None:
    assert claim.broken is not None
    verdict = judge(claim.broken, examples=examples(claim), seed=SEED, shrink=False)
    assert verdict.outcome == "violated", f"seed {SEED}: {verdict.evidence}"


@named
def test_every_check_has_something_that_makes_it_red(claim: Claim) -> None:
    """A printed form that fails shows it; a claim that holds needs a broken statement."""
    assert evidence.committed_evidence()[claim.id].status in FAILING or claim.broken is not None


SHARED = ("properties.claims.sides", "properties.claims.rationals", "properties.claims.paper.linear")
"""Modules of which a judge uses comparisons and quantities, but no statement."""


def codes(judge: Any) -> set[CodeType]:
    """The code of the claims that a judge runs: functions that it names, and those that it was made from."""
    found: dict[CodeType, str] = {}
    waiting = [judge]
    while waiting:
        one = waiting.pop()
        if isinstance(one, tuple):
            waiting += one
            continue
        code, module = getattr(one, "__code__", None), str(getattr(one, "__module__", ""))
        if not isinstance(code, CodeType) or code in found or not module.startswith("properties.claims"):
            continue
        found[code] = module
        inner = [const.co_names for const in code.co_consts if isinstance(const, CodeType)]
        names = {name for some in (code.co_names, *inner) for name in some}
        waiting += [one.__globals__.get(name) for name in names] + [c.cell_contents for c in one.__closure__ or ()]
    return {code for code, module in found.items() if module not in SHARED and code.co_name != "<lambda>"}


AMENDED_ONLY = [claim for claim in CHECKED if claim.amended is not None and claim.broken is None]


@pytest.mark.parametrize("claim", AMENDED_ONLY, ids=lambda claim: claim.id)
def test_an_amended_statement_is_judged_by_the_code_that_fails_the_printed_form(claim: Claim) -> None:
    """A judge of its own might accept everything: then the claim needs a broken statement."""
    assert claim.amended is not None
    assert claim.printed is not None
    assert codes(claim.amended.judge) & codes(claim.printed.judge)


def test_a_judge_of_its_own_is_told_from_that_of_the_printed_form() -> None:
    printed = CLAIMS["rectangular"].printed
    assert printed is not None
    assert codes(printed.judge)
    assert not codes(CLAIMS["greedy"].printed.judge) & codes(printed.judge)  # type: ignore[union-attr]


@named
def test_counterexamples_are_kept_and_break_the_printed_form_only(claim: Claim) -> None:
    kept = evidence.counterexamples(claim)
    assert bool(kept) == (evidence.committed_evidence()[claim.id].status in FAILING)
    for path, example in kept:
        assert claim.printed is not None
        assert claim.printed.judge(**example.case) is not None, path.name
        if claim.amendment == "correction" and claim.amended and claim.amended.cases is claim.printed.cases:
            assert claim.amended.judge(**example.case) is None, path.name


def test_every_counterexample_belongs_to_a_claim_and_keeps_its_text() -> None:
    files = sorted(evidence.COUNTEREXAMPLES.glob("*.json"))
    assert files
    for path in files:
        example = Counterexample.load(path)
        assert claim_named(example.law) is not None, path.name
        assert example.to_json() == path.read_text(encoding="utf-8"), path.name


def test_a_claim_is_explained_with_its_counterexample_and_the_command_that_replays_it() -> None:
    text = explain(CLAIMS["expand-T"])
    for part in ("expand-T: corrected", "eq:exp=0", "MDP(S=1, A=1", "robust-core replay", "expand-T.json"):
        assert part in text


def test_the_constants_of_theorem_3_are_not_smaller_than_the_arithmetic_allows() -> None:
    assert theorem3_constants._holds(q_learning.SHARP_VISITS, q_learning.SHARP_NOISE)
    assert not theorem3_constants._holds(q_learning.SHARP_VISITS / 4, q_learning.SHARP_NOISE)
    assert not theorem3_constants._holds(q_learning.SHARP_VISITS, q_learning.SHARP_NOISE / 4)
    assert theorem3_constants.forced_product() > 0.9
    assert q_learning.visit_constant(0.5) > theorem3_constants.FORCED_VISITS > 10.7


def test_the_probability_of_few_visits_is_compared_with_its_bound() -> None:
    assert judge(visit_counts.FASTER, examples=EXAMPLES, seed=SEED, shrink=False).outcome == "violated"


def wrong() -> Statement:
    only = next(iter(CLAIMS.values())).printed
    assert only is not None
    return replace(only, judge=lambda **_: Finding("planted", 1, 0))


def test_statuses_follow_from_verdicts() -> None:
    """Right and wrong statements in all combinations, with a planted wrong one."""
    right, bad = CLAIMS["sup-sample"].printed, wrong()
    plain = {"id": "x", "where": "", "kind": "E", "title": ""}

    def derived(**statements: object) -> str:
        return adjudicate(Claim(**plain, **statements), examples=20).status  # type: ignore[arg-type]

    assert derived(printed=right) == "holds"
    assert derived(printed=bad) == "refuted"
    assert derived(printed=bad, amended=right, amendment="correction") == "corrected"
    assert derived(printed=bad, amended=right, amendment="hypothesis") == "conditional"
    assert derived(printed=bad, amended=bad, amendment="correction") == "open"
    assert derived(amended=right, amendment="substitute") == "not decidable as stated"
    assert derived(elsewhere="somewhere") == "elsewhere"


# An ergodic chain that mixes in 4e11 steps.
DROP = 2.0**-20
SLOW_CHAIN = MDP([[[DROP, DROP, 1 - 2 * DROP]], [[0.0, 0.0, 1.0]], [[DROP, 1 - DROP, 0.0]]], np.zeros((3, 1)), 0.5)


@pytest.mark.parametrize(("every", "outcome"), [(1000, "holds"), (2, "undecided")])
def test_a_case_that_an_oracle_refuses_is_set_aside(every: int, outcome: str) -> None:
    """Hypothesis finds such a chain once in some nights; the search ended in a traceback."""

    def mixes(x: int) -> Finding | None:
        return Finding("t_mix", mixing.t_mix(state_chain(SLOW_CHAIN, np.ones((3, 1)))), 0) if x % every == 0 else None

    verdict = judge(Statement("x", lambda: st.fixed_dictionaries({"x": st.integers(1, 999)}), mixes), examples=200)
    assert verdict.outcome == outcome, verdict.evidence
    assert ("cannot be told from the threshold" in verdict.evidence) == (every == 2)


def test_a_bug_of_a_claim_is_not_taken_for_a_refusal() -> None:
    broken = Statement("x", lambda: st.just({"x": 0}), lambda x: Finding("1/x", 1 / x, 0))
    with pytest.raises(ZeroDivisionError):
        judge(broken, examples=5)


def test_a_claim_without_anything_to_check_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing to check"):
        Claim("x", "", "E", "")
    with pytest.raises(ValueError, match="go together"):
        Claim("x", "", "E", "", printed=CLAIMS["sup-sample"].printed, amended=CLAIMS["sup-sample"].printed)
