"""How kernels are compiled: without the interpreter's lock, cached on disk, and by default in program order.

Numba's cache looks at the file of the kernel itself, not at the files whose functions were compiled into it, so
after a change elsewhere it would go on serving old code. Here the cache lives in a folder named for the content of
all kernel sources: any change of any of them is a new folder.
"""

import hashlib
import os
import stat
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

from robust_core.validate import Floats

F = TypeVar("F", bound=Callable[..., object])


@cache
def cache_folder() -> str | None:
    """Where compiled kernels of exactly these sources are kept; None: no folder is safe, so nothing is kept."""
    digest = hashlib.blake2b(digest_size=8)
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.name.encode() + source.read_bytes())
    name = f"robust-core-{digest.hexdigest()}"
    own = Path(__file__).parent / "__pycache__"
    chosen: str = getattr(numba.config, "CACHE_DIR", "")
    wanted = Path(chosen) if chosen else own
    for base in (lambda: wanted, lambda: Path.home() / ".cache", lambda: Path(tempfile.gettempdir())):
        try:
            folder = base() / name
            folder.parent.mkdir(parents=True, exist_ok=True)
            folder.mkdir(mode=0o700, exist_ok=True)
            if _is_private(folder) and os.access(folder, os.W_OK):
                return str(folder)
        except (OSError, RuntimeError):  # not writable, or a user without a home
            continue
    return None


def _is_private(folder: Path) -> bool:
    """Whether no other user can have put a file there or can put another folder in its place.

    Numba's index is a pickle: to load it is to run what its author wrote.
    """
    status, parent = folder.lstat(), folder.parent.stat()
    mine = stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o077
    replaceable = bool(parent.st_mode & stat.S_IWOTH) and not parent.st_mode & stat.S_ISVTX
    return mine and not replaceable


def _cached(function: F, **options: Any) -> F:
    settings: Any = numba.config
    before, folder = settings.CACHE_DIR, cache_folder()
    settings.CACHE_DIR = folder or before  # read by numba while it decorates, and only then
    try:
        return cast(F, numba.njit(function, nogil=True, cache=folder is not None, error_model="numpy", **options))
    finally:
        settings.CACHE_DIR = before


def compiled(function: F) -> F:
    """`function` compiled at its first call; division by zero gives inf as in numpy."""
    # Said explicitly: numba hands the flags of a caller to a callee that has none of its own.
    return _cached(function, fastmath=False)


def inlined(function: F) -> F:
    """A part of kernels, copied into each of them, so that constants given to it vanish from the loop.

    Where branches of it part for good before the last use of an array, numba counts references at every step.
    """
    return _cached(function, fastmath=False, forceinline=True)


def contracted(function: F) -> F:
    """Compiled with leave to fuse a product and a sum into one rounding, and no other."""
    return _cached(function, fastmath={"contract"})


def reassociated(function: F) -> F:
    """Compiled with leave to reorder sums and fuse products, for vector lanes; nan and inf keep their meaning."""
    return _cached(function, fastmath={"reassoc", "contract", "nsz"}, forceinline=True)


@reassociated
def row_dot(matrix: Floats, row: Any, x: Floats) -> float:
    """matrix[row] · x without making the row an array of its own, which would cost more than a short product."""
    total = 0.0
    for i in range(x.size):
        total += matrix[row, i] * x[i]
    return total
