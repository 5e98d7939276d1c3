"""Units of work: pure functions named by text, with arguments that are plain data, computed once and kept.

A unit can be computed in this process, in another one or on another machine, and its value is the same.
"""

import functools
import importlib
import inspect
import itertools
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.runner import identity
from benchmarks.runner.identity import PACKAGES
from benchmarks.runner.store import decode, encode
from robust_core.streams import key

_NAME = re.compile(rf"(?:{'|'.join(PACKAGES)})(?:\.[a-z_][a-z0-9_]*)+:[a-z][a-z0-9_]*")
_MODULE = re.compile(rf"(?:{'|'.join(PACKAGES)})\.")
FIRST = ("metric", "variant", "problem", "panel", "interpretation", "target", "module")
"""Arguments that tell a reader most, in this order; a line of progress may be cut at its end."""
UNSAID = ("code", "stop")
"""Arguments that a line of progress leaves out: a hash, and the end of a stretch whose start is shown."""


@dataclass(frozen=True)
class Unit:
    """A function "package.module:name" of the four packages and its keyword arguments (plain JSON data).

    `repeatable` is false for measurements of time: their value is not a function of the arguments, so the store
    keeps the first, and they are taken one at a time, in this process, when nothing else runs.

    >>> unit = Unit("robust_core.text:shorten", {"text": "abcdef", "longest": 4})
    >>> compute(unit)
    'abcd…'
    """

    function: str
    arguments: Mapping[str, Any] = field(hash=False)
    repeatable: bool = True

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.function):
            raise ValueError(f"function must look like package.module:name in {PACKAGES}, got {self.function!r}")
        # A copy: nobody can change it any more, and what is computed is what is hashed.
        object.__setattr__(self, "arguments", json.loads(self._text()))

    def _text(self) -> str:
        return json.dumps(dict(self.arguments), sort_keys=True, allow_nan=False)

    @property
    def module(self) -> str:
        """The module that has the function."""
        return self.function.partition(":")[0]

    @functools.cached_property
    def key(self) -> bytes:
        """The hash of what the value depends on: function, arguments, and the identity of the code."""
        return key("unit", self.function, self._text(), identity.of(self.module))

    def __str__(self) -> str:
        return f"{self.function.rpartition('.')[2]}({', '.join(f'{k}={v!r}' for k, v in self.arguments.items())})"


def compute(unit: Unit) -> Any:
    """The value of a unit, as plain data that has been through JSON: the same whether fresh, sent or kept."""
    module, _, name = unit.function.partition(":")
    function = getattr(importlib.import_module(module), name, None)
    if not callable(function) or not inspect.isfunction(inspect.unwrap(function)):
        raise ValueError(f"{unit.function} is not a function")
    if function.__module__.partition(".")[0] not in PACKAGES:
        raise ValueError(f"{unit.function} is a function of {function.__module__}: only {PACKAGES} are allowed")
    try:
        value = decode(encode(function(**unit.arguments)))
        if value is None:
            raise ValueError(f"{unit.function} must return a value, got None")
        return value
    except Exception as error:
        error.add_note(f"while computing {unit}")
        raise


def labels(units: Sequence[Unit]) -> Callable[[Unit], str]:
    """How the units of a run are called in a line of progress: by what they do not all share.

    >>> wanted = [Unit("robust_core.text:one_line", {"text": text, "seed_set": "pinned"}) for text in ("1s", "2s")]
    >>> [labels(wanted)(unit) for unit in wanted], labels(wanted[:1])(wanted[0])
    (['1s', '2s'], 'pinned / 1s')
    """
    values: dict[str, dict[str, Any]] = {}
    for unit in units:
        for argument, value in unit.arguments.items():
            values.setdefault(argument, {})[json.dumps(value)] = value
    told = sorted(
        (argument for argument in values if argument not in UNSAID),
        key=lambda argument: FIRST.index(argument) if argument in FIRST else len(FIRST),
    )
    # Of a single unit, and of units that differ in their functions alone, all is told that is not empty.
    chosen = [argument for argument in told if len(values[argument]) > 1] or told
    shared = {argument: _package(list(values[argument].values())) for argument in chosen}

    def label(unit: Unit) -> str:
        words = [
            value.removeprefix(shared[argument]) if isinstance(value, str) else f"{argument}={value!r}"
            for argument in chosen
            if (value := unit.arguments.get(argument, "")) != ""
        ]
        return " / ".join(words) or unit.function.rpartition(".")[2]

    return label


def _package(values: list[Any]) -> str:
    """The package that names of modules share, with its dot; "" if they are no such names, or one alone."""
    if len(values) < 2 or not all(isinstance(value, str) and _MODULE.match(value) for value in values):
        return ""
    parts = zip(*(value.split(".")[:-1] for value in values), strict=False)
    return "".join(f"{same[0]}." for same in itertools.takewhile(lambda part: len(set(part)) == 1, parts))
