"""The command of the deep search: what it prints, and its exit code."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.cli.conventions import HOLDS, VIOLATED
from benchmarks.cli.main import main, parser
from properties.judging import deep_search
from properties.judging.deep_search import Begin, RoundEnd, Violation

BEGIN, END = Begin("a law", "a variant", 500), RoundEnd(500)
VIOLATION = Violation("a law", "a variant", "got 1, expected 2", 7, Path("kept") / "a.json")


@pytest.mark.parametrize(
    ("events", "options", "code", "lines"),
    [
        ([BEGIN, END], [], HOLDS, ["a round of 500 examples each is complete, violations: 0"]),
        ([BEGIN, END], ["--quiet"], HOLDS, []),
        (
            [BEGIN, VIOLATION],
            ["--quiet"],
            VIOLATED,
            ["a variant: a law: got 1, expected 2 (seed 7); robust-core replay kept/a.json"],
        ),
    ],
)
def test_violations_and_rounds_are_printed(
    events: list[Begin | Violation | RoundEnd],
    options: list[str],
    code: int,
    lines: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(deep_search, "run", lambda budget: iter(events))
    assert main(["search", *options]) == code
    assert capsys.readouterr().out.splitlines() == lines


def test_a_violation_as_json(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def run(budget: float) -> Iterator[Begin | Violation | RoundEnd]:
        assert budget == 60.0
        yield from (BEGIN, VIOLATION, END)

    monkeypatch.setattr(deep_search, "run", run)
    assert main(["search", "--budget", "1min", "--json"]) == VIOLATED
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line) == {
        "law": "a law",
        "variant": "a variant",
        "evidence": "got 1, expected 2",
        "seed": 7,
        "counterexample": "kept/a.json",
    }


@pytest.mark.parametrize("text", ["30", "min", "-1s", "1d"])
def test_a_bad_budget_is_refused(text: str) -> None:
    with pytest.raises(SystemExit):
        parser().parse_args(["search", "--budget", text])
