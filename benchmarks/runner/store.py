"""The record store: append-only JSON lines, safe against a kill at any moment and against several writers.

A record is written with one append of "\\n{…}\\n", so a torn record (a kill in the middle of a write) is a line of its
own that fails its checksum and is ignored; nothing written before or after it is touched. The same key written twice
must have the same value: results are functions of their keys, and a difference is an error, not a choice. A writer
first reads what others have appended, under a lock, so the second value is refused and never gets into the file. Only
measurements of time are no such functions; they are marked, and the first one in the file stays.
"""

import fcntl
import json
import os
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DEFAULT = Path(".robust-core") / "statistics.jsonl"


class Store:
    """Values by key; what is put is on its way to the disk when `put` returns.

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
        self.refresh()

    def refresh(self) -> None:
        """Take in what other writers have appended."""
        size = os.fstat(self._file).st_size
        new = os.pread(self._file, size - self._read, self._read)
        complete = new.rfind(b"\n") + 1
        for line in new[:complete].splitlines():
            self._take(line)
        self._read += complete

    def _take(self, line: bytes) -> None:
        try:
            text, _, check = line.rpartition(b"\t")
            if not text or int(check, 16) != zlib.crc32(text):
                return
            record = json.loads(text)
            name, value = record["key"], record["value"]
        except (ValueError, TypeError, KeyError, RecursionError):
            return
        if not isinstance(name, str):
            return
        self._keep(name, value, record.get("repeatable", True))

    def _keep(self, name: str, value: Any, repeatable: bool) -> None:
        known = self._values.setdefault(name, value)
        # As text: not-a-number is equal to itself there.
        if repeatable and known is not value and json.dumps(known, sort_keys=True) != json.dumps(value, sort_keys=True):
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
        """Append a record; a value that is there already, by whomever, is not written again."""
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
        text = json.dumps(record, sort_keys=True).encode()
        line = b"\n%s\t%08x\n" % (text, zlib.crc32(text))
        if os.write(self._file, line) != len(line):
            raise OSError(f"{self.path}: a record was cut short: the disk is full, or a limit on file sizes is reached")
        self._keep(name.hex(), json.loads(text)["value"], repeatable)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)
