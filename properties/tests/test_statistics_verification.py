"""Statistical laws as part of a verification: who is judged, who is blocked, what the clock and misbehaviour do."""

import datetime
import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import properties
from properties import checks
from properties.judging import guard
from properties.judging.expectations import Expectation, read
from properties.judging.verdict import Record
from properties.judging.verdict_table import Verdicts
from properties.judging.verification import untested_sets, verify
from properties.laws.rounding import operations_bound
from properties.process.loading import load
from properties.process.session import Effort, Judged, LawBegun, verify_isolated
from properties.statistics import budget, judging
from properties.statistics.laws import tabular
from properties.statistics.suite import allot_cells, weight
from properties.variants.gallery.q_learning import VARIANT as RIGHT
from properties.variants.gallery.walk import VARIANT as WALK
from robust_core import Problem, TotalVariation, Transition, Variant

LIMIT = "converges/limit/two states/T=256"


def claiming(variant: Variant, *promises: str) -> Variant:
    return replace(variant, promises=promises)


def statistical(variant: Variant, **options: object) -> list[Record]:
    return list(judging.records(variant.name, allot_cells(variant, "quick"), **options))  # type: ignore[arg-type]


def test_a_violated_exact_law_blocks_the_statistical_ones() -> None:
    wrong = claiming(tabular.WRONG_RADIUS, "unbiased", "converges")
    records = list(verify(wrong, examples=20, cells=allot_cells(wrong, "quick")))
    first = next(record for record in records if record.outcome == "violated")
    cells = [record for record in records if record.law.startswith(("converges/", "unbiased/"))]
    assert len(cells) == 7
    assert {(record.outcome, record.blocked_by) for record in cells} == {("blocked", first.law)}


def test_an_expected_failure_blocks_nothing() -> None:
    wrong = claiming(tabular.WRONG_RADIUS, "converges")
    excuse = {"fixed point": Expectation("fixed point", "known", datetime.date(2100, 1, 1))}
    cells = allot_cells(wrong, "quick")[1:2]
    found = list(verify(wrong, laws=(), failed={"fixed point": "fixed point"}, expected=excuse, cells=cells))
    assert [record.outcome for record in found] == ["violated"]


def test_one_budget_is_split_over_the_cells_of_all_variants() -> None:
    total = weight([RIGHT, WALK], "quick")
    shares = [cell.alpha for variant in (RIGHT, WALK) for cell in allot_cells(variant, "quick", total=total)]
    assert len(shares) == 17
    # 16 roundings in the weight of all, two products and a quotient in each share, 16 roundings in their sum.
    given = budget.RUN_BUDGET * (1.0 - budget.SAMPLED)
    assert abs(sum(shares) - given) <= operations_bound(40, budget.RUN_BUDGET)


def test_the_seed_chooses_the_samples() -> None:
    variant = claiming(RIGHT, "converges")
    first, again, other = ([r.evidence for r in statistical(variant, seed=seed)] for seed in (1, 1, 2))
    assert first == again != other


class Moody:
    """Right for more steps than any exact law takes; then it does something else."""

    def __init__(self, problem: Problem, act: Callable[[], object]) -> None:
        self.inner, self.act, self.t = RIGHT.make(problem), act, 0

    def update(self, transition: Transition) -> None:
        self.t += 1
        if self.t > 3000:
            self.act()
        self.inner.update(transition)

    def estimate(self) -> np.ndarray:
        return np.asarray(self.inner.estimate())


def moody(act: Callable[[], object]) -> Variant:
    return Variant("moody", "control", lambda problem: Moody(problem, act), RIGHT.sets, ("converges",))


@pytest.fixture(scope="module")
def compiled() -> None:
    """The first replicate in a process imports and compiles, which short limits would blame on the variant."""
    allot_cells(moody(lambda: None), "quick")[0].cell.sample(b"first")


def fail() -> None:
    raise ArithmeticError("tired")


def hang() -> None:
    while True:
        pass


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize(
    ("act", "words"),
    [
        (fail, "misbehaviour: raised ArithmeticError: tired"),
        (lambda: print("step"), "misbehaviour: printed to standard output"),  # noqa: T201
        (np.random.random, "misbehaviour: drew from global random state"),
        (hang, "it hangs or is far too slow"),
    ],
    ids=["raises", "prints", "global state", "hangs"],
)
def test_bad_misbehaviour_in_a_long_run_is_named_and_blocks_the_rest(
    act: Callable[[], object], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging, "REPLICATE_SECONDS", 1.0)
    monkeypatch.setattr(guard, "IDLE_FACTOR", 60.0)  # the processor's time decides, however busy the machine is
    first, *rest = statistical(moody(act))
    assert (first.outcome, first.statistics) == ("violated", None)
    assert words in first.evidence
    assert {(record.outcome, record.blocked_by) for record in rest} == {("blocked", first.law)}


def test_records_of_impossible_outcomes_are_strict_json() -> None:
    """Steps that do not follow from each other have probability 0: the evidence is infinite, the record is not."""
    broken = replace(WALK, make=lambda *told: [t._replace(s=0, s_next=1) for t in WALK.make(*told)])
    (record, *_) = statistical(claiming(broken, "samples the model"))
    assert record.outcome == "violated"
    json.loads(record.to_json(), parse_constant=pytest.fail)


@pytest.mark.usefixtures("compiled")
def test_a_replicate_that_sleeps_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "REPLICATE_SECONDS", 0.25)
    monkeypatch.setattr(guard, "IDLE_FACTOR", 2.0)
    verdict = judging.judge(allot_cells(moody(lambda: time.sleep(60.0)), "quick")[0])
    assert verdict.outcome == "undecided"
    assert "it sleeps" in verdict.evidence


def test_a_slow_variant_is_undecided_not_violated() -> None:
    records = statistical(claiming(RIGHT, "converges"), seconds=0.0)
    assert {record.outcome for record in records} == {"undecided"}
    assert "time for statistics ended after n=0" in records[0].evidence


def test_an_expected_cell_is_pinned_by_its_seed_set(tmp_path: Path) -> None:
    wrong = claiming(tabular.WRONG_RADIUS, "converges")
    file = tmp_path / "expected.toml"
    entry = f'[[expected]]\nlaw = "{LIMIT}"\nreason = "known"\nexpires = 2100-01-01\n'
    file.write_text(entry + 'seed_set = "seed 3"\n')
    cells = [cell.name for cell in allot_cells(wrong, "quick")]
    expected = read(file, [], cells=cells)
    record = next(r for r in statistical(wrong, expected=expected) if r.law == LIMIT)
    assert (record.outcome, record.expected) == ("violated", "known")
    assert record.statistics is not None
    assert record.statistics.seed_set == "seed 3"
    passing = next(r for r in statistical(claiming(RIGHT, "converges"), expected=expected) if r.law == LIMIT)
    assert passing.outcome == "error"
    assert "remove the entry" in passing.evidence
    file.write_text(entry + 'counterexample = "a.json"\n')
    with pytest.raises(ValueError, match="is pinned by a seed_set"):
        read(file, [], cells=cells)
    file.write_text(entry + "seed_set = 3\n")
    with pytest.raises(ValueError, match="seed_set must be text"):
        read(file, [], cells=cells)


MODULE = """
import os
from properties.tests.test_statistics_verification import moody
DIES = moody(lambda: os._exit(7))
"""


def test_a_variant_that_dies_in_a_long_run_gets_every_record(tmp_path: Path) -> None:
    file = tmp_path / "mortal.py"
    file.write_text(MODULE)
    events = list(verify_isolated(f"{file}:DIES", size="quick", effort=Effort(examples=3)))
    records = [event.record for event in events if isinstance(event, Judged)]
    begun = [event for event in events if isinstance(event, LawBegun)]
    inside = next(verify(load(f"{file}:DIES")[f"{file}:DIES"], examples=3))
    assert (records[0].law, records[0].evidence) == (inside.law, inside.evidence), "isolation changes no verdict"
    cells = records[-5:]
    assert "ended with exit code 7" in cells[0].evidence
    assert {(record.outcome, record.blocked_by) for record in cells[1:]} == {("blocked", cells[0].law)}
    assert {event.total for event in begun} == {len(records)}
    assert [event.place for event in begun] == list(range(1, len(records) + 1))


def test_the_function_returns_a_table_of_verdicts() -> None:
    verdicts = properties.verify(claiming(tabular.WRONG_RADIUS, "converges"), examples=5)
    assert isinstance(verdicts, Verdicts)
    assert len(verdicts.violated) == 4
    assert "looks like: wrong limit" in str(verdicts)
    assert str(verdicts).endswith("holds, 4 violated")
    assert properties.verify(claiming(RIGHT, "converges"), examples=5, statistics=False).violated == []
    with pytest.raises(ValueError, match="size must be one of quick, full"):
        properties.verify(RIGHT, size="huge")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="examples must be at least 1"):
        properties.verify(RIGHT, examples=0)


def test_what_a_variant_writes_is_escaped_in_a_notebook() -> None:
    text = Verdicts([Record("<b>v</b>", "law", "violated", "<script>", 1, 0.1, 0)])._repr_html_()
    assert "<script>" not in text
    assert "<b>v" not in text
    assert 'style="color:#c23b00">violated<' in text
    assert "versions" not in repr(Record("v", "law", "violated", "x", 1, 0.1, 0))
    assert "&lt;script&gt;" in text


def test_promises_that_nothing_tests_are_listed() -> None:
    assert untested_sets(RIGHT) == {}
    assert untested_sets(replace(RIGHT, sets=(TotalVariation,), promises=("unbiased", "finite time"))) == {
        "finite time": (TotalVariation,)
    }


def test_checks_of_cells_pass_and_fail_as_tests() -> None:
    right, wrong = (
        [check for check in checks.checks([claiming(v, "converges")], examples=3) if "limit" in str(check)]
        for v in (RIGHT, tabular.WRONG_RADIUS)
    )
    right[0]()
    with pytest.raises(pytest.fail.Exception, match="wrong limit"):
        wrong[0]()
    assert str(wrong[0]) == "Q-learning-with-half-the-radius-converges-limit-two-states-T-256"
    assert not [check for check in checks.checks([RIGHT], size=None) if "limit" in str(check)]
