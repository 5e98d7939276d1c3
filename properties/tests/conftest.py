"""Loads the Hypothesis profile before the test modules, and with them their settings, are imported."""

import pytest

from properties import profiles


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--profile", choices=profiles.NAMES, default=profiles.DEFAULT, help="Hypothesis profile")


def pytest_configure(config: pytest.Config) -> None:
    # Without the option (tests addressed by package name: pytest reads this file too late for options) the
    # default holds; Hypothesis' own --hypothesis-profile has the last word.
    if config.getoption("--hypothesis-profile", None) is None:
        profiles.load(config.getoption("--profile", profiles.DEFAULT))
