"""Which law catches which defect of a public algorithm: `properties.variants.faults`, judged with the default effort.

The second half was judged once, after the laws were written; the result is committed as `baselines/faults.json`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from properties.judging.search import search
from properties.judging.verification import applicable
from properties.laws.law import Law
from properties.variants.faults import Fault
from robust_core import json
from robust_core.json import from_data

BASELINE = Path(__file__).parents[1] / "baselines" / "faults.json"
EXAMPLES = 200
SEED = 0
FIRST = ("sample step", "unbiased step", "mean update", "TDC step", "optimum", "optimal value", "optimal policy")
"""Laws that say what an algorithm computes; they are asked first."""


@dataclass(frozen=True)
class Caught:
    """A fault and the law that it breaks ("": none)."""

    source: str
    law: str
    finding: str


@dataclass(frozen=True)
class FaultResults:
    """The committed result."""

    faults: tuple[Caught, ...] = ()


def load(path: Path = BASELINE) -> FaultResults:
    """The committed result."""
    return from_data(FaultResults, json.load(path), str(path))


def laws_of(fault: Fault) -> list[Law]:
    """The laws that apply, those on large instances last."""
    return sorted(applicable(fault.variant), key=lambda law: (law.large, law.name not in FIRST))


def judge_faults(faults: tuple[Fault, ...]) -> Iterator[Caught]:
    """The first law that each fault breaks."""
    for fault in faults:
        found = Caught(fault.source, "", "")
        for law in laws_of(fault):
            verdict = search(law, fault.variant, examples=EXAMPLES, master_seed=SEED, shrink=False)
            if verdict.outcome == "violated":
                found = Caught(fault.source, law.name, verdict.evidence)
                break
        yield found
