"""A plugin of pytest that runs every test several times."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """The number of repetitions."""
    parser.addoption("--repetitions", type=int, default=1)


@pytest.fixture
def _repetition(request: pytest.FixtureRequest) -> int:
    number: int = request.param
    return number


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test more for every repetition."""
    number = metafunc.config.getoption("--repetitions")
    metafunc.fixturenames.append("_repetition")
    metafunc.parametrize("_repetition", range(number), indirect=True, ids=[f"again{i}" for i in range(number)])
