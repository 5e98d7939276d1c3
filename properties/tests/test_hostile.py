"""Misbehaving variants get a verdict of their own in plain words, and the suite goes on."""

import datetime
import errno
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import NoReturn

import pytest

from properties.judging import guard
from properties.judging.counterexample import Counterexample
from properties.judging.expectations import Expectation, read
from properties.judging.verdict import Outcome, Record
from properties.judging.verification import applicable, verify
from properties.process import replay, serving, session
from properties.process.checks import worker_checks
from properties.process.child import Fault, Hello, Stop
from properties.process.confirmation import JudgedAgain
from properties.process.messages import first_frame, from_frame, to_frame
from properties.process.session import (
    Alive,
    Begun,
    CanaryJudged,
    Decided,
    Describe,
    Described,
    Effort,
    Failed,
    records,
    verify_isolated,
)
from properties.tests import hostile_variants
from properties.variants.gallery.q_learning import VARIANT
from properties.variants.mutants.control import LOST_GAMMA

IN_PROCESS = {
    "RAISES": "misbehaviour: raised RuntimeError: no idea what to do",
    "NOT_A_NUMBER": "nan",
    "WRONG_SHAPE": "shape of the estimate",
    "CHANGES_INPUT": "misbehaviour: tried to change an array it was given",
    "GLOBAL_RANDOM_STATE": "misbehaviour: drew from global random state",
    "PRINTS": "misbehaviour: printed to standard output",
    "MEMORY": "MemoryError",
    "MOODY": "misbehaviour: the same case does not always give the same: once estimate",
    "HANGS": "misbehaviour: time of one case: got over 1 s of idleness",
    "LOOPS": "misbehaviour: time of one case: got over 0.25 s of the processor",
    "RAISES_ENDLESSLY": "misbehaviour: time of one case: got over 0.25 s of the processor",
}
SLOW = {"HANGS": 4.0, "LOOPS": 1000.0, "RAISES_ENDLESSLY": 1000.0}
"""How many times the limit on the processor's time they may be idle."""


def first(records: list[Record]) -> Record:
    assert records[0].outcome == "violated", records
    return records[0]


@pytest.mark.parametrize("name", [name for name in IN_PROCESS if name not in SLOW])
def test_misbehaviour_is_named(name: str) -> None:
    variant = getattr(hostile_variants, name)
    record = first(list(verify(variant, examples=10, laws=applicable(variant)[:1])))
    assert IN_PROCESS[name] in record.evidence


def test_a_warning_breaks_no_law_but_is_noted(capfd: pytest.CaptureFixture[str]) -> None:
    laws = applicable(hostile_variants.WARNS)[:2]
    records = list(verify(hostile_variants.WARNS, examples=5, laws=laws))
    assert {record.outcome for record in records} == {"holds"}
    assert "of them RuntimeWarning: overflow encountered in exp" in records[0].evidence
    assert capfd.readouterr().err == ""
    silent = verify(VARIANT, examples=5, laws=laws)
    assert {record.evidence for record in silent} == {"no violation in 9 cases"}


def isolated(name: str, law_seconds: float) -> list[Record]:
    effort = Effort(examples=3, law_seconds=law_seconds)
    return list(records(verify_isolated(f"properties.tests.hostile_variants:{name}", effort=effort)))


@pytest.mark.parametrize(("name", "idle_factor"), SLOW.items())
def test_a_hanging_variant_is_interrupted_with_its_case(
    name: str, idle_factor: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Asleep it meets the limit on idle time, at work the processor's, however busy the machine is."""
    monkeypatch.setattr(guard, "CASE_SECONDS", 0.25)
    monkeypatch.setattr(guard, "IDLE_FACTOR", idle_factor)
    variant = getattr(hostile_variants, name)
    record = first(list(verify(variant, examples=3, laws=applicable(variant)[:1])))
    assert IN_PROCESS[name] in record.evidence


def test_a_message_that_takes_too_long_ends_the_case_long_before_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "MESSAGE_SECONDS", 0.05)
    monkeypatch.setattr(guard, "IDLE_FACTOR", SLOW["RAISES_ENDLESSLY"])
    variant = hostile_variants.RAISES_ENDLESSLY
    record = first(list(verify(variant, examples=3, laws=applicable(variant)[:1])))
    assert "misbehaviour: time of one case: got over 0.05 s of the processor" in record.evidence


@pytest.mark.parametrize(
    ("name", "limit", "words"),
    [("DIES", 60.0, "ended with exit code 7"), ("STUBBORN", 2.0, "no answer within 2 s")],
)
def test_a_dying_or_stubborn_variant_does_not_take_the_suite_down(name: str, limit: float, words: str) -> None:
    records = isolated(name, limit)
    laws = [law.name for law in applicable(getattr(hostile_variants, name))]
    assert [record.law for record in records] == laws, "every law got its record"
    assert words in first(records).evidence


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("WRITES_PAST_PYTHON", "misbehaviour: printed to standard output: got 'updating\\n"),
        ("INTERRUPTS", "misbehaviour: raised KeyboardInterrupt"),
    ],
)
def test_what_gets_past_python_is_misbehaviour_too(name: str, words: str, capfd: pytest.CaptureFixture[str]) -> None:
    """Standard output belongs to the parent; what only Ctrl-C raises elsewhere is the variant's where it is ignored."""
    assert words in first(isolated(name, 60.0)).evidence
    assert capfd.readouterr() == ("", "")


WRITES_AT_IMPORT = """
import os, time
from robust_core import Q_LEARNING, Contamination, TabularLearner, Variant

class Wrong(TabularLearner):
    right = False

    def __init__(self, problem):
        super().__init__(Q_LEARNING, problem)
        {make}

    def estimate(self):
        return super().estimate() + (not Wrong.right)

VARIANT = Variant("wrong", "control", Wrong, (Contamination,), ("unbiased", "asynchronous"))

def write(data):
    for entry in os.listdir("/proc/self/fd"):
        try:
            if os.readlink(f"/proc/self/fd/{entry}").startswith("socket:"):
                os.write(int(entry), data)
        except OSError:
            pass

{act}
"""
ON_PIPE = "misbehaviour: its pipe to the suite had another message than the one expected"


def framed(text: str) -> bytes:
    return struct.pack("!i", len(text)) + text.encode()


GARBAGE = (
    struct.pack("!i", -1) + bytes(8),
    struct.pack("!i", 2**31 - 1) + b"{",
    framed("not JSON"),
    framed("[" * 100_000),
    framed("[]"),
    framed('{"type": "Alive", "sender": 1, "fields": {}}'),
    framed('{"type": "Begun", "sender": 7, "fields": {}}'),
    framed('{"type": "Begun", "sender": 7, "fields": {"law": 3}}'),
    framed('{"type": "Popen", "sender": 7, "fields": {}}'),
)


@pytest.mark.parametrize("data", GARBAGE)
def test_garbage_is_not_a_message(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        from_frame(first_frame(bytearray(data)) or b"", (Alive, Begun), 7)


def verify_written(tmp_path: Path, act: str, make: str = "", law_seconds: float = 60.0) -> Iterator[Record]:
    file = tmp_path / "writes.py"
    file.write_text(WRITES_AT_IMPORT.replace("{act}", act).replace("{make}", make))
    return records(verify_isolated(f"{file}:VARIANT", effort=Effort(examples=3, law_seconds=law_seconds)))


@pytest.mark.parametrize(
    "act",
    [
        "if os.fork() == 0: Wrong.right = True",
        "if os.fork(): time.sleep(30.0)\nWrong.right = True",
        "if os.fork() == 0:\n    time.sleep(3.0)\n    Wrong.right = True",
    ],
    ids=["both go on", "the fork goes on", "the fork is late"],
)
def test_a_process_that_a_variant_forks_does_not_answer_for_it(act: str, tmp_path: Path) -> None:
    """The two race: as long as the fork is silent, the records of the first process are right and are believed.

    Before it takes an order the fork answers the one under which it was made. So it is found when that is heard, when
    it takes an order, or, if it is later than all laws, as a process that is left.
    """
    found = list(verify_written(tmp_path, act))
    assert "holds" not in {record.outcome for record in found}
    assert any(ON_PIPE in record.evidence or "left 1 process" in record.evidence for record in found), found


def test_what_is_written_after_the_last_message_is_a_finding(tmp_path: Path) -> None:
    """The pipe is closed then: it is another descriptor that leads there."""
    act = (
        "import atexit\nfor entry in os.listdir('/proc/self/fd'):\n"
        "    if os.path.exists(f'/proc/self/fd/{entry}') and 'socket:' in os.readlink(f'/proc/self/fd/{entry}'):\n"
        "        os.dup(int(entry))\natexit.register(write, b'x')"
    )
    *_, last = verify_written(tmp_path, act)
    assert (last.law, last.outcome) == (session.PROCESSES, "violated")
    assert ON_PIPE in last.evidence


def test_garbage_on_the_pipe_is_a_finding_and_the_suite_goes_on(tmp_path: Path) -> None:
    """A law at which something is written to the pipe costs the process, and the next law has another."""
    two = list(islice(verify_written(tmp_path, "", make=f"write({GARBAGE[2]!r})"), 2))
    assert [record.law for record in two] == [law.name for law in applicable(hostile_variants.RAISES)][:2]
    assert ON_PIPE in two[0].evidence
    assert (two[1].outcome, two[1].blocked_by) == ("blocked", two[0].law)


def test_garbage_while_loading_does_not_end_the_run_for_others(tmp_path: Path) -> None:
    file = tmp_path / "writes.py"
    file.write_text(WRITES_AT_IMPORT.replace("{act}", f"write({GARBAGE[0]!r})").replace("{make}", ""))
    right = "properties.variants.gallery.bellman:VARIANT"
    found = list(records(verify_isolated(str(file), right, effort=Effort(examples=1))))
    assert (found[0].variant, found[0].outcome) == (str(file), "violated")
    assert ON_PIPE in found[0].evidence
    assert {record.outcome for record in found if record.target == right} == {"holds"}


def test_garbage_while_loading_is_a_finding_for_who_asks_law_by_law(tmp_path: Path) -> None:
    """As pytest does: a module without laws that are known has its record when it is finished."""
    file = tmp_path / "writes.py"
    file.write_text(WRITES_AT_IMPORT.replace("{act}", f"write({GARBAGE[0]!r})").replace("{make}", ""))
    with session.Session([str(file)]) as found:
        (check,) = worker_checks(found)
        with pytest.raises(pytest.fail.Exception, match=ON_PIPE):
            check()


def test_a_worker_that_dies_at_one_law_is_not_asked_about_the_next() -> None:
    """As pytest does: the first check raises, and what is behind its record is never executed."""
    with session.Session(["properties.tests.hostile_variants:DIES"]) as found:
        first, second, *_ = worker_checks(found)
        with pytest.raises(pytest.fail.Exception, match="ended with exit code 7"):
            first()
        with pytest.raises(pytest.skip.Exception, match="usually violates this law too"):
            second()


def test_a_message_that_never_ends_does_not_hang_the_suite(tmp_path: Path) -> None:
    """Five bytes promise a thousand, and the rest comes so slowly that the pipe is never quiet."""
    make = "write((1000).to_bytes(4, 'big') + b'x')\n        while True: time.sleep(0.1); write(b'x')"
    record = next(verify_written(tmp_path, "", make, law_seconds=1.0))
    assert (record.outcome, "no answer within 1 s" in record.evidence) == ("violated", True)


RIGHT_RECORD = Record("presses Ctrl-C", "start", "holds", "no violation", 3, 0.0, 0, target="mine")
DESCRIPTION = replace(
    serving.description("mine", hostile_variants.INTERRUPTS, None), laws=("start", "run purity"), cells=()
)


@pytest.mark.parametrize(
    ("begun", "answer"),
    [
        ("start", Decided(replace(RIGHT_RECORD, law="run purity"))),
        ("start", Decided(replace(RIGHT_RECORD, variant="another"))),
        ("start", Decided(replace(RIGHT_RECORD, target="another"))),
        ("start", Decided(replace(RIGHT_RECORD, seed=1))),
        ("start", Fault("garbled", "its pipe to the suite had another message than the one expected")),
        ("run purity", Decided(RIGHT_RECORD)),
    ],
)
def test_only_the_expected_record_is_believed(begun: str, answer: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever sends it: the messages are read from a worker that follows a script."""

    class Scripted:
        def __init__(self, serve: str) -> None:
            self.rest = [Described((DESCRIPTION,)), CanaryJudged(""), Begun(begun), answer, Decided(RIGHT_RECORD)]

        def send(self, order: object) -> None:
            pass

        def hear(self, *kinds: type, seconds: float = 0.0, waiting: object = None) -> object:
            return self.rest.pop(0)

        def kill(self) -> None:
            pass

    monkeypatch.setattr(session, "Child", Scripted)
    record, *_ = records(verify_isolated("mine"))
    assert (record.outcome, ON_PIPE in record.evidence) == ("violated", True)


# As `ulimit -v` does, in kilobytes.
LIMITED = """
import json, resource, sys
from properties.process.session import Effort, records, verify_isolated

resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))
try:
    record = next(records(verify_isolated(sys.argv[1] + ":VARIANT", effort=Effort(examples=3))))
    print(json.dumps([record.outcome, record.evidence]))
except ValueError as error:
    print(json.dumps(["refused", str(error)]))
"""
TAKES_MEMORY = """
from properties.tests.hostile_variants import {name} as VARIANT
if {takes}:
    bytearray(1 << 39)
"""


@pytest.mark.parametrize(
    ("name", "takes", "outcome", "evidence"),
    [
        ("WARNS", False, "holds", "no violation"),
        ("WRONG_SHAPE", False, "violated", "shape of the estimate"),
        ("DIES", False, "violated", "exit code 7 (the caller limits memory to 4.1 GB with ulimit -v)"),
        ("MEMORY", False, "error", "(the caller limits memory to 4.1 GB with ulimit -v)"),
        ("WARNS", True, "refused", "MemoryError (the caller limits memory to 4.1 GB with ulimit -v) while loading"),
    ],
)
def test_a_limit_of_memory_that_the_caller_has_set_is_respected(
    name: str, takes: bool, outcome: str, evidence: str, tmp_path: Path
) -> None:
    file = tmp_path / "variant.py"
    file.write_text(TAKES_MEMORY.format(name=name, takes=takes))
    program = tmp_path / "program.py"
    program.write_text(LIMITED.format(limit=4_000_000 << 10))
    done = subprocess.run([sys.executable, program, file], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    got, words = json.loads(done.stdout)
    assert (got, evidence in words) == (outcome, True), words


def test_an_exception_in_several_laws_is_one_cause() -> None:
    records = list(verify(hostile_variants.RAISES_LATE, examples=10))
    wrong = [record for record in records if record.outcome == "violated"]
    evidence = [re.sub(r"\d+", "#", record.evidence.partition(" (")[0]) for record in wrong]
    assert evidence == ["misbehaviour: raised IndexError: no entry # here"], records
    assert "(hostile_variants.py, line " in wrong[0].evidence
    rest = [record for record in records if record.outcome == "blocked"]
    assert {record.blocked_by for record in rest} == {wrong[0].law}
    assert any("skipped: it fails for the same reason as" in record.evidence for record in rest)


def test_a_counterexample_that_cannot_be_kept_costs_no_verdict(tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.touch()
    record = first([r for r in verify(LOST_GAMMA, examples=50, keep=taken / "kept") if r.outcome != "holds"])
    assert "got" in record.evidence
    assert f"; the counterexample could not be saved: {taken / 'kept'}: not a directory" in record.evidence
    assert (record.counterexample, record.results == "") == (None, False)


def test_a_half_written_counterexample_is_taken_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, *_: object, **__: object) -> None:
        path.touch()
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match="No space left"):
        Counterexample("box", "mine", {}, "wrong").save(tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_worker_in_which_the_suite_fails_blames_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(serving.Worker):
        def describe(self, order: Describe) -> NoReturn:
            raise KeyError("lost")

    ours, theirs = socket.socketpair()
    ours.sendall(to_frame(Describe(()), 0) + to_frame(Stop(), 0))
    monkeypatch.setattr(serving, "settle", lambda: None)
    serving.follow_orders(theirs.detach(), Broken)
    received = bytearray(ours.recv(1 << 16))
    ours.close()
    assert from_frame(first_frame(received) or b"", (Hello,), None) == Hello(os.getpid())
    answer = from_frame(first_frame(received) or b"", (Failed,), os.getpid())
    assert answer.reason.startswith("cannot be judged: KeyError: ")


def test_a_module_that_leaves_its_folder_or_sets_a_mask_changes_no_file_of_the_suite(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source = "import os\nos.mkdir('gone')\nos.chdir('gone')\nos.rmdir('../gone')\nos.umask(0o777)\n"
    Path("mine.py").write_text(f"{source}from properties.variants.gallery.bellman import VARIANT\n")
    mask = os.umask(0o027)
    try:
        assert isinstance(serving.Worker(lambda answer: None).describe(Describe(("mine.py",))), Described)
        assert (Path.cwd(), os.umask(mask)) == (tmp_path, 0o027)
    finally:
        os.umask(mask)


@pytest.mark.robust_core_slow
def test_isolation_changes_no_verdict() -> None:
    target = "properties.variants.mutants.control:LOST_GAMMA"
    apart = list(records(verify_isolated(target, effort=Effort(examples=50))))
    inside = list(verify(LOST_GAMMA, name=target, examples=50))
    assert [(r.law, r.outcome, r.evidence) for r in apart] == [(r.law, r.outcome, r.evidence) for r in inside]
    examples = [(a.counterexample, r.counterexample) for a, r in zip(apart, inside, strict=True) if r.counterexample]
    assert examples
    assert all(data == json.loads(example.to_json()) for data, example in examples)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Record:
    """The first violation of a wrong learner, searched for once."""
    records = verify(LOST_GAMMA, examples=50, keep=tmp_path_factory.mktemp("found"))
    return next(record for record in records if record.outcome == "violated")


@pytest.mark.parametrize(("doubt", "outcome"), [("", "holds"), ("the suite was changed", "error")])
def test_a_case_holds_again_only_where_the_canary_is_found(
    doubt: str, outcome: Outcome, found: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay, "missed_defect", lambda kind: doubt)
    answer = replay._judge_again(Counterexample.load(Path(found.counterexample)), VARIANT, "mine.json")
    assert answer == JudgedAgain(outcome, f"cannot be judged: {doubt}" if doubt else "")


@pytest.fixture
def pinned(tmp_path: Path, found: Record) -> Path:
    assert found.counterexample is not None
    kept = shutil.copy(found.counterexample, tmp_path)
    file = tmp_path / "expected.toml"
    entry = f'law = "{found.law}"\nreason = "known"\nexpires = 2100-01-01\ncounterexample = "{Path(kept).name}"\n'
    file.write_text(f"[[expected]]\n{entry}")
    return file


LAWS = [law.name for law in applicable(LOST_GAMMA)]


def test_an_expected_failure_is_judged_on_its_pinned_case_only(pinned: Path) -> None:
    expected = read(pinned, LAWS)
    (law,) = expected
    record = next(r for r in verify(LOST_GAMMA, examples=50, expected=expected) if r.law == law)
    assert (record.outcome, record.cases, record.expected) == ("violated", 1, "known")


def test_a_known_case_that_takes_too_long_is_a_finding(
    pinned: Path, found: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "CASE_SECONDS", 0.25)
    finding = Counterexample.load(Path(found.counterexample)).replay(hostile_variants.HANGS)
    assert IN_PROCESS["HANGS"] in str(finding)
    hangs = replace(LOST_GAMMA, make=hostile_variants.HANGS.make)
    laws = [law for law in applicable(hangs) if law.name == found.law]
    (record,) = verify(hangs, laws=laws, expected=read(pinned, LAWS))
    assert (record.outcome, record.evidence) == ("violated", str(finding))


def test_an_unexpected_pass_is_an_error(pinned: Path) -> None:
    expected = read(pinned, LAWS)
    (law,) = expected
    record = next(r for r in verify(VARIANT, examples=5, expected=expected) if r.law == law)
    assert record.outcome == "error"
    assert "remove the entry" in record.evidence


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("2100-01-01", "2001-01-01"), "expired on 2001-01-01"),
        (('reason = "known"', 'reason = " "'), "reason must say why"),
        (('law = "', 'law = "no such '), "no law 'no such "),
        (("reason", "excuse"), "fields must be"),
        (("[[expected]]", "[[unexpected]]"), "must hold [[expected]] entries"),
        (("[[expected]]", "[[expected"), "not TOML"),
        (("expires = 2100-01-01", 'expires = "soon"'), "must be a date"),
        (("expires", "variant = 3\nexpires"), "variant must be the name of a variant, got 3"),
        (("expires", 'variant = " "\nexpires'), "variant must be the name of a variant"),
    ],
)
def test_a_bad_file_is_refused(pinned: Path, change: tuple[str, str], message: str) -> None:
    pinned.write_text(pinned.read_text().replace(*change))
    with pytest.raises(ValueError, match=r".") as caught:
        read(pinned, LAWS)
    assert message in str(caught.value)


def test_an_entry_that_names_a_variant_is_of_that_one_only(pinned: Path) -> None:
    pinned.write_text(pinned.read_text() + 'variant = "mine"\n')
    assert read(pinned, [], variant="another") == {}, "its laws may be others"
    assert len(read(pinned, LAWS, variant="mine")) == 1
    pinned.write_text(pinned.read_text().replace("2100", "2001"))
    with pytest.raises(ValueError, match="expired on 2001-01-01"):
        read(pinned, [], variant="another")


def test_laws_with_commas_are_told_apart(pinned: Path) -> None:
    pinned.write_text(pinned.read_text().replace('law = "', 'law = "no such '))
    with pytest.raises(ValueError, match="there are box; box, large; start"):
        read(pinned, ["start", "box, large", "box"])


def test_an_expectation_for_another_law_is_refused(pinned: Path) -> None:
    (expectation,) = read(pinned, LAWS).values()
    assert isinstance(expectation, Expectation)
    assert isinstance(expectation.counterexample, Counterexample)
    assert expectation.expires > datetime.date(2099, 1, 1)
    other = next(law for law in LAWS if law != expectation.law)
    pinned.write_text(pinned.read_text().replace(f'law = "{expectation.law}"', f'law = "{other}"'))
    with pytest.raises(ValueError, match="is a counterexample to"):
        read(pinned, LAWS)
