"""The ways in through pytest: the decorator and the option."""

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from properties.checks import checks
from properties.variants.mutants.operator import NO_DISCOUNT as WRONG

DECORATED = """
from properties.checks import parametrize_with_checks
from properties.variants.gallery.bellman import VARIANT as RIGHT
from properties.variants.mutants.operator import NO_DISCOUNT as WRONG

@parametrize_with_checks([RIGHT, WRONG], examples=30)
def test_variants(check):
    check()
"""


def run_program(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)


def run_pytest(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run_program(folder, "pytest", "-q", "-p", "no:cacheprovider", *arguments)


def test_the_decorator_makes_a_test_of_every_law(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(DECORATED)
    result = run_pytest(tmp_path, "test_mine.py")
    assert result.returncode == 1, result.stdout
    assert "test_variants[robust-Bellman-operator-" not in result.stdout, "the right one does not fail"
    assert "test_variants[T-without-gamma-" in result.stdout
    assert "MDP(S=1, A=1" in result.stdout, "the failure shows the smallest model"
    assert "T without gamma: bellman backup: TQ(s,a) = c(s,a) + γ" in result.stdout, "and the law"
    assert result.stdout.count("FAILED") == 1, "what says nothing new does not fail"
    assert "skipped" in result.stdout.splitlines()[-1]
    # pytest repeats the message in its summary where the variable CI is set.
    (command,) = set(re.findall(r"replay: robust-core (replay \S+)", result.stdout))
    replayed = run_program(tmp_path, "robust_core", *command.split())
    assert (replayed.returncode, replayed.stderr) == (1, "")
    assert "violated: TQ" in replayed.stdout


EXPECTED = DECORATED.replace("examples=30", "examples=30, size=None, expected_failures=REASONS")


def test_a_name_that_is_long_or_controls_a_terminal_is_shown_shortly_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name of 30 MB had pytest work for minutes on the names of its tests."""
    monkeypatch.chdir(tmp_path)
    found = checks([replace(WRONG, name="\x1b[2J" + "n" * 10**7)], examples=1, size=None)
    assert {len(str(check)) < 300 for check in found} == {True}
    failing = next(check for check in found if check.law.name == "bellman backup")
    with pytest.raises(pytest.fail.Exception, match=r"^\\x1b\[2Jn+….*: bellman backup: ") as failed:
        failing()
    assert len(str(failed.value)) < 3000


@pytest.mark.parametrize(
    ("reasons", "code", "words"),
    [
        ("lambda variant: {'bellman backup': 'no discount, on purpose'} if variant is WRONG else {}", 0, "1 xfailed"),
        ("{'bellman backup': 'no discount, on purpose'}", 1, "XPASS(strict)"),
        ("{'bellman backups': 'a reason'}", 2, "no check of a law 'bellman backups'; did you mean 'bellman backup'?"),
        ("{'bellman backup': ' '}", 2, "'bellman backup' needs a reason"),
    ],
)
def test_expected_failures_of_the_decorator(tmp_path: Path, reasons: str, code: int, words: str) -> None:
    (tmp_path / "test_mine.py").write_text(EXPECTED.replace("REASONS", reasons))
    result = run_pytest(tmp_path, "test_mine.py")
    assert result.returncode == code, result.stdout
    assert words in result.stdout


@pytest.mark.parametrize(
    ("target", "code", "words"),
    [
        ("properties.variants.mutants.operator:NO_DISCOUNT", 1, "failed"),
        ("no_such_module:X", 4, "no module 'no_such_module'"),
        ("exits.py", 4, "exits.py, line 1: SystemExit: 0 while loading"),
    ],
)
def test_the_option_checks_the_named_variant_only(tmp_path: Path, target: str, code: int, words: str) -> None:
    (tmp_path / "exits.py").write_text("import sys; sys.exit(0)")
    chosen = ("-k", "bellman-backup-large")  # a law with a comma in its name
    result = run_pytest(
        tmp_path, "--pyargs", "properties.tests.test_variants", "--robust-core-variant", target, *chosen
    )
    assert result.returncode == code, result.stdout + result.stderr
    assert words in result.stdout + result.stderr


MISSPELT = """
from dataclasses import replace
from properties.checks import parametrize_with_checks
from properties.variants.gallery.bellman import VARIANT

@parametrize_with_checks([replace(VARIANT, promises=("bellmann",))], examples=5, size=None)
def test_variants(check):
    check()
"""


def test_a_misspelt_claim_is_an_error_before_any_test(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(MISSPELT)
    result = run_pytest(tmp_path, "test_mine.py")
    assert result.returncode == pytest.ExitCode.INTERRUPTED, result.stdout
    assert "did you mean 'bellman'?" in result.stdout


def test_a_misspelt_claim_of_a_named_variant_is_a_usage_error(tmp_path: Path) -> None:
    text = "from dataclasses import replace\nfrom properties.variants.gallery.bellman import VARIANT as RIGHT\n"
    (tmp_path / "mine.py").write_text(f"{text}MINE = replace(RIGHT, promises=('bellmann',))\n")
    result = run_pytest(tmp_path, "--pyargs", "properties.tests.test_variants", "--robust-core-variant", "mine.py:MINE")
    assert result.returncode == pytest.ExitCode.USAGE_ERROR, result.stdout
    assert "did you mean 'bellman'?" in result.stderr


UNTESTED = """
from dataclasses import replace
from properties.checks import parametrize_with_checks
from properties.variants.examples.linear_evaluation import VARIANT
from robust_core import TotalVariation

@parametrize_with_checks([replace(VARIANT, promises=("TDC",), sets=(TotalVariation,))], examples=2, size=None)
def test_variants(check):
    check()
"""


def test_a_claim_that_nothing_tests_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(UNTESTED)
    result = run_pytest(tmp_path, "test_mine.py")
    assert result.returncode == 0, result.stdout
    assert "UndecidedWarning" in result.stdout
    assert "untested: no law tests this promise" in result.stdout
