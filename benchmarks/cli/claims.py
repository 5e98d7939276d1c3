"""`robust-core claims`: the catalogue of the paper's claims on the command line."""

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.cli.conventions import (
    HOLDS,
    VIOLATED,
    Commands,
    add_json,
    add_quiet,
    complete_with,
    dumps,
    fold,
    hyphenate,
    paint,
    progress,
    require_clone,
    stopped_between,
    table_width,
)

if TYPE_CHECKING:
    from properties.claims.claim import Adjudication, Claim, Statement
    from properties.judging.counterexample import Counterexample

# Spelled out so that `--help` need not import the registry; a test compares them with it.
METHODS = {"E": "exact", "P": "on every path", "S": "statistical", "X": "experiment"}
IN_WORDS = ", ".join(f"{kind} {meaning}" for kind, meaning in METHODS.items())
LEDGERS = ("paper", "ours", "sets")
IN_ORDER = ("holds", "elsewhere")
STATUSES = ("holds", "corrected", "conditional", "refuted", "not decidable as stated", "elsewhere", "open")

ID_WIDTH = 24
STATUS_WIDTH = 24
COLUMNS_BEFORE_TITLE = ID_WIDTH + STATUS_WIDTH + 5
"""Of a row of the list: the id, the method, the status, and what separates them."""


def add_parser(commands: Commands) -> None:
    """Add the command to the parser of `robust-core`."""
    parser = commands.add_parser(
        "claims",
        help="list the claims of the paper and about sets with their verified status",
        description="Lists the claims of the paper, our theorems and the claims of the literature about sets with "
        "their verified status, or explains one: statement, hypotheses, counterexample in numbers, correction, "
        "and the command that replays it.",
        epilog="example: robust-core claims expand-T",
    )
    known = parser.add_argument("ids", nargs="*", metavar="ID", help="the claims to explain; default: list all")
    complete_with(known, _ids)
    parser.add_argument(
        "--ledger", choices=LEDGERS, help="only the claims of the paper, our theorems, or the literature about sets"
    )
    parser.add_argument("--method", choices=tuple(METHODS), help=f"how it is decided: {IN_WORDS}")
    parser.add_argument(
        "--status",
        type=_status,
        choices=STATUSES,
        metavar="STATUS",
        help=f"only claims with this status: {', '.join(STATUSES)} (hyphens may stand for blanks)",
    )
    add_json(parser)
    add_quiet(parser)
    again = parser.add_mutually_exclusive_group()
    again.add_argument(
        "--run", action="store_true", dest="again", help="derive the statuses again; exit code 1 if one has changed"
    )
    again.add_argument(
        "--renew",
        action="store_true",
        help="derive the statuses again and make them, with their counterexamples, the committed ones (in a clone)",
    )
    parser.set_defaults(run=claims)


def _ids() -> list[str]:
    """The claims by their evidence, which is there without loading the claims: a shell waits for it."""
    import properties
    from robust_core import json

    return list(json.load(Path(properties.__file__).parent / "claims" / "evidence.json"))


def _status(text: str) -> str:
    return next((status for status in STATUSES if hyphenate(status) == hyphenate(text)), text)


def claims(options: argparse.Namespace) -> int:
    """List, explain or run; returns the exit code."""
    chosen = _select(options)
    if options.again or options.renew:
        changed = _run(chosen, options)
        return VIOLATED if changed and not options.renew else HOLDS
    for claim in chosen:
        if options.json:
            print(dumps(_record(claim)), flush=True)
        elif options.ids:
            from properties.claims.text import explain

            for line in explain(claim).splitlines():
                is_command = line.lstrip().startswith("replay: ")
                folded = line if is_command else fold(line, indent=15)
                print(folded)
        else:
            print(_row(claim))
    if not (options.ids or options.json or options.quiet):
        from robust_core.text import plural

        print(f"\n{plural(len(chosen), 'claim')}; robust-core claims ID explains one")
    return HOLDS


def _stored_status(claim: "Claim") -> str:
    from properties.claims import evidence

    known = evidence.committed_evidence().get(claim.id)
    return "not run yet" if known is None else known.status


def _select(options: argparse.Namespace) -> "list[Claim]":
    """The claims asked for; filters that leave none are refused, for an empty answer would read as good news."""
    from properties.claims import catalogue
    from robust_core.text import suggestion

    known = catalogue()
    for name in options.ids:
        if name not in known:
            raise ValueError(f"no claim {name!r}; robust-core claims lists them{suggestion(name, known)}")
    found = [claim for claim in known.values() if not options.ids or claim.id in options.ids]
    filters: tuple[tuple[str, str | None, Callable[[Claim], str]], ...] = (
        ("ledger", options.ledger, _ledger_of),
        ("method", options.method, _method),
        ("status", options.status, _stored_status),
    )
    for option, wanted, of in filters:
        left = [claim for claim in found if wanted is None or of(claim) == wanted]
        if not left:
            has = ", ".join(sorted({of(claim) for claim in found}))
            raise ValueError(f"no claim is left by --{option} {wanted}: the {option} of those asked for is {has}")
        found = left
    if options.quiet and not (options.again or options.renew):
        if options.status in IN_ORDER:
            raise ValueError(f"no claim is left by --quiet, which leaves out what --status {options.status} asks for")
        found = [claim for claim in found if _stored_status(claim) not in IN_ORDER]
    return found


def _ledger_of(claim: "Claim") -> str:
    from properties.claims.text import parts

    return next(part.partition(".")[0] for part, claims in parts().items() if claim in claims)


def _method(claim: "Claim") -> str:
    return claim.kind


def _run(chosen: "list[Claim]", options: argparse.Namespace) -> int:
    """Derive the statuses again and say each as it comes; returns how many have changed.

    With `--renew` each is stored before the next claim is run.
    """
    from benchmarks.runner.progress import Progress
    from properties.claims import evidence
    from properties.claims.claim import adjudicate

    if options.renew:
        require_clone(evidence.FILE)
    changed, work = 0, Progress(len(chosen), progress)
    with stopped_between() as check:
        for claim in chosen:
            check()
            work.begin(claim.id)
            found = adjudicate(_stoppable(claim, check), examples=evidence.EXAMPLES, seed=evidence.SEED)
            work.finish(claim.id)
            progress("")
            is_new = found.status != _stored_status(claim)
            changed += is_new
            if is_new or not options.quiet:
                print(_outcome(claim, found.status, as_json=options.json), flush=True)
                if options.ids and not options.json:
                    print("".join(f"{line}\n" for line in _shown(found)), end="", flush=True)
            if options.renew:
                evidence.store(found)
    return changed


def _row(claim: "Claim") -> str:
    """A claim, its method, its status and its title; the title has lines of its own where the terminal is narrow."""
    begin = f"{claim.id:<{ID_WIDTH}} {claim.kind}  {paint(_stored_status(claim), sys.stdout, width=STATUS_WIDTH)} "
    if not sys.stdout.isatty() or COLUMNS_BEFORE_TITLE + len(claim.title) <= table_width():
        return begin + claim.title
    return f"{begin.rstrip()}\n{fold('    ' + claim.title)}"


def _outcome(claim: "Claim", status: str, *, as_json: bool) -> str:
    stored = _stored_status(claim)
    if as_json:
        data = {"id": claim.id, "kind": claim.kind, "title": claim.title, "status": status, "stored": stored}
        return dumps(data | {"changed": status != stored})
    note = "as stored" if status == stored else f"stored: {stored}"
    return f"{claim.id:<{ID_WIDTH}} {claim.kind}  {paint(status, sys.stdout, width=STATUS_WIDTH)} {note}"


def _shown(found: "Adjudication") -> Iterator[str]:
    """What each statement says, and the verdict on it."""
    claim = found.claim
    for statement, verdict in ((claim.printed, found.printed), (claim.amended, found.amended)):
        if statement is not None and verdict is not None and verdict.outcome == "holds":
            yield fold(f"    holds in {verdict.cases} cases: {statement.text}", indent=8)
        elif statement is not None and verdict is not None:
            yield fold(f"    fails: {statement.text}", indent=8)
            yield fold(f"        {verdict.evidence}", indent=8)


def _stoppable(claim: "Claim", check: Callable[[], None]) -> "Claim":
    """The claim with `check`, which stops the run, called before every case."""
    from dataclasses import replace

    def stoppable(statement: "Statement | None") -> "Statement | None":
        if statement is None:
            return None
        judge = statement.judge

        def check_and_judge(**case: Any) -> Any:
            check()
            return judge(**case)

        return replace(statement, judge=check_and_judge)

    return replace(claim, printed=stoppable(claim.printed), amended=stoppable(claim.amended))


def _record(claim: "Claim") -> dict[str, Any]:
    from dataclasses import asdict

    from properties.claims import evidence

    return {
        "id": claim.id,
        "where": claim.where,
        "kind": claim.kind,
        "title": claim.title,
        "hypotheses": claim.hypotheses,
        "printed": claim.printed and claim.printed.text,
        "amended": claim.amended and claim.amended.text,
        "amendment": claim.amendment,
        "elsewhere": claim.elsewhere,
        "note": claim.note,
        **asdict(evidence.committed_evidence()[claim.id]),
        "counterexamples": [path.name for path, _ in evidence.counterexamples(claim)],
    }


def replay(example: "Counterexample", *, as_json: bool = False) -> int | None:
    """Judge a counterexample to a claim again, print the verdict, and return the exit code.

    None if the counterexample is not to a claim.
    """
    from properties.claims import AMENDED, claim_named
    from properties.claims.text import labels
    from properties.judging.counterexample import describe

    claim = claim_named(example.law)
    if claim is None:
        return None
    amended = example.variant == AMENDED
    statement = claim.amended if amended else claim.printed
    if statement is None:
        raise ValueError(f"claim {claim.id!r} has no statement {example.variant!r}")
    try:
        finding = statement.judge(**example.case)
    except Exception as error:
        # The file says what the case is: one that the claim does not speak of ends in any error at all.
        raise ValueError(f"not a case of claim {claim.id!r}: {type(error).__name__}: {error}") from error
    form = "amended" if amended else "as printed"
    if as_json:
        judgement = {"claim": claim.id, "form": form, "where": claim.where, "statement": statement.text}
        judgement |= {"outcome": "holds" if finding is None else "violated", "evidence": str(finding or "")}
        print(dumps(judgement))
        return HOLDS if finding is None else VIOLATED
    printed, correct = labels(claim)
    shown = "amended" if amended else printed
    print(f"{claim.id}, {shown} form ({claim.where})\n  {statement.text}\n\n{describe(example.case)}\n")
    print("holds" if finding is None else f"violated: {finding}")
    if claim.amended is not None and not amended:
        print(f"\n{correct}: {claim.amended.text}")
    return HOLDS if finding is None else VIOLATED
