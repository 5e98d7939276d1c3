"""How wide an enclosure must be: truncation, the rounding of every step and the defect of the row sums.

**Truncation.** An operator T that is monotone and satisfies T(V+k) = TV + γk for constants k obeys, with
d = TV − V, the bounds of MacQueen: V* ∈ TV + γ/(1−γ)·[min d, max d], and Q* ∈ q + γ/(1−γ)·[min d, max d] for
q(s,a) = c(s,a) + γσ(V). (From V + min d/(1−γ) <= V* <= V + max d/(1−γ), by iterating V + min d <= TV.)
Robust, optimal, fixed-policy and smoothed backups all are such operators.

**Common term.** Under contamination and total variation σ_{s,a}(v) = z_{s,a}(v) + R·m(v), where m (max, LSE or
mellow-max) is common to all pairs and m(v+k) = m(v)+k. So it cancels from the span of d, and the enclosure is

    Q* ∈ q̃ + κ ± half width,   κ = (γR·m(v) + γ·mid)/(1−γ),   mid = (min d̃ + max d̃)/2,

with q̃ = c + γz and d̃ = reduce(q̃) − v, which leave the common term out. V may be shifted by any constant before
the backup; it is centred, so that rounding acts on its span and not on its size 1/(1−γ).

**Rounding** (u = 2⁻⁵³, x = max|v|, y = max|q̃|, n the longest row). A row of floats p stands for p/Σp, and a
valid row has |Σp − 1| <= (n+1)·2u as summed in floats, so |Σp − 1| <= δ = (3n+4)u exactly.

- A scalar product of n terms errs by at most n·u·Σp|v| in whatever order it is summed, fused or not; the defect
  δ moves it by δx. Scaling by fl(γ(1−R)) costs 4u more. Sum: (4n + 8)·u·γx, `backup_units`.
- Total variation: z(v) = min_η Σp·max(v, η) − Rη, at the level η where the mass below passes R. The sum errs by
  nu·x and by δx for the defect; moving the level by at most n steps adds u·x each and, as the mass below errs by
  2nu, another 4(n+1)u·x. That mass decides the level: it may miss the best one by a slope of 2nu + δ over at most
  2x. Sum: below (20n + 32)·u·γx. In a short sparse row a wrong level is replaced by the best of
  all its values, and only the sums err.
- Adding the cost: u·y. A policy's average over A actions, with the defect of its rows: (4A+8)·u·y.
- d̃ = fl(r̃ − v) adds u·max|d̃|; κ and the last addition add u·(10κ̄ + 2y), κ̄ = (γR|m| + γ|mid|)/(1−γ).

An error e of the backup and e' of d̃ widens the enclosure by e + γe'/(1−γ), an error of m by γR/(1−γ) of it.
Terms of second order (nu < 2⁻¹⁰) and the rounding of the width itself are covered by the factor `SLACK`, gradual
underflow by `TINY`.
"""

import math

UNIT = 2.0**-53
SLACK = 1.01
TINY = 2.0**-1000
LIBM_UNITS = 8.0  # exp and log err by at most 4 units in the last place (libm: 1, vector libraries: 4)


def backup_units(row_length: int, total_variation: bool) -> float:
    """Rounding units of γ·z(v) per max|v|, for rows of at most `row_length` entries.

    >>> backup_units(8, False)
    40.0
    """
    return 20.0 * row_length + 32.0 if total_variation else 4.0 * row_length + 8.0


def average_units(n_actions: int) -> float:
    """Rounding units of a policy's average of q̃ over the actions, per max|q̃|."""
    return 4.0 * n_actions + 8.0


def soft_max_error(n_states: int, varrho: float, x: float) -> float:
    """Rounding error of LSE or mellow-max of n values in [−x, x].

    exp(ϱ(v−max v)) errs by (2.1|t| + 8.1)u·eᵗ with t = ϱ(v−max v), and |t|eᵗ <= 1/e; the sum, at least 1, errs
    relatively by (2n + 9)u; its logarithm, at most log n, by 8u more; then a division and two additions.

    >>> soft_max_error(2, 1.0, 0.0) // UNIT
    32.0
    """
    logarithm = 2.0 * n_states + 12.0 + (2.0 * LIBM_UNITS + 8.0) * math.log(n_states)
    return UNIT * (logarithm / varrho + 3.0 * x) * SLACK + TINY


def rounding_half_width(
    gamma: float,
    units: float,
    averaging: float,
    x: float,
    y: float,
    d_max: float,
    kappa: float,
    m_error: float,
) -> float:
    """The part of the half width that rounding costs; `kappa` is κ̄, `m_error` the error of γR·m(v).

    >>> rounding_half_width(0.5, 40.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0) // UNIT
    44.0
    """
    backup = UNIT * (units * gamma * x + (1.0 + averaging) * y)
    difference = backup + UNIT * d_max
    widened = backup + (gamma * difference + m_error) / (1.0 - gamma)
    return SLACK * (widened + UNIT * (10.0 * kappa + 2.0 * y)) + TINY


def truncation_half_width(gamma: float, span: float) -> float:
    """γ/(1−γ) times half the span of d̃.

    >>> round(truncation_half_width(0.5, 0.25), 6)
    0.125
    """
    return gamma / (1.0 - gamma) * span * 0.5 * (1.0 + 8.0 * UNIT)
