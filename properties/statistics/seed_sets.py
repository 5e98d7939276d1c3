"""Seeds: every replicate has a key of its own, made of what it is and never of when or where it is computed."""

import datetime

from robust_core.streams import Part, key

PINNED = "pinned"
"""The seed set of runs that must be repeatable (pull requests): green stays green until the code changes."""


def fresh(today: datetime.date | None = None) -> str:
    """The seed set of a run that begins today: new samples every day.

    A run asks once, at its start, and keeps the answer (`benchmarks.batch.history`): it may end, or go on, on another
    day.

    >>> fresh(datetime.date(2030, 1, 2))
    'night 2030-01-02'
    """
    return f"night {(today or datetime.datetime.now(datetime.UTC).date()).isoformat()}"


def of_seed(seed: int) -> str:
    """The seed set of a master seed; 0 is the pinned one.

    >>> of_seed(0), of_seed(7)
    ('pinned', 'seed 7')
    """
    return PINNED if seed == 0 else f"seed {seed}"


def replicate(seed_set: str, stream: str, purpose: str, index: int, *content: Part) -> bytes:
    """The key of one replicate; the stream says which law and which problem, and never which variant.

    >>> replicate("pinned", "a", "walk", 0) == replicate("pinned", "a", "walk", 1)
    False
    """
    return key("statistics", seed_set, stream, purpose, index, *content)
