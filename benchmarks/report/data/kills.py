"""The kill matrix: which law catches which wrong algorithm, after how many problems."""

from typing import Any

import numpy as np

from benchmarks.report.data import code
from benchmarks.runner.units import Unit

QUICK_EXAMPLES, SEED = 30, 0


def units(examples: int) -> list[Unit]:
    """The work of this part: one unit per module of mutants, whose problems are drawn once."""
    from benchmarks.mutants.matrix import zoo

    modules = dict.fromkeys(key.partition(":")[0] for key in zoo())
    return [
        Unit(
            "benchmarks.report.data.kills:killed",
            {"module": module, "examples": examples, "seed": SEED, "code": code.of(module)},
        )
        for module in modules
    ]


def killed(module: str, examples: int, seed: int, code: str) -> list[dict[str, Any]]:
    """The records of all mutants of a module, without times; `code` is part of what the result is kept under."""
    from benchmarks.mutants.matrix import kill_matrix
    from properties.process.loading import load

    fields = ("mutant", "name", "kind", "law", "cases", "finding")
    # A wrong algorithm's numbers may overflow; that is for the laws to see, not for the terminal.
    with np.errstate(all="ignore"):
        kills = list(kill_matrix(load(module), examples=examples, seed=seed))
    return [{name: getattr(kill, name) for name in fields} for kill in kills]
