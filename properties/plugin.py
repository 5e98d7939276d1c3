"""What the pytest plugin does once it is used; `robust_core.entry.pytest_plugin` has the hooks."""

from typing import Any

import pytest

from robust_core.entry.pytest_plugin import FIXTURE, OPTION

CHECKS = pytest.StashKey[list[Any]]()


def load_checks(config: pytest.Config) -> None:
    """Load the named variants in workers; a wrong name is a usage error."""
    from properties.process.checks import worker_checks
    from properties.process.session import Session

    try:
        session = Session(config.getoption(OPTION), size="quick")
    except ValueError as error:
        raise pytest.UsageError(f"{OPTION}: {error}") from None
    config.add_cleanup(session.close)
    config.stash[CHECKS] = worker_checks(session)


def parametrize(metafunc: pytest.Metafunc) -> None:
    """One test per law of each named variant."""
    chosen = metafunc.config.stash.get(CHECKS, [])
    if chosen:
        metafunc.parametrize(FIXTURE, chosen, ids=str)
    else:
        metafunc.parametrize(FIXTURE, [pytest.param(None, marks=pytest.mark.skip(f"no {OPTION} given"))], ids=["none"])


def select_checks(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect everything but the checks of the named variants."""
    chosen = [item for item in items if FIXTURE in getattr(item, "fixturenames", ())]
    rest = [item for item in items if FIXTURE not in getattr(item, "fixturenames", ())]
    items[:] = chosen
    config.hook.pytest_deselected(items=rest)
