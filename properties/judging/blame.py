"""Whose fault an exception is: that of the variant at work, or that of the suite, which then cannot judge.

The traceback says who was at work. An exception out of a call of the variant is misbehaviour of the variant. One out of
an oracle or out of the code of a law is the suite's, unless the variant handed over an answer with which one cannot
compute. Memory that ends because the caller has limited it is not the variant's fault either.
"""

import errno
import sys
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from types import FrameType, TracebackType

from oracles.planning.rational import NoExactSupport
from properties.cases.scope import OutOfScope
from properties.judging.boundary import NotNumbers, oddity
from properties.judging.guard import TooSlow, is_call_of_variant, latest_answers, message_in_time
from properties.laws.coins import NotEnumerable
from properties.process.memory import shortage_note
from robust_core.sets import UncertaintySet
from robust_core.text import error_text, is_ctrl_c, one_line, shorten

# Packages whose frames say nothing of who is at work; all others are a variant's.
_NEUTRAL = sys.stdlib_module_names | {"properties", "robust_core", "numpy", "numba", "hypothesis"}
# Modules of `properties` that hold variants.
_VARIANTS = (
    "properties.variants.gallery",
    "properties.variants.mutants",
    "properties.variants.examples",
    "properties.tests",
)


LONGEST_NAME = 60
"""Characters of the name of a file."""
MOST_FRAMES = 500
"""Frames that are looked at, from each end of a traceback: a recursion leaves millions of frames between them."""


class CannotBeJudged(Exception):
    """A law cannot be decided, because a part of the suite failed, not the variant."""

    @classmethod
    def because(cls, error: BaseException) -> "CannotBeJudged":
        """The reason in one line."""
        if isinstance(error, cls):
            return error
        return cls(f"cannot be judged: {error if isinstance(error, NoExactSupport) else describe_error(error)}")


class NotTested(CannotBeJudged):
    """The law cannot enumerate the draws of this variant. This is not a failure of the suite."""


class SetAside(CannotBeJudged):
    """The law cannot judge this case, for the reason given. If it judges too few others, it is undecided."""


def describe_error(error: BaseException) -> str:
    """The type of an exception and its message, in one line without control characters.

    >>> describe_error(ValueError("first\\nsecond"))
    'ValueError: first\\\\nsecond'
    """
    if is_out_of_descriptors(error):
        return "the file descriptors of the process are used up"
    return error_text(error, message_in_time(error)) + shortage_note(error)


def is_out_of_descriptors(error: BaseException) -> bool:
    """Whether the error says that the process has no file descriptors left."""
    return isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE)


def misbehaviour(error: BaseException) -> str:
    """The misbehaviour of a variant that raised this error; if another part is at fault, an exception is raised."""
    if isinstance(error, TooSlow) or is_ctrl_c(error):
        raise error
    if isinstance(error, OutOfScope | SetAside | NotEnumerable) and not _is_raised_by_a_variant(error):
        if isinstance(error, NotEnumerable):
            raise NotTested(f"untested: {error}") from error
        raise error
    if is_out_of_descriptors(error):
        return "misbehaviour: used up the file descriptors of its process"
    if shortage_note(error):
        raise CannotBeJudged.because(error) from error
    if isinstance(error, NotNumbers):
        return f"misbehaviour: {error}"
    if is_of_the_suite(error):
        odd = None if _is_of_an_oracle(error) else oddity(latest_answers())
        if odd is None:
            raise CannotBeJudged.because(error) from error
        return f"misbehaviour: {odd}, and the law could not go on: {describe_error(error)}"
    if isinstance(error, ValueError) and "read-only" in error_text(error):
        return f"misbehaviour: tried to change an array it was given{_line(error)}"
    return f"misbehaviour: raised {describe_error(error)}{_line(error)}"


def is_of_the_suite(error: BaseException) -> bool:
    """Whether the exception was raised by an oracle or a law, and not in a call of the variant."""
    for frame, _ in _frames(error):
        if _package(frame) == "oracles":
            return True
        if is_call_of_variant(frame.f_code) or _is_of_a_variant(frame):
            return False
    # Without a traceback, or with a law's frames only.
    return error.__traceback__ is not None


def _is_raised_by_a_variant(error: BaseException) -> bool:
    """Whether the code that raised it is the variant's own: it may use the suite's exceptions as it uses others.

    Draws and promised steps that cannot be enumerated are found in calls that a variant makes. That a problem is out of
    scope is found before any of its code is at work, and any number of such cases is set aside: no call in between,
    such as that of a future, takes the blame from it.
    """
    frames = [frame for frame, _ in _frames(error)]
    return any(map(_is_of_a_variant, frames if isinstance(error, OutOfScope) else frames[-1:]))


def _is_of_an_oracle(error: BaseException) -> bool:
    """Whether no answer of the variant can explain it: an oracle failed, or the suite cannot handle the set."""
    about_set = isinstance(error, AttributeError) and isinstance(error.obj, UncertaintySet)
    oracle = any(_package(frame) == "oracles" for frame, _ in _frames(error))
    return oracle or about_set or isinstance(error, CannotBeJudged)


def _line(error: BaseException) -> str:
    """The last line of the variant's own code that was at work, in parentheses; nothing if there is none."""
    lines = [(frame, line) for frame, line in _frames(error) if _is_of_a_variant(frame)]
    if not lines:
        return ""
    frame, line = lines[-1]
    return f" ({one_line(shorten(Path(frame.f_code.co_filename).name, LONGEST_NAME))}, line {line})"


def _frames(error: BaseException) -> Iterator[tuple[FrameType, int]]:
    """The frames at work when the exception was raised, the caller first, with their lines."""
    first: list[TracebackType] = []
    last: deque[TracebackType] = deque(maxlen=MOST_FRAMES)
    entry = error.__traceback__
    while entry is not None:
        (first if len(first) < MOST_FRAMES else last).append(entry)
        entry = entry.tb_next
    return ((each.tb_frame, each.tb_lineno) for each in (*first, *last))


def _is_of_a_variant(frame: FrameType) -> bool:
    return _package(frame) not in (*_NEUTRAL, "oracles") or _module(frame).startswith(_VARIANTS)


def _package(frame: FrameType) -> str:
    return _module(frame).partition(".")[0]


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))
