"""Units of work: keys, what may be named, kills at any moment, and any number of workers."""

import math
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks.runner import identity, pool, progress
from benchmarks.runner.pool import Pool, WorkerDied
from benchmarks.runner.progress import Progress, progress_line
from benchmarks.runner.schedule import InProcess, Job, Steps, executor, results, run
from benchmarks.runner.store import Store, open_store
from benchmarks.runner.units import Unit, compute, labels
from benchmarks.tests.processes import LONGEST_WAIT, alive, await_true, interruptible

HERE = "benchmarks.tests.test_units"


def square(x: int, log: str, seconds: float = 0.0) -> int:
    """A unit for the tests: it notes that, and where, it was computed."""
    time.sleep(seconds)
    with Path(log).open("a") as file:
        file.write(f"{x} {os.getpid()}\n")
    return x * x


def die(status: int) -> None:
    os._exit(status)


def fail() -> None:
    raise ValueError("no luck")


def squares(log: Path, count: int = 12, seconds: float = 0.0) -> list[Unit]:
    return [Unit(f"{HERE}:square", {"x": x, "log": str(log), "seconds": seconds}) for x in range(count)]


def endless(begun: str) -> None:
    """A unit that notes who is at it, and stays at it."""
    Path(begun).write_text(f"{os.getpid()}\n")
    time.sleep(3600.0)


def blocked_signals() -> list[int]:
    """The signals that the process of a unit blocks."""
    return [int(number) for number in signal.pthread_sigmask(signal.SIG_BLOCK, ())]


def computed(log: Path) -> list[int]:
    return [int(line.split()[0]) for line in log.read_text().splitlines()] if log.exists() else []


def test_a_key_is_the_function_the_arguments_and_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    unit = Unit("robust_core.text:one_line", {"text": "1s", "other": 0.1})
    assert unit.key == Unit("robust_core.text:one_line", {"other": 0.1, "text": "1s"}).key
    others = [
        Unit("robust_core.text:one_line", {"text": "2s", "other": 0.1}),
        Unit("benchmarks.batch.rows:rows", {"text": "1s", "other": 0.1}),
        Unit("robust_core.text:one_line", {"text": "1s", "other": 0.1 + 2**-56}),
    ]
    assert unit.key not in {other.key for other in others}
    monkeypatch.setattr(identity, "of", lambda module: "other code")
    assert unit.key != Unit("robust_core.text:one_line", {"text": "1s", "other": 0.1}).key
    assert len({unit, *others}) == 4


def test_the_code_is_what_a_module_reaches(tmp_path: Path) -> None:
    reached = identity.reached_modules("benchmarks.regression.tabular")
    # Imported at the top, two levels down, inside a function, and by a package's own file.
    assert {
        "oracles.planning.closed_form",
        "oracles.planning.direct",
        "robust_core.kernels.tabular",
        "robust_core",
    } <= reached
    assert not any(name.startswith(("benchmarks.report", "benchmarks.regression.compare")) for name in reached)
    with pytest.raises(ValueError, match="module of"):
        identity.reached_modules("json")


def test_a_package_on_the_way_adds_no_function_that_it_defines() -> None:
    """`properties.verify` imports most of the four packages, and a module that lies beside it calls it nowhere."""
    assert len(identity.reached_modules("properties")) > 50
    assert identity.reached_modules("properties.statistics") == {"properties", "properties.statistics"}
    # A function of a package that is used, and what it imports for the type checker.
    assert {"properties.statistics.laws.sampling", "properties.statistics.law"} <= identity.reached_modules(
        "benchmarks.batch.rows"
    )
    assert "benchmarks.regression.table" not in identity.reached_modules("benchmarks.runner.schedule")


def test_a_name_from_a_package_leads_to_the_module_that_has_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "robust_core"
    package.mkdir()
    texts = {
        "__init__": "LAZY = {'late': 'robust_core.c'}\n"
        "if not LAZY:\n    class C:\n        def f(self):\n            import robust_core.d\n"
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from robust_core.b import named\n",
        "a": "from robust_core import late, named\n",
        "b": "named = 1\n",
        "c": "late = 1\n",
        "d": "other = 1\n",
        "e": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from robust_core.d import other\n",
    }
    for name, text in texts.items():
        (package / f"{name}.py").write_text(text)
    cached = [identity._file, identity._text, identity._tree, identity._top, identity._home, identity._imported]
    cached += [identity._executed]
    files = {name: package / f"{name.rpartition('.')[2]}.py" for name in (f"robust_core.{n}" for n in texts)}
    files["robust_core"] = package / "__init__.py"
    with monkeypatch.context() as patch:
        patch.setattr(identity, "_file", files.get)
        for function in cached[1:]:
            function.cache_clear()
        assert identity.reached_modules("robust_core.a") == {"robust_core", *(f"robust_core.{name}" for name in "abc")}
        assert identity.reached_modules("robust_core.e") == {"robust_core", "robust_core.e"}
    for function in cached[1:]:
        function.cache_clear()


def test_the_processor_counts_where_a_result_is_not_portable(monkeypatch: pytest.MonkeyPatch) -> None:
    before = identity.of("benchmarks.batch.rows"), identity.of("robust_core.text")
    monkeypatch.setattr(identity, "processor", lambda: "another processor")
    identity.of.cache_clear()
    try:
        assert identity.of("benchmarks.batch.rows") != before[0]
        assert identity.code("benchmarks.batch.rows") in before[0]
        assert identity.is_portable("robust_core.text")
    finally:
        identity.of.cache_clear()


SOURCE = (
    "'Of the module.'\nX = 1\n'Of X.'\n\nclass C:\n    '''Of C,\n\n    in full.'''\n\n    def f(self, x):\n"
    "        'Of f.'\n        # How.\n        return '''\n# kept\n\n{x}''', 'é'  # kept too\n"
    "\n    def g(self): 'kept'\n"
)


def test_what_is_not_executed_does_not_count() -> None:
    code = identity.executed_lines(SOURCE)
    kept = ["X = 1", "class C:", "    def f(self, x):", "        return '''", "# kept", "", "{x}''', 'é'  # kept too"]
    assert code.splitlines() == [*kept, "    def g(self): 'kept'"]
    assert identity.executed_lines(SOURCE.replace("Of C,", "Of a class,").replace("# How.", "")) == code
    for old, new in (("X = 1", "X = 2"), ("# kept\n", "# other\n"), ("\n{x}", "{x}"), ("self): 'kept'", "self): ''")):
        assert identity.executed_lines(SOURCE.replace(old, new)) != code


@pytest.mark.parametrize(
    "function",
    ["os:system", "subprocess.run:x", "benchmarks", "benchmarks.runner.units", "benchmarks.runner.units:__import__",
     "benchmarks..units:run", "benchmarks.runner.units:run.x",
     " benchmarks.runner.units:run", "benchmarks.runner.units:run\n"],
)  # fmt: skip
def test_names_of_other_things_are_refused(function: str) -> None:
    with pytest.raises(ValueError, match="function must look like"):
        Unit(function, {})


@pytest.mark.parametrize(
    "function", ["benchmarks.runner.units:json", "benchmarks.runner.units:field", "benchmarks.runner.units:nothing"]
)
def test_what_is_no_function_of_ours_is_not_called(function: str) -> None:
    with pytest.raises(ValueError, match=r"not a function|is a function of"):
        compute(Unit(function, {}))


def test_arguments_are_plain_data_that_nobody_can_change() -> None:
    shared = {"text": ["1s"]}
    unit = Unit("robust_core.text:one_line", shared)
    shared["text"].append("2s")
    assert unit.arguments == {"text": ["1s"]}
    for hostile in ({"text": b"1s"}, {"text": float("nan")}, {"text": object()}):
        with pytest.raises((TypeError, ValueError)):
            Unit("robust_core.text:one_line", hostile)


def test_what_is_in_the_store_is_not_computed_again(tmp_path: Path) -> None:
    log, store = tmp_path / "log", Store(tmp_path / "store")
    wanted = squares(log)
    first = run(wanted[:5], store=store)
    lines: list[str] = []
    second = run(wanted, store=Store(tmp_path / "store"), show=lines.append)
    assert sorted(computed(log)) == list(range(12))
    assert first.items() <= second.items()
    assert list(second.values()) == [x * x for x in range(12)]
    assert lines[0] == "5 units in the store, 7 to compute"
    assert lines[1:3] == ["[0/7, 0 %] x=5", "[1/7, 14 %] x=6"], "what is at work, by what the units do not share"
    assert re.fullmatch(r"\[6/7, 85 %, about \d+ s left\] x=11", lines[7])
    assert lines[8:] == ["[7/7, 100 %, about 0 s left] x=11"]


def test_a_line_of_80_columns_shows_which_cell_is_measured() -> None:
    from benchmarks.cli.conventions import MARGIN
    from benchmarks.regression import bench

    wanted = [job.unit for job in bench.jobs()]
    name = labels(wanted)
    shown = {unit: progress_line(100, len(wanted), 300.0, name(unit))[: 80 - MARGIN] for unit in wanted}
    # The start of a stretch of seeds, and the size of the few problems that are timed, may be cut off.
    cells = {
        unit: (*map(unit.arguments.get, ("metric", "variant")), unit.repeatable and unit.arguments["problem"])
        for unit in wanted
    }
    assert all((shown[a] == shown[b]) <= (cells[a] == cells[b]) for a in wanted for b in wanted)
    assert not any("pinned" in line or "measure" in line for line in shown.values())
    assert len({str(unit)[: 80 - MARGIN - 33] for unit in wanted}) < len(set(shown.values())) / 2, "as it was"


def test_what_a_pool_is_at_is_told(tmp_path: Path) -> None:
    lines: list[str] = []
    run(squares(tmp_path / "log", 6), store=Store(tmp_path / "s"), workers=2, show=lines.append)
    assert lines[1] == "[0/6, 0 %] x=0"
    assert [line.partition(",")[0] for line in lines[2:]] == [f"[{done}/6" for done in range(1, 7)]


@pytest.mark.parametrize("content", [b"# my notes", b"a,b\n1,2\n", b'{"check": "00", "value": 1}\n', b"\n\nnotes\n"])
def test_a_file_that_is_no_store_is_refused_and_left_alone(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "notes"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="name another file"), open_store(path):
        pytest.fail("it was opened")
    assert path.read_bytes() == content


def test_a_store_is_opened_whatever_a_kill_or_a_hand_has_left_of_it(tmp_path: Path) -> None:
    path = tmp_path / "store"
    with open_store(path) as store:
        store.put(b"k", 1)
    whole = path.read_bytes()
    for content in (b"", *(whole[:n] for n in (1, 5, len(whole) - 1)), b"damaged" + whole):
        path.write_bytes(content)
        with open_store(path) as store:
            store.put(b"k", 1)
        assert path.read_bytes().startswith(content)
        assert Store(path).get(b"k") == 1


def test_no_time_is_told_from_too_little_and_a_long_one_in_minutes() -> None:
    assert progress_line(2, 6, 10.0, "x") == "[2/6, 33 %] x"
    assert progress_line(9, 200, 10.0, "x") == "[9/200, 4 %] x"
    assert progress_line(10, 200, 100.0, "x") == "[10/200, 5 %, about 32 min left] x"


def test_the_number_of_workers_does_not_matter(tmp_path: Path) -> None:
    one = run(squares(tmp_path / "log"), store=Store(tmp_path / "one"))
    two = run(squares(tmp_path / "log"), store=Store(tmp_path / "two"), workers=2)
    assert list(one.items()) == list(two.items())
    assert len({line.split()[1] for line in (tmp_path / "log").read_text().splitlines()}) > 1


def test_nothing_begins_after_the_budget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for workers in (1, 2):
        assert run(squares(tmp_path / "log"), store=Store(tmp_path / "s"), workers=workers, budget_seconds=0.0) == {}
    assert computed(tmp_path / "log") == []
    # A clock on which every unit takes five seconds: three have begun before the twelfth.
    clock = SimpleNamespace(monotonic=lambda: 5.0 * len(computed(tmp_path / "log")))
    monkeypatch.setattr(progress, "time", clock)
    assert len(run(squares(tmp_path / "log"), store=Store(tmp_path / "s"), budget_seconds=12.0)) == 3


def test_measurements_of_time_are_taken_here_and_one_by_one(tmp_path: Path) -> None:
    timed = [Unit(unit.function, unit.arguments, repeatable=False) for unit in squares(tmp_path / "log", 3)]
    run(timed, store=Store(tmp_path / "s"), workers=2)
    assert {int(line.split()[1]) for line in (tmp_path / "log").read_text().splitlines()} == {os.getpid()}


def test_a_unit_that_fails_is_named_and_one_that_dies_loses_nothing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no luck") as caught:
        run([Unit(f"{HERE}:fail", {})], store=Store(tmp_path / "s"))
    assert "while computing test_units:fail()" in caught.value.__notes__
    wanted = [*squares(tmp_path / "log", 4), Unit(f"{HERE}:die", {"status": 3})]
    with pytest.raises(WorkerDied, match=r"exit code 3\) while it computed test_units:die.*run again"):
        run(wanted, store=Store(tmp_path / "s"), workers=2)
    assert len(run(wanted[:4], store=Store(tmp_path / "s"))) == 4


def test_a_unit_that_fails_in_a_worker_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no luck") as caught:
        run([Unit(f"{HERE}:fail", {}), *squares(tmp_path / "log", 2)], store=Store(tmp_path / "s"), workers=2)
    assert any("in a worker process:" in note and "in fail" in note for note in caught.value.__notes__)


class Reversed(InProcess):
    """An executor that takes all it can get and gives the last first."""

    def __init__(self) -> None:
        self.units: list[Unit] = []

    @property
    def has_room(self) -> bool:
        return len(self.units) < 5

    def submit(self, unit: Unit) -> None:
        self.units.append(unit)

    def collect(self) -> tuple[Unit, Any]:
        unit = self.units.pop()
        return unit, compute(unit)


def sums(log: Path, rounds: int, start: int = 0) -> Steps[tuple[str, int]]:
    """A job of several rounds of units, each twice as large as the one before."""
    total, first = 0, start
    for number in range(rounds):
        wanted = squares(log, first + 2**number)[first:]
        values = yield wanted
        total += sum(values)
        if len(values) < len(wanted):
            return "cut", total
        first += 2**number
    return "whole", total


@pytest.mark.parametrize("where", [InProcess, Reversed])
def test_jobs_ask_for_units_until_they_are_done_whatever_their_order(where: type[InProcess], tmp_path: Path) -> None:
    store = Store(tmp_path / "s")
    # The second shares its units with the first.
    jobs = [Job(name, sums(tmp_path / "log", rounds)) for name, rounds in (("a", 4), ("b", 3), ("c", 0))]
    found = dict(results(jobs, store=store, where=nullcontext(where()), progress=Progress(3)))
    assert found == {
        0: ("whole", sum(x * x for x in range(15))),
        1: ("whole", sum(x * x for x in range(7))),
        2: ("whole", 0),
    }
    assert sorted(computed(tmp_path / "log")) == list(range(15)), "each once"


@pytest.mark.parametrize("workers", [1, 2])
def test_a_job_that_lacks_units_when_the_time_is_over_gets_those_that_are_there(workers: int, tmp_path: Path) -> None:
    store = Store(tmp_path / "s")
    run(squares(tmp_path / "log", 5), store=store)
    jobs = [Job(name, sums(tmp_path / "log", rounds)) for name, rounds in (("short", 2), ("long", 4))]
    where = executor(2, workers=workers)
    found = dict(results(jobs, store=store, where=where, progress=Progress(2, deadline=-math.inf)))
    # 0, 1 + 4, and of the next four the two that are in the store; what the store can decide is decided.
    assert found == {0: ("whole", 5), 1: ("cut", 0 + 1 + 4 + 9 + 16)}
    assert sorted(computed(tmp_path / "log")) == list(range(5)), "nothing begins"


def test_a_unit_has_a_value() -> None:
    with pytest.raises(ValueError, match="must return a value"):
        compute(Unit(f"{HERE}:nothing", {}))


def nothing() -> None:
    """A unit without a value."""


def run_late(wanted: list[Unit], *, store: Store, workers: int) -> None:
    """A wrong run: everything is put into the store when all is done."""
    values = [compute(unit) for unit in wanted]
    for unit, value in zip(wanted, values, strict=True):
        store.put(unit.key, value)


# So many units that the run is killed long before their end, however late the one who kills it gets its turn.
MANY = 1000
PROGRAM = f"""
import sys
from pathlib import Path
from benchmarks.runner.store import Store
from {HERE} import run, run_late, squares
if __name__ == "__main__":
    folder, workers, runner = Path(sys.argv[1]), int(sys.argv[2]), {{"run": run, "run_late": run_late}}[sys.argv[3]]
    runner(squares(folder / "log", {MANY}, 0.02), store=Store(folder / "store"), workers=workers)
"""


def killed(folder: Path, workers: int, runner: str) -> None:
    """A run in a process of its own, killed when it has computed ten units."""
    (folder / "program.py").write_text(PROGRAM)
    command = [sys.executable, str(folder / "program.py"), str(folder), str(workers), runner]
    child = subprocess.Popen(command)
    await_true(lambda: child.poll() is not None or len(computed(folder / "log")) >= 10)
    assert child.poll() is None, "the run ended before it could be killed"
    os.kill(child.pid, signal.SIGKILL)
    child.wait()


def lost(folder: Path) -> int:
    """How many of the computed units are not in the store."""
    before = computed(folder / "log")
    store = Store(folder / "store")
    there = [unit.arguments["x"] for unit in squares(folder / "log", MANY, 0.02) if store.get(unit.key) is not None]
    assert set(there) <= set(before)
    return len(before) - len(there)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_kill_loses_only_what_is_under_way(workers: int, tmp_path: Path) -> None:
    killed(tmp_path, workers, "run")
    pids = {int(line.split()[1]) for line in (tmp_path / "log").read_text().splitlines()}
    await_true(lambda: not any(alive(pid) for pid in pids))
    # What was computed and is not in the store was on its way there: at most one unit per worker, and the two
    # that each may have had waiting for it.
    assert lost(tmp_path) <= (1 if workers == 1 else (pool.AHEAD + 1) * workers)


def test_a_run_that_keeps_its_results_for_the_end_loses_them_all(tmp_path: Path) -> None:
    killed(tmp_path, 1, "run_late")
    assert lost(tmp_path) >= 10


# Workers import the program under another name: that is when an interrupt would reach them unprepared.
INTERRUPTED = f"""
import sys, time
from pathlib import Path
folder, slow = Path(sys.argv[1]), sys.argv[2] == "importing"
if __name__ != "__main__" and slow:
    (folder / f"begun-{{__import__('os').getpid()}}").write_text(f"{{__import__('os').getpid()}}\\n")
    time.sleep(3.0)
from benchmarks.runner.store import Store
from {HERE} import Unit, run
if __name__ == "__main__":
    files = [str(folder / name) for name in ("begun-a", "begun-b")]
    try:
        run([Unit("{HERE}:endless", {{"begun": file}}) for file in files], store=Store(folder / "s"), workers=2)
    except KeyboardInterrupt:
        raise SystemExit(130)
"""


@pytest.mark.parametrize("stage", ["importing", "computing"])
def test_ctrl_c_ends_the_workers_with_what_they_are_at(stage: str, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(INTERRUPTED)
    command = [sys.executable, str(tmp_path / "program.py"), str(tmp_path), stage]
    child = interruptible(command)

    def workers() -> list[int]:
        texts = [path.read_text() for path in tmp_path.glob("begun-*")]
        return [int(text) for text in texts if text.endswith("\n")]

    try:
        await_true(lambda: child.poll() is not None or len(workers()) >= 2)
        os.killpg(child.pid, signal.SIGINT)
        # Their work takes an hour: whoever waits for it does not end in two minutes, however busy the machine.
        _, errors = child.communicate(timeout=LONGEST_WAIT)
    finally:
        os.killpg(child.pid, signal.SIGKILL) if child.poll() is None else None
    assert (child.returncode, errors) == (130, b"")
    await_true(lambda: not any(alive(pid) for pid in workers()))


def test_a_pool_that_is_left_by_an_exception_leaves_no_process_behind(tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    processes: list[int | None] = []

    def leave() -> None:
        with Pool(2) as workers:
            workers.submit(Unit(f"{HERE}:endless", {"begun": str(begun)}))
            await_true(begun.exists)
            processes.extend(worker.process.pid for worker in workers.workers)
            raise LookupError

    with pytest.raises(LookupError):
        leave()
    assert len(processes) == 1, "started as they are needed"
    assert not any(pid is not None and alive(pid) for pid in processes)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_waits_until_a_process_is_started(number: signal.Signals) -> None:
    """In the midst of it the new process would be left without its first orders, and say so."""

    def answer(*_: object) -> None:
        raise LookupError

    events: list[str] = []

    def started() -> None:
        with pool._interrupts_held():
            os.kill(os.getpid(), number)
            events.append("started")

    before = signal.signal(number, answer)
    try:
        with pytest.raises(LookupError):
            started()
        assert events == ["started"]
        assert signal.getsignal(number) is answer
    finally:
        signal.signal(number, before)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_between_the_handlers_leaves_none_of_them_deaf(
    number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A handler that is back in its place may raise before the next one is."""
    told: list[int] = []

    def answer(number: int, _: object) -> None:
        told.append(number)
        raise LookupError

    set_handler = signal.signal

    def interrupted(changed: signal.Signals, handler: Any) -> Any:
        set_handler(changed, handler)
        if changed == number and handler is answer:
            os.kill(os.getpid(), number)

    before = {other: signal.signal(other, answer) for other in (signal.SIGINT, signal.SIGTERM)}
    unblocked = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        with monkeypatch.context() as patch, pytest.raises(LookupError), pool._interrupts_held():
            patch.setattr(signal, "signal", interrupted)
        assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == unblocked
        for other in before:
            with pytest.raises(LookupError):
                os.kill(os.getpid(), other)
        assert told == [number, signal.SIGINT, signal.SIGTERM]
        with pool._interrupts_held():
            pass
        assert {signal.getsignal(other) for other in before} == {answer}
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, unblocked)
        for other, handler in before.items():
            signal.signal(other, handler)


def test_all_signals_that_were_held_are_answered() -> None:
    told: list[int] = []
    before = {
        number: signal.signal(number, lambda number, _: told.append(number))
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        with pool._interrupts_held():
            for number in before:
                os.kill(os.getpid(), number)
            assert told == []
        assert told == [signal.SIGINT, signal.SIGTERM]
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def test_a_worker_starts_with_ctrl_c_blocked_and_its_parent_does_not() -> None:
    unblocked = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    with pool._interrupts_held():
        assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == unblocked
    with Pool(1) as workers:
        workers.submit(Unit(f"{HERE}:blocked_signals", {}))
        assert signal.SIGINT in workers.collect()[1]
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == unblocked
