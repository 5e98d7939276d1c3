"""Variants that misbehave instead of being merely wrong: each must get a verdict in plain words."""

import contextlib
import itertools
import os
import random
import time
from dataclasses import replace
from typing import Any

import numpy as np

from robust_core import Q_LEARNING, Contamination, Problem, TabularLearner, Transition, Variant


class _Correct(TabularLearner):
    def __init__(self, problem: Problem) -> None:
        super().__init__(Q_LEARNING, problem)


class _Raises(_Correct):
    def update(self, transition: Transition) -> None:
        raise RuntimeError("no idea what to do")


class _Hangs(_Correct):
    def update(self, transition: Transition) -> None:
        while True:
            time.sleep(0.01)


class _Loops(_Correct):
    def update(self, transition: Transition) -> None:
        while True:
            pass


class _Stubborn(_Correct):
    """Hangs and swallows every interruption it can."""

    def update(self, transition: Transition) -> None:
        while True:
            with contextlib.suppress(BaseException):
                time.sleep(60.0)


class _Dies(_Correct):
    def update(self, transition: Transition) -> None:
        os._exit(7)


class _Endless(Exception):
    def __str__(self) -> str:
        for _ in itertools.repeat(None):
            pass
        return ""


class _RaisesEndlessly(_Correct):
    """Raises what cannot be read to its end."""

    def update(self, transition: Transition) -> None:
        raise _Endless


class _NotANumber(_Correct):
    def estimate(self) -> np.ndarray:
        return np.full_like(self.table, np.nan)


class _WrongShape(_Correct):
    def estimate(self) -> np.ndarray:
        return self.table.ravel()[:1]


class _ChangesInput(_Correct):
    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        problem.initial[0] = 1.0


class _GlobalRandomState(_Correct):
    def update(self, transition: Transition) -> None:
        random.random()
        super().update(transition)


class _Prints(_Correct):
    def update(self, transition: Transition) -> None:
        print("updating", transition)  # noqa: T201
        super().update(transition)


class _WritesPastPython(_Correct):
    """As a library written in C prints."""

    def update(self, transition: Transition) -> None:
        os.write(1, b"updating\n")
        super().update(transition)


class _Interrupts(_Correct):
    def update(self, transition: Transition) -> None:
        raise KeyboardInterrupt


class _RaisesLate(_Correct):
    """Right until a table is large."""

    def update(self, transition: Transition) -> None:
        if self.table.size > 64:
            raise IndexError(f"no entry {self.table.size} here")
        super().update(transition)


class _Moody(_Correct):
    """One learner in a thousand is wrong, the fifth: what it does depends on how many there were before."""

    made = 0

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        _Moody.made += 1
        self.wrong = _Moody.made % 1000 == 5

    def estimate(self) -> np.ndarray:
        return self.table + self.wrong


class _Warns(_Correct):
    """Right, but not silent."""

    def update(self, transition: Transition) -> None:
        np.exp(np.float64(1000.0))
        super().update(transition)


class _Memory(_Correct):
    def update(self, transition: Transition) -> None:
        np.ones(1 << 36)
        super().update(transition)


def _variant(name: str, make: Any) -> Variant:
    return Variant(name, "control", make, (Contamination,), ("unbiased", "asynchronous"))


RAISES = _variant("raises", _Raises)
HANGS = _variant("hangs", _Hangs)
LOOPS = _variant("runs in a circle", _Loops)
STUBBORN = _variant("hangs and cannot be interrupted", _Stubborn)
DIES = _variant("ends its process", _Dies)
RAISES_ENDLESSLY = _variant("raises an endless message", _RaisesEndlessly)
NOT_A_NUMBER = _variant("returns nan", _NotANumber)
WRONG_SHAPE = _variant("returns a wrong shape", _WrongShape)
CHANGES_INPUT = _variant("writes into its input", _ChangesInput)
GLOBAL_RANDOM_STATE = _variant("draws from global random state", _GlobalRandomState)
PRINTS = _variant("prints", _Prints)
WRITES_PAST_PYTHON = _variant("prints past Python", _WritesPastPython)
INTERRUPTS = _variant("presses Ctrl-C", _Interrupts)
RAISES_LATE = replace(_variant("raises where a table is large", _RaisesLate), promises=("unbiased", "sample form"))
MOODY = _variant("is wrong now and then", _Moody)
WARNS = _variant("overflows on the way", _Warns)
MEMORY = _variant("asks for half a terabyte", _Memory)
