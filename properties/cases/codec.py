"""Cases as JSON: models, sets, schedules and arrays, bit for bit and without executing anything."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np

from robust_core import LogSumExp, Mellowmax, StepSize, UncertaintySet
from robust_core.mdp import MDP
from robust_core.text import shorten


def _floats(data: Any) -> np.ndarray:
    values = _numbers(data).astype(np.float64)
    if not np.isfinite(values).all():
        raise ValueError("an array must hold finite numbers")
    return values


def _numbers(data: Any) -> np.ndarray:
    values = np.array(data)
    if values.dtype.kind not in "fib":
        raise ValueError(f"an array must hold numbers, got {data!r:.80}")
    return values


def _ints(data: Any) -> np.ndarray:
    values = _numbers(data)
    if values.dtype.kind == "f" and values.size:
        raise ValueError(f"an array must hold whole numbers, got {data!r:.80}")
    return values.astype(np.int64)


def _step_size(data: Any) -> StepSize:
    if not isinstance(data, dict) or data.keys() != {"scale", "rate", "power", "clock"}:
        raise ValueError(f"a step size has scale, rate, power and clock, got {data!r:.80}")
    return StepSize(**data)


def _list(data: Any) -> list[Any]:
    if not isinstance(data, list):
        raise ValueError(f"must be a list, got {data!r:.80}")
    return [decode(item) for item in data]


def _number(data: Any) -> int | float:
    if not isinstance(data, (bool, int, float)):
        raise ValueError(f"must be a number, got {data!r:.80}")
    return data


def _text(data: Any) -> str:
    if not isinstance(data, str) or not data.isprintable():
        raise ValueError(f"must be printable text, got {data!r:.80}")
    return data


_DECODERS: dict[str, Callable[[Any], Any]] = {
    "mdp": MDP.from_dict,
    "set": UncertaintySet.from_dict,
    "step_size": _step_size,
    "log_sum_exp": LogSumExp,
    "mellowmax": Mellowmax,
    "floats": _floats,
    "ints": _ints,
    "list": _list,
    "number": _number,
    "text": _text,
}


def encode(value: Any) -> dict[str, Any]:
    """A tagged value: one key that says what it is.

    >>> encode(np.array([0.5, 1.0])), encode(3)
    ({'floats': [0.5, 1.0]}, {'number': 3})
    """
    if isinstance(value, MDP):
        return {"mdp": value.to_dict()}
    if isinstance(value, UncertaintySet):
        return {"set": value.to_dict()}
    if isinstance(value, StepSize):
        return {"step_size": asdict(value)}
    if isinstance(value, LogSumExp):
        return {"log_sum_exp": value.varrho}
    if isinstance(value, Mellowmax):
        return {"mellowmax": value.varrho}
    if isinstance(value, np.ndarray):
        return {"ints" if value.dtype.kind in "iub" else "floats": value.tolist()}
    if isinstance(value, (list, tuple)):
        return {"list": [encode(item) for item in value]}
    if isinstance(value, (bool, int, float, np.integer, np.floating)):
        return {"number": value.item() if isinstance(value, np.generic) else value}
    if isinstance(value, str):
        return {"text": value}
    raise TypeError(f"a case holds models, sets, schedules, arrays, numbers and text, got {type(value).__name__}")


def decode(data: Any) -> Any:
    """The value that `encode` wrote; anything else is refused with the reason."""
    if not isinstance(data, dict) or len(data) != 1 or next(iter(data)) not in _DECODERS:
        raise ValueError(f"a value must be an object with one key of {sorted(_DECODERS)}, got {data!r:.80}")
    tag, content = next(iter(data.items()))
    try:
        return _DECODERS[tag](content)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"bad {tag}: {shorten(str(error))}") from None
