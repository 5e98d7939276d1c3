"""Some cases of a law or a claim, always the same."""

from typing import TypeVar

from hypothesis import Phase, given, seed, settings
from hypothesis import strategies as st

T = TypeVar("T")


def drawn(cases: st.SearchStrategy[T], number: int) -> list[T]:
    """At most so many cases; the first is the simplest. The health checks of Hypothesis are on."""
    found: list[T] = []

    @seed(1)
    @settings(max_examples=number, database=None, deadline=None, phases=(Phase.generate,))
    @given(cases)
    def draw(case: T) -> None:
        found.append(case)

    draw()
    return found
