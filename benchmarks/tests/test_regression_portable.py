"""Hashes that must not change are the same whatever the processor makes of linear algebra, exponentials and loops."""

import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.regression import bench, linear
from benchmarks.regression.measures import Exact, title
from benchmarks.regression.metric import METRICS
from benchmarks.runner import identity
from benchmarks.runner.units import Unit, compute
from oracles.planning import closed_form
from robust_core import LogSumExp, models, versions

OLD_PROCESSOR = {"OPENBLAS_CORETYPE": "Prescott", "NUMBA_CPU_NAME": "generic", "GLIBC_TUNABLES":
                 "glibc.cpu.hwcaps=-AVX2,-FMA"}  # fmt: skip
"""Settings that make the libraries compute as on a processor without wide vectors and fused operations."""


CLEAR = 2.0**-12
"""The distance from the edge in units of the grid; cosines and sums in floats err by less than 2^-20 of the grid."""


def observed() -> dict[str, Any]:
    """All hashes and other exact measures from one seed, and bits that do depend on the processor."""
    jobs = [job for job in bench.jobs(seeds=1) if job.unit.repeatable]
    measures, _ = bench.collect(jobs, {job.unit.key: compute(job.unit) for job in jobs})
    exact = {title(measure.name): measure.value for measure in measures if isinstance(measure, Exact)}
    solved = closed_form.solve(models.garnet(60, 3, 7, gamma=0.9), 0.125).Q.value
    return {"exact": exact, "processor": identity.processor(), "direct solves": solved.tobytes().hex()}


def elsewhere(folder: Path) -> dict[str, Any]:
    """The same in a process that takes itself for an old processor."""
    program = f"import json; from {__name__} import observed; print(json.dumps(observed()))"
    environment = os.environ | OLD_PROCESSOR | {"NUMBA_CACHE_DIR": str(folder)}
    found = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    return dict(json.loads(found.stdout))


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the settings are those of x86-64")
@pytest.mark.robust_core_slow
def test_exact_measures_are_the_same_on_an_old_processor(tmp_path: Path) -> None:
    here, there = observed(), elsewhere(tmp_path)
    assert there["processor"] == "x86_64 generic"
    if here["processor"] == there["processor"]:
        pytest.skip("this processor takes itself for an old one")
    assert here["exact"].keys() == there["exact"].keys()
    differ = {name for name, value in here["exact"].items() if there["exact"][name] != value}
    assert {METRICS[name.partition(" / ")[0]].portable for name in differ} <= {False}, differ
    # The settings do something: float solves and compiled sums, which are not to be hashed, have other bits there.
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]["name"]
    assert "openblas" not in blas or here["direct solves"] != there["direct solves"]
    assert differ or "fma" not in here["processor"]


def test_no_number_of_the_planted_problem_is_near_the_edge_of_its_grid() -> None:
    """What is rounded to the grid is known to far more digits than it takes to tell which way."""
    angle = np.pi * np.arange(6) / 6.0
    for values, grid in ((np.cos(angle), linear.FEATURE_GRID), (np.sin(angle), linear.FEATURE_GRID)):
        assert (abs(np.modf(abs(values) / grid)[0] - 0.5) > CLEAR).all()
    model = linear.planted_problem()
    V = model.features @ model.theta_star
    smooth = LogSumExp(linear.VARRHO).value(V)
    cost = V[:, None] - model.mdp.gamma * ((1.0 - linear.RADIUS) * model.mdp.expectation(V) + linear.RADIUS * smooth)
    assert (abs(np.modf(abs(cost) / linear.COST_GRID)[0] - 0.5) > CLEAR).all()


def test_a_unit_of_another_processor_or_library_is_another_unit(monkeypatch: pytest.MonkeyPatch) -> None:
    unit = Unit("benchmarks.regression.exact:measure_chain", {"problem": "garnet"})
    before = unit.key
    monkeypatch.setattr(identity, "processor", lambda: "x86_64 other")
    identity.of.cache_clear()
    assert Unit(unit.function, unit.arguments).key != before
    monkeypatch.undo()
    identity.of.cache_clear()
    for name in versions.LIBRARIES:
        monkeypatch.setattr(versions, "installed_version", lambda asked, name=name: "0" if asked == name else "1")
        one = identity.code("oracles.arithmetic.exact")
        monkeypatch.setattr(versions, "installed_version", lambda asked, name=name: "2" if asked == name else "1")
        assert identity.code("oracles.arithmetic.exact") != one, name
    monkeypatch.undo()
    monkeypatch.setattr(versions, "LIBRARIES", ("numpy", "no-such-library"))
    named = {"python": platform.python_version(), "numpy": np.__version__, "no-such-library": "absent"}
    assert identity.libraries() == named
