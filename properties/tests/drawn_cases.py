"""Some cases of a law or a claim, always the same."""

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from properties.laws.law import Case


def drawn(cases: st.SearchStrategy[Case], number: int) -> list[Case]:
    """At most so many cases; the first is the trivial one."""
    found: list[Case] = []

    @seed(1)
    @settings(
        max_examples=number,
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(cases)
    def draw(case: Case) -> None:
        found.append(case)

    draw()
    return found
