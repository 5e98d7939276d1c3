"""A small report for tests: the paper's claims, panels and counterexamples as they are, everything else made up."""

import copy
import functools
from typing import Any

from benchmarks.report import overall
from benchmarks.report.data import claims, counterexamples, panels

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror="alert(2)">\'',
    "</script><script>alert(3)</script>",
    "שלום \u202eexe.txt\u202c عالم",
    "x" * 400,
    "a|b `c` *d* [e](javascript:alert(4)) @everyone\nsecond line",
    "nul \x00 bell \x07 half \ud800",
)


@functools.cache
def _paper() -> dict[str, Any]:
    committed = counterexamples.committed()
    return {"claims": claims.collected(), "panels": panels.collected(), "examples": committed}


def record(law: str, outcome: str = "holds", **more: Any) -> dict[str, Any]:
    """A record of a verification."""
    usual = {"evidence": f"evidence of {law}", "cases": 25, "seed": 0, "blocked_by": None, "table": None}
    return {"law": law, "outcome": outcome, **usual, "statistics": None, "counterexample": None, **more}


def variant(name: str, *records: dict[str, Any], expected: str = "holds", kind: str = "control") -> dict[str, Any]:
    """A variant with its records."""
    return {
        "target": f"my_{name}.py:VARIANT",
        "name": name,
        "kind": kind,
        "claims": ["unbiased"],
        "expected": expected,
        "records": list(records),
    }


def _example(name: str) -> dict[str, Any]:
    """A counterexample as verification keeps it: two states, two actions."""
    model = {
        "P": [[[0.5, 0.5], [1.0, 0.0]], [[0.25, 0.75], [0.0, 1.0]]],
        "cost": [[1.0, 0.0], [0.5, 2.0]],
        "gamma": 0.5,
    }
    return {
        "file": "sample-step-01.json",
        "format": "robust-core/counterexample/1",
        "law": "sample step",
        "variant": name,
        "finding": "Q(0, 0): got 0.5, wanted 0.75 within 1e-15",
        "case": {
            "initial": {"floats": [[0.0, 0.0], [0.0, 0.0]]},
            "mdp": {"mdp": {"format": "robust-core/mdp/1", **model}},
            "path": {"list": [{"list": [{"number": field} for field in (0, 0, 1.0, 1, 0, False)]}]},
            "step_size": {"step_size": {"clock": "constant", "power": 1.0, "rate": 0.0, "scale": 0.5}},
            "uncertainty_set": {"set": {"kind": "contamination", "radius": 0.25}},
        },
    }


def _gallery(names: tuple[str, ...]) -> dict[str, Any]:
    cell = {"law": "convergence to Q*", "n": 16, "alpha": 5e-7, "beta": 1e-3}
    good = [variant(name, record("start"), record("converges/limit/two states", statistics=cell)) for name in names]
    found = record(
        "sample step", "violated", evidence="Q(0, 0): got 0.5, wanted 0.75 within 1e-15",
        counterexample=_example(names[0]), table="entry   variant   oracle\n[0, 0]  0.5       0.75  <-",
    )  # fmt: skip
    blocked = record("box", "blocked", blocked_by="sample step")
    bad = variant(f"wrong {names[0]}", record("start"), found, blocked, expected="violated")
    return {
        "examples": 25,
        "seed": 0,
        "laws": {"start": {"statement": "Q_0 is Q*", "claim": ""}},
        "variants": [*good, bad],
    }


def _kills(names: tuple[str, ...]) -> dict[str, Any]:
    laws = ("start", "sample step", "box")
    records = [
        {"mutant": f"zoo:{i}", "name": name, "kind": "control", "law": law, "finding": "off",
         "cases": (i + 1) * 3 if j == i % 3 else None}
        for i, name in enumerate((*names, "one that adds", "one that forgets", "one that waits", "a fourth", "a fifth"))
        for j, law in enumerate(laws)
    ]  # fmt: skip
    return {"examples": 60, "seed": 0, "records": records}


def _statistics(names: tuple[str, ...]) -> dict[str, Any]:
    path = [[16, -0.5, 2.0], [20, -1.0, 4.5], [25, -1.5, 7.5]]
    cells = [
        {"cell": f"converges/limit/{name}", "law": "convergence to Q*", "outcome": "holds", "n": 25, "n_max": 455,
         "alpha": 5e-7 / len(names), "beta": 1e-3, "effect": "a bias", "log_against": -1.5, "log_favour": 7.5,
         "path": path, "intervals": {}}
        for name in names
    ]  # fmt: skip
    gate = {"budget": 1e-6, "spent": 1e-6, "outcome": "holds", "violated": [], "undecided": [], "pending": [],
            "log_product": -3.0, "suspects": []}  # fmt: skip
    controls = [{"control": f"convergence: {name}", "outcome": "violated", "n": 32, "cell": "x"} for name in names]
    run = {"source": "quick run of this report", "today": True, "command": "python -m benchmarks.batch.cells",
           "size": "quick", "seed_set": "e",
           "summary": gate, "cells": cells, "controls": controls, "missed": []}  # fmt: skip
    laws = [{"name": "convergence to Q*", "statement": "Q_t → Q*", "null": "it does", "claims": ["conv"]}]
    return {"runs": [run], "laws": laws}


def _convergence() -> list[dict[str, Any]]:
    times = [1, 10, 100, 1000]
    return [
        {"problem": "two states", "model": "MDP(S=2)", "radius": 0.25, "runs": 30, "epsilon": 0.5, "delta": 0.25,
         "alpha": 0.01, "T": 1000, "above": 0, "times": times,
         "mean": [2.0, 1.0, 0.1, 0.01], "low": [2.0, 0.9, 0.05, 0.001], "high": [2.0, 1.1, 0.2, 0.02],
         "worst": [2.0, 1.2, 0.3, 0.03], "bound": [2.5, 2.5, 1.0, 0.4]}
    ]  # fmt: skip


def comparison(name: str, verdict: str = "equivalent", **more: Any) -> dict[str, Any]:
    """A cell of the regression table."""
    usual = {"metric": "last error", "problem": "garnet", "unit": "cost", "direction": "lower", "kind": "statistical",
             "scale": "relative", "margin": 0.1, "baseline": 0.5, "today": 0.51, "effect": 0.02, "lower": -0.01,
             "upper": 0.05, "n": 96, "note": ""}  # fmt: skip
    return {**usual, "variant": name, "verdict": verdict, **more}


def sample(*names: str) -> dict[str, Any]:
    """A report whose variants, mutants, cells and metrics have these names; everything in it is as it should be."""
    chosen = names or ("robust Q-learning",)
    paper = copy.deepcopy(_paper())
    gallery = _gallery(chosen)
    data: dict[str, Any] = {
        "format": "robust-core/report/1",
        "quick": True,
        "claims": paper["claims"],
        "claims code": "0123456789ab",
        "gallery": gallery,
        "kills": _kills(chosen),
        "panels": paper["panels"],
        "convergence": _convergence(),
        "statistics": _statistics(chosen),
        "regression": {"verdict": "equivalent", "alpha": 1e-6, "paired": True, "reason": "first",
                       "commands": ["robust-core compare"], "cells": [comparison(name) for name in chosen]},
        "counterexamples": {"committed": paper["examples"], "found": counterexamples.found(gallery["variants"])},
        "run": {"begun": "2021-12-06T00:00:00+00:00", "seconds": [["claims", 1.5]], "versions": [["numpy", "2.0.0"]],
                "speed": [comparison("loop", kind="ratio", unit="1")]},
    }  # fmt: skip
    return data | {"verdict": overall.verdict(data)}
