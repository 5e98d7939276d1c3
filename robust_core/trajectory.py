"""One sample trajectory of a behaviour policy, as in Algorithms 1 and 2: seeded, resumable, online."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robust_core import streams, validate
from robust_core.mdp import MDP
from robust_core.sampler import MASS_BITS, AliasTable, alias_table, outcome
from robust_core.validate import Floats, Ints


class Transition(NamedTuple):
    """One step O_t: action a in state s cost `cost` and led to s_next, where a_next is taken next.

    `terminal`: s_next ends an episode (its value is 0; the trajectory goes on from a reset).
    """

    s: int
    a: int
    cost: float
    s_next: int
    a_next: int
    terminal: bool


def valid_transition(transition: Transition) -> Transition:
    """The transition, or an error if it has other fields than it should; what addresses a table, the learner checks."""
    try:
        step = Transition(*transition)
    except TypeError:
        raise TypeError(f"transition must be ({', '.join(Transition._fields)}), got {transition!r:.80}") from None
    validate.real("cost", step.cost)
    validate.boolean("terminal", step.terminal)
    return step


@dataclass(frozen=True, eq=False)
class Recording:
    """A recorded stretch of a trajectory, one array per field of `Transition`."""

    s: Ints
    a: Ints
    cost: Floats
    s_next: Ints
    a_next: Ints
    terminal: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.s)

    def __iter__(self) -> Iterator[Transition]:
        columns = (self.s, self.a, self.cost, self.s_next, self.a_next, self.terminal)
        return (Transition(*fields) for fields in zip(*(c.tolist() for c in columns), strict=True))


class Walk:
    """A walker on (mdp, policy): the pair drawn last, and the stream that draws the next.

    Every step consumes one draw, so a walk cut in two equals the walk in one piece. Under the episodic interpretation
    `terminal` marks the states that end an episode; the kernel's rows there are the reset, which is walked but
    not reported.

    >>> mdp = MDP([[[0.0, 1.0]], [[1.0, 0.0]]], [[1.0], [0.0]], 0.5)
    >>> walk = Walk(mdp, [[1.0], [1.0]], seed=streams.key("example"))
    >>> [(step.s, step.cost) for step in walk.steps(3)]
    [(0, 1.0), (1, 0.0), (0, 1.0)]
    """

    def __init__(
        self,
        mdp: MDP,
        policy: ArrayLike,
        *,
        seed: bytes,
        start: int = 0,
        terminal: ArrayLike | None = None,
        table: AliasTable | None = None,
    ) -> None:
        validate.instance("mdp", mdp, MDP)
        self.mdp = mdp
        if table is not None:  # it draws in place of the policy, which must be one all the same
            validate.instance("table", table, AliasTable)
            validate.policy(policy, mdp.n_states, mdp.n_actions)
        self.table = alias_table(mdp, policy) if table is None else table
        if (self.table.n_states, self.table.n_actions) != (mdp.n_states, mdp.n_actions):
            raise ValueError(
                f"table was made for S={self.table.n_states}, A={self.table.n_actions}, "
                f"the model has S={mdp.n_states}, A={mdp.n_actions}"
            )
        self.terminal = _terminal_mask(mdp, terminal)
        self.stream = streams.generator_state(seed)
        state = validate.index("start", start, mdp.n_states)
        self.position = np.array([state, *outcome(self.table, state, streams.draw(self.stream))], dtype=np.int64)

    def step(self) -> Transition:
        """The next transition (plain Python; `kernels` has the compiled form of the same walk)."""
        s, a, s_next = self._advance()
        while self.terminal[s]:
            s, a, s_next = self._advance()
        a_next = int(self.position[1])
        return Transition(s, a, float(self.mdp.cost[s, a]), s_next, a_next, bool(self.terminal[s_next]))

    def _advance(self) -> tuple[int, int, int]:
        s, a, s_next = (int(i) for i in self.position)
        self.position[:] = (s_next, *outcome(self.table, s_next, streams.draw(self.stream)))
        return s, a, s_next

    def steps(self, n: int) -> Iterator[Transition]:
        """The next n transitions."""
        return (self.step() for _ in range(validate.count("n", n)))

    def skip(self, n: int) -> None:
        """Walk n draws on without reporting them (compiled; under the episodic interpretation resets count too)."""
        from robust_core.kernels import walk as compiled

        compiled.skip(self, validate.count("n", n))

    def record(self, n: int) -> Recording:
        """The next n transitions as arrays (compiled)."""
        from robust_core.kernels import walk as compiled

        return compiled.record(self, validate.count("n", n))


def _terminal_mask(mdp: MDP, terminal: ArrayLike | None) -> NDArray[np.bool_]:
    if terminal is None:
        return np.zeros(mdp.n_states, dtype=np.bool_)
    validate.refuse_masked("terminal", terminal)
    mask = np.array(terminal)
    if mask.shape != (mdp.n_states,) or mask.dtype != np.bool_:
        raise ValueError(f"terminal must be {mdp.n_states} booleans, got {terminal!r}")
    if mask.all():
        raise ValueError("terminal marks every state: no transition could ever be reported")
    # A walk that never leaves the terminal states would wait for its next transition for ever; what the alias
    # table cannot draw (even under the likeliest action, which has probability 1/A at least) is no way out.
    rows, A = mdp.rows, mdp.n_actions
    out = ~mask[rows.successors] & (rows.probabilities >= A * 2.0**-MASS_BITS)
    leaves = np.logical_or.reduceat(out, rows.offsets[:-1]).reshape(-1, A).all(axis=1)
    if (mask & ~leaves).any():
        state = int(np.argmax(mask & ~leaves))
        raise ValueError(f"terminal state {state} has no reset: its rows must lead to a state that is not terminal")
    return mask
