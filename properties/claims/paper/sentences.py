"""Sentences in passing: what mu_min says of the samples needed, which policy is greedy, what makes MDPs deviate."""

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from oracles.arithmetic import exact
from oracles.chains import chain, hitting, mixing
from oracles.planning import rational
from properties.cases.case import Case
from properties.claims.claim import Claim, Statement
from properties.claims.sides import at_most, equal, first
from properties.judging.verdict import Finding
from properties.strategies import mdps, policies, radii
from robust_core.mdp import MDP
from robust_core.sets import Contamination
from robust_core.validate import Floats

# mu-min.


@st.composite
def _slow_chains(draw: st.DrawFn) -> Case:
    """Two states that swap with a small probability: mu_min = 1/2, whatever it is."""
    p = draw(st.sampled_from((0.5, 2.0**-4, 2.0**-20)))
    mdp = MDP([[[1.0 - p, p]], [[p, 1.0 - p]]], np.zeros((2, 1)), 0.5)
    return {"mdp": mdp, "policy": np.ones((2, 1)), "C": draw(st.sampled_from((1.0, 2.0**10)))}


@st.composite
def _chains(draw: st.DrawFn) -> Case:
    mdp = draw(mdps(max_states=3, max_actions=2, ergodic=True))
    return {"mdp": mdp, "policy": draw(policies(mdp, exploring=True)), "C": 1.0}


def _longest(mdp: MDP, policy: Floats) -> tuple[Fraction, Fraction]:
    """(mu_min, the largest mean hitting time of a pair) of the chain of pairs."""
    pairs = chain.pair_chain(mdp, policy)
    times = [max(hitting.hitting_times(pairs, y)) for y in range(pairs.size)]
    return min(chain.stationary_exact(pairs)), max(times)


def _by_mu_min(mdp: MDP, policy: Floats, C: float) -> Finding | None:
    mu_min, longest = _longest(mdp, policy)
    return at_most("mu_min·(largest mean time to reach a pair)", mu_min * longest, Fraction(C))


def _by_both(mdp: MDP, policy: Floats, C: float, *, factor: int = 2) -> Finding | None:
    mu_min, longest = _longest(mdp, policy)
    t_mix = mixing.pair_t_mix(mdp, policy)
    return first(
        [
            at_most("1/mu_min − 1", 1 / mu_min - 1, longest),
            at_most("mu_min·(largest mean time to reach a pair)", mu_min * longest, factor * C * t_mix),
        ]
    )


MU_MIN = Claim(
    "mu-min",
    "Section 4, after Assumption 1",
    "E",
    "μ_min characterises how many samples are needed to visit every state-action pair sufficiently often",
    "ergodic chain of pairs",
    printed=Statement(
        "for a given C: from every start every pair is reached within C/μ_min steps on average",
        _slow_chains,
        _by_mu_min,
        exact=True,
    ),
    amended=Statement(
        "together with t_mix of the chain of pairs: the largest mean time to reach a pair lies between 1/μ_min − 1 and "
        "2t_mix/μ_min",
        _chains,
        _by_both,
        exact=True,
    ),
    amendment="hypothesis",
    broken=Statement("the same with t_mix/μ_min", _chains, lambda **case: _by_both(**case, factor=1)),
    note="Two states that swap with probability p have μ_min = ½ and need 1/p steps. The upper bound is part of T6 "
    "(docs/theorems.md).",
)


# greedy.


@st.composite
def _models(draw: st.DrawFn) -> Case:
    return {"mdp": draw(mdps(max_states=3, max_actions=2)), "radius": draw(radii())}


def _greedy(mdp: MDP, radius: float, *, largest: bool) -> Finding | None:
    """Whether the policy that is greedy for Q* attains V*."""
    optimum = rational.solve(mdp, Contamination(radius))
    choose = max if largest else min
    policy = [list(row).index(choose(row)) for row in optimum.Q]
    return equal(
        "V of the greedy policy against V*", rational.evaluate(mdp, Contamination(radius), policy).V, optimum.V
    )


GREEDY = Claim(
    "greedy",
    "Section 6.1",
    "E",
    "the policy that is evaluated is the greedy one, π(s) = argmax_a Q(s,a)",
    "Q as in Algorithm 1, that is of costs; Q = Q*",
    printed=Statement(
        "π(s) = argmax_a Q*(s,a) attains V*", _models, lambda **case: _greedy(**case, largest=True), exact=True
    ),
    amended=Statement(
        "π(s) = argmin_a Q*(s,a) attains V*", _models, lambda **case: _greedy(**case, largest=False), exact=True
    ),
    amendment="correction",
    note="Algorithm 1 learns costs, and Section 6 uses rewards. With rewards in place of costs, line 4 takes a maximum "
    "over actions, and the worst state is a minimum. An implementation that mixes the two computes the worst "
    "policy.",
)


# deviation.


@st.composite
def _two_panels(draw: st.DrawFn) -> Case:
    """A row of the tested model, and two panels of which the second has a larger p or R."""
    small, large = draw(st.sampled_from((((0.125, 0.125), (0.125, 0.25)), ((0.0625, 0.25), (0.125, 0.25)))))
    return {
        "p": draw(policies((1, draw(st.integers(2, 4)))))[0],
        "perturbation": np.array([small[0], large[0]]),
        "radii_of_panels": np.array([small[1], large[1]]),
    }


def _distances(p: Floats, perturbation: Floats) -> tuple[list[Fraction], Fraction]:
    """The distance of the sampled from the tested row in both panels, and that of the uniform distribution from it."""
    row = exact.distribution(p.tolist()).fractions()
    n = len(row)
    found = []
    for share in map(Fraction, perturbation.tolist()):
        sampled = [(1 - share) * x + share / n for x in row]
        found.append(sum((abs(x - y) for x, y in zip(sampled, row, strict=True)), Fraction(0)) / 2)
    return found, sum((abs(x - Fraction(1, n)) for x in row), Fraction(0)) / 2


def _grows(p: Floats, perturbation: Floats, radii_of_panels: Floats) -> Finding | None:
    (near, far), spread = _distances(p, perturbation)
    if spread == 0 or near < far:
        return None
    what = f"d_TV of sampled and tested row at R = {radii_of_panels[1]}, against R = {radii_of_panels[0]}"
    return Finding(what, str(far), f"more than {near}")


def _by_p_alone(p: Floats, perturbation: Floats, radii_of_panels: Floats, *, power: int = 1) -> Finding | None:
    distances, spread = _distances(p, perturbation)
    shares = [Fraction(share) ** power * spread for share in perturbation.tolist()]
    return equal("d_TV of sampled and tested row against p·d_TV(uniform, row)", distances, shares)


DEVIATION = Claim(
    "deviation",
    "Section 6.1",
    "E",
    "as p and R get larger the MDP that is learned deviates more from the MDP that is tested",
    "samples from (1−p)p_0 + p·uniform, tested on p_0",
    printed=Statement("d_TV of the two rows grows when p or R grows", _two_panels, _grows, exact=True),
    amended=Statement("it is p·d_TV(uniform, p_0), whatever R", _two_panels, _by_p_alone, exact=True),
    amendment="correction",
    broken=Statement("it is p²·d_TV(uniform, p_0)", _two_panels, lambda **case: _by_p_alone(**case, power=2)),
    note="R is a parameter of the learner: panels a and c have the same two MDPs.",
)
