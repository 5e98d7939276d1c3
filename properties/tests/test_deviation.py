"""Numbers in messages: few digits, but never so few that what is shown contradicts the verdict."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from properties.judging.deviation import Entry, SideBySide, in_digits, in_few_digits
from properties.judging.verdict import Finding

FINITE = st.floats(-1e6, 1e6)
GAPS = st.floats(1e-14, 1e3)


@given(FINITE, GAPS, st.floats(0.0, 0.999), st.sampled_from((1.0, -1.0)))
def test_shortened_numbers_differ_by_more_than_is_allowed_and_by_nearly_as_much(
    got: float, gap: float, share: float, sign: float
) -> None:
    wanted, allowed = got + sign * gap, share * gap
    assume(abs(wanted - got) > allowed)
    left, right = map(float, in_few_digits(got, wanted, allowed))
    assert abs(left - right) > float(in_digits(allowed, got, wanted))
    assert abs((left - right) - (got - wanted)) <= 0.02 * abs(got - wanted)


@pytest.mark.parametrize(
    ("finding", "message"),
    [
        (Finding("x", 0.9009375000000001, "at most 0.09031250000000247"), "x: got 0.900938, wanted at most 0.0903125"),
        (Finding("x", 1.0000000000001, "at most 1.0"), "x: got 1.0000000000001, wanted at most 1.0"),
        (Finding("x", 2, "at most 1"), "x: got 2, wanted at most 1"),
        (Finding("x", float("nan"), 1.0), "x: got nan, wanted 1.0"),
        (Finding("x", 1 / 3, "at most a third"), "x: got 0.3333333333333333, wanted at most a third"),
        (Finding("x", 91.975206899944, 99.99999999999991, 1e-4), "x: got 91.9752, wanted 100 within 0.0001"),
    ],
)
def test_a_message_has_few_digits_where_they_are_enough(finding: Finding, message: str) -> None:
    assert str(finding) == message


def test_entries_side_by_side_are_aligned_and_show_which_is_wrong() -> None:
    near, wrong = Entry("(s=0)", 0.1 + 0.2, 0.3, False), Entry("(s=1)", 1 / 3, 1 / 3 + 1e-9, True)
    table = str(SideBySide(("variant", "oracle"), (near, wrong), size=2, wrong=1))
    assert table.splitlines()[1:] == [
        "(s=0)  0.3             0.3",
        "(s=1)  0.333333333333  0.333333334333  <-",
    ]
