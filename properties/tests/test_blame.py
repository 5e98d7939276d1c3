"""An exception is a fault of the variant or of the suite: nobody is blamed for the other's."""

import re
import signal
import sys
import warnings
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, ClassVar

import numpy as np
import pytest

from oracles.planning import rational
from oracles.sets.programs import SolverFailure
from properties.cases.scope import OutOfScope
from properties.judging import blame, guard
from properties.judging.blame import CannotBeJudged, SetAside, describe_error, misbehaviour
from properties.judging.search import MOST_READ, judge_case, search
from properties.judging.verification import applicable
from properties.kinds.support import SupportCase
from properties.laws.catalogue import LAWS
from properties.laws.coins import NotEnumerable
from properties.process.loading import load
from properties.variants.gallery.support import VARIANT
from properties.variants.mutants import support as wrong
from robust_core import Contamination, UncertaintySet, Variant

VALUE = next(law for law in LAWS if law.name == "support value")
CASE = SupportCase(uncertainty_set=Contamination(0.5), p=np.array([0.5, 0.5]), v=np.array([0.0, 1.0]))


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> None:
    """An oracle that gives up where the radius is 0."""
    right = rational.largest_mass

    def largest_mass(uncertainty_set: Any, *mass: Any) -> Any:
        if uncertainty_set.radius == 0.0:
            raise SolverFailure(f"{uncertainty_set}: status 'optimal_inaccurate'")
        return right(uncertainty_set, *mass)

    monkeypatch.setattr(rational, "largest_mass", largest_mass)


@pytest.mark.usefixtures("failing")
def test_an_oracle_that_fails_is_an_error_and_blames_nobody() -> None:
    verdict = search(VALUE, VARIANT, examples=30, master_seed=0)
    assert verdict.outcome == "error"
    reason = (
        r"cannot be judged: SolverFailure: \w+\(radius=0.0\): status 'optimal_inaccurate' \(so in \d+ of 34 cases\)"
    )
    assert re.fullmatch(reason, verdict.evidence)


@pytest.mark.usefixtures("failing")
def test_a_violation_is_found_beside_cases_that_cannot_be_judged() -> None:
    mutants = [mutant for mutant in vars(wrong).values() if isinstance(mutant, Variant)]
    verdicts = [search(VALUE, mutant, examples=30, master_seed=0) for mutant in mutants]
    found = [verdict for verdict in verdicts if verdict.outcome == "violated"]
    assert found
    assert all(verdict.case is not None and "SolverFailure" not in verdict.evidence for verdict in found)


def variant(make: Any) -> Variant:
    return Variant("mine", "support", make, (Contamination,), ("support function",))


def asks_an_oracle(uncertainty_set: UncertaintySet, p: Any, v: Any) -> Any:
    return rational.sigma(object(), p, v)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (asks_an_oracle, "misbehaviour: raised NoExactSupport: no exact support function is registered for object"),
        (lambda uncertainty_set: 0.0, "misbehaviour: raised TypeError: <lambda>() takes 1 positional argument"),
        (lambda *given: "much", "misbehaviour: returned str, not real numbers"),
        (lambda *given: sys.exit(3), "misbehaviour: raised SystemExit: 3"),
    ],
)
def test_what_a_variant_raises_or_hands_over_is_its_misbehaviour(make: Any, words: str) -> None:
    finding = judge_case(VALUE, variant(make), CASE)
    assert finding is not None
    assert words in str(finding)


@pytest.mark.parametrize("kind", [SetAside, OutOfScope, NotEnumerable, CannotBeJudged])
def test_a_variant_that_raises_an_exception_of_the_suite_has_no_case_set_aside(kind: type[Exception]) -> None:
    def raises(*given: Any) -> Any:
        raise kind("not me")

    finding = judge_case(VALUE, variant(raises), CASE)
    assert str(finding).startswith(f"misbehaviour: raised {kind.__name__}: not me (test_blame.py, line ")


def test_a_call_in_between_does_not_take_the_blame_for_a_case_that_is_left_out() -> None:
    def raises(*given: Any) -> Any:
        future: Future[float] = Future()
        future.set_exception(OutOfScope("not me"))
        return future.result()

    finding = judge_case(VALUE, variant(raises), CASE)
    assert str(finding).startswith("misbehaviour: raised OutOfScope: not me (test_blame.py, line ")


def test_a_message_of_many_lines_is_one_line() -> None:
    def raises(*given: Any) -> Any:
        raise ValueError("first\n\033[2Jsecond")

    found = str(judge_case(VALUE, variant(raises), CASE))
    assert re.fullmatch(r"misbehaviour: raised ValueError: first\\n\\x1b\[2Jsecond \(test_blame.py, line \d+\)", found)


class _Sly(str):
    """Lies about its length, or ends the process of whoever asks."""

    def __len__(self) -> int:
        raise SystemExit(0)

    __iter__ = __getitem__ = __format__ = __len__  # type: ignore[assignment]


class _Nameless(type):
    @property
    def __name__(cls) -> str:  # type: ignore[override]
        raise SystemExit(0)


def _answers(answer: Any) -> Any:
    """A class of exceptions whose message is this, or raises it."""

    def message(_: Exception) -> str:
        if isinstance(answer, str):
            return answer
        raise answer

    return _Nameless("Odd", (Exception,), {"__str__": message, "__repr__": message})


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (_Sly("sly"), "sly"),
        (SystemExit(0), "(its message cannot be read)"),
        (GeneratorExit(), "(its message cannot be read)"),
        (RecursionError(), "(its message cannot be read)"),
    ],
    ids=["subclass", "exit", "generator", "recursion"],
)
def test_an_exception_that_cannot_be_read_is_described_all_the_same(answer: Any, message: str) -> None:
    assert describe_error(_answers(answer)()) == f"Odd: {message}"


@pytest.mark.usefixtures("_clean_imports")
def test_a_message_without_an_end_is_left_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where the time of no case runs: while a file is loaded, say."""
    monkeypatch.setattr(guard, "MESSAGE_SECONDS", 0.05)
    file = tmp_path / "mine.py"
    file.write_text("class Endless(Exception):\n    def __str__(self):\n        while True: pass\nraise Endless\n")
    with pytest.raises(ValueError, match=r"mine\.py, line 4: Endless: \(its message takes too long to read\) while"):
        load(str(file))
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)


def test_only_the_ends_of_a_long_traceback_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """A recursion that fills the memory leaves millions of frames: to look at all took minutes."""
    looked: list[FrameType] = []
    depth = 5000

    def module_of(frame: FrameType) -> str:
        looked.append(frame)
        return "mine"

    monkeypatch.setattr(blame, "_module", module_of)

    def deeper(left: int) -> int:
        return deeper(left - 1) if left else 1 // 0

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(limit + depth)
    try:
        with pytest.raises(ZeroDivisionError) as raised:
            deeper(depth)
    finally:
        sys.setrecursionlimit(limit)
    assert misbehaviour(raised.value).startswith("misbehaviour: raised ZeroDivisionError")
    frames = {id(frame) for frame in looked}
    assert 0 < len(frames) <= 2 * blame.MOST_FRAMES < depth


def test_a_warning_of_a_class_of_the_users_is_quoted_in_a_line() -> None:
    class Odd(UserWarning):
        def __str__(self) -> str:
            return "two\nlines \x1b[2J"

    def warns(uncertainty_set: Any, p: Any, v: Any) -> Any:
        warnings.warn(Odd(), stacklevel=1)
        return VARIANT.make(uncertainty_set, p, v)

    assert r"of them Odd: two\nlines \x1b[2J" in search(VALUE, variant(warns), examples=3, master_seed=0).evidence


def test_of_a_flood_of_warnings_the_first_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """To read all took longer than the case."""
    read: list[BaseException] = []

    def warns(uncertainty_set: Any, p: Any, v: Any) -> Any:
        for number in range(1000):
            warnings.warn(f"warning {number}", stacklevel=1)
        return VARIANT.make(uncertainty_set, p, v)

    def describe(error: BaseException) -> str:
        read.append(error)
        return str(error)

    monkeypatch.setattr(blame, "describe_error", describe)
    verdict = search(VALUE, variant(warns), examples=3, master_seed=0)
    assert (verdict.outcome, "of them warning 0" in verdict.evidence) == ("holds", True)
    assert len(read) <= MOST_READ * verdict.cases


@dataclass(frozen=True)
class Shapeless(UncertaintySet):
    """A set whose size has another name."""

    kind: ClassVar[str] = "shapeless"
    size: float


def test_a_set_that_the_suite_cannot_handle_is_no_fault_of_the_variant() -> None:
    mine = Variant("mine", "operator", lambda mdp, uncertainty_set, Q: mdp.cost + 0.0 * Q, (Shapeless,), ("bellman",))
    verdicts = [search(law, mine, examples=3, master_seed=0) for law in applicable(mine)]
    assert {verdict.outcome for verdict in verdicts} <= {"holds", "error", "violated"}
    backup = verdicts[[law.name for law in applicable(mine)].index("bellman backup")]
    assert (backup.outcome, "no exact support function" in backup.evidence) == ("error", True)


def test_cases_that_cannot_be_made_are_an_error() -> None:
    class TwoNumbers(UncertaintySet):
        kind: ClassVar[str] = "two numbers"

        def __init__(self, radius: float, other: float) -> None:
            raise AssertionError("never made")

    mine = Variant("mine", "support", lambda uncertainty_set, p, v: p @ v, (TwoNumbers,), ("support function",))
    verdict = search(VALUE, mine, examples=3, master_seed=0)
    assert verdict.outcome == "error"
    assert "missing 1 required positional argument: 'other'" in verdict.evidence


@pytest.mark.parametrize("ignored", [True, False])
def test_ctrl_c_is_the_variants_only_where_nobody_can_press_it(ignored: bool) -> None:
    handler = signal.SIG_IGN if ignored else signal.default_int_handler
    before = signal.signal(signal.SIGINT, handler)
    try:
        if ignored:
            assert misbehaviour(KeyboardInterrupt()) == "misbehaviour: raised KeyboardInterrupt"
        else:
            with pytest.raises(KeyboardInterrupt):
                misbehaviour(KeyboardInterrupt())
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_replay_that_cannot_be_judged_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def largest_mass(uncertainty_set: Any, *mass: Any) -> Any:
        raise SolverFailure("no answer")

    monkeypatch.setattr(rational, "largest_mass", largest_mass)
    with pytest.raises(CannotBeJudged, match="cannot be judged: SolverFailure: no answer"):
        judge_case(VALUE, VARIANT, CASE)
