"""The verifier itself: right variants pass, wrong ones are caught with a counterexample that replays."""

from pathlib import Path

import pytest

from properties.counterexample import Counterexample
from properties.law import Law
from properties.laws import LAWS
from properties.loading import built_in, load
from properties.mutants import control
from properties.search import judged
from properties.verification import verify

GALLERY = built_in()
MUTANTS = {
    key: variant
    for name in ("operator:NO_DISCOUNT", "operator:L1_RADIUS", "control:LOST_GAMMA", "bookkeeping:WHOLE_ROW")
    for key, variant in load(f"properties.mutants.{name}").items()
}
EXAMPLES = 50


def law_named(name: str) -> Law:
    return next(law for law in LAWS if law.name == name)


@pytest.mark.parametrize("name", MUTANTS)
def test_mutants_are_caught_and_their_counterexamples_replay(name: str, tmp_path: Path) -> None:
    records = list(verify(MUTANTS[name], name=name, examples=EXAMPLES, keep=tmp_path))
    violated = [record for record in records if record.outcome == "violated"]
    assert violated, records
    for record in violated:
        assert record.counterexample is not None
        example = Counterexample.load(Path(record.counterexample))
        assert judged(law_named(example.law), MUTANTS[example.variant], example.case) is not None


def test_a_repaired_variant_passes_the_replay(tmp_path: Path) -> None:
    name = "properties.mutants.operator:NO_DISCOUNT"
    record = next(r for r in verify(MUTANTS[name], name=name, examples=EXAMPLES, keep=tmp_path) if r.counterexample)
    assert record.counterexample is not None
    example = Counterexample.load(Path(record.counterexample))
    assert judged(law_named(example.law), GALLERY["properties.gallery.bellman:VARIANT"], example.case) is None


def test_same_seed_same_records() -> None:
    def outcome(seed: int) -> list[tuple[str, int]]:
        return [(r.evidence, r.cases) for r in verify(control.LOST_GAMMA, examples=EXAMPLES, seed=seed)]

    assert outcome(3) == outcome(3)
