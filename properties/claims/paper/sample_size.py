"""The sentence after Theorem 3: how many samples are *needed* for an error of epsilon.

Theorem 3 says how many are enough. Without noise fewer are: at R = 1 the target is c + gamma max V, whatever the sample
is, and a step alpha = 1 replaces an entry by a value whose error is at most gamma ‖psi‖. So ‖psi‖ never rises, and it
falls by the factor gamma in every round in which all pairs are visited.
"""

from fractions import Fraction

from hypothesis import strategies as st

from properties.cases.case import Case
from properties.claims.claim import Claim, Statement
from properties.claims.exact_run import Run, norm, runs
from properties.claims.sides import at_most, first, ratio
from properties.judging.verdict import Finding
from robust_core.mdp import MDP
from robust_core.validate import Floats, Ints


@st.composite
def _targets(draw: st.DrawFn) -> Case:
    return {
        "gamma": draw(st.sampled_from((0.5, 0.75, 0.875))),
        "epsilon": 0.5 ** draw(st.integers(1, 24)),
        "constant": draw(st.sampled_from((1.0, 2.0**-10, 2.0**-20))),
    }


def _needed(gamma: float, epsilon: float, constant: float) -> Finding | None:
    """One state, one action, cost 1, Q_0 = 0, alpha = 1: mu_min = 1, t_mix = 0, and the error is gammaᵀ/(1−gamma)."""
    discount, error, samples = Fraction(gamma), 1 / (1 - Fraction(gamma)), 0
    while error > Fraction(epsilon):
        error, samples = discount * error, samples + 1
    bound = Fraction(constant) / ((1 - discount) ** 5 * Fraction(epsilon) ** 2)
    return at_most("samples that are needed by the sentence, against those that were enough", bound, samples)


@st.composite
def _noiseless(draw: st.DrawFn) -> Case:
    case = draw(runs(max_states=2, min_length=1, max_length=10))
    return case | {"radius": 1.0, "alpha": 1.0}


def _sides(
    *, mdp: MDP, radius: float, Q: Floats, alpha: float, path: Ints, power: int = 1
) -> list[tuple[Fraction, Fraction]]:
    """‖psi_t‖ and gamma^(rounds before t)·‖psi_0‖, for all t; a round ends when every pair has been visited in it."""
    run = Run(mdp, radius, Q, alpha, path)
    factor = run.numbers[0] ** power
    missing, bound, sides = set(range(len(run.P))), norm(run.psi[0]), []
    for (pair, _), psi in zip(run.steps, run.psi[1:], strict=True):
        missing.discard(pair)
        if not missing:
            missing, bound = set(range(len(run.P))), factor * bound
        sides.append((norm(psi), bound))
    return sides


SAMPLE_SIZE = Claim(
    "sample-size",
    "Section 4, after Theorem 3",
    "P",
    "to guarantee an ε-accurate estimate, a sample size Õ(1/(μ_min(1−γ)^5 ε²) + t_mix/(μ_min(1−γ))) is needed",
    "needed: with fewer samples no constant step size gives the accuracy, up to a constant",
    printed=Statement(
        "for a given constant: on one state with one action at least constant/(μ_min(1−γ)^5 ε²) samples are needed",
        _targets,
        _needed,
        exact=True,
    ),
    amended=Statement(
        "it is enough (claim thm3). At R = 1 with α = 1, ‖ψ_t‖ ≤ γ^k‖ψ_0‖ after k rounds of visits to all pairs, so "
        "log(‖ψ_0‖/ε)/log(1/γ) rounds are enough too",
        _noiseless,
        lambda **case: first(at_most("‖psi_t‖ after rounds", *pair) for pair in _sides(**case)),
        lambda **case: max(ratio(*pair) for pair in _sides(**case)),
        exact=True,
    ),
    amendment="correction",
    broken=Statement(
        "the same with γ² for γ",
        _noiseless,
        lambda **case: first(at_most("‖psi_t‖ after rounds", *pair) for pair in _sides(**case, power=2)),
    ),
    note="A lower bound needs a class of models with noise. The guarantee of Theorem 3 also falls with R (claim "
    "same-rate).",
)
