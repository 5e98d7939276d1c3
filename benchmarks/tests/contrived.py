"""Statistical cells made up for tests: coins whose largest sample size is the first look, thrown by their seeds.

As a pytest plugin (`-p benchmarks.tests.contrived`) it puts three of them in the place of the suite: one kills its
process the first time it is thrown 20 times, if CONTRIVED_KILL names a file that marks that it did, and every look at
the calendar shows another day.
"""

import itertools
import os
import signal
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from properties.statistics import laws, seed_sets
from properties.statistics.law import Cell, StatisticalLaw
from properties.statistics.laws.tabular import RIGHT
from properties.statistics.mixtures import Bernoulli
from properties.statistics.sequential import BETA, FIRST_LOOK, Plan, Test
from robust_core.validate import Floats

UNCLEAR = 0.501
"""A defect that no sample size of these tests can tell from 0.5."""

CLEARLY_RIGHT, CLEARLY_WRONG = 0.01, 0.9
"""Coins of which the first look, at 16 throws, says *holds* and nothing, but for one day in 10^7: it needs at most five
ones for *holds*, and more than 20 throws for *violated*."""


def thrown(seed: bytes, truth: float) -> Floats:
    """A coin that shows 1 with probability `truth`."""
    return np.array([float(int.from_bytes(seed[:8]) < truth * 2.0**64)])


def coin(name: str, throw: Callable[[bytes], Floats], *, defect: float = 0.8, n_max: int = FIRST_LOOK) -> Cell:
    """The claim P(1) <= 0.5, to be told from `defect`."""
    test = Test(
        Bernoulli.versus(0.5, defect), Bernoulli.versus(defect, 0.5), f"P = {defect:g} where P <= 0.5 is claimed"
    )
    return Cell(name, lambda alpha: Plan(test, alpha, BETA, n_max), throw, lambda rows: rows[:, 0])


def law(*cells: Cell) -> StatisticalLaw:
    """A law that these cells decide, whatever the variant."""
    return StatisticalLaw(
        name="coins", kinds=(RIGHT.kind,), promise="converges", statement="P(1) <= 0.5", null="P(1) <= 0.5",
        cells=lambda variant, size: list(cells), right=RIGHT, controls=(RIGHT,),
    )  # fmt: skip


def _deadly(mark: Path, last: int) -> Callable[[bytes], Floats]:
    throws = itertools.count(1)

    def throw(seed: bytes) -> Floats:
        if next(throws) > last and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return thrown(seed, CLEARLY_WRONG)

    return throw


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Before any item is collected."""
    mark = os.environ.get("CONTRIVED_KILL")
    deadly = _deadly(Path(mark), 20) if mark else lambda seed: thrown(seed, CLEARLY_WRONG)
    clear = coin("clear", lambda seed: thrown(seed, CLEARLY_RIGHT))
    unclear = coin("unclear", lambda seed: thrown(seed, 0.5), defect=UNCLEAR)
    made = (law(clear, coin("deadly", deadly, n_max=1111), unclear),)
    laws.laws = lambda: made
    days = itertools.count(os.getpid() * 1000)
    seed_sets.fresh = lambda today=None: f"night {next(days)}"
