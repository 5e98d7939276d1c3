"""A wrong algorithm that two laws must catch: where they do not, the suite in this process was changed from inside.

A module that is verified could replace a judge or the search, on purpose or by a careless patch of numpy, say. Every
process that judges a variant is tested so, before the laws and after them.
"""

from collections.abc import Mapping

from properties.judging import verification

EXAMPLES = 20
"""Problems per law; each of the two laws finds the defect within the first ten."""
CANARIES: Mapping[str, tuple[str, tuple[str, str]]] = {
    "support": ("support:L1_RADIUS", ("support value", "support axioms")),
    "operator": ("operator:NO_DISCOUNT", ("bellman backup", "contraction")),
    "planner": ("planner:WITHOUT_CONSTANT", ("optimum", "optimum order")),
    "sampler": ("sampler:UNIFORM_NEXT", ("possible path", "frequencies")),
    "control": ("control:LOST_GAMMA", ("sample step", "unbiased step")),
    "evaluation": ("evaluation:LOST_GAMMA", ("sample step", "unbiased step")),
    "linear evaluation": ("linear:CORRECTION_SIGN", ("TDC step", "TDC drift")),
}
"""By kind of variant a mutant and two laws that catch it."""


def missed_defect(kind: str) -> str:
    """The reason not to believe this process; empty if both laws catch the canary of the kind.

    >>> missed_defect("operator")
    ''
    """
    from properties.process.loading import load

    name, laws = CANARIES[kind]
    ((_, mutant),) = load(f"properties.variants.mutants.{name}").items()
    for law in verification.applicable(mutant):
        if law.name in laws:
            (record,) = verification.verify(mutant, examples=EXAMPLES, laws=[law], shrink=False)
            if record.outcome != "violated":
                return f"{law.name!r} does not find the defect of {mutant.name!r}: the suite was changed from inside"
    return ""
