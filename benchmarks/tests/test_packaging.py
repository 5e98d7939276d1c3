"""The declared versions are those that are tested."""

import configparser
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent.parent

if not (ROOT / "pyproject.toml").exists():
    pytest.skip("the project file is not installed", allow_module_level=True)


def pinned() -> dict[str, str]:
    """What the environment `minimal` installs."""
    tox = configparser.ConfigParser(interpolation=None)
    tox.read(ROOT / "tox.ini", encoding="utf-8")
    return dict(re.findall(r"^([\w-]+)==([\d.]+)\.\*$", tox["testenv:minimal"]["deps"], flags=re.MULTILINE))


def project() -> dict[str, Any]:
    """What the project file declares."""
    declared: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return declared


def bounds() -> dict[str, str]:
    """The lower bounds of the dependencies and of the extras that the tests use."""
    extras = project()["optional-dependencies"]
    wanted = [*project()["dependencies"], *extras["environments"], *extras["cluster"]]
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
    listed = re.search(r"\[testenv:py3\{([\d,]+)\}\]", (ROOT / "tox.ini").read_text(encoding="utf-8"))
    assert listed is not None
    assert listed[1].split(",") == declared_pythons()


def declared_pythons() -> list[str]:
    return re.findall(r"Python :: 3\.(\d+)", "\n".join(project()["classifiers"]))


def test_the_readme_states_the_supported_versions_and_systems() -> None:
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    for dependency in project()["dependencies"]:
        name, _, bound = dependency.partition(">=")
        assert re.search(rf"\b{name} {re.escape(bound)}\b", readme), dependency
    assert f"Python 3.{declared_pythons()[0]} to 3.{declared_pythons()[-1]} on Linux, macOS or WSL" in readme
    assert "Operating System :: POSIX" in project()["classifiers"]


def test_entry_points_are_in_the_package_whose_name_is_ours_alone() -> None:
    groups = (project()["scripts"], *project()["entry-points"].values())
    places = [place for group in groups for place in group.values()]
    assert len(places) == 3
    assert [place for place in places if not place.startswith("robust_core.entry.")] == []
