"""docs/set-claims.md: the claims of the literature about uncertainty sets."""

from benchmarks.documents.claims import LEGEND, ledger_document
from properties.claims.text import parts

INTRODUCTION = f"""# Claims about uncertainty sets

Sentences about sets that the literature on robust reinforcement learning uses: inclusions, limits of the radius, duals,
"robust is regularised", rectangularity, and sets around samples. All are turned to costs: nature maximises q·v around
the nominal row p, and sigma (σ) is the maximum. *Printed* is the statement as it is used, often without a hypothesis
that its source has; the place names the source, and the hypotheses say where it was narrower. This file is generated
from the registry (`properties/claims/sets`) and the committed evidence by `robust-core documents set-claims`.
`robust-core claims --ledger sets` lists these claims, `robust-core claims ID` explains one.

Inclusions are judged by support functions: closed convex sets are nested if and only if σ is ordered for every v. σ is
enclosed by the oracles, in rationals where it is rational. References are given from memory of the literature: theorem
numbers may differ between versions of a paper.

{LEGEND}"""


def document() -> str:
    """The whole document."""
    return ledger_document(INTRODUCTION, parts("sets"))
