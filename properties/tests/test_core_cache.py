"""Where compiled kernels are kept, when folders are missing or belong to others."""

import os
import tempfile
from pathlib import Path

import numba
import pytest

from robust_core.kernels import jit


def homeless() -> Path:
    raise RuntimeError("Could not determine home directory.")


@pytest.mark.parametrize("wanted", ["folder", "file"])
def test_a_user_without_a_home_has_a_cache(wanted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the folder that was asked for, or, where there can be none, in the temporary folder."""
    (tmp_path / "file").touch()
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / wanted))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.setattr(Path, "home", homeless)
    found = jit.cache_folder.__wrapped__()
    assert found is not None
    chosen = Path(found)
    assert chosen.parent == tmp_path / ("folder" if wanted == "folder" else "temporary")
    assert chosen.is_dir()
    assert chosen.stat().st_mode & 0o777 == 0o700


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A temporary folder as all users share it, the only folder that is left; its cache is not there yet."""
    (tmp_path / "file").touch()
    folder = tmp_path / "temporary"
    folder.mkdir()
    folder.chmod(0o1777)
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "file"))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setattr(Path, "home", homeless)
    chosen = jit.cache_folder.__wrapped__()
    assert chosen is not None
    Path(chosen).rmdir()
    return Path(chosen)


def test_a_cache_in_a_shared_folder_is_used_again(shared: Path) -> None:
    shared.mkdir(mode=0o700)
    assert jit.cache_folder.__wrapped__() == str(shared)


def test_a_cache_of_another_user_is_not_used(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shared.mkdir(mode=0o700)
    monkeypatch.setattr(os, "geteuid", lambda: shared.stat().st_uid + 1)
    assert jit.cache_folder.__wrapped__() is None


@pytest.mark.parametrize("mode", [0o720, 0o702, 0o777, 0o755])
def test_a_cache_that_others_have_access_to_is_not_used(mode: int, shared: Path) -> None:
    shared.mkdir()
    shared.chmod(mode)
    assert jit.cache_folder.__wrapped__() is None


def test_a_cache_behind_a_link_is_not_used(shared: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    shared.symlink_to(tmp_path / "elsewhere")
    assert jit.cache_folder.__wrapped__() is None


def test_a_cache_that_others_can_replace_is_not_used(shared: Path) -> None:
    shared.mkdir(mode=0o700)
    shared.parent.chmod(0o777)
    assert jit.cache_folder.__wrapped__() is None


def test_kernels_are_compiled_without_a_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(jit, "cache_folder", lambda: None)
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    assert jit.compiled(lambda x: x + 1.0)(1.0) == 2.0
    assert list(tmp_path.iterdir()) == []
