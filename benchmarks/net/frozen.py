"""The frozen facts of every part: written by `robust-core net freeze`, compared by `robust-core net check`."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from benchmarks.net import facts, sizes
from benchmarks.net.facts import Difference, Fact
from benchmarks.net.parts import PARTS

FOLDER = Path(__file__).parent / "frozen"
SAMPLED: Mapping[str, Callable[[Mapping[str, str], Mapping[str, str]], list[Difference]]] = {
    "counterexamples": sizes.growths,
}
"""How parts are compared that depend on the cases that are drawn."""
VERSIONS = "versions"
"""The file that says with which libraries and on which processor the net was frozen."""


def freeze(part: str, folder: Path) -> int:
    """Write the facts of a part; returns how many there are."""
    found = facts.by_name(PARTS[part]())
    facts.write(folder / f"{part}.json", found)
    return len(found)


def check(part: str, folder: Path, *, sampled: bool = False) -> list[Difference]:
    """The facts of a part that differ from the frozen ones; `sampled` compares the parts that depend on drawn cases."""
    before = facts.read(folder / f"{part}.json")
    after = facts.by_name(PARTS[part]())
    compare = SAMPLED.get(part, facts.compare) if sampled else facts.compare
    return compare(before, after)


def require_frozen(parts: Iterable[str], folder: Path) -> None:
    """Refuse a part of which nothing is frozen."""
    if missing := [part for part in parts if not (folder / f"{part}.json").is_file()]:
        raise ValueError(f"{folder} has nothing frozen for {', '.join(missing)}: freeze it first")


def freeze_versions(folder: Path) -> None:
    """Write with which libraries and on which processor the facts are collected."""
    facts.write(folder / f"{VERSIONS}.json", _versions())


def check_versions(folder: Path) -> list[Difference]:
    """The libraries, and the processor, that are not those of the frozen facts: they may change bits."""
    path = folder / f"{VERSIONS}.json"
    return facts.compare(facts.read(path), _versions()) if path.exists() else []


def _versions() -> dict[str, str]:
    from benchmarks.regression.bench import versions

    return facts.by_name(Fact(name, text) for name, text in versions().items())
