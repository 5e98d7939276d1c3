"""A new user's first hour: the installed package, its README and nothing else lead from a planted slip to its repair.

The README is the one that came with the package (its long description), its code is saved and its commands are run in
an empty folder, by the programs that the package installed.
"""

import importlib.metadata
import re
import subprocess
import sys
from pathlib import Path

import pytest

import benchmarks
from benchmarks.cli.conventions import HOLDS, VIOLATED

SOURCE_TREE = Path(benchmarks.__file__).parents[1] / "pyproject.toml"
VERIFY = "robust-core verify my_variant.py"
CHECK = "pytest --pyargs properties.tests.test_variants --robust-core-variant my_variant.py"

pytestmark = pytest.mark.skipif(SOURCE_TREE.is_file(), reason="for the installed package: tox -e wheel")


def readme() -> str:
    """The long description of the installed distribution."""
    text = importlib.metadata.metadata("robust-core").json["description"]
    assert isinstance(text, str)
    return text


def block(text: str, language: str, containing: str) -> str:
    """The fenced block of a language with some words in it."""
    fenced = re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    return next(code for code in fenced if containing in code)


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A command of the README, by the programs of this environment, in a folder of the user's."""
    program, *arguments = command.split()
    return subprocess.run(
        [str(Path(sys.executable).parent / program), *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def first_violated(output: str) -> str:
    """The law of the first line that says violated."""
    return re.findall(r"^\s*violated\s+(\S.*?)\s{2,}", output, flags=re.MULTILINE)[0]


def test_the_readme_leads_from_a_planted_slip_to_its_repair(tmp_path: Path) -> None:
    text = readme()
    code = block(text, "python", "MINE = Variant(")
    assert f"`{VERIFY}`" in text
    file = tmp_path / "my_variant.py"
    file.write_text(code, encoding="utf-8")

    verdict = run(VERIFY, tmp_path)
    assert verdict.returncode == VIOLATED, verdict.stdout + verdict.stderr
    assert first_violated(verdict.stdout) == first_violated(block(text, "text", "violated"))
    assert verdict.stderr == ""

    replayed = run(re.findall(r"robust-core replay \S+", verdict.stdout)[0], tmp_path)
    assert replayed.returncode == VIOLATED, replayed.stdout + replayed.stderr
    assert re.search(r"^\(s=\d, a=\d\) .* <-$", replayed.stdout, flags=re.MULTILINE), replayed.stdout

    repaired = re.sub(r"V\.\w+\(\)\)  # should be (V\.\w+\(\))", r"\1)", code)
    assert repaired != code
    file.write_text(repaired, encoding="utf-8")
    verdict = run(VERIFY, tmp_path)
    assert verdict.returncode == HOLDS, verdict.stdout + verdict.stderr


def test_the_same_checks_as_tests(tmp_path: Path) -> None:
    text = readme()
    assert f"`{CHECK}`" in text
    (tmp_path / "my_variant.py").write_text(block(text, "python", "MINE = Variant("), encoding="utf-8")
    checked = run(f"{CHECK} -p no:cacheprovider", tmp_path)
    assert checked.returncode == VIOLATED, checked.stdout + checked.stderr
    law = first_violated(block(text, "text", "violated"))
    assert f"my-Q-learning-{law.replace(' ', '-')}" in checked.stdout
