"""The nominal model of a robust MDP (Section 2): kernel P[s,a,s'], cost[s,a], discount gamma.

A model is immutable. Its kernel is dense or a list of sparse rows; both spell the same model and have the
same hash. A row whose float entries sum to 1 only within rounding stands for the row divided by its exact
sum.
"""

import hashlib
import html
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robust_core import json, validate
from robust_core.validate import Floats, Ints

FORMAT = "robust-core/mdp/1"
SHOWN_PAIRS = 60  # how many pairs (s, a) of a large model are printed
CHUNK = 1 << 20  # entries of a large array that are read at a time
LONGEST_REASON = 400  # a hostile value quoted in full would fill the screen


@dataclass(frozen=True, eq=False)
class SparseRows:
    """The kernel by rows: row s*A+a gives successors[k] the probability probabilities[k],

    for k in offsets[row] … offsets[row+1]-1.

    A model takes a copy, with 64-bit successors. It keeps read-only arrays that own their memory as they are, if the
    successors of each row ascend and no probability is 0; successors may then have 32 bits (large models).
    """

    offsets: Ints
    successors: Ints
    probabilities: Floats

    def expectation(self, v: Floats) -> Floats:
        """Σ_{s'} p(s') v(s') of every row.

        >>> rows = SparseRows(np.array([0, 2, 3]), np.array([0, 1, 1]), np.array([0.5, 0.5, 1.0]))
        >>> rows.expectation(np.array([2.0, 4.0]))
        array([3., 4.])
        """
        return np.add.reduceat(self.probabilities * v[self.successors], self.offsets[:-1])


class MDP:
    """A validated, immutable MDP (S, A, P, c, gamma).

    `kernel` is an array (S, A, S) or `SparseRows` with S*A rows; `cost` has shape (S, A); 0 <= gamma < 1.

    >>> mdp = MDP([[[0.5, 0.5]], [[0.0, 1.0]]], [[1.0], [0.0]], 0.9)
    >>> mdp
    MDP(S=2, A=1, gamma=0.9, dense, hash=9233aa28)
    >>> print(mdp)
    MDP(S=2, A=1, gamma=0.9, dense, hash=9233aa28)
      s=0 a=0  cost 1.0  -> 0: 0.5, 1: 0.5
      s=1 a=0  cost 0.0  -> 1: 1.0
    >>> MDP.from_json(mdp.to_json()) == mdp
    True
    """

    kernel: Floats | SparseRows
    cost: Floats
    gamma: float
    n_states: int
    n_actions: int
    state_names: tuple[str, ...] | None
    action_names: tuple[str, ...] | None

    def __init__(
        self,
        kernel: ArrayLike | SparseRows,
        cost: ArrayLike,
        gamma: float,
        *,
        state_names: Sequence[str] | None = None,
        action_names: Sequence[str] | None = None,
    ) -> None:
        # Adding 0.0 turns -0.0 into 0.0, so that equal models have equal bits.
        costs = validate.array("cost", cost, shape=("S", "A")) + 0.0
        n_states, n_actions = costs.shape
        checked = (
            _checked_sparse(kernel, n_states, n_actions)
            if isinstance(kernel, SparseRows)
            else _checked_dense(kernel, n_states, n_actions)
        )
        costs.setflags(write=False)
        values = {
            "kernel": checked,
            "cost": costs,
            "gamma": validate.discount("gamma", gamma) + 0.0,
            "n_states": n_states,
            "n_actions": n_actions,
            "state_names": validate.names("state_names", state_names, n_states),
            "action_names": validate.names("action_names", action_names, n_actions),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"an MDP is immutable: cannot set {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"an MDP is immutable: cannot delete {name}")

    @property
    def is_sparse(self) -> bool:
        """Whether the kernel is stored as sparse rows."""
        return isinstance(self.kernel, SparseRows)

    @property
    def P(self) -> Floats:
        """The kernel as a dense read-only array P[s,a,s'] (made anew for a sparse model)."""
        if not isinstance(self.kernel, SparseRows):
            return self.kernel
        dense = np.zeros((self.n_states * self.n_actions, self.n_states))
        dense[np.repeat(np.arange(len(dense)), np.diff(self.kernel.offsets)), self.kernel.successors] = (
            self.kernel.probabilities
        )
        return _frozen(dense.reshape(self.n_states, self.n_actions, self.n_states))

    @cached_property
    def rows(self) -> SparseRows:
        """The kernel as sparse rows without zeros, successors ascending: one spelling for every model."""
        if isinstance(self.kernel, SparseRows):
            return self.kernel
        return _nonzero_rows(self.kernel.reshape(-1, self.n_states))

    def expectation(self, v: ArrayLike) -> Floats:
        """Σ_{s'} p(s'|s,a) v(s') for all (s, a)."""
        values = validate.array("v", v, shape=(self.n_states,))
        if isinstance(self.kernel, SparseRows):
            return self.kernel.expectation(values).reshape(self.n_states, self.n_actions)
        return self.kernel @ values

    @cached_property
    def hash(self) -> str:
        """Content hash (32 hex digits) of sizes, gamma, cost and kernel; names and storage do not enter."""
        digest = hashlib.blake2b(digest_size=16)
        digest.update(f"{FORMAT} {self.n_states} {self.n_actions} {self.gamma.hex()}".encode())
        rows = self.rows
        parts = ((self.cost, "<f8"), (rows.offsets, "<i8"), (rows.successors, "<i8"), (rows.probabilities, "<f8"))
        for values, kind in parts:
            flat = values.reshape(-1)
            for begin in range(0, flat.size, CHUNK):
                digest.update(np.ascontiguousarray(flat[begin : begin + CHUNK], dtype=kind).tobytes())
        return digest.hexdigest()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MDP):
            return NotImplemented
        names = (self.state_names, self.action_names) == (other.state_names, other.action_names)
        return names and self.hash == other.hash

    def __hash__(self) -> int:
        return int(self.hash[:15], 16)

    def __reduce__(self) -> tuple[Any, ...]:
        named = partial(MDP, state_names=self.state_names, action_names=self.action_names)
        return named, (self.kernel, self.cost, self.gamma)

    def __repr__(self) -> str:
        storage = "sparse" if self.is_sparse else "dense"
        sizes = f"S={self.n_states}, A={self.n_actions}, gamma={self.gamma!r}"
        return f"MDP({sizes}, {storage}, hash={self.hash[:8]})"

    def __str__(self) -> str:
        """The model as a table, one line per pair, for the first pairs of a large one."""
        rows = (
            f"  {state} {action}  cost {cost}  -> {successors}" for state, action, cost, successors in self._shown()
        )
        more = self.n_states * self.n_actions - SHOWN_PAIRS
        return "\n".join([repr(self), *rows, *([f"  … {more} more pairs"] if more > 0 else [])])

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """The table, where IPython shows a model and where Hypothesis reports one."""
        for place, line in enumerate(str(self).split("\n")):
            if place:
                printer.break_()
            printer.text(line)

    def _repr_html_(self) -> str:
        """The table in a notebook."""

        def line(cells: Iterable[str], tag: str = "td") -> str:
            return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

        more = self.n_states * self.n_actions - SHOWN_PAIRS
        rows = [line(("state", "action", "cost", "next state: probability"), "th"), *map(line, self._shown())]
        rows += [line((f"… {more} more pairs",))] if more > 0 else []
        return f"<table><caption>{html.escape(repr(self))}</caption>{''.join(rows)}</table>"

    def _shown(self) -> Iterator[tuple[str, str, str, str]]:
        """State, action, cost and successors of the first pairs, as text."""
        rows = self.rows
        for row in range(min(self.n_states * self.n_actions, SHOWN_PAIRS)):
            s, a = divmod(row, self.n_actions)
            part = slice(rows.offsets[row], rows.offsets[row + 1])
            pairs = zip(rows.successors[part].tolist(), rows.probabilities[part].tolist(), strict=True)
            yield (
                self.state_names[s] if self.state_names else f"s={s}",
                self.action_names[a] if self.action_names else f"a={a}",
                repr(float(self.cost[s, a])),
                ", ".join(f"{self.state_names[i] if self.state_names else i}: {p!r}" for i, p in pairs),
            )

    def to_dict(self) -> dict[str, Any]:
        """Plain data; floats survive a JSON round trip bit for bit."""
        result: dict[str, Any] = {"format": FORMAT, "gamma": self.gamma, "cost": self.cost.tolist()}
        if isinstance(self.kernel, SparseRows):
            result["offsets"] = self.kernel.offsets.tolist()
            result["successors"] = self.kernel.successors.tolist()
            result["probabilities"] = self.kernel.probabilities.tolist()
        else:
            result["P"] = self.kernel.tolist()
        if self.state_names:
            result["state_names"] = list(self.state_names)
        if self.action_names:
            result["action_names"] = list(self.action_names)
        return result

    def to_json(self) -> str:
        """The model as JSON text."""
        return json.dumps(self.to_dict(), sort_keys=False)

    @classmethod
    def from_dict(cls, data: object) -> "MDP":
        """The model that `to_dict` wrote; anything else is refused with the reason."""
        if not isinstance(data, dict):
            raise TypeError(f"an MDP must be a JSON object, got {type(data).__name__}")
        if data.get("format") != FORMAT:
            raise ValueError(f"format must be {FORMAT!r}, got {data.get('format')!r}")
        sparse_fields = {"offsets", "successors", "probabilities"}
        kernel_fields = {"P"} if "P" in data else sparse_fields
        required = {"format", "gamma", "cost"} | kernel_fields
        if missing := required - data.keys():
            either = "" if kernel_fields & data.keys() else " (or P in place of offsets, probabilities, successors)"
            raise ValueError(f"an MDP needs the fields {sorted(missing)}{either}")
        if unknown := data.keys() - required - {"state_names", "action_names"}:
            raise ValueError(f"an MDP has no fields {sorted(map(str, unknown))}")
        kernel = data["P"] if "P" in data else SparseRows(data["offsets"], data["successors"], data["probabilities"])
        names = {key: data.get(key) for key in ("state_names", "action_names")}
        return cls(kernel, data["cost"], data["gamma"], **names)

    @classmethod
    def from_json(cls, text: str) -> "MDP":
        """The model that `to_json` wrote; any other text is a `ValueError` with the reason."""
        try:
            return cls.from_dict(json.loads(text))
        except (ValueError, TypeError, RecursionError) as error:
            raise ValueError(f"not an MDP in JSON: {error!s:.{LONGEST_REASON}}") from None


def _frozen(values: NDArray[Any]) -> NDArray[Any]:
    values.setflags(write=False)
    return values


def _nonzero_rows(flat: Floats) -> SparseRows:
    row, successors = np.nonzero(flat)
    return SparseRows(_offsets(row, len(flat)), _frozen(successors.astype(np.int64)), _frozen(flat[row, successors]))


def _offsets(row: Ints, n_rows: int) -> Ints:
    counts = np.bincount(row, minlength=n_rows)
    return _frozen(np.concatenate(([0], np.cumsum(counts))).astype(np.int64))


def _checked_dense(kernel: ArrayLike, n_states: int, n_actions: int) -> Floats:
    dense = validate.array("kernel", kernel, shape=(n_states, n_actions, n_states)) + 0.0
    _check_rows(_nonzero_rows(dense.reshape(-1, n_states)), n_actions)
    return _frozen(dense)


def _can_be_kept(kernel: SparseRows, n_states: int, n_actions: int) -> bool:
    """Whether the arrays are valid, in the one spelling of sparse rows, and nobody's to change."""
    offsets, successors, probabilities = kernel.offsets, kernel.successors, kernel.probabilities
    arrays: tuple[Any, ...] = (offsets, successors, probabilities)
    types = ((np.int64,), (np.int32, np.int64), (np.float64,))
    for values, allowed in zip(arrays, types, strict=True):
        if type(values) is not np.ndarray or values.dtype not in allowed or values.ndim != 1:
            return False
        if values.flags.writeable or not (values.flags.owndata and values.flags.c_contiguous):
            return False
    n_rows = n_states * n_actions
    if len(offsets) != n_rows + 1 or offsets[0] != 0 or offsets[-1] != len(successors) != 0:
        return False
    if len(probabilities) != len(successors):
        return False
    return all(_is_canonical(kernel, begin, min(begin + CHUNK, n_rows), n_states) for begin in range(0, n_rows, CHUNK))


def _is_canonical(kernel: SparseRows, first: int, last: int, n_states: int) -> bool:
    """Whether some rows are distributions without zeros over ascending successors."""
    offsets = kernel.offsets[first : last + 1]
    lengths = np.diff(offsets)
    if not (lengths > 0).all() or offsets[0] < 0 or offsets[-1] > len(kernel.successors):
        return False
    part = slice(int(offsets[0]), int(offsets[-1]))
    successors, probabilities, starts = kernel.successors[part], kernel.probabilities[part], offsets[:-1] - offsets[0]
    ascends = np.diff(successors) > 0
    ascends[starts[1:] - 1] = True
    with np.errstate(over="ignore"):
        sums = np.add.reduceat(probabilities, starts)
    return bool(
        ascends.all()
        and successors.min() >= 0
        and successors.max() < n_states
        and probabilities.min() > 0.0
        and (np.abs(sums - 1.0) <= validate.row_sum_tolerance(lengths)).all()
    )


def _checked_sparse(kernel: SparseRows, n_states: int, n_actions: int) -> SparseRows:
    if _can_be_kept(kernel, n_states, n_actions):
        return kernel
    offsets = validate.whole_numbers("offsets", kernel.offsets)
    successors = validate.whole_numbers("successors", kernel.successors)
    probabilities = validate.array("probabilities", kernel.probabilities, shape=(len(successors),)) + 0.0
    n_rows = n_states * n_actions
    ends = len(offsets) == n_rows + 1 and offsets[0] == 0 and offsets[-1] == len(successors)
    # Differences of offsets far out of range would wrap around and look like a rise.
    if not ends or (offsets < 0).any() or (offsets > len(successors)).any() or (np.diff(offsets) < 0).any():
        raise ValueError(f"offsets must rise from 0 to {len(successors)} in {n_rows} steps (one per row)")
    if (successors < 0).any() or (successors >= n_states).any():
        wrong = successors[(successors < 0) | (successors >= n_states)][0]
        raise ValueError(f"successors must lie in 0 … {n_states - 1}, got {wrong}")
    row = np.repeat(np.arange(n_rows), np.diff(offsets))
    order = np.lexsort((successors, row))
    successors, probabilities = successors[order], probabilities[order]
    repeated = (np.diff(row) == 0) & (np.diff(successors) == 0)
    if repeated.any():
        where = int(np.argmax(repeated))
        state, action = divmod(int(row[where]), n_actions)
        raise ValueError(f"transition row (s={state}, a={action}) names successor {successors[where]} twice")
    # Explicit zeros go first: counted as entries they would widen the tolerance of the row's sum.
    kept = probabilities != 0.0
    rows = SparseRows(_offsets(row[kept], n_rows), _frozen(successors[kept]), _frozen(probabilities[kept]))
    _check_rows(rows, n_actions)
    return rows


def _check_rows(rows: SparseRows, n_actions: int) -> None:
    """Every row is a distribution; the message names the pair."""

    def pair(row: int) -> str:
        state, action = divmod(row, n_actions)
        return f"transition row (s={state}, a={action})"

    negative = rows.probabilities < 0.0
    if negative.any():
        where = int(np.argmax(negative))
        row = int(np.searchsorted(rows.offsets, where, side="right")) - 1
        value, successor = float(rows.probabilities[where]), int(rows.successors[where])
        raise ValueError(f"{pair(row)} gives successor {successor} the negative probability {value!r}")
    lengths = np.diff(rows.offsets)
    if (lengths == 0).any():
        raise ValueError(f"{pair(int(np.argmax(lengths == 0)))} sums to 0.0, not 1")
    with np.errstate(over="ignore"):  # an infinite sum is reported like any other wrong one
        sums = np.add.reduceat(rows.probabilities, rows.offsets[:-1])
    wrong = np.abs(sums - 1.0) > validate.row_sum_tolerance(lengths)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(f"{pair(row)} sums to {float(sums[row])!r}, not 1")
