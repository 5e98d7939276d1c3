"""`python -m benchmarks.net freeze` records the results of the suite, `check` compares the present code with them."""

import argparse
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchmarks.cli.conventions import HOLDS, VIOLATED
from benchmarks.net import facts, rates, sizes
from benchmarks.net.facts import Difference, Fact
from benchmarks.net.parts import PARTS
from benchmarks.runner.pool import single_thread

FROZEN = Path(__file__).parent / "frozen"
SAMPLED: Mapping[str, Callable[[Mapping[str, str], Mapping[str, str]], list[Difference]]] = {
    "kills": rates.losses,
    "counterexamples": sizes.growths,
}
"""How parts are compared that depend on the cases that are drawn."""
VERSIONS = "versions"
"""The file that says with which libraries and on which processor the net was frozen."""


def _versions() -> dict[str, str]:
    from benchmarks.regression.bench import versions

    return facts.by_name(Fact(name, text) for name, text in versions().items())


def freeze(part: str, folder: Path) -> str:
    """Write the facts of a part; returns a line about them."""
    found = facts.by_name(PARTS[part]())
    facts.write(folder / f"{part}.json", found)
    return f"{part}: {len(found)} facts frozen"


def check(part: str, folder: Path, *, sampled: bool = False) -> list[Difference]:
    """The facts of a part that differ from the frozen ones; `sampled` compares the parts that depend on drawn cases."""
    before = facts.read(folder / f"{part}.json")
    after = facts.by_name(PARTS[part]())
    compare = SAMPLED.get(part) if sampled else None
    return facts.compare(before, after) if compare is None else compare(before, after)


def _warn_about_versions(folder: Path) -> None:
    """Other libraries or another processor may change bits: say so before the differences."""
    path = folder / f"{VERSIONS}.json"
    if path.exists():
        for difference in facts.compare(facts.read(path), _versions()):
            sys.stderr.write(f"warning: not the machine or the libraries of the net: {difference}\n")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.net",
        description="Records what the suite computes, and shows that a refactoring changes none of it.",
    )
    parser.add_argument("action", choices=("freeze", "check"), help="write the facts, or compare with them (exit 1)")
    parser.add_argument("--only", action="append", choices=tuple(PARTS), help="a part, may be repeated (default: all)")
    parser.add_argument("--folder", type=Path, default=FROZEN, help="the frozen files (default: the committed ones)")
    parser.add_argument(
        "--sampled",
        action="store_true",
        help="after a change of the generator: compare hit rates by an exact test, kill sets exactly, and let one "
        "counterexample in a hundred be larger",
    )
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    options = _parser().parse_args(arguments)
    single_thread()
    if options.action == "freeze":
        facts.write(options.folder / f"{VERSIONS}.json", _versions())
    else:
        _warn_about_versions(options.folder)
    differences = 0
    for part in options.only or PARTS:
        started = time.process_time()
        if options.action == "freeze":
            line = freeze(part, options.folder)
        else:
            found = check(part, options.folder, sampled=options.sampled)
            differences += len(found)
            line = "\n".join([*map(str, found), f"{part}: {len(found)} differences"])
        sys.stdout.write(f"{line} ({time.process_time() - started:.0f} s of processor time)\n")
        sys.stdout.flush()
    return VIOLATED if differences else HOLDS


if __name__ == "__main__":
    sys.exit(main())
