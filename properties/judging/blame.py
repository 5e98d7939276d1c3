"""Whose fault an exception is: that of the variant at work, or that of the suite, which then cannot judge.

An exception that comes out of an oracle is the suite's, unless the variant itself called the oracle; every other one is
misbehaviour of the variant: it raised, or what it handed over is nothing that one can compute with. Memory that ends
because the caller has limited it is not the variant's fault either.
"""

import errno
import signal
import sys
import traceback
from collections.abc import Iterator

from oracles.planning.rational import NoExactSupport
from properties.judging.guard import TooSlow
from properties.laws.coins import NotEnumerable
from properties.process.memory import shortage_note
from robust_core.sets import UncertaintySet
from robust_core.text import error_text

# Packages whose frames say nothing of who is at work; all others are a variant's.
_NEUTRAL = sys.stdlib_module_names | {"properties", "robust_core", "numpy", "numba", "hypothesis"}
# Modules of `properties` that hold variants.
_VARIANTS = (
    "properties.variants.gallery",
    "properties.variants.mutants",
    "properties.variants.examples",
    "properties.tests",
)


class CannotBeJudged(Exception):
    """A law has no answer here: what the suite itself needs has failed."""

    @classmethod
    def because(cls, error: BaseException) -> "CannotBeJudged":
        """The reason in one line."""
        if isinstance(error, cls):
            return error
        return cls(f"cannot be judged: {error if isinstance(error, NoExactSupport) else said(error)}")


class NotTested(CannotBeJudged):
    """The law cannot test this variant, whose draws it cannot enumerate; that is no failure of the suite."""


def said(error: BaseException) -> str:
    """The type of an exception and its message, in one line that steers no terminal.

    >>> said(ValueError("first\\nsecond"))
    'ValueError: first\\\\nsecond'
    """
    return error_text(error) + shortage_note(error)


def misbehaviour(error: BaseException) -> str:
    """What a variant did by raising; `CannotBeJudged` if it is not its fault, and what is nobody's is raised again."""
    if isinstance(error, TooSlow) or (isinstance(error, KeyboardInterrupt) and _can_be_interrupted()):
        raise error
    if isinstance(error, NotEnumerable):
        raise NotTested(f"untested: {error}") from error
    if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
        return "misbehaviour: used up the file descriptors of its process"
    if is_of_the_suite(error) or shortage_note(error):
        raise CannotBeJudged.because(error) from error
    if isinstance(error, ValueError) and "read-only" in error_text(error):
        return "misbehaviour: tried to change an array it was given"
    return f"misbehaviour: raised {said(error)}"


def is_of_the_suite(error: BaseException) -> bool:
    """Whether the exception comes out of an oracle that a law asked, or is about a set that the suite cannot handle."""
    for module in _modules(error):
        package = module.partition(".")[0]
        if package == "oracles":
            return True
        if package not in _NEUTRAL or module.startswith(_VARIANTS):
            return False
    return isinstance(error, CannotBeJudged) or (
        isinstance(error, AttributeError) and isinstance(error.obj, UncertaintySet)
    )


def _modules(error: BaseException) -> Iterator[str]:
    """The modules that were at work when the exception was raised, the caller first."""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        yield str(frame.f_globals.get("__name__", ""))


def _can_be_interrupted() -> bool:
    """Whether Ctrl-C raises in this process; where it is ignored only a variant raises what Ctrl-C would."""
    return signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
