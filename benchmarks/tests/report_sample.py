"""A small report for tests: the paper's claims, panels and counterexamples as they are, everything else made up."""

import functools
from dataclasses import replace
from typing import Any

from benchmarks.mutants.matrix import Kill
from benchmarks.regression.compare import Row
from benchmarks.regression.history import Change, Trend
from benchmarks.report.cards import Card
from benchmarks.report.report import Report, judge
from benchmarks.report.section import Work
from benchmarks.report.sections import claims, counterexamples, found, panels, statistics
from benchmarks.report.sections.convergence import Curve
from benchmarks.report.sections.mutants import Kills
from benchmarks.report.sections.regression import Comparison
from benchmarks.report.sections.run import Run
from benchmarks.report.sections.variants import CellNumbers, Example, Gallery, LawVerdict, VariantResult
from properties.judging.deviation import Deviation, Entry, SideBySide
from properties.statistics.records import CellResult, ControlResult, Gate
from robust_core.json import dumps

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
def _paper() -> tuple[claims.Claims, panels.Panels, tuple[Card, ...]]:
    committed = tuple(counterexamples.committed_cards())
    return replace(claims.collect(Work()), code="0123456789ab"), panels.collect(Work()), committed


def law_verdict(law: str, outcome: str = "holds", **more: Any) -> LawVerdict:
    """The verdict of a law."""
    return LawVerdict(law, outcome, **{"evidence": f"evidence of {law}", **more})


def variant(name: str, *verdicts: LawVerdict, expected: str = "holds", kind: str = "control") -> VariantResult:
    """A variant with its verdicts."""
    return VariantResult(f"my_{name}.py:VARIANT", name, kind, expected, verdicts)


def _example(name: str) -> Example:
    """A counterexample as verification keeps it: two states, two actions."""
    model = {
        "P": [[[0.5, 0.5], [1.0, 0.0]], [[0.25, 0.75], [0.0, 1.0]]],
        "cost": [[1.0, 0.0], [0.5, 2.0]],
        "gamma": 0.5,
    }
    data = {
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
    return Example("sample-step-01.json", dumps(data, indent=1))


def _gallery(names: tuple[str, ...]) -> Gallery:
    cell = CellNumbers(16, 5e-7)
    limit = law_verdict("converges/limit/two states", statistics=cell)
    good = [variant(name, law_verdict("start"), limit) for name in names]
    results = SideBySide(("variant", "oracle"), (Entry("(s=0, a=0)", 0.5, 0.75, True),), 1, 1)
    found = law_verdict(
        "sample step", "violated", evidence="Q(0, 0): got 0.5, wanted 0.75 within 1e-15",
        counterexample=_example(names[0]), deviation=Deviation("Q(0, 0)", 0.5, 0.75, 1e-15, results),
    )  # fmt: skip
    blocked = law_verdict("box", "blocked")
    bad = variant(f"wrong {names[0]}", law_verdict("start"), found, blocked, expected="violated")
    return Gallery(25, 0, {"start": "Q_0 is Q*"}, (*good, bad))


def _kills(names: tuple[str, ...]) -> Kills:
    laws = ("start", "sample step", "box")
    others = ("one that adds", "one that forgets", "one that waits", "a fourth", "a fifth")
    return Kills(
        60,
        0,
        tuple(
            Kill(f"zoo:{i}", name, "control", law, (i + 1) * 3 if j == i % 3 else None, 0.0, "off")
            for i, name in enumerate((*names, *others))
            for j, law in enumerate(laws)
        ),
    )


def _statistics(names: tuple[str, ...], gallery: Gallery) -> statistics.Statistics:
    path = ((16, -0.5, 2.0), (20, -1.0, 4.5), (25, -1.5, 7.5))
    cells = tuple(
        CellResult(
            outcome="holds", n=25, log_against=-1.5, log_favour=7.5, log_factors=(), path=path, law="convergence to Q*",
            cell=f"converges/limit/{name}", seed_set="e", n_max=455, alpha=5e-7 / len(names), beta=1e-3,
            effect="a bias",
        )
        for name in names
    )  # fmt: skip
    gate = Gate("holds", (), (), (), -3.0, 1e-6, 1e-6, ())
    controls = tuple(ControlResult(f"convergence: {name}", "violated", "x", 32) for name in names)
    command = "robust-core batch run"
    run = statistics.StatisticalRun("quick run of this report", command, True, gate, cells, controls, ())
    law = statistics.StatisticalLaw("convergence to Q*", "Q_t → Q*", "it does", ("conv",))
    return statistics.Statistics((run,), (law,), statistics.allowances(gallery))


def _convergence() -> tuple[Curve, ...]:
    return (
        Curve(
            problem="two states", model="MDP(S=2)", radius=0.25, runs=30, epsilon=0.5, delta=0.25, alpha=0.01, T=1000,
            above=0, times=(1, 10, 100, 1000), mean=(2.0, 1.0, 0.1, 0.01), low=(2.0, 0.9, 0.05, 0.001),
            high=(2.0, 1.1, 0.2, 0.02), worst=(2.0, 1.2, 0.3, 0.03), bound=(2.5, 2.5, 1.0, 0.4),
        ),
    )  # fmt: skip


def measure(name: str, verdict: str = "equivalent", **more: Any) -> Row:
    """A row of the regression table."""
    usual = {"metric": "last error", "problem": "garnet", "unit": "cost", "direction": "lower", "kind": "statistical",
             "scale": "relative", "margin": 0.1, "baseline": 0.5, "today": 0.51, "effect": 0.02, "lower": -0.01,
             "upper": 0.05, "n": 96, "note": ""}  # fmt: skip
    return Row(**{**usual, "variant": name, "verdict": verdict, **more})


def trend(**more: Any) -> Trend:
    """Five records of a measure that got worse with the fourth."""
    usual: dict[str, Any] = {
        "variant": "mine", "reference": "mine.py at v1", "metric": "last error", "problem": "garnet",
        "revisions": ("aaaaaaaaaaaa", "bbbbbbbbbbbb", "", "dddddddddddd", "eeeeeeeeeeee"),
        "effects": (0.0, 0.002, None, 0.06, 0.061), "lower": (-0.01, -0.01, None, 0.03, None),
        "upper": (0.01, 0.012, None, 0.09, 0.09), "level": 12.5,
        "alarm": Change("eeeeeeeeeeee", "dddddddddddd", "Halve the step size", 4, 3),
    }  # fmt: skip
    return Trend(**{**usual, **more})


def change(report: Report, **records: Any) -> Report:
    """The report with other records and the verdict that follows from them."""
    changed = replace(report, **records)
    return replace(changed, verdict=judge(vars(changed)))


def sample(*names: str) -> Report:
    """A report whose variants, mutants, cells and metrics have these names; everything in it is as it should be."""
    chosen = names or ("robust Q-learning",)
    ledger, figures, committed = _paper()
    gallery = _gallery(chosen)
    records: dict[str, Any] = {
        "claims": ledger,
        "variants": gallery,
        "mutants": _kills(chosen),
        "panels": figures,
        "convergence": _convergence(),
        "statistics": _statistics(chosen, gallery),
        "regression": Comparison("equivalent", 1e-6, True, "first", tuple(measure(name) for name in chosen)),
        "counterexamples": committed,
        "found": tuple(found.find(gallery)),
        "history": (trend(), trend(alarm=None)),
        "run": Run("2021-12-06T00:00:00+00:00", "0123456789ab", "0.1", "robust-core report --quick", "regression.jsonl",
                   (("claims", 1.5),), (("numpy", "2.0.0"),), (measure("loop", kind="ratio", unit="1"),)),
    }  # fmt: skip
    return Report(**records, verdict=judge(records), quick=True)
