"""A saved counterexample judged again, in a process of its own: loading and judging may hang, die or eat memory."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from properties.judging.blame import CannotBeJudged, said
from properties.judging.counterexample import Counterexample, described, law_named, names
from properties.judging.verdict import Outcome
from properties.process import child
from properties.process.child import Child, Message
from properties.process.loading import load, place_of
from robust_core.problem import Variant


@dataclass(frozen=True)
class Replay:
    """What came out: the verdict with its evidence, on which law and variant, in which case as a person reads it."""

    law: str
    statement: str
    target: str
    variant: str
    case: str
    outcome: Outcome
    evidence: str = ""
    table: str = ""


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
    with Child(_serve, json.dumps({"path": str(path)})) as worker:
        loaded = worker.message(seconds, waiting=lambda: waiting(f"loading {place}"))
        if "fault" in loaded:
            loaded = {"unloaded": f"{place}: {loaded['fate']} while loading"}
        if "unloaded" in loaded:
            raise ValueError(f"{path} names the variant {target}: {loaded['unloaded']}")
        judged = loaded if "refused" in loaded else worker.message(seconds, waiting=lambda: waiting(law_name))
    if "refused" in judged:
        raise ValueError(judged["refused"])
    if "fault" in judged:
        judged = {"outcome": "violated", "evidence": child.misconduct(judged)}
    return Replay(law_name, law.statement, target, **loaded, **judged)


def _require_there(path: Path, target: str, place: str) -> None:
    """A variant's file is named as it was seen when it was verified: elsewhere, say where it can be seen."""
    if not place.endswith(".py") or Path(place).exists():
        return
    reason = f"{path} names the variant {target}: no such file"
    if Path(place).is_absolute():
        raise ValueError(reason)
    seen = next((folder for folder in path.resolve().parents if (folder / place).is_file()), None)
    raise ValueError(f"{reason}; run it in the folder {seen or 'in which the variant was verified'}")


def _serve(connection: Connection, text: str) -> None:
    """The child: load, say what is judged, judge."""
    send = child.sender(connection)
    child.settle()
    path = Path(json.loads(text)["path"])
    _, target = names(path)
    # Before the case is read: the variant's module may define the uncertainty set in it.
    try:
        variants = load(target)
    except BaseException as error:
        send({"unloaded": str(error) if isinstance(error, ValueError) else f"{said(error)} while loading"})
        return
    if len(variants) > 1:
        send({"unloaded": f"more than one: {', '.join(variants)}"})
        return
    (variant,) = variants.values()
    try:
        example = Counterexample.load(path)
        send({"variant": variant.name, "case": described(example.case)})
    except Exception as error:
        send({"refused": str(error) if isinstance(error, ValueError) else f"{path}: {said(error)}"})
        return
    send(_verdict(example, variant, path))


def _verdict(example: Counterexample, variant: Variant, path: Path) -> Message:
    try:
        finding = example.replay(variant)
    except ValueError as error:
        return {"refused": f"{path}: {error}"}
    except Exception as error:
        # What the variant raises is a finding; this is the suite's, and blames nobody.
        return {"outcome": "error", "evidence": str(CannotBeJudged.because(error))}
    if finding is None:
        return {"outcome": "holds"}
    return {"outcome": "violated", "evidence": str(finding), "table": finding.side_by_side()}
