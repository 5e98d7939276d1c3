"""Verify a variant: run the laws its kind and claims call for, and keep a record of each verdict."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from properties.counterexample import Counterexample
from properties.expectations import Expectation
from properties.law import Law
from properties.search import judged, search
from properties.verdict import Record, Verdict
from robust_core.variant import Variant

EXAMPLES = 200


def applicable(variant: Variant, laws: Iterable[Law] | None = None) -> list[Law]:
    """The laws that speak of this variant, in the order they are checked."""
    from properties.laws import LAWS

    return [law for law in (LAWS if laws is None else laws) if law.applies_to(variant)]


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
    progress: Callable[[Law], None] | None = None,
) -> Iterator[Record]:
    """One record per applicable law, as they are decided.

    `name` is how the variant is loaded again (it goes into counterexamples), `keep` the folder they are saved in,
    `failed` the first causes already known by law, `expected` the known failures by law.

    This runs the variant in the calling process; `isolation.verify_isolated` gives it one of its own.
    """
    causes = dict(failed or {})
    for law in applicable(variant, laws):
        if progress is not None:
            progress(law)
        started = time.perf_counter()
        cause = next((causes[earlier] for earlier in law.after if earlier in causes), None)
        excuse = (expected or {}).get(law.name)
        if cause is not None:
            verdict = Verdict("blocked", f"says nothing new while {cause!r} is violated", blocked_by=cause)
        elif excuse is not None:
            verdict = _pinned(law, variant, excuse)
        else:
            verdict = search(law, variant, examples=examples, master_seed=seed)
        if verdict.outcome != "holds":
            causes[law.name] = cause or law.name
        path = _kept(law, name or variant.name, verdict, keep)
        yield Record(
            variant=variant.name,
            law=law.name,
            outcome=verdict.outcome,
            evidence=verdict.evidence,
            cases=verdict.cases,
            seconds=time.perf_counter() - started,
            seed=seed,
            counterexample=None if path is None else str(path),
            blocked_by=verdict.blocked_by,
            expected=None if excuse is None or verdict.outcome != "violated" else excuse.reason,
        )


def _pinned(law: Law, variant: Variant, excuse: Expectation) -> Verdict:
    """Judge the pinned case alone; a pass is an error, because the excuse has lost its ground."""
    finding = judged(law, variant, excuse.counterexample.case)
    if finding is None:
        return Verdict("error", f"expected to fail ({excuse.reason}), but the pinned case passes: remove the entry", 1)
    return Verdict("violated", str(finding), 1, finding=finding)


def _kept(law: Law, name: str, verdict: Verdict, folder: Path | None) -> Path | None:
    if folder is None or verdict.case is None:
        return None
    return Counterexample(law.name, name, verdict.case, verdict.evidence).save(folder)
