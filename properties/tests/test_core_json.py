"""Typed records: what `to_data` writes is read back the same, and anything else is refused with its place."""

import math
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robust_core import json
from robust_core.json import Extended, Rule

Positive = Annotated[int, Rule("a positive integer", lambda value: value > 0)]


@dataclass(frozen=True)
class Inner:
    word: Literal["a", "b"]
    value: float | None


@dataclass(frozen=True)
class Outer:
    name: str
    count: Positive
    level: Extended
    flag: bool
    inner: tuple[Inner, ...]
    pair: tuple[int, str]
    rest: dict[str, list[float]]
    free: Any = None


inners = st.builds(Inner, st.sampled_from(["a", "b"]), st.none() | st.floats(allow_nan=False, allow_infinity=False))
outers = st.builds(
    Outer,
    st.text(),
    st.integers(min_value=1),
    st.floats(allow_nan=False),
    st.booleans(),
    st.lists(inners).map(tuple),
    st.tuples(st.integers(), st.text()),
    st.dictionaries(st.text(), st.lists(st.floats(allow_nan=False, allow_infinity=False))),
    st.none() | st.booleans() | st.lists(st.integers()),
)


@given(outers)
def test_a_record_is_read_back_the_same(record: Outer) -> None:
    assert json.from_data(Outer, json.loads(json.dumps(record))) == record


def test_a_number_that_is_not_one_is_read_back() -> None:
    assert math.isnan(json.from_data(Outer, json.to_data(EXAMPLE) | {"level": "NaN"}).level)


EXAMPLE = Outer("x", 1, 0.5, True, (Inner("a", None),), (1, "y"), {"z": [1.0]})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": 1}, "line 1, name must be text, got 1"),
        ({"count": 0}, "line 1, count must be a positive integer, got 0"),
        ({"count": True}, "line 1, count must be an integer, got True"),
        ({"count": 1.0}, "line 1, count must be an integer, got 1.0"),
        ({"level": "huge"}, "line 1, level must be a finite number, got 'huge'"),
        ({"flag": 1}, "line 1, flag must be true or false, got 1"),
        ({"inner": [{"word": "c", "value": None}]}, r"line 1, inner\[0\], word must be one of 'a', 'b', got 'c'"),
        ({"inner": [{"word": "a"}]}, r"line 1, inner\[0\] lacks the field 'value'"),
        ({"inner": [{"word": "a", "value": math.inf}]}, r"value must be a finite number or null, got inf"),
        ({"inner": {}}, "line 1, inner must be a list, got {}"),
        ({"pair": [1]}, r"line 1, pair must be a list of 2 values, got \[1\]"),
        ({"rest": {"z": [None]}}, r"line 1, rest, z\[0\] must be a finite number, got None"),
        ({"other": 1}, "line 1 has an unknown field 'other'"),
        ({"name": "x" * 1000, "count": "y" * 1000}, "count must be an integer, got 'y{79}…"),
    ],
)
def test_anything_else_is_refused_with_its_place(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        json.from_data(Outer, json.to_data(EXAMPLE) | change, "line 1")


@pytest.mark.parametrize("value", [b"bytes", {1: 2}, {1, 2}, object()])
def test_values_without_a_form_in_json_are_refused(value: Any) -> None:
    with pytest.raises(TypeError, match=r"a record holds|keys of an object"):
        json.dumps(value)


@dataclass(frozen=True)
class Interval:
    """A record with a rule of its own."""

    low: int | float | None
    high: float

    def __post_init__(self) -> None:
        if self.low is not None and self.low > self.high:
            raise ValueError(f"low must be at most high, {self.high}, got {self.low}")


@dataclass(frozen=True)
class Intervals:
    members: tuple[Interval, ...]


def test_a_record_that_contradicts_itself_is_refused_with_its_place() -> None:
    data = json.to_data(Intervals((Interval(None, 1.0), Interval(0, 1.0))))
    assert json.from_data(Intervals, data) == Intervals((Interval(None, 1.0), Interval(0, 1.0)))
    data["members"][1]["low"] = 2
    with pytest.raises(ValueError, match=r"line 1, members\[1\]: low must be at most high, 1.0, got 2"):
        json.from_data(Intervals, data, "line 1")
    with pytest.raises(ValueError, match=r"^low must be at most high"):
        json.from_data(Interval, data["members"][1])


def test_a_refusal_names_every_type_that_is_allowed() -> None:
    with pytest.raises(ValueError, match="low must be an integer or a finite number or null, got 'x'"):
        json.from_data(Interval, {"low": "x", "high": 1.0})


def test_keys_are_sorted_unless_the_order_of_the_fields_is_wanted() -> None:
    assert json.dumps(Interval(None, 1.0)) == '{"high": 1.0, "low": null}'
    assert json.dumps(Interval(None, 1.0), sort_keys=False) == '{"low": null, "high": 1.0}'
