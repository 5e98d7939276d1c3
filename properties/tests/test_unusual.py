"""Right variants that are written in unusual ways: no law rejects one, whatever the seed."""

import pytest

from properties.judging.closures import shared_state
from properties.judging.search import search
from properties.laws.catalogue import LAWS
from properties.tests.unusual_functions import FUNCTIONS
from properties.tests.unusual_learners import LEARNERS
from robust_core import Variant

RIGHT = (*LEARNERS, *FUNCTIONS)
SLOW = pytest.mark.robust_core_slow
ALWAYS = (
    "closure",
    "nested",
    "counting",
    "Coroutine",
    "Sampled",
    "1 with",
    "Ensemble",
    "Late",
    "ListTDC",
    "Summed",
    "loops",
)


def _rejections(variant: Variant, *, seed: int, examples: int, large: bool) -> dict[str, str]:
    laws = [law for law in LAWS if law.applies_to(variant) and (large or not law.large)]
    assert laws
    found = {law.name: search(law, variant, examples=examples, master_seed=seed) for law in laws}
    return {name: verdict.evidence for name, verdict in found.items() if verdict.outcome != "holds"}


def test_there_are_forty() -> None:
    assert len({variant.name for variant in RIGHT}) >= 50


@pytest.mark.parametrize("variant", [v for v in RIGHT if any(word in v.name for word in ALWAYS)], ids=lambda v: v.name)
def test_a_right_variant_is_not_rejected(variant: Variant) -> None:
    assert not _rejections(variant, seed=0, examples=4, large=False)


@SLOW
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("variant", RIGHT, ids=lambda v: v.name)
def test_no_right_variant_is_rejected(variant: Variant, seed: int) -> None:
    """Functions are tried on large and hard models too; runs of 2^16 steps take too long for learners in Python."""
    assert not _rejections(variant, seed=seed, examples=8, large=seed == 0 and variant in FUNCTIONS)


def test_state_that_a_copy_would_share_is_found() -> None:
    count = 0

    def assigns() -> None:
        nonlocal count
        count += 1

    class Learner:
        def __init__(self, **attributes: object) -> None:
            self.__dict__.update(attributes)

    table, size = [0.0], 3.0
    assert shared_state(Learner(f=lambda: table.append(1.0))) == "table"
    assert shared_state(Learner(f=[assigns])) == "count"
    assert shared_state(Learner(f=lambda: size, g=len, table=table)) == ""
