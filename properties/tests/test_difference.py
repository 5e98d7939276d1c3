"""Two variants side by side: planted differences are found, and equal variants are equal on their level."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from properties.difference.comparison import compare
from properties.difference.equality import Equality, equality
from properties.difference.oracle import side_of_oracle
from properties.difference.orders import Answer, Numbers
from properties.difference.pair import Pair, Undecidable, ask_worker
from properties.difference.serving import PairWorker
from properties.kinds import kind_of
from properties.process.child import Fault
from properties.process.loading import load
from properties.process.serving import description
from robust_core import models
from robust_core.problem import Variant

GALLERY, MUTANTS, EXAMPLES = (
    "properties.variants.gallery",
    "properties.variants.mutants",
    "properties.variants.examples",
)
CONTROL = (
    "TWO_ACTIONS", "THREE_STATES", "SELF_LOOP", "LOST_GAMMA_NOMINAL", "GAMMA_TWICE", "DISCOUNTED_COST", "REWARD_SIGN",
    "SWAPPED_WEIGHTS", "NOMINAL_WEIGHT_FORGOTTEN", "NO_CONTAMINATION", "CONTAMINATION_ONLY", "MAX", "MAX_NEXT",
    "MAX_OF_TABLE", "MIN_FOR_MAX", "MEAN_FOR_MAX", "WORST_OF_ACTION", "WORST_WITHOUT_HOME", "LAST_STATE_FORGOTTEN",
    "FIRST_STATE_FORGOTTEN", "SEEN_STATES_ONLY", "CURRENT_STATE", "SAME_ACTION", "NEXT_ACTION", "TERMINAL_IGNORED",
    "TERMINAL_ENDS_NATURE", "TERMINAL_SKIPPED", "ZERO_COST_SKIPPED", "CLIPPED", "CLIPPED_ERROR", "ENTROPY",
    "HALF_RADIUS", "SQUARED_GAMMA", "LOST_GAMMA",
)  # fmt: skip
PLANTED = [
    *((f"{GALLERY}.q_learning:VARIANT", f"{MUTANTS}.control:{name}") for name in CONTROL),
    *(
        (f"{EXAMPLES}.{kind}:VARIANT", f"{MUTANTS}.{module}:{name}")
        for kind, module, name in (
            ("evaluation", "evaluation", "LOST_GAMMA"),
            ("operator", "operator", "NO_DISCOUNT"),
            ("planner", "planner", "WITHOUT_CONSTANT"),
            ("value_planner", "value_planner", "MEAN_OF_ACTIONS"),
            ("value_planner", "value_planner", "FIRST_ACTION"),
            ("value_planner", "value_planner", "WITHOUT_COST"),
            ("value_planner", "value_planner", "LARGEST"),
            ("value_planner", "value_planner", "NOT_ROBUST"),
            ("policy_planner", "policy_planner", "LARGEST_COST"),
            ("average_cost_planner", "average_cost_planner", "WITHOUT_RADIUS"),
            ("policy_gradient", "policy_gradient", "VANILLA"),
            ("smoothed_operator", "smoothed_operator", "MINIMUM"),
            ("support", "support", "L1_RADIUS"),
            ("sampler", "sampler", "UNIFORM_NEXT"),
            ("simulator", "simulator", "VANILLA"),
            *((kind, *kind_of(kind.replace("_", " ")).canary.mutant.split(":")) for kind in ("batch", "objective")),
            ("linear_evaluation", "linear", "CORRECTION_SIGN"),
        )
    ),
]
QUICK = {"TERMINAL_IGNORED", "NO_DISCOUNT", "CORRECTION_SIGN", "L1_RADIUS"}
SLOW = pytest.mark.robust_core_slow


def of_targets(*targets: str) -> Pair:
    return of_variants(*(variant for target in targets for variant in list(load(target).values())[:1]))


def of_variants(*variants: Variant) -> Pair:
    """Two variants of the suite, asked in this process."""
    given: list[Any] = []
    worker = PairWorker(given.append)
    worker.variants = {str(number): variant for number, variant in enumerate(variants)}

    def ask(variant: Any, order: object, kind: type) -> Any:
        given.clear()
        worker.follow(order)
        assert isinstance(given[0], kind)
        return given[0]

    return Pair.of([description(target, variant, None) for target, variant in worker.variants.items()], ask)


def found(pair: Pair, *, examples: int = 120, seed: int = 0) -> Equality:
    return equality(pair, examples=examples, seed=seed)


def _parameters() -> list[Any]:
    names = [second.split(":")[1] for _, second in PLANTED]
    return [
        pytest.param(*pair, id=pair[1].rsplit(".", 1)[1], marks=() if name in QUICK else SLOW)
        for pair, name in zip(PLANTED, names, strict=True)
    ]


@pytest.mark.parametrize(("right", "wrong"), _parameters())
def test_a_planted_difference_is_found_and_the_oracle_sides_with_the_right_one(right: str, wrong: str) -> None:
    pair = of_targets(right, wrong)
    result = found(pair)
    assert result.level == "different"
    assert result.smallest is not None
    judged = [pair.judge(result.smallest.case, which) for which in (0, 1)]
    assert not [law for law in judged[0] if law.outcome == "violated" and law.own]
    if any(law.outcome == "violated" for law in judged[1]):
        assert side_of_oracle(pair, result.smallest.case, list).side == "first"


def test_the_reduced_case_is_small_and_names_the_step() -> None:
    result = found(of_targets(f"{GALLERY}.q_learning:VARIANT", f"{MUTANTS}.control:TERMINAL_IGNORED"))
    assert result.smallest is not None
    assert result.smallest.parting.step == len(result.smallest.case["path"]) == 1
    assert result.smallest.case["path"][0][5]


@pytest.mark.parametrize(
    ("first", "second", "level"),
    [
        (f"{GALLERY}.q_learning:VARIANT", f"{EXAMPLES}.control:VARIANT", "equal in law"),
        pytest.param(f"{GALLERY}.q_learning:VARIANT", f"{MUTANTS}.control:RANDOMISED", "equal in the mean", marks=SLOW),
        pytest.param(f"{GALLERY}.expected_sarsa:VARIANT", f"{GALLERY}.sarsa:VARIANT", "equal in the mean", marks=SLOW),
        pytest.param(f"{EXAMPLES}.sampler:VARIANT", f"{GALLERY}.walk:VARIANT", "equal in law", marks=SLOW),
    ],
)
def test_equal_variants_are_equal_on_their_level(first: str, second: str, level: str) -> None:
    result = found(of_targets(first, second), examples=40)
    assert result.level == level
    assert "probability" in result.evidence or level == "equal in the mean"


def _tossing(twist: Callable[[float], float]) -> Callable[[Any], Any]:
    class Tossing:
        """Moves the visited entry by a coin of its rng."""

        def __init__(self, problem: Any) -> None:
            self.rng, self.table = problem.rng, np.array(problem.initial)

        def update(self, step: Any) -> None:
            self.table[step.s, step.a] += twist(self.rng.random())

        def estimate(self) -> np.ndarray:
            return self.table.copy()

    return Tossing


@pytest.mark.parametrize(
    ("twist", "level"),
    [
        pytest.param(lambda u: float(u < 0.25), "equal in bits", id="same coin"),
        pytest.param(lambda u: float(u > 0.75), "equal in law", id="another coin", marks=SLOW),
        pytest.param(lambda u: float(u < 0.75), "different", id="other mean", marks=SLOW),
    ],
)
def test_coins_are_compared_in_law(twist: Callable[[float], float], level: str) -> None:
    model = next(iter(load(f"{EXAMPLES}.control:VARIANT").values()))
    quarter = replace(model, make=_tossing(lambda u: float(u < 0.25)), promises=())
    assert found(of_variants(quarter, replace(quarter, make=_tossing(twist))), examples=25).level == level


@pytest.mark.robust_core_slow
def test_a_smaller_spread_leaves_equality_in_the_mean() -> None:
    """Spreads that differ by a factor of 4, more than the stated effect, of laws with few ties."""
    model = next(iter(load(f"{EXAMPLES}.control:VARIANT").values()))
    wide = replace(model, make=_tossing(lambda u: float(int(8 * u))), promises=())
    narrow = replace(wide, make=_tossing(lambda u: 2.625 + int(8 * u) / 4))
    assert found(of_variants(wide, narrow), examples=25).level == "equal in the mean"


def test_rounding_is_not_a_parting_but_no_equality_of_bits() -> None:
    case = {"mdp": models.two_states(gamma=0.5)}
    one, other = (Answer(((Numbers.of([[1.0]]),),)), Answer(((Numbers.of([[np.nextafter(1.0, 2.0)]]),),)))
    near = compare("operator", case, (one, other), ({}, {}))
    assert (near.same_bits, near.parting) == (False, None)
    far = compare("operator", case, (one, Answer(((Numbers.of([[1.0 + 1e-9]]),),))), ({}, {}))
    assert far.parting is not None
    stated = compare("operator", case, (one, Answer(((Numbers.of([[1.0 + 1e-9]]),),))), ({"accuracy": 1e-8}, {}))
    assert stated.parting is None


@pytest.mark.parametrize(
    ("other", "words"),
    [(f"{EXAMPLES}.operator", "of one kind"), (f"{GALLERY}.double_q_learning:BOTH", "'tables'")],
)
def test_variants_that_cannot_be_compared_are_refused(other: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        of_targets(f"{EXAMPLES}.control:VARIANT", other)


def test_two_variants_that_both_fail_are_not_equal() -> None:
    def fails(*_: Any) -> Any:
        raise RuntimeError("no")

    model = next(iter(load(f"{EXAMPLES}.operator:VARIANT").values()))
    broken = replace(model, make=fails)
    with pytest.raises(ValueError, match="neither variant gives an answer"):
        found(of_variants(broken, broken), examples=5)


@pytest.mark.parametrize(("fault", "asked"), [(Fault("died", "it died"), 16), (Fault("hung", "it hung"), 2)])
def test_a_variant_that_dies_or_hangs_again_and_again_is_given_up(fault: Fault, asked: int) -> None:
    """Every new worker takes a second, and every hang two minutes: the smallest problem is not worth hundreds."""

    class Faulty:
        def worker(self, variant: object) -> "Faulty":
            return self

        def send(self, order: object) -> None:
            pass

        def hear(self, *kinds: type) -> Fault:
            return fault

        def kill_worker(self, variant: object) -> None:
            pass

    faults: Counter[str] = Counter()
    variant = description("mine", load(f"{GALLERY}.bellman:VARIANT").popitem()[1], None)
    for _ in range(asked - 1):
        assert ask_worker(Faulty(), faults, variant, object(), Answer) == fault  # type: ignore[arg-type]
    with pytest.raises(Undecidable, match="again and again"):
        ask_worker(Faulty(), faults, variant, object(), Answer)  # type: ignore[arg-type]
