# mypy: disable-error-code="misc,untyped-decorator,assignment,return-value"
# (the compiler infers the types: its integers are numpy's, and its decorators are not annotated)
"""Compiled rows: scalar products with the rows of a kernel, and what the other compiled modules share.

A model is (dense, offsets, successors, probabilities): either the dense rows, one per pair (s, a), or the sparse
ones are empty. Dense rows are read four at a time, so that v is read once for the four; a list of rows whose length
is no multiple of four repeats its last row.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from robust_core.validate import Floats, Ints

Indices = NDArray[np.uint64]  # unsigned: signed ones are tested for being negative at every access
Model = tuple[Floats, Indices, Indices, Floats]

# Called by compiled code only, so without the wrappers for Python; a division by zero gives what IEEE says.
jit = njit(nogil=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
# The same with free order of summation and fused operations: the bounds in `enclosure` hold for every order.
jit_any_order = njit(
    nogil=True,
    error_model="numpy",
    no_cpython_wrapper=True,
    no_cfunc_wrapper=True,
    fastmath={"reassoc", "nsz", "contract"},
)


FAR = 1 << 16  # states from which values are not in the nearest caches, so that reading them ahead pays
AHEAD = np.uint64(128)  # entries between reading a value ahead and using it


@intrinsic
def prefetch(context: Any, values: Any, place: Any) -> Any:
    """Ask for values[place] to be in the cache soon."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        address = builder.bitcast(builder.gep(array.data, [arguments[1]]), byte)
        builder.call(function, [address, number(0), number(3), number(1)])  # to read, keep, data
        return context.get_dummy_value()

    return types.void(values, place), generate


@jit
def read_ahead(successors: Indices, begin: int, end: int, v: Floats) -> None:
    """Ask for the values of the entries that follow `AHEAD` after those of a row."""
    last = np.uint64(successors.shape[0] - 1)
    for i in range(begin, end):
        prefetch(v, np.uint64(successors[min(i + AHEAD, last)]))


@jit_any_order
def four_dots(p0: Floats, p1: Floats, p2: Floats, p3: Floats, v: Floats) -> tuple[float, float, float, float]:
    """Σ p v of four rows."""
    z0 = z1 = z2 = z3 = 0.0
    for i in range(v.shape[0]):
        value = v[i]
        z0 += p0[i] * value
        z1 += p1[i] * value
        z2 += p2[i] * value
        z3 += p3[i] * value
    return z0, z1, z2, z3


@jit
def sparse_dot(successors: Indices, probabilities: Floats, begin: int, end: int, v: Floats) -> float:
    """Σ p v of one sparse row (short, so vectorising it would cost more than it saves)."""
    total = 0.0
    for k in range(begin, end):
        total += probabilities[k] * v[successors[k]]
    return total


@jit
def dense_products(dense: Floats, rows: Ints, v: Floats, z: Floats) -> None:
    """z[k] = Σ p v of the dense row rows[k]."""
    last = rows.shape[0] - 1
    for k in range(0, last + 1, 4):
        k1, k2, k3 = min(k + 1, last), min(k + 2, last), min(k + 3, last)
        z[k], z[k1], z[k2], z[k3] = four_dots(dense[rows[k]], dense[rows[k1]], dense[rows[k2]], dense[rows[k3]], v)


@jit
def sparse_products(offsets: Indices, successors: Indices, probabilities: Floats, v: Floats, z: Floats) -> None:
    """z[k] = Σ p v of the sparse row k, for all rows."""
    begin, far = offsets[0], v.shape[0] >= FAR
    for k in range(z.shape[0]):
        end = offsets[k + 1]
        if far:
            read_ahead(successors, begin, end, v)
        z[k] = sparse_dot(successors, probabilities, begin, end, v)
        begin = end


@jit
def extremes(values: Floats) -> tuple[float, float]:
    """(min, max) of an array."""
    low = high = values[0]
    for value in values:
        low = value if value < low else low
        high = value if value > high else high
    return low, high


@jit
def copy(source: Floats, target: Floats) -> None:
    """target = source."""
    for i in range(source.shape[0]):
        target[i] = source[i]


@jit
def add(x: Floats, y: Floats) -> None:
    """X += y."""
    for i in range(x.shape[0]):
        x[i] += y[i]


@jit
def difference(x: Floats, y: Floats, d: Floats) -> tuple[float, float]:
    """d = x − y; returns (min d, max d)."""
    low, high = np.inf, -np.inf
    for i in range(x.shape[0]):
        value = x[i] - y[i]
        d[i] = value
        low = value if value < low else low
        high = value if value > high else high
    return low, high


@jit
def shift(values: Floats, k: float) -> None:
    """values += k."""
    for i in range(values.shape[0]):
        values[i] += k
