"""`robust-core new`: a file with a working variant of a kind, to begin with."""

import argparse
import importlib.resources
import pkgutil
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.cli.conventions import HOLDS, Commands, complete_with, hyphenate
from robust_core.text import suggestion

if TYPE_CHECKING:
    from robust_core.problem import Kind


def add_parser(commands: Commands) -> None:
    """The command and its options."""
    new = commands.add_parser(
        "new",
        help="write a file with a working variant as a starting point",
        description="Writes a complete, correct variant of a kind with the promises that it makes and those that the "
        "kind allows. Replace the algorithm by your own, then verify the file. An existing file is not overwritten.",
        epilog="example: robust-core new my_new_variant.py --kind control",
    )
    new.add_argument("file", type=Path, metavar="FILE", help="the file to write, for example my_variant.py")
    kind = new.add_argument(
        "--kind", default="control", metavar="KIND", help="`verify --list kinds` shows them (default control)"
    )
    complete_with(kind, _kinds)
    new.set_defaults(run=_new)


def _kinds() -> list[str]:
    """The kinds, by the names of their modules: a shell that completes shall not wait for numpy."""
    folder = Path(str(importlib.resources.files("properties"))) / "kinds"
    return [info.name.replace("_", "-") for info in pkgutil.iter_modules([str(folder)])]


def _kind(text: str) -> "Kind":
    """A kind; shells complete it with hyphens for blanks."""
    from robust_core.problem import KINDS

    for kind in KINDS:
        if text in (kind, hyphenate(kind)):
            return kind
    raise ValueError(f"--kind: {text!r} is unknown; there are {', '.join(KINDS)}{suggestion(text, KINDS)}")


def skeleton(kind: "Kind", file: str) -> str:
    """The text of the file: the example of the kind, and its promises as comments."""
    from importlib import import_module

    from properties.judging.verification import promises_of
    from properties.kinds import kind_of, module_name
    from properties.process.loading import source_of
    from properties.statistics.law import PROMISES as STATISTICAL

    module = f"properties.variants.examples.{module_name(kind)}"
    chosen = import_module(module).VARIANT.promises
    words = {**kind_of(kind).promises, **STATISTICAL}
    lines = [
        f"# A variant of the kind {kind!r}: {kind_of(kind).example.called}.",
        f"# To verify it: robust-core verify {file}",
    ]
    lines += ["#", "# It can promise:"]
    lines += [f"#   {'*' if name in chosen else ' '} {name}: {words.get(name, name)}" for name in promises_of(kind)]
    lines.append(
        "# The variant below makes those with a star. Promise only properties that your algorithm has: they are tested."
    )
    return "\n".join(lines) + "\n" + source_of(module).replace("VARIANT = ", "MINE = ")


def _new(options: argparse.Namespace) -> int:
    file: Path = options.file
    if file.suffix != ".py":
        raise ValueError(f"FILE must end with .py, got {str(file)!r}")
    text = skeleton(_kind(options.kind), str(file))
    try:
        with file.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError:
        raise ValueError(f"{file}: the file exists already; it is not overwritten") from None
    print(f"{file}: written; robust-core verify {file} checks it")
    return HOLDS
