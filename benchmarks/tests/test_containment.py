"""A module that starts, patches or exhausts something harms neither the verdict nor whoever asked for it."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.cli.main import main
from benchmarks.mutants.isolated import SERVE as MUTANTS
from benchmarks.mutants.isolated import judge_source, kills
from benchmarks.regression.isolated import Side
from benchmarks.tests.processes import alive, await_true
from properties.difference.difference import differ
from properties.judging import canary
from properties.judging.verdict import Record
from properties.kinds import kind_of
from properties.process.child import Child, Fault
from properties.process.loading import DEEPEST, load
from properties.process.session import CANARY, PROCESSES, Description, Effort, Failed, Session, records, verify_isolated
from robust_core.problem import KINDS, Kind

HEAD = """
import os, sys, threading, time
from dataclasses import replace
from properties.variants.gallery.bellman import VARIANT as _RIGHT
from robust_core import bellman

def backup(mdp, uncertainty_set, Q):
    return bellman(mdp, uncertainty_set, Q)

MINE = replace(_RIGHT, name="mine", make=lambda *case: backup(*case))
"""
RESTLESS = """
import atexit
threading.Thread(target=time.sleep, args=(1000.0,)).start()
os.mkdir("elsewhere")
os.chdir("elsewhere")
atexit.register(os._exit, 0)

def backup(mdp, uncertainty_set, Q):
    return 0.0 * Q
"""


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def verified(source: str, law_seconds: float = 120.0) -> Generator[Record, None, None]:
    Path("mine.py").write_text(HEAD + source)
    yield from records(verify_isolated("mine.py:MINE", effort=Effort(examples=2, law_seconds=law_seconds)))


def judged(source: str) -> list[Record]:
    return list(verified(source))


def test_threads_folders_and_exits_of_a_module_do_not_reach_the_command() -> None:
    """A thread that never ends, another current folder, and an exit code of its own at the end."""
    Path("mine.py").write_text(HEAD + RESTLESS)
    # The current folder is searched first by a program that is given as text.
    Path("json.py").write_text("raise SystemExit(0)")
    program = "from robust_core.entry.command import main; raise SystemExit(main())"
    command = [
        sys.executable,
        "-P",
        "-c",
        program,
        "verify",
        "mine.py:MINE",
        "--examples",
        "20",
        "--no-statistics",
        "--quiet",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stderr) == (1, ""), done.stdout
    (file,) = Path(".robust-core/counterexamples").iterdir()
    assert f"replay: robust-core replay {file}\n" in done.stdout


def test_a_process_that_is_left_behind_is_ended_and_a_finding() -> None:
    """It leaves the session, and holds the pipe: neither hides it or delays the verdict."""
    records = judged(
        "if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n"
        "        open('pid', 'w').write(str(os.getpid()))\n        time.sleep(1000.0)\n    os._exit(0)\n"
        "while not os.path.exists('pid') or not os.path.getsize('pid'): time.sleep(0.01)\n"
    )
    assert [record.outcome for record in records[:-1]] == ["holds"] * (len(records) - 1)
    last = records[-1]
    assert (last.law, last.outcome) == (PROCESSES, "violated")
    assert last.evidence.startswith("misbehaviour: left 1 process running, which the suite has ended: python")
    assert not alive(int(Path("pid").read_text()))


def test_a_process_that_holds_the_pipe_does_not_delay_the_verdict_on_a_death() -> None:
    started = time.monotonic()
    source = "def backup(*case):\n    if os.fork():\n        os._exit(7)\n    time.sleep(1000.0)\n"
    record = next(verified(source, law_seconds=600.0))
    assert (record.outcome, record.evidence) == ("violated", "misbehaviour: its process ended with exit code 7")
    assert time.monotonic() - started < 300.0


@pytest.mark.parametrize("signal", ["SIGKILL", "SIGSTOP"])
def test_what_a_module_starts_ends_even_if_it_kills_or_stops_the_process_that_watches_it(signal: str) -> None:
    """Nobody else knows a process that has left the session, and whose parent is gone."""
    source = (
        "import signal\nif os.fork() == 0:\n    os.setsid()\n"
        "    open('pid', 'w').write(str(os.getpid()))\n    time.sleep(1000.0)\n"
        "while not os.path.exists('pid') or not os.path.getsize('pid'): time.sleep(0.01)\n"
        f"def backup(*case):\n    os.kill(os.getppid(), signal.{signal})\n    return 0.0 * case[2]\n"
    )
    # The first law may end before the death is seen.
    records = verified(source)
    if signal == "SIGSTOP":
        next(records)
    else:
        assert any("the process that watches it ended" in record.evidence for record in records)
    records.close()
    await_true(lambda: not alive(int(Path("pid").read_text())))


def test_who_ends_a_session_ends_all_processes_in_it() -> None:
    Path("mine.py").write_text(
        HEAD + "import subprocess\nopen('pid', 'w').write(str(subprocess.Popen(['sleep', '1000']).pid))\n"
    )
    with Session(["mine.py:MINE"]):
        pid = int(Path("pid").read_text())
        assert alive(pid)
    assert not alive(pid)


def test_a_killed_suite_leaves_no_process() -> None:
    Path("mine.py").write_text(
        HEAD + "import subprocess\nopen('pids', 'w').write(f'{subprocess.Popen([\"sleep\", \"1000\"]).pid} "
        "{os.getpid()} {os.getppid()} ')\ntime.sleep(1000.0)\n"
    )
    program = "from properties.process.session import Session; Session(['mine.py:MINE'])"
    parent = subprocess.Popen([sys.executable, "-c", program])
    await_true(lambda: Path("pids").exists() and Path("pids").read_text().endswith(" "))
    parent.kill()
    parent.wait()
    for pid in Path("pids").read_text().split():
        await_true(lambda pid=pid: not alive(int(pid)))  # type: ignore[misc]


def first_evidence(source: str) -> str:
    record = next(record for record in verified(source) if record.outcome != "holds")
    assert record.outcome == "violated"
    return record.evidence


@pytest.mark.parametrize(
    ("body", "evidence"),
    [
        ("os.write(1, b'x' * (1 << 22))", "misbehaviour: printed to standard output: got xxx"),
        ("keep.extend(os.open('/dev/null', 0) for _ in range(1 << 20))", "misbehaviour: used up the file descriptors"),
        ("raise RuntimeError(TEXT)", "misbehaviour: raised RuntimeError: xxx"),
        ("raise Odd", "misbehaviour: raised EEE"),
        ("raise Unreadable", "misbehaviour: raised Unreadable: (its message cannot be read)"),
    ],
    ids=["output", "descriptors", "message", "class", "unreadable"],
)
def test_too_much_of_something_is_a_short_finding(body: str, evidence: str) -> None:
    text = first_evidence(
        "keep = []\nTEXT = 'x' * 70_000_000\nOdd = type('E' * 10_000_000 + '\\x1b', (Exception,), {})\n"
        "class Unreadable(Exception):\n    def __str__(self):\n        raise KeyError\n"
        f"def backup(*case):\n    {body}\n    return bellman(*case)\n"
    )
    assert text.startswith(evidence)
    assert len(text) < 1000


def test_a_name_that_is_too_long_is_cut() -> None:
    found = judged("MINE = replace(MINE, name='\\ud800' + 'n' * 20_000_000)")
    assert {(record.outcome, len(record.variant) < 300) for record in found} == {("holds", True)}


PATCH = """
from properties.judging import search, verification
from properties.judging.verdict import Verdict

def deceive():
    verification.search = lambda *_, **__: Verdict("holds", "no violation in 2 cases", 2)

def backup(mdp, uncertainty_set, Q):
    {body}
    return 0.0 * Q
"""


def test_a_suite_that_is_patched_when_a_module_is_loaded_holds_nothing() -> None:
    found = judged(PATCH.format(body="pass") + "deceive()\n")
    assert {record.outcome for record in found} == {"error"}
    assert "does not find the defect of 'T without gamma'" in found[0].evidence


def test_a_worker_that_hangs_before_any_law_is_waited_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two minutes for each law were half an hour."""
    canaries: list[object] = []

    def hang(*_: object) -> Fault:
        canaries.append(_)
        return Fault("hung", "no answer within 120 s")

    monkeypatch.setattr(Session, "_canary", hang)
    first, *others = judged("MINE = replace(_RIGHT, make=backup)")
    assert (first.outcome, "no answer within 120 s" in first.evidence) == ("violated", True)
    assert {other.outcome for other in others} == {"error"}
    assert "no answer within 120 s before any law" in others[0].evidence
    assert len(canaries) == 1


@pytest.mark.parametrize("limit", [60, 10**9])
def test_a_module_cannot_take_the_depth_that_a_judge_needs_or_let_recursion_fill_the_memory(limit: int) -> None:
    Path("mine.py").write_text(f"{HEAD}sys.setrecursionlimit({limit})\ndef backup(*case): return bellman(*case)\n")
    before = sys.getrecursionlimit()
    load("mine.py")
    try:
        assert before <= sys.getrecursionlimit() <= max(before, DEEPEST)
    finally:
        sys.setrecursionlimit(before)


def test_a_canary_that_is_found_for_another_reason_is_not_found() -> None:
    """With this patch every comparison is true, and the canary itself raises: that is not its defect."""
    found = judged(
        "import numpy as np\nnp.abs = np.absolute = lambda *_, **__: np.zeros(1)\n"
        "def backup(mdp, uncertainty_set, Q):\n    return 0.0 * Q\n"
    )
    assert {record.outcome for record in found} == {"error"}
    assert "in 'T without gamma', which does nothing of that kind: the module does it beside" in found[0].evidence


def test_messages_that_are_changed_on_their_way_are_not_believed() -> None:
    """The encoder of JSON says *holds* for *violated*."""
    found = judged(
        """
import json.encoder
encode = json.encoder.JSONEncoder.encode
json.encoder.JSONEncoder.encode = lambda self, value: encode(self, value).replace("violated", "holds")

def backup(mdp, uncertainty_set, Q):
    return 0.0 * Q
"""
    )
    assert {record.outcome for record in found} == {"error"}
    assert "its messages say what was not decided" in found[0].evidence


def test_a_patched_suite_has_no_worker_for_mutants_and_differences() -> None:
    Path("mine.py").write_text(HEAD + PATCH.format(body="pass") + "deceive()\n")
    with Session(["mine.py:MINE"]) as session:
        (mine,) = session.variants.values()
        with pytest.raises(ValueError, match=r"^mine\.py:MINE: cannot be judged: 'bellman backup' does not find"):
            session.worker(mine)
        session.worker(mine, canary=False)


def test_what_a_suite_that_is_patched_at_work_says_of_mutants_and_differences_is_not_believed() -> None:
    Path("mine.py").write_text(HEAD + PATCH.format(body="deceive()"))
    reason = r"^mine\.py: cannot be judged: 'bellman backup' does not find"
    with Session(["mine.py:MINE"], serve=MUTANTS) as session:
        (mine,) = session.variants.values()
        found = list(kills(session, mine, examples=2, seed=0, tick=lambda *_: None))
        assert {kill.cases for kill in found} > {None}
        with pytest.raises(ValueError, match=reason):
            session.require_good_end()
    with pytest.raises(ValueError, match=reason):
        differ("mine.py:MINE", "properties.variants.gallery.bellman:VARIANT", examples=2)


@pytest.mark.robust_core_slow
def test_mutants_of_a_module_that_leaves_a_process_behind_are_not_believed(capsys: pytest.CaptureFixture[str]) -> None:
    leave = "import subprocess\nsubprocess.Popen(['sleep', '1000'], start_new_session=True)\n"
    Path("mine.py").write_text(HEAD + leave + "def backup(*case):\n    return bellman(*case)\n")
    assert main(["mutants", "mine.py", "--examples", "2"]) == 2
    assert "mine.py: misbehaviour: left 1 process running, which the suite has ended: sleep" in capsys.readouterr().err


def test_a_suite_that_is_patched_at_work_is_an_error() -> None:
    found = judged(PATCH.format(body="deceive()"))
    assert (found[-1].law, found[-1].outcome) == (CANARY, "error")


def test_a_suite_that_is_patched_in_the_next_process_is_an_error() -> None:
    body = "open('died', 'w').close(); os._exit(7)"
    found = judged(PATCH.format(body=body) + "if os.path.exists('died'): deceive()\n")
    assert "exit code 7" in found[0].evidence
    assert {record.outcome for record in found[1:]} == {"error"}


QUICK = ("control", "operator", "support", "batch")


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[pytest.mark.robust_core_slow] * (kind not in QUICK)) for kind in KINDS]
)
def test_every_kind_has_a_canary_that_two_laws_catch(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    from properties.judging import verification
    from properties.judging.verdict import Verdict

    assert canary.missed_defect(kind) == ""
    search, asked = vars(verification)["search"], list[str]()

    def blind(law: object, *args: object, **options: object) -> Verdict:
        asked.append(law.name)  # type: ignore[attr-defined]
        return search(law, *args, **options) if len(asked) == 1 else Verdict("holds", "")

    monkeypatch.setattr(verification, "search", blind)
    assert "the suite was changed from inside" in canary.missed_defect(kind)
    assert asked == list(kind_of(kind).canary.laws), "each of the two is asked"


def test_a_canary_with_a_misspelt_law_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    right = kind_of("operator")
    wrong = replace(right, canary=replace(right.canary, laws=("bellman backup", "bellman backups")))
    monkeypatch.setattr(canary, "kind_of", lambda kind: wrong)
    assert canary.missed_defect("operator").endswith("names 'bellman backups', which is not a law of 'T without gamma'")


def test_a_module_that_is_another_one_when_it_is_loaded_again_is_not_judged() -> None:
    found = judged(
        "if os.path.exists('died'): MINE = replace(MINE, name='innocent')\n"
        "def backup(*case):\n    open('died', 'w').close()\n    os._exit(7)\n"
    )
    assert "exit code 7" in found[0].evidence
    assert {record.outcome for record in found[1:]} == {"error"}
    assert "its module is another one when it is loaded again" in found[1].evidence


def serve(pipe: int) -> None:
    """A worker that closes its pipe and lives on."""
    os.close(pipe)
    time.sleep(1000.0)


def test_a_worker_that_closes_its_pipe_is_given_up() -> None:
    with Child(f"{__name__}:serve") as child:
        answer = child.hear(seconds=60.0)
        assert answer == Fault("died", "it closed its pipe to the suite")


@pytest.mark.parametrize(
    "patch",
    ["os.getpid = os.write = os._exit = None", "import builtins; builtins.isinstance = builtins.str = None"],
    ids=["os", "builtins"],
)
def test_a_worker_in_which_our_code_cannot_go_on_blames_nobody_and_shows_no_traceback(
    patch: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ValueError, match=r"^mine\.py: the code of the suite in its process could not go on while"):
        judged(patch)
    assert "Traceback" not in capfd.readouterr().err


def test_a_module_that_patches_sockets_does_not_silence_its_worker() -> None:
    found = judged("import socket; socket.socket.sendall = socket.socket.recv = lambda *_: b''\n")
    assert {record.outcome for record in found} == {"holds"}


IMPORTS = """
import json, sys
from benchmarks.cli.main import main
code = main(["verify", "mine.py:MINE", "--examples", "1", "--no-statistics", "--quiet"])
known = ("robust_core", "oracles", "properties", "benchmarks", "numpy")
print(json.dumps([code, [name for name in sys.modules if name.split(".")[0] in known]]))
"""


def test_the_parent_of_verify_loads_no_laws_and_no_numpy() -> None:
    Path("mine.py").write_text(HEAD)
    done = subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, text=True, check=True)
    code, loaded = json.loads(done.stdout)
    assert code == 0
    for large in ("oracles", "properties.laws", "properties.statistics.laws", "robust_core.sets", "numpy"):
        assert large not in loaded
    # Commands are one module each.
    assert len([name for name in loaded if not name.startswith("benchmarks.cli.")]) <= 32


def test_a_worker_that_is_killed_accuses_nobody() -> None:
    record = next(verified("def backup(*case):\n    os.kill(os.getpid(), 9)\n"))
    assert (record.outcome, record.evidence) == ("error", "cannot be judged: its process ended with exit code -9")


def test_a_worker_in_which_the_suite_fails_ends_a_command_with_a_line() -> None:
    """A `ValueError` is a line and exit code 2; another exception would be a traceback of the parent's."""

    class Failing:
        def worker(self, variant: object, **options: object) -> "Failing":
            return self

        def send(self, order: object) -> None:
            pass

        def hear(self, *kinds: type, **options: object) -> Failed:
            return Failed("cannot be judged: KeyError")

        def kill_worker(self, variant: object) -> None:
            pass

    mine = Description("mine", "mine", "operator", (), (), (), ("start",), (), ())
    session: Any = Failing()
    with pytest.raises(ValueError, match=r"^mine: cannot be judged: KeyError$"):
        judge_source(session, mine, "", examples=1, seed=0)
    with pytest.raises(ValueError, match=r"^mine: cannot be judged: KeyError$"):
        list(kills(session, mine, examples=1, seed=0, tick=lambda *_: None))
    with pytest.raises(ValueError, match=r"^mine: cannot be judged: KeyError$"):
        Side(session, mine, "seeds", "mine").identify("two states")
