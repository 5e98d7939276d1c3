"""`robust-core verify` and `robust-core replay`."""

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.cli_conventions import HOLDS, UNDECIDED, USAGE, VIOLATED, positive

if TYPE_CHECKING:
    from properties.verdict import Record

FINDINGS = Path(".robust-core") / "counterexamples"


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """The two commands and their options."""
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
    verify.add_argument("--junit", type=Path, metavar="FILE", help="write the records as JUnit XML too")
    verify.add_argument("--expected", type=Path, metavar="FILE", help="a TOML file of expected failures")
    verify.add_argument("--examples", type=positive, default=200, metavar="N", help="problems per law (default 200)")
    verify.add_argument("--seed", type=int, default=0, help="which problems are generated (default 0)")
    verify.add_argument("--strict", action="store_true", help="exit with 3 if anything is undecided")
    verify.add_argument("--quiet", action="store_true", help="only what does not hold")
    verify.set_defaults(run=_verify)
    replay = commands.add_parser("replay", help="judge a saved counterexample again")
    replay.add_argument("file", type=Path, help="a counterexample written by verify")
    replay.set_defaults(run=_replay)


def _verify(options: argparse.Namespace) -> int:
    from properties.isolation import verify_isolated
    from properties.loading import built_in, load

    found = {key: variant for target in options.targets for key, variant in load(target).items()} or built_in()
    records: list[Record] = []
    try:
        for target, variant in found.items():
            if not (options.json or options.quiet):
                print(f"{variant.name} ({target})")
            for message in verify_isolated(
                target, examples=options.examples, seed=options.seed, keep=FINDINGS, expected=options.expected
            ):
                if isinstance(message, str):
                    _show_progress(message)
                else:
                    records.append(message)
                    _show(message, options)
    finally:
        # Ctrl-C loses nothing that was decided: the files hold every record so far.
        _show_progress("")
        if options.junit is not None:
            from benchmarks.junit import write

            write(records, options.junit)
    if not (options.json or options.quiet):
        print(_summary(records))
    return exit_code(records, strict=options.strict)


def _show_progress(law: str) -> None:
    """The law at work, on a terminal only, where the next line overwrites it."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\033[K{f'  …         {law}' if law else ''}")
        sys.stderr.flush()


def _show(record: "Record", options: argparse.Namespace) -> None:
    _show_progress("")
    if options.json:
        print(record.to_json(), flush=True)
    elif not options.quiet or record.outcome != "holds":
        print(_line(record), flush=True)


def _line(record: "Record") -> str:
    outcome = "expected" if record.expected else record.outcome
    line = f"  {outcome:<9} {record.law:<28} {record.seconds:6.2f} s  {record.evidence}"
    if record.counterexample:
        line += f"\n            replay: robust-core replay {record.counterexample}"
    return line


def _summary(records: Iterable["Record"]) -> str:
    counts: dict[str, int] = {}
    for record in records:
        outcome = "expected" if record.expected else record.outcome
        counts[outcome] = counts.get(outcome, 0) + 1
    return ", ".join(f"{count} {outcome}" for outcome, count in counts.items()) or "nothing to verify"


def exit_code(records: Iterable["Record"], *, strict: bool) -> int:
    """The exit code that a set of records earns."""
    outcomes = {record.outcome for record in records if record.expected is None}
    if "violated" in outcomes:
        return VIOLATED
    if "error" in outcomes:
        return USAGE
    if "undecided" in outcomes:
        print("warning: some laws are undecided", file=sys.stderr)
        return UNDECIDED if strict else HOLDS
    return HOLDS


def _replay(options: argparse.Namespace) -> int:
    from benchmarks import cli_claims
    from properties.counterexample import Counterexample, described
    from properties.laws import LAWS
    from properties.loading import load
    from properties.search import judged

    example = Counterexample.load(options.file)
    to_claim = cli_claims.replay(example)
    if to_claim is not None:
        return to_claim
    law = next((law for law in LAWS if law.name == example.law), None)
    if law is None:
        raise ValueError(f"{options.file}: no law {example.law!r}")
    (variant,) = load(example.variant).values()
    finding = judged(law, variant, example.case)
    print(f"{variant.name}: {law.name}\n  {law.statement}\n\n{described(example.case)}\n")
    print("holds" if finding is None else f"violated: {finding}\n{finding.side_by_side()}".rstrip())
    return HOLDS if finding is None else VIOLATED
