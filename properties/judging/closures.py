"""State that `copy.deepcopy` shares: it copies no function, so what a function has closed over stays one object."""

import dis
import gc
from functools import lru_cache
from types import BuiltinFunctionType, CodeType, FunctionType, MethodDescriptorType, ModuleType
from typing import Any

import numpy as np

MOST_OBJECTS = 2000
"""Of a learner that are looked at; state in a closure is near its surface."""
_PLAIN = (str, bytes, int, float, complex, type(None), np.generic, np.dtype)
_INERT = (*_PLAIN, ModuleType, CodeType, BuiltinFunctionType, MethodDescriptorType, np.random.Generator)
"""What is not followed; a generator of numbers is copied whole."""
_NOT_FOLLOWED = (*_INERT, type)


def shared_state(root: Any) -> str:
    """The name of a variable with state that a function of the object has closed over; '' if there is none.

    Followed are attributes, elements, the methods of classes, and functions that functions have closed over.
    """
    seen, waiting = {id(root)}, [root]
    while waiting and len(seen) < MOST_OBJECTS:
        one = waiting.pop()
        if isinstance(one, FunctionType):
            name = next((name for name, content in _closed_over(one) if _is_state(one, name, content)), "")
            if name:
                return name
            found = [content for _, content in _closed_over(one)]
        else:
            cls: Any = type(one)
            found = [*_parts(one), *([] if id(cls) in seen else _methods(cls))]
            seen.add(id(cls))
        for child in found:
            if id(child) not in seen and not isinstance(child, _NOT_FOLLOWED):
                seen.add(id(child))
                waiting.append(child)
    return ""


def _closed_over(function: FunctionType) -> list[tuple[str, Any]]:
    names = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return [(name, _content(cell)) for name, cell in names]


def _is_state(function: FunctionType, name: str, content: Any) -> bool:
    return name in _assigned(function.__code__) or _has_state(content)


@lru_cache(maxsize=256)
def _assigned(code: CodeType) -> frozenset[str]:
    """The free variables that a function assigns (nonlocal)."""
    free = set(code.co_freevars)
    return frozenset(str(each.argval) for each in dis.get_instructions(code) if each.opname == "STORE_DEREF") & free


@lru_cache(maxsize=256)
def _methods(cls: type) -> list[Any]:
    """What a class and its bases do when they are called, or asked for an attribute by its name."""
    named = [pair for base in cls.__mro__ for pair in vars(base).items()]
    found = [getattr(value, "fget", value) for name, value in named if name == "__call__" or name[:2] != "__"]
    return [value for value in found if isinstance(value, FunctionType)]


def _parts(one: Any) -> list[Any]:
    if isinstance(one, np.ndarray) and one.dtype != object:
        return []
    return gc.get_referents(one)


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not yet filled
        return None


def _has_state(value: Any) -> bool:
    """Whether a value can be changed by a function that has closed over it: numbers, classes and functions cannot."""
    if isinstance(value, tuple | frozenset):
        return any(map(_has_state, value))
    if isinstance(value, np.ndarray):
        return bool(value.flags.writeable)
    if isinstance(value, (*_PLAIN, ModuleType, BuiltinFunctionType, MethodDescriptorType, type, FunctionType)):
        return False
    frozen = getattr(getattr(type(value), "__dataclass_params__", None), "frozen", False)
    return not frozen
