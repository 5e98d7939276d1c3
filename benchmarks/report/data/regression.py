"""Today against the committed baseline."""

from collections.abc import Callable
from typing import Any


def collected(*, workers: int, show: Callable[[str], None]) -> dict[str, Any] | None:
    """The comparison with the committed baseline, None if there is none."""
    return None
