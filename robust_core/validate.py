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


def axes(name: str, value: object) -> int:
    """The number of axes of numbers or lists of them."""
    try:
        return np.ndim(value)  # type: ignore[arg-type]
    except ValueError as error:  # lists of different lengths
        raise TypeError(f"{name} must be an array of numbers: {error}") from None


def radius(name: str, value: ArrayLike, *, most: float = math.inf, reached: bool = True) -> Any:
    """A finite float from 0 to `most`, which may be `reached`, or an array (S, A) of them, one for each pair."""
    rule = "not be negative" if most == math.inf else f"lie in [0, {most:g}{']' if reached else ')'}"
    if axes(name, value) == 0:
        return _ruled(name, value, lambda x: 0.0 <= x < most or (x == most and reached), rule)
    if np.ndim(value) != 2:
        raise ValueError(
            f"{name} must be one number, or have shape (S, A) with one for each pair of state and action, got shape "
            f"{np.shape(value)}"
        )
    refuse_truths(name, value)
    result = array(name, value, shape=("S", "A"))
    wrong = ~((result >= 0.0) & ((result < most) | ((result == most) & reached)))
    if wrong.any():
        where = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise ValueError(f"{name}{list(where)} must {rule}, got {result[where]}")
    return read_only(result)


def refuse_truths(name: str, value: ArrayLike) -> None:
    """Raise for an array of True and False, as `real` does for one."""
    if np.asarray(value).dtype == np.bool_:
        raise TypeError(f"{name} must be an array of numbers: got {value!r:.80}")


def metric(name: str, value: ArrayLike) -> Floats:
    """Distances (S, S): symmetric, not negative, 0 on the diagonal, and no detour is shorter; a read-only array.

    Distances between different states may be 0. The sides of a triangle are compared up to the rounding of their sum.
    """
    result = array(name, value, shape=("S", "S"))
    if result.shape[0] != result.shape[1]:
        raise ValueError(f"{name} must have one row and one column for each state, got shape {result.shape}")
    pair = _first((result < 0.0) | (result != result.T) | (np.eye(len(result), dtype=bool) & (result != 0.0)))
    if pair is not None:
        i, j = pair
        rule = (
            "be 0"
            if i == j
            else "not be negative"
            if result[i, j] < 0.0
            else f"equal {name}[{j}, {i}] = {result[j, i]}"
        )
        raise ValueError(f"{name}[{i}, {j}] must {rule} (a metric), got {result[i, j]}")
    for k in range(len(result)):
        pair = _first(result > (result[:, k, None] + result[None, k, :]) * (1.0 + EPS))
        if pair is not None:
            i, j = pair
            raise ValueError(
                f"{name}[{i}, {j}] must not exceed {name}[{i}, {k}] + {name}[{k}, {j}] = {result[i, k] + result[k, j]} "
                f"(the triangle inequality of a metric), got {result[i, j]}"
            )
    return read_only(result)


def bounds(low: ArrayLike, high: ArrayLike) -> tuple[Floats, Floats]:
    """Entrywise bounds on a distribution, (S,) or (S, A, S), that some distribution keeps; read-only arrays."""
    lower = array("low", low, shape=(None,) * max(axes("low", low), 1))
    upper = array("high", high, shape=lower.shape)
    if lower.ndim not in (1, 3):
        raise ValueError(f"low must have shape (S,) or (S, A, S), got {lower.shape}")
    for name, wrong, rule in (
        ("low", lower < 0.0, "not be negative"),
        ("high", upper < lower, "not be below low"),
    ):
        if wrong.any():
            where = tuple(int(i) for i in np.argwhere(wrong)[0])
            value = (lower if name == "low" else upper)[where]
            beside = f" = {lower[where]}" if name == "high" else ""
            raise ValueError(f"{name}{list(where)} must {rule}{beside}, got {value}")
    slack = lower.shape[-1] * EPS
    for name, sums, rule in (("low", lower.sum(axis=-1), "at most"), ("high", upper.sum(axis=-1), "at least")):
        excess = sums - 1.0 if name == "low" else 1.0 - sums
        if excess.max() > slack:
            pair = tuple(int(i) for i in np.unravel_index(excess.argmax(), excess.shape))
            raise ValueError(
                f"{name}{list(pair) or ''} must sum to {rule} 1, or it excludes every distribution, got "
                f"{float(sums[pair])!r}"
            )
    return read_only(lower), read_only(upper)


def read_only(values: Floats) -> Floats:
    """The array, which nobody can change any more."""
    values.setflags(write=False)
    return values


def _first(wrong: NDArray[np.bool_]) -> tuple[int, int] | None:
    return (int(np.argwhere(wrong)[0][0]), int(np.argwhere(wrong)[0][1])) if wrong.any() else None


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
        words = given.dtype.kind == "O" and any(x is None or isinstance(x, str) for x in given.flat)
        if given.dtype.kind not in "biufO" or words:
            raise TypeError(f"got {values!r:.80}")
        return given.astype(np.float64, order="C")
    except OverflowError:
        raise ValueError(f"{name} must be finite, got a whole number beyond the range of floats") from None
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be an array of numbers: {error}") from None


def array(name: str, values: ArrayLike, *, shape: Sequence[int | str | None]) -> Floats:
    """A finite float64 array of the given shape (None or the name of an axis: any length of at least 1), a copy."""
    result = _floats(name, values)
    fits = result.ndim == len(shape) and all(
        not isinstance(n, int) or n == m for n, m in zip(shape, result.shape, strict=True)
    )
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
        raise ValueError(f"{name}{list(where) or ''} must be finite, got {values[where]}")


def distribution_rows(name: str, rows: Floats) -> None:
    """Raise unless every last-axis row of a finite array is a probability distribution."""
    if (rows < 0.0).any():
        where = tuple(int(i) for i in np.argwhere(rows < 0.0)[0])
        raise ValueError(f"{name}{list(where)} must not be negative, got {rows[where]}")
    sums = rows.sum(axis=-1)
    wrong = np.abs(sums - 1.0) > row_sum_tolerance(np.asarray(np.count_nonzero(rows, axis=-1)))
    if wrong.any():
        where = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise ValueError(f"{name}{f' row {where}' if where else ''} sums to {float(sums[where])!r}, not 1")


def policy(values: ArrayLike, n_states: int, n_actions: int, *, name: str = "policy") -> Floats:
    """A stationary policy pi[s, a]: every row a distribution over actions."""
    result = array(name, values, shape=(n_states, n_actions))
    distribution_rows(name, result)
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
