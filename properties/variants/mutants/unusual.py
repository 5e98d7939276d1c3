"""Bugs that need an unusual argument: tiny or huge numbers, another layout in memory, a question asked before."""

from collections.abc import Callable
from typing import Any

import numpy as np

from properties.variants.gallery.value_iteration import ACCURACY, plan
from properties.variants.mutants.plain import PlainTDC, but
from robust_core import L1, MDP, Contamination, LocalAdversary, TotalVariation, UncertaintySet, Variant, bellman, sigma
from robust_core.validate import Floats

_SETS = (Contamination, TotalVariation)


def _sigma(name: str, make: Any, *sets: Any) -> Variant:
    return Variant(f"sigma {name}", "support", make, sets or _SETS, ("support function", "rows"))


def _operator(name: str, make: Any, *sets: Any) -> Variant:
    return Variant(f"T {name}", "operator", make, sets or _SETS, ("bellman",))


def _planner(name: str, make: Any) -> Variant:
    return Variant(f"planner {name}", "planner", make, _SETS, ("optimal",), {"accuracy": ACCURACY})


# What the authors of these bugs took for nothing: a share of a probability or radius, and a value.
NEGLIGIBLE, SMALL = 1e-7, 1e-6
# A cost, or a share of the radius of a ball: far above rounding, so it can be seen, and below what most tests look for.
BILLIONTH = 1e-9


def _tdc(name: str, make: Any) -> Variant:
    promises = ("TDC", "projected", "scale", "rotation")
    return Variant(f"TDC {name}", "linear evaluation", make, (Contamination,), promises)


def _likely_only(uncertainty_set: UncertaintySet, p: Floats, v: Floats) -> Floats:
    """What is nearly impossible is taken for impossible."""
    likely = np.where(p < NEGLIGIBLE, 0.0, p)
    return sigma(uncertainty_set, likely / likely.sum(axis=-1, keepdims=True), v)


def _nearly_nominal(uncertainty_set: Any, p: Floats, v: Floats) -> Any:
    """A small radius is taken for none."""
    return p @ v if uncertainty_set.radius < NEGLIGIBLE else sigma(uncertainty_set, p, v)


def _nearly_flat(uncertainty_set: UncertaintySet, p: Floats, v: Floats) -> Any:
    """Values that differ little are taken for equal, in absolute terms."""
    return np.full(p.shape[:-1], v.max()) if np.ptp(v) < SMALL else sigma(uncertainty_set, p, v)


def _half_precision_keys(uncertainty_set: TotalVariation, p: Floats, v: Floats) -> Any:
    """Near ties are not sorted."""
    order = np.argsort(v.astype(np.float16), kind="stable") if np.abs(v).max() < 2.0**15 else np.argsort(v)
    ascending = p[..., order]
    taken = np.clip(uncertainty_set.radius - (np.cumsum(ascending, axis=-1) - ascending), 0.0, ascending)
    return (ascending - taken) @ v[order] + taken.sum(axis=-1) * v.max()


def _sorts_rows(uncertainty_set: UncertaintySet, p: Floats, v: Floats) -> Floats:
    """Many rows are sorted in place, and the values with them."""
    if p.ndim > 1:
        order = np.argsort(v)
        p[...] = p[..., order].copy()
        v[:] = v[order].copy()
    return sigma(uncertainty_set, p, v)


def _one_buffer() -> Any:
    """Many rows are answered in one buffer, which the next answer fills again."""
    buffers: dict[tuple[int, ...], Floats] = {}

    def support(uncertainty_set: UncertaintySet, p: Floats, v: Floats) -> Floats:
        result = np.asarray(sigma(uncertainty_set, p, v))
        if p.ndim == 1:
            return result
        buffer = buffers.setdefault(result.shape, np.empty(result.shape))
        buffer[:] = result
        return buffer

    return support


def _three_axes(uncertainty_set: UncertaintySet, p: Floats, v: Floats) -> Floats:
    """Written for one row and for P[s,a,·]."""
    return sigma(uncertainty_set, p, v) if p.ndim in (1, 3) else np.zeros(p.shape[:-1])


def _memory_order(mdp: MDP, uncertainty_set: UncertaintySet, Q: Floats) -> Floats:
    """A kernel that is given a pointer."""
    return bellman(mdp, uncertainty_set, Q.ravel(order="K").reshape(Q.shape))


def _remembers(known: Callable[[Any], Any]) -> Any:
    """Answers are kept by model, table, and what is known of the set."""
    memory: dict[Any, Floats] = {}

    def operator(mdp: MDP, uncertainty_set: UncertaintySet, Q: Floats) -> Floats:
        key = (mdp.hash, Q.tobytes(), known(uncertainty_set))
        if key not in memory:
            memory[key] = bellman(mdp, uncertainty_set, Q)
        return memory[key].copy()

    return operator


def _tiny_worst(mdp: MDP, uncertainty_set: Contamination, Q: Floats) -> Floats:
    """A worst value near zero is zero."""
    V = Q.min(axis=1)
    worst = 0.0 if abs(V.max()) < SMALL else V.max()
    return mdp.cost + mdp.gamma * ((1.0 - uncertainty_set.radius) * mdp.expectation(V) + uncertainty_set.radius * worst)


def _plans_kept() -> Any:
    """Plans are kept by model."""
    memory: dict[str, Floats] = {}

    def planner(mdp: MDP, uncertainty_set: UncertaintySet) -> Floats:
        if mdp.hash not in memory:
            memory[mdp.hash] = plan(mdp, uncertainty_set)
        return memory[mdp.hash].copy()

    return planner


def _clipped_costs(mdp: MDP, uncertainty_set: UncertaintySet) -> Floats:
    return plan(MDP(mdp.kernel, np.clip(mdp.cost, -1e3, 1e3), mdp.gamma), uncertainty_set)


def _tiny_costs(mdp: MDP, uncertainty_set: UncertaintySet) -> Floats:
    """Costs near zero are zero."""
    return plan(MDP(mdp.kernel, np.where(np.abs(mdp.cost) < BILLIONTH, 0.0, mdp.cost), mdp.gamma), uncertainty_set)


class _SlackProjection(PlainTDC):
    """What is outside by a billionth is let pass."""

    def projected(self, x: Floats) -> Floats:
        return super().projected(x) if np.linalg.norm(x) > self.K * (1.0 + BILLIONTH) else x


LIKELY_ONLY = _sigma("of what is likely", _likely_only)
NEARLY_NOMINAL = _sigma("without small radii", _nearly_nominal)
CLIPPED_VALUES = _sigma(
    "of clipped values", lambda uncertainty_set, p, v: sigma(uncertainty_set, p, np.clip(v, -1e5, 1e5))
)
NEARLY_FLAT = _sigma("of nearly equal values", _nearly_flat)
HALF_PRECISION_KEYS = _sigma("sorted in half precision", _half_precision_keys, TotalVariation)
SORTS_ROWS = _sigma("that sorts the caller's rows", _sorts_rows)
ONE_BUFFER = _sigma("in one buffer", _one_buffer())
THREE_AXES = _sigma("of one or three axes", _three_axes)
MEMORY_ORDER = _operator("that reads memory in order", _memory_order)
RADIUS_FORGOTTEN = _operator("with a memory without the radius", _remembers(lambda chosen: None))
FIELDS_FORGOTTEN = _operator(
    "with a memory of the radius alone", _remembers(lambda chosen: chosen.radius), L1, LocalAdversary
)
CLIPPED_TABLE = _operator(
    "of a clipped table", lambda mdp, uncertainty_set, Q: bellman(mdp, uncertainty_set, np.clip(Q, -1e4, 1e4))
)
TINY_WORST = _operator("with zero for a tiny worst value", _tiny_worst, Contamination)
PLANS_KEPT = _planner("with a memory without the radius", _plans_kept())
CLIPPED_COSTS = _planner("of clipped costs", _clipped_costs)
TINY_COSTS = _planner("without tiny costs", _tiny_costs)
SLACK_PROJECTION = _tdc("with a slack projection", _SlackProjection)
# For a large varrho the maximum itself.
HARD_MAXIMUM = _tdc(
    "with a hard maximum for a large varrho",
    but(PlainTDC, smooth=lambda self, V: float(V.max()) if self.varrho > 1000.0 else PlainTDC.smooth(self, V)),
)
