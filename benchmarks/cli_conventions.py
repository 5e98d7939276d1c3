"""What all commands share: the exit codes and the types of options."""

import argparse

HOLDS, VIOLATED, USAGE, UNDECIDED, INTERRUPTED = 0, 1, 2, 3, 130


def positive(text: str) -> int:
    """A whole number of at least 1."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {number}")
    return number
