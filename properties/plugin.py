"""The pytest plugin: `pytest --pyargs properties --variant TARGET` checks your variant and nothing else.

Light at import: the suite is loaded only when a variant is named.
"""

from typing import Any

import pytest

FIXTURE = "variant_check"
CHECKS = pytest.StashKey[list[Any]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option that names variants."""
    group = parser.getgroup("robust-core")
    group.addoption(
        "--variant",
        action="append",
        default=[],
        metavar="TARGET",
        help="check this variant: package.module:NAME, file.py[:NAME] or a published name; repeatable "
        "(loading a variant executes it)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Load the named variants; a wrong name is a usage error before any test is collected."""
    targets = config.getoption("--variant")
    if not targets:
        return
    from properties.checks import checks
    from properties.process.probe import load_all

    try:
        config.stash[CHECKS] = checks(load_all(targets))
    except ValueError as error:
        raise pytest.UsageError(f"--variant: {error}") from None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test per law of each named variant."""
    if FIXTURE not in metafunc.fixturenames:
        return
    chosen = metafunc.config.stash.get(CHECKS, [])
    if chosen:
        metafunc.parametrize(FIXTURE, chosen, ids=str)
    else:
        metafunc.parametrize(FIXTURE, [pytest.param(None, marks=pytest.mark.skip("no --variant given"))], ids=["none"])


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With --variant, only the checks of the named variants run."""
    if not config.getoption("--variant"):
        return
    chosen = [item for item in items if FIXTURE in getattr(item, "fixturenames", ())]
    rest = [item for item in items if FIXTURE not in getattr(item, "fixturenames", ())]
    items[:] = chosen
    config.hook.pytest_deselected(items=rest)
