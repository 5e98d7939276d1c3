"""Sizes, and lists of overrides addressed by index."""

from functools import lru_cache
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
def overrides(places: tuple[Things, ...], levels: tuple[Any, ...]) -> st.SearchStrategy[list[tuple[Any, ...]]]:
    """None, a few or dozens of tuples: an index for every place, and one of the levels.

    Three things make the result shrink. A list of lists (Hypothesis makes one list five long on average)
    gives both sparse and crowded problems but is seen only flattened. Hypothesis lowers equal numbers
    together: labels make an index of a state unlike any other number, so a state is renamed everywhere at
    once. It also lowers one number and raises a later one: with actions in front, a second action gives way
    to a second state. Cached, because a strategy costs more to build than to draw from.
    """
    indices = [st.integers(label, label + number - 1) for number, label in places]
    groups = st.lists(st.lists(st.tuples(*indices, st.sampled_from(levels)), max_size=4))

    def flat(drawn: list[list[tuple[Any, ...]]]) -> list[tuple[Any, ...]]:
        return [
            (*(i - place.label for i, place in zip(one, places, strict=False)), one[-1])
            for group in drawn
            for one in group
        ]

    return groups.map(flat)
