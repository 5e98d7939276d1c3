"""The record store: append-only lines of strict JSON, safe against a kill at any moment and against several writers.

A record is written with one append of "\\n{…}\\n", so a torn record (a kill in the middle of a write) is a line of its
own that fails its checksum and is ignored; nothing written before or after it is touched. The checksum is the first
member of the object and covers the rest of its text. Numbers that are not finite are the words "NaN", "Infinity" and
"-Infinity"; they are read as numbers again.

The same key written twice must have the same value: results are functions of their keys, and a difference is an error,
not a choice. A writer first reads what others have appended, under a lock, so the second value is refused and never
gets into the file. Timings are not deterministic: they are marked, and the first one in the file is kept.

Appends and the lock (`fcntl.flock`) are atomic on local disks. On network disks that depends on the mount: NFS from
Linux 2.6.12 on turns the lock into one of the server's, older ones and mounts with `nolock` do not lock between
machines, and appends of two machines may overwrite each other. Let one machine write, as a run on a cluster does: its
workers send their values and write nothing.
"""

import fcntl
import json
import os
import re
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

from robust_core.json import NON_FINITE, loads, to_data

DEFAULT = Path(".robust-core") / "statistics.jsonl"
BEGIN = b'{"check": "'
"""How a record begins."""
OLD = b'{"key": "'
"""How a record began when its checksum followed the object."""
_RECORD = re.compile(rb'\{"check": "([0-9a-f]{8})", (.*\})', re.DOTALL)


def encode(value: Any) -> str:
    """A value as strict JSON with sorted keys; text that stands for a number is refused.

    >>> encode([0.5, float("nan")])
    '[0.5, "NaN"]'
    """
    _require_no_word(value)
    return json.dumps(to_data(value), sort_keys=True, allow_nan=False)


def _require_no_word(value: Any) -> None:
    if isinstance(value, str) and value in NON_FINITE:
        raise ValueError(f"the text {value!r} cannot be kept: it stands for a number")
    fields = vars(value) if is_dataclass(value) else value
    for member in fields.values() if isinstance(fields, dict) else fields if isinstance(fields, list | tuple) else ():
        _require_no_word(member)


def decode(text: str) -> Any:
    """The value of a JSON text, with the words for numbers that are not finite as numbers.

    >>> decode('{"a": [1, "-Infinity"]}')
    {'a': [1, -inf]}
    """
    value = loads(text)
    return _numbers(value) if any(f'"{word}"' in text for word in NON_FINITE) else value


def _numbers(value: Any) -> Any:
    if isinstance(value, str):
        return NON_FINITE.get(value, value)
    if isinstance(value, dict):
        return {name: _numbers(member) for name, member in value.items()}
    return [_numbers(member) for member in value] if isinstance(value, list) else value


class Store:
    """Values by key; when `put` returns, the value has been handed to the operating system.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "store.jsonl"
    >>> store = Store(path)
    >>> store.put(b"k", [[0.1]])
    >>> store.get(b"k"), Store(path).get(b"k")
    ([[0.1]], [[0.1]])
    """

    def __init__(self, path: Path = DEFAULT) -> None:
        self.path = path
        self._values: dict[str, Any] = {}
        self._read = 0
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            self._refuse_old()
            self.refresh()
        except ValueError:
            self.close()
            raise

    def _refuse_old(self) -> None:
        if os.pread(self._file, 1 + len(OLD), 0) == b"\n" + OLD:
            raise ValueError(
                f"{self.path}: a store of an older version of robust-core, whose results the present code cannot take: "
                "delete the file or name another one; the results are computed again"
            )

    def refresh(self) -> None:
        """Take in what other writers have appended."""
        size = os.fstat(self._file).st_size
        new = os.pread(self._file, size - self._read, self._read)
        complete = new.rfind(b"\n") + 1
        for line in new[:complete].splitlines():
            self._take(line)
        self._read += complete

    def _take(self, line: bytes) -> None:
        match = _RECORD.fullmatch(line)
        if match is None or int(match[1], 16) != zlib.crc32(match[2]):
            return
        try:
            record = decode(line.decode())
            name, value = record["key"], record["value"]
        except (ValueError, KeyError):
            return
        if not isinstance(name, str):
            return
        self._keep(name, value, record.get("repeatable", True))

    def _keep(self, name: str, value: Any, repeatable: bool) -> None:
        known = self._values.setdefault(name, value)
        # As text: not-a-number is equal to itself there.
        if repeatable and known is not value and encode(known) != encode(value):
            raise ValueError(
                f"{self.path}: two values for {name}: results must be a function of their keys, so one of the two was "
                f"not computed by this code on this machine. Delete every line with {name} from {self.path} (all other "
                "results stay) and run again: it is computed anew"
            )

    def get(self, name: bytes) -> Any:
        """The value of a key, None if there is none."""
        return self._values.get(name.hex())

    def names(self, prefix: bytes) -> Iterator[bytes]:
        """The keys that begin with a prefix, in the order in which they were first written."""
        for name in list(self._values):
            # A sound record of somebody else may have a name that is no hexadecimal number.
            if name.startswith(prefix.hex()) and re.fullmatch(r"(?:[0-9a-f]{2})*", name):
                yield bytes.fromhex(name)

    def put(self, name: bytes, value: Any, *, repeatable: bool = True) -> None:
        """Append a record; a key that is there already, from any writer, is not written again."""
        fcntl.flock(self._file, fcntl.LOCK_EX)
        try:
            self.refresh()
            self._append(name, value, repeatable)
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def _append(self, name: bytes, value: Any, repeatable: bool) -> None:
        if name.hex() in self._values:
            self._keep(name.hex(), value, repeatable)
            return
        record = {"key": name.hex(), "value": value, **({} if repeatable else {"repeatable": False})}
        text = encode(record)
        rest = text.encode()[1:]
        line = b'\n%s%08x", %s\n' % (BEGIN, zlib.crc32(rest), rest)
        if os.write(self._file, line) != len(line):
            raise OSError(f"{self.path}: a record was cut short: the disk is full, or a limit on file sizes is reached")
        self._keep(name.hex(), decode(text)["value"], repeatable)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


@contextmanager
def open_store(path: Path) -> Iterator[Store]:
    """The store of a file; one that holds something else is refused and stays as it is."""
    with closing(Store(path)) as store:
        with path.open("rb") as file:
            begin = file.read(1 + len(BEGIN))
        # A kill may have cut the only record short.
        if not (b"\n" + BEGIN).startswith(begin) and next(store.names(b""), None) is None:
            raise ValueError(
                f"{path}: holds something else than results, and nothing is added to it: name another file"
            )
        yield store


def write_whole(path: Path, text: str) -> None:
    """Replace a file at once: a kill leaves the old one or the new one, and a failure leaves nothing new."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # The number of this process keeps two programs from writing one draft.
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        draft.write_text(text, encoding="utf-8")
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)
