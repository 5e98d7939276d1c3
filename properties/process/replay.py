"""A saved counterexample judged again, in a process of its own: loading and judging may hang, die or eat memory."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from properties.judging.blame import CannotBeJudged, describe_error
from properties.judging.canary import missed_defect
from properties.judging.counterexample import Counterexample, describe, law_named, names
from properties.judging.deviation import Deviation
from properties.judging.verdict import Outcome
from properties.process import child
from properties.process.child import Line, settle
from properties.process.confirmation import CaseLoaded, JudgeAgain, JudgedAgain, NotLoaded, Refused, judge_again
from properties.process.loading import load, place_of
from robust_core.problem import Variant
from robust_core.text import shorten


@dataclass(frozen=True)
class Replay:
    """The verdict with its evidence, the law, the variant, and the case in readable form."""

    law: str
    statement: str
    target: str
    variant: str
    case: str
    outcome: Outcome
    evidence: str = ""
    deviation: Deviation | None = None


def replay_isolated(
    path: Path, *, seconds: float = child.SECONDS, waiting: Callable[[str], None] = lambda what: None
) -> Replay | None:
    """Judge the counterexample in a file again; None if it is to no law, but to a claim of the paper or to nothing.

    A variant that cannot be loaded is a `ValueError` that names the file and the variant; one that hangs or dies when
    it is judged has broken the law by that. `waiting` hears what is done if it takes long.
    """
    law_name, target = names(path)
    law = law_named(law_name)
    if law is None:
        return None
    place = place_of(target)
    _require_there(path, target, place)
    loaded, answer = judge_again(
        path, seconds=seconds, loading=lambda: waiting(f"loading {place}"), judging=lambda: waiting(law_name)
    )
    if isinstance(answer, NotLoaded):
        reason = f"{place}: {answer.reason} while loading" if answer.fault else answer.reason
        raise ValueError(f"{path} names the variant {target}: {reason}")
    if isinstance(answer, Refused):
        raise ValueError(answer.reason)
    assert loaded is not None
    return Replay(law_name, law.statement, target, loaded.variant, loaded.case, **vars(answer))


def _require_there(path: Path, target: str, place: str) -> None:
    """A variant's file is named as it was seen when it was verified: elsewhere, say where it can be seen."""
    if not place.endswith(".py") or Path(place).exists():
        return
    reason = f"{path} names the variant {target}: no such file"
    if Path(place).is_absolute():
        raise ValueError(reason)
    seen = next((folder for folder in path.resolve().parents if (folder / place).is_file()), None)
    raise ValueError(f"{reason}; run it in the folder {seen or 'in which the variant was verified'}")


def serve(pipe: int) -> None:
    """The worker: load, tell what is judged, judge."""
    with Line(pipe) as line:
        settle()
        order = line.receive(JudgeAgain)
        if order is not None:
            for answer in _answers(order):
                line.send(answer)


def _answers(order: JudgeAgain) -> Iterator[CaseLoaded | NotLoaded | Refused | JudgedAgain]:
    path = Path(order.path).absolute()
    try:
        _, target = names(path)
    except (ValueError, OSError) as error:  # another process has changed it
        yield Refused(str(error).replace(str(path), order.path))
        return
    # Before the case is read: the variant's module may define the uncertainty set in it.
    try:
        variants = load(target)
    except BaseException as error:
        yield NotLoaded(str(error) if isinstance(error, ValueError) else f"{describe_error(error)} while loading")
        return
    if len(variants) > 1:
        yield NotLoaded(f"more than one: {', '.join(variants)}")
        return
    (variant,) = variants.values()
    try:
        example = Counterexample.load(path)
        yield CaseLoaded(shorten(variant.name), describe(example.case))
    except Exception as error:
        doubt = _doubt(variant.kind, error)
        yield NotLoaded(doubt) if doubt else Refused(str(error).replace(str(path), order.path))
        return
    yield _judge_again(example, variant, order.path)


def _doubt(kind: str, error: Exception) -> str:
    """Why it is not the file's fault that its case cannot be read, after the module of a user; empty if it is."""
    if not isinstance(error, ValueError):
        return str(CannotBeJudged.because(error))
    try:
        doubt = missed_defect(kind)
    except Exception as failure:
        return str(CannotBeJudged.because(failure))
    return doubt and f"cannot be judged: {doubt}"


def _judge_again(example: Counterexample, variant: Variant, path: str) -> JudgedAgain | Refused:
    try:
        finding = example.replay(variant)
    except ValueError as error:
        return Refused(f"{path}: {error}")
    except Exception as error:
        # What the variant raises is a finding; this is the suite's, and blames nobody.
        return JudgedAgain("error", str(CannotBeJudged.because(error)))
    if finding is None:
        doubt = missed_defect(variant.kind)
        return JudgedAgain("error", f"cannot be judged: {doubt}") if doubt else JudgedAgain("holds")
    return JudgedAgain("violated", str(finding), finding.deviation())
