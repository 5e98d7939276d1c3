"""Messages between the suite and a worker: frozen dataclasses, as frames of strict JSON.

A frame is a length and a JSON object with the name of the type, its fields, and the process that has sent it. A message
counts only if it is whole, of a type that the reader knows, and sent by the expected process.
"""

import struct
from typing import Any

from robust_core import json as strict_json

HEADER = struct.Struct("!i")
LONGEST_MESSAGE = 64 << 20
"""Bytes. A record has some kilobytes; a large counterexample has about ten megabytes."""
# A name may hold half of a surrogate pair.
ERRORS = "surrogatepass"


def to_frame(message: Any, sender: int) -> bytes:
    """The bytes of a message."""
    data = {"type": type(message).__name__, "sender": sender, "fields": strict_json.to_data(message)}
    text = strict_json.dumps(data).encode(errors=ERRORS)
    return HEADER.pack(len(text)) + text


def first_frame(received: bytearray) -> bytes | None:
    """Take the text of the first frame out of what was received; None if it is not whole. `ValueError`: not a frame."""
    if len(received) < HEADER.size:
        return None
    (length,) = HEADER.unpack_from(received)
    if not 0 < length <= LONGEST_MESSAGE:
        raise ValueError(f"a message of {length} bytes")
    end = HEADER.size + length
    if len(received) < end:
        return None
    text = bytes(received[HEADER.size : end])
    del received[:end]
    return text


def from_frame(text: bytes, kinds: tuple[type, ...], sender: int | None) -> Any:
    """The message in a frame, if it is one of these kinds and comes from this process; else a `ValueError`."""
    data = strict_json.loads(text.decode(errors=ERRORS))
    if not isinstance(data, dict) or data.keys() != {"type", "sender", "fields"}:
        raise ValueError("not a message")
    if sender is not None and data["sender"] != sender:
        raise ValueError("sent by another process")
    for kind in kinds:
        if data["type"] == kind.__name__:
            return strict_json.from_data(kind, data["fields"], kind.__name__)
    raise ValueError(f"unexpected message {data['type']!r:.80}")
