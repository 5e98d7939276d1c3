"""A clean clone with the project installed in a virtual environment of its own, for commands as they are printed."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
INSTALL_SECONDS = 900.0
# A server has said that it is there, or it is not coming.
READY = re.compile(r"Scheduler at:|Registered to:")
READY_SECONDS = 60.0


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--printed-commands", action="store_true", help="run every command of the documentation (an hour)")


@dataclass
class House:
    """A clone, its environment, and the servers that run in it."""

    clone: Path
    environment: dict[str, str]
    servers: list[subprocess.Popen[str]] = field(default_factory=list)

    def run(self, command: str, seconds: float) -> subprocess.CompletedProcess[str]:
        """The command in a shell, as a reader would type it; in bash, for completion is for that."""
        return subprocess.run(
            command,
            shell=True,
            executable=shutil.which("bash"),
            cwd=self.clone,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )

    def serve(self, command: str) -> None:
        """A command that does not end; it is stopped with the house."""
        log = self.clone / f".server-{len(self.servers)}"
        with log.open("w") as output:
            server = subprocess.Popen(
                command, shell=True, cwd=self.clone, env=self.environment, stdout=output, stderr=output,
                start_new_session=True, text=True,
            )  # fmt: skip
        self.servers.append(server)
        end = time.monotonic() + READY_SECONDS
        while not READY.search(log.read_text()):
            assert server.poll() is None, log.read_text()
            assert time.monotonic() < end, f"{command!r} is not ready: {log.read_text()}"
            time.sleep(0.2)

    def close(self) -> None:
        """Stop the servers."""
        for server in self.servers:
            os.killpg(server.pid, signal.SIGTERM)
            server.wait(timeout=30)


@pytest.fixture(scope="session")
def house(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    if not request.config.getoption("printed_commands", default=False):
        pytest.skip("an hour's work: tox run -e commands")
    home = tmp_path_factory.mktemp("home")
    clone = home / "clone"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    subprocess.run([sys.executable, "-m", "venv", str(home / "venv")], check=True)
    kept = {name: os.environ[name] for name in ("LANG", "PIP_INDEX_URL", "PIP_CONFIG_FILE") if name in os.environ}
    path = f"{home / 'venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    made = House(clone, {"HOME": str(Path.home()), "PATH": path, **kept})
    installed = made.run("python -m pip install '.[environments,cluster,peers]' tox", INSTALL_SECONDS)
    assert installed.returncode == 0, installed.stdout + installed.stderr
    yield made
    made.close()
