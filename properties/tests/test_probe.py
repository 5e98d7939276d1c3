"""A module that misbehaves while it is loaded is found out in another process, in a line that says what it did."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from properties.judging.causes import Causes
from properties.process import session
from properties.process.child import Child
from properties.process.loading import published_names
from properties.process.session import Session
from properties.tests.test_publication import MODULE, install


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("import os; os._exit(0)", "bad.py: its process ended with exit code 0 while loading"),
        (
            "import os; os.kill(os.getpid(), 9)",
            "bad.py: its process ended with exit code -9 while loading; if it was killed from outside, run the same "
            "command again",
        ),
        ("\nraise KeyboardInterrupt", "bad.py, line 2: KeyboardInterrupt while loading"),
        ("import sys; sys.exit(0)", "bad.py, line 1: SystemExit: 0 while loading"),
        ("NOTHING = 0", "bad.py: no Variant in it"),
        (
            "from robust_core import Variant\nfrom properties.variants.gallery.bellman import VARIANT\n"
            "class Mine(Variant):\n    promises = property(lambda self: (), lambda self, _: None)\n"
            "MINE = Mine('mine', VARIANT.kind, VARIANT.make, VARIANT.sets, VARIANT.promises)",
            "bad.py: a variant must be a Variant itself: a class made from it can change its fields",
        ),
        (
            "import resource as r\nr.setrlimit(r.RLIMIT_AS, (1 << 31, 1 << 31))\nbytearray(1 << 40)",
            "bad.py, line 3: MemoryError while loading",
        ),
        (
            "from properties.variants.gallery.bellman import VARIANT\nglobals()['\\x1b' * 1000] = VARIANT",
            "bad.py: a variant must be a variable with a name of at most 80 characters, got "
            + "'"
            + "\\x1b" * 19
            + "\\x1…",
        ),
    ],
)
def test_what_a_module_does_while_loading_is_said_in_a_line(source: str, message: str) -> None:
    Path("bad.py").write_text(source)
    with pytest.raises(ValueError, match=r".") as caught:
        Session(["bad.py:MINE"])
    assert str(caught.value) == message


@pytest.mark.parametrize("source", ["import time; time.sleep(1000.0)", "while True: pass"])
def test_a_module_that_hangs_while_loading_is_given_up(source: str) -> None:
    Path("bad.py").write_text(source)
    waits: list[str] = []
    with pytest.raises(ValueError, match=r"^bad\.py: no answer within 2 s while loading$"):
        Session(["bad.py"], seconds=2.0, waiting=waits.append)
    assert set(waits) == {"bad.py"}


EXECUTED = """
import os
with open("executed", "a") as file:
    print(os.getpid(), file=file)
"""


def test_each_file_is_executed_once_and_only_in_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """The suite's own modules share a worker."""
    started: list[str] = []

    class Recorded(Child):
        def __init__(self, serve: str) -> None:
            started.append(serve)
            super().__init__(serve)

    monkeypatch.setattr(session, "Child", Recorded)
    Path("mine.py").write_text(MODULE + EXECUTED)
    own = ["properties.variants.gallery.bellman:VARIANT", "properties.variants.gallery.walk:VARIANT"]
    targets = ["mine.py:WRONG", *own, "mine.py:MINE"]
    with Session(targets) as found:
        assert list(found.variants) == targets
        # The operator of the gallery promises radii per pair too.
        shared = [law for law in found.variants[own[0]].laws if "radii per pair" not in law]
        assert list(found.variants["mine.py:WRONG"].laws) == shared
        laws = ["bellman purity"]
        effort = session.Effort(examples=1)
        (record,) = session.records(found.judge(found.variants["mine.py:MINE"], laws, Causes(), effort))
        assert (record.outcome, record.target) == ("holds", "mine.py:MINE")
    assert len(started) == 2
    (process,) = Path("executed").read_text().split()
    assert int(process) != os.getpid()


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("none.py", "none.py: no such file; did you mean 'mine.py'?"),
        ("mine.py:YOURS", "mine.py: no variant 'YOURS'; it has MINE, WRONG"),
    ],
)
def test_a_target_that_is_not_there_is_named(target: str, message: str) -> None:
    Path("mine.py").write_text(MODULE)
    with pytest.raises(ValueError, match=r".") as caught:
        Session([target])
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (os.mkfifo, "odd.py: not a regular file"),
        (lambda path: path.symlink_to("/dev/zero"), "odd.py: not a regular file"),
        (lambda path: path.symlink_to("odd.py"), "odd.py: a link to a file that is not there"),
        (lambda path: path.symlink_to("gone"), "odd.py: a link to a file that is not there"),
        (lambda path: path.mkdir(), "odd.py: a folder, not a Python file"),
    ],
    ids=["pipe", "device", "loop", "dangling", "folder"],
)
def test_a_target_that_is_no_file_is_not_opened(make: Callable[[Path], None], message: str) -> None:
    make(Path("odd.py"))
    with pytest.raises(ValueError, match=f"^{message}$"):
        Session(["odd.py"])


def test_an_entry_point_that_ends_the_process_is_named_and_stops_no_other(tmp_path: Path) -> None:
    install(tmp_path / "one", "some-lab", "some-t = some_lab:MINE")
    install(tmp_path / "two", "dead-lab", "dead = dead_lab:MINE", "import os; os._exit(0)", version="0.1")
    sys.path[:0] = [str(tmp_path / "one"), str(tmp_path / "two")]
    complaints: list[str] = []
    names = published_names()
    with Session(names, optional=names, complain=complaints.append) as found:
        assert list(found.variants) == ["some-t"]
    assert complaints == ["entry point 'dead' of dead-lab 0.1: its process ended with exit code 0 while loading"]
