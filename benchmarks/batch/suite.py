"""The items of the statistical batch: every cell of the run and every negative control (see `statistical_plugin`)."""

import json
from typing import Any

import pytest

from benchmarks.batch import cells
from benchmarks.batch.plugin import RECORD, SEED_SET, STARTED


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One item per cell and per control; ids are stable."""
    from properties.statistics.suite import planned

    size: Any = metafunc.config.getoption("--size")
    if "cell" in metafunc.fixturenames:
        metafunc.parametrize("cell", range(len(planned(size))), ids=[item.cell.id for item in planned(size)])
    if "wrong" in metafunc.fixturenames:
        names = [f"{law.name}: {variant.name}" for law, variant in cells.controls(size)]
        metafunc.parametrize("wrong", range(len(names)), ids=names)


@pytest.fixture
def common(request: pytest.FixtureRequest) -> dict[str, Any]:
    """What every item needs to know of the run."""
    option = request.config.getoption
    return {
        "size": option("--size"),
        "seed_set": request.config.stash[SEED_SET],
        "path": option("--store"),
        "samples": option("--samples"),
    }


def test_claim(cell: int, common: dict[str, Any], request: pytest.FixtureRequest) -> None:
    """A claim is not violated; a cell without a verdict is listed at the end."""
    option = request.config.getoption
    deadline = request.config.stash[STARTED] + option("--budget")
    record = cells.verdict(cell, deadline=deadline, stretch=option("--stretch"), **common)
    request.node.user_properties.append((RECORD, json.dumps(record)))
    if record["outcome"] == "pending":
        pytest.skip(f"pending after n={record['n']}")
    assert record["outcome"] != "violated", record


def test_control(wrong: int, common: dict[str, Any], request: pytest.FixtureRequest) -> None:
    """A wrong algorithm is caught."""
    option = request.config.getoption
    deadline = request.config.stash[STARTED] + option("--budget")
    found = cells.control(wrong, deadline=deadline, **common)
    if found["outcome"] == "pending":
        pytest.skip("pending")
    assert found["outcome"] == "violated", found
