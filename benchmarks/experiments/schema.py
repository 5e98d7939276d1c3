"""What a results file must look like (see `results`): names, types, sizes, and words that follow from their numbers."""

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.experiments.interpretations import CONTROL, INTERPRETATIONS, of_figure
from benchmarks.experiments.outcome import OUTCOMES, outcome
from benchmarks.experiments.panels import BESIDE_DEFAULT, PANELS
from robust_core.text import shortened

Check = Callable[[Any, str], None]
Fields = Mapping[str, Check]

LONGEST_TEXT = 200
LONGEST_QUOTE = 60
_CODE = re.compile("[0-9a-f]{32}")


def checked(made: Any) -> None:
    """Refuse what is not the value of a results file, with one line that says where and what is wrong.

    >>> checked({"made by": {"code": "0" * 32, "records": 1}, "records": [], "trends": []})
    Traceback (most recent call last):
    ValueError: made by, records must be the number of records, 0, got 1
    """
    _object({"made by": _made_by, "records": _list(_record), "trends": _list(_trend)})(made, "")
    _equal(len(made["records"]), "the number of records")(made["made by"]["records"], "made by, records")
    cells = [(record["panel"], record["interpretation"]) for record in made["records"]]
    twice = next((cell for i, cell in enumerate(cells) if cell in cells[:i]), None)
    if twice is not None:
        raise ValueError(f"records has panel {twice[0]!r} with interpretation {twice[1]!r} twice")


def _refused(where: str, wanted: str, value: Any) -> ValueError:
    subject = where or "the file"
    return ValueError(f"{subject} must be {wanted}, got {shortened(repr(value), LONGEST_QUOTE)}")


def _number(value: Any, where: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise _refused(where, "a finite number", value)


def _count(value: Any, where: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
        raise _refused(where, "a whole number that is not negative", value)


def _text(value: Any, where: str) -> None:
    if not isinstance(value, str) or not value.isprintable() or not 0 < len(value) <= LONGEST_TEXT:
        raise _refused(where, f"a line of 1 to {LONGEST_TEXT} characters", value)


def _word(*allowed: str) -> Check:
    def check(value: Any, where: str) -> None:
        if not isinstance(value, str) or value not in allowed:
            raise _refused(where, f"one of {len(allowed)} names such as {allowed[0]!r}", value)

    return check


def _equal(wanted: Any, what: str) -> Check:
    def check(value: Any, where: str) -> None:
        if isinstance(value, bool) or value != wanted:
            raise _refused(where, f"{what}, {wanted!r}", value)

    return check


def _list(member: Check, *, length: int | None = None, least: int = 0) -> Check:
    def check(value: Any, where: str) -> None:
        if not isinstance(value, list) or len(value) < least or length not in (None, len(value)):
            size = f"{length} values" if length is not None else f"at least {least} values"
            raise _refused(where, f"a list of {size}", value)
        for i, one in enumerate(value):
            member(one, f"{where}[{i}]")

    return check


def _object(fields: Fields, optional: Fields | None = None) -> Check:
    """An object that has all of `fields`, perhaps some of `optional`, and nothing else."""
    known = {**fields, **(optional or {})}

    def check(value: Any, where: str) -> None:
        if not isinstance(value, dict):
            raise _refused(where, "an object", value)
        for name in fields:
            if name not in value:
                raise ValueError(f"{where or 'the file'} lacks the field {name!r}")
        for name, member in value.items():
            if name not in known:
                raise ValueError(f"{where or 'the file'} has an unknown field {shortened(repr(name), LONGEST_QUOTE)}")
            known[name](member, f"{where}, {name}" if where else name)

    return check


def _numbers(*names: str) -> Check:
    return _object(dict.fromkeys(names, _number))


def _code(value: Any, where: str) -> None:
    if not isinstance(value, str) or not _CODE.fullmatch(value):
        raise _refused(where, "32 hexadecimal digits", value)


def _end(value: Any, where: str) -> None:
    """An end of an interval that may be infinite."""
    if value is not None:
        _number(value, where)


def _versions(value: Any, where: str) -> None:
    if not isinstance(value, dict):
        raise _refused(where, "an object", value)
    for pair in value.items():
        for word in pair:
            _text(word, where)


_made_by = _object({"code": _code, "records": _count}, {"cpu seconds": _count, "libraries": _versions})
_CLAIM: Fields = {
    "claim": _text,
    "effect": _number,
    "interval": _list(_number, length=2),
    "much": _number,
    "runs": _count,
    "for": _count,
    "even": _count,
    "against": _count,
    "outcome": _word(*OUTCOMES),
    "median": _number,
    "median interval": _list(_end, length=2),
    "outcome by median": _word(*OUTCOMES),
}


def _claim(value: Any, where: str) -> None:
    _object(_CLAIM)(value, where)
    _consistent(value, where)


def _consistent(claim: dict[str, Any], where: str) -> None:
    """The signs count the runs, the intervals hold their estimates, the words follow from the intervals."""
    _equal(claim["for"] + claim["even"] + claim["against"], "for + even + against")(claim["runs"], f"{where}, runs")
    for estimate, ends, words in (
        ("effect", "interval", "outcome"),
        ("median", "median interval", "outcome by median"),
    ):
        low, high = claim[ends]
        low, high = -math.inf if low is None else low, math.inf if high is None else high
        if not low <= claim[estimate] <= high:
            raise _refused(f"{where}, {ends}", f"around the {estimate}, {claim[estimate]!r}", claim[ends])
        _equal(outcome(low, high, claim["much"]), f"what the rule says of the {ends}")(
            claim[words], f"{where}, {words}"
        )


def _trend(value: Any, where: str) -> None:
    _object({**_CLAIM, "figure": _word(*CONTROL), "interpretation": _word(*INTERPRETATIONS)})(value, where)
    if value["interpretation"] not in [interpretation.name for interpretation in of_figure(value["figure"])]:
        raise _refused(f"{where}, interpretation", f"an interpretation of {value['figure']}", value["interpretation"])
    _consistent(value, where)


_LEARNERS = ("robust", "vanilla", "shorter horizon")
_MONTE_CARLO = tuple(f"{one}{what}" for one in _LEARNERS[:2] for what in ("", " exact", " standardised error"))
_STABILITY = ("beta max |phi|^2", "smallest eigenvalue of C", "largest real part", "at state")


def _record(value: Any, where: str) -> None:
    if not isinstance(value, dict):
        raise _refused(where, "an object", value)
    _word(*PANELS)(value.get("panel"), f"{where}, panel")
    panel = PANELS[value["panel"]]
    _word(*(interpretation.name for interpretation in of_figure(panel.figure)))(
        value.get("interpretation"), f"{where}, interpretation"
    )
    fields = {
        "panel": _text,
        "interpretation": _text,
        "source": _equal(panel.source, "that of the panel"),
        "p": _equal(panel.p, "that of the panel"),
        "R": _equal(panel.radius, "that of the panel"),
        "outcome": _word(*OUTCOMES),
        "steps": _count,
        "claims": _list(_claim, least=1),
    }
    place = f"{where} ({value['panel']}, {value['interpretation']})"
    optional = {"student misses": _number} if value["interpretation"] in BESIDE_DEFAULT else {}
    _object({**fields, **_body(panel.figure, value["interpretation"])}, optional)(value, place)
    _equal(value["claims"][0]["outcome"], "that of the first claim")(value["outcome"], f"{place}, outcome")
    runs = value["claims"][0]["runs"]
    for name, count in value.get("diverged", {}).items():
        if count > runs:
            raise _refused(f"{place}, diverged, {name}", f"at most the number of runs, {runs}", count)
    if "times" in value:
        _curves(value["curves"], len(value["times"]), f"{place}, curves")


def _body(figure: str, interpretation: str) -> Fields:
    """What belongs to a figure and to an interpretation."""
    learners = ("rarl", *_LEARNERS) if figure == "rarl" else _LEARNERS
    fields: dict[str, Check] = {}
    if figure == "tdc":
        counts = _object(dict.fromkeys(learners, _count))
        fields |= {"values": _numbers(*learners), "diverged": counts, "stability": _numbers(*_STABILITY)}
    elif figure == "rarl":
        fields["values"] = _numbers(*learners, "optimum", "best constant action")
    else:
        real = INTERPRETATIONS[interpretation].dynamics == "real"
        controls = ("never falling",) if real else ("optimum", "that action")
        fields["values"] = _numbers(*learners, *controls, "best constant action", "uniform policy")
        fields["runs equal to shorter horizon"] = _count
        if not real:
            pair = _list(_number, length=2)
            fields["limits"] = _object({"robust": pair, "vanilla": pair})
    if interpretation == "default":
        fields |= {
            "student misses": _number,
            "times": _list(_count, least=1),
            "curves": _object(dict.fromkeys(learners, _any)),
        }
        if figure in CONTROL:
            fields["monte carlo"] = _numbers(*_MONTE_CARLO)
    return fields


def _any(value: Any, where: str) -> None:
    """Checked elsewhere."""


def _curves(curves: dict[str, Any], length: int, where: str) -> None:
    line = _list(_number, length=length)
    for learner, curve in curves.items():
        _object({"mean": line, "low": line, "high": line})(curve, f"{where}, {learner}")
