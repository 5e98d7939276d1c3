"""The exit codes of every command."""

HOLDS, VIOLATED, USAGE, UNDECIDED, INTERRUPTED = 0, 1, 2, 3, 130
