"""Loads the quick Hypothesis profile before the test modules, and with them their settings, are imported.

Hypothesis' own option --hypothesis-profile chooses another (`profiles` registers them with Hypothesis).
"""

import pytest

from properties import profiles


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--hypothesis-profile", None) is None:
        profiles.load()
