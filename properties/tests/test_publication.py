"""Variants that installed distributions publish: found by name, verified like any other; bad ones are named."""

import sys
from pathlib import Path

import pytest

from properties.isolation import verify_isolated
from properties.loading import PublicationWarning, installed, load
from properties.verdict import Record

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
    assert {name: variant.name for name, variant in installed().items()} == {"some-t": "my T", "wrong-t": "my wrong T"}
    assert [(key, variant.name) for key, variant in load("some-t").items()] == [("some-t", "my T")]


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize(("name", "outcome"), [("some-t", "holds"), ("wrong-t", "violated")])
def test_a_published_variant_is_verified_in_a_process_of_its_own(name: str, outcome: str) -> None:
    records = [message for message in verify_isolated(name, examples=20) if isinstance(message, Record)]
    assert next(record.outcome for record in records if record.law == "bellman backup") == outcome


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
    assert "wrong-t" in installed(complain=complaints.append)
    assert len(complaints) == 1
    assert message in complaints[0]
    with pytest.warns(PublicationWarning, match=r"bad-lab 0\.1"):
        installed()
    with pytest.raises(ValueError, match=r"bad-lab 0\.1"):
        load(points.split(" ")[0])


def test_an_unknown_name_lists_what_is_published(site: Path) -> None:
    with pytest.raises(ValueError, match="published by installed packages: some-t, wrong-t"):
        load("no_such_name")
