"""The deep search keeps what it finds, stops on time, and covers claims and laws."""

import itertools
from pathlib import Path
from types import SimpleNamespace

import pytest

from properties.claims import LAW_PREFIX, PRINTED, catalogue
from properties.claims.claim import judge
from properties.claims.evidence import committed_evidence
from properties.judging import deep_search
from properties.judging.counterexample import Counterexample
from properties.judging.verdict import Verdict


def test_every_guarded_claim_and_every_law_of_the_gallery_is_searched() -> None:
    laws = {task.law for task in deep_search.tasks()}
    refuted = {name for name, found in committed_evidence().items() if found.status == "refuted"}
    guarded = {claim.id for claim in catalogue().values() if claim.printed or claim.amended} - refuted
    assert {LAW_PREFIX + name for name in guarded} <= laws
    assert "unbiased step" in laws


def ticking() -> SimpleNamespace:
    """A clock that goes on by a second whenever it is asked."""
    return SimpleNamespace(monotonic=itertools.count().__next__)


def test_no_time_no_search(tmp_path: Path) -> None:
    assert list(deep_search.run(0.0, folder=tmp_path)) == []
    assert not list(tmp_path.iterdir())


def test_what_is_found_is_kept_and_fails_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    claim = catalogue()["expand-T"]
    printed = claim.printed
    assert printed is not None

    def false_statement(examples: int, seed: int) -> Verdict:
        return judge(printed, examples=50, seed=0)

    task = deep_search.Task(LAW_PREFIX + claim.id, PRINTED, false_statement)
    monkeypatch.setattr(deep_search, "tasks", lambda: iter([task]))
    monkeypatch.setattr(deep_search, "time", ticking())
    begin, violation, end, *_ = deep_search.run(10.0, folder=tmp_path)
    assert begin == deep_search.Begin(task.law, PRINTED, deep_search.FIRST_EXAMPLES)
    assert end == deep_search.RoundEnd(deep_search.FIRST_EXAMPLES)
    assert isinstance(violation, deep_search.Violation)
    assert (violation.law, violation.variant) == (task.law, PRINTED)
    assert printed.judge(**Counterexample.load(violation.counterexample).case) is not None


def test_every_search_has_a_seed_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seeds: list[int] = []

    def nothing(examples: int, seed: int) -> Verdict:
        seeds.append(seed)
        return Verdict("holds", "nothing", examples)

    monkeypatch.setattr(deep_search, "tasks", lambda: iter([deep_search.Task("law", "variant", nothing)] * 3))
    monkeypatch.setattr(deep_search, "time", ticking())
    list(deep_search.run(20.0, folder=tmp_path))
    # Numbers of 32 bits: two of twenty coincide with probability below 5e-8.
    assert 10 < len(set(seeds)) == len(seeds) <= 20
