"""Learners with a simulator: they may draw any number of successors of any pair of state and action."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from properties.cases.case import LawCase
from properties.cases.choices import Choices
from properties.cases.entry_rules import check_floats
from properties.cases.runs import schedule
from properties.cases.scope import Scope
from properties.kinds import Canary, Example, KindOfVariant
from robust_core.learners.schedules import StepSize
from robust_core.mdp import MDP
from robust_core.problem import Variant
from robust_core.sets import UncertaintySet
from robust_core.validate import Floats

# A draw of a pair with one successor is no choice: the tree of all draws stays small with few pairs that have two.
SHARES = (0.5, 0.25, 0.75, 0.125, 0.5)
MOST_FORKS = 8
"""Draws of one iteration whose outcome is open: 2^8 leaves."""
GAMMAS = (0.5, 0.75, 0.875, 0.25, 0.9)


@dataclass(frozen=True, kw_only=True, eq=False)
class SimulatorCase(LawCase):
    """A model, a set, a schedule, a first table, and the policy that is evaluated, if there is one."""

    mdp: MDP
    uncertainty_set: UncertaintySet
    step_size: StepSize
    initial: Floats
    policy: Floats | None = None


def evaluates(variant: Variant) -> bool:
    """Whether the learner evaluates a policy, and does not look for the best."""
    return variant.options.get("estimates") == "V"


def open_pairs(variant: Variant) -> int:
    """How many pairs may have two successors, such that all draws of an iteration can be enumerated."""
    draws = max(float(variant.options.get("samples", 1)), float(variant.options.get("draws", 1)))
    return max(1, min(3, int(MOST_FORKS // draws)))


def simulator_case(choices: Choices, variant: Variant, *, pairs: int | None = None) -> SimulatorCase:
    """A model of few pairs, of which some have two successors, the others one."""
    scope = Scope.of(variant)
    S, A = choices.any_of(scope.states or (2, 2, 3)), choices.any_of(scope.actions or (1, 2))
    scale, P = choices.scale(variant), np.zeros((S, A, S))
    opened = [choices.index(S * A) for _ in range(open_pairs(variant) if pairs is None else pairs)]
    for number, (s, a) in enumerate(np.ndindex(S, A)):
        first = choices.index(S)
        P[s, a, first] = 1.0
        if number in opened and S > 1:
            share = choices.pick(SHARES)
            P[s, a, first] -= share
            P[s, a, (first + 1 + choices.index(S - 1)) % S] += share
    mdp = MDP(P, scale * choices.costs(variant, (S, A)), choices.discount(GAMMAS, scope.gammas))
    chosen = choices.set_of(variant, mdp)
    policy = choices.policy(mdp) if evaluates(variant) else None
    shape = (S,) if evaluates(variant) else (S, A)
    initial = np.zeros(shape) if choices.blank() else scale * choices.start(variant, mdp.gamma, shape)
    return SimulatorCase(
        mdp=mdp, uncertainty_set=chosen, step_size=schedule(choices, variant), initial=initial, policy=policy
    )


def _initial(name: str, case: Any) -> None:
    shape = case["mdp"].cost.shape
    check_floats(name, case[name], shape[:1] if np.ndim(case[name]) == 1 else shape)


KIND = KindOfVariant(
    case=SimulatorCase,
    generate=simulator_case,
    promises={
        "mean iteration": "the expected table after one iteration is (1−alpha)Q + alpha TQ in every entry, T the robust"
        " backup; with options['samples'] = n, T is the mean of backups around the empirical rows of n draws",
        "expected draws": "an iteration draws each pair, or for a table of V each state, options['draws'] times in the"
        " mean (default 1)",
        "variance": "the variance of an entry after one iteration is at most that of a mean of options['draws'] targets"
        " of one draw each (contamination)",
        "multilevel": "the estimate of sigma has a random level n with probability psi(1−psi)^n, psi ="
        " options['levels']: sigma of one draw plus, over that probability, sigma of 2^(n+1) draws less the mean of"
        " their halves'",
    },
    canary=Canary("simulator:VANILLA", ("mean iteration", "mean iteration, deterministic")),
    example=Example(
        called="a factory `(problem, simulator) -> learner`; `simulator.draw(s, a, n)` gives an array of n successors"
        " and `simulator.cost(s, a)` the cost; the learner has `iterate()` and `estimate()`, which is Q[s, a], or V[s]"
        " of `problem.policy` with `options={'estimates': 'V'}`; alpha is `problem.step_size.at(k)` in iteration k,"
        " whose draws are all made in it",
        right="R * V.max()",
        wrong="R * V.mean()",
    ),
    rules={"initial": _initial},
    learning=("mean iteration", "multilevel"),
)
