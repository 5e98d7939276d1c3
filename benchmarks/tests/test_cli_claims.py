"""`robust-core claims`: the list, its filters, one claim explained, and the replay of a counterexample."""

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest

from benchmarks.cli import claims
from benchmarks.cli.conventions import HOLDS, INTERRUPTED, USAGE, VIOLATED
from benchmarks.cli.main import main
from properties.claims import LEDGERS, catalogue, claim, evidence
from properties.claims.claim import Claim, Kind, Status, adjudicate

EXAMPLE = str(evidence.COUNTEREXAMPLES / "expand-T.json")


def test_the_list_has_every_claim_with_its_status(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["claims"]) == HOLDS
    lines = capsys.readouterr().out.splitlines()
    rows = lines[: len(catalogue())]
    assert [line.split()[0] for line in rows] == list(catalogue())
    assert {line.index(f" {catalogue()[line.split()[0]].kind}  ") for line in rows} == {claims.ID_WIDTH}
    assert "expand-T                 E  corrected" in "\n".join(lines)


def test_filters_and_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["claims", "--method", "E", "--status", "corrected", "--json"]) == HOLDS
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {(record["kind"], record["status"]) for record in records} == {("E", "corrected")}
    assert next(record for record in records if record["id"] == "expand-T")["counterexamples"] == ["expand-T.json"]


@pytest.mark.parametrize("columns", ["200", "40"])
def test_one_claim_is_explained_and_its_replay_command_works(
    columns: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A terminal may be narrow: a command that is folded cannot be copied."""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", columns)
    assert main(["claims", "expand-T"]) == HOLDS
    command = next(line for line in capsys.readouterr().out.splitlines() if "replay:" in line)
    assert main(command.split("robust-core ")[1].split()) == VIOLATED
    assert "violated: line 2 of eq:exp=0" in capsys.readouterr().out


def test_a_case_that_no_longer_breaks_the_claim_is_replayed_as_holding(tmp_path: Path) -> None:
    example = evidence.counterexamples(catalogue()["expand-T"])[0][1]
    harmless = replace(example, case=example.case | {"Q": 0.0 * example.case["Q"]})
    file = tmp_path / "harmless.json"
    file.write_text(harmless.to_json(), encoding="utf-8")
    assert main(["replay", str(file)]) == HOLDS
    assert main(["replay", EXAMPLE]) == VIOLATED


def test_running_again_tells_a_changed_status(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["claims", "sup-sample", "--run"]) == HOLDS
    told = capsys.readouterr().out.splitlines()
    assert told[0].endswith("as stored")
    assert told[1].strip().startswith("holds in 200 cases: max{q·V")
    wrong = dict(evidence.committed_evidence()) | {"sup-sample": evidence.Evidence("refuted", 1)}
    monkeypatch.setattr(evidence, "committed_evidence", lambda: wrong)
    assert main(["claims", "sup-sample", "--run", "--quiet"]) == VIOLATED
    assert "stored: refuted" in capsys.readouterr().out


def test_an_unknown_claim_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["claims", "no-such-claim"]) == USAGE
    assert "no claim 'no-such-claim'" in capsys.readouterr().err


def test_running_again_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["claims", "sup-sample", "--run", "--json"]) == HOLDS
    (record,) = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert (record["id"], record["status"], record["changed"]) == ("sup-sample", "holds", False)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["expand-T", "--method", "S"], "no claim is left by --method S: the method of those asked for is E"),
        (["expand-T", "--status", "open"], "no claim is left by --status open: the status of those asked for is"),
        (["--quiet", "--status", "holds"], "no claim is left by --quiet"),
        (["expand-t"], "did you mean 'expand-T'?"),
    ],
)
def test_an_empty_answer_says_why(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["claims", *arguments]) == USAGE
    shown = capsys.readouterr()
    assert message in shown.err
    assert shown.out == ""


def test_a_replay_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", EXAMPLE, "--json"]) == VIOLATED
    judgement = json.loads(capsys.readouterr().out)
    assert (judgement["claim"], judgement["outcome"]) == ("expand-T", "violated")


def test_the_options_name_the_kinds_and_statuses_of_the_registry() -> None:
    assert set(get_args(Kind)) == set(claims.METHODS)
    assert claims.LEDGERS == LEDGERS
    assert set(get_args(Status)) == set(claims.STATUSES)


def test_quiet_lists_only_what_does_not_hold(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["claims", "--quiet", "--json"]) == HOLDS
    statuses = {json.loads(line)["status"] for line in capsys.readouterr().out.splitlines()}
    assert statuses
    assert not statuses & {"holds", "elsewhere"}


def test_a_case_of_another_claim_is_a_usage_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    example = evidence.counterexamples(catalogue()["expand-T"])[0][1]
    file = tmp_path / "foreign.json"
    file.write_text(replace(example, case={"nonsense": 1}).to_json(), encoding="utf-8")
    assert main(["replay", str(file)]) == USAGE
    assert "not a case of claim 'expand-T'" in capsys.readouterr().err


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A clone whose evidence is written in place of the committed one."""
    folder = tmp_path / "properties" / "claims"
    folder.mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    (folder / "evidence.json").write_text("{}", encoding="utf-8")
    monkeypatch.setattr(evidence, "FILE", folder / "evidence.json")
    monkeypatch.setattr(evidence, "COUNTEREXAMPLES", tmp_path / "counterexamples")
    evidence.committed_evidence.cache_clear()
    yield tmp_path
    evidence.committed_evidence.cache_clear()


def test_each_claim_is_stored_before_the_next_is_run(
    clone: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop_at_the_second(judged: Claim, **options: Any) -> Any:
        if judged.id == "thm3":
            raise KeyboardInterrupt
        return adjudicate(judged, **options)

    monkeypatch.setattr(claim, "adjudicate", stop_at_the_second)
    assert main(["claims", "expand-T", "thm3", "--renew"]) == INTERRUPTED
    assert capsys.readouterr().out.splitlines()[0].split() == [
        "expand-T",
        "E",
        "corrected",
        "stored:",
        "not",
        "run",
        "yet",
    ]
    assert {name: entry.status for name, entry in evidence.committed_evidence().items()} == {"expand-T": "corrected"}
    assert [path.stem for path in (clone / "counterexamples").iterdir()] == ["expand-T"]


def test_evidence_is_renewed_in_a_clone_only(clone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (clone / ".git").rmdir()
    assert main(["claims", "expand-T", "--renew"]) == USAGE
    assert "is not in a git repository" in capsys.readouterr().err
    assert evidence.FILE.read_text(encoding="utf-8") == "{}"
