"""The command line `robust-core`: parses, calls the command, and turns errors into exit codes."""

import argparse
import importlib
import os
import sys

from benchmarks.cli_conventions import INTERRUPTED, USAGE

# Each module adds its commands; heavy libraries are imported when a command runs, so that --help is quick.
COMMANDS = ("cli_verify", "cli_claims", "cli_mutants", "cli_experiments")


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    options = _parser().parse_args(arguments)
    try:
        return int(options.run(options))
    except BrokenPipeError:
        # The reader has seen enough (`| head`); Python would complain again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return USAGE
    except (ValueError, OSError, ImportError) as error:
        print(f"robust-core: {error}", file=sys.stderr)
        return USAGE
    except KeyboardInterrupt:
        print("robust-core: interrupted; what is printed above is complete", file=sys.stderr)
        return INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="robust-core",
        description="Tells whether a robust reinforcement-learning algorithm does what its theorems say.",
        epilog="exit codes: 0 holds, 1 violated, 2 usage or internal error, 3 undecided under --strict",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name in COMMANDS:
        importlib.import_module(f"benchmarks.{name}").add_parser(commands)
    return parser
