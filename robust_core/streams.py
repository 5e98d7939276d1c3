"""Random streams: keys are hashes of content, streams are functions of keys.

Nothing here knows an order of execution, so results do not depend on the number of workers. The generator is
xoshiro256++ (Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2021); this is its plain
form, `kernels.walk` holds the compiled one, and both give the same bits.
"""

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Part = str | bytes | int | float | None | Sequence["Part"]

_MASK = (1 << 64) - 1


def key(*parts: Part) -> bytes:
    """A 128-bit key (blake2b) of the parts; parts of different type or nesting never collide.

    >>> key("batch", 1).hex()
    '199252b4086852e5793dde2c4860c39b'
    >>> key(1) == key(1.0), key("a", "b") == key("ab"), key(0.1 + 0.2) == key(0.3)
    (False, False, False)
    """
    return hashlib.blake2b(_encoded(parts), digest_size=16).digest()


def _encoded(part: Part) -> bytes:
    if part is None:
        return b"n"
    if isinstance(part, str):
        text = part.encode()
        return b"s%d:" % len(text) + text
    if isinstance(part, bytes):
        return b"b%d:" % len(part) + part
    if isinstance(part, bool):
        return b"t1;" if part else b"t0;"
    if isinstance(part, (int, np.integer)):
        return b"i%d;" % int(part)
    if isinstance(part, (float, np.floating)):
        return b"f" + float(part).hex().encode() + b";"
    if isinstance(part, Sequence):
        return b"(" + b"".join(_encoded(item) for item in part) + b")"
    raise TypeError(f"a key is made of strings, bytes, numbers and sequences of them, got {part!r}")


def generator_state(seed: bytes) -> NDArray[np.uint64]:
    """The 256-bit start of the stream that belongs to a key."""
    if not isinstance(seed, bytes):
        raise TypeError(f"seed must be bytes (see `key`), got {seed!r}")
    digest = hashlib.blake2b(seed, digest_size=32, person=b"xoshiro256++").digest()
    return np.frombuffer(digest, dtype="<u8").astype(np.uint64)


def draw(state: NDArray[np.uint64]) -> int:
    """The next 64 random bits; advances `state` in place."""
    s0, s1, s2, s3 = (int(word) for word in state)
    result = (_rotated((s0 + s3) & _MASK, 23) + s0) & _MASK
    shifted = (s1 << 17) & _MASK
    s2 ^= s0
    s3 ^= s1
    s1 ^= s2
    s0 ^= s3
    s2 ^= shifted
    state[:] = (s0, s1, s2, _rotated(s3, 45))
    return result


def _rotated(word: int, bits: int) -> int:
    return ((word << bits) | (word >> (64 - bits))) & _MASK


def numpy_generator(seed: bytes) -> np.random.Generator:
    """A numpy Generator that belongs to a key, for work outside hot loops."""
    if not isinstance(seed, bytes) or len(seed) != 16:
        raise TypeError(f"seed must be 16 bytes (see `key`), got {seed!r}")
    return np.random.Generator(np.random.Philox(key=np.frombuffer(seed, dtype="<u8").astype(np.uint64)))
