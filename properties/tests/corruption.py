"""Valid files, spoiled: slips in the parsed value, damage to the bytes; and what a loader may do with them."""

import contextlib
import json
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from properties.judging.guard import call_observed, watch
from robust_core.text import LONGEST_REASON

Loader = Callable[[Path], object]

HUGE = 10**9
DEEP = b"[" * 2000 + b"]" * 2000
# What a field may hold instead: other types, numbers beyond a range, sizes that would fill the memory, hostile text.
VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, HUGE, 2**63 - 1, 2**63, 2**64, -(2**63), 10**400, 0.5, -0.0, 1e308, 5e-324,
    float("nan"), float("inf"), -float("inf"), "", "x", "0.5", "\x1b[2J", "\ud800", "\x00", "../../etc", "/dev/zero",
    "é" * 300, [], {}, [[]], [[], [1]], [1, [2]], [0.5, "x"], [None], [HUGE] * 3, [True], {"list": []},
    {"number": None}, {"floats": [[1], [2, 3]]}, {"ints": [0.5]}, {"mdp": {}}, {"set": {"kind": []}},
    {"text": 1}, {"__class__": "os"},
)  # fmt: skip
JUNK = (b"\x00", b"\xff", b"\xfe\xff", b"\xc3\x28", b"\xef\xbb\xbf", b"\r", b'"', b"\\", b"{", b"[", b"]]", b"}", b",")
NUMBERS = (b"9" * 400, b"9" * 5000, b"1e999", b"-1e999", b"1" + b"0" * 9, b"NaN", b"Infinity", b"0x" + b"f" * 5000)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every node of a JSON value."""
    yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, child in children:
        yield from places(child, (*path, name))


def spoiled(value: Any, rng: random.Random) -> Any:
    """A copy of a JSON value with one node replaced, removed, added, doubled or exchanged for another node."""
    copy = json.loads(json.dumps(value))
    paths = list(places(copy))
    path = rng.choice(paths)
    if not path:
        return rng.choice(VALUES)
    parent = _at(copy, path[:-1])
    act = rng.randrange(6)
    if act == 0:
        del parent[path[-1]]
    elif act == 1 and isinstance(parent, dict):
        parent[rng.choice(["", "extra", "__class__", "format", "P", "\x1b"])] = rng.choice(VALUES)
    elif act == 2 and isinstance(parent, list):
        parent.insert(rng.randrange(len(parent) + 1), _at(value, path))
    elif act == 3:
        parent[path[-1]] = json.loads(json.dumps(_at(value, rng.choice(paths))))
    else:
        parent[path[-1]] = rng.choice(VALUES)
    return copy


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for name in path:
        value = value[name]
    return value


def damaged(content: bytes, rng: random.Random) -> bytes:
    """The bytes cut, flipped, doubled, or with junk, a monstrous number or deep nesting put in."""
    start = rng.randrange(len(content) + 1)
    end = min(len(content), start + rng.randrange(1, 40))
    middle: Callable[[], bytes] = rng.choice([
        lambda: rng.choice(JUNK),
        lambda: rng.choice(NUMBERS),
        lambda: content[start:end] * 2,
        lambda: rng.randbytes(end - start),
        lambda: DEEP,
        lambda: b"",
    ])  # fmt: skip
    return content[:start] if rng.randrange(6) == 0 else content[:start] + middle() + content[end:]


def corrupted(value: Any, written: Callable[[Any], bytes], rng: random.Random) -> bytes:
    """A valid value with one to three corruptions, as the bytes of a file."""
    for _ in range(rng.randrange(3)):
        value = spoiled(value, rng)
    content = written(value)
    return damaged(content, rng) if rng.randrange(2) else content


# A file of a few kilobytes is read in milliseconds; the slowest are those that numpy or TOML take apart.
SECONDS_PER_FILE = 2.0
SECONDS_PER_TEST = 120.0
EXTRA_MEMORY = 1 << 29


def as_json(value: Any) -> bytes:
    return json.dumps(value).encode()


@contextlib.contextmanager
def limited_memory() -> Iterator[None]:
    """Any allocation of half a gigabyte is a MemoryError, where the system can say so."""
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + EXTRA_MEMORY, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)


def fuzz(value: Any, written: Callable[[Any], bytes], load: Loader, path: Path, inputs: int) -> tuple[int, int]:
    """How many of the corrupted files were loaded and how many refused; anything else is an error."""
    rng, loaded = random.Random(str(path.name)), 0
    for number in range(inputs):
        content = corrupted(value, written, rng)
        path.write_bytes(content)
        started = time.process_time()
        try:
            load(path)
            loaded += 1
        except ValueError as error:
            complaint(path, str(error))
        except BaseException as error:
            raise AssertionError(f"input {number}: {type(error).__name__}: {error}\n{content[:2000]!r}") from error
        spent = time.process_time() - started
        assert spent < SECONDS_PER_FILE, f"input {number} took {spent:.1f} s:\n{content[:2000]!r}"
    return loaded, inputs - loaded


def complaint(path: Path, message: str) -> None:
    """A refusal names the file (a model in JSON text has none) and the rule, and is short."""
    assert message.startswith((f"{path}: ", f"{path}, line ", "not an MDP in JSON: ")), message[:400]
    assert len(message) < len(str(path)) + 2 * LONGEST_REASON, message[:400]


def survived(value: Any, written: Callable[[Any], bytes], load: Loader, path: Path, inputs: int) -> None:
    """Every corrupted file is loaded or refused, within the limits of time and memory."""
    counts: list[int] = []
    with limited_memory():
        finding = watch(
            lambda: call_observed(counts.extend, fuzz(value, written, load, path, inputs)), seconds=SECONDS_PER_TEST
        )
    assert finding is None
    loaded, refused = counts
    # Both happen often, or the corruptions are too mild or too wild to test anything.
    assert loaded > inputs // 50, counts
    assert refused > inputs // 2, counts
