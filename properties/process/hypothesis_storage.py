"""Where Hypothesis stores its files while the suite judges: in the temporary folder, not in the user's.

A folder that the user chose by Hypothesis' own variable is kept.
"""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

STORAGE = "HYPOTHESIS_STORAGE_DIRECTORY"
"""The variable that names the folder, for this process and for those that it starts."""


def move_storage() -> bool:
    """Let Hypothesis store its files there from now on; whether the user has not chosen another folder."""
    free = STORAGE not in os.environ
    if free:
        os.environ[STORAGE] = str(Path(tempfile.gettempdir()) / "robust-core-hypothesis")
        _ask_again()
    return free


def _ask_again() -> None:
    """Hypothesis asks the environment once: where it is loaded, let it ask again."""
    if "hypothesis" in sys.modules:
        from hypothesis.configuration import set_hypothesis_home_dir

        set_hypothesis_home_dir(None)


@contextmanager
def temporary_storage() -> Iterator[None]:
    """The same until the end of the context."""
    moved = move_storage()
    try:
        yield
    finally:
        if moved:
            del os.environ[STORAGE]
            _ask_again()
