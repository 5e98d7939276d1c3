"""The claims of the paper, our own theorems and the claims of the literature about sets; `catalogue` has them all."""

import importlib
from functools import cache

from properties.claims.claim import Claim

LAW_PREFIX = "claim "
"""What the name of a claim begins with where it stands for a law."""
PRINTED = "the statement as printed"
AMENDED = "the amended statement"
LEDGERS = ("paper", "ours", "sets")
# One module per part of a ledger; each has CLAIMS.
PARTS = (
    *(
        f"paper.{part}"
        for part in (
            "model", "q_learning", "finite_time", "smoothing", "msprbe", "tdc_constants", "tdc_rate", "experiments"
        )
    ),
    *(
        f"ours.{part}"
        for part in ("contamination", "kullback_leibler", "average", "gradient", "plug_in", "visit_counts", "switching")
    ),
    *(f"sets.{part}" for part in ("inclusions", "limits", "duals", "regularised", "games", "samples")),
)  # fmt: skip


@cache
def catalogue() -> dict[str, Claim]:
    """Every claim by its id, in the order of the paper; then our own, then those about sets."""
    claims = [claim for part in PARTS for claim in importlib.import_module(f"properties.claims.{part}").CLAIMS]
    found = {claim.id: claim for claim in claims}
    if len(found) != len(claims):
        raise ValueError("two claims share an id")
    return found


def claim_named(law: str) -> Claim | None:
    """The claim that the name of a law stands for, if it stands for a claim."""
    return catalogue().get(law.removeprefix(LAW_PREFIX)) if law.startswith(LAW_PREFIX) else None
