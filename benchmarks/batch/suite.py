"""The items of the statistical batch: every cell of the run and every negative control (see `plugin`)."""

import pytest

from benchmarks.batch.cells import controls
from benchmarks.batch.plugin import SUITE, Suite, names, result_property


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One item per cell and per control; ids are stable."""
    for argument, ids in zip(("cell", "wrong"), names(metafunc.config.getoption("--size")), strict=True):
        if argument in metafunc.fixturenames:
            metafunc.parametrize(argument, range(len(ids)), ids=ids)


@pytest.fixture
def suite(request: pytest.FixtureRequest) -> Suite:
    """What every item needs to know of the run."""
    return request.config.stash[SUITE]


def test_cell(cell: int, suite: Suite, request: pytest.FixtureRequest) -> None:
    """A claim is not violated; a cell without a verdict is listed at the end."""
    result = suite.decide(cell)
    request.node.user_properties.append(result_property(result))
    if result.outcome == "pending":
        pytest.skip(f"pending after n={result.n}")
    assert result.outcome != "violated", str(result)


def test_control(wrong: int, suite: Suite) -> None:
    """A wrong algorithm is caught."""
    result = suite.run(suite.batch.control(controls(suite.batch.size)[wrong]))
    if result.outcome == "pending":
        pytest.skip("pending")
    assert result.outcome == "violated", result
