"""log of a positive number near 1 or far from it that a compiler can run in vector lanes: no call, no branch, no table.

y = 2^k m with √½ <= m < √2; log m = 2 artanh(z), z = (m−1)/(m+1), |z| <= 0.1716, as its Taylor polynomial to z^21,
whose remainder is below 2|z|^23/(23(1−z²)) < 1.2e-17·2|z|, a tenth of the unit roundoff relatively. For k = 0 the
caller's y − 1 is used, which may be more exact than y. The evaluation adds a few units of 2^-53: relative to log y
for k = 0, to |log y| + 1 otherwise.
"""

from robust_core.kernels.exponential import bits_of, float_of
from robust_core.kernels.jit import contracted

_ROOT_HALF = 0x3FE6A09E667F3BCD
_LN2_HIGH = 0.6931471803691238
_LN2_LOW = 1.9082149292705877e-10


@contracted
def log_near(y: float, less: float) -> float:
    """log(y) of a normal number y > 0, where `less` is y − 1."""
    bits = bits_of(y)
    k = (bits - _ROOT_HALF) >> 52
    m = float_of(bits - (k << 52))
    f = less if k == 0 else m - 1.0
    z = f / (2.0 + f)
    w = z * z
    series = 1.0 / 21.0
    series = series * w + 1.0 / 19.0
    series = series * w + 1.0 / 17.0
    series = series * w + 1.0 / 15.0
    series = series * w + 1.0 / 13.0
    series = series * w + 1.0 / 11.0
    series = series * w + 1.0 / 9.0
    series = series * w + 1.0 / 7.0
    series = series * w + 1.0 / 5.0
    series = series * w + 1.0 / 3.0
    z2 = z + z
    return k * _LN2_HIGH + (z2 + (z2 * w * series + k * _LN2_LOW))
