"""`robust-core claims`: the catalogue of the paper's claims on the command line."""

import argparse
import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from benchmarks.cli_conventions import HOLDS, VIOLATED, add_json, add_quiet, painted

if TYPE_CHECKING:
    from properties.claims.claim import Claim
    from properties.counterexample import Counterexample

# Spelled out so that `--help` need not import the registry; a test compares them with it.
KINDS = ("E", "P", "S", "X")
IN_ORDER = ("holds", "elsewhere")
STATUSES = ("holds", "corrected", "conditional", "refuted", "not decidable as stated", "elsewhere", "open")


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to the parser of `robust-core`."""
    parser = commands.add_parser(
        "claims",
        help="the claims of the paper and what running them gave",
        description="Lists the claims of the paper with the status that running them gave, or explains one: statement, "
        "hypotheses, counterexample in numbers, correction, and the command that replays it.",
        epilog="example: robust-core claims expand-T",
    )
    parser.add_argument("id", nargs="?", metavar="ID", help="the claim to explain; default: list all")
    parser.add_argument("--kind", choices=KINDS, help="exact, on every path, statistical, experiment")
    parser.add_argument("--status", choices=STATUSES, help="only claims with this status")
    add_json(parser)
    add_quiet(parser)
    parser.add_argument(
        "--run", action="store_true", dest="again", help="derive the statuses again; exit code 1 if one has changed"
    )
    parser.set_defaults(run=claims)


def claims(options: argparse.Namespace) -> int:
    """List or explain; returns the exit code."""
    from properties.claims import evidence

    chosen = _chosen(options)
    changed = 0
    for claim in chosen:
        found = evidence.stored()[claim.id]
        if options.again:
            changed += _changed(claim, found.status, quiet=options.quiet)
        elif options.json:
            print(json.dumps(_record(claim), ensure_ascii=False), flush=True)
        elif options.id is not None:
            from properties.claims.catalogue_text import explained

            print(explained(claim))
        else:
            print(f"{claim.id:<20} {claim.kind}  {painted(found.status, sys.stdout, width=24)} {claim.title}")
    if options.id is None and not (options.json or options.again or options.quiet):
        print(f"\n{len(chosen)} claims; robust-core claims ID explains one")
    return VIOLATED if changed else HOLDS


def _chosen(options: argparse.Namespace) -> "list[Claim]":
    from properties.claims import catalogue, evidence

    known, found = catalogue(), evidence.stored()
    if options.id is not None and options.id not in known:
        raise ValueError(f"no claim {options.id!r}; robust-core claims lists them")
    return [
        claim
        for claim in known.values()
        if options.id in (None, claim.id)
        and options.kind in (None, claim.kind)
        and options.status in (None, found[claim.id].status)
        and not (options.quiet and not options.again and found[claim.id].status in IN_ORDER)
    ]


def _changed(claim: "Claim", stored: str, *, quiet: bool) -> bool:
    from properties.claims.claim import adjudicate
    from properties.claims.evidence import EXAMPLES, SEED

    status = adjudicate(claim, examples=EXAMPLES, seed=SEED).status
    if not quiet or status != stored:
        note = "as stored" if status == stored else f"stored: {stored}"
        print(f"{claim.id:<20} {claim.kind}  {painted(status, sys.stdout, width=24)} {note}", flush=True)
    return status != stored


def _record(claim: "Claim") -> dict[str, Any]:
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
        **asdict(evidence.stored()[claim.id]),
        "counterexamples": [path.name for path, _ in evidence.counterexamples(claim)],
    }


def replay(example: "Counterexample") -> int | None:
    """Judge a counterexample to a claim again, say what came out, and return the exit code.

    None if the counterexample is not to a claim.
    """
    from properties.claims.evidence import AMENDED, claim_of
    from properties.counterexample import described

    claim = claim_of(example)
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
    print(f"{claim.id}, {form} ({claim.where})\n  {statement.text}\n\n{described(example.case)}\n")
    print("holds" if finding is None else f"violated: {finding}")
    if claim.amended is not None and not amended:
        print(f"\n{claim.amendment}: {claim.amended.text}")
    return HOLDS if finding is None else VIOLATED
