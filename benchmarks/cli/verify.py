"""`robust-core verify` and `robust-core replay`."""

import argparse
import contextlib
import io
import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.cli.conventions import (
    HOLDS,
    UNDECIDED,
    USAGE,
    VIOLATED,
    add_json,
    add_quiet,
    add_seed,
    painted,
    positive,
    progress,
    require_writable,
)
from benchmarks.cli.loading import loaded, require_promises, say
from robust_core.text import one_line

if TYPE_CHECKING:
    from properties.judging.verdict import Record
    from properties.process.isolation import Begun
    from robust_core.problem import Variant

INDENT = " " * 12


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """The two commands and their options."""
    verify = commands.add_parser(
        "verify",
        help="check variants against the laws that follow from their promises",
        description="Checks variants against the laws that follow from their promises: first the exact laws, then "
        "the statistical ones. Loading a variant executes its module.",
        epilog="example: robust-core verify my_variant.py",
    )
    verify.add_argument(
        "targets",
        nargs="*",
        metavar="TARGET",
        help="file.py[:NAME], package.module[:NAME] or a published name; default: all built in",
    )
    verify.add_argument("--installed", action="store_true", help="all variants that installed packages publish")
    add_json(verify)
    verify.add_argument("--junit", type=Path, metavar="FILE", help="write the records as JUnit XML too")
    verify.add_argument("--expected", type=Path, metavar="FILE", help="a TOML file of expected failures")
    verify.add_argument("--examples", type=positive, default=200, metavar="N", help="problems per law (default 200)")
    add_seed(verify, "which problems are generated and which samples are drawn")
    verify.add_argument(
        "--size", choices=("quick", "full"), default="quick", help="of the statistical laws (default quick)"
    )
    verify.add_argument("--no-statistics", action="store_true", help="the exact laws only")
    verify.add_argument("--strict", action="store_true", help="exit with 3 if anything is undecided")
    add_quiet(verify)
    verify.set_defaults(run=_verify)
    replay = commands.add_parser(
        "replay",
        help="judge a saved counterexample again",
        description="Judges a saved counterexample again. This loads, and so executes, the variant the file names.",
        epilog="example: robust-core replay .robust-core/counterexamples/contraction-1a2b3c4d.json",
    )
    replay.add_argument("file", type=Path, metavar="FILE", help="a counterexample written by verify")
    add_json(replay)
    add_quiet(replay)
    replay.set_defaults(run=_replay)


def _verify(options: argparse.Namespace) -> int:
    if options.junit is not None:
        require_writable("--junit", options.junit)
    found = _chosen(options)
    if options.expected is not None:
        _require_expectations(options.expected, found)
    records: list[Record] = []
    finished = False
    try:
        _collect(found, options, records)
        finished = True
    finally:
        # Ctrl-C loses nothing that was decided: the files hold every record so far.
        progress("")
        if options.junit is not None:
            from benchmarks.cli.junit import write

            write(records, options.junit, finished=finished)
    if not (options.json or options.quiet) and (text := summary(records)):
        print(text)
    if not records:
        names = ", ".join(one_line(variant.name) for variant in found.values())
        left_out = ", the statistical ones left out," if options.no_statistics else ""
        raise ValueError(f"nothing was verified: by kind, sets and promises no law{left_out} speaks of {names}")
    for record in records:
        if record.outcome == "undecided":
            print(f"warning: undecided: {one_line(record.variant)}: {record.law}: {record.evidence}", file=sys.stderr)
    return exit_code(records, strict=options.strict)


def _require_expectations(path: Path, found: "Mapping[str, Variant]") -> None:
    """Refuse a bad file of expected failures before the first variant is at work; entries of no variant are named."""
    from properties.judging.expectations import variants
    from properties.process.isolation import expectations

    for variant in found.values():
        expectations(path, variant)
    names = {variant.name for variant in found.values()}
    for number, name in variants(path).items():
        if name not in names:
            print(f"warning: {path}: entry {number}: no variant of this run is called {name!r}", file=sys.stderr)


def _chosen(options: argparse.Namespace) -> "dict[str, Variant]":
    """The variants that are named, those that are published with --installed, by default all built in."""
    from properties.process.loading import built_in, installed
    from properties.process.probe import probe

    found = loaded(options.targets)
    if options.installed:
        found |= installed(complain=_warn, before=partial(probe, waiting=say))
        progress("")
        require_promises(found)
        if not found:
            raise ValueError("--installed: no installed package publishes a variant")
    return found or built_in()


def _warn(text: str) -> None:
    progress("")
    print(f"warning: {text}", file=sys.stderr)


def _collect(found: "Mapping[str, Variant]", options: argparse.Namespace, records: list["Record"]) -> None:
    """Verify the variants one after the other; every record is shown and kept as it comes."""
    from properties.judging.counterexample import FOLDER
    from properties.judging.verification import on_untested
    from properties.process.isolation import Begun, verify_isolated
    from properties.statistics.suite import weight

    size = None if options.no_statistics else options.size
    total = None if size is None else weight(found.values(), size)
    for place, (target, variant) in enumerate(found.items(), start=1):
        output = _Output(f"{one_line(variant.name)} ({target})", as_json=options.json, quiet=options.quiet)
        for record in on_untested(variant, seed=options.seed):
            records.append(replace(record, target=target))
            output.show(records[-1])
        for message in verify_isolated(
            target,
            examples=options.examples,
            seed=options.seed,
            keep=FOLDER,
            expected=options.expected,
            size=size,
            weight=total,
        ):
            if isinstance(message, Begun):
                progress(_doing(message, place, len(found)))
                continue
            records.append(replace(message, target=target))
            output.show(records[-1])
        output.close()


class _Output:
    """What is printed of one variant: a table, with `quiet` only what does not hold, or the records themselves."""

    def __init__(self, title: str, *, as_json: bool, quiet: bool) -> None:
        self.title, self.as_json, self.quiet = title, as_json, quiet
        self.records: list[Record] = []
        if not (as_json or quiet):
            print(f"{title}\n  {'verdict':<9} {'law':<45} {'time':>8}  evidence")

    def show(self, record: "Record") -> None:
        """A record, as it comes; the quiet table begins with the first that does not hold."""
        progress("")
        if self.quiet and record.outcome == "holds":
            return
        self.records.append(record)
        if self.as_json:
            print(record.to_json(), flush=True)
        elif not (self.quiet and record.outcome == "blocked"):
            if self.quiet and self.title:
                print(self.title)
                self.title = ""
            print(_lines(record), flush=True)

    def close(self) -> None:
        """The counts under the table; in the quiet one, how many laws are blocked and why."""
        if self.as_json:
            return
        if not self.quiet:
            print(_verdict_on(self.records))
            return
        why = Counter(record.evidence for record in self.records if record.outcome == "blocked")
        if why:
            told = "; ".join(f"{count} {'law' if count == 1 else 'laws'}: {text}" for text, count in why.items())
            print(f"  {painted('blocked', sys.stdout, width=9)} {told}", flush=True)


def _verdict_on(records: Iterable["Record"]) -> str:
    """The line under the table of a variant: counts, and the first cause of what does not hold."""
    from properties.judging.verdict_table import counted

    records = list(records)
    line = f"  {counted(records)}"
    wrong = [record.law for record in records if record.outcome in ("violated", "error") and record.expected is None]
    return f"{line}; first cause: {wrong[0]}" if wrong else line


def _doing(begun: "Begun", variant: int, variants: int) -> str:
    of_variants = f"variant {variant}/{variants}, " if variants > 1 else ""
    return f"[{of_variants}law {begun.place}/{begun.total}] {begun}"


def _lines(record: "Record") -> str:
    """A row of the table; under a violation the two results side by side and how to see it again."""
    outcome = "expected" if record.expected else record.outcome
    lines = [f"  {painted(outcome, sys.stdout, width=9)} {record.law:<45} {record.seconds:6.2f} s  {record.evidence}"]
    if record.table:
        lines += [INDENT + line for line in record.table.splitlines()]
    if record.counterexample:
        lines.append(f"{INDENT}replay: robust-core replay {record.counterexample}")
    elif record.outcome == "violated" and record.statistics is not None:
        lines.append(f"{INDENT}the same samples again: robust-core verify {record.target} --seed {record.seed}")
    return "\n".join(lines)


def summary(records: Iterable["Record"]) -> str:
    """Counts over all variants, and what the statistical laws have spent of the run's error budget."""
    from properties.judging.verdict_table import counted
    from properties.statistics.budget import RUN_BUDGET

    records = list(records)
    cells = [record.statistics for record in records if record.statistics is not None]
    lines = [f"in all: {counted(records)}"] if len({(r.target, r.variant) for r in records}) != 1 else []
    if cells:
        spent = sum(cell.alpha for cell in cells)
        lines.append(f"error budget: spent {spent:.3g} of {RUN_BUDGET:g} over {len(cells)} cells")
    return "\n".join(lines)


def exit_code(records: Iterable["Record"], *, strict: bool) -> int:
    """The exit code that a set of records earns."""
    outcomes = {record.outcome for record in records if record.expected is None}
    if "violated" in outcomes:
        return VIOLATED
    if "error" in outcomes:
        return USAGE
    return UNDECIDED if strict and "undecided" in outcomes else HOLDS


def _replay(options: argparse.Namespace) -> int:
    from properties.process.replay import replay_isolated

    try:
        replay = replay_isolated(options.file, waiting=progress)
    finally:
        progress("")
    if replay is None:
        return _replay_of_claim(options)
    code = {"violated": VIOLATED, "error": USAGE}.get(replay.outcome, HOLDS)
    if options.quiet and code == HOLDS:
        return code
    if options.json:
        judgement = {"law": replay.law, "variant": replay.variant, "target": replay.target}
        judgement |= {"statement": replay.statement, "outcome": replay.outcome, "evidence": replay.evidence}
        print(json.dumps(judgement, ensure_ascii=False))
    else:
        print(f"{one_line(replay.variant)}: {replay.law}\n  {replay.statement}\n\n{replay.case}\n")
        print(f"{replay.outcome}{': ' * bool(replay.evidence)}{replay.evidence}\n{replay.table}".rstrip())
    return code


def _replay_of_claim(options: argparse.Namespace) -> int:
    from benchmarks.cli import claims
    from properties.judging.counterexample import Counterexample

    example, said = Counterexample.load(options.file), io.StringIO()
    with contextlib.redirect_stdout(said):
        code = claims.replay(example, as_json=options.json)
    if code is None:
        raise ValueError(f"{options.file}: no law {example.law!r}")
    if not options.quiet or code != HOLDS:
        print(said.getvalue(), end="")
    return code
