"""Writes every generated document again: `python -m benchmarks.documents.write [NAME …]`.

All of them come from committed results, except the gallery, which is verified for it (a minute); the tests compare.
What the results themselves are measured by is said in each document.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "docs"


def _claims() -> str:
    from properties.claims.text import markdown

    return markdown()


def _command_line() -> str:
    from benchmarks.documents.command_line import markdown

    return markdown()


def _experiments() -> str:
    from benchmarks.documents import experiments
    from benchmarks.experiments import results

    return experiments.document(results.load_all())


def _gallery() -> str:
    from benchmarks.documents.gallery import page

    return page()


def _statistics() -> str:
    from benchmarks.documents.statistics import document

    return document()


def _variants() -> str:
    from benchmarks.documents.variants import page

    return page()


DOCUMENTS: dict[str, Callable[[], str]] = {
    "claims": _claims,
    "command-line": _command_line,
    "experiments": _experiments,
    "gallery": _gallery,
    "statistics": _statistics,
    "variants": _variants,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.documents.write", description=str(__doc__).split("\n")[0]
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(DOCUMENTS)} (default: all)")
    names = parser.parse_args(arguments).names
    for name in names:
        if name not in DOCUMENTS:
            parser.error(f"NAME must be one of {', '.join(DOCUMENTS)}, got {name!r}")
    for name in names or DOCUMENTS:
        (FOLDER / f"{name}.md").write_text(DOCUMENTS[name](), encoding="utf-8")
        sys.stderr.write(f"docs/{name}.md\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
