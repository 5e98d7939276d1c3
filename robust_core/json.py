"""Strict JSON: files of limited size, no repeated keys, no NaN; dataclasses that are read field by field.

A record is a frozen dataclass. `to_data` turns it into plain data, `from_data` reads it back and refuses whatever its
annotations do not allow, with one line that names the place, the rule and the value. Nothing in a file is executed.

Annotations may be str, int, float (finite), bool, None, Any (any JSON value), Literal, unions, list, tuple, dict with
text as keys, other dataclasses, and `Annotated[type, Rule(...)]`. `Extended` is a float that may be infinite or NaN;
in JSON such values are the words "Infinity", "-Infinity" and "NaN".
"""

import contextlib
import dataclasses
import functools
import json
import math
import os
import stat
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from robust_core.text import in_words, shorten

# Parsed JSON takes up to twenty times the bytes of its text, so this limits memory to about a hundred megabytes.
LARGEST_FILE = 1 << 22
LONGEST_QUOTE = 80
NON_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}

T = TypeVar("T")
# As they were before a variant was loaded, which may replace them.
_loads, _dumps = json.loads, json.dumps


@dataclasses.dataclass(frozen=True)
class Rule:
    """A condition on a value, with the words that a message uses for it."""

    words: str
    holds: Callable[[Any], bool]


_EXTENDED = Rule("a number, or one of the words NaN, Infinity, -Infinity", lambda value: True)
Extended = Annotated[float, _EXTENDED]


@contextlib.contextmanager
def blame_on(place: object) -> Iterator[None]:
    """Turn whatever a malformed value raises into a `ValueError` that names the place, in reasonable length."""
    try:
        yield
    except FileNotFoundError:
        raise
    except RecursionError:
        raise ValueError(f"{place}: nested too deeply") from None
    except (ValueError, TypeError, ArithmeticError, OSError) as error:
        reason = (in_words(error) if isinstance(error, OSError) else str(error)) or type(error).__name__
        raise ValueError(f"{place}: {shorten(reason)}") from None


def open_regular(path: Path) -> BinaryIO:
    """A regular file, open to be read; a `ValueError` if it is another thing, which might have no end."""
    # Without O_NONBLOCK, opening a named pipe would wait for a writer.
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0))
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise ValueError("must be a regular file")
    return os.fdopen(handle, "rb")


def text_of(path: Path, *, largest: int = LARGEST_FILE) -> str:
    """The text of a regular file of at most `largest` bytes."""
    with blame_on(path):
        with open_regular(path) as file:
            content = file.read(largest + 1)
        if len(content) > largest:
            raise ValueError(f"must have at most {largest} bytes")
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(f"must be text in UTF-8: {error}") from None


def load(path: Path, *, infinite: bool = False, largest: int = LARGEST_FILE) -> Any:
    """The JSON value in a file; no key twice, no NaN, and no infinity unless `infinite`."""
    text = text_of(path, largest=largest)
    with blame_on(path):
        return loads(text, infinite=infinite)


def loads(text: str, *, infinite: bool = False) -> Any:
    """The value of a JSON text, as strict as `load`.

    >>> loads('{"a": [1, 2.5]}')
    {'a': [1, 2.5]}
    >>> loads('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ValueError: not JSON: the key 'a' twice in one object
    """

    def constant(word: str) -> float:
        if word == "NaN" or not infinite:
            raise ValueError(f"{word} is not allowed: numbers must be finite")
        return NON_FINITE[word]

    try:
        return _loads(text, object_pairs_hook=_object, parse_constant=constant)
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else error
        raise ValueError(f"not JSON: {reason}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for name, value in pairs:
        if name in result:
            raise ValueError(f"the key {shorten(name, LONGEST_QUOTE)!r} twice in one object")
        result[name] = value
    return result


def dumps(value: Any, *, indent: int | None = None, sort_keys: bool = True) -> str:
    """A record or a JSON value as strict JSON, on one line unless there is an indent.

    >>> dumps({"b": 1, "a": math.inf})
    '{"a": "Infinity", "b": 1}'
    """
    return _dumps(to_data(value), indent=indent, sort_keys=sort_keys, ensure_ascii=False, allow_nan=False)


def to_data(value: Any) -> Any:
    """The plain data of a record: dicts, lists, text, numbers, true, false and null."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_data(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {_key(name): to_data(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [to_data(member) for member in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    if value is None or isinstance(value, str | int | float):
        return value
    raise TypeError(f"a record holds plain data and other records, got {type(value).__name__}")


def _key(name: object) -> str:
    if not isinstance(name, str):
        raise TypeError(f"the keys of an object must be text, got {name!r:.80}")
    return name


def from_data(kind: type[T], data: Any, place: str = "") -> T:
    """The record of type `kind` with this plain data; a `ValueError` names the place and the rule that is broken.

    >>> @dataclasses.dataclass(frozen=True)
    ... class Point:
    ...     name: str
    ...     x: float
    >>> from_data(Point, {"name": "a", "x": 0.5})
    Point(name='a', x=0.5)
    >>> from_data(Point, {"name": "a", "x": "half"}, "line 3")
    Traceback (most recent call last):
    ValueError: line 3, x must be a finite number, got 'half'
    """
    result: T = _read(kind, data, place)
    return result


def _refused(place: str, wanted: str, value: Any) -> ValueError:
    return ValueError(f"{place or 'the value'} must be {wanted}, got {shorten(repr(value), LONGEST_QUOTE)}")


@functools.cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


def _read(kind: Any, data: Any, place: str) -> Any:
    if dataclasses.is_dataclass(kind):
        return _record(kind, data, place)
    origin = get_origin(kind)
    if origin is None:
        return _plain(kind, data, place)
    if origin is Annotated:
        return _annotated(kind, data, place)
    return _READERS[origin](get_args(kind), data, place)


def _record(kind: Any, data: Any, place: str) -> Any:
    if not isinstance(data, dict):
        raise _refused(place, "an object", data)
    hints, fields = _hints(kind), {field.name: field for field in dataclasses.fields(kind) if field.init}
    for name in data:
        if name not in fields:
            raise ValueError(f"{place or 'the object'} has an unknown field {shorten(repr(name), LONGEST_QUOTE)}")
    for name, field in fields.items():
        required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        if required and name not in data:
            raise ValueError(f"{place or 'the object'} lacks the field {name!r}")
    values = {name: _read(hints[name], value, _within(place, name)) for name, value in data.items()}
    try:
        return kind(**values)
    except ValueError as error:  # a rule of the record itself
        raise ValueError(f"{place}: {error}" if place else str(error)) from None


def _within(place: str, name: str) -> str:
    return f"{place}, {name}" if place else name


def _annotated(kind: Any, data: Any, place: str) -> Any:
    base, *rules = get_args(kind)
    if _EXTENDED in rules and isinstance(data, str) and data in NON_FINITE:
        return NON_FINITE[data]
    value = _read(base, data, place)
    for rule in rules:
        if isinstance(rule, Rule) and not rule.holds(value):
            raise _refused(place, rule.words, data)
    return value


_WORDS = {
    str: "text", int: "an integer", float: "a finite number", bool: "true or false", types.NoneType: "null",
}  # fmt: skip


def _plain(kind: Any, data: Any, place: str) -> Any:
    if kind is Any:
        return data
    if kind is None or kind is types.NoneType:
        if data is not None:
            raise _refused(place, "null", data)
        return None
    if kind is float and isinstance(data, int) and not isinstance(data, bool):
        with contextlib.suppress(OverflowError):
            return float(data)
    fits = isinstance(data, kind) and (kind is bool or not isinstance(data, bool))
    if not fits or (kind is float and not math.isfinite(data)):
        raise _refused(place, _WORDS[kind], data)
    return data


def _literal(allowed: tuple[Any, ...], data: Any, place: str) -> Any:
    if not any(data == word and type(data) is type(word) for word in allowed):
        raise _refused(place, f"one of {', '.join(map(repr, allowed))}", data)
    return data


def _union(members: tuple[Any, ...], data: Any, place: str) -> Any:
    if data is None and types.NoneType in members:
        return None
    reasons = []
    for member in members:
        if member is not types.NoneType:
            try:
                return _read(member, data, place)
            except ValueError as error:
                reasons.append(error)
    if all(member in _WORDS for member in members):
        raise _refused(place, " or ".join(_WORDS[member] for member in members), data)
    raise reasons[0]


def _list(arguments: tuple[Any, ...], data: Any, place: str) -> list[Any]:
    if not isinstance(data, list):
        raise _refused(place, "a list", data)
    return [_read(arguments[0], member, f"{place}[{i}]") for i, member in enumerate(data)]


def _tuple(arguments: tuple[Any, ...], data: Any, place: str) -> tuple[Any, ...]:
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        return tuple(_list(arguments, data, place))
    if not isinstance(data, list) or len(data) != len(arguments):
        raise _refused(place, f"a list of {len(arguments)} values", data)
    return tuple(
        _read(kind, member, f"{place}[{i}]") for i, (kind, member) in enumerate(zip(arguments, data, strict=True))
    )


def _mapping(arguments: tuple[Any, ...], data: Any, place: str) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise _refused(place, "an object", data)
    return {name: _read(arguments[1], member, _within(place, name)) for name, member in data.items()}


_READERS: dict[Any, Callable[[tuple[Any, ...], Any, str], Any]] = {
    Literal: _literal, Union: _union, types.UnionType: _union, list: _list, tuple: _tuple, dict: _mapping,
}  # fmt: skip
