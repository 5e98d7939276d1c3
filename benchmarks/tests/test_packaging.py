"""The declared versions are those that are tested."""

import configparser
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent

if not (ROOT / "pyproject.toml").exists():
    pytest.skip("the project file is not installed", allow_module_level=True)


def pinned() -> dict[str, str]:
    """What the environment `minimal` installs."""
    tox = configparser.ConfigParser(interpolation=None)
    tox.read(ROOT / "tox.ini", encoding="utf-8")
    return dict(re.findall(r"^([\w-]+)==([\d.]+)\.\*$", tox["testenv:minimal"]["deps"], flags=re.MULTILINE))


def bounds() -> dict[str, str]:
    """The lower bounds of the dependencies and of the extras that the tests use."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *extras["environments"], *extras["cluster"]]
    return dict(re.findall(r"^([\w-]+)>=([\d.]+)$", "\n".join(wanted), flags=re.MULTILINE))


def agree(version: str, bound: str) -> bool:
    """Whether X.Y.* is the series that starts at the bound.

    >>> agree("8.0", "8"), agree("8.1", "8")
    (True, False)
    """
    parts = version.split(".")
    return parts == (bound.split(".") + ["0"] * len(parts))[: len(parts)]


def test_the_oldest_versions_are_the_ones_tested() -> None:
    tested, declared = pinned(), bounds()
    assert tested.keys() == declared.keys()
    assert {name: (tested[name], declared[name]) for name in tested if not agree(tested[name], declared[name])} == {}
    assert not agree("1.27", declared["numpy"])


def test_every_declared_python_has_an_environment() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = re.findall(r"Python :: 3\.(\d+)", "\n".join(project["classifiers"]))
    listed = re.search(r"\[testenv:py3\{([\d,]+)\}\]", (ROOT / "tox.ini").read_text(encoding="utf-8"))
    assert listed is not None
    assert listed[1].split(",") == declared
