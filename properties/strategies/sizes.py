"""Sizes, and lists of overrides addressed by index."""

from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

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


class Things(NamedTuple):
    """`number` states or actions to choose from; `label` tells the two apart."""

    number: int
    label: int


def states(number: int) -> Things:
    """An index of a state."""
    return Things(number, 1 << 10)


def actions(number: int) -> Things:
    """An index of an action."""
    return Things(number, 1 << 11)


@lru_cache(maxsize=1024)
def overrides(
    places: tuple[Things, ...], levels: tuple[Any, ...], *, crowded: bool = False
) -> st.SearchStrategy[list[tuple[Any, ...]]]:
    """A list of tuples: an index for every place, and one of the levels; of two for one place the first holds.

    What makes it shrink: Hypothesis lowers equal numbers together, and labels make the index of a state
    unlike any other number, so a state is renamed everywhere at once. It lowers one number and raises a
    later one: with actions in front, a second action gives way to a second state. It sorts: what named a
    state or action that is gone falls back to index 0, late in the list, where it changes nothing.

    Five tuples on average, as Hypothesis has it; `crowded` doubles that by a list of lists. Cached, because
    a strategy costs more to build than to draw from.
    """
    one = st.tuples(*(st.integers(low, low + n - 1) for n, low in places), st.sampled_from(levels))

    def unlabelled(drawn: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        return [(*(i - place.label for i, place in zip(each, places, strict=False)), each[-1]) for each in drawn]

    if not crowded:
        return st.lists(one).map(unlabelled)
    return st.lists(st.lists(one, max_size=4)).map(lambda groups: unlabelled([*chain(*groups)]))
