"""A module that misbehaves while it is loaded is found out in another process, in a line that says what it did."""

import sys
from pathlib import Path

import pytest

from properties.process import probe
from properties.process.child import Child
from properties.process.loading import installed
from properties.tests.test_publication import MODULE, install


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("import os; os._exit(0)", "bad.py: its process ended with exit code 0 while loading"),
        ("import os; os.kill(os.getpid(), 9)", "bad.py: its process ended with exit code -9 while loading"),
        ("\nraise KeyboardInterrupt", "bad.py, line 2: KeyboardInterrupt while loading"),
        ("import sys; sys.exit(0)", "bad.py, line 1: SystemExit: 0 while loading"),
        ("NOTHING = 0", "bad.py: no Variant in it"),
    ],
)
def test_what_a_module_does_while_loading_is_said_in_a_line(source: str, message: str) -> None:
    Path("bad.py").write_text(source)
    with pytest.raises(ValueError, match=r".") as caught:
        probe.load_all(["bad.py:MINE"])
    assert str(caught.value) == message


@pytest.mark.parametrize("source", ["import time; time.sleep(1000.0)", "while True: pass"])
def test_a_module_that_hangs_while_loading_is_given_up(source: str) -> None:
    Path("bad.py").write_text(source)
    waits: list[str] = []
    with pytest.raises(ValueError, match=r"^bad\.py: no answer within 4 s while loading$"):
        probe.load_all(["bad.py"], seconds=4.0, waiting=waits.append)
    assert set(waits) == {"bad.py"}


def test_each_file_is_tried_once_and_the_suites_own_modules_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []

    class Recorded(Child):
        def __init__(self, serve: object, order: str) -> None:
            tried.append(order)
            super().__init__(probe._serve, order)

    monkeypatch.setattr(probe, "Child", Recorded)
    for name in ("mine.py", "properties.py"):
        Path(name).write_text(MODULE)
    targets = ["mine.py:MINE", "mine.py:WRONG", "properties.variants.gallery.bellman", "properties.py:MINE"]
    assert list(probe.load_all(targets)) == [*targets[:2], "properties.variants.gallery.bellman:VARIANT", targets[3]]
    assert tried == ["mine.py", "properties.py"]
    with pytest.raises(ValueError, match=r"^none\.py: no such file$"):
        probe.load_all(["none.py"])
    with pytest.raises(ValueError, match=r"^mine\.py: no variant 'YOURS'; it has MINE, WRONG$"):
        probe.load_all(["mine.py:YOURS"])


def test_an_entry_point_that_ends_the_process_is_named_and_stops_no_other(tmp_path: Path) -> None:
    install(tmp_path / "one", "some-lab", "some-t = some_lab:MINE")
    install(tmp_path / "two", "dead-lab", "dead = dead_lab:MINE", "import os; os._exit(0)", version="0.1")
    sys.path[:0] = [str(tmp_path / "one"), str(tmp_path / "two")]
    complaints: list[str] = []
    assert list(installed(complain=complaints.append, before=probe.probe)) == ["some-t"]
    assert complaints == ["entry point 'dead' of dead-lab 0.1: its process ended with exit code 0 while loading"]
