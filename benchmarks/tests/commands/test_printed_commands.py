"""Every command of the documentation that the default tests are too short for, run as it is printed, in a clean clone.

`test_documentation` runs the rest. Left out is only the test command of the README itself, which `.ci/run` is.
"""

from pathlib import Path

import pytest

from benchmarks.tests.commands.conftest import House
from benchmarks.tests.test_documentation import ELSEWHERE, blocks

README = Path(__file__).parents[3] / "README.md"
ITSELF = ("python -m pip install tox && python -m tox run", "python -m tox run")
SERVERS = [command for command in ELSEWHERE if command.startswith("dask ")]
COMMANDS = [command for command in ELSEWHERE if command not in (*ITSELF, *SERVERS)]
# The README's variant is wrong on purpose: the commands that judge it must say so, the others find nothing.
JUDGING = "my_variant.py"
SECONDS = 3600.0


@pytest.fixture(scope="module")
def prepared(house: House) -> House:
    """The clone with the README's variant in it, and a cluster where the documentation starts one."""
    variant = next(block for block in blocks(README.read_text(encoding="utf-8")) if "my_variant.py" in block.lead)
    (house.clone / "my_variant.py").write_text(variant.text, encoding="utf-8")
    for command in SERVERS:
        house.serve(command)
    return house


@pytest.mark.parametrize("command", COMMANDS)
def test_a_printed_command_runs(command: str, prepared: House) -> None:
    done = prepared.run(command, SECONDS)
    wanted = 1 if JUDGING in command else 0
    assert done.returncode == wanted, f"{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    assert done.stdout.strip() or done.stderr.strip(), "it says nothing"
