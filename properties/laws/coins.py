"""The coins of a learner as a tree: every draw of its rng is a fork, and every path through the forks is walked once.

A learner gets a `Coins`, which is a numpy Generator. While a history is walked it draws as any seeded generator does.
While `leaves` enumerates, a draw returns each of its outcomes in turn, with an exact probability: the tree is walked
depth first by replay, each time along a prefix of known choices and then by first branches.

A uniform number stays open as long as it can: it is an interval, comparing it with x splits the interval at x, a·u + b
is again such a number, and floor and int split at the integers. What needs the number itself (`float`, `log`, two
uniform numbers compared), what has no finite list of outcomes (`normal`), and what takes the bit generator away cannot
be enumerated: `NotEnumerable` says which call it was.
"""

import contextlib
import copy
import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from time import process_time
from typing import Any, TypeVar

import numpy as np

from properties.cases.runs import Moment

MOST_LEAVES = 50_000
"""Of one case."""
MOST_SECONDS = 8.0
"""Of the processor for the walks on one tape: beyond that the tree is too large, and the learner is not too slow."""
LARGEST_FORK = 4096
"""Outcomes of one draw; an integer from a larger range is a seed and not a coin."""
NEGLIGIBLE = Fraction(1, 2**64)
"""Where so little probability is left, an infinite list of outcomes is cut; what was cut goes into the tolerance."""

T = TypeVar("T")


class NotEnumerable(BaseException):
    """The draws of a learner have no finite tree. Not an `Exception`: a learner's handlers must not swallow it."""


class Unlikely(BaseException):
    """A walk through the tree is given up, because its learner's draws have next to no probability."""


class Tape:
    """The choices of one walk through the tree; all copies of a learner and of its rng share it."""

    def __init__(self, seconds: float = MOST_SECONDS) -> None:
        self.active = False
        self.seconds = seconds
        self.draws = self.draws_ahead = 0
        self.refusal: str | None = None
        self.trail: list[tuple[int, int]] = []
        self.forced: list[int] = []
        self.weight = Fraction(1)
        self.cut = Fraction(0)
        self.began: float | None = None
        """The processor time at the first walk."""
        self.luck = Fraction(1)
        """The part of the weight that is due to the learner's own draws."""
        self.least = Fraction(0)
        """Walks whose luck is smaller are given up by `Unlikely`: a learner may toss a coin without end."""

    def __deepcopy__(self, memo: dict[int, Any]) -> "Tape":
        return self

    def refuse(self, call: str, why: str) -> NotEnumerable:
        """The exception that ends the enumeration; it is remembered, for a learner may swallow it."""
        self.refusal = self.refusal or f"{call}: {why}"
        return NotEnumerable(self.refusal)

    @contextlib.contextmanager
    def pause(self) -> Iterator[None]:
        """Let draws be ordinary for a while."""
        active, self.active = self.active, False
        try:
            yield
        finally:
            self.active = active

    def require_draws(self) -> None:
        """Refuse a learner that has drawn before the step but does not draw in it.

        Its coins may have been tossed ahead; the mean given the past that is seen is then one over their outcomes.
        """
        if self.draws_ahead and not self.draws:
            raise self.refuse("the rng", "draws were made before the step and none in it, so they cannot be enumerated")

    def begin(self, forced: list[int]) -> None:
        """Start a walk along a prefix of choices."""
        self.active, self.forced, self.trail, self.weight, self.luck = True, forced, [], Fraction(1), Fraction(1)

    def fork(self, weights: Sequence[Fraction], call: str, *, own: bool = True) -> int:
        """One of the outcomes with positive weight, by its number; weights sum to 1. `own`: a draw of the learner."""
        possible = [number for number, weight in enumerate(weights) if weight > 0]
        if len(possible) > LARGEST_FORK:
            raise self.refuse(call, f"{len(possible)} outcomes of one draw, which is more than {LARGEST_FORK}")
        place = len(self.trail)
        choice = self.forced[place] if place < len(self.forced) else 0
        if choice >= len(possible):
            raise self.refuse(
                call, "draws differ when a step is repeated: there is chance beside the rng of the problem"
            )
        self.trail.append((choice, len(possible)))
        self.weight *= weights[possible[choice]]
        if own:
            self.luck *= weights[possible[choice]]
            if self.luck < self.least:
                raise Unlikely
        return possible[choice]


def leaves(tape: Tape, run: Callable[[], T], *, limit: int = MOST_LEAVES) -> Iterator[tuple[Fraction, T]]:
    """Every outcome of `run`, whose draws come from coins on the tape, with its probability.

    >>> tape = Tape()
    >>> rng = Coins(tape, seed=0)
    >>> [(str(p), value) for p, value in leaves(tape, lambda: int(rng.random() < 0.25) + rng.integers(2).item())]
    [('1/8', 1), ('1/8', 2), ('3/8', 0), ('3/8', 1)]
    """
    forced: list[int] = []
    tape.began = process_time() if tape.began is None else tape.began
    for _ in range(limit):
        tape.begin(forced)
        try:
            value = run()
        except BaseException as error:
            if tape.refusal is not None:  # numpy makes an error of its own of a refusal in its loops
                raise NotEnumerable(tape.refusal) from error
            raise
        finally:
            tape.active = False
        if tape.refusal is not None:
            raise NotEnumerable(tape.refusal)
        # What is done with the value may walk other trees on the same tape.
        trail = tape.trail
        yield tape.weight, value
        while trail and trail[-1][0] == trail[-1][1] - 1:
            trail.pop()
        if not trail:
            return
        if process_time() - tape.began > tape.seconds:
            raise tape.refuse("the tree of draws", f"takes more than {tape.seconds:g} s")
        forced = [choice for choice, _ in trail]
        forced[-1] += 1
    raise tape.refuse("the tree of draws", f"more than {limit} leaves")


class _Interval:
    """Where a uniform number can still be."""

    def __init__(self, tape: Tape) -> None:
        self.tape, self.low, self.high = tape, Fraction(0), Fraction(1)

    def below(self, x: Fraction) -> bool:
        """Whether the number is below x: if both are possible, the tree forks."""
        if x <= self.low:
            return False
        if x >= self.high:
            return True
        share = (x - self.low) / (self.high - self.low)
        if self.tape.fork([share, 1 - share], "rng.random()") == 0:
            self.high = x
            return True
        self.low = x
        return False


class Uniform:
    """a·u + b with u uniform on an interval that comparisons narrow."""

    def __init__(self, interval: _Interval, factor: Fraction = Fraction(1), offset: Fraction = Fraction(0)) -> None:
        self._interval, self._factor, self._offset = interval, factor, offset

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **named: Any) -> Any:
        """Functions of numpy work elementwise on objects, by the operators and methods below."""
        return getattr(ufunc, method)(*(_shaped([x], ()) if isinstance(x, Uniform) else x for x in inputs), **named)

    def _refuse(self, what: str) -> NotEnumerable:
        return self._interval.tape.refuse("rng.random()", what)

    def _number(self, other: Any) -> Fraction:
        if isinstance(other, Uniform):
            raise self._refuse("two uniform numbers are compared or combined")
        return Fraction(other.item() if isinstance(other, np.generic) else other)

    def _map(self, other: Any, function: Callable[[Any], Any]) -> Any:
        """The function of `other`, elementwise if that is an array."""
        if isinstance(other, np.ndarray):
            results = [function(x) for x in other.reshape(-1).tolist()]
            if all(isinstance(x, bool) for x in results):
                return np.array(results, dtype=bool).reshape(other.shape)
            made = np.empty(len(results), dtype=object)
            made[:] = results
            return made.reshape(other.shape)
        return function(other)

    def _below(self, other: Any) -> bool:
        factor, offset = self._factor, self._offset
        if isinstance(other, Uniform) and other._interval is self._interval:
            factor, offset, other = factor - other._factor, offset - other._offset, 0
        x = self._number(other) - offset
        if not factor:
            return x > 0
        return self._interval.below(x / factor) if factor > 0 else not self._interval.below(x / factor)

    # Equality has probability 0, so < and <= are one event.
    def __lt__(self, other: Any) -> Any:
        return self._map(other, self._below)

    def __gt__(self, other: Any) -> Any:
        return self._map(other, lambda x: not self._below(x))

    __le__, __ge__ = __lt__, __gt__

    def __eq__(self, other: object) -> Any:
        return other is self if isinstance(other, Uniform) else self._map(other, lambda x: False)

    def __ne__(self, other: object) -> Any:
        return other is not self if isinstance(other, Uniform) else self._map(other, lambda x: True)

    __hash__ = object.__hash__

    def _affine(self, factor: Fraction, offset: Fraction) -> "Uniform | float":
        return Uniform(self._interval, factor, offset) if factor else float(offset)

    def __add__(self, other: Any) -> Any:
        return self._map(other, lambda x: self._affine(self._factor, self._offset + self._number(x)))

    __radd__ = __add__

    def __neg__(self) -> "Uniform":
        return Uniform(self._interval, -self._factor, -self._offset)

    def __sub__(self, other: Any) -> Any:
        return self._map(other, lambda x: self + (-self._number(x)))

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        return self._map(other, lambda x: self._affine(self._factor * self._number(x), self._offset * self._number(x)))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return self._map(other, lambda x: self * (1 / self._number(x)))

    def __abs__(self) -> "Uniform":
        return -self if self._below(0) else self

    def __floor__(self) -> int:
        """The integer below: the interval is split at the integers, the lowest first."""
        ends = sorted(self._factor * x + self._offset for x in (self._interval.low, self._interval.high))
        first, last = math.floor(ends[0]), math.ceil(ends[1])
        if last - first > LARGEST_FORK:
            raise self._refuse(f"rounded to one of {last - first} integers")
        # By halves: as few forks as possible on every path.
        while last - first > 1:
            middle = (first + last) // 2
            first, last = (first, middle) if self._below(middle) else (middle, last)
        return first

    floor = __floor__

    def __ceil__(self) -> int:
        return math.floor(self) + 1

    def __trunc__(self) -> int:
        return -math.floor(-self) if self._below(0) else math.floor(self)

    __int__ = __trunc__

    def __round__(self, digits: int | None = None) -> int:
        if digits:
            raise self._refuse(f"rounded to {digits} digits")
        return math.floor(self + Fraction(1, 2))

    def __floordiv__(self, other: Any) -> Any:
        return self._map(other, lambda x: math.floor(self * (1 / self._number(x))))

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return "a uniform number"

    def __float__(self) -> float:
        raise self._refuse("the value of a uniform number is used")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise self._refuse(f"{name} of a uniform number")

    def __deepcopy__(self, memo: dict[int, Any]) -> "Uniform":
        return self


def _count(size: Any) -> int:
    return 1 if size is None else int(np.prod(size, dtype=np.int64))


def _shaped(values: list[Any], size: Any, dtype: Any = object) -> Any:
    """One value, or an array of the size."""
    if size is None:
        return values[0] if dtype is object else np.dtype(dtype).type(values[0])
    made = np.empty(len(values), dtype=dtype)
    made[:] = values
    return made.reshape(size)


def _probabilities(p: Any) -> list[Fraction]:
    """The weights of a law, made to sum to 1 exactly."""
    weights = [Fraction(float(x)) for x in np.asarray(p, dtype=np.float64).reshape(-1).tolist()]
    total = sum(weights)
    return [weight / total for weight in weights]


class Coins(np.random.Generator):
    """A generator whose draws are forks while its tape is walked, and ordinary draws otherwise."""

    def __init__(self, tape: Tape, seed: int | np.random.BitGenerator) -> None:
        super().__init__(np.random.PCG64(seed) if isinstance(seed, int) else seed)
        self.tape = tape

    def __new__(cls, tape: Tape, seed: int | np.random.BitGenerator) -> "Coins":
        """numpy's own takes no tape."""
        made: Coins = super().__new__(cls)
        return made

    def __repr__(self) -> str:
        return "Generator(PCG64)"

    __str__ = __repr__

    def __deepcopy__(self, memo: dict[int, Any]) -> "Coins":
        return Coins(self.tape, Moment.of(self).bit_generator())

    def __copy__(self) -> "Coins":
        return self.__deepcopy__({})

    def __reduce__(self) -> Any:
        raise self.tape.refuse("rng.__reduce__()", "a pickled generator leaves the tree")

    def _own_bit_generator(self) -> np.random.BitGenerator:
        found: np.random.BitGenerator = np.random.Generator.bit_generator.__get__(self)
        return found

    @property
    def bit_generator(self) -> np.random.BitGenerator:
        """Generators and compiled code that take it draw unseen, so nothing can be enumerated any more."""
        self.tape.refuse("rng.bit_generator", "what draws from the bit generator itself is not seen")
        return self._own_bit_generator()

    def spawn(self, n_children: int) -> list[np.random.Generator]:
        """Children on the same tape."""
        sequence: Any = self._own_bit_generator().seed_seq
        return [Coins(self.tape, np.random.PCG64(child)) for child in sequence.spawn(n_children)]

    def _ordinary(self) -> bool:
        if self.tape.active:
            self.tape.draws += 1
        else:
            self.tape.draws_ahead += 1
        return not self.tape.active

    def _one_of(self, n: int, call: str) -> int:
        if n > LARGEST_FORK:
            raise self.tape.refuse(call, f"one of {n} integers is a seed, not a coin")
        return self.tape.fork([Fraction(1, n)] * n, call)

    def random(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        """Open uniform numbers."""
        if self._ordinary():
            return super().random(size, dtype, out)
        if out is not None:
            raise self.tape.refuse("rng.random(out=…)", "an array of floats cannot hold open numbers")
        return _shaped([Uniform(_Interval(self.tape)) for _ in range(_count(size))], size)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        """Open uniform numbers between two bounds."""
        if self._ordinary():
            return super().uniform(low, high, size)
        a, b = Fraction(float(low)), Fraction(float(high))
        return _shaped([Uniform(_Interval(self.tape), b - a, a) for _ in range(_count(size))], size)

    def integers(
        self, low: Any, high: Any = None, size: Any = None, dtype: Any = np.int64, endpoint: bool = False
    ) -> Any:
        """Integers of a range, all equally likely."""
        first, last = (0, low) if high is None else (low, high)
        if np.ndim(first) or np.ndim(last):
            if self._ordinary():
                return super().integers(low, high, size, dtype, endpoint)
            raise self.tape.refuse("rng.integers", "bounds are arrays")
        first, n = int(first), int(last) - int(first) + bool(endpoint)
        if self._ordinary():
            if n > LARGEST_FORK:
                self.tape.refuse("rng.integers", f"one of {n} integers is a seed, not a coin")
            return super().integers(low, high, size, dtype, endpoint)
        return _shaped([first + self._one_of(n, "rng.integers") for _ in range(_count(size))], size, dtype)

    def choice(
        self, a: Any, size: Any = None, replace: bool = True, p: Any = None, axis: int = 0, shuffle: bool = True
    ) -> Any:
        """Elements of a list, with or without replacement."""
        if self._ordinary():
            return super().choice(a, size, replace, p, axis, shuffle)
        items = np.arange(a) if np.ndim(a) == 0 else np.asarray(a)
        n = items.shape[axis]
        weights = [Fraction(1, n)] * n if p is None else _probabilities(p)
        chosen = []
        for _ in range(_count(size)):
            one = self.tape.fork(weights, "rng.choice")
            chosen.append(one)
            if not replace:
                left = 1 - weights[one]
                weights = [Fraction(0) if i == one else w / left for i, w in enumerate(weights)] if left else weights
        if size is None:
            return np.take(items, chosen[0], axis=axis)
        places = np.array(chosen, dtype=np.int64).reshape(size)
        return np.take(items, places, axis=axis)

    def permutation(self, x: Any, axis: int = 0) -> Any:
        """A list in random order."""
        if self._ordinary():
            return super().permutation(x, axis)
        items = np.arange(x) if np.ndim(x) == 0 else np.asarray(x)
        return np.take(items, self._order(items.shape[axis]), axis=axis)

    def shuffle(self, x: Any, axis: int = 0) -> None:
        """The same in place."""
        if self._ordinary():
            super().shuffle(x, axis)
            return
        if axis != 0:
            raise self.tape.refuse("rng.shuffle(axis=…)", "only the first axis can be enumerated")
        order, items = self._order(len(x)), copy.copy(x)
        for place, one in enumerate(order):
            x[place] = items[one]

    def _order(self, n: int) -> list[int]:
        rest, order = list(range(n)), []
        while rest:
            order.append(rest.pop(self._one_of(len(rest), "rng.permutation")))
        return order

    def binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        """Numbers of successes."""
        if self._ordinary():
            return super().binomial(n, p, size)
        tosses, q = int(n), Fraction(float(p))
        weights = [math.comb(tosses, k) * q**k * (1 - q) ** (tosses - k) for k in range(tosses + 1)]
        return _shaped([self.tape.fork(weights, "rng.binomial") for _ in range(_count(size))], size, np.int64)

    def geometric(self, p: Any, size: Any = None) -> Any:
        """Numbers of tosses up to the first success, one fork a toss."""
        if self._ordinary():
            return super().geometric(p, size)
        return _shaped([self._tosses(Fraction(float(p))) for _ in range(_count(size))], size, np.int64)

    def _tosses(self, p: Fraction) -> int:
        number, left = 1, Fraction(1)
        while self.tape.fork([p, 1 - p], "rng.geometric"):
            number, left = number + 1, left * (1 - p)
            if left < NEGLIGIBLE:
                self.tape.cut += self.tape.weight
                return number
        return number

    def multinomial(self, n: Any, pvals: Any, size: Any = None) -> Any:
        """Counts of n draws with given weights."""
        if self._ordinary():
            return super().multinomial(n, pvals, size)
        if size is not None or np.ndim(n):
            raise self.tape.refuse("rng.multinomial(size=…)", "only one vector of counts can be enumerated")
        weights, counts = _probabilities(pvals), [0] * len(pvals)
        for _ in range(int(n)):
            counts[self.tape.fork(weights, "rng.multinomial")] += 1
        return np.array(counts, dtype=np.int64)


def _refusing(name: str) -> Callable[..., Any]:
    """A method of numpy's generator that has no finite list of outcomes."""
    ordinary = getattr(np.random.Generator, name)

    def method(self: Coins, *args: Any, **named: Any) -> Any:
        if self._ordinary():
            return ordinary(self, *args, **named)
        raise self.tape.refuse(f"rng.{name}", "its outcomes are no finite list")

    method.__name__ = name
    return method


for _name in dir(np.random.Generator):
    if not _name.startswith("_") and _name not in vars(Coins) and callable(getattr(np.random.Generator, _name)):
        setattr(Coins, _name, _refusing(_name))
