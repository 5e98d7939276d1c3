"""Loads the quick Hypothesis profile before the test modules, and with them their settings, are imported.

Hypothesis' own option --hypothesis-profile chooses another (`profiles` registers them with Hypothesis). Here are also
the number of workers that `-n auto` stands for, and the fixtures that several modules use.
"""

import os
import sys

import pytest

from properties import profiles
from properties.process import loading


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--hypothesis-profile", None) is None:
        profiles.load()
    # pytest takes every module of a distribution with a plugin for a part of the plugin, and rewrites its assertions:
    # in a clone that is new, each worker would do so for all our modules. The tests are enough.
    rewritten: set[str] = getattr(config.pluginmanager.rewrite_hook, "_must_rewrite", set())
    if not rewritten.isdisjoint(loading.OWN):
        rewritten.difference_update(loading.OWN)
        rewritten.update(("properties.tests", "benchmarks.tests"))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """With -n auto, half as many workers again as cores: many tests wait for a process or for a limit of time."""
    told = config.option.numprocesses != "auto" or "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ
    if told or not hasattr(os, "sched_getaffinity"):
        return None
    cores = len(os.sched_getaffinity(0))
    return cores + (cores + 1) // 2


@pytest.fixture
def _clean_imports(monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders and modules that a test loads in this process are forgotten after it."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(loading, "_searched", [])
    for name in ("beside", "beside_later", "mine"):
        monkeypatch.delitem(sys.modules, name, raising=False)
