"""`robust-core replay` of variants that misbehave, from another folder, and quietly."""

import json
import os
from pathlib import Path

import pytest

from benchmarks.cli.conventions import HOLDS, USAGE, VIOLATED
from benchmarks.cli.main import main
from properties import claims
from properties.claims import evidence
from properties.judging.verification import applicable, verify
from properties.process.replay import Replay, replay_isolated
from properties.tests import hostile_variants

HOSTILE = "properties.tests.hostile_variants"
RIGHT = "properties.variants.gallery.q_learning:VARIANT"


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The text of a counterexample in which the learner makes an update."""
    laws = applicable(hostile_variants.RAISES)
    kept = verify(hostile_variants.RAISES, name="it", examples=10, laws=laws, keep=tmp_path_factory.mktemp("found"))
    path = next(record.counterexample for record in kept if "no idea what to do" in record.evidence)
    return Path(path).read_text()


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def of(found: str, target: str, path: str = "x.json") -> str:
    """The counterexample as a file, for another variant."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(json.dumps(json.loads(found) | {"variant": target}))
    return path


def test_a_learner_that_ends_its_process_has_a_verdict(found: str, capsys: pytest.CaptureFixture[str]) -> None:
    file = of(found, f"{HOSTILE}:DIES")
    assert main(["replay", file]) == VIOLATED
    assert capsys.readouterr().out.endswith("\n\nviolated: misbehaviour: its process ended with exit code 7\n")
    assert main(["replay", file, "--json"]) == VIOLATED
    judgement = json.loads(capsys.readouterr().out)
    assert (judgement["outcome"], judgement["variant"]) == ("violated", "ends its process")


def test_a_learner_that_cannot_be_interrupted_has_one_too(found: str) -> None:
    waits: list[str] = []
    replay = replay_isolated(Path(of(found, f"{HOSTILE}:STUBBORN")), seconds=2.0, waiting=waits.append)
    assert isinstance(replay, Replay)
    assert replay.outcome == "violated"
    assert replay.evidence == "misbehaviour: no answer within 2 s: it hangs or is far too slow"
    assert json.loads(found)["law"] in waits


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("import os; os._exit(0)", "bad.py: its process ended with exit code 0 while loading"),
        ("raise KeyboardInterrupt", "bad.py, line 1: KeyboardInterrupt while loading"),
        (f"from {HOSTILE} import DIES, HANGS", "more than one: bad.py:DIES, bad.py:HANGS"),
    ],
)
def test_a_variant_that_cannot_be_loaded_is_named_with_the_file(
    source: str, message: str, found: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("bad.py").write_text(source)
    assert main(["replay", of(found, "bad.py")]) == USAGE
    assert capsys.readouterr() == ("", f"robust-core: x.json names the variant bad.py: {message}\n")


@pytest.mark.parametrize(
    ("patch", "reason"),
    [
        ("import numpy; numpy.asarray = numpy.array = 0", "TypeError: 'int' object is not callable"),
        (
            "from robust_core import MDP\ndef refuse(*_, **__): raise ValueError('no')\nMDP.__init__ = refuse",
            "does not find",
        ),
    ],
    ids=["raises", "refuses"],
)
def test_a_file_is_not_blamed_for_a_module_that_patches_its_reader(
    patch: str, reason: str, found: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("bad.py").write_text(f"{patch}\nfrom {HOSTILE} import RAISES")
    assert main(["replay", of(found, "bad.py")]) == USAGE
    printed = capsys.readouterr().err
    assert printed.startswith("robust-core: x.json names the variant bad.py: cannot be judged: ")
    assert reason in printed


def test_a_module_that_hangs_while_loading_is_given_up(found: str) -> None:
    Path("bad.py").write_text("import time; time.sleep(1000.0)")
    with pytest.raises(ValueError, match=r"bad\.py: no answer within 2 s while loading$"):
        replay_isolated(Path(of(found, "bad.py:MINE")), seconds=2.0)


def test_from_another_folder_it_says_who_names_the_variant_and_where_it_is(
    found: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = os.path.relpath(of(found, "mine.py:MINE", "lab/.robust-core/x.json"), "elsewhere")
    Path("elsewhere").mkdir()
    os.chdir("elsewhere")
    named = f"robust-core: {file} names the variant mine.py:MINE: no such file"
    assert main(["replay", file]) == USAGE
    assert capsys.readouterr().err == f"{named}; run it in the folder in which the variant was verified\n"
    (tmp_path / "lab" / "mine.py").write_text("")
    assert main(["replay", file]) == USAGE
    assert capsys.readouterr().err == f"{named}; run it in the folder {(tmp_path / 'lab').resolve()}\n"


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_quiet_is_quiet_on_claims_of_the_paper_too(more: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    example = evidence.COUNTEREXAMPLES / "expand-T.json"
    assert main(["replay", str(example), "--quiet", *more]) == VIOLATED
    assert "expand-T" in capsys.readouterr().out
    Path("holds.json").write_text(example.read_text().replace(claims.PRINTED, claims.AMENDED))
    assert main(["replay", "holds.json", "--quiet", *more]) == HOLDS
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_quiet_says_only_what_does_not_hold(
    more: tuple[str, ...], found: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", of(found, RIGHT), "--quiet", *more]) == HOLDS
    assert capsys.readouterr() == ("", "")
    assert main(["replay", of(found, f"{HOSTILE}:RAISES"), "--quiet", *more]) == VIOLATED
    assert "misbehaviour: raised RuntimeError: no idea what to do" in capsys.readouterr().out
