"""exp(x) for x <= 0 that a compiler can run in vector lanes: no call, no branch, no table.

x = k ln 2 + r with |r| <= ln(2)/2; exp(r) is its Taylor polynomial of degree 13, whose remainder is below
(ln(2)/2)^14/14! < 4.2e-18, a twenty-fifth of the unit roundoff 2^-53; 2^k is made from its exponent bits. With the
rounding of the evaluation the relative error is at most RELATIVE_ERROR. Below -708 the result is 0, where exp is
below 4e-308.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from robust_core.kernels.jit import compiled

# Reduction: two roundings of r, each at most 2^-53·|r| after the exact high part; Horner with 13 steps contributes
# less than 1.5 units on exp(r) in [0.70, 1.42] because |r| < 0.35 damps every earlier rounding; scaling is exact.
RELATIVE_ERROR = 4 * 2.0**-53

_LOG2_E = 1.4426950408889634
# ln 2 split so that k·_LN2_HIGH is exact for |k| <= 2^11.
_LN2_HIGH = 0.6931471803691238
_LN2_LOW = 1.9082149292705877e-10
_SMALLEST = -708.0
# Adding 1.5·2^52 rounds to the nearest integer and leaves it in the low bits of the mantissa.
_ROUND = 6755399441055744.0
_ROUND_BITS = 0x4338000000000000


@intrinsic
def _bits_of(typingctx: Any, x: Any) -> Any:
    """The 64 bits of a float as an integer."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.IntType(64))

    return types.int64(types.float64), codegen


@intrinsic
def _float_of(typingctx: Any, bits: Any) -> Any:
    """The float that has these 64 bits."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.int64), codegen


@compiled
def exp(x: float) -> float:
    """exp(x) for x <= 0 within RELATIVE_ERROR; 0 below -708."""
    clipped = max(x, _SMALLEST)
    rounded = clipped * _LOG2_E + _ROUND
    k = rounded - _ROUND
    r = (clipped - k * _LN2_HIGH) - k * _LN2_LOW
    p = 1.0 / 6227020800.0
    p = p * r + 1.0 / 479001600.0
    p = p * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    scale: float = _float_of((_bits_of(rounded) - np.int64(_ROUND_BITS) + np.int64(1023)) << np.int64(52))  # type: ignore[call-arg]
    return 0.0 if x < _SMALLEST else p * scale
