"""What a case of a claim is: what the case in a file must have in common with those that the claim itself draws."""

import math
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from properties.cases.case import Case
from properties.cases.entry_rules import RULES as LAW_RULES
from properties.cases.entry_rules import Rule, require
from properties.cases.law_schema import check_names
from robust_core import UncertaintySet, validate

if TYPE_CHECKING:
    from properties.claims.claim import Statement


def check(statement: "Statement", name: str, case: Case) -> None:
    """Raise a `ValueError` unless this has the entries, types and shapes of the cases that the claim draws."""
    drawn = _drawn(statement)
    with_claim = f"not a case of claim {name!r}: "
    try:
        check_names(f"claim {name}", case, drawn)
        for entry, like in drawn.items():
            _check_alike(entry, case[entry], like)
        for entry, rule in RULES.items():
            if entry in case and not (entry == "a" and isinstance(case[entry], float)):
                rule(entry, case)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{with_claim}{error}") from None


@cache
def _drawn(statement: "Statement") -> Case:
    """A case of the statement: all of them have the same entries."""
    from properties.judging.exploration import explore

    cases: list[Case] = []
    explore(statement.cases(), cases.append, examples=1, master_seed=0)
    return cases[0]


def _check_alike(name: str, value: Any, like: object) -> None:
    """Raise unless the value is of the type of another; a whole number will do for a float."""
    if isinstance(like, np.ndarray):
        kind = f"be an array of {like.dtype} with {like.ndim} axes"
        right = isinstance(value, np.ndarray) and value.dtype == like.dtype
        # In a file a path without a step has lost its second axis.
        empty = like.dtype.kind == "i" and np.size(value) == 0
        require(right and (empty or np.ndim(value) == like.ndim), name, kind, value)
    elif isinstance(like, float):
        right = isinstance(value, (int, float)) and not isinstance(value, bool)
        require(right and math.isfinite(value), name, "be a finite number", value)
    elif isinstance(like, UncertaintySet):
        require(isinstance(value, UncertaintySet), name, "be an uncertainty set", value)
    else:
        require(type(value) is type(like), name, f"be of type {type(like).__name__}", value)


def _radius(name: str, case: Case) -> None:
    if "mdp" in case:
        require(0.0 <= case[name] <= 1.0, name, "lie in [0, 1]", case[name])
    else:  # of a set around one row, which may be a ball of any size
        require(case[name] >= 0.0, name, "not be negative", case[name])


def _row(name: str, case: Case) -> None:
    validate.distribution_rows(name, case[name])


def _of_states(like: str) -> Rule:
    """The rule of an entry of laws, where the case has a model."""

    def rule(name: str, case: Case) -> None:
        if "mdp" in case:
            LAW_RULES[like](name, case)

    return rule


RULES: dict[str, Rule] = {
    "radius": _radius,
    "policy": _of_states("policy"),
    "Q": _of_states("Q"),
    "s": _of_states("s"),
    "s_next": _of_states("s"),
    "a": _of_states("a"),
    "features": _of_states("features"),
    "p": _row,
    "q": _row,
}
