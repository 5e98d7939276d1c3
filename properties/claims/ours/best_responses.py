"""Alternating best responses under contamination: adversarial training (RARL) without errors of learning.

Proof: docs/theorems.md, corollary of T1. An adversary moves from s to m(s) with probability R. One that answers a
policy with its worst state s*, everywhere, is a restart distribution common to all pairs: by T1 the best responses to
it are the optimal policies at discount gamma(1−R), which are robust optimal.

Where several states are worst, an adversary may answer with another one in each state. In the counterexample the
states 0 and 1 are equally bad for the first policy. The best response improves state 0, so the successors of state 2
differ in what follows a jump, and it takes the one that is worse without jumps.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import numpy as np
from hypothesis import strategies as st

from oracles.arithmetic.exact import Vector
from oracles.planning import rational
from properties.cases.case import Case
from properties.claims.claim import Claim, Statement
from properties.claims.paper.tested_models import restarted
from properties.claims.sides import equal, first
from properties.judging.verdict import Finding
from properties.strategies import mdps, radii
from robust_core.mdp import MDP
from robust_core.sets import Contamination


@st.composite
def _any_models(draw: st.DrawFn) -> Case:
    """A model, a radius, and the adversary that is answered first: the state to which it moves, for every state."""
    mdp = draw(mdps(max_states=3, max_actions=2))
    states = st.integers(0, mdp.n_states - 1)
    return {"mdp": mdp, "radius": draw(radii()), "adversary": [draw(states) for _ in range(mdp.n_states)]}


@st.composite
def _tempting(draw: st.DrawFn) -> Case:
    """State 0 can leave for state 2, which is free and can leave for state 3, which costs `dear`; state 1 is stuck."""
    dear = draw(st.sampled_from((1 / 64, 1 / 128, 1 / 16)))
    after = [[0, 2], [1, 1], [2, 3], [3, 3]]
    cost = np.array([[1.0, 1.25], [1.0, 1.0], [0.0, 0.0], [dear, dear]])
    radius = draw(st.sampled_from((0.5, 0.25)))
    adversary = draw(st.sampled_from(([2, 1, 1, 1], [2, 0, 1, 0], [0, 1, 2, 3], [1, 1, 1, 1])))
    return {"mdp": MDP(np.eye(4)[after], cost, 0.5), "radius": radius, "adversary": adversary}


def _adversaries() -> st.SearchStrategy[Case]:
    return st.one_of(_any_models(), _tempting())


def _responses(mdp: MDP, radius: float, adversary: Sequence[int]) -> list[tuple[int, ...]]:
    """The deterministic best responses of the agent to an adversary."""
    values: dict[tuple[int, ...], Vector] = {
        policy: restarted(mdp, policy, Fraction(radius), adversary)
        for policy in product(range(mdp.n_actions), repeat=mdp.n_states)
    }
    best = tuple(map(min, zip(*values.values(), strict=True)))
    return [policy for policy, own in values.items() if own == best]


def _alternate(
    mdp: MDP, radius: float, adversary: Sequence[int], *, everywhere: bool = True, answered: bool = True
) -> Finding | None:
    """The second responses against V*; `everywhere`: the adversary answers with one state. `answered`: or the first."""
    truth = rational.solve(mdp, Contamination(radius)).V

    def robust(policy: Sequence[int]) -> Vector:
        return rational.evaluate(mdp, Contamination(radius), list(policy)).V

    for policy in _responses(mdp, radius, adversary):
        V = robust(policy)
        if not answered:
            return equal("robust values of the first response against V*", V, truth)
        worst = [s for s, value in enumerate(V) if value == max(V)]
        answers = [(s,) * len(V) for s in worst] if everywhere else product(worst, repeat=len(V))
        found = first(
            equal(f"robust values of the response {list(second)} to {list(answer)} against V*", robust(second), truth)
            for answer in answers
            for second in _responses(mdp, radius, answer)
        )
        if found is not None:
            return found
    return None


BEST_RESPONSES = Claim(
    "best-responses",
    "Theorem T1, corollary (docs/theorems.md); Section 1.1 asks for such a guarantee",
    "E",
    "alternating best responses of agent and adversary are robust optimal from the agent's second response on",
    "contamination; the adversary answers a policy with one worst state, in all states",
    printed=Statement(
        "without the hypothesis: also if it answers with different worst states where several are equally bad",
        _tempting,
        lambda **case: _alternate(**case, everywhere=False),
        exact=True,
    ),
    amended=Statement(
        "for every first adversary, every best response to it, and every best response to the worst state of that: its "
        "robust values are V*",
        _adversaries,
        _alternate,
        exact=True,
    ),
    amendment="hypothesis",
    broken=Statement(
        "already the first response is robust optimal", _adversaries, lambda **case: _alternate(**case, answered=False)
    ),
    note="So adversarial training (RARL) without errors of learning needs two rounds under contamination. The errors "
    "in Figure 4 are those of its two learners.",
)
