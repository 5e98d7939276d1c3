"""The canary: a wrong algorithm that two laws must catch. If one misses it, the suite in this process was changed.

A module that is verified could replace a judge or the search, on purpose or by a careless patch of numpy, say. Every
process that judges a variant is tested so, before the laws and after them.
"""

from properties.judging import verification
from properties.judging.verdict import MISBEHAVIOUR
from properties.kinds import kind_of

EXAMPLES = 20
"""Problems per law; each of the two laws finds the defect within the first ten."""


def missed_defect(kind: str) -> str:
    """The reason not to trust verdicts of this process; empty if both laws catch the canary of the kind.

    >>> missed_defect("operator")
    ''
    """
    from properties.process.loading import load

    canary = kind_of(kind).canary
    ((_, mutant),) = load(f"properties.variants.mutants.{canary.mutant}").items()
    laws = {law.name: law for law in verification.applicable(mutant)}
    for name in canary.laws:
        if name not in laws:
            return f"the canary of kind {kind!r} names {name!r}, which is not a law of {mutant.name!r}"
        (record,) = verification.verify(mutant, examples=EXAMPLES, laws=[laws[name]], shrink=False)
        # The canary computes wrong numbers and does nothing else: what it does beside is the doing of another.
        if record.outcome == "violated" and record.evidence.startswith(MISBEHAVIOUR):
            return (
                f"{name!r} finds {record.evidence.removeprefix(MISBEHAVIOUR)!r} in {mutant.name!r}, which does nothing"
                " of that kind: the module does it beside its calls, in a thread say, or the suite was changed"
                " from inside"
            )
        if record.outcome != "violated":
            return (
                f"{name!r} does not find the defect of {mutant.name!r} in {EXAMPLES} problems: the suite was changed"
                " from inside, or the canary of a new kind is too weak"
            )
    return ""
