"""Streams, alias tables and walks: the published generator, exact probabilities, one walk in two speeds."""

import copy
import itertools
from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from properties.profiles import examples
from properties.strategies import mdps, policies
from robust_core import models, streams
from robust_core.mdp import MDP, SparseRows
from robust_core.policy import uniform
from robust_core.sampler import MASS_BITS, AliasTable, alias_table, outcome
from robust_core.trajectory import Recording, Transition, Walk
from robust_core.validate import EPS, Floats

WORD = 1 << 64

# xoshiro256++ from the state (1, 2, 3, 4), as published with the reference implementation.
PUBLISHED = [
    41943041,
    58720359,
    3588806011781223,
    3591011842654386,
    9228616714210784205,
    9973669472204895162,
    14011001112246962877,
    12406186145184390807,
    15849039046786891736,
    10450023813501588000,
]


def rotl(x: int, k: int) -> int:
    return (x << k) % WORD + (x >> (64 - k))


def reference_outputs(state: list[int], n: int, *, rotation: int = 23) -> list[int]:
    """The authors' C loop, line by line, modulo 2^64."""
    s = list(state)
    outputs = []
    for _ in range(n):
        outputs.append((rotl((s[0] + s[3]) % WORD, rotation) + s[0]) % WORD)
        t = (s[1] << 17) % WORD
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = rotl(s[3], 45)
    return outputs


def plain_outputs(state: list[int], n: int) -> list[int]:
    words = np.array(state, dtype=np.uint64)
    return [streams.draw(words) for _ in range(n)]


def compiled_outputs(state: list[int], n: int) -> list[int]:
    """The compiled generator through a table of 2^20 columns: their top 20 bits, and then the words it leaves."""
    from robust_core.kernels.walk import U64, moved

    bits = 20
    columns = np.empty((1 << bits, 2), dtype=np.uint64)
    columns[:, 0] = WORD - 1
    columns[:, 1] = np.arange(1 << bits, dtype=np.uint64) << np.uint64(32)
    words = [U64(word) for word in state]
    tops = []
    for _ in range(n):
        _, _, chosen, *words = moved(columns.reshape(-1), (U64(bits), U64(0)), (U64(0), U64(0), U64(0), *words))  # type: ignore[arg-type]
        words = [U64(word) for word in words]
        tops.append(int(chosen))
    return tops


def test_the_generator_is_the_published_one() -> None:
    assert reference_outputs([1, 2, 3, 4], 10) == PUBLISHED
    assert plain_outputs([1, 2, 3, 4], 10) == PUBLISHED
    assert reference_outputs([1, 2, 3, 4], 10, rotation=24) != PUBLISHED


@given(st.lists(st.integers(0, WORD - 1), min_size=4, max_size=4))
@examples(30)
def test_plain_and_compiled_generator_agree_from_any_state(state: list[int]) -> None:
    wanted = reference_outputs(state, 50)
    assert plain_outputs(state, 50) == wanted
    assert compiled_outputs(state, 50) == [word >> 44 for word in wanted]
    if any(state):
        assert [word >> 44 for word in reference_outputs(state, 50, rotation=22)] != compiled_outputs(state, 50)


def test_keys_separate_everything() -> None:
    parts: list[tuple[streams.Part, ...]] = [
        (),
        (None,),
        (1,),
        (1.0,),
        (True,),
        ("1",),
        (b"1",),
        ((1,),),
        ([],),
        (0.0,),
        (-0.0,),
        ("ab",),
        ("a", "b"),
        (("a",), "b"),
        ("a", ("b",)),
        ("i1;",),
        (11,),
        (1, 1),
        (-1,),
        (2**70,),
        (0.1 + 0.2,),
        (0.3,),
    ]
    assert len({streams.key(*part) for part in parts}) == len(parts)
    assert streams.key([1, 2]) == streams.key((1, 2))
    assert streams.key(np.int64(3), np.float64(0.5)) == streams.key(3, 0.5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a key is made of"):
        streams.key({"a": 1})  # type: ignore[arg-type]


# ---- alias tables


@st.composite
def sampling_problems(draw: st.DrawFn) -> tuple[MDP, Floats]:
    mdp = draw(mdps(max_states=6, max_actions=4, storage="either", dyadic=draw(st.booleans())))
    return mdp, draw(policies(mdp))


def column_masses(table: AliasTable, state: int) -> dict[tuple[int, int], int]:
    """How many of the 2^64 draws select each (action, next state), counted column by column from the raw words."""
    masses: dict[tuple[int, int], int] = defaultdict(int)
    width = 1 << table.column_bits
    for threshold, packed in table.columns[state * width : (state + 1) * width].tolist():
        first, second = packed >> 32, packed & 0xFFFFFFFF
        # Within a column the draw is a multiple of 2^column_bits, uniform below 2^64.
        below = -(-threshold // width)
        for packed_outcome, count in ((first, below), (second, WORD // width - below)):
            action, s_next = packed_outcome % (1 << table.action_bits), packed_outcome >> table.action_bits
            masses[action, s_next] += count
    return {pair: mass for pair, mass in masses.items() if mass}


def mass_errors(mdp: MDP, pi: Floats, table: AliasTable) -> list[str]:
    """Where the table's masses are not pi(a|s) p(s'|s,a) in units of 2^-62, the largest taking the remainder.

    A product of two floats is off by eps/2 of itself, rounding to a unit by half a unit; the largest also
    carries what the others lost. Nothing is lost if all products are floats and multiples of the unit.
    """
    errors = []
    for s in range(mdp.n_states):
        masses = {pair: Fraction(mass, WORD) for pair, mass in column_masses(table, s).items()}
        wanted = {
            (a, t): Fraction(float(pi[s, a])) * Fraction(float(mdp.P[s, a, t]))
            for a in range(mdp.n_actions)
            for t in range(mdp.n_states)
            if pi[s, a] * mdp.P[s, a, t] > 0
        }
        if sum(masses.values()) != 1:
            errors.append(f"state {s}: total {sum(masses.values())}")
        if not masses.keys() <= wanted.keys():
            errors.append(f"state {s}: impossible outcomes {masses.keys() - wanted.keys()}")
        unit = Fraction(1, 1 << MASS_BITS)
        exact = all(w % unit == 0 and Fraction(float(w)) == w for w in wanted.values())
        slack = {pair: Fraction(0) if exact else w * Fraction(EPS / 2) + unit / 2 for pair, w in wanted.items()}
        remainder = abs(sum(wanted.values(), Fraction(0)) - 1) + sum(slack.values(), Fraction(0))
        largest = max(masses, key=lambda pair: masses[pair])
        for pair, w in wanted.items():
            lost = remainder if pair == largest else Fraction(0)
            if abs(masses.get(pair, Fraction(0)) - w) > slack[pair] + lost:
                errors.append(f"state {s}, (a, s')={pair}: {masses.get(pair)} instead of {w}")
    return errors


@given(sampling_problems())
@examples(100)
def test_alias_tables_reproduce_probabilities_exactly(problem: tuple[MDP, Floats]) -> None:
    mdp, pi = problem
    assert mass_errors(mdp, pi, alias_table(mdp, pi)) == []


def test_large_rows_and_tiny_probabilities() -> None:
    mdp = models.garnet(50, 3, 37, gamma=0.5)
    assert mass_errors(mdp, uniform(50, 3), alias_table(mdp, uniform(50, 3))) == []
    tiny = MDP([[[1.0, 1e-300, 2.0**-62]], [[0.0, 1.0, 0.0]], [[0.0, 2.0**-64, 1.0]]], np.zeros((3, 1)), 0.5)
    table = alias_table(tiny, np.ones((3, 1)))
    assert mass_errors(tiny, np.ones((3, 1)), table) == []
    assert column_masses(table, 0) == {(0, 0): WORD - 4, (0, 2): 4}
    assert column_masses(table, 2) == {(0, 2): WORD}


def test_wrong_tables_are_noticed() -> None:
    mdp, pi = models.garnet(5, 2, 4, gamma=0.5), uniform(5, 2)
    table = alias_table(mdp, pi)

    def corrupted(change: Callable[[np.ndarray], None]) -> AliasTable:
        columns = table.columns.copy()
        change(columns)
        return AliasTable(columns, table.column_bits, table.action_bits, table.n_states, table.n_actions)

    def shift_threshold(columns: np.ndarray) -> None:
        open_column = np.flatnonzero((columns[:, 0] > 0) & (columns[:, 0] < WORD - 1))[0]
        columns[open_column, 0] += np.uint64(1 << (2 + table.column_bits))

    def swap(columns: np.ndarray) -> None:
        columns[:, 1] = (columns[:, 1] << np.uint64(32)) | (columns[:, 1] >> np.uint64(32))

    assert mass_errors(mdp, pi, table) == []
    assert mass_errors(mdp, pi, corrupted(shift_threshold)) != []
    assert mass_errors(mdp, pi, corrupted(swap)) != []
    ignoring_the_policy = alias_table(mdp, np.tile([0.25, 0.75], (5, 1)))
    assert mass_errors(mdp, pi, ignoring_the_policy) != []


@given(sampling_problems())
@examples(40)
def test_outcomes_at_the_edges_of_columns(problem: tuple[MDP, Floats]) -> None:
    """The first and last draw of each part of each column select what the raw words say."""
    mdp, pi = problem
    table = alias_table(mdp, pi)
    k, a_mask = table.column_bits, (1 << table.action_bits) - 1
    for column, (threshold, packed) in enumerate(table.columns.tolist()):
        state, place = divmod(column, 1 << k)
        base, last = place << (64 - k), (1 << (64 - k)) - 1
        cut = -(-threshold // (1 << k))
        for offset in {0, max(cut - 1, 0), min(cut, last), last}:
            chosen = packed >> 32 if offset < cut else packed & 0xFFFFFFFF
            assert outcome(table, state, base + offset) == (chosen & a_mask, chosen >> table.action_bits)


# ---- walks


def transitions(recording: Recording) -> list[Transition]:
    return list(recording)


def walk_state(walk: Walk) -> tuple[bytes, bytes]:
    return walk.stream.tobytes(), walk.position.tobytes()


@st.composite
def walks(draw: st.DrawFn) -> Walk:
    """Continuing walks, and episodic ones whose terminal states (an initial segment) reset to the last state."""
    mdp, pi = draw(sampling_problems())
    terminal = None
    if mdp.n_states > 1 and draw(st.booleans()):
        terminal = np.arange(mdp.n_states) < draw(st.integers(1, mdp.n_states - 1))
        P = mdp.P.copy()
        P[terminal] = np.eye(mdp.n_states)[-1]
        mdp = MDP(P, mdp.cost, mdp.gamma)
    start = draw(st.integers(0, mdp.n_states - 1))
    return Walk(mdp, pi, seed=streams.key("walk", mdp.hash), start=start, terminal=terminal)


@given(walks(), st.integers(0, 60), st.integers(0, 60))
@examples(80)
def test_compiled_split_and_plain_walks_are_one_walk(walk: Walk, n: int, m: int) -> None:
    whole, split, mixed = (copy.deepcopy(walk) for _ in range(3))
    wanted = list(walk.steps(n + m))
    assert transitions(whole.record(n + m)) == wanted
    assert transitions(split.record(n)) + transitions(split.record(m)) == wanted
    assert list(mixed.steps(n)) + transitions(mixed.record(m)) == wanted
    assert walk_state(whole) == walk_state(split) == walk_state(mixed) == walk_state(walk)


@given(walks())
@examples(60)
def test_walks_are_possible_and_connected(walk: Walk) -> None:
    mdp, terminal = walk.mdp, walk.terminal
    steps = transitions(walk.record(80))
    for step in steps:
        assert not terminal[step.s], "a transition out of a terminal state was reported"
        assert mdp.P[step.s, step.a, step.s_next] > 0
        assert step.cost == mdp.cost[step.s, step.a]
        assert step.terminal == terminal[step.s_next]
    for step, later in itertools.pairwise(steps):
        if not step.terminal:
            assert (later.s, later.a) == (step.s_next, step.a_next)
        else:
            assert not terminal[later.s]


def test_the_walk_checks_can_fail() -> None:
    """A walk on the same stream that ignores the interpretation reports transitions out of terminal states."""
    mdp = models.ring(4)
    terminal = np.array([False, False, True, False])
    episodic = Walk(mdp, np.ones((4, 1)), seed=streams.key("x"), terminal=terminal)
    naive = Walk(mdp, np.ones((4, 1)), seed=streams.key("x"))
    assert [step.s for step in episodic.steps(6)] == [0, 1, 3, 0, 1, 3]
    assert any(terminal[step.s] for step in naive.steps(6))
    redrawn = Walk(mdp, np.ones((4, 1)), seed=streams.key("x"))
    streams.draw(redrawn.stream)
    assert walk_state(redrawn) != walk_state(Walk(mdp, np.ones((4, 1)), seed=streams.key("x")))


def test_every_step_takes_one_draw() -> None:
    mdp = models.two_states()
    walk = Walk(mdp, uniform(2, 2), seed=streams.key("draws"))
    words = streams.generator_state(streams.key("draws"))
    for _ in range(1 + 25):
        streams.draw(words)
    list(walk.steps(25))
    assert walk.stream.tobytes() == words.tobytes()


def test_seeds_and_policies_matter() -> None:
    mdp = models.garnet(20, 3, 5, gamma=0.5)
    one, again, other = (
        transitions(Walk(mdp, uniform(20, 3), seed=streams.key(name)).record(50)) for name in ("a", "a", "b")
    )
    assert one == again
    assert one != other


def test_dense_and_sparse_models_give_the_same_walk() -> None:
    mdp = models.garnet(20, 3, 5, gamma=0.5)
    dense = MDP(mdp.P, mdp.cost, mdp.gamma)
    assert isinstance(mdp.kernel, SparseRows)
    first, second = (
        transitions(Walk(m, uniform(20, 3), seed=streams.key("storage")).record(200)) for m in (mdp, dense)
    )
    assert first == second


def test_recordings_are_fresh() -> None:
    walk = Walk(models.two_states(), uniform(2, 2), seed=streams.key("fresh"))
    recording = walk.record(5)
    assert len(recording) == 5
    recording.cost[:] = 9.0
    assert walk.mdp.cost.max() < 9.0
    assert len(walk.record(0)) == 0
