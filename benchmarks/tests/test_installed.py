"""The installed distribution does no harm to a project beside it that has modules of the same names.

`tox -e wheel` runs these tests with the wheel, away from the source tree.
"""

import json
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

import robust_core
from benchmarks.cli.conventions import HOLDS, USAGE

# Modules with the names of our packages, which end whoever imports them.
DEADLY = "raise SystemExit('a module of the project was imported')"
FOREIGN_TEST = "from hypothesis import given, strategies as st\n\n@given(st.integers())\ndef test_it(number): ...\n"
VARIANT = "properties/variants/examples/operator.py"
PLUGIN = "robust_core.entry.pytest_plugin"


PACKAGES = ("properties", "oracles", "benchmarks")


def make_project(folder: Path, *names: str) -> None:
    """A project with a test, a variant, and modules of these names."""
    for name in names:
        (folder / f"{name}.py").write_text(DEADLY)
    (folder / "test_foreign.py").write_text(FOREIGN_TEST)
    source = Path(robust_core.__file__).parents[1] / VARIANT
    (folder / "my_variant.py").write_text(source.read_text(encoding="utf-8"))


@pytest.fixture(params=PACKAGES)
def hidden(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The package of ours that a module of the project hides."""
    make_project(tmp_path, request.param)
    return str(request.param)


def python(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Python in a folder, whose modules come first."""
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )


def message(folder: Path, name: str) -> str:
    return f"{folder / name}.py hides the package {name!r} of robust-core: rename it, or run this in another folder"


def test_a_project_with_our_names_imports_hypothesis_and_runs_pytest(tmp_path: Path) -> None:
    make_project(tmp_path, *PACKAGES)
    assert python(tmp_path, "-W", "error", "-c", "import hypothesis").returncode == 0
    shown = python(tmp_path, "-m", "pytest", "-p", "no:cacheprovider", "-W", "error")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "1 passed" in shown.stdout
    assert "a module of the project" in python(tmp_path, "-c", "import properties").stderr, "the control"


def test_a_command_names_the_file_that_hides_a_package(hidden: str, tmp_path: Path) -> None:
    done = python(tmp_path, "-m", "robust_core", "verify", "my_variant.py")
    assert (done.returncode, done.stdout) == (USAGE, "")
    assert done.stderr == f"robust-core: {message(tmp_path, hidden)}\n"
    shown = python(tmp_path, "-m", "robust_core", "--help")
    if hidden == "benchmarks":  # which has the command line
        assert (shown.returncode, shown.stderr) == (USAGE, f"robust-core: {message(tmp_path, hidden)}\n")
    else:
        assert (shown.returncode, shown.stderr) == (HOLDS, "")
        assert shown.stdout.startswith("usage: robust-core ")


def test_the_script_searches_no_folder_of_the_project(tmp_path: Path) -> None:
    """The console script does not put the current folder on the path: nothing is hidden from it."""
    make_project(tmp_path, *PACKAGES)
    (point,) = metadata.entry_points(group="console_scripts", name="robust-core")
    script = tmp_path / "bin" / "robust-core"
    script.parent.mkdir()
    module, _, function = point.value.partition(":")
    script.write_text(f"import sys\nfrom {module} import {function}\nif __name__ == '__main__': sys.exit({function}())")
    options = ("--examples", "3", "--no-statistics", "--json")
    done = python(tmp_path, str(script), "verify", "my_variant.py", *options)
    assert done.returncode == HOLDS, done.stderr
    assert {json.loads(line)["outcome"] for line in done.stdout.splitlines()} == {"holds"}


def test_our_names_for_users_name_the_file_that_hides_a_package(hidden: str, tmp_path: Path) -> None:
    done = python(tmp_path, "-c", "from robust_core import Contamination, verify")
    if hidden == "benchmarks":  # which is not needed to verify
        assert (done.returncode, done.stderr) == (0, "")
    else:
        assert message(tmp_path, hidden) in done.stderr
    assert python(tmp_path, "-c", "from robust_core import Contamination").returncode == 0


def test_our_options_of_pytest_name_the_file_that_hides_a_package(tmp_path: Path) -> None:
    make_project(tmp_path, "properties")
    for option in (("--robust-core-variant", "my_variant.py"), ("--hypothesis-profile", "robust-core-quick")):
        done = python(tmp_path, "-m", "pytest", "-p", "no:cacheprovider", *option)
        assert done.returncode == pytest.ExitCode.USAGE_ERROR
        assert done.stderr == f"ERROR: robust-core: {message(tmp_path, 'properties')}\n\n"


def test_our_profiles_are_there_when_they_are_named(tmp_path: Path) -> None:
    (tmp_path / "test_foreign.py").write_text(
        "from hypothesis import settings\n\ndef test_it():\n    assert settings().max_examples == 2000\n"
    )
    done = python(tmp_path, "-m", "pytest", "-p", "no:cacheprovider", "--hypothesis-profile", "robust-core-oracles")
    assert done.returncode == 0, done.stdout + done.stderr


LOADED = "import sys; before = set(sys.modules); {program}; print(*sorted(set(sys.modules) - before))"


@pytest.mark.parametrize(
    "program",
    [
        "import robust_core",
        f"import {PLUGIN}",
        "import hypothesis.strategies; before |= set(sys.modules); from robust_core.entry import hypothesis_types; "
        "hypothesis_types.announce()",
    ],
)
def test_an_entry_point_loads_the_standard_library_only(program: str, tmp_path: Path) -> None:
    done = python(tmp_path, "-c", LOADED.format(program=program))
    assert done.returncode == 0, done.stderr
    ours = {name for name in done.stdout.split() if name.partition(".")[0] not in sys.stdlib_module_names}
    assert ours <= {
        "robust_core",
        "robust_core.entry",
        "robust_core.entry.suite",
        PLUGIN,
        "robust_core.entry.hypothesis_types",
    }
    control = python(tmp_path, "-c", LOADED.format(program="from robust_core import MDP"))
    assert "numpy" in control.stdout.split()


@pytest.mark.parametrize(
    ("first", "package", "works"),
    [
        ("hypothesis", "robust_core", True),
        ("robust_core.mdp", "robust_core.mdp", True),
        ("properties.strategies", "robust_core.mdp", True),
        # The control: nothing has registered the type.
        ("hypothesis", "robust_core.mdp", False),
    ],
)
def test_types_resolve_in_either_order_of_import(first: str, package: str, works: bool, tmp_path: Path) -> None:
    program = f"import {first}; from hypothesis import find, settings, strategies as st; from {package} import MDP; "
    program += "find(st.from_type(MDP), lambda mdp: True, settings=settings(database=None))"
    done = python(tmp_path, "-W", "error", "-c", program)
    assert (done.returncode == 0) == works, done.stderr


def test_public_names_are_those_that_are_declared() -> None:
    assert sorted(robust_core.MODULES) == sorted(robust_core.__all__)
    for name, module in robust_core.MODULES.items():
        assert getattr(robust_core, name) is getattr(sys.modules[module], name)
    assert {"verify", "parametrize_with_checks", "strategies", "__version__", *robust_core.__all__} <= {
        *dir(robust_core)
    }
    with pytest.raises(AttributeError, match="no attribute 'verfy'"):
        robust_core.verfy  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize("name", ["bellman", "support"])
@pytest.mark.parametrize("first", ["import robust_core", "from robust_core import {name}"])
def test_a_function_is_not_hidden_by_a_module(name: str, first: str, tmp_path: Path) -> None:
    program = f"{first.format(name=name)}; from robust_core import {name} as found; assert found.__name__ == {name!r}"
    assert python(tmp_path, "-W", "error", "-c", program).returncode == 0


def test_the_version_is_that_of_the_distribution() -> None:
    assert robust_core.__version__ == metadata.version("robust-core")


def test_another_system_is_refused_where_posix_is_needed_only(tmp_path: Path) -> None:
    other = "import os; os.name = 'nt'; "
    done = python(tmp_path, "-c", f"{other} from robust_core.entry.command import main; raise SystemExit(main())")
    assert done.returncode == USAGE
    assert done.stderr.startswith("robust-core: the verification suite of robust-core needs a POSIX system")
    assert python(tmp_path, "-c", f"import robust_core.entry.suite; {other} import robust_core").returncode == 0
    refused = python(tmp_path, "-c", f"import robust_core.entry.suite; {other} from robust_core import verify")
    assert "needs a POSIX system" in refused.stderr
