"""Every command of the documentation that the default tests are too short for, run as it is printed, in a clean clone.

`test_documentation` runs the rest. Left out is only the test command of the README itself, which `.ci/run` is.
"""

import contextlib
import io
import re
import shlex
from collections.abc import Iterator

import pytest

from benchmarks.cli.conventions import HOLDS, USAGE, VIOLATED
from benchmarks.cli.main import parser, subparsers
from benchmarks.documents.command_line import example
from benchmarks.tests.commands.conftest import House
from benchmarks.tests.test_documentation import (
    DOCUMENTS,
    ELSEWHERE,
    GENERATED,
    ITSELF,
    ROOT,
    blocks,
    command_before,
    mismatch,
)

# One example per command, which its help and docs/command-line.md show.
PARSER = parser()
EXAMPLES = [example(command) for command in subparsers(PARSER).values()]
SERVERS = [command for command in ELSEWHERE if command.startswith("dask ")]
# The generated documents name what writes them and what it rests on.
WRITERS = re.compile(r"`(python -m [^`]+)`")
NIGHT = "robust-core batch night"  # goes on for as long as it is given: tox -e nightly
# Words that stand for something of the reader's.
PLACEHOLDERS = re.compile(r"\b(ID|FILE|NAME|COMMAND)\b|my_file|my_lab|my-q-learning|expected\.toml|[>~]")


def writers() -> Iterator[str]:
    for path in (ROOT / "docs" / name for name in GENERATED):
        yield from WRITERS.findall(path.read_text(encoding="utf-8")) if path.exists() else ()


def within_sentences() -> Iterator[str]:
    """Complete commands in the text of all documents; the name of a command that needs arguments is none."""
    generated = [path for path in (ROOT / "docs" / name for name in GENERATED) if path.exists()]
    for path in (*DOCUMENTS, *generated):
        text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        for command in re.findall(r"`(robust-core [^`]+)`", text):
            if not PLACEHOLDERS.search(command) and is_complete(command):
                yield command


def is_complete(command: str) -> bool:
    with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
        try:
            PARSER.parse_args(shlex.split(command)[1:])
        except SystemExit as end:
            return end.code == 0  # --version
    return True


PRINTED = dict.fromkeys((*ELSEWHERE, *EXAMPLES, *writers(), *within_sentences()))
COMMANDS = [command for command in PRINTED if command not in (*ITSELF, *SERVERS, NIGHT)]
# The README's variant is wrong on purpose: the commands that judge it must say so, the others find nothing.
JUDGING = ("my_variant.py", "robust-core replay")
# The claim that the reader has just written is not in the clone, and that is what the command says.
UNKNOWN = "robust-core claims span --renew"
# Complete with either code: on a machine that is not at rest a limit may be missed.
MEASURING = "robust-core speed"
SECONDS = 3600.0


@pytest.fixture(scope="module")
def prepared(house: House) -> House:
    """The clone with the README's variant in it, and a cluster where the documentation starts one."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    variant = next(block for block in blocks(readme) if "my_variant.py" in block.lead)
    (house.clone / "my_variant.py").write_text(variant.text, encoding="utf-8")
    for command in SERVERS:
        house.serve(command)
    return house


def exit_codes(command: str) -> tuple[int, ...]:
    if command == UNKNOWN:
        return (USAGE,)
    if command.startswith(MEASURING):
        return (HOLDS, VIOLATED)
    return (VIOLATED,) if any(words in command for words in JUDGING) else (HOLDS,)


def existing(command: str, house: House) -> str:
    """The command for a counterexample that is there: the file in the example has a made-up number."""
    *words, last = shlex.split(command)
    if words != ["robust-core", "replay"] or (house.clone / last).is_file():
        return command
    kept = sorted((house.clone / last).parent.glob("*.json"))
    assert kept, "no command before this one has kept a counterexample"
    return shlex.join([*words, str(kept[0])])


def outputs(command: str) -> Iterator[str]:
    """What the documents show after a sentence with the command."""
    for path in DOCUMENTS:
        for block in blocks(path.read_text(encoding="utf-8")):
            if block.language == "text" and command_before(block) == command and command in ELSEWHERE:
                yield block.text


@pytest.mark.parametrize("command", COMMANDS)
def test_a_printed_command_runs(command: str, prepared: House) -> None:
    done = prepared.run(existing(command, prepared), SECONDS)
    assert done.returncode in exit_codes(command), f"{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    assert done.stdout.strip() or done.stderr.strip() or command.startswith("eval "), "it says nothing"
    for shown in outputs(command):
        difference = mismatch(shown, done.stdout, numbers=False)
        assert difference is None, f"{difference}\n--- printed:\n{done.stdout}"
