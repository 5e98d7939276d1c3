"""docs/sets.md: the uncertainty sets, their definitions and the convention of each radius."""

import inspect
from collections.abc import Iterable

import numpy as np

from benchmarks.documents.markdown import table
from robust_core import sets, sigma
from robust_core.sets import UncertaintySet

ROW, VALUES = np.array([0.5, 0.25, 0.25]), np.array([0.0, 1.0, 2.0])
RADIUS = 0.25
HEAD = f"""# Uncertainty sets

This page is written by `robust-core documents sets` from the docstrings of the classes.

An uncertainty set holds the distributions q that nature may use in place of the nominal row p of the model. The robust
Bellman operator needs its support function sigma(v) = max over the set of q·v: costs are minimised, so nature
maximises. All classes are imported from `robust_core`. `radius` is the first argument of a set; an array (S, A) gives
one radius for each pair. The name in the last column is used in files. `robust-core certify --set NAME:RADIUS` accepts
it too, except for `restart`, `local_adversary` and `wasserstein`, whose further fields need a
[JSON file](certificates.md#sets); `interval:W` gives the bounds p ± W.

## (s,a)-rectangular sets

Nature chooses the row of every pair (s, a) independently. The column sigma gives sigma(v) for p = {
    tuple(map(float, ROW))
}, v = {tuple(map(float, VALUES))} and radius {RADIUS} (– if the set needs further arguments); p·v is {ROW @ VALUES}.

"""
S_RECTANGULAR = """
## s-rectangular sets

Nature has one budget for all rows of a state, so an optimal policy may have to randomise. `radius` is the budget: a
number, or an array (S,) with one for each state. [Theory and claims](set-claims.md); `plan_states` solves such models.

"""
NOT_RECTANGULAR = """
## Sets that are not rectangular

Nature chooses one of finitely many kernels for the whole run: `FiniteKernels(models)` in `robust_core`. The robust
Bellman equation does not hold for it, so no operator, learner or planner of the suite takes such a set. Its methods
evaluate policies and find the best deterministic one by enumeration, for small models
([claim](set-claims.md)).
"""
CONVENTIONS = """
## Conventions that differ in the literature

- **Total variation and L1.** `TotalVariation(R)` is ½‖q − p‖₁ <= R, and `L1(r)` equals `TotalVariation(r/2)`. Elsewhere
  ‖q − p‖₁ is sometimes called total variation.
- **Kullback-Leibler.** `KullbackLeibler` is KL(q‖p) <= r and `ReverseKullbackLeibler` is KL(p‖q) <= r, both in nats.
  Elsewhere either is called the KL ball.
- **Chi-square.** Σ (q−p)²/p <= r. Elsewhere there is a factor ½, or q is in the denominator.
- **L2.** The radius is the distance. Elsewhere it is the squared distance.
- **Support.** Sets with the field `within_support` let mass move to every state by default. Elsewhere mass stays in the
  support of p.

[Extending the suite](extending.md#an-uncertainty-set) adds your own set, [Certificates](certificates.md) has the
dual bound of each set, and [Kinds of variants](variants.md) shows where a set enters a variant.
"""


def document() -> str:
    """The whole document."""
    return (
        HEAD
        + _table(sets.SETS)
        + "\n"
        + S_RECTANGULAR
        + _table(sets.S_RECTANGULAR)
        + "\n"
        + NOT_RECTANGULAR
        + CONVENTIONS
    )


def _table(classes: Iterable[type[UncertaintySet]]) -> str:
    rows = []
    for cls in classes:
        said = " ".join(inspect.cleandoc(cls.__doc__ or "").split())
        rows.append([f"`{cls.__name__}`", said, *([] if cls.by_state else [_sigma(cls)]), f"`{cls.kind}`"])
    return table(["class", "definition", *(["sigma"] if len(rows[0]) == 4 else []), "name"], rows)


def _sigma(cls: type[UncertaintySet]) -> str:
    """sigma of the row of the page where a radius is all that the set needs."""
    required = [
        name for name, field in inspect.signature(cls).parameters.items() if field.default is inspect.Parameter.empty
    ]
    if required != ["radius"]:
        return "–"
    return f"{sigma(cls(RADIUS), ROW, VALUES):.4g}"  # type: ignore[call-arg]
