"""How fast the mean square of TDC grows: certified bounds on a linear recursion that is driven by a chain.

Let x' = A(s,s')x along a chain with kernel P, and (LM)(s) = Σ_s' P(s,s') A(s,s')ᵀM(s')A(s,s') for symmetric matrices
M(s). Then E[x_tᵀM(s_t)x_t | s_0 = s, x_0 = x] = xᵀ(LᵗM)(s)x, by induction. L maps positive semidefinite families to
such families. So if every M(s) is positive definite and l·M <= LM <= u·M (differences positive semidefinite), then
lᵗM <= LᵗM <= uᵗM: E[x_tᵀM(s_t)x_t] grows by a factor between l and u per step, and E‖x_t‖² so up to constants (the
extreme eigenvalues of the M(s)), from every x_0 != 0 and every s_0. `growth`
finds M in floats (the leading eigenvector of L) and certifies l and u by eigenvalues with directed bounds; nothing
relies on where M comes from.

**TDC without projection.** With x = (theta, omega) and the smooth maximum LSE(V) = g·theta + H/varrho, where g = Φᵀp, p
the softmax of varrho·V and 0 <= H <= log S its entropy, one step is x' = A(s,s',g)x + b: exactly, with

    A = I + (alpha φ(j−φ)ᵀ, −alpha jφᵀ; beta φ(j−φ)ᵀ, −beta φφᵀ),     j = gamma((1−R)φ' + Rg),

and ‖b‖ bounded (costs and gamma R log S/varrho times features and steps). `steps` gives A with g = φ(k): the maximum
held at state k. Three consequences.

- *R = 0, u < 1*: E‖x_t‖² stays bounded for ever. In the norm N_t = √E[x_tᵀM(s_t)x_t] a step gives N_{t+1} <= √u N_t + B
  with B² the largest bᵀMb, so N_t <= N_0 + B/(1−√u).
- *R = 0, l > 1*: two runs on one walk differ by a solution of x' = Ax, so E(x_t−y_t)ᵀM(x_t−y_t) >= lᵗ(x−y)ᵀM(x−y). From
  at most one start the mean square stays bounded.
- *R > 0*: while V is largest at k the step is that of the held recursion but for b and for p off k. If V(k) leads by
  D, ‖g − φ(k)‖ is at most (S−1)e^{−varrho D} times the diameter of the features. So l > 1 and u < 1 are exact for the
  recursion with the maximum held at k, which is the true one as long as theta stays in the cone where V is largest at
  k, away from its boundary. `switching` has certificates for all theta.
"""

import numpy as np

from oracles.arithmetic.ball import Ball, eigenvalue_floor
from robust_core.validate import Floats

WIDTHS = 10.0 ** np.arange(-10.0, -1.5, 0.5)
"""Distances from the leading eigenvalue at which a bound is tried, the smallest first. M may be nearly singular: the
smallest that is certified is about the rounding of LM over the smallest eigenvalue of M."""
TOLERANCE = 1e-10
PAD, TERMS = 1e-8, 64
"""How far weights are moved away from singular ones. Any value gives right bounds; these give narrow ones."""


def steps(features: Floats, *, gamma: float, radius: float, alpha: float, beta: float, held: int) -> Ball:
    """A(s,s') of all pairs of states, (S, S, 2N, 2N), with the maximum held at one state."""
    phi, (S, N) = Ball.exact(features), features.shape
    discount, R = Ball.exact(gamma), Ball.exact(radius)
    jump = discount * ((Ball.exact(1.0) - R) * phi + R * Ball(phi.mid[held], phi.rad[held]))
    here, there = _outer(phi, S, row=False), Ball(jump.mid[None, :, None, :], jump.rad[None, :, None, :])
    back = _outer(phi, S, row=True)
    error = here * (there - back)
    tracked = Ball(there.mid.swapaxes(2, 3), there.rad.swapaxes(2, 3)) * back
    square = here * back
    a, b, eye = Ball.exact(alpha), Ball.exact(beta), Ball.exact(np.eye(N))
    top = (eye + a * error, -(a * tracked))
    bottom = (b * error, eye - b * square)
    blocks = [[_spread(block, S, N) for block in line] for line in (top, bottom)]
    return Ball(
        np.block([[x.mid for x in line] for line in blocks]), np.block([[x.rad for x in line] for line in blocks])
    )


def _outer(phi: Ball, S: int, *, row: bool) -> Ball:
    """phi(s) as a row or a column for all s, with an axis for s'."""
    place = (slice(None), None, None) if row else (slice(None), None, slice(None), None)
    return Ball(phi.mid[place], phi.rad[place])


def _spread(block: Ball, S: int, N: int) -> Ball:
    return Ball(np.broadcast_to(block.mid, (S, S, N, N)), np.broadcast_to(block.rad, (S, S, N, N)))


def moved(kernel: Ball, A: Ball, M: Floats) -> Ball:
    """LM."""
    S, n = len(M), M.shape[-1]
    moved = Ball(A.mid.swapaxes(2, 3), A.rad.swapaxes(2, 3)) @ (Ball.exact(M[None]) @ A)
    flat = Ball(moved.mid.reshape(S, S, n * n), moved.rad.reshape(S, S, n * n))
    summed = Ball(kernel.mid[:, None, :], kernel.rad[:, None, :]) @ flat
    return Ball(summed.mid.reshape(S, n, n), summed.rad.reshape(S, n, n))


def growth(kernel: Ball, A: Ball) -> tuple[float, float]:
    """(l, u): the mean square of x' = A(s,s')x grows by a factor between them per step, up to a constant over all.

    >>> halved = Ball.exact(np.full((1, 1, 1, 1), 0.5))
    >>> low, high = growth(Ball.exact([[1.0]]), halved)
    >>> bool(0.25 - 1e-9 < low <= 0.25 <= high < 0.25 + 1e-9)
    True
    """
    factor, M = _leading(kernel.mid, A.mid)
    return max(_nearest(kernel, A, M, factor, -1.0), 0.0), _nearest(
        kernel, A, _padded(kernel, A, M, factor), factor, 1.0
    )


def _padded(kernel: Ball, A: Ball, M: Floats, factor: float) -> Floats:
    """M + PAD·Σ LᵏI/factorᵏ over the first k: weights that are not nearly singular, for the upper bound.

    M(s) is nearly singular if some x is nearly lost in the first step from s. L of the sum is at most `factor` times
    the sum where LᵏI/factorᵏ has fallen below I at the last k, which is so in such directions.
    """
    term, total = np.broadcast_to(np.eye(M.shape[-1]), M.shape), np.zeros_like(M)
    for _ in range(TERMS):
        total, term = total + term, image(kernel.mid, A.mid, term) / factor
    return M + PAD * total


def _nearest(kernel: Ball, A: Ball, M: Floats, factor: float, side: float) -> float:
    """The bound nearest to `factor` on its side (−1: LM >= bound·M, 1: LM <= bound·M) that is certified.

    A symmetric X is positive definite if BXBᵀ is, for any square B; with B = `scaled` the difference is nearly a
    multiple of I.
    """
    image = moved(kernel, A, M)
    if min(eigenvalue_floor(Ball.exact(m)) for m in M) <= 0.0:
        raise ArithmeticError("the proposed weights are not positive definite")
    scaled = [np.linalg.inv(np.linalg.cholesky(m)) for m in M]
    for width in WIDTHS.tolist():
        bound = factor + side * width
        rest = Ball.exact(side) * (Ball.exact(bound) * Ball.exact(M) - image)
        if all(eigenvalue_floor(Ball.exact(b) @ rest[s] @ Ball.exact(b.T)) > 0.0 for s, b in enumerate(scaled)):
            return bound
    if side < 0.0:
        return 0.0  # LM >= 0 always
    raise ArithmeticError(f"no bound within {WIDTHS[-1]} of {factor} is certified")


def image(kernel: Floats, A: Floats, M: Floats) -> Floats:
    """LM in floats."""
    moved = A.swapaxes(2, 3) @ (M[None] @ A)
    return np.asarray((kernel[:, None, :] @ moved.reshape(*kernel.shape, -1)).reshape(M.shape))


def _leading(kernel: Floats, A: Floats) -> tuple[float, Floats]:
    """The leading eigenvalue of L and its eigenvector, symmetric and of trace 1 on average, in floats."""
    from scipy.sparse.linalg import LinearOperator, eigs

    S, n = len(kernel), A.shape[-1]

    def flat_image(x: Floats) -> Floats:
        return image(kernel, A, x.reshape(S, n, n)).ravel()

    start = np.broadcast_to(np.eye(n), (S, n, n)).ravel()
    size = S * n * n
    if size <= 16:
        found, vectors = np.linalg.eig(np.stack([flat_image(e) for e in np.eye(size)], axis=1))
    else:
        found, vectors = eigs(LinearOperator((size, size), matvec=flat_image), k=1, v0=start, tol=TOLERANCE, which="LM")
    place = int(np.argmax(np.abs(found)))
    M = vectors[:, place].real.reshape(S, n, n)
    M = (M + M.swapaxes(1, 2)) / 2.0
    return float(found[place].real), M / (M.trace(axis1=1, axis2=2).mean())
