"""Checks of arguments: each names the argument, the value it got and the rule it broke."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

EPS = float(np.finfo(np.float64).eps)


def row_sum_tolerance(length: Ints | np.integer) -> Floats:
    """How far the float sum of a probability row with `length` non-zero entries may be from 1.

    Normalising a row in floats perturbs its exact sum by at most `length` units of eps/2, and summing it
    again adds as much to first order; the last eps covers the second-order terms.
    """
    return np.asarray((length + 1) * EPS, dtype=np.float64)


def instance(name: str, value: object, wanted: Any) -> None:
    """Raise unless the value is of the wanted type (or one of a union of types)."""
    if not isinstance(value, wanted):
        raise TypeError(f"{name} must be of type {getattr(wanted, '__name__', wanted)}, got {value!r:.80}")


def boolean(name: str, value: object) -> bool:
    """True or False; text and numbers are neither."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False, got {value!r:.80}")
    return bool(value)


def real(name: str, value: object) -> float:
    """A finite float, or an error that names it."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError(f"{name} must be a number, got {value!r}")
    try:
        number = float(value)
    except OverflowError:  # a whole number beyond the range of floats
        number = math.inf if value > 0 else -math.inf
    if not math.isfinite(number):
        raise ValueError(f"{name} must be finite, got {number}")
    return number


def _ruled(name: str, value: object, keeps: Callable[[float], bool], rule: str) -> float:
    number = real(name, value)
    if not keeps(number):
        raise ValueError(f"{name} must {rule}, got {number}")
    return number


def unit_interval(name: str, value: object) -> float:
    """A float in [0, 1]."""
    return _ruled(name, value, lambda number: 0.0 <= number <= 1.0, "lie in [0, 1]")


def positive(name: str, value: object) -> float:
    """A finite float above 0."""
    return _ruled(name, value, lambda number: number > 0.0, "be positive")


def non_negative(name: str, value: object) -> float:
    """A finite float of at least 0."""
    return _ruled(name, value, lambda number: number >= 0.0, "not be negative")


def discount(name: str, value: object) -> float:
    """A float in [0, 1)."""
    return _ruled(name, value, lambda number: 0.0 <= number < 1.0, "lie in [0, 1)")


def count(name: str, value: object, *, least: int = 0) -> int:
    """A whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} must be a whole number, got {value!r}")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, got {int(value)}")
    return int(value)


def index(name: str, value: object, size: int) -> int:
    """A whole number in 0 … size-1."""
    number = count(name, value)
    if number >= size:
        raise ValueError(f"{name} must lie in 0 … {size - 1}, got {number}")
    return number


def refuse_masked(name: str, values: object) -> None:
    """Raise if entries are masked: a plain array would take what is below the mask for numbers."""
    if np.ma.is_masked(values):
        raise ValueError(f"{name} must not have masked entries, got {values!r:.80}")


def whole_numbers(name: str, values: object) -> Ints:
    """A fresh vector of whole numbers, at least one."""
    refuse_masked(name, values)
    rule = f"{name} must be a list of whole numbers that is not empty"
    try:
        result = np.array(values)
    except ValueError as error:
        raise TypeError(f"{rule}: {error}") from None
    if result.ndim != 1 or result.size == 0 or not np.issubdtype(result.dtype, np.integer):
        raise TypeError(f"{rule}, got {values!r:.80}")
    return result.astype(np.int64)


def _floats(name: str, values: ArrayLike) -> Floats:
    """A fresh float64 array; text is not a number, even where it spells one."""
    refuse_masked(name, values)
    try:
        given = np.asarray(values)
        if given.dtype.kind not in "biufO" or (given.dtype.kind == "O" and any(isinstance(x, str) for x in given.flat)):
            raise TypeError("it has entries that are no numbers")
        return given.astype(np.float64, order="C")
    except OverflowError:
        raise ValueError(f"{name} must be finite, got a whole number beyond the range of floats") from None
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be an array of numbers: {error}") from None


def array(name: str, values: ArrayLike, *, shape: Sequence[int | None]) -> Floats:
    """A finite float64 array of the given shape (None: any length of at least 1); always a fresh copy."""
    result = _floats(name, values)
    fits = result.ndim == len(shape) and all(n is None or n == m for n, m in zip(shape, result.shape, strict=True))
    if not fits:
        wanted = "(" + ", ".join("any" if n is None else str(n) for n in shape) + ("," if len(shape) == 1 else "") + ")"
        raise ValueError(f"{name} must have shape {wanted}, got {result.shape}")
    if result.size == 0:
        raise ValueError(f"{name} must not be empty, got shape {result.shape}")
    require_finite(name, result)
    return result


def require_finite(name: str, values: Floats) -> None:
    """Raise unless every entry is finite, naming the first that is not; a large array gets no mask beside it."""
    if not (math.isfinite(values.min()) and math.isfinite(values.max())):
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(values))[0])
        raise ValueError(f"{name}{list(where)} must be finite, got {values[where]}")


def distribution_rows(name: str, rows: Floats) -> None:
    """Raise unless every last-axis row of a finite array is a probability distribution."""
    if (rows < 0.0).any():
        where = tuple(int(i) for i in np.argwhere(rows < 0.0)[0])
        raise ValueError(f"{name}{list(where)} must not be negative, got {rows[where]}")
    sums = rows.sum(axis=-1)
    wrong = np.abs(sums - 1.0) > row_sum_tolerance(np.asarray(np.count_nonzero(rows, axis=-1)))
    if wrong.any():
        where = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise ValueError(f"{name} row {where} sums to {float(sums[where])!r}, not 1")


def policy(values: ArrayLike, n_states: int, n_actions: int) -> Floats:
    """A stationary policy pi[s, a]: every row a distribution over actions."""
    result = array("policy", values, shape=(n_states, n_actions))
    distribution_rows("policy", result)
    return result


def names(name: str, values: Sequence[str] | None, size: int) -> tuple[str, ...] | None:
    """`size` distinct strings, or None."""
    if values is None:
        return None
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise TypeError(f"{name} must be a list of {size} strings, got {values!r}")
    result = tuple(values)
    if len(result) != size or not all(isinstance(text, str) for text in result):
        raise ValueError(f"{name} must be {size} strings, got {values!r}")
    if len(set(result)) != size:
        raise ValueError(f"{name} must be distinct, got {values!r}")
    return result
