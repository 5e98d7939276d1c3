"""Claims about single samples: the maximum likelihood estimate, independent visits, the unconditional noise.

The expectations over paths of a few steps are enumerated in exact rationals.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import strategies as st

from oracles.arithmetic import exact
from oracles.arithmetic.exact import Vector
from properties.cases.case import Case
from properties.claims.claim import Claim, Statement
from properties.claims.exact_run import STEP_SIZES, Run
from properties.claims.sides import at_most, equal, first
from properties.judging.verdict import Finding
from properties.strategies import mdps, policies, q_tables, radii
from robust_core.mdp import MDP
from robust_core.validate import Floats

# mle.


@st.composite
def _likelihoods(draw: st.DrawFn) -> Case:
    n = draw(st.integers(1, 4))
    return {
        "q": draw(policies((1, n)))[0],
        "s_next": draw(st.integers(0, n - 1)),
        "second": draw(st.integers(0, n - 1)),
    }


def _likelihood(q: Vector, samples: list[int]) -> Fraction:
    result = Fraction(1)
    for s in samples:
        result *= q[s]
    return result


def _mle(q: Floats, s_next: int, second: int, *, both: bool = False) -> Finding | None:
    """The likelihood of the Dirac at s' against that of any q; `both`: of two samples."""
    rival = exact.distribution(q.tolist()).fractions()
    samples = [s_next, second] if both else [s_next]
    point = tuple(Fraction(int(k == s_next)) for k in range(len(rival)))
    return first(
        [
            at_most("likelihood of q against that of 1_{s'}", _likelihood(rival, samples), _likelihood(point, samples)),
            equal("equal only for q = 1_{s'}", both or _likelihood(rival, samples) < 1 or rival == point, True),
        ]
    )


MLE = Claim(
    "mle",
    "Section 4",
    "E",
    "1_{s'} is the maximum likelihood estimate of p_s^a from one sample",
    printed=Statement("q(s') ≤ 1_{s'}(s') for every q, with equality for 1_{s'} only", _likelihoods, _mle, exact=True),
    broken=Statement("the same of two samples", _likelihoods, lambda **case: _mle(**case, both=True)),
    note="This is the estimate from one sample only. With earlier visits the estimate would be the observed "
    "frequencies, which the algorithm does not use.",
)


# independent-visits. A path of t steps from state 0, one action; the samples at the visits of state 0 before time t.


@st.composite
def _short_chains(draw: st.DrawFn) -> Case:
    return {"mdp": draw(mdps(min_states=2, max_states=2, max_actions=1)), "t": draw(st.integers(2, 4))}


def _paths(mdp: MDP, t: int) -> Iterator[tuple[Fraction, list[int]]]:
    """(probability, states s_0 … s_t) of all paths from state 0."""
    rows = [exact.distribution(mdp.P[s, 0].tolist()).fractions() for s in range(mdp.n_states)]
    frontier = [(Fraction(1), [0])]
    for _ in range(t):
        frontier = [
            (weight * p, [*states, s]) for weight, states in frontier for s, p in enumerate(rows[states[-1]]) if p
        ]
    yield from frontier


def _samples(states: list[int]) -> tuple[int, ...]:
    return tuple(after for before, after in pairwise(states) if before == 0)


def _given_their_number(mdp: MDP, t: int) -> Finding | None:
    """P(samples | K_t) against the product of the row."""
    row = exact.distribution(mdp.P[0, 0].tolist()).fractions()
    joint: dict[tuple[int, ...], Fraction] = {}
    for weight, states in _paths(mdp, t):
        joint[_samples(states)] = joint.get(_samples(states), Fraction(0)) + weight
    findings = []
    for samples, weight in joint.items():
        number = sum(w for other, w in joint.items() if len(other) == len(samples))
        found = equal(
            f"P(samples = {list(samples)} | K_{t} = {len(samples)})", weight / number, _likelihood(row, list(samples))
        )
        findings.append(found)
    return first(findings)


def _given_the_past(mdp: MDP, t: int, *, row_of: int = 0) -> Finding | None:
    """The distribution of the sample at a visit, given all states up to the visit."""
    row = exact.distribution(mdp.P[row_of, 0].tolist()).fractions()
    past: dict[tuple[int, ...], list[Fraction]] = {}
    for weight, states in _paths(mdp, t):
        for i in range(t):
            if states[i] == 0:
                law = past.setdefault(tuple(states[: i + 1]), [Fraction(0)] * mdp.n_states)
                law[states[i + 1]] += weight
    return first(
        equal(f"distribution of s' given {list(p)}", [x / sum(law) for x in law], list(row)) for p, law in past.items()
    )


INDEPENDENT_VISITS = Claim(
    "independent-visits",
    "Appendix B, k_2 lemma (equation 101 of Li et al.)",
    "E",
    "next states at successive visits of a pair are independent and identically distributed",
    "as the lemma uses it: for the K_t visits before a fixed time t",
    printed=Statement(
        "given K_t = K, the K samples before time t are independent draws from the row",
        _short_chains,
        _given_their_number,
        exact=True,
    ),
    amended=Statement(
        "given everything up to a visit, its sample is a draw from the row; so the first K samples of a recurrent pair "
        "are independent, for fixed K, and a union over K ≤ T pays for a random K_t",
        _short_chains,
        _given_the_past,
        exact=True,
    ),
    amendment="hypothesis",
    broken=Statement(
        "its sample is a draw from the row of another state",
        _short_chains,
        lambda **case: _given_the_past(**case, row_of=1),
    ),
    note="K_t depends on the samples: a sample that leads far away delays the next visit, so given K_t the row is "
    "biased towards early returns. The constant ĉ of the lemma is large enough for the union over K (claim "
    "k2-bound).",
)


# noise-square.


@st.composite
def _first_steps(draw: st.DrawFn) -> Case:
    mdp = draw(mdps(max_states=2, max_actions=2, cost_range=(-1.0, 1.0)))
    return {
        "mdp": mdp,
        "policy": draw(policies(mdp, exploring=True)),
        "radius": draw(radii()),
        "Q": draw(q_tables(mdp)),
        "alpha": draw(st.sampled_from(STEP_SIZES)),
    }


@st.composite
def _forgetful_steps(draw: st.DrawFn) -> Case:
    """A long first step from a large entry: on some paths the table is small after it, on others it stays large."""
    stay = draw(st.sampled_from((0.5, 0.75)))
    return {
        "mdp": MDP([[[stay, 1.0 - stay]], [[0.0, 1.0]]], np.zeros((2, 1)), draw(st.sampled_from((0.5, 0.75)))),
        "policy": np.ones((2, 1)),
        "radius": draw(st.sampled_from((0.0, 0.25))),
        "Q": np.array([[draw(st.sampled_from((1.0, 8.0)))], [0.0]]),
        "alpha": draw(st.sampled_from((1.0, 0.75))),
    }


def _second_moments(
    mdp: MDP, policy: Floats, radius: float, Q: Floats, alpha: float
) -> list[tuple[Fraction, Fraction, Fraction]]:
    """(probability, E[eta_1² | first step], gamma²(1−R)² max Q_1²) for every first step from state 0."""
    run = Run(mdp, radius, Q, alpha, np.zeros((0, 3), dtype=np.int64))
    gamma, R, _ = run.numbers
    pi = [exact.distribution(row).fractions() for row in policy.tolist()]
    found = []
    for a, s in np.ndindex(mdp.n_actions, mdp.n_states):
        weight = pi[0][a] * run.P[a][s]
        if not weight:
            continue
        table = run.step(run.tables[0], a, s)
        V = run.V(table)
        second = Fraction(0)
        for b in range(mdp.n_actions):
            row = run.P[s * mdp.n_actions + b]
            mean = row.dot(V)
            second += pi[s][b] * sum(
                (p * (gamma * (1 - R) * (v - mean)) ** 2 for p, v in zip(row, V, strict=True)), Fraction(0)
            )
        found.append((weight, second, (gamma * (1 - R)) ** 2 * max(x**2 for x in table)))
    return found


def _unconditional(**case: Any) -> Finding | None:
    moments = _second_moments(**case)
    left = sum(weight * second for weight, second, _ in moments)
    return first(at_most("E[eta_1²] against gamma²(1−R)² max Q_1² of a path", left, bound) for _, _, bound in moments)


def _averaged(*, factor: Fraction = Fraction(1), **case: Any) -> tuple[Fraction, Fraction]:
    moments = _second_moments(**case)
    left = sum((weight * second for weight, second, _ in moments), Fraction(0))
    return left, factor * sum((weight * bound for weight, _, bound in moments), Fraction(0))


NOISE_SQUARE = Claim(
    "noise-square",
    "Appendix A.2",
    "E",
    "E[η_t²] ≤ γ²(1−R)² max Q_t², without conditioning",
    "contamination; t = 1, all first steps enumerated",
    printed=Statement(
        "the number E[η_1²] is at most the random γ²(1−R)² max Q_1², on every path",
        _forgetful_steps,
        _unconditional,
        exact=True,
    ),
    amended=Statement(
        "E[η_t²] ≤ γ²(1−R)² E[max Q_t²]; given Q_t it is the claim noise-var",
        _first_steps,
        lambda **case: at_most("E[eta_1²]", *_averaged(**case)),
        lambda **case: float(_averaged(**case)[0] / _averaged(**case)[1]) if _averaged(**case)[1] else 0.0,
        exact=True,
    ),
    amendment="correction",
    broken=Statement(
        "the same with a sixteenth of the right side",
        _first_steps,
        lambda **case: at_most("E[eta_1²]", *_averaged(**case, factor=Fraction(1, 16))),
    ),
    note="The left side is a number, the right side a random variable. Theorem 2 needs the conditional form.",
)

CLAIMS = (MLE, INDEPENDENT_VISITS, NOISE_SQUARE)
