"""The model type: what it refuses and how, and that every spelling of a model is the same model."""

import copy
import json
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from properties.profiles import examples
from properties.strategies import mdps
from robust_core import models
from robust_core.mdp import FORMAT, MDP, SparseRows
from robust_core.validate import EPS, Floats

DENSE = [[[0.5, 0.5], [0.0, 1.0]], [[1.0, 0.0], [0.25, 0.75]]]
COST = [[0.0, 1.0], [2.0, 3.0]]


def changed(values: list[Any], place: tuple[int, ...], value: object) -> list[Any]:
    """A copy with one entry replaced."""
    result = copy.deepcopy(values)
    target = result
    for i in place[:-1]:
        target = target[i]
    target[place[-1]] = value
    return result


def sparse(**fields: Any) -> SparseRows:
    """DENSE by rows, with some fields replaced."""
    good: dict[str, Any] = {
        "offsets": [0, 2, 3, 4, 6],
        "successors": [0, 1, 1, 0, 0, 1],
        "probabilities": [0.5, 0.5, 1.0, 1.0, 0.25, 0.75],
    }
    return SparseRows(**(good | fields))


BAD_MODELS: dict[str, tuple[Callable[[], MDP], type[Exception], tuple[str, ...]]] = {
    "row sum": (
        lambda: MDP(changed(DENSE, (1, 1, 0), 0.5), COST, 0.5),
        ValueError,
        ("(s=1, a=1)", "sums to 1.25", "not 1"),
    ),
    "row just beyond rounding": (
        # Three non-zero entries would allow 4 eps; two allow 3.
        lambda: MDP(changed(DENSE, (0, 0, 0), 0.5 + 4 * EPS), COST, 0.5),
        ValueError,
        ("(s=0, a=0)", "sums to 1.0000000000000009"),
    ),
    "row of zeros": (
        lambda: MDP(changed(DENSE, (0, 1, 1), 0.0), COST, 0.5),
        ValueError,
        ("(s=0, a=1)", "sums to 0.0"),
    ),
    "overflowing row": (
        lambda: MDP([[[1e308, 1e308]], [[0.0, 1.0]]], [[0.0], [0.0]], 0.5),
        ValueError,
        ("(s=0, a=0)", "sums to inf"),
    ),
    "negative": (
        lambda: MDP(changed(DENSE, (1, 0), [-0.25, 1.25]), COST, 0.5),
        ValueError,
        ("(s=1, a=0)", "successor 0", "negative", "-0.25"),
    ),
    "nan": (
        lambda: MDP(changed(DENSE, (1, 0, 1), np.nan), COST, 0.5),
        ValueError,
        ("kernel[1, 0, 1]", "finite", "nan"),
    ),
    "infinite cost": (
        lambda: MDP(DENSE, changed(COST, (0, 1), -np.inf), 0.5),
        ValueError,
        ("cost[0, 1]", "finite", "-inf"),
    ),
    "huge whole number": (lambda: MDP(DENSE, changed(COST, (0, 1), 10**400), 0.5), ValueError, ("cost", "finite")),
    "text": (lambda: MDP(DENSE, changed(COST, (0, 1), "1.0"), 0.5), TypeError, ("cost", "numbers")),
    "kernel shape": (lambda: MDP(np.ones((2, 2)), COST, 0.5), ValueError, ("kernel", "(2, 2, 2)", "(2, 2)")),
    "cost shape": (lambda: MDP(DENSE, [0.0, 1.0], 0.5), ValueError, ("cost", "(S, A)", "(2,)")),
    "ragged cost": (lambda: MDP(DENSE, [[0.0], [1.0, 2.0]], 0.5), TypeError, ("cost", "numbers")),
    "empty": (lambda: MDP(np.ones((0, 2, 0)), np.ones((0, 2)), 0.5), ValueError, ("cost", "empty", "(0, 2)")),
    "no action": (lambda: MDP(np.ones((2, 0, 2)), np.ones((2, 0)), 0.5), ValueError, ("cost", "empty", "(2, 0)")),
    "gamma 1": (lambda: MDP(DENSE, COST, 1.0), ValueError, ("gamma", "[0, 1)", "1.0")),
    "gamma negative": (lambda: MDP(DENSE, COST, -1e-300), ValueError, ("gamma", "[0, 1)", "-1e-300")),
    "gamma nan": (lambda: MDP(DENSE, COST, float("nan")), ValueError, ("gamma", "finite", "nan")),
    "gamma huge": (lambda: MDP(DENSE, COST, -(10**400)), ValueError, ("gamma", "finite", "-inf")),
    "gamma text": (lambda: MDP(DENSE, COST, "0.5"), TypeError, ("gamma", "'0.5'")),  # type: ignore[arg-type]
    "gamma bool": (lambda: MDP(DENSE, COST, True), TypeError, ("gamma", "True")),
    "repeated successor": (
        lambda: MDP(sparse(successors=[0, 1, 1, 0, 1, 1]), COST, 0.5),
        ValueError,
        ("(s=1, a=1)", "successor 1 twice"),
    ),
    "successor out of range": (
        lambda: MDP(sparse(successors=[0, 1, 1, 0, 0, 2]), COST, 0.5),
        ValueError,
        ("successors", "0 … 1", "2"),
    ),
    "negative successor": (
        lambda: MDP(sparse(successors=[0, 1, 1, 0, 0, -1]), COST, 0.5),
        ValueError,
        ("successors", "0 … 1", "-1"),
    ),
    "successor beyond int64": (
        lambda: MDP(sparse(successors=[0, 1, 1, 0, 0, 2**64 - 1]), COST, 0.5),
        (ValueError, TypeError),  # type: ignore[dict-item]
        ("successors",),
    ),
    "fractional successor": (
        lambda: MDP(sparse(successors=[0, 1, 1, 0, 0, 0.5]), COST, 0.5),
        TypeError,
        ("successors", "whole numbers"),
    ),
    "ragged offsets": (lambda: MDP(sparse(offsets=[0, [1]]), COST, 0.5), TypeError, ("offsets", "whole numbers")),
    "offsets too few": (lambda: MDP(sparse(offsets=[0, 2, 3, 6]), COST, 0.5), ValueError, ("offsets", "4 steps")),
    "offsets fall": (lambda: MDP(sparse(offsets=[0, 3, 2, 4, 6]), COST, 0.5), ValueError, ("offsets", "rise")),
    "empty sparse row": (
        lambda: MDP(sparse(offsets=[0, 2, 4, 4, 6], successors=[0, 1, 0, 1, 0, 1]), COST, 0.5),
        ValueError,
        ("(s=1, a=0)", "sums to 0.0"),
    ),
    "sparse row sum": (
        lambda: MDP(sparse(probabilities=[0.5, 0.25, 1.0, 1.0, 0.25, 0.75]), COST, 0.5),
        ValueError,
        ("(s=0, a=0)", "sums to 0.75"),
    ),
    "probabilities too few": (
        lambda: MDP(sparse(probabilities=[0.5]), COST, 0.5),
        ValueError,
        ("probabilities", "(6,)", "(1,)"),
    ),
    "names too few": (lambda: MDP(DENSE, COST, 0.5, state_names=["x"]), ValueError, ("state_names", "2 strings")),
    "names repeated": (
        lambda: MDP(DENSE, COST, 0.5, action_names=["x", "x"]),
        ValueError,
        ("action_names", "distinct"),
    ),
    "names one string": (lambda: MDP(DENSE, COST, 0.5, state_names="ab"), TypeError, ("state_names", "'ab'")),
    "names a number": (lambda: MDP(DENSE, COST, 0.5, state_names=5), TypeError, ("state_names", "5")),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("name", BAD_MODELS)
def test_refusals_name_place_value_and_rule(name: str) -> None:
    build, kind, words = BAD_MODELS[name]
    with pytest.raises(kind) as caught:
        build()
    missing = [word for word in words if word not in str(caught.value)]
    assert not missing, f"{caught.value} does not say {missing}"


def test_neighbours_of_the_refused_models_are_accepted() -> None:
    """The refusals above are due to the one thing that is wrong."""
    dense, by_rows = MDP(DENSE, COST, 0.5), MDP(sparse(), COST, 0.5)
    assert dense == by_rows
    assert not dense.is_sparse
    assert by_rows.is_sparse
    MDP(changed(DENSE, (0, 0, 0), 0.5 + 2 * EPS), COST, 0.5)
    MDP(DENSE, COST, np.nextafter(1.0, 0.0))
    MDP(DENSE, COST, 0)
    MDP(DENSE, [[0, 1], [2, 3]], 0.5, state_names=["x", "y"], action_names=("l", "r"))


EXTREME_COSTS = (0.0, -0.0, 5e-324, -5e-324, 2.0**-1060, 1e300, -1e300, 1.7976931348623157e308, 0.1, 1 / 3, -1e-300)


@st.composite
def extreme_models(draw: st.DrawFn) -> MDP:
    """Rounded rows, some with entries down to the smallest float, and costs of every scale."""
    mdp = draw(mdps(dyadic=False, storage="either"))
    cost = np.array(draw(st.lists(st.sampled_from(EXTREME_COSTS), min_size=mdp.cost.size, max_size=mdp.cost.size)))
    P = mdp.P.copy()
    tiny = draw(st.sampled_from((0.0, 5e-324, 1e-300, 2.0**-1022)))
    P[..., -1] = np.where(P[..., -1] == 0.0, tiny, P[..., -1])
    kernel = rows_of(P) if mdp.is_sparse else P
    return MDP(kernel, cost.reshape(mdp.cost.shape), mdp.gamma)


def rows_of(P: Floats) -> SparseRows:
    """All entries, zeros included, in descending order of successor: a clumsy but legal spelling."""
    S, A, _ = P.shape
    successors = np.tile(np.arange(S)[::-1], S * A)
    return SparseRows(np.arange(S * A + 1) * S, successors, P[..., ::-1].ravel())


def bits(mdp: MDP) -> tuple[object, ...]:
    """Everything a model holds, floats as their bits."""
    kernel = mdp.kernel
    parts = (kernel.offsets, kernel.successors, kernel.probabilities) if isinstance(kernel, SparseRows) else (kernel,)
    arrays = tuple((x.shape, str(x.dtype), x.tobytes()) for x in (mdp.cost, *parts))
    return *arrays, mdp.gamma.hex(), mdp.state_names, mdp.action_names


def through_json(mdp: MDP) -> MDP:
    return MDP.from_json(mdp.to_json())


def through_short_json(mdp: MDP) -> MDP:
    """A broken round trip: floats written with fifteen digits."""

    def shortened(value: object) -> object:
        if isinstance(value, list):
            return [shortened(x) for x in value]
        return float(f"{value:.15g}") if isinstance(value, float) else value

    data = {key: shortened(value) for key, value in mdp.to_dict().items()}
    return MDP.from_dict(data)


@given(extreme_models())
@examples(100)
def test_json_pickle_and_copies_keep_every_bit(mdp: MDP) -> None:
    for way in (through_json, lambda m: pickle.loads(pickle.dumps(m)), copy.deepcopy):
        again = way(mdp)
        assert bits(again) == bits(mdp)
        assert again == mdp
        assert again.hash == mdp.hash
        assert hash(again) == hash(mdp)


def test_a_lossy_round_trip_is_noticed() -> None:
    mdp = MDP([[[1.0]]], [[1 / 3]], 0.5)
    assert bits(through_short_json(mdp)) != bits(mdp)
    assert through_short_json(mdp) != mdp


def test_minus_zero_is_zero() -> None:
    """Equal models have equal bits: a negative zero does not survive the constructor."""
    signed = MDP([[[1.0, -0.0]], [[-0.0, 1.0]]], [[-0.0], [0.0]], -0.0)
    plain = MDP([[[1.0, 0.0]], [[0.0, 1.0]]], [[0.0], [0.0]], 0.0)
    assert bits(signed) == bits(plain)
    assert not np.signbit(signed.cost).any()


@given(extreme_models())
@examples(100)
def test_dense_and_sparse_are_one_model(mdp: MDP) -> None:
    dense = MDP(mdp.P, mdp.cost, mdp.gamma)
    by_rows = MDP(rows_of(mdp.P), mdp.cost, mdp.gamma)
    assert dense == by_rows
    assert dense.hash == by_rows.hash
    assert dense.P.tobytes() == by_rows.P.tobytes()


@given(extreme_models(), st.data())
@examples(50)
def test_the_hash_sees_every_number(mdp: MDP, data: st.DataObject) -> None:
    """One unit in the last place of one number makes another model."""
    s = data.draw(st.integers(0, mdp.n_states - 1))
    cost = mdp.cost.copy()
    cost[s, 0] = np.nextafter(cost[s, 0], 0.0 if cost[s, 0] else 1.0)
    others = [MDP(mdp.kernel, cost, mdp.gamma), MDP(mdp.kernel, mdp.cost, np.nextafter(mdp.gamma, 1.0))]
    P = mdp.P.copy()
    P[s, 0, P[s, 0].argmax()] = np.nextafter(P[s, 0].max(), 0.0)
    others.append(MDP(P, mdp.cost, mdp.gamma))
    assert all(other.hash != mdp.hash and other != mdp for other in others)


def test_names_enter_equality_but_not_the_hash() -> None:
    named = MDP(DENSE, COST, 0.5, state_names=["x", "y"])
    assert named.hash == MDP(DENSE, COST, 0.5).hash
    assert named != MDP(DENSE, COST, 0.5)
    assert through_json(named) == named
    assert "x a=0" in str(named)


@pytest.mark.parametrize("kernel", [DENSE, sparse()], ids=["dense", "sparse"])
def test_models_cannot_be_changed(kernel: Any) -> None:
    mdp = MDP(kernel, COST, 0.5)
    before = mdp.hash
    with pytest.raises(AttributeError, match="immutable"):
        mdp.gamma = 0.9
    with pytest.raises(AttributeError, match="immutable"):
        del mdp.cost
    rows = mdp.rows
    for array in (mdp.cost, mdp.P, rows.offsets, rows.successors, rows.probabilities):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    assert MDP(mdp.kernel, mdp.cost, mdp.gamma).hash == before


def test_models_keep_no_hold_on_their_arguments() -> None:
    P, cost = np.array(DENSE), np.array(COST)
    mdp = MDP(P, cost, 0.5)
    before = bits(mdp)
    P[:], cost[:] = 0.0, 7.0
    assert bits(mdp) == before
    assert P.flags.writeable
    assert cost.flags.writeable
    given_rows = sparse()
    rows = SparseRows(np.array(given_rows.offsets), np.array(given_rows.successors), np.array(given_rows.probabilities))
    by_rows = MDP(rows, COST, 0.5)
    before = bits(by_rows)
    rows.probabilities[:] = 0.0
    assert bits(by_rows) == before


def test_explicit_zeros_do_not_widen_the_tolerance() -> None:
    """Six entries would allow the sum 7 eps; the two that are not zero allow 3. Accepted, it could not be reread."""
    rows = SparseRows(
        [0, 6, 7, 8, 9, 10, 11],  # type: ignore[arg-type]
        [0, 1, 2, 3, 4, 5, 0, 0, 0, 0, 0],  # type: ignore[arg-type]
        [0.5, 0.5 + 5 * EPS, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0],  # type: ignore[arg-type]
    )
    with pytest.raises(ValueError, match=r"\(s=0, a=0\) sums to"):
        MDP(rows, np.zeros((6, 1)), 0.5)


GOOD = {"format": FORMAT, "gamma": 0.5, "cost": COST, "P": DENSE}
HOSTILE: dict[str, tuple[str, str]] = {
    "nothing": ("", "not an MDP in JSON"),
    "cut short": (json.dumps(GOOD)[:-9], "not an MDP in JSON"),
    "very deep": ("[" * 100_000, "not an MDP in JSON"),
    "deep cost": (json.dumps(GOOD | {"cost": 0}).replace('"cost": 0', '"cost": ' + "[" * 80 + "]" * 80), "cost"),
    "a list": ("[]", "object"),
    "null": ("null", "object"),
    "no format": (json.dumps({k: v for k, v in GOOD.items() if k != "format"}), "format"),
    "other format": (json.dumps(GOOD | {"format": [FORMAT]}), "format"),
    "NaN": (json.dumps(GOOD | {"gamma": float("nan")}), "finite"),
    "Infinity": (json.dumps(GOOD | {"cost": [[float("inf")]]}), "finite"),
    "1e999": (json.dumps(GOOD).replace("2.0", "1e999"), r"cost\[1, 0\] must be finite"),
    "thousand digits": (json.dumps(GOOD).replace("2.0", "9" * 1000), "cost must be finite"),
    "ten thousand digits": (json.dumps(GOOD).replace("2.0", "9" * 10_000), "digits"),
    "no cost": (json.dumps({k: v for k, v in GOOD.items() if k != "cost"}), r"needs the fields \['cost'\]"),
    "no kernel": (json.dumps({k: v for k, v in GOOD.items() if k != "P"}), r"the fields .* \(or P in place of offsets"),
    "two kernels": (json.dumps(GOOD | {"offsets": [0]}), r"no fields \['offsets'\]"),
    "unknown": (json.dumps(GOOD | {"__class__": "os.system"}), "no fields"),
    "text for numbers": (json.dumps(GOOD | {"cost": [["0", "1"], ["2", "3"]]}), "cost must be an array of numbers"),
    "null for numbers": (json.dumps(GOOD | {"cost": [[0, None], [2, 3]]}), "cost"),
    "object for numbers": (json.dumps(GOOD | {"cost": {"0": 1}}), "cost"),
    "bool for gamma": (json.dumps(GOOD | {"gamma": True}), "gamma must be a number"),
    "names a number": (json.dumps(GOOD | {"state_names": 5}), "state_names"),
    "names of lists": (json.dumps(GOOD | {"state_names": [[], []]}), "state_names"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_json_is_refused_with_a_reason(name: str) -> None:
    text, reason = HOSTILE[name]
    with pytest.raises((ValueError, TypeError), match=reason):
        MDP.from_json(text)


def test_the_json_that_hostile_ones_are_made_of_is_good() -> None:
    assert MDP.from_json(json.dumps(GOOD)) == MDP(DENSE, COST, 0.5)


@pytest.mark.parametrize("mdp", [models.two_states(), models.garnet(2, 1, 1, gamma=0.5)], ids=["dense", "sparse"])
@pytest.mark.parametrize("v", [[1.0], [[1.0, 2.0]], 1.0, [1.0, 2.0, 3.0]], ids=["short", "table", "number", "long"])
def test_expectations_are_of_one_value_per_state(mdp: MDP, v: Any) -> None:
    with pytest.raises(ValueError, match=r"v must have shape \(2,\), got"):
        mdp.expectation(np.array(v))
    assert mdp.expectation(np.ones(2)).tolist() == np.ones((2, mdp.n_actions)).tolist()


def read_only(**fields: Any) -> SparseRows:
    """Sparse rows in the one spelling, which nobody may change; successors have 32 bits."""
    rows = sparse(**fields)
    types = (np.int64, np.int32, np.float64)
    arrays = [
        np.array(x, dtype=t) for x, t in zip((rows.offsets, rows.successors, rows.probabilities), types, strict=True)
    ]
    for values in arrays:
        values.setflags(write=False)
    return SparseRows(*arrays)


def test_read_only_arrays_are_kept_and_are_the_same_model() -> None:
    given = read_only()
    mdp = MDP(given, COST, 0.5)
    assert mdp.rows.successors is given.successors
    assert mdp.rows.probabilities is given.probabilities
    assert mdp == MDP(sparse(), COST, 0.5)
    assert np.array_equal(mdp.P, MDP(sparse(), COST, 0.5).P)


@pytest.mark.parametrize(
    "fields",
    [
        {"successors": [1, 0, 1, 0, 0, 1]},
        {
            "offsets": [0, 3, 4, 5, 7],
            "successors": [0, 1, 2, 1, 0, 0, 1],
            "probabilities": [0.5, 0.5, 0, 1, 1, 0.25, 0.75],
        },
    ],
    ids=["not ascending", "a zero"],
)
def test_read_only_arrays_in_another_spelling_are_copied(fields: dict[str, Any]) -> None:
    states = 3 if "offsets" in fields else 2
    given = read_only(**fields)
    kernel = SparseRows(given.offsets, given.successors, given.probabilities)
    if states == 3:
        offsets = np.array([0, 3, 4, 5, 7, 8, 9], dtype=np.int64)
        successors, probabilities = np.append(given.successors, [2, 2]), np.append(given.probabilities, [1.0, 1.0])
        for values in (offsets, successors, probabilities):
            values.setflags(write=False)
        kernel = SparseRows(offsets, successors, probabilities)
    mdp = MDP(kernel, np.zeros((states, 2)), 0.5)
    assert mdp.rows.successors is not kernel.successors
    assert mdp.rows.successors.dtype == np.int64
    assert (mdp.rows.probabilities > 0.0).all()


@pytest.mark.parametrize(
    "fields",
    [
        {"successors": [0, 1, 1, 0, 0, 2]},
        {"successors": [0, 1, 1, 0, 1, 1]},
        {"successors": [0, 1, 1, 0, 0, -1]},
        {"probabilities": [0.5, 0.25, 1.0, 1.0, 0.25, 0.75]},
        {"probabilities": [0.5, 0.5, 1.0, 1.0, 1.25, -0.25]},
        {"probabilities": [0.5, 0.5, 1.0, 1.0, 0.25, float("nan")]},
        {"offsets": [0, 2, 3, 6, 6]},
        {"offsets": [0, 3, 2, 4, 6]},
        {"offsets": [0, 2, 3, 4]},
    ],
    ids=str,
)
def test_bad_read_only_arrays_are_refused_like_others(fields: dict[str, Any]) -> None:
    for rows in (sparse(**fields), read_only(**fields)):
        with pytest.raises(ValueError, match=r"must|sums|names|gives"):
            MDP(rows, COST, 0.5)
