"""The smallest example of a strategy that meets a condition."""

import random
from collections.abc import Callable
from typing import TypeVar

from hypothesis import Phase, find, settings
from hypothesis import strategies as st

Example = TypeVar("Example")
MAX_EXAMPLES = 4000


def minimal(
    strategy: st.SearchStrategy[Example],
    condition: Callable[[Example], object],
    *,
    seed: int = 0,
) -> Example:
    """What a search with this seed finds and shrinks to; `NoSuchExample` if it finds nothing.

    Unlike `hypothesis.find` it depends on its arguments alone: no database of earlier searches, and the seed
    is said.

    >>> minimal(st.lists(st.integers()), lambda xs: sum(xs) > 3)
    [4]
    """
    search = settings(
        max_examples=MAX_EXAMPLES,
        database=None,
        derandomize=False,
        deadline=None,
        phases=[Phase.generate, Phase.shrink],
    )
    return find(strategy, lambda example: bool(condition(example)), settings=search, random=random.Random(seed))
