"""The command line: exit codes, output, and errors that say what is wrong."""

import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks.cli import conventions
from benchmarks.cli.conventions import HOLDS, UNDECIDED, USAGE, VIOLATED
from benchmarks.cli.handlers import Handler, QuietTable, Table
from benchmarks.cli.junit import JUnit, write
from benchmarks.cli.main import main
from benchmarks.cli.verify import exit_code
from benchmarks.cli.watching import folders_of, watch
from properties.judging.counterexample import FORMAT
from properties.judging.verdict import Record
from properties.process.session import Description, Event, Judged, VariantBegun, VariantEnded

WRONG = "properties.variants.mutants.operator:NO_DISCOUNT"
RIGHT = "properties.variants.gallery.bellman:VARIANT"


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_right_variant_exits_with_0_and_a_wrong_one_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", RIGHT, "--examples", "20"]) == HOLDS
    assert "holds     bellman backup" in capsys.readouterr().out
    assert main(["verify", WRONG, "--examples", "50"]) == VIOLATED
    assert "replay: robust-core replay" in capsys.readouterr().out


def test_the_printed_replay_command_judges_the_counterexample_again(capsys: pytest.CaptureFixture[str]) -> None:
    main(["verify", WRONG, "--examples", "50"])
    command = next(line for line in capsys.readouterr().out.splitlines() if "replay:" in line)
    assert main(command.split("robust-core ")[1].split()) == VIOLATED
    assert "violated: TQ" in capsys.readouterr().out


def test_a_failure_in_junit_has_the_statement_the_case_and_the_command_that_replays_it() -> None:
    assert main(["verify", WRONG, "--examples", "50", "--quiet", "--junit", "junit.xml"]) == VIOLATED
    (failure,) = ElementTree.parse("junit.xml").getroot().iter("failure")
    parts = dict(part.partition(":")[::2] for part in str(failure.text).split("\n\n"))
    assert list(parts) == ["statement", "evidence", "case", "results", "replay"]
    assert parts["statement"].startswith(" TQ(s,a) = c(s,a) + γ")
    assert "MDP(S=1, A=1" in parts["case"]
    assert main(parts["replay"].removeprefix(" robust-core ").split()) == VIOLATED


def test_a_case_in_junit_that_only_its_module_can_read_is_shown_as_it_is_written() -> None:
    Path("x.json").write_text('{"case": "of my own set"}')
    write([Record("v", "l", "violated", "e", 1, 0.0, 0, counterexample="x.json")], Path("junit.xml"))
    assert "of my own set" in Path("junit.xml").read_text()


@pytest.mark.parametrize(
    "command",
    [
        ["history"], ["claims", "expand-T"], ["claims", "--status", "corrected"],
        ["verify", "--list", "laws"], ["documents", "command-line", "--check"], ["replay", "FILE"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_json_is_one_object_per_line(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    if command == ["replay", "FILE"]:
        main(["verify", WRONG, "--examples", "20", "--quiet"])
        command = ["replay", *map(str, Path(".robust-core/counterexamples").iterdir())]
    capsys.readouterr()
    main([*command, "--json"])
    lines = capsys.readouterr().out.splitlines()
    assert lines
    assert all(isinstance(json.loads(line), dict) for line in lines)


def test_no_command_prints_json_over_several_lines() -> None:
    for path in Path(conventions.__file__).parent.glob("*.py"):
        assert not re.search(r"print\(.*[ (]indent=", path.read_text(encoding="utf-8")), path.name


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        ([], "--watch: name the file to watch"),
        ([RIGHT], "--watch: only files are watched"),
        (["mien.py"], "--watch: mien.py: no such file; did you mean 'mine.py'?"),
    ],
)
def test_what_cannot_be_watched_is_refused(
    targets: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("mine.py").touch()
    assert main(["verify", *targets, "--watch"]) == USAGE
    assert message in capsys.readouterr().err


def test_a_file_is_verified_again_when_it_or_one_beside_it_changes(capsys: pytest.CaptureFixture[str]) -> None:
    Path("mine.py").write_text("broken")
    steps: Iterator[Callable[[], object]] = iter([
        lambda: None,
        lambda: Path("mine.py").write_text("fixed by hand"),
        lambda: Path("beside.py").write_text("x = 1"),
        lambda: Path("beside.py").unlink(),
    ])  # fmt: skip
    codes = iter([VIOLATED, HOLDS, VIOLATED])

    def sleep(_: float) -> None:
        try:
            next(steps)()
        except StopIteration:
            raise KeyboardInterrupt from None

    def run() -> int:
        if Path("mine.py").read_text() == "broken":
            raise ValueError("mine.py, line 1: SyntaxError")
        return next(codes)

    assert watch(folders_of(["mine.py:MINE"]), run, sleep) == VIOLATED
    said = capsys.readouterr().err
    assert said.count("watching for changes") == 4
    assert [line for line in said.splitlines() if line.startswith("changed")] == [
        "changed: mine.py", "changed: beside.py", "changed: beside.py"
    ]  # fmt: skip
    assert "SyntaxError" in said


WALK = "properties.variants.gallery.walk:VARIANT"


def test_the_statistical_laws_run_and_the_error_budget_is_stated(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", WALK, "--examples", "3", "--seed", "4", "--junit", "junit.xml"]) == HOLDS
    shown = capsys.readouterr().out
    assert "holds     sampling/actions/garnet/3/effect=0.05" in shown
    assert "error budget: allocated 9.37e-07 to 3 cells" in shown
    assert '<property name="seed_set" value="seed 4" />' in Path("junit.xml").read_text()
    assert main(["verify", WALK, "--examples", "3", "--no-statistics"]) == HOLDS
    shown = capsys.readouterr().out
    assert "error budget" not in shown
    assert "not run (--no-statistics): 3 statistical cells" in shown


def test_undecided_is_listed_and_strict_is_3(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from benchmarks.cli import verify

    undecided = Record("v", "cell", "undecided", "too few", 16, 0.1, 0)
    monkeypatch.setattr(verify, "_events", lambda *_: iter([Judged(undecided)]))
    assert main(["verify", RIGHT, "--quiet", "--no-statistics"]) == HOLDS
    assert "warning: undecided: v: cell: too few" in capsys.readouterr().err
    assert exit_code([undecided], strict=True, allow_untested=False) == UNDECIDED


def test_the_exit_code_is_that_of_the_worst_record() -> None:
    def code(*outcomes: str, strict: bool = False, allow_untested: bool = False) -> int:
        records = [Record("v", "l", outcome, "", 0, 0.0, 0) for outcome in outcomes]  # type: ignore[arg-type]
        return exit_code(records, strict=strict, allow_untested=allow_untested)

    assert code("holds", "blocked") == HOLDS
    assert code("holds", "untested") == UNDECIDED
    assert code("holds", "untested", allow_untested=True) == HOLDS
    assert code("undecided", allow_untested=True, strict=True) == UNDECIDED
    assert code("untested", "error") == USAGE
    assert code("untested", "error", "violated") == VIOLATED


def test_junit_is_well_formed_and_the_terminal_is_safe_whatever_a_variant_is_called(
    capsys: pytest.CaptureFixture[str],
) -> None:
    name = "<&\ud800\x1b[2J\x00\nn\uffff"
    record = Record(name, "law", "violated", f"misbehaviour: raised {name}", 1, 0.0, 0, target="mine.py:MINE")
    variant = Description("mine.py:MINE", name, "operator", (), (), (), (), (), ())
    events: list[Event] = [VariantBegun(variant, 1, 1), Judged(record), VariantEnded(variant)]
    handlers: list[Handler] = [JUnit(Path("junit.xml")), Table(statistics=True), QuietTable()]
    for handler in handlers:
        for event in events:
            handler.handle(event)
        handler.close(finished=False)
    suite = ElementTree.parse("junit.xml").getroot()
    assert [case.get("name") for case in suite] == ["law", "not finished"]
    assert suite[0].get("classname") == "<&��[2J��n�".replace("��n", "�\nn")
    assert set(capsys.readouterr().out) <= {"\n"} | {chr(code) for code in range(32, 127)}


UNTESTED = """
from dataclasses import replace
from properties.variants.examples import linear_evaluation
from robust_core import TotalVariation
MINE = replace(linear_evaluation.VARIANT, promises=("TDC",), sets=(TotalVariation,))
"""


def test_a_promise_that_no_law_can_test_is_untested(capsys: pytest.CaptureFixture[str]) -> None:
    Path("mine.py").write_text(UNTESTED)
    assert main(["verify", "mine.py", "--examples", "1", "--no-statistics"]) == UNDECIDED
    shown = capsys.readouterr()
    assert "untested  promise 'TDC'" in shown.out
    assert "warning: untested: " in shown.err
    assert "promise 'TDC': no law tests this promise for kind 'linear evaluation' with TotalVariation" in shown.err


SAME = """
from dataclasses import replace
from properties.variants.gallery.bellman import VARIANT as RIGHT
from properties.variants.mutants.operator import NO_DISCOUNT
WRONG = replace(NO_DISCOUNT, name=RIGHT.name)
"""


def test_two_variants_of_one_name_are_counted_apart(capsys: pytest.CaptureFixture[str]) -> None:
    Path("same.py").write_text(SAME)
    assert main(["verify", "same.py:WRONG", "same.py:RIGHT", "--examples", "20"]) == VIOLATED
    shown = capsys.readouterr().out
    counts = [line for line in shown.splitlines() if re.match(r"  \d+ (holds|violated)|in all", line)]
    assert counts[0].endswith("first cause: bellman backup")
    assert re.fullmatch(r"  \d+ holds", counts[1]), counts
    assert counts[2].startswith("in all: ")


def test_quiet_json_leaves_out_what_holds(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", WRONG, "--json", "--quiet", "--examples", "50"]) == VIOLATED
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {record["outcome"] for record in records} == {"violated", "blocked"}
    assert {record["target"] for record in records} == {WRONG}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--junit", "no-such-folder/x.xml"), "--junit no-such-folder/x.xml: the folder no-such-folder does not exist"),
        (("--junit", "."), "--junit .: a folder, not a file"),
        (("--expected", "bad.toml"), "bad.toml: not TOML"),
    ],
)
def test_files_are_checked_before_the_work(
    options: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from benchmarks.cli import verify

    monkeypatch.setattr(verify, "_events", lambda *_: pytest.fail("work has begun"))
    Path("bad.toml").write_text("x")
    assert main(["verify", RIGHT, *options]) == USAGE
    assert message in capsys.readouterr().err


def test_an_internal_error_is_no_violation(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks.cli import verify

    monkeypatch.setattr(verify, "_events", lambda *_: 1 / 0)
    assert main(["verify", RIGHT]) == USAGE
    assert "internal error" in capsys.readouterr().err


def test_replay_as_json_and_on_a_narrow_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    main(["verify", WRONG, "--examples", "50"])
    file = next(line for line in capsys.readouterr().out.splitlines() if "replay:" in line).split()[-1]
    assert main(["replay", file, "--json"]) == VIOLATED
    judgement = json.loads(capsys.readouterr().out)
    assert (judgement["law"], judgement["outcome"], judgement["target"]) == ("bellman backup", "violated", WRONG)
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    assert main(["replay", file]) == VIOLATED
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 60


def test_the_two_results_stand_side_by_side_with_the_first_cause(capsys: pytest.CaptureFixture[str]) -> None:
    main(["verify", WRONG, "--examples", "50"])
    shown = capsys.readouterr().out
    assert "variant" in shown.split("bellman backup")[1].splitlines()[2]
    assert "first cause: bellman backup" in shown


SEVERAL = """
from dataclasses import dataclass, replace
from typing import ClassVar
from properties.variants.examples.control import QLearner
from properties.variants.mutants.control import LOST_GAMMA
from robust_core import UncertaintySet, Variant

@dataclass(frozen=True)
class Unheard(UncertaintySet):
    kind: ClassVar[str] = "unheard of by the command line"
    radius: float

UNKNOWN = Variant("of an unheard set", "control", QLearner, (Unheard,), ("converges",))
BROKEN = replace(LOST_GAMMA, name="two\\nlines")
del LOST_GAMMA
"""


def test_one_variant_that_cannot_be_judged_does_not_end_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    Path("several.py").write_text(SEVERAL)
    assert main(["verify", "several.py", RIGHT, "--examples", "3", "--json"]) == VIOLATED
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    (error,) = [record for record in records if record["outcome"] == "error"]
    assert (error["variant"], error["law"]) == ("of an unheard set", "converges")
    assert error["evidence"].startswith("cannot be judged: no exact support function is registered for Unheard")
    assert {record["target"] for record in records} == {"several.py:UNKNOWN", "several.py:BROKEN", RIGHT}


def test_quiet_lines_say_whose_they_are_and_blocked_laws_are_one(capsys: pytest.CaptureFixture[str]) -> None:
    Path("several.py").write_text(SEVERAL)
    arguments = ["verify", "several.py:BROKEN", RIGHT, "several.py:UNKNOWN", "--examples", "3", "--quiet"]
    assert main(arguments) == VIOLATED
    lines = capsys.readouterr().out.splitlines()
    titles = [line for line in lines if not line.startswith(" ")]
    assert titles == ["two\\nlines (several.py:BROKEN)", "of an unheard set (several.py:UNKNOWN)"]
    (blocked,) = [line for line in lines if line.startswith("  blocked")]
    assert re.fullmatch(r"  blocked   \d+ laws: skipped: a violation of '[^']+' usually violates this law too", blocked)


NO_ANSWER = """
from oracles.planning import rational
from properties.variants.mutants.operator import NO_DISCOUNT

def fails(*_):
    raise RuntimeError("no answer")

rational.largest_mass = fails
"""


def test_a_replay_that_cannot_be_judged_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    main(["verify", WRONG, "--examples", "50", "--no-statistics"])
    (file,) = Path(".robust-core/counterexamples").iterdir()
    Path("no_answer.py").write_text(NO_ANSWER)
    file.write_text(file.read_text().replace(WRONG, "no_answer.py:NO_DISCOUNT"))
    capsys.readouterr()
    assert main(["replay", str(file)]) == USAGE
    assert "error: cannot be judged: RuntimeError: no answer" in capsys.readouterr().out
    assert main(["replay", str(file), "--json"]) == USAGE
    assert json.loads(capsys.readouterr().out)["outcome"] == "error"


def test_what_is_written_past_python_is_seen_in_a_replay_too(capfd: pytest.CaptureFixture[str]) -> None:
    main(["verify", "properties.tests.hostile_variants:WRITES_PAST_PYTHON", "--examples", "5", "--no-statistics"])
    (file,) = Path(".robust-core/counterexamples").iterdir()
    capfd.readouterr()
    assert main(["replay", str(file)]) == VIOLATED
    shown = capfd.readouterr().out
    assert "violated: misbehaviour: printed to standard output: got 'updating" in shown
    assert "updating" not in shown.splitlines()


EXCUSE = """
[[expected]]
law = "{law}"
reason = "known"
expires = 2100-01-01
counterexample = "{file}"
variant = "{variant}"
"""


def test_an_expected_failure_may_be_that_of_one_variant(capsys: pytest.CaptureFixture[str]) -> None:
    Path("several.py").write_text(SEVERAL.replace("two\\nlines", "broken"))
    main(["verify", "several.py:BROKEN", "--examples", "3", "--no-statistics", "--json"])
    found = json.loads(next(line for line in capsys.readouterr().out.splitlines() if '"violated"' in line))
    excuse = {"law": found["law"], "file": found["counterexample"]}
    arguments = [
        "verify",
        "several.py:BROKEN",
        RIGHT,
        "--examples",
        "3",
        "--no-statistics",
        "--expected",
        "known.toml",
    ]
    Path("known.toml").write_text(EXCUSE.format(**excuse, variant="broken"))
    assert main(arguments) == HOLDS, "the law does not even apply to the other one"
    assert capsys.readouterr().err == ""
    Path("known.toml").write_text(EXCUSE.format(**excuse, variant="brocken"))
    assert main(arguments) == VIOLATED
    assert "known.toml: entry 1: no variant of this run is called 'brocken'" in capsys.readouterr().err


def test_json_lines(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", WRONG, "--json", "--examples", "50"]) == VIOLATED
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    outcomes = {record["law"]: record["outcome"] for record in records}
    assert (outcomes["bellman backup"], outcomes["contraction"]) == ("violated", "blocked")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["verify", "no_such_module:X"], "no module 'no_such_module'"),
        (["verify", "no_such_file.py"], "no such file"),
        (["verify", "properties.variants.gallery.bellman:NOPE"], "no variant 'NOPE'"),
        (["verify", "json:X"], "no Variant in it"),
        (["verify", "--installed"], "no installed package publishes a variant"),
        (["replay", "no-such-file.json"], "no-such-file.json"),
    ],
)
def test_usage_errors_say_what_is_wrong(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == USAGE
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("command", ["verify", "mutants", "report"])
def test_a_variant_file_that_exits_is_a_usage_error(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("exits.py").write_text("import sys; sys.exit(0)")
    assert main([command, "exits.py"]) == USAGE
    assert capsys.readouterr().err == "robust-core: exits.py, line 1: SystemExit: 0 while loading\n"


OWN_SET = """
from dataclasses import dataclass
from typing import ClassVar
from oracles.sets import SetOracle, register
from robust_core import UncertaintySet, Variant

@dataclass(frozen=True)
class Anything(UncertaintySet):
    kind: ClassVar[str] = "anything"
    radius: float

register(Anything, SetOracle(contains=lambda *_: True, largest_mass=lambda *_: 1))

ZERO = Variant("no support at all", "support", lambda uncertainty_set, p, v: 0.0, (Anything,), ("support function",))
"""


def test_a_set_of_the_variants_own_module_can_be_replayed(capsys: pytest.CaptureFixture[str]) -> None:
    Path("own.py").write_text(OWN_SET)
    case = {"uncertainty_set": {"set": {"kind": "anything", "radius": 1.0}}, "p": {"floats": [1.0, 0.0]}}
    data = {"format": FORMAT, "law": "support value", "variant": "own.py:ZERO", "finding": ""}
    Path("own.json").write_text(json.dumps(data | {"case": case | {"v": {"floats": [0.0, 2.0]}}}))
    assert main(["replay", "own.json"]) == VIOLATED
    assert "got 0.0, wanted 2.0" in capsys.readouterr().out
    Path("own.json").write_text(Path("own.json").read_text().replace('"anything"', '"nothing"'))
    assert main(["replay", "own.json"]) == USAGE
    assert "uncertainty set" in capsys.readouterr().err


COPY = "properties.variants.gallery.target_copy:VARIANT"


def test_one_law_can_be_chosen_and_the_output_says_what_else_could_be_promised(
    capsys: pytest.CaptureFixture[str],
) -> None:
    chosen = ["verify", COPY, "--law", "mean update", "--law", "box", "--examples", "3", "--no-statistics"]
    assert main(chosen) == HOLDS
    shown = capsys.readouterr().out
    assert "2 holds\n  not run (--law): " in shown
    assert "this variant could also promise: non-expansive; monotone" in shown
    assert main(["verify", COPY, "--law", "mean updates"]) == USAGE
    assert "no law 'mean updates' applies" in capsys.readouterr().err


def test_promises_that_a_learner_keeps_that_never_learns_are_called_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "idle.py"
    file.write_text(
        "from robust_core import Contamination, Variant\n"
        "class Idle:\n"
        "    def __init__(self, problem): self.start = problem.initial\n"
        "    def update(self, step): pass\n"
        "    def estimate(self): return self.start.copy()\n"
        "IDLE = Variant('idle', 'control', Idle, (Contamination,), ('fixed point', 'symmetric', 'bounded'))\n"
    )
    assert main(["verify", str(file), "--examples", "3", "--no-statistics", "--law", "box"]) == HOLDS
    assert "say nothing about learning" in " ".join(capsys.readouterr().out.split())


def test_fail_fast_ends_with_the_first_violation(capsys: pytest.CaptureFixture[str]) -> None:
    two = [f"properties.variants.mutants.operator:{name}" for name in ("NO_DISCOUNT", "NO_DISCOUNT")]
    assert main(["verify", *two, "--fail-fast", "--examples", "20", "--json"]) == VIOLATED
    outcomes = [json.loads(line)["outcome"] for line in capsys.readouterr().out.splitlines()]
    assert outcomes.count("violated") == 1
    assert outcomes[-1] == "violated"


@pytest.mark.parametrize(
    ("what", "name"),
    [("laws", "mean update"), ("promises", "fixed point"), ("kinds", "linear evaluation"), ("variants", COPY)],
)
def test_lists_name_what_there_is(what: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "--list", what]) == HOLDS
    assert any(line.startswith(f"{name}: ") for line in capsys.readouterr().out.splitlines())
