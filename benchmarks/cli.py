"""The command line: `robust-core verify`, `robust-core replay`."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from properties.verdict import Record

HOLDS, VIOLATED, USAGE, UNDECIDED = 0, 1, 2, 3
FINDINGS = Path(".robust-core") / "counterexamples"


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    options = _parser().parse_args(arguments)
    try:
        return int(options.run(options))
    except (ValueError, OSError, ImportError) as error:
        print(f"robust-core: {error}", file=sys.stderr)
        return USAGE
    except KeyboardInterrupt:
        print("robust-core: interrupted; the records above are complete", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="robust-core",
        description="Tells whether a robust reinforcement-learning algorithm does what its theorems say.",
        epilog="exit codes: 0 holds, 1 violated, 2 usage or internal error, 3 undecided under --strict",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    verify = commands.add_parser(
        "verify",
        help="check variants against the laws they claim to obey",
        description="Checks variants against the laws they claim to obey. Loading a variant executes its module.",
        epilog="example: robust-core verify my_variant.py",
    )
    verify.add_argument(
        "targets", nargs="*", metavar="TARGET", help="package.module:NAME or file.py[:NAME]; default: all built in"
    )
    verify.add_argument("--json", action="store_true", help="one JSON record per line instead of a table")
    verify.add_argument("--examples", type=_positive, default=200, metavar="N", help="problems per law (default 200)")
    verify.add_argument("--seed", type=int, default=0, help="which problems are generated (default 0)")
    verify.add_argument("--strict", action="store_true", help="exit with 3 if anything is undecided")
    verify.set_defaults(run=_verify)
    replay = commands.add_parser("replay", help="judge a saved counterexample again")
    replay.add_argument("file", type=Path, help="a counterexample written by verify")
    replay.set_defaults(run=_replay)
    return parser


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {number}")
    return number


def _verify(options: argparse.Namespace) -> int:
    from properties.loading import built_in, load
    from properties.verify import verify

    found = {key: variant for target in options.targets for key, variant in load(target).items()} or built_in()
    records: list[Record] = []
    for name, variant in found.items():
        if not options.json:
            print(f"{variant.name} ({name})")
        for record in verify(variant, name=name, examples=options.examples, seed=options.seed, keep=FINDINGS):
            records.append(record)
            print(record.to_json() if options.json else _line(record), flush=True)
    return _exit_code(records, strict=options.strict)


def _line(record: "Record") -> str:
    line = f"  {record.outcome:<9} {record.law:<24} {record.seconds:6.2f} s  {record.evidence}"
    if record.counterexample:
        line += f"\n            replay: robust-core replay {record.counterexample}"
    return line


def _exit_code(records: list["Record"], *, strict: bool) -> int:
    outcomes = {record.outcome for record in records}
    if "violated" in outcomes:
        return VIOLATED
    if "error" in outcomes:
        return USAGE
    if "undecided" in outcomes:
        print("warning: some laws are undecided", file=sys.stderr)
        return UNDECIDED if strict else HOLDS
    return HOLDS


def _replay(options: argparse.Namespace) -> int:
    from properties.counterexample import Counterexample, described
    from properties.laws import LAWS
    from properties.loading import load
    from properties.search import judged

    example = Counterexample.load(options.file)
    law = next((law for law in LAWS if law.name == example.law), None)
    if law is None:
        raise ValueError(f"{options.file}: no law {example.law!r}")
    (variant,) = load(example.variant).values()
    finding = judged(law, variant, example.case)
    print(f"{variant.name}: {law.name}\n  {law.statement}\n\n{described(example.case)}\n")
    print("holds" if finding is None else f"violated: {finding}")
    return HOLDS if finding is None else VIOLATED
