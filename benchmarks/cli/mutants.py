"""`robust-core mutants`: the kill matrix."""

import argparse
import contextlib
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from benchmarks.cli.conventions import (
    HOLDS,
    VIOLATED,
    add_quiet,
    add_seed,
    positive,
    progress,
    report_loading,
    stopped_between,
    table_width,
)
from robust_core.text import one_line

if TYPE_CHECKING:
    from benchmarks.mutants import mechanical
    from benchmarks.mutants.matrix import Kill, Mutant

    Judge = Callable[..., Iterator[Kill]]


def add_parser(commands: Any) -> None:
    """Add the command to a parser."""
    parser = commands.add_parser(
        "mutants",
        help="which law catches which wrong algorithm",
        description="Judges the mutants (wrong algorithms on purpose) by every law that applies to them. "
        "An entry of the matrix is the number of problems up to the first violation. "
        "With --of, the mutants are small changes of your own variant, and the survivors are shown. "
        "Exit code 1: a mutant is alive.",
        epilog="example: robust-core mutants properties.variants.mutants.support",
    )
    parser.add_argument(
        "targets",
        nargs="*",
        metavar="TARGET",
        help="file.py[:NAME], package.module[:NAME] or a published name; default: all built in",
    )
    parser.add_argument("--of", metavar="TARGET", help="mutate the source of this file.py[:NAME] instead")
    parser.add_argument("--json", action="store_true", help="one JSON record per mutant and law")
    parser.add_argument("--examples", type=positive, default=60, metavar="N", help="problems per law (default 60)")
    add_seed(parser)
    add_quiet(parser, "print only mutants that are alive")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    from benchmarks.mutants.matrix import Table, summary, survivors

    if options.of is not None:
        return _mutate(options)
    tables = not (options.json or options.quiet)
    kills: list[Kill] = []
    with _source(options.targets) as (found, judge):
        for kind in dict.fromkeys(mutant.kind for mutant in found.values()):
            mutants = {key: mutant for key, mutant in found.items() if mutant.kind == kind}
            table = Table.of(mutants.values(), table_width() if sys.stdout.isatty() else None)
            if tables:
                print(table.head(), flush=True)
            for key, mine in _judge_all(
                mutants, judge, options, done=len({kill.mutant for kill in kills}), total=len(found)
            ):
                kills += mine
                if options.json:
                    shown = [kill.to_json() for kill in mine if not options.quiet or survivors(mine)]
                elif options.quiet:
                    shown = [f"alive: {mutant}" for mutant in survivors(mine)]
                else:
                    shown = [table.line(mutants[key].name, mine)]
                if shown:
                    print("\n".join(shown), flush=True)
            if tables:
                print()
    unjudged = [key for key in found if key not in {kill.mutant for kill in kills}]
    if tables:
        print(summary(kills))
    for key in unjudged:
        print(f"alive: {key}: no law applies to it")
    return VIOLATED if unjudged or survivors(kills) else HOLDS


def _mutate(options: argparse.Namespace) -> int:
    """Judge mutants of the user's own variants, and show those that are alive."""
    from benchmarks.mutants import isolated, mechanical
    from properties.process.loading import source_of
    from properties.process.session import Session
    from robust_core.json import dumps

    if options.targets:
        raise ValueError(f"--of takes one target and no other beside it, got {' '.join(options.targets)}")
    source = source_of(options.of)
    found: list[mechanical.Fate] = []
    with Session([options.of], serve=isolated.SERVE, waiting=report_loading) as session, stopped_between() as check:

        def tick(text: str) -> None:
            check()
            progress(f"[{text}]")

        for variant in session.variants.values():
            for fate in mechanical.fates(
                session, variant, source, examples=options.examples, seed=options.seed, tick=tick
            ):
                found.append(fate)
                progress("")
                if options.json:
                    print(dumps(fate), flush=True)
                elif fate.outcome == "alive" or (fate.outcome == "equivalent" and not options.quiet):
                    print(_survivor(fate), flush=True)
        session.require_good_end()
    if not options.json:
        print(mechanical.summary(found))
    return VIOLATED if any(fate.outcome == "alive" for fate in found) else HOLDS


def _survivor(fate: "mechanical.Fate") -> str:
    lines = [f"{fate.outcome}: {one_line(fate.target)}, line {fate.line}: {fate.operator}"]
    lines += [f"    {line}" for line in fate.diff.splitlines()]
    if fate.outcome == "equivalent":
        lines.append(f"    reason: {one_line(fate.evidence)}")
    elif fate.seen_by:
        lines.append(f"    it would die under the promise {' or '.join(map(repr, fate.seen_by))}")
    return "\n".join(lines)


@contextlib.contextmanager
def _source(targets: list[str]) -> "Iterator[tuple[dict[str, Mutant], Judge]]":
    """The mutants, and the function that judges some of them: a user's in workers, the suite's own in this process."""
    from benchmarks.mutants.matrix import Mutant, all_mutants, kill_matrix
    from properties.process.loading import is_of_the_suite, load_all, place_of

    if all(is_of_the_suite(place_of(target)) for target in targets):
        own = load_all(targets) if targets else all_mutants()

        def judge_here(keys: Iterable[str], **effort: Any) -> "Iterator[Kill]":
            return kill_matrix({key: own[key] for key in keys}, **effort)

        yield {key: Mutant.of(variant) for key, variant in own.items()}, judge_here
        return
    from benchmarks.mutants import isolated
    from properties.process.session import Session

    try:
        session = Session(targets, serve=isolated.SERVE, waiting=report_loading)
    finally:
        progress("")
    with session:

        def judge_apart(keys: Iterable[str], **effort: Any) -> "Iterator[Kill]":
            return chain.from_iterable(isolated.kills(session, session.variants[key], **effort) for key in keys)

        yield {key: Mutant(one.name, one.kind, one.laws) for key, one in session.variants.items()}, judge_apart
        session.require_good_end()


def _judge_all(
    mutants: "dict[str, Mutant]", judge: "Judge", options: argparse.Namespace, *, done: int, total: int
) -> "Iterator[tuple[str, list[Kill]]]":
    """The mutants of one kind with their kills, each as soon as it is known; Ctrl-C stops between two problems."""
    places = {key: place for place, key in enumerate(mutants, start=done + 1)}
    with stopped_between() as check:
        before = ("", "")

        def tick(mutant: str, law: str) -> None:
            nonlocal before
            check()
            if (mutant, law) != before:
                before = (mutant, law)
                progress(f"[mutant {places[mutant]}/{total}] {one_line(mutants[mutant].name)}: {law}")

        kills = judge(mutants, examples=options.examples, seed=options.seed, tick=tick)
        for key, mine in groupby(kills, key=attrgetter("mutant")):
            found = list(mine)
            progress("")
            yield key, found
