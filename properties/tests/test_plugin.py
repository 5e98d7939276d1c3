"""The ways in through pytest: the decorator and the option."""

import subprocess
import sys
from pathlib import Path

import pytest

DECORATED = """
from properties.checks import parametrize_with_checks
from properties.gallery.bellman import VARIANT as RIGHT
from properties.mutants.operator import NO_DISCOUNT as WRONG

@parametrize_with_checks([RIGHT, WRONG], examples=30)
def test_variants(check):
    check()
"""


def run_pytest(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)


def test_the_decorator_makes_a_test_of_every_law(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(DECORATED)
    result = run_pytest(tmp_path, "test_mine.py")
    assert result.returncode == 1, result.stdout
    assert "test_variants[robust-Bellman-operator-" not in result.stdout, "the right one does not fail"
    assert "test_variants[T-without-gamma-" in result.stdout
    assert "MDP(S=1, A=1" in result.stdout, "the failure shows the smallest model"


@pytest.mark.parametrize(
    ("target", "code", "words"),
    [
        ("properties.mutants.operator:NO_DISCOUNT", 1, "failed"),
        ("no_such_module:X", 4, "no module 'no_such_module'"),
    ],
)
def test_the_option_checks_the_named_variant_only(tmp_path: Path, target: str, code: int, words: str) -> None:
    result = run_pytest(tmp_path, "--pyargs", "properties.tests.test_variants", "--variant", target)
    assert result.returncode == code, result.stdout + result.stderr
    assert words in result.stdout + result.stderr
