"""Which code a side of a comparison is: a file, a module, or the file at a git revision, in a worker of its own."""

import io
import tarfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.regression.baseline import git
from benchmarks.regression.isolated import SERVE, Side, clean_canary
from benchmarks.runner import identity
from benchmarks.runner.store import Store
from properties.process.child import Child
from properties.process.session import Description, Session
from robust_core.text import one_line

LARGEST_ARCHIVE = 64 << 20
"""Bytes of the folder of a file at a revision."""


@contextmanager
def at_revision(target: str, revision: str) -> Iterator[str]:
    """The target as it was: the folder of its file at the revision, in a temporary folder.

    The whole folder: the file may import those beside it.
    """
    place, colon, name = target.partition(":")
    path = Path(place).absolute()
    if not place.endswith(".py"):
        raise ValueError(f"{place}: only a file has revisions: name it by its path")
    if not revision or revision.startswith("-") or not revision.isprintable():
        raise ValueError(f"baseline must be a file or a git revision, got {revision!r}")
    folder = path.parent
    git(folder, "rev-parse", "--show-toplevel", why=f"{revision}: no such file, and {folder} is in no git repository")
    verify = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    commit = git(folder, *verify, why=f"{revision}: no such file and no such git revision").decode().strip()
    git(folder, "cat-file", "-e", f"{commit}:./{path.name}", why=f"{revision}: that revision has no {place}")
    archive = git(folder, "archive", "--format=tar", commit, "--", ".", why=f"{revision}: {folder} cannot be read")
    if len(archive) > LARGEST_ARCHIVE:
        raise ValueError(f"{revision}: the folder {folder} must have at most {LARGEST_ARCHIVE} bytes there")
    with TemporaryDirectory(prefix="robust-core-") as temporary:
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            tar.extractall(temporary, filter="data")
        yield f"{Path(temporary) / path.name}{colon}{name}"


def describe_revision(path: Path) -> tuple[str, str]:
    """(commit, subject) of the code around a file, with a "+" if the file differs from it; empty outside git."""
    try:
        head = git(path.parent, "log", "-1", "--format=%H %s", why="").decode().strip()
        changed = git(path.parent, "status", "--porcelain", "--", path.name, why="").strip()
    except ValueError:
        return "", ""
    commit, _, subject = head.partition(" ")
    return commit[:12] + ("+" if changed else ""), subject


def last_change(path: Path) -> str:
    """The commit that last changed a file; empty outside git."""
    try:
        return git(path.parent, "log", "-1", "--format=%h", "--", path.name, why="").decode().strip()
    except ValueError:
        return ""


@contextmanager
def sides(targets: list[tuple[str, str]], seed_set: str, store: Store) -> Iterator[list[list[Side]]]:
    """For each (target, label) the variants of it, each as a side; every target has a session of its own.

    All workers start at once; meanwhile this process finds out what its own code is.
    """
    with ExitStack() as stack:
        workers = [stack.enter_context(Child(SERVE)) for _ in targets]
        identity.of("benchmarks.regression.variants")
        sessions = [
            stack.enter_context(Session([target], serve=SERVE, ready=worker))
            for (target, _), worker in zip(targets, workers, strict=True)
        ]
        yield [
            [
                Side(session, variant, seed_set, called, canary=clean_canary(variant.kind, store))
                for variant in session.variants.values()
                for called in (label if len(session.variants) == 1 else f"{label}:{_name(variant)}",)
            ]
            for (_, label), session in zip(targets, sessions, strict=True)
        ]


def pair(old: list[Side], new: list[Side]) -> list[tuple[Side, Side]]:
    """Old and new of the same variant: by its name in the module, or the only one of each."""
    if len(old) == len(new) == 1:
        found = [(old[0], new[0])]
    else:
        before = {_name(side.variant): side for side in old}
        found = [(before[name], side) for side in new if (name := _name(side.variant)) in before]
    if not found:
        names = ", ".join(_name(side.variant) for side in old)
        raise ValueError(f"{new[0].label} and {old[0].label} have no variant in common; the old one has {names}")
    for first, second in found:
        if first.variant.kind != second.variant.kind:
            raise ValueError(
                f"{second.variant.name}: its kind must be that of the old one, {first.variant.kind!r}, "
                f"got {second.variant.kind!r}"
            )
    return found


def unpaired(old: list[Side], new: list[Side], pairs: list[tuple[Side, Side]]) -> list[str]:
    """Lines that say which variants are on one side only, and so are not compared."""
    return [
        f"not compared: {side.label} ({one_line(side.variant.name)}), which is {where}"
        for place, (sides, where) in enumerate(((old, "not in the new code"), (new, "not in the old code")))
        for side in sides
        if all(side is not pair[place] for pair in pairs)
    ]


def _name(variant: Description) -> str:
    return variant.target.rpartition(":")[2]
