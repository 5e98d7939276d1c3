"""docs/set-claims.md: the claims of the literature about uncertainty sets."""

from benchmarks.documents.claims import LEGEND, ledger_document
from properties.claims.text import parts

INTRODUCTION = f"""# Claims about uncertainty sets

This page lists statements about sets from the literature on robust reinforcement learning: inclusions, limits of the
radius, duals, "robust is regularised", rectangularity, and sets around samples. All are stated for costs: nature
maximises q·v around the nominal row p, and sigma (σ) is the maximum. *Printed* is the statement as it is commonly used,
often without a hypothesis that its source has. *Where* names the source, and *hypotheses* says where the source is
narrower. `robust-core documents set-claims` generates this page from the registry (`properties/claims/sets`) and the
committed evidence. `robust-core claims --ledger sets` lists these claims, and `robust-core claims ID` explains one.

Inclusions are judged by support functions: closed convex sets are nested if and only if σ is ordered for every v. The
oracles enclose σ, in rationals where it is rational. References are from memory: theorem numbers may differ between
versions of a paper.

{LEGEND}"""


def document() -> str:
    """The whole document."""
    return ledger_document(INTRODUCTION, parts("sets"))
