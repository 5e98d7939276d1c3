"""The baseline file: text that diffs well, read back to the same bits, refused whole if it is anything else."""

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from benchmarks.cli.main import main
from benchmarks.regression import baseline
from benchmarks.regression.baseline import FORMAT, PATH, load, parse, text
from benchmarks.regression.measures import Exact, Measure, Measurements, Sample
from benchmarks.runner.store import write_whole
from robust_core.json import to_data

STATISTICAL = Sample("area", "v", "p", (0.1, 1e-300, None), 0)
EXACT = Exact("table", "v", "p", "ab")
SIDE = Measurements("pinned", {"numpy": "2"}, (EXACT, STATISTICAL))
HEAD = json.dumps({"format": FORMAT, "seed_set": "pinned", "reason": "why", "measures": 1})
VERSIONS = json.dumps({"versions": {"numpy": "2"}})


def test_one_sorted_line_a_measure_and_the_same_bits_again() -> None:
    written = text(SIDE, reason="a reason")
    lines = written.splitlines()
    assert [json.loads(line).get("metric") for line in lines] == [None, None, "area", "table"]
    assert "0.1, 1e-300, null" in lines[2]
    again = parse(written, "here")
    assert again == Measurements("pinned", {"numpy": "2"}, (STATISTICAL, EXACT), "a reason")
    assert text(again, reason="a reason") == written


def test_the_committed_baseline_is_written_as_it_is_read() -> None:
    committed = load(str(baseline.COMMITTED))
    assert text(committed, reason=committed.reason) == baseline.COMMITTED.read_text(encoding="utf-8")


@pytest.mark.parametrize("reason", ["", "  ", "two\nlines", "\x1b[31mred", "x" * 1000])
def test_a_baseline_needs_a_reason(reason: str) -> None:
    with pytest.raises(ValueError, match="reason must be one line"):
        text(SIDE, reason=reason)


def test_what_is_pending_is_no_baseline() -> None:
    with pytest.raises(ValueError, match="must be complete"):
        text(replace(SIDE, pending=(("a", "b", "c"),)), reason="why")


def line(**change: Any) -> str:
    return json.dumps({name: value for name, value in (to_data(STATISTICAL) | change).items() if value != "left out"})


HOSTILE = {
    "empty": "",
    "one line": HEAD,
    "no JSON": "\n".join((HEAD, VERSIONS, "{")),
    "a list": "\n".join((HEAD, VERSIONS, "[]")),
    "other format": "\n".join((HEAD.replace(FORMAT, "robust-core regression 2"), VERSIONS, line())),
    "no number of measures": "\n".join((HEAD.replace(', "measures": 1', ""), VERSIONS, line())),
    "a word for the number of measures": "\n".join((HEAD.replace("1}", '"1"}'), VERSIONS, line())),
    "no measure of one": "\n".join((HEAD, VERSIONS)),
    "a measure too many": "\n".join((HEAD, VERSIONS, line(), line(problem="q"))),
    "a name twice": "\n".join((HEAD, VERSIONS, line()[:-1] + ', "impossible": 0}')),
    "a measure twice": "\n".join((HEAD, VERSIONS, line(), line())),
    "not a number": "\n".join((HEAD, VERSIONS, line().replace("0.1", "NaN"))),
    "infinite": "\n".join((HEAD, VERSIONS, line().replace("0.1", "1e999"))),
    "a word": "\n".join((HEAD, VERSIONS, line(values=["0.1"]))),
    "a truth": "\n".join((HEAD, VERSIONS, line(values=[True]))),
    "nothing": "\n".join((HEAD, VERSIONS, line(values=[]))),
    "too much": "\n".join((HEAD, VERSIONS, line(values=[0] * 10_001))),
    "a long line": "\n".join((HEAD, VERSIONS, line(values=[0.123456789012345] * 20_000))),
    "negative": "\n".join((HEAD, VERSIONS, line(impossible=-1))),
    "one field more": "\n".join((HEAD, VERSIONS, line(extra=1))),
    "one field less": "\n".join((HEAD, VERSIONS, line(impossible="left out"))),
    "a name that steers the terminal": "\n".join((HEAD, VERSIONS, line(variant="\x1b]0;x\x07"))),
    "a long name": "\n".join((HEAD, VERSIONS, line(variant="x" * 501))),
    "deep": "\n".join((HEAD, VERSIONS, "[" * 100_000)),
    "a huge number": "\n".join((HEAD, VERSIONS, line().replace("0.1", "9" * 10_000))),
    "versions that are none": "\n".join((HEAD, '{"versions": 3}', line())),
    "an instruction of pickle": "cos\nsystem\n(S'true'\ntR.",
    "a comment": "\n".join((HEAD, VERSIONS, "# " + line())),
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE.keys())
def test_anything_else_is_refused_and_the_line_is_named(content: str, tmp_path: Path) -> None:
    assert parse("\n".join((HEAD, VERSIONS, line())), "here").measures == (STATISTICAL,)
    (tmp_path / "baseline").write_text(content)
    with pytest.raises(ValueError, match=r"baseline(, line \d+)?[,:] "):
        load(str(tmp_path / "baseline"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ((HEAD, '{"versions": null}'), r"here, line 2, versions must be an object, got None$"),
        ((HEAD, '{"versions": {"x": "\\n"}}'), r"here, line 2, versions, x must be one line of .*, got '\\n'$"),
        ((HEAD, VERSIONS, line(values=[])), r"here, line 3, values must be a list of 1 to 10000 finite .*, got \[\]$"),
        ((HEAD, VERSIONS, line(values=["x"])), r"line 3, values\[0\] must be a finite number or null, got 'x'$"),
        ((HEAD, VERSIONS, line(impossible=-1)), r"line 3, impossible must be an integer from 0 to 10000, got -1$"),
        ((HEAD, VERSIONS, line(variant="\x1b")), r"line 3, variant must be one line of .* characters, got '\\x1b'$"),
        (
            (HEAD.replace(FORMAT, "robust-core regression 2"), VERSIONS),
            r"line 1: format must be 'robust-core regression 3', got '.* 2', which another version wrote",
        ),
    ],
)
def test_a_refusal_says_what_a_field_must_be(content: tuple[str, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse("\n".join(content), "here")


def test_a_file_cut_at_any_line_is_refused_with_a_way_out() -> None:
    lines = text(SIDE, reason="why").splitlines(keepends=True)
    assert parse("".join(lines), "here").measures == (STATISTICAL, EXACT)
    for kept in range(2, len(lines)):
        with pytest.raises(ValueError, match=rf"says 2 measures and there are {kept - 2}: .* baseline accept"):
            parse("".join(lines[:kept]), "here")


def lenient(content: str) -> Any:
    """A wrong reader: takes whatever is JSON."""
    return [json.loads(line) for line in content.splitlines()]


def test_a_lenient_reader_would_be_caught() -> None:
    taken = 0
    for content in HOSTILE.values():
        try:
            lenient(content)
            taken += 1
        except (ValueError, RecursionError):
            pass
    assert taken > len(HOSTILE) / 2


def test_other_bytes_other_sizes_and_folders_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "binary").write_bytes(b"\x80\x04\xff")
    with pytest.raises(ValueError, match="must be text in UTF-8"):
        load(str(tmp_path / "binary"))
    with pytest.raises(ValueError, match="a folder, not a baseline"):
        load(str(tmp_path))
    (tmp_path / "large").write_text(text(SIDE, reason="why"))
    monkeypatch.setattr(baseline, "LARGEST_FILE", 100)
    with pytest.raises(ValueError, match="must have at most 100 bytes"):
        load(str(tmp_path / "large"))


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Three commits: without a baseline, with a first one (tagged v1), with a second one."""
    if shutil.which("git") is None:
        pytest.skip("no git")
    folder = tmp_path / "repository"

    def git(*arguments: str) -> None:
        name = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *name, *arguments], cwd=folder, check=True, capture_output=True)

    (folder / PATH).parent.mkdir(parents=True)
    git("init", "-q", "-b", "main")
    git("commit", "-q", "--allow-empty", "-m", "empty")
    for reason in ("first", "second"):
        (folder / PATH).write_text(text(SIDE, reason=reason))
        git("add", ".")
        git("commit", "-q", "-m", reason)
        if reason == "first":
            git("tag", "v1")
    return folder


def test_a_revision_has_its_own_baseline(repository: Path) -> None:
    (repository / PATH).unlink()
    inside = repository / "benchmarks"
    reasons = [load(revision, folder=inside).reason for revision in ("v1", "HEAD", "main", "HEAD~1")]
    assert reasons == ["first", "second", "second", "first"]


@pytest.mark.parametrize(
    ("revision", "message"),
    [
        ("HEAD~2", f"that revision has no {PATH}"),
        ("no-such-branch", "no such file and no such git revision"),
        ("--output=/tmp/x", "must be a file or a git revision"),
        ("HEAD:benchmarks", "no such file and no such git revision"),
        ("v1\n", "must be a file or a git revision"),
    ],
)
def test_revisions_that_do_not_do_say_why(repository: Path, revision: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load(revision, folder=repository)


def test_outside_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(ValueError, match="is in no git repository"):
        load("v1", folder=tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ValueError, match="git is not installed"):
        load("v1", folder=tmp_path)


MANY = tuple(1.0 + i / 100 for i in range(96))
BEFORE = (EXACT, replace(STATISTICAL, values=MANY))


def other(*values: float, impossible: int = 0) -> tuple[Exact, Sample]:
    """The measures with other values by seed."""
    return EXACT, replace(STATISTICAL, values=values, impossible=impossible)


@pytest.mark.parametrize(
    ("after", "options", "code"),
    [
        (BEFORE, [], 0),
        (other(*(2.0 * x for x in MANY)), [], 1),
        (other(*(0.5 * x for x in MANY)), [], 0),
        ((replace(EXACT, value="ac"), BEFORE[1]), [], 1),
        (other(*MANY, impossible=1), [], 1),
        (other(1.0, 2.0), [], 0),
        (other(1.0, 2.0), ["--strict"], 3),
        (BEFORE[:1], [], 1),
        (BEFORE[:1], ["--only", "table"], 0),
        (BEFORE, ["--only", "no such measure"], 2),
    ],
)
def test_exit_codes(
    after: tuple[Measure, ...], options: list[str], code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, measures in (("before", BEFORE), ("after", after)):
        write_whole(tmp_path / name, text(replace(SIDE, measures=measures), reason=name))
    command = ["compare", "--baseline", str(tmp_path / "before"), "--today", str(tmp_path / "after")]
    assert main([*command, *options]) == code
    shown = capsys.readouterr().out
    if code != 2:
        assert main([*command, *options, "--json"]) == code
        assert json.loads(capsys.readouterr().out)["verdict"] == shown.split(":")[0]


def test_one_undecided_measure_is_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, measures in (("before", BEFORE), ("after", other(1.0, 2.0))):
        write_whole(tmp_path / name, text(replace(SIDE, measures=measures), reason=name))
    main(["compare", "--baseline", str(tmp_path / "before"), "--today", str(tmp_path / "after")])
    assert capsys.readouterr().err == "warning: 1 measure is undecided\n"


def test_measures_of_the_suite_have_the_forms_of_a_variant(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Markdown, JUnit and waivers are not for variants of the user's alone."""
    for name, measures in (("before", BEFORE), ("after", other(*(2.0 * x for x in MANY)))):
        write_whole(tmp_path / name, text(replace(SIDE, measures=measures), reason=name))
    command = ["compare", "--baseline", str(tmp_path / "before"), "--today", str(tmp_path / "after")]
    command += ["--junit", str(tmp_path / "junit.xml")]
    assert main([*command, "--markdown"]) == 1
    assert capsys.readouterr().out.startswith("### learners of the suite: **worse**")
    assert ElementTree.parse(tmp_path / "junit.xml").getroot().get("failures") == "1"
    waivers = tmp_path / "waivers.toml"
    waivers.write_text('[[waived]]\nmetric = "area"\nreason = "known"\nexpires = 2999-01-01\n')
    assert main([*command, "--waivers", str(waivers)]) == 0
    assert "waived: known (until 2999-01-01)" in capsys.readouterr().out
    suite = ElementTree.parse(tmp_path / "junit.xml").getroot()
    assert (suite.get("failures"), suite.get("skipped")) == ("0", "1")


@pytest.mark.parametrize(
    "options", [("--problem", "x"), ("--model", "x"), ("--radius", "0"), ("--history", "x"), ("--no-clock",)]
)
def test_options_of_variants_are_refused_without_one(
    options: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", *options]) == 2
    assert f"{options[0]} is for your own variants: name a TARGET" in capsys.readouterr().err
