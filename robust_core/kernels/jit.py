"""How kernels are compiled: without the interpreter's lock, cached on disk, and by default in program order."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

from robust_core.validate import Floats

F = TypeVar("F", bound=Callable[..., object])


def compiled(function: F) -> F:
    """`function` compiled at its first call; division by zero gives inf as in numpy."""
    return cast(F, numba.njit(function, nogil=True, cache=True, error_model="numpy"))


def inlined(function: F) -> F:
    """A part of kernels, copied into each of them, so that constants given to it vanish from the loop."""
    return cast(F, numba.njit(function, inline="always", error_model="numpy"))


def reassociated(function: F) -> F:
    """Compiled with leave to reorder sums and fuse products, for vector lanes; nan and inf keep their meaning."""
    leave = {"reassoc", "contract", "nsz"}
    return cast(F, numba.njit(function, nogil=True, cache=True, error_model="numpy", fastmath=leave))


@reassociated
def row_dot(matrix: Floats, row: Any, x: Floats) -> float:
    """matrix[row] · x without making the row an array of its own, which would cost more than a short product."""
    total = 0.0
    for i in range(x.size):
        total += matrix[row, i] * x[i]
    return total
