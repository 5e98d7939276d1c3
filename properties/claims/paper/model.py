"""Claims of Sections 2 and 3 and of Appendix A.1: uncertainty sets, Theorem 1, Bellman operators.

Everything is decided in exact rationals; the claim on R = 0 compares the learner's bits as well.
"""

from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st

from oracles.arithmetic import exact
from oracles.arithmetic.exact import Vector
from oracles.planning import game, rational
from oracles.sets import vertices
from properties.cases.case import Case
from properties.claims.claim import Claim, Statement
from properties.claims.paper import product_sets, sets
from properties.claims.sides import at_most, dot, equal, first, fractions, of_sides
from properties.judging.verdict import Finding
from properties.strategies import mdps, policies, q_tables, uncertainty_sets, values
from properties.strategies.sets import KINDS
from robust_core.learners.schedules import constant
from robust_core.learners.tabular import Q_LEARNING, TabularLearner
from robust_core.mdp import MDP
from robust_core.problem import Problem
from robust_core.sets import Contamination, UncertaintySet
from robust_core.trajectory import Transition
from robust_core.validate import Floats

MAX_STATES = 4

# duality (Theorem 1). `solve` gives V*, a policy and a kernel; `saddle_violations` proves with inequalities over all
# vertices that they are a saddle point against all play of either side. On the smallest models both orders of play
# are enumerated as well.


@st.composite
def _games(draw: st.DrawFn) -> Case:
    mdp = draw(mdps(max_states=3, max_actions=2, cost_range=(-1.0, 1.0)))
    return {"mdp": mdp, "uncertainty_set": draw(uncertainty_sets())}


ENUMERATED = 300
"""Policies times kernels up to which both orders of play are enumerated in the quick search."""


def _duality(mdp: MDP, uncertainty_set: UncertaintySet) -> Finding | None:
    optimum = rational.solve(mdp, uncertainty_set)
    policy = tuple(actions[0] for actions in optimum.optimal_actions)
    found = game.saddle_violations(mdp, uncertainty_set, optimum.V, policy, optimum.kernel)
    if found:
        return Finding("saddle point", found[0], "none better for either side")
    backup = [
        [
            Fraction(mdp.cost[s, a])
            + Fraction(mdp.gamma) * vertices.sigma(uncertainty_set, mdp.P[s, a].tolist(), optimum.V)
            for a in range(mdp.n_actions)
        ]
        for s in range(mdp.n_states)
    ]
    bellman = first(
        [
            equal("Q* against c + gamma sigma(V*)", optimum.Q, backup),
            equal("V*", optimum.V, [min(row) for row in backup]),
        ]
    )
    return bellman or _both_orders(mdp, uncertainty_set, optimum.V)


def _both_orders(mdp: MDP, uncertainty_set: UncertaintySet, V: Vector) -> Finding | None:
    """min max = max min = V*, each attained by one choice for all states, by enumeration."""
    rows = [vertices.vertices(uncertainty_set, row) for rows in mdp.P.tolist() for row in rows]
    if mdp.n_actions**mdp.n_states * np.prod([len(row) for row in rows]) > ENUMERATED:
        return None
    both = game.stationary_game(mdp, uncertainty_set)
    if both.policy is None or both.kernel is None:
        return Finding("one choice for all states", (both.policy, both.kernel), "both exist")
    return first([equal("min max", both.min_max, V), equal("max min", both.max_min, V)])


def _nominal_nature(mdp: MDP, uncertainty_set: UncertaintySet) -> Finding | None:
    optimum = rational.solve(mdp, uncertainty_set)
    policy = tuple(actions[0] for actions in optimum.optimal_actions)
    nominal = [tuple(row.fractions() for row in rows) for rows in exact.kernel(mdp)]
    found = game.saddle_violations(mdp, uncertainty_set, optimum.V, policy, nominal)
    return Finding("saddle point", found[0], "none better for either side") if found else None


DUALITY = Claim(
    "duality",
    "Theorem 1 (thm:dualtiy)",
    "E",
    "perfect duality, the robust Bellman equations, stationary deterministic optima on both sides",
    "product (rectangular) uncertainty sets around every row, γ < 1",
    printed=Statement(
        "min_π max_κ = max_κ min_π = V*, V* = min_a Q*, Q* = c + γ σ(V*); attained by a stationary "
        "deterministic policy and a stationary kernel",
        _games,
        _duality,
        exact=True,
    ),
    broken=Statement(
        "the nominal kernel is a worst one: it attains V* with the optimal policy", _games, _nominal_nature
    ),
    note="Saddle inequalities at every vertex cover randomised, time-varying and history-dependent play; both orders "
    f"are also enumerated where that means at most {ENUMERATED} combinations.",
)


# contraction. Appendix A's chain is checked line by line for contamination.


@st.composite
def _tables(draw: st.DrawFn, kinds: tuple[type[UncertaintySet], ...] = KINDS) -> Case:
    mdp = draw(mdps(max_states=MAX_STATES, cost_range=(-1.0, 1.0)))
    uncertainty_set = draw(uncertainty_sets(kinds=kinds))
    return {"mdp": mdp, "uncertainty_set": uncertainty_set, "Q": draw(q_tables(mdp)), "other": draw(q_tables(mdp))}


def _object(matrix: Any) -> np.ndarray:
    return np.array(matrix, dtype=object)


def _distance(left: Any, right: Any) -> Fraction:
    return Fraction(np.abs(_object(left) - _object(right)).max())


def _contraction(mdp: MDP, uncertainty_set: UncertaintySet, Q: Floats, other: Floats) -> tuple[Fraction, Fraction]:
    image, other_image = (rational.backup(mdp, uncertainty_set, table) for table in (Q, other))
    before = _distance(
        [list(map(Fraction, row)) for row in Q.tolist()], [list(map(Fraction, row)) for row in other.tolist()]
    )
    return _distance(image, other_image), Fraction(mdp.gamma) * before


def _contracts(mdp: MDP, uncertainty_set: UncertaintySet, Q: Floats, other: Floats) -> Finding | None:
    found = at_most("‖TQ − TQ'‖ against gamma‖Q − Q'‖", *_contraction(mdp, uncertainty_set, Q, other))
    if found is None and isinstance(uncertainty_set, Contamination):
        found = _chain(mdp, uncertainty_set.radius, Q, other)
    optimum = rational.solve(mdp, uncertainty_set)
    return found or equal("T Q* against Q*", rational.backup(mdp, uncertainty_set, optimum.Q), optimum.Q)


def _chain(mdp: MDP, radius: float, Q: Floats, other: Floats) -> Finding | None:
    """The displayed chain of Appendix A.1, pair by pair: two equal lines, then three rising bounds."""
    gamma, R = Fraction(mdp.gamma), Fraction(radius)
    V, W = (fractions(table.min(axis=1)) for table in (Q, other))
    gap = [abs(x - y) for x, y in zip(V, W, strict=True)]
    image, other_image = (rational.backup(mdp, Contamination(radius), table) for table in (Q, other))
    norm = max(abs(Fraction(x) - Fraction(y)) for x, y in zip(Q.ravel().tolist(), other.ravel().tolist(), strict=True))
    for s, a in np.ndindex(mdp.n_states, mdp.n_actions):
        p = exact.distribution(mdp.P[s, a].tolist()).fractions()
        moved, worst = (1 - R) * (dot(p, V) - dot(p, W)), R * (max(V) - max(W))
        lines = [
            gamma * abs(moved + worst),
            gamma * abs(moved) + gamma * abs(worst),
            gamma * (1 - R) * dot(p, tuple(gap)) + gamma * R * max(gap),
            gamma * norm,
        ]
        found = first(
            [
                equal(f"|TQ − TQ'|({s},{a}), line 5", abs(image[s][a] - other_image[s][a]), lines[0]),
                *(at_most(f"line {k + 5} at ({s},{a})", lines[k], lines[k + 1]) for k in range(3)),
            ]
        )
        if found is not None:
            return found
    return None


def _span_rate(mdp: MDP, uncertainty_set: UncertaintySet, Q: Floats, other: Floats) -> Finding | None:
    after, before = _contraction(mdp, uncertainty_set, Q, other)
    return at_most("‖TQ − TQ'‖ against gamma(1−R)‖Q − Q'‖", after, (1 - Fraction(uncertainty_set.radius)) * before)  # type: ignore[attr-defined]


CONTRACTION = Claim(
    "contraction",
    "Section 2, Appendix A.1",
    "E",
    "T is a γ-contraction in the sup norm with fixed point Q*",
    "any set here, any radius",
    printed=Statement(
        "‖TQ − TQ'‖ ≤ γ‖Q − Q'‖, line by line for contamination, and T Q* = Q*",
        _tables,
        _contracts,
        of_sides(_contraction),
        exact=True,
    ),
    broken=Statement(
        "‖TQ − TQ'‖ ≤ γ(1−R)‖Q − Q'‖ (the rate in span, not in the sup norm)",
        lambda: _tables(kinds=(Contamination,)),
        _span_rate,
    ),
    note="γ is attained by Q' = Q + constant; in the span seminorm contamination contracts at γ(1−R).",
)


# eval-contraction.


@st.composite
def _evaluations(draw: st.DrawFn) -> Case:
    mdp = draw(mdps(max_states=MAX_STATES, cost_range=(-1.0, 1.0)))
    return {
        "mdp": mdp,
        "uncertainty_set": draw(uncertainty_sets()),
        "policy": draw(policies(mdp)),
        "V": draw(values(mdp.n_states)),
        "other": draw(values(mdp.n_states)),
    }


def policy_backup(mdp: MDP, uncertainty_set: UncertaintySet, policy: Floats, V: Vector) -> Vector:
    """T_pi V(s) = Σ_a pi(a|s)(c(s,a) + gamma sigma(V)) (eq:bellman op)."""
    gamma = Fraction(mdp.gamma)
    result = []
    for s, row in enumerate(policy.tolist()):
        weights = exact.distribution(row).fractions()
        backup = [
            Fraction(mdp.cost[s, a]) + gamma * rational.sigma(uncertainty_set, mdp.P[s, a].tolist(), V)
            for a in range(len(row))
        ]
        result.append(dot(weights, tuple(backup)))
    return tuple(result)


def _evaluation_sides(
    mdp: MDP, uncertainty_set: UncertaintySet, policy: Floats, V: Floats, other: Floats
) -> tuple[Fraction, Fraction]:
    first_values, second_values = fractions(V), fractions(other)
    images = [policy_backup(mdp, uncertainty_set, policy, W) for W in (first_values, second_values)]
    return _distance(*images), Fraction(mdp.gamma) * _distance(first_values, second_values)


def _evaluation(mdp: MDP, uncertainty_set: UncertaintySet, policy: Floats, **tables: Floats) -> Finding | None:
    truth = rational.evaluate(mdp, uncertainty_set, policy).V
    return first(
        [
            at_most("‖T_pi V − T_pi V'‖", *_evaluation_sides(mdp, uncertainty_set, policy, **tables)),
            equal("T_pi V^pi against V^pi", policy_backup(mdp, uncertainty_set, policy, truth), truth),
        ]
    )


def _evaluation_of_nominal(mdp: MDP, uncertainty_set: UncertaintySet, policy: Floats, **_: Floats) -> Finding | None:
    nominal = rational.evaluate(mdp, Contamination(0.0), policy).V
    return equal("T_pi V^pi against V^pi", policy_backup(mdp, uncertainty_set, policy, nominal), nominal)


EVAL_CONTRACTION = Claim(
    "eval-contraction",
    "Section 5 (eq:bellman op)",
    "E",
    "T_π is a γ-contraction in the sup norm with fixed point V^π",
    "any set here, any radius, any stationary policy",
    printed=Statement(
        "‖T_π V − T_π V'‖ ≤ γ‖V − V'‖ and T_π V^π = V^π",
        _evaluations,
        _evaluation,
        of_sides(_evaluation_sides),
        exact=True,
    ),
    broken=Statement("the fixed point is the nominal value of the policy", _evaluations, _evaluation_of_nominal),
)


# r0-vanilla: not "close": the same rational operator, and the same bits of the learner's update.


@st.composite
def _vanilla_cases(draw: st.DrawFn) -> Case:
    mdp = draw(mdps(max_states=MAX_STATES, cost_range=(-1.0, 1.0)))
    return {
        "mdp": mdp,
        "uncertainty_set": draw(uncertainty_sets(radii=st.just(0.0))),
        "Q": draw(q_tables(mdp)),
        "alpha": draw(st.sampled_from((0.5, 1.0, 0.3, 0.0))),
    }


def _vanilla(
    mdp: MDP, uncertainty_set: UncertaintySet, Q: Floats, alpha: float, *, radius: float = 0.0
) -> Finding | None:
    uncertainty_set = type(uncertainty_set)(radius=radius)  # type: ignore[call-arg]
    V = fractions(Q.min(axis=1))
    plain = [
        [Fraction(mdp.cost[s, a]) + Fraction(mdp.gamma) * dot(row.fractions(), V) for a, row in enumerate(rows)]
        for s, rows in enumerate(exact.kernel(mdp))
    ]
    found = equal("T at R = 0 against c + gamma P min_a Q", rational.backup(mdp, uncertainty_set, Q), plain)
    if found is not None or not isinstance(uncertainty_set, Contamination):
        return found
    return first(_vanilla_step(mdp, uncertainty_set, Q, alpha, *step) for step in np.ndindex(mdp.P.shape))


def _vanilla_step(
    mdp: MDP, uncertainty_set: Contamination, Q: Floats, alpha: float, s: int, a: int, s_next: int
) -> Finding | None:
    """One step of the learner against (1−alpha)Q + alpha(c + gamma min_a Q(s',a)) in the same floats."""
    problem = Problem.of(
        mdp,
        uncertainty_set,
        step_size=constant(alpha),
        initial=Q,
    )
    learner = TabularLearner(Q_LEARNING, problem)
    cost = float(mdp.cost[s, a])
    learner.update(Transition(s, a, cost, s_next, 0, False))
    wanted = (1.0 - alpha) * float(Q[s, a]) + alpha * (cost + mdp.gamma * float(Q[s_next].min()))
    return equal(f"Q({s},{a}) after a step to {s_next}", float(learner.estimate()[s, a]), wanted)


R0_VANILLA = Claim(
    "r0-vanilla",
    "Sections 4 and 5",
    "E",
    "R = 0 gives the ordinary Bellman operator and ordinary Q-learning, exactly",
    printed=Statement(
        "at R = 0: TQ = c + γ P min_a Q in rationals, and the learner's step has the bits of the vanilla step",
        _vanilla_cases,
        _vanilla,
        exact=True,
    ),
    broken=Statement(
        "the same at R = 2^-20",
        _vanilla_cases,
        lambda **case: _vanilla(**case, radius=2.0**-20),
    ),
    note="Algorithm 2 at R = 0 is the claim tdc-vanilla.",
)

CLAIMS = (*sets.CLAIMS, *product_sets.CLAIMS, DUALITY, CONTRACTION, EVAL_CONTRACTION, R0_VANILLA)
