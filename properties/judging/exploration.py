"""The search for a violation of a claim: Hypothesis generates the cases and shrinks one that fails."""

import warnings

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st
from hypothesis.errors import Flaky

from properties.cases.case import Case
from properties.judging.search import Disowned, Judge, Search, flaky
from properties.judging.verdict import Verdict


class _Violation(Exception):
    """Raised inside the search to make Hypothesis shrink."""


def explore(
    cases: st.SearchStrategy[Case], judge: Judge, *, examples: int, master_seed: int, shrink: bool = True
) -> Verdict:
    """The verdict of an exact judge after at most `examples` cases; the same seed tries the same cases.

    Hypothesis shrinks the first case that fails; without `shrink` it is reported as it was found. A case that cannot
    be judged is no reason not to try the others; if none of them is a violation the verdict is an error.
    """
    search = Search(judge)

    def attempt(case: Case) -> None:
        finding = search.finding(case)
        if finding is not None:
            search.failures[:] = [(case, finding)]
            raise _Violation

    generate = (Phase.generate, Phase.target)
    configured = settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=(*generate, Phase.shrink) if shrink else generate,
        # A verdict must not depend on the speed of the machine. The other health checks are on.
        suppress_health_check=[HealthCheck.too_slow],
        report_multiple_bugs=False,
    )
    try:
        with warnings.catch_warnings():
            # Of a large case that fails; it is not printed.
            warnings.filterwarnings("ignore", message="Generating overly large repr")
            seeded(master_seed)(configured(given(cases)(attempt)))()
    except Disowned as end:
        return Verdict("error", str(end), search.tried)
    except _Violation:
        return search.verdict()
    except Flaky:
        search.failures[:] = [flaky(*search.failures[0])]
    return search.verdict()
