"""The claims of the paper (ids and order of the inventory); `catalogue` has them all."""

import importlib
from functools import cache

from properties.claims.claim import Claim

# One module per part of the paper; each has CLAIMS.
PARTS = ("model", "q_learning", "finite_time", "smoothing", "msprbe", "tdc_constants", "tdc_rate", "experiments")


@cache
def catalogue() -> dict[str, Claim]:
    """Every claim by its id, in the order of the paper."""
    claims = [claim for part in PARTS for claim in importlib.import_module(f"properties.claims.paper.{part}").CLAIMS]
    found = {claim.id: claim for claim in claims}
    if len(found) != len(claims):
        raise ValueError("two claims share an id")
    return found
