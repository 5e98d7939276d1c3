"""`robust-core documents`: the generated part of the documentation."""

import argparse

from benchmarks.cli.conventions import HOLDS, VIOLATED, Commands, add_json, add_quiet, complete_with, progress
from benchmarks.documents.write import DOCUMENTS
from robust_core.text import suggestion

CURRENT, WRITTEN, DIFFERS = "up to date", "written", "differs"


def add_parser(commands: Commands) -> None:
    """The command and its options."""
    documents = commands.add_parser(
        "documents",
        help="write the generated documents, or check that they are up to date",
        description="Writes the documents in docs/ that are generated from the code and its committed results. The "
        "gallery is verified for its page, which takes about a minute.",
        epilog="example: robust-core documents command-line --check",
    )
    names = documents.add_argument(
        "names", nargs="*", metavar="NAME", help=f"any of {', '.join(DOCUMENTS)} (default: all)"
    )
    complete_with(names, lambda: DOCUMENTS)
    documents.add_argument("--check", action="store_true", help="write nothing; exit code 1 if a document differs")
    add_json(documents)
    add_quiet(documents, "print only documents that are not up to date")
    documents.set_defaults(run=_documents)


def _documents(options: argparse.Namespace) -> int:
    from benchmarks.documents import write
    from robust_core import json

    for name in options.names:
        if name not in DOCUMENTS:
            raise ValueError(f"no document {name!r}; there are {', '.join(DOCUMENTS)}{suggestion(name, DOCUMENTS)}")
    code = HOLDS
    for name in options.names or DOCUMENTS:
        progress(name)
        text = write.render(name)
        progress("")
        state = CURRENT if text == write.read(name) else DIFFERS if options.check else WRITTEN
        if state == WRITTEN:
            write.write(name, text)
        code = VIOLATED if state == DIFFERS else code
        if state != CURRENT or not options.quiet:
            line = json.dumps({"document": f"docs/{name}.md", "state": state})
            print(line if options.json else f"docs/{name}.md: {state}", flush=True)
    return code
