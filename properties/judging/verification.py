"""Verify a variant: run the laws its kind and promises call for, and keep a record of each verdict.

Exact laws first, then the cells of the statistical laws, which say nothing new while an exact law is violated.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from properties.cases import law_schema
from properties.cases.scope import Scope
from properties.judging.blame import CannotBeJudged
from properties.judging.causes import Causes
from properties.judging.counterexample import Counterexample
from properties.judging.expectations import Expectation, read
from properties.judging.search import judge_case, search
from properties.judging.verdict import Record, UntestedPromise, Verdict, blocked_verdict
from properties.kinds import kind_of
from properties.laws.law import PROMISES, Law
from robust_core.mdp import MDP
from robust_core.problem import KINDS, NOT_ITSELF, Kind, Variant
from robust_core.sets import UncertaintySet
from robust_core.text import in_words, one_line, shorten, suggestion

if TYPE_CHECKING:
    from properties.statistics.suite import Planned

EXAMPLES = 200
LONGEST_NAME = 200
"""Characters of a variant's name, which stands in every record."""


def applicable(variant: Variant, laws: Iterable[Law] | None = None) -> list[Law]:
    """The laws that apply to this variant, in the order in which they are checked."""
    from properties.laws.catalogue import LAWS

    return [law for law in (LAWS if laws is None else laws) if law.applies_to(variant)]


def promises_of(kind: Kind) -> list[str]:
    """The promises that variants of a kind can make: those that some law of the kind tests."""
    from properties.laws.catalogue import LAWS
    from properties.statistics.law import PROMISES as STATISTICAL
    from properties.statistics.laws import laws

    tested = {law.promise for law in LAWS if kind in law.kinds} | {law.promise for law in laws() if kind in law.kinds}
    return [promise for promise in {**PROMISES, **STATISTICAL} if promise in tested]


def shortly_named(variant: Variant) -> Variant:
    """The variant, under another name if its own does not fit into a record."""
    name = shorten(variant.name, LONGEST_NAME)
    return variant if name == variant.name else replace(variant, name=name)


def require_promises(variant: Variant) -> None:
    """Refuse a variant with a promise that does not exist, or that belongs to another kind, and what is like a variant.

    >>> from dataclasses import replace
    >>> from properties.variants.gallery.bellman import VARIANT
    >>> require_promises(replace(VARIANT, promises=("belman",)))
    Traceback (most recent call last):
    ...
    ValueError: variant 'robust Bellman operator': promises: no such promise 'belman'; a variant of kind 'operator' \
can promise 'bellman', 'radii per pair'; did you mean 'bellman'?
    """
    if type(variant) is not Variant:
        raise ValueError(NOT_ITSELF)
    allowed = promises_of(variant.kind)
    for promise in variant.promises:
        if promise in allowed:
            continue
        others = [kind for kind in KINDS if promise in promises_of(kind)]
        wrong = (
            f"{promise!r} is for kind {' or '.join(map(repr, others))}"
            if others
            else f"no such promise {promise!r:.80}"
        )
        can = ", ".join(map(repr, allowed))
        raise ValueError(
            f"variant {one_line(variant.name)!r}: promises: {wrong}; "
            f"a variant of kind {variant.kind!r} can promise {can}"
            f"{suggestion(promise, allowed)}"
        )


STATISTICAL_LEARNING = ("converges", "finite time", "as fast as vanilla", "stationary", "limit")
"""Promises that a statistical law tests and that a learner which never learns cannot keep."""
# Of these a variant makes one at most: an update has one form.
_FORMS = ({"sample form", "sample form, next action"}, {"TDC", "GTD2"})
# What only a learner with one table and the update of Algorithm 1 can promise.
_OF_THE_BACKUP = {"unbiased", "sample form", "sample form, next action", "finite time", "as fast as vanilla"}
# It needs a method update_many.
_FAST = "fast path"


def possible_promises(variant: Variant) -> list[str]:
    """What the variant could promise beside, by its kind, its sets and the form of its update.

    >>> from properties.variants.gallery.target_copy import VARIANT
    >>> "monotone" in possible_promises(VARIANT), "mean update" in possible_promises(VARIANT)
    (True, False)
    """
    made = set(variant.promises)
    others = [promise for promise in promises_of(variant.kind) if promise not in made]
    forms = [promise for form in _FORMS if form & made for promise in form]
    other_step = variant.options.get("tables") or callable(variant.options.get("expected"))
    excluded = {*forms, _FAST, *(_OF_THE_BACKUP if other_step else ())}
    allowed = [promise for promise in others if promise not in excluded]
    missing = untested_sets(replace(variant, promises=tuple(allowed)))
    return [promise for promise in allowed if promise not in missing]


def advice(variant: Variant) -> tuple[str, ...]:
    """Advice on the promises of a variant: further ones it could make, and whether its own are enough."""
    lines = []
    learning = kind_of(variant.kind).learning
    if learning and not {*learning, *STATISTICAL_LEARNING} & set(variant.promises):
        lines.append(
            "its promises say nothing about learning: a learner that never learns keeps them too (docs/promises.md)"
        )
    possible = possible_promises(variant)
    if possible:
        lines.append(f"this variant could also promise: {'; '.join(possible)}")
    return tuple(lines)


def untested_sets(variant: Variant) -> dict[str, tuple[type[UncertaintySet], ...]]:
    """The promises that no law tests for some set of the variant, with those sets.

    This does not depend on which laws the caller runs: a law that is left out is not run, its promise can be tested.
    """
    from properties.laws.catalogue import LAWS
    from properties.statistics.law import PROMISES as STATISTICAL
    from properties.statistics.laws import laws

    alone = [replace(variant, sets=(cls,)) for cls in variant.sets] or [variant]
    missed: dict[str, list[Variant]] = {}
    for promise in variant.promises:
        exact = [law for law in LAWS if law.promise == promise]
        missed[promise] = [one for one in alone if not any(law.applies_to(one) for law in exact)]
        if missed[promise] and promise in STATISTICAL:
            # They draw problems of the first set of a variant.
            sampled = [law for law in laws() if law.promise == promise and law.applies_to(variant)]
            missed[promise] = [one for one in missed[promise] if not any(law.applies_to(one) for law in sampled)]
    return {promise: tuple(cls for one in found for cls in one.sets) for promise, found in missed.items() if found}


def untested_promises(variant: Variant) -> list[UntestedPromise]:
    """Every promise of the variant that no law tests for some set.

    >>> from dataclasses import replace
    >>> from properties.variants.gallery.tdc import LOG_SUM_EXP
    >>> from robust_core import TotalVariation
    >>> variant = replace(LOG_SUM_EXP, sets=(TotalVariation,), promises=("TDC",))
    >>> [promise.evidence for promise in untested_promises(variant)]
    ["untested: no law tests this promise for kind 'linear evaluation' with TotalVariation"]
    """
    found = []
    for promise, sets in untested_sets(variant).items():
        named = ", ".join(cls.__name__ for cls in sets) or "no set"
        narrow = "".join(f", {words}" for words in Scope.of(variant).in_words())
        evidence = f"untested: no law tests this promise for kind {variant.kind!r} with {named}{narrow}"
        found.append(UntestedPromise(f"promise {promise!r}", evidence))
    return found


def on_untested(variant: Variant, *, seed: int = 0) -> list[Record]:
    """One record for every promise of the variant that no law tests for some set."""
    return [
        Record(variant.name, promise.name, "untested", promise.evidence, 0, 0.0, seed)
        for promise in untested_promises(variant)
    ]


def read_expectations(path: Path, variant: Variant) -> dict[str, Expectation]:
    """The expected failures of a variant; cells of either size are known, those that do not run are not judged."""
    from properties.statistics.law import SIZES
    from properties.statistics.suite import allot_cells

    cells = [cell.name for size in SIZES for cell in allot_cells(variant, size)]
    return read(path, [law.name for law in applicable(variant)], cells=cells, variant=variant.name)


def verify(
    variant: Variant,
    *,
    name: str | None = None,
    examples: int = EXAMPLES,
    seed: int = 0,
    laws: Iterable[Law] | None = None,
    failed: Mapping[str, str] | None = None,
    expected: Mapping[str, Expectation] | None = None,
    keep: Path | None = None,
    progress: Callable[[str], None] = lambda law: None,
    cells: Sequence["Planned"] = (),
    cell_seconds: float = float("inf"),
    tick: Callable[[], None] = lambda: None,
    shrink: bool = True,
    law_seconds: float = math.inf,
    models: Sequence[MDP] = (),
    sampled: bool = False,
) -> Iterator[Record]:
    """One record per applicable law, as they are decided, then one per cell of the statistical laws in `cells`.

    `name` is how the variant is loaded again (it goes into counterexamples), `keep` the folder they are saved in;
    without one, a record holds its `Counterexample`. `failed` are the first causes already known by law, `expected` the
    known failures by law. `progress` hears the name of every law that begins, `tick` that a statistical law is still at
    work; the cells may take `cell_seconds` together. `statistics.suite.allotted` gives the cells that a variant calls
    for; by default there are none.

    Exact laws are tried on the user's `models` too, and each begins no case after `law_seconds`. With `sampled`
    a law whose draws cannot be enumerated is judged by sampling. Without `shrink` a violation is reported as it was
    found. This runs the variant in the calling process;
    `properties.process.session` gives it one of its own.
    """
    causes = Causes(failed)
    for law in applicable(variant, laws):
        progress(law.name)
        started = perf_counter()
        cause = causes.before(law)
        excuse = (expected or {}).get(law.name)
        if cause is not None:
            verdict = blocked_verdict(cause)
        elif excuse is not None:
            verdict = _pinned(law, variant, excuse)
        else:
            found = search(
                law,
                variant,
                examples=examples,
                master_seed=seed,
                shrink=shrink,
                seconds=law_seconds,
                models=models,
                sampled=sampled,
            )
            verdict = causes.distinct(law.name, found)
        causes.note(law.name, verdict)
        verdict, example = _save(law, name or variant.name, verdict, keep)
        yield Record.of(
            verdict,
            variant=variant.name,
            law=law.name,
            seconds=perf_counter() - started,
            seed=seed,
            counterexample=example,
            excuse=None if excuse is None else excuse.reason,
        )
    if cells:
        from properties.statistics import judging

        # A failure that is expected is no reason to stop looking.
        cause = next((first for law_name, first in causes.failed.items() if law_name not in (expected or {})), None)
        yield from judging.records(
            variant.name,
            cells,
            seed=seed,
            seconds=cell_seconds,
            cause=cause,
            causes=causes,
            expected=expected,
            progress=progress,
            tick=tick,
        )


def _pinned(law: Law, variant: Variant, excuse: Expectation) -> Verdict:
    """Judge the pinned case alone; a pass is an error, because the excuse has lost its ground."""
    assert excuse.counterexample is not None
    try:
        finding = judge_case(law, variant, law_schema.read(law, excuse.counterexample.case))
    except CannotBeJudged as reason:
        return Verdict("error", str(reason), 1)
    if finding is None:
        return Verdict("error", f"expected to fail ({excuse.reason}), but the pinned case passes: remove the entry", 1)
    return Verdict("violated", str(finding), 1, finding=finding)


def _save(law: Law, name: str, verdict: Verdict, folder: Path | None) -> tuple[Verdict, Counterexample | str | None]:
    """The counterexample, or its file in the folder; where that cannot be written, the evidence says so."""
    if verdict.case is None:
        return verdict, None
    example = Counterexample(law.name, name, verdict.case, verdict.evidence)
    if folder is None:
        return verdict, example
    try:
        return verdict, str(example.save(folder))
    except OSError as error:
        return replace(verdict, evidence=f"{verdict.evidence}; {not_saved_message(error)}"), None


def not_saved_message(error: OSError) -> str:
    """Why there is no file with the counterexample."""
    return f"the counterexample could not be saved: {in_words(error)}"
