"""`robust-core verify` and `robust-core replay`."""

import argparse
import contextlib
import io
import sys
from collections.abc import Callable, Iterable, Iterator
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
    add_workers,
    dumps,
    fold,
    positive,
    progress,
    report_loading,
    require_writable,
    seconds,
)
from benchmarks.cli.handlers import Handler, JsonLines, Progress, QuietTable, Table
from robust_core.text import one_line, suggestion

if TYPE_CHECKING:
    from properties.judging.verdict import Record
    from properties.process.session import Description, Event, Session
    from robust_core.mdp import MDP


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """The two commands and their options."""
    verify = commands.add_parser(
        "verify",
        help="check variants against the laws that follow from their promises",
        description="Checks variants against the laws that follow from their promises: first the exact laws, then "
        "the statistical ones. Loading a variant executes its module, in a separate process.",
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
    verify.add_argument("--junit", type=Path, metavar="FILE", help="also write the records as JUnit XML")
    verify.add_argument("--expected", type=Path, metavar="FILE", help="a TOML file of expected failures")
    verify.add_argument(
        "--examples", type=positive, default=200, metavar="N", help="generated problems per law (default 200)"
    )
    add_seed(verify, "which problems are generated and which samples are drawn")
    verify.add_argument(
        "--size", choices=("quick", "full"), default="quick", help="size of the statistical tests (default quick)"
    )
    verify.add_argument("--no-statistics", action="store_true", help="test the exact laws only")
    verify.add_argument(
        "--law",
        action="append",
        default=[],
        metavar="NAME",
        help="test this law only, or the cells whose names begin with NAME/; repeatable",
    )
    verify.add_argument(
        "--model",
        type=Path,
        metavar="FILE",
        help="also test the exact laws on this model: a .json, .npz or .tra file, a folder of .json and .npz files, or "
        "the name of a Gymnasium environment with a transition table",
    )
    verify.add_argument(
        "--gamma", type=float, metavar="G", help="the discount of --model, if its file does not contain one"
    )
    verify.add_argument(
        "--law-budget",
        type=seconds,
        metavar="TIME",
        help="time limit per exact law: 5s, 2min; no case is started after it",
    )
    verify.add_argument("--fail-fast", action="store_true", help="stop at the first violation or error")
    verify.add_argument("--list", choices=tuple(LISTS), help="list these and exit")
    verify.add_argument(
        "--watch",
        action="store_true",
        help="verify again whenever a file in the folder of TARGET changes, until Ctrl-C",
    )
    add_workers(verify)
    verify.add_argument("--strict", action="store_true", help="exit with 3 if anything is undecided")
    verify.add_argument(
        "--allow-untested", action="store_true", help="exit with 0 even if a promise is untested for some set"
    )
    amount = verify.add_mutually_exclusive_group()
    add_quiet(amount)
    amount.add_argument("-v", "--verbose", action="store_true", help="show the evidence of statistical laws in full")
    verify.set_defaults(run=_verify)
    replay = commands.add_parser(
        "replay",
        help="judge a saved counterexample again",
        description="Judges a saved counterexample again. This loads and executes the variant that the file names.",
        epilog="example: robust-core replay .robust-core/counterexamples/contraction-1a2b3c4d.json",
    )
    replay.add_argument("file", type=Path, metavar="FILE", help="a counterexample written by verify")
    add_json(replay)
    add_quiet(replay)
    replay.set_defaults(run=_replay)


def _list_laws() -> Iterator[tuple[str, str]]:
    from properties.laws.catalogue import LAWS
    from properties.statistics.laws import laws

    yield from ((law.name, f"{law.statement} ({', '.join(law.kinds)})") for law in LAWS)
    yield from ((law.name, f"{law.statement} ({', '.join(law.kinds)}; statistical)") for law in laws())


def _list_promises() -> Iterator[tuple[str, str]]:
    from properties.judging.verification import promises_of
    from properties.laws.law import PROMISES
    from properties.statistics.law import PROMISES as STATISTICAL
    from robust_core.problem import KINDS

    kinds = {kind: set(promises_of(kind)) for kind in KINDS}
    for promise, words in {**STATISTICAL, **PROMISES}.items():
        yield promise, f"{words} ({', '.join(kind for kind, allowed in kinds.items() if promise in allowed)})"


def _list_kinds() -> Iterator[tuple[str, str]]:
    from properties.kinds import kind_of
    from robust_core.problem import KINDS

    return ((kind, f"`make` is {kind_of(kind).example.called}") for kind in KINDS)


def _list_variants() -> Iterator[tuple[str, str]]:
    from properties.process.loading import gallery_variants, published_names

    yield from ((key, f"{variant.name} ({variant.kind})") for key, variant in gallery_variants().items())
    yield from ((name, "published by an installed package") for name in published_names())


LISTS: "dict[str, Callable[[], Iterator[tuple[str, str]]]]" = {
    "laws": _list_laws,
    "promises": _list_promises,
    "kinds": _list_kinds,
    "variants": _list_variants,
}
"""What --list prints: names, and what they are."""


def _verify(options: argparse.Namespace) -> int:
    if options.list is not None:
        rows = list(LISTS[options.list]())
        if options.json:
            print("\n".join(dumps({"name": name, "words": words}) for name, words in rows))
        else:
            print("\n".join(fold(f"{name}: {words}") for name, words in rows))
        return HOLDS
    if options.junit is not None:
        require_writable("--junit", options.junit)
    if options.watch:
        from benchmarks.cli.watching import folders_of, watch

        return watch(folders_of(options.targets), lambda: _judge(options))
    return _judge(options)


def _judge(options: argparse.Namespace) -> int:
    """Verify once."""
    models = _models(options)
    with _session(options) as session:
        _require_laws(session, options.law)
        if options.expected is not None:
            _warn_of_other_variants(options.expected, session.variants.values())
        records = list(_handle(_events(session, options, models), _handlers(options)))
        if not records:
            raise ValueError(_nothing_verified(session.variants.values(), options))
    for record in records:
        if record.outcome in ("undecided", "untested"):
            evidence = record.evidence.removeprefix("untested: ")
            name = one_line(record.variant)
            print(f"warning: {record.outcome}: {name}: {record.law}: {evidence}", file=sys.stderr)
    return exit_code(records, strict=options.strict, allow_untested=options.allow_untested)


def _session(options: argparse.Namespace) -> "Session":
    """The variants that are named, those that are published with --installed, by default all built in."""
    from properties.judging.expectations import variants
    from properties.process.loading import gallery_modules, published_names
    from properties.process.session import Session

    if options.expected is not None:
        variants(options.expected)  # a file that cannot be read is refused before any work
    size = None if options.no_statistics else options.size
    published = published_names() if options.installed else []
    if options.installed and not options.targets and not published:
        raise ValueError("--installed: no installed package publishes a variant")
    targets = [*options.targets, *published] or gallery_modules()
    try:
        return Session(
            targets, size=size, expected=options.expected, optional=published, complain=_warn, waiting=report_loading
        )
    finally:
        progress("")


def _require_laws(session: "Session", names: list[str]) -> None:
    """Refuse the name of a law by which no variant of the run is judged."""
    from properties.process.session import Effort

    known = {law for variant in session.variants.values() for law in session.laws_of(variant, Effort())}
    for name in names:
        if not any(Effort(laws=(name,)).selects(law) for law in known):
            there = "; ".join(sorted(known)) or "none"
            raise ValueError(
                f"--law: no law {name!r:.80} applies to a variant of this run; there are {there}"
                f"{suggestion(name, known)}"
            )


def _warn(text: str) -> None:
    progress("")
    print(f"warning: {text}", file=sys.stderr)


def _warn_of_other_variants(path: Path, described: "Iterable[Description]") -> None:
    """Name the entries of a file of expected failures that are about no variant of the run."""
    from properties.judging.expectations import variants

    names = {variant.name for variant in described}
    for number, name in variants(path).items():
        if name not in names:
            print(f"warning: {path}: entry {number}: no variant of this run is called {name!r}", file=sys.stderr)


MOST_PAIRS = 1024
"""Pairs of state and action of a model of the user's: exact oracles take minutes for more."""


def _models(options: argparse.Namespace) -> "list[MDP]":
    """The models of the user's, read and checked before any work; they are named on standard output."""
    from benchmarks.cli.certify import read_model

    if options.model is None:
        if options.gamma is not None:
            raise ValueError("--gamma is the discount of --model, so it needs --model")
        return []
    files = [options.model]
    if options.model.is_dir():
        files = sorted(path for path in options.model.iterdir() if path.suffix in (".json", ".npz"))
        if not files:
            raise ValueError(f"--model {options.model}: no .json or .npz file in this folder")
    models = [read_model(str(path), options.gamma) for path in files]
    for path, model in zip(files, models, strict=True):
        pairs = model.n_states * model.n_actions
        if pairs > MOST_PAIRS:
            raise ValueError(f"--model {path}: at most {MOST_PAIRS} pairs of state and action, got {pairs}")
    if not options.json and not options.quiet:
        named = (
            f"{path} (S={m.n_states}, A={m.n_actions}, gamma={m.gamma:g})"
            for path, m in zip(files, models, strict=True)
        )
        print(f"in addition to generated problems: {one_line(', '.join(named))}")
    return models


def _events(session: "Session", options: argparse.Namespace, models: "list[MDP]") -> "Iterator[Event]":
    from properties.judging.verdict import FOLDER
    from properties.process.session import Effort

    effort = Effort(
        options.examples,
        options.seed,
        FOLDER,
        laws=tuple(options.law),
        fail_fast=options.fail_fast,
        budget=options.law_budget,
        models=tuple(model.to_dict() for model in models),
    )
    return session.verify(effort, options.workers)


def _handlers(options: argparse.Namespace) -> list[Handler]:
    """The forms of output that were asked for."""
    handlers: list[Handler] = [Progress()]
    if options.junit is not None:
        from benchmarks.cli.junit import JUnit

        # Before the table: what a person has seen is in the file, whenever the run is interrupted.
        handlers.append(JUnit(options.junit))
    if options.json:
        handlers.append(JsonLines(quiet=options.quiet))
    elif options.quiet:
        handlers.append(QuietTable())
    else:
        from properties.process.session import Effort

        selects = Effort(laws=tuple(options.law)).selects
        handlers.append(Table(statistics=not options.no_statistics, verbose=options.verbose, selects=selects))
    return handlers


def _handle(events: "Iterator[Event]", handlers: list[Handler]) -> "Iterator[Record]":
    """Tell the handlers every event; the records among them."""
    from properties.process.session import Judged

    finished = False
    try:
        for event in events:
            for handler in handlers:
                handler.handle(event)
            if isinstance(event, Judged):
                yield event.record
        finished = True
    finally:
        # Ctrl-C loses nothing that was decided: the files hold every record so far.
        for handler in handlers:
            handler.close(finished=finished)


def _nothing_verified(described: "Iterable[Description]", options: argparse.Namespace) -> str:
    names = ", ".join(one_line(variant.name) for variant in described)
    exact = "exact " if options.no_statistics else ""
    return f"nothing was verified: no {exact}law follows from the kind, sets and promises of {names}"


def exit_code(records: Iterable["Record"], *, strict: bool, allow_untested: bool) -> int:
    """The exit code that a set of records earns."""
    outcomes = {record.outcome for record in records if record.expected is None}
    if "violated" in outcomes:
        return VIOLATED
    if "error" in outcomes:
        return USAGE
    unclear = (strict and "undecided" in outcomes) or ("untested" in outcomes and not allow_untested)
    return UNDECIDED if unclear else HOLDS


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
        print(dumps({**judgement, "deviation": replay.deviation}))
    else:
        case = "\n".join(map(fold, replay.case.splitlines()))
        print(f"{fold(f'{one_line(replay.variant)}: {replay.law}')}\n{fold(f'  {replay.statement}', 2)}\n\n{case}\n")
        evidence = fold(f"{replay.outcome}{': ' * bool(replay.evidence)}{replay.evidence}")
        results = replay.deviation.side_by_side if replay.deviation else ""
        print(f"{evidence}\n{results}".rstrip())
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
