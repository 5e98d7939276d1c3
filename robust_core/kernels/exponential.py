"""exp(x) and exp(x) − 1 for x <= 0 that a compiler can run in vector lanes: no call, no branch, no table.

x = k ln 2 + r with |r| <= ln(2)/2; exp(r) is its Taylor polynomial of degree 13, whose remainder is below
(ln(2)/2)^14/14! < 4.2e-18, a twenty-fifth of the unit roundoff 2^-53; 2^k is made from its exponent bits. With the
rounding of the evaluation the relative error is at most RELATIVE_ERROR. Below -708 the result is 0, where exp is
below 4e-308. exp(x) − 1 is 2^k (exp(r) − 1) + (2^k − 1), from the polynomial without its constant term.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from robust_core.kernels.jit import contracted

# In units of 2^-53, relative to exp(r) >= 0.707: the even part is at most 1.061 and its last rounding counts, the
# ones before are damped by r² <= 0.121 (together below 1.3); the odd part times r is at most 0.354 (together below
# 0.9, its product's rounding included); the last sum rounds once relatively to the result (1); the reduced r errs by
# three roundings of at most |r| <= 0.347 each (1.1). (1.3 + 0.9)/0.707 + 1 + 1.1 < 5.3; scaling is exact.
RELATIVE_ERROR = 6 * 2.0**-53
# Of exp(x) − 1, in the same units. For k = 0, r is x itself and |exp(x) − 1| >= 0.845 |x|: relative to |x| the odd part
# errs by 1.1 and its product with x by 1.03, the even part without its 1 (at most 0.176) by 0.5, the remainder by 0.2;
# the last sum rounds once: 2.9/0.845 + 1 < 4.5. For k < 0 the result is at least 0.292 and 2^k <= 1/2: exp(r) − 1 errs
# by 2.9 · 0.347, its own rounding of 0.42 and the reduced r (1.1 · 1.42), half of which counts; its product rounds by
# 0.21, 2^k − 1 only where that is all (k < −53), the last sum once: (3/2 + 0.21)/0.292 + 1 < 7.
EXPM1_RELATIVE_ERROR = 7 * 2.0**-53

_LOG2_E = 1.4426950408889634
# ln 2 split so that k·_LN2_HIGH is exact for |k| <= 2^11.
_LN2_HIGH = 0.6931471803691238
_LN2_LOW = 1.9082149292705877e-10
_SMALLEST = -708.0
# Adding 1.5·2^52 rounds to the nearest integer and leaves it in the low bits of the mantissa.
_ROUND = 6755399441055744.0
_ROUND_BITS = 0x4338000000000000


@intrinsic
def bits_of(typingctx: Any, x: Any) -> Any:
    """The 64 bits of a float as an integer."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.IntType(64))

    return types.int64(types.float64), codegen


@intrinsic
def float_of(typingctx: Any, bits: Any) -> Any:
    """The float that has these 64 bits."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.int64), codegen


@contracted
def _parts(x: float) -> tuple[float, float, float, float]:
    """The even terms of exp(r) after the first, its odd terms as a factor and r, and 2^k."""
    clipped = max(x, _SMALLEST)
    rounded = clipped * _LOG2_E + _ROUND
    k = rounded - _ROUND
    r = (clipped - k * _LN2_HIGH) - k * _LN2_LOW
    square = r * r
    # Even and odd terms apart: two chains of half the length run side by side.
    even = 1.0 / 479001600.0
    even = even * square + 1.0 / 3628800.0
    even = even * square + 1.0 / 40320.0
    even = even * square + 1.0 / 720.0
    even = even * square + 1.0 / 24.0
    even = even * square + 0.5
    odd = 1.0 / 6227020800.0
    odd = odd * square + 1.0 / 39916800.0
    odd = odd * square + 1.0 / 362880.0
    odd = odd * square + 1.0 / 5040.0
    odd = odd * square + 1.0 / 120.0
    odd = odd * square + 1.0 / 6.0
    odd = odd * square + 1.0
    scale: float = float_of((bits_of(rounded) - np.int64(_ROUND_BITS) + np.int64(1023)) << np.int64(52))
    return even * square, odd, r, scale


@contracted
def exp(x: float) -> float:
    """exp(x) for x <= 0 within RELATIVE_ERROR; 0 below -708."""
    even, odd, r, scale = _parts(x)
    return 0.0 if x < _SMALLEST else (odd * r + (even + 1.0)) * scale


@contracted
def expm1(x: float) -> float:
    """exp(x) − 1 for x <= 0 within EXPM1_RELATIVE_ERROR."""
    even, odd, r, scale = _parts(x)
    return (odd * r + even) * scale + (scale - 1.0)
