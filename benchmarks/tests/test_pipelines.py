"""The files for pipelines elsewhere (action, pre-commit hook, citation) parse, and their commands run."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

yaml = pytest.importorskip("yaml")  # comes with the tools of the documentation
ROOT = Path(__file__).parents[2]
WRONG = """
from robust_core import Contamination, Variant, support

def lost_discount(mdp, uncertainty_set, Q):
    return mdp.cost + support(mdp, uncertainty_set, Q.min(axis=1))

MINE = Variant("T without gamma", "operator", lost_discount, (Contamination,), ("bellman",))
"""


def read(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def run(command: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path} | variables
    return subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_the_action_verifies_the_targets(tmp_path: Path) -> None:
    action = read(".github/actions/verify/action.yml")
    (tmp_path / "wrong.py").write_text(WRONG, encoding="utf-8")
    step = action["runs"]["steps"][-1]
    assert set(step["env"]) == {"TARGETS", "ARGUMENTS"}
    done = run(step["run"], tmp_path, TARGETS="wrong.py", ARGUMENTS="--examples 5 --no-statistics --quiet")
    assert done.returncode == 1, done.stderr
    assert "T without gamma" in done.stdout
    assert (tmp_path / "robust-core-results.xml").exists()


def test_the_action_installs_the_clone_it_is_in() -> None:
    install = read(".github/actions/verify/action.yml")["runs"]["steps"][1]["run"]
    folder = ROOT / ".github/actions/verify/../../.."
    assert '"$ACTION/../../.."' in install
    assert (folder / "pyproject.toml").resolve() == ROOT / "pyproject.toml"


def test_the_hook_verifies_the_files(tmp_path: Path) -> None:
    (hook,) = read(".pre-commit-hooks.yaml")
    (tmp_path / "wrong.py").write_text(WRONG, encoding="utf-8")
    assert run(f"{hook['entry']} wrong.py", tmp_path).returncode == 1


def test_the_workflow_runs_every_declared_python_and_known_environments() -> None:
    import re
    import tomllib

    jobs = read(".github/workflows/tests.yml")["jobs"]
    classifiers = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["classifiers"]
    declared = re.findall(r"Python :: (3\.\d+)", "\n".join(classifiers))
    assert jobs["tests"]["strategy"]["matrix"]["python-version"] == declared
    commands = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    tox = (ROOT / "tox.ini").read_text(encoding="utf-8")
    environments = re.findall(r"tox run -e (\w+)", "\n".join(commands))
    assert environments
    assert [name for name in environments if f"[testenv:{name}]" not in tox] == []


def test_the_citation_has_the_version_of_the_package() -> None:
    from robust_core import __version__

    assert read("CITATION.cff")["version"] == __version__
