"""What all commands share: options that mean the same, help at once, a true reference, a clean exit."""

import argparse
import contextlib
import json
import os
import pty
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import robust_core
from benchmarks.cli.conventions import (
    EXIT_CODES,
    HOLDS,
    IN_SHORT,
    INTERRUPTED,
    TERMINATED,
    UNREAD,
    USAGE,
    paint,
    raise_on_termination,
    stopped_between,
)
from benchmarks.cli.main import parser, subparsers
from benchmarks.documents.command_line import document, example
from benchmarks.runner.identity import PACKAGES
from benchmarks.tests.processes import LONGEST_WAIT, interruptible
from properties.judging import blame

PROGRAM = (sys.executable, "-m", "robust_core")
COMMANDS = subparsers(parser())
ESCAPE = b"\x1b"


def options(command: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.Action]]:
    for action in command._actions:
        yield from ((name, action) for name in action.option_strings)


def test_there_is_one_program() -> None:
    folder = Path(robust_core.__file__).parents[1]
    sources = (path for name in PACKAGES for path in (folder / name).rglob("*.py") if "tests" not in path.parts)
    programs = [path for path in sources if '__name__ == "__main__"' in path.read_text(encoding="utf-8")]
    # The checker of certificates is also run by itself, without an installation.
    alone = folder / "robust_core" / "certificates" / "checker.py"
    assert set(programs) == {folder / "robust_core" / "__main__.py", alone}


def test_an_option_means_the_same_in_every_command() -> None:
    shapes: dict[str, set[tuple[object, ...]]] = {}
    for command in COMMANDS.values():
        for name, action in options(command):
            shapes.setdefault(name, set()).add((type(action), action.type, action.dest))
    assert {name: kinds for name, kinds in shapes.items() if len(kinds) > 1} == {}


WITHOUT = {
    ("completion", "--json"): "a script for a shell is all it prints",
    ("completion", "--quiet"): "a script for a shell is all it prints",
    ("new", "--json"): "a file is all it makes",
    ("new", "--quiet"): "one line is all it prints",
    ("baseline accept", "--budget"): "a baseline must be complete",
    ("study injected", "--budget"): "a defect that is not measured would count as missed",
}


def test_every_command_can_be_quiet_and_speaks_json_and_one_that_keeps_parts_has_a_budget() -> None:
    names = {command: {name for name, _ in options(parser)} for command, parser in COMMANDS.items()}
    wanted = {(command, option) for command in names for option in ("--json", "--quiet")}
    wanted |= {(command, "--budget") for command, mine in names.items() if "--store" in mine}
    assert {(command, option) for command, option in wanted if option not in names[command]} == WITHOUT.keys()


@pytest.mark.parametrize("name", COMMANDS)
def test_an_unknown_option_is_answered_with_the_usage_of_the_command(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = shlex.split(example(COMMANDS[name]).removeprefix('eval "$(').removesuffix(')"'))[1:]
    with pytest.raises(SystemExit, match=str(USAGE)):
        parser().parse_args([*shown, "--xyzzy"])
    complaint = capsys.readouterr().err
    assert complaint.startswith(f"usage: robust-core {name} [-h] ")
    assert complaint.endswith(f"robust-core {name}: error: unrecognized arguments: --xyzzy\n")


@pytest.mark.parametrize(
    ("words", "suggestion"),
    [
        (["verfy"], "'verify'"),
        (["baseline", "acept"], "'accept'"),
        (["verify", "--exampels", "3"], "'--examples'"),
        (["verify", "--size", "fulll"], "'full'"),
    ],
)
def test_a_misspelt_word_is_answered_with_the_one_it_looks_like(
    words: list[str], suggestion: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match=str(USAGE)):
        parser().parse_args(words)
    assert capsys.readouterr().err.endswith(f"; did you mean {suggestion}?\n")


def test_the_help_of_the_program_has_every_exit_code() -> None:
    shown = parser().format_help()
    assert set(IN_SHORT) == set(EXIT_CODES)
    assert all(f" {code} {meaning}" in " ".join(shown.split()) for code, meaning in IN_SHORT.items())
    assert max(map(len, shown.splitlines()[-2:])) < 80


@pytest.mark.parametrize("name", COMMANDS)
def test_every_argument_is_explained(name: str) -> None:
    assert COMMANDS[name].description
    assert [action.dest for action in COMMANDS[name]._actions if not action.help] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_the_example_in_the_help_is_a_command_that_parses(name: str) -> None:
    shown = example(COMMANDS[name]).removeprefix('eval "$(').removesuffix(')"')
    assert shown.startswith(f"robust-core {name} ")
    assert not set(shown) & set(";|&"), "one command and no remark"
    parser().parse_args(shlex.split(shown)[1:])


def test_the_reference_is_what_the_parsers_say() -> None:
    written = document()
    assert all(f"| {code} | {meaning} |" in written for code, meaning in EXIT_CODES.items())
    for name, command in COMMANDS.items():
        section = written.partition(f"## `robust-core {name}`\n")[2].partition("\n## ")[0]
        assert [
            option for option, _ in options(command) if option not in ("-h", "--help") and option not in section
        ] == []


def run(
    *arguments: str, env: Mapping[str, str] | None = None, program: tuple[str, ...] = PROGRAM
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*program, *arguments], env={**os.environ, **(env or {})}, capture_output=True, check=False)


def test_an_encoding_that_lacks_characters_gets_them_escaped() -> None:
    ascii_only, shown = {"PYTHONIOENCODING": "ascii"}, ("claims", "expand-T")
    done = run(*shown, env=ascii_only)
    assert (done.returncode, done.stderr) == (HOLDS, b"")
    assert b"\\u03a3 p((1\\u2212R)V(s')" in done.stdout
    records = [json.loads(run(*shown, "--json", env=env).stdout) for env in (ascii_only, {"PYTHONIOENCODING": "utf-8"})]
    assert records[0] == records[1]
    assert "Σ" in records[0]["printed"]
    assert "·" in records[0]["printed"], "which Python would escape in a way that is not JSON"


def foreign(program: str) -> list[str]:
    """The libraries, beside Python's own and this project, that a program has loaded when it ends."""
    told = "import sys; before = {*sys.modules};" + program + ";new = {name.partition('.')[0] for name in sys.modules}"
    told += "- {*before, *sys.stdlib_module_names}; print(*sorted(new))"
    ran = run(program=(sys.executable, "-c", told))
    assert ran.returncode == HOLDS, ran.stderr
    return ran.stdout.decode().splitlines()[-1].split()


def test_help_loads_nothing_but_pythons_own_library() -> None:
    """This is why help comes at once; how soon, `robust-core speed help` measures."""
    program = "from benchmarks.cli.main import subparsers, parser; root = parser(); root.format_help();"
    program += "[command.format_help() for command in subparsers(root).values()]"
    assert set(foreign(program)) <= set(PACKAGES)
    assert "numpy" in foreign("import numpy;" + program)


def test_version() -> None:
    from importlib import metadata

    assert run("--version").stdout.decode() == f"robust-core {metadata.version('robust-core')}\n"


def on_a_terminal(*arguments: str, env: Mapping[str, str] | None = None) -> bytes:
    """What a command writes to a pseudo-terminal."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", **(env or {})}
    with subprocess.Popen([*PROGRAM, *arguments], env=environment, stdout=theirs, stderr=theirs) as child:
        os.close(theirs)
        written = b""
        while True:
            try:
                part = os.read(ours, 1 << 16)
            except OSError:  # on Linux the end of the other side is an error
                break
            if not part:
                break
            written += part
        assert child.wait() == HOLDS
    os.close(ours)
    return written


def test_colours_only_on_a_terminal_that_wants_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    command = ("claims", "--status", "conditional")
    assert b"\x1b[33mconditional\x1b[0m" in on_a_terminal(*command)
    assert ESCAPE not in on_a_terminal(*command, env={"NO_COLOR": "1"})
    assert ESCAPE not in run(*command, env={"TERM": "xterm"}).stdout


def test_a_dumb_terminal_gets_no_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal:
        def isatty(self) -> bool:
            return True

    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "dumb")
    assert paint("holds", Terminal(), width=6) == "holds "  # type: ignore[arg-type]
    monkeypatch.setenv("TERM", "xterm")
    assert paint("holds", Terminal(), width=6) == "\x1b[32mholds\x1b[0m "  # type: ignore[arg-type]


def test_ctrl_c_keeps_what_was_printed_and_says_how_to_go_on() -> None:
    arguments = ["claims", "--run", "--method", "E"]
    with interruptible([*PROGRAM, *arguments]) as child:
        assert child.stdout is not None
        first = child.stdout.readline()
        child.send_signal(signal.SIGINT)
        _, complaint = child.communicate(timeout=LONGEST_WAIT)
    assert first.rstrip().endswith(b"as stored"), complaint
    assert child.returncode == INTERRUPTED
    assert b"To continue:\n  robust-core claims --run --method E\n" in complaint
    assert b"Traceback" not in complaint


def test_mutants_are_printed_as_they_come_and_ctrl_c_keeps_them() -> None:
    with interruptible([*PROGRAM, "mutants", "properties.variants.mutants.support", "--examples", "400"]) as child:
        assert child.stdout is not None
        for line in child.stdout:
            if line.startswith(b"sigma with the L1 radius"):
                break
        child.send_signal(signal.SIGINT)
        rest, complaint = child.communicate(timeout=LONGEST_WAIT)
    assert child.returncode == INTERRUPTED
    assert b"mutants caught" not in rest
    assert b"Traceback" not in complaint


def test_an_interrupted_verification_writes_the_verdicts_it_has(tmp_path: Path) -> None:
    file = tmp_path / "junit.xml"
    command = [
        *PROGRAM,
        "verify",
        "properties.variants.gallery.bellman:VARIANT",
        "--examples",
        "5000",
        "--junit",
        str(file),
    ]
    with interruptible(command) as child:
        assert child.stdout is not None
        for line in child.stdout:
            if line.startswith(b"  holds"):
                break
        child.send_signal(signal.SIGINT)
        _, complaint = child.communicate(timeout=LONGEST_WAIT)
    assert child.returncode == INTERRUPTED
    assert b"Traceback" not in complaint
    assert file.read_text().count("<testcase") >= 2
    assert 'name="not finished"' in file.read_text(), "a run that was stopped is not green"


@pytest.mark.skipif(shutil.which("sh") is None, reason="no shell that closes streams")
@pytest.mark.parametrize("closed", [">&-", "<&- >&- 2>&-"])
def test_closed_streams_change_no_verdict(closed: str, tmp_path: Path) -> None:
    target = "properties.variants.mutants.operator:NO_DISCOUNT --examples 20 --no-statistics"
    command = f"{shlex.join(PROGRAM)} verify {target} {closed}"
    result = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, timeout=300, check=False)
    assert (result.returncode, result.stdout, result.stderr) == (1, b"", b"")


@pytest.mark.parametrize(("presses", "steps"), [(0, 3), (1, 1), (2, 0)])
def test_ctrl_c_waits_for_the_step_and_a_second_one_does_not(presses: int, steps: int) -> None:
    done = []

    def work() -> None:
        with stopped_between() as check:
            for step in range(3):
                for _ in range(presses):
                    signal.raise_signal(signal.SIGINT)
                done.append(step)
                check()

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt) if presses else contextlib.nullcontext():
            work()
        assert len(done) == steps
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_request_to_end_is_not_taken_for_the_fault_of_a_variant() -> None:
    """It was: the run went on, with a verdict that the variant had raised SystemExit, and could not be ended."""

    class Asked(SystemExit):
        pass

    def judged() -> str:
        try:
            signal.raise_signal(signal.SIGTERM)
        except BaseException as error:
            return blame.misbehaviour(error)
        return "nothing was raised"

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(SystemExit, match=str(TERMINATED)), raise_on_termination():
            pytest.fail(judged())
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
        assert "raised Asked" in blame.misbehaviour(Asked()), "an exit of its own is its fault"
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_reader_that_goes_away_is_no_error() -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    try:
        done = subprocess.run([*PROGRAM, "claims"], stdout=theirs, stderr=subprocess.PIPE, check=False)
    finally:
        os.close(theirs)
    assert (done.returncode, done.stderr) == (UNREAD, b"")


@pytest.mark.parametrize(
    "arguments",
    [
        ("mutants", "properties.variants.mutants.support:L1_RADIUS", "--examples", "5"),
        ("claims", "sup-sample", "--run"),
    ],
)
def test_progress_is_for_terminals(arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    shown = {"mutants": "[mutant 1/1]", "claims": "[0/1, 0 %] sup-sample"}[arguments[0]]
    assert shown in on_a_terminal(*arguments).decode()
    assert run(*arguments).stderr == b""


@pytest.mark.parametrize("name", COMMANDS)
def test_an_example_is_in_one_piece_on_a_narrow_terminal(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    shown = COMMANDS[name].format_help()
    assert f"example: {example(COMMANDS[name])}" in shown.splitlines()
    assert COMMANDS[name].description not in shown.splitlines(), "the description is filled to the width"
    assert not [line for line in shown.splitlines() if re.search(r"\w-$", line)], "a word is broken at its hyphen"


@pytest.mark.parametrize(
    ("option", "given", "rule"),
    [
        ("--examples", "abc", "a positive integer"),
        ("--examples", "0", "a positive integer"),
        ("--seed", "abc", "an integer"),
    ],
)
def test_a_wrong_number_is_refused_with_its_rule(
    option: str, given: str, rule: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match=str(USAGE)):
        parser().parse_args(["verify", option, given])
    assert f"argument {option}: must be {rule}, got {given}" in capsys.readouterr().err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_names_every_command(shell: str) -> None:
    done = run("completion", shell)
    assert done.returncode == HOLDS
    assert all(word in done.stdout.decode() for name in COMMANDS for word in name.split())


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_bash_completes(tmp_path: Path) -> None:
    script = tmp_path / "completion.bash"
    script.write_bytes(run("completion", "bash").stdout)
    ask = "COMP_WORDS=(robust-core {words}); COMP_CWORD={place}; _shtab_robust_core; echo ${{COMPREPLY[@]}}"
    asked = {
        "ver": "verify",
        "claims --sta": "--status",
        "claims --status not": "not-decidable-as-stated",
        "claims expa": "expand-T",
        "panels --panel frozen": "frozenlake-a frozenlake-b frozenlake-c",
        "panels --interpretation cont": "continuing",
    }
    questions = [ask.format(words=words, place=len(words.split())) for words in asked]
    done = subprocess.run(
        ["bash", "--norc", "-c", f". {script}; {'; '.join(questions)}"], capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines() == list(asked.values()), done.stderr


def test_what_is_completed_is_understood() -> None:
    told = [parser().parse_args(["claims", "--status", text]).status for text in ("not-decidable-as-stated", "holds")]
    assert told == ["not decidable as stated", "holds"]
    assert parser().parse_args(["claims", "--status", told[0]]).status == told[0]


def test_completion_loads_no_library_that_a_shell_would_wait_for() -> None:
    assert set(foreign("from benchmarks.cli.main import main; main(['completion', 'bash'])")) <= {*PACKAGES, "shtab"}


def test_an_unknown_shell_is_a_usage_error() -> None:
    assert run("completion", "csh").returncode == USAGE


@pytest.mark.parametrize("width", [60, 80])
def test_lines_and_tables_fit_a_terminal(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks.cli.claims import _row
    from benchmarks.cli.conventions import fold, show_table
    from benchmarks.mutants.matrix import Kill, Table
    from properties.claims import catalogue

    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    laws = tuple(f"law {number}" for number in range(25))
    matrix = Table("control", laws, 50, columns=width)
    kills = [Kill("mutant", "name", "control", law, 3, 0.1, "finding") for law in laws]
    texts = [
        fold(f"name: {'some words ' * 20}"),
        show_table(["what", "size", "ours"], [["x" * 50, "y" * 30, "z" * 30]]),
        show_table(["what"], [["x"]]),
        matrix.head(),
        matrix.line("a mutant " * 5, kills),
        *map(_row, catalogue().values()),
    ]
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line) for text in texts for line in text.splitlines()]
    assert [line for line in lines if len(line) > width] == []
