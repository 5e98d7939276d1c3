"""`robust-core verify --watch`: a file under edit is verified again whenever it or a file beside it changes."""

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.cli.conventions import USAGE

SECONDS = 0.3
"""Between two looks at the files."""
State = dict[Path, tuple[int, int]]


def folders_of(targets: Sequence[str]) -> list[Path]:
    """The folders of the files that are watched; other targets are refused."""
    from properties.process.loading import missing_file, place_of

    if not targets:
        raise ValueError("--watch: name the file to watch, for example robust-core verify my_variant.py --watch")
    for target in targets:
        if not place_of(target).endswith(".py"):
            raise ValueError(f"--watch: only files are watched, got {target!r:.80}")
        if reason := missing_file(target):
            raise ValueError(f"--watch: {reason}")
    return sorted({Path(place_of(target)).resolve().parent for target in targets})


def state_of(folders: Sequence[Path]) -> State:
    """Time and size of every Python file of the folders; an editor may replace one meanwhile."""
    found: State = {}
    for path in (path for folder in folders for path in folder.glob("*.py")):
        try:
            status = path.stat()
        except OSError:
            continue
        found[path] = status.st_mtime_ns, status.st_size
    return found


def watch(folders: Sequence[Path], run: Callable[[], int], sleep: Callable[[float], None] = time.sleep) -> int:
    """Run, wait for a change, run again. Ctrl-C while waiting ends it with the code of the last run.

    A file that cannot be loaded at the moment is a message, not the end: it is being edited.
    """
    while True:
        before = state_of(folders)
        try:
            code = run()
        except (ValueError, OSError, ImportError) as error:
            print(f"robust-core: {error}", file=sys.stderr)
            code = USAGE
        print("watching for changes; Ctrl-C ends", file=sys.stderr, flush=True)
        try:
            while (now := state_of(folders)) == before:
                sleep(SECONDS)
        except KeyboardInterrupt:
            return code
        changed = sorted(path.name for path in {*before, *now} if before.get(path) != now.get(path))
        print(f"\nchanged: {', '.join(changed)}", file=sys.stderr, flush=True)
