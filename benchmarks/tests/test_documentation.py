"""Every command and every block of Python in the hand-written documentation is run, and prints what is printed there.

A document is a story: its blocks run in order, in one folder and one namespace. A block after "Save … as `name`" is
written to that file, a `diff` is applied to it, and a `text` block is compared with what the block before it, or a
command named in the sentence before it, printed; … stands for anything. What a command prints is compared in its words,
not in its numbers, nor in the rows and entries of a small case: they depend on which cases a version of Hypothesis
tries, and on the clock.
"""

import contextlib
import glob
import io
import json
import os
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from benchmarks.cli.conventions import HOLDS, USAGE, VIOLATED
from benchmarks.cli.main import main, parser, subparsers
from benchmarks.documents import write

ROOT = Path(__file__).parent.parent.parent
GENERATED = (*(f"{name}.md" for name in write.GENERATED), "field-report.md")
DOCUMENTS = [
    path
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
    if path.exists() and path.name not in GENERATED
]

# The README's test command, which `.ci/run` is.
ITSELF = ("python -m pip install tox && python -m tox run", "python -m tox run")
# Too slow, or in need of a machine of its own: `tox -e commands` runs them as they are printed.
ELSEWHERE = (
    *ITSELF,
    "python -m pip install . && robust-core verify",
    "robust-core verify --examples 20 --no-statistics",
    "python -m pip install .",
    "python -m pip install '.[environments]'",
    "python -m pip install '.[peers]'",
    "python -m pip install '.[field,field-jax]'",
    "python -m pip install '.[field,field-jax,field-torch]'",
    "python -m pip install --no-deps mushroom-rl==1.10.2",
    "robust-core study field --output field-report.md",
    "robust-core verify my_adapter.py",
    "python3 -m venv .venv && . .venv/bin/activate",
    "tox -e verify -- my_variant.py",
    "tox -e lint",
    "robust-core documents",
    "robust-core speed",
    "robust-core claims span --renew",
    "python -m pip install '.[cluster]'",
    "dask scheduler --host 127.0.0.1 --port 8786",
    "dask worker tcp://127.0.0.1:8786 --nthreads 1 --nworkers 2",
    "robust-core bench --cluster tcp://127.0.0.1:8786",
    "robust-core panels --cluster tcp://127.0.0.1:8786",
    "robust-core batch run --cluster tcp://127.0.0.1:8786",
    "robust-core speed cluster",
    "robust-core study injected --seed-sets 3 --workers 1",
    "robust-core study power --budget 30min",
    "python -m pip install -e .",
    "robust-core compare",
    "robust-core report",
    "robust-core bench",
    "robust-core compare --baseline HEAD",
    'robust-core baseline accept --reason "why"',
    "pytest --pyargs properties.tests.test_variants --robust-core-variant my_variant.py",
)
# On files of the reader's; `test_regression_own.py` runs such commands on files of its own.
READERS = (
    "robust-core compare old.py new.py --budget 30s",
    "robust-core compare my_variant.py --baseline HEAD~1 --markdown",
    "robust-core rank a.py b.py c.py",
    "robust-core compare old.py new.py",
    "robust-core compare my_variant.py --baseline HEAD~1",
    "robust-core bench my_variant.py --output saved.jsonl",
    "robust-core compare my_variant.py --baseline saved.jsonl",
    "robust-core compare my_variant.py --baseline v1.0 --history history",
    "robust-core history history",
    "robust-core history history --merge other",
)
# Run here with less to do.
LESS = "--examples 60 --no-statistics"
SHORTER = {
    "robust-core verify my_variant.py": f"robust-core verify my_variant.py {LESS}",
    "robust-core verify my_variant.py --quiet --junit results.xml": f"robust-core verify my_variant.py --quiet {LESS}",
    "robust-core verify my_variant.py --quiet": f"robust-core verify my_variant.py --quiet {LESS}",
}

COMMANDS = subparsers(parser())
LONG = ("tutorial.md", "extending.md", "regression.md")
"""They verify or compare several times."""
PROGRAMS = re.compile(r"(robust-core|tox|pytest|pip|dask|python -m) \S")
# How many cells have which verdict: whether a ratio of times is decided is the machine's affair.
COUNTS = re.compile(r"\w+: # \w+(, # \w+)*")
LISTS = re.compile(r"\[(?:[\[\]#, ]|True|False)*\]")
ROWS = re.compile(r"\s*(?:\(s=#(?:, a=#)?\)|s=# a=#)\s")
NUMBERS = re.compile(r"(?<=hash=)[0-9a-f]+|-?\b\d+(\.\d+)?(e[-+]?\d+)?\b")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, and the paragraph before it."""

    language: str
    text: str
    lead: str
    line: int


def blocks(document: str) -> Iterator[Block]:
    lead: list[str] = []
    lines = iter(enumerate(document.splitlines(), start=1))
    for number, line in lines:
        if not line.startswith("```"):
            lead = [*lead, line] if line.strip() else lead
            continue
        inside: list[str] = []
        for _, line_inside in lines:
            if line_inside.startswith("```"):
                break
            inside.append(line_inside)
        yield Block(line.removeprefix("```").strip(), "\n".join(inside), " ".join(lead), number)
        lead = []


@dataclass
class Story:
    """A document as it is run: the names its Python has defined, the file saved last, and what was printed last."""

    name: str
    namespace: dict[str, Any] = field(default_factory=lambda: {"__name__": "documentation"})
    saved: Path | None = None
    printed: str = ""
    by_a_command: bool = False

    def told(self, document: str) -> None:
        for block in blocks(document):
            assert block.language, f"{self.name}:{block.line}: a block without a language is not looked at"
            if block.language in ("python", "sh", "console", "diff", "text"):
                getattr(self, block.language)(block)

    def python(self, block: Block) -> None:
        if names := re.findall(r"[Ss]ave (?:it|this|the \w+) as `([\w./-]+)`", block.lead):
            self.saved = Path(names[-1])
            self.saved.write_text(block.text + "\n", encoding="utf-8")
        with contextlib.redirect_stdout(io.StringIO()) as output:
            exec(compile(block.text, f"{self.name}:{block.line}", "exec"), self.namespace)
        self.printed, self.by_a_command = output.getvalue(), False

    def diff(self, block: Block) -> None:
        """The lines with − become the lines with +; the file is read again, as an editor's user would run it again."""
        assert self.saved is not None, f"{self.name}:{block.line}: no file to change"
        old, new = (
            "\n".join(line[1:] for line in block.text.splitlines() if line.startswith(sign)) for sign in ("-", "+")
        )
        before = self.saved.read_text(encoding="utf-8")
        assert before.count(old) == 1, f"{self.name}:{block.line}: not in {self.saved}: {old}"
        self.saved.write_text(before.replace(old, new), encoding="utf-8")
        exec(compile(before.replace(old, new), str(self.saved), "exec"), self.namespace)

    def sh(self, block: Block) -> None:
        self.printed, self.by_a_command = "", True
        for command in block.text.replace("\\\n", " ").splitlines():
            self.run(command.strip())

    def console(self, block: Block) -> None:
        """Commands with remarks beside them, two blanks apart."""
        for line in block.text.splitlines():
            self.run(line.partition("  ")[0].strip())

    def text(self, block: Block) -> None:
        if named := command_before(block):
            if named in ELSEWHERE:
                return
            self.printed, self.by_a_command = "", True
            self.run(named)
        difference = mismatch(block.text, self.printed, numbers=not self.by_a_command)
        assert difference is None, f"{self.name}:{block.line}: {difference}\n--- printed:\n{self.printed}"

    def run(self, command: str) -> None:
        if command in ELSEWHERE:
            return
        if command in READERS:
            parser().parse_args(shlex.split(command)[1:])
            return
        program, *arguments = shlex.split(SHORTER.get(command, command))
        assert program == "robust-core", f"{self.name}: {command!r} is in no table of this test: say where it is run"
        with contextlib.redirect_stdout(io.StringIO()) as output:
            code = main([found for argument in arguments for found in expanded(argument)])
        assert code in (HOLDS, VIOLATED), f"{self.name}: {command!r} ends with exit code {code}"
        self.printed += output.getvalue()


def command_before(block: Block) -> str | None:
    """The command in the sentence before a block of output."""
    named: list[str] = re.findall(r"`(robust-core [^`]+)`", block.lead)
    return named[-1] if named else None


def expanded(argument: str) -> list[str]:
    """An argument as a shell hands it over: the newest of the files that match, for there is one in a document."""
    return [max(glob.glob(argument), key=os.path.getmtime)] if "*" in argument else [argument]


def _words(printed: str) -> str:
    """What is printed without its numbers, whatever the size of the case that it shows."""
    lines = NUMBERS.sub("#", printed).splitlines()
    return "\n".join(COUNTS.sub("#", LISTS.sub("[#]", line)) for line in lines if not ROWS.match(line))


def mismatch(wanted: str, got: str, *, numbers: bool = True) -> str | None:
    """The first line that is documented and not printed where it should be, or printed and not documented."""
    if not numbers:
        wanted, got = _words(wanted), _words(got)
    rest = [" ".join(line.split()) for line in got.splitlines() if line.strip()]
    skip = False
    for line in (" ".join(line.split()) for line in wanted.splitlines() if line.strip()):
        if line == "…":
            skip = True
            continue
        pattern = re.compile(re.escape(line).replace("…", ".*"))
        place = next((i for i, printed in enumerate(rest) if pattern.fullmatch(printed)), None)
        if place is None or (place > 0 and not skip):
            return f"not printed here: {line!r}"
        rest, skip = rest[place + 1 :], False
    return f"printed too: {rest[0]!r}" if rest and not skip else None


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=[pytest.mark.robust_core_slow] * (path.name in LONG)) for path in DOCUMENTS],
    ids=lambda path: path.name,
)
def test_the_document_does_what_it_says(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Story(path.name).told(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_commands_within_sentences_exist(path: Path) -> None:
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    for command in re.findall(r"`([^`]+)`", text):
        if command in ELSEWHERE or not PROGRAMS.match(command):
            continue
        program, *arguments = shlex.split(command)
        assert program == "robust-core", f"{path.name}: {command!r} is in no table of this test: say where it is run"
        if " ".join(arguments) not in (*COMMANDS, "--help", "--version", "COMMAND --help"):
            parser().parse_args(arguments)


def test_no_document_has_lost_a_command_that_is_run_elsewhere() -> None:
    printed = "".join(path.read_text(encoding="utf-8") for path in DOCUMENTS)
    assert [command for command in ELSEWHERE if command not in printed and DOCUMENTS] == []


@pytest.mark.parametrize(
    "path", [*DOCUMENTS, *(ROOT / "docs" / name for name in GENERATED)], ids=lambda path: path.name
)
def test_links_lead_somewhere(path: Path) -> None:
    text = path.read_text(encoding="utf-8") if path.exists() else ""  # the wheel has no documents
    targets = re.findall(r"(?<!\\)\]\(([^)#:]+)[)#]", re.sub(r"```.*?```|`[^`]*`", "", text, flags=re.DOTALL))
    assert [target for target in targets if not (path.parent / target).exists()] == []


@pytest.mark.parametrize(
    "name",
    # The pages of the gallery and of variants verify all of theirs, that of the statistics computes every power.
    [
        pytest.param(name, marks=[pytest.mark.robust_core_slow] * (name in ("gallery", "statistics", "variants")))
        for name in write.DOCUMENTS
    ],
)
def test_a_generated_document_is_up_to_date(name: str) -> None:
    if name == "experiments":
        pytest.importorskip("gymnasium")
    if (committed := write.read(name)) is None:
        pytest.skip("the documentation is not part of an installed package")
    assert write.render(name) == committed, f"run: robust-core documents {name}"


def test_generated_documents_are_written_and_checked_by_one_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(write, "FOLDER", tmp_path)
    assert main(["documents", "command-line", "--check"]) == VIOLATED
    assert list(tmp_path.iterdir()) == []
    assert main(["documents", "command-line"]) == HOLDS
    assert main(["documents", "command-line", "--check", "--json"]) == HOLDS
    (tmp_path / "command-line.md").write_text("edited", encoding="utf-8")
    assert main(["documents", "command-line", "--check", "--quiet"]) == VIOLATED
    assert capsys.readouterr().out.splitlines() == [
        "docs/command-line.md: differs",
        "docs/command-line.md: written",
        '{"document": "docs/command-line.md", "state": "up to date"}',
        "docs/command-line.md: differs",
    ]
    assert main(["documents", "command line"]) == USAGE
    assert "no document 'command line'" in (message := capsys.readouterr().err)
    assert "did you mean 'command-line'?" in message


def test_generated_documents_say_so() -> None:
    for name in GENERATED if DOCUMENTS else ():  # the wheel has no documents
        opening = (ROOT / "docs" / name).read_text(encoding="utf-8")[:2500]
        assert re.search("generated|[Ww]ritten by|[Rr]endered from", opening), f"{name} does not say what writes it"


WRONG = {
    "raises": "```python\n1 / 0\n```",
    "prints something else": "```python\nprint(1)\n```\n```text\n2\n```",
    "prints more": "```python\nprint(1)\nprint(2)\n```\n```text\n1\n```",
    "prints less": "```python\nprint(1)\n```\n```text\n1\n2\n```",
    "a command in no table": "```sh\nrm -rf x\n```",
    "a command that fails": "```sh\nrobust-core claims no-such-claim\n```",
    "a change of a line that is not there": "Save it as `x.py`:\n```python\nx = 1\n```\n```diff\n-x = 2\n+x = 3\n```",
    "a block of no language": "```\nnonsense\n```",
    "another output": "```sh\nrobust-core claims expand-T\n```\n```text\nnonsense\n```",
}


@pytest.mark.parametrize("story", WRONG)
def test_a_document_that_is_wrong_is_caught(story: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises((AssertionError, ZeroDivisionError)):
        Story(story).told(WRONG[story])


def test_dots_stand_for_anything() -> None:
    assert mismatch("a … c\n…\nlast", "a b b c\n1\n2\nlast") is None
    assert mismatch("holds 1.25 s", "holds   0.02 s", numbers=False) is None
    assert mismatch("in 200 cases", "in 25 cases") is not None
    assert mismatch("holds 1 s", "violated 1 s", numbers=False) is not None
    assert (
        mismatch(
            "path = [[1, 0, True]]\n(s=0, a=0)  1.0  2.0 <-", "path = [[0, 1, False], [1, 1, True]]", numbers=False
        )
        is None
    )


EXAMPLES = ROOT / "docs" / "examples"


@pytest.mark.skipif(not EXAMPLES.is_dir(), reason="the documentation is not part of an installed package")
@pytest.mark.parametrize("name", ["robust_q_learning.py", "wrap_a_library.py"])
def test_an_example_keeps_its_promises(name: str) -> None:
    from properties import verify
    from properties.process.loading import load

    for variant in load(str(EXAMPLES / name)).values():
        assert {record.outcome for record in verify(variant, examples=5, statistics=False)} == {"holds"}


@pytest.mark.skipif(not EXAMPLES.is_dir(), reason="the documentation is not part of an installed package")
def test_the_page_of_examples_lists_every_file_and_the_notebook_has_been_executed() -> None:
    page = (EXAMPLES.parent / "examples.md").read_text(encoding="utf-8")
    files = [path.name for path in EXAMPLES.iterdir() if path.is_file()]
    assert sorted(re.findall(r"\]\(examples/([^)]+)\)", page)) == sorted(files)
    cells = json.loads((EXAMPLES / "first_variant.ipynb").read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    shown = "".join("".join(output["data"]["text/plain"]) for cell in code for output in cell["outputs"])
    assert "violated  unbiased step" in shown
    assert "wanted 0.5" in shown


def test_the_page_of_the_interface_has_every_public_name() -> None:
    import robust_core

    written = re.findall(r"^::: ([\w.]+)$", (ROOT / "docs" / "api.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    shown = {place.rpartition(".")[2] for place in written}
    assert set(robust_core.__all__) - shown - {"__version__"} == set()
