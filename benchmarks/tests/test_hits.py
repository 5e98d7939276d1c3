"""Hit rates: every mutant has one, no mutant is caught by luck, and the study tells luck from a kill."""

from pathlib import Path

import pytest

from benchmarks.cli.conventions import HOLDS, USAGE
from benchmarks.cli.main import main
from benchmarks.studies import hits
from benchmarks.studies.hits import Hits

COMMITTED = {one.mutant: one for one in hits.load().mutants}


def test_every_mutant_has_a_hit_rate() -> None:
    assert sorted(hits.names()) == sorted(COMMITTED), "run: robust-core study hits --missing"


def test_no_mutant_is_caught_by_luck() -> None:
    """Below the least rate it would not count as caught; above it, with few cases, only if that is clear."""
    assert [one.mutant for one in COMMITTED.values() if not one.caught] == []
    fewest = len(hits.SEEDS) * hits.ROUNDS[-1]
    assert [one.mutant for one in COMMITTED.values() if not (one.clearly or one.cases >= fewest)] == []


def test_a_hit_rate_is_measured_again(tmp_path: Path) -> None:
    mutant = "operator:NO_DISCOUNT"
    output = tmp_path / "hits.json"
    arguments = ["--workers", "1", "--store", str(tmp_path / "store.jsonl"), "--output", str(output)]
    assert main(["study", "hits", mutant, *arguments]) == HOLDS
    assert hits.load(output).mutants == (COMMITTED[mutant],)
    assert main(["study", "hits", mutant, "--missing", *arguments]) == HOLDS
    assert main(["study", "hits", "operator:NO_DISCOUNTS", *arguments]) == USAGE


@pytest.mark.parametrize(
    ("drawn", "cases", "caught", "clearly"),
    [((4, 0), 20, True, True), ((1, 1), 20, True, False), ((1, 0), 200, False, False), ((0, 0), 0, False, False)],
)
def test_two_hits_in_twenty_cases_may_be_luck(drawn: tuple[int, int], cases: int, caught: bool, clearly: bool) -> None:
    one = Hits("module:NAME", "name", "operator", "law", always=False, drawn=drawn, cases=cases)
    assert (one.caught, one.clearly) == (caught, clearly)


@pytest.mark.robust_core_slow
def test_a_law_that_meets_a_right_variant_never_is_not_a_kill(monkeypatch: pytest.MonkeyPatch) -> None:
    from properties.variants.gallery.bellman import VARIANT

    monkeypatch.setattr(hits, "ROUNDS", (1, 2))
    found = hits.hits_of("gallery:VARIANT", VARIANT)
    assert (found.caught, found.rate) == (False, 0.0)
