"""Laws of smoothed operators: (mdp, uncertainty_set, policy, smoothing, V) -> T̂V (Theorem 4).

The smooth maximum m is defined by its own formula here, LSE or mellow-max: that of the core is under test.
"""

import math
from typing import Any, cast

import numpy as np

from oracles.planning import smoothed
from properties.cases.choices import Choices, Reader
from properties.cases.sources import Generated
from properties.judging.verdict import Finding
from properties.kinds.smoothed_operator import SmoothedCase, smoothed_case
from properties.laws.comparison import below, compare
from properties.laws.law import Law
from properties.laws.rounding import backup_bound, operations_bound
from robust_core import Contamination, Mellowmax
from robust_core.problem import Variant
from robust_core.validate import Floats

SHIFTS = (1.0, -2.0, 16.0, 0.1)


def _read_shift(choices: Choices, variant: Variant) -> SmoothedCase:
    return smoothed_case(choices, variant).plus(shift=choices.pick(SHIFTS))


def _applied(variant: Variant, case: SmoothedCase, V: Floats) -> Floats:
    return np.array(variant.make(case.mdp, case.uncertainty_set, case.policy.copy(), case.smoothing, V.copy()))


def rounding(case: SmoothedCase, V: Floats) -> float:
    """Any sensible evaluation of T̂V in floats.

    Beside the roundings of a robust backup, m(V) errs: an exponent t = varrho(V − max V) by 3u|t| and its exponential
    by 8u more; |t|eᵗ < 1, so a sum of S terms, which is between 1 and S, errs relatively by (S + 12)u, its logarithm by
    8u more; the logarithms are at most log S each, for mellow-max there are two, and all are divided by varrho. A
    mellow-max that is evaluated as LSE − log S/varrho cancels, which the absolute size log(S)/varrho covers.
    """
    S = case.mdp.n_states
    soft = operations_bound(8 * S + 64, (1.0 + math.log(S)) / case.smoothing.varrho + float(np.abs(V).max()))
    return backup_bound(case.mdp, V) + soft


def _matches(variant: Variant, case: SmoothedCase) -> Finding | None:
    radius = cast(Contamination, case.uncertainty_set).radius
    mellowmax = isinstance(case.smoothing, Mellowmax)
    for V in (case.V, case.other):
        wanted = smoothed.backup(case.mdp, radius, case.policy, V, case.smoothing.varrho, mellowmax=mellowmax)
        allowed = rounding(case, V) + wanted.error_bound
        if (finding := compare(_applied(variant, case, V), wanted.value, allowed, "T̂V")) is not None:
            return finding
    return None


def _pure(variant: Variant, case: SmoothedCase) -> Finding | None:
    """Same input, same output; the input is left alone and the output is the caller's own."""
    given, policy = case.V.copy(), case.policy.copy()
    first = np.asarray(variant.make(case.mdp, case.uncertainty_set, policy, case.smoothing, given))
    if not (np.array_equal(given, case.V) and np.array_equal(policy, case.policy)):
        return Finding("the caller's V and policy after a call", given.tolist(), case.V.tolist())
    kept = first.copy()
    _applied(variant, case, case.other)
    if not np.array_equal(first, kept, equal_nan=True):
        return Finding("T̂V after another call", first.tolist(), kept.tolist())
    again = _applied(variant, case, case.V)
    if not np.array_equal(again, kept, equal_nan=True):
        return Finding("T̂V of a second call", again.tolist(), kept.tolist())
    return None


def _contracts(variant: Variant, case: SmoothedCase) -> Finding | None:
    images = [_applied(variant, case, V) for V in (case.V, case.other)]
    distance, before = float(np.abs(images[0] - images[1]).max()), float(np.abs(case.V - case.other).max())
    allowed = rounding(case, case.V) + rounding(case, case.other)
    if distance <= case.mdp.gamma * before + allowed:
        return None
    return Finding("‖T̂V − T̂V'‖ against gamma‖V − V'‖", distance, case.mdp.gamma * before, allowed)


def _gap(variant: Variant, case: SmoothedCase) -> Finding | None:
    """T̂V − TV is between 0 and gamma R log S/varrho for LSE, and the negative of that for mellow-max."""
    mdp, R, V = case.mdp, cast(Contamination, case.uncertainty_set).radius, case.V
    means = (case.policy * (mdp.cost + mdp.gamma * (1.0 - R) * np.einsum("sat,t->sa", mdp.P, V))).sum(axis=1)
    hard = means + mdp.gamma * R * V.max()
    gap = mdp.gamma * R * math.log(mdp.n_states) / case.smoothing.varrho
    low, high = (hard - gap, hard) if isinstance(case.smoothing, Mellowmax) else (hard, hard + gap)
    image, allowed = _applied(variant, case, V), 2.0 * rounding(case, V)
    if image.shape != hard.shape:
        return Finding("shape of T̂V", image.shape, hard.shape)
    return below(low, image, allowed, "the least that T̂V can be: state ", columns=("least", "T̂V")) or below(
        image, high, allowed, "T̂V against the most that it can be: state ", columns=("T̂V", "most")
    )


def _ordered(variant: Variant, case: SmoothedCase, shift: float) -> Finding | None:
    """Monotone in V, and T̂(V + k) = T̂V + gamma k."""
    image = _applied(variant, case, case.V)
    above, moved = case.V + np.abs(case.other), case.V + shift
    allowed = rounding(case, case.V) + rounding(case, above) + rounding(case, moved)
    return below(
        image, _applied(variant, case, above), allowed, "T̂V against T̂V' for V <= V': state ", columns=("T̂V", "T̂V'")
    ) or compare(
        _applied(variant, case, moved),
        image + case.mdp.gamma * shift,
        allowed,
        f"T̂(V + {shift})",
        columns=("T̂(V + k)", "T̂V + gamma k"),
    )


def _law(name: str, statement: str, judge: Any, *after: str, read: Reader = smoothed_case) -> Law:
    kinds, promise = ("smoothed operator",), "smoothed bellman"
    return Law(name, kinds, promise, statement, Generated(read), judge, after=after, sets=(Contamination,))  # type: ignore[arg-type]


LAWS = (
    _law("smoothed purity", "T̂ is pure: input unchanged, same call, same result, new arrays", _pure),
    _law(
        "smoothed backup",
        "T̂V(s) = Σ_a π(a|s)(c + γ(1−R)PV + γ R m(V)), against rationals and 60 digits (Theorem 4)",
        _matches,
        "smoothed purity",
    ),
    _law("smoothed contraction", "‖T̂V − T̂V'‖ ≤ γ‖V − V'‖ in the sup norm", _contracts, "smoothed backup"),
    _law(
        "smoothing gap", "0 ≤ T̂V − TV ≤ γ R log S/ϱ for LSE, and the negative for mellow-max", _gap, "smoothed backup"
    ),
    _law(
        "smoothed order",
        "T̂ is monotone, and T̂(V + k) = T̂V + γ k",
        _ordered,
        "smoothed backup",
        read=_read_shift,
    ),
)
