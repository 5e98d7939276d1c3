"""What wrong support functions of several sets are made of."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from robust_core import UncertaintySet, Variant, sigma
from robust_core.validate import Floats

Form = Callable[[Any, Floats, Floats], Any]


def mutants_of(kind: type[UncertaintySet], called: str) -> Callable[[str, Form], Variant]:
    """The constructor of wrong support functions of a set, from what is wrong and the function."""
    return lambda name, make: Variant(f"{called} {name}", "support", make, (kind,), ("support function",))


def change_radius(change: Callable[[float], float]) -> Form:
    """sigma with another radius."""

    def make(uset: Any, p: Floats, v: Floats) -> Floats:
        return sigma(replace(uset, radius=change(uset.radius)), p, v)

    return make


def within(value: bool) -> Form:
    """sigma of the set that stays in the support, or may leave it, whatever it says."""

    def make(uset: Any, p: Floats, v: Floats) -> Floats:
        return sigma(replace(uset, within_support=value), p, v)

    return make


def minimum(uset: Any, p: Floats, v: Floats) -> Floats:
    """The minimum in place of the maximum."""
    return -sigma(uset, p, -v)


def mean_deviation(p: Floats, v: Floats) -> tuple[float, float]:
    """Mean and standard deviation."""
    mean = float(p @ v / p.sum())
    return mean, math.sqrt(float(p @ (v - mean) ** 2 / p.sum()))


def fill(lower: Floats, upper: Floats, v: Floats, order: Any) -> float:
    """lower, raised to upper in some order until the mass is 1."""
    q = np.array(lower, dtype=float)
    left = 1.0 - q.sum()
    for i in order:
        added = min(max(left, 0.0), upper[i] - q[i])
        q[i] += added
        left -= added
    return float(q @ v)


def falling(v: Floats) -> Any:
    """States by falling value."""
    return np.argsort(-v, kind="stable")


def allowed(uset: Any, p: Floats) -> Any:
    """The states to which mass may move."""
    return p > 0 if uset.within_support else np.ones(p.size, bool)


def top(uset: Any, p: Floats, v: Floats) -> float:
    """The largest value of these states."""
    return float(v[allowed(uset, p)].max())


def mass_of_best(p: Floats, v: Floats) -> float:
    """The mass of the best states of the support."""
    return float(p[(p > 0) & (v == v[p > 0].max())].sum())


def smoothed(uset: Any, p: Floats, v: Floats) -> Floats:
    """A thousandth of the uniform law is mixed into p, so that logarithms exist."""
    mixed = 0.999 * p + 0.001 / p.size
    return sigma(uset, mixed / mixed.sum(), v)
