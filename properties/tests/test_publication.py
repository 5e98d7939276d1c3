"""Finding variants: in files and modules, and published ones by name; whatever is wrong with one is said in a line."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from properties.process.loading import load, published_names
from properties.process.session import Effort, Session, records, verify_isolated

MODULE = """
from robust_core import Contamination, Variant, bellman

MINE = Variant("my T", "operator", bellman, (Contamination,), ("bellman",))
WRONG = Variant("my wrong T", "operator", lambda m, u, Q: 2.0 * bellman(m, u, Q), (Contamination,), ("bellman",))
NUMBER = 3
"""


def install(site: Path, name: str, points: str, module: str = MODULE, version: str = "1.0") -> None:
    """A distribution as an installer leaves it: a module and its metadata in a folder that is searched."""
    stem = name.replace("-", "_")
    metadata = site / f"{stem}-{version}.dist-info"
    metadata.mkdir(parents=True)
    (site / f"{stem}.py").write_text(module)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (metadata / "entry_points.txt").write_text(f"[robust_core.variants]\n{points}\n")
    (metadata / "RECORD").write_text("")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    install(tmp_path / "one", "some-lab", "some-t = some_lab:MINE\nwrong-t = some_lab:WRONG")
    monkeypatch.syspath_prepend(str(tmp_path / "one"))
    return tmp_path


@pytest.mark.usefixtures("site")
def test_published_variants_are_found_by_name() -> None:
    assert published_names() == ["some-t", "wrong-t"]
    assert [(key, variant.name) for key, variant in load("some-t").items()] == [("some-t", "my T")]


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize(("name", "outcome"), [("some-t", "holds"), ("wrong-t", "violated")])
def test_a_published_variant_is_verified_in_a_process_of_its_own(name: str, outcome: str) -> None:
    found = records(verify_isolated(name, effort=Effort(examples=20)))
    assert next(record.outcome for record in found if record.law == "bellman backup") == outcome


@pytest.mark.parametrize(
    ("points", "module", "message"),
    [
        ("bad = bad_lab:MINE", "import no_such_library", "entry point 'bad' of bad-lab 0.1: ModuleNotFoundError"),
        ("bad = bad_lab:NOPE", MODULE, "entry point 'bad' of bad-lab 0.1: AttributeError"),
        ("bad = bad_lab:NUMBER", MODULE, "entry point 'bad' of bad-lab 0.1: must be a Variant, got 3"),
        ("bad = bad_lab:MINE", "raise SystemExit(3)", "entry point 'bad' of bad-lab 0.1: SystemExit: 3"),
        ("some-t = bad_lab:MINE", MODULE, "published by bad-lab 0.1 and some-lab 1.0 with different values"),
    ],
)
def test_a_bad_entry_point_is_named_and_stops_no_other(
    site: Path, monkeypatch: pytest.MonkeyPatch, points: str, module: str, message: str
) -> None:
    install(site / "two", "bad-lab", points, module, version="0.1")
    monkeypatch.syspath_prepend(str(site / "two"))
    monkeypatch.delitem(sys.modules, "bad_lab", raising=False)
    complaints: list[str] = []
    names = published_names()
    with Session(names, optional=names, complain=complaints.append) as session:
        assert "wrong-t" in session.variants
    assert len(complaints) == 1
    assert message in complaints[0]
    with pytest.raises(ValueError, match=r"bad-lab 0\.1"):
        load(points.split(" ")[0])


def test_an_unknown_name_lists_what_is_published(site: Path) -> None:
    with pytest.raises(ValueError, match="published by installed packages: some-t, wrong-t"):
        load("no_such_name")


BESIDE = """
import beside
from robust_core import Contamination, Variant, bellman

def backup(mdp, uncertainty_set, Q):
    import beside_later
    return bellman(mdp, uncertainty_set, Q) * beside.FACTOR * beside_later.FACTOR

MINE = Variant("my T", "operator", backup, (Contamination,), ("bellman",))
"""


def folder_of(path: Path, factor: float, name: str = "mine.py") -> Path:
    """A folder with a variant that needs two modules beside it, one of them only when it runs."""
    path.mkdir()
    (path / name).write_text(BESIDE)
    (path / "beside.py").write_text(f"FACTOR = {factor}")
    (path / "beside_later.py").write_text("FACTOR = 1.0")
    return path / name


def outcome(target: str) -> str:
    found = records(verify_isolated(target, effort=Effort(examples=20)))
    return next(record.outcome for record in found if record.law == "bellman backup")


@pytest.mark.usefixtures("_clean_imports")
def test_modules_beside_a_variant_are_its_own(tmp_path: Path) -> None:
    right, wrong = folder_of(tmp_path / "right", 1.0), folder_of(tmp_path / "wrong", 2.0)
    assert [outcome(f"{file}:MINE") for file in (right, wrong, right)] == ["holds", "violated", "holds"]


@pytest.mark.usefixtures("_clean_imports")
@pytest.mark.parametrize("name", ["json.py", "numpy.py", "random.py"])
def test_a_file_named_like_a_library_hides_none(tmp_path: Path, name: str) -> None:
    file = folder_of(tmp_path / "mine", 1.0, name)
    assert outcome(f"{file}:MINE") == "holds"
    assert sys.modules["json"] is json
    assert sys.modules["numpy"].__name__ == "numpy"


@pytest.mark.usefixtures("_clean_imports")
def test_a_module_in_the_current_folder_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder_of(tmp_path / "here", 2.0)
    with pytest.raises(ValueError, match="no module 'mine'"):
        load("mine:MINE")
    monkeypatch.chdir(tmp_path / "here")
    assert outcome("mine:MINE") == "violated"


@pytest.mark.usefixtures("_clean_imports")
@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("import sys\nsys.exit(0)", r"bad\.py, line 2: SystemExit: 0 while loading$"),
        ("def (", r"bad\.py, line 1: SyntaxError: invalid syntax while loading$"),
        ("x = 1\n1 / 0", r"bad\.py, line 2: ZeroDivisionError: division by zero while loading$"),
        ("import no_such_library", r"bad\.py, line 1: ModuleNotFoundError: No module named 'no_such_library'"),
        ("import worse", r"bad\.py, line 1 \(.*worse\.py, line 3\): RuntimeError: one two while loading$"),
        ("class Odd(BaseException): pass\nraise Odd", r"bad\.py, line 2: Odd while loading$"),
    ],
)
def test_a_file_that_cannot_be_loaded_is_a_line_with_place_and_reason(
    tmp_path: Path, source: str, message: str
) -> None:
    (tmp_path / "bad.py").write_text(source)
    (tmp_path / "worse.py").write_text("\n\nraise RuntimeError('one\\ntwo')")
    before = set(sys.modules)
    with pytest.raises(ValueError, match=message):
        load(str(tmp_path / "bad.py"))
    assert not [name for name in set(sys.modules) - before if "bad" in name]


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (".", r"^\.: a folder; name a file in it"),
        ("", r"^'': a target is package\.module\[:NAME\], file\.py"),
        ("./mine", r"^\./mine: a target is"),
        ("json.no_such_part", "no module 'json.no_such_part'"),
        ("properties.variants.galery", r"did you mean 'properties\.variants\.gallery'\?"),
    ],
)
def test_what_is_no_target_is_refused(target: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load(target)


@pytest.mark.parametrize(
    ("handler", "error"), [(signal.default_int_handler, KeyboardInterrupt), (signal.SIG_IGN, ValueError)]
)
def test_an_interrupt_while_loading_stays_one_where_there_can_be_one(
    handler: Any, error: type[BaseException], tmp_path: Path
) -> None:
    (tmp_path / "slow.py").write_text("raise KeyboardInterrupt")
    before = signal.signal(signal.SIGINT, handler)
    try:
        with pytest.raises(error):
            load(str(tmp_path / "slow.py"))
    finally:
        signal.signal(signal.SIGINT, before)


def test_what_a_module_prints_while_loading_is_not_on_standard_output(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "talkative.py"
    file.write_text("print('loading')\nfrom properties.variants.gallery.bellman import VARIANT\n")
    load(str(file))
    assert capsys.readouterr() == ("", "loading\n")


SCRIPT = """
import sys
from mine import MINE
from properties.process.loading import target_of

sys.modules["__mp_main__"] = sys.modules["__main__"]
print(target_of(MINE))
"""


def test_a_variant_that_a_script_imports_is_known_by_its_own_file(tmp_path: Path) -> None:
    """Multiprocessing gives the script a second name, under which it comes no earlier than under `__main__`."""
    (tmp_path / "mine.py").write_text(MODULE)
    (tmp_path / "a_script.py").write_text(SCRIPT)
    done = subprocess.run([sys.executable, "a_script.py"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "mine.py:MINE\n"
