"""Laws of operators: (mdp, uncertainty_set, Q) -> TQ."""

from dataclasses import replace
from typing import Any

import numpy as np

from oracles.planning import enclosed, s_rectangular
from oracles.planning.truth import is_exact, width_of
from properties.cases.choices import Choices, Reader, radius_of, sets_beside, widen
from properties.cases.enlarged import equivalent_by_state, equivalent_models, old_entries
from properties.cases.scope import Scope
from properties.cases.sources import Generated
from properties.judging.verdict import Finding
from properties.kinds.operator import OperatorCase, operator_case
from properties.kinds.planner import state_values
from properties.laws.comparison import below, compare
from properties.laws.law import Law
from properties.laws.rounding import UNIT, backup_bound
from properties.laws.support import RARE_BEST, large_sets
from robust_core.mdp import MDP
from robust_core.problem import Variant
from robust_core.sets import SRectangular, UncertaintySet

SHIFTS = (1.0, -2.0, 16.0, 0.1)
# Entries of a kernel up to which every entry of a backup is enclosed; beyond, how many are, so that their pairs of
# states are not too many.
SMALL, ENTRIES, WORK = 1000, 8, 10_000


def _read_shift(choices: Choices, variant: Variant) -> OperatorCase:
    case = operator_case(choices, variant)
    shift, level = choices.pick(SHIFTS), choices.level(variant, type(case.uncertainty_set))
    return case.plus(shift=shift, larger=choices.radius(case.uncertainty_set, level, case.mdp.P, state_values(case.Q)))


def _read_per_pair(choices: Choices, variant: Variant) -> OperatorCase:
    case = operator_case(choices, variant)
    each = choices.set_per_pair(variant, case.uncertainty_set, case.mdp, state_values(case.Q))
    return replace(case, uncertainty_set=each)


def hard_backups(variant: Variant) -> list[OperatorCase]:
    """The rows and the sets of `support.hard_rows` whose best state is rare, one row for each action."""
    rows, values = RARE_BEST
    mdp = MDP(np.repeat(rows[None], len(values), axis=0), np.zeros((len(values), len(rows))), 0.5)
    if not Scope.of(variant).has(mdp):
        return []
    return [
        OperatorCase(mdp=mdp, uncertainty_set=each, Q=Q, other=Q)
        for each in large_sets(variant)
        for Q in [values if each.by_state else np.repeat(values[:, None], len(rows), axis=1)]
    ]


def _applied(variant: Variant, mdp: MDP, uncertainty_set: UncertaintySet, Q: np.ndarray) -> np.ndarray:
    return np.array(variant.make(mdp, uncertainty_set, Q.copy()))


def true_backup(mdp: MDP, uncertainty_set: UncertaintySet, Q: np.ndarray) -> tuple[np.ndarray, float]:
    """TQ and a bound on its error: rounding, and the width of the enclosure where TQ is not rational.

    For a large model whose TQ is not rational, only a sample of the entries is computed; the others are NaN.
    """
    if isinstance(uncertainty_set, SRectangular):
        return _true_states(mdp, uncertainty_set, Q)
    if is_exact(type(uncertainty_set)) or mdp.P.size <= SMALL:
        found = enclosed.backup(mdp, uncertainty_set, Q)
        return found.value, UNIT * float(np.abs(found.value).max()) + width_of(uncertainty_set, found)
    places = np.unique(np.linspace(0, mdp.cost.size - 1, max(2, min(ENTRIES, WORK // mdp.n_states**2))).astype(int))
    pairs = [divmod(int(place), mdp.n_actions) for place in places]
    found = enclosed.backup_of(mdp, uncertainty_set, Q, pairs)
    values = np.full(mdp.cost.shape, np.nan)
    values.flat[places] = found.value
    return values, UNIT * float(np.abs(found.value).max()) + found.error_bound


def _true_states(mdp: MDP, uncertainty_set: SRectangular, V: np.ndarray) -> tuple[np.ndarray, float]:
    """TV of an s-rectangular set and how far it may be off; of a large model one state is known."""
    states = range(mdp.n_states) if mdp.P.size <= SMALL else (mdp.n_states // 2,)
    found = s_rectangular.backup(mdp, uncertainty_set, V, states=states)
    values = np.full(mdp.n_states, np.nan)
    values[list(states)] = found.value
    return values, UNIT * float(np.abs(found.value).max()) + found.error_bound


def where_known(wanted: np.ndarray, got: Any) -> np.ndarray:
    """The wanted values; where they are NaN, the values of `got`, which then count as right."""
    values = np.asarray(got, dtype=np.float64)
    return np.where(np.isnan(wanted), values, wanted) if values.shape == wanted.shape else wanted


def _pure(variant: Variant, case: OperatorCase) -> Finding | None:
    """Same input, same output, float64; the input is left alone and the output is the caller's own."""
    mdp, uncertainty_set, Q, other = case.mdp, case.uncertainty_set, case.Q, case.other
    given = Q.copy()
    first = np.asarray(variant.make(mdp, uncertainty_set, given))
    if not np.array_equal(given, Q):
        return Finding("the caller's Q after a call", given.tolist(), Q.tolist())
    if first.dtype != np.float64:
        return Finding("type of TQ", str(first.dtype), "float64")
    kept = first.copy()
    variant.make(mdp, uncertainty_set, other.copy())
    if not np.array_equal(first, kept, equal_nan=True):
        return Finding("TQ after another call", first.tolist(), kept.tolist())
    again = _applied(variant, mdp, uncertainty_set, Q)
    if not np.array_equal(again, kept, equal_nan=True):
        return Finding("TQ of a second call", again.tolist(), kept.tolist())
    return None


def _matches(variant: Variant, case: OperatorCase) -> Finding | None:
    """One after the other for several radii, and Q in the other order of memory: nothing but the arguments counts."""
    mdp, Q = case.mdp, case.Q
    for chosen in sets_beside(variant, case.uncertainty_set):
        wanted, error = true_backup(mdp, chosen, Q)
        allowed = backup_bound(mdp, Q) + error
        said = "TQ" if chosen == case.uncertainty_set else f"TQ, then with radius {radius_of(chosen)}: entry "
        image = _applied(variant, mdp, chosen, Q)
        finding = compare(image, where_known(wanted, image), allowed, said)
        if finding is None:
            image = np.array(variant.make(mdp, chosen, np.asfortranarray(Q)))
            finding = compare(image, where_known(wanted, image), allowed, "TQ for Q in columns: entry ")
        if finding is not None:
            return finding
    return _twice(variant, case) if isinstance(case.uncertainty_set, SRectangular) else None


def _twice(variant: Variant, case: OperatorCase) -> Finding | None:
    """With the last action twice: actions that are alike share a budget, so to drop one of them changes the value."""
    mdp, Q = case.mdp, case.Q
    P, cost = (np.concatenate([x, x[:, -1:]], axis=1) for x in (mdp.P, mdp.cost))
    doubled = MDP(P, cost, mdp.gamma)
    wanted, error = true_backup(doubled, case.uncertainty_set, Q)
    image = _applied(variant, doubled, case.uncertainty_set, Q)
    allowed = backup_bound(doubled, Q) + error
    return compare(image, where_known(wanted, image), allowed, "TV of the model with the last action twice: state ")


def _per_pair(variant: Variant, case: OperatorCase) -> Finding | None:
    mdp, Q = case.mdp, case.Q
    wanted, error = true_backup(mdp, case.uncertainty_set, Q)
    image = _applied(variant, mdp, case.uncertainty_set, Q)
    return compare(image, where_known(wanted, image), backup_bound(mdp, Q) + error, "TQ with a radius for each pair: ")


def _contracts(variant: Variant, case: OperatorCase) -> Finding | None:
    mdp, Q, other = case.mdp, case.Q, case.other
    images = [_applied(variant, mdp, case.uncertainty_set, table) for table in (Q, other)]
    distance, before = float(np.abs(images[0] - images[1]).max()), float(np.abs(Q - other).max())
    allowed = backup_bound(mdp, Q) + backup_bound(mdp, other)
    if distance <= mdp.gamma * before + allowed:
        return None
    return Finding("‖TQ − TQ'‖ against gamma‖Q − Q'‖", distance, mdp.gamma * before, allowed)


def _monotone(variant: Variant, case: OperatorCase, shift: float, larger: float) -> Finding | None:
    """Monotone in Q and R, and T(Q + k) = TQ + gamma k."""
    mdp, Q, uncertainty_set = case.mdp, case.Q, case.uncertainty_set
    image = _applied(variant, mdp, uncertainty_set, Q)
    above, moved = Q + np.abs(case.other), Q + shift
    allowed = backup_bound(mdp, Q) + backup_bound(mdp, above) + backup_bound(mdp, moved)
    wider = widen(uncertainty_set, larger)
    return (
        below(
            image,
            _applied(variant, mdp, uncertainty_set, above),
            allowed,
            "TQ against TQ' for Q <= Q': entry ",
            columns=("TQ", "TQ'"),
        )
        or below(
            image,
            _applied(variant, mdp, wider, Q),
            allowed,
            "TQ against TQ of a larger set: entry ",
            columns=("TQ", "larger set"),
        )
        or compare(
            _applied(variant, mdp, uncertainty_set, moved),
            image + mdp.gamma * shift,
            allowed,
            f"T(Q + {shift})",
            columns=("T(Q + k)", "TQ + gamma k"),
        )
    )


def _invariant(variant: Variant, case: OperatorCase) -> Finding | None:
    mdp, uncertainty_set, Q = case.mdp, case.uncertainty_set, case.Q
    image = _applied(variant, mdp, uncertainty_set, Q)
    spell = equivalent_by_state if uncertainty_set.by_state else equivalent_models
    for same in spell(mdp, Q, splits=uncertainty_set.splits):
        got = _applied(variant, same.mdp, uncertainty_set.select(*same.origin), same.Q)
        if got.shape != same.Q.shape:
            return Finding("shape of TQ", got.shape, same.Q.shape)
        allowed = backup_bound(mdp, Q) + backup_bound(same.mdp, same.Q)
        part = old_entries(got, same)
        finding = compare(part, image, allowed, f"TQ of the model {same.what}: entry ", columns=(same.what, "before"))
        if finding is not None:
            return finding
    return None


def _law(name: str, statement: str, judge: Any, *after: str, read: Reader = operator_case) -> Law:
    return Law(name, ("operator",), "bellman", statement, Generated(read), judge, after=after)


LAWS = (
    _law(
        "bellman purity",
        "T is pure: Q is unchanged, the same call gives the same result, in a new float64 array",
        _pure,
    ),
    _law(
        "bellman backup",
        "TQ(s,a) = c(s,a) + γ σ_{P_s^a}(min_a Q), against exact rational arithmetic (Theorem 1);"
        " s-rectangular: TV(s) = min_π max_q Σ π_a q_a·(c + γV)",
        _matches,
        "bellman purity",
    ),
    _law(
        "contraction",
        "‖TQ − TQ'‖ ≤ γ ‖Q − Q'‖ in the sup norm (Appendix A)",
        _contracts,
        "bellman purity",
        "bellman backup",
    ),
    _law(
        "bellman order",
        "T is monotone in Q and R, and T(Q + k) = TQ + γ k",
        _monotone,
        "bellman purity",
        "bellman backup",
        read=_read_shift,
    ),
    _law(
        "bellman invariance",
        "duplicate and dominated actions, split states and a new numbering do not change TQ",
        _invariant,
        "bellman purity",
        "bellman backup",
    ),
    Law(
        "bellman backup, radii per pair",
        ("operator",),
        "radii per pair",
        "TQ(s,a) = c(s,a) + γ σ(min_a Q), σ with the radius of (s,a)",
        Generated(_read_per_pair),
        _per_pair,
        after=("bellman purity", "bellman backup"),
    ),
)
