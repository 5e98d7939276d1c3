"""Where Hypothesis stores its files while a report is collected: not in the user's folder."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

STORAGE = "HYPOTHESIS_STORAGE_DIRECTORY"
"""The variable that names the folder, for this process and for workers."""


@contextmanager
def temporary_storage() -> Iterator[None]:
    """Let Hypothesis store its files in the temporary folder, unless the user chose another one."""
    from hypothesis.configuration import set_hypothesis_home_dir

    if STORAGE in os.environ:
        yield
        return
    os.environ[STORAGE] = str(Path(tempfile.gettempdir()) / "robust-core-hypothesis")
    set_hypothesis_home_dir(None)  # it asks the environment once
    try:
        yield
    finally:
        del os.environ[STORAGE]
        set_hypothesis_home_dir(None)
