"""A case in a file is one of its law, or the file is refused: a malformed one accuses no variant."""

import importlib
import itertools
import json
import pkgutil
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pytest

from properties.cases import claim_schema, law_schema, reductions
from properties.cases.case import Case
from properties.cases.codec import decode, encode
from properties.cases.large import Fixed
from properties.claims import catalogue, evidence
from properties.judging.counterexample import Counterexample
from properties.judging.expectations import read
from properties.judging.search import is_of_kind
from properties.judging.verification import applicable
from properties.laws.catalogue import LAWS
from properties.laws.large import RUNS
from properties.laws.large_learning import LARGEST
from properties.laws.law import Law
from properties.process.loading import gallery_variants
from properties.tests.drawn_cases import drawn
from properties.variants import mutants
from properties.variants.gallery.bellman import VARIANT as BELLMAN
from properties.variants.gallery.q_learning import VARIANT as Q_LEARNING
from properties.variants.gallery.td import VARIANT as TD
from robust_core import Contamination, StepSize, TotalVariation, Variant
from robust_core.mdp import MDP

BY_NAME = {law.name: law for law in LAWS}
MODEL = MDP([[[0.5, 0.5]], [[0.0, 1.0]]], [[1.0], [0.0]], 0.5)
CASE: Case = {
    "mdp": MODEL,
    "uncertainty_set": Contamination(0.5),
    "step_size": StepSize(0.5),
    "initial": np.zeros((2, 1)),
    "path": [(0, 0, 1.0, 1, 0, False)],
    "s": 0,
    "a": 0,
}
RUN = {name: value for name, value in CASE.items() if name not in ("s", "a")}


def sorts(variants: Iterable[Variant]) -> list[tuple[Variant, list[Law]]]:
    """Variants, each with the laws that draw cases for it as for none before it: all sorts of cases that there are."""
    seen: set[tuple[object, ...]] = set()
    found = []
    for variant in variants:
        keys = {(x.name, variant.kind, x.sets_of(variant), repr(variant.options)): x for x in applicable(variant)}
        if new := [law for key, law in keys.items() if key not in seen]:
            found.append((variant, new))
        seen |= keys.keys()
    return found


def every_variant() -> list[Variant]:
    """The built-in variants and the wrong ones."""
    wrong = [importlib.import_module(f"{mutants.__name__}.{m.name}") for m in pkgutil.iter_modules(mutants.__path__)]
    every = [
        *gallery_variants().values(),
        *(x for module in wrong for x in vars(module).values() if isinstance(x, Variant)),
    ]
    assert len(every) > 100
    return every


def _id(value: object) -> str:
    return value.name.replace(" ", "-") if isinstance(value, Variant) else "laws"


def again(case: Case) -> Case:
    """The case after a file."""
    return {name: decode(encode(value)) for name, value in case.items()}


@pytest.mark.parametrize("large", [False, pytest.param(True, marks=pytest.mark.robust_core_slow)])
@pytest.mark.parametrize(("variant", "laws"), sorts(every_variant()), ids=_id)
def test_every_case_that_a_law_makes_is_accepted(variant: Variant, laws: list[Law], large: bool) -> None:
    for law in laws:
        for case in itertools.islice(law.cases_of(variant) if law.large == large else (), 1 if large else 12):
            assert type(law_schema.read(law, again(case.entries()), variant)) is type(case)


@pytest.mark.parametrize(("variant", "laws"), sorts(gallery_variants().values()), ids=_id)
def test_every_smaller_case_that_is_tried_is_accepted(variant: Variant, laws: list[Law]) -> None:
    for law in laws:
        if law.reducible and not law.large:
            for case in itertools.islice(law.cases_of(variant), 2):
                for less in itertools.islice(reductions.smaller(case.entries()), 0, 120, 3):
                    if is_of_kind(variant.kind, less):
                        law_schema.read(law, less)


def test_every_case_of_a_claim_is_accepted() -> None:
    for claim in catalogue().values():
        for statement in filter(None, (claim.printed, claim.amended)):
            for case in drawn(statement.cases(), 3):
                claim_schema.check(statement, claim.id, again(case))


def test_the_largest_problem_can_be_read_again(tmp_path: Path) -> None:
    """A variant that hangs in it gets it as it is: nothing has made it smaller."""
    case = RUNS(Fixed(LARGEST), Q_LEARNING)
    kept = Counterexample("sample step, large", "module:NAME", case.entries(), "too slow").save(tmp_path)
    assert Counterexample.load(kept).case["mdp"] == case.entries()["mdp"]


def test_names_of_files_have_no_comma(tmp_path: Path) -> None:
    case = {name: value for name, value in CASE.items() if name not in ("s", "a")}
    kept = Counterexample("sample step, next action, large", "module:NAME", case, "").save(tmp_path)
    assert kept.name.startswith("sample-step-next-action-large-")
    old = kept.rename(tmp_path / "sample-step,-next-action,-large-1a2b3c4d.json")
    assert Counterexample.load(old).law == "sample step, next action, large"


def test_an_old_name_of_a_law_is_explained(tmp_path: Path) -> None:
    kept = Counterexample("sample step, sized", "module:NAME", RUN, "").save(tmp_path)
    with pytest.raises(ValueError, match="the law 'sample step, sized' is now called 'sample step, large'"):
        Counterexample.load(kept)


DEAR = MDP(MODEL.P, [[1e300], [0.0]], 0.5)
SURE = MDP([[[0.0, 1.0]], [[0.0, 1.0]]], MODEL.cost, 0.5)
FEATURES: Case = RUN | {
    "policy": np.ones((2, 1)),
    "features": np.eye(2),
    "smoothing": decode({"log_sum_exp": 1.0}),
    "second_step_size": StepSize(0.5),
    "initial": np.array([0.5, 0.0]),
    "projection": 1.0,
}
STEP = CASE["path"][0]
SUPPORT: Case = {"uncertainty_set": Contamination(0.5), "p": np.array([0.5, 0.5]), "v": np.array([1.0, 0.0])}
COIN = next(BY_NAME["coverage"].cases_of(Q_LEARNING)).entries()
WRONG: list[tuple[str, Case, Case, str]] = [
    ("unbiased step", CASE, {"initial": np.ones((1, 1))}, "initial must be an array of floats, 2 x 1, got [[1.0]]"),
    ("unbiased step", CASE, {"initial": np.zeros(2)}, "initial must be an array of floats, 2 x 1, got [0.0, 0.0]"),
    ("unbiased step", CASE, {"initial": np.zeros((2, 1), int)}, "initial must be an array of floats, 2 x 1"),
    ("unbiased step", CASE, {"initial": np.array([[1e300], [0.0]])}, "initial must hold zeros and numbers from"),
    ("unbiased step", CASE, {"initial": np.array([[5e-324], [0.0]])}, "initial must hold zeros and numbers from"),
    ("unbiased step", CASE, {"mdp": DEAR}, "the costs of mdp must hold"),
    ("unbiased step", CASE, {"mdp": 3}, "mdp must be a model, got 3"),
    ("unbiased step", CASE, {"s": 7}, "s must be one of 0..1, got 7"),
    ("unbiased step", CASE, {"s": -1}, "s must be one of 0..1, got -1"),
    ("unbiased step", CASE, {"s": 0.5}, "s must be one of 0..1, got 0.5"),
    ("unbiased step", CASE, {"s": True}, "s must be one of 0..1, got True"),
    ("unbiased step", CASE, {"a": 1}, "a must be one of 0..0, got 1"),
    ("unbiased step", CASE, {"uncertainty_set": 1}, "uncertainty_set must be an uncertainty set, got 1"),
    ("unbiased step", CASE, {"step_size": 0.5}, "step_size must be a step size, got 0.5"),
    ("unbiased step", CASE, {"zzz": 1}, "zzz must not be there, got 1; a case of 'unbiased step' has a, initial, mdp"),
    ("unbiased step", CASE, {"s": None}, "s is missing; a case of 'unbiased step' has a, initial, mdp"),
    ("unbiased step", CASE, {"features": np.eye(2)}, "features must not be there"),
    ("unbiased step", CASE, {"policy": np.array([[0.5], [1.0]])}, "policy row (0,) sums to 0.5, not 1"),
    ("unbiased step", CASE, {"policy": np.array([[2.0, -1.0]] * 2)}, "policy must be an array of floats, 2 x 1"),
    ("unbiased step", CASE, {"path": 3}, "path must be a list of steps, got 3"),
    ("unbiased step", CASE, {"path": [9]}, "path, step 1 must have the 6 fields s, a, cost, s_next, a_next, termina"),
    ("unbiased step", CASE, {"path": [STEP, STEP[:5]]}, "path, step 2 must have the 6 fields"),
    ("unbiased step", CASE, {"path": [(2, *STEP[1:])]}, "path, step 1: s must be one of 0..1, got 2"),
    ("unbiased step", CASE, {"path": [(*STEP[:3], -1, 0, False)]}, "path, step 1: s_next must be one of 0..1"),
    ("unbiased step", CASE, {"path": [(*STEP[:4], 1, False)]}, "path, step 1: a_next must be one of 0..0, got 1"),
    ("unbiased step", CASE, {"path": [(1, 0, 0.0, 0, 0, False)]}, "s_next must be possible after (s=1, a=0), got 0"),
    ("unbiased step", CASE, {"path": [(0, 0, 2.0, 1, 0, False)]}, "cost must be 1.0, as in the model, got 2.0"),
    ("unbiased step", CASE, {"path": [(*STEP[:5], 0)]}, "path, step 1: terminal must be true or false, got 0"),
    (
        "cost shift",
        RUN,
        {"path": [(*STEP[:5], True)], "shift": 1.0},
        "path, step 1: terminal must be false for this law, got True",
    ),
    (
        "fixed point",
        RUN,
        {"mdp": SURE, "path": [(0, 0, 1.0, 1, 0, False), (0, 0, 1.0, 1, 0, True)]},
        "path: terminal must be the same at all visits of a pair for this law",
    ),
    ("fixed point", RUN, {}, "mdp must be deterministic for this law, got [0.5, 0.5, 1.0]"),
    ("monotonicity", RUN, {"other": np.zeros((2, 1)), "dearer": -np.ones((2, 1))}, "dearer must not be negative"),
    ("non-expansion", RUN, {"other": np.zeros((1, 2))}, "other must be an array of floats, 2 x 1"),
    ("radius order", RUN, {"larger": 2.0}, "larger must be a radius of Contamination (radius must lie in [0, 1]"),
    ("cost shift", RUN, {"shift": float("inf")}, "shift must be a number of at most 2^256, got inf"),
    ("TDC step", FEATURES, {"features": np.eye(3)}, "features must be an array of floats, 2 x any"),
    ("TDC step", FEATURES, {"initial": np.zeros(3)}, "initial must be an array of floats, 2, got"),
    ("TDC step", FEATURES, {"initial": np.array([1.0, 0.0])}, "initial must lie well within the ball of radius 1.0"),
    ("TDC step", FEATURES, {"projection": -1.0}, "projection must be positive, got -1.0"),
    ("TDC step", FEATURES, {"smoothing": 1.0}, "smoothing must be a smooth maximum, got 1.0"),
    ("TDC step", FEATURES, {"step_size": StepSize(0.5, 1.0, 1.0, "visits")}, "step_size must not count visits"),
    ("TDC drift", FEATURES, {}, "projection must not be there, got 1.0"),
    ("support value", SUPPORT, {"p": np.array([1.0])}, "p must be an array of floats, 2, got [1.0]"),
    ("support value", SUPPORT, {"p": np.array([0.5, 0.4])}, "p sums to 0.9, not 1"),
    ("support value", SUPPORT, {"p": np.array([[0.5, 0.5]])}, "p must have 1 axes"),
    ("support rows", SUPPORT, {}, "p must have 3 axes"),
    (
        "support axioms",
        SUPPORT,
        {"other": np.zeros(2), "shift": 1.0, "larger": 1.0, "factor": -1.0},
        "factor must not be negative, got -1.0",
    ),
    ("possible path", COIN, {"start": 2}, "start must be one of 0..1, got 2"),
    ("possible path", COIN, {"steps": 10**12}, "steps must be a whole number from 0 to 65536, got 1000000000000"),
    ("coverage", COIN, {"steps": 3}, "steps must be that of a problem of 'coverage', which is right for its own alone"),
]


@pytest.mark.parametrize(("law", "case", "change", "reason"), WRONG)
def test_what_no_law_makes_is_refused(law: str, case: Case, change: Case, reason: str, tmp_path: Path) -> None:
    changed = {name: value for name, value in (case | change).items() if value is not None}
    kept = Counterexample(law, "module:NAME", changed, "wrong").save(tmp_path)
    with pytest.raises(ValueError, match=r".") as caught:
        Counterexample.load(kept)
    message = str(caught.value)
    assert message.startswith(f"{kept}: case: "), message
    assert reason in message
    assert "\n" not in message


def test_what_was_changed_was_right_before(tmp_path: Path) -> None:
    unlike = {"fixed point", "TDC drift", "support rows"}
    others: dict[str, Case] = {
        "monotonicity": {"other": np.zeros((2, 1)), "dearer": np.ones((2, 1))},
        "non-expansion": {"other": np.zeros((2, 1))},
        "radius order": {"larger": 1.0},
        "cost shift": {"shift": 1.0},
        "support axioms": {"other": np.zeros(2), "shift": 1.0, "larger": 1.0, "factor": 1.0},
    }
    for law, case in {law: case for law, case, _, _ in WRONG if law not in unlike}.items():
        Counterexample.load(Counterexample(law, "module:NAME", case | others.get(law, {}), "wrong").save(tmp_path))


def test_a_value_that_is_none_is_named(tmp_path: Path) -> None:
    kept = Counterexample("unbiased step", "module:NAME", CASE, "wrong").save(tmp_path)
    data = json.loads(kept.read_text())
    data["case"]["initial"] = {"floats": ["x"]}
    kept.write_text(json.dumps(data))
    with pytest.raises(ValueError, match="case: initial: bad floats: an array must hold numbers"):
        Counterexample.load(kept)


def _without_mdp(case: Case) -> None:
    del case["mdp"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda case: case.update(zzz=1), "zzz must not be there"),
        (_without_mdp, "mdp is missing"),
        (lambda case: case.update(Q=np.zeros(3)), "Q must be an array of float64 with 2 axes"),
        (lambda case: case.update(Q=np.zeros((7, 7))), "Q must be an array of floats, "),
        (lambda case: case.update(uncertainty_set=1), "uncertainty_set must be an uncertainty set, got 1"),
    ],
)
def test_what_no_claim_makes_is_refused(change: Callable[[Case], None], reason: str, tmp_path: Path) -> None:
    ((_, example),) = evidence.counterexamples(catalogue()["expand-T"])
    case = dict(example.case)
    change(case)
    kept = Counterexample(example.law, example.variant, case, "").save(tmp_path)
    with pytest.raises(ValueError, match=r"not a case of claim 'expand-T': ") as caught:
        Counterexample.load(kept)
    assert reason in str(caught.value)


def test_a_broken_pin_is_no_expected_failure(tmp_path: Path) -> None:
    kept = Counterexample("unbiased step", "module:NAME", CASE | {"s": 7}, "wrong").save(tmp_path)
    file = tmp_path / "expected.toml"
    entry = f'law = "unbiased step"\nreason = "known"\nexpires = 2100-01-01\ncounterexample = "{kept.name}"\n'
    file.write_text(f"[[expected]]\n{entry}")
    with pytest.raises(ValueError, match=r"entry 1: .*case: s must be one of 0\.\.1, got 7"):
        read(file, ["unbiased step"])


@pytest.mark.parametrize("text", ["", "\n# nothing is expected any more\n", "expected = []\n"])
def test_a_file_without_entries_expects_nothing(text: str, tmp_path: Path) -> None:
    (tmp_path / "expected.toml").write_text(text)
    assert read(tmp_path / "expected.toml", ["unbiased step"]) == {}


@pytest.mark.parametrize(
    ("variant", "law", "case", "reason"),
    [
        (BELLMAN, "unbiased step", CASE, "the law must be for 'robust Bellman operator' of kind 'operator', got 'unbi"),
        (TD, "unbiased step", CASE, "the case must be one for .* of kind 'evaluation', got one of kind 'control'"),
        (TD, "unbiased step", CASE | {"policy": np.ones((2, 1))}, "initial must have 1 axes for"),
        (
            Q_LEARNING,
            "unbiased step",
            CASE | {"uncertainty_set": TotalVariation(0.5)},
            "uncertainty_set must be one of contamination for",
        ),
    ],
)
def test_a_case_that_a_variant_is_not_for_does_not_accuse_it(
    variant: Variant, law: str, case: Case, reason: str
) -> None:
    with pytest.raises(ValueError, match=reason.replace("(", r"\(")):
        Counterexample(law, "module:NAME", case, "").replay(variant)


def test_a_right_case_is_judged() -> None:
    assert Counterexample("unbiased step", "module:NAME", CASE, "").replay(Q_LEARNING) is None
