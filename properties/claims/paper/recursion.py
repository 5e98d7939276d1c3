"""Claims of Appendix B that hold on every path: the matrix form, the error recursion and its three parts.

psi_t = Q_t − Q* is split as psi_t = k_{1,t} + k_{2,t} + k_{3,t}: forgetting the start, noise, and the error fed back.
Cases are exact runs (`exact_run.runs`): a model, a radius, a first table, a constant step in [0, 1] and a path.
"""

from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st

from properties.cases.case import Case
from properties.claims.claim import Claim, Statement
from properties.claims.exact_run import Objects, Run, norm, runs
from properties.claims.sides import at_most, equal, first, of_sides
from properties.judging.verdict import Finding
from properties.strategies import mdps, radii
from robust_core.mdp import MDP


def _times(run: Run) -> range:
    return range(1, len(run.steps) + 1)


# matrix-update (eq:matrixQupdate). Lambda_t is zero outside the visited pair, so the rows of P_t that are zero
# there never matter; at the visited pair P_t V = V(s') and P_t 1 = 1.


def _matrix_update(*, selected: bool = True, **case: Any) -> Finding | None:
    run = Run(**case)
    gamma, R, alpha = run.numbers
    for t in _times(run):
        before, sampled, diagonal = run.tables[t - 1], run.sample(t), run.Lambda(t)
        V = run.V(before)
        target = run.cost + gamma * (1 - R) * sampled.dot(V) + gamma * R * V.max() * sampled.sum(axis=1)
        after = (1 - diagonal) * before + (diagonal if selected else alpha) * target
        found = equal(f"Q_{t} in matrix form", after, run.tables[t])
        if found is not None:
            return found
    return None


MATRIX_UPDATE = Claim(
    "matrix-update",
    "Appendix B (eq:matrixQupdate)",
    "P",
    "the matrix form is Algorithm 1 step by step",
    "constant α",
    printed=Statement(
        "Q_t = (I−Λ_t)Q_{t−1} + Λ_t(c + γ(1−R)P_tV_{t−1} + γ R max V_{t−1} P_t1)",
        runs,
        _matrix_update,
        exact=True,
    ),
    broken=Statement(
        "the same with α in place of the second Λ_t",
        runs,
        lambda **case: _matrix_update(**case, selected=False),
    ),
    note="P_t1 is 1 at the visited pair and 0 elsewhere, unlike P1 = 1 in eq:Bellman; Λ_t removes the difference.",
)


# bellman-matrix (eq:Bellman).


@st.composite
def _models(draw: st.DrawFn) -> Case:
    return {"mdp": draw(mdps(max_states=5, cost_range=(-1.0, 1.0))), "radius": draw(radii())}


def _bellman_matrix(mdp: MDP, radius: float, *, discounted: bool = True) -> Finding | None:
    run = Run(mdp, radius, np.zeros((mdp.n_states, mdp.n_actions)), 0.0, np.zeros((0, 3), dtype=np.int64))
    gamma, R, _ = run.numbers
    ones = run.P.sum(axis=1)
    worst = (gamma if discounted else 1) * R * run.V_star.max()
    return equal("eq:Bellman", run.cost + gamma * (1 - R) * run.P.dot(run.V_star) + worst * ones, run.Q_star)


BELLMAN_MATRIX = Claim(
    "bellman-matrix",
    "Appendix B (eq:Bellman)",
    "E",
    "the robust Bellman equation in matrix form",
    "contamination",
    printed=Statement(
        "Q* = c + γ(1−R)PV* + γ R max V* P1, Q* from exact policy iteration",
        _models,
        _bellman_matrix,
        exact=True,
    ),
    broken=Statement(
        "the same without γ before R (the error of eq:exp=0)",
        _models,
        lambda **case: _bellman_matrix(**case, discounted=False),
    ),
)


# recursion (eq:recursion1, eq:recursion2): all displayed lines, and the two splittings between them.


def _recursion(*, keep_noise: bool = True, **case: Any) -> Finding | None:
    run = Run(**case)
    return first(_recursion_at(run, t, keep_noise) for t in _times(run))


def _recursion_at(run: Run, t: int, keep_noise: bool) -> Finding | None:
    gamma, R, _ = run.numbers
    before, sampled, diagonal = run.tables[t - 1], run.sample(t), run.Lambda(t)
    V, V_star = run.V(before), run.V_star
    ones, nominal_ones = sampled.sum(axis=1), run.P.sum(axis=1)
    target = run.cost + gamma * (1 - R) * sampled.dot(V) + gamma * R * V.max() * ones
    k_1 = sampled.dot(V) - run.P.dot(V_star)
    k_2 = V.max() * ones - V_star.max() * nominal_ones
    kept = (1 - diagonal) * run.psi[t - 1]
    noise = diagonal * run.noise(t) if keep_noise else 0 * run.cost
    lines = [
        (1 - diagonal) * before + diagonal * target - run.Q_star,
        (1 - diagonal) * (before - run.Q_star) + diagonal * (target - run.Q_star),
        kept + diagonal * (gamma * (1 - R) * k_1 + gamma * R * k_2),
        kept + gamma * (1 - R) * diagonal * k_1 + gamma * R * diagonal * k_2,
        kept + noise + diagonal * run.drift(t),
    ]
    split_1 = sampled.dot(V - V_star) + (sampled - run.P).dot(V_star)
    split_2 = (V.max() - V_star.max()) * ones + V_star.max() * (ones - nominal_ones)
    return first(
        [
            *(equal(f"psi_{t}, form {k + 1}", line, run.psi[t]) for k, line in enumerate(lines)),
            equal("k_1 split", split_1, k_1),
            equal("k_2 split", split_2, k_2),
        ]
    )


RECURSION = Claim(
    "recursion",
    "Appendix B (eq:recursion1, eq:recursion2)",
    "P",
    "both displayed recursions of ψ_t, line by line, and the splittings of k_1 and k_2",
    "constant α",
    printed=Statement(
        "ψ_t = (I−Λ_t)ψ_{t−1} + Λ_t·noise + Λ_t·(fed-back error), and every line between",
        runs,
        _recursion,
        exact=True,
    ),
    broken=Statement(
        "the same without the noise terms (P_t−P)V* and (P_t−P)1",
        runs,
        lambda **case: _recursion(**case, keep_noise=False),
    ),
    note="One bracket too many is printed in eq:recursion1 and in eq:recursion2.",
)


# unrolled, k1-form.


def _unrolled(*, first_factor: int = 1, **case: Any) -> Finding | None:
    run = Run(**case)
    t = len(run.steps)
    weights = [run.decay(i - 1 + first_factor, t) * run.Lambda(i) for i in _times(run)]
    k_2 = sum((weight * run.noise(i) for i, weight in enumerate(weights, start=1)), 0 * run.cost)
    k_3 = sum((weight * run.drift(i) for i, weight in enumerate(weights, start=1)), 0 * run.cost)
    return equal(f"k_1 + k_2 + k_3 at t = {t}", run.k_1(t) + k_2 + k_3, run.psi[t])


UNROLLED = Claim(
    "unrolled",
    "Appendix B, after eq:recursion2",
    "P",
    "ψ_t = k_{1,t} + k_{2,t} + k_{3,t}",
    "constant α",
    printed=Statement("the displayed sums with ∏_{j=i+1}^t (I−Λ_j)Λ_i", runs, _unrolled, exact=True),
    broken=Statement("the same with products from j = i", runs, lambda **case: _unrolled(**case, first_factor=0)),
)


def _k1_form(*, ahead: int = 0, **case: Any) -> Finding | None:
    run = Run(**case)
    _, _, alpha = run.numbers

    def claimed(t: int) -> Objects:
        kept = [(1 - alpha) ** int(visits) for visits in run.visits(t + ahead)]
        return np.array(kept, dtype=object) * run.psi[0]

    return first(equal(f"k_1 at t = {t}", run.k_1(t), claimed(t)) for t in range(len(run.steps) + 1 - ahead))


K1_FORM = Claim(
    "k1-form",
    "Appendix B (eq:k1t)",
    "P",
    "k_{1,t}(s,a) = (1−α)^{K_t(s,a)} ψ_0(s,a)",
    "K_t counts visits before time t; 0^0 = 1",
    printed=Statement("(eq:k1t) at every pair and time", runs, _k1_form, exact=True),
    broken=Statement("the same with visits up to and including t", runs, lambda **case: _k1_form(**case, ahead=1)),
)


# k3-bound. Printed "for any t >= T"; the proof and its use are for t <= T. The inequality holds on every path at every
# t, so the printed range is covered (the algorithm run on beyond T) but is not the one needed.


def _k3_sides(*, rate: Fraction | None = None, **case: Any) -> tuple[Objects, Objects]:
    run = Run(**case)
    t = len(run.steps)
    bound = run.k_3_bound(t)
    return np.abs(run.k_3(t)), bound if rate is None else bound * (1 - Fraction(run.radius))


K3_BOUND = Claim(
    "k3-bound",
    "Appendix B, k_3 lemma",
    "P",
    "|k_{3,t}| ≤ γ Σ_i ‖ψ_{i−1}‖ ∏(I−Λ_j)Λ_i 1",
    "0 ≤ α ≤ 1; printed for t ≥ T",
    printed=Statement(
        "|k_{3,t}(s,a)| ≤ γ Σ_{i≤t} ‖ψ_{i−1}‖ [∏_{j>i}(I−Λ_j)Λ_i 1](s,a), for every t ≥ 0",
        runs,
        lambda **case: at_most("|k_3|", *_k3_sides(**case)),
        of_sides(_k3_sides),
        exact=True,
    ),
    broken=Statement(
        "the same with γ(1−R)",
        runs,
        lambda **case: at_most("|k_3|", *_k3_sides(**case, rate=Fraction(1))),
    ),
    note="It is true for every t, and so for the printed range t ≥ T. The proof of Theorem 3 uses it for t ≤ T.",
)


# rough (eq:roughbound1, eq:roughbound2). Read pathwise: N_t = max_{i<=t}‖k_{2,i}‖ stands for the noise term and
# (1−alpha)^m, m = min K_t, for the forgotten start; these are what the lemmas bound. Printed is a number on the left
# and a vector on the right. Entry by entry that is false: the fed-back error at a pair just visited is about
# gamma‖psi‖, while ‖psi‖ may sit at another pair. The proof gives |psi_t|.


def _rough(*, entrywise: bool, **case: Any) -> tuple[Objects, Objects]:
    run = Run(**case)
    t = len(run.steps)
    _, _, alpha = run.numbers
    left = np.abs(run.psi[t])
    forgotten = (1 - alpha) ** int(run.visits(t).min())
    right = forgotten * norm(run.psi[0]) + max(run.noise_sizes) + run.k_3_bound(t)
    return (left if entrywise else np.full(len(left), norm(left), dtype=object)), right


ROUGH = Claim(
    "rough",
    "Appendix B (eq:roughbound1, eq:roughbound2)",
    "P",
    "the two recursive bounds on ‖ψ_t‖",
    "0 ≤ α ≤ 1; the events of the k_1 and k_2 lemmas taken as given: m = min K_t, N_t = max_{i≤t}‖k_{2,i}‖",
    printed=Statement(
        "‖ψ_t‖∞ ≤ (1−α)^m ‖ψ_0‖ 1 + N_t 1 + γ Σ_i ‖ψ_{i−1}‖ ∏(I−Λ_j)Λ_i 1 in every entry",
        lambda: runs(max_states=1, min_length=3, max_length=6),
        lambda **case: at_most("‖psi_t‖", *_rough(**case, entrywise=False)),
        exact=True,
    ),
    amended=Statement(
        "|ψ_t| ≤ the same vector, entry by entry",
        lambda: runs(max_length=6),
        lambda **case: at_most("|psi_t|", *_rough(**case, entrywise=True)),
        of_sides(lambda **case: _rough(**case, entrywise=True)),
        exact=True,
    ),
    amendment="correction",
    note="The left side is printed as a number and the right side as a vector. With norms on both sides the statement "
    "is true, but the induction cannot use it. In this form eq:roughbound2 fails for every ĉ: if all costs are "
    "zero, V* = 0 and the noise term vanishes.",
)
