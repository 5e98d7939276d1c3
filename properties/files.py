"""Files from outside: regular files of limited size, in strict UTF-8 and strict JSON; nothing in them is executed.

Whatever is wrong with a file is a `ValueError` that names the file and the rule, found before its content is used.
Only a file that is not there stays a `FileNotFoundError`.
"""

import contextlib
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# Parsed JSON takes up to some twenty times the bytes of its text, so this limits memory to a hundred megabytes.
LARGEST_FILE = 1 << 22
LONGEST_REASON = 400


@contextlib.contextmanager
def blamed_on(place: object) -> Iterator[None]:
    """Turn whatever a malformed value raises into a `ValueError` that names the place, in reasonable length."""
    try:
        yield
    except FileNotFoundError:
        raise
    except RecursionError:
        raise ValueError(f"{place}: nested too deeply") from None
    except (ValueError, TypeError, ArithmeticError, OSError) as error:
        reason = (in_words(error) if isinstance(error, OSError) else str(error)) or type(error).__name__
        raise ValueError(f"{place}: {shortened(reason)}") from None


def in_words(error: OSError) -> str:
    """What an error of the system says of which file, without its number.

    >>> in_words(FileNotFoundError(2, "No such file or directory", "nowhere.json"))
    'nowhere.json: no such file or directory'
    """
    if error.strerror is None or error.filename is None:
        return str(error)
    return f"{error.filename}: {error.strerror[:1].lower()}{error.strerror[1:]}"


def one_line(text: str) -> str:
    """The text with what would begin a line or steer a terminal spelled out: names and messages come from outside.

    >>> one_line("two\\nlines")
    'two\\\\nlines'
    """
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def shortened(text: str, longest: int = LONGEST_REASON) -> str:
    """The text, or its beginning: a hostile value quoted in full would fill the screen.

    >>> shortened("abcdef", 4)
    'abcd…'
    """
    return text if len(text) <= longest else f"{text[:longest]}…"


def text_of(path: Path, *, largest: int = LARGEST_FILE) -> str:
    """The text of a regular file of at most `largest` bytes."""
    with blamed_on(path):
        # Without O_NONBLOCK, opening a named pipe would wait for a writer.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0))
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            raise ValueError("must be a regular file")
        with os.fdopen(handle, "rb") as file:
            content = file.read(largest + 1)
        if len(content) > largest:
            raise ValueError(f"must have at most {largest} bytes")
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(f"must be text in UTF-8: {error}") from None


def json_of(path: Path, *, infinite: bool = False, largest: int = LARGEST_FILE) -> Any:
    """The JSON value in a file; no key twice, no NaN, and no infinity unless `infinite`."""
    text = text_of(path, largest=largest)
    with blamed_on(path):
        return parsed(text, infinite=infinite)


def parsed(text: str, *, infinite: bool = False) -> Any:
    """The value of a JSON text, as strict as `json_of`.

    >>> parsed('{"a": [1, 2.5]}')
    {'a': [1, 2.5]}
    >>> parsed('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ValueError: not JSON: the key 'a' twice in one object
    """

    def constant(word: str) -> float:
        if word == "NaN" or not infinite:
            raise ValueError(f"{word} is not a number that is allowed here")
        return float(word.lower().replace("infinity", "inf"))

    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=constant)
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else error
        raise ValueError(f"not JSON: {reason}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for name, value in pairs:
        if name in result:
            raise ValueError(f"the key {shortened(name, 80)!r} twice in one object")
        result[name] = value
    return result
