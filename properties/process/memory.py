"""Limits on the memory of a process: the suite's own, which catches a leak, and a lower one that the caller has set."""

from pathlib import Path

EXTRA_MEMORY = 4 << 30
"""Bytes by which a process that runs a variant may grow."""
_STATM = Path("/proc/self/statm")
_kept: list[int | None] = []
"""In a process that has called `limit_memory`: the lower limit of the caller, None if there was none.

What a module lowers afterwards is not the caller's.
"""


def limit_memory() -> None:
    """Let the process grow by a few gigabytes, so that a leak ends in its own MemoryError; a lower limit stays."""
    _kept[:] = _kept or [_lower_limit()]
    used = _used()
    if used is None or _kept[0] is not None:
        return
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + EXTRA_MEMORY, hard))


def shortage() -> str:
    """A sentence if the memory limit of the caller is lower than that of the suite; else empty."""
    limit = _kept[0] if _kept else _lower_limit()
    return "" if limit is None else f"the caller limits memory to {limit / 1e9:.2g} GB with ulimit -v"


def shortage_note(error: BaseException) -> str:
    """The same in parentheses, to follow an exception that it may explain."""
    return f" ({shortage()})" if isinstance(error, MemoryError) and shortage() else ""


def _lower_limit() -> int | None:
    """The limit of this process if it is lower than that of the suite."""
    limit, used = _limit(), _used()
    return None if limit is None or used is None or limit >= used + EXTRA_MEMORY else limit


def _limit() -> int | None:
    """The bytes that the process may have, None if there is no limit."""
    try:
        import resource
    except ImportError:
        return None
    # A soft limit is never above the hard one.
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if soft == resource.RLIM_INFINITY else soft


def _used() -> int | None:
    """The bytes that the process has, None where the system does not tell."""
    if not _STATM.exists():
        return None
    import resource

    return int(_STATM.read_text().split()[0]) * resource.getpagesize()
