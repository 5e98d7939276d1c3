"""Claims of Section 4 and Appendix A: the estimate, the update, its noise, its memory, and Theorem 2."""

import copy
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st

from oracles.arithmetic import exact
from oracles.sets import vertices
from properties.cases.case import Case
from properties.claims.claim import Claim, Statement
from properties.claims.exact_run import Run, runs
from properties.claims.paper import convergence, samples
from properties.claims.paper.extensions import VARIANCE_REDUCTION
from properties.claims.sides import at_most, dot, equal, first, fractions, of_sides, readable
from properties.judging.verdict import Finding
from properties.laws.rounding import backup_bound
from properties.strategies import mdps, policies, q_tables, radii, uncertainty_sets, values
from robust_core.learners.schedules import StepSize, constant, per_visit
from robust_core.learners.tabular import Q_LEARNING, TabularLearner
from robust_core.mdp import MDP
from robust_core.problem import Problem
from robust_core.sampler import AliasTable, alias_table
from robust_core.sets import Contamination, TotalVariation, UncertaintySet
from robust_core.trajectory import Transition
from robust_core.validate import Floats

# mle-unbiased. E[1_{s'} | s,a] is the law of s' given (s,a). It is read off the alias table in exact integers: a
# column of 2^(64−b) equally likely words gives its first outcome to the words below the threshold.


@st.composite
def _samplers(draw: st.DrawFn) -> Case:
    mdp = draw(mdps())
    return {"mdp": mdp, "policy": draw(policies(mdp, exploring=True))}


def _drawn_law(table: AliasTable, state: int) -> np.ndarray:
    """P(a, s' | state) of the sampler in use, exactly."""
    law = np.full((table.n_actions, table.n_states), Fraction(0), dtype=object)
    words = 1 << (64 - table.column_bits)
    columns = range(state << table.column_bits, (state + 1) << table.column_bits)
    for threshold, packed in ((int(word) for word in table.columns[column]) for column in columns):
        below = -(-threshold >> table.column_bits)  # multiples of 2^b below the threshold
        for outcome, count in ((packed >> 32, below), (packed & 0xFFFFFFFF, words - below)):
            action, successor = outcome & ((1 << table.action_bits) - 1), outcome >> table.action_bits
            law[action, successor] += Fraction(count, words << table.column_bits)
    return law


def _unbiased_estimate(mdp: MDP, policy: Floats, *, given_action: bool = True) -> Finding | None:
    table = alias_table(mdp, policy)
    for s in range(mdp.n_states):
        law = _drawn_law(table, s)
        for a in range(mdp.n_actions):
            mean = law[a] / law[a].sum() if given_action else law.sum(axis=0)
            found = equal(f"E[1_s' | s={s}, a={a}]", mean, exact.distribution(mdp.P[s, a].tolist()).fractions())
            if found is not None:
                return found
    return None


MLE_UNBIASED = Claim(
    "mle-unbiased",
    "Section 4",
    "S",
    "1_{s'} is an unbiased estimate of p_s^a given (s,a)",
    "s' drawn from p_s^a; exact for kernels and policies in multiples of 2^-31 (the sampler rounds to 2^-62)",
    printed=Statement(
        "Σ_{s'} P(s'|s,a) 1_{s'} = p_s^a, with P the exact distribution of the sampler in use",
        _samplers,
        _unbiased_estimate,
        exact=True,
    ),
    broken=Statement(
        "the same without conditioning on the action",
        _samplers,
        lambda **case: _unbiased_estimate(**case, given_action=False),
    ),
    elsewhere="properties/statistics",
    note="Decided by enumeration of the random words. That these words are uniform is tested by the statistical law of "
    "the sampler.",
)


# sup-sample.


@st.composite
def _samples(draw: st.DrawFn) -> Case:
    n = draw(st.integers(1, 5))
    return {"radius": draw(radii()), "V": draw(values(n)), "s_next": draw(st.integers(0, n - 1))}


def _sampled_support(radius: float, V: Floats, s_next: int, *, kept: bool = True) -> Finding | None:
    point = [int(s == s_next) for s in range(len(V))]
    R, W = Fraction(radius), fractions(V)
    claimed = R * max(W) + (1 - R if kept else 1) * W[s_next]
    return equal("R max V + (1−R)V(s')", claimed, vertices.sigma(Contamination(radius), point, W))


SUP_SAMPLE = Claim(
    "sup-sample",
    "Section 4, after Algorithm 1",
    "E",
    "the support function of the sampled set is R max V + (1−R) V(s')",
    "",
    printed=Statement(
        "max{q·V : q = (1−R)1_{s'} + Ru} = R max V + (1−R) V(s')", _samples, _sampled_support, exact=True
    ),
    broken=Statement("… = R max V + V(s')", _samples, lambda **case: _sampled_support(**case, kept=False)),
)


# update-eq: line 5 with sigma by its definition, against the closed update, against the learner in floats (each step
# restarted from the learner's own table, so that one step's rounding is all that is allowed).


def _line_5(run: Run, table: np.ndarray, pair: int, s_next: int) -> Fraction:
    gamma, _, alpha = run.numbers
    point = [int(s == s_next) for s in range(run.mdp.n_states)]
    sigma = vertices.sigma(Contamination(run.radius), point, run.V(table).tolist())
    return Fraction((1 - alpha) * table[pair] + alpha * (run.cost[pair] + gamma * sigma))


def _problem(mdp: MDP, radius: float, Q: Floats, step_size: StepSize) -> Problem:
    return Problem.of(
        mdp,
        Contamination(radius),
        step_size=step_size,
        initial=Q,
    )


def _update(*, stale: bool = False, **case: Any) -> Finding | None:
    run = Run(**case)
    learner = TabularLearner(Q_LEARNING, _problem(run.mdp, run.radius, run.Q, constant(run.alpha)))
    for t, (s, a, s_next) in enumerate(run.path.tolist()):
        pair, table = run.steps[t][0], run.tables[t]
        wanted = _line_5(run, run.tables[0] if stale else table, pair, s_next)
        found = equal(f"Q_{t + 1}({s},{a}) against line 5", run.tables[t + 1][pair], wanted)
        before = np.vectorize(Fraction, otypes=[object])(learner.estimate().ravel())
        allowed = backup_bound(run.mdp, learner.estimate())
        learner.update(Transition(s, a, float(run.mdp.cost[s, a]), s_next, 0, False))
        got, truth = float(learner.estimate()[s, a]), _line_5(run, before, pair, s_next)
        if found is None and abs(Fraction(got) - truth) > Fraction(allowed):
            found = Finding(f"the learner's Q_{t + 1}({s},{a})", got, readable(truth), allowed)
        if found is not None:
            return found
    return None


UPDATE_EQ = Claim(
    "update-eq",
    "Algorithm 1, line 5, and eq:Qupdate",
    "P",
    "line 5 of Algorithm 1 is the closed update",
    "0 ≤ α ≤ 1",
    printed=Statement(
        "(1−α)Q + α(c + γ σ_{P̂_t}(V_t)) = (1−α)Q + α(c + γ R max V_t + γ(1−R) V_t(s')) "
        "on every path, and the learner computes it up to the rounding of one step",
        runs,
        _update,
        exact=True,
    ),
    broken=Statement("the same with V_0 in place of V_t", runs, lambda **case: _update(**case, stale=True)),
)


# memory: what a learner keeps from step to step. V_t of line 4 need not be kept: max_s min_a Q is a running maximum.


@st.composite
def _sizes(draw: st.DrawFn) -> Case:
    mdp = draw(mdps())
    return {"mdp": mdp, "radius": draw(radii()), "Q": draw(q_tables(mdp))}


def _kept(mdp: MDP, radius: float, Q: Floats, step_size: StepSize) -> int:
    """The numbers in the learner's own arrays after a step; what it was given does not count."""
    learner = TabularLearner(Q_LEARNING, _problem(mdp, radius, Q, step_size))
    learner.update(Transition(0, 0, float(mdp.cost[0, 0]), int(np.flatnonzero(mdp.P[0, 0])[0]), 0, False))
    state = copy.copy(vars(learner))
    del state["problem"]
    return sum(value.size for value in state.values() if isinstance(value, np.ndarray))


def _memory(mdp: MDP, radius: float, Q: Floats, *, step_size: StepSize = constant(0.5)) -> Finding | None:  # noqa: B008
    table = mdp.n_states * mdp.n_actions
    return first(
        [
            equal("numbers kept by the robust learner", _kept(mdp, radius, Q, step_size), table),
            equal("numbers kept by the vanilla learner", _kept(mdp, 0.0, Q, step_size), table),
        ]
    )


MEMORY = Claim(
    "memory",
    "Section 4",
    "E",
    "no more memory than vanilla Q-learning: one (S, A) table",
    "step sizes that need no visit counts",
    printed=Statement("the learner's state is S·A numbers, for every R", _sizes, _memory, exact=True),
    broken=Statement(
        "the same with step sizes that count visits",
        _sizes,
        lambda **case: _memory(**case, step_size=per_visit(0.5, rate=1.0, power=1.0)),
    ),
    note="The claim is about memory, not time: because of the maximum over states, a step needs S·A comparisons "
    "instead of A, or a second table.",
)


# expand-T (eq:exp=0).


@st.composite
def _backups(draw: st.DrawFn, kinds: tuple[type[UncertaintySet], ...] = (Contamination,), min_states: int = 1) -> Case:
    mdp = draw(mdps(min_states=min_states, max_states=4, max_actions=2, cost_range=(-1.0, 1.0)))
    return {"mdp": mdp, "uncertainty_set": draw(uncertainty_sets(kinds=kinds)), "Q": draw(q_tables(mdp))}


def _expanded(mdp: MDP, uncertainty_set: Contamination, Q: Floats, *, lost: bool) -> Finding | None:
    """The four lines at every pair; `lost`: without gamma before R max V, as printed in lines 2 and 3."""
    gamma, R, V = Fraction(mdp.gamma), Fraction(uncertainty_set.radius), fractions(Q.min(axis=1))
    factor = R if lost else gamma * R
    for s, a in np.ndindex(mdp.n_states, mdp.n_actions):
        p, cost = exact.distribution(mdp.P[s, a].tolist()).fractions(), Fraction(float(mdp.cost[s, a]))
        lines = [
            cost + gamma * vertices.sigma(uncertainty_set, p, V),
            cost + gamma * (1 - R) * dot(p, V) + factor * max(V),
            cost + gamma * (1 - R) * sum(x * V[k] for k, x in enumerate(p)) + factor * max(V),
            cost + gamma * sum(x * ((1 - R) * V[k] + R * max(V)) for k, x in enumerate(p)),
        ]
        for k, line in enumerate(lines):
            if line != lines[0]:
                return Finding(f"line {k + 1} of eq:exp=0 at ({s},{a})", readable(line), f"TQ = {readable(lines[0])}")
    return None


EXPAND_T = Claim(
    "expand-T",
    "Appendix A (eq:exp=0)",
    "E",
    "each of the four displayed lines equals TQ(s,a)",
    "contamination",
    printed=Statement(
        "TQ = c + γ σ(V) = c + γ(1−R)p·V + R max V (twice) = c + γ Σ p((1−R)V(s') + R max_q q·V)",
        _backups,
        lambda **case: _expanded(**case, lost=True),
        exact=True,
    ),
    amended=Statement(
        "the same with γ R max V in lines 2 and 3",
        _backups,
        lambda **case: _expanded(**case, lost=False),
        exact=True,
    ),
    amendment="correction",
    note="γ is missing in lines 2 and 3. Line 4 has it.",
)


# noise-mean, noise-var: eta(s') = c + gamma R max V + gamma(1−R)V(s') − TQ, its moments by enumeration of s'.


def _noise(mdp: MDP, uncertainty_set: UncertaintySet, Q: Floats, s: int, a: int) -> list[tuple[Fraction, Fraction]]:
    """(probability, eta) for every next state; for any set, eta = c + gamma sigma_{set around s'}(V) − TQ."""
    gamma, V = Fraction(mdp.gamma), fractions(Q.min(axis=1))
    row = exact.distribution(mdp.P[s, a].tolist()).fractions()
    truth = vertices.sigma(uncertainty_set, row, V)
    points = ([int(k == s_next) for k in range(len(V))] for s_next in range(len(V)))
    return [
        (p, gamma * (vertices.sigma(uncertainty_set, point, V) - truth)) for p, point in zip(row, points, strict=True)
    ]


def _noise_mean(mdp: MDP, uncertainty_set: UncertaintySet, Q: Floats) -> Finding | None:
    return first(
        equal(f"E[eta | s={s}, a={a}]", sum(p * eta for p, eta in _noise(mdp, uncertainty_set, Q, s, a)), 0)
        for s, a in np.ndindex(mdp.n_states, mdp.n_actions)
    )


NOISE_MEAN = Claim(
    "noise-mean",
    "Appendix A.2",
    "E",
    "the noise of the update has mean zero given (s,a)",
    "contamination",
    printed=Statement("Σ_{s'} p(s'|s,a) η(s,a,s') = 0", _backups, _noise_mean, exact=True),
    broken=Statement(
        "the same for the total-variation ball around 1_{s'} (its support function is not linear in the centre)",
        lambda: _backups(kinds=(TotalVariation,)),
        _noise_mean,
    ),
)


def _noise_sides(
    mdp: MDP, uncertainty_set: Contamination, Q: Floats, *, factor: Fraction = Fraction(1)
) -> tuple[Fraction, Fraction]:
    """The largest E[eta²|s,a] and gamma²(1−R)² max Q²."""
    second = max(
        sum((p * eta**2 for p, eta in _noise(mdp, uncertainty_set, Q, s, a)), Fraction(0))
        for s, a in np.ndindex(mdp.n_states, mdp.n_actions)
    )
    scale = Fraction(mdp.gamma) * (1 - Fraction(uncertainty_set.radius))
    return second, factor * (scale * Fraction(float(np.abs(Q).max()))) ** 2


@st.composite
def _opposed_values(draw: st.DrawFn) -> Case:
    """States 0 and 1 have the values −max|Q| and max|Q|, and a pair goes to each with probability ½: Var V = max Q²."""
    mdp = draw(mdps(min_states=2, max_states=4, max_actions=2, cost_range=(-1.0, 1.0)))
    P, Q = mdp.P.copy(), draw(q_tables(mdp)).copy()
    P[0, 0] = 0.0
    P[0, 0, :2] = 0.5
    Q[1] = max(1.0, float(np.abs(Q).max()))
    Q[0] = -Q[1]
    radius = draw(st.sampled_from((0.0, 0.25, 0.5)))
    return {"mdp": MDP(P, mdp.cost, max(mdp.gamma, 0.5)), "uncertainty_set": Contamination(radius), "Q": Q}


NOISE_VAR = Claim(
    "noise-var",
    "Appendix A.2",
    "E",
    "E[η_t² given Q_t, s_t, a_t] ≤ γ²(1−R)² max Q_t²",
    "contamination; conditional on the table and the pair (without conditioning: noise-square); the square inside the "
    "maximum",
    printed=Statement(
        "Σ_{s'} p(s'|s,a) η² ≤ γ²(1−R)² max_{s,a} Q(s,a)²",
        _backups,
        lambda **case: at_most("E[eta²]", *_noise_sides(**case)),
        of_sides(_noise_sides),
        exact=True,
    ),
    broken=Statement(
        "the same with a factor ¼, which is right for tables of one sign only",
        _opposed_values,
        lambda **case: at_most("E[eta²]", *_noise_sides(**case, factor=Fraction(1, 4))),
    ),
    note="It is true because Var V(s') ≤ E V(s')² ≤ max V² ≤ max Q². The printed reason (V ≤ max V ≤ max Q) does not "
    "imply it if Q is negative. It is sharp for V = (−1, 1), p = (½, ½). The sharp general form is γ²(1−R)² "
    "span(V)²/4, four times smaller for tables of one sign.",
)


CLAIMS = (
    MLE_UNBIASED,
    SUP_SAMPLE,
    UPDATE_EQ,
    MEMORY,
    EXPAND_T,
    NOISE_MEAN,
    NOISE_VAR,
    *samples.CLAIMS,
    convergence.CONV,
    VARIANCE_REDUCTION,
)
