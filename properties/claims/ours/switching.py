"""Robust TDC across the regions of the maximum (docs/theorems.md, T7): its mean square stays bounded, or grows.

The certificates are found and checked by `oracles.linear.switching`. The recursion that they are about is written down
here once more, from Algorithm 2, and its expectations are sums over all paths in rationals. Costs are zero and the
maximum is not smoothed: then the constants of T7 vanish, E[q(x_t,s_t)] <= uᵗ q(x_0,s_0) and >= lᵗ q(x_0,s_0). One step
of *bounded* is also taken with any weights of the states and an additional number in delta, as a smooth maximum and a
cost give them.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
from hypothesis import strategies as st

from oracles.arithmetic.ball import Ball
from oracles.arithmetic.exact import Vector
from oracles.linear import second_moments, switching
from oracles.linear.switching import Expansion
from properties.cases.case import Case
from properties.claims.claim import Claim, Statement
from properties.claims.sides import at_most, dot, first, fractions
from properties.judging.verdict import Finding
from properties.strategies import policies
from robust_core.validate import Floats

MOMENTS = (1.0, 0.25)
"""Mean squares of theta and omega on a walk: they fix the scale of a proposed M, and no claim depends on them."""
State = tuple[Vector, int]
Square = Callable[[Vector, int], Fraction]


@dataclass(frozen=True)
class Numbers:
    """The numbers of Algorithm 2."""

    gamma: float
    radius: float
    alpha: float
    beta: float

    def held(self, features: Floats, k: int) -> Ball:
        """A(s,s') with the maximum held at state k."""
        return second_moments.steps(
            features, gamma=self.gamma, radius=self.radius, alpha=self.alpha, beta=self.beta, held=k
        )

    def exact(self) -> Vector:
        """gamma, R, alpha and beta as fractions."""
        return Fraction(self.gamma), Fraction(self.radius), Fraction(self.alpha), Fraction(self.beta)


def _moved(
    numbers: Numbers, features: Floats, x: Vector, s: int, t: int, *,
    weights: Vector | None = None, extra: Fraction = Fraction(0),
) -> Vector:  # fmt: skip
    """x' of Algorithm 2 without cost after a step from s to t; `weights`: of the states, in place of the maximum."""
    gamma, R, alpha, beta = numbers.exact()
    phi, N = [fractions(row) for row in features], features.shape[1]
    theta, omega = x[:N], x[N:]
    V = [dot(row, theta) for row in phi]
    if weights is None:
        weights = tuple(Fraction(k == V.index(max(V))) for k in range(len(V)))
    g = tuple(sum((p * row[n] for p, row in zip(weights, phi, strict=True)), Fraction(0)) for n in range(N))
    delta = gamma * ((1 - R) * V[t] + R * dot(g, theta)) - V[s] + extra
    tracked = dot(phi[s], omega)
    slopes = [gamma * ((1 - R) * there + R * mean) for there, mean in zip(phi[t], g, strict=True)]
    return (
        *(y + alpha * (delta * here - tracked * slope) for y, here, slope in zip(theta, phi[s], slopes, strict=True)),
        *(y + beta * (delta - tracked) * here for y, here in zip(omega, phi[s], strict=True)),
    )


def _means(
    numbers: Numbers, kernel: Floats, features: Floats, start: State, value: Square, steps: int
) -> Iterator[Fraction]:
    """E[value(x_t, s_t)] at t = 1, 2, …, `steps`."""
    paths = [(Fraction(1), *start)]
    rows = [fractions(row) for row in kernel]
    for _ in range(steps):
        paths = [
            (weight * p, _moved(numbers, features, x, s, t), t)
            for weight, x, s in paths
            for t, p in enumerate(rows[s])
            if p
        ]
        yield sum((weight * value(x, s) for weight, x, s in paths), Fraction(0))


def _form(M: Floats, x: Vector) -> Fraction:
    return dot(x, tuple(dot(fractions(row), x) for row in M))


# tdc-bounded.


@st.composite
def _bounded_cases(draw: st.DrawFn) -> Case:
    n = draw(st.integers(1, 2))
    entries = st.sampled_from((1.0, 1.125, 0.5, 0.75, -0.5))
    vector = st.lists(st.sampled_from((1.0, 0.0, -1.0, 0.5, -0.25)), min_size=2 * n, max_size=2 * n)
    return {
        "features": np.array(draw(st.lists(st.lists(entries, min_size=n, max_size=n), min_size=2, max_size=2))),
        "kernel": draw(policies((2, 2))),
        "gamma": draw(st.sampled_from((0.5, 0.875))),
        "radius": draw(st.sampled_from((0.25, 0.5))),
        "alpha": draw(st.sampled_from((0.1875, 0.0625))),
        "beta": draw(st.sampled_from((0.5, 0.25))),
        "factor": draw(st.sampled_from((0.999, 0.96875, 0.875))),
        "x": np.array(draw(vector)),
        "weights": draw(policies((1, 2)))[0],
        "extra": draw(st.sampled_from((0.0, 1.0, -4.0))),
        "slack": draw(st.sampled_from((1.0, 0.0625))),
    }


def _bound(numbers: Numbers, features: Floats, kernel: Floats, factor: float) -> Floats | None:
    """A certificate that the mean square stays bounded, whichever state the maximum is held at."""
    steps = [numbers.held(features, k) for k in range(len(kernel))]
    M = switching.propose_bound(kernel, [A.mid for A in steps], factor=factor)
    return M if M is not None and switching.is_bounded(Ball.exact(kernel), steps, M, factor) else None


def _has(certificate: Callable[..., object], case: Case) -> bool:
    """Whether there is a certificate for the case: without one the theorem says nothing about it."""
    numbers = Numbers(*(case[name] for name in ("gamma", "radius", "alpha", "beta")))
    return certificate(numbers, case["features"], case["kernel"], case["factor"]) is not None


def _bounded() -> st.SearchStrategy[Case]:
    return _bounded_cases().filter(partial(_has, _bound))


def _growing() -> st.SearchStrategy[Case]:
    return _growing_cases().filter(partial(_has, _expansion))


def _stays_bounded(
    features: Floats, kernel: Floats, factor: float, x: Floats, weights: Floats, extra: float, slack: float, *,
    share: Fraction = Fraction(1), **numbers: float,
) -> Finding | None:  # fmt: skip
    """E[x_tᵀM(s_t)x_t] against uᵗ; then one step with any weights and an additional number (Minkowski)."""
    of = Numbers(**numbers)
    M = _bound(of, features, kernel, factor)
    if M is None:
        return None
    u, start, kappa, epsilon = share * Fraction(factor), fractions(x), Fraction(extra), Fraction(slack)
    sizes = [[_size(of, features[s], M[t], kappa) for t in range(len(kernel))] for s in range(len(kernel))]
    largest = max(map(max, sizes))
    findings = []
    for s, row in enumerate(kernel):
        before = _form(M[s], start)
        means = _means(of, kernel, features, (start, s), lambda y, t: _form(M[t], y), 3)
        findings += [at_most(f"E[q(x_{t})]", mean, u**t * before) for t, mean in enumerate(means, start=1)]
        after = [_moved(of, features, start, s, t, weights=fractions(weights), extra=kappa) for t in range(len(row))]
        mean = sum(
            (p * _form(M[t], y) for t, (p, y) in enumerate(zip(fractions(row), after, strict=True))), Fraction(0)
        )
        findings.append(at_most("E[q(x_1)]", mean, (1 + epsilon) * u * before + (1 + 1 / epsilon) * largest))
    return first(findings)


def _size(numbers: Numbers, phi: Floats, M: Floats, kappa: Fraction) -> Fraction:
    """bᵀMb of b = kappa(alpha phi, beta phi)."""
    b = tuple(kappa * step * y for step in numbers.exact()[2:] for y in fractions(phi))
    return _form(M, b)


@st.composite
def _growing_cases(draw: st.DrawFn) -> Case:
    return {
        "features": np.array([[draw(st.sampled_from((0.75, 0.5, 0.625)))], [draw(st.sampled_from((2.0, 2.25)))]]),
        "kernel": np.array([[0.625, 0.375], [0.875, 0.125]]),
        "gamma": draw(st.sampled_from((0.875, 0.9375))),
        "radius": draw(st.sampled_from((0.5, 0.625))),
        "alpha": 0.1875,
        "beta": draw(st.sampled_from((0.5, 0.375))),
        "factor": draw(st.sampled_from((1.0078125, 1.03125))),
        "x": np.array([1.0, draw(st.integers(-4, 4)) / 8]),
        "steps": draw(st.integers(1, 5)),
    }


def _bounded_by_one(
    features: Floats, kernel: Floats, factor: float, x: Floats, steps: int, **numbers: float
) -> Finding | None:
    """A certificate with the maximum held at state 0, and one that robust TDC grows."""
    del x, steps
    of, u = Numbers(**numbers), 0.96875
    A = of.held(features, 0)
    M = switching.propose_bound(kernel, [A.mid], factor=u)
    if M is None or not switching.is_bounded(Ball.exact(kernel), [A, A], M, u):
        return None
    if _expansion(of, features, kernel, factor) is None:
        return None
    what = "factor of E‖x_t‖² per step, against the maximum held at state 0"
    return Finding(what, f"at least {factor}", f"at most {u}")


def _expansion(
    numbers: Numbers, features: Floats, kernel: Floats, factor: float, *, jumps: bool = True
) -> Expansion | None:
    """A certificate of growth with the maximum held at state 1; without `jumps` its hypothesis (3) may fail."""
    A = numbers.held(features, 1)
    moments = np.diag(np.repeat(MOMENTS, features.shape[1]))
    found = switching.propose_expansion(kernel, A.mid, features, held=1, factor=factor, moments=moments)
    certain = found is not None and switching.is_expanding(Ball.exact(kernel), A, features, found, jumps=jumps)
    return found if certain else None


BOUNDED = Claim(
    "tdc-bounded",
    "Theorem T7 (docs/theorems.md)",
    "E",
    "the mean square of robust TDC stays bounded if M(s) > 0 exist with L_k M ≤ u M, u < 1, for every state k",
    "no projection; the maximum held at state k gives the operator L_k of second moments",
    printed=Statement(
        "without the hypothesis: for one state k only",
        _growing_cases,
        _bounded_by_one,
    ),
    amended=Statement(
        "for all states k: E[x_tᵀM(s_t)x_t] ≤ uᵗ x_0ᵀM(s_0)x_0 without costs; a step with any softmax weights and any "
        "cost gives √E[x'ᵀMx'] ≤ √(u·xᵀMx) + B",
        _bounded,
        _stays_bounded,
    ),
    amendment="hypothesis",
    broken=Statement("the same with u/2", _bounded, lambda **case: _stays_bounded(**case, share=Fraction(1, 2))),
    note="M is found by a semidefinite program and checked by intervals; expectations are sums over all paths in "
    "rationals. The condition is sufficient, not necessary.",
)


# tdc-grows.


@st.composite
def _jumping_cases(draw: st.DrawFn) -> Case:
    """Every state leads to state 0, whose feature is negative: a step from theta > 0 makes theta negative."""
    return {
        "features": np.array([[-1.0], [draw(st.sampled_from((4.0, 7.0, 8.0)))]]),
        "kernel": np.array([[1.0, 0.0], [1.0, 0.0]]),
        "gamma": draw(st.sampled_from((0.5, 0.75))),
        "radius": draw(st.sampled_from((0.5, 0.25))),
        "alpha": draw(st.sampled_from((1.5, 1.0))),
        "beta": 0.125,
        "factor": draw(st.sampled_from((1.25, 1.125))),
        "x": np.array([1.0, draw(st.sampled_from((0.0, 0.125, -0.125)))]),
        "steps": draw(st.sampled_from((16, 8, 24))),
    }


def _grows(
    features: Floats, kernel: Floats, factor: float, x: Floats, steps: int, *, jumps: bool = True, by: int = 1,
    **numbers: float,
) -> Finding | None:  # fmt: skip
    """E[q(x_t,s_t)] >= lᵗ q(x_0,s_0), q = xᵀM(s)x in the cone and 0 elsewhere; so E‖x_t‖² >= lᵗ q(x_0,s_0)/max‖M‖."""
    of = Numbers(**numbers)
    found = _expansion(of, features, kernel, factor, jumps=jumps)
    if found is None:
        return None
    h, start, growth = fractions(found.direction), fractions(x), (by * Fraction(factor)) ** steps
    norm = max(sum(map(Fraction, np.abs(row).tolist()), Fraction(0)) for M in found.weights for row in M)

    def value(y: Vector, s: int) -> Fraction:
        return max(_form(found.weights[s], y), Fraction(0)) if dot(h, y) > 0 else Fraction(0)

    findings = []
    for s in range(len(kernel)):
        before = value(start, s)
        *_, size = _means(of, kernel, features, (start, s), lambda y, _: dot(y, y), steps)
        findings.append(at_most(f"least growth of E‖x_{steps}‖²", growth * before / norm, size))
        if jumps:
            *_, mean = _means(of, kernel, features, (start, s), value, steps)
            findings.append(at_most(f"lᵗ q(x_0) against E[q(x_{steps})]", growth * before, mean))
    return first(findings)


GROWS = Claim(
    "tdc-grows",
    "Theorem T7 (docs/theorems.md)",
    "E",
    "the mean square of robust TDC grows like lᵗ if M(s) with (1) to (4) of T7 exist",
    "no projection; (3) says that no step leads from the cone of M to its mirror image",
    printed=Statement(
        "without the hypothesis (3)",
        _jumping_cases,
        lambda **case: _grows(**case, jumps=False),
    ),
    amended=Statement(
        "with (1) to (4): E[q(x_t,s_t)] ≥ lᵗ q(x_0,s_0) without costs, q(x,s) = xᵀM(s)x in the cone and 0 elsewhere",
        _growing,
        _grows,
    ),
    amendment="hypothesis",
    broken=Statement("the same with 2l", _growing, lambda **case: _grows(**case, by=2)),
    note="In the counterexample the recursion with the maximum held grows. But a step from theta > 0 makes theta "
    "negative; the maximum moves to the other state, and there theta shrinks.",
)

CLAIMS = (BOUNDED, GROWS)
