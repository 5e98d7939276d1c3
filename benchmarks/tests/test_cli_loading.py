"""The command line and files that misbehave while they are loaded: a line and exit code 2, never silence."""

import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.cli.conventions import INTERRUPTED, USAGE
from benchmarks.tests.processes import LONGEST_WAIT, alive, await_true, interruptible
from robust_core.problem import OPTIONS

PROGRAM = [sys.executable, "-m", "robust_core"]


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("command", [("verify",), ("mutants",), ("report", "--quick")])
def test_a_file_that_ends_its_process_is_a_usage_error(command: tuple[str, ...]) -> None:
    Path("exits.py").write_text("import os; os._exit(0)")
    done = subprocess.run([*PROGRAM, *command, "exits.py"], capture_output=True, text=True, check=False)
    assert done.stderr == "robust-core: exits.py: its process ended with exit code 0 while loading\n"
    assert (done.returncode, done.stdout) == (USAGE, "")


SLEEPS = """
import os, time
from pathlib import Path
Path("pid").write_text(str(os.getpid()))
Path("pid").rename("loading")
time.sleep(1000.0)
"""


def loading() -> int:
    """The process that loads the file, as soon as it does."""
    await_true(Path("loading").exists)
    return int(Path("loading").read_text())


def test_ctrl_c_while_a_file_is_loaded_ends_both_processes() -> None:
    Path("sleeps.py").write_text(SLEEPS)
    command = interruptible([*PROGRAM, "verify", "sleeps.py"])
    pid = loading()
    os.killpg(command.pid, signal.SIGINT)
    _, errors = command.communicate(timeout=LONGEST_WAIT)
    assert command.returncode == INTERRUPTED
    assert errors.decode().startswith("\nrobust-core: interrupted;")
    await_true(lambda: not alive(pid))


def test_who_loads_a_file_ends_with_the_command() -> None:
    Path("sleeps.py").write_text(SLEEPS)
    command = interruptible([*PROGRAM, "verify", "sleeps.py"])
    pid = loading()
    command.kill()
    command.communicate(timeout=LONGEST_WAIT)
    await_true(lambda: not alive(pid))


def test_a_terminal_shows_what_is_loaded_if_it_takes_long() -> None:
    Path("sleeps.py").write_text(SLEEPS)
    ours, theirs = pty.openpty()
    environment = {name: text for name, text in os.environ.items() if name != "NO_COLOR"} | {"TERM": "xterm"}
    with subprocess.Popen([*PROGRAM, "mutants", "sleeps.py"], stderr=theirs, env=environment) as command:
        os.close(theirs)
        seen = b""
        while b"loading sleeps.py" not in seen:
            seen += os.read(ours, 4096)
        os.kill(loading(), signal.SIGKILL)
        assert command.wait() == USAGE
    os.close(ours)


WRONG_WORDS = {
    "promises=('belman',)": "no such promise 'belman'; a variant of kind 'operator' can promise 'bellman', "
    "'radii per pair'; did you mean 'bellman'?",
    "promises=('TDC',)": "'TDC' is for kind 'linear evaluation'; a variant of kind 'operator' can promise 'bellman'",
    "options={'radius': (0.0,)}": f"options['radius']: no such option; there are {', '.join(OPTIONS)}; "
    "did you mean 'radii'?",
}


@pytest.mark.parametrize("words", WRONG_WORDS)
@pytest.mark.parametrize("command", [("verify", "--no-statistics"), ("mutants",), ("report", "--quick")])
def test_a_word_that_a_variant_cannot_use_is_a_usage_error(command: tuple[str, ...], words: str) -> None:
    """Before any work: nothing is printed, not even of the right variant beside it."""
    text = "from dataclasses import replace\nfrom properties.variants.gallery.bellman import VARIANT as RIGHT\n"
    Path("mine.py").write_text(f"{text}MINE = replace(RIGHT, name='mine', {words})\n")
    done = subprocess.run([*PROGRAM, *command, "mine.py"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (USAGE, ""), done.stderr
    assert "variant 'mine': " in done.stderr
    assert WRONG_WORDS[words] in done.stderr
    assert done.stderr.count("\n") == 1
