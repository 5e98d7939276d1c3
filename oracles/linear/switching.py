"""Certificates for robust TDC across the regions of the maximum: its mean square stays bounded, or grows.

One step of robust TDC without projection is x' = A(s,s',g)x + b with ‖b‖ bounded (`second_moments`), where x = (theta,
omega), g = Σ p(i)φ(i) and p is the softmax of varrho·V, V = Φtheta. Write A_k for the matrix with g = φ(k), and L_k for
the operator of `second_moments` with these matrices. The proofs are in docs/theorems.md (T7).

**Bounded.** If all M(s) are positive definite, u < 1, and u·M(s) − L_kM(s) is positive definite for all states s and k,
then E‖x_t‖² stays bounded from every start.

**Grows.** Fix a state k, A = A_k, L = L_k and e_i = φ(k) − φ(i). Vectors of theta are extended by 0 to vectors of x.
Let h be a vector of theta, l > 1, M(s) symmetric and tau(s,i) >= 0 such that for all s and all i != k

    (1)  LM(s) − l·M(s) − Σ_i tau(s,i)(e_i hᵀ + h e_iᵀ)/2  is positive definite,
    (2)  M(s) is negative definite on the hyperplanes e_i·x = 0 and h·x = 0,
    (3)  M(s) is negative definite on the hyperplane a·x = 0, a = A(s,s')ᵀh, for every s' with P(s,s') > 0,
    (4)  some x(s) has x(s)ᵀM(s)x(s) > 0, h·x(s) > 0, e_i·x(s) > 0 and a·x(s) > 0 for the a of (3).

Then there is a c such that E‖x_t‖² grows at least like lᵗ from every start with h·x_0 > 0 and x_0ᵀM(s_0)x_0 > c, and
from every start from which such a point is reached with positive probability.

`propose_bound` and `propose_expansion` find M by semidefinite programs. `is_bounded` and `is_expanding` check the
hypotheses in ball arithmetic and do not trust the solver.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from oracles.arithmetic.ball import Ball, eigenvalue_floor
from oracles.linear import second_moments
from robust_core.validate import Floats

MOST = 5
"""States that are added to a program at once."""


@dataclass(frozen=True, eq=False)
class Expansion:
    """l, M(s), h and tau(s,i) with the maximum at state `held`; h has the length of x and is 0 on omega."""

    held: int
    factor: float
    weights: Floats
    direction: Floats
    multipliers: Floats


def is_bounded(kernel: Ball, steps: Sequence[Ball], M: Floats, factor: float) -> bool:
    """Whether the hypotheses of *bounded* hold with u = `factor`; `steps` must have A_k for every state k."""
    if not (factor < 1.0 and len(steps) == len(M) and _is_symmetric(M)):
        return False
    most = Ball.exact(factor) * Ball.exact(M)
    return all(_is_definite(Ball.exact(m)) for m in M) and all(
        _is_definite(rest) for A in steps for rest in _each(most - second_moments.moved(kernel, A, M))
    )


def _each(family: Ball) -> list[Ball]:
    return [family[s] for s in range(len(family.mid))]


def _is_symmetric(M: Floats) -> bool:
    """Whether all matrices are finite and symmetric: eigenvalues are bounded for such only."""
    return bool(np.isfinite(M).all() and (M.swapaxes(1, 2) == M).all())


def _is_definite(X: Ball) -> bool:
    """Whether a symmetric matrix is certainly positive definite; a bound that is not a number shows nothing."""
    return eigenvalue_floor(X) > 0.0


def is_expanding(kernel: Ball, A: Ball, features: Floats, claim: Expansion, *, jumps: bool = True) -> bool:
    """Whether (1) to (4) hold; A are the steps with the maximum held at the state of the claim.

    Without `jumps` the condition (3) and its part of (4) are left out: then the claim can be false.
    """
    (S, N), M, h = features.shape, claim.weights, claim.direction
    known = np.isfinite(claim.factor) and np.isfinite(h).all() and np.isfinite(claim.multipliers).all()
    if not (known and claim.factor > 1.0 and (claim.multipliers >= 0.0).all() and (h[N:] == 0.0).all()):
        return False
    if not _is_symmetric(M):
        return False
    leads = _leads(features, claim.held)
    image = second_moments.moved(kernel, A, M)
    for s in range(S):
        rest = image[s] - Ball.exact(claim.factor) * Ball.exact(M[s])
        for i, lead in enumerate(leads):
            product = Ball.exact(claim.multipliers[s, i] / 2.0) * _outer(lead, Ball.exact(h))
            rest = rest - product - product.T
        moved = [A[s, t].T @ Ball.exact(h) for t in range(S) if kernel.mid[s, t] + kernel.rad[s, t] > 0.0]
        forms = [Ball.exact(h), *(lead for i, lead in enumerate(leads) if i != claim.held), *(moved if jumps else [])]
        if not (_is_definite(rest) and _is_cone(M[s], forms)):
            return False
    return True


def _leads(features: Floats, held: int) -> list[Ball]:
    """e_i of all states, extended by 0."""
    phi, nothing = Ball.exact(features), np.zeros(features.shape[1])
    differences = [phi[held] - phi[i] for i in range(len(features))]
    return [Ball(np.append(e.mid, nothing), np.append(e.rad, nothing)) for e in differences]


def _outer(a: Ball, b: Ball) -> Ball:
    return a[:, None] * b[None, :]


def _is_cone(M: Floats, forms: list[Ball]) -> bool:
    """(2), (3) and (4) for one state; the first form is h.

    M is negative definite on a·x = 0 if μaaᵀ − M is positive definite for some μ.
    """
    inside = np.linalg.eigh(M)[1][:, -1]
    x = Ball.exact(inside * np.sign(forms[0].mid @ inside))
    value = x @ Ball.exact(M) @ x
    if not value.mid > value.rad:
        return False
    for form in forms:
        at = form @ x
        if not at.mid > at.rad:
            return False
        square, size = _outer(form, form), float(np.abs(M).max() / (form.mid @ form.mid))
        sizes = (Ball.exact(size * 4.0**power) for power in range(-3, 9))
        if not any(_is_definite(mu * square - Ball.exact(M)) for mu in sizes):
            return False
    return True


def propose_bound(kernel: Floats, steps: Sequence[Floats], *, factor: float) -> Floats | None:
    """M whose margin in *bounded* is largest, or None if no positive one is found.

    States k are added to the program where its solution fails for them, a few at a time.
    """
    from scipy import sparse

    S, n = len(kernel), steps[0].shape[-1]
    pack = _Packing(n)
    D = S * pack.size
    margin = sparse.csc_matrix(np.tile(pack.vector(np.eye(n)), S)[:, None])
    rows = [sparse.hstack([-sparse.identity(D), margin])]
    scale = sparse.csc_matrix(np.append(margin.toarray().ravel() / (S * n), 0.0)[None])
    left = list(range(len(steps)))
    chosen = left[:: max(len(left) // MOST, 1)]
    while chosen:
        left = [k for k in left if k not in chosen]
        rows += [sparse.hstack([_operator(kernel, steps[k], pack) - factor * np.eye(D), margin]) for k in chosen]
        found = _solution(sparse.vstack([*rows, scale]), n, S * len(rows), 0)
        M = pack.matrix(found[:D].reshape(S, -1))
        if found[-1] <= 0.0:
            return None
        excess = {k: _excess(kernel, steps[k], M, factor) for k in left}
        chosen = sorted((k for k in left if excess[k] > -found[-1] / 2.0), key=lambda k: -excess[k])[:MOST]
    return M


def _excess(kernel: Floats, A: Floats, M: Floats, factor: float) -> float:
    """The largest eigenvalue of L_kM − `factor`·M."""
    return float(np.linalg.eigvalsh(second_moments.image(kernel, A, M) - factor * M).max())


def _solution(matrix: Any, n: int, blocks: int, signs: int) -> Floats:
    """The z of largest last entry such that (0, …, 0, 1) − matrix z is in a product of cones.

    They are `blocks` cones of positive semidefinite n x n matrices, `signs` half lines, and zero.
    """
    import clarabel
    from scipy import sparse

    matrix = sparse.csc_matrix(matrix)
    cones = [*[clarabel.PSDTriangleConeT(n)] * blocks, *[clarabel.NonnegativeConeT(signs)] * bool(signs)]
    right, cost = np.zeros(matrix.shape[0]), np.zeros(matrix.shape[1])
    right[-1], cost[-1] = 1.0, -1.0
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_iter = False, 80
    nothing = sparse.csc_matrix((len(cost), len(cost)))
    solver = clarabel.DefaultSolver(nothing, cost, matrix, right, [*cones, clarabel.ZeroConeT(1)], settings)
    return np.array(solver.solve().x)


def propose_expansion(
    kernel: Floats, A: Floats, features: Floats, *, held: int, factor: float, moments: Floats
) -> Expansion | None:
    """The claim whose margins in (1) and (2) are largest; `moments`, the mean of xxᵀ on a walk, fixes h and the scale.

    None if the solver finds no positive margin.
    """
    from scipy import sparse

    (S, N), n = features.shape, A.shape[-1]
    pack = _Packing(n)
    leading = np.linalg.eigh(moments[:N, :N])[1][:, -1]
    h = np.append(leading * np.sign(leading.sum()), np.zeros(N))
    leads = np.array([e.mid for e in _leads(features, held)])
    others = np.delete(leads, held, axis=0)
    D, d = S * pack.size, pack.size
    eye, one = sparse.identity(S, format="csc"), pack.vector(np.eye(n))
    products = np.array([(np.outer(e, h) + np.outer(h, e)) / 2.0 for e in others])
    squares = np.array([np.outer(v, v) / (v @ v) for v in [*others, h]])
    taus, mus = sparse.kron(eye, pack.vector(products).T), S * len(squares)
    margin = sparse.csc_matrix(np.tile(one, S)[:, None])
    empty = sparse.csc_matrix
    growing = [-sparse.csc_matrix(_operator(kernel, A, pack) - factor * np.eye(D)), taus, empty((D, mus)), margin]
    rows = [sparse.hstack(growing)]
    for place, square in enumerate(squares):
        chosen = sparse.csc_matrix((np.ones(S), (range(S), range(place * S, place * S + S))), shape=(S, mus))
        column = -sparse.kron(chosen, pack.vector(square)[:, None])
        rows.append(sparse.hstack([sparse.identity(D), empty((D, S * (S - 1))), column, margin]))
    signs = S * (S - 1) + mus
    rows.append(sparse.hstack([empty((signs, D)), -sparse.identity(signs), empty((signs, 1))]))
    scale = np.concatenate([np.tile(pack.vector(moments), S) / S, np.zeros(signs + 1)])
    rows.append(sparse.csc_matrix(scale[None]))
    found = _solution(sparse.vstack(rows), n, S * (1 + len(squares)), signs)
    if found[-1] <= 0.0:
        return None
    multipliers = np.insert(found[D : D + S * (S - 1)].reshape(S, S - 1), held, 0.0, axis=1)
    return Expansion(held, factor, pack.matrix(found[:D].reshape(S, d)), h, np.maximum(multipliers, 0.0))


class _Packing:
    """Symmetric matrices as vectors: the upper triangle by columns, off the diagonal times √2."""

    def __init__(self, n: int) -> None:
        self.rows = np.array([i for j in range(n) for i in range(j + 1)])
        self.columns = np.array([j for j in range(n) for _ in range(j + 1)])
        self.scale = np.where(self.rows == self.columns, 1.0, np.sqrt(2.0))
        self.n, self.size = n, len(self.rows)

    def vector(self, X: Floats) -> Floats:
        """The vectors of symmetric matrices."""
        return np.asarray(X[..., self.rows, self.columns] * self.scale)

    def matrix(self, v: Floats) -> Floats:
        """The matrices of vectors."""
        X = np.zeros((*v.shape[:-1], self.n, self.n))
        X[..., self.rows, self.columns] = X[..., self.columns, self.rows] = v / self.scale
        return X


def _operator(kernel: Floats, A: Floats, pack: _Packing) -> Floats:
    """The matrix of L on the vectors of families M(s)."""
    S, basis = len(kernel), pack.matrix(np.eye(pack.size))
    found = np.zeros((S, pack.size, S, pack.size))
    for s in range(S):
        for t in range(S):
            found[s, :, t, :] = kernel[s, t] * pack.vector(A[s, t].T @ basis @ A[s, t]).T
    return found.reshape(S * pack.size, S * pack.size)
