"""What a law is: a statement, the cases it speaks of, and a judge that finds a violation in one case.

A law knows kinds and claims, never a variant by name. The judge is a pure function of (variant, case), so a
counterexample is replayed by calling it again.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from properties.verdict import Finding
from robust_core.variant import Kind, Variant

Case = dict[str, Any]

# What a variant can promise, in words; a law applies where the variant makes one of the promises it tests.
CLAIMS: Mapping[str, str] = {
    "unbiased": "the expected update is (1−alpha)·estimate + alpha·(robust Bellman backup)",
    "asynchronous": "an update changes the visited entry only",
    "bellman": "the operator is the robust Bellman operator T",
    "support function": "the function is the support function of the set",
}


@dataclass(frozen=True)
class Law:
    """A law of one kind of variant.

    `claim` is the promise it tests (None: every variant of the kind must obey it); `after` names laws whose
    failure makes this one say nothing new.
    """

    name: str
    kinds: tuple[Kind, ...]
    claim: str | None
    statement: str
    cases: Callable[[Variant], st.SearchStrategy[Case]]
    judge: Callable[..., Finding | None]
    after: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.claim is not None and self.claim not in CLAIMS:
            raise ValueError(f"law {self.name!r}: claim must be one of {sorted(CLAIMS)}, got {self.claim!r}")

    def applies_to(self, variant: Variant) -> bool:
        """Whether the variant is of the law's kind and makes its claim."""
        return variant.kind in self.kinds and (self.claim is None or self.claim in variant.claims)
