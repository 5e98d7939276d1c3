"""Sizes, and lists of overrides addressed by index."""

from functools import lru_cache
from typing import Any

from hypothesis import strategies as st

from robust_core import validate
from robust_core.mdp import MDP


def sizes_of(mdp_or_sizes: MDP | tuple[int, int]) -> tuple[int, int]:
    """(S, A) of a model, or the pair itself once it is checked."""
    if isinstance(mdp_or_sizes, MDP):
        return mdp_or_sizes.n_states, mdp_or_sizes.n_actions
    n_states, n_actions = mdp_or_sizes
    return validate.count("n_states", n_states, least=1), validate.count("n_actions", n_actions, least=1)


def bounded_count(name: str, low: int, high: int) -> st.SearchStrategy[int]:
    """A whole number of things, at least one."""
    validate.count(f"min_{name}", low, least=1)
    validate.count(f"max_{name}", high, least=low)
    return st.integers(low, high)


def indices(size: int) -> st.SearchStrategy[int]:
    """An index into `size` things."""
    return st.integers(0, size - 1)


@lru_cache(maxsize=1024)
def overrides(ranges: tuple[int, ...], levels: tuple[Any, ...]) -> st.SearchStrategy[list[tuple[Any, ...]]]:
    """None, a few or dozens of tuples: one index per range, and one of the levels.

    Hypothesis makes a list five long on average; a list of lists gives both sparse and crowded problems, and
    shrinks as well as a flat one because only its flattening is seen. Cached, because a strategy costs more
    to build than to draw from.
    """
    one = st.tuples(*map(indices, ranges), st.sampled_from(levels))
    return st.lists(st.lists(one, max_size=4)).map(
        lambda groups: [each for group in groups for each in group]
    )
