"""The cluster: a real scheduler and worker processes on the loopback, one of them killed under way."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from benchmarks.batch import cells
from benchmarks.cli.conventions import USAGE
from benchmarks.cli.main import main
from benchmarks.regression import baseline
from benchmarks.runner import cluster
from benchmarks.runner.cluster import ClusterError, connect
from benchmarks.runner.schedule import run
from benchmarks.runner.store import Store
from benchmarks.runner.units import Unit, compute
from benchmarks.speed import cluster as cluster_speed

distributed = pytest.importorskip("distributed")

# One death is enough for Dask to give a unit up here: what follows does not depend on its patience.
IMPATIENT = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0"}
# Seconds after which a server is not coming, or a unit not beginning: a test is then red instead of hung.
PATIENCE = 300.0


def drawn(place: int, begun: str = "", gate: str = "") -> list[float]:
    """Numbers from the place's stream; the file `begun` says who computes them, and they wait for the file `gate`."""
    from robust_core.streams import key, numpy_generator

    if begun:
        Path(begun).write_text(f"{os.getpid()}\n")
    while gate and not Path(gate).exists():
        time.sleep(0.02)
    return list(numpy_generator(key("cluster", place)).random(3))


def divided(by: int) -> float:
    """A unit that raises for by = 0."""
    return 1 / by


def deadly(place: int) -> int:
    """A unit that kills its worker."""
    if place == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return place


def unit(name: str, **arguments: Any) -> Unit:
    return Unit(f"benchmarks.tests.test_cluster:{name}", arguments)


def computed(units: list[Unit], address: str) -> Iterator[tuple[int, Any]]:
    """(place, value) of every unit, as they finish."""
    places = {one.key: place for place, one in enumerate(units)}
    with connect(address) as session:
        for one, value in session.compute(units):
            yield places[one.key], value


@dataclass
class Machines:
    """A scheduler and its workers as processes of their own."""

    folder: Path
    processes: list["subprocess.Popen[bytes]"]

    @property
    def address(self) -> str:
        return str(json.loads((self.folder / "scheduler").read_text())["address"])

    def await_scheduler(self) -> None:
        """Until its file is there and complete: it is not written in one go."""
        end = time.monotonic() + PATIENCE
        while not self._is_ready():
            assert time.monotonic() < end, (self.folder / "log").read_text()
            time.sleep(0.05)

    def _is_ready(self) -> bool:
        try:
            return bool(self.address)
        except (FileNotFoundError, ValueError):
            return False

    def start(self, what: str, *options: str, **environment: str) -> "subprocess.Popen[bytes]":
        file = ["--scheduler-file", str(self.folder / "scheduler"), "--host", "127.0.0.1", "--no-dashboard"]
        with (self.folder / "log").open("ab") as log:
            made = subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.dask_{what}", *file, *options],
                stdout=log, stderr=log, cwd=self.folder, env=os.environ | environment,
            )  # fmt: skip
        self.processes.append(made)
        return made

    def worker(self, *options: str, **environment: str) -> "subprocess.Popen[bytes]":
        return self.start("worker", "--nthreads", "1", *options, **environment)


def started(folder: Path, *, workers: int) -> Iterator[Machines]:
    made = Machines(folder, [])
    try:
        made.start("scheduler", "--port", "0", **IMPATIENT)
        for _ in range(workers):
            made.worker("--no-nanny")
        made.await_scheduler()
        with distributed.Client(made.address, timeout=60.0, set_as_default=False) as client:
            client.wait_for_workers(workers)
        yield made
    finally:
        for process in made.processes:
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    yield from started(tmp_path_factory.mktemp("cluster"), workers=3)


@pytest.fixture
def doomed(tmp_path: Path) -> Iterator[Machines]:
    yield from started(tmp_path, workers=2)


def first_begun(files: dict[int, Path]) -> tuple[int, int]:
    """A unit that has begun, and the process it runs in."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        for place, file in files.items():
            if file.exists() and (text := file.read_text()).endswith("\n"):
                return place, int(text)
        time.sleep(0.01)
    raise AssertionError("no unit has begun")


def test_a_killed_worker_changes_no_bit(machines: Machines, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    held = {place: tmp_path / str(place) for place in (4, 5, 6)}
    units = [
        unit("drawn", place=i, **({"begun": str(held[i]), "gate": str(gate)} if i in held else {})) for i in range(40)
    ]
    results = computed(units, machines.address)
    found = dict([next(results)])
    place, victim = first_begun(held)
    os.kill(victim, signal.SIGKILL)
    gate.touch()
    assert place not in found
    found |= dict(results)
    assert json.dumps([found[i] for i in range(40)]) == json.dumps([compute(one) for one in units])
    assert found[0] != found[1]
    assert int(held[place].read_text()) != victim, "the unit was not computed again"


def test_values_go_into_the_store_and_are_not_computed_again(machines: Machines, tmp_path: Path) -> None:
    units = [unit("drawn", place=i) for i in range(5)]
    here, there = Store(tmp_path / "here"), Store(tmp_path / "there")
    assert run(units, store=there, cluster=machines.address) == run(units, store=here)
    lines = [sorted(store.path.read_bytes().splitlines()) for store in (here, there)]
    assert lines[0] == lines[1]
    # Nobody listens at this address: nothing is left to ask for.
    assert run(units, store=Store(tmp_path / "there"), cluster="tcp://127.0.0.1:1") == run(units, store=here)


def rows_in(path: Path) -> list[bytes]:
    """The lines of a store; their order is that in which they were finished."""
    return sorted(line for line in path.read_bytes().splitlines() if line)


def test_a_statistical_batch_has_the_bits_of_a_local_one_though_a_worker_is_killed(
    machines: Machines, tmp_path: Path
) -> None:
    common: dict[str, Any] = {"size": "quick", "seed_set": "pinned", "only": "unbiased"}
    here, there = tmp_path / "here", tmp_path / "there"
    local = cells.run(path=here, **common)
    victim = next(process for process in machines.processes[1:] if process.poll() is None)

    def kill_under_way() -> None:
        while not there.exists() or there.read_bytes().count(b"\n") < 10:
            time.sleep(0.01)
        victim.kill()

    killer = threading.Thread(target=kill_under_way, daemon=True)
    killer.start()
    remote = cells.run(path=there, cluster=machines.address, **common)
    killer.join(PATIENCE)
    assert victim.wait() == -signal.SIGKILL
    assert remote == local
    assert {cell.outcome for cell in local.cells} == {"holds"}
    assert rows_in(there) == rows_in(here)
    cut = cells.run(path=tmp_path / "cut", cluster=machines.address, samples=30, with_controls=False, **common)
    assert {(cell.outcome, cell.n) for cell in cut.cells} == {("pending", 25)}
    late = cells.run(path=tmp_path / "cut", cluster=machines.address, budget_seconds=0.0, with_controls=False, **common)
    assert {(cell.outcome, cell.n) for cell in late.cells} == {("pending", 25)}


def test_rows_from_xdist_a_pool_and_the_cluster_are_equal_bit_for_bit(machines: Machines, tmp_path: Path) -> None:
    common: dict[str, Any] = {"size": "quick", "seed_set": "pinned", "only": "unbiased", "with_controls": False}
    pool = cells.run(path=tmp_path / "pool", workers=2, **common)
    assert cells.run(path=tmp_path / "dask", cluster=machines.address, **common) == pool
    plugins = ["-p", "benchmarks.batch.plugin", "-p", "no:cacheprovider", "-n", "2"]
    suite = [str(Path(cells.__file__).parent / "suite.py"), "-k", "unbiased and test_cell", "--size", "quick"]
    subprocess.run(
        [sys.executable, "-m", "pytest", *plugins, *suite, "--store", str(tmp_path / "xdist")],
        check=True,
        capture_output=True,
    )
    found = {name: rows_in(tmp_path / name) for name in ("pool", "dask", "xdist")}
    # A run under pytest notes that it has ended.
    found["xdist"] = [line for line in found["xdist"] if b'"value": true' not in line]
    assert len(found["pool"]) > 10
    assert found["pool"] == found["dask"] == found["xdist"]


SHIFT = "def shift(x):\n    return x + {}\n"
MINE = """
from robust_core import Contamination, Q_LEARNING, TabularLearner, Variant
from amount import shift


class Learner(TabularLearner):
    def __init__(self, problem):
        super().__init__(Q_LEARNING, problem)

    def estimate(self):
        return shift(super().estimate())


MINE = Variant("mine", "control", Learner, (Contamination,), ("asynchronous",))
"""


def test_a_users_variant_has_the_same_values_on_the_cluster(
    machines: Machines, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its files are sent along, and it misbehaves there as it does here."""
    for name, amount in (("old", "0.0"), ("new", "0.25")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "amount.py").write_text(SHIFT.format(amount))
        (tmp_path / name / "mine.py").write_text(MINE)
    targets = [str(tmp_path / name / "mine.py") for name in ("old", "new")]
    options = ["--problem", "two states, per visit", "--budget", "10min"]
    here, there = (["--store", str(tmp_path / name)] for name in ("here", "there"))
    there += ["--cluster", machines.address]
    found: list[Any] = []
    for place in (here, there):
        output = tmp_path / f"measured-{len(found)}"
        assert main(["bench", targets[1], "--replicates", "24", *options, *place, "--output", str(output)]) == 0
        found.append([m for m in baseline.load(str(output)).measures if m.metric != "time ratio"])
    assert found[0] == found[1]
    (tmp_path / "new" / "amount.py").write_text("def shift(x):\n    return x[:1] if x.any() else x\n")
    capsys.readouterr()
    assert main(["compare", *targets, *options, *there]) == 1
    assert "must have the shape" in capsys.readouterr().out
    assert main(["bench", "properties.variants.gallery.q_learning", *options, *there]) == USAGE
    assert "variants in files only" in capsys.readouterr().err


def test_a_unit_that_raises_is_named(machines: Machines) -> None:
    with pytest.raises(ClusterError, match=r"unit test_cluster:divided\(by=0\) raised ZeroDivisionError.*test_cluster"):
        list(computed([unit("divided", by=1), unit("divided", by=0)], machines.address))


def test_a_unit_that_kills_its_workers_is_named_and_its_neighbours_are_not(
    doomed: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: dict[int, int] = {}
    with pytest.raises(ClusterError, match=r"unit test_cluster:deadly\(place=1\) kills its worker"):
        found.update(computed([unit("deadly", place=i) for i in range(9)], doomed.address))
    assert 1 not in found
    assert all(place == value for place, value in found.items())
    monkeypatch.setattr(cluster, "CONNECTING", 0.5)
    with pytest.raises(ClusterError, match="has no workers"):
        list(computed([unit("drawn", place=1)], doomed.address))


def impostor(folder: Path) -> dict[str, str]:
    """The environment of a worker with other code and (so it says) another library."""
    packages = folder / "other"
    shutil.copytree(
        Path(cluster.__file__).parents[1], packages / "benchmarks", ignore=shutil.ignore_patterns("__pycache__")
    )
    with (packages / "benchmarks" / "runner" / "units.py").open("a") as changed:
        changed.write("OTHER = 1\n")
    (packages / "scipy-0.0.1.dist-info").mkdir()
    (packages / "scipy-0.0.1.dist-info" / "METADATA").write_text("Name: scipy\nVersion: 0.0.1\n")
    return {"PYTHONPATH": str(packages)}


def test_a_worker_with_other_versions_is_refused_whether_early_or_late(machines: Machines, tmp_path: Path) -> None:
    message = r"would not compute the same bits: scipy is 0\.0\.1 there.*code of benchmarks\.tests\.test_cluster is"
    units = [unit("drawn", place=i) for i in range(100, 160)]
    with connect(machines.address) as session:
        session.check("benchmarks.tests.test_cluster")
        before = len(session.client.nthreads())
        late = machines.worker("--no-nanny", **impostor(tmp_path))
        session.client.wait_for_workers(before + 1)
        with pytest.raises(ClusterError, match=message):
            list(session.compute(units))
    found = []
    with pytest.raises(ClusterError, match=message):
        found += list(computed(units, machines.address))
    assert not found, "work was done before the check"
    late.kill()
    late.wait()


@pytest.mark.parametrize("address", ["foo", "tcp://foo", "foo:bar", "nonsense://x"])
def test_what_is_no_address_is_refused_before_there_is_a_client(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that cannot read its address is never closed: half a minute later it would say so in a traceback."""
    monkeypatch.setattr(distributed, "Client", lambda *_, **__: pytest.fail("a client was made"))
    with pytest.raises(ClusterError, match=f"no Dask scheduler answers at '{address}'"):
        next(computed([unit("drawn", place=0)], address))


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nowhere:1", "nonsense://x", "tls://127.0.0.1:1"])
def test_an_address_where_nobody_answers_is_refused(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "CONNECTING", 0.3)
    with pytest.raises(ClusterError, match="no Dask scheduler answers at"):
        list(computed([unit("drawn", place=1)], address))


def test_the_batch_says_so_and_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cluster, "CONNECTING", 0.3)
    words = ["batch", "run", "--size", "quick", "--cluster", "tcp://127.0.0.1:1", "--store", str(tmp_path / "store")]
    assert main(words) == USAGE
    assert "robust-core: no Dask scheduler answers at 'tcp://127.0.0.1:1'" in capsys.readouterr().err


class Threads:
    """A client that knows only how many threads its workers have."""

    def __init__(self, threads: dict[str, int]) -> None:
        self.nthreads = lambda: threads


def test_the_units_of_the_speed_table_can_be_computed() -> None:
    first = {kind: compute(units[0]) for kind, units in cluster_speed.kinds().items()}
    assert (first["nothing"], first["waiting"]) == (0, 0)
    # Costs of a garnet lie in [0, 1]: Q* is at most 1/(1 − 0.9) for each of 400 pairs.
    assert 0.0 < first["computing"] <= 4_000.0


def test_workers_with_several_threads_are_refused_and_no_worker_is_not_waited_for_for_ever() -> None:
    cluster.Session(Threads({"w": 1}), "tcp://x")._look_at_workers()
    with pytest.raises(ClusterError, match="worker w has 2 threads"):
        cluster.Session(Threads({"w": 2}), "tcp://x")._look_at_workers()
    empty = cluster.Session(Threads({}), "tcp://x")
    empty._look_at_workers()
    empty._seen -= cluster.PATIENCE
    with pytest.raises(ClusterError, match="no worker is left at tcp://x"):
        empty._look_at_workers()


class Lost:
    """A future whose scheduler has gone."""

    status = "cancelled"


def test_a_scheduler_that_goes_under_way_is_named() -> None:
    session = cluster.Session(Threads({"w": 1}), "tcp://x")
    with pytest.raises(ClusterError, match="the scheduler at tcp://x is gone; run again to go on"):
        session._judge(unit("drawn", place=1), Lost())
