"""A wrong algorithm that two laws must catch: where they do not, the suite in this process was changed from inside.

A module that is verified could replace a judge or the search, on purpose or by a careless patch of numpy, say. Every
process that judges a variant is tested so, before the laws and after them.
"""

from properties.judging import verification
from properties.kinds import kind_of

EXAMPLES = 20
"""Problems per law; each of the two laws finds the defect within the first ten."""


def missed_defect(kind: str) -> str:
    """The reason not to believe this process; empty if both laws catch the canary of the kind.

    >>> missed_defect("operator")
    ''
    """
    from properties.process.loading import load

    canary = kind_of(kind).canary
    ((_, mutant),) = load(f"properties.variants.mutants.{canary.mutant}").items()
    for law in verification.applicable(mutant):
        if law.name in canary.laws:
            (record,) = verification.verify(mutant, examples=EXAMPLES, laws=[law], shrink=False)
            if record.outcome != "violated":
                return f"{law.name!r} does not find the defect of {mutant.name!r}: the suite was changed from inside"
    return ""
