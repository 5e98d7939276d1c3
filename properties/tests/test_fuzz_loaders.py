"""No file takes the suite down: what is loaded is valid, everything else is refused with the file and the rule."""

import ast
import contextlib
import json
import os
import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from properties.claims import evidence
from properties.judging.blame import CannotBeJudged
from properties.judging.counterexample import Counterexample, describe
from properties.judging.expectations import read
from properties.judging.guard import call_observed, watch
from properties.judging.verification import applicable
from properties.process.loading import gallery_variants
from properties.tests.corruption import (
    SECONDS_PER_FILE,
    Loader,
    as_json,
    complaint,
    fuzz,
    limited_memory,
    places,
    survived,
)
from robust_core import MDP, Contamination, StepSize
from robust_core.json import LARGEST_FILE

MODEL = MDP([[[0.5, 0.5]], [[0.0, 1.0]]], [[1.0], [0.0]], 0.5, state_names=["dry", "wet"], action_names=["go"])
LAW = "unbiased step"
CASE = {
    "mdp": MODEL,
    "uncertainty_set": Contamination(0.5),
    "step_size": StepSize(0.5),
    "initial": np.array([[0.5], [0.0]]),
    "path": [(0, 0, 1.0, 1, 0, False)],
    "s": 0,
    "a": 0,
}
EXAMPLE = Counterexample(LAW, "module:NAME", CASE, "got 1, wanted 2")
ENTRY = {"law": LAW, "reason": "known", "expires": "2100-01-01", "counterexample": "example.json"}


def as_toml(value: Any) -> bytes:
    """`expected` as tables; dates without quotes."""
    entries = value.get("expected") if isinstance(value, dict) else None
    if not isinstance(entries, list):
        return b"expected = " + as_json(value)
    lines = []
    for entry in entries:
        lines.append("[[expected]]")
        lines += [f"{key} = {json.dumps(x)}" for key, x in (entry.items() if isinstance(entry, dict) else ())]
    return "\n".join(lines).replace('"2100-01-01"', "2100-01-01").encode()


def load_mdp(path: Path) -> object:
    """`from_json` knows no file: the text is read as any text."""
    with contextlib.suppress(UnicodeDecodeError):
        mdp = MDP.from_json(path.read_text(encoding="utf-8"))
        return str(mdp), mdp.to_json()
    return None


def load_counterexample(path: Path) -> object:
    example = Counterexample.load(path)
    shown = describe(example.case)
    assert all(c.isprintable() or c == "\n" for c in shown + example.law + example.variant), "it steers the terminal"
    return shown, example.to_json()


def load_expectations(path: Path) -> object:
    (path.parent / "example.json").write_text(EXAMPLE.to_json())
    return read(path, [LAW, "contraction"])


SUBJECTS: dict[str, tuple[Any, Callable[[Any], bytes], Loader, int]] = {
    "dense model": (MODEL.to_dict(), as_json, load_mdp, 2500),
    "sparse model": (MDP(MODEL.rows, MODEL.cost, 0.5).to_dict(), as_json, load_mdp, 2500),
    "counterexample": (json.loads(EXAMPLE.to_json()), as_json, load_counterexample, 3000),
    "expectations": ({"expected": [ENTRY]}, as_toml, load_expectations, 1500),
    "evidence": ({"sup-sample": asdict(evidence.Evidence("holds", 200, 0.5))}, as_json, evidence.read, 1500),
}


@pytest.mark.parametrize("subject", SUBJECTS)
def test_corrupted_files_are_loaded_or_refused(subject: str, tmp_path: Path) -> None:
    value, written, load, inputs = SUBJECTS[subject]
    survived(value, written, load, tmp_path / subject, inputs)


def test_there_are_ten_thousand_inputs() -> None:
    assert sum(inputs for *_, inputs in SUBJECTS.values()) >= 10_000


def careless_json(path: Path) -> object:
    return json.loads(path.read_text(encoding="utf-8"))["case"]["mdp"]["mdp"]["cost"][0]


def careless_text(path: Path) -> object:
    try:
        return MDP.from_dict(json.loads(path.read_text(encoding="utf-8")))
    except TypeError as error:
        raise ValueError(f"{path}: {error}") from None


def greedy(path: Path) -> object:
    return bytearray(1 << 30), Counterexample.load(path)


@pytest.mark.parametrize("load", [careless_json, careless_text, greedy])
def test_a_careless_loader_is_caught(load: Loader, tmp_path: Path) -> None:
    value, written, _, _ = SUBJECTS["counterexample"]
    with limited_memory(), pytest.raises(AssertionError):
        fuzz(value, written, load, tmp_path / "counterexample", 300)


@pytest.fixture(params=["directory", "named pipe", "endless", "oversized", "chased by itself"])
def special(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "special"
    if request.param == "directory":
        path.mkdir()
    elif request.param == "named pipe":
        os.mkfifo(path)
    elif request.param == "endless":
        path.symlink_to("/dev/zero")
    elif request.param == "chased by itself":
        path.symlink_to(path)
    else:
        with path.open("wb") as file:
            file.truncate(1 << 40)  # it takes no space on the disk
    return path


@pytest.mark.parametrize("load", [Counterexample.load, load_expectations, evidence.read])
def test_what_is_no_small_regular_file_is_refused(special: Path, load: Loader) -> None:
    def attempt() -> None:
        with pytest.raises(ValueError, match=r"regular file|at most .* bytes|symbolic links") as caught:
            load(special)
        complaint(special, str(caught.value))

    with limited_memory():
        assert watch(lambda: call_observed(attempt)) is None


def test_a_link_to_a_good_file_is_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(EXAMPLE.save(tmp_path))
    assert Counterexample.load(tmp_path / "link").law == LAW


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nowhere\.json"):
        Counterexample.load(tmp_path / "nowhere.json")


@pytest.mark.parametrize("character", "[{")
def test_the_largest_file_of_nothing_but_nesting_or_empty_lists(character: str, tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    for text in (character * LARGEST_FILE, "[" + "[]," * (LARGEST_FILE // 3 - 2) + "1]"):
        path.write_text(text)
        with limited_memory(), pytest.raises(ValueError, match=r"large\.json: "):
            Counterexample.load(path)


def test_the_largest_expectations_of_nothing_but_dots(tmp_path: Path) -> None:
    """The worst known case of TOML parsers: the time grows with the square of the length."""
    path = tmp_path / "dots.toml"
    path.write_text(".".join("a" * (1 << 14))[: (1 << 15) - 4] + " = 1")
    started = time.process_time()
    with pytest.raises(ValueError, match=r"dots\.toml: "):
        load_expectations(path)
    assert time.process_time() - started < SECONDS_PER_FILE


def test_offsets_that_wrap_around_are_refused() -> None:
    """Four steps of nearly 2^63 come back to 1: each looks like a rise."""
    data = MDP(MODEL.rows, MODEL.cost, 0.5).to_dict()
    data |= {
        "cost": [[0.0]] * 4,
        "offsets": [0, 2**63 - 1, -2, 3, 3],
        "successors": [0] * 3,
        "probabilities": [1.0] * 3,
    }
    with limited_memory(), pytest.raises(ValueError, match="offsets must rise from 0 to 3 in 4 steps"):
        MDP.from_json(json.dumps(data))


@pytest.mark.parametrize("file", ["/etc/hostname", "../example.json", "a/../../example.json", "gone.json", "a\\u0000b"])
def test_expectations_point_at_nothing_outside_their_folder(file: str, tmp_path: Path) -> None:
    path = tmp_path / "folder" / "expected.toml"
    path.parent.mkdir()
    (tmp_path / "example.json").write_text(EXAMPLE.to_json())
    path.write_bytes(as_toml({"expected": [ENTRY]}).replace(b"example.json", file.encode()))
    with pytest.raises(ValueError, match=r"entry 1: (counterexample|.*null)") as caught:
        read(path, [LAW])
    complaint(path, str(caught.value))


# --- a file that is loaded accuses no right variant

RIGHT = {key.rpartition(":")[0].rpartition(".")[2]: variant for key, variant in gallery_variants().items()}
SLIPS = 3
NUMBERS: tuple[Any, ...] = (0, 1, -1, 2, 7, 0.5, -0.25, 3.0, 1e-300, 1e300, 2.0**-30, 10**9, True, False)
TAGGED: tuple[Any, ...] = (
    {"number": 0}, {"number": 1.5}, {"floats": [0.5, 0.5]}, {"floats": [[1.0]]}, {"ints": [0]}, {"list": []},
    {"text": "Q"}, {"set": {"kind": "total_variation", "radius": 0.5}}, {"mellowmax": 1.0},
)  # fmt: skip


def at(value: Any, path: tuple[Any, ...]) -> Any:
    for name in path:
        value = value[name]
    return value


def slipped(case: dict[str, Any], rng: random.Random) -> None:
    """One slip in a case: a number, the length or the axes of something, its type, or its name."""
    name = rng.choice(sorted(case))
    lists = [path for path in places(case[name]) if path and isinstance(at(case[name], path), list)]
    numbers = [path for path in places(case[name]) if path and isinstance(at(case[name], path), (int, float))]
    act = rng.randrange(10)
    if act == 0:
        case[rng.choice(["zzz", "Q", "other", "policy", "projection", "steps"])] = case.pop(name)
    elif act == 1:
        case[rng.choice(["zzz", "policy", "features", "other", "projection", "s"])] = rng.choice(TAGGED)
    elif act == 2:
        case[name] = rng.choice(TAGGED)
    elif act == 3:
        case[name] = case[rng.choice(sorted(case))]
    elif act in (4, 5) and lists:
        items = at(case[name], rng.choice(lists))
        if act == 4 and items:
            items.append(items[0])
        elif items:
            items.pop(rng.randrange(len(items)))
    elif numbers:
        *above, last = rng.choice(numbers)
        at(case[name], tuple(above))[last] = rng.choice(NUMBERS)


@pytest.mark.parametrize("name", RIGHT)
def test_a_slip_in_a_case_is_refused_or_judged_rightly(name: str, tmp_path: Path) -> None:
    variant, rng = RIGHT[name], random.Random(name)
    kept = tmp_path / "slip.json"
    outcomes: Counter[str] = Counter()

    def outcome(data: Any) -> str:
        changed = json.loads(json.dumps(data))
        slipped(changed["case"], rng)
        kept.write_bytes(as_json(changed))
        try:
            example = Counterexample.load(kept)
        except ValueError as error:
            complaint(kept, str(error))
            return "refused"
        try:
            finding = example.replay(variant)
        except (ValueError, CannotBeJudged):
            return "not judged"
        assert finding is None, f"{finding}\n{example}"
        return "judged"

    for law in applicable(variant):
        if not law.large:
            for case in islice(law.cases_of(variant), 4):
                data = json.loads(Counterexample(law.name, "module:NAME", case.entries(), "").to_json())
                outcomes.update(outcome(data) for _ in range(SLIPS))
    assert outcomes["refused"] > outcomes["judged"] // 2, outcomes
    assert outcomes["judged"] > 0, outcomes


# --- nothing is unpickled, no data file is evaluated

ROOT = Path(__file__).parent.parent.parent
PACKAGES = ("robust_core", "oracles", "properties", "benchmarks")
UNPICKLERS = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib", "yaml"}
EVALUATORS = {"eval", "exec", "compile", "__import__"}
ON_PURPOSE = {
    "benchmarks/documents/variants.py",  # the examples of the contract, modules of the package
    "properties/process/loading.py",  # a mutated source of the user's own file, in a worker
    "benchmarks/runner/pool.py",  # whether an exception of its own worker can be sent
}


def executions(source: str) -> list[str]:
    """The imports and calls in a module by which data could become code."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if alias.name.partition(".")[0] in UNPICKLERS]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in UNPICKLERS:
            found.append(str(node.module))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in EVALUATORS:
            found.append(node.func.id)
        elif isinstance(node, ast.keyword) and node.arg == "allow_pickle" and ast.unparse(node.value) != "False":
            found.append("allow_pickle")
    return found


def test_no_module_turns_data_into_code() -> None:
    modules = [path for name in PACKAGES for path in (ROOT / name).rglob("*.py") if "tests" not in path.parts]
    assert len(modules) > 100
    found = {path.relative_to(ROOT).as_posix() for path in modules if executions(path.read_text(encoding="utf-8"))}
    assert found == ON_PURPOSE


@pytest.mark.parametrize(
    "source", ["import pickle", "from yaml import load", "eval(text)", "exec(code)", "np.load(f, allow_pickle=some)"]
)
def test_code_that_executes_data_is_noticed(source: str) -> None:
    assert executions(source)
