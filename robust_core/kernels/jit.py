"""The one way kernels are compiled: IEEE arithmetic in program order, no global interpreter lock, cached on disk."""

from collections.abc import Callable
from typing import TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])


def compiled(function: F) -> F:
    """`function` compiled at its first call; division by zero gives inf as in numpy."""
    return cast(F, numba.njit(function, nogil=True, cache=True, error_model="numpy"))


def inlined(function: F) -> F:
    """A part of kernels, copied into each of them, so that constants given to it vanish from the loop."""
    return cast(F, numba.njit(function, inline="always", error_model="numpy"))
