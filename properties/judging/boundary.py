"""The boundary between the suite and a variant: arguments are private copies, results become plain numbers.

A law compares a variant with models, sets, schedules and arrays. A variant that could reach those could change them, so
it gets copies, and changing a copy is a fault of its own. An array that is an argument is handed over as it is, because
its order in memory may matter; its content is compared afterwards, and put back.

What a variant returns may be of a class of its own whose comparisons lie. A judge sees arrays of numpy and numbers of
Python only.
"""

import contextlib
import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from robust_core.learners.schedules import StepSize
from robust_core.mdp import MDP
from robust_core.problem import Problem
from robust_core.sets import UncertaintySet
from robust_core.smoothing import Smoothing
from robust_core.text import one_line, shorten
from robust_core.trajectory import Recording, Transition

DEEPEST = 8
"""Levels of an object that are compared; a set of a user may hold itself."""
LONGEST_TYPE = 60
HUGE = 1e100
"""An answer beyond this can overflow in a judge that computes with floats."""
_PRIVATE = (MDP, Problem, UncertaintySet, StepSize, Smoothing, Recording)
_SCALARS = frozenset((float, int, bool, *np.sctypeDict.values()))
_REAL = "biuf"
_WITHOUT_PARTS = frozenset((float, int, bool, str, bytes, type(None)))
"""Types whose objects have no parts and cannot change."""


Answer: TypeAlias = tuple[Any, tuple[int, ...] | None]
"""What a variant returned, and the shape that it should have, None if that is not known."""


class NotNumbers(Exception):
    """A variant returned something that is not made of real numbers."""


def private_copy(value: Any) -> Any:
    """A copy of an object that shares nothing with it but random generators; its arrays are as writeable as they were.

    >>> from robust_core import Contamination
    >>> given = Contamination(0.5)
    >>> private_copy(given) == given, private_copy(given) is given
    (True, False)
    """
    if not isinstance(value, _PRIVATE):
        return value
    # A generator is shared: the law hands it over to be used.
    shared = {id(value.rng): value.rng} if isinstance(value, Problem) else {}
    try:
        mine = copy.deepcopy(value, shared)
    except Exception:
        return value  # a set of the user's that cannot be copied
    _protect(value, mine, DEEPEST)
    return mine


def _protect(value: Any, mine: Any, deep: int) -> None:
    """Make the arrays of a copy read-only where those of the original are."""
    if isinstance(value, np.ndarray):
        mine.setflags(write=value.flags.writeable)
    elif deep and not isinstance(value, type):
        copied = dict(_parts(mine))
        for name, part in _parts(value):
            if name in copied and type(part) not in _WITHOUT_PARTS:  # a copy need not have the caches of its original
                _protect(part, copied[name], deep - 1)


def _parts(value: Any) -> list[tuple[str, Any]]:
    """The parts of an object that are compared, with their names."""
    cls: Any = type(value)
    if hasattr(cls, "__dataclass_fields__"):
        return [(shown, getattr(value, name, None)) for shown, name in _field_names(cls)]
    if isinstance(value, dict | Mapping):
        return [(f"[{key!r:.40}]", part) for key, part in value.items()]
    if isinstance(value, list | tuple):
        return [(f"[{number}]", part) for number, part in enumerate(value)]
    # Caches may be among them in one of two objects: parts that both have are compared.
    return [(f".{name}", part) for name, part in getattr(value, "__dict__", {}).items()]


@cache
def _field_names(cls: Any) -> tuple[tuple[str, str], ...]:
    return tuple((f".{each.name}", each.name) for each in fields(cls))


def difference(given: Any, now: Any, name: str = "", deep: int = DEEPEST) -> str | None:
    """The name of the first part that is not as it was given; None if all are.

    >>> from robust_core import Contamination
    >>> given = Contamination(0.5)
    >>> changed = private_copy(given)
    >>> object.__setattr__(changed, "radius", 0.0)
    >>> difference(given, changed, "uncertainty_set")
    'uncertainty_set.radius'
    """
    if now is given or isinstance(given, np.random.Generator):
        return None
    if type(now) is not type(given):
        return name
    if isinstance(given, np.ndarray):
        return None if (given.shape, given.dtype, given.tobytes()) == (now.shape, now.dtype, now.tobytes()) else name
    if isinstance(given, float | int | str | bytes):
        return None if repr(given) == repr(now) else name
    if not deep:
        return None
    after = dict(_parts(now))
    for part, value in _parts(given):
        other = after.get(part, value)
        if other is not value and (found := difference(value, other, f"{name}{part}", deep - 1)) is not None:
            return found
    return None


class Loans:
    """The objects and arrays that a variant received in one case, to detect changes."""

    def __init__(self) -> None:
        self._objects: dict[int, tuple[Any, Any, str]] = {}
        self._arrays: dict[int, tuple[np.ndarray, np.ndarray, str]] = {}

    def lend(self, value: Any, name: str) -> Any:
        """The value as the variant gets it: an object as a private copy, always the same one."""
        if isinstance(value, np.ndarray):
            self._arrays.setdefault(id(value), (value, value.copy(order="K"), name))
        elif isinstance(value, _PRIVATE):
            if id(value) not in self._objects:
                self._objects[id(value)] = value, private_copy(value), name
            return self._objects[id(value)][1]
        return value

    def find_change(self) -> str | None:
        """The name of the first object that the variant changed, or None; changed arrays are restored."""
        found = None
        for value, mine, name in self._objects.values():
            found = found or difference(value, mine, name)
        for value, content, name in self._arrays.values():
            if difference(content, value, name) is not None:
                found = found or name
                _restore(value, content)
        return found


def _restore(value: np.ndarray, content: np.ndarray) -> None:
    """Give an array its content back, which the case that is reported has."""
    writeable = value.flags.writeable
    with contextlib.suppress(ValueError, TypeError):
        value.setflags(write=True)
        value[...] = content
        value.setflags(write=writeable)


def plain(result: Any) -> Any:
    """What a variant returned, as arrays of numpy and numbers of Python; `NotNumbers` if it is something else.

    An array stays a view of the same memory: that it changes later is for a law to find.

    >>> class Sly(float):
    ...     def __sub__(self, other): return 0.0
    >>> type(plain(Sly(2.0))).__name__, plain([1.0, 2.0])
    ('float', array([1., 2.]))
    >>> plain(iter([1.0]))
    Traceback (most recent call last):
    ...
    properties.judging.boundary.NotNumbers: returned list_iterator, not real numbers
    """
    if isinstance(result, tuple):
        return tuple(plain(part) for part in tuple.__iter__(result))
    if isinstance(result, np.ndarray):
        array = result if type(result) is np.ndarray else np.ndarray.view(result, np.ndarray)
    elif (number := plain_number(result)) is not None:
        return number
    else:
        try:
            array = np.asarray(result)
        except ValueError:  # rows of different lengths
            raise NotNumbers(f"returned {_type(result)} that is not an array") from None
        array = array if type(array) is np.ndarray else np.ndarray.view(array, np.ndarray)
    if array.dtype.kind in _REAL:
        return array
    items = [plain_number(item) for item in array.flat] if array.dtype.kind == "O" else [None]
    if any(item is None for item in items):
        odd = _type(result) if not isinstance(result, np.ndarray | list) else f"an array of {array.dtype}"
        raise NotNumbers(f"returned {odd}, not real numbers")
    return np.array(items, dtype=object).reshape(array.shape)


def plain_number(value: Any) -> Any:
    """The number without the methods of a class of the variant's; None if it is not a real number."""
    if type(value) in _SCALARS:
        return value if not isinstance(value, np.generic) or value.dtype.kind in _REAL else None
    if isinstance(value, float):
        return float.__pos__(value)
    return int.__pos__(value) if isinstance(value, int) else None


def plain_step(step: Any) -> Any:
    """A transition of a sampler, its numbers plain; what is not one is for a law to find."""
    if not isinstance(step, tuple | list):
        return step
    items = list(tuple.__iter__(step) if isinstance(step, tuple) else list.__iter__(step))
    if all(type(item) in _SCALARS for item in items):
        return step
    numbers = [plain_number(item) for item in items]
    return tuple(item if number is None else number for item, number in zip(items, numbers, strict=True))


def _type(value: object) -> str:
    return one_line(shorten(type(value).__name__, LONGEST_TYPE))


@dataclass(frozen=True)
class Steps:
    """The transitions that a sampler returned for a model of this size."""

    steps: list[Any]
    n_states: int
    n_actions: int

    def oddity(self) -> str | None:
        """What is wrong with the first that is not a transition of the model."""
        sizes = {0: self.n_states, 1: self.n_actions, 3: self.n_states, 4: self.n_actions}
        for number, step in enumerate(self.steps):
            numbers = [plain_number(item) for item in step] if isinstance(step, tuple | list) else []
            if len(numbers) != len(Transition._fields) or None in numbers:
                return f"returned a transition that is not {len(Transition._fields)} numbers, number {number}"
            if not all(numbers[place] in range(size) for place, size in sizes.items()):
                return f"returned a transition with a state or action that is not there, number {number}"
        return None


def oddity(answers: Iterable[Answer]) -> str | None:
    """The first answer of a variant at which a judge may fail: of a wrong form, not finite, or huge."""
    for answer, shape in answers:
        odd = answer.oddity() if isinstance(answer, Steps) else _odd_numbers(answer, shape)
        if odd is not None:
            return odd
    return None


def _odd_numbers(answer: Any, shape: tuple[int, ...] | None) -> str | None:
    for part in answer if isinstance(answer, tuple) else (answer,):
        array = np.asarray(part)
        if array.dtype.kind not in _REAL:
            return f"returned {_type(answer)}, not real numbers"
        if shape is not None and array.shape != shape:
            return f"returned an array of shape {array.shape}, not {shape}"
        if not np.isfinite(array).all():
            return "returned numbers that are not finite"
        if array.size and np.abs(array.astype(np.float64)).max() > HUGE:
            return f"returned numbers beyond {HUGE:g}"
    return None
