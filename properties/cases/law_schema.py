"""What a case of a law is: the rules that the case in a file is held to before anything is judged.

A judge takes its case on trust, because the law's own generator made it. A file may hold anything: a state that is not
there makes a right variant raise, an impossible step or a cost that the model does not have makes a true relation fail,
and the variant would be blamed for it. So whatever a law could not have made is refused, by the entry and the rule.

Which entries there are follows from the type of the case and the signature of the judge, what they must be from their
names (`entry_rules`) and their kind; the hypotheses of a law are its fields.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from properties.cases.case import Case, LawCase
from properties.cases.choices import SMOOTHINGS
from properties.cases.entry_rules import RULES, quote, require
from properties.cases.runs import ends_of, table_count
from properties.cases.scope import OutOfScope, Scope
from properties.cases.sources import Designed
from properties.cases.transition_costs import are_paid_by
from properties.kinds import kind_of
from properties.laws.law import Law
from robust_core.problem import Kind, Variant

BALLS = {"projection", "second_projection"}
"""Radii of projection, which an unprojected law has none of."""


def read(law: Law, entries: Case, variant: Variant | None = None) -> LawCase:
    """The case of the law that has these entries; a `ValueError` names the entry, its value and the rule it breaks.

    With `variant` it must be one of those that this variant is for.

    >>> from properties.laws.catalogue import LAWS
    >>> from robust_core import MDP
    >>> law = next(law for law in LAWS if law.name == "optimum")
    >>> model = MDP([[[1.0]]], [[0.0]], 0.5)
    >>> read(law, {"mdp": model, "uncertainty_set": 3})
    Traceback (most recent call last):
    ValueError: uncertainty_set must be an uncertainty set, got 3
    """
    kind = _kind(law, entries, variant)
    check_names(law.name, entries, *_names(law, kind))
    for name, rule in {**RULES, **kind_of(kind).rules}.items():
        if name in entries:
            rule(name, entries)
    check_hypotheses(law, entries)
    if variant is not None:
        _check_variant(law, entries, kind, variant)
    return kind_of(kind).case.of(entries)


# --- which entries there are


def _kind(law: Law, entries: Case, variant: Variant | None) -> Kind:
    """The kind of variant that the case is for, of those that the law speaks of: that with most of the entries.

    Of kinds whose cases have the same entries, it is that of the variant.
    """

    def fit(kind: Kind) -> int:
        case = kind_of(kind).case
        return len(entries.keys() & case.names()) - len(case.required_names() - entries.keys())

    best = max(law.kinds, key=fit)
    same = variant is not None and variant.kind in law.kinds and fit(variant.kind) == fit(best)
    return variant.kind if variant is not None and same else best


def _names(law: Law, kind: Kind) -> tuple[frozenset[str], frozenset[str]]:
    """The entries that a case has, and those that it may have."""
    case = kind_of(kind).case
    may = frozenset(case.names()) - case.required_names()
    return case.required_names() | law.beside, may - BALLS if law.unprojected else may


def check_names(what: str, case: Case, needed: Iterable[str], allowed: Iterable[str] = ()) -> None:
    """Raise unless the case has the entries that it needs, and no others but the allowed ones."""
    has = f"a case of {what!r} has {', '.join(sorted(needed))}"
    if missing := sorted(set(needed) - case.keys()):
        raise ValueError(f"{missing[0]} is missing; {has}")
    if extra := sorted(case.keys() - set(needed) - set(allowed)):
        raise ValueError(f"{extra[0]} must not be there, got {quote(case[extra[0]])}; {has}")


# --- what a law asks of its cases beside


def check_hypotheses(law: Law, entries: Case) -> None:
    """Raise unless the case is one of which the law speaks."""
    if "p" in entries:
        require(entries["p"].ndim == law.axes, "p", f"have {law.axes} axes", entries["p"])
    if law.endless:
        for number, step in enumerate(entries["path"], start=1):
            require(not step[5], f"path, step {number}: terminal", "be false for this law", step[5])
    if law.deterministic:
        chances = entries["mdp"].rows.probabilities
        require(bool(np.isin(chances, (0.0, 1.0)).all()), "mdp", "be deterministic for this law", chances)
        endings = {(s, a, end) for s, a, _, _, _, end in entries["path"]}
        pairs = {(s, a) for s, a, _ in endings}
        rule = "be the same at all visits of a pair for this law"
        require(len(endings) == len(pairs), "path: terminal", rule, sorted(endings))
        policy = entries.get("policy", np.ones(1))
        require(bool(np.isin(policy, (0.0, 1.0)).all()), "policy", "be deterministic for this law", policy)
    if isinstance(law.cases, Designed):
        _check_design(law, law.cases, entries)


def _check_design(law: Law, designed: Designed, entries: Case) -> None:
    """Raise unless it is one of the law's own problems, for which alone its judge is right."""
    designs = [case.entries() for case in designed.make()]
    differing = min(
        ([name for name in design if not _equal(entries[name], design[name])] for design in designs), key=len
    )
    if differing:
        rule = f"be that of a problem of {law.name!r}, which is right for its own alone"
        require(False, differing[0], rule, entries[differing[0]])


def _equal(value: Any, other: Any) -> bool:
    return np.array_equal(value, other) if isinstance(other, np.ndarray) else bool(value == other)


def _check_variant(law: Law, case: Case, kind: Kind, variant: Variant) -> None:
    """Raise unless the variant is for such cases."""
    its = f"for {variant.name!r}"
    if variant.kind not in law.kinds:
        raise ValueError(f"the law must be {its} of kind {variant.kind!r}, got {law.name!r} of {', '.join(law.kinds)}")
    if len(law.kinds) > 1 and kind != variant.kind:
        raise ValueError(f"the case must be one {its} of kind {variant.kind!r}, got one of kind {kind!r}")
    if "swing" in case:
        require(are_paid_by(variant), "swing", f"be left out {its}, whose costs are those of pairs", case["swing"])
    if "initial" in case:
        count = table_count(variant)
        require(case.get("tables") == count, "tables", f"be {count} {its}", case.get("tables"))
        axes = kind_of(kind).trivial_case(variant).entries()["initial"].ndim
        require(case["initial"].ndim == axes, "initial", f"have {axes} axes {its}", case["initial"])
    if "uncertainty_set" in case:
        uncertainty_set = case["uncertainty_set"]
        kinds = [cls.kind for cls in law.sets_of(variant)]
        require(
            uncertainty_set.kind in kinds, "uncertainty_set", f"be one of {', '.join(kinds)} {its}", uncertainty_set
        )
        right = Scope.of(variant).allows(uncertainty_set)
        require(right, "uncertainty_set", f"have a radius of {variant.options.get('radii')} {its}", uncertainty_set)
        if ends_of(variant, type(uncertainty_set)) == "none":
            for number, step in enumerate(case.get("path", ()), start=1):
                require(not step[5], f"path, step {number}: terminal", f"be false {its}, which has no ends", step[5])
    if "mdp" in case:
        try:
            Scope.of(variant).require_model(case["mdp"])
        except OutOfScope as reason:
            require(False, "mdp", f"be inside the options {its} ({reason})", case["mdp"])
    smoothing = SMOOTHINGS.get(variant.options.get("smoothing", ""), object)
    if "smoothing" in case:
        require(
            isinstance(case["smoothing"], smoothing), "smoothing", f"be {smoothing.__name__} {its}", case["smoothing"]
        )
