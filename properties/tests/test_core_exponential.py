"""The exponential of the compiled loops: its error, its ends, and its independence of the caller's flags."""

import math
import os
import subprocess
import sys
from decimal import Decimal, localcontext
from pathlib import Path

import numpy as np

from properties.tests.linear_rounding import EXP_CUT


def test_the_exponential_is_within_its_bound() -> None:
    """Against sixty decimal digits: a dense grid, the ends, powers of two, and the borders of the reduction."""
    from robust_core.kernels.exponential import RELATIVE_ERROR, exp

    ln2 = math.log(2)
    borders = [x for k in range(1021) for x in (-(k + 0.5) * ln2, np.nextafter(-(k + 0.5) * ln2, 0.0))]
    grid = (-np.random.default_rng(0).random(3000) * 708).tolist() + (-np.random.default_rng(1).random(1000)).tolist()
    points = [0.0, -0.0, -5e-324, -1e-300, -1e-17, -(2.0**-53), -1.0, -708.0, *(-(2.0**-k) for k in range(60))]
    worst = inflated = 0.0
    for x in (*points, *grid, *borders):
        if x < -708.0:
            continue
        with localcontext() as context:
            context.prec = 60
            wanted = Decimal(x).exp()
            worst = max(worst, float(abs(Decimal(exp(x)) - wanted) / wanted))
            inflated = max(inflated, float(abs(Decimal(exp(x) * (1.0 + RELATIVE_ERROR)) - wanted) / wanted))
    assert worst <= RELATIVE_ERROR
    # The bound is not idle: a quarter of it is not enough, and a constant factor of its size is seen.
    assert worst > RELATIVE_ERROR / 4
    assert inflated > RELATIVE_ERROR


def test_its_distance_from_1_is_within_its_bound() -> None:
    """Relative to exp(x) − 1 itself, down to the smallest floats: also where exp(x) rounds to 1."""
    from robust_core.kernels.exponential import EXPM1_RELATIVE_ERROR, exp, expm1

    rng, ln2 = np.random.default_rng(2), math.log(2)
    borders = [x for k in range(60) for x in (-(k + 0.5) * ln2, np.nextafter(-(k + 0.5) * ln2, 0.0))]
    grid = (
        (-rng.random(2000)).tolist()
        + (-rng.random(1000) * 50).tolist()
        + (-(2.0 ** -rng.integers(0, 1023, 60))).tolist()
    )
    worst = naive = 0.0
    for x in (-1e-300, -1.0, -708.0, -1e300, -math.inf, *borders, *grid):
        with localcontext() as context:
            context.prec = 340
            wanted = Decimal(max(x, -1e4)).exp() - 1
            worst = max(worst, float(abs((Decimal(expm1(x)) - wanted) / wanted)))
            naive = max(naive, float(abs((Decimal(exp(x) - 1.0) - wanted) / wanted)))
    assert worst <= EXPM1_RELATIVE_ERROR
    assert worst > EXPM1_RELATIVE_ERROR / 4
    assert naive == 1.0
    assert expm1(0.0) == expm1(-0.0) == 0.0
    assert expm1(-5e-324) == -5e-324


def test_the_exponential_at_its_ends() -> None:
    from robust_core.kernels.exponential import exp

    assert exp(0.0) == exp(-0.0) == 1.0
    assert exp(-708.0) > 0.0
    for x in (np.nextafter(-708.0, -1000.0), -709.0, -745.2, -1e300, -math.inf):
        assert exp(x) == 0.0
        assert math.exp(x) < EXP_CUT


FRESH = """
import math, sys
import numba
from robust_core.kernels.exponential import exp

@numba.njit(fastmath={"reassoc", "contract", "nsz"})
def caller(x):
    return exp(x) + 0.0

worst = max(abs(caller(-k / 64) / math.exp(-k / 64) - 1.0) for k in range(1, 6400))
sys.exit(0 if worst <= float(sys.argv[1]) else f"exp is off by {worst} when a reassociated function compiles it")
"""
# Beside the error of exp, in units of 2^-53: math.exp errs by one unit in the last place (2), the quotient rounds (1),
# its distance from 1 is exact, and products of these errors are below the last unit.
QUOTIENT_ERROR = 4 * 2.0**-53


def test_the_exponential_does_not_inherit_its_caller_s_liberties(tmp_path: Path) -> None:
    """Numba hands the flags of a caller to what it calls, unless that has flags of its own.

    Reassociation would undo the rounding trick of exp and leave it off by 40 %. The first caller decides, hence a
    process of its own.
    """
    from robust_core.kernels.exponential import RELATIVE_ERROR

    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", FRESH, repr(RELATIVE_ERROR + QUOTIENT_ERROR)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
