"""The pytest plugin: `pytest --pyargs properties.tests.test_variants --robust-core-variant TARGET` checks your variant.

It is loaded in every run of pytest in its environment: it imports nothing, not even pytest, until one of our options,
fixtures or Hypothesis profiles is used. `properties.plugin` does the work.
"""

import importlib
from types import ModuleType
from typing import Any

from robust_core.entry import suite

OPTION = "--robust-core-variant"
FIXTURE = "robust_core_check"
PROFILES = "robust-core-"
"""How the names of our Hypothesis profiles begin."""


def pytest_addoption(parser: Any) -> None:
    """The option that names variants."""
    parser.getgroup("robust-core").addoption(
        OPTION,
        action="append",
        default=[],
        metavar="TARGET",
        help="check this variant: package.module:NAME, file.py[:NAME] or a published name; repeatable "
        "(loading a variant executes it)",
    )


def pytest_load_initial_conftests(early_config: Any) -> None:
    """Register our profiles before Hypothesis looks for the one that is named on the command line."""
    profile = getattr(early_config.known_args_namespace, "hypothesis_profile", None) or ""
    if profile.startswith(PROFILES):
        _load("properties.profiles").register()


def pytest_configure(config: Any) -> None:
    """Load the named variants; a wrong name is a usage error before any test is collected."""
    if config.getoption(OPTION):
        _load("properties.plugin").load_checks(config)


def pytest_generate_tests(metafunc: Any) -> None:
    """One test per law of each named variant."""
    if FIXTURE in metafunc.fixturenames:
        _load("properties.plugin").parametrize(metafunc)


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    """With the option, only the checks of the named variants run."""
    if config.getoption(OPTION):
        _load("properties.plugin").select_checks(config, items)


def _load(module: str) -> ModuleType:
    try:
        return suite.load(module)
    except ImportError as error:
        raise importlib.import_module("pytest").UsageError(f"robust-core: {error}") from None
