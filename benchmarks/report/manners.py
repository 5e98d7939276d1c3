"""What a report leaves behind while it is made: no notes in the user's folder."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

STORAGE = "HYPOTHESIS_STORAGE_DIRECTORY"
"""The variable by which Hypothesis, in this process and in workers, learns where its notes go."""


@contextmanager
def notes_elsewhere() -> Iterator[None]:
    """Hypothesis keeps notes on the interpreter in the working folder, unless somebody chose another place."""
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
