"""Where compiled kernels are kept, when folders are missing."""

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
    chosen = Path(jit.cache_folder.__wrapped__())
    assert chosen.parent == tmp_path / ("folder" if wanted == "folder" else "temporary")
    assert chosen.is_dir()
