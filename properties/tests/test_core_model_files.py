"""Model files: written and read again bit for bit, PRISM's format by its documentation, and messages for bad ones."""

import io
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from properties import profiles
from properties.strategies import mdps
from robust_core.arrays import read_npz, write_npz
from robust_core.environments import from_toy_text, to_toy_text
from robust_core.mdp import MDP, SparseRows
from robust_core.prism import read_prism, write_prism
from robust_core.sets import Interval

# As `prism -exportmodel` writes them: comments, fractions, choices that differ in number, intervals.
ROBOT = """# Exported
3 4 6
0 0 0 2/5 east
0 0 1 3/5 east
0 1 1 .5 south
0 1 2 5e-1 south
1 0 2 1 east
2 0 2 1 stuck
"""
STATE = '# Reward structure: "energy"\n# State rewards\n3 2\n0 2.5\n1 1\n'
MOVES = '# Reward structure: "time"\n3 4 2\n0 1 1 4\n1 0 2 0.25\n'
LABELS = '0="init" 1="deadlock" 2="goal"\n0: 0\n2: 1 2\n'


def store(folder: Path, **texts: str) -> Path:
    for suffix, text in texts.items():
        (folder / f"robot.{suffix}").write_text(text, encoding="utf-8")
    return folder / "robot.tra"


def test_files_of_prism_are_read_by_their_rules(tmp_path: Path) -> None:
    found = read_prism(store(tmp_path, tra=ROBOT, srew=STATE, trew=MOVES, lab=LABELS), 0.9)
    assert np.array_equal(found.mdp.P[0], [[0.4, 0.6, 0.0], [0.0, 0.5, 0.5]])
    assert np.array_equal(found.mdp.P[1:], [[[0.0, 0.0, 1.0]] * 2, [[0.0, 0.0, 1.0]] * 2])  # the last choice again
    assert np.array_equal(found.mdp.cost, [[2.5, 4.5], [1.25, 1.25], [0.0, 0.0]])
    assert (found.mdp.gamma, found.intervals) == (0.9, None)
    assert found.labels == {"init": (0,), "deadlock": (2,), "goal": (2,)}


def test_chains_and_intervals(tmp_path: Path) -> None:
    chain = read_prism(store(tmp_path, tra="2 3\n0 0 0.25\n0 1 0.75\n1 1 1\n", srew="2 1\n0 1\n"), 0.5)
    assert np.array_equal(chain.mdp.P[:, 0], [[0.25, 0.75], [0.0, 1.0]])
    found = read_prism(store(tmp_path, tra="2 2 3\n0 0 0 [0.1,0.3]\n0 0 1 [0.5,1]\n1 0 1 [1,1]\n"), 0.5)
    assert found.intervals is not None
    assert np.array_equal(found.intervals.low[:, 0], [[0.1, 0.5], [0.0, 1.0]])
    assert np.array_equal(found.intervals.high[:, 0], [[0.3, 1.0], [0.0, 1.0]])
    assert (found.intervals.low <= found.mdp.P).all()
    assert (found.intervals.high >= found.mdp.P).all()


@given(mdp=mdps(max_states=4, max_actions=3))
@profiles.examples(25)
def test_round_trips(mdp: MDP, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("models")
    sparse = MDP(SparseRows(mdp.rows.offsets, mdp.rows.successors, mdp.rows.probabilities), mdp.cost, mdp.gamma)
    for each in (mdp, sparse):
        write_npz(folder / "model.npz", each)
        assert read_npz(folder / "model.npz").hash == mdp.hash
        assert read_npz(folder / "model.npz").is_sparse == each.is_sparse
        assert read_npz(folder / "model.npz", 0.25).gamma == 0.25
        write_prism(folder / "model.tra", each, labels={"init": [0]})
        assert read_prism(folder / "model.tra", mdp.gamma).mdp.hash == mdp.hash
        assert read_prism(folder / "model.tra", mdp.gamma).labels == {"init": (0,)}
    around = Interval.around(mdp.P, 0.125)
    write_prism(folder / "model.tra", mdp, intervals=around)
    assert read_prism(folder / "model.tra", mdp.gamma).intervals == around
    again = from_toy_text(
        "again", to_toy_text(mdp), np.eye(mdp.n_states)[0], gamma=mdp.gamma, interpretation="continuing"
    )
    assert np.allclose(again.mdp.P, mdp.P, rtol=0.0, atol=2.0**-50)
    assert np.allclose(again.mdp.cost, mdp.cost, rtol=2.0**-48, atol=0.0)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (
            {"tra": ROBOT.replace("3 4 6", "3 4 7")},
            "robot.tra: the first line says [3, 4, 7], but there are 4 choices and 6",
        ),
        ({"tra": ROBOT.replace("3 4 6", "3")}, "line 2: the first line must be `states choices transitions`"),
        ({"tra": ""}, "robot.tra: the first line must be"),
        ({"tra": ROBOT.replace("2/5", "2/0")}, "line 3: the probability must not have the denominator 0, got '2/0'"),
        ({"tra": ROBOT.replace("2/5", "nan")}, "line 3: the probability must be a number or a fraction, got 'nan'"),
        ({"tra": ROBOT.replace("2/5", "1e999")}, "line 3: the probability must be finite"),
        ({"tra": ROBOT.replace("2/5", "[0.1,0.4]")}, "either all probabilities must be intervals or none"),
        ({"tra": ROBOT.replace("2/5", "0.41")}, "transition row (s=0, a=0) sums to 1.01, not 1"),
        (
            {"tra": ROBOT.replace("2/5 east", "2/5 west")},
            "line 4: choice 0 of state 0 must have one action, got 'east'",
        ),
        ({"tra": ROBOT.replace("0 1 1", "0 2 1")}, "the first line says"),
        ({"tra": ROBOT.replace("1 0 2 1", "1 0 3 1")}, "line 7: the target must be below 3, got 3"),
        ({"tra": ROBOT.replace("1 0 2 1", "1 0 2")}, "line 7: the probability must be a number or a fraction"),
        ({"tra": ROBOT.replace("0 1 2 5e-1", "0 1 1 5e-1")}, "line 6: the transition 0 1 1 is there twice"),
        ({"tra": ROBOT.replace("1 0 2 1 east\n", "").replace("3 4 6", "3 3 5")}, "state 1 must have a transition"),
        (
            {"tra": "1 1 1\n0 0 0 [0.1,0.2]\n", "srew": "1 0\n"},
            "the intervals of (s=0, a=0) must contain a distribution",
        ),
        ({"tra": "1 1 1\n0 0 0 [0.2,0.1]\n"}, "line 2: an interval must have 0 <= low <= high <= 1, got '[0.2,0.1]'"),
        ({"srew": STATE.replace("0 2.5", "9 2.5")}, "robot.srew, line 4: must be a state or transition of the model"),
        ({"srew": STATE.replace("3 2", "4 2")}, "robot.srew: the first line says [4, 2]; there are 3 states"),
        (
            {"trew": MOVES.replace("0 1 1 4", "0 1 0 4")},
            "robot.trew, line 3: must be a state or transition of the model",
        ),
        ({"lab": LABELS.replace("0: 0", "0: 7")}, "robot.lab, line 2: must be `state: label label …`"),
    ],
)
def test_bad_files_of_prism(texts: dict[str, str], message: str, tmp_path: Path) -> None:
    path = store(tmp_path, **({"tra": ROBOT, "srew": STATE} | texts))
    with pytest.raises(ValueError, match="robot") as caught:
        read_prism(path, 0.9)
    assert message in str(caught.value)


def test_rewards_must_be_there_and_fit_intervals(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"robot\.tra: there must be rewards beside it, robot\.srew or robot\.trew"):
        read_prism(store(tmp_path, tra=ROBOT), 0.9)
    path = store(tmp_path, tra="1 1 1\n0 0 0 [1,1]\n", trew="1 1 1\n0 0 0 2\n")
    assert read_prism(path, 0.5).mdp.cost == 2.0
    two = "2 2 3\n0 0 0 [0,1]\n0 0 1 [0,1]\n1 0 1 [1,1]\n"
    with pytest.raises(ValueError, match=r"all transitions of \(s=0, a=0\) must have one reward"):
        read_prism(store(tmp_path, tra=two, trew="2 2 1\n0 0 0 2\n"), 0.5)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"P": np.ones((1, 1, 1))}, "must have the arrays P, cost or cost, offsets"),
        ({"P": np.ones((1, 1, 1)), "cost": np.ones((1, 1))}, "gamma must be given: the file has none"),
        ({"P": np.ones((1, 1, 2)), "cost": np.ones((1, 1)), "gamma": 0.5}, "kernel must"),
        ({"P": np.array([[[None]]]), "cost": np.ones((1, 1)), "gamma": 0.5}, "allow_pickle"),
        ({"P": np.ones((1, 1, 1)), "cost": np.ones((1, 1)), "gamma": 1.5}, "gamma must"),
    ],
)
def test_bad_arrays(arrays: dict[str, Any], message: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "model.npz", **arrays)
    with pytest.raises(ValueError, match=r"model\.npz: ") as caught:
        read_npz(tmp_path / "model.npz")
    assert message in str(caught.value)


def test_an_npz_file_that_never_ends_or_needs_too_much_memory_is_refused(tmp_path: Path) -> None:
    """A named pipe would wait for a writer; the second file has 300 bytes and promises 7 TiB."""
    os.mkfifo(tmp_path / "pipe.npz")
    with pytest.raises(ValueError, match="must be a regular file"):
        read_npz(tmp_path / "pipe.npz", 0.9)
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**6, 10**6)})
    with zipfile.ZipFile(tmp_path / "large.npz", "w") as archive:
        for name in ("P", "cost"):
            archive.writestr(f"{name}.npy", header.getvalue())
    with pytest.raises(ValueError, match=r"large.npz: Unable to allocate"):
        read_npz(tmp_path / "large.npz", 0.9)
    with pytest.raises(ValueError, match=r"large.npz: its arrays must have at most 100 bytes"):
        read_npz(tmp_path / "large.npz", 0.9, largest=100)
